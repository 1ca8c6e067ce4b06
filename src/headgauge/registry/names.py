"""What verdicts, schemes, rules and choices are called, and how each is told apart."""

from collections.abc import Collection
from itertools import cycle

from headgauge.registry.entry import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Entry,
    LineStyle,
    Look,
    Shape,
    by_name,
)

VERDICTS = by_name(
    Entry("saturated", "saturated", letter="A", style="yellow", look=Look(ORANGE)),
    Entry("diffuse", "diffuse", letter="D", style="cyan", look=Look(SKY)),
    Entry("sink", "sink", letter="S", style="blue", look=Look(BLUE)),
    Entry("unstable", "unstable", letter="U", style="bold red", look=Look(RED)),
    Entry("inactive", "inactive", letter="I", style="magenta", look=Look(PURPLE)),
    Entry("incomplete", "incomplete", letter="?", style="dim", look=Look("#BDBDBD")),
    Entry("healthy", "healthy", style="green", look=Look("#F4F4F4")),
)


def verdict(name: str) -> Entry:
    return VERDICTS.get(name) or Entry(name, name, letter="*", style="bold", look=Look(GREEN))


# In the order of every legend and table; the baseline, which nothing regulates, is grey and broken.
SCHEMES = by_name(
    Entry("post_ln", "Post-LN", look=Look(RED, "solid", "circle")),
    Entry("pre_ln", "Pre-LN", look=Look(BLUE, "dashed", "square")),
    Entry("mix_ln", "Mix-LN", look=Look(PURPLE, "dashdot", "diamond")),
    Entry("peri_ln", "Peri-LN", look=Look(GREEN, "longdash", "triangle")),
    Entry("ngpt", "nGPT", look=Look(ORANGE, "dashdotdot", "hexagon")),
    Entry("ln_scaling", "LN-Scaling", look=Look(SKY, "dotted", "plus")),
    Entry("ln_scaling_pre", "LN-Scaling (Pre-LN)", look=Look(BLACK, "dotted", "star")),
    Entry("unnormalised", "unnormalised", look=Look(GREY, "dashed", "cross")),
)
BASELINE = "unnormalised"


def scheme(name: str) -> Entry:
    return SCHEMES.get(name) or Entry(name, name, look=Look(GREY))


# What must be known of a rule to read its lines: it was put on logits that were not trained for it.
RULE_NOTES = {
    "ssmax": "ssmax has s = 1, so it multiplies the logits by log n: 6.9 at n = 1024 keys",
    "ssmax from n=256": "ssmax from n=256 has s = 1/log 256, so it equals softmax at n = 256 keys",
}
MODEL = "model"  # the rule that is the model's own
_RULE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY, GREY)
_RULE_LINES: tuple[LineStyle, ...] = ("dashed", "dashdot", "dotted", "dashdotdot", "longdash")
_RULE_MARKERS: tuple[Shape, ...] = (
    *("square", "triangle", "down", "diamond", "plus", "cross", "hexagon", "star", "circle"),
)


def rules(names: list[str]) -> dict[str, Entry]:
    """The model's own weights in black first; every other rule its own colour, line and marker."""
    own = [Entry(MODEL, "the model's own", look=Look(BLACK, "solid", "circle"))]
    looks = map(Look, cycle(_RULE_COLOURS), cycle(_RULE_LINES), cycle(_RULE_MARKERS))
    others = zip((name for name in names if name != MODEL), looks, strict=False)
    return by_name(
        *(own if MODEL in names else ()),
        *(
            Entry(name, name, explanation=RULE_NOTES.get(name, ""), look=look)
            for name, look in others
        ),
    )


# A choice of vectors and keys, which the paper leaves open.
USUAL = ("value", "unit", "visible")
VECTORS = by_name(
    Entry("value", "value", explanation="what the head mixes", look=Look(BLUE, "none", "square")),
    Entry(
        "hidden", "hidden", explanation="the layer's input", look=Look(ORANGE, "none", "diamond")
    ),
    Entry(
        "embedding",
        "embedding",
        explanation="the model's input",
        look=Look(PURPLE, "none", "triangle"),
    ),
    Entry(
        "final", "final", explanation="the last layer's output", look=Look(GREEN, "none", "circle")
    ),
)
CHOICES = {
    "vectors": VECTORS,
    "scale": by_name(Entry("unit", "unit"), Entry("raw", "raw")),
    "keys": by_name(Entry("visible", "visible to the query"), Entry("all", "all of the window")),
    "rule": by_name(Entry(MODEL, "the model's own")),
    "logits": by_name(Entry("scaled", "scaled by 1/√d"), Entry("raw", "raw")),
}
# Of the switches that all figures share; what matters most stands first.
CHOICE_TITLES = {
    "text": "Text",
    "vectors": "Vectors",
    "keys": "Keys",
    "rule": "Rule",
    "scale": "Length of vectors",
}


def choice_words(choice: tuple[str, ...]) -> str:
    if not choice:
        return "no choice of vectors was measured"
    vectors, scale, keys = choice
    return f"{vectors} vectors of {scale} length, {keys} keys"


def text_role(text: str, texts: int, chosen_on: str | None) -> str:
    """What a text of a reproduction is there for: vectors and keys are chosen on one of several."""
    if texts < 2 or chosen_on is None:
        return ""
    return "for choosing" if text == chosen_on else "for judging"


def text_titles(texts: Collection[str], chosen_on: str | None) -> dict[str, str]:
    """Each text with its role behind it."""
    roles = {text: text_role(text, len(texts), chosen_on) for text in texts}
    return {text: f"{text} ({role})" if role else text for text, role in roles.items()}
