"""Figure 4: how far the weights move for a small step in the logits, over the temperature."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from headgauge.registry.entry import Entry, Look
from headgauge.registry.measures import LIMITS, STEP_LOOKS
from headgauge.registry.names import CHOICES
from headgauge.report.figure import Axis, Figure, Panel, Sentence, Switch
from headgauge.report.paper.tables import Tables, groups, lines, sentence, sentences

TITLE_4 = "Figure 4. Sensitivity over temperature"
STEPS = ("random", "random over all keys", "worst")  # the directions that have an ε
ONE_DIRECTION = "a row's one random direction serves every T and ε (Algorithm 5 draws each anew)"
_OWN = "scaled"  # the logits as the model has them; the exact norms are of these


def sensitivity_in_files(paper: Tables) -> Figure:
    """Figure 4: a panel for each kind of step on each kind of logits there is, the model's own
    first."""
    frame = paper["fig4"]
    there = kinds_of_steps(frame) or [("scaled", "random")]
    limits = sensitivity_limits(frame)  # one for all: panels compare
    panels = []
    for letter, (logits, direction) in zip("abcdefghi", there, strict=False):
        step = direction if "keys" in direction else f"{direction} direction"
        title = f"({letter}) " * (len(there) > 1) + f"{step}, {logits} logits"
        panels.append(sensitivity_panel(frame, logits, direction, title, limits))
    columns = (1, 2, 3, 2, 3, 3)[min(len(there), 6) - 1]
    return Figure(
        "fig4",
        TITLE_4,
        tuple(panels),
        columns,
        caption=(sentence(sensitivity_words(frame)),),
        width=7.0 if columns > 1 else 3.4,
        panel_height=1.9,
        on_page=False,
    )


def sensitivity_on_page(paper: Tables) -> Figure:
    """The same one by one, and the steps under other rules."""
    frame = paper["fig4"]
    stepped = frame.filter(~_is_bound(), pl.col("epsilon").is_not_null())
    keys = ("text", "direction", "logits")
    kinds = stepped.select(keys).unique(maintain_order=True).rows(named=True)
    kinds.sort(key=lambda kind: (kind["logits"] != _OWN, kind["direction"] not in STEPS))
    panels = [
        sensitivity_panel(
            frame.filter(text=kind["text"]),
            kind["logits"],
            kind["direction"],
            f"{kind['direction']}, {kind['logits']} logits",
            None,
            kind,
        )
        for kind in kinds
    ]
    directions = dict.fromkeys(kind["direction"] for kind in kinds)
    logits = dict.fromkeys(kind["logits"] for kind in kinds)
    caption = [
        Sentence(
            "The largest over heads of the mean over rows, by step ε. Exact: the limit ε → 0."
        ),
        *sentences(stepped, keys, sensitivity_words),
    ]
    switches = (
        Switch("direction", "Direction", tuple((each, each) for each in directions)),
        Switch("logits", "Logits", tuple((each, CHOICES["logits"][each].title) for each in logits)),
    )
    return Figure(
        "fig4",
        TITLE_4,
        tuple(panels),
        switches=switches,
        caption=tuple(caption),
        in_files=False,
    )


def _is_bound() -> pl.Expr:
    return pl.col("direction").str.ends_with("bound")


def kinds_of_steps(frame: pl.DataFrame) -> list[tuple[str, str]]:
    """The (logits, direction) in which steps were taken; the model's own logits first."""
    kinds = sorted(frame["logits"].unique(), key=lambda kind: (kind != _OWN, kind))
    there = set(frame.drop_nulls("epsilon").select("logits", "direction").rows())
    return [(kind, name) for kind in kinds for name in STEPS if (kind, name) in there]


def sensitivity_panel(
    frame: pl.DataFrame,
    logits: str,
    direction: str,
    title: str,
    limits: tuple[float, float] | None = None,
    at: Mapping[str, str] | None = None,
) -> Panel:
    """g(T, ε) for a step in one direction, the exact norm and the bounds on any logits.

    The exact mean is the limit of the random direction alone. Under another rule than softmax none
    of them holds.
    """
    steps = frame.filter(direction=direction, logits=logits).drop_nulls("epsilon")
    sizes = steps["epsilon"].unique().sort().to_list()
    looks = dict(zip(sizes, STEP_LOOKS, strict=False))
    facts = {"layer": "layer", "head": "head", "mean over heads": "mean"}
    how: dict[str, Any] = {"by": "epsilon", "y": "maximum", "facts": facts}
    entries = {e: Entry(f"step {e:g}", f"g, ε = {e:g}", look=look) for e, look in looks.items()}
    found = lines(steps, entries, "temperature", **how)
    if found and " under " not in direction:
        for name, entry in LIMITS.items():
            of = frame.filter(pl.col("direction") == name)
            if name.startswith("exact"):
                own = logits == _OWN and (name == "exact" or direction == "random")
                of = of.filter(pl.col("logits") == _OWN) if own else of.clear()
            of = of.unique(["epsilon", "temperature"], keep="first", maintain_order=True)
            for _, part in groups(of, ["epsilon"]):
                look = looks.get(part["epsilon"][0], entry.look)
                own_look = Look(look.colour, entry.look.line, "", entry.look.width)
                mine = {name: Entry(name, entry.title, look=own_look)}
                how = {"by": "direction", "y": "maximum", "spread": False}
                found += lines(part, mine, "temperature", **how)
    low, high = limits or sensitivity_limits(frame)
    x = Axis("temperature T", "T", log=True, can_log=True)
    y = Axis("g(T, ε), largest over heads", "g", log=True, can_log=True, low=low, high=high)
    empty = f"no step in a {direction} direction in this run"
    return Panel(title, x, y, tuple(found), empty=empty, at=at or {})


def sensitivity_limits(frame: pl.DataFrame) -> tuple[float, float]:
    """Of g: a bound may be tens of decades above what was measured; the measured decides."""
    other = pl.col("direction").str.contains(" under ", literal=True)
    measured = frame.filter(~_is_bound(), ~other, pl.col("maximum") > 0)["maximum"]
    if measured.is_empty():
        return 1e-3, 1e3
    bounds = frame.filter(_is_bound())["maximum"]
    low, high = float(measured.min()), float(measured.max())  # pyright: ignore
    top = min(float(bounds.max() or high), 300 * high)  # pyright: ignore
    return max(low, high * 1e-6) / 2, max(top, high) * 2


def sensitivity_words(frame: pl.DataFrame) -> str:
    """Heads and rows, for the small print."""
    measured = frame.filter(~_is_bound(), pl.col("epsilon").is_not_null())
    if measured.is_empty():
        return "nothing was measured"
    rows, heads = measured["rows"].max(), measured["heads"].max()
    words = f"the largest of {heads} heads, each the mean over {rows} rows spread over the window"
    sure = measured["low"].is_not_null().any()
    bands = "bands: 95 % from the spread over rows" if sure else "no intervals"
    return "; ".join([words, bands, ONE_DIRECTION, "the grid of T is ours: the paper prints none"])
