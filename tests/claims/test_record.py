import pytest

from headgauge.claims import Claim, Finding, Outcome, Verdict

SURVIVED = Finding(printed=True, corrected=True)
VACUOUS = Finding(printed=True, corrected=True, informative=False)
REFUTED = Finding(printed=False, corrected=True)
CONDITIONAL = Finding(printed=False, corrected=True, conditional=True)
UNCORRECTED = Finding(printed=False, corrected=False)


@pytest.mark.parametrize(
    ("finding", "supported"),
    [
        (SURVIVED, {Verdict.TRUE}),
        (VACUOUS, {Verdict.VACUOUS}),
        (REFUTED, {Verdict.FALSE, Verdict.MISPRINT, Verdict.NOT_IMPLIED}),
        (CONDITIONAL, {Verdict.CONDITION}),
        (UNCORRECTED, set()),
    ],
)
def test_a_finding_supports_only_its_own_verdicts(finding, supported):
    assert {verdict for verdict in Verdict if finding.supports(verdict)} == supported


def make(verdict: Verdict, finding: Finding | None) -> Outcome:
    check = None if finding is None else lambda: finding
    claim = Claim("1", "here", "it is so", verdict, "because", "it is otherwise", check=check)
    return Outcome(claim, finding, 0.0)


def test_a_textual_claim_has_nothing_to_disagree_with():
    outcome = make(Verdict.FALSE, None)
    assert outcome.agrees
    assert outcome.as_dict()["textual"] is True


def test_an_outcome_disagrees_when_the_finding_does():
    assert not make(Verdict.TRUE, REFUTED).agrees
    assert not make(Verdict.FALSE, UNCORRECTED).agrees
    assert make(Verdict.FALSE, REFUTED).agrees


@pytest.mark.parametrize(
    ("where", "told", "expected"),
    [
        ("Theorem 1", "", "the paper"),
        ("Slides, Theorem 1", "", "the slides"),
        ("Eq. (12); slides", "", "the paper and the slides"),
        ("Theorem 1", "second-hand notes", "second-hand notes"),
    ],
)
def test_a_record_says_where_its_statement_was_seen(where, told, expected):
    claim = Claim("1", where, "it is so", Verdict.FALSE, "because", "it is not", seen_in=told)
    assert claim.seen_in == expected
    assert claim.as_dict()["seen_in"] == expected
    assert Outcome(claim, None, 0.0).as_dict()["seen_in"] == expected
