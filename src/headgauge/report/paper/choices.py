"""Two figures beside the paper's own, for files: all choices, and other rules."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from headgauge.registry.entry import BLUE, GREEN, Entry, Look
from headgauge.registry.names import MODEL, choice_words, rules
from headgauge.registry.published import CHOICE, CRITICAL_SHARE, LEVEL, PLATEAU, SETTLED
from headgauge.report.captions import longest, span
from headgauge.report.figure import Axis, Figure, Mark, Panel, Series
from headgauge.report.paper import words
from headgauge.report.paper.distance import PAPER_LINE, strictest
from headgauge.report.paper.shares import PLATEAU_BAND, rule_words, share_axes
from headgauge.report.paper.tables import Tables, lines, of_choice, over_n, shown_choice

_SHARE_TICKS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_RULE_TABLES = ("fig2b", "fig2c", "fig3")
PAPER_SHARE = Mark(
    "x", (CRITICAL_SHARE,), f"{CRITICAL_SHARE:g}, the paper's", PAPER_LINE, in_legend=True
)


def in_order(choices: pl.DataFrame) -> pl.DataFrame:
    """The closest on top, then by how many of the paper's numbers they meet and how far they are
    from them; each with its number."""
    by = ["closest", "agrees", "off", *CHOICE]
    ordered = choices.sort(by, descending=[True, True, False, False, False, False])
    return ordered.with_row_index("number", offset=1)


def choices_figure(paper: Tables) -> Figure:
    """Critical share and plateau of every choice, the closest to the paper on this text on top."""
    length = paper["fig2c"]["length"].max()
    corrected = pl.col("critical_n_corrected") / pl.lit(length, pl.Float64)
    rows = in_order(paper["choices"]).with_columns(corrected=corrected)
    marked = rows.select(*CHOICE, "closest", "measured", "number").rows()
    labels = [
        f"{', '.join(choice)}{' ★' * closest}{' ●' * judged}  {number}"
        for *choice, closest, judged, number in marked
    ]
    in_band = ["–" if share is None else f"{100 * share:.0f} %" for share in rows["heads_in_band"]]
    ends: dict[str, Any] = {"low": rows.height - 0.5, "high": -0.5}
    y, right = (Axis("", ticks=tuple(enumerate(names)), **ends) for names in (labels, in_band))
    x, nowhere = share_axis(pl.concat([rows["critical_share"], rows["corrected"]]))
    shares = []
    for column, label, look, aside in (
        ("critical_share", "with the printed expectation", Look(BLUE, "none", "triangle"), -0.2),
        ("corrected", "with eq. 24", Look(GREEN, "none", "down"), 0.2),
    ):
        at = rows[column].fill_null(nowhere).to_list()
        heights = [number + aside for number in range(rows.height)]
        hollow = rows[column].is_null().to_list()
        shares.append(Series(column, label, look, at, heights, hollow=hollow))
    means = [
        Series("range", f"means from N = {SETTLED} on", Look(GREEN, width=2.2), [low, high], [n, n])
        for n, (low, high) in enumerate(rows.select("plateau_low", "plateau_high").rows())
        if low is not None and high is not None
    ]
    settled, dots = rows["separability_at_16"].to_list(), Look(GREEN, "none", "circle")
    means.append(Series("settled", f"N = {SETTLED}", dots, settled, list(range(rows.height))))
    caption = words.sentence(
        "● the choice that the verdicts are about",
        "★ closest to the paper on this text, the others by how many of its numbers they meet",
        f"hollow: none was found; critical N at level {LEVEL:g}, L = {length or '–'}",
        f"percent: heads whose mean from N = {SETTLED} on is in the band",
        f"{span(rows['rows'].round(0), ' to ')} query rows a head",
    )

    def panel(title: str, x: Axis, y: Axis, series: list[Series], mark: Mark) -> Panel:
        kept = tuple(series) if rows.height else ()
        return Panel(title, x, y, kept, (mark,), empty="no choices in this run")

    share, band = Axis("N_s/N", low=0.0, high=1.0), replace(PLATEAU_BAND, kind="x band")
    panels = (
        panel("(a) critical N, as a share of L", x, y, shares, PAPER_SHARE),
        panel("(b) separability N_s/N; %: heads in the band", share, right, means, band),
    )
    height = max(0.17 * rows.height, 0.8)
    return Figure(
        "choices",
        "Critical N and separability for every choice that the paper leaves open",
        panels,
        2,
        caption=(caption,),
        panel_height=height,
    )


def share_axis(shares: pl.Series) -> tuple[Axis, float]:
    """N/L in even ratios from the smallest to the largest, "none" behind it; where that is."""
    known = [*shares.drop_nulls(), CRITICAL_SHARE]
    low, high = min(known) / 1.6, max(*known, 2 * CRITICAL_SHARE) * 1.5
    nowhere = high * (high / low) ** 0.07
    ticks = [(tick, f"{tick:g}") for tick in _SHARE_TICKS if low <= tick <= high / 1.4]
    if shares.is_null().any():
        ticks.append((nowhere, "none"))
        high = high * (high / low) ** 0.14
    return Axis("critical N / L", log=True, low=low, high=high, ticks=tuple(ticks)), nowhere


def rules_figure(paper: Tables) -> Figure:
    """Figures 2b, 2c and 3 again, with other normalisers on the same logits: a line per rule."""
    choice = rule_choice(paper)
    over_ns, tests, shares = (of_choice(paper[name], choice, None) for name in _RULE_TABLES)
    over_ns = longest(over_ns).filter(measure="distance")
    shares = longest(shares).filter(measure="separability")
    there = pl.concat([frame["rule"] for frame in (over_ns, tests, shares)])
    named = rules(there.unique(maintain_order=True).to_list())
    tests = strictest(tests)
    sampled = [frame.select("heads", "windows", "rows", "length") for frame in (over_ns, shares)]
    caption = words.sentence(
        choice_words(choice),
        rule_words(list(named)),
        words.sample(pl.concat(sampled)),
        words.intervals(over_ns),
        f"critical N: printed expectation, level {span(tests['level'])}",
        "bars: 95 % bootstrap over heads; an arrow: no critical N up to there",
        f"broken line and shade: the paper's {CRITICAL_SHARE:g} L and {PLATEAU[0]} to {PLATEAU[1]}",
    )
    panels = (
        Panel(
            f"(a) distance over N, L = {span(over_ns['length'])}",
            over_n(),
            Axis("distance d̃", low=0.0),
            tuple(lines(over_ns, named, "top_n", by="rule")),
            empty="no distances in this run",
        ),
        rule_criticals(tests, named),
        Panel(
            f"(c) separability over N, L = {span(shares['length'])}",
            *share_axes(shares),
            tuple(lines(shares, named, "top_n", by="rule")),
            (Mark("y band", PLATEAU),),
            empty="no separability in this run",
        ),
    )
    return Figure(
        "rules",
        "Figures 2b, 2c and 3 under other rules on the same logits",
        panels,
        3,
        caption=(caption,),
        panel_height=max(Figure.panel_height, 0.15 * len(named)),  # (b) has a row for each
    )


def rule_choice(paper: Tables) -> tuple[str, ...]:
    """The choice the other figures show where rules were put on it, else the first with rules."""
    choice = shown_choice(paper)
    others = [paper[name].filter(pl.col("rule") != MODEL).select(CHOICE) for name in _RULE_TABLES]
    there = pl.concat(others).unique(maintain_order=True).rows()
    return choice if choice in there or not there else there[0]


def rule_criticals(tests: pl.DataFrame, named: Mapping[str, Entry]) -> Panel:
    """The critical N of each rule at the longest L, one below the other; the numbers are written
    beside them."""
    rows = longest(tests)
    series, marks = [], ()
    for height, (rule, entry) in enumerate(named.items()):
        for row in rows.filter(rule=rule).iter_rows(named=True):
            none = row["critical_n"] is None
            at = row["tried"] if none else row["critical_n"]
            look = replace(entry.look, line="none", marker="right" if none else entry.look.marker)
            said = f"none up to {at}" if none else str(at)
            bar = row["low"] is not None and row["high"] is not None
            beside = None if bar else [said]
            series.append(Series(rule, entry.title, look, [at], [height], names=beside))
            if bar:  # and its number at the end of it
                thin, ends = Look(entry.look.colour, width=0.7), [row["low"], row["high"]]
                series.append(Series(rule, "", thin, ends, [height, height], names=[None, said]))
    if rows.height:
        marks = (Mark("x", (CRITICAL_SHARE * rows["length"][0],), look=PAPER_LINE),)
    x = Axis("critical N", "N", log=True)
    y = Axis("", ticks=(), low=len(named) - 0.5, high=-0.5)
    title = f"(b) critical N, L = {span(rows['length'])}"
    return Panel(title, x, y, tuple(series), marks, empty="no tests in this run")
