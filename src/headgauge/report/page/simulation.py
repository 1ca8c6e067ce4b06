"""The page of a simulation: spheres and lines over time, phase diagrams, rates."""

from typing import Any

import polars as pl

from headgauge.claims.ledger import CLAIMS
from headgauge.registry import names
from headgauge.report.dynamics.over_time import gamma_figure, phase_figure, swarms_figure
from headgauge.report.page import parts
from headgauge.report.page.parts import Column, Page, Part, figures, notes, section, table, text
from headgauge.report.page.scanning import came_about, ledger
from headgauge.report.page.values import column as values
from headgauge.report.page.values import plain, short
from headgauge.simulation import Simulation

# What is read at its time: the figure, the axis of its panel, a fact of its lines (or what is
# drawn), and how it is told.
_READ = (
    ("gamma", "γ", "", "γ", "fixed", 4, "Cosine of tokens at equal angles"),
    ("gamma", "1 − γ", "", "1 − γ", "number", 3, "The gap that is left"),
    ("gamma", "radius r", "", "radius", "fixed", 2, "Length of a token"),
    ("gamma", "‖A‖", "", "‖A‖", "fixed", 3, "Length of what attention adds"),
    ("swarms", "clusters", "", "clusters", "fixed", 1, "Of simulated particles"),
    (
        *("swarms", "mean cosine", "share of pairs together"),
        *("together", "percent", 1, "Pairs with a cosine of .999 or more"),
    ),
)
_RATES = (
    Column("Scheme", "scheme", "scheme"),
    Column("Quantity", "quantity"),
    Column("Law", "law"),
    Column("Slope against", "against"),
    Column("Theory", "theory", "number", 4),
    Column("Reduced system", "reduced", "number", 4, "Measured on tokens at equal angles"),
    Column("Particles", "particles", "number", 4, "Measured on simulated particles"),
)
_COLLAPSE = (
    Column("Scheme", "scheme", "scheme"),
    Column("Weights", "weights"),
    Column("Seeds", "seeds", "number"),
    Column("Collapsed", "collapsed", "percent"),
    Column("At t", "time", "number", 4, "Median over seeds, where half of them got there"),
    Column("Earliest", "low", "number", 4),
    Column("Latest", "high", "number", 4),
)


def simulation_page(run: Simulation) -> Page:
    return Page(
        title="headgauge: attention dynamics on the sphere",
        caption=run.caption(),
        warnings=[],
        stands=run.stands(),
        overview=[*parts.opening("simulation", run.finding()), notes(run.manifest["notes"])],
        sections=[
            _dynamics(run),
            ledger([each for each in CLAIMS if each.id.startswith("D")], "arXiv 2510.22026"),
            came_about(run.manifest),
        ],
    )


def _dynamics(run: Simulation) -> Part | None:
    held = {name: frame for name, frame in run.tables.items() if not frame.is_empty()}
    if not held:
        return None
    spheres = _spheres(held["sphere"]) if "sphere" in held else None
    makers = {"curves": gamma_figure, "swarms": swarms_figure}
    lines = [plain(make(held[name], "")) for name, make in makers.items() if name in held]
    start = "Every scheme starts from the same places; drag a sphere to turn all."
    said = f"Where a model normalises sets how fast its tokens turn. {start * bool(spheres)}"
    timed = {
        "kind": "timed",
        "times": _slider_times(held),
        "spheres": spheres,
        "figures": lines,
        "readout": _readout([figure["name"] for figure in lines]),
    }
    return section(
        "dynamics",
        "Dynamics",
        "Attention dynamics on the sphere",
        text(said),
        timed if spheres or lines else None,
        figures([phase_figure(held["phase"], "")]) if "phase" in held else None,
        *_theory(run.tables),
    )


def _slider_times(held: dict[str, pl.DataFrame]) -> list[Any]:
    """The spheres' own times, so that the slider ends where they end; without them the lines'."""
    first = next((name for name in ("sphere", "curves", "swarms") if name in held), None)
    return sorted(set(values(held[first]["time"]))) if first else []


def _readout(there: list[str]) -> Part | None:
    told = ("figure", "axis", "fact", "title", "kind", "digits", "hint")
    columns = [dict(zip(told, each, strict=True)) for each in _READ if each[0] in there]
    lead = {"title": "Scheme", "kind": "scheme"}
    label = "What is read at the time of the slider"
    return {"columns": columns, "lead": lead, "label": label} if columns else None


def _spheres(frame: pl.DataFrame) -> Part:
    """By scheme and β the stored times, and at each the particles' places, in thousandths."""
    groups = []
    for part in by_scheme(frame).partition_by("scheme", "beta", maintain_order=True):
        at_times = part.sort("time", "particle").partition_by("time", maintain_order=True)
        scheme = names.scheme(part["scheme"][0])
        told = {"at": f"{part['beta'][0]:g}", "name": scheme.name, "title": scheme.title}
        told |= {"look": plain(scheme.look)}
        told |= {"times": [short(each["time"][0]) for each in at_times]}
        # A thousandth is a tenth of a pixel, and there are many places.
        for axis in "xyz":
            told[axis] = [values((1000 * each[axis]).round()) for each in at_times]
        groups.append(told)
    return {"title": "Spheres at β", "groups": groups, "told": _own_words(frame)}


def _own_words(frame: pl.DataFrame) -> dict[str, str]:
    """By β what the spheres stand on: theirs are other particles than those of the lines."""
    own = frame.group_by("beta").agg(
        pl.col("particle").n_unique(), pl.col("time").min().alias("start"), pl.col("time").max()
    )
    return {
        f"{beta:g}": f"The spheres are a run of their own: n = {count} particles in d = 3, "
        f"β = {beta:g}, Q = K = V = I, followed from t = {start:g} to {end:g}."
        for beta, count, start, end in own.sort("beta").rows()
    }


def _theory(tables: dict[str, pl.DataFrame]) -> list[Part | None]:
    """What the theory says beside what was measured."""
    weights = pl.col("weights").replace(names.WEIGHTS)
    rates = by_scheme(tables["rates"]).to_dicts()
    collapse = by_scheme(tables["collapse"]).with_columns(weights).to_dicts()
    told = "Theory beside measured"
    met = "When the farthest pair reaches a cosine of .999"
    return [
        table(_RATES, rates, told, title=told, id="rates", look="dense one-line"),
        table(_COLLAPSE, collapse, met, title=met, id="collapse", look="dense one-line"),
    ]


def by_scheme(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows in the order of every legend; a scheme that is not known stands last."""
    order = pl.col("scheme").cast(pl.Enum(list(names.SCHEMES)), strict=False)
    return frame.sort(order, "scheme", nulls_last=True, maintain_order=True)
