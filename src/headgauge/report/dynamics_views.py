"""The tables of a simulation for the terminal."""

import polars as pl

from headgauge.report.stacked import Column, Stacked
from headgauge.report.words import scheme_title

_MEASURED = ("theory", "reduced", "particles")


def velocity_view(rates: pl.DataFrame, tokens: int, beta: float) -> Stacked:
    """γ'(0) from an orthogonal start, theory beside measured."""
    title = f"Velocity γ'(0) of {tokens} orthogonal tokens, β = {beta:g}"
    return _rates_view(title, rates.filter(quantity="initial velocity"), "law")


def final_view(rates: pl.DataFrame) -> Stacked:
    """How 1 − γ ends, as a slope of its logarithm."""
    title = "Slope of log(1 − γ) in the end"
    return _rates_view(title, rates.filter(quantity="final rate"), "law", "against")


def collapse_view(collapse: pl.DataFrame, swarms: pl.DataFrame) -> Stacked:
    """When the farthest pair is one, and where the swarm stands at the end."""
    horizon = swarms["time"].max()
    ends = swarms.filter(pl.col("time") == horizon)
    rows = collapse.to_dicts()
    last = [
        ends.filter(weights=row["weights"], scheme=row["scheme"]).row(0, named=True) for row in rows
    ]
    one = [f"{round(row['collapsed'] * row['seeds'])} of {row['seeds']}" for row in rows]
    columns = [
        Column("weights", collapse["weights"].to_list(), "left", key=True),
        Column("scheme", [scheme_title(row["scheme"]) for row in rows], "left", key=True),
        Column("one", one),
        Column("median t", ["–" if row["time"] is None else f"{row['time']:.2f}" for row in rows]),
        Column("cosine", [f"{end['mean_cosine']:.4f}" for end in last]),
        Column("clusters", [f"{end['clusters']:.1f}" for end in last]),
        Column("radius", [f"{end['radius']:.2f}" for end in last]),
        Column("‖A‖", [f"{end['attention_norm']:.3f}" for end in last]),
    ]
    note = "one: even the farthest pair has a cosine of .999"
    return Stacked(f"Swarms at t = {horizon:g}", columns, note)


def _rates_view(title: str, rates: pl.DataFrame, *words: str) -> Stacked:
    columns = [Column("scheme", [scheme_title(name) for name in rates["scheme"]], "left", key=True)]
    headings = {"against": "over"}
    columns += [Column(headings.get(name, name), rates[name].to_list(), "left") for name in words]
    for name in _MEASURED:
        cells = ["–" if value is None else f"{value:.5g}" for value in rates[name]]
        columns.append(Column(name, cells))
    return Stacked(title, columns)
