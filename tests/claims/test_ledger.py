import functools
import importlib
import re
from contextlib import nullcontext

import pytest
import torch

from headgauge import claims
from headgauge.claims import Verdict
from headgauge.errors import InputError
from shape_checks import shapes_unchecked

# How many variants each number has: 4 has three primed ones.
VARIANTS = {1: 1, 3: 2, 4: 3, 5: 2, 6: 1, 9: 2, 11: 1, 12: 2, 14: 1, 19: 1}
IDS = [f"{k}" + "'" * prime for k in range(1, 23) for prime in range(VARIANTS.get(k, 0) + 1)]
IDS += [f"D{k}" for k in range(1, 12)]


def test_the_ledger_is_complete_and_in_order():
    assert [claim.id for claim in claims.CLAIMS] == IDS
    assert all(claim.id.isascii() for claim in claims.CLAIMS)
    assert [claim.id for claim in claims.CLAIMS if claim.textual] == ["16", "17"]


# What simulates takes very many steps and what enumerates very many sets, whose shapes are checked
# where particles and E are tested.
UNCHECKED = {"4", "5", "6", "7", "22", *(f"D{k}" for k in range(1, 12))}


@functools.cache
def outcome_of(claim: claims.Claim) -> claims.Outcome:
    with shapes_unchecked() if claim.id.strip("'") in UNCHECKED else nullcontext():
        return next(claims.run([claim]))


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_every_check_agrees_with_its_verdict(claim):
    outcome = outcome_of(claim)
    assert outcome.agrees, outcome.finding
    if outcome.finding:
        assert outcome.finding.numbers
        if "notes" in claim.seen_in:
            assert not any("print" in name for name in outcome.finding.numbers)


def test_every_text_is_there_and_names_code_that_exists():
    for claim in claims.CLAIMS:
        for text in (claim.where, claim.statement, claim.because, claim.corrected):
            assert text.strip() == text
            assert text
            assert not re.search(r"\s{2,}", text)
        assert claim.code or claim.textual
        for name in claim.code:
            module, _, attribute = f"headgauge.{name}".rpartition(".")
            try:
                assert hasattr(importlib.import_module(module), attribute), name
            except ModuleNotFoundError:
                importlib.import_module(f"headgauge.{name}")


# Written out once more, because a check cannot tell false from misprint from not implied.
VERDICTS = {
    Verdict.TRUE: ["3", "4'", "9", "D1", "D2", "D3", "D4", "D5", "D6", "D9", "D11"],
    Verdict.CONDITION: ["1", "2", "5", "15", "19'", "20", "D10"],
    Verdict.VACUOUS: ["5'", "7"],
    Verdict.MISPRINT: ["4''", "9''", "17", "18"],
    Verdict.NOT_IMPLIED: ["12''", "14'", "22"],
}


def test_no_verdict_changes_unnoticed():
    named = {claim_id: verdict for verdict, ids in VERDICTS.items() for claim_id in ids}
    for claim in claims.CLAIMS:
        assert claim.verdict == named.get(claim.id, Verdict.FALSE), claim.id


def test_every_record_says_where_its_statement_was_seen():
    for claim in claims.CLAIMS:
        if not claim.id.startswith("D"):
            assert claim.seen_in in ("the paper", "the slides", "the paper and the slides")
            assert ("slides" in claim.where.lower()) == ("slides" in claim.seen_in)
        else:
            assert claim.seen_in.startswith("second-hand notes")


def test_only_what_was_seen_in_print_is_called_printed():
    for claim in claims.CLAIMS:
        if "notes" in claim.seen_in:
            assert claim.verdict != Verdict.MISPRINT
            for text in (claim.statement, claim.because, claim.corrected, *claim.code):
                assert "print" not in text, text


@pytest.mark.usefixtures("unchecked")
def test_checks_give_the_same_numbers_every_time():
    for claim in map(claims.find, ("3'", "9''", "14", "19", "D6", "D11")):
        assert next(claims.run([claim])).finding == outcome_of(claim).finding


@pytest.mark.parametrize("name", ["4'''", "4‴", " 4''' ", "4''′"])
def test_primes_may_be_typographic(name):
    assert claims.find(name).id == "4'''"


def test_a_letter_may_be_small():
    assert claims.find("d10").id == "D10"


def test_the_checks_leave_the_threads_as_they_were():
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        assert next(claims.run([claims.find("D10")])).agrees
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_an_unknown_id_names_the_known_ones():
    with pytest.raises(InputError, match=r"there is no claim '99'; the ledger has 1, 1', 2"):
        claims.find("99")
