"""What a scan says of itself: what was measured, what it stands on, and what a reader must know."""

import math

import polars as pl

from headgauge.measure.bos_check import bos_notes
from headgauge.runs import Manifest

GUESSING = 0.97  # of log(vocabulary): no trained model's loss on prose comes near it


def caption(manifest: Manifest, heads: pl.DataFrame) -> str:
    """Model, text, lengths and windows in a line."""
    model, data = manifest["model"], manifest["data"]
    assert model is not None
    assert data is not None
    weights = f" ({model['quantisation']} weights)" if model["quantisation"] else ""
    windows = heads["window"].n_unique()
    lengths = ", ".join(str(each) for each in sorted(heads["length"].unique()))
    return (
        f"{model['name']}{weights}, {data['name']}, L = {lengths}, "
        f"{windows} window{'s' if windows > 1 else ''}"
    )


def stands(manifest: Manifest, heads: pl.DataFrame) -> list[str]:
    """What the numbers stand on: rows and text."""
    data = manifest["data"]
    ends = dict.fromkeys(str(each) for each in (heads["rows"].min(), heads["rows"].max()))
    origin = "" if data is None else f": {data['origin']}"
    name = "" if data is None else data["name"]
    rows = f"{' to '.join(ends)} query rows per head and window"
    return [f"{caption(manifest, heads)}; {rows}", f"text {name}{origin}"]


def untrained(manifest: Manifest) -> str | None:
    """Why nothing here is a result, if the model predicts no better than by guessing."""
    known = manifest["model"]
    words = None if known is None else known["facts"].get("vocabulary")
    losses = [record["loss"] for record in manifest["units"].values()]
    found = [float(loss) for loss in losses if loss is not None]
    if not all(map(math.isfinite, found)):
        return None
    if not words or not found or min(found) < GUESSING * math.log(words):
        return None
    return (
        f"random weights: a loss of {min(found):.2f} nats is that of guessing among {words} "
        "tokens, so the model is untrained or its weights were not read, and nothing here is "
        "a result"
    )


def run_notes(manifest: Manifest) -> list[str]:
    """What the run noted, and the attention it could not see, or not whole."""
    found = list(manifest["notes"]) + bos_notes(manifest)
    records = manifest["units"].values()
    for module in sorted({name for record in records for name in record["unseen"]}):
        found.append(f"{module} could not be seen: it is in no table and has no verdict")
    tapped = sorted({name for record in records for name in record["tapped"]})
    if tapped:
        found.append(
            f"{len(tapped)} modules (such as {tapped[0]}) were seen at their softmax alone: "
            "values and output norms are null, their verdicts incomplete"
        )
    return found
