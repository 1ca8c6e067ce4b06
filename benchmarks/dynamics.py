"""Swarms against scipy: n = 256, d = 512, six schemes, 20 seeds, horizon 10.

Ours carries the six schemes of a seed side by side, and several seeds as the command does; a round
is what goes together, and its times are those of one seed. Theirs is `scipy.integrate.solve_ivp`,
RK45 or DOP853, whichever is faster, one solve per scheme and seed, with a right-hand side in
vectorised numpy (Q, K and V applied to all tokens at once; nothing where they are the identity).
Both hand out the states at the same 51 times and compute nothing else.

The same achieved error: the largest error of any pair's cosine at any of these times, against
our own solution at a tolerance of 1e-9, on the first seed. Theirs is solved there at tolerances
that bracket our error, and all seeds are then timed at the tolerance between them (log over log)
that meets it, ours and theirs in turns, seed by seed.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from scipy.integrate import solve_ivp

from benchmarks.timing import Comparison, seconds
from headgauge.particles import schemes, sphere
from headgauge.particles.attention import Attention, Weights
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.integrate import integrate
from headgauge.particles.schemes import Scheme
from headgauge.particles.systems import Particles
from headgauge.theory.dynamics import observables

TOKENS, DIM, SEEDS, HORIZON, TIMES = 256, 512, 20, 10.0, 51
TOLERANCE = 1e-5  # that of `headgauge simulate`
METHODS = ("RK45", "DOP853")
LADDER = tuple(10.0**-place for place in range(3, 11))
AT = torch.linspace(0, HORIZON, TIMES, dtype=torch.float64)


@dataclass(frozen=True)
class Case:
    """One kind of matrices, and the ratio that is the goal."""

    name: str
    beta: float
    goal: float
    seeds: int  # that go together

    @property
    def identity(self) -> bool:
        return self.name == "identity"


CASES = (Case("identity", 5.0, 10.0, 5), Case("random", DIM**0.5, 5.0, 1))


def run(rounds: int) -> Iterator[Comparison]:
    """The table's rows, one at a time; the seeds, or some together, are the rounds."""
    for case in CASES:
        chosen = [schemes.get(name) for name in schemes.names()]
        exact = _ours(case, chosen, 1e-9)
        errors = _errors(_ours(case, chosen, TOLERANCE), exact)
        ways = [_theirs(case, each, exact[i], errors[i]) for i, each in enumerate(chosen)]
        ours: list[float] = []
        theirs: list[list[float]] = []
        for first in range(0, SEEDS, case.seeds):
            some = range(first, first + case.seeds)
            ours.append(seconds(partial(_solve, case, chosen, TOLERANCE, seeds=some)) / case.seeds)
            ways_by = list(zip(chosen, ways, strict=True))
            each = [
                [seconds(partial(_scipy, case, s, *way, q)) for s, way in ways_by] for q in some
            ]
            theirs.append([sum(of) / case.seeds for of in zip(*each, strict=True)])
        for at, (scheme, (_, method), error) in enumerate(zip(chosen, ways, errors, strict=True)):
            yield Comparison(
                f"{case.name}, {scheme.title} alone, error {error:.0e}",
                f"solve_ivp, {method}",
                "headgauge",
                theirs[0][at],
                seconds(partial(_solve, case, [scheme], TOLERANCE)),
            )
        yield Comparison(
            f"{case.name}, six schemes, a seed of {SEEDS}",
            "solve_ivp, the faster",
            "headgauge",
            [sum(each) for each in theirs],
            ours,
            case.goal,
        )


def setting() -> str:
    """What was measured, for the line above the table."""
    return (
        f"n = {TOKENS}, d = {DIM}, t = {HORIZON:g}, {TIMES} saved times, our tolerance "
        f"{TOLERANCE:g}; theirs at the same achieved error of the cosines, on the first seed; "
        f"{SEEDS} seeds, all timed, are the rounds, or five of them together where ours are"
    )


def _solve(
    case: Case,
    chosen: list[Scheme],
    tolerance: float,
    saved: Callable[..., object] = lambda number, rows, states: None,
    seeds: Sequence[int] = (0,),
) -> InnerProducts | Particles:
    """Our simulation of some seeds, all schemes at once; of one where matrices are drawn."""
    starts, many = [sphere.uniform(TOKENS, DIM, seed) for seed in seeds], chosen * len(seeds)
    beta = torch.full((len(many),), case.beta, dtype=torch.float64)
    attention = Attention(beta, Weights(case.name, DIM, seeds[0]))
    if case.identity and tolerance >= TOLERANCE:
        gaps = torch.stack([observables.gaps_of(each) for each in starts])
        gaps = gaps.repeat_interleave(len(chosen), 0)
        system, state = InnerProducts.of(gaps, attention, many, floor=1.0)
    else:
        system, state = Particles.of(starts[0].expand(len(chosen), -1, -1), attention, chosen)
    integrate(system, state, AT, saved, tolerance)
    return system


def _ours(case: Case, chosen: list[Scheme], tolerance: float) -> torch.Tensor:
    """The gaps of all pairs: scheme, time, n, n; single precision is enough to compare."""
    kept = torch.empty(len(chosen), TIMES, TOKENS, TOKENS)
    states: list[tuple[int, torch.Tensor, torch.Tensor]] = []
    system = _solve(
        case, chosen, tolerance, lambda n, rows, at: states.append((n, rows, at.clone()))
    )
    for number, rows, state in states:
        if isinstance(system, InnerProducts):
            kept[rows, number] = system.gaps(state).float()
        else:
            kept[rows, number] = observables.gaps_of(system.directions(state)).float()
    return kept


def _errors(found: torch.Tensor, exact: torch.Tensor) -> list[float]:
    return [float((a - b).abs().max()) for a, b in zip(found, exact, strict=True)]


def _theirs(case: Case, scheme: Scheme, exact: torch.Tensor, error: float) -> tuple[float, str]:
    """The tolerance at which scipy has our error, and the method that is faster there."""
    found = []
    for method in METHODS:
        tried: list[tuple[float, float, float]] = []
        for tolerance in LADDER:
            start = time.perf_counter()
            solved = _scipy(case, scheme, tolerance, method)
            spent = time.perf_counter() - start
            gaps = observables.gaps_of(torch.from_numpy(solved)).float()
            tried.append((float((gaps - exact).abs().max()), tolerance, spent))
            if tried[-1][0] <= error:
                break
        met, spent = _interpolated(tried, error)
        found.append((spent, met, method))
    return min(found)[1:]


def _interpolated(tried: list[tuple[float, float, float]], error: float) -> tuple[float, float]:
    """Tolerance and time at an error that the last two tries bracket; else the last try's."""
    for (above, *looser), (below, *tighter) in list(pairwise(tried))[-1:]:
        if below < error < above:
            share = np.log(above / error) / np.log(above / below)
            both = (1 - share) * np.log(looser) + share * np.log(tighter)
            return float(np.exp(both[0])), float(np.exp(both[1]))
    return tried[-1][1], tried[-1][2]


def _scipy(case: Case, scheme: Scheme, tolerance: float, method: str, seed: int = 0) -> np.ndarray:
    """The directions at all times: time, n, d."""
    directions = sphere.uniform(TOKENS, DIM, seed).numpy()
    state = np.concatenate([directions.ravel(), np.ones(TOKENS)])
    matrices = None
    if not case.identity:
        drawn = Weights(case.name, DIM, seed).at(0.5)
        matrices = tuple(each.numpy() for each in (drawn.query, drawn.key, drawn.value))
    found = [state]
    # Mix-LN's field jumps: a solver is started anew there, as anyone would.
    ends = (0.0, *scheme.breaks(), HORIZON)
    for start, stop in pairwise(ends):
        at = AT[(start < AT) & (stop >= AT)].numpy()
        grows = bool(scheme.grows(torch.tensor((start + stop) / 2)))
        field = _field(case, scheme, matrices, grows)
        solved = solve_ivp(
            field, (start, stop), found[-1], method, t_eval=at, rtol=tolerance, atol=tolerance
        )
        found += list(solved.y.T)
    flat = np.stack(found)[:, : TOKENS * DIM].reshape(TIMES, TOKENS, DIM)
    return flat / np.linalg.norm(flat, axis=-1, keepdims=True)


def _field(
    case: Case, scheme: Scheme, matrices: tuple[np.ndarray, ...] | None, grows: bool
) -> Callable[[float, np.ndarray], np.ndarray]:
    """θ' and r' of a scheme in vectorised numpy."""
    gains: dict[str, Callable[[float, np.ndarray], np.ndarray | float]] = {
        "peri_ln": lambda t, norm: 1 / norm,
        "ngpt": lambda t, norm: 1 / norm,
        "ln_scaling": lambda t, norm: 1 / np.sqrt(t + 1),
    }
    gain_of = gains.get(scheme.name, lambda t, norm: 1.0)

    def field(t: float, state: np.ndarray) -> np.ndarray:
        theta = state[: TOKENS * DIM].reshape(TOKENS, DIM)
        radius = state[TOKENS * DIM :]
        if matrices is None:
            query = key = value = theta
        else:
            query, key, value = (theta @ matrix.T for matrix in matrices)
        logits = case.beta * (query @ key.T)
        logits -= logits.max(1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(1, keepdims=True)
        output = logits @ value
        radial = np.einsum("nd,nd->n", theta, output)
        norm = np.sqrt(np.einsum("nd,nd->n", output, output))
        gain = gain_of(t, norm) * np.ones(TOKENS)
        moved = np.empty_like(state)
        turn = moved[: TOKENS * DIM].reshape(TOKENS, DIM)
        np.multiply(radial[:, None], theta, out=turn)
        np.subtract(output, turn, out=turn)
        turn *= (gain / radius if grows else gain)[:, None]
        moved[TOKENS * DIM :] = gain * radial if grows else 0.0
        return moved

    return field
