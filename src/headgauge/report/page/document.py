"""One file with everything in it: styles, scripts and data.

What comes from outside (tokens of a text above all) is data and stays data: it stands in a JSON
block in which no tag can begin, and the scripts show it as text only. The content policy names the
hashes of our one style and one script, so that nothing else runs and nothing is fetched.
"""

import hashlib
import json
import math
from base64 import b64encode
from html import escape
from importlib import resources
from typing import Any

import polars as pl

from headgauge.report.page.columns import columns, short
from headgauge.report.page.content import PageContent
from headgauge.report.page.depth import depth_data
from headgauge.report.page.dynamics import dynamics_data
from headgauge.report.page.heads import head_data, words
from headgauge.report.page.paper import paper_data
from headgauge.report.page.schemes import scheme_words
from headgauge.report.tables import span_words
from headgauge.report.words import RULE_NOTES

STYLES = (
    "base.css",
    "controls.css",
    "tables.css",
    "charts.css",
    "reading.css",
    "heads.css",
    "dynamics.css",
    "narrow.css",
)
# In this order in one scope: what is above may be used below.
SCRIPTS = (
    "dom.js",
    "format.js",
    "table.js",
    "tooltip.js",
    "scales.js",
    "schemes.js",
    "marks.js",
    "chart.js",
    "chart_frame.js",
    "chart_series.js",
    "chart_input.js",
    "choice.js",
    "lines.js",
    "figure1.js",
    "figure2.js",
    "figure2c.js",
    "figure3.js",
    "figure4.js",
    "vanishing.js",
    "measured_tables.js",
    "verdict.js",
    "colours.js",
    "heat_map.js",
    "head_panel.js",
    "head_list.js",
    "heads.js",
    "clock.js",
    "spheres.js",
    "dynamics_lines.js",
    "phase.js",
    "dynamics_tables.js",
    "dynamics.js",
    "depth.js",
    "outlook.js",
    "ledger.js",
    "manifest.js",
    "main.js",
)
_UNSAFE = {each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def page_bytes(content: PageContent) -> bytes:
    """The whole page; the same content gives the same bytes."""
    style = "\n".join(asset(name) for name in STYLES)
    script = "(() => {\n'use strict';\n" + "\n".join(asset(name) for name in SCRIPTS) + "})();\n"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = asset("page.html")
    filled = {
        "POLICY": policy,
        "TITLE": escape(content.title),
        "WARNINGS": _warnings(content.warnings),
        "CAPTION": escape(content.caption),
        "STANDS": _stands(content.stands),
        "STYLE": style,
        "DATA": embedded(page_data(content)),
        "SCRIPT": script,
    }
    parts = page.split("@@")  # text and names by turns; what is filled in is not searched again
    text = "".join(filled[part] if turn % 2 else part for turn, part in enumerate(parts))
    # A lone surrogate can only stand in the data, where its escape is JSON.
    return text.encode("utf-8", "backslashreplace")


def _warnings(lines: tuple[str, ...]) -> str:
    """In the page itself, before its first number."""
    return "".join(
        f'<p class="warning" role="alert"><b>Warning: </b>{escape(line)}</p>\n' for line in lines
    )


def _stands(lines: tuple[str, ...]) -> str:
    """In the page itself, not drawn by its script: it must stand before everything else."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="stands" aria-label="What this page stands on">{items}</ul>\n' * bool(lines)


def page_data(content: PageContent) -> dict[str, Any]:
    """What the scripts draw."""
    paper = None if content.paper is None else paper_data(content.paper, content.chosen_on)
    dynamics = None if content.dynamics is None else dynamics_data(content.dynamics)
    depth = None if content.depth is None else depth_data(content.depth, content.depth_curves)
    return {
        "title": content.title,
        "notes": list(content.notes),
        "words": words() | {"schemes": scheme_words(), "rules": RULE_NOTES},
        "counts": None if content.counts is None else columns(content.counts),
        "heads": _heads(content),
        "paper": paper,
        "dynamics": dynamics,
        "depth": depth,
        "outlook": _outlook(content),
        "timing": [_shortened(row) for row in content.timing],
        "claims": [dict(claim) for claim in content.claims],
        "manifest": content.manifest,
    }


def _heads(content: PageContent) -> dict[str, Any] | None:
    """The heads of a scan; a simulation has none."""
    wanted = ("heads", "curves", "samples", "verdicts", "head_table")
    tables: dict[str, Any] = {name: getattr(content, name) for name in wanted}
    return None if content.heads is None else head_data(**tables)


def _outlook(content: PageContent) -> dict[str, Any] | None:
    if content.outlook is None:
        return None
    shown = content.outlook.with_columns(
        interval=pl.Series(map(span_words, content.outlook.to_dicts()), dtype=pl.String)
    )
    return {"target": content.target, "rows": columns(shown), "notes": list(content.outlook_notes)}


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element, whatever its texts are."""
    plain = _finite(data)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(str.maketrans(_UNSAFE))


def _finite(value: Any) -> Any:
    """NaN and infinity are no JSON: a loss that broke down becomes null."""
    if isinstance(value, dict):
        return {str(name): _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def asset(name: str) -> str:
    return (resources.files("headgauge.report.page") / "assets" / name).read_text(encoding="utf-8")


def _shortened(row: dict[str, Any]) -> dict[str, Any]:
    return {name: short(value) for name, value in row.items()}


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
