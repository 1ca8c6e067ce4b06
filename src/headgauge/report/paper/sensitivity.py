"""Figure 4: how far the weights move for a small step in the logits, over the temperature."""

from dataclasses import replace
from typing import Any

import polars as pl

from headgauge.registry.entry import Entry, Look
from headgauge.registry.measures import LIMITS, STEP_LOOKS
from headgauge.registry.names import CHOICES
from headgauge.report.figure import Axis, Figure, Panel, Sentence, Switch
from headgauge.report.paper import words
from headgauge.report.paper.tables import Tables, groups, lines

STEPS = ("random", "random over all keys", "worst")  # the directions that have an ε
_TITLE = "Figure 4: sensitivity g of the weights to a step in the logits, over T"
_KIND = ("text", "direction", "logits")
_OWN = "scaled"  # the logits as the model has them; the exact norms are of these
_IS_BOUND = pl.col("direction").str.ends_with("bound")
_IS_STEP = ~_IS_BOUND & pl.col("epsilon").is_not_null()


def sensitivity_in_files(paper: Tables) -> Figure:
    """A panel for each kind of step on each kind of logits there is."""
    frame = paper["fig4"]
    kinds = [kind for kind in kinds_of_steps(frame) if kind["direction"] in STEPS]
    kinds = kinds or [{"direction": "random", "logits": _OWN}]
    panels = []
    for letter, kind in zip("abcdefghi", kinds, strict=False):
        direction, logits = kind["direction"], kind["logits"]
        step = direction if "keys" in direction else f"{direction} direction"
        title = f"({letter}) " * (len(kinds) > 1) + f"{step}, {logits} logits"
        panels.append(sensitivity_panel(frame, logits, direction, title))
    columns = (1, 2, 3, 2, 3, 3)[min(len(kinds), 6) - 1]
    return Figure(
        "fig4",
        _TITLE,
        tuple(panels),
        columns,
        caption=(words.sentence(sensitivity_words(frame)),),
        width=7.0 if columns > 1 else 3.4,
        panel_height=1.9,
    )


def sensitivity_on_page(paper: Tables) -> Figure:
    """The same one by one, and the steps under other rules."""
    frame = paper["fig4"]
    kinds = kinds_of_steps(frame)
    panels = []
    for kind in kinds:
        own, direction, logits = frame.filter(text=kind["text"]), kind["direction"], kind["logits"]
        panel = sensitivity_panel(own, logits, direction, f"{direction}, {logits} logits")
        panels.append(replace(panel, at=kind))
    directions = {kind["direction"]: kind["direction"] for kind in kinds}
    logits = {kind["logits"]: CHOICES["logits"][kind["logits"]].title for kind in kinds}
    switches = (
        Switch("direction", "Direction", tuple(directions.items())),
        Switch("logits", "Logits", tuple(logits.items())),
    )
    caption = (
        Sentence(
            "The largest over heads of the mean over rows, by step ε. Exact: the limit ε → 0."
        ),
        *words.sentences(frame.filter(_IS_STEP), _KIND, sensitivity_words),
    )
    return Figure("fig4", _TITLE, tuple(panels), switches=switches, caption=caption)


def kinds_of_steps(frame: pl.DataFrame) -> list[dict[str, str]]:
    """Text, direction and logits of the steps that were taken, as the table has them; the model's
    own logits first, and steps under other rules last."""
    kinds = frame.filter(_IS_STEP).select(_KIND).unique(maintain_order=True).rows(named=True)
    return sorted(kinds, key=lambda kind: (kind["logits"] != _OWN, kind["direction"] not in STEPS))


def sensitivity_panel(frame: pl.DataFrame, logits: str, direction: str, title: str) -> Panel:
    """g(T, ε) for a step in one direction, the exact norm and the bounds on any logits; the axis is
    one for all panels of a frame, so that they compare.

    The exact mean is the limit of the random direction alone. Under another rule than softmax none
    of them holds.
    """
    steps = frame.filter(direction=direction, logits=logits).drop_nulls("epsilon")
    looks = dict(zip(steps["epsilon"].unique().sort(), STEP_LOOKS, strict=False))
    entries = {
        e: Entry(f"g, ε = {e:g}", name=f"step {e:g}", look=look) for e, look in looks.items()
    }
    facts = {"layer": "layer", "head": "head", "mean over heads": "mean"}
    series = lines(steps, entries, "temperature", by="epsilon", y="maximum", facts=facts)
    how: dict[str, Any] = {"by": "direction", "y": "maximum", "spread": False}
    for name, entry in LIMITS.items() if series and " under " not in direction else ():
        limit = frame.filter(direction=name)
        if name.startswith("exact"):
            own = logits == _OWN and (name == "exact" or direction == "random")
            limit = limit.filter(logits=_OWN) if own else limit.clear()
        limit = limit.unique(["epsilon", "temperature"], keep="first", maintain_order=True)
        for _, part in groups(limit, ["epsilon"]):
            colour = looks.get(part["epsilon"][0], entry.look).colour
            look = Look(colour, entry.look.line, width=entry.look.width)
            series += lines(part, {name: replace(entry, look=look)}, "temperature", **how)
    low, high = _limits(frame)
    x = Axis("temperature T", "T", log=True, can_log=True)
    y = Axis("g(T, ε), largest over heads", "g", log=True, can_log=True, low=low, high=high)
    empty = f"no step in a {direction} direction in this run"
    return Panel(title, x, y, tuple(series), empty=empty)


def _limits(frame: pl.DataFrame) -> tuple[float, float]:
    """Of g: a bound may be tens of decades above what was measured; the measured decides."""
    other = pl.col("direction").str.contains(" under ", literal=True)
    measured = frame.filter(~_IS_BOUND, ~other, pl.col("maximum") > 0)
    if measured.is_empty():
        return 1e-3, 1e3
    low, high = measured.select(low=pl.min("maximum"), high=pl.max("maximum")).row(0)
    bound = frame.filter(_IS_BOUND).select(pl.max("maximum")).item() or high
    return max(low, high * 1e-6) / 2, max(min(bound, 300 * high), high) * 2


def sensitivity_words(frame: pl.DataFrame) -> str:
    """Heads and rows, for the small print."""
    measured = frame.filter(_IS_STEP)
    if measured.is_empty():
        return "nothing was measured"
    rows, heads = measured["rows"].max(), measured["heads"].max()
    sure = measured["low"].is_not_null().any()
    bands = "bands: 95 % from the spread over rows" if sure else "no intervals"
    return (
        f"the largest of {heads} heads, each the mean over {rows} rows spread over the window; "
        f"{bands}; each row has one random direction for every T and ε (Algorithm 5 draws one "
        "each time); which T is our choice: the paper prints none"
    )
