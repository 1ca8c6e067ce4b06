"""Where a number becomes a verdict, and what to do about it: one table.

A threshold on a curve belongs to one choice of vectors, their length, the keys and N: what is low
for value vectors at N = 16 says nothing about embeddings at N = 64. docs/verdicts.md has the
distributions behind the calibrated values, and what the published cuts would have named.

A remedy is words for people and, where a trained model can be given it as it is, what to try:
`headgauge remedy` tries it. `threshold_file` reads what a user changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import polars as pl

from headgauge.errors import InputError
from headgauge.registry.published import PLATEAU, printed
from headgauge.runs.columns import Keys, Scale, Vectors

# The order in which a head's verdicts are told.
VERDICTS = ("saturated", "diffuse", "idle sink", "broadcast sink", "unstable", "inactive")
# Said of a head and not held against it: it tells nothing of what the head is worth.
DESCRIBES = ("saturated",)
HEALTHY = "healthy"
INCOMPLETE = "incomplete"

# The largest value a measure can take, where it has one.
_SHARES = (
    *("separability", "rest_entropy_share", "idle_weight", "local_mass"),
    *("previous_mass", "long_mass", "induction_score", "duplicate_score"),
)
LIMITS = {**dict.fromkeys(_SHARES, 1.0), "jacobian_norm": 0.5}

WORDS = {"vectors": get_args(Vectors), "scale": get_args(Scale), "keys": get_args(Keys)}
# What picks the rows of the curves that a measure is taken from.
CHOICE = {"top_n": pl.Int64, **dict.fromkeys(WORDS, pl.String)}


# What can be tried on a trained head beside rules: its mean in place of its output.
MEAN = "mean"


@dataclass(frozen=True)
class Threshold:
    """A verdict holds where the measure lies strictly above, or below, the value.

    `tries` has what of the remedy needs no training, each as a list of candidates: rules as they
    are written on the command line, or `MEAN`. Of several candidates the one with the smallest loss
    on some windows is judged on others; the lists are fixed here, before any run. `untried` says
    what of the remedy cannot be tried so, and why.
    """

    verdict: str
    measure: str
    direction: Literal["above", "below"]
    value: float
    source: str
    remedy: str
    top_n: int | None = None  # this and the rest only where the measure is a curve
    vectors: str | None = None
    scale: str | None = None
    keys: str | None = None
    tries: tuple[tuple[str, ...], ...] = ()
    untried: str = ""

    @property
    def name(self) -> str:
        return f"{self.verdict}.{self.measure}"

    @property
    def choice(self) -> dict[str, Any]:
        """The columns of the curves that it belongs to; empty for a measure that needs no N."""
        return {} if self.top_n is None else {name: getattr(self, name) for name in CHOICE}

    @property
    def what(self) -> str:
        """The measure in words: "separability at N = 16 (value, unit, visible)"."""
        if self.top_n is None:
            return self.measure
        return f"{self.measure} at N = {self.top_n} ({self.vectors}, {self.scale}, {self.keys})"


_WARMER = ("softmax:temperature=1.1", "softmax:temperature=1.3", "softmax:temperature=2")
DEFAULT = (
    Threshold(
        "saturated",
        "separability",
        "below",
        0.5,
        "calibrated: fewer than half of the selected tokens are separable (arXiv 2508.17821 "
        f"calls {printed(PLATEAU[1])} and less saturated, which names nearly every head); tested: "
        "tells nothing of what a head is worth on one model, undecided on another",
        "Let it select fewer tokens, when training: top-k or a sparse rule (sparsemax, entmax) at "
        "the largest N whose N_s/N is still above the threshold. Tried on the default model as it "
        "is: top-k rids no head of the verdict, entmax some, at .01 to .04 nats.",
        top_n=16,
        vectors="value",
        scale="unit",
        keys="off_sink",
        tries=(
            ("topk:k=64", "topk:k=32", "topk:k=16"),
            ("entmax:alpha=1.1", "entmax:alpha=1.25", "entmax:alpha=1.5"),
        ),
    ),
    Threshold(
        "diffuse",
        "rest_entropy_share",
        "above",
        0.65,
        "calibrated: what is not on the sink is as flat as equal weights on n^0.65 of n keys; "
        "tested: worth less than others of their layer on one model, undecided on another",
        "Sharpen it with the length, when training: ssmax or another log-length scale, or a sparse "
        "rule (entmax, sparsemax); leave it if it is meant to average. In the default model as it "
        "is, these do harm if anything: up to .10 nats, ssmax without sharpening them.",
        tries=(
            ("softmax:temperature=0.9", "softmax:temperature=0.75", "softmax:temperature=0.5"),
            ("ssmax:s=0.18", "ssmax:s=0.22", "ssmax:s=0.3"),
            ("entmax:alpha=1.1", "entmax:alpha=1.25", "entmax:alpha=1.5"),
        ),
    ),
    Threshold(
        "idle sink",
        "idle_weight",
        "above",
        0.3,
        "arXiv 2410.10781's line for the weight on the first token, of weight that does nothing; "
        "tested: worth less than others of their layer on one model, undecided on another",
        "It rests, but not always: taking all of them out does harm (.7 to 1.8 nats on the default "
        "model). Keep the first token in the cache; when training, let it be silent by other "
        "means: a gate on its output, or softmax_one, which changes nothing in a model as it is.",
        tries=(("softmax_one",), (MEAN,)),
        untried="a gate is learned when the model is trained",
    ),
    Threshold(
        "broadcast sink",
        "sink_carry",
        "above",
        0.2,
        "calibrated: the first token adds a fifth of a usual value's length to every row; tested: "
        "undecided",
        "Never drop the first token from the cache; when training, give the model registers to "
        "say this in.",
        untried="registers are learned when the model is trained, and keeping the first token in "
        "the cache changes nothing here",
    ),
    Threshold(
        "unstable",
        "max_logit",
        "above",
        100.0,
        "Kimi K2, QK-clip",
        "Bound the logits: QK-norm or QK-clip, and no temperature of .1 or less.",
        tries=(_WARMER,),
        untried="QK-norm and QK-clip are parts of training",
    ),
    Threshold(
        "unstable",
        "jacobian_norm",
        "above",
        0.3,
        "calibrated: 60 % of the limit 1/2; the top 3 % of the default model's heads; tested: "
        "worth more than others of their layer, if anything, on two models",
        "Raise its temperature or bound its logits (QK-norm, QK-clip), and do not quantise its "
        "queries and keys coarsely. Tried on the default model: T = 1.1 costs nothing that could "
        "be told and rids a quarter of them of the verdict.",
        tries=(_WARMER,),
        untried="QK-norm and QK-clip are parts of training",
    ),
    Threshold(
        "inactive",
        "output_ratio",
        "below",
        0.68,
        "inactive-heads: the upper end of the published .44 to .68; tested: worth less than others "
        "of their layer on one model, too few to tell on another",
        "Take it out on your own task: if nothing is lost prune it, else leave it alone. Taking "
        "all out at once does harm on the default model: .09 to .15 nats, random heads .6.",
        tries=((MEAN,),),
    ),
)


# What a head does: the first of these that its number is beyond (`roles`). The remedy's place has
# what it means.
ROLE_LINES = (
    Threshold(
        "induction",
        "induction_score",
        "above",
        0.3,
        "calibrated: of the weight on repeated random tokens",
        "Looks at what followed the same token before (arXiv 2209.11895).",
    ),
    Threshold(
        "duplicate",
        "duplicate_score",
        "above",
        0.3,
        "calibrated: of the weight on repeated random tokens",
        "Looks at the same token before (arXiv 2211.00593).",
    ),
    Threshold(
        "previous-token",
        "previous_mass",
        "above",
        0.4,
        "calibrated: more than on any other one token",
        "Looks at the token before: the first half of an induction circuit.",
    ),
    Threshold(
        "sink-broadcast",
        "sink_carry",
        "above",
        0.2,
        "calibrated: a fifth of a usual value's length",
        "Writes what the first token's value says into every row.",
    ),
    Threshold(
        "sink-idle",
        "idle_weight",
        "above",
        0.3,
        "as of the verdict",
        "Rests on the first token, whose value is short.",
    ),
    Threshold(
        "local",
        "local_mass",
        "above",
        0.6,
        "calibrated: more than on all else",
        "Looks at the last 16 tokens.",
    ),
    Threshold(
        "long-range",
        "long_mass",
        "above",
        0.25,
        "calibrated: a quarter of the weight of the rows that reach so far",
        "Looks 256 tokens back and more.",
    ),
)
MIXED = "mixed"
ROLES = (*(line.verdict for line in ROLE_LINES), MIXED)


def threshold_table(thresholds: Sequence[Threshold]) -> pl.DataFrame:
    """One row per threshold, numbered by `place`; its value is the column `threshold`."""
    if not thresholds:
        raise InputError("no thresholds, so nothing can be judged: give at least one")
    own = [name for name in vars(thresholds[0]) if name not in ("tries", "untried")]
    rows = [
        {name: getattr(each, name) for name in own} | {"place": i, "what": each.what}
        for i, each in enumerate(thresholds)
    ]
    found = pl.DataFrame(rows, schema_overrides={"value": pl.Float64, **CHOICE})
    return found.rename({"value": "threshold"})


def beyond(number: str) -> pl.Expr:
    """Whether a column lies on the side of its row's threshold where the verdict holds."""
    value, cut = pl.col(number), pl.col("threshold")
    return pl.when(pl.col("direction") == "above").then(value > cut).otherwise(value < cut)
