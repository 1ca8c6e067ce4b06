"""Means of rows of which some were drawn, and how far they may be from the means of all.

The n query rows of a window are cut into R strata of neighbouring rows, as equal in width as whole
rows allow, and one row is drawn in each, uniformly. A row that stands for the w_k rows of its
stratum weighs w_k, so that Σ w_k y_k / n has the mean of all rows as its expectation. Of a measure
that only some rows have (those that see enough keys) the mean is Σ w_k y_k / Σ w_k over the drawn
rows that have it: a ratio of two such sums.

    m = Σ w_k y_k / Σ w_k             e_k = w_k (y_k − m), 0 where row k does not have it
    S = Σ_{a≤k<b} (e_{k+1} − e_k)², its first and last term twice
    error² = (1 − R/n) · c/(c − 1) · S/2 / (Σ w_k)²

c drawn rows have the measure, the first and last of them in strata a and b. The draws are
independent, so the variance of the sum is that of the strata added up, and that of a ratio is the
variance of Σ e_k/Σ w_k to first order. One draw says nothing of the spread in its own stratum, but
neighbouring strata are alike, and two draws from alike strata differ by twice the variance of one:
half of the squared difference of neighbours stands for each (Wolter, Introduction to Variance
Estimation, ch. 8). Every stratum is in two terms, so that its variance counts in full; those at
the ends are in one, which therefore counts twice. Rows without the measure between a and b are
part of the ratio's variance, those before and after are not: where all rows beyond a place have it
nothing is drawn about which do. c/(c − 1) is there because e_k is taken from the rows' own mean.
Without a row between that has none it only makes up for what few differences know of the spread.

A draw among w rows has (1 − 1/w) of the variance among them with divisor w − 1, which the
difference estimates where the order of rows in two neighbouring strata is an accident: hence
1 − R/n, and no error where all rows are drawn. Where the mean changes from stratum to stratum the
change counts as spread: there the error is too large. It is too small in most draws where few rows
carry nearly all of the spread, because most draws miss them. One row alone has no error.

>>> mean, error = stratified_mean(np.array([[1.0, 2.0, 4.0]]), np.array([2.0, 2.0, 2.0]))
>>> mean.round(3), error.round(3)
(array([2.333]), array([0.645]))
"""

import numpy as np
from jaxtyping import Bool, Float, Int

Values = Float[np.ndarray, "*measures rows"]


def stratified_places(queries: int, rows: int, seed: tuple[int, ...]) -> Int[np.ndarray, "rows 2"]:
    """R of n places, one drawn in each stratum, in their order, and how many rows each stands
    for; all of them where R ≥ n."""
    rows = min(rows, queries)
    edges = np.arange(rows + 1) * queries // rows
    widths = np.diff(edges)
    drawn = edges[:-1] + np.random.default_rng(seed).integers(0, widths)
    return np.stack([drawn, widths], axis=1)


def stratified_mean(
    values: Values,
    widths: Float[np.ndarray, "rows"],
    counted: Bool[np.ndarray, "*#measures rows"] | None = None,
) -> tuple[Float[np.ndarray, "*measures"], Float[np.ndarray, "*measures"]]:
    """m and its error for each measure, over the rows that are `counted`; NaN without any, and
    where a counted row has no number. One of several rows has no error.

    Rows come first inside: all measures of one are added to those of the rows before.
    """
    drawn, everyone = values.shape[-1], float(widths.sum())
    if counted is None:
        counted = np.ones((1,) * (values.ndim - 1) + (drawn,), bool)
    both = np.broadcast_arrays(values, widths * counted)
    values, weights = (np.moveaxis(each, -1, 0) for each in both)
    values = np.ascontiguousarray(np.where(weights > 0, values, 0.0))
    total = weights.sum(0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = (weights * values).sum(0) / total
        if drawn == everyone:
            return mean, np.abs(0 * mean)
        steps = np.diff(weights * (values - mean), axis=0)
        squares = (np.moveaxis(_times(counted), -1, 0) * steps**2).sum(0)
        return mean, np.sqrt((1 - drawn / everyone) / 2 * squares) / total


def _times(counted: Bool[np.ndarray, "*measures rows"]) -> Float[np.ndarray, "*measures steps"]:
    """How often each squared step counts in S, times c/(c − 1); NaN for one row."""
    rows, places = counted.sum(-1, keepdims=True), np.arange(counted.shape[-1] - 1)
    first = counted.argmax(-1, keepdims=True)
    last = places.size - counted[..., ::-1].argmax(-1, keepdims=True)
    inside = (places >= first) & (places < last)
    return inside * (1.0 + (places == first) + (places == last - 1)) * (rows / (rows - 1))
