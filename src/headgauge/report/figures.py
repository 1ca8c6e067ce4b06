"""A result's figures by name: described, drawn, saved.

They have the names of their files in figures/; each is made only when it is asked for. The sphere
alone has no description: it is a moving picture.
"""

from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

from matplotlib.figure import Figure as Drawn

from headgauge.ablation import Ablation
from headgauge.comparison import RuleComparison, RunComparison
from headgauge.errors import InputError
from headgauge.paper.result import Reproduction
from headgauge.remedies import Remedies
from headgauge.report import drawing
from headgauge.report.comparison_runs import USUAL, run_figures
from headgauge.report.curves import curves_figure, head_figure
from headgauge.report.dynamics import depth, over_time, rows, sphere
from headgauge.report.effects import effects_figure, worth
from headgauge.report.figure import Figure, HeatMap
from headgauge.report.figure_files import save_words
from headgauge.report.head_maps import ON_REQUEST, head_maps, spans_figure
from headgauge.report.page import page, write_page
from headgauge.report.paper import PANEL_OF, paper_figures, reproduction_figures
from headgauge.report.remedy_figure import remedy_figure
from headgauge.report.rules import rule_figures
from headgauge.report.training import training_figures
from headgauge.report.validation_figure import validation_figure
from headgauge.scanning.result import ScanResult
from headgauge.simulation.result import SOURCE, Simulation
from headgauge.training.log.reading import TrainingLog
from headgauge.validation import Validation

Makers = dict[str, Callable[[], Figure | Drawn]]
Result = (
    ScanResult
    | Reproduction
    | Simulation
    | Validation
    | Remedies
    | RunComparison
    | RuleComparison
    | TrainingLog
)
_NOT_DRAWN = (
    "an ablation has tables and nothing to draw: read its effects, or scan with effects "
    "(--effects) to have them on a page"
)
_WITHOUT_HEADS = {Simulation: "simulation", Validation: "validation", Remedies: "remedy"}
_WITHOUT_HEADS |= {RunComparison: "comparison", RuleComparison: "comparison"}
_WITHOUT_HEADS |= {TrainingLog: "training log"}
_TABLES = {  # by figure of a simulation: its table, and what describes it
    "gamma": ("curves", over_time.gamma_figure),
    "swarms": ("swarms", over_time.swarms_figure),
    "phase": ("phase", over_time.phase_figure),
    "rates": ("rates", rows.rates_figure),
    "collapse": ("collapse", rows.collapse_figure),
}


def figures(result: Result, text: str | None = None, plain: bool = False) -> Makers:
    """By name what makes each figure, the overview first; of a reproduction those on one `text`,
    `paper`, the overview of all, and those of the text's heads."""
    if isinstance(result, Simulation):
        return _simulation_figures(result, plain)
    if isinstance(result, ScanResult):
        return _scan_figures(result)
    if isinstance(result, Validation):
        return {"validation": partial(validation_figure, result, result.caption())}
    if isinstance(result, RunComparison):
        return {**run_figures(result)}
    if isinstance(result, RuleComparison):
        return {**rule_figures(result)}
    if isinstance(result, TrainingLog):
        return {**training_figures(result.thinned(), result.caption())}
    if isinstance(result, Remedies):
        return {"remedies": partial(remedy_figure, result, result.caption())}
    text = next(iter(result.scans)) if text is None else text
    if text not in result.scans:
        raise InputError(f"no text named {text!r} here; there are {', '.join(result.scans)}")
    described = reproduction_figures(result.paper, result.captions(), text)
    described |= {table: described[name] for table, name in PANEL_OF.items()}
    made: Makers = {name: lambda figure=figure: figure for name, figure in described.items()}
    return made | _scan_figures(result.scans[text])


def _scan_figures(result: ScanResult) -> Makers:
    run, layers = result.caption(), result.depth
    tables = result.heads, result.curves, result.verdicts(), result.roles()
    made: Makers = {**head_maps(*tables, run)}
    if "effect" in made:
        made["effects"] = lambda: effects_figure(worth(result), run)
    if layers is not None:
        made["depth"] = lambda: depth.depth_figure(layers, result.depth_curves(), run)
    if result.spans is not None and (drawn := spans_figure(result.heads, result.spans, run)):
        made["spans"] = lambda: drawn
    made["curves"] = partial(curves_figure, result.curves, run)
    return made


def _simulation_figures(result: Simulation, plain: bool) -> Makers:
    """Of a table without rows there is none."""
    run = result.figure_words()
    tables = {name: table for name, table in result.tables.items() if table.height}
    made: Makers = {}
    if tables.keys() & {"curves", "swarms", "phase"}:
        made["dynamics"] = partial(over_time.overview, tables, run)
    for name, (table, make) in _TABLES.items():
        if table in tables:
            made[name] = partial(make, tables[table], run)
    if "sphere" in tables:
        made["sphere"] = partial(sphere.sphere_figure, tables["sphere"], "" if plain else run)
    return made


def plot(
    result: Result | Ablation,
    layer: int | str | None = None,
    head: int | None = None,
    *,
    module: str | None = None,
    text: str | None = None,
    plain: bool = False,
) -> Drawn:
    """One figure, as matplotlib has them: `plot(result, 3, 5)` is layer 3, head 5, `plot(result,
    name)` the one of that name in figures/, `plot(result)` the overview.

    Names of a scan are such as "heads", "roles", "sink_weight", "separability", "depth", "spans",
    "effects" (against every measure) and "curves", a line over N for each head; of a reproduction
    "paper", "fig1" to "fig4", "vanishing", "choices", "rules" too, on a `text` (the first unless
    named); of a simulation "dynamics", "gamma", "swarms", "phase", "rates", "collapse" and
    "sphere", its end; of a validation "validation", of tried remedies "remedies"; of a comparison
    "differences", "beyond", "heads", "series" and every measure, of rules in a model "rules",
    "rule_curves" and a map of each rule, such as "map-sparsemax". `module` tells attention in one
    layer apart. `plain` is without the small print.
    """
    if isinstance(result, Ablation):
        raise InputError(_NOT_DRAWN)
    if layer is None or isinstance(layer, str):
        found = figures(result, text, plain)
        if not found:
            raise InputError("nothing to draw: no step was logged")
        layer = next(iter(found)) if layer is None else layer
        if layer not in found:
            raise InputError(f"no figure named {layer!r} here; there are {', '.join(found)}")
        made = found[layer]()
        return drawing.draw(made, plain) if isinstance(made, Figure) else made
    if not isinstance(result, (ScanResult, Reproduction)):
        kind = _WITHOUT_HEADS[type(result)]
        single = kind in ("comparison", "training log")
        lacks = "no figure of a single head" if single else "no heads"
        raise InputError(f"a {kind} has {lacks}; its figures are {', '.join(figures(result))}")
    if isinstance(result, Reproduction):
        result = result.scan if text is None else result.scans[text]
    tables = result.heads, result.curves, result.samples, result.verdicts()
    return drawing.draw(head_figure((layer, head, module), tables, result.caption()), plain)


def save_figures(
    result: Result,
    folder: Path,
    first: int | None = None,
    plain: bool = False,
) -> list[Path]:
    """The figures, or the first few of them, in FOLDER/figures; the page has every measure."""
    place = folder / "figures"
    paths = []
    usual = {name: make for name, make in figures(result).items() if name not in ON_REQUEST}
    if isinstance(result, RunComparison):
        usual = {name: usual[name] for name in USUAL if name in usual}
    for name, make in islice(usual.items(), first):
        if name == "sphere":
            assert isinstance(result, Simulation)
            words = sphere.words(result.tables[name], SOURCE)
            small, beside = ("", words) if plain else (words, "")
            paths.append(sphere.sphere_gif(result.tables[name], small, place / "sphere.gif"))
            paths += save_words(place / "sphere.txt", beside)
            continue
        made = make()
        assert isinstance(made, Figure)
        # Of the many maps nobody prints one.
        maps = all(isinstance(panel, HeatMap) for panel in made.panels)
        formats = ("png", "svg") if maps and name != "phase" else ("png", "svg", "pdf")
        paths += drawing.save(made, place, name, formats, plain)
    return paths


def draw(result: Result | Ablation, plain: bool = False) -> list[Path]:
    """The page and the figures of a result, into its folder; the page first. `plain` figures have
    no small print: their captions stand beside them, in NAME.txt."""
    if isinstance(result, Ablation):
        raise InputError(_NOT_DRAWN)
    if result.folder is None:
        raise InputError("this result has no folder to draw into: save it, or run it with `out`")
    paths = [write_page(result.folder, page(result))]
    if not isinstance(result, Reproduction):
        return paths + save_figures(result, result.folder, plain=plain)
    paths += paper_figures(result.paper, result.captions(), result.folder, plain)
    # The page has the map of every measure.
    return paths + save_figures(result.scan, result.folder, first=2, plain=plain)
