"""Where the rows of a head look, by distance and by token: `theory.roles` for a block of rows."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headgauge import kernels
from headgauge.devices import most_exact
from headgauge.engine import look_rows
from headgauge.engine.checks import check_rows, check_visible
from headgauge.errors import InputError
from headgauge.theory import roles


@dataclass(frozen=True)
class Looks:
    """One number per row (float64); NaN where a row has no such key, or no key at all.

    Those by place and by token are NaN where the keys are no places of the queries' own sequence.
    """

    self_mass: np.ndarray
    previous_mass: np.ndarray
    local_mass: np.ndarray
    long_mass: np.ndarray
    streaming_mass: np.ndarray
    mean_distance: np.ndarray
    duplicate_mass: np.ndarray
    induction_mass: np.ndarray
    collision_entropy: np.ndarray
    sink_output_share: np.ndarray  # NaN without lengths of values
    ahead: np.ndarray  # 1 where the row sees a key behind its own place, else 0


def earlier_places(ids: Int[Tensor, "keys"]) -> np.ndarray:
    """Of each place the last one before it with the same token; −1 where there is none."""
    last: dict[int, int] = {}
    found = np.full(len(ids), -1, np.int64)
    for place, token in enumerate(ids.tolist()):
        found[place] = last.get(token, -1)
        last[token] = place
    return found


def looks(
    weights: Float[Tensor, "rows keys"],
    visible: Bool[Tensor, "rows keys"],
    place: int | Int[Tensor, "rows"],
    ids: Int[Tensor, "tokens"] | None = None,
    lengths: Float[Tensor, "tokens"] | None = None,
    before: np.ndarray | None = None,
) -> Looks:
    """Of the rows whose queries stand at `place` and after it, or at these places.

    `ids` are the tokens of the sequence, None where the keys are another's (cross attention);
    `lengths` ‖v_j‖ of its values. Both may go on behind the keys of the block. `before` is
    `earlier_places(ids)` where it is known already.
    """
    check_rows("weights", weights)
    check_visible(visible, weights.shape)
    rows, keys = weights.shape
    places = torch.arange(place, place + rows) if isinstance(place, int) else place.cpu()
    if len(places) != rows or (rows and int(places.min()) < 0):
        raise InputError(f"{rows} rows need as many places from 0 on, got {places.tolist()[:8]}")
    last = int(places.max()) + 1 if rows else 0
    for what, given, least in (("ids", ids, last), ("lengths", lengths, keys)):
        if given is not None and len(given) < max(least, keys):
            raise InputError(f"{what} must have at least {max(least, keys)} entries: {len(given)}")
    measure = _compiled if kernels.serves(weights) else _plain
    return measure(weights.detach(), visible, places, ids, lengths, before)


def _compiled(
    weights: Tensor,
    visible: Tensor,
    places: Tensor,
    ids: Tensor | None,
    lengths: Tensor | None,
    before: np.ndarray | None,
) -> Looks:
    real = torch.float64 if weights.dtype == torch.float64 else torch.float32
    rows = weights.to(real).contiguous().numpy()
    seen = visible.contiguous().view(torch.uint8).numpy()
    if before is None:
        before = np.empty(0, np.int64) if ids is None else earlier_places(ids)
    norms = torch.ones(weights.shape[1]) if lengths is None else lengths
    norms = norms.to(torch.float64).contiguous().numpy()
    out = np.full(len(weights), np.nan, look_rows.LOOKS)
    given = seen, rows, norms, before, places.numpy(), out
    kernels.over_rows(look_rows.measure, len(weights), weights.numel(), *given)
    found = {name: np.ascontiguousarray(out[name]) for name in out.dtype.names or ()}
    first, carried = found.pop("first_seen"), found.pop("carried")
    with np.errstate(divide="ignore", invalid="ignore"):  # values that are all zero have no share
        share = np.full(len(out), np.nan) if lengths is None else first * norms[0] / carried
    return Looks(**found, sink_output_share=share)


def _plain(
    weights: Tensor,
    visible: Tensor,
    places: Tensor,
    ids: Tensor | None,
    lengths: Tensor | None,
    before: np.ndarray | None,
) -> Looks:
    exact, (rows, keys) = most_exact(weights.device), weights.shape
    weights, visible = weights.to(exact), visible.expand(rows, keys)
    places = places.to(weights.device)
    nothing = torch.full_like(weights[:, 0], torch.nan)
    found = dict.fromkeys(Looks.__dataclass_fields__, nothing)
    found["collision_entropy"] = roles.collision_entropy(weights, visible)
    if lengths is not None:
        norms = lengths[:keys].to(weights)
        found["sink_output_share"] = roles.sink_output_share(weights, visible, norms)
    if ids is not None:
        # The sequence may be longer than the block's keys: to a row those behind are hidden.
        more = max(0, int(places.max()) + 1 - keys)
        pad = torch.nn.functional.pad
        given = pad(weights, (0, more)), pad(visible, (0, more)), places
        tokens = ids[: keys + more].to(weights.device)
        for name in ("self", "previous", "local", "long", "streaming"):
            found[f"{name}_mass"] = getattr(roles, f"{name}_mass")(*given)
        found["mean_distance"] = roles.mean_distance(*given)
        found["duplicate_mass"] = roles.duplicate_mass(*given, tokens)
        found["induction_mass"] = roles.induction_mass(*given, tokens)
        ahead = (visible & (roles.offsets(places, keys) < 0)).any(-1)
        found["ahead"] = torch.where(visible.any(-1), ahead.to(exact), torch.nan)
    told = torch.stack(list(found.values())).cpu().double().numpy()  # all at once
    return Looks(**dict(zip(found, told, strict=True)))
