"""What is shown of a training: measures that only its log has, its loss, its alarms."""

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

TRAINED_MEASURES = by_name(
    entropy_min=Entry(
        "Smallest entropy",
        "min H(α)",
        "nats, of the most concentrated row",
        "least\nentropy",
        digits=2,
        low=0.0,
    ),
    largest_weight=Entry(
        "Largest weight",
        "p₁",
        "mean over rows, 0 to 1",
        "p₁",
        **SHARE,
    ),
    jacobian_lower=Entry(
        "Jacobian norm at least",
        "p₁(1 − p₁)",
        "mean over rows, at most 0.25",
        "‖∇α‖₂\n≥",
        low=0.0,
        high=0.25,
    ),
    jacobian_upper=Entry(
        "Jacobian norm at most",
        "min{p₁, 2p₁(1 − p₁)}",
        "mean over rows, limit 0.5",
        "‖∇α‖₂\n≤",
        low=0.0,
        high=0.5,
    ),
    clip_factor=Entry(
        "Clipped to",
        "γ",
        "what QK-clip multiplied the logits by",
        "clip",
        "no number: the head was not clipped",
        **SHARE,
    ),
)
# As they are listed; the first is shown first where no alarm speaks of another.
TRAINED_ORDER = (
    *("entropy_share", "max_logit", "separability", "jacobian_norm", "sink_weight", "output_norm"),
    *("entropy", "entropy_min", "collision_entropy", "largest_weight"),
    *("jacobian_lower", "jacobian_upper", "clip_factor"),
    *("qk_largest", "qk_stable_rank", "qk_spectral_entropy"),
)
# What is drawn over steps for a training as a whole, and of the heads together.
TRAINED_LINES = by_name(
    loss=Entry("Loss", unit="as the training told it", look=Look(BLUE, width=1.2)),
    maximum=Entry("largest of all heads", look=Look(ORANGE, "dashed")),
    median=Entry("median over heads", look=Look(BLACK, width=1.2)),
    minimum=Entry("smallest of all heads", look=Look(GREEN, "dotted", width=1.2)),
)
ALARMS = by_name(
    **{
        "entropy collapse": Entry(
            explanation="a lower learning rate or a longer warm-up; QK-norm when training anew",
            letter="E",
            look=Look(RED, "none", "down"),
        ),
        "logit growth": Entry(
            explanation="QK-clip, which holds the logits, or a lower learning rate",
            letter="G",
            look=Look(PURPLE, "none", "triangle"),
        ),
        "saturation": Entry(
            explanation="QK-clip or a lower learning rate: little gradient comes through",
            letter="S",
            look=Look(ORANGE, "none", "square"),
        ),
        "dead head": Entry(
            explanation="nothing at once; if many are, a lower learning rate or a longer warm-up",
            letter="D",
            look=Look(SKY, "none", "cross"),
        ),
    }
)


def alarm(name: str) -> Entry:
    """An alarm in words and looks, of whoever's making it is."""
    unknown = Entry(name, letter="!", look=Look(GREY, "none", "star"), name=name)
    return ALARMS.get(name, unknown)
