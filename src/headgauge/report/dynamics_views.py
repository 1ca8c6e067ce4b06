"""The tables of a simulation for the terminal."""

from typing import Any

import polars as pl
from rich.table import Table

from headgauge.report.words import scheme_title


def velocity_view(rates: pl.DataFrame, tokens: int, beta: float) -> Table:
    """γ'(0) from an orthogonal start, theory beside measured."""
    title = f"Velocity γ'(0) of {tokens} orthogonal tokens, β = {beta:g}"
    table = _table(title, ("scheme", "law"))
    for row in rates.filter(quantity="initial velocity").iter_rows(named=True):
        table.add_row(scheme_title(row["scheme"]), row["law"], *_measured(row))
    return table


def final_view(rates: pl.DataFrame) -> Table:
    """How 1 − γ ends, as a slope of its logarithm."""
    table = _table("Slope of log(1 − γ) in the end", ("scheme", "law", "over"))
    for row in rates.filter(quantity="final rate").iter_rows(named=True):
        table.add_row(scheme_title(row["scheme"]), row["law"], row["against"], *_measured(row))
    return table


def collapse_view(collapse: pl.DataFrame, swarms: pl.DataFrame) -> Table:
    """When the farthest pair is one, and where the swarm stands at the end."""
    horizon = swarms["time"].max()
    ends = swarms.filter(pl.col("time") == horizon)
    title = f"Swarms at t = {horizon:g}; one: even the farthest pair has a cosine of .999"
    table = Table(title=title, title_justify="left", box=None)
    for heading in ("weights", "scheme"):
        table.add_column(heading, no_wrap=True)
    for heading in ("one", "median t", "cosine", "clusters", "radius", "‖A‖"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in collapse.iter_rows(named=True):
        end = ends.filter(weights=row["weights"], scheme=row["scheme"]).row(0, named=True)
        table.add_row(
            row["weights"],
            scheme_title(row["scheme"]),
            f"{round(row['collapsed'] * row['seeds'])} of {row['seeds']}",
            "–" if row["time"] is None else f"{row['time']:.2f}",
            f"{end['mean_cosine']:.4f}",
            f"{end['clusters']:.1f}",
            f"{end['radius']:.2f}",
            f"{end['attention_norm']:.3f}",
        )
    return table


def _table(title: str, words: tuple[str, ...]) -> Table:
    table = Table(title=title, title_justify="left", box=None)
    for heading in words:
        table.add_column(heading, no_wrap=True)
    for heading in ("theory", "reduced", "particles"):
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _measured(row: dict[str, Any]) -> list[str]:
    values = (row[name] for name in ("theory", "reduced", "particles"))
    return ["–" if value is None else f"{value:.5g}" for value in values]
