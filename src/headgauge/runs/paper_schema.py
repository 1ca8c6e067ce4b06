"""What the tables of a reproduction hold, one type per figure of arXiv 2508.17821.

    paper/vanishing.parquet    VanishingRow    largest weight, mass and Corollary 1's bounds over L
    paper/fig1.parquet         PointRow        the geometry of a row: on a circle, and in the model
    paper/fig2a.parquet        FigureRow       distance over L at one N
    paper/fig2b.parquet        FigureRow       distance over N at one L
    paper/fig2c.parquet        CriticalRow     the critical N by the Kolmogorov–Smirnov test
    paper/fig2c_growth.parquet GrowthRow       how it grows with L
    paper/fig2c_tests.parquet  KsTestRow       every single test behind it
    paper/fig3.parquet         FigureRow       separability over N
    paper/fig4.parquet         SensitivityFigureRow  the finite-difference sensitivity over T
    paper/coverage.parquet     CoverageRow     what several heads separate of one set of tokens
    paper/vectors.parquet      VectorRow       how isotropic the vectors are and how far apart
    paper/signs.parquet        SignRow         what goes with a head's separability
    paper/gains.parquet        GainRow         what a colder or length-aware rule changes
    paper/choices.parquet      ChoiceRow       what depends on the choice of vectors and keys
    paper/readings.parquet     ReadingRow      one row per text and claim: what was seen there
    paper/verdicts.parquet     PaperVerdictRow one row per claim: the verdict over all texts

`vectors`, `scale`, `keys` and `rule` name a choice, as in `PaperCurveRow`. Intervals are null with
a single window. Columns may be null where a number does not exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from headgauge.runs.columns import Expected, Keys, Logits, Panel, Part, Place, Scale, Size, Vectors
from headgauge.runs.schema import frame_schema


@dataclass(frozen=True)
class _ForChoice:
    text: str
    vectors: Vectors
    scale: Scale
    keys: Keys


@dataclass(frozen=True)
class _UnderRule(_ForChoice):
    rule: str


@dataclass(frozen=True)
class PointRow:
    """A key of one query row: its vector, its weighted vector, and whether it is separable.

    In the panel "model" both are seen in a plane: one axis is the direction of s, the other the one
    along which the weighted vectors spread most. There `scaled` points lie at their true distance
    from s; only the angle is projected.
    """

    text: str
    panel: Panel  # "circle" or "model"
    layer: int | None
    head: int | None
    row: int | None
    top_n: int
    key: int
    token: str | None
    weight: float
    x: Place  # x_i
    y: Place
    scaled_x: Place  # α_i x_i
    scaled_y: Place
    selected: bool  # among the top N
    inside: bool  # selected and ‖α_i x_i − s‖ ≤ r
    s_x: Place  # s, the same in every row of a panel
    s_y: Place
    radius: Place  # r, likewise


@dataclass(frozen=True)
class FigureRow(_UnderRule):
    """A measure at one L and N: its mean over heads and windows, and how the heads spread."""

    length: int  # L
    top_n: int
    measure: str  # a column of CurveRow
    mean: float | None  # over windows of the mean over heads
    low: float | None  # 95 % bootstrap interval of it over windows
    high: float | None
    minimum: float | None  # over heads, each head's mean over windows
    q25: float | None
    median: float | None
    q75: float | None
    maximum: float | None
    heads: int
    windows: int
    rows: float  # query rows behind a head's number, mean over windows and heads


@dataclass(frozen=True)
class CriticalRow(_UnderRule):
    """The first N at which the test no longer tells distance and expectation apart."""

    length: int
    expected: Expected  # "printed" (false), "appendix" (eq. 24), "upper" (above the true one)
    level: float  # of the test: 0.01 in the text, 0.05 in Algorithm 3
    critical_n: Size | None  # None: none among those tried
    share: float | None  # critical_n / L
    low: int | None  # 95 % bootstrap interval over heads; null where N was not found
    high: int | None  # and where too many draws have no critical N to give the upper end
    found: float | None  # share of the bootstrap draws in which there was a critical N
    few_heads: int | None  # with as many heads as GPT-2 has, drawn at random: the middle draw
    few_low: int | None  # the middle 95 % of those draws; null where a draw has none
    few_high: int | None
    few_found: float | None  # share of those draws in which there was a critical N
    window_low: int | None  # the smallest and the largest over the windows, where all have one
    window_high: int | None
    tried: int  # the largest N tried
    sampled_from: int | None  # the first N for which only part of the other N's rows were measured
    heads: int
    windows: int  # behind window_low and window_high; all else is of the first
    rows: float  # query rows behind a head's number at the smallest N


@dataclass(frozen=True)
class GrowthRow(_UnderRule):
    """The exponent of the critical N in L, which is the slope of log N over log L, draw by draw,
    with as many heads drawn at random as GPT-2 has, or all if there are fewer."""

    expected: Expected
    level: float
    exponent: float | None  # the middle draw; None: most draws lack a critical N at some L
    low: float | None  # the middle 95 % of the draws that have one at every L
    high: float | None  # where all heads are drawn, with replacement
    found: float  # share of the draws that have one at every L
    shortest: int  # L from here
    longest: int  # to here
    heads: int  # drawn


@dataclass(frozen=True)
class KsTestRow(_UnderRule):
    """One test: per-head mean distances against per-head mean expectations."""

    length: int
    expected: Expected
    top_n: int
    distance: float  # mean over heads
    expectation: float
    statistic: float
    p_value: float


@dataclass(frozen=True)
class SensitivityFigureRow:
    """g(T, ε) at one temperature, or a bound on it.

    Rows whose direction ends in "bound" have a `maximum` only.
    """

    text: str
    logits: Logits
    direction: str  # "random", "worst", "exact", "random under sparsemax", "printed bound", …
    epsilon: float | None  # None: the limit ε → 0
    temperature: float
    maximum: float  # over heads of the mean over rows: what the paper plots
    low: float | None  # 95 % interval of it, from the spread over the rows drawn
    high: float | None
    mean: float | None  # over heads
    layer: int | None  # of the largest
    head: int | None
    heads: int | None
    rows: int | None  # query rows drawn per head


@dataclass(frozen=True)
class ChoiceRow(_ForChoice):
    """One choice of vectors, their length and keys, beside the paper's numbers."""

    critical_n: Size | None  # printed expectation at level .01, longest L, heads as many as GPT-2's
    critical_share: Part | None
    critical_n_corrected: Size | None  # eq. 24
    separability_at_16: float | None  # mean over heads
    plateau_low: float | None  # smallest mean over heads for N from 16 on
    plateau_high: float | None
    heads_in_band: float | None  # share of heads whose mean for N from 16 on is in the paper's band
    agrees: int  # how many of the paper's numbers that depend on the choice it meets
    off: float  # how far it is from those numbers: the lower, the closer
    closest: bool  # it meets the most of them on this text, and is the nearest of those that do
    measured: bool  # in full: the choice that the verdicts are about
    rows: float


@dataclass(frozen=True)
class VanishingRow:
    """How weights shrink with L: a measure over the heads, of query rows in the window's last
    quarter, which see nearly all of it."""

    text: str
    rule: str
    length: int  # L
    measure: str  # "largest_weight", "top_mass", "largest_off_sink", or a bound on the first
    mean: float | None  # over windows of the mean over heads; of a bound the geometric mean
    low: float | None  # 95 % bootstrap interval of it over windows
    high: float | None
    minimum: float | None  # over heads, each head's mean over windows
    q25: float | None
    median: float | None
    q75: float | None
    maximum: float | None
    heads: int
    windows: int
    rows: float


@dataclass(frozen=True)
class CoverageRow:
    """What `heads` heads of a layer separate together, of tokens that all of them are asked for:
    the N with the largest mean weight over the layer's heads."""

    text: str
    top_n: int
    heads: int  # H
    covered: float  # share of the N that at least one of H heads separates, over all sets of H
    low: float | None  # 95 % interval over the drawn rows
    high: float | None
    separable: float  # p: what one head separates
    independent: float  # what independent heads would cover: 1 − Π(1 − p), over the same sets
    formula: float  # 1 − (1 − p)^H with the mean p, as the paper has it
    layers: int
    rows: int  # query rows drawn in each layer


@dataclass(frozen=True)
class VectorRow:
    """Assumptions 1 and 2 on the vectors of a window, brought to unit length."""

    text: str  # the name of the text that the row stands on
    vectors: Vectors
    dim: int  # d
    mean_cosine: float  # of pairs of different tokens, mean over sets; uniform: 0
    mean_cosine_low: float  # the smallest and the largest set
    mean_cosine_high: float
    effective_dim: float  # (Σλ)²/Σλ² of the second-moment matrix; uniform: nearly d
    delta: float  # the smallest distance of two tokens in any set
    nearest: float  # the median distance to the nearest other token, mean over sets
    same: float  # share of the tokens that coincide with another
    sets: int  # one for the model, a layer or a KV head, as the kind has it
    tokens: int  # in a set


@dataclass(frozen=True)
class SignRow:
    """How a measure of a head goes with its separability at N = 16, over the heads of the model."""

    text: str
    sign: str  # a column of HeadRow
    correlation: float | None  # Spearman's, of the heads' means over windows
    low: float | None  # 95 %, by Fisher's transformation
    high: float | None
    heads: int


@dataclass(frozen=True)
class GainRow:
    """What one rule changes against another on the same logits, at the longest L."""

    text: str
    measure: str  # "separability" (N_s/N) or "jacobian" (its norm, mean over rows)
    rule: str
    against: str
    top_n: int | None  # N, of separability
    change: float  # separability: the difference, mean over heads and windows; jacobian: the ratio
    low: float | None  # 95 %: over windows, of the paired differences; jacobian: over the rows
    high: float | None
    heads: int
    windows: int
    rows: float


@dataclass(frozen=True)
class ReadingRow:
    """A claim of the paper on one text."""

    text: str
    claim: str
    printed: str  # ours under the printed formula
    corrected: str  # ours under the corrected one; "same" where there is none
    verdict: str  # on this text alone
    comment: str


@dataclass(frozen=True)
class PaperVerdictRow:
    """A claim of the paper, over all texts."""

    claim: str  # a short name
    where: str  # "Fig. 2a"
    statement: str
    paper: str  # the paper's number
    held: int  # judging texts on which it was seen; where a choice was made on one, without it
    texts: int  # judging texts on which it was decided
    verdict: str
    comment: str  # how the texts differ, and what the text for choosing showed


REPRODUCED = "reproduced"
PRINTED_ONLY = "reproduced only with the printed formula"
NOT_REPRODUCED = "not reproduced"
DEPENDS = "depends on the text"
UNDECIDED = "undecided"
FEW_ROWS = "too few rows to judge"
ONE_TEXT = "one text: not judged"
UNTESTABLE = "cannot be tested here"

PAPER_TABLES: dict[str, type] = {
    "vanishing": VanishingRow,
    "fig1": PointRow,
    "fig2a": FigureRow,
    "fig2b": FigureRow,
    "fig2c": CriticalRow,
    "fig2c_growth": GrowthRow,
    "fig2c_tests": KsTestRow,
    "fig3": FigureRow,
    "fig4": SensitivityFigureRow,
    "coverage": CoverageRow,
    "vectors": VectorRow,
    "signs": SignRow,
    "gains": GainRow,
    "choices": ChoiceRow,
    "readings": ReadingRow,
    "verdicts": PaperVerdictRow,
}


def paper_frame(table: str, rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """A table of a reproduction; what its rows lack is null."""
    return pl.DataFrame(rows, schema=frame_schema(PAPER_TABLES[table]))
