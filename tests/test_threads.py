import pytest
import torch

from headgauge.threads import one_thread


def fail_inside(seen: list[int]) -> None:
    with one_thread():
        seen.append(torch.get_num_threads())
        raise ZeroDivisionError


def test_the_threads_come_back_after_an_error_too():
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(before + 1)
    try:
        with pytest.raises(ZeroDivisionError):
            fail_inside(seen)
        assert seen == [1]
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)
