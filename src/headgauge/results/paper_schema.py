"""What the tables of a reproduction hold, one type per figure of arXiv 2508.17821.

    paper/fig1.parquet         PointRow        the geometry of a row: on a circle, and in the model
    paper/fig2a.parquet        FigureRow       distance over L at one N
    paper/fig2b.parquet        FigureRow       distance over N at one L
    paper/fig2c.parquet        CriticalRow     the critical N by the Kolmogorov–Smirnov test
    paper/fig2c_tests.parquet  KsTestRow         every single test behind it
    paper/fig3.parquet         FigureRow       separability over N
    paper/fig4.parquet         SensitivityFigureRow  the finite-difference sensitivity over T
    paper/choices.parquet      ChoiceRow       what hangs on the choice of vectors and keys
    paper/verdicts.parquet     PaperVerdictRow one row per claim of the paper

`vectors`, `scale`, `keys` and `rule` name a choice, as in `CurveRow`. Intervals are null with a
single window. Columns may be null where a number does not exist.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class PointRow:
    """A key of one query row: its vector, its weighted vector, and whether it is separable.

    In the panel "model" both are seen in a plane: one axis is the direction of s, the other the one
    along which the weighted vectors spread most. There `scaled` points lie at their true distance
    from s; only the angle is projected.
    """

    panel: str  # "circle" or "model"
    layer: int | None
    head: int | None
    row: int | None  # the query's place in the window
    top_n: int  # N
    key: int  # the key's place in the window
    text: str | None  # its token
    weight: float
    x: float  # x_i
    y: float
    scaled_x: float  # α_i x_i
    scaled_y: float
    selected: bool  # among the top N
    inside: bool  # selected and ‖α_i x_i − s‖ ≤ r
    s_x: float  # s, the same in every row of a panel
    s_y: float
    radius: float  # r, likewise


@dataclass(frozen=True)
class FigureRow:
    """A measure at one L and N: its mean over heads and windows, and how the heads spread."""

    vectors: str
    scale: str
    keys: str
    rule: str  # "model": the model's own weights; else the rule put on the same logits
    length: int  # L
    top_n: int  # N
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
class CriticalRow:
    """The first N at which the test no longer tells distance and expectation apart."""

    vectors: str
    scale: str
    keys: str
    rule: str
    length: int
    expected: str  # "printed" (false), "appendix" (eq. 24) or "upper" (above the true expectation)
    level: float  # of the test: 0.01 in the text, 0.05 in Algorithm 3
    critical_n: int | None  # None: none among those tried
    share: float | None  # critical_n / L
    low: int | None  # 95 % bootstrap interval over heads; null where N was not found, and
    high: int | None  # where too many draws have no critical N to give the upper end
    found: float | None  # share of the bootstrap draws in which there was a critical N
    few_heads: int | None  # the critical N with 144 heads drawn at random, as many as GPT-2 has
    window_low: int | None  # the smallest and the largest over the windows, where all have one
    window_high: int | None
    tried: int  # the largest N tried
    sampled_from: int | None  # the first N for which only part of the other N's rows were measured
    heads: int
    windows: int  # behind window_low and window_high; all else is of the first
    rows: float  # query rows behind a head's number at the smallest N


@dataclass(frozen=True)
class KsTestRow:
    """One test: per-head mean distances against per-head mean expectations."""

    vectors: str
    scale: str
    keys: str
    rule: str
    length: int
    expected: str
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

    logits: str  # "scaled" (by 1/√d, as the model does) or "raw"
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
class ChoiceRow:
    """One choice of vectors, their length and keys, beside the paper's numbers."""

    vectors: str
    scale: str
    keys: str
    critical_n: int | None  # printed expectation, level .01, longest L
    critical_share: float | None
    critical_n_corrected: int | None  # eq. 24
    separability_at_16: float | None  # mean over heads
    plateau_low: float | None  # smallest mean over heads for N from 16 on
    plateau_high: float | None
    heads_in_band: float | None  # share of heads whose mean for N from 16 on is in .70 to .85
    agrees: int  # how many of the paper's numbers that hang on the choice it meets
    closest: bool
    rows: float


@dataclass(frozen=True)
class PaperVerdictRow:
    """A claim of the paper beside what was measured."""

    claim: str  # a short name
    where: str  # "Fig. 2a"
    statement: str
    paper: str  # the paper's number
    printed: str  # ours under the printed formula
    corrected: str  # ours under the corrected one; "same" where there is none
    verdict: str
    comment: str


REPRODUCED = "reproduced"
PRINTED_ONLY = "reproduced only with the printed formula"
NOT_REPRODUCED = "not reproduced"
UNTESTABLE = "cannot be tested here"

PAPER_TABLES: dict[str, type] = {
    "fig1": PointRow,
    "fig2a": FigureRow,
    "fig2b": FigureRow,
    "fig2c": CriticalRow,
    "fig2c_tests": KsTestRow,
    "fig3": FigureRow,
    "fig4": SensitivityFigureRow,
    "choices": ChoiceRow,
    "verdicts": PaperVerdictRow,
}
