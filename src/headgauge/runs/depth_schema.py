"""What a scan with `--depth` holds: a model's residual stream, layer by layer, as particles.

    depth.parquet       DepthRow       one row per window and place between two layers
    (made from it)      DepthCurveRow  what each scheme's reduced system predicts from there

A token's direction is that of its vector in the residual stream, centred where the model's norm
centres (LayerNorm), as it is where it does not (RMSNorm).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class DepthRow:
    """The tokens of a window where they enter a layer; the last row is after the last layer."""

    window: int  # from 0
    length: int  # L, tokens in the window
    layer: int  # 0: the embeddings; as many as there are layers: after the last
    module: str  # the layer they enter; empty after the last
    scheme: str | None  # where that layer has its norms: "pre_ln", "post_ln", "peri_ln", "other"
    tokens: int  # those that are counted: the first is left out where it is a sink
    mean_cosine: float  # over pairs
    pair_low: float  # 5 % and 95 % over pairs
    pair_high: float
    least_cosine: float
    together: float  # share of pairs with a cosine of .999 or more
    clusters: int  # groups linked by such pairs
    energy: float  # Σ_ij e^{⟨θ_i,θ_j⟩ − 1}/(2n²): with β = 1
    variance: float  # 1 − |mean direction|²
    radius: float  # mean length of the vectors
    radius_low: float  # 5 % and 95 % over tokens
    radius_high: float
    attention_norm: float | None  # mean length of what the layer's attention adds
    other_norm: float | None  # of what the rest of the layer (the MLP) adds
    speed: float | None  # mean angle in radians a token turns in the layer
    speed_low: float | None  # 5 % and 95 % over tokens
    speed_high: float | None
    attention_speed: float | None  # mean angle that the attention's part alone would turn it
    effective_n: float | None  # keys a head attends to, exp(entropy), mean over heads


@dataclass(frozen=True)
class DepthCurveRow:
    """What a scheme's equiangular system predicts, started where the model starts."""

    scheme: str
    recognised: bool  # the scheme of this model
    layer: int
    gamma: float  # to be seen beside mean_cosine
    radius: float  # in the model's units, beside radius
    beta: float  # whose softmax, masked as the model's, spreads over as many keys as its heads do
    tokens: int
