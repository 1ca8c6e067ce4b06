"""The paper's claims, one by one, beside what was measured.

Each judge looks at the choice that was measured in full and returns a row: the paper's number, ours
under the printed formula and under the corrected one, and one of four words. The limits that a word
hangs on stand in the judge's docstring.
"""

from collections.abc import Sequence

import polars as pl

from headgauge.experiments.verdicts import critical, distance, other, sensitivity, separability
from headgauge.experiments.verdicts.evidence import Evidence, Judge
from headgauge.results.paper_schema import (
    NOT_REPRODUCED,
    PRINTED_ONLY,
    REPRODUCED,
    UNTESTABLE,
    PaperVerdictRow,
)
from headgauge.results.schema import frame_schema

JUDGES: tuple[Judge, ...] = (
    distance.distance_grows,
    distance.expectation_grows,
    distance.bound_is_safe,
    distance.distance_levels_off,
    distance.expectation_converges,
    distance.bound_tightens,
    critical.critical_share,
    critical.critical_over_length,
    separability.separability_settles,
    separability.upper_bound_tracks,
    sensitivity.sensitivity_follows,
    sensitivity.sensitivity_drops,
    sensitivity.smaller_steps_larger,
    sensitivity.bound_is_near,
    other.three_heads_cover,
    other.run_time,
)
WORDS = (REPRODUCED, PRINTED_ONLY, NOT_REPRODUCED, UNTESTABLE)

__all__ = ["JUDGES", "WORDS", "Evidence", "verdict_table", "words"]


def verdict_table(evidence: Evidence, untrained: str | None) -> pl.DataFrame:
    """PaperVerdictRows. `untrained` says why the weights prove nothing, if they do not."""
    rows = []
    for judge in JUDGES:
        row = vars(judge(evidence))
        if untrained is not None:
            row = row | {"verdict": UNTESTABLE, "comment": untrained}
        rows.append(row)
    return pl.DataFrame(rows, schema=frame_schema(PaperVerdictRow))


def words(verdicts: pl.DataFrame) -> Sequence[tuple[str, int]]:
    """How many claims got which word."""
    counts = dict(verdicts.group_by("verdict").len().rows())
    return [(word, counts.get(word, 0)) for word in WORDS]
