import numpy as np
import pytest

from headgauge.errors import InputError, check_whole


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (0, "jobs must be in 1 to 8, got 0"),
        (9, "jobs must be in 1 to 8, got 9"),
        (1 << 200, "jobs must be in 1 to 8, got one of 201 bits"),
        (1.5, "jobs must be a whole number, got 1.5"),
        ("2", "jobs must be a whole number, got '2'"),
        (None, "jobs must be a whole number, got None"),
    ],
)
def test_no_whole_number_in_the_range(given, line):
    with pytest.raises(InputError) as told:
        check_whole("jobs", given, 1, 8)
    assert str(told.value) == line


def test_whole_numbers():
    for given in (1, 8, np.int64(4)):
        check_whole("jobs", given, 1, 8)
