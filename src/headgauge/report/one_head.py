"""One head: its separability and distance over N, what it looks at, and its numbers in words."""

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headgauge.errors import InputError
from headgauge.report.head_figures import usual_choice
from headgauge.report.paper.looks import DISTANCE_LOOKS, GREEN, PAGE
from headgauge.report.paper.page import (
    LEGEND_LINE,
    legend_below,
    nothing,
    open_page,
    over_n,
    small_print,
    title,
)
from headgauge.report.paper.selecting import choice_words, longest, printable, span
from headgauge.report.words import HEAD_MEASURES, number

_TOLD = ("entropy_share", "sink_weight", "jacobian_norm", "max_logit", "output_ratio")
_KEYS = 8  # of a sampled row
_TOKEN = 10  # letters of it
_ASIDE = 0.3  # inches: room for its tokens

Place = tuple[int, int | None, str | None]


def one_head(
    place: Place,
    tables: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame],
    caption: str,
) -> Figure:
    """`tables` are heads, curves, samples and verdicts; shown at the longest length."""
    where = _found(place, tables[0])
    heads, curves, samples, verdicts = (longest(table.filter(**where)) for table in tables)
    choice, curves = usual_choice(curves)
    over = heads.select(HEAD_MEASURES[name].over(name) for name in _TOLD).row(0, named=True)
    numbers = ", ".join(
        f"{HEAD_MEASURES[name].title} {number(over[name], name)}"
        for name in _TOLD
        if over[name] is not None
    )
    said = ", ".join(verdicts["verdict"].unique(maintain_order=True))
    small = small_print(
        f"{where['module']}, head {where['head']}: {said or 'no verdict'}; {numbers}",
        caption,
        choice_words(choice),
        f"shown at L = {span(heads['length'])}, means over windows",
        "(a) thin: each window" if heads["window"].n_unique() > 1 else "",
        "(c) the heaviest keys of a sampled query row, each with its place",
    )
    room = [LEGEND_LINE * len(DISTANCE_LOOKS)]
    figure, panels = open_page((PAGE, 1.75), (1, 3), room, small, gap=0.62)
    title(panels[0], "a", f"layer {where['layer']}, head {where['head']}: $N_s/N$")
    _draw_separability(panels[0], curves)
    title(panels[1], "b", r"distance $\tilde{d}$")
    _draw_distance(panels[1], curves)
    handles = [look.handle() for look in DISTANCE_LOOKS.values()]
    legend_below(panels[1], handles, shift=-1.0)
    box = panels[2].get_position()
    panels[2].set_position((box.x0 + _ASIDE / PAGE, box.y0, box.width - _ASIDE / PAGE, box.height))
    _draw_sample(panels[2], samples)
    return figure


def _found(place: Place, heads: pl.DataFrame) -> dict[str, int | str]:
    """The head's own place, or one line that says which there are."""
    layer, head, module = place
    if head is None:
        raise InputError(f"a head is named by two numbers: plot({layer}, head)")
    there = (
        heads.filter(layer=layer, head=head)
        .select("module", "occurrence")
        .unique()
        .sort("module", "occurrence")
    )
    if there.is_empty():
        raise InputError(
            f"no head {head} in layer {layer}: this run has layers {_ends(heads['layer'])}, "
            f"heads {_ends(heads['head'])}"
        )
    modules = there["module"].unique(maintain_order=True).to_list()
    if (module is None and len(modules) > 1) or (module is not None and module not in modules):
        raise InputError(f"layer {layer} has {', '.join(modules)}: name one of them as module=")
    chosen = module or modules[0]
    first = there.filter(module=chosen)["occurrence"][0]
    return {"layer": layer, "head": head, "module": chosen, "occurrence": first}


def _ends(numbers: pl.Series) -> str:
    return f"{numbers.min()} to {numbers.max()}"


def _draw_separability(axes: Axes, curves: pl.DataFrame) -> None:
    seen = curves.filter(pl.col("separability").is_not_null()).sort("top_n")
    if seen.is_empty():
        nothing(axes, "not seen in this run")
        return
    windows = seen.partition_by("window")
    for window in windows if len(windows) > 1 else ():
        axes.plot(window["top_n"], window["separability"], color=GREEN, linewidth=0.5, alpha=0.5)
    means = seen.group_by("top_n").agg(pl.col("separability").mean()).sort("top_n")
    axes.plot(means["top_n"], means["separability"], color=GREEN, marker="o", markersize=3)
    axes.set_ylim(0, 1.04)
    over_n(axes)


def _draw_distance(axes: Axes, curves: pl.DataFrame) -> None:
    means = curves.group_by("top_n").agg(pl.col(*DISTANCE_LOOKS).mean()).sort("top_n")
    if all(means[name].is_null().all() for name in DISTANCE_LOOKS):
        nothing(axes, "not seen in this run")
        return
    for name, look in DISTANCE_LOOKS.items():
        axes.plot(means["top_n"], means[name], **look.how())
    axes.set_ylim(bottom=0)
    over_n(axes)


def _draw_sample(axes: Axes, samples: pl.DataFrame) -> None:
    """The heaviest keys of the last row that was sampled in the first window."""
    if samples.is_empty():
        nothing(axes, "no sampled rows in this run")
        return
    first = samples.filter(pl.col("window") == pl.col("window").min())
    row = first.filter(pl.col("row") == pl.col("row").max()).sort("rank").head(_KEYS)
    query = _token(row["query_text"][0], row["query_id"][0])
    title(axes, "c", f"row {row['row'][0]}: {query}")
    axes.title.set_parse_math(False)
    labels = [
        f"{_token(text, identity)} {key}"
        for text, identity, key in row.select("key_text", "key_id", "key").rows()
    ]
    axes.barh(range(len(row)), row["weight"], color=GREEN, height=0.7)
    axes.set_yticks(range(len(row)), labels, fontsize=6)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("weight", labelpad=1)


def _token(text: str | None, identity: int) -> str:
    if text is None:
        return f"token {identity}"
    shown = printable(text.replace("\n", "↵").replace("\t", "⇥").replace(" ", "␣"))
    return f"“{shown[:_TOKEN]}{'…' * (len(shown) > _TOKEN)}”"
