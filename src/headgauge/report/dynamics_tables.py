"""A simulation as tables: velocities, rates, and when the swarms collapse."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from headgauge.registry.names import scheme
from headgauge.report.table import Column, Table

_SWARM = ["weights", "scheme"]


def simulation_tables(
    tables: Mapping[str, pl.DataFrame], settings: Mapping[str, Any]
) -> list[Table]:
    """Velocities and rates, then when the swarms collapse, of what was computed."""
    found, rates = [], tables["rates"]
    if len(rates):
        found = [velocity_table(rates, settings["tokens"], settings["beta"]), final_table(rates)]
    if len(tables["collapse"]):
        found.append(collapse_table(tables["collapse"], tables["swarms"]))
    return found


def velocity_table(rates: pl.DataFrame, tokens: int, beta: float) -> Table:
    """γ'(0) from an orthogonal start, theory beside measured."""
    title = f"Velocity γ'(0) of {tokens} orthogonal tokens, β = {beta:g}"
    return _rates_table(title, rates.filter(quantity="initial velocity"), {"law": "law"})


def final_table(rates: pl.DataFrame) -> Table:
    """How 1 − γ ends, as a slope of its logarithm."""
    words, rows = {"law": "law", "against": "over"}, rates.filter(quantity="final rate")
    return _rates_table("Slope of log(1 − γ) in the end", rows, words)


def _rates_table(title: str, rates: pl.DataFrame, words: dict[str, str]) -> Table:
    columns = [_scheme_column(rates)]
    columns += [Column(words[name], rates[name].to_list(), "left") for name in words]
    for name in ("theory", "reduced", "particles"):
        cells = ["–" if value is None else f"{value:.5g}" for value in rates[name]]
        columns.append(Column(name, cells))
    return Table(title, columns)


def collapse_table(collapse: pl.DataFrame, swarms: pl.DataFrame) -> Table:
    """When even the farthest pair is together, and where the swarm stands at the end."""
    horizon = swarms["time"].max()
    ends = swarms.filter(pl.col("time") == horizon).unique(_SWARM, maintain_order=True)
    last = collapse.join(ends, on=_SWARM, how="left", maintain_order="left")
    counts = collapse["collapsed", "seeds"].rows()
    columns = [
        Column("weights", collapse["weights"].to_list(), "left", key=True),
        _scheme_column(collapse),
        Column("collapsed", [f"{round(share * seeds)} of {seeds}" for share, seeds in counts]),
        Column("median t", ["–" if t is None else f"{t:.2f}" for t in collapse["time"]]),
        Column("cosine", [f"{cosine:.4f}" for cosine in last["mean_cosine"]]),
        Column("clusters", [f"{count:.1f}" for count in last["clusters"]]),
        Column("radius", [f"{radius:.2f}" for radius in last["radius"]]),
        Column("‖A‖", [f"{norm:.3f}" for norm in last["attention_norm"]]),
    ]
    note = "collapsed: even the farthest pair has a cosine of .999 or more"
    return Table(f"Swarms at t = {horizon:g}", columns, note)


def _scheme_column(frame: pl.DataFrame) -> Column:
    return Column("scheme", [scheme(name).title for name in frame["scheme"]], "left", key=True)
