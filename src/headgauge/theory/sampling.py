"""Means of rows of which some were drawn, and how far they may be from the means of all.

The n query rows of a window are cut into R strata of neighbouring rows, as equal in width as whole
rows allow, and one row is drawn in each, uniformly. A row that stands for the w_k rows of its
stratum weighs w_k, so that Σ w_k y_k / n has the mean of all rows as its expectation. Of a measure
that only some rows have (those that see enough keys) the mean is Σ w_k y_k / Σ w_k over the drawn
rows that have it: a ratio of two such sums.

    m = Σ w_k y_k / Σ w_k             e_k = w_k (y_k − m), 0 where row k does not have it
    error² = (1 − R/n) · R/(R − 1) · ½ Σ_{k<R} (e_{k+1} − e_k)² / (Σ w_k)²

The draws are independent, so the variance of the sum is that of the strata added up, and that of a
ratio is the variance of Σ e_k/Σ w_k to first order. One draw says nothing of the spread in its own
stratum, but neighbouring strata are alike, and two draws from alike strata differ by twice the
variance of one: half of the squared difference of neighbours stands for each, R of them for the
R − 1 there are (Wolter, Introduction to Variance Estimation, ch. 8). A draw among w rows has (1 −
1/w) of the variance among them with divisor w − 1, which the difference estimates: hence 1 − R/n,
and no error where all rows are drawn. Where the mean changes from stratum to stratum the change
counts as spread: the error is then too large, never too small on average.

>>> mean, error = stratified_mean(np.array([[1.0, 2.0, 4.0]]), np.array([2.0, 2.0, 2.0]))
>>> mean.round(3), error.round(3)
(array([2.333]), array([0.456]))
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
    where a counted row has no number.

    Rows come first inside: all measures of one are added to those of the rows before.
    """
    drawn, everyone = values.shape[-1], float(widths.sum())
    weights = widths if counted is None else widths * counted
    both = np.broadcast_arrays(values, weights)
    values, weights = (np.moveaxis(each, -1, 0) for each in both)
    values = np.ascontiguousarray(np.where(weights > 0, values, 0.0))
    total = weights.sum(0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = (weights * values).sum(0) / total
        steps = np.diff(weights * (values - mean), axis=0)
        squares = (steps**2).sum(0) if drawn > 1 else np.full_like(mean, np.nan)
        left = (1 - drawn / everyone) * drawn / max(drawn - 1, 1)
        return mean, np.sqrt(left * squares / 2) / total
