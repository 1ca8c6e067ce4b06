"""`headgauge remedy` on a small model with random weights, and what is made of its run."""

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
from headgauge.remedies import Remedies
from headgauge.runs.remedy_schema import REMEDY_TABLES
from model_families import case

WORDS = ["<unk>", "the", "prince", "said", "</td>", "war", "and", "peace", "well", "no"]
SIZES = ["--length", "24", "--windows", "2", "--draws", "1", "--threads", "1"]
VERDICTS = ["--verdicts", "diffuse,inactive"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and a text."""
    place = tmp_path_factory.mktemp("given")
    config = hf.GPT2Config(
        n_layer=2, n_head=4, n_embd=32, vocab_size=len(WORDS), n_positions=160,
        initializer_range=0.3, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    hf.set_seed(0)
    hf.GPT2LMHeadModel(config).save_pretrained(place / "tiny")
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()  # type: ignore[assignment]
    fast = hf.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>")
    fast.save_pretrained(place / "tiny")
    told = " ".join(WORDS[1 + (i * i + i // 3) % 9] for i in range(300))
    (place / "story.txt").write_text(told)
    case("llama", "sdpa").model.save_pretrained(place / "other")
    fast.save_pretrained(place / "other")
    lines = "[diffuse.rest_entropy_share]\nvalue = 0.5\n[inactive.output_ratio]\nvalue = 0.95\n"
    (place / "mine.toml").write_text(lines)
    return place


@pytest.fixture(scope="module")
def asked(place: Path) -> list[str]:
    given = ["remedy", str(place / "tiny"), "--text", str(place / "story.txt")]
    return [*given, *SIZES, *VERDICTS, "--thresholds", str(place / "mine.toml")]


@pytest.fixture(scope="module")
def run(asked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    assert command([*asked, "--out", str(out), "--quiet"]) == 0
    return out


def test_what_a_run_leaves(run: Path) -> None:
    for name in REMEDY_TABLES:
        assert (run / "remedies" / f"{name}.parquet").is_file()
    assert (run / "scan" / "heads.parquet").is_file()
    assert (run / "figures" / "remedies.png").is_file()
    assert "http://" not in (run / "report.html").read_text().replace("http://www.w3.org", "")
    found = headgauge.read_run(run)
    assert isinstance(found, Remedies)
    assert set(found.trials["verdict"]) == {"diffuse", "inactive"}
    assert found.manifest["splits"]["offset"] == 48  # pyright: ignore


def test_the_verdicts_of_a_scan_and_the_same_again(
    run: Path, place: Path, cli: Any, tmp_path: Path, undrawn: None
) -> None:
    """From the scan's folder, with its model and text named again, the same numbers come out."""
    given = ["remedy", str(run / "scan"), "--model", str(place / "tiny")]
    given += ["--text", str(place / "story.txt"), *SIZES, *VERDICTS, "--out", str(tmp_path / "run")]
    given += ["--thresholds", str(place / "mine.toml")]
    code, out, err = cli(*given, "--json")
    assert code == 0, err
    told = json.loads(out)
    before = headgauge.read_run(run)
    assert isinstance(before, Remedies)
    assert told["trials"] == before.trials.to_dicts()
    assert {row["verdict"] for row in told["sets"]} == {"diffuse", "inactive"}
    assert told["heads"][0].keys() >= {"before", "after"}
    assert told["finding"] == before.finding()
    code, again, _ = cli(*given, "--json")
    assert (code, json.loads(again)["losses"]) == (0, told["losses"])


def test_the_terminal_the_page_and_markdown(
    run: Path, place: Path, asked: list[str], cli: Any, undrawn: None
) -> None:
    code, out, _ = cli(*asked, "--out", str(run))
    assert code == 0
    for words in ("What remedies do to the loss", "What remedies do to the verdict", "chosen"):
        assert words in out
    code, out, _ = cli("report", str(run), "--markdown")
    assert code == 0
    assert "| verdict | remedy |" in out
    assert cli("report", str(run))[0] == 0
    code, _, err = cli("report", str(run), "--thresholds", str(place / "mine.toml"))
    assert code == 2
    assert "try them again with others" in err


def test_what_it_would_need(asked: list[str], cli: Any, tmp_path: Path) -> None:
    code, out, _ = cli(*asked, "--out", str(tmp_path / "run"), "--estimate", "--json")
    assert code == 0
    assert json.loads(out)["seconds"] > 0
    assert not (tmp_path / "run").exists()


def test_mistakes_are_one_line(run: Path, place: Path, cli: Any, tmp_path: Path) -> None:
    text, tiny = ["--text", str(place / "story.txt")], str(place / "tiny")
    scan = str(run / "scan")
    for arguments, said in (
        ([str(run), *text], "is a run of another kind and has no verdicts"),
        ([scan, *text], "the scan does not say where its model tiny lies"),
        ([scan, "--model", tiny], "the scan does not say where its text story.txt lies"),
        ([scan, "--model", str(place / "other"), *text], "is not the model of the scan, tiny"),
        ([scan, "--model", tiny, "--text-string", "the war"], "is not the text of the scan"),
        ([scan, "--model", tiny, *text, "--windows", "9"], "10 windows of 24 tokens left"),
        ([tiny, *text, "--length", "80", "--windows", "2"], "room for 3 windows of 80 tokens"),
        ([tiny, *text, "--verdicts", "sunk"], "no verdict named 'sunk'"),
        ([tiny, *text, "--model", "other"], "two models were given"),
    ):
        out = tmp_path / "run"
        code, shown, err = cli("remedy", *arguments, "--out", str(out), "--quiet")
        assert (code, shown) == (2, ""), arguments
        assert said in err
        assert err.count("\n") == 1
        assert not out.exists()
