import pytest

from headgauge.cli.building import names, numbers
from headgauge.errors import InputError


def test_numbers_and_ranges():
    assert numbers("--n", "4, 1,8-10,4") == (1, 4, 8, 9, 10)
    assert numbers("--n", "0") == (0,)
    assert names("value, hidden,value,") == ("value", "hidden")


@pytest.mark.parametrize("given", ["", "a", "1,,2", "3-1", "-1", "1.5", "1-", "9" * 5000])
def test_refused(given):
    with pytest.raises(InputError, match="--n wants numbers"):
        numbers("--n", given)


@pytest.mark.parametrize("given", ["1-1000000000000", f"0,1-1{'0' * 40}", "1000001"])
def test_a_vast_range_is_not_written_out(given):
    with pytest.raises(InputError, match="--n wants numbers up to 1000000, got"):
        numbers("--n", given)
