"""What a head does: where it looks, what it copies, what it adds to the stream.

α is a row of weights over the keys that the query at place i sees, v_j the values, i − j the
offset. Where a head looks ahead (an encoder) an offset is the distance |i − j|. A number of a head
is the mean over those rows that have it; a row without one is NaN here.

The sets of keys follow what is done with them: DuoAttention (arXiv 2410.10819) keeps the first and
the last keys of a streaming head, an induction head (arXiv 2209.11895) looks at what followed the
same token before, a duplicate-token head (arXiv 2211.00593) at that token itself.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

LOCAL = 16  # keys that are near, the query's own among them
FAR = 256  # the offset from which on a key is far
STREAM_FIRST, STREAM_LAST = 128, 256  # the keys that a streaming head keeps
REPEATED = 64  # random tokens that are read twice

Weights = Float[Tensor, "rows keys"]
Visible = Bool[Tensor, "rows keys"]
PerRow = Float[Tensor, "rows"]


def mass(weights: Weights, visible: Visible, chosen: Bool[Tensor, "rows keys"]) -> PerRow:
    """Σ α over the chosen keys; NaN for a row that sees none of them."""
    chosen = chosen & visible
    found = torch.where(chosen, weights, 0.0).sum(-1)
    return torch.where(chosen.any(-1), found, torch.nan)


def offsets(places: Int[Tensor, "rows"], keys: int) -> Int[Tensor, "rows keys"]:
    """i − j of each query place i and key j."""
    return places[:, None] - torch.arange(keys, device=places.device)


def self_mass(weights: Weights, visible: Visible, places: Int[Tensor, "rows"]) -> PerRow:
    return mass(weights, visible, offsets(places, weights.shape[1]) == 0)


def previous_mass(weights: Weights, visible: Visible, places: Int[Tensor, "rows"]) -> PerRow:
    return mass(weights, visible, offsets(places, weights.shape[1]) == 1)


def local_mass(weights: Weights, visible: Visible, places: Int[Tensor, "rows"]) -> PerRow:
    """Σ α at distances 0 to 15; 0 for a row that sees none of these keys."""
    near = offsets(places, weights.shape[1]).abs() < LOCAL
    found = mass(weights, visible, near).nan_to_num(0.0)
    return torch.where(visible.any(-1), found, torch.nan)


def long_mass(weights: Weights, visible: Visible, places: Int[Tensor, "rows"]) -> PerRow:
    """Σ α at distances from 256 on, the first token left out: it is where heads rest."""
    far = offsets(places, weights.shape[1]).abs() >= FAR
    far[:, 0] = False
    return mass(weights, visible, far)


def streaming_mass(weights: Weights, visible: Visible, places: Int[Tensor, "rows"]) -> PerRow:
    """Σ α over the first 128 and the last 256 keys; NaN for a row that sees no other, where it
    would be 1 by definition."""
    keys = torch.arange(weights.shape[1], device=weights.device)
    kept = (keys < STREAM_FIRST) | (offsets(places, weights.shape[1]) < STREAM_LAST)
    found = torch.where(kept & visible, weights, 0.0).sum(-1)
    return torch.where((visible & ~kept).any(-1), found, torch.nan)


def mean_distance(weights: Weights, visible: Visible, places: Int[Tensor, "rows"]) -> PerRow:
    """Σ α |i − j|."""
    far = offsets(places, weights.shape[1]).abs().to(weights)
    found = torch.where(visible, weights * far, 0.0).sum(-1)
    return torch.where(visible.any(-1), found, torch.nan)


def duplicate_mass(
    weights: Weights, visible: Visible, places: Int[Tensor, "rows"], ids: Int[Tensor, "keys"]
) -> PerRow:
    """Σ α over the earlier places of the query's token."""
    return mass(weights, visible, _earlier(places, ids))


def induction_mass(
    weights: Weights, visible: Visible, places: Int[Tensor, "rows"], ids: Int[Tensor, "keys"]
) -> PerRow:
    """Σ α over j + 1 for the earlier places j of the query's token; that may be the query."""
    return mass(weights, visible, _earlier(places, ids).roll(1, -1))


def _earlier(places: Int[Tensor, "rows"], ids: Int[Tensor, "keys"]) -> Bool[Tensor, "rows keys"]:
    return (ids[places][:, None] == ids) & (offsets(places, len(ids)) > 0)


def collision_entropy(weights: Weights, visible: Visible) -> PerRow:
    """−log Σ α², Rényi's entropy of order 2: at most Shannon's, and the variance of a sum of
    independent errors of the values is Σ α² times theirs."""
    squares = torch.where(visible, weights, 0.0).square().sum(-1)
    return torch.where(visible.any(-1), -squares.log(), torch.nan)


def sink_output_share(weights: Weights, visible: Visible, lengths: Float[Tensor, "keys"]) -> PerRow:
    """‖α_1 v_1‖ / Σ α_j‖v_j‖ with `lengths` ‖v_j‖; NaN for a row that does not see the first."""
    all_of_it = torch.where(visible, weights * lengths, 0.0).sum(-1)
    return torch.where(visible[:, 0], weights[:, 0] * lengths[0] / all_of_it, torch.nan)


def first_value_ratio(values: Float[Tensor, "keys dim"]) -> Float[Tensor, ""]:
    """‖v_1‖ / median ‖v_j‖, the mean of the two in the middle for an even number of keys."""
    lengths = torch.linalg.vector_norm(values, dim=-1)
    return lengths[0] / torch.quantile(lengths, 0.5)


def stable_rank(outputs: Float[Tensor, "rows dim"]) -> Float[Tensor, ""]:
    """‖O‖_F²/‖O‖₂²: 1 where all rows are multiples of one vector, at most the dimension."""
    values = torch.linalg.svdvals(outputs)
    return values.square().sum() / values[0].square()


def contribution(
    outputs: Float[Tensor, "rows dim"],
    projection: Float[Tensor, "dim width"],
    stream: Float[Tensor, "rows width"],
) -> PerRow:
    """‖o W_O‖/‖x‖: what the head adds beside the stream x that its layer reads."""
    added = torch.linalg.vector_norm(outputs @ projection, dim=-1)
    return added / torch.linalg.vector_norm(stream, dim=-1)


def repeat_scores(
    weights: Weights, visible: Visible, places: Int[Tensor, "rows"], ids: Int[Tensor, "keys"]
) -> tuple[PerRow, PerRow]:
    """Of a window of k = 64 different tokens, read twice: the weight from each place t of the
    second half to t − k + 1, which followed the token before, and to t − k, the token itself."""
    again = (places >= REPEATED) & (ids[places] == ids[places - REPEATED])
    back = offsets(places, weights.shape[1])
    followed, same = back == REPEATED - 1, back == REPEATED
    return (
        mass(weights, visible, followed & again[:, None]),
        mass(weights, visible, same & again[:, None]),
    )


def ov_copying(
    value: Float[Tensor, "width dim"], projection: Float[Tensor, "dim width"]
) -> Float[Tensor, ""]:
    """Σ Re λ / Σ |λ| over the eigenvalues of W_V W_O: 1 where the head writes what it reads.

    Those that are not 0 are the eigenvalues of the small W_O W_V.
    """
    found = torch.linalg.eigvals(projection @ value)
    return found.real.sum() / found.abs().sum()


def qk_spectrum(
    query: Float[Tensor, "width dim"], key: Float[Tensor, "width dim"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""], Float[Tensor, ""]]:
    """Of the singular values σ of W_Q W_Kᵀ the largest, Σσ²/σ₁², and the entropy of σ/Σσ.

    W = QR of both thin factors: the singular values are those of the small R_Q R_Kᵀ.
    """
    right = [torch.linalg.qr(each, mode="r").R for each in (query, key)]
    values = torch.linalg.svdvals(right[0] @ right[1].T)
    share = values / values.sum()
    entropy = -torch.special.xlogy(share, share).sum()
    return values[0], values.square().sum() / values[0].square(), entropy
