import json

import pytest

from headgauge import claims
from headgauge.claims import Finding, Verdict


@pytest.fixture
def few(monkeypatch):
    """Three quick claims in place of the ledger: one false, one true, one textual."""
    chosen = tuple(claims.find(name) for name in ("4''", "4'", "16"))
    monkeypatch.setattr(claims, "CLAIMS", chosen)
    return chosen


def test_the_table_lists_every_claim(cli, few):
    code, out, err = cli("claims")
    assert code == 0
    for claim in few:
        assert f" {claim.id} " in out
    assert "agrees" in out
    assert "textual" in out
    assert "\x1b" not in out
    assert "3 statements (1 true, 1 misprint, 1 false); every check agrees" in err


def test_quiet_silences_stderr(cli, few):
    assert cli("claims", "--quiet")[2] == ""
    assert cli("claims", "-q", "--json")[2] == ""


def test_json_is_a_list_of_objects(cli, few):
    code, out, _ = cli("claims", "--json")
    data = json.loads(out)
    assert code == 0
    assert [row["id"] for row in data] == ["4''", "4'", "16"]
    for row in data:
        assert {"id", "verdict", "agrees", "statement", "corrected", "numbers"} <= set(row)
        assert row["agrees"] is True
    assert [row["textual"] for row in data] == [False, False, True]


def test_one_claim_shows_its_numbers(cli):
    code, out, _ = cli("claims", "11")
    assert code == 0
    assert "Corollary 3" in out
    assert "seen in    the paper" in out
    assert "norm at two equal logits, T=1" in out
    assert "0.5" in out
    data = json.loads(cli("claims", "11", "--json")[1])
    assert len(data) == 1
    assert data[0]["seen_in"] == "the paper"
    assert data[0]["numbers"]["norm at two equal logits, T=1"] == 0.5


def test_a_disagreement_is_exit_code_1(cli, monkeypatch):
    wrong = claims.Claim(
        "1", "here", "two is one", Verdict.TRUE, "–", "–", check=lambda: Finding(False, True)
    )
    monkeypatch.setattr(claims, "CLAIMS", (wrong,))
    code, out, err = cli("claims")
    assert code == 1
    assert "DISAGREES" in out
    assert "disagreeing: 1" in err
    code, out, _ = cli("claims", "--json")
    assert code == 1
    assert json.loads(out)[0]["agrees"] is False
