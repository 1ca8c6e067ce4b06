"""Measures over N: all heads in one figure, or one head with what it looks at."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import polars as pl
from matplotlib import colormaps
from matplotlib.colors import to_hex

from headgauge.errors import InputError
from headgauge.registry.entry import GREEN, Look
from headgauge.registry.measures import CURVE_MEASURES, CURVES, HEAD_MEASURES, number
from headgauge.registry.names import choice_words
from headgauge.registry.published import CHOICE
from headgauge.report.captions import longest
from headgauge.report.figure import Axis, Figure, Panel, Sentence, Series, Values
from headgauge.report.head_maps import usual_choice
from headgauge.runs.schema import HEAD
from headgauge.scanning.summary import curves_over_windows, heads_over_windows

_LIGHTEST = 0.8  # of viridis: its end is too light for a line
_NAMED = 5  # layers in the legend
_TOLD = ("entropy_share", "sink_weight", "jacobian_norm", "max_logit", "output_ratio")
# What is drawn of a head, the first of each in files too; hidden is what a reader must ask for.
_SHARES = ("separability",)
_SHARE_BOUNDS = ("separability_printed_lower", "separability_printed_upper", "separability_lower")
_DISTANCES = ("distance", "bound_printed", "expected_printed")
_MORE_DISTANCES = ("expected_appendix", "expected_upper", "bound_lower", "bound_upper")
_HIDDEN = ("bound_lower", "bound_upper")
_KEYS = 8  # of a sampled row
_TOKEN = 10  # letters of it
_OVER_N = Axis("N", "N", log=True, can_log=True)
_UNSEEN = "not measured in this run"

Place = tuple[int, int | None, str | None]  # layer, head, module


def curves_figure(curves: pl.DataFrame, run: str) -> Figure:
    """Separability, distance and radius at the longest length, a line a head."""
    chosen = usual_choice(curves_over_windows(longest(curves))).sort("top_n")
    layers = chosen["layer"].unique().sort().to_list()
    step = max(1, -(-len(layers) // _NAMED))
    named = {*layers[::step], *layers[-1:]}
    shades = colormaps["viridis"]
    panels = []
    for name, measure in CURVE_MEASURES.items():
        seen = chosen.filter(pl.col(name).is_not_null())
        series = []
        for head in seen.partition_by(HEAD, maintain_order=True):
            layer = head["layer"][0]
            label = f"layer {layer}" if layer in named else ""
            colour = to_hex(shades(_LIGHTEST * layers.index(layer) / max(1, len(layers) - 1)))
            look = Look(colour, marker="dot" if len(head) < 2 else "", width=0.65, opacity=0.7)
            x, y = head["top_n"].to_list(), head[name].to_list()
            series.append(Series(f"layer {layer}", label, look, x, y))
        y = Axis("", low=0.0, high=1.02 if measure.high == 1 else None)
        panels.append(Panel(measure.title, _n_axis(chosen), y, tuple(series), empty=_UNSEEN))
    heads, length = chosen.select(HEAD).n_unique(), chosen["length"].max()
    told = f"L = {length}; {heads} heads, a line each, means over windows."
    caption = (Sentence(f"{_choice(chosen)}; {told}"),)
    return Figure(
        "curves",
        "Every head over N, tokens selected",
        tuple(panels),
        3,
        (),
        caption,
        run,
        panel_height=1.9,
    )


def head_figure(
    place: Place,
    tables: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame],
    run: str,
) -> Figure:
    """One head at the longest length; `tables` are heads, curves, samples and verdicts."""
    where = _found(place, tables[0])
    heads, curves, samples, verdicts = (longest(table.filter(**where)) for table in tables)
    curves = usual_choice(curves).sort("top_n")
    means = curves_over_windows(curves).sort("top_n")
    numbers = heads_over_windows(heads).row(0, named=True)
    told = ", ".join(
        f"{HEAD_MEASURES[name].title} {number(numbers[name], name)}"
        for name in _TOLD
        if numbers[name] is not None
    )
    said = ", ".join(verdicts["verdict"].unique(maintain_order=True)) or "no verdict"
    windows = curves.partition_by("window", maintain_order=True)
    thin = Look(GREEN, width=0.5, opacity=0.5)
    each = tuple(
        Series("separability", "", thin, own["top_n"].to_list(), own["separability"].to_list())
        for own in (windows if len(windows) > 1 else ())
    )
    title = f"Layer {where['layer']}, head {where['head']}"
    panels = _over_n(lambda name: means[name].to_list(), "Separability N_s/N", _n_axis(means), each)
    caption = (
        Sentence(f"{where['module']}, head {where['head']}: {said}; {told}."),
        Sentence(f"{_choice(curves)}; L = {heads['length'].max()}, means over windows."),
        Sentence("Thin: each window." if each else ""),
        Sentence("Bars: the heaviest keys of a sampled query row, each with its place."),
    )
    return Figure("head", title, (*panels, _sample_panel(samples)), 3, (), caption, run)


def head_template() -> Figure:
    """The same two panels for whichever head a reader picks: `x` and `y` of every series are the
    names of columns of its curves."""
    panels = _over_n(lambda name: cast(Values, name), "Separability", _OVER_N)
    return Figure("head", "Over N", panels, 2)


def _over_n(
    column: Callable[[str], Values], title: str, x: Axis, windows: tuple[Series, ...] = ()
) -> tuple[Panel, Panel]:
    def line(name: str) -> Series:
        entry, at = CURVES[name], (column("top_n"), column(name))
        in_file, seen = name in _SHARES + _DISTANCES, name not in _HIDDEN
        return Series(name, entry.title, entry.look, *at, in_file=in_file, shown=seen)

    shares = (*map(line, _SHARES + _SHARE_BOUNDS), *windows)
    distances = tuple(map(line, _DISTANCES + _MORE_DISTANCES))
    share = Axis("N_s/N", "N_s/N", low=0.0, high=1.04)
    distance = Axis("distance d̃", "d̃", can_log=True, low=0.0)
    return (
        Panel(title, x, share, shares, empty=_UNSEEN),
        Panel("Distance", x, distance, distances, empty=_UNSEEN),
    )


def _n_axis(curves: pl.DataFrame) -> Axis:
    """With the N that were measured, in so far as there is room."""
    ns = curves["top_n"].unique().sort().to_list()
    return replace(_OVER_N, ticks=tuple((n, f"{n}") for n in ns[:: 1 + len(ns) // 9]))


def _sample_panel(samples: pl.DataFrame) -> Panel:
    """The heaviest keys of the last row that was sampled in the first window."""
    weight = Axis("weight", low=0.0)
    if samples.is_empty():
        return Panel("what it looks at", weight, Axis(""), empty="no sampled rows in this run")
    first = samples.filter(pl.col("window") == pl.col("window").min())
    row = first.filter(pl.col("row") == pl.col("row").max()).sort("rank").head(_KEYS)
    named = row["key_text", "key_id", "key"].rows()
    labels = [f"{_token(text, identity)} {key}" for text, identity, key in named]
    series = tuple(
        Series(labels[place], "", Look(GREEN, width=6.0), [0.0, weight], [place, place])
        for place, weight in enumerate(row["weight"])
    )
    keys = Axis("", low=len(row) - 0.5, high=-0.5, ticks=tuple(enumerate(labels)))
    query = _token(row["query_text"][0], row["query_id"][0])
    return Panel(f"row {row['row'][0]}: {query}", weight, keys, series)


def _token(text: str | None, identity: int) -> str:
    if text is None:
        return f"token {identity}"
    shown = text.replace("\n", "↵").replace("\t", "⇥").replace(" ", "␣")
    return f"“{shown[:_TOKEN]}{'…' * (len(shown) > _TOKEN)}”"


def _found(place: Place, heads: pl.DataFrame) -> dict[str, Any]:
    """The head's own place, or one line that says which there are."""
    layer, head, module = place
    if head is None:
        raise InputError(f"a head is named by two numbers: plot({layer}, head)")
    there = heads.filter(layer=layer, head=head).sort("module", "occurrence")
    if there.is_empty():
        layers, numbers = (f"{n.min()} to {n.max()}" for n in (heads["layer"], heads["head"]))
        raise InputError(
            f"no head {head} in layer {layer}: this run has layers {layers}, heads {numbers}"
        )
    modules = there["module"].unique(maintain_order=True).to_list()
    if (module is None and len(modules) > 1) or (module is not None and module not in modules):
        raise InputError(f"layer {layer} has {', '.join(modules)}: name one of them as module=")
    return there.filter(module=module or modules[0]).select(HEAD).row(0, named=True)


def _choice(curves: pl.DataFrame) -> str:
    return choice_words(next(iter(curves.select(CHOICE).rows()), ()))
