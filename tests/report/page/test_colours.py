"""Text and lines stand out enough from what lies behind them, in light and in dark (WCAG AA)."""

import re

import pytest

from headgauge.report.page.document import asset

_TEXT = [("ink", "paper"), ("soft", "paper"), ("soft", "raised"), ("accent", "paper")]
_TEXT += [(kind, f"{kind}-tint") for kind in ("good", "partly", "bad", "open")]
_TEXT += [("soft", "tint"), ("ink", "tint")]
_LINES = [(f"s{place}", "paper") for place in range(8)] + [("focus", "paper")]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("pairs", "least"), [(_TEXT, 4.5), (_LINES, 3.0)], ids=["text", "lines and focus"]
)
def test_contrast(theme, pairs, least):
    block = re.findall(r":root[^{]*\{([^}]*)\}", asset("base.css"))[theme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
    weak = {pair: _contrast(*(colours[name] for name in pair)) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < least} == {}


def _contrast(first: str, second: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
