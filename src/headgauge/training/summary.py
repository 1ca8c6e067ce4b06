"""A logged step in a few numbers and one picture, for loggers that would drown in all of it."""

from typing import Any

import numpy as np

from headgauge.errors import InputError
from headgauge.training.buffers import Rows

_CELL = 12  # pixels of a head's square
# By key: the measure, and what of all heads.
_SCALARS = {
    "entropy_share_mean": ("entropy_share", np.mean),
    "entropy_share_min": ("entropy_share", np.min),
    "largest_weight_max": ("largest_weight", np.max),
    "max_logit": ("max_logit", np.max),
    "jacobian_norm_mean": ("jacobian_norm", np.mean),
    "separability_mean": ("separability", np.mean),
    "sink_weight_mean": ("sink_weight", np.mean),
    "output_norm_min": ("output_norm", np.min),
    "qk_largest_max": ("qk_largest", np.max),
}


def scalars(record: dict[str, Any] | None, alarms: int) -> dict[str, float]:
    """Over all heads of a record; what was not measured is left out."""
    if record is None:
        return {}
    found = {}
    for key, (measure, over) in _SCALARS.items():
        rows = record["heads"].get(measure) or (record["spectra"] or {}).get(measure) or []
        there = [value for row in rows for value in row if value is not None]
        if there:
            found[f"headgauge/{key}"] = float(over(there))
    found["headgauge/alarms"] = float(alarms)
    if record["cost"] is not None:
        found["headgauge/cost"] = record["cost"]
    return found


def image(record: dict[str, Any] | None, measure: str) -> np.ndarray:
    """Layer × head, the first layer on top; grey where there is no number."""
    known = {} if record is None else record["heads"] | (record["spectra"] or {})
    if measure not in known:
        there = ", ".join(known) or "none: no step was logged yet"
        raise InputError(f"no measure {measure!r} to draw; there are {there}")
    return picture(known[measure])


def picture(rows: Rows) -> np.ndarray:
    from matplotlib import colormaps  # slow to import

    wide = max(map(len, rows))
    table = np.full((len(rows), wide), np.nan)
    for at, row in enumerate(rows):
        table[at, : len(row)] = [np.nan if value is None else value for value in row]
    there = table[np.isfinite(table)]
    low, high = (there.min(), there.max()) if there.size else (0.0, 1.0)
    low = min(low, 0.0)
    share = (table - low) / (high - low if high > low else 1.0)
    colours = colormaps["viridis"](np.nan_to_num(share.clip(0, 1)))[..., :3]
    colours[~np.isfinite(table)] = 0.5
    return np.kron(np.round(colours * 255).astype(np.uint8), np.ones((_CELL, _CELL, 1), np.uint8))
