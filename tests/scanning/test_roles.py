"""What heads do, on hand-made tables: every role, the order of the lines, unseen and broken."""

import polars as pl
import pytest

from headgauge.scanning.roles import roles
from headgauge.scanning.summary import counts
from headgauge.scanning.thresholds import ROLE_LINES, ROLES

from .test_verdicts import sampled, tables

# What pushes the well head over the line of each role.
DOES = {
    "induction": {"induction_score": 0.8},
    "duplicate": {"duplicate_score": 0.8},
    "previous-token": {"previous_mass": 0.8},
    "sink-broadcast": {"sink_weight": 0.4, "first_value_ratio": 0.9},
    "sink-idle": {"sink_weight": 0.9},
    "local": {"local_mass": 0.9},
    "long-range": {"long_mass": 0.6},
}


def named(*changes: dict) -> list[str | None]:
    found = roles(*tables(*({"head": i} | change for i, change in enumerate(changes))))
    return found["role"].to_list()


def test_each_role_alone_and_none():
    assert named(*DOES.values(), {}) == list(ROLES)
    assert list(DOES) == [line.verdict for line in ROLE_LINES]


def test_the_first_line_that_holds_names_the_head():
    for place, role in enumerate(DOES):
        left = list(DOES.values())[place:]
        both = {name: value for does in reversed(left) for name, value in does.items()}
        assert named(both) == [role]


def test_a_row_says_which_number_and_which_line():
    found = roles(*tables({"previous_mass": 0.8, "local_mass": 0.9})).row(0, named=True)
    line = next(each for each in ROLE_LINES if each.verdict == "previous-token")
    assert (found["measure"], found["number"]) == ("previous_mass", 0.8)
    assert found["threshold"] == line.value
    assert found["margin"] == pytest.approx(0.8 / line.value)
    mixed = roles(*tables({"local_mass": 0.5, "long_mass": 0.01})).row(0, named=True)
    assert (mixed["role"], mixed["measure"], mixed["number"]) == ("mixed", "local_mass", 0.5)


def test_windows_are_averaged_and_may_differ():
    windows = [{"window": i, "previous_mass": mass} for i, mass in enumerate((0.9, 0.9, 0.0))]
    row = roles(*tables(*windows)).row(0, named=True)
    assert (row["role"], row["windows"]) == ("previous-token", 3)
    assert row["flips"] == pytest.approx(1 / 3)


def test_what_may_rest_unseen_has_no_role():
    unseen = {"seen": "softmax", "first_value_ratio": None, "local_mass": 0.1}
    assert named(unseen, unseen | {"local_mass": 0.9}, {"entropy": None}) == [None, "local", None]


def test_counts_have_every_role():
    found = counts(roles(*tables({"head": 0}, {"head": 1, "local_mass": 0.9})), "role", ROLES)
    assert found["role"].to_list() == list(ROLES)
    assert found.filter(pl.col("heads") > 0).rows() == [("local", 1, 0.5, 0), ("mixed", 1, 0.5, 0)]


def test_a_line_before_that_is_nearly_reached_makes_a_role_unsure():
    """Not a line behind; of a mixed head any."""
    near = {"previous_mass": 0.39, "previous_mass_error": 0.01}
    behind = {"long_mass": 0.24, "long_mass_error": 0.01}
    changes = (
        *({"local_mass": 0.9}, {"local_mass": 0.9} | near, {"local_mass": 0.9} | behind),
        *({}, near, behind, {"local_mass": 0.9, "local_mass_error": None}),
    )
    found = roles(*sampled(*({"head": i} | change for i, change in enumerate(changes))))
    assert found["role"].to_list() == ["local"] * 3 + ["mixed"] * 3 + ["local"]
    assert found["unsure"].to_list() == [False, True, False, False, True, True, True]
