"""`headgauge scan` on a small model with random weights, as a user calls it."""

import errno
import io
import json
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import transformers as hf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from headgauge.cli.app import run
from model_families import case

WORDS = ["<unk>", "the", "prince", "said", "well", "war", "and", "peace", "was", "not", "over"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with safetensors and a tokenizer that knows a few words."""
    folder = tmp_path_factory.mktemp("models") / "tiny-llama"
    case("llama", "sdpa").model.save_pretrained(folder)
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    template = "{% for m in messages %}{{ m['role'] }} {{ m['content'] }} {% endfor %}said"
    tokenizer = hf.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", chat_template=template
    )
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("texts") / "story.txt"
    file.write_text(" ".join(WORDS[1 + (i * i + i // 3) % 10] for i in range(200)))
    return str(file)


@pytest.fixture(scope="module")
def usual(model: str, text: str) -> list[str]:
    sizes = ["--length", "32", "--windows", "2", "--top-n", "1,2,4,16"]
    return ["scan", model, "--text", text, *sizes]


@pytest.fixture
def scan(cli: Any, usual: list[str], tmp_path: Path) -> Any:
    """Run it; what a test gives comes last and wins."""
    return lambda *options: cli(*usual, "--out", str(tmp_path / "run"), *options)


ALL = ["--depth", "--keep-rows", "--matrix", "L1H2,L0H3", "--target-length"]


@pytest.fixture(scope="module")
def whole(
    usual: list[str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str], str, str]:
    """A run with all that can be asked for, in the folder that is named for it; its command, and
    what it printed."""
    place = tmp_path_factory.mktemp("whole")
    with chdir(place), redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        assert run([*usual, *ALL, "4096"]) == 0, err.getvalue()
    (folder,) = (place / "runs").iterdir()
    return folder, [*usual, *ALL], out.getvalue(), err.getvalue()


def test_tables_figures_and_manifest(whole: Any) -> None:
    folder, _, out, err = whole
    for expected in ("8 heads, the worst first", "Layers", "Verdicts", "Loss per window of 32"):
        assert expected in out
    assert "tiny-llama: 2 layers × 4 heads" in err
    assert "story.txt (asked for): 200 tokens, 2 × 32 from token 0" in err
    assert folder.name.startswith("scan-tiny-llama-story.txt-")
    assert f"out    runs/{folder.name}\n" in err
    lengths, windows, heads = 4, 2, 8
    assert len(pl.read_parquet(folder / "heads.parquet")) == lengths * windows * heads
    curves = pl.read_parquet(folder / "curves.parquet").filter(length=32)
    assert len(curves) == windows * heads * 4 * 2  # and without the first key
    samples = pl.read_parquet(folder / "samples.parquet")
    assert set(samples["key_text"]) <= set(WORDS)
    kept = pl.read_parquet(folder / "matrices.parquet").select("layer", "head").unique()
    assert sorted(kept.rows()) == [(0, 3), (1, 2)]
    assert set(pl.read_parquet(folder / "tokens.parquet")["text"]) <= set(WORDS)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["status"] == "finished"
    assert manifest["settings"]["top_ns"] == [1, 2, 4, 16]
    assert str(folder.parent) not in json.dumps(manifest)
    for measure in ("heads", "entropy", "sink_weight", "jacobian_norm", "separability"):
        for kind in ("png", "svg"):
            assert (folder / "figures" / f"{measure}.{kind}").stat().st_size > 1000


def test_the_folder_is_named_for_the_run(whole: Any, cli: Any) -> None:
    """For the settings, not for what is asked of the tables."""
    folder, asked, *_ = whole
    for options, same in ((["64", "--lengths", "4,8,16"], True), (["64", "--seed", "3"], False)):
        code, _, err = cli(*asked, *options, "--estimate")
        assert code == 0, err
        assert (f"out    runs/{folder.name}\n" in err) is same


def test_depth(whole: Any) -> None:
    folder, _, out, _ = whole
    assert "Depth: Pre-LN's prediction beside it" in out
    rows = [line.split()[0] for line in out.split("Depth:")[1].splitlines()[4:7]]
    assert rows == ["0", "1", "after"]
    assert "All 2 layers have a norm before the attention and none on what it adds" in out
    assert "depth.parquet" in out
    assert (folder / "figures" / "depth.png").is_file()


def test_json_of_a_run_that_is_there(whole: Any, cli: Any, tmp_path: Path, undrawn: None) -> None:
    """Nothing is left to measure; other thresholds and another target are asked of its tables."""
    folder, asked, *_ = whole
    file = tmp_path / "mine.toml"
    file.write_text("[inactive.output_ratio]\nvalue = 50\n")
    before = json.loads((folder / "manifest.json").read_text())["outlook"]
    assert before["target"] == 4096
    more = ["64", "--lengths", "4,8,16", "--thresholds", str(file), "--out", str(folder)]
    code, out, err = cli(*asked, *more, "--json", "--quiet")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert next(iter(found)) == "warnings"
    assert len(found["heads"]) == 8
    assert len(found["loss"]) == 8
    assert {"verdict", "heads", "share"} <= set(found["counts"][0])
    assert {each["verdict"]: each["heads"] for each in found["counts"]}["inactive"] == 8
    assert (Path(found["folder"]) / "rows.parquet").is_file()
    assert found["scheme"]["scheme"] == "pre_ln"
    assert "norm before" in found["scheme"]["evidence"]
    assert [row["layer"] for row in found["depth"]] == [0, 1, 2]
    assert found["depth"][1]["predicted_radius"] > found["depth"][0]["predicted_radius"]
    assert {row["scheme"] for row in found["depth_curves"]} >= {"post_ln", "ngpt"}
    told = json.loads((folder / "manifest.json").read_text())["outlook"]
    assert told["verdicts"] == found["outlook"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert '"outlook":{"target":64,' in page
    assert {"now", "target", "certainly"} <= set(found["outlook"][0])
    said = found["outlook_grounds"]
    assert (said["reach"], said["tested_reach"], said["tested"]) == (2.0, 4, True)
    assert 1.0 <= said["degrees_of_freedom"]["least"] <= said["degrees_of_freedom"]["median"]
    assert len(said["notes"]) == 1
    assert "4 lengths leave 2 degrees of freedom" in said["notes"][0]


def test_heads_have_roles_and_the_worst_are_listed_by_what_they_are_worth(
    scan: Any, undrawn: None
) -> None:
    code, out, err = scan("--worst", "--effects")
    assert code == 0, err
    assert "8 heads, those with a fault first, by effect" in out
    assert "± error" in out
    assert "What a head does; it has one at most." in out
    code, out, err = scan("--worst", "--effects", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert {"role", "measure", "number", "threshold"} <= set(found["roles"][0])
    assert len(found["roles"]) == len(found["heads"]) == 8
    roles = {(each["layer"], each["head"]): each["role"] for each in found["roles"]}
    assert all(each["role"] == roles[each["layer"], each["head"]] for each in found["heads"])
    assert None not in {each["effect_error"] for each in found["heads"]}
    order = [(not each["severity"], -each["effect"]) for each in found["heads"]]
    assert order == sorted(order)


def test_choices(scan: Any, tmp_path: Path, undrawn: None) -> None:
    code, out, err = scan(
        "--vectors", "value,hidden", "--keys", "both", "--layers", "1", "--heads", "0-1", "--raw",
        "--precision", "float64", "--top-n", "1-3", "--offset", "7",
    )  # fmt: skip
    assert code == 0, err
    assert "Depth" not in out
    curves = pl.read_parquet(tmp_path / "run" / "curves.parquet")
    assert len(curves) == 2 * 2 * 3 * (2 * 2 + 1)  # and values without the first key
    assert set(curves["scale"]) == {"raw"}
    assert set(curves["layer"]) == {1}
    assert not (tmp_path / "run" / "rows.parquet").exists()
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["units"]["w0001-L00032"]["start"] == 39


def test_the_trend_over_length(whole: Any) -> None:
    folder, _, out, _ = whole
    assert "Outlook at 4096 tokens" in out
    assert "4 lengths leave 2 degrees of freedom for the misfit of the law" in out
    assert "never tested: 4096 tokens are 128 times the longest length" in out
    assert "up to 4 times (128 tokens here)" in out
    assert set(pl.read_parquet(folder / "heads.parquet")["length"]) == {4, 8, 16, 32}
    assert "target" not in json.dumps(
        json.loads((folder / "manifest.json").read_text())["settings"]
    )


def test_an_estimate_runs_nothing(scan: Any, tmp_path: Path) -> None:
    code, out, _ = scan("--estimate")
    assert code == 0
    assert "of memory" in out
    assert not (tmp_path / "run").exists()
    code, out, _ = scan("--estimate", "--json")
    assert json.loads(out)["disk_bytes"] > 0


def test_defaults_fit_model_and_text(cli: Any, model: str, text: str) -> None:
    code, _, err = cli("scan", "--model", model, "--text", text, "--estimate")
    assert code == 0, err
    assert "200 tokens, 3 × 64 from token 0" in err
    for note in (
        "L: 64 instead of 1024, the model's context",
        "windows: 3 instead of 4, story.txt has 200 tokens",
        "N: up to 32 instead of 64, a window has 64 tokens",
    ):
        assert f"note   {note}\n" in err


def test_prompts_of_ones_own(cli: Any, model: str, tmp_path: Path, undrawn: None) -> None:
    prompts = tmp_path / "prompts.jsonl"
    lines = ["the prince said", "well war and peace was not over " * 4, "the war was over"]
    prompts.write_text("".join(json.dumps({"prompt": line}) + "\n" for line in lines))
    run = tmp_path / "run"
    asked = ["scan", model, "--text", str(prompts), "--length", "20", "--out", str(run)]
    code, out, err = cli(*asked, "--depth")
    assert code == 0, err
    assert "3 of 3 documents, 35 tokens in all, at most 20 of each" in err
    assert "1 longer than L = 20 cut to it; 2 shorter read as long as they are" in out
    assert "3 to 20 query rows per head and window" in out
    heads = pl.read_parquet(run / "heads.parquet")
    assert heads.group_by("window").agg(pl.col("rows").max()).sort("window")["rows"].to_list() == [
        3,
        20,
        4,
    ]
    manifest = json.loads((run / "manifest.json").read_text())
    assert lines[1].strip() not in json.dumps(manifest)
    assert (run / "report.html").is_file()
    code, _, err = cli(*asked, "--depth", "--chat", "--quiet")
    assert code == 2  # another reading is another run
    assert "holds a run with other settings" in err


def test_the_text_itself(cli: Any, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "the prince said well"
    code, _, err = cli("scan", model, "--text-string", words, "--estimate")
    assert code == 0, err
    assert "text-string (asked for): 4 tokens, 1 × 4" in err
    code, _, err = cli("scan", model, "--text-string", words, "--chat", "--estimate")
    assert code == 0, err
    assert "in the model's chat template): 1 of 1 documents, 6 tokens" in err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(words.encode())))
    code, _, err = cli("scan", model, "--text", "-", "--estimate")
    assert code == 0, err
    assert "4 tokens, 1 × 4" in err


def test_a_wrong_text_is_told_before_a_model_is_loaded(cli: Any) -> None:
    code, _, err = cli("scan", "no/such/model", "--text", "no-such.txt")
    assert code == 2
    assert "no text 'no-such.txt'" in err


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--length", "100000"], "longer than the context of"),
        (["--length", "60", "--windows", "9"], "story.txt has 200 tokens, but 540 are needed"),
        (["--top-n", "0"], "--top-n wants numbers of 1 or more, got '0'"),
        (["--top-n", "four"], "--top-n wants numbers and ranges such as 1,2,8-16, got 'four'"),
        (["--top-n", "1,32"], "top-N must stay below, got 32"),
        (["--vectors", "keys"], "no vectors named 'keys'"),
        (["--keys", "some"], "no keys named 'some'"),
        (["--layers", "2"], "has layers 0 to 1, not 2"),
        (["--heads", "9"], "has heads 0 to 3, not 9"),
        (["--dtype", "int8"], "no dtype 'int8'"),
        (["--device", "abacus"], "no device 'abacus'"),
        (["--bos", "perhaps"], "no bos named 'perhaps'"),
        (["--bos", "always"], "has no BOS token"),
        (["--text", "no-such.txt"], "no text 'no-such.txt'"),
        (["--thresholds", "no-such.toml"], "no-such.toml"),
        (["--target-length", "16"], "--target-length 16 must exceed --length 32"),
        (["--lengths", "64"], "--lengths must not exceed --length 32"),
        (["--jobs", "0"], "jobs must be in 1 to 1024, got 0"),
        (["--model", "other"], "two models were given"),
        (["--text-string", "the prince"], "a text by name and a text itself were given"),
        (["--chat"], "a chat template is put on prompts"),
        (["--jobs", "1000000"], "jobs must be in 1 to 1024, got 1000000"),
        (["--threads", "0"], "threads must be in 1 to 1024, got 0"),
        (["--threads", "100000"], "threads must be in 1 to 1024, got 100000"),
        (["--seed", "-1"], "seed must be in 0 to 9223372036854775807, got -1"),
        (["--target-length", str(10**30)], "--target-length must be in 2 to 9223372036854775807"),
        (["--windows", str(10**30)], "story.txt has 200 tokens"),
        (["--offset", str(10**30)], "story.txt has 200 tokens"),
    ],
)
def test_a_mistake_is_one_line(scan: Any, tmp_path: Path, options: list[str], line: str) -> None:
    code, out, err = scan("--quiet", *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert line in err
    assert not (tmp_path / "run").exists()


def test_models_that_are_none(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    corrupt = tmp_path / "broken.gguf"
    corrupt.write_bytes(b"GGUF" + bytes(range(200)))
    for name, line in (("no/such/model", "no model 'no/such/model'"), (str(corrupt), "GGUF")):
        code, out, err = cli("scan", name, "--quiet")
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert line in err


def test_a_folder_with_another_run(cli: Any, whole: Any) -> None:
    folder, asked, *_ = whole
    code, _, err = cli(*asked, "4096", "--quiet", "--seed", "3", "--out", str(folder))
    assert code == 2
    assert "seed is 0 there, 3 here" in err


def test_a_full_disk_is_one_line(
    scan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, out, err = scan("--quiet")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "no space left" in err.lower()
    assert not list(tmp_path.rglob("*.parquet"))


def test_too_little_room_is_said_before(
    scan: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage)
    code, _, err = scan("--quiet")
    assert code == 2
    assert "free: choose another --out" in err
    assert not (tmp_path / "run").exists()


def test_some_of_the_rows(scan: Any, cli: Any, tmp_path: Path, undrawn: None) -> None:
    """Each mean has its error, in the tables, the terminal, the document and the exports."""
    code, out, err = scan("--rows", "8", "--quiet")
    assert code == 0, err
    assert "within" in out
    assert " ± " in out
    run = tmp_path / "run"
    heads = pl.read_parquet(run / "heads.parquet")
    assert heads["rows"].unique().to_list() == [8]
    assert (heads["entropy_error"] > 0).all()
    assert "max_logit_error" not in heads.columns
    settings = json.loads((run / "manifest.json").read_text())["settings"]
    assert settings["rows"] == 8
    code, out, err = scan("--rows", "8", "--quiet", "--json")
    found = json.loads(out)
    assert {"entropy_error", "unsure"} <= set(found["heads"][0])
    assert any("8 query rows of each window were measured" in note for note in found["notes"])
    assert any("not unstable by max_logit may be by a row" in note for note in found["notes"])
    code, out, err = cli("export", str(run), "--format", "csv")
    assert code == 0, err
    assert "sink_weight_error" in out
    code, _, err = scan("--quiet")
    assert code == 2
    assert "rows is 8 there, not set here" in err


@pytest.mark.parametrize("given", [["--rows"], ["--rows", "--quiet"]])
def test_rows_without_a_number_are_kept_rows(scan: Any, given: list[str]) -> None:
    code, _, err = scan(*given)
    assert code == 2
    assert "--keep-rows" in err
    assert len(err.splitlines()) == 1


def test_a_run_from_before_some_rows_could_be_asked_for_goes_on(
    scan: Any, tmp_path: Path, undrawn: None
) -> None:
    assert scan("--quiet")[0] == 0
    file = tmp_path / "run" / "manifest.json"
    text = file.read_text()
    assert "block_rows" not in text
    assert '"keep_rows"' in text
    file.write_text(text.replace('"keep_rows"', '"block_rows": 256, "save_rows"'))
    code, _, err = scan("--quiet")
    assert (code, err) == (0, "")
