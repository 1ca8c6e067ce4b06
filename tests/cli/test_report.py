"""`headgauge report` on runs that someone or something has changed: one line, or the same page."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import transformers as hf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from model_families import case

WORDS = ["<unk>", "the", "prince", "said", "well", "war", "and", "peace"]
SIMULATION = ["simulate", "--tokens", "4", "--dim", "4", "--horizon", "1", "--seeds", "1",
              "--scheme", "post_ln", "--parts", "rates"]  # fmt: skip


def command(*arguments: str) -> None:
    from headgauge.cli.app import run

    with redirect_stdout(StringIO()):
        assert run([*arguments, "--quiet", "--json"]) == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scan and a simulation without their figures, in folders whose names are patterns."""
    place = tmp_path_factory.mktemp("made")
    case("llama", "sdpa").model.save_pretrained(place / "model")
    words = Tokenizer(WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    hf.PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(place / "model")
    (place / "story.txt").write_text(" ".join(WORDS[1 + i * i % 7] for i in range(40)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headgauge.report.figures.draw", lambda *_: [Path("report.html")])
        command(
            "scan", str(place / "model"), "--text", str(place / "story.txt"), "--length", "16",
            "--windows", "1", "--top-n", "1,2", "--layers", "0", "--heads", "0",
            "--out", str(place / "scan[v2]"),
        )  # fmt: skip
        command(*SIMULATION, "--out", str(place / "simulation*"))
    return place


@pytest.fixture(params=["scan[v2]", "simulation*"])
def run(request: pytest.FixtureRequest, made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made / request.param, tmp_path / "run")


def test_page_and_figures_from_what_is_stored(cli: Any, made: Path, tmp_path: Path) -> None:
    run = shutil.copytree(made / "scan[v2]", tmp_path / "scan[v2]")
    assert pl.read_parquet((run / "heads.parquet").read_bytes()).height == 1
    code, out, err = cli("report", str(run), "--plain")
    assert (code, err) == (0, "")
    drawn = list((run / "figures").iterdir())
    assert {"heads.png", "heads.txt", "entropy.svg", "separability.png"} <= {
        path.name for path in drawn
    }
    count = len({path.stem for path in drawn})
    assert out == f"{count} figures in {run}/figures\nopen {run}/report.html\n"
    assert (run / "report.html").stat().st_size > 10_000


def places(value: Any, above: tuple = ()) -> Iterator[tuple]:
    """Every field that has a form; settings and facts are free."""
    yield from (above,) if above else ()
    if isinstance(value, dict) and above[-1:] not in [("settings",), ("facts",)]:
        for name, part in value.items():
            yield from places(part, (*above, name))


def changed(value: Any, at: tuple, new: Any) -> Any:
    return {**value, at[0]: changed(value[at[0]], at[1:], new)} if at else new


def test_every_field_of_a_manifest_is_looked_at(run: Path, cli: Any) -> None:
    file = run / "manifest.json"
    whole = json.loads(file.read_text())
    known = list(places(whole))
    assert len(known) > 40
    for at in known:
        file.write_text(json.dumps(changed(whole, at, [["x"]])))
        code, _, err = cli("report", str(run))
        assert code == 2, at
        assert ("manifest.json is " if at[0] != "format" else "has no format number") in err
        assert err.count("\n") == 1


@pytest.mark.parametrize("value", ["../../x", "/tmp/x"])
def test_a_figure_is_not_named_by_a_table(value: str, made: Path, tmp_path: Path, cli: Any) -> None:
    """Not even where the file's sum was put right."""
    run = shutil.copytree(made / "scan[v2]", tmp_path / "below" / "run")
    file, manifest = run / "curves.parquet", run / "manifest.json"
    pl.read_parquet(file).with_columns(keys=pl.lit(value)).write_parquet(file)
    code, _, err = cli("report", str(run))
    assert code == 2
    assert "curves.parquet is damaged: not the bytes that were written; repeat the command" in err
    record = json.loads(manifest.read_text())
    record["tables"]["curves"]["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(record))
    code, _, err = cli("report", str(run))
    assert code == 2
    assert "curves.parquet is damaged: it has rows with 'keys' none of visible, all" in err
    assert not (run / "figures").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["below"]
