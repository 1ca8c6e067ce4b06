"""Compiled: ‖softmax((l + εv)/T) − softmax(l/T)‖/ε for rows of weights and a list of ε.

With p = softmax(l/T), δ the step of each logit beyond that of the largest weight and e = expm1(δ),
the change of the weights is p(e − S)/(1 + S), S = Σ p e: nothing in it cancels. Steps of many
units, where e would overflow, are taken by softmax itself.
"""

import math
from typing import no_type_check

import numpy as np

from headgauge.engine.vector_code import literal

FAR = 30.0  # of δ: beyond it nothing small is left to protect


@literal
@no_type_check
def _near(p, relative, step, count, moved):
    """The norm of the change, for keys that have weight."""
    total = 0.0
    for j in range(count):
        moved[j] = math.expm1(relative[j] * step)
        total += p[j] * moved[j]
    squares = 0.0
    for j in range(count):
        change = p[j] * (moved[j] - total)
        squares += change * change
    return math.sqrt(squares) / (1.0 + total)


@literal
@no_type_check
def _far(p, scores, direction, temperature, epsilon, moved):
    """The same by softmax, for all keys that are seen."""
    highest = -math.inf
    for j in range(p.shape[0]):
        moved[j] = (scores[j] + epsilon * direction[j]) / temperature
        highest = max(highest, moved[j])
    total = 0.0
    for j in range(p.shape[0]):
        moved[j] = math.exp(moved[j] - highest)
        total += moved[j]
    squares = 0.0
    for j in range(p.shape[0]):
        change = moved[j] / total - p[j]
        squares += change * change
    return math.sqrt(squares)


@literal
@no_type_check
def changes(weights, scores, directions, temperatures, epsilons, out, start, stop):
    """out (rows, ε). Row r of `weights` is at temperature r // S and of query r % S, with S the
    rows of `scores`; `directions` has a row for each or one per query. −inf is a key not seen."""
    queries = scores.shape[0]
    shared = directions.shape[0] == queries
    moved = np.empty(weights.shape[1])
    kept, relative = np.empty_like(moved), np.empty_like(moved)
    for row in range(start, stop):
        query = row % queries
        temperature = temperatures[row // queries]
        p, v = weights[row], directions[query if shared else row]
        winner = 0
        for j in range(1, p.shape[0]):
            if p[j] > p[winner]:
                winner = j
        count, highest = 0, 0.0
        for j in range(p.shape[0]):
            if scores[query, j] > -math.inf:
                highest = max(highest, v[j] - v[winner])
            if p[j] != 0.0:  # true for a NaN, which must not vanish here
                kept[count], relative[count] = p[j], v[j] - v[winner]
                count += 1
        for at in range(epsilons.shape[0]):
            step = epsilons[at] / temperature
            if highest * step > FAR:
                change = _far(p, scores[query], v, temperature, epsilons[at], moved)
            else:
                change = _near(kept, relative, step, count, moved)
            out[row, at] = change / epsilons[at]
