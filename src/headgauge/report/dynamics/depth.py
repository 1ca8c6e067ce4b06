"""A model's residual stream by layer, beside what the schemes' reduced systems predict."""

from collections.abc import Callable

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from headgauge.report.dynamics.looks import SCHEME_LOOKS, line_of, schemes_in
from headgauge.report.paper.looks import BLACK, GREEN, ORANGE, PAGE, Look
from headgauge.report.paper.page import (
    LEGEND_LINE,
    legend_below,
    nothing,
    open_page,
    small_print,
    title,
)
from headgauge.report.paper.selecting import longest, span

MEASURED = Look("the model, mean over windows", BLACK)
ATTENTION = Look("attention alone", GREEN, "--")
OTHER = Look("the rest of the layer (MLP)", ORANGE, "-.")
_FAINT = 0.45
_BANDS = {"tokens": 0.16, "windows": 0.4}  # how dense


def depth_page(depth: pl.DataFrame, predicted: pl.DataFrame, caption: str) -> Figure:
    """Cosine, radius, what a layer adds and how far it turns a token."""
    rows = longest(depth)
    small = small_print(caption, _sample_words(rows), _prediction_words(predicted))
    handles = _prediction_handles(predicted)
    below = [LEGEND_LINE * -(-len(handles) // 3) + 0.06, LEGEND_LINE]
    figure, panels = open_page((PAGE, 1.75), (2, 2), below, small, left=0.5, gap=0.6)
    title(panels[0], "a", f"mean cosine of pairs; {recognised_words(depth, predicted)}")
    draw_cosines(panels[0], rows, predicted)
    title(panels[1], "b", "length of the vectors")
    draw_radii(panels[1], rows, predicted)
    title(panels[2], "c", "length of what a layer adds")
    draw_added(panels[2], rows)
    title(panels[3], "d", "angle a token turns in a layer")
    draw_speeds(panels[3], rows)
    for axes in panels[:2]:
        if not axes.has_data():
            nothing(axes, "no layers in this run")
    legend_below(panels[0], handles, 3)
    own = [MEASURED.handle(label="the whole layer"), ATTENTION.handle(), OTHER.handle()]
    legend_below(panels[2], own, 3)
    return figure


def draw_cosines(axes: Axes, depth: pl.DataFrame, predicted: pl.DataFrame) -> None:
    """Pairs spread more than windows do: the wide band is theirs."""
    means = _over_windows(depth, "mean_cosine", "pair_low", "pair_high")
    if _draw_measured(axes, means, "mean_cosine", ("pair_low", "pair_high")):
        _draw_predicted(axes, predicted, "gamma")
        axes.set_ylabel("mean cosine, γ", labelpad=2)


def draw_radii(axes: Axes, depth: pl.DataFrame, predicted: pl.DataFrame) -> None:
    means = _over_windows(depth, "radius", "radius_low", "radius_high")
    if _draw_measured(axes, means, "radius", ("radius_low", "radius_high")):
        _draw_predicted(axes, predicted, "radius")
        axes.set_yscale("log")
        axes.set_ylabel("radius r", labelpad=2)


def draw_added(axes: Axes, depth: pl.DataFrame) -> None:
    means = _over_windows(depth, "attention_norm", "other_norm")
    drawn = [
        _draw_measured(axes, means, name, look=look)
        for name, look in (("attention_norm", ATTENTION), ("other_norm", OTHER))
    ]
    if not any(drawn):
        nothing(axes, "what the layers add was not seen in this run")
        return
    axes.set_yscale("log")
    axes.set_ylabel("‖A‖, ‖MLP‖", labelpad=2)


def draw_speeds(axes: Axes, depth: pl.DataFrame) -> None:
    means = _over_windows(depth, "speed", "speed_low", "speed_high", "attention_speed")
    if not _draw_measured(axes, means, "speed", ("speed_low", "speed_high")):
        nothing(axes, "how far the layers turn was not seen in this run")
        return
    _draw_measured(axes, means, "attention_speed", look=ATTENTION)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("radians", labelpad=2)


def recognised_words(depth: pl.DataFrame, predicted: pl.DataFrame) -> str:
    """Where the model has its norms, in a word or two."""
    found = schemes_in(predicted.filter("recognised"))
    found = found or schemes_in(depth.filter(pl.col("scheme").is_not_null()))
    if not found:
        return "no scheme recognised"
    return "recognised as " + ", ".join(SCHEME_LOOKS[scheme].label for scheme in found)


def _over_windows(depth: pl.DataFrame, *measures: str) -> pl.DataFrame:
    """By layer: each measure's mean over the windows, and its least and most."""
    means = [pl.col(measure).mean() for measure in measures]
    ends = [
        end(pl.col(measure)).alias(f"{measure}_{name}")
        for measure in measures
        for name, end in _ENDS.items()
    ]
    return depth.group_by("layer").agg(*means, *ends).sort("layer")


_ENDS: dict[str, Callable[[pl.Expr], pl.Expr]] = {"least": pl.Expr.min, "most": pl.Expr.max}


def _draw_measured(
    axes: Axes,
    means: pl.DataFrame,
    measure: str,
    band: tuple[str, str] | None = None,
    look: Look = MEASURED,
) -> bool:
    """A line and its bands; whether there was anything to draw."""
    seen = means.filter(pl.col(measure).is_not_null())
    if seen.is_empty():
        return False
    bands = {"windows": (f"{measure}_least", f"{measure}_most")}
    if band is not None:
        bands["tokens"] = band
    for kind, (low, high) in bands.items():
        how = {"color": look.colour, "alpha": _BANDS[kind], "linewidth": 0}
        axes.fill_between(seen["layer"], seen[low], seen[high], **how)
    axes.plot(seen["layer"], seen[measure], **look.how())
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.set_xlim(0, max(means["layer"].max(), 1))  # pyright: ignore
    axes.set_xlabel("layer the tokens enter; at the end: after the last", labelpad=2)
    return True


def _draw_predicted(axes: Axes, predicted: pl.DataFrame, measure: str) -> None:
    for scheme in schemes_in(predicted):
        own = predicted.filter(scheme=scheme).sort("layer")
        axes.plot(own["layer"], own[measure], **_prediction_line(own))


def _prediction_line(own: pl.DataFrame) -> dict:
    """Bold for the scheme of the model, faint for what it would be under another."""
    scheme, bold = own["scheme"][0], own["recognised"].any()
    words = SCHEME_LOOKS[scheme].label + (", the model's scheme: predicted" if bold else "")
    strength = {"linewidth": 2.0} if bold else {"linewidth": 0.9, "alpha": _FAINT}
    return line_of(scheme, own.height, marker="", label=words, **strength)


def _prediction_handles(predicted: pl.DataFrame) -> list[Artist]:
    lines = [_prediction_line(predicted.filter(scheme=name)) for name in schemes_in(predicted)]
    lines.sort(key=lambda line: line["linewidth"], reverse=True)
    words = {"windows": "least and most over windows", "tokens": "5 to 95 % of pairs, of tokens"}
    bands = [
        Patch(color=BLACK, alpha=_BANDS[kind], linewidth=0, label=told)
        for kind, told in words.items()
    ]
    predictions = [Line2D([], [], **line) for line in lines]
    return [MEASURED.handle(), *bands, *predictions]


def _sample_words(depth: pl.DataFrame) -> str:
    if depth.is_empty():
        return "nothing was measured"
    windows = depth["window"].n_unique()
    return (
        f"{windows} window{'s' * (windows != 1)} of {span(depth['length'])} tokens, "
        f"{span(depth['tokens'])} counted; wide bands: 5 to 95 % over pairs (a), over tokens (b, d)"
    )


def _prediction_words(predicted: pl.DataFrame) -> str:
    if predicted.is_empty():
        return "no prediction"
    beta = span(predicted["beta"].round_sig_figs(3))
    return (
        f"predicted: the equiangular system from where the model starts, β = {beta}, "
        f"n = {span(predicted['tokens'])}"
    )
