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
from headgauge.engine.row_measures import table_type
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
    seen, sees = visible.expand(rows, keys), visible.any(-1).expand(rows)
    a = torch.where(seen, weights.to(table_type(weights)), 0.0)

    def mass(chosen: Tensor) -> Tensor:
        total = torch.where(chosen, a, 0.0).sum(-1, dtype=exact)
        return torch.where((chosen & seen).any(-1), total, torch.nan)

    nothing = torch.full_like(a[:, 0], torch.nan, dtype=exact)
    found = dict.fromkeys(Looks.__dataclass_fields__, nothing)
    squares = (a * a).sum(-1, dtype=exact)
    found["collision_entropy"] = torch.where(sees, -squares.log(), torch.nan)
    if lengths is not None:
        norms = lengths[:keys].to(a)
        share = a[:, 0].to(exact) * norms[0] / (a * norms).sum(-1, dtype=exact)
        found["sink_output_share"] = torch.where(seen[:, 0], share, torch.nan)
    if ids is not None:
        ids, places = ids.to(a.device), places.to(a.device)
        key = torch.arange(keys, dtype=torch.int32, device=a.device)
        back = places[:, None].int() - key  # once for all of them, and in half of `offsets`' bytes
        far, early = back.abs(), key < roles.STREAM_FIRST
        # The sequence may go on behind the block's keys, and the query's token stand there.
        same = ids[places][:, None] == ids[:keys]
        earlier = same & (back > 0)
        kept = early | (back < roles.STREAM_LAST)
        found["self_mass"], found["previous_mass"] = mass(back == 0), mass(back == 1)
        near = mass(far < roles.LOCAL).nan_to_num(0.0)
        found["local_mass"] = torch.where(sees, near, torch.nan)
        long = far >= roles.FAR
        long[:, 0] = False
        found["long_mass"] = mass(long)
        others = (seen & ~kept).any(-1)
        found["streaming_mass"] = torch.where(others, mass(kept).nan_to_num(0.0), torch.nan)
        distance = (a * far).sum(-1, dtype=exact)
        found["mean_distance"] = torch.where(sees, distance, torch.nan)
        found["duplicate_mass"] = mass(earlier)
        # No row sees a key behind the block's: what followed the last one there is not asked for.
        found["induction_mass"] = mass(torch.nn.functional.pad(earlier[:, :-1], (1, 0)))
        ahead = (seen & (back < 0)).any(-1)
        found["ahead"] = torch.where(sees, ahead.to(exact), torch.nan)
    told = torch.stack(list(found.values())).cpu().double().numpy()  # all at once
    return Looks(**dict(zip(found, told, strict=True)))
