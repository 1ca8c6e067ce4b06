"""Text and lines stand out enough from what lies behind them, in light and in dark (WCAG AA)."""

import re

import numpy as np
import pytest

from headgauge.registry import as_json
from headgauge.report.page.document import asset

_TEXT = [("ink", "paper"), ("soft", "paper"), ("soft", "raised"), ("accent", "paper")]
_TEXT += [(kind, f"{kind}-tint") for kind in ("good", "partly", "bad", "open")]
_TEXT += [("soft", "tint"), ("ink", "tint")]
# Björn Ottosson's OKLab, in which CSS limits the lightness of a line.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@pytest.fixture(params=[0, 1], ids=["light", "dark"])
def theme(request):
    block = re.findall(r":root[^{]*\{([^}]*)\}", asset("base.css"))[request.param]
    return dict(re.findall(r"--([\w-]+): ([^;]+);", block))


def test_text_stands_out(theme):
    weak = {pair: _contrast(*(_linear(theme[name]) for name in pair)) for pair in _TEXT}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}
    assert _contrast(_linear(theme["focus"]), _linear(theme["paper"])) >= 3


def test_every_line_of_the_registry_stands_out(theme):
    groups = [held for name, held in as_json().items() if name in ("measures", "schemes", "layers")]
    colours = {entry["look"]["colour"] for group in groups for entry in group.values()}
    assert len(colours) > 5
    paper = _linear(theme["paper"])
    ends = float(theme["least"]), float(theme["most"])
    weak = {colour: _contrast(_limited(colour, ends), paper) for colour in colours}
    assert {colour: ratio for colour, ratio in weak.items() if ratio < 3} == {}


def _linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _limited(colour: str, ends: tuple[float, float]) -> np.ndarray:
    """What `charts.css` makes of it: the same hue, the lightness between two ends."""
    lightness, *rest = _LAB @ np.cbrt(_CONES @ _linear(colour))
    held = np.array([np.clip(lightness, *ends), *rest])
    return np.clip(np.linalg.solve(_CONES, np.linalg.solve(_LAB, held) ** 3), 0, 1)


def _contrast(first: np.ndarray, second: np.ndarray) -> float:
    weights = np.array([0.2126, 0.7152, 0.0722])
    light, dark = sorted((float(weights @ first), float(weights @ second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
