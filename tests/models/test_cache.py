"""The cache of converted models: whole or absent, listed and cleared."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headgauge import models
from headgauge.errors import InputError
from headgauge.models import cache as copies
from headgauge.models.gguf_header import quantisation_note

Build = Callable[[str, str], Any]
FILE = ("a.gguf", "0" * 64)
SHA256 = FILE[1]


class Tokenizer:
    """Stands in for one that can be saved, or cannot."""

    def __init__(self, error: OSError | None = None) -> None:
        self.error = error

    def save_pretrained(self, folder: Path) -> None:
        (folder / "tokenizer.json").write_text("{}")
        if self.error:
            raise self.error


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGAUGE_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_keep_find_list_clear(build: Build, cache: Path) -> None:
    model = build("llama", "sdpa").model
    assert copies.find_copy(SHA256) == (None, None)
    assert copies.keep_copy(model, Tokenizer(), *FILE) is None
    found, note = copies.find_copy(SHA256)
    assert found is not None
    assert note is None
    assert "transformers-" in found.name
    sizes = models.list_cache()
    assert list(sizes) == [found]
    assert sizes[found] > 10_000
    assert models.clear_cache() == sizes
    assert models.list_cache() == {}
    assert copies.find_copy(SHA256)[0] is None


def test_another_version_of_transformers_has_its_own(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies.keep_copy(build("llama", "sdpa").model, Tokenizer(), *FILE)
    monkeypatch.setattr("transformers.__version__", "0.0")
    assert copies.find_copy(SHA256)[0] is None


def test_a_full_disk_leaves_nothing(build: Build) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    note = copies.keep_copy(build("llama", "sdpa").model, Tokenizer(full), *FILE)
    assert note is not None
    assert "no space left" in note
    assert models.list_cache() == {}


def test_too_little_room_is_seen_before(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))  # type: ignore[attr-defined]
    note = copies.keep_copy(build("llama", "sdpa").model, Tokenizer(), *FILE)
    assert note is not None
    assert "too little room" in note
    assert models.list_cache() == {}


def test_a_crash_leaves_nothing(build: Build) -> None:
    class Crash(Tokenizer):
        def save_pretrained(self, folder: Path) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copies.keep_copy(build("llama", "sdpa").model, Crash(), *FILE)
    assert models.list_cache() == {}


def test_a_damaged_copy_is_written_again(build: Build) -> None:
    model = build("llama", "sdpa").model
    folder = copies.copy_folder(SHA256)
    folder.mkdir(parents=True)
    (folder / "headgauge.json").write_text("{")
    assert copies.find_copy(SHA256)[0] is None
    assert copies.keep_copy(model, Tokenizer(), *FILE) is None
    assert copies.find_copy(SHA256)[0] is not None
    assert len(models.list_cache()) == 1


@pytest.mark.parametrize("damage", ["flip", "cut", "gone", "another file", "no sums"])
def test_a_copy_that_is_not_what_was_kept(build: Build, damage: str) -> None:
    model = build("llama", "sdpa").model
    copies.keep_copy(model, Tokenizer(), *FILE)
    folder = copies.copy_folder(SHA256)
    weights, facts = folder / "model.safetensors", folder / "headgauge.json"
    content = bytearray(weights.read_bytes())
    if damage == "flip":
        content[-1] ^= 1
        weights.write_bytes(content)
    elif damage == "cut":
        (folder / "tokenizer.json").write_bytes(b"{")
    elif damage == "gone":
        (folder / "config.json").unlink()
    elif damage == "another file":
        (folder / "adapter_config.json").write_bytes(b"{}")
    else:  # as copies were kept before
        facts.write_text(json.dumps({"sha256": SHA256, "file": "a", "quantisation": None}))
    found, note = copies.find_copy(SHA256)
    assert found is None
    assert note is not None
    assert note.startswith("the converted copy in the cache was made anew: ")
    assert copies.keep_copy(model, Tokenizer(), *FILE) is None
    assert copies.find_copy(SHA256) == (folder, None)


def test_what_killed_writers_left_is_swept(build: Build, cache: Path) -> None:
    ours, dead, alive = (cache / "gguf" / name for name in (".writing-a", ".writing-b", "other"))
    for folder in (ours, dead, alive):
        folder.mkdir(parents=True)
    os.utime(dead, (0, 0))
    copies.keep_copy(build("llama", "sdpa").model, Tokenizer(), *FILE)
    assert [folder.exists() for folder in (ours, dead, alive)] == [True, False, True]


def test_two_at_once(build: Build) -> None:
    model = build("llama", "sdpa").model
    assert copies.keep_copy(model, Tokenizer(), *FILE) is None
    assert copies.keep_copy(model, Tokenizer(), *FILE) is None
    assert len(models.list_cache()) == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "4-bit Q4_1 (GGUF file)"),
        ("llama-3-8b.iq2_xs.gguf", "2-bit IQ2_XS (GGUF file)"),
        ("model-f16.gguf", "F16 (GGUF file)"),
        ("model-bf16.gguf", "BF16 (GGUF file)"),
        ("plain.gguf", None),
    ],
)
def test_kinds_in_names(name: str, kind: str | None) -> None:
    assert quantisation_note({}, name) == kind


def test_the_folder_without_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEADGAUGE_CACHE_DIR")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert models.cache_folder() == tmp_path / "x" / "headgauge"
    monkeypatch.delenv("XDG_CACHE_HOME")
    for home in ("/", ""):
        monkeypatch.setenv("HOME", home)
        assert models.cache_folder() == Path("/.cache/headgauge")


def test_nobody_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither HOME nor an entry in the list of users, as a container's user may be."""
    pwd = pytest.importorskip("pwd")

    def nobody(user: int) -> Any:
        raise KeyError(f"uid not found: {user}")

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HEADGAUGE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match=r"no home folder .* set HEADGAUGE_CACHE_DIR"):
        models.cache_folder()
    monkeypatch.setenv("HEADGAUGE_CACHE_DIR", "~nobody-of-this-name/x")
    with pytest.raises(InputError, match="no home folder"):
        models.cache_folder()
