"""All of a reproduction in one picture, for the first screen of a page."""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from headgauge.registry.entry import BLACK, GREY, Entry, LineStyle, Look
from headgauge.registry.names import VECTORS, choice_words
from headgauge.registry.published import ARXIV, CHOICE, SETTLED
from headgauge.report.captions import longest, span
from headgauge.report.figure import Axis, Figure, Panel, Series
from headgauge.report.paper import words
from headgauge.report.paper.choices import PAPER_SHARE, in_order, share_axis
from headgauge.report.paper.distance import critical_panel, critical_words, distance_panel
from headgauge.report.paper.sensitivity import sensitivity_panel, sensitivity_words
from headgauge.report.paper.shares import PLATEAU_BAND, share_panel
from headgauge.report.paper.tables import Tables, lines, nearest_n, of_choice, of_text, shown_choice

_OTHER_LINES: tuple[LineStyle, ...] = ("dashed", "dotted", "dashdot", "longdash")
_LONGEST_NAME = 30  # signs of a text in a legend
_RINGS = {
    "closest": ("closest to the paper here", Look(BLACK, "none", "circle", size=2.6)),
    "measured": ("the choice of the other panels", Look(BLACK, "none", "square", size=2.6)),
}


def overview(paper: Tables, captions: Mapping[str, str]) -> Figure:
    """Figures 2a, 2b, 2c, 3 and 4 and the choices on the first text, with less in each than its own
    figure has; of every other text the main line."""
    first, *others = captions
    tables = of_text(paper, first)
    choice = shown_choice(tables)
    over_l, over_n, tests, shares, steps = _frames(tables, choice)
    n, length = span(over_l["top_n"]), span(over_n["length"])
    panels = [
        distance_panel(over_l, "length", f"Fig. 2a: distance d̃ over L, N = {n}"),
        distance_panel(over_n, "top_n", f"Fig. 2b: distance d̃ over N, L = {length}"),
        critical_panel(tests, f"Fig. 2c: critical N over L, level {span(tests['level'])}"),
        share_panel(shares, f"Fig. 3: separability N_s/N, L = {span(shares['length'])}"),
        sensitivity_panel(steps, "scaled", "random", "Fig. 4: sensitivity over T, random step"),
    ]
    for number, text in enumerate(others):
        line = _OTHER_LINES[number % len(_OTHER_LINES)]
        main = _main_lines(_frames(of_text(paper, text), choice), text, line)
        panels = [
            replace(panel, series=(*panel.series, *more)) if panel.series else panel
            for panel, more in zip(panels, main, strict=True)
        ]
    choices, numbers = choice_map(tables["choices"])
    caption = words.sentence(
        *(f"grey: {captions[text]}" for text in others),
        f"figures 2 and 3: {choice_words(choice)}",
        words.sample(over_n),
        words.intervals(over_n),
        critical_words(tests),
        f"figure 4: {sensitivity_words(steps)}",
        numbers,
    )
    return Figure(
        "paper",
        f"Figures 2 to 4 of {ARXIV}, measured, and what the paper leaves open",
        (*panels, choices),
        3,
        caption=(caption,),
        run=captions[first],
        width=8.0,
        panel_height=1.65,
    )


def _frames(paper: Tables, choice: tuple[str, ...]) -> list[pl.DataFrame]:
    over_l, over_n, tests, shares = (
        of_choice(paper[name], choice) for name in ("fig2a", "fig2b", "fig2c", "fig3")
    )
    over_l = over_l.filter(pl.col("top_n").is_in([nearest_n(over_l)]))
    tests = tests.filter(pl.col("level") == pl.col("level").min())
    return [over_l, longest(over_n), tests, longest(shares), paper["fig4"].filter(logits="scaled")]


def _main_lines(frames: list[pl.DataFrame], text: str, line: LineStyle) -> list[list[Series]]:
    """Panel by panel the main line of another text, grey."""
    over_l, over_n, tests, shares, steps = frames
    name = text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
    look = Look(GREY, line, width=0.8)
    entry = Entry(f"in every panel: the same on {name}", name=f"on {text}", look=look)
    steps = steps.filter(direction="random").drop_nulls("epsilon")
    sizes = steps["epsilon"].unique().sort()
    middle = {sizes[len(sizes) // 2]: entry} if len(sizes) else {}
    made = [
        lines(over_l, {"distance": entry}, "length"),
        lines(over_n, {"distance": entry}, "top_n"),
        lines(tests, {"printed": entry}, "length", by="expected", y="critical_n"),
        lines(shares, {"separability": entry}, "top_n"),
        lines(steps, middle, "temperature", by="epsilon", y="maximum"),
    ]
    return [[Series(s.name, s.label, s.look, s.x, s.y) for s in series] for series in made]


def choice_map(choices: pl.DataFrame) -> tuple[Panel, str]:
    """All choices in one panel, small: numbered points on the paper's two numbers; and what the
    numbers are."""
    rows = in_order(choices)
    seen = rows.drop_nulls("separability_at_16")
    x, nowhere = share_axis(seen["critical_share"])
    seen = seen.with_columns(pl.col("critical_share").fill_null(nowhere))

    def points(rows: pl.DataFrame, name: str, label: str, look: Look) -> Series:
        at = rows["critical_share"].to_list(), rows["separability_at_16"].to_list()
        return Series(name, label, look, *at, hollow=[True] * rows.height)

    series = []
    for vectors, entry in VECTORS.items():
        own = seen.filter(vectors=vectors).sort("scale", descending=True)
        if own.height:
            raw, numbers = (own["scale"] == "raw").to_list(), own["number"].cast(str).to_list()
            drawn = points(own, vectors, vectors, entry.look)
            series.append(replace(drawn, hollow=raw, names=numbers))
    series += [points(seen.filter(name), name, *ring) for name, ring in _RINGS.items()]
    lowest = seen.select(pl.min("separability_at_16")).item()
    bottom = max(min(lowest, 0.6) - 0.1, 0.0) if lowest is not None else 0.0
    y = Axis(f"N_s/N at N = {SETTLED}", low=bottom, high=1.04)
    title, empty = "every choice of vectors and keys", "no choices in this run"
    panel = Panel(title, x, y, tuple(series), (PLATEAU_BAND, PAPER_SHARE), empty=empty)
    numbered = [" ".join(map(str, row)) for row in rows.select("number", *CHOICE).rows()]
    return (
        panel,
        f"choices by number (hollow: raw vectors): {', '.join(numbered)}"
        if numbered
        else "no choices",
    )
