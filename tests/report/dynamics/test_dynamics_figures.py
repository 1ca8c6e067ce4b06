"""The entrances: files."""

import polars as pl

from headgauge.report.dynamics import depth_figure, dynamics_figures, sphere_animation


def test_the_overview_comes_first_and_each_figure_is_there_in_three_formats(whole, tmp_path):
    tables = {name: whole[name] for name in ("curves", "rates")}
    paths = dynamics_figures(tables, "the caption", tmp_path)
    assert [path.name for path in paths] == [
        f"{name}.{kind}"
        for name in ("dynamics", "gamma", "rates")
        for kind in ("png", "svg", "pdf")
    ]
    assert sorted(paths) == sorted((tmp_path / "figures").iterdir())
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert paths[2].read_bytes().startswith(b"%PDF")
    assert int.from_bytes(paths[0].read_bytes()[16:20]) == 1200


def test_without_rows_nothing_is_written(tmp_path):
    assert dynamics_figures({}, "the caption", tmp_path) == []
    assert not list(tmp_path.iterdir())


def test_the_same_data_gives_the_same_bytes(whole, tmp_path):
    tables = {"rates": whole["rates"]}
    written = [
        [path.read_bytes() for path in dynamics_figures(tables, "", tmp_path / folder)]
        for folder in ("a", "b")
    ]
    assert written[0] == written[1]


def test_the_moving_picture_and_the_layers_are_beside_the_other_figures(
    whole, make_layers, tmp_path
):
    start = whole["sphere"].filter(pl.col("time") < 0.2)
    assert sphere_animation(start, "", tmp_path) == tmp_path / "figures" / "sphere.gif"
    measured, predicted = make_layers(windows=1, count=2)
    names = [path.name for path in depth_figure(measured, predicted, "", tmp_path)]
    assert names == ["depth.png", "depth.svg", "depth.pdf"]
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"sphere.gif", *names}
