"""A result's figures by name: all are there, all can be read, and their files are repeatable."""

import itertools
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import headgauge
from headgauge.errors import InputError
from headgauge.paper.result import Reproduction
from headgauge.registry.measures import CURVE_MEASURES, HEAD_MEASURES
from headgauge.report.drawing import draw
from headgauge.report.dynamics.depth import depth_figure
from headgauge.report.dynamics.over_time import gamma_figure, overview, phase_figure, swarms_figure
from headgauge.report.dynamics.rows import collapse_figure, rates_figure
from headgauge.report.figure_files import DPI, save_figure
from headgauge.report.figures import figures, plot, save_figures
from report.dynamics.conftest import SCHEMES, layers, simulation
from report.page.dynamics_frames import depth_frame
from report.page.paper_frames import TEXTS
from report.page.results import LAYERS, fake_reproduction, fake_scan, fake_simulation, head_rows

RUN = "a simulation, 中 $x_{"
SOURCE = Path(headgauge.__file__).parent


def words(figure: Any) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text))


@pytest.fixture(scope="module")
def scanned():
    return fake_scan(depth=depth_frame(), heads=head_rows(effects=True))


def test_every_table_of_a_scan_has_a_figure(scanned):
    found = figures(scanned)
    heads = HEAD_MEASURES.keys() - {"rest_entropy_share", "idle_weight", "sink_carry"}
    other = [
        f"{name}-{choice}"
        for name in CURVE_MEASURES
        for choice in ("hidden-unit-all", "value-unit-off_sink")
    ]
    assert list(found)[:2] == ["heads", "verdicts"]
    maps = {"heads", "verdicts", "roles", *heads, *CURVE_MEASURES, *other}
    assert set(found) == {*maps, "depth", "curves", "effects"}
    before = dict(rcParams)
    assert f"layer {LAYERS - 1}" in words(plot(scanned, "curves"))
    assert "Layer 2, head 3" in words(plot(scanned, 2, 3))
    assert dict(rcParams) == before
    with pytest.raises(InputError, match="no figure named 'rows' here; there are heads, verdicts"):
        plot(scanned, "rows")


def test_a_figure_shows_itself_in_a_notebook(scanned):
    drawn: Any = plot(scanned, "sink_weight")
    assert drawn._repr_png_()[:4] == b"\x89PNG"


def test_a_reproduction_is_drawn_on_the_text_that_is_named(monkeypatch):
    monkeypatch.setattr(Reproduction, "captions", lambda found: dict.fromkeys(found.scans, RUN))
    result = fake_reproduction()
    assert {
        *("paper", "vanishing", "fig1", "fig2", "fig2a", "fig2b", "fig2c", "fig3", "fig4"),
        *("choices", "rules", "heads", "verdicts"),
    } <= set(figures(result))
    drawn = words(plot(result, "choices", text=TEXTS[1]))
    assert "a simulation, □ $x_{" in drawn
    with pytest.raises(InputError, match="no text named 'verse' here; there are prose"):
        plot(result, "fig3", text="verse")


def test_a_simulation_has_a_figure_for_every_table():
    result = fake_simulation()
    assert set(figures(result)) == {
        *("dynamics", "gamma", "swarms", "phase", "rates", "collapse", "sphere")
    }
    ends = result.tables["sphere"]["time"].max()
    assert f"t = {ends:.2f}" in words(plot(result, "sphere"))
    assert list(figures(fake_simulation("rates"))) == ["rates"]
    with pytest.raises(InputError, match="a simulation has no heads"):
        plot(result, 0, 0)


def test_the_overview_comes_first_and_the_files_are_repeatable(scanned, tmp_path):
    before = dict(rcParams)
    files = save_figures(scanned, tmp_path / "one", 2)
    first = ("heads", "verdicts")
    assert [path.name for path in files] == [
        f"{name}.{kind}" for name in first for kind in ("png", "svg")
    ]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    again = save_figure(plot(scanned, "verdicts"), tmp_path / "two", "verdicts")
    for one, other in zip(files[-2:], again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    few = fake_simulation("rates", "sphere")
    few.tables["sphere"] = few.tables["sphere"].filter(pl.col("time") < 1)
    moving = save_figures(few, tmp_path / "three")
    expected = ["rates.png", "rates.svg", "rates.pdf", "sphere.gif"]
    assert [path.name for path in moving] == expected
    assert {path.name for path in (tmp_path / "three" / "figures").iterdir()} == set(expected)
    assert save_figures(fake_simulation("none"), tmp_path / "four") == []
    assert not (tmp_path / "four").exists()
    assert dict(rcParams) == before


def test_plain_figures_have_their_words_beside_them_and_no_stale_ones(scanned, tmp_path):
    place = tmp_path / "figures"
    files = save_figures(scanned, tmp_path, 1, plain=True)
    assert [path.name for path in files] == ["heads.png", "heads.svg", "heads.txt"]
    title, _, *told = files[-1].read_text(encoding="utf-8").splitlines()
    assert title == "12 attention heads in 3 layers"
    assert told[-1].startswith(scanned.caption())
    assert scanned.caption() in words(plot(scanned))
    assert scanned.caption() not in words(plot(scanned, plain=True))
    few = fake_simulation("sphere")
    few.tables["sphere"] = few.tables["sphere"].filter(pl.col("time") < 0.5)
    assert [path.name for path in save_figures(few, tmp_path, plain=True)][-1] == "sphere.txt"
    assert "particles" in (place / "sphere.txt").read_text(encoding="utf-8")
    assert "particles" not in words(plot(few, "sphere", plain=True))
    save_figures(scanned, tmp_path, 1)
    save_figures(few, tmp_path)
    assert not list(place.glob("*.txt"))


def imported(*modules: str) -> set[str]:
    """All that these import at their tops, one by way of another."""
    found, left = set(), [*modules]
    while left:
        name = left.pop()
        place = SOURCE.parent.joinpath(*name.split("."))
        paths = [place / "__init__.py", place.with_suffix(".py")]
        if name not in found:
            text = next((path.read_text(encoding="utf-8") for path in paths if path.is_file()), "")
            plain = re.findall(r"^import ([\w.]+)", text, re.MULTILINE)
            for module, names in re.findall(
                r"^from ([\w.]+) import \(?([^()]+?)$", text, re.MULTILINE
            ):
                plain += [module, *(f"{module}.{each.strip()}" for each in names.split(","))]
            left += [*plain, name.rpartition(".")[0]]
        found.add(name)
    return found


def test_pyplot_stays_out_and_tables_need_no_matplotlib():
    words = ("tables", "paper_tables", "dynamics_tables", "notebook")
    told = imported(*(f"headgauge.report.{name}" for name in words))
    assert {"rich.text", "headgauge.report.table", "headgauge.scanning.summary", "torch"} <= told
    assert not [name for name in told if name.startswith("matplotlib")]
    files = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    assert not [text for text in files if re.search("import.* pyplot|matplotlib.pyplot", text)]


def never():
    """Nothing ever collapses."""
    tables = simulation(**POOR)
    nulls = [pl.lit(None, pl.Float64).alias(name) for name in ("time", "low", "high")]
    dark = tables["phase"].with_columns(probability=pl.lit(0.0))
    return tables | {"collapse": tables["collapse"].with_columns(nulls), "phase": dark}


POOR = {"schemes": ("ngpt",), "kinds": {"identity": (8, 12, 1.7)}, "dims": (8,), "seeds": 1}
TWO_KINDS = {
    "schemes": (*SCHEMES, "ln_scaling_pre"),
    "kinds": {"identity": (8, 12, 1.7), "layers": (8, 12, 1.7)},
    "dims": (8, 16),
}
ALL = ("dynamics", "gamma", "swarms", "phase", "rates", "collapse")
RUNS = {  # by name: what makes its tables, and the figures that no other run has like it
    "whole": (simulation, ALL),
    "poor": (lambda: simulation(**POOR), ALL),
    "two kinds": (lambda: simulation(**TWO_KINDS), ("swarms", "phase", "collapse")),
    "never": (never, ("phase", "collapse")),
}


def assert_readable(name, figure):
    """No text is cut off, no legend on another or on the small print."""
    drawn = draw(figure)
    drawn.set_dpi(DPI)
    wide, high = drawn.get_size_inches() * DPI
    renderer = FigureCanvasAgg(drawn).get_renderer()
    for part in (*drawn.axes, *drawn.texts):
        box = part.get_tightbbox(renderer)
        if box is not None and box.width > 0:
            assert -2 < box.x0 < box.x1 < wide + 2, (name, part, box)
            assert -2 < box.y0 < box.y1 < high + 2, (name, part, box)
    legends = [legend for axes in drawn.axes if (legend := axes.get_legend())]
    boxes: list[Any] = [legend.get_tightbbox(renderer) for legend in legends]
    for pair in itertools.combinations(boxes, 2):
        assert not pair[0].overlaps(pair[1]), (name, pair)


@pytest.mark.parametrize("run", RUNS)
def test_every_figure_comes_out_and_no_text_is_cut_off(run):
    make, names = RUNS[run]
    tables = make()
    described = [
        overview(tables, RUN),
        gamma_figure(tables["curves"], RUN),
        swarms_figure(tables["swarms"], RUN),
        phase_figure(tables["phase"], RUN),
        rates_figure(tables["rates"], RUN),
        collapse_figure(tables["collapse"], RUN),
    ]
    for figure in described:
        if figure.name in names:
            assert_readable(figure.name, figure)


@pytest.mark.parametrize("scheme", ["pre_ln", "other"])
def test_a_models_layers_can_be_read_too(scheme):
    assert_readable("depth", depth_figure(*layers(scheme=scheme), RUN))


def test_a_scans_figures_can_be_read_too(scanned):
    found = figures(scanned)
    for name in ("heads", "verdicts", "sink_weight", "separability", "curves"):
        assert_readable(name, found[name]())
