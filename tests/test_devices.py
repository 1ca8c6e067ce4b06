import pytest

from headgauge.devices import check_device
from headgauge.errors import InputError


def test_the_cpu_is_there():
    check_device("cpu")


@pytest.mark.parametrize("device", ["abacus", "cpu:x", ""])
def test_what_is_not_there_is_told_in_one_line(device):
    with pytest.raises(InputError, match=rf"^no device '{device}' here: .+") as caught:
        check_device(device)
    assert "\n" not in str(caught.value)
