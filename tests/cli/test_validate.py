"""`headgauge validate` on a small model with random weights, and what is made of its run."""

import json
from pathlib import Path
from typing import Any

import pytest
import transformers as hf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

import headgauge
from headgauge.cli.app import run as command
from headgauge.runs.validation_schema import PARTS, VALIDATION_TABLES
from headgauge.validation import Validation

WORDS = ["<unk>", "the", "prince", "said", "</td>", "war", "and", "peace", "well", "no"]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    place = tmp_path_factory.mktemp("given")
    config = hf.GPT2Config(
        n_layer=3, n_head=4, n_embd=32, vocab_size=len(WORDS), n_positions=160,
        initializer_range=0.3, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    hf.set_seed(0)
    hf.GPT2LMHeadModel(config).save_pretrained(place / "tiny")
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()  # type: ignore[assignment]
    fast = hf.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")
    fast.save_pretrained(place / "tiny")
    texts = []
    for name, step in (("story.txt", 3), ("other.txt", 5)):
        told = " ".join(WORDS[1 + (i * i + i // step) % 9] for i in range(300))
        (place / name).write_text(told)
        texts += ["--text", str(place / name)]
    sizes = ["--length", "24", "--windows", "2", "--threads", "1"]
    return ["validate", str(place / "tiny"), *texts, *sizes]


@pytest.fixture(scope="module")
def run(asked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    assert command([*asked, "--out", str(out), "--quiet"]) == 0
    return out


def test_what_a_run_leaves(run: Path) -> None:
    for name in VALIDATION_TABLES:
        assert (run / "validation" / f"{name}.parquet").is_file()
    assert {path.name for path in (run / "parts").iterdir()} == {
        "choosing",
        "judging",
        "second-text",
    }
    assert (run / "figures" / "validation.svg").is_file()
    assert "http://" not in (run / "report.html").read_text().replace("http://www.w3.org", "")
    found = headgauge.read_run(run)
    assert isinstance(found, Validation)
    assert list(found.parts) == list(PARTS)
    for part in found.parts.values():
        assert part.heads["effect"].is_not_null().all()
    assert found.parts["judging"].manifest["splits"]["offset"] == 150  # pyright: ignore
    assert f"{found.comparisons()} comparisons" in found.stands()[2]
    assert "<validation" in repr(found)
    assert "choosing" in (found._repr_html_() or "")


def test_a_run_is_taken_up_where_it_stopped(
    run: Path, asked: list[str], cli: Any, monkeypatch: pytest.MonkeyPatch, undrawn: None
) -> None:
    """Nothing is measured again, and the same numbers come out."""
    monkeypatch.setattr("headgauge.measure.runner.measure_unit", None)
    before = (run / "validation" / "scores.parquet").read_bytes()
    code, out, _ = cli(*asked, "--out", str(run), "--json")
    assert code == 0
    told = json.loads(out)
    assert told["comparisons"] > 0
    assert {row["part"] for row in told["scores"]} == set(PARTS)
    assert {row["kind"] for row in told["decided"]} >= {"measure", "verdict"}
    assert (run / "validation" / "scores.parquet").read_bytes() == before


def test_the_terminal_and_markdown(run: Path, asked: list[str], cli: Any, undrawn: None) -> None:
    code, out, _ = cli(*asked, "--out", str(run))
    assert code == 0
    assert "What measures tell of a head's effect" in out
    assert "Layer 0 alone" in out
    code, out, _ = cli("report", str(run), "--markdown")
    assert code == 0
    assert "| measure |" in out
    assert "second text" in out


def test_the_page_is_drawn_again_and_a_part_has_its_own(run: Path, cli: Any, undrawn: None) -> None:
    assert cli("report", str(run))[0] == 0
    assert cli("report", str(run / "parts" / "judging"))[0] == 0
    code, _, err = cli("report", str(run), "--thresholds", str(_thresholds(run)))
    assert code == 2
    assert "a validation has tested" in err


def _thresholds(place: Path) -> Path:
    file = place.parent / "mine.toml"
    file.write_text("[inactive.output_ratio]\nvalue = 0.5\n")
    return file


def test_what_it_would_need(asked: list[str], cli: Any, tmp_path: Path) -> None:
    code, out, _ = cli(*asked, "--out", str(tmp_path / "run"), "--estimate", "--json")
    assert code == 0
    assert json.loads(out)["seconds"] > 0
    assert not (tmp_path / "run").exists()


def test_mistakes_are_one_line(asked: list[str], cli: Any, tmp_path: Path) -> None:
    code, out, err = cli(*asked, "--how", "median", "--out", str(tmp_path / "run"), "--quiet")
    assert (code, out) == (2, "")
    assert err == "headgauge: no how named 'median'; there are mean, zero\n"
    assert not (tmp_path / "run").exists()
