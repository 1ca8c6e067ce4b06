"""The entrance: files."""

from headgauge.report.paper import paper_figures


def test_the_overview_comes_first_and_each_figure_is_there_in_three_formats(tmp_path):
    paths = paper_figures({}, "the caption", tmp_path)
    names = ["paper", "fig1", "fig2", "fig3", "fig4", "choices", "rules"]
    assert [path.name for path in paths] == [
        f"{name}.{kind}" for name in names for kind in ("png", "svg", "pdf")
    ]
    assert {path.parent for path in paths} == {tmp_path / "figures"}
    assert sorted(paths) == sorted((tmp_path / "figures").iterdir())
    starts = {path.suffix: path.read_bytes()[:8] for path in paths}
    assert starts[".png"].startswith(b"\x89PNG")
    assert starts[".pdf"].startswith(b"%PDF")
    # What journals ask of a picture; the overview is as wide as a page shows it.
    across = {path.stem: path.read_bytes()[16:20] for path in paths if path.suffix == ".png"}
    wide = {name: int.from_bytes(number) for name, number in across.items()}
    assert (wide["paper"], wide["fig2"], wide["fig3"]) == (1200, 2100, 1020)
