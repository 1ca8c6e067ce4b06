"""What the tables of a run hold: one type per table (`TABLES`), one field per column.

What a measure means stands in `registry/measures.py`, what another column does in its comment.
Every number is a mean over the counted query rows of its window unless the words say otherwise;
`None` is what could not be seen or does not apply. Logarithms are natural. `frame_schema` turns a
type into polars' schema, and every table a run writes has exactly that one.
"""

from typing import Any

import polars as pl

from headgauge.runs.columns import (
    Finite,
    How,
    Keys,
    Logits,
    Mean,
    Scale,
    Seen,
    Side,
    SpanKind,
    Vectors,
    Where,
    columns,
)

# What names a head: `layer` counts the attention modules in the model's order, and a module that
# runs more than once per pass (a shared layer) has an `occurrence` for each.
HEAD = ("layer", "occurrence", "module", "head")
UNIT = ("window", "length")


class InWindow:
    """What names a window."""

    window: int  # from 0
    length: int  # L, tokens in the window; a document may have fewer


class OfHead(InWindow):
    """What names a head in a window."""

    layer: int  # place of the attention module among the model's, from 0
    occurrence: int  # 0, or the how-manieth call of a shared module
    module: str  # its name in the model
    head: int  # from 0


class HeadRow(OfHead):
    """A head in a window: the measures that need no N. They are null where it is not finite."""

    kv_head: int  # the key and value head it reads
    cross: bool  # the keys come from the encoder
    seen: Seen  # "qkv": recomputed from q, k, v; "softmax": tapped, values unseen
    rows: int  # query rows that were measured and see a key
    entropy: Mean | None
    entropy_share: Mean | None
    effective_n: Mean | None
    sink_weight: Mean | None
    max_logit: float | None
    jacobian_norm: Mean | None
    sharpness: Mean | None
    sharp_rows: Mean | None
    output_norm: Mean | None
    output_ratio: Mean | None
    self_mass: Mean | None
    previous_mass: Mean | None
    local_mass: Mean | None
    long_mass: Mean | None
    streaming_mass: Mean | None
    mean_distance: Mean | None
    duplicate_mass: Mean | None
    induction_mass: Mean | None
    collision_entropy: Mean | None
    first_value_ratio: float | None
    sink_output_share: Mean | None
    output_stable_rank: float | None
    contribution: Mean | None
    induction_score: float | None
    duplicate_score: float | None
    ov_copying: float | None
    qk_largest: float | None
    qk_stable_rank: float | None
    qk_spectral_entropy: float | None
    effect: float | None


class CurveRow(OfHead):
    """A head in a window at one N, for one choice of vectors and keys."""

    top_n: int  # N
    vectors: Vectors
    scale: Scale
    keys: Keys
    rows: int  # query rows that count at this N
    distance: Mean | None
    expected_printed: Mean | None
    expected_appendix: Mean | None
    expected_upper: Mean | None
    bound_printed: Mean | None
    bound_centroid: Mean | None
    bound_lower: Mean | None
    bound_upper: Mean | None
    radius: Mean | None
    separable_count: Mean | None  # N_s
    separability: Mean | None
    separability_printed_lower: Mean | None
    separability_printed_upper: Mean | None
    separability_lower: Mean | None


class SampleRow(OfHead):
    """One of the heaviest keys of a sampled query row."""

    row: int  # the query's place in the window
    query_id: int  # its token
    query_text: str | None  # null without a tokenizer
    visible: int  # keys the row may see
    rank: int  # 1 is the heaviest
    key: int  # the key's place in the window
    key_id: int  # its token
    key_text: str | None  # null without a tokenizer
    weight: float  # α of the key


class QueryRow(OfHead):
    """One query row of a head: of it alone what heads.parquet has of all rows."""

    row: int
    visible: int
    entropy: float
    effective_n: float
    sink_weight: float
    max_logit: float | None
    jacobian_norm: float | None
    sharpness: float | None
    output_norm: float | None


class MatrixRow(OfHead):
    """A weight of a head whose matrix was asked for: those of at least 1/1024, in the windows of
    the longest length. What a row's weights lack to 1 is the sum of the others."""

    row: int  # the query's place in the window
    key: int  # the key's place
    weight: Finite


class TokenRow(OfHead):
    """A token beside such a matrix."""

    side: Side  # "query" or "key": cross attention has the encoder's tokens for keys
    place: int  # in the window
    id: int
    text: str | None  # None without a tokenizer


class SpanRow(OfHead):
    """How much of a head's weight goes to a part of the text, over the rows that see any of it."""

    span: str  # its name
    kind: SpanKind  # "span": a named part of the text; "class": of tokens, as the tokenizer has it
    tokens: int  # keys of the window that belong to it
    rows: int  # query rows that see one of them
    mass: float | None
    uniform: float | None


class DepthRow(InWindow):
    """The tokens of a window where they enter a layer; the last row is after the last layer."""

    layer: int  # 0: the embeddings; as many as there are layers: after the last
    module: str  # the layer they enter; empty after the last
    scheme: str | None  # where that layer has its norms: "pre_ln", "post_ln", "peri_ln", "other"
    tokens: int  # those that are counted: the first is left out where it is a sink
    mean_cosine: float
    pair_low: float  # 5 % and 95 % over pairs
    pair_high: float
    least_cosine: float  # of the farthest pair
    together: float  # share of pairs with a cosine of .999 or more
    clusters: int  # groups linked by such pairs
    energy: float  # Σ_ij e^{⟨θ_i,θ_j⟩ − 1}/(2n²): with β = 1
    variance: float  # 1 − |mean direction|²
    radius: float
    radius_low: float  # 5 % and 95 % over tokens
    radius_high: float
    attention_norm: float | None
    other_norm: float | None
    speed: float | None
    speed_low: float | None  # 5 % and 95 % over tokens
    speed_high: float | None
    attention_speed: float | None
    effective_n: float | None  # keys a head attends to, exp(entropy), mean over heads


class DepthCurveRow:
    """What a scheme's equiangular system predicts, started where the model starts."""

    scheme: str
    recognised: bool  # the scheme of this model
    layer: int
    gamma: float  # to be seen beside mean_cosine
    radius: float  # in the model's units, beside radius
    beta: float  # whose softmax, masked as the model's, spreads over as many keys as its heads do
    tokens: int


class PaperCurveRow(CurveRow):
    """A head in a window at one N, for one choice of vectors and keys and one rule."""

    rule: str  # "model": the model's own weights; else the rule put on the same logits


class RuleHeadRow(HeadRow):
    """A head in a window under a rule: what heads.parquet has of the model's own weights.

    `jacobian_norm` is the rule's own, of one that is no softmax on 64 query rows; `sharpness` is
    null for one that is none, and so are the scores on repeated tokens. The measures of the
    weights' circuits do not change.
    """

    rule: str  # as it was asked for; "model": the model's own
    where: Where  # "logits": on the original model's logits; "inside": in the swapped model


class RuleCurveRow(CurveRow):
    """A head in a window at one N under a rule."""

    rule: str  # as it was asked for; "model": the model's own
    where: Where


class WindowRuleRow(InWindow):
    """A window under a rule, all heads that were chosen at once."""

    place: int  # in the order of the rows; 0 is the original model
    rule: str  # as it was asked for; "model": the model's own
    tokens: int  # that were predicted
    loss: float | None  # nats per token
    difference: float | None  # to the loss of the original model
    kl: float | None  # KL(original ‖ swapped) of the next token, mean over tokens, nats
    agreement: float | None  # share of tokens whose likeliest next one is the original's


class RuleRow:
    """A rule over all windows."""

    place: int  # in the order of the rows; 0 is the original model
    rule: str  # as it was asked for; "model": the model's own
    windows: int  # that it was measured in
    loss: float | None  # mean over windows, nats per token
    loss_error: float | None  # its standard error over windows; null with one
    difference: float | None  # to the original model, mean over windows
    error: float | None  # its standard error, of the paired differences
    beyond: float | None  # difference to softmax at its fitted temperature
    beyond_error: float | None  # its standard error, of the paired differences
    kl: float | None  # KL(original ‖ swapped) of the next token, mean over windows, nats
    agreement: float | None  # share of tokens whose likeliest next one is the original's


class FitRow:
    """A parameter that was fitted on windows behind those that are judged."""

    rule: str  # as it was asked for
    parameter: str  # its name in the rule
    layer: int | None  # null: one number for the whole model
    head: int | None  # null: one number for the layer, or for the model
    value: Finite
    before: float | None  # loss of the rule on the calibration windows where the search began
    after: float | None  # and with the values found, all of its parameters at once
    model: float | None  # the original model's there
    windows: int  # calibration windows
    passes: int  # of the model, that the search took


class SensitivityRow(OfHead):
    """Algorithm 5 for one head: g at one temperature, ε and direction, over drawn query rows."""

    logits: Logits
    direction: str  # "random", "random over all keys", "random under …", "worst", "exact", …
    epsilon: Finite  # 0: the limit
    temperature: Finite
    rows: int  # query rows drawn
    sensitivity: float
    spread: float  # standard deviation over those rows


class KeyPointRow(OfHead):
    """A key of one query row, its vector and its weighted vector seen in a plane (Figure 1).

    One axis is the direction of s, the other the one along which the weighted vectors spread most.
    """

    row: int
    key: int
    key_text: str | None
    top_n: int
    weight: float
    x: float  # the vector, projected
    y: float
    scaled_x: float  # the weighted vector: at its true distance from s, the angle projected
    scaled_y: float
    selected: bool
    inside: bool  # selected and within r of s
    s_x: float
    s_y: float
    radius: float


class VanishingHeadRow(OfHead):
    """Lemma 1 and Corollary 1 for one head under one rule, over drawn query rows in the window's
    last quarter, which see nearly all of it.

    The bounds are on the largest weight of a softmax and null under other rules: log10 of their
    geometric mean over the rows.
    """

    rule: str
    rows: int  # query rows drawn
    largest_weight: float
    top_mass: float
    largest_off_sink: float | None
    bound_range: float | None
    bound_mean: float | None
    bound_printed: float | None


class SharedTokenRow(OfHead):
    """A token that all heads of a layer are asked for, and whether this head separates it.

    The tokens are the N with the largest mean weight over the layer's heads in a query row.
    """

    row: int
    key: int
    top_n: int
    separable: bool  # ‖α_i x_i − s‖ ≤ r with this head's weights


class VectorSetRow(OfHead):
    """A set of vectors of a window, brought to unit length: Assumptions 1 and 2. `head` is the
    first that uses the set."""

    vectors: Vectors
    dim: int
    tokens: int
    mean_cosine: float  # of pairs of different tokens
    effective_dim: float  # (Σλ)²/Σλ² of the second-moment matrix
    delta: float  # the smallest distance of two tokens
    nearest: float  # the median distance to the nearest other token
    same: float  # share of the tokens that coincide with another


class Ablated:
    """What was taken out of the model: a head, or a group of heads together."""

    layer: int | None  # place of the attention module among the model's; null for a group
    module: str | None  # its name in the model
    head: int | None  # in every run of the module, where it is shared between layers
    group: str | None  # the group's name; null for a head
    how: How  # what was put in its place: its mean, or zero


class WindowEffectRow(Ablated, InWindow):
    """The loss of a window without a head or a group of heads."""

    loss: float | None  # of the window without it, nats per token
    effect: float | None  # how much more that is than the loss of the whole model


class EffectRow(Ablated):
    """What a head or a group of heads is worth to the loss, over all windows."""

    effect: float | None  # mean over windows of the rise of the loss without it, nats per token
    error: float | None  # its standard error over windows; null with one
    windows: int  # that it was measured in
    loss: float | None  # without it, mean over windows


class MeanRow:
    """A component of what a head puts out on average, over the positions of other windows."""

    layer: int
    module: str  # the attention module
    head: int
    dim: int  # of the head's output, from 0
    value: float  # before the output projection


# Only a reproduction has them.
PAPER = ("paper_curves", "sensitivity", "points", "vanishing", "shared_tokens", "vector_sets")
# Only a comparison of rules has them.
COMPARED = ("rule_heads", "rule_curves", "window_rules")
ON_REQUEST = (
    *("rows", "matrices", "tokens", "spans", "depth", "window_effects"),
    *COMPARED,
    *PAPER,
)

_CHOICE = ("top_n", "vectors", "scale", "keys")
# The type of a table's rows, and what names a row beside its window and head (in `depth`: layer).
_TABLES: dict[str, tuple[type, tuple[str, ...]]] = {
    "heads": (HeadRow, ()),
    "curves": (CurveRow, _CHOICE),
    "samples": (SampleRow, ("row", "rank")),
    "rows": (QueryRow, ("row",)),
    "matrices": (MatrixRow, ("row", "key")),
    "tokens": (TokenRow, ("side", "place")),
    "spans": (SpanRow, ("kind", "span")),
    "depth": (DepthRow, ()),
    "window_effects": (WindowEffectRow, ("head", "group")),
    "rule_heads": (RuleHeadRow, ("rule", "where")),
    "rule_curves": (RuleCurveRow, (*_CHOICE, "rule", "where")),
    "window_rules": (WindowRuleRow, ("place",)),
    "paper_curves": (PaperCurveRow, (*_CHOICE, "rule")),
    "sensitivity": (SensitivityRow, ("logits", "direction", "epsilon", "temperature")),
    "points": (KeyPointRow, ("row", "key")),
    "vanishing": (VanishingHeadRow, ("rule",)),
    "shared_tokens": (SharedTokenRow, ("row", "key")),
    "vector_sets": (VectorSetRow, ("vectors",)),
}
TABLES = {name: row for name, (row, _) in _TABLES.items()}
# What names a row, and what a table is sorted by.
KEYS: dict[str, tuple[str, ...]] = {
    name: (*UNIT, *(HEAD if issubclass(row, OfHead) else {"layer"} & columns(row).keys()), *own)
    for name, (row, own) in _TABLES.items()
}

_TYPES = {int: pl.Int64, float: pl.Float64, str: pl.String, bool: pl.Boolean}


# beartype cannot read polars' own hints, so that a `pl.Schema` is a dict in the signatures here.
def frame_schema(row: type, errors: bool = False) -> dict[str, Any]:
    """polars' schema of a table whose rows are of this type, with sampling errors or without."""
    known = columns(row, errors).items()
    return pl.Schema({name: _TYPES[column.kind] for name, column in known})
