"""A model's residual stream by layer, beside what the schemes' reduced systems predict."""

from dataclasses import replace

import polars as pl

from headgauge.registry.entry import BLACK, Look
from headgauge.registry.measures import LAYERS
from headgauge.registry.names import SCHEMES
from headgauge.report.captions import span
from headgauge.report.dynamics.words import schemes_in
from headgauge.report.figure import Axis, Figure, Panel, Sentence, Series
from headgauge.scanning.summary import depth_over_windows

_LAYER = Axis("layer the tokens enter; at the end: after the last", "layer")
_MODEL = Look(BLACK)
_BANDS = {  # by measure: the columns of its wide band
    "mean_cosine": ("pair_low", "pair_high"),
    "radius": ("radius_low", "radius_high"),
    "speed": ("speed_low", "speed_high"),
}
_OWN, _OTHER = {"width": 1.9}, {"width": 0.8, "opacity": 0.45}


def depth_figure(depth: pl.DataFrame, predicted: pl.DataFrame, run: str) -> Figure:
    """Cosine, radius, what a layer adds and how far it turns a token."""
    rows = depth.filter(pl.col("length") == pl.col("length").max())
    means = depth_over_windows(rows)
    last = max(means.select(pl.max("layer")).item() or 1, 1)
    x = replace(_LAYER, low=0.0, high=float(last))

    def panel(title: str, y: Axis, *lines: tuple[str, str], empty: str, theory: str = "") -> Panel:
        series = [part for name, label in lines for part in _measured(means, name, label)]
        series += _predicted(predicted, theory) if theory and series else []
        return Panel(title, x, y, tuple(series), empty=empty)

    model, none = "the model, mean over windows", "no layers in this run"
    panels = (
        panel(
            f"mean cosine of pairs; {recognised_words(depth, predicted)}",
            Axis("mean cosine, γ"),
            ("mean_cosine", model),
            empty=none,
            theory="gamma",
        ),
        panel(
            "length of the vectors",
            Axis("radius r", log=True, can_log=True),
            ("radius", model),
            empty=none,
            theory="radius",
        ),
        panel(
            "length of what a layer adds",
            Axis("‖A‖, ‖MLP‖", log=True, can_log=True),
            ("attention_norm", "attention alone"),
            ("other_norm", LAYERS["other_norm"].title),
            empty="what the layers add was not seen in this run",
        ),
        panel(
            "angle a token turns in a layer",
            Axis("radians", low=0.0),
            ("speed", model),
            ("attention_speed", "attention alone"),
            empty="how far the layers turn was not seen in this run",
        ),
    )
    caption = (Sentence(_sample_words(rows)), Sentence(_prediction_words(predicted)))
    return Figure("depth", "Layer by layer", panels, 2, (), caption, run)


def recognised_words(depth: pl.DataFrame, predicted: pl.DataFrame) -> str:
    """Where the model has its norms, in a word or two."""
    found = schemes_in(predicted.filter("recognised"))
    found = found or schemes_in(depth.filter(pl.col("scheme").is_not_null()))
    if not found:
        return "no scheme recognised"
    return "recognised as " + ", ".join(SCHEMES[scheme].title for scheme in found)


def _measured(means: pl.DataFrame, name: str, label: str) -> list[Series]:
    """A line with its wide band, over tokens or pairs, and the narrow one over windows."""
    seen = means.filter(pl.col(name).is_not_null())
    if seen.is_empty():
        return []
    known = {column: seen[column].to_list() for column in seen.columns}
    x, look = known["layer"], _MODEL if name in _BANDS else LAYERS[name].look
    low, high = (known[end] for end in _BANDS[name]) if name in _BANDS else (None, None)
    facts = {"enters": known["module"]}
    if name == "mean_cosine":
        facts |= {
            "farthest pair": known["least_cosine"],
            "share of pairs together": known["together"],
            "clusters": known["clusters"],
            "keys a head attends to": known["effective_n"],
        }
    line = Series(label, label, look, x, known[name], low, high, facts=facts)
    ends = known[f"{name}_least"], known[f"{name}_most"]
    windows = Series(label, "", replace(look, line="none"), x, known[name], *ends)
    return [line, windows]


def _predicted(predicted: pl.DataFrame, column: str) -> list[Series]:
    """Bold for the scheme of the model, faint for what it would be under another."""
    found = []
    for name in schemes_in(predicted):
        own = predicted.filter(scheme=name).sort("layer")
        bold = own["recognised"].any()
        look = replace(SCHEMES[name].look, marker="", **(_OWN if bold else _OTHER))
        words = SCHEMES[name].title + (", the model's scheme: predicted" if bold else "")
        x, y = own["layer"].to_list(), own[column].to_list()
        found.append((not bold, Series(name, words, look, x, y)))
    return [series for _, series in sorted(found, key=lambda pair: pair[0])]


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
