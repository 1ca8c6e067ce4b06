"""Runs: resumed to the byte, refused with other settings, the same over processes."""

import hashlib
import json
import os
import signal
import subprocess
import sys
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


def test_from_python(llama: Any, ids: Tensor) -> None:
    result = headgauge.scan(llama, ids, **SMALL)
    assert len(result.heads) == 3 * 8
    assert len(result.frame()) == 8
    assert set(result.verdicts()["verdict"])
    losses = [unit["loss"] for unit in result.manifest["units"].values()]
    with torch.no_grad():
        expected = [float(llama(row[None], labels=row[None]).loss) for row in ids]
    assert losses == pytest.approx(expected, rel=1e-5)


def test_a_sequence_is_one_window(llama: Any, ids: Tensor) -> None:
    result = headgauge.scan(llama, ids[0], **SMALL)
    assert result.heads["window"].unique().to_list() == [0]
    assert result.heads["length"].unique().to_list() == [24]


def test_with_a_folder_and_without(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    kept = headgauge.scan(llama, ids, out=tmp_path / "run", **SMALL)
    alone = headgauge.scan(llama, ids, **SMALL)
    assert kept.heads.equals(alone.heads)
    assert kept.curves.equals(alone.curves)
    assert kept.samples.equals(alone.samples)
    assert kept.manifest["settings"] == alone.manifest["settings"]
    saved = alone.save(tmp_path / "saved")
    assert _digests(tmp_path / "run") == _digests(tmp_path / "saved")
    assert saved.folder == tmp_path / "saved"
    assert not (tmp_path / "saved" / "figures").exists()  # a result does not draw
    assert tmp_path / "saved" / "figures" / "heads.png" in headgauge.draw(saved)


def test_taken_up_again(llama: Any, ids: Tensor, tmp_path: Path, monkeypatch: Any) -> None:
    whole = headgauge.scan(llama, ids, out=tmp_path / "whole", rows=True, **SMALL)
    assert whole.rows is not None
    calls = 0

    def stop_at_the_second(share: float) -> None:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        headgauge.scan(
            llama, ids, out=tmp_path / "part", rows=True, progress=stop_at_the_second, **SMALL
        )
    assert len(list((tmp_path / "part" / "units").iterdir())) == 1
    assert not (tmp_path / "part" / "heads.parquet").exists()
    headgauge.scan(llama, ids, out=tmp_path / "part", rows=True, **SMALL)
    assert _digests(tmp_path / "part") == _digests(tmp_path / "whole")
    assert len(_digests(tmp_path / "part")) == 4
    assert _manifest(tmp_path / "part") == _manifest(tmp_path / "whole")
    # And once more: nothing is left to do.
    monkeypatch.setattr(runner, "measure_unit", lambda *a: pytest.fail("measured again"))
    headgauge.scan(llama, ids, out=tmp_path / "part", rows=True, **SMALL)
    assert _digests(tmp_path / "part") == _digests(tmp_path / "whole")


_CHILD = """
import sys, torch, headgauge
folder, out = sys.argv[1:]
headgauge.scan(folder, torch.load(folder + "/ids"), out=out, top_n=[1, 2, 4], threads=1)
"""


def test_depth_is_kept_and_taken_up_again(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    alone = headgauge.scan(llama, ids, depth=True, **SMALL)
    assert alone.depth is not None
    assert len(alone.depth) == 3 * 3
    headgauge.scan(llama, ids, depth=True, out=tmp_path / "whole", **SMALL)
    headgauge.scan(llama, ids, depth=True, out=tmp_path / "broken", **SMALL)
    (tmp_path / "broken" / "units" / "w0001-L00024" / "depth.parquet").write_bytes(b"damaged")
    again = headgauge.scan(llama, ids, depth=True, out=tmp_path / "broken", **SMALL)
    assert _digests(tmp_path / "whole") == _digests(tmp_path / "broken")
    assert "depth.parquet" in _digests(tmp_path / "whole")
    assert again.depth is not None
    assert again.depth.equals(alone.depth)
    saved = alone.save(tmp_path / "saved")
    assert _digests(tmp_path / "whole") == _digests(tmp_path / "saved")
    assert tmp_path / "saved" / "figures" / "depth.png" in headgauge.draw(saved)
    assert "depth" in saved.seconds()["w0000-L00024"]
    with pytest.raises(InputError, match="other settings: depth"):
        headgauge.scan(llama, ids, out=tmp_path / "whole", **SMALL)


def test_a_run_from_before_there_was_depth_is_taken_up(
    llama: Any, ids: Tensor, tmp_path: Path
) -> None:
    plain = headgauge.scan(llama, ids, out=tmp_path / "run", **SMALL)
    assert plain.depth is None
    assert "depth" not in _manifest(tmp_path / "run")["settings"]
    assert not (tmp_path / "run" / "depth.parquet").exists()


def test_killed_at_any_moment(llama: Any, tmp_path: Path) -> None:
    """A real process, killed without warning twice, ends in the bytes of one that was not."""
    folder, whole, part = tmp_path / "model", tmp_path / "whole", tmp_path / "part"
    llama.save_pretrained(folder)
    ids = torch.arange(30 * 120).reshape(30, 120)[:, :60] % 47 + 3
    torch.save(ids, folder / "ids")
    for units in (1, 17):
        command = [sys.executable, "-c", _CHILD, str(folder), str(part)]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while child.poll() is None and len(list(part.glob("units/w*"))) < units:
            time.sleep(0.005)
        assert child.poll() is None, child.communicate()[1].decode()
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
    for out in (whole, part):
        headgauge.scan(folder, ids, out=out, **SMALL)
    assert _digests(part) == _digests(whole)
    assert _manifest(part) == _manifest(whole)
    assert not list(part.rglob(".writing*"))


def test_other_settings_are_refused(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    headgauge.scan(llama, ids, out=tmp_path / "run", **SMALL)
    before = _digests(tmp_path / "run")
    with pytest.raises(InputError) as error:
        headgauge.scan(llama, ids, out=tmp_path / "run", raw=True, **SMALL)
    assert "raw" in str(error.value)
    with pytest.raises(InputError) as error:
        headgauge.scan(llama, (ids + 1) % 50, out=tmp_path / "run", **SMALL)
    assert "text.sha256" in str(error.value)
    with torch.no_grad():
        llama.lm_head.weight.mul_(2)
    with pytest.raises(InputError) as error:
        headgauge.scan(llama, ids, out=tmp_path / "run", **SMALL)
    assert "model.fingerprint" in str(error.value)
    assert _digests(tmp_path / "run") == before


def test_threads_are_those_the_run_began_with(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    one = {"top_n": [1], "threads": 1}
    headgauge.scan(llama, ids, out=tmp_path / "run", **one)
    again = headgauge.scan(llama, ids, out=tmp_path / "run", top_n=[1])
    assert again.manifest["settings"]["threads"] == 1


def test_measures_do_not_depend_on_the_threads(llama: Any, ids: Tensor) -> None:
    one, two = (headgauge.scan(llama, ids, top_n=[1, 2, 4], threads=n) for n in (1, 2))
    assert one.heads.equals(two.heads)
    assert one.curves.equals(two.curves)
    assert one.samples.equals(two.samples)


def test_processes_give_the_same_tables(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    llama.save_pretrained(tmp_path / "model")
    one = headgauge.scan(tmp_path / "model", ids, out=tmp_path / "one", **SMALL)
    headgauge.scan(tmp_path / "model", ids, out=tmp_path / "two", jobs=2, **SMALL)
    assert _digests(tmp_path / "one") == _digests(tmp_path / "two")
    assert one.manifest["model"] is not None
    assert one.manifest["model"]["name"] == "model"
    assert str(tmp_path) not in (tmp_path / "one" / "manifest.json").read_text()


def test_a_model_in_memory_stays_in_its_process(llama: Any, ids: Tensor) -> None:
    with pytest.raises(InputError, match="run it with one job"):
        headgauge.scan(llama, ids, jobs=2, **SMALL)
    with pytest.raises(InputError, match="jobs must be in 1 to 1024, got 0"):
        headgauge.scan(llama, ids, jobs=0, **SMALL)


def test_seeds_choose_the_samples(llama: Any, ids: Tensor) -> None:
    first, same, other = (headgauge.scan(llama, ids, seed=s, **SMALL) for s in (1, 1, 2))
    assert first.samples.equals(same.samples)
    assert not first.samples.equals(other.samples)
    assert first.heads.equals(other.heads)


def test_progress_rises_to_one(llama: Any, ids: Tensor) -> None:
    shares: list[float] = []
    headgauge.scan(llama, ids, length=[12, 24], progress=shares.append, **SMALL)
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
    assert not any("could not be seen" in note for note in result.notes())


@pytest.mark.parametrize("name", ["gptj", "bloom"])
def test_tapped_families_are_incomplete(build: Any, ids: Tensor, name: str) -> None:
    result = headgauge.scan(build(name).model, ids[:1], **SMALL)
    assert "healthy" not in set(result.verdicts()["verdict"])
    assert any("softmax alone" in note for note in result.notes())
