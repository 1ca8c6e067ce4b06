"""The paper's claims, one by one, beside what was measured, text by text and over all texts.

Each judge looks at one text, under the choice that was measured in full, and returns what it saw
with a word; the limits that decide the word stand in `limits`. `verdict_table` puts the texts
together: a claim is reproduced if it is on every text, and with one text nothing is.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from headgauge.experiments.verdicts import (
    critical,
    distance,
    guidelines,
    other,
    sensitivity,
    separability,
)
from headgauge.experiments.verdicts.evidence import Evidence, Judge, Seen
from headgauge.results.paper_schema import (
    DEPENDS,
    FEW_ROWS,
    NOT_REPRODUCED,
    ONE_TEXT,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
    PaperVerdictRow,
    ReadingRow,
)
from headgauge.results.schema import frame_schema

JUDGES: tuple[Judge, ...] = (
    other.largest_vanishes,
    other.corollary_1_near,
    other.vectors_isotropic,
    other.tokens_apart,
    distance.distance_grows,
    distance.expectation_grows,
    distance.bound_is_safe,
    distance.distance_levels_off,
    distance.expectation_converges,
    distance.bound_tightens,
    critical.critical_share,
    critical.critical_over_length,
    critical.critical_sub_linear,
    separability.separability_settles,
    separability.upper_bound_tracks,
    *sensitivity.JUDGES,
    other.three_heads_cover,
    guidelines.signs_of_saturation,
    guidelines.length_aware_restores,
    guidelines.cold_is_no_gain,
    other.run_time,
)
_HELD = (REPRODUCED, PRINTED_ONLY)
_DECIDED = (*_HELD, NOT_REPRODUCED)

__all__ = ["JUDGES", "Evidence", "Seen", "choose_reading", "joint", "judge", "verdict_tables"]


def judge(evidence: Evidence, untrained: str | None) -> list[Seen]:
    """Every claim on one text. `untrained` says why the weights prove nothing, if they do not."""
    seen = [each(evidence) for each in JUDGES]
    if untrained is None:
        return seen
    return [Seen(**vars(each) | {"verdict": UNTESTABLE, "comment": untrained}) for each in seen]


def choose_reading(evidence: Evidence) -> tuple[str, str]:
    """The reading of Algorithm 5 under which most of Figure 4's claims are seen; the first of
    several, in the order of `READINGS`."""

    def held(reading: tuple[str, str]) -> int:
        looked = Evidence(evidence.frames, evidence.choice, reading)
        return sum(each(looked).verdict == REPRODUCED for each in sensitivity.JUDGES)

    there = set(evidence.frames["fig4"].select("logits", "direction").rows())
    known = [reading for reading in sensitivity.READINGS if reading in there]
    return max(known, key=held, default=evidence.reading)


def verdict_tables(
    seen: Mapping[str, Sequence[Seen]], chosen_on: str | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """ReadingRows and PaperVerdictRows. `chosen_on` is the text the choice was made on, if any."""
    readings = [
        {"text": text}
        | {name: getattr(each, name) for name in frame_schema(ReadingRow) if name != "text"}
        for text, claims in seen.items()
        for each in claims
    ]
    verdicts = []
    for claims in zip(*seen.values(), strict=True):
        words = [each.verdict for each in claims]
        first = claims[0]
        told = {name: getattr(first, name) for name in ("claim", "where", "statement", "paper")}
        decided = [each for each in words if each in _DECIDED]
        verdicts.append(
            told
            | {"held": sum(each in _HELD for each in words), "texts": len(decided)}
            | {"verdict": joint(words), "comment": _comment(claims, seen, chosen_on)}
        )
    return (
        pl.DataFrame(readings, schema=frame_schema(ReadingRow)),
        pl.DataFrame(verdicts, schema=frame_schema(PaperVerdictRow)),
    )


def joint(words: Sequence[str]) -> str:
    """One word for all texts. With a single one nothing that was measured is judged."""
    found = set(words)
    if found == {UNTESTABLE}:
        return UNTESTABLE
    if len(words) < 2:
        return FEW_ROWS if found == {FEW_ROWS} else ONE_TEXT
    held, failed = found & set(_HELD), NOT_REPRODUCED in found
    if held and failed:
        return DEPENDS
    if failed:  # one text is enough to say that it does not hold everywhere
        return NOT_REPRODUCED
    if found <= set(_HELD):
        return PRINTED_ONLY if PRINTED_ONLY in found else REPRODUCED
    return FEW_ROWS if FEW_ROWS in found else UNDECIDED if UNDECIDED in found else UNTESTABLE


def _comment(
    claims: Sequence[Seen], seen: Mapping[str, Sequence[Seen]], chosen_on: str | None
) -> str:
    """What differs between the texts, and the reservation where one was used to choose."""
    words = dict(zip(seen, (each.verdict for each in claims), strict=True))
    if len(set(words.values())) == 1:
        return ""
    said = ", ".join(f"{word} on {text}" for text, word in words.items())
    chosen = f"; the choice was made on {chosen_on}" if chosen_on in words else ""
    return f"{said[0].upper()}{said[1:]}{chosen}."
