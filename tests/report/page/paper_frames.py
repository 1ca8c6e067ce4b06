"""A reproduction's tables with known numbers, in the shape of the real ones."""

import math

import polars as pl

from headgauge.runs.paper_schema import (
    DEPENDS,
    FEW_ROWS,
    NOT_REPRODUCED,
    ONE_TEXT,
    PAPER_TABLES,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)
from headgauge.runs.schema import frame_schema

TEXTS = ("prose", "code <b>")  # the first for choosing
TEXT_FACTOR = 0.9  # of the second text's numbers
CHOICES = (
    ("value", "unit", "visible", "model"),
    ("value", "unit", "all", "model"),
    ("hidden", "unit", "visible", "model"),
    ("value", "unit", "visible", "ssmax"),
)
LENGTHS = (64, 128, 256, 512, 1024)
NS = (1, 2, 4, 8, 16, 32, 64, 100)
HEADS = 270
_FACTORS = {
    "distance": 1.0,
    "expected_printed": 8.0,
    "expected_appendix": 0.6,
    "expected_upper": 1.3,
    "bound_printed": 1.5,
    "bound_lower": 0.9,
    "bound_upper": 1.1,
}
_SHARES = {
    "separability": 0.0,
    "separability_printed_lower": -0.4,
    "separability_printed_upper": 0.1,
    "separability_lower": -0.3,
}


def paper_frames(texts: tuple[str, ...] = TEXTS) -> dict[str, pl.DataFrame]:
    """All of PAPER_TABLES, with exactly their schemas; each text has its own numbers."""
    rows = {
        "vanishing": _vanishing(),
        "fig1": _points(),
        "fig2a": _distances([(length, 5) for length in LENGTHS], CHOICES[:3]),
        "fig2b": _distances([(1024, n) for n in NS], CHOICES),
        "fig2c": _critical(),
        "fig2c_growth": _growth(),
        "fig2c_tests": _tests(),
        "fig3": _shares(),
        "fig4": _sensitivity(),
        "coverage": _coverage(),
        "vectors": _vectors(),
        "signs": _signs(),
    }
    several = {
        name: [
            _on(text, row, TEXT_FACTOR**place) for place, text in enumerate(texts) for row in own
        ]
        for name, own in rows.items()
    }
    several["choices"] = [row for place, text in enumerate(texts) for row in _choices(text, place)]
    several["readings"] = _readings(texts)
    several["verdicts"] = _verdicts(texts)
    several["gains"] = [_on(text, row, 1.0) for text in texts for row in _gains()]
    return {
        name: pl.DataFrame(several[name], schema=frame_schema(row), orient="row")
        for name, row in PAPER_TABLES.items()
    }


_SCALED = ("mean", "low", "high", *("minimum", "q25", "median", "q75", "maximum"))


def _on(text, row, factor):
    changed = {
        name: value * factor
        for name, value in row.items()
        if name in _SCALED and isinstance(value, float)
    }
    return row | changed | {"text": text}


def distance_at(choice: tuple[str, ...], length: int, n: int) -> float:
    """The number that the figures show as the distance."""
    return (1 + CHOICES.index(choice)) * math.sqrt(length) * 10 / (9 + n)


def _named(choice: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(("vectors", "scale", "keys", "rule"), choice, strict=True))


def _figure_row(choice, length, n, measure, mean, spread):
    sampled = choice[3] != "model"
    alone = n == 2 and measure in _FACTORS  # an N that was measured in one window only
    return {
        **_named(choice),
        "length": length,
        "top_n": n,
        "measure": measure,
        "mean": mean,
        "low": None if alone else mean * 0.95,
        "high": None if alone else mean * 1.06,
        "minimum": mean - 2 * spread,
        "q25": mean - spread,
        "median": mean - spread / 10,
        "q75": mean + spread,
        "maximum": mean + 2 * spread,
        "heads": HEADS,
        "windows": 1 if alone else 4,
        "rows": 128.0 if sampled else float(length - (n if choice[2] == "visible" else 0)),
    }


def _distances(places, choices):
    return [
        _figure_row(choice, length, n, measure, factor * distance_at(choice, length, n), 0.05)
        for choice in choices
        for length, n in places
        for measure, factor in _FACTORS.items()
    ]


def _shares():
    return [
        _figure_row(choice, 1024, n, measure, min(1.0, 0.78 + 0.2 / n + shift), 0.08)
        for choice in CHOICES
        for n in NS
        for measure, shift in _SHARES.items()
    ]


def _points():
    rows = []
    for panel, layer, head in (("circle", None, None), ("model", 3, 1), ("model", 7, 2)):
        texts = ["<script>window.hacked=1</script>", "</td>", " the", "\n", None]
        for key in range(40):
            angle, weight = 0.3 * key + (head or 0), 1 / (key + 2)
            x, y = math.cos(angle), math.sin(angle)
            rows.append(
                {
                    "panel": panel,
                    "layer": layer,
                    "head": head,
                    "row": None if layer is None else 500,
                    "top_n": 8,
                    "key": key,
                    "token": None if layer is None else texts[key % 5],
                    "weight": weight,
                    "x": x,
                    "y": y,
                    "scaled_x": weight * x,
                    "scaled_y": weight * y,
                    "selected": key < 8,
                    "inside": key < 6,
                    "s_x": 0.35,
                    "s_y": 0.25,
                    "radius": 0.42,
                }
            )
    return rows


def _critical():
    rows = []
    for choice in CHOICES[:3]:
        for length in LENGTHS:
            for expected, share in (("printed", 0.06), ("appendix", 0.2), ("upper", 0.3)):
                for level in (0.01, 0.05):
                    share_here = share if level == 0.01 else share / 2
                    none = expected == "upper" and length > 512
                    found = None if none else int(share_here * length)
                    rows.append(
                        {
                            **_named(choice),
                            "length": length,
                            "expected": expected,
                            "level": level,
                            "critical_n": found,
                            "share": None if found is None else found / length,
                            "low": None if found is None else max(1, found - 3),
                            "high": None if found is None else found + 5,
                            "found": 0.98,
                            "few_heads": found,
                            "tried": min(length - 1, 400),
                            "sampled_from": 100,
                            "heads": HEADS,
                            "windows": 4,
                            "rows": float(length),
                        }
                    )
    return rows


def _tests():
    return [
        {
            **_named(choice),
            "length": length,
            "expected": expected,
            "top_n": n,
            "distance": distance_at(choice, length, n),
            "expectation": 1.1 * distance_at(choice, length, n),
            "statistic": 1 / (1 + n / turn),
            "p_value": 0.0 if n == 1 else min(1.0, math.exp(-400 / (n * turn))),
        }
        for choice in CHOICES[:3]
        for length in LENGTHS[2:]
        for turn, expected in enumerate(("printed", "appendix", "upper"), 1)
        for n in NS
    ]


def _sensitivity():
    rows = []
    temperatures = [0.1, 0.3, 1.0, 3.0, 10.0]
    lines = [(name, eps) for name in ("random", "worst") for eps in (1e-4, 0.01, 1.0)]
    lines += [("exact", None), ("printed bound", None), ("corrected bound", None)]
    lines += [("sharp bound", epsilon) for epsilon in (1e-4, 0.01, 1.0)]
    for logits in ("scaled", "raw"):
        for direction, epsilon in lines if logits == "scaled" else lines[:3]:
            for temperature in temperatures:
                bound = direction.endswith("bound")
                value = (0.5 if bound else 0.3) / temperature / (1 + 0.2 * (epsilon or 0))
                value *= {"worst": 1.3, "printed bound": 0.5, "sharp bound": 0.9}.get(
                    direction, 1.0
                )
                rows.append(
                    {
                        "logits": logits,
                        "direction": direction,
                        "epsilon": epsilon,
                        "temperature": temperature,
                        "maximum": value * (2 if logits == "raw" else 1),
                        "low": None if bound else value * 0.9 * (2 if logits == "raw" else 1),
                        "high": None if bound else value * 1.1 * (2 if logits == "raw" else 1),
                        "mean": None if bound else value / 3,
                        "layer": None if bound else 12,
                        "head": None if bound else 4,
                        "heads": None if bound else HEADS,
                        "rows": None if bound else 64,
                    }
                )
    return rows


def _vanishing():
    weights = {"largest_weight": 0.5, "top_mass": 0.9, "largest_off_sink": 0.3}
    other = {name: 0.8 * at_64 for name, at_64 in weights.items()}
    bounds = {"bound_range": 0.8, "bound_mean": 5.0, "bound_printed": 1e9}
    return [
        {
            "rule": rule,
            "length": length,
            "measure": measure,
            "mean": at_64 * (64 / length) ** 0.2,
            "low": at_64 * (64 / length) ** 0.2 * 0.9,
            "high": at_64 * (64 / length) ** 0.2 * 1.1,
            "heads": HEADS,
            "windows": 4,
            "rows": 32.0,
        }
        for rule in ("model", "ssmax")
        for measure, at_64 in (other if rule == "ssmax" else weights | bounds).items()
        for length in LENGTHS
    ]


def _growth():
    return [
        {
            **_named(choice),
            "expected": "printed",
            "level": level,
            "exponent": 0.92,
            "low": 0.8,
            "high": 1.05,
            "found": 0.97,
            "shortest": LENGTHS[0],
            "longest": LENGTHS[-1],
            "heads": 144,
        }
        for choice in CHOICES[:3]
        for level in (0.01, 0.05)
    ]


def _coverage():
    sizes = {"top_n": 16, "layers": 30, "rows": 8}
    return [
        {"heads": heads, "covered": 1 - 0.3**heads, "low": 1 - 0.35**heads, "high": 1 - 0.25**heads}
        | {"separable": 0.7, "independent": 1 - 0.28**heads, "formula": 1 - 0.29**heads}
        | sizes
        for heads in (1, 2, 3)
    ]


def _vectors():
    return [
        {"vectors": vectors, "dim": 576, "mean_cosine": 0.21, "mean_cosine_low": -0.01}
        | {"mean_cosine_high": 0.4, "effective_dim": 57.3, "delta": 0.0, "nearest": 0.63}
        | {"same": 0.125, "sets": 30, "tokens": 1024}
        for vectors in ("embedding", "final")
    ]


def _signs():
    return [
        {"sign": sign, "correlation": value, "low": value - 0.1, "high": value + 0.1, "heads": 270}
        for sign, value in (("entropy_share", -0.41), ("sink_weight", 0.33))
    ]


def _gains():
    return [
        {"measure": "separability", "rule": "ssmax", "against": "model", "top_n": 16}
        | {"change": 0.021, "low": 0.013, "high": 0.03, "heads": 270, "windows": 4, "rows": 128.0}
    ]


def _choices(text, turn):
    """Judged is what was closest on the first text; on the second another one is."""
    return [
        {
            "text": text,
            "vectors": vectors,
            "scale": scale,
            "keys": keys,
            "critical_n": 61 + place + 100 * turn,
            "critical_share": 0.06,
            "critical_n_corrected": None if place == 2 else 200,
            "separability_at_16": 0.79 - 0.1 * place,
            "plateau_low": 0.7 - 0.1 * place,
            "plateau_high": 0.8,
            "heads_in_band": 0.4,
            "agrees": 3 - place if turn == 0 else place,
            "off": 0.5 + place,
            "closest": place == (0 if turn == 0 else 2),
            "measured": place == 0,
            "rows": 128.0,
        }
        for place, (vectors, scale, keys, _) in enumerate(CHOICES[:3])
    ]


WORDS = (
    *(REPRODUCED, PRINTED_ONLY, DEPENDS, NOT_REPRODUCED),
    *(UNDECIDED, FEW_ROWS, ONE_TEXT, UNTESTABLE),
)


def _on_text(word, turn):
    """What a text alone says where all of them come to a word."""
    if word == DEPENDS:
        return (NOT_REPRODUCED, REPRODUCED)[turn % 2]
    return UNDECIDED if word == ONE_TEXT else word


def _readings(texts):
    return [
        {
            "text": text,
            "claim": f"claim {place}",
            "printed": f"0.0{6 + turn} L (0.05 to 0.07)",
            "corrected": "0.20 L" if place % 2 else "same",
            "verdict": _on_text(word, turn),
            "comment": f"A <b>comment</b> on what was seen on {text}.",
        }
        for turn, text in enumerate(texts)
        for place, word in enumerate(WORDS)
    ]


def _verdicts(texts):
    held = {REPRODUCED: len(texts), PRINTED_ONLY: len(texts), DEPENDS: 1}
    decided = (REPRODUCED, PRINTED_ONLY, DEPENDS, NOT_REPRODUCED)
    return [
        {
            "claim": f"claim {place}",
            "where": f"Fig. {1 + place % 4}",
            "statement": "The distance falls with N; at N of about 0.06 L it is that of chance.",
            "paper": "N ≈ 0.06 L",
            "held": held.get(word, 0),
            "texts": len(texts) if word in decided else 0,
            "verdict": word,
            "comment": "A <b>comment</b> on it that says in a sentence or two what was seen.",
        }
        for place, word in enumerate(WORDS)
    ]
