"""The paper's claims, one by one, beside what was measured, text by text and over all texts.

Each claim is looked at on one text, under the choice that was measured in full; the limits that
decide the word stand in `limits`. `verdict_tables` puts the texts together. The text that a choice
was made on does not count for what leans on the choice: a claim is reproduced if it is on every
text that judges, and with one text nothing is judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from headgauge.paper.verdicts import assumptions, critical, distance, sensitivity, separability
from headgauge.paper.verdicts.evidence import Claim, Evidence, Seen
from headgauge.runs.paper_schema import (
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
from headgauge.runs.schema import frame_schema

CLAIMS: tuple[Claim, ...] = (
    *assumptions.CLAIMS,
    *distance.CLAIMS,
    *critical.CLAIMS,
    separability.separability_settles,
    separability.upper_bound_tracks,
    *sensitivity.CLAIMS,
    separability.three_heads_cover,
    separability.signs_of_saturation,
    separability.length_aware_restores,
    separability.cold_is_no_gain,
    separability.run_time,
)
# Neither the vectors and keys nor the reading of Algorithm 5 play a part: every text judges these.
FREE = (assumptions.largest_vanishes, assumptions.corollary_1_near, separability.run_time)
_HELD = {REPRODUCED, PRINTED_ONLY}
_DECIDED = {*_HELD, NOT_REPRODUCED}

__all__ = ["CLAIMS", "Evidence", "Seen", "choose_reading", "joint", "judge", "verdict_tables"]


def judge(evidence: Evidence, untrained: str | None) -> list[Seen]:
    """Every claim on one text. `untrained` says why the weights prove nothing, if they do not."""
    seen = [each(evidence) for each in CLAIMS]
    if untrained is None:
        return seen
    return [replace(each, verdict=UNTESTABLE, comment=untrained) for each in seen]


def choose_reading(evidence: Evidence) -> tuple[str, str]:
    """The reading of Algorithm 5 under which most of Figure 4's claims are seen; the first of
    several, in the order of `READINGS`."""

    def held(reading: tuple[str, str]) -> int:
        looked = replace(evidence, reading=reading)
        return sum(each(looked).verdict == REPRODUCED for each in sensitivity.CLAIMS)

    there = set(evidence.frames["fig4"].select("logits", "direction").rows())
    known = [reading for reading in sensitivity.READINGS if reading in there]
    return max(known, key=held, default=evidence.reading)


def verdict_tables(
    seen: Mapping[str, Sequence[Seen]], chosen_on: str | None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """ReadingRows and PaperVerdictRows, of what `judge` saw on each text. `chosen_on` is the text
    that the choice and the reading were made on, if they were not given."""
    readings = [
        {"text": text, "claim": claim.claim} | vars(each)
        for text, claims in seen.items()
        for claim, each in zip(CLAIMS, claims, strict=True)
    ]
    verdicts = []
    for claim, texts in zip(CLAIMS, zip(*seen.values(), strict=True), strict=True):
        words = {text: each.verdict for text, each in zip(seen, texts, strict=True)}
        aside = None if claim in FREE else chosen_on
        choosing = None if aside is None else words.pop(aside)
        verdict = joint(list(words.values()), choosing)
        why = dict.fromkeys(each.comment for each in texts)
        verdicts.append(
            {name: getattr(claim, name) for name in ("claim", "where", "statement", "paper")}
            | {
                "held": sum(word in _HELD for word in words.values()),
                "texts": sum(word in _DECIDED for word in words.values()),
                "verdict": verdict,
                "comment": " ".join(why)
                if verdict == UNTESTABLE
                else _comment(words, aside, choosing),
            }
        )
    return (
        pl.DataFrame(readings, schema=frame_schema(ReadingRow)),
        pl.DataFrame(verdicts, schema=frame_schema(PaperVerdictRow)),
    )


def joint(judging: Sequence[str], choosing: str | None = None) -> str:
    """One word for a claim, from its words on the texts that judge and on the one for choosing.

    The judging texts decide. What held where it was chosen to hold is no evidence; what failed even
    there keeps a claim from being reproduced. A single text that speaks judges nothing.
    """
    words = [each for each in judging if each != UNTESTABLE]
    spoken = words + [each for each in (choosing,) if each not in (None, UNTESTABLE)]
    if not spoken:
        return UNTESTABLE
    if len(spoken) < 2:
        return FEW_ROWS if FEW_ROWS in spoken else ONE_TEXT
    found = set(words)
    failed = NOT_REPRODUCED in found
    if found & _HELD and (failed or choosing == NOT_REPRODUCED):
        return DEPENDS
    if failed:  # one text is enough to say that it does not hold everywhere
        return NOT_REPRODUCED
    if found <= _HELD:
        return PRINTED_ONLY if PRINTED_ONLY in found else REPRODUCED
    return FEW_ROWS if FEW_ROWS in found else UNDECIDED


def _comment(words: Mapping[str, str], aside: str | None, choosing: str | None) -> str:
    """Which judging texts differ, and what the text for choosing showed."""
    said = []
    if len(set(words.values())) > 1:
        said.append(", ".join(f"{word} on {text}" for text, word in words.items()))
    if choosing is not None and choosing != UNTESTABLE:
        said.append(f"{choosing} on {aside}, where the choice was made")
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in said)
