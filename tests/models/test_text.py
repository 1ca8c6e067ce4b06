"""Texts: every copy of War and Peace is the same text, and a failure is one quick line."""

import os
import time
import urllib.error
import urllib.request
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from headgauge import models
from headgauge.errors import InputError
from headgauge.models import text as text_module
from headgauge.models.text import check_story, story

BODY = "“Well, Prince, so it begins.\n\n“Well, Prince?” asked another.\n\nIt ends here."
GUTENBERG = (
    "\ufeffThe Project Gutenberg eBook of War and Peace\n\n"
    "*** START OF THE PROJECT GUTENBERG EBOOK "
    f"WAR AND PEACE ***\n\nCONTENTS\n\nCHAPTER I\n\nBOOK ONE\n\nCHAPTER I\n\n{BODY}\n\n\n"
    "*** END OF THE PROJECT GUTENBERG EBOOK WAR AND PEACE ***\n\nUpdated editions will replace …"
).replace("\n", "\r\n")


class Answer(BytesIO):
    headers: dict[str, str]


def _serve(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    def answer(request: Any, timeout: float) -> Answer:
        found = Answer(content)
        found.headers = {"Content-Length": str(len(content))}
        return found

    monkeypatch.setattr(urllib.request, "urlopen", answer)


def _cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: Any, timeout: float) -> Any:
        raise urllib.error.URLError("Name or service not known")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGAUGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("HEADGAUGE_DATA_DIR", raising=False)
    monkeypatch.setattr(text_module, "_STORY_SIZES", range(50, 100))
    return tmp_path


@pytest.mark.parametrize("copy", [GUTENBERG, f"WAR AND PEACE\nCONTENTS\n{BODY}\n", BODY])
def test_every_copy_is_the_same_text(copy: str) -> None:
    assert story(copy) == BODY + "\n"


def test_another_book_is_refused() -> None:
    with pytest.raises(InputError, match="x is not War and Peace"):
        story("Call me Ishmael.", "x")
    with pytest.raises(InputError, match="not the whole of War and Peace: 29 characters"):
        check_story("Well, Prince, and so on.\n\n\n.", "x")


def test_download(monkeypatch: pytest.MonkeyPatch) -> None:
    _serve(monkeypatch, GUTENBERG.encode())
    steps: list[tuple[int, int | None]] = []
    found = models.read_text("war-and-peace", progress=lambda *step: steps.append(step))
    size = len(GUTENBERG.encode())
    assert steps == [(size, size)]
    assert found.text == BODY + "\n"
    assert found.origin.startswith("https://www.gutenberg.org/")
    assert len(found.sha256) == 64
    ((kept, kept_size),) = models.list_cache().items()
    assert (kept.parent.name, kept_size) == ("texts", size)
    _cut_off(monkeypatch)
    again = models.read_text("war-and-peace")
    assert again.text == found.text
    assert again.origin == str(kept)


def test_a_cached_text_that_was_damaged_is_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _serve(monkeypatch, GUTENBERG.encode())
    whole = models.read_text("war-and-peace").text
    (kept,) = models.list_cache()
    content = bytearray(kept.read_bytes())
    content[-200] ^= 1
    for damaged in (bytes(content), bytes(content[:-50]), b""):
        kept.write_bytes(damaged)
        found = models.read_text("war-and-peace")
        assert found.text == whole
        assert found.origin.startswith("https://")
        assert list(models.list_cache()) == [kept]
    kept.write_bytes(content)
    _cut_off(monkeypatch)
    with pytest.raises(InputError, match="cannot download War and Peace"):
        models.read_text("war-and-peace")


def test_a_text_from_before_sums_were_kept(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = folders / "cache" / "texts" / "war_and_peace.txt"
    left = old.with_name(".writing-war_and_peace.txt-x")
    old.parent.mkdir(parents=True)
    old.write_text(GUTENBERG.replace("Prince?", "Price?"), encoding="utf-8")
    left.write_text("half a te")
    os.utime(left, (0, 0))
    _serve(monkeypatch, GUTENBERG.encode())
    assert models.read_text("war-and-peace").text == BODY + "\n"
    assert not old.exists()
    assert len(models.list_cache()) == 1


def test_a_cache_that_cannot_be_written(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folders / "cache").write_text("a file")
    _serve(monkeypatch, GUTENBERG.encode())
    assert models.read_text("war-and-peace").text == BODY + "\n"


def test_a_download_that_is_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    _serve(monkeypatch, b"<html>Please log in to the hotel's network</html>")
    with pytest.raises(InputError, match="is not War and Peace") as failure:
        models.read_text("war-and-peace")
    assert "\n" not in str(failure.value)
    assert models.list_cache() == {}


def test_the_data_folder_comes_first(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folders / "war_and_peace.txt").write_text(GUTENBERG, encoding="utf-8", newline="")
    monkeypatch.setenv("HEADGAUGE_DATA_DIR", str(folders))
    _cut_off(monkeypatch)
    found = models.read_text()
    assert found.text == BODY + "\n"
    assert found.name == "war-and-peace"
    assert found.why == "the default"
    assert "war_and_peace.txt" in found.origin


def test_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    _cut_off(monkeypatch)
    start = time.perf_counter()
    with pytest.raises(InputError, match="Name or service not known") as failure:
        models.read_text("war-and-peace")
    assert time.perf_counter() - start < 2
    assert "HEADGAUGE_DATA_DIR/war_and_peace.txt" in str(failure.value)
    assert str(failure.value).count("Name or service") == 1
    found = models.read_text()
    assert found.name == "python-reference"
    assert "Name or service not known" in found.why


def test_python_reference() -> None:
    found = models.read_text("python-reference")
    assert len(found.text) > 300_000
    assert "assignment" in found.text
    assert "Python 3." in found.origin
    assert found.sha256 == models.read_text("python-reference").sha256


def test_files(folders: Path) -> None:
    path = folders / "mine.txt"
    path.write_text("\ufeffZwölf", encoding="utf-8")
    found = models.read_text(path)
    assert (found.name, found.text, found.origin) == ("mine.txt", "Zwölf", str(path))
    with pytest.raises(InputError, match=r"no text .*'war-and-peace' or 'python-reference'"):
        models.read_text(folders / "none.txt")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        models.read_text(str(path))
