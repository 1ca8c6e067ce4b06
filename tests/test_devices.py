import re

import pytest

from headgauge.devices import check_device
from headgauge.errors import InputError


def test_the_cpu_is_there():
    check_device("cpu")


@pytest.mark.parametrize(
    "device", ["abacus", "cpu:x", "", "privateuseone", "vulkan", "meta", "\x1b[31mred\n"]
)
def test_what_is_not_there_is_told_in_one_line(device):
    with pytest.raises(InputError, match=f"^{re.escape(f'no device {device!r} here: ')}.+") as told:
        check_device(device)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 300
