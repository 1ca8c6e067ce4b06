"""Hooks and entries that are gone when the block ends, however it ends."""

import threading

import pytest
import torch
from torch import nn

from headgauge.models.hooks import Hooks, here_only


def test_everything_is_put_back_when_the_block_fails() -> None:
    module, entries, order = nn.Linear(2, 2), {"there": 1}, []

    def fail(entries: dict[str, int]) -> None:
        with Hooks() as hooks:
            hooks.before(module, lambda module, args, kwargs: order.append("before"))
            hooks.after(module, lambda module, args, kwargs, output: order.append(output.shape))
            hooks.put(entries, "there", 2)
            hooks.put(entries, "new", 3)
            assert entries == {"there": 2, "new": 3}
            module(torch.ones(1, 2))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail(entries)
    assert order == ["before", (1, 2)]
    assert entries == {"there": 1}
    module(torch.ones(1, 2))
    assert len(order) == 2


def test_a_hook_is_called_by_its_own_thread_alone():
    seen: list[object] = []
    hook = here_only(lambda *given: seen.append(given))
    hook(1, 2)
    thread = threading.Thread(target=hook, args=(3,))
    thread.start()
    thread.join()
    assert seen == [(1, 2)]
