"""What a scan can tell a KV cache: which heads need all of it, and how many bits.

A cache serves every query head of its group, so that the one that needs most decides for a KV head.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from headgauge.errors import InputError
from headgauge.scanning import ScanResult
from headgauge.scanning.summary import heads_over_windows
from headgauge.theory.roles import STREAM_FIRST, STREAM_LAST

WIDTHS = np.array([2, 3, 4, 5, 6, 8])  # bits that quantised caches come in
EQUAL_ERROR = 1 / (2 * math.log(2))  # bits per nat, see `kv_bits`
_LAYER = ("layer", "occurrence", "module")
FORMULA = (
    "bits_exact = asked_bits + slope * (mean - collision_entropy), in nats; bits: all moved by the "
    "same, each to the nearest of 2, 3, 4, 5, 6, 8, so that mean_bits is the most that does not "
    "exceed asked_bits"
)
LIMITS = (
    "A head's output is a sum of values with weights a. Rounding errors of the values that are "
    "independent, with a spread of 2^-bits, add up to 2^-bits * sqrt(sum a^2) = 2^-bits * "
    "exp(-collision_entropy / 2): with a slope of 1/(2 log 2) = 0.72 it is the same in all heads.",
    "Errors of the keys reach the output as a * (v - output), which is less than that in a head "
    "that looks at one key alone.",
    "It does not know what a head is worth, how long its values are, or that scales which are "
    "shared along a channel make errors that are not independent.",
    "The entropy is a mean over the rows of the text that was read, at its length; of a scan with "
    "--rows over those that were drawn (measured_on).",
)


def duo_attention(scan: ScanResult) -> dict[str, bytes]:
    """DuoAttention's pattern (arXiv 2410.10819): `full_attention_heads.tsv`, layers × KV heads from
    0 (the first 128 and last 256 keys are enough) to 1 (the whole cache), and `config.json`.

    The gate is 1 − streaming_mass, the weight that a streaming cache would lose on this text: a
    proxy, not the gate that DuoAttention optimises.
    """
    found = _least_by_kv_head(scan, "streaming_mass")
    widths = found.group_by(_LAYER).agg(pl.len().alias("count")).sort(_LAYER)
    if widths["count"].n_unique() > 1:
        least, most = widths.sort("count").rows(named=True)[:: len(widths) - 1]
        raise InputError(
            "duo-attention needs as many KV heads in every layer: layer "
            f"{least['layer']} has {least['count']}, layer {most['layer']} {most['count']}"
        )
    gates = (1 - found["streaming_mass"].to_numpy()).clip(0, 1).reshape(len(widths), -1)
    lines = ["\t".join(f"{gate:.6f}" for gate in row) for row in gates]
    told = {
        "model_name": _described(scan)["model"],
        "sink_size": STREAM_FIRST,
        "recent_size": STREAM_LAST,
        "gate": "1 - streaming_mass as measured by headgauge: a proxy, not optimised",
        "measured_on": scan.caption(),
    }
    return {
        "full_attention_heads.tsv": ("\n".join(lines) + "\n").encode(),
        "config.json": (json.dumps(told, indent=2) + "\n").encode(),
    }


def kv_bits(scan: ScanResult, bits: float = 4.0, slope: float = EQUAL_ERROR) -> str:
    """JSON: bits for every KV head, `bits` in the mean, fewer where a head spreads its weights.

    See `FORMULA` and `LIMITS`, which stand in it. The requests for such a cache (vllm#38930,
    llama.cpp#21385) tried a slope of 0.25.
    """
    if not WIDTHS[0] <= bits <= WIDTHS[-1]:
        raise InputError(f"bits must be in {WIDTHS[0]} to {WIDTHS[-1]}, got {bits}")
    if not 0 <= slope < math.inf:
        raise InputError(f"slope must be 0 or more bits per nat, got {slope}")
    found = _least_by_kv_head(scan, "collision_entropy")
    entropies = found["collision_entropy"].to_numpy()
    exact = bits + slope * (entropies.mean() - entropies)
    widths = _within(exact, bits)
    rows = found.with_columns(
        pl.col("collision_entropy").exp().alias("effective_keys"),
        pl.Series("bits_exact", exact.round(4)),
        pl.Series("bits", widths),
    )
    told = {
        **_described(scan),
        "formula": FORMULA,
        "limits": LIMITS,
        "asked_bits": bits,
        "slope": slope,
        "mean_bits": float(widths.mean()),
        "heads": rows.to_dicts(),
    }
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def _within(exact: Float[np.ndarray, "heads"], bits: float) -> Int[np.ndarray, "heads"]:
    """Widths nearest to what all are moved to by the same, their mean as near below `bits` as it
    gets: what is cut off at 2 and 8 is given to or taken from the others."""

    def moved(by: float) -> Int[np.ndarray, "heads"]:
        return WIDTHS[np.abs(exact[:, None] + by - WIDTHS).argmin(-1)]

    low, high = -exact.max(), 2 * WIDTHS[-1] - exact.min()  # all at the least, all at the most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if moved(middle).mean() <= bits else (low, middle)
    return moved(low)


def _least_by_kv_head(scan: ScanResult, measure: str) -> pl.DataFrame:
    """A measure of every KV head of a decoder, over windows: the least of its query heads."""
    facts, settings = scan.manifest["model"]["facts"], scan.manifest["settings"]  # pyright: ignore
    if facts["kind"] != "decoder":
        raise InputError(f"a KV cache is a decoder's, and this model is an {facts['kind']}")
    for some in (name for name in ("layers", "heads") if settings.get(name) is not None):
        raise InputError(f"the run has only some {some}: scan without --{some} for the whole cache")
    length = int(scan.heads["length"].max())  # pyright: ignore[reportArgumentType]
    heads = heads_over_windows(scan.heads.filter(length=length))
    records = scan.manifest["units"].values()
    unseen = sorted({name for unit in records for name in (*unit["unseen"], *unit["distrusted"])})
    if unseen:
        raise InputError(f"{', '.join(unseen)} could not be measured: its cache is not known")
    if lacking := heads.filter(pl.col(measure).is_null())["layer"].unique().sort().to_list():
        raise InputError(f"{measure} has no number in {_listed(lacking)}: {_why(measure, length)}")
    grouped = heads.group_by(*_LAYER, "kv_head").agg(pl.min(measure))
    return grouped.sort(*_LAYER, "kv_head")


def _why(measure: str, length: int) -> str:
    if measure == "streaming_mass" and length <= STREAM_FIRST + STREAM_LAST:
        return (
            f"it needs rows with more than {STREAM_FIRST + STREAM_LAST} keys, and the windows have "
            f"{length} tokens: scan with --length 512 or more"
        )
    return "a sliding window of few keys, weights that are not finite, or attention that was tapped"


def _listed(layers: Sequence[int]) -> str:
    shown = ", ".join(map(str, layers[:4])) + (", …" if len(layers) > 4 else "")
    return f"layer{'s' * (len(layers) > 1)} {shown}"


def _described(scan: ScanResult) -> dict[str, Any]:
    model = scan.manifest["model"]
    assert model is not None  # a scan describes it before it runs
    return {"model": model["name"], "measured_on": scan.caption()}
