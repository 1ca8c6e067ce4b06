"""All choices in one panel, small: numbered points on the paper's two numbers."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes

from headgauge.report.paper.choices import in_order, share_axis
from headgauge.report.paper.labels import around, label_points
from headgauge.report.paper.looks import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    PAPER_BAND,
    PAPER_SHARE,
    PURPLE,
    SKY,
    Look,
)
from headgauge.report.paper.page import LEGEND_LINE, nothing, under_panel

_PAPER = Look(f"{PAPER_SHARE:g}, the paper's", BLACK, (0, (6, 2)))
_CLOSEST = Look("closest here", BLACK, "", "o")
_JUDGED = Look("judged", BLACK, "", "s")
_VECTORS = {"final": (GREEN, "o"), "hidden": (ORANGE, "D")}
_VECTORS |= {"embedding": (PURPLE, "^"), "value": (BLUE, "s")}
_STRANGER = (SKY, "P")
_RING = {"markersize": 9, "markerfacecolor": "none", "markeredgewidth": 0.8}
_FIRST_COLUMN = 0.75  # inches: the names of the vectors in the key


def draw_choice_map(axes: Axes, choices: pl.DataFrame) -> None:
    """Critical N / L across, N_s/N at N = 16 upwards, each with its number in the table's order.

    Those without a critical N stand at the right end.
    """
    seen = in_order(choices).with_row_index("number", offset=1).drop_nulls("separability_at_16")
    if seen.is_empty():
        nothing(axes, "no choices in this run")
        return
    axes.axhspan(*PAPER_BAND, color=PALE, linewidth=0, zorder=0)
    axes.axvline(PAPER_SHARE, **_PAPER.how(linewidth=0.9, zorder=0))
    shares = seen["critical_share"]
    nowhere = share_axis(axes, shares.drop_nulls(), shares.is_null().any())
    lowest = float(seen["separability_at_16"].min())  # pyright: ignore
    axes.set_ylim(max(min(lowest, 0.6) - 0.1, 0.0), 1.04)
    axes.set_ylabel(r"$N_s/N$ at N = 16", labelpad=2)
    places, rings = [], []
    for row in seen.iter_rows(named=True):
        at = row["critical_share"] or nowhere, row["separability_at_16"]
        places.append((*at, str(row["number"])))
        axes.plot(*at, **_point(row["vectors"], row["scale"]))
        for look in (_CLOSEST,) * row["closest"] + (_JUDGED,) * row["measured"]:
            axes.plot(*at, **look.how(**_RING))
            rings.append(around(axes, at, _RING["markersize"] / 2))
    label_points(axes, places, [(x, y) for x, y, _ in places], rings)


def _point(vectors: str, scale: str) -> dict[str, Any]:
    colour, marker = _VECTORS.get(vectors, _STRANGER)
    filled = {"markerfacecolor": colour if scale == "unit" else "white", "zorder": 3}
    return {"color": colour, "marker": marker, "linestyle": "", "label": vectors} | filled


def draw_choice_key(axes: Axes, choices: pl.DataFrame) -> None:
    """Under the panel: which vectors, scale and keys each number is, and what ring and line say."""
    if choices.is_empty():
        return
    rows = in_order(choices).with_row_index("number", offset=1)
    columns = rows.select("scale", "keys").unique().sort("scale", "keys", descending=[True, False])
    kinds = rows["vectors"].unique(maintain_order=True).to_list()
    lines = len(kinds) + 4
    width, key = under_panel(axes, lines * LEGEND_LINE)
    step = (width - _FIRST_COLUMN) / columns.height
    for place, (scale, keys) in enumerate(columns.rows()):
        at = _FIRST_COLUMN + step * (place + 0.5)
        key.text(at, lines - 0.5, scale, **_MIDDLE)
        key.text(at, lines - 1.5, keys, **_MIDDLE)
    for down, words in enumerate(("filled: unit", "hollow: raw")):
        key.text(0, lines - 0.5 - down, words, va="center", fontsize=6, color=GREY)
    for down, vectors in enumerate(kinds):
        y = lines - 2.5 - down
        key.plot(0.06, y, **_point(vectors, "unit"))
        key.text(0.18, y, vectors, va="center", parse_math=False)
        for place, (scale, keys) in enumerate(columns.rows()):
            number = rows.filter(vectors=vectors, scale=scale, keys=keys)["number"]
            at = _FIRST_COLUMN + step * (place + 0.5)
            key.text(at, y, str(number[0]) if number.len() else "–", **_MIDDLE)
    key.plot([0, 0.28], [0.5, 0.5], **_PAPER.how(linewidth=0.9))
    key.text(0.34, 0.5, _PAPER.label, va="center")
    for across, look in ((0.06, _CLOSEST), (1.06, _JUDGED)):
        key.plot(across, 1.5, **look.how(**_RING | {"markersize": 6}))
        key.text(across + 0.12, 1.5, look.label, va="center")
    key.set_ylim(0, lines)


_MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", "parse_math": False}
