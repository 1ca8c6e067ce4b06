"""The tables of a reproduction for the page, each as the lines and points of its figure."""

from typing import Any

import polars as pl

from headgauge.report.page.columns import columns, groups
from headgauge.report.words import text_role

CHOICE = ("text", "vectors", "scale", "keys", "rule")
_SMALL = ("coverage", "vectors", "signs", "gains")  # tables of a few rows
_BOX = ("minimum", "q25", "median", "q75", "maximum")
_POINT = ("key", "token", "weight", "x", "y", "scaled_x", "scaled_y", "selected", "inside")


def paper_data(paper: dict[str, pl.DataFrame], chosen_on: str | None = None) -> dict[str, Any]:
    """Every figure's table, grouped by line; an empty one is left out.

    `texts` has the texts in the run's order, each with what it is there for.
    """
    held = {name: frame for name, frame in paper.items() if not frame.is_empty()}
    named = [frame["text"] for frame in held.values() if "text" in frame.columns]
    texts = pl.concat(named).unique(maintain_order=True).to_list() if named else []
    drawn: dict[str, Any] = {
        "texts": [{"name": text, "role": text_role(text, len(texts), chosen_on)} for text in texts],
        "chosen_on": chosen_on,
    }
    for name in ("fig2a", "fig2b", "fig3"):
        if name in held:
            drawn[name] = _lines(held[name])
    if "fig1" in held:
        place = [name for name in held["fig1"].columns if name not in _POINT]
        drawn["fig1"] = groups(held["fig1"], place)
    if "fig2c" in held:
        frame = held["fig2c"].sort("length", maintain_order=True)
        drawn["fig2c"] = groups(frame, (*CHOICE, "expected", "level"))
    if "fig2c_tests" in held:
        frame = held["fig2c_tests"].sort("length", "top_n", maintain_order=True)
        drawn["fig2c_tests"] = groups(frame, (*CHOICE, "length", "expected"))
    if "fig4" in held:
        frame = held["fig4"].sort("temperature", maintain_order=True)
        drawn["fig4"] = groups(frame, ("text", "logits", "direction", "epsilon"))
    if "vanishing" in held:
        frame = held["vanishing"].sort("length", maintain_order=True).drop(_BOX)
        drawn["vanishing"] = groups(frame, ("text", "rule", "measure"))
    for name in ("choices", "verdicts", "readings", "fig2c_growth", *_SMALL):
        if name in held:
            drawn[name] = columns(held[name])
    return drawn


def _lines(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """A group for each measure of each choice; how the heads spread is drawn for one of them."""
    frame = frame.sort("length", "top_n", maintain_order=True)
    spread = pl.col("measure") == "separability"
    thinned = frame.with_columns(pl.when(spread).then(pl.col(name)).alias(name) for name in _BOX)
    return groups(thinned, (*CHOICE, "measure"))
