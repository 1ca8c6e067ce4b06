import json
from pathlib import Path

import pytest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGAUGE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _fill(cache: Path) -> None:
    (cache / "gguf" / "copy").mkdir(parents=True)
    (cache / "gguf" / "copy" / "model.safetensors").write_bytes(bytes(2_000_000))
    (cache / "texts").mkdir()
    (cache / "texts" / "war_and_peace.txt").write_bytes(bytes(500_000))


def test_empty(cli, cache: Path):
    code, out, _ = cli("cache")
    assert code == 0
    assert out == f"{cache} is empty\n"


def test_shown_and_cleared(cli, cache: Path):
    _fill(cache)
    code, out, _ = cli("cache")
    assert code == 0
    assert "2.0 MB" in out
    assert "war_and_peace.txt" in out
    assert (cache / "gguf" / "copy").is_dir()
    code, out, _ = cli("cache", "--clear")
    assert code == 0
    assert "removed" in out
    assert not list((cache / "gguf").iterdir())
    assert not list((cache / "texts").iterdir())
    assert cli("cache")[1].endswith("is empty\n")


def test_json(cli, cache: Path):
    _fill(cache)
    document = json.loads(cli("cache", "--json")[1])
    assert document["cleared"] is False
    assert document["folder"] == str(cache)
    assert [(each["part"], each["bytes"]) for each in document["entries"]] == [
        ("gguf", 2_000_000),
        ("texts", 500_000),
    ]
