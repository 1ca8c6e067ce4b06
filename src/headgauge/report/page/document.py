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

from headgauge import registry
from headgauge.report.page.parts import Page

STYLES = (
    *("base.css", "controls.css", "tables.css", "charts.css"),
    *("heads.css", "matrix.css", "timed.css", "narrow.css"),
)
# In this order in one scope: what is above may be used below.
SCRIPTS = (
    *("dom.js", "math.js", "format.js", "roving.js", "picture.js", "export.js", "tooltip.js"),
    *("colours.js", "look.js", "badges.js", "table.js"),
    *("scales.js", "chart.js", "chart_frame.js", "chart_series.js", "chart_input.js"),
    *("heat_map.js", "switches.js", "figure.js", "head_panel.js", "matrix_view.js"),
    *("matrix.js", "heads.js", "compared.js"),
    *("spheres.js", "clock.js", "trained.js", "ledger.js", "manifest.js", "main.js"),
)
_UNSAFE = {each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def page_bytes(page: Page) -> bytes:
    """The whole page; the same content gives the same bytes."""
    style = "\n".join(_bare(asset(name)) for name in STYLES)
    script = "\n".join(_bare(asset(name)) for name in SCRIPTS)
    script = f"(() => {{\n'use strict';\n{script}\n}})();\n"
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    # In the page itself, not drawn by its script: these must stand before the first number.
    warnings = "".join(
        f'<p class="warning" role="alert"><b>Warning: </b>{escape(line)}</p>\n'
        for line in page.warnings
    )
    items = "".join(f"<li>{escape(line)}</li>" for line in page.stands)
    stands = f'<ul class="stands" aria-label="What this page is based on">{items}</ul>\n'
    filled = {
        "POLICY": policy,
        "TITLE": escape(page.title),
        "WARNINGS": warnings,
        "CAPTION": escape(page.caption),
        "STANDS": stands if items else "",
        "STYLE": style,
        "DATA": embedded(page_data(page)),
        "SCRIPT": script,
    }
    parts = asset("page.html").split("@@")  # text and names by turns; what is filled in stays so
    text = "".join(filled[part] if turn % 2 else part for turn, part in enumerate(parts))
    # A lone surrogate can only stand in the data, where its escape is JSON.
    return text.encode("utf-8", "backslashreplace")


def page_data(page: Page) -> dict[str, Any]:
    """What the scripts draw."""
    return {
        "words": registry.as_json(),
        "overview": [part for part in page.overview if part is not None],
        "sections": [part for part in page.sections if part is not None],
    }


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element, whatever its texts are."""
    how = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    text = json.dumps(_finite(data), **how)
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


def _bare(source: str) -> str:
    """A script or style without indentation and without lines that are only a comment."""
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
