"""Which rows of a simulation a figure shows, and what its small print says of them."""

import polars as pl

from headgauge.report.dynamics.looks import BASELINE
from headgauge.report.paper.selecting import span
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.schema import frame_schema

# What a simulation was run with: lines of one panel share all of it.
SETUP = ("weights", "rule", "tokens", "dim", "heads", "causal", "beta")

WEIGHTS = {
    "identity": "Q = K = V = I",
    "random": "random Q, K, V",
    "layers": "new Q, K, V in every layer",
}


def every_table(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The tables, an empty one for each that is not there."""
    return {
        name: tables[name] if name in tables else pl.DataFrame(schema=frame_schema(row))
        for name, row in DYNAMICS_TABLES.items()
    }


def one_setup(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows that were run with what the first row was: what a panel compares is the schemes."""
    if frame.is_empty():
        return frame
    first = {name: frame[name][0] for name in SETUP if name in frame.columns}
    return frame.filter(**first)


def kinds_of(swarms: pl.DataFrame) -> list[str]:
    """The kinds of weights there are, the plainest first."""
    there = set(swarms["weights"])
    return [kind for kind in WEIGHTS if kind in there]


def of_kind(swarms: pl.DataFrame, kind: str) -> pl.DataFrame:
    """The swarms of one kind of weights, under softmax where that was run."""
    rows = swarms.filter(weights=kind)
    plain = rows.filter(rule="softmax")
    return one_setup(rows if plain.is_empty() else plain)


def baseline_words(frame: pl.DataFrame) -> str:
    there = (frame["scheme"] == BASELINE).any()
    return "unnormalised: 1/n for softmax's denominator; it may leave a panel" if there else ""


def setup_words(frame: pl.DataFrame) -> str:
    """`n = 64 tokens, d = 512, β = 22.63, 20 seeds`: of what the frame's columns tell."""
    if frame.is_empty():
        return ""
    told = []
    for name, words in _TOLD.items():
        if name in frame.columns:
            number = span(frame[name].round_sig_figs(4))
            told.append(words.format(number) + "s" * (name in _COUNTED and number != "1"))
    if "causal" in frame.columns and frame["causal"].any():
        told.append("causal")
    if "rule" in frame.columns and (frame["rule"] != "softmax").any():
        told.append(", ".join(frame["rule"].unique().sort()))
    return ", ".join(told)


_TOLD = {
    "tokens": "n = {} token",
    "dim": "d = {}",
    "heads": "{} head",
    "beta": "β = {}",
    "seeds": "{} seed",
}
_COUNTED = ("tokens", "heads", "seeds")
