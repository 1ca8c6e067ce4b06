"""Every column that is shown: the measures of a head, of its curves, of weights, steps and layers.

A line has one look wherever it is drawn. What the paper printed and is false is drawn broken.
"""

from headgauge.registry.entry import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SHARE,
    SKY,
    Entry,
    Look,
    by_name,
)
from headgauge.registry.role_measures import ROLE_MEASURES
from headgauge.registry.training import TRAINED_MEASURES

HEAD_MEASURES = by_name(
    entropy=Entry(
        "Entropy",
        "H(α)",
        "nats, from 0 to log n",
        "entropy",
        "−Σ α log α",
        digits=2,
        low=0.0,
    ),
    entropy_share=Entry(
        "Entropy share",
        "H(α)/log n",
        "entropy / log n; 0 one key, 1 flat",
        "entropy\nshare",
        "over the rows that see n ≥ 2 keys",
        **SHARE,
    ),
    rest_entropy_share=Entry(
        "Entropy share off the sink",
        "",
        "0 one key, 1 flat",
        "off-sink\nshare",
        "of what is left of the weight without the first token",
        **SHARE,
    ),
    effective_n=Entry(
        "Effective number of keys",
        "exp H(α)",
        "exp(entropy), from 1",
        "effective\nN",
        "as many with equal weight would have this entropy",
        digits=1,
        low=1.0,
        logarithmic=True,
    ),
    sink_weight=Entry(
        "Sink weight",
        "α₁",
        "weight on the first token, 0 to 1",
        "sink\nweight",
        **SHARE,
    ),
    max_logit=Entry(
        "Largest logit",
        "max q·k",
        "q·k·scale, largest of all rows",
        "max\nlogit",
        "before softcap and bias",
        digits=1,
        over_windows="max",
    ),
    jacobian_norm=Entry(
        "Jacobian norm",
        "‖∇α‖₂",
        "limit 0.5",
        "Jacobian\nnorm",
        "how far the weights move for the worst small step in the logits",
        low=0.0,
        high=0.5,
    ),
    sharpness=Entry(
        "Sharpness 1/Λ",
        "1/Λ",
        "below 1 the top weights merge",
        "1/Λ",
        "above 1 softmax concentrates on the top logit; over the rows that see n ≥ 2 keys",
        "arXiv 2605.12697",
        digits=2,
        low=0.0,
    ),
    sharp_rows=Entry(
        "Sharp rows",
        "",
        "share of rows with 1/Λ > 1, 0 to 1",
        "sharp\nrows",
        "of those that see n ≥ 2 keys",
        **SHARE,
    ),
    output_norm=Entry(
        "Head output norm",
        "‖Σ α_i v_i‖",
        "before the output projection",
        "output\nnorm",
        digits=2,
        low=0.0,
    ),
    output_ratio=Entry(
        "Output ratio",
        "",
        "head output norm / layer mean",
        "output\nratio",
        digits=2,
        low=0.0,
        high=2.0,
        centre=1.0,
    ),
)

# What a list or a figure of all of them puts together; the effect stands alone.
GROUPS = {
    "Weights and outputs": tuple(HEAD_MEASURES),
    "Where it looks": (
        *("self_mass", "previous_mass", "local_mass", "long_mass", "streaming_mass"),
        *("mean_distance", "collision_entropy"),
    ),
    "What it copies": ("induction_score", "duplicate_score", "induction_mass", "duplicate_mass"),
    "What it adds": (
        *("contribution", "output_stable_rank", "sink_output_share", "idle_weight", "sink_carry"),
        "first_value_ratio",
    ),
    "From the weights": ("ov_copying", "qk_largest", "qk_stable_rank", "qk_spectral_entropy"),
}
HEAD_MEASURES |= ROLE_MEASURES

# In the order of every legend.
CURVES = by_name(
    distance=Entry(
        "Distance d̃",
        "d̃",
        "eq. 7, from 0",
        "d̃",
        "Σ ‖α_i x_i − s‖ over the tokens left out, how far s lies from them",
        "eq. 7",
        digits=1,
        low=0.0,
        look=Look(GREEN, "solid", "circle"),
    ),
    bound_printed=Entry(
        "upper bound as printed, Theorem 1.1",
        explanation="of d̃; for weights that sum to one",
        source="Theorem 1.1",
        look=Look(RED, "dashed", "square"),
    ),
    expected_printed=Entry(
        "expectation as printed (false)",
        explanation="of d̃ over random sets of N tokens, as in the main text",
        source="Theorem 1.2",
        look=Look(BLUE, "dashdot", "triangle"),
    ),
    expected_appendix=Entry(
        "eq. 24, below the true expectation",
        source="eq. 24",
        look=Look(SKY, "dotted", "down"),
    ),
    expected_upper=Entry(
        "second moment, above the true expectation",
        look=Look(PURPLE, "dashdotdot", "diamond"),
    ),
    bound_centroid=Entry(
        "centroid bound",
        explanation="of d̃, from above, by the centroid of the selected",
        look=Look(ORANGE, "longdash", "plus"),
    ),
    bound_lower=Entry(
        "plain sandwich, lower side",
        explanation="what d̃ cannot be below",
        look=Look(GREY, "dotted", "cross"),
    ),
    bound_upper=Entry(
        "plain sandwich, upper side",
        explanation="what d̃ cannot be above",
        look=Look(BLACK, "longdash", "star"),
    ),
    radius=Entry(
        "Radius r",
        "r",
        "nearest token left out, from 0",
        "r",
        "its distance from s, the weighted sum of the selected",
        low=0.0,
        look=Look(ORANGE, "solid", "square"),
    ),
    separability=Entry(
        "Separability N_s/N",
        "N_s/N",
        "share of the top N in the ball, 0 to 1",
        "N_s/N",
        "the ball of radius r around s",
        "eq. 10",
        "higher is better",
        **SHARE,
        look=Look(GREEN, "solid", "circle"),
    ),
    separability_lower=Entry(
        "corrected lower bound",
        explanation="the part that is certain, ξ_i ≤ r",
        look=Look(PURPLE, "dotted", "diamond"),
    ),
    separability_printed_lower=Entry(
        "lower bound as printed, eq. 11",
        source="eq. 11",
        look=Look(BLUE, "dashdot", "down"),
    ),
    separability_printed_upper=Entry(
        "upper bound as printed, eq. 11 (false)",
        source="eq. 11",
        look=Look(RED, "dashed", "square"),
    ),
)
CURVE_MEASURES = {name: CURVES[name] for name in ("separability", "distance", "radius")}
SPAN_MEASURES = by_name(
    mass=Entry("Weight on a span", "", "Σ α over its keys, 0 to 1", "mass", **SHARE),
    uniform=Entry(
        "Weight on a span if uniform",
        "",
        "if all visible keys had the same, 0 to 1",
        "if uniform",
        **SHARE,
    ),
)
MEASURES = HEAD_MEASURES | CURVE_MEASURES | SPAN_MEASURES | TRAINED_MEASURES
BY_LARGEST = [name for name, entry in MEASURES.items() if entry.over_windows == "max"]

# Lemma 1 and Corollary 1: the weights over L, and what bounds the largest.
WEIGHTS = by_name(
    largest_weight=Entry("largest weight", look=Look(GREEN, "solid", "circle")),
    top_mass=Entry("mass of the 16 heaviest keys", look=Look(ORANGE, "dashdot", "square")),
    largest_off_sink=Entry(
        "largest but for the first key, share of the rest",
        look=Look(BLUE, "dashed", "triangle"),
    ),
)
WEIGHT_BOUNDS = by_name(
    bound_range=Entry(
        "bound from the range of the logits",
        explanation="1/(1 + (n−1)e^{−R}) with the row's own range R, sharp",
        look=Look(SKY, "dotted", "diamond"),
    ),
    bound_mean=Entry(
        "bound from the mean logit (Jensen), exp(max − mean)/n",
        look=Look(PURPLE, "dashdot", "down"),
    ),
    bound_printed=Entry(
        "bound as printed, Corollary 1: exp(2‖q‖max‖k‖/√d)/n",
        explanation="null where q and k are unseen",
        source="Corollary 1",
        look=Look(RED, "dashed", "square"),
    ),
)

# Algorithm 5: what stands beside the measured steps; `DIRECTION_STEPS` are the looks of ε by size.
LIMITS = by_name(
    exact=Entry("exact ‖∇α‖₂: worst step, ε → 0", look=Look(BLACK, width=1.3)),
    **{
        "exact mean": Entry(
            "exact mean, random steps, ε → 0", look=Look(BLACK, "dashdotdot", width=1.3)
        ),
        "printed bound": Entry("printed min{1/(4T), √2} (false)", look=Look(RED, "dashed")),
        "corrected bound": Entry("1/(2T), sharp for ε → 0", look=Look(RED)),
        "sharp bound": Entry("(√2/ε) tanh(ε/(2√2T)), sharp", look=Look(BLACK, "dotted")),
    },
)
STEP_LOOKS = (
    Look(BLUE, "solid", "circle", size=0.8),  # the lines of small ε lie on one another, so that
    Look(ORANGE, "dashed", "square", size=1.2),  # each is seen around the one before
    Look(GREEN, "dashdot", "triangle", size=1.6),
    Look(PURPLE, "dotted", "diamond", size=1.9),
    Look(SKY, "longdash", "down", size=2.2),
)

# A model's layers, and simulated particles.
LAYERS = by_name(
    mean_cosine=Entry("mean cosine of pairs", "γ", low=-1.0, high=1.0),
    radius=Entry("mean length of the tokens", "r", low=0.0),
    attention_norm=Entry(
        "attention alone",
        "‖A‖",
        explanation="mean length of what it adds",
        low=0.0,
        look=Look(GREEN, "dashed"),
    ),
    other_norm=Entry(
        "the rest of the layer (MLP)",
        explanation="mean length of what it adds",
        low=0.0,
        look=Look(ORANGE, "dashdot"),
    ),
    speed=Entry("radians a token turns in a layer", explanation="mean over tokens", low=0.0),
    attention_speed=Entry(
        "attention alone",
        explanation="mean angle that it would turn a token, in radians",
        low=0.0,
        look=Look(GREEN, "dashed"),
    ),
    probability=Entry("Pairs together", "", "share of pairs together", low=0.0, high=1.0),
)


def number(value: float | None, name: str) -> str:
    """A measure's value for a table: its digits, and a dash for what was not seen."""
    if value is None or value != value:
        return "–"
    digits = MEASURES[name].digits if name in MEASURES else 3
    text = f"{value:.{digits}f}"
    # A number that is there must not read as none.
    return text if value == 0 or float(text) != 0 else f"{value:.1g}"
