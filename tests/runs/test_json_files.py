import json
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from headgauge.errors import InputError
from headgauge.runs.json_files import (
    check_form,
    json_text,
    plain,
    read_json,
    without_paths,
    write_json,
)


def test_plain_is_what_json_gives_back():
    value = {"a": (1, 2.5, None, True, "β"), 3: {"b": []}}
    assert (
        plain(value)
        == json.loads(json_text(value))
        == {
            "a": [1, 2.5, None, True, "β"],
            "3": {"b": []},
        }
    )


def test_what_is_not_finite_is_text():
    assert plain([float("nan"), float("inf"), -float("inf")]) == ["nan", "inf", "-inf"]


def test_other_values_are_refused():
    with pytest.raises(TypeError, match="no JSON value: <object"):
        plain({"a": object()})


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/home/anna/models/gpt2", "gpt2"),
        ("/home/anna/my texts/war and peace.txt", "war and peace.txt"),
        ("~/models/gpt2", "gpt2"),
        (r"C:\Users\Anna\gpt2", "gpt2"),
        ("file:///home/anna/book.txt", "book.txt"),
        ("no copy kept: /var/cache/x has no room", "no copy kept: x has no room"),
        ("cannot read '/a/b.txt': gone", "cannot read 'b.txt': gone"),
        ("https://www.gutenberg.org/files/2600.txt", "https://www.gutenberg.org/files/2600.txt"),
        ("org/name", "org/name"),
        ("N_s/N and 1/(2T), either/or", "N_s/N and 1/(2T), either/or"),
        ("a / b", "a / b"),
        ("layers.0.attention", "layers.0.attention"),
        ("pydoc_data.topics of Python 3.11.7", "pydoc_data.topics of Python 3.11.7"),
    ],
)
def test_paths_are_cut_to_their_last_part(text, left):
    assert without_paths(text) == left


def test_the_home_folder_may_have_a_space(monkeypatch):
    monkeypatch.setenv("HOME", "/home/anna b")
    assert without_paths("no room in /home/anna b/.cache/x: full") == "no room in x: full"


@pytest.mark.parametrize("home", ["/", "", "a", "."])
def test_a_home_that_is_no_folder_of_the_users_garbles_nothing(home, monkeypatch):
    monkeypatch.setenv("HOME", home)
    text = "arXiv 2508.17821, N_s/N and a/b. https://x.org/a"
    assert without_paths(text) == text


def test_a_short_home_is_cut_from_paths_alone(monkeypatch):
    monkeypatch.setenv("HOME", "/a")
    assert without_paths("either/a or b/a/c, see /a/x and /a") == "either/a or b/a/c, see x and ~"


def test_a_user_without_a_home_is_no_error(monkeypatch):
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert without_paths("no room in /var/cache/x: full") == "no room in x: full"


def test_halves_of_letters_become_question_marks():
    """As in the name of a file that is not UTF-8."""
    assert json_text({"a\udcff": ["b\udcff"]}) == '{\n  "a?": [\n    "b?"\n  ]\n}\n'


def test_a_file_is_written_in_the_order_of_its_keys(tmp_path):
    write_json(tmp_path / "a.json", {"b": "ä", "a": 1})
    assert (tmp_path / "a.json").read_bytes() == '{\n  "b": "ä",\n  "a": 1\n}\n'.encode()
    assert read_json(tmp_path / "a.json") == {"b": "ä", "a": 1}


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 10**5])
def test_a_damaged_file_is_told(content, tmp_path):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.json is damaged: no JSON object$"):
        read_json(tmp_path / "a.json")


# Forms


class Inner(TypedDict):
    name: str
    share: float | Literal["nan"] | None


class Outer(TypedDict):
    count: int
    word: Literal["a", "b"]
    right: bool
    inner: Inner | None
    many: dict[str, Inner]
    pair: tuple[str, int]
    list_of: list[float]
    anything: dict[str, Any]
    extra: NotRequired[str]


def whole() -> dict[str, Any]:
    inner = {"name": "ß", "share": 1}
    return {
        "count": 0,
        "word": "a",
        "right": True,
        "inner": None,
        "many": {"x": inner, "y": {"name": "", "share": "nan"}},
        "pair": ["a", 3],
        "list_of": [1, 2.5],
        "anything": {"deep": [[None]]},
        "from a later version": 1,
    }


def test_what_fits_is_silent():
    check_form(Path("a.json"), whole(), Outer)
    check_form(Path("a.json"), whole() | {"inner": {"name": "x", "share": None}}, Outer)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("count", None, "count is null, not a whole number from 0 on"),
        ("count", -1, "count is -1, not a whole number"),
        ("count", True, "count is true or false, not a whole number"),
        ("count", 1.5, "count is 1.5, not a whole number"),
        ("count", 2**63, "count is 9223372036854775808, not a whole number"),
        ("word", "../x", "word is '../x', not 'a' or 'b'"),
        ("word", [], "word is a list, not 'a' or 'b'"),
        ("right", 1, "right is 1, not true or false"),
        ("inner", [], "inner is a list, not an object or null"),
        ("inner", {}, "inner.name is missing"),
        ("many", {"x": {"name": 3, "share": 1.0}}, "many.x.name is 3, not text"),
        ("many", {"x": {"name": "", "share": "inf"}}, "many.x.share is 'inf', not 'nan'"),
        (
            "many",
            {"x": {"name": "", "share": []}},
            "many.x.share is a list, not a number or 'nan' or",
        ),
        ("many", {"x": {"name": "\ud800", "share": 1}}, r"many.x.name is '\ud800', not text"),
        ("many", {"\ud800": {"name": "", "share": 1}}, r"a name in many is '\ud800', not text"),
        ("pair", ["a"], "pair has 1 entries, not 2"),
        ("pair", [1, 2], "pair[0] is 1, not text"),
        ("list_of", [1.0, float("inf")], "list_of[1] is inf, not a number"),
        ("anything", "x", "anything is 'x', not an object"),
        ("extra", None, "extra is null, not text"),
    ],
)
def test_what_does_not_fit_is_named(field, value, said):
    with pytest.raises(InputError) as error:
        check_form(Path("a.json"), whole() | {field: value}, Outer)
    assert str(error.value).startswith(f"a.json is damaged: {said}")
    assert "\n" not in str(error.value)


def test_the_whole_may_be_something_else():
    with pytest.raises(InputError, match=r"a\.json is damaged: it is a list, not an object"):
        check_form(Path("a.json"), [], Outer)
