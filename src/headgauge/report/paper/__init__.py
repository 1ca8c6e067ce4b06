"""The figures of a reproduction: described once, for its page and for its files.

To add one, describe it in a module here and name it in `page_figures`, `file_figures` or both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from headgauge.report.drawing import draw
from headgauge.report.figure import Figure
from headgauge.report.figure_files import save_figure
from headgauge.report.paper.choices import choices_figure, overview, rules_figure
from headgauge.report.paper.distance import critical, distances
from headgauge.report.paper.geometry import geometry_in_files, geometry_on_page
from headgauge.report.paper.shares import (
    sensitivity_in_files,
    sensitivity_on_page,
    separability,
    vanishing,
)
from headgauge.report.paper.tables import (
    Tables,
    every_table,
    of_choice,
    of_text,
    shown_choice,
    switches,
)
from headgauge.runs.paper_tables import text_folder

_FORMATS = ("svg", "pdf")
PANEL_OF = {"fig2a": "fig2", "fig2b": "fig2", "fig2c": "fig2"}  # tables that share a figure


def page_figures(paper: Tables, texts: Sequence[str], chosen_on: str | None) -> list[Figure]:
    """What the page shows of a run; a table that is empty has no figure."""
    tables = every_table(paper)
    shared = tuple(switches(tables, texts, chosen_on).values())
    makers = {
        "vanishing": vanishing,
        "fig1": geometry_on_page,
        "fig2a": partial(distances, along="length"),
        "fig2b": partial(distances, along="top_n"),
        "fig2c": critical,
        "fig3": separability,
        "fig4": sensitivity_on_page,
    }
    made = [make(tables) for name, make in makers.items() if tables[name].height]
    return [replace(each, switches=(*shared, *each.switches)) for each in made]


def file_figures(paper: Tables, caption: str) -> dict[str, Figure]:
    """By name the figures of one text, each for a file of its own.

    They show the choice of vectors and keys that the verdicts are about.
    """
    choice = shown_choice(paper)
    curves = ("fig2a", "fig2b", "fig2c", "fig3")
    shown = {**paper, **{name: of_choice(paper[name], choice) for name in curves}}
    shown |= {"fig2c_tests": paper["fig2c_tests"].clear()}
    texts = paper["vanishing"]["text"].unique().to_list()
    shared = tuple(switches(shown, texts, None).values())
    made = {
        "vanishing": vanishing(shown),
        "fig1": geometry_in_files(shown),
        "fig2": _side_by_side(shown),
        "fig3": separability(shown),
        "fig4": sensitivity_in_files(shown),
        "choices": choices_figure(paper),
        "rules": rules_figure(paper),
    }
    return {
        name: replace(each, switches=(*shared, *each.switches), run=caption)
        for name, each in made.items()
    }


def _side_by_side(paper: Tables) -> Figure:
    """Figures 2a, 2b and 2c in one."""
    three = [distances(paper, "length"), distances(paper, "top_n"), critical(paper)]
    return Figure(
        "fig2",
        "Figure 2. Distance and critical N",
        (*three[0].panels, *three[1].panels, three[2].panels[0]),
        3,
        switches=tuple(switch for each in three for switch in each.switches),
        caption=tuple({each.text: each for one in three for each in one.caption}.values()),
        on_page=False,
    )


def reproduction_figures(
    paper: Tables, captions: Mapping[str, str], text: str
) -> dict[str, Figure]:
    """The figures on one text, and `paper`, the overview of all texts; `captions` has a line for
    each: the model, the text, what the figures stand on."""
    tables = every_table(paper)
    return {"paper": overview(tables, captions)} | file_figures(
        of_text(tables, text), captions[text]
    )


def paper_figures(paper: Tables, captions: Mapping[str, str], folder: Path) -> list[Path]:
    """FOLDER/figures/paper, the overview of all texts, as PNG too, and the figures of each text as
    SVG and PDF in FOLDER/figures/TEXT. A panel without data says so."""
    tables = every_table(paper)
    place = folder / "figures"
    paths = save_figure(draw(overview(tables, captions)), place, "paper", ("png", *_FORMATS))
    for text, caption in captions.items():
        for name, figure in file_figures(of_text(tables, text), caption).items():
            paths += save_figure(draw(figure), place / text_folder(text), name, _FORMATS)
    return paths


__all__ = ["file_figures", "page_figures", "paper_figures", "reproduction_figures"]
