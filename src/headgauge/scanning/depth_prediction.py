"""What each scheme's reduced system predicts for a model, started where the model starts.

The reduced system (`dynamics.equiangular`) has one head with Q = K = V = I, no MLP and no mask;
one layer is one unit of time. A model is none of that, so the curves are a yardstick and no fit:
nothing is taken from the model but its number of tokens and what is seen at layer 0,

    γ₀   the mean cosine of the tokens that enter
    r₀   their mean length; the unit is such that the scheme's first step adds as much as the
         model's first attention does
    β    so that a softmax over keys with the logits β (itself) and βγ₀ (the others) spreads over as
         many keys, exp(entropy), as the layer's heads do under their own mask: a causal row sees 1
         to n keys, and the mean is over all of them, as in the table `heads`. Without a mask, as
         in the reduced system, the same β spreads over more.

Where the stream does not grow (Post-LN, nGPT, LN-Scaling) lengths do not matter, and nothing of the
model says how far a layer goes. Mix-LN switches after the model's own Post-LN layers where the
model is one; else it has, as nGPT and LN-Scaling have, its default parameters.
"""

import math
from dataclasses import dataclass
from typing import Any

import polars as pl
import torch
from jaxtyping import Float
from torch import Tensor

from headgauge import models
from headgauge.measure.depth import SAMPLE, SINK
from headgauge.particles import equiangular, schemes
from headgauge.runs.schema import DepthCurveRow, frame_schema
from headgauge.scanning.summary import depth_over_windows

_SHARPEST = 40.0  # of β(1 − γ₀): a softmax that is one-hot to the last digit
MEASURED = ("mean_cosine", "radius", "attention_norm", "other_norm", "speed", "attention_speed")


@dataclass(frozen=True)
class Start:
    """Where the predictions start; `exact` says whether there was a β that fits."""

    tokens: int
    gamma: float
    radius: float  # in the model's units
    unit: float  # mean length of what the first attention adds
    effective_n: float
    beta: float
    exact: bool


def scheme_of(depth: pl.DataFrame) -> models.Recognised:
    """The model's scheme, from those of its layers."""
    first = depth.filter(window=depth["window"].min(), length=_longest(depth))
    return models.recognise(first.sort("layer")["scheme"].to_list()[:-1])


def start_of(depth: pl.DataFrame, causal: bool) -> Start | None:
    """From layer 0, means over the longest windows; None where there is nothing to start from: a
    number is missing, or tokens without a length or an attention that adds nothing set no unit."""
    first = by_layer(depth).row(0, named=True)
    known = [first[name] for name in ("radius", "attention_norm", "effective_n")]
    if any(each is None or not 0 < each < math.inf for each in known):
        return None
    tokens = int(first["tokens"])
    gamma = min(max(first["mean_cosine"], -1 / (tokens - 1)), 1 - 1e-12)
    beta, exact = fitting_beta(first["effective_n"], tokens, gamma, causal)
    if beta == 0 and gamma <= -1 / (tokens - 1):  # an even mean of directions that cancel
        return None
    unit, effective = first["attention_norm"], first["effective_n"]
    return Start(tokens, gamma, first["radius"], unit, effective, beta, exact)


def depth_curves(depth: pl.DataFrame, causal: bool) -> pl.DataFrame:
    """The table of `DepthCurveRow`; without rows where there is nothing to start from."""
    start, recognised = start_of(depth, causal), scheme_of(depth).scheme
    schema = frame_schema(DepthCurveRow)
    if start is None:
        return pl.DataFrame(schema=schema)
    places, post = (table["layer"].n_unique() for table in (depth, depth.filter(scheme="post_ln")))
    parts = []
    for name in schemes.names():
        switch = {"switch": float(post)} if name == recognised == "mix_ln" else {}
        known = {"scheme": name, "recognised": name == recognised}
        solved = _solved(schemes.get(name, **switch), start, places)
        parts.append(pl.DataFrame(known | solved, schema=schema))
    return pl.concat(parts)


def _solved(scheme: schemes.Scheme, start: Start, places: int) -> dict[str, Any]:
    times = torch.arange(places, dtype=torch.float64)
    first = equiangular.solve(scheme, start.tokens, start.beta, times[:1], start.gamma)
    # How much the scheme's first step adds, in the theory's units: g‖A‖.
    step = scheme.gain(times[:1], first.attention_norm) * first.attention_norm
    unit = start.unit / float(step)
    radius0 = start.radius / unit
    found = equiangular.solve(scheme, start.tokens, start.beta, times, start.gamma, radius0)
    return {
        "layer": range(places),
        "gamma": found.gamma.tolist(),
        "radius": (found.radius * unit).tolist(),
        "beta": start.beta,
        "tokens": start.tokens,
    }


def by_layer(depth: pl.DataFrame, curves: pl.DataFrame | None = None) -> pl.DataFrame:
    """Means over the longest windows, a row per layer, and the recognised scheme's prediction."""
    means = depth_over_windows(depth.filter(length=_longest(depth)))
    means = means.select("layer", "scheme", *MEASURED, "effective_n", "tokens")
    if curves is None:
        return means
    predicted = curves.filter("recognised").select(
        "layer", predicted_cosine="gamma", predicted_radius="radius"
    )
    return means.join(predicted, on="layer", how="left", maintain_order="left")


def fitting_beta(effective_n: float, tokens: int, gamma: float, causal: bool) -> tuple[float, bool]:
    """β whose softmax spreads over `effective_n` keys, and whether there is one.

    Without one it is 0 (heads spread wider than evenly, which rounding can do) or the largest that
    makes a difference (heads that attend to a single key).
    """
    visible = torch.arange(1 if causal else tokens, tokens + 1).double()
    low, high = 0.0, _SHARPEST
    if effective_n >= _spread_over(low, visible):
        return 0.0, False
    if effective_n <= _spread_over(high, visible):
        return high / (1 - gamma), False
    for _ in range(80):
        middle = (low + high) / 2
        wider = _spread_over(middle, visible) > effective_n
        low, high = (middle, high) if wider else (low, middle)
    return (low + high) / 2 / (1 - gamma), True


def depth_notes(depth: pl.DataFrame, kind: str) -> list[str]:
    """What a reader of the depth table and the curves beside it must know."""
    found = scheme_of(depth)
    title = "no scheme of the paper" if found.scheme is None else schemes.get(found.scheme).title
    notes = [f"depth: {title}. {found.evidence}"]
    left_out = depth.filter(pl.col("tokens") < pl.col("length")).select("window", "length")
    if left_out.height:
        windows = depth.select("window", "length").n_unique()
        notes.append(
            f"depth: in {left_out.n_unique()} of {windows} windows the first token is left out, a "
            f"sink that becomes more than {SINK:g} times as long as the median"
        )
    if _longest(depth) > SAMPLE + 1:
        notes.append(f"depth: the pairs are those of {SAMPLE} tokens, evenly spread")
    if kind == "encoder-decoder":
        notes.append("depth: the residual stream is the decoder's")
    unread = depth.filter(pl.col("attention_norm").is_null() & (pl.col("module") != ""))
    if unread.height:
        notes.append(
            f"depth: what the attention adds could not be told in {unread['layer'].n_unique()} "
            f"layers (such as {unread['module'][0]})"
        )
    start = start_of(depth, kind != "encoder")
    if start is None:
        notes.append(
            "depth: nothing is predicted, because layer 0's heads were not measured, or what its "
            "attention adds could not be told or is nothing"
        )
        return notes
    fitted = "" if start.exact else ", the nearest there is"
    notes.append(
        "depth: the predicted curves are those of a model without MLPs, with identity weights and "
        f"no mask, started at layer 0 with {start.tokens} tokens, γ = {start.gamma:.3f}, a length "
        f"{start.radius / start.unit:.3g} times what the first attention adds, and β = "
        f"{start.beta:.3g} ({start.effective_n:.4g} effective keys under the heads' mask{fitted})"
    )
    return notes


def _spread_over(gap: float, visible: Float[Tensor, "rows"]) -> float:
    """Mean over rows of exp(entropy) where one logit is `gap` above the others."""
    others = visible - 1
    total = 1 + others * math.exp(-gap)
    # −Σ w log w = log Z − Σ w·logit, with logits 0 (itself) and −gap.
    entropy = total.log() + gap * others * math.exp(-gap) / total
    return float(entropy.exp().mean())


def _longest(depth: pl.DataFrame) -> int:
    return depth.select(pl.max("length")).item()
