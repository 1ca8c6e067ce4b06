"""A model's residual stream by layer for the page, and what each scheme predicts of it."""

from typing import Any

import polars as pl

from headgauge.report.page.columns import columns, groups
from headgauge.report.page.schemes import by_scheme

_NAMES = ("module", "scheme")


def depth_data(depth: pl.DataFrame, curves: pl.DataFrame | None) -> dict[str, Any] | None:
    """Means over the windows of the longest length, by layer; None where nothing was measured."""
    if depth.is_empty():
        return None
    length = depth["length"].max()
    longest = depth.filter(pl.col("length") == length)
    numbers = [name for name in depth.columns if name not in ("window", "length", "layer", *_NAMES)]
    layers = (
        longest.group_by("layer")
        .agg(pl.col(*_NAMES).sort_by("window").first(), pl.col(*numbers).mean())
        .sort("layer")
    )
    predicted = [] if curves is None else groups(by_scheme(curves.sort("layer")), ["scheme"])
    return {
        "length": length,
        "windows": longest["window"].n_unique(),
        "layers": columns(layers),
        "predicted": predicted,
    }
