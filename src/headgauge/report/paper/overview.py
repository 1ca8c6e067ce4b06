"""All of a reproduction in one picture, for the first screen of a page."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from headgauge.registry.entry import BLACK, GREY, Entry, Look
from headgauge.registry.names import VECTORS, choice_words
from headgauge.registry.published import CHOICE, SETTLED
from headgauge.report.captions import longest, span
from headgauge.report.figure import Axis, Figure, Panel, Series
from headgauge.report.paper.choices import PAPER_SHARE, in_order, share_axis
from headgauge.report.paper.distance import critical_panel, critical_words, distance_panel
from headgauge.report.paper.sensitivity import sensitivity_panel, sensitivity_words
from headgauge.report.paper.shares import PLATEAU_BAND, share_panel
from headgauge.report.paper.tables import (
    Tables,
    interval_words,
    lines,
    nearest_n,
    of_choice,
    of_text,
    sample_words,
    sentence,
    shown_choice,
)

_OTHER_LINES = ("dashed", "dotted", "dashdot", "longdash")
_LONGEST_NAME = 30  # signs of a text in a legend


def overview(paper: Tables, captions: Mapping[str, str]) -> Figure:
    """Figures 2a, 2b, 2c, 3 and 4 and the choices on the first text, with less in each than its own
    figure has; of every other text the main line."""
    first, *rest = captions
    mine = of_text(paper, first)
    choice = shown_choice(mine)
    rows = _overview_rows(mine, choice)
    over_l, over_n, tests, shares, steps = rows
    n, length = span(over_l["top_n"]), span(over_n["length"])
    panels = [
        distance_panel(over_l, "length", f"Fig. 2a: distance over L, N = {n}"),
        distance_panel(over_n, "top_n", f"Fig. 2b: distance over N, L = {length}"),
        critical_panel(tests, f"Fig. 2c: critical N, level {span(tests['level'])}"),
        share_panel(shares, f"Fig. 3: separable share, L = {span(shares['length'])}"),
        sensitivity_panel(steps, "scaled", "random", "Fig. 4: sensitivity, random step"),
    ]
    for turn, text in enumerate(rest):
        others = _overview_rows(of_text(paper, text), choice)
        panels = [_beside(*each, text, turn) for each in zip(panels, others, range(5), strict=True)]
    name, numbers = choice_map(mine["choices"])
    small = sentence(
        *(f"grey: {captions[text]}" for text in rest),
        f"figures 2 and 3: {choice_words(choice)}",
        sample_words(over_n),
        interval_words(over_n) if len(over_n) else "",
        critical_words(tests),
        f"figure 4: {sensitivity_words(steps)}",
        numbers,
    )
    return Figure(
        "paper",
        "All figures",
        (*panels, name),
        3,
        caption=(small,),
        run=captions[first],
        width=8.0,
        panel_height=1.65,
        on_page=False,
    )


def _overview_rows(paper: Tables, choice: tuple[str, ...]) -> list[pl.DataFrame]:
    over_l, over_n, tests, shares = (
        of_choice(paper[name], choice) for name in ("fig2a", "fig2b", "fig2c", "fig3")
    )
    over_l = over_l.filter(pl.col("top_n").is_in([nearest_n(over_l)]))
    tests = tests.filter(pl.col("level") == pl.col("level").min())
    return [over_l, longest(over_n), tests, longest(shares), paper["fig4"].filter(logits="scaled")]


def _beside(panel: Panel, frame: pl.DataFrame, place: int, text: str, turn: int) -> Panel:
    """The main line of another text, grey; a panel in which nothing is drawn stays so."""
    name = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
    look = Look(GREY, _OTHER_LINES[turn % len(_OTHER_LINES)], width=0.8)
    entry = Entry(f"on {text}", f"in every panel: the same on {name}", look=look)
    if place == 2:
        made = lines(frame, {"printed": entry}, "length", by="expected", y="critical_n")
    elif place == 4:
        steps = frame.filter(pl.col("direction") == "random").drop_nulls("epsilon")
        sizes = steps["epsilon"].unique().sort()
        middle = {sizes[len(sizes) // 2]: entry} if len(sizes) else {}
        made = lines(steps, middle, "temperature", by="epsilon", y="maximum")
    else:
        measure = "separability" if place == 3 else "distance"
        made = lines(frame, {measure: entry}, "length" if place == 0 else "top_n")
    plain = [Series(each.name, each.label, each.look, each.x, each.y) for each in made]
    return replace(panel, series=(*panel.series, *plain)) if panel.series else panel


def choice_map(choices: pl.DataFrame) -> tuple[Panel, str]:
    """All choices in one panel, small: numbered points on the paper's two numbers; and what the
    numbers are."""
    rows = in_order(choices)
    seen = rows.drop_nulls("separability_at_16")
    x, nowhere = share_axis(seen["critical_share"])
    seen = seen.with_columns(pl.col("critical_share").fill_null(nowhere))
    rings = {"closest": ("closest here", Look(BLACK, "none", "circle", size=2.6))}
    rings["measured"] = ("judged", Look(BLACK, "none", "square", size=2.6))
    found = []
    for vectors in VECTORS:
        mine = seen.filter(pl.col("vectors") == vectors).sort("scale", descending=True)
        if mine.height:
            look = VECTORS[vectors].look
            raw = (mine["scale"] == "raw").to_list()
            names = [str(number) for number in mine["number"]]
            found.append(_points(vectors, vectors, look, mine, hollow=raw, names=names))
    for name, (label, look) in rings.items():
        ringed = seen.filter(name)
        found.append(_points(name, label, look, ringed, hollow=[True] * ringed.height))
    lowest = seen.select(pl.min("separability_at_16")).item()
    bottom = max(min(lowest, 0.6) - 0.1, 0.0) if lowest is not None else 0.0
    panel = Panel(
        "all choices of vectors and keys",
        x,
        Axis(f"N_s/N at N = {SETTLED}", low=bottom, high=1.04),
        tuple(found),
        (PLATEAU_BAND, PAPER_SHARE),
        empty="no choices in this run",
    )
    told = ", ".join(f"{n} {v} {s} {k}" for n, v, s, k in rows.select("number", *CHOICE).rows())
    return panel, f"choices (hollow: raw): {told}" if told else "no choices"


def _points(name: str, label: str, look: Look, rows: pl.DataFrame, **more: Any) -> Series:
    at = rows["critical_share"].to_list(), rows["separability_at_16"].to_list()
    return Series(name, label, look, *at, **more)
