import threading
from functools import partial
from pathlib import Path

import pytest

from headgauge.errors import InputError
from headgauge.runs.manifest_file import (
    begin_or_take_up,
    begun_settings,
    changed_manifest,
    find_manifest,
)


def at_once(calls) -> list[Exception]:
    """Each in a thread of its own, all let go together; the errors."""
    gate, errors = threading.Barrier(len(calls)), []

    def run(call):
        gate.wait()
        try:
            call()
        except InputError as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_of_several_settings_one_begins(tmp_path):
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        errors = at_once([partial(begin_or_take_up, folder, {"seed": seed}) for seed in range(6)])
        assert len(errors) == 5
        assert all("holds a run with other settings: seed is" in str(error) for error in errors)
        assert [place.name for place in folder.iterdir()] == ["manifest.json"]


def test_the_same_settings_begin_and_are_taken_up(tmp_path):
    assert at_once([lambda: begin_or_take_up(tmp_path, {"seed": 1})] * 6) == []
    found = find_manifest(tmp_path)
    assert found is not None
    assert found["times"]["resumed"] == 5


def test_changes_made_at_once_are_all_kept(tmp_path):
    begin_or_take_up(tmp_path, {})

    def note(word: str) -> None:
        with changed_manifest(tmp_path) as made:
            made["notes"].append(word)

    assert at_once([lambda word=word: note(word) for word in "abcdefgh"]) == []
    found = find_manifest(tmp_path)
    assert found is not None
    assert sorted(found["notes"]) == list("abcdefgh")


def test_a_change_that_fails_changes_nothing(tmp_path):
    begin_or_take_up(tmp_path, {})

    def fail():
        with changed_manifest(tmp_path) as made:
            made["notes"].append("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    found = find_manifest(tmp_path)
    assert found is not None
    assert found["notes"] == []
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(InputError, match=r"manifest\.json is gone"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_names_that_cannot_be_are_no_runs():
    assert begun_settings(Path("x" * 300)) is None
    with pytest.raises(InputError, match=r"^'a\\udcff' is no name in UTF-8: give the folder"):
        find_manifest(Path("a\udcff"))
    with pytest.raises(InputError, match=r"^cannot read x+/manifest.json: File name too long"):
        find_manifest(Path("x" * 300))
