from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from headgauge.errors import InputError
from headgauge.runs.forms import check_form


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
