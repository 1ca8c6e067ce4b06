"""A reproduction with plausible numbers, as large or as poor as a test wants it."""

import math

import polars as pl
import pytest

from headgauge.runs.paper_schema import PAPER_TABLES
from headgauge.runs.schema import frame_schema

AT_1024 = {  # by N: d̃, its bound, the printed expectation, eq. 24, the second moment
    1: (454.0, 454.0, 793.0, 1.65, 16.6),
    5: (605.0, 709.0, 787.0, 4.6, 36.0),
    10: (657.0, 795.0, 781.0, 8.3, 51.0),
    20: (689.0, 851.0, 769.0, 15.7, 71.0),
    100: (690.0, 877.0, 675.0, 70.0, 156.0),
}
MEASURES = ["distance", "bound_printed", "expected_printed", "expected_appendix", "expected_upper"]
SHARES = {1: 1.0, 2: 0.898, 4: 0.861, 8: 0.848, 16: 0.838, 32: 0.825, 64: 0.824, 100: 0.833}
CLOSEST = ("final", "unit", "all")
CHOICES = [
    CLOSEST,
    ("final", "raw", "visible"),
    ("value", "unit", "visible"),
    ("value", "raw", "all"),
    ("hidden", "unit", "visible"),
    ("hidden", "raw", "visible"),
    ("embedding", "unit", "all"),
    ("embedding", "raw", "visible"),
]
RULES = ("model", "ssmax", "sparsemax", "entmax", "softmax_one", "sigmoid", "softpick", "topk")
LENGTHS = (32, 64, 128, 256, 512, 1024)
TEXT, OTHER = "prose", "a second text"
HEADS = [(0, 2.0), (3, 1.0), (6, 3.0), (9, 0.0), (12, 1.5)]  # layers, and how far a token is out


def reproduction(
    lengths=LENGTHS,
    heads=270,
    windows=2,
    choices=CHOICES,
    rules=RULES,
    rows=128,
    critical=True,
    text=TEXT,
    judged=0,
):
    """Every table of one text; `critical` False: no test ever fails to tell the two apart; `judged`
    is the place of the choice that the verdicts are about, the closest is the first."""
    sizes = {"heads": heads, "windows": windows}
    tables = {name: [] for name in PAPER_TABLES}
    for place, choice in enumerate(choices):
        for turn, rule in enumerate(rules if place == 0 else ("model",)):
            # Every choice and rule its own numbers: a mix-up is seen.
            factor = (1 - 0.09 * place) * (1 - 0.06 * turn)
            who = dict(zip(("vectors", "scale", "keys"), choice, strict=True)) | {"rule": rule}
            _distances(tables, who, lengths, factor, sizes, rows)
            _criticals(tables, who, lengths, factor, sizes, rows, critical)
            _separability(tables, who, max(lengths), factor, sizes, rows)
        chosen = {"measured": place == judged}
        tables["choices"].append(_choice(choice, place, max(lengths), rows, critical) | chosen)
    tables["fig1"] = [*_circle(), *(point for head in HEADS for point in _head(*head))]
    tables["fig4"] = [row for kind in ("scaled", "raw") for row in _sensitivity(kind, heads)]
    tables["vanishing"] = list(_vanishing(lengths, rules, sizes))
    frames = {
        name: pl.DataFrame(tables[name], schema=frame_schema(row))
        for name, row in PAPER_TABLES.items()
    }
    return {
        name: frame.with_columns(text=pl.lit(text)) if "text" in frame.columns else frame
        for name, frame in frames.items()
    }


def no_paper():
    """Every table, without a row."""
    return {name: pl.DataFrame(schema=frame_schema(row)) for name, row in PAPER_TABLES.items()}


def together(*papers):
    """The tables of several texts."""
    return {name: pl.concat([paper[name] for paper in papers]) for name in PAPER_TABLES}


AT_32 = {"largest_weight": 0.5, "top_mass": 0.95, "largest_off_sink": 0.3}
BOUNDS_AT_32 = {"bound_range": 0.9, "bound_mean": 6.0, "bound_printed": 1e28}


def _vanishing(lengths, rules, sizes):
    sure = sizes["windows"] > 1
    for turn, rule in enumerate(rules):
        for measure, first in (AT_32 | BOUNDS_AT_32 if rule == "model" else AT_32).items():
            for length in lengths:
                mean = first * (32 / length) ** 0.1 * 0.9**turn
                ends = {"low": mean * 0.9, "high": mean * 1.1} if sure else {}
                place = {"rule": rule, "length": length, "measure": measure, "mean": mean}
                yield place | ends | sizes | {"rows": 32.0}


def _figure_row(who, length, n, measure, mean, sizes, rows):
    sure = sizes["windows"] > 1
    most = 1.0 if measure.startswith("separability") else math.inf
    spread = {"minimum": 0.3, "q25": 0.9, "median": 1.02, "q75": 1.1, "maximum": 1.2}
    numbers = {name: min(mean * share, most) for name, share in spread.items()}
    ends = {"low": mean * 0.97 if sure else None, "high": min(mean * 1.02, most) if sure else None}
    count = {"rows": float(min(rows, length))}
    place = {"length": length, "top_n": n, "measure": measure, "mean": mean}
    return who | place | numbers | ends | sizes | count


def _distances(tables, who, lengths, factor, sizes, rows):
    for length in lengths:
        for place, measure in enumerate(MEASURES):
            mean = AT_1024[5][place] * factor * length / 1024
            tables["fig2a"].append(_figure_row(who, length, 5, measure, mean, sizes, rows))
    for n, numbers in AT_1024.items():
        for measure, number in zip(MEASURES, numbers, strict=True):
            mean = number * factor * max(lengths) / 1024
            row = _figure_row(who, max(lengths), n, measure, mean, sizes, rows)
            tables["fig2b"].append(row)


def _criticals(tables, who, lengths, factor, sizes, rows, critical):
    for length in lengths:
        for expected in ("printed", "appendix", "upper"):
            for level in (0.01, 0.05):
                n = None
                if critical and expected == "printed":
                    n = max(1, round((0.075 + level / 2) * length * factor))
                found = {
                    "critical_n": n,
                    "share": None if n is None else n / length,
                    "low": None if n is None else max(1, round(0.8 * n)),
                    "high": None if n is None else round(1.25 * n),
                    "found": 0.0 if n is None else 1.0,
                    "few_heads": None if n is None else max(1, round(0.85 * n)),
                    "tried": length // 2,
                    "sampled_from": 100 if length > 512 else None,
                    "rows": float(min(rows, length)),
                }
                place = {"length": length, "expected": expected, "level": level}
                tables["fig2c"].append(who | place | found | sizes)


def _separability(tables, who, length, factor, sizes, rows):
    for n, share in SHARES.items():
        numbers = {
            "separability": share * factor,
            "separability_printed_upper": 0.998 - 0.0001 * n,
            "separability_printed_lower": 0.3 / n,
            "separability_lower": share * factor * 0.6 if n > 1 else 1.0,
        }
        for measure, mean in numbers.items():
            tables["fig3"].append(_figure_row(who, length, n, measure, mean, sizes, rows))


def _choice(choice, place, length, rows, critical):
    n = round(0.08 * length * (1 + 0.3 * place)) if critical and place != 2 else None
    return dict(zip(("vectors", "scale", "keys"), choice, strict=True)) | {
        "critical_n": n,
        "critical_share": None if n is None else n / length,
        "critical_n_corrected": round(0.3 * length) if place == 4 else None,
        "separability_at_16": 0.838 - 0.07 * place,
        "plateau_low": 0.82 - 0.08 * place,
        "plateau_high": 0.84 - 0.06 * place,
        "heads_in_band": 0.5 / (1 + place),
        "agrees": 3 - place // 3,
        "off": 0.4 + place,
        "closest": place == 0,
        "rows": float(rows),
    }


def _circle(keys=12, n=4):
    weights = [2.0**-key for key in range(keys)]
    weights = [weight / sum(weights) for weight in weights]
    angles = [0.5 + 2.4 * key for key in range(keys)]
    points = [(math.cos(angle), math.sin(angle)) for angle in angles]
    return _points("circle", points, weights, n, {}, [None] * keys)


def _head(layer, out, keys=60, n=8):
    """One heavy token, and seven light ones near the edge of the ball; some outside, or none."""
    weights = [0.7, 0.04, 0.035, 0.03, 0.025, 0.02, 0.015, 0.01] + [0.1 / (keys - 8)] * (keys - 8)
    points = [(1.0, 0.1)] + [(0.5, -0.3)] * 4 + [(0.5 - 0.5 * out, 0.4)] * 3
    points += [(0.3 * math.cos(key), 0.3 * math.sin(key)) for key in range(8, keys)]
    texts = ["“", " Prince\n", " $x$", "中文", " Anna Pavlovna Scherer", ",", " war", " and"]
    place = {"layer": layer, "head": 11, "row": 700}
    return _points("model", points, weights, n, place, texts + [" so"] * (keys - 8))


def _points(panel, points, weights, n, place, texts):
    scaled = [(x * w, y * w) for (x, y), w in zip(points, weights, strict=True)]
    total = [sum(part[axis] for part in scaled[:n]) for axis in (0, 1)]
    radius = min(math.dist(part, total) for part in scaled[n:])
    return [
        {"layer": None, "head": None, "row": None}
        | place
        | {"panel": panel, "top_n": n, "key": key, "token": texts[key], "weight": weights[key]}
        | {"x": points[key][0], "y": points[key][1]}
        | {"scaled_x": part[0], "scaled_y": part[1], "s_x": total[0], "s_y": total[1]}
        | {"selected": key < n, "radius": radius}
        | {"inside": key < n and math.dist(part, total) <= radius}
        for key, part in enumerate(scaled)
    ]


def _sensitivity(kind, heads):
    root = math.sqrt(2)
    strength = {"random": 0.05, "random over all keys": 0.02, "worst": 0.6}
    if kind == "raw":
        strength = {"random": 0.05}
    measured = {"layer": 2, "head": 0, "heads": heads, "rows": 64}
    for step in range(13):
        T = 10 ** (-2 + step / 3)
        bounds: dict[tuple[str, float | None], float] = {
            ("printed bound", None): min(1 / (4 * T), root),
            ("corrected bound", None): 1 / (2 * T),
        }
        for epsilon in (1e-3, 1e-1, 10.0):
            limit = root / epsilon * math.tanh(epsilon / (2 * root * T))
            bounds["sharp bound", epsilon] = limit
            for direction, part in strength.items():
                most = part * limit / (1 + 0.3 / T) * (1.5 if kind == "scaled" else 1)
                row = {"logits": kind, "direction": direction, "epsilon": epsilon}
                row |= {"temperature": T, "maximum": most, "low": most * 0.9, "high": most * 1.1}
                yield row | {"mean": most / 3} | measured
        if kind == "raw":
            continue
        for direction, most in (("exact", 0.62), ("exact mean", 0.05)):
            row = {"logits": kind, "direction": direction, "epsilon": None, "temperature": T}
            yield row | {"maximum": most / (2 * T + 0.6), "mean": 0.1} | measured
        for (direction, epsilon), limit in bounds.items():
            row = {"logits": kind, "direction": direction, "epsilon": epsilon}
            yield row | {"temperature": T, "maximum": limit}


@pytest.fixture
def make_paper():
    return reproduction


@pytest.fixture(scope="session")
def two_texts():
    """On the second text another choice is closest than the one that is judged."""
    second = reproduction(text=OTHER, choices=[CHOICES[1], CHOICES[0], *CHOICES[2:]], judged=1)
    return together(reproduction(), second)


@pytest.fixture(scope="session")
def whole_paper():
    return reproduction()


@pytest.fixture
def series():
    """The series of a name in a panel: the only one, or those at a setting."""

    def found(panel, name, **at):
        (one,) = [
            each
            for each in panel.series
            if each.name == name and each.label and at.items() <= each.at.items()
        ]
        return one

    return found
