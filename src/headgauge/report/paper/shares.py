"""Lemma 1, Figure 3 and Figure 4: weights over L, separability over N, sensitivity over T."""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from headgauge.registry.entry import GREY, Entry, Look
from headgauge.registry.measures import CURVES, LIMITS, STEP_LOOKS, WEIGHT_BOUNDS, WEIGHTS
from headgauge.registry.names import CHOICES, MODEL, rules
from headgauge.registry.published import PLATEAU
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.paper.tables import (
    AT,
    BOX,
    Tables,
    choice_of,
    groups,
    interval_words,
    lines,
    longest,
    number_ticks,
    sample_words,
    sentence,
    sentences,
    span,
)

SHARES = {name: entry for name, entry in CURVES.items() if name.startswith("separability")}
PLATEAU_BAND = Mark(
    "y band", PLATEAU, f"the paper's plateau, {PLATEAU[0]:.2f} to {PLATEAU[1]:.2f}", in_legend=True
)
TITLE_4 = "Figure 4. Sensitivity over temperature"
STEPS = ("random", "random over all keys", "worst")  # the directions that have an ε
ONE_DIRECTION = "a row's one random direction serves every T and ε (Algorithm 5 draws each anew)"
_OWN = "scaled"  # the logits as the model has them; the exact norms are of these
_FAR = 1e4  # a bound on a weight beyond it is told, not drawn: it would hide all the rest
_GUIDE = Look(GREY, "longdash", width=0.8)
_LENGTH = ("L, tokens in the window", "L")
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def vanishing(paper: Tables) -> Figure:
    """The weights over L, the bounds on the largest, and both again under every rule."""
    frame = paper["vanishing"]
    own = frame.filter(pl.col("rule") == MODEL)
    at = ("text", "rule")
    bounds = own.filter(pl.col("measure").is_in(list(WEIGHT_BOUNDS)))["mean"].drop_nulls()
    told = own.filter(pl.col("measure") == "bound_printed")["mean"]
    far = told.len() > 0 and float(told.min() or 0) > _FAR  # pyright: ignore
    bounded: list[Series] = []
    if bounds.len():
        bounded = lines(own, {"largest_weight": WEIGHTS["largest_weight"]}, "length", at=("text",))
        for name, entry in WEIGHT_BOUNDS.items():
            seen = not (far and name == "bound_printed")
            bounded += lines(own, {name: entry}, "length", at=("text",), shown=seen)
    trivial = Mark("y", (1.0,), "1: a bound above it says nothing", _GUIDE, in_legend=True)
    weights = lines(frame, WEIGHTS, "length", at=at)
    named = rules(frame["rule"].unique(maintain_order=True).to_list())
    by_rule = [
        lines(frame.filter(pl.col("measure") == name), named, "length", by="rule", at=("text",))
        for name in ("largest_weight", "largest_off_sink")
    ]
    y = Axis("weight, mean over heads", log=True, can_log=True)
    bound_axis = Axis("largest weight and its bounds", log=True, can_log=True)
    x = Axis(*_LENGTH, log=True, can_log=True, ticks=number_ticks(frame["length"]))
    none = "no weights in this run"
    panels = (
        Panel("(a) weights", x, y, _with_guide(weights, own), empty=none),
        Panel(
            "(b) the largest weight and Corollary 1's bounds, model's own rule",
            x,
            bound_axis,
            tuple(bounded),
            (trivial,),
            empty="no bound holds for this model's weights",
        ),
        Panel("(c) largest weight, by rule", x, y, _with_guide(by_rule[0], own), empty=none),
        Panel(
            "(d) largest off the first key, of the rest, by rule",
            x,
            y,
            _with_guide(by_rule[1], own),
            empty=none,
        ),
    )
    return Figure(
        "vanishing",
        "Lemma 1. Weights over L",
        panels,
        2,
        caption=(
            *sentences(own, ("text",), vanishing_words, interval_words, far_words),
            sentence(rule_words(list(named))),
        ),
    )


def _with_guide(series: list[Series], frame: pl.DataFrame) -> tuple[Series, ...]:
    """1/L beside the weights."""
    lengths = frame["length"].unique().sort().to_list()
    label = "1/L: the weight of every key if all were alike"
    guide = Series("guide", label, _GUIDE, lengths, [1 / length for length in lengths])
    return (*series, guide) if series else ()


def far_words(rows: pl.DataFrame) -> str:
    """What Corollary 1 gives where it is too far above the others to be drawn."""
    values = rows.filter(pl.col("measure") == "bound_printed")["mean"].drop_nulls()
    if values.is_empty() or float(values.min()) <= _FAR:  # pyright: ignore
        return ""
    powers = [round(math.log10(float(end))) for end in (values.min(), values.max())]  # pyright: ignore
    told = dict.fromkeys(f"10{str(power).translate(_SUPERSCRIPT)}" for power in powers)
    return f"Corollary 1 as printed gives {' to '.join(told)}, far above the axis of (b)"


def vanishing_words(own: pl.DataFrame) -> str:
    """What is averaged over what."""
    windows = own["windows"].max()
    return (
        f"means over {span(own['heads'], ' to ')} heads and {windows} window{'s' * (windows != 1)} "
        f"of {span(longest(own)['rows'].round(0), ' to ')} query rows in the last quarter of the "
        "window; of a bound the geometric mean"
    )


def rule_words(named: Sequence[str]) -> str:
    if set(named) <= {MODEL}:
        return "no other rule was put on the logits in this run"
    told = f"{len(named) - (MODEL in named)} other rules put on the same logits, no retraining"
    notes = [entry.explanation for entry in rules(list(named)).values() if entry.explanation]
    return "; ".join([told, *notes])


def separability(paper: Tables) -> Figure:
    """Figure 3: separability over N; L is a switch."""
    frame = paper["fig3"].filter(pl.col("measure").is_in(list(SHARES)))
    lengths = frame["length"].unique().sort(descending=True).to_list()
    panels = [
        share_panel(frame.filter(pl.col("length") == length), f"L = {length}", AT, str(length))
        for length in lengths
    ]
    options = tuple((str(length), str(length)) for length in lengths)
    return Figure(
        "fig3",
        "Figure 3. Separability over N",
        tuple(panels) or (share_panel(frame, "L = –"),),
        switches=(Switch("L", "L", options),) if options else (),
        caption=(
            *sentences(
                frame.with_columns(L=pl.col("length")),
                (*AT, "L"),
                lambda rows: f"L = {rows['length'][0]}",
                choice_of,
                sample_words,
                interval_words,
            ),
            Sentence(
                "Boxes: quartiles over heads, whiskers to the extremes. The N are ours: the paper "
                "prints none."
            ),
        ),
        width=3.4,
        panel_height=2.2,
    )


def share_panel(
    frame: pl.DataFrame, title: str, at: Sequence[str] = (), length: str | None = None
) -> Panel:
    """Boxes over heads, their mean and the bounds."""
    found = []
    mean = SHARES["separability"]
    named = SHARES | {"separability": Entry(mean.name, "mean N_s/N over heads", look=mean.look)}
    facts = {"median head": "median", "least": "minimum", "largest": "maximum"}
    for name, entry in named.items():
        spread = facts if name == "separability" else {}
        for series in lines(frame, {name: entry}, "top_n", at=at, facts=spread):
            if name == "separability":
                rows = frame.filter(measure=name, **series.at).drop_nulls("mean").sort("top_n")
                boxes = {part: rows[part].to_list() for part in BOX}
                series = Series(**{**vars(series), "boxes": boxes})
            found.append(series)
    return Panel(
        title,
        *share_axes(frame),
        tuple(found),
        (PLATEAU_BAND,),
        empty="no separability in this run",
        at={} if length is None else {"L": length},
    )


def share_axes(frame: pl.DataFrame) -> tuple[Axis, Axis]:
    x = Axis("N, tokens selected", "N", log=True, can_log=True, ticks=number_ticks(frame["top_n"]))
    return x, Axis("N_s/N", "N_s/N", low=0.0, high=1.04)


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
    how = {"by": "epsilon", "y": "maximum", "facts": facts}
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
