"""`headgauge reproduce` and `headgauge report` for someone who has a GPT-2: here a small one with
random weights, which every page and table must say."""

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import transformers as hf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from headgauge.results.paper_schema import PAPER_TABLES, UNTESTABLE

WORDS = ["<unk>", "the", "prince", "<script>alert(1)</script>", "</td>", "war", "and", "peace"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with safetensors, as `--model gpt2` would find it in a user's cache."""
    folder = tmp_path_factory.mktemp("models") / "tiny-gpt2"
    config = hf.GPT2Config(
        n_layer=2,
        n_head=2,
        n_embd=16,
        vocab_size=len(WORDS),
        n_positions=64,
        initializer_range=0.02,
    )
    hf.set_seed(0)
    hf.GPT2LMHeadModel(config).save_pretrained(folder)
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = WhitespaceSplit()  # type: ignore[assignment]
    hf.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>").save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("text") / "story.txt"
    file.write_text(" ".join(WORDS[1 + (i * i + i // 3) % 7] for i in range(400)))
    return str(file)


@pytest.fixture(scope="module")
def run(model: str, text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, as the command leaves it."""
    from headgauge.cli.app import run as command

    out = tmp_path_factory.mktemp("runs") / "run"
    wanted = ["reproduce", "--model", model, "--text", text, "--windows", "2", "--out", str(out)]
    assert command([*wanted, "--quiet"]) == 0
    return out


def sums(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".parquet", ".png", ".svg", ".pdf")
    }


def test_what_a_run_leaves(run: Path) -> None:
    for name in PAPER_TABLES:
        assert (run / "paper" / f"{name}.parquet").is_file()
    for name in ("paper", "fig1", "fig2", "fig3", "fig4", "choices", "rules"):
        for kind in ("svg", "pdf"):
            assert (run / "figures" / f"{name}.{kind}").stat().st_size > 1000
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://www.w3.org", "")
    timing = json.loads((run / "timing.json").read_text())["algorithms"]
    assert [row["algorithm"] for row in timing] == ["1", "2", "3", "4", "5"]
    assert all(row["literal_seconds"] > 0 and row["ours_seconds"] > 0 for row in timing)
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["settings"]["lengths"] == [32, 64]  # the context is 64
    assert "Algorithms 1 to 5" in manifest["pseudocode"]


def test_random_weights_are_never_shown_as_a_result(run: Path) -> None:
    verdicts = pl.read_parquet(run / "paper" / "verdicts.parquet")
    assert set(verdicts["verdict"]) == {UNTESTABLE}
    assert verdicts["comment"].str.contains("random weights").all()
    assert "random weights" in (run / "report.html").read_text(encoding="utf-8")


def test_text_of_the_corpus_stays_text(run: Path) -> None:
    assert "<script>alert(1)</script>" in set(pl.read_parquet(run / "samples.parquet")["key_text"])
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "</td>" not in page.split("<body", 1)[1]


def test_report_draws_again_without_computing(cli: Any, run: Path) -> None:
    before, page = sums(run), (run / "report.html").read_bytes()
    (run / "report.html").unlink()
    for figure in (run / "figures").iterdir():
        figure.unlink()
    code, out, err = cli("report", str(run))
    assert code == 0, err
    assert str(run / "report.html") in out
    assert sums(run) == before
    assert (run / "report.html").read_bytes() == page


def test_started_again_it_does_nothing_twice(cli: Any, run: Path, model: str, text: str) -> None:
    before, timing = sums(run), (run / "timing.json").read_bytes()
    code, out, err = cli(
        "reproduce", model, "--text", text, "--windows", "2", "--out", str(run), "--json"
    )
    assert code == 0, err
    assert sums(run) == before
    assert (run / "timing.json").read_bytes() == timing
    document = json.loads(out)
    assert {"verdicts", "choices", "critical_n", "timing", "page"} <= document.keys()
    assert len(document["choices"]) == 16


def test_quick_and_the_table(cli: Any, model: str, text: str, tmp_path: Path) -> None:
    code, out, err = cli(
        "reproduce", model, "--text", text, "--quick", "--rules", "none", "--vectors", "value",
        "--keys", "visible", "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert code == 0, err
    for expected in ("The paper's claims", "critical N", "literal loop", "report.html"):
        assert expected in out
    curves = pl.read_parquet(tmp_path / "run" / "paper_curves.parquet")
    assert set(curves["rule"]) == {"model"}
    assert out.rstrip().endswith("report.html")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--vectors", "keys"], "no vectors named 'keys'; there are"),
        (["--keys", "some"], "no keys named 'some'; there are all, visible"),
        (["--scale", "long"], "no scale named 'long'"),
        (["--rules", "hardmax"], "no rule named 'hardmax' here; there are"),
        (["--length", "9"], "too short for the paper's figures"),
        (["--length", "128"], "longer than the context"),
        (["--windows", "50"], "tokens, but 3200 are needed"),
        (["--model", "other"], "two models were given"),
    ],
)
def test_mistakes_are_one_line(
    cli: Any, model: str, text: str, tmp_path: Path, options: list[str], line: str
) -> None:
    code, out, err = cli(
        "reproduce", model, "--text", text, "--out", str(tmp_path / "run"), "--quiet", *options
    )
    assert (code, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_no_run(cli: Any, tmp_path: Path) -> None:
    code, out, err = cli("report", str(tmp_path))
    assert (code, out) == (2, "")
    assert "is no run of headgauge" in err
    code, _, err = cli("report", str(tmp_path / "nothing"))
    assert code == 2
    assert "there is no such folder" in err
