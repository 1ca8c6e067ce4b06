"""A scan or a reproduction in a notebook: one HTML fragment, for light and dark pages alike.

Everything is inline, without scripts, style sheets or requests, because notebooks are mailed and
put on the web. Text takes the page's own colour; what is coloured has a letter too.
"""

from collections import defaultdict
from collections.abc import Sequence
from html import escape

import polars as pl

from headgauge.paper.result import Reproduction
from headgauge.registry.names import VERDICTS, verdict
from headgauge.report.head_grid import HeadGrid, head_grid
from headgauge.report.paper_tables import claims_table
from headgauge.report.table import FAINT, LINE
from headgauge.report.tables import heads_table
from headgauge.runs.schema import HEAD
from headgauge.scanning.result import ScanResult
from headgauge.shown import HTML

_WORST = 10
_NUMBERS = ("sink_weight", "separability", "jacobian_norm", "output_ratio", "entropy_share")
_STRIP_WIDTH = 640  # pixels, at most


def scan_html(result: ScanResult) -> str:
    """The caption, heads per verdict, a map of verdicts and of sink weights, the worst heads."""
    heads = result.frame()
    parts = [
        f'<div style="font-weight:bold;font-size:15px">{len(heads)} attention heads</div>',
        f'<div style="{FAINT}">{escape(result.caption())}</div>',
        _counts(result.counts()),
        _strips(heads),
        heads_table(heads, _WORST, _NUMBERS).html(),
    ]
    return _fragment(parts, result.warnings())


def _reproduction(result: Reproduction) -> str:
    """What a reproduction stands on, the verdict on each of the paper's claims."""
    lines = [f'<div style="{FAINT}">{escape(line)}</div>' for line in result.judging.stands]
    claims = claims_table(result.paper["verdicts"]).html()
    return _fragment([*lines, claims], result.warnings())


HTML[ScanResult] = scan_html
HTML[Reproduction] = _reproduction


def _fragment(parts: Sequence[str], warnings: Sequence[str]) -> str:
    """The warnings before everything else, and not by colour alone."""
    look = "border-left:4px solid #D55E00;padding:2px 8px;margin-bottom:6px"
    warned = [f'<div style="{look}"><b>Warning: </b>{escape(line)}</div>' for line in warnings]
    style = "font-family:sans-serif;font-size:13px;line-height:1.4;max-width:720px"
    return f'<div style="{style}">{"".join([*warned, *parts])}</div>'


def _counts(counts: pl.DataFrame) -> str:
    """A box with its letter, the verdict and its number of heads, in a line."""
    entries = []
    for name, heads in counts.filter(pl.col("heads") > 0).select("verdict", "heads").rows():
        letter, look = verdict(name).letter, verdict(name).look
        entries.append(
            '<span style="display:inline-block;margin:0 14px 4px 0">'
            '<span style="display:inline-block;width:1.3em;text-align:center;border-radius:2px;'
            f'border:{LINE};background:{look.colour};color:{look.ink}">'
            f"{escape(letter) or '&#160;'}</span> {escape(name)} <b>{heads}</b></span>"
        )
    return f'<div style="margin:8px 0 4px 0">{"".join(entries)}</div>'


def _strips(head_table: pl.DataFrame) -> str:
    """Layers from left to right, heads from top to bottom: verdicts above, sink weights below."""
    grid = head_grid(head_table)
    side = float(max(3, min(14, _STRIP_WIDTH // len(grid.rows))))
    width, height = len(grid.rows) * side, len(grid.columns) * side
    drawn = {"verdicts": _verdict_cells, "sink weight: the darker the larger": _sink_cells}
    return "".join(
        f'<div style="margin-top:6px;{FAINT}">{title}; layers → heads ↓</div>'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{title} of every head" '
        f'style="background:#fff;border:{LINE}">{cells(grid, head_table, side)}</svg>'
        for title, cells in drawn.items()
    )


def _verdict_cells(grid: HeadGrid, head_table: pl.DataFrame, side: float) -> str:
    """A stripe for each of a head's verdicts, with its letter where there is room."""
    boxes: dict[str, list[str]] = defaultdict(list)  # by how they are filled
    letters: dict[str, list[str]] = defaultdict(list)
    frames = [_box(row * side, column * side, side, side) for row, column in grid.places.values()]
    for *head, told in head_table.select(*HEAD, "verdicts").rows():
        names = told.split(", ")
        row, column = grid.places[tuple(head)]
        wide, top = side / len(names), column * side
        size = round(min(0.75 * side, 1.1 * wide), 1)
        for turn, entry in enumerate(map(verdict, names)):
            left = row * side + turn * wide
            boxes[f'fill="{entry.look.colour}"'].append(_box(left, top, wide, side))
            if size >= 5 and entry.letter:
                place = f'x="{left + wide / 2:.4g}" y="{top + side / 2 + 0.36 * size:.4g}"'
                text = f"<text {place}>{escape(entry.letter)}</text>"
                letters[f'fill="{entry.look.ink}" font-size="{size:g}"'].append(text)
    written = "".join(f"<g {how}>{''.join(each)}</g>" for how, each in letters.items())
    return (
        _paths(boxes | {'fill="none" stroke="#fff"': frames})
        + f'<g text-anchor="middle" font-family="sans-serif">{written}</g>'
    )


def _sink_cells(grid: HeadGrid, head_table: pl.DataFrame, side: float) -> str:
    """Cells in twenty shades; a weight that was not seen stays grey."""
    boxes: dict[str, list[str]] = defaultdict(list)
    for *head, weight in head_table.select(*HEAD, "sink_weight").rows():
        row, column = grid.places[tuple(head)]
        colour, shade = "#999", 1.0
        if weight is not None:
            colour = VERDICTS["sink"].look.colour
            shade = round(20 * min(max(weight, 0.0), 1.0)) / 20
        how = f'fill="{colour}" fill-opacity="{shade:g}"'
        boxes[how].append(_box(row * side, column * side, side, side))
    return _paths(boxes)


def _paths(boxes: dict[str, list[str]]) -> str:
    return "".join(f'<path {how} d="{"".join(each)}"/>' for how, each in boxes.items())


def _box(left: float, top: float, wide: float, high: float) -> str:
    return f"M{left:.4g} {top:.4g}h{wide:.3g}v{high:.3g}h-{wide:.3g}z"
