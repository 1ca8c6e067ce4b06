"""Settings and runs: resumed to the byte, refused with others, the same over processes."""

import hashlib
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import headgauge
from headgauge import models
from headgauge.errors import InputError
from headgauge.measure import runner
from headgauge.runs import UnitKey
from headgauge.scanning.scanning import ScanSettings, scan_task

SMALL: dict[str, Any] = {"top_n": [1, 2, 4], "threads": 1}


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*.parquet"))
    }


def _manifest(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "manifest.json").read_text())
    del found["times"]
    return found


@pytest.mark.parametrize(
    ("choice", "line"),
    [
        ({"lengths": (1,)}, "at least 2 tokens, got length 1"),
        ({"windows": 0}, "windows 0 must be at least 1"),
        ({"offset": -1}, "offset -1 at least 0"),
        ({"top_ns": (0, 1)}, "numbers of 1 or more, got 0, 1"),
        ({"top_ns": ()}, "numbers of 1 or more"),
        ({"top_ns": (1, 1024)}, "top-N must stay below, got 1024"),
        ({"vectors": ("values",)}, "no vectors named 'values'; there are embedding, hidden"),
        ({"vectors": ()}, "vectors needs at least one of"),
        ({"keys": ("masked",)}, "no keys named 'masked'; there are visible, all"),
        ({"precision": "float16"}, "no precision named 'float16'"),
        ({"bos": "maybe"}, "no bos named 'maybe'"),
        ({"threads": 0}, "threads must be in 1 to 1024, got 0"),
        ({"threads": 100_000}, "threads must be in 1 to 1024, got 100000"),
        ({"seed": -1}, "seed must be in 0 to 9223372036854775807, got -1"),
        ({"seed": 2**70}, "seed must be in 0 to 9223372036854775807, got 1180591620717411303424"),
        ({"seed": 10**5000}, "seed must be in 0 to 9223372036854775807, got one of 16610 bits"),
    ],
)
def test_settings_that_make_no_sense(choice: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as error:
        ScanSettings(**choice)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_without_depth_is_what_it_was_before_there_was_one() -> None:
    assert not {"depth", "matrix", "spans"} & ScanSettings().as_dict().keys()
    assert ScanSettings(spans=()).as_dict()["spans"] == ()
    assert ScanSettings(depth=True).as_dict() == ScanSettings().as_dict() | {"depth": True}
    assert scan_task(ScanSettings(depth=True), UnitKey(0, 1024)).depth
    assert not scan_task(ScanSettings(), UnitKey(0, 1024)).depth


def test_the_main_length_is_the_longest() -> None:
    settings = ScanSettings(lengths=(128, 512, 256), top_ns=(1, 300))
    assert settings.length == 512
    assert settings.as_dict()["lengths"] == (128, 512, 256)
    assert {request.scale for request in scan_task(settings, UnitKey(0, 512)).curves} == {"unit"}
    assert scan_task(ScanSettings(raw=True), UnitKey(0, 1024)).curves[0].scale == "raw"


def test_from_python(llama: Any, ids: Tensor) -> None:
    result = headgauge.scan(llama, ids, **SMALL)
    assert len(result.heads) == 3 * 8
    assert len(result.frame()) == 8
    assert set(result.verdicts()["verdict"])
    losses = [unit["loss"] for unit in result.manifest["units"].values()]
    with torch.no_grad():
        expected = [float(llama(row[None], labels=row[None]).loss) for row in ids]
    assert losses == pytest.approx(expected, rel=1e-5)
    sequence = headgauge.scan(llama, ids[0], **SMALL)
    assert sequence.heads.equals(result.heads.filter(window=0))


def test_with_a_folder_and_without(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    asked: dict[str, Any] = SMALL | {"depth": True, "matrix": ["L1H3", (0, 2)]}
    asked["spans"] = {"some": [[1, 3], [5, 9]]}
    kept = headgauge.scan(llama, ids, out=tmp_path / "run", **asked)
    alone = headgauge.scan(llama, ids, **asked)
    assert alone.depth is not None
    assert len(alone.depth) == 3 * 3
    for name, table in alone.tables.items():
        assert kept.tables[name].equals(table), name
    assert kept.manifest["settings"] == alone.manifest["settings"]
    saved = alone.save(tmp_path / "saved")
    assert {"depth.parquet", "matrices.parquet", "spans.parquet"} <= _digests(
        tmp_path / "run"
    ).keys()
    assert _digests(tmp_path / "run") == _digests(tmp_path / "saved")
    assert saved.folder == tmp_path / "saved"
    assert not (tmp_path / "saved" / "figures").exists()  # a result does not draw
    assert "depth" in saved.seconds()["w0000-L00024"]
    # A damaged unit is measured again.
    before = _digests(tmp_path / "run")
    (tmp_path / "run" / "units" / "w0001-L00024" / "depth.parquet").write_bytes(b"damaged")
    headgauge.scan(llama, ids, out=tmp_path / "run", **asked)
    assert _digests(tmp_path / "run") == before
    with pytest.raises(InputError, match=r"other settings: depth.*matrix"):
        headgauge.scan(llama, ids, out=tmp_path / "run", **SMALL)


def test_taken_up_again(llama: Any, ids: Tensor, tmp_path: Path, monkeypatch: Any) -> None:
    whole = headgauge.scan(llama, ids, out=tmp_path / "whole", keep_rows=True, **SMALL)
    assert whole.rows is not None
    calls = 0

    def stop_at_the_second(share: float) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        headgauge.scan(
            llama, ids, out=tmp_path / "part", keep_rows=True, progress=stop_at_the_second, **SMALL
        )
    assert len(list((tmp_path / "part" / "units").iterdir())) == 1
    assert not (tmp_path / "part" / "heads.parquet").exists()
    headgauge.scan(llama, ids, out=tmp_path / "part", keep_rows=True, **SMALL)
    assert _digests(tmp_path / "part") == _digests(tmp_path / "whole")
    assert len(_digests(tmp_path / "part")) == 4
    assert _manifest(tmp_path / "part") == _manifest(tmp_path / "whole")
    # And once more: nothing is left to do.
    monkeypatch.setattr(runner, "measure_unit", lambda *a: pytest.fail("measured again"))
    headgauge.scan(llama, ids, out=tmp_path / "part", keep_rows=True, **SMALL)
    assert _digests(tmp_path / "part") == _digests(tmp_path / "whole")


def test_killed_at_any_moment(llama: Any, tmp_path: Path) -> None:
    """A real process, killed without warning twice, ends in the bytes of one that was not."""
    folder, whole, part = tmp_path / "model", tmp_path / "whole", tmp_path / "part"
    llama.save_pretrained(folder)
    ids = torch.arange(16 * 50).reshape(16, 50) % 47 + 3
    # Both children are forked from one process, which has read the libraries and done nothing.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["headgauge.scanning", "transformers"])
    for units in (1, 7):
        asked = SMALL | {"out": part}
        child = context.Process(target=headgauge.scan, args=(folder, ids.tolist()), kwargs=asked)
        child.start()
        while child.is_alive() and len(list(part.glob("units/w*"))) < units:
            time.sleep(0.005)
        assert child.is_alive()
        child.kill()
        child.join()
    assert 7 <= len(list(part.glob("units/w*"))) < 16
    for out in (whole, part):
        headgauge.scan(folder, ids, out=out, **SMALL)
    assert _digests(part) == _digests(whole)
    assert _manifest(part) == _manifest(whole)
    assert not list(part.rglob(".writing*"))


def test_other_settings_are_refused(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    plain = headgauge.scan(llama, ids, out=tmp_path / "run", **SMALL)
    # What a run from before there was depth says: it is taken up.
    assert plain.depth is None
    assert "depth" not in plain.manifest["settings"]
    before = _digests(tmp_path / "run")
    assert "depth.parquet" not in before
    with pytest.raises(InputError, match="raw"):
        headgauge.scan(llama, ids, out=tmp_path / "run", raw=True, **SMALL)
    with pytest.raises(InputError, match=r"text\.sha256"):
        headgauge.scan(llama, (ids + 1) % 50, out=tmp_path / "run", **SMALL)
    # Threads are those the run began with, where nobody says.
    again = headgauge.scan(llama, ids, out=tmp_path / "run", top_n=SMALL["top_n"])
    assert again.manifest["settings"]["threads"] == 1
    with torch.no_grad():
        llama.lm_head.weight.mul_(2)
    with pytest.raises(InputError, match=r"model\.fingerprint"):
        headgauge.scan(llama, ids, out=tmp_path / "run", **SMALL)
    assert _digests(tmp_path / "run") == before


def test_seeds_and_threads(llama: Any, ids: Tensor) -> None:
    first, threaded, other = (
        headgauge.scan(llama, ids[:2], top_n=[1, 2, 4], seed=seed, threads=threads)
        for seed, threads in ((1, 1), (1, 2), (2, 1))
    )
    for name, table in first.tables.items():
        assert threaded.tables[name].equals(table), name
    assert not first.samples.equals(other.samples)
    assert first.heads.equals(other.heads)


def test_processes_give_the_same_tables(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    llama.save_pretrained(tmp_path / "model")
    asked: dict[str, Any] = SMALL | {"matrix": "L1H0"}
    one = headgauge.scan(tmp_path / "model", ids, out=tmp_path / "one", **asked)
    headgauge.scan(tmp_path / "model", ids, out=tmp_path / "two", jobs=2, **asked)
    assert _digests(tmp_path / "one") == _digests(tmp_path / "two")
    assert one.manifest["model"] is not None
    assert one.manifest["model"]["name"] == "model"
    assert str(tmp_path) not in (tmp_path / "one" / "manifest.json").read_text()


def test_a_model_in_memory_stays_in_its_process(llama: Any, ids: Tensor) -> None:
    with pytest.raises(InputError, match="run it with one job"):
        headgauge.scan(llama, ids, jobs=2, **SMALL)
    with pytest.raises(InputError, match="jobs must be in 1 to 1024, got 0"):
        headgauge.scan(llama, ids, jobs=0, **SMALL)


def test_progress_rises_to_one(llama: Any, ids: Tensor) -> None:
    shares: list[float] = []
    headgauge.scan(llama, ids[:2], length=[12, 24], progress=shares.append, **SMALL)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert len(shares) > 6


@pytest.mark.parametrize("name", ["gpt2", "mistral", "gemma2", "gemma3", "gpt-oss", "t5", "bert"])
def test_families(build: Any, ids: Tensor, name: str) -> None:
    model = build(name, "eager").model
    result = headgauge.scan(model, ids[:1], vectors=["value", "hidden"], **SMALL)
    modules = len(models.attention_modules(model))
    assert len(result.frame()) == 4 * modules
    assert (
        result.heads.null_count().select("entropy", "output_norm", "max_logit").row(0) == (0,) * 3
    )
    assert not any("could not be measured" in note for note in result.notes())


@pytest.mark.parametrize("name", ["gptj", "bloom"])
def test_tapped_families_are_incomplete(build: Any, ids: Tensor, name: str) -> None:
    result = headgauge.scan(build(name).model, ids[:1], **SMALL)
    assert "healthy" not in set(result.verdicts()["verdict"])
    assert any("softmax alone" in note for note in result.notes())
