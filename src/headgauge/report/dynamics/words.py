"""Which rows of a simulation a figure shows together, and what it says of them."""

from collections.abc import Sequence

import polars as pl

from headgauge.registry.names import BASELINE, SCHEMES, WEIGHTS
from headgauge.report.captions import span
from headgauge.report.figure import At, Switch

# What a swarm was run with: the lines of one panel share all of it.
SETUP = ("weights", "rule", "tokens", "dim", "heads", "causal", "beta")
_TOLD = {
    "tokens": "n = {} token{}",
    "dim": "d = {}",
    "heads": "{} head{}",
    "beta": "β = {}",
    "seeds": "{} seed{}",
}


def settings_of(
    frame: pl.DataFrame, names: Sequence[str], title: str
) -> tuple[tuple[Switch, ...], list[tuple[pl.DataFrame, At]]]:
    """The rows of each setting and where they are shown; the switch between them, if there are
    several, which a file shows side by side."""
    name = title.lower()
    parts = frame.partition_by(names, maintain_order=True)
    if "weights" in names:
        parts.sort(key=lambda part: list(WEIGHTS).index(part["weights"][0]))
    if len(parts) < 2:
        return (), [(part, {}) for part in parts]
    words = [setting_words(part.select(names)) for part in parts]
    switch = Switch(name, title, tuple(zip(words, words, strict=True)), side_by_side=True)
    return (switch,), [(part, {name: said}) for part, said in zip(parts, words, strict=True)]


def setting_words(frame: pl.DataFrame, between: str = "; ") -> str:
    """What was set, with the kind of weights in front."""
    weights = [WEIGHTS[frame["weights"][0]]] if "weights" in frame else []
    return between.join([*weights, setup_words(frame)])


def setup_words(frame: pl.DataFrame) -> str:
    """`n = 64 tokens, d = 512, β = 22.63, 20 seeds`: of what the frame's columns tell."""
    told = []
    for name, words in _TOLD.items():
        if name in frame.columns:
            number = span(frame[name].round_sig_figs(4))
            told.append(words.format(number, "s" * (number != "1")))
    if "causal" in frame.columns and frame["causal"].any():
        told.append("causal")
    if "rule" in frame.columns and (frame["rule"] != "softmax").any():
        told.append(", ".join(frame["rule"].unique().sort()))
    return ", ".join(told)


def baseline_words(frame: pl.DataFrame) -> list[str]:
    there = (frame["scheme"] == BASELINE).any()
    return [
        "unnormalised: 1/n instead of softmax's denominator; its line may leave a panel."
    ] * there


def schemes_in(frame: pl.DataFrame) -> list[str]:
    """Those that have rows, in the order of the legend."""
    there = set(frame["scheme"])
    return [scheme for scheme in SCHEMES if scheme in there]
