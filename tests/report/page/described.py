"""Figures made by hand that have everything a description can say, with known numbers."""

from headgauge.registry.entry import Look
from headgauge.report.figure import Axis, Figure, HeatMap, Mark, Panel, Sentence, Series, Switch

SCRIPT = "<script>window.hacked=1</script>"
LENGTHS = (64.0, 128.0, 256.0, 512.0, 1024.0)
TEXT = Switch("text", "Text", (("prose", "prose (for choosing)"), ("code <b>", "code <b>")), True)
RULE = Switch("rule", "Rule", (("model", "the model's own"), ("ssmax", "ssmax")), True)
SIZE = Switch("n", "N", (("16", "16"), ("5", "5")))
# All but ssmax on the second text; ssmax at one N only.
PLACES = [
    {"text": text, "rule": rule, "n": n}
    for text in ("prose", "code <b>")
    for rule in ("model", "ssmax")
    for n in ("16", "5")
    if (text, rule) != ("code <b>", "ssmax") and (rule, n) != ("ssmax", "5")
]
BLUE, GREEN, RED = (Look(each, "solid", "circle") for each in ("#0072B2", "#009E73", "#D55E00"))


def distance(place: dict[str, str], length: float) -> float:
    factor = 2 if place["rule"] == "ssmax" else 1
    return factor * int(place["n"]) * length / 64 * (0.5 if place["text"] == "prose" else 0.75)


def lines() -> Figure:
    """A line with a band and one point apart, hidden lines, one with boxes, marks of every kind."""
    series = []
    for at in PLACES:
        ys = [distance(at, length) for length in LENGTHS]
        series += [
            Series(
                name="distance",
                label="distance d̃",
                look=GREEN,
                x=LENGTHS,
                y=ys,
                low=[y * 0.9 for y in ys],
                high=[y * 1.1 for y in ys],
                apart=[length == 128 for length in LENGTHS],
                facts={"query rows": [f"{length - 1:g} of {length:g}" for length in LENGTHS]},
                at=at,
            ),
            Series(
                name="expected",
                label="expected",
                look=Look("#222222", "dashed", "triangle"),
                x=LENGTHS,
                y=[8 * y for y in ys],
                hollow=[length == 1024 for length in LENGTHS],
                at=at,
            ),
            Series("bound", "bound", RED, LENGTHS, [99 * y for y in ys], shown=False, at=at),
        ]
    guide = Series("guide", "1/L", Look("#777777", "dashed"), LENGTHS, [1 / n for n in LENGTHS])
    shares = [0.5, 0.6, 0.7, 0.8, 0.9]
    boxes = {
        name: [share + step for share in shares]
        for name, step in (("minimum", -0.2), ("q25", -0.1), ("median", 0), ("q75", 0.05))
    } | {"maximum": [1.0] * 5}
    share = Series("share", "share N_s/N", BLUE, LENGTHS, shares, boxes=boxes)
    above = Series("above", "above", Look("#CC79A7", "dotted"), LENGTHS, [1.0] * 5)
    other = Series(
        "expected", "expected", RED, LENGTHS, [0.3] * 5, filled_to="above", at={"text": "prose"}
    )
    axis = Axis("L, tokens in the window", "L", log=True, can_log=True)
    return Figure(
        name="lines",
        title="Lines over L",
        panels=(
            Panel(
                "Distance",
                axis,
                Axis("mean over heads", log=True, can_log=True, floor=1e-3),
                (*series, guide),
                (Mark("y", (2.0,), "two"), Mark("x", (300.0,), "three hundred")),
            ),
            Panel(
                "Share",
                axis,
                Axis("N_s/N", low=0.0, high=1.25),
                (share, other, above),
                (
                    Mark("y band", (0.7, 0.85), "the paper's", in_legend=True),
                    Mark("x band", (100.0, 200.0)),
                    Mark("words", (200.0, 0.5), "here"),
                ),
            ),
        ),
        switches=(TEXT, RULE, SIZE),
        caption=(
            Sentence("Means over heads."),
            *(Sentence(f"On {text}.", {"text": text}) for text in ("prose", "code <b>")),
        ),
    )


def points() -> Figure:
    """Points of a plane with names, in two panels with one legend, and a panel without any."""
    names = [SCRIPT, " the", None]
    kinds = (
        Series(
            "inside",
            "inside",
            Look("#0072B2", "none", "circle"),
            [0.1, 0.4, 0.9],
            [0.2, -0.5, 0.1],
            names=names,
            facts={"weight": [0.5, 0.25, None]},
        ),
        Series("rest", "rest", Look("#777777", "none", "dot"), [-1.0], [1.0]),
    )
    plane = Axis("x"), Axis("y")
    ring = Mark("circle", (0.0, 0.0, 1.0))
    return Figure(
        name="points",
        title="Points",
        panels=(
            Panel("Vectors", *plane, kinds, (ring,), equal=True),
            Panel("Near", *plane, kinds[:1], equal=True),
            Panel("Nothing", *plane, empty="nothing was seen"),
        ),
        columns=3,
    )


def cells() -> Figure:
    """A heat map for each of two schemes; one was made for both sizes."""
    times, betas = ("0", "1", "2"), ("8", "4")
    sizes = {"pre_ln": ("8", "128"), "ngpt": ("8",)}
    maps = tuple(
        HeatMap(
            "Pairs together",
            Axis("time", "t"),
            Axis("β", "β"),
            times,
            betas,
            [[0.0, 0.25, int(size) / 128], [0.5, 0.75, None]],
            "probability",
            absent=((1, 2),),
            contour=0.5,
            at={"scheme": scheme, "dim": size},
        )
        for scheme in sizes
        for size in sizes[scheme]
    )
    switches = (
        Switch("scheme", "Scheme", (("pre_ln", "Pre-LN"), ("ngpt", "nGPT"))),
        Switch("dim", "Size", (("8", "d = 8"), ("128", "d = 128"))),
    )
    return Figure("cells", "Phase diagram", maps, switches=switches)


def lone() -> Figure:
    """A line at one setting of the switch, a point at the other."""
    rules = Switch("measured", "Measured", (("all", "at every L"), ("last", "at the longest L")))
    series = tuple(
        Series("d", "d", BLUE, xs, [1.0] * len(xs), at={"measured": name})
        for name, xs in (("all", LENGTHS), ("last", LENGTHS[-1:]))
    )
    panel = Panel("Alone", Axis("L, tokens", "L"), Axis("N_s/N"), series)
    return Figure("lone", "One point", (panel,), switches=(rules,))
