"""The figures of a reproduction: described once, for its page and for its files.

To add one, describe it in a module here and name it in `page_figures` or `reproduction_figures`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from headgauge.registry.published import ARXIV
from headgauge.report.drawing import save
from headgauge.report.figure import Figure
from headgauge.report.paper.choices import choices_figure, rules_figure
from headgauge.report.paper.distance import critical, distances
from headgauge.report.paper.geometry import geometry_in_files, geometry_on_page
from headgauge.report.paper.overview import overview
from headgauge.report.paper.sensitivity import sensitivity_in_files, sensitivity_on_page
from headgauge.report.paper.shares import separability, vanishing
from headgauge.report.paper.tables import Tables, of_choice, of_text, shown_choice, switches
from headgauge.runs import text_folder

_FORMATS = ("svg", "pdf")
PANEL_OF = {"fig2a": "fig2", "fig2b": "fig2", "fig2c": "fig2"}  # tables that share a figure


def page_figures(paper: Tables, texts: Sequence[str], chosen_on: str | None) -> list[Figure]:
    """What the page shows of a run; a table that is empty has no figure."""
    shared = switches(paper, texts, chosen_on)
    makers = {
        "vanishing": vanishing,
        "fig1": geometry_on_page,
        "fig2a": partial(distances, along="length"),
        "fig2b": partial(distances, along="top_n"),
        "fig2c": critical,
        "fig3": separability,
        "fig4": sensitivity_on_page,
    }
    made = [make(paper) for name, make in makers.items() if paper[name].height]
    return [replace(figure, switches=(*shared, *figure.switches)) for figure in made]


def reproduction_figures(
    paper: Tables, captions: Mapping[str, str], text: str
) -> dict[str, Figure]:
    """By name each figure on one text, for a file of its own, and `paper`, the overview of all.

    `captions` has a line for each: the model, the text, what the figures stand on. They show the
    choice of vectors and keys that the verdicts are about; a panel without data says so.
    """
    tables = of_text(paper, text)
    choice = shown_choice(tables)
    curves = {name: of_choice(tables[name], choice) for name in (*PANEL_OF, "fig3")}
    one_choice = tables | curves | {"fig2c_tests": tables["fig2c_tests"].clear()}
    figures = [make(one_choice) for make in (vanishing, geometry_in_files, _side_by_side)]
    figures += [make(one_choice) for make in (separability, sensitivity_in_files)]
    figures += [make(tables) for make in (choices_figure, rules_figure)]
    shared, run = switches(one_choice, [text], None), captions[text]
    return {"paper": overview(paper, captions)} | {
        figure.name: replace(
            figure,
            title=f"{figure.title} ({ARXIV})",
            switches=(*shared, *figure.switches),
            run=run,
        )
        for figure in figures
    }


def _side_by_side(paper: Tables) -> Figure:
    """Figures 2a, 2b and 2c in one."""
    three = distances(paper, "length"), distances(paper, "top_n"), critical(paper)
    panels = tuple(panel for figure in three for panel in figure.panels)
    switches = tuple(switch for figure in three for switch in figure.switches)
    caption = {each.text: each for figure in three for each in figure.caption}.values()
    title = "Figure 2: distance d̃ from s to the tokens left out, and critical N"
    return Figure("fig2", title, panels, 3, switches, tuple(caption))


def paper_figures(
    paper: Tables, captions: Mapping[str, str], folder: Path, plain: bool = False
) -> list[Path]:
    """FOLDER/figures/paper, the overview of all texts, as PNG too, and the figures of each text as
    SVG and PDF in FOLDER/figures/TEXT."""
    place, paths = folder / "figures", []
    for text in captions:
        overview, *own = reproduction_figures(paper, captions, text).values()
        if not paths:
            paths += save(overview, place, "paper", ("png", *_FORMATS), plain)
        for figure in own:
            paths += save(figure, place / text_folder(text), figure.name, _FORMATS, plain)
    return paths
