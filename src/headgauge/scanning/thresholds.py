"""Where a number becomes a verdict: one table, and a TOML file that may change it.

A threshold on a curve belongs to one choice of vectors, their length, the keys and N: what is low
for value vectors at N = 16 says nothing about embeddings at N = 64. docs/verdicts.md has the
distributions behind the calibrated values, and what the published cuts would have named.

    # my-thresholds.toml changes two and leaves the rest
    ["idle sink".idle_weight]
    value = 0.5
    [saturated.separability]
    value = 0.4
    top_n = 8
"""

import reprlib
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from headgauge.errors import LARGEST, InputError
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

_WORDS = {"vectors": get_args(Vectors), "scale": get_args(Scale), "keys": get_args(Keys)}
# What picks the rows of the curves that a measure is taken from.
CHOICE = {"top_n": pl.Int64, **dict.fromkeys(_WORDS, pl.String)}


@dataclass(frozen=True)
class Threshold:
    """A verdict holds where the measure lies strictly above, or below, the value."""

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


DEFAULT = (
    Threshold(
        "saturated",
        "separability",
        "below",
        0.5,
        "calibrated: fewer than half of the selected tokens are separable (arXiv 2508.17821 "
        f"calls {printed(PLATEAU[1])} and less saturated, which names nearly every head); tested: "
        "tells nothing of what a head is worth on one model, undecided on another",
        "Let it select fewer tokens: top-k or a sparse rule (sparsemax, entmax) at the largest N "
        "whose N_s/N is still above the threshold.",
        top_n=16,
        vectors="value",
        scale="unit",
        keys="off_sink",
    ),
    Threshold(
        "diffuse",
        "rest_entropy_share",
        "above",
        0.65,
        "calibrated: what is not on the sink is as flat as equal weights on n^0.65 of n keys; "
        "tested: worth less than others of their layer on one model, undecided on another",
        "Sharpen it with the length: ssmax or another log-length scale, or a sparse rule "
        "(entmax, sparsemax); leave it if it is meant to average.",
    ),
    Threshold(
        "idle sink",
        "idle_weight",
        "above",
        0.3,
        "arXiv 2410.10781's line for the weight on the first token, of weight that does nothing; "
        "tested: worth less than others of their layer on one model, undecided on another",
        "It rests. Keep the first token in the cache; when training, let it be silent by other "
        "means: a gate on its output, or softmax_one.",
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
    ),
    Threshold(
        "unstable",
        "max_logit",
        "above",
        100.0,
        "Kimi K2, QK-clip",
        "Bound the logits: QK-norm or QK-clip, and no temperature of .1 or less.",
    ),
    Threshold(
        "unstable",
        "jacobian_norm",
        "above",
        0.3,
        "calibrated: 60 % of the limit 1/2; the top 3 % of the default model's heads; tested: "
        "worth more than others of their layer, if anything, on two models",
        "Raise its temperature or bound its logits (QK-norm, QK-clip), and do not quantise its "
        "queries and keys coarsely.",
    ),
    Threshold(
        "inactive",
        "output_ratio",
        "below",
        0.68,
        "inactive-heads: the upper end of the published .44 to .68; tested: worth less than others "
        "of their layer on one model, too few to tell on another",
        "Zero it on your own task: if nothing is lost prune it, else leave it alone.",
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
    rows = [vars(each) | {"place": i, "what": each.what} for i, each in enumerate(thresholds)]
    found = pl.DataFrame(rows, schema_overrides={"value": pl.Float64, **CHOICE})
    return found.rename({"value": "threshold"})


def beyond(number: str) -> pl.Expr:
    """Whether a column lies on the side of its row's threshold where the verdict holds."""
    value, cut = pl.col(number), pl.col("threshold")
    return pl.when(pl.col("direction") == "above").then(value > cut).otherwise(value < cut)


def read_thresholds(path: str | Path) -> tuple[Threshold, ...]:
    """The default table, roles behind verdicts, with the changes of a TOML file, whose name becomes
    their source."""
    file = Path(path)
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the thresholds {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # no text, no TOML, endless digits or brackets
        raise InputError(f"{path} is no TOML file: {error}") from None
    read = {threshold.name: threshold for threshold in (*DEFAULT, *ROLE_LINES)}
    for verdict, measures in tables.items():
        for measure, given in _table(measures, verdict, path).items():
            name = f"{verdict}.{measure}"
            if name not in read:
                raise InputError(f"{path}: no threshold {name!r}, only {', '.join(read)}")
            change = _table(given, name, path)
            for key, value in change.items():
                _check(read[name], key, value, file.name)
            number = float(change.get("value", read[name].value))
            read[name] = replace(read[name], **change | {"value": number}, source=file.name)
    return tuple(read.values())


def _table(value: Any, name: str, path: str | Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(
            f"{path}: {name} must be a table like [diffuse.rest_entropy_share] with value = 0.8, "
            f"got {reprlib.repr(value)}"
        )
    return value


def _check(threshold: Threshold, key: str, value: Any, file: str) -> None:
    where, got = f"{file}: {key} of {threshold.name}", f"got {reprlib.repr(value)}"
    allowed = ("value", *threshold.choice)
    if key not in allowed:
        raise InputError(f"{where} cannot be set, only {', '.join(allowed)}")
    if key == "value":
        limit = LIMITS.get(threshold.measure, sys.float_info.max)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and 0 < value < limit):
            bounds = f"between 0 and {limit:g}" if limit <= 1 else "above 0"
            raise InputError(f"{where} must be a number {bounds}, {got}")
    elif key == "top_n":
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
            raise InputError(f"{where} must be a whole number from 1 on, {got}")
    elif value not in _WORDS[key]:
        raise InputError(f"{where} must be one of {', '.join(_WORDS[key])}, {got}")
