"""What verdicts, schemes, rules and choices are called, and how each is told apart."""

from collections.abc import Collection, Iterable, Sequence
from itertools import count

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
    saturated=Entry(letter="A", style="yellow", look=Look(ORANGE)),
    diffuse=Entry(letter="D", style="cyan", look=Look(SKY)),
    **{
        "idle sink": Entry(letter="S", style="blue", look=Look(BLUE)),
        "broadcast sink": Entry(letter="B", style="green", look=Look("#117733")),
    },
    unstable=Entry(letter="U", style="bold red", look=Look(RED)),
    inactive=Entry(letter="I", style="magenta", look=Look(PURPLE)),
    incomplete=Entry(letter="?", style="dim", look=Look("#BDBDBD")),
    healthy=Entry(style="green", look=Look("#F4F4F4")),
)
# What a head does, in the order in which it is asked.
ROLES = by_name(
    **{
        "induction": Entry(letter="I", style="red", look=Look(RED)),
        "duplicate": Entry(letter="D", style="yellow", look=Look(ORANGE)),
        "previous-token": Entry(letter="P", style="blue", look=Look(BLUE)),
        "sink-broadcast": Entry(letter="B", style="green", look=Look("#117733")),
        "sink-idle": Entry(letter="S", style="dim", look=Look("#BDBDBD")),
        "local": Entry(letter="L", style="cyan", look=Look(SKY)),
        "long-range": Entry(letter="F", style="magenta", look=Look(PURPLE)),
        "mixed": Entry(look=Look("#F4F4F4")),
    }
)


# Where heads are shown by what became of them, one of which nothing did.
UNCHANGED = "unchanged"
CHANGES = by_name(**{UNCHANGED: Entry(look=Look("#F4F4F4"))})


def mark(name: str) -> Entry:
    """A verdict or a role, or that it did not change: its letter and its colours."""
    known = VERDICTS.get(name) or ROLES.get(name) or CHANGES.get(name)
    return known or Entry(name, name=name, letter="*", style="bold", look=Look(GREEN))


# In the order of every legend and table; the baseline, which nothing regulates, is grey and broken.
SCHEMES = by_name(
    post_ln=Entry("Post-LN", look=Look(RED, "solid", "circle")),
    pre_ln=Entry("Pre-LN", look=Look(BLUE, "dashed", "square")),
    mix_ln=Entry("Mix-LN", look=Look(PURPLE, "dashdot", "diamond")),
    peri_ln=Entry("Peri-LN", look=Look(GREEN, "longdash", "triangle")),
    ngpt=Entry("nGPT", look=Look(ORANGE, "dashdotdot", "hexagon")),
    ln_scaling=Entry("LN-Scaling", look=Look(SKY, "dotted", "plus")),
    ln_scaling_pre=Entry("LN-Scaling (Pre-LN)", look=Look(BLACK, "dotted", "star")),
    unnormalised=Entry(look=Look(GREY, "dashed", "cross")),
)
BASELINE = "unnormalised"


# Of a simulated swarm.
WEIGHTS = {
    "identity": "Q = K = V = I",
    "random": "random Q, K, V",
    "layers": "new Q, K, V per unit of time",
}


def scheme(name: str) -> Entry:
    return SCHEMES.get(name) or Entry(name, name=name, look=Look(GREY))


# What must be known of a rule to read its lines: it was put on logits that were not trained for it.
RULE_NOTES = {
    "ssmax": "ssmax has s = 1, so it multiplies the logits by log n: 6.9 at n = 1024 keys",
    "ssmax from n=256": "ssmax from n=256 has s = 1/log 256, so it equals softmax at n = 256 keys",
}
_FOR_COSINES = "lssa and lssar are made for cosines, and get the model's logits here"
_NOTES_BY_NAME = {"lssa": _FOR_COSINES, "lssar": _FOR_COSINES}  # whatever their parameters
MODEL = "model"  # the rule that is the model's own
# Where in the cycle of looks the usual rules of a reproduction stand: the same in all its figures.
_RULE_PLACES = {"1.5-entmax": 0, "softmax T=0.5": 3, "softmax T=2": 4, "sparsemax": 5, "ssmax": 6}
# Those of the guidelines, which only some figures show, stay theirs also where they are not shown.
_KEPT_PLACES = {"softmax T=0.01": 1, "softmax T=0.1": 2, "ssmax from n=256": 7}
_RULE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY, GREY)
_RULE_LINES: tuple[LineStyle, ...] = ("dashed", "dashdot", "dotted", "dashdotdot", "longdash")
_RULE_MARKERS: tuple[Shape, ...] = (
    *("square", "triangle", "down", "diamond", "plus", "cross", "hexagon", "star", "circle"),
)


def rules(names: Sequence[str]) -> dict[str, Entry]:
    """The model's own weights in black first; every other rule its own colour, line and marker.

    Rules without a place of their own take the free ones, in the order given.
    """
    usual = _KEPT_PLACES | {name: at for name, at in _RULE_PLACES.items() if name in names}
    free = (place for place in count() if place not in usual.values())
    entries = {}
    if MODEL in names:
        entries[MODEL] = Entry("the model's own", look=Look(BLACK, "solid", "circle"))
    for name in (name for name in names if name != MODEL):
        place = usual[name] if name in usual else next(free)
        colour = _RULE_COLOURS[place % len(_RULE_COLOURS)]
        line = _RULE_LINES[place % len(_RULE_LINES)]
        entries[name] = Entry(look=Look(colour, line, _RULE_MARKERS[place % len(_RULE_MARKERS)]))
    return by_name(**entries)


def rule_notes(names: Iterable[str]) -> list[str]:
    """What must be known of these rules, each said once."""
    found = [RULE_NOTES.get(name) or _NOTES_BY_NAME.get(name.partition(":")[0]) for name in names]
    return list(dict.fromkeys(filter(None, found)))


def head_name(layer: int, occurrence: int, head: int) -> str:
    """L18H7, and L18H7-call-2 where a shared module is called again: to say, and to link to."""
    return f"L{layer}H{head}" + f"-call-{occurrence + 1}" * bool(occurrence)


def listed(parts: Sequence[str]) -> str:
    """One, two and three."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


# A choice of vectors and keys, which the paper leaves open.
USUAL = ("value", "unit", "visible")
VECTORS = by_name(
    value=Entry(explanation="what the head mixes", look=Look(BLUE, "none", "square")),
    hidden=Entry(explanation="the layer's input", look=Look(ORANGE, "none", "diamond")),
    embedding=Entry(explanation="the model's input", look=Look(PURPLE, "none", "triangle")),
    final=Entry(explanation="the last layer's output", look=Look(GREEN, "none", "circle")),
)
CHOICES = {
    "vectors": VECTORS,
    "scale": by_name(unit=Entry(explanation="brought to 1"), raw=Entry(explanation="as it is")),
    "keys": by_name(
        visible=Entry("visible to the query"),
        all=Entry("all of the window"),
        off_sink=Entry("visible but for the first"),
    ),
    "rule": by_name(**{MODEL: Entry("the model's own")}),
    "logits": by_name(scaled=Entry("scaled by 1/√d"), raw=Entry(explanation="q·k")),
}
# Of the switches that all figures share; what matters most stands first.
CHOICE_TITLES = {
    "text": "Text",
    "vectors": "Vectors",
    "keys": "Keys",
    "rule": "Rule",
    "scale": "Length of vectors",
}


def choice_meaning(column: str) -> str:
    """What a column that names a choice may hold, each word with what it means."""
    words = [
        f'"{name}" ({each.explanation or each.title})' for name, each in CHOICES[column].items()
    ]
    return f"{CHOICE_TITLES.get(column, column.capitalize())}: {', '.join(words)}"


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
