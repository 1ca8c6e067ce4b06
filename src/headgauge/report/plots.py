"""One figure of a result, for whoever asks for it by name or by head.

Figures have the names of their files in figures/; each is made only when it is asked for.
"""

from collections.abc import Callable, Mapping

import polars as pl
from matplotlib import rc_context
from matplotlib.figure import Figure

from headgauge.errors import InputError
from headgauge.report.curve_lines import curve_lines
from headgauge.report.dynamics.depth import depth_page
from headgauge.report.dynamics.selecting import every_table as every_dynamics_table
from headgauge.report.dynamics.sheets import sheet_makers as dynamics_makers
from headgauge.report.dynamics.sphere import sphere_figure
from headgauge.report.figure_files import house_style
from headgauge.report.head_figures import figure_makers
from headgauge.report.one_head import one_head
from headgauge.report.paper.looks import TYPE
from headgauge.report.paper.overview import overview
from headgauge.report.paper.selecting import every_table, of_text
from headgauge.report.paper.sheets import sheet_makers

Makers = dict[str, Callable[[], Figure]]
# Tables that share a figure.
_PANEL_OF = {"fig2a": "fig2", "fig2b": "fig2", "fig2c": "fig2"}


def scan_figures(
    heads: pl.DataFrame,
    curves: pl.DataFrame,
    verdicts: pl.DataFrame,
    caption: str,
    depth: pl.DataFrame | None,
    predicted: Callable[[], pl.DataFrame],
) -> Makers:
    """The figures of a scan; `predicted` is asked only for the one of the depth."""
    made: Makers = dict(figure_makers(heads, curves, verdicts, caption))
    made["curves"] = _typeset(lambda: curve_lines(curves, caption))
    if depth is not None:
        made["depth"] = _typeset(lambda: depth_page(depth, predicted(), caption))
    return made


def paper_figures(paper: dict[str, pl.DataFrame], captions: Mapping[str, str], text: str) -> Makers:
    """The figures of a reproduction on one text, and `paper`, the overview of all of them."""
    tables = every_table(paper)
    texts = {name: of_text(tables, name) for name in captions}
    made: Makers = {"paper": lambda: overview(texts, captions)}
    made |= sheet_makers(texts[text], captions[text])
    made |= {panel: made[name] for panel, name in _PANEL_OF.items()}
    return {name: _typeset(make) for name, make in made.items()}


def simulation_figures(tables: dict[str, pl.DataFrame], caption: str) -> Makers:
    """The figures of a simulation; the sphere as it is in the end."""
    held = every_dynamics_table(tables)
    made: Makers = dict(dynamics_makers(held, caption))
    if "gamma" in made:
        made["curves"] = made["gamma"]  # the name of its table
    if len(held["sphere"]):
        made["sphere"] = lambda: sphere_figure(held["sphere"], caption)
    return {name: _typeset(make) for name, make in made.items()}


def draw(makers: Makers, name: str) -> Figure:
    """The figure of that name."""
    if name not in makers:
        raise InputError(f"no figure named {name!r} here; there are {', '.join(makers)}")
    with house_style():
        return makers[name]()


def _typeset(make: Callable[[], Figure]) -> Callable[[], Figure]:
    """In the type of a paper's figure; the maps of the heads have their own."""

    def made() -> Figure:
        with rc_context(TYPE):
            return make()

    return made


def draw_head(
    place: tuple[int, int | None, str | None],
    tables: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame],
    caption: str,
) -> Figure:
    """One head: its layer, number and, where a layer has several, its module; `tables` are heads,
    curves, samples and verdicts."""
    with house_style(), rc_context(TYPE):
        return one_head(place, tables, caption)
