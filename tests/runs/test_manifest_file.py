import threading
from functools import partial
from pathlib import Path

import pytest

from headgauge.errors import InputError
from headgauge.runs.manifest_file import (
    begin_or_take_up,
    begun_settings,
    changed_manifest,
    differences,
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


# Differences


def test_equal_settings_have_none():
    assert differences({"a": {"b": [1, None]}}, {"a": {"b": [1, None]}}) == ""


def test_names_are_dotted_and_values_as_in_json():
    there = {"length": 512, "text": {"name": "prose", "offset": 0}}
    here = {"length": 1024, "text": {"name": "verse", "offset": 0}}
    said = 'length is 512 there, 1024 here; text.name is "prose" there, "verse" here'
    assert differences(there, here) == said
    assert differences({"old": True}, {"new": None}, "before", "after") == (
        "new is not set before, null after; old is true before, not set after"
    )
    # A section against a value.
    assert differences({"a": {"b": 1}}, {"a": {}}) == (
        "a is not set there, {} here; a.b is 1 there, not set here"
    )


def test_three_are_shown_and_the_rest_counted():
    there: dict[str, int] = dict.fromkeys("abcde", 1)
    assert differences(there, dict.fromkeys("abcde", 2)) == (
        "a is 1 there, 2 here; b is 1 there, 2 here; c is 1 there, 2 here; and 2 more"
    )


def test_a_long_value_is_cut():
    said = differences({"a": list(range(100))}, {"a": []})
    value = said.removeprefix("a is ").removesuffix(" there, [] here")
    assert len(value) == 40
    assert value.startswith("[0, 1, 2")
    assert value.endswith("…")
