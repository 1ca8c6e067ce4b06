"""Figure 4: how far the weights move for a small step in the logits, over the temperature."""

from typing import Any

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from headgauge.report.paper.looks import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, SKY, Look
from headgauge.report.paper.page import nothing

STEPS = ("random", "random over all keys", "worst")  # the directions that have an ε
ONE_DIRECTION = "a row's one random direction serves every T and ε (Algorithm 5 draws each anew)"
_OWN = "scaled"  # the logits as the model has them; the exact norms are of these
_BOUND = ["direction", "epsilon", "temperature"]
_MANY = 12  # markers on a line
_SIGNS = [
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    (GREEN, "-.", "^"),
    (PURPLE, (0, (1, 1)), "D"),
    (SKY, "-", "v"),
]
_EXACT = {
    "exact": Look(r"exact $\|\nabla\alpha\|_2$: worst step, ε → 0", BLACK, "-"),
    "exact mean": Look("exact mean over random steps, ε → 0", BLACK, (0, (3, 1, 1, 1))),
}
_PRINTED = Look(r"printed bound min{1/(4T), $\sqrt{2}$} (false)", RED, "--")
_SHARP = Look("1/(2T), sharp for ε → 0", RED, "-")
_SHARP_STEP = Look(r"($\sqrt{2}$/ε) tanh(ε/(2$\sqrt{2}$T)), sharp at ε", BLACK, ":")

_SHORT = {
    _EXACT["exact"].label: "exact norm",
    _EXACT["exact mean"].label: "exact mean",
    _PRINTED.label: "printed bound",
    _SHARP.label: "1/(2T), sharp",
    _SHARP_STEP.label: "sharp at each ε",
}


def is_bound(frame: pl.DataFrame) -> pl.Series:
    return frame["direction"].str.ends_with("bound")


def panels_of(frame: pl.DataFrame) -> list[tuple[str, str]]:
    """The (logits, direction) in which steps were taken; the model's own logits first."""
    kinds = sorted(frame["logits"].unique(), key=lambda kind: (kind != _OWN, kind))
    there = set(frame.drop_nulls("epsilon").select("logits", "direction").rows())
    return [(kind, name) for kind in kinds for name in STEPS if (kind, name) in there]


def of_logits(frame: pl.DataFrame, logits: str) -> pl.DataFrame:
    """What was measured on these logits, and the bounds: they hold whatever the logits are."""
    bound = pl.col("direction").str.ends_with("bound")
    bounds = frame.filter(bound).unique(_BOUND, keep="first", maintain_order=True)
    return pl.concat([frame.filter(~bound, logits=logits), bounds])


def draw_sensitivity(
    axes: Axes, frame: pl.DataFrame, direction: str, limits: tuple[float, float] | None = None
) -> None:
    """g(T, ε) for a step in one direction, the exact norm and the bounds, all on even ratios."""
    steps = frame.filter(pl.col("direction") == direction).drop_nulls("epsilon")
    if steps.is_empty():
        nothing(axes, f"no step in a {direction} direction in this run")
        return
    looks = _epsilon_looks(frame)
    bottom, _ = limits = limits or sensitivity_limits(frame)
    _draw_bounds(axes, frame.filter(is_bound(frame)), looks)
    for name, look in _EXACT.items():
        if name == "exact mean" and direction != "random":
            continue  # the limit of that direction only
        exact = frame.filter(direction=name, logits=_OWN).sort("temperature")
        if exact.height and steps["logits"][0] == _OWN:
            axes.plot(exact["temperature"], exact["maximum"], **look.how(linewidth=1.4, zorder=2))
    for place, (epsilon, look) in enumerate(looks.items()):
        rows = steps.filter(pl.col("epsilon") == epsilon).sort("temperature")
        # In turns: where the lines lie on one another each still has markers of its own.
        turns = (place, len(looks)) if rows.height > _MANY else None
        how = look.how(**_marker(place, look), markevery=turns)
        axes.plot(rows["temperature"], rows["maximum"], **how)
        known = rows.drop_nulls(["low", "high"])
        band = {"color": look.colour, "alpha": 0.22, "linewidth": 0}
        low, high = (known[side].clip(lower_bound=bottom) for side in ("low", "high"))
        axes.fill_between(known["temperature"], low, high, **band)
    _scales(axes, limits)


def _marker(place: int, look: Look) -> dict[str, Any]:
    """The lines of small ε lie on one another: the first is seen around the next."""
    size = (5.0, 4.0, 3.0)[min(place, 2)]
    return {"markersize": size, "markerfacecolor": "white" if place < 2 else look.colour}


def sensitivity_handles(frame: pl.DataFrame, short: bool = False) -> list[Artist]:
    """Steps, the exact norms, the bounds: only what is there."""
    steps = _epsilon_looks(frame).values()
    handles: list[Artist] = [look.handle(**_marker(n, look)) for n, look in enumerate(steps)]
    there = set(frame["direction"])
    handles += [look.handle(linewidth=1.4) for name, look in _EXACT.items() if name in there]
    bounds = frame.filter(is_bound(frame))
    printed = bounds["direction"].str.contains("printed")
    if printed.any():
        handles.append(_PRINTED.handle())
    sharp = bounds.filter(~printed)
    if sharp["epsilon"].is_null().any():
        handles.append(_SHARP.handle())
    if sharp["epsilon"].is_not_null().any():
        handles.append(_SHARP_STEP.handle())
    if short:
        for handle in handles:
            handle.set_label(_SHORT.get(str(handle.get_label()), str(handle.get_label())))
    return handles


def sensitivity_words(frame: pl.DataFrame) -> str:
    """Heads and rows, for the small print."""
    measured = frame.filter(pl.col("direction").is_in(STEPS))
    if measured.is_empty():
        return "nothing was measured"
    rows, heads = measured["rows"].max(), measured["heads"].max()
    words = f"the largest of {heads} heads, each the mean over {rows} rows spread over the window"
    sure = measured["low"].is_not_null().any()
    bands = "bands: 95 % from the spread over rows" if sure else "no intervals"
    return "; ".join([words, bands, ONE_DIRECTION, "the grid of T is ours: the paper prints none"])


def _epsilon_looks(frame: pl.DataFrame) -> dict[float, Look]:
    steps = frame.filter(pl.col("direction").is_in(STEPS))
    known = steps["epsilon"].drop_nulls().unique().sort()
    return {
        epsilon: Look(f"g, ε = {epsilon:g}", *signs)
        for epsilon, signs in zip(known, _SIGNS, strict=False)
    }


def _draw_bounds(axes: Axes, bounds: pl.DataFrame, looks: dict[float, Look]) -> None:
    for (name, epsilon), rows in bounds.group_by("direction", "epsilon", maintain_order=True):
        rows = rows.sort("temperature")
        look = _PRINTED if "printed" in str(name) else _SHARP
        how = look.how(linewidth=1.0, zorder=1)
        if look is _SHARP and epsilon is not None:
            colour = looks[epsilon].colour if epsilon in looks else BLACK
            how = _SHARP_STEP.how(color=colour, linewidth=1.3, zorder=1.5)
        axes.plot(rows["temperature"], rows["maximum"], **how)


def sensitivity_limits(frame: pl.DataFrame) -> tuple[float, float]:
    """Of g: a bound may be tens of decades above what was measured; the measured decides."""
    other = pl.col("direction").str.contains(" under ", literal=True)  # rules: not drawn here
    measured = frame.filter(~is_bound(frame), ~other, pl.col("maximum") > 0)["maximum"]
    bounds = frame.filter(is_bound(frame))["maximum"]
    if measured.is_empty():
        return 1e-3, 1e3
    low, high = float(measured.min()), float(measured.max())  # pyright: ignore
    top = min(float(bounds.max() or high), 300 * high)  # pyright: ignore
    return max(low, high * 1e-6) / 2, max(top, high) * 2


def _scales(axes: Axes, limits: tuple[float, float]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(*limits)
    axes.set_xlabel("temperature T", labelpad=2)
    axes.set_ylabel("g(T, ε)", labelpad=2)
