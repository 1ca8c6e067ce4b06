"""A result's figures by name: described, drawn, saved.

They have the names of their files in figures/; each is made only when it is asked for. The sphere
alone has no description: it is a moving picture.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from matplotlib.figure import Figure as Drawn

from headgauge.errors import InputError
from headgauge.paper.result import Reproduction
from headgauge.report.curves import curves_figure, head_figure
from headgauge.report.drawing import draw
from headgauge.report.dynamics.depth import depth_figure
from headgauge.report.dynamics.over_time import gamma_figure, overview, phase_figure, swarms_figure
from headgauge.report.dynamics.rows import collapse_figure, rates_figure
from headgauge.report.dynamics.sphere import sphere_figure, sphere_gif
from headgauge.report.figure import Figure
from headgauge.report.figure_files import save_figure
from headgauge.report.head_maps import head_maps
from headgauge.scanning.result import ScanResult
from headgauge.simulation.result import Simulation

Makers = dict[str, Callable[[], Figure | Drawn]]
Result = ScanResult | Reproduction | Simulation
_FORMATS = ("png", "svg", "pdf")
_OF_TABLE = {  # by figure of a simulation: its table, and what describes it
    "gamma": ("curves", gamma_figure),
    "curves": ("curves", gamma_figure),
    "swarms": ("swarms", swarms_figure),
    "phase": ("phase", phase_figure),
    "rates": ("rates", rates_figure),
    "collapse": ("collapse", collapse_figure),
    "sphere": ("sphere", sphere_figure),
}


def figures(result: Result) -> Makers:
    """By name what makes each figure, the overview first."""
    if isinstance(result, Simulation):
        return simulation_figures(result)
    if isinstance(result, Reproduction):
        return reproduction_figures(result, next(iter(result.scans)))
    return scan_figures(result)


def scan_figures(result: ScanResult) -> Makers:
    made: Makers = {}
    run = result.caption()
    made |= head_maps(result.heads, result.curves, result.verdicts(), run)
    made["curves"] = partial(curves_figure, result.curves, run)
    if result.depth is not None:
        depth = result.depth
        made["depth"] = lambda: depth_figure(depth, result.depth_curves(), run)
    return made


def simulation_figures(result: Simulation) -> Makers:
    """Of a table without rows there is none."""
    run = result.figure_words()
    tables = {name: table for name, table in result.tables.items() if table.height}
    made: Makers = {}
    if tables.keys() & {"curves", "swarms", "phase"}:
        made["dynamics"] = partial(overview, tables, run)
    for name, (table, make) in _OF_TABLE.items():
        if table in tables:
            made[name] = partial(make, tables[table], run)
    return made


def reproduction_figures(result: Reproduction, text: str) -> Makers:
    """The figures on one text, `paper`, the overview of all texts, and those of its heads."""
    captions = result.captions()
    texts = {name: of_text(every_table(result.paper), name) for name in captions}
    made: Makers = {"paper": partial(paper_overview, texts, captions)}
    made |= sheet_makers(texts[text], captions[text])
    made |= {panel: made["fig2"] for panel in ("fig2a", "fig2b", "fig2c")}
    return {name: _in_type(make) for name, make in made.items()} | scan_figures(result.scans[text])


def _in_type(make: Callable[[], Figure | Drawn]) -> Callable[[], Figure | Drawn]:
    def made() -> Figure | Drawn:
        with house_style(), rc_context(TYPE):
            return make()

    return made


def save_figures(result: Result, folder: Path, first: int | None = None) -> list[Path]:
    """The files in FOLDER/figures, the overview first; of a reproduction the maps of its heads.

    `first` draws only so many of them.
    """
    scan = result.scan if isinstance(result, Reproduction) else result
    place, paths = folder / "figures", []
    for name, make in islice(figures(scan).items(), first):
        if name == "sphere":
            assert isinstance(scan, Simulation)
            paths.append(sphere_gif(scan.tables["sphere"], SOURCE, place / "sphere.gif"))
            continue
        made = make()
        assert isinstance(made, Figure)
        if made.in_files and made.name == name or ...:
            pass
    return paths


def plot(
    result: Result,
    layer: int | str,
    head: int | None = None,
    *,
    module: str | None = None,
    text: str | None = None,
) -> Drawn:
    """One figure by its name, or one head by its layer and number and, where a layer has several,
    its module; `text` is one of a reproduction."""
    if text is not None and (not isinstance(result, Reproduction) or text not in result.scans):
        texts = ", ".join(result.scans) if isinstance(result, Reproduction) else "none"
        raise InputError(f"no text named {text!r} here; there are {texts}")
    if isinstance(layer, str):
        made = figures(result)
        if isinstance(result, Reproduction):
            named = text or next(iter(result.scans))
            made = reproduction_figures(result, named) | scan_figures(result.scans[named])
        if layer not in made:
            raise InputError(f"no figure named {layer!r} here; there are {', '.join(made)}")
        return _drawn(made[layer]())
    if isinstance(result, Simulation):
        raise InputError(f"a simulation has no heads; there are {', '.join(figures(result))}")
    scan = result if isinstance(result, ScanResult) else result.scans[text] if text else result.scan
    tables = scan.heads, scan.curves, scan.samples, scan.verdicts()
    return draw(head_figure((layer, head, module), tables, scan.caption()))


def _drawn(made: Figure | Drawn) -> Drawn:
    return draw(made) if isinstance(made, Figure) else made
