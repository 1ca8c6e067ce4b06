"""The cache of converted models: whole or absent, listed and cleared."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headgauge import models
from headgauge.models import gguf_cache
from headgauge.models.gguf_cache import GgufFacts

Build = Callable[[str, str], Any]
FACTS = GgufFacts("a.gguf", "0" * 64, "4-bit Q4_1 (GGUF file)")


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
    assert gguf_cache.find_copy(FACTS.sha256) == (None, None)
    assert gguf_cache.keep_copy(model, Tokenizer(), FACTS) is None
    found, note = gguf_cache.find_copy(FACTS.sha256)
    assert found is not None
    assert note is None
    assert "transformers-" in found.name
    (entry,) = models.list_cache()
    assert entry.path == found
    assert entry.size > 10_000
    assert models.clear_cache() == [entry]
    assert models.list_cache() == []
    assert gguf_cache.find_copy(FACTS.sha256)[0] is None


def test_another_version_of_transformers_has_its_own(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    gguf_cache.keep_copy(build("llama", "sdpa").model, Tokenizer(), FACTS)
    monkeypatch.setattr("transformers.__version__", "0.0")
    assert gguf_cache.find_copy(FACTS.sha256)[0] is None


def test_a_full_disk_leaves_nothing(build: Build) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    note = gguf_cache.keep_copy(build("llama", "sdpa").model, Tokenizer(full), FACTS)
    assert note is not None
    assert "no space left" in note
    assert models.list_cache() == []


def test_too_little_room_is_seen_before(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))  # type: ignore[attr-defined]
    note = gguf_cache.keep_copy(build("llama", "sdpa").model, Tokenizer(), FACTS)
    assert note is not None
    assert "too little room" in note
    assert models.list_cache() == []


def test_a_crash_leaves_nothing(build: Build) -> None:
    class Crash(Tokenizer):
        def save_pretrained(self, folder: Path) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gguf_cache.keep_copy(build("llama", "sdpa").model, Crash(), FACTS)
    assert models.list_cache() == []


def test_a_damaged_copy_is_written_again(build: Build) -> None:
    model = build("llama", "sdpa").model
    folder = gguf_cache.copy_folder(FACTS.sha256)
    folder.mkdir(parents=True)
    (folder / "headgauge.json").write_text("{")
    assert gguf_cache.find_copy(FACTS.sha256)[0] is None
    assert gguf_cache.keep_copy(model, Tokenizer(), FACTS) is None
    assert gguf_cache.find_copy(FACTS.sha256)[0] is not None
    assert len(models.list_cache()) == 1


def test_two_at_once(build: Build) -> None:
    model = build("llama", "sdpa").model
    assert gguf_cache.keep_copy(model, Tokenizer(), FACTS) is None
    assert gguf_cache.keep_copy(model, Tokenizer(), FACTS) is None
    assert len(models.list_cache()) == 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1"),
        ("llama-3-8b.iq2_xs.gguf", "IQ2_XS"),
        ("model-f16.gguf", "F16"),
        ("model-bf16.gguf", "BF16"),
        ("plain.gguf", None),
    ],
)
def test_kinds_in_names(name: str, kind: str | None) -> None:
    assert gguf_cache._name_type(name) == kind


def test_the_folder_without_a_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEADGAUGE_CACHE_DIR")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert models.cache_folder() == tmp_path / "x" / "headgauge"
