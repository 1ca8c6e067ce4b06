"""The paper's claims, one by one, beside what was measured, text by text and over all texts.

Each claim is looked at on one text, under the choice that was measured in full; the limits that
decide the word stand in `limits`. `verdict_tables` puts the texts together. The text that a choice
was made on does not count for what leans on the choice: a claim is reproduced if it is on every
text that judges, and with one text nothing is judged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType

import polars as pl

from headgauge.paper.evidence import Claim, Evidence, Seen
from headgauge.paper.verdicts import (
    assumptions,
    critical,
    discussion,
    distance,
    sensitivity,
    separability,
)
from headgauge.runs import paper_schema as words
from headgauge.runs.paper_schema import paper_frame


def _claims(*modules: ModuleType) -> tuple[Claim, ...]:
    """In the order in which they stand there."""
    return tuple(
        each for module in modules for each in vars(module).values() if isinstance(each, Claim)
    )


CLAIMS = _claims(assumptions, distance, critical, separability, sensitivity, discussion)
_HELD = {words.REPRODUCED, words.PRINTED_ONLY}
_DECIDED = {*_HELD, words.NOT_REPRODUCED}


def judge(evidence: Evidence, untrained: str | None) -> list[Seen]:
    """Every claim on one text. `untrained` says why the weights prove nothing, if they do not."""
    seen = [each(evidence) for each in CLAIMS]
    if untrained is None:
        return seen
    return [replace(each, verdict=words.UNTESTABLE, comment=untrained) for each in seen]


def choose_reading(evidence: Evidence) -> tuple[str, str]:
    """The reading of Algorithm 5 under which most of Figure 4's claims are seen; the first of
    several, in the order of `READINGS`."""

    def held(reading: tuple[str, str]) -> int:
        looked = replace(evidence, reading=reading)
        return sum(each(looked).verdict == words.REPRODUCED for each in _claims(sensitivity))

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
        said = {text: each.verdict for text, each in zip(seen, texts, strict=True)}
        aside = None if claim.free else chosen_on
        choosing = None if aside is None else said.pop(aside)
        verdict = joint(list(said.values()), choosing)
        why = " ".join(dict.fromkeys(each.comment for each in texts))
        tested = verdict != words.UNTESTABLE
        verdicts.append(
            vars(claim)
            | {
                "held": sum(word in _HELD for word in said.values()),
                "texts": sum(word in _DECIDED for word in said.values()),
                "verdict": verdict,
                "comment": _comment(said, aside, choosing) if tested else why,
            }
        )
    return paper_frame("readings", readings), paper_frame("verdicts", verdicts)


def joint(judging: Sequence[str], choosing: str | None = None) -> str:
    """One word for a claim, from its words on the texts that judge and on the one for choosing.

    The judging texts decide. What held where it was chosen to hold is no evidence; what failed even
    there keeps a claim from being reproduced. A single text that speaks judges nothing.
    """
    found = {each for each in judging if each != words.UNTESTABLE}
    spoken = [each for each in (*judging, choosing) if each not in (None, words.UNTESTABLE)]
    if not spoken:
        return words.UNTESTABLE
    if len(spoken) < 2:
        return words.FEW_ROWS if words.FEW_ROWS in spoken else words.ONE_TEXT
    failed = words.NOT_REPRODUCED in found
    if found & _HELD and (failed or choosing == words.NOT_REPRODUCED):
        return words.DEPENDS
    if failed:  # one text is enough to say that it does not hold everywhere
        return words.NOT_REPRODUCED
    if found <= _HELD:
        return words.PRINTED_ONLY if words.PRINTED_ONLY in found else words.REPRODUCED
    return words.FEW_ROWS if words.FEW_ROWS in found else words.UNDECIDED


def _comment(said: Mapping[str, str], aside: str | None, choosing: str | None) -> str:
    """Which judging texts differ, and what the text for choosing showed."""
    parts = []
    if len(set(said.values())) > 1:
        parts.append(", ".join(f"{word} on {text}" for text, word in said.items()))
    if choosing is not None and choosing != words.UNTESTABLE:
        parts.append(f"{choosing} on {aside}, where the choice was made")
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in parts)
