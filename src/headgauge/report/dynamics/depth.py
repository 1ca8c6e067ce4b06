"""A model's residual stream by layer, beside what the schemes' reduced systems predict."""

from dataclasses import replace

import polars as pl

from headgauge.registry.entry import BLACK, Look
from headgauge.registry.measures import LAYERS
from headgauge.registry.names import SCHEMES
from headgauge.report.captions import longest, span
from headgauge.report.dynamics.words import schemes_in
from headgauge.report.figure import Axis, Figure, Panel, Sentence, Series
from headgauge.scanning.summary import depth_over_windows

_MODEL = Look(BLACK)
_BANDS = {  # by measure: the columns of its wide band
    "mean_cosine": ("pair_low", "pair_high"),
    "radius": ("radius_low", "radius_high"),
    "speed": ("speed_low", "speed_high"),
}
_FACTS = {
    "farthest pair": "least_cosine",
    "share of pairs together": "together",
    "clusters": "clusters",
    "keys a head attends to": "effective_n",
}


def depth_figure(depth: pl.DataFrame, predicted: pl.DataFrame, run: str) -> Figure:
    """Cosine, radius, what a layer adds and how far it turns a token."""
    rows = longest(depth)
    means = depth_over_windows(rows)
    last = float(max(means.select(pl.max("layer")).item() or 1, 1))
    x = Axis(
        "layer, tokens as they enter it; at the end after the last", "layer", low=0.0, high=last
    )

    def panel(title: str, y: Axis, names: list[str], empty: str, theory: str = "") -> Panel:
        series = [part for name in names for part in _measured(means, name)]
        series += _predicted(predicted, theory) if theory and series else []
        return Panel(title, x, y, tuple(series), empty=empty)

    cosine = f"mean cosine of pairs; {recognised_words(depth, predicted)}"
    length, added = (Axis(label, log=True, can_log=True) for label in ("radius r", "‖A‖, ‖MLP‖"))
    none, unseen = "no layers in this run", "was not measured in this run"
    adds, turns = f"what the layers add {unseen}", f"how far the layers turn {unseen}"
    both, angles = ["attention_norm", "other_norm"], ["speed", "attention_speed"]
    panels = (
        panel(cosine, Axis("mean cosine, γ"), ["mean_cosine"], none, "gamma"),
        panel("length of the vectors", length, ["radius"], none, "radius"),
        panel("length of what a layer adds", added, both, adds),
        panel("angle a token turns in a layer", Axis("radians", low=0.0), angles, turns),
    )
    caption = (Sentence(_sample_words(rows)), Sentence(_prediction_words(predicted)))
    return Figure("depth", "The residual stream, layer by layer", panels, 2, (), caption, run)


def recognised_words(depth: pl.DataFrame, predicted: pl.DataFrame) -> str:
    """Where the model has its norms, in a word or two."""
    found = schemes_in(predicted.filter("recognised"))
    found = found or schemes_in(depth.filter(pl.col("scheme").is_not_null()))
    if not found:
        return "no scheme recognised"
    return "recognised as " + ", ".join(SCHEMES[scheme].title for scheme in found)


def _measured(means: pl.DataFrame, name: str) -> list[Series]:
    """A line with its wide band, over tokens or pairs, and the narrow one over windows."""
    seen = means.filter(pl.col(name).is_not_null())
    if seen.is_empty():
        return []
    known = {column: seen[column].to_list() for column in seen.columns}
    x, label, look, low, high = known["layer"], LAYERS[name].title, LAYERS[name].look, None, None
    if name in _BANDS:
        label, look = "the model, mean over windows", _MODEL
        low, high = (known[end] for end in _BANDS[name])
    facts = {"enters": known["module"]}
    if name == "mean_cosine":
        facts |= {words: known[column] for words, column in _FACTS.items()}
    line = Series(label, label, look, x, known[name], low, high, facts=facts)
    ends = known[f"{name}_least"], known[f"{name}_most"]
    windows = Series(label, "", replace(look, line="none"), x, known[name], *ends)
    return [line, windows]


def _predicted(predicted: pl.DataFrame, column: str) -> list[Series]:
    """Bold for the scheme of the model, faint for what it would be under another."""
    bold, faint = [], []
    for name in schemes_in(predicted):
        own = predicted.filter(scheme=name).sort("layer")
        x, y, known = own["layer"].to_list(), own[column].to_list(), SCHEMES[name]
        if own["recognised"].any():
            words = f"{known.title}, the model's scheme: predicted"
            look = replace(known.look, marker="", width=1.9)
            bold.append(Series(name, words, look, x, y))
        else:
            look = replace(known.look, marker="", width=0.8, opacity=0.45)
            faint.append(Series(name, known.title, look, x, y))
    return bold + faint


def _sample_words(depth: pl.DataFrame) -> str:
    if depth.is_empty():
        return "Nothing was measured."
    windows = depth["window"].n_unique()
    return (
        f"Means over {windows} window{'s' * (windows != 1)} of {span(depth['length'])} tokens, "
        f"{span(depth['tokens'])} counted; wide bands: 5 to 95 % over pairs (cosine) or tokens, "
        "narrow: least and most over windows."
    )


def _prediction_words(predicted: pl.DataFrame) -> str:
    if predicted.is_empty():
        return "No prediction."
    beta = span(predicted["beta"].round_sig_figs(3))
    return (
        f"Predicted: the equiangular system from where the model starts, β = {beta}, "
        f"n = {span(predicted['tokens'])}."
    )
