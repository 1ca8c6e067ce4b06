"""A result in a notebook: one HTML fragment, for light and dark pages alike.

Everything is inline, without scripts, style sheets or requests, because notebooks are mailed and
put on the web. Text takes the page's own colour; what is coloured has a letter too.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from html import escape

import polars as pl

from headgauge.comparison import RuleComparison, RunComparison
from headgauge.paper.result import Reproduction
from headgauge.registry.names import mark
from headgauge.remedies import Remedies
from headgauge.report.comparison_tables import comparison_tables
from headgauge.report.dynamics_tables import simulation_tables
from headgauge.report.figure import HeatMap
from headgauge.report.head_grid import head_grid
from headgauge.report.head_maps import at_longest, mark_map
from headgauge.report.paper_tables import claims_table
from headgauge.report.remedy_tables import remedy_tables
from headgauge.report.rule_tables import rule_tables
from headgauge.report.table import FAINT
from headgauge.report.tables import heads_table
from headgauge.report.validation_tables import validation_tables
from headgauge.scanning.result import ScanResult
from headgauge.shown import HTML
from headgauge.simulation.result import Simulation
from headgauge.training.log.reading import TrainingLog
from headgauge.validation import Validation

_WORST = 10
_NUMBERS = ("sink_weight", "separability", "jacobian_norm", "output_ratio", "entropy_share")
# Pixels, as in the page's heat_map.js: a cell's least and most, and the room for all of them.
_WIDE, _HIGH = (10, 34, 300), (12, 22, 620)
_ABOVE, _BLOCK, _BELOW = 22, 18, 24  # the corner's words, a block's name, the heads' numbers
_HEALTHY = "rgba(128,128,128,.2)"  # quiet on light and dark pages alike
_MIDDLE, _END = 'text-anchor="middle"', 'text-anchor="end"'


def scan_html(result: ScanResult) -> str:
    """The caption, heads per verdict, the page's map of them, the worst heads."""
    heads = result.frame()
    _, (measured, verdicts) = at_longest(result.heads, result.verdicts())
    counts = result.counts().filter(pl.col("heads") > 0)
    unsure = "incomplete" in counts["verdict"]
    parts = [
        _line(f"{len(heads)} attention heads", "font-weight:bold;font-size:15px"),
        _line(result.caption()),
        _counts(counts),
        _map(mark_map(head_grid(measured), verdicts, "Verdicts")),
        _line("Grey with a question mark: not measured, so no verdict.") if unsure else "",
        heads_table(heads, _WORST, _NUMBERS).html(),
    ]
    return _fragment(parts, result.warnings())


def _reproduction(result: Reproduction) -> str:
    """What a reproduction stands on, the verdict on each of the paper's claims."""
    claims = claims_table(result.paper["verdicts"]).html()
    return _fragment([*map(_line, result.judging.stands), claims], result.warnings())


def _simulation(result: Simulation) -> str:
    """What was simulated; velocities and rates beside theory, when the swarms collapse."""
    tables = simulation_tables(result.tables, result.manifest["settings"])
    return _fragment([_line(result.caption()), *(table.html() for table in tables)], ())


def _validation(result: Validation) -> str:
    """What it stands on; what verdicts, roles and measures tell."""
    tables = [table.html() for table in validation_tables(result)[:2]]
    return _fragment([*map(_line, result.stands()), *tables], result.warnings())


def _comparison(result: RunComparison) -> str:
    """What it stands on, the tables as a terminal has them, what was found."""
    tables = [table.html() for table in comparison_tables(result)]
    parts = [*map(_line, result.stands()), *tables, _line(result.finding(), "")]
    return _fragment(parts, result.warnings())


def _rules(result: RuleComparison) -> str:
    """What it stands on, the rules beside each other, what was found."""
    tables = [table.html() for table in rule_tables(result)]
    return _fragment([*map(_line, result.stands()), *tables, _line(result.finding(), "")], ())


def _remedies(result: Remedies) -> str:
    """What they stand on; what each did to the loss and to the verdict."""
    tables = [table.html() for table in remedy_tables(result)[:2]]
    return _fragment([*map(_line, result.stands()), *tables], result.warnings())


def _training(result: TrainingLog) -> str:
    """What was trained, what it stands on, what was found."""
    parts = [_line(result.caption(), ""), *map(_line, result.stands())]
    return _fragment([*parts, _line(result.finding(), "")], ())


HTML[ScanResult] = scan_html
HTML[Reproduction] = _reproduction
HTML[Simulation] = _simulation
HTML[Validation] = _validation
HTML[RunComparison] = _comparison
HTML[RuleComparison] = _rules
HTML[Remedies] = _remedies
HTML[TrainingLog] = _training


def _fragment(parts: Sequence[str], warnings: Sequence[str]) -> str:
    """The warnings before everything else, and not by colour alone."""
    look = "border-left:4px solid #D55E00;padding:2px 8px;margin-bottom:6px"
    warned = [f'<div style="{look}"><b>Warning: </b>{escape(line)}</div>' for line in warnings]
    style = "font:13px/1.4 sans-serif;max-width:720px;overflow-x:auto"
    return f'<div style="{style}">{"".join([*warned, *parts])}</div>'


def _line(text: str, style: str = FAINT) -> str:
    return f'<div style="{style}">{escape(text)}</div>'


def _counts(counts: pl.DataFrame) -> str:
    """The map's legend: a box with its letter, the verdict and its number of heads."""
    entries = []
    for name, heads in counts.select("verdict", "heads").rows():
        letter, fill, ink = _look(name)
        entries.append(
            '<span style="display:inline-block;margin:0 14px 4px 0">'
            '<span style="display:inline-block;width:1.3em;text-align:center;border-radius:2px;'
            f'background:{fill};color:{ink}">{escape(letter) or "&#160;"}</span> '
            f"{escape(name)} <b>{heads}</b></span>"
        )
    return f'<div style="margin:8px 0 4px 0">{"".join(entries)}</div>'


def _look(name: str) -> tuple[str, str, str]:
    """A verdict's letter, its colour and that of the letter."""
    known = mark(name)
    return known.letter, known.look.colour if known.letter else _HEALTHY, known.look.ink


def _map(panel: HeatMap) -> str:
    """The page's map, standing still: layers down, heads across, blocks apart."""
    wide, high = (
        max(least, min(most, room // len(names)))
        for (least, most, room), names in ((_WIDE, panel.columns), (_HIGH, panel.rows))
    )
    blocks = panel.blocks if len(panel.blocks) > 1 else ()
    tops = [
        _ABOVE + row * high + _BLOCK * sum(first <= row for _, first, _ in blocks)
        for row in range(len(panel.rows))
    ]
    left, bottom = max(44, 7 * max(map(len, panel.rows)) + 10), tops[-1] + high
    width, height = left + wide * len(panel.columns) + 4, bottom + _BELOW
    every = math.ceil(max(16, 7 * max(map(len, panel.columns)) + 2) / wide)
    across = [
        _text(left + (place + 0.5) * wide, bottom + 15, panel.columns[place])
        for place in range(0, len(panel.columns), every)
    ]
    down = [
        _text(left - 6, tops[row] + high / 2 + 4, panel.rows[row])
        for row in range(0, len(panel.rows), math.ceil(13 / high))
    ]
    named = [_text(2, 13, f"{panel.y.label} ↓  {panel.x.label} →")]
    named += [_text(left, tops[first] - 5, name) for name, first, _ in blocks]
    told = f"{panel.title} of every head: {panel.y.label}s down, {panel.x.label}s across"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(told)}" fill="currentColor" font-size="11">'
        f"{_cells(panel, left, tops, wide, high)}{_group(_MIDDLE, across)}"
        f"{_group(_END, down)}{_group('', named)}</svg>"
    )


def _cells(panel: HeatMap, left: int, tops: list[int], wide: int, high: int) -> str:
    """A stripe for each of a head's verdicts, with its letter where there is room."""
    boxes: dict[str, list[str]] = defaultdict(list)  # by colour
    letters: dict[str, list[str]] = defaultdict(list)
    for name, row, first, after in panel.stripes():
        letter, fill, ink = _look(name)
        x, part = left + first * wide, (after - first) * wide
        # Heads are parted by the page's own colour, the stripes of one are not.
        start, end = x + 0.5 * (first % 1 == 0), x + part - 0.5 * (after % 1 == 0)
        boxes[fill].append(f"M{start:.4g} {tops[row] + 0.5}H{end:.4g}v{high - 1}H{start:.4g}z")
        size = round(min(0.66 * high, 1.1 * part), 1)
        if letter and size >= 6:
            at = x + part / 2, tops[row] + high / 2 + 0.36 * size
            letters[f'{_MIDDLE} fill="{ink}" font-size="{size:g}"'].append(_text(*at, letter))
    drawn = [f'<path fill="{fill}" d="{"".join(each)}"/>' for fill, each in boxes.items()]
    return "".join(drawn + [_group(how, each) for how, each in letters.items()])


def _group(how: str, parts: list[str]) -> str:
    return f"<g {how}>{''.join(parts)}</g>"


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:.4g}" y="{y:.4g}">{escape(words)}</text>'
