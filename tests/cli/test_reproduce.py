"""`headgauge reproduce` and `headgauge report` for someone who has a GPT-2: here a small one with
random weights, which every page and table must say."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import transformers as hf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from headgauge import models
from headgauge.cli.documents import reproduction_document
from headgauge.measure.runner import default_threads
from headgauge.paper import ReproduceSettings, Reproduction, make_reproduction
from headgauge.paper.choices import GUIDELINE_RULES
from headgauge.runs import begun_settings, begun_units, text_folder
from headgauge.runs.json_files import plain
from headgauge.runs.paper_schema import PAPER_TABLES, UNTESTABLE

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
def other_text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Another text under the same name, as in another folder."""
    file = tmp_path_factory.mktemp("other") / "story.txt"
    file.write_text(" ".join(WORDS[1 + (i * i * i + i // 5) % 7] for i in range(400)))
    return str(file)


@pytest.fixture(scope="module")
def asked(model: str, text: str, other_text: str) -> list[str]:
    return ["reproduce", model, "--text", text, "--text", other_text, "--windows", "2"]


@pytest.fixture(scope="module")
def run(asked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two texts."""
    from headgauge.cli.app import run as command

    out = tmp_path_factory.mktemp("runs") / "run"
    assert command([*asked, "--out", str(out), "--quiet"]) == 0
    return out


def test_python_would_find_nothing_left_to_measure(run: Path, asked: list[str]) -> None:
    free = frozenset({"length"})
    settings = ReproduceSettings(windows=2, free=free, threads=default_threads(1, None))
    source = models.ModelSource(asked[1], None, "cpu", None)
    plan = make_reproduction(source, [asked[3], asked[5]], settings)
    assert begun_settings(run) == plain(plan.identity)
    for name, text in plan.texts.items():
        assert begun_units(run / "texts" / text_folder(name)) == {unit.key for unit in text.units}


def test_what_a_run_leaves(run: Path) -> None:
    for name in PAPER_TABLES:
        assert (run / "paper" / f"{name}.parquet").is_file()
    assert {path.name for path in (run / "texts").iterdir()} == {"story.txt", "story.txt-2"}
    for place in ("choosing", "texts/story.txt", "texts/story.txt-2"):
        assert (run / place / "manifest.json").is_file()
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://www.w3.org", "")
    for name in ("vanishing", "fig1", "fig2", "fig3", "fig4", "choices", "rules"):
        first, second = (
            (run / "figures" / text / f"{name}.svg").read_text()
            for text in ("story.txt", "story.txt-2")
        )
        assert first != second, name
    timing = json.loads((run / "timing.json").read_text())["algorithms"]
    assert [row["algorithm"] for row in timing] == ["1", "2", "3", "4", "5"]
    assert all(row["literal_seconds"] > 0 and row["ours_seconds"] > 0 for row in timing)
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["status"] == "finished"
    assert manifest["settings"]["lengths"] == [32, 64]  # the context is 64
    assert len({each["sha256"] for each in manifest["settings"]["texts"]}) == 2
    assert "Algorithms 1 to 5" in manifest["pseudocode"]
    judging = json.loads((run / "judging.json").read_text())
    assert judging["chosen_on"] == "story.txt"
    assert judging["choice"].keys() == {"vectors", "scale", "keys"}


def test_an_estimate_runs_nothing_and_is_enough(
    cli: Any, run: Path, asked: list[str], tmp_path: Path
) -> None:
    code, out, err = cli(*asked, "--estimate", "--json", "--out", str(tmp_path / "none"))
    assert code == 0, err
    needed = json.loads(out)
    written = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    assert written < needed["disk_bytes"] < 20 * written
    assert needed["seconds"] > 0
    assert not (tmp_path / "none").exists()


def test_defaults_fit_the_shortest_text(cli: Any, model: str, text: str, tmp_path: Path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("the prince war and " * 20)
    code, _, err = cli("reproduce", model, "--text", text, "--text", str(short), "--estimate")
    assert code == 0, err
    for line in (
        "story.txt (asked for): 400 tokens, 1 × 64",
        "short.txt (asked for): 80 tokens, 1 × 64",
        "note   L: 64 instead of 1024, the model's context",
        "note   windows: 1 instead of 5, short.txt has 80 tokens",
    ):
        assert err.count(line) == 1


def test_documents_are_for_scan(cli: Any, model: str, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"text": "the prince"}\n{"text": "war and peace"}\n')
    code, out, err = cli("reproduce", model, "--text", str(prompts), "--quiet")
    assert (code, out) == (2, "")
    assert "prompts.jsonl has documents of their own lengths, which `scan` reads" in err


def test_random_weights_are_never_shown_as_a_result(run: Path) -> None:
    for name in ("verdicts", "readings"):
        table = pl.read_parquet(run / "paper" / f"{name}.parquet")
        assert set(table["verdict"]) == {UNTESTABLE}
        assert table["comment"].str.contains("random weights").all()
    assert "random weights" in (run / "report.html").read_text(encoding="utf-8")


def test_text_of_the_corpus_stays_text(run: Path) -> None:
    samples = pl.read_parquet(run / "texts" / "story.txt" / "samples.parquet")
    assert "<script>alert(1)</script>" in set(samples["key_text"])
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "</td>" not in page.split("<body", 1)[1]


def test_the_document(run: Path) -> None:
    found = Reproduction.load(run)
    document = json.loads(json.dumps(reproduction_document(found, [run / "report.html"])))
    assert {"verdicts", "choices", "critical_n", "timing", "page"} <= document.keys()
    assert next(iter(document)) == "warnings"
    assert len(document["warnings"]) == 2
    assert document["chosen_on"] == "story.txt"
    assert document["choice"] == json.loads((run / "judging.json").read_text())["choice"]
    assert len(document["choices"]) == 2 * 16
    assert {row["text"] for row in document["readings"]} == {"story.txt", "story.txt 2"}
    assert any("for choosing" in line for line in document["stands_on"])


def test_the_page_again_and_its_tables_as_markdown(cli: Any, run: Path, undrawn: None) -> None:
    page = run / "report.html"
    drawn = page.read_bytes()
    page.unlink()
    code, out, err = cli("report", str(run))
    assert code == 0, err
    assert str(page) in out
    assert page.read_bytes() == drawn
    code, out, err = cli("report", str(run), "--markdown")
    assert (code, err) == (0, "")
    assert "| claim |" in out
    assert "random weights" in out


def test_other_texts_are_another_run(cli: Any, run: Path, model: str, text: str) -> None:
    code, out, err = cli(
        "reproduce", model, "--text", text, "--windows", "2", "--out", str(run), "--quiet"
    )
    assert (code, out) == (2, "")
    assert "holds a run with other settings" in err
    assert err.count("\n") == 1


def test_quick(cli: Any, model: str, text: str, tmp_path: Path, undrawn: None) -> None:
    code, out, err = cli(
        "reproduce", model, "--text", text, "--quick", "--rules", "none", "--vectors", "value",
        "--keys", "visible", "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert code == 0, err
    assert out.startswith("Warning: random weights: ")
    for expected in ("The paper's claims", "critical N", "literal loop", "report.html"):
        assert expected in out
    curves = pl.read_parquet(tmp_path / "run" / "texts" / "story.txt" / "paper_curves.parquet")
    assert set(curves["rule"]) == {"model", *GUIDELINE_RULES}
    judging = json.loads((tmp_path / "run" / "judging.json").read_text())
    assert judging["choice"] == {"vectors": "value", "scale": "unit", "keys": "visible"}
    assert judging["chosen_on"] is None
    assert "nothing is judged" in judging["stands"][0]
    assert not (tmp_path / "run" / "choosing").exists()
    assert out.rstrip().endswith("report.html")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--vectors", "keys"], "no vectors named 'keys'; there are"),
        (["--keys", "some"], "no keys named 'some'; there are all, visible"),
        (["--scale", "long"], "no scale named 'long'"),
        (["--rules", "hardmax"], "there is no normalizer 'hardmax'"),
        (["--rules", "ssmax,entmax:alpha=3"], "alpha must be from 1 (softmax) to 2 (sparsemax)"),
        (["--rules", "softmax:temperature=fit"], "temperature needs a number: nothing is fitted"),
        (["--length", "9"], "too short for the paper's figures"),
        (["--length", "128"], "longer than the context"),
        (["--windows", "50", "--length", "64"], "tokens, but 3200 are needed"),
        (["--model", "other"], "two models were given"),
        (["--text", "SAME"], "the text story.txt was given twice: a second text must differ"),
        (["--text", "OTHER", "--quick"], "a quick run reads one text, and 2 were given"),
        (["--sensitivity-rows", "-1"], "--sensitivity-rows needs 0 or more, got -1"),
    ],
)
def test_mistakes_are_one_line(
    cli: Any, model: str, text: str, other_text: str, tmp_path: Path, options: list[str], line: str
) -> None:
    options = [{"SAME": text, "OTHER": other_text}.get(each, each) for each in options]
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
