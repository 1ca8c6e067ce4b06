"""The one wrapper around transformers' attention functions: who changes a call, who watches it.

While anyone needs it, the entries "sdpa" and "eager" of transformers' `AttentionInterface` are
wrapped. The entries keep their names, and the model its configuration and its mask functions,
because modeling files branch on the name: DeepSeek-V3.2 turns its sparse selection into a mask only
under "eager" and "sdpa", and GPT-2 may leave the interface under "eager". A new name would run
another model.

Rules in force (`swap`, `install`) are nearest to the model's own function and an interception is
around them, in whichever order the two began: it sees what the rules made.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn

from headgauge.errors import InputError
from headgauge.models.head_rules import Assigned, HeadRules
from headgauge.models.rule_paths import attend
from headgauge.models.structure import IMPLEMENTATIONS, eager_function

INSTALLED = "installed_rules"  # the name of the child that holds a module's own rules


@runtime_checkable
class Watcher(Protocol):
    """An interception."""

    def watches(self, module: nn.Module) -> bool: ...

    def see(
        self,
        implementation: str,
        attend: Callable[..., Any],
        rules: HeadRules | None,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any: ...


class _Interface:
    """The entries, wrapped as long as there are users; the rules of modules; the watcher."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users = 0
        self.own: dict[str, Any] = {}
        self.rules: dict[int, list[_InForce]] = {}  # by the id of a module that is kept alive
        self.watcher: Watcher | None = None


class _InForce:
    """Rules that a block put into a module, for the thread of the block."""

    def __init__(self, module: nn.Module, rules: HeadRules) -> None:
        self.module, self.rules = module, rules
        self._thread = threading.get_ident()

    def here(self) -> bool:
        """In the thread that asked, and where torch itself computes its layers again.

        Gradient checkpointing runs a layer a second time inside the backward pass, which has
        threads of its own on other devices than the CPU.
        """
        return threading.get_ident() == self._thread or _autograd_thread()


class _Served(threading.local):
    """The modules that asked the interface since they began to run, in this thread."""

    def __init__(self) -> None:
        self.modules: set[int] = set()


_interface, _served = _Interface(), _Served()


def acquire() -> None:
    """Wrap the entries, if they are not."""
    from transformers import AttentionInterface

    with _interface.lock:
        _interface.users += 1
        if _interface.users > 1:
            return
        # `register` is public; taking an entry out again is not, and "eager" has none by default.
        entries = AttentionInterface._global_mapping
        for name in IMPLEMENTATIONS:
            _interface.own[name] = entries.get(name)
            entries[name] = _wrapped(name, _interface.own[name])


def release() -> None:
    """Put the entries back after the last user."""
    from transformers import AttentionInterface

    with _interface.lock:
        _interface.users -= 1
        if _interface.users:
            return
        entries = AttentionInterface._global_mapping
        for name, own in _interface.own.items():
            if own is None:
                entries.pop(name, None)
            else:
                entries[name] = own


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Calls of modules that it watches go through this watcher, one at a time."""
    acquire()
    try:
        _interface.watcher = watcher
        yield
    finally:
        _interface.watcher = None
        release()


@contextmanager
def ruled(modules: list[tuple[nn.Module, HeadRules]]) -> Iterator[None]:
    """Rules for modules, above those that are in force already."""
    acquire()
    put = [_InForce(module, rules) for module, rules in modules]
    try:
        with _interface.lock:
            for each in put:
                _interface.rules.setdefault(id(each.module), []).append(each)
        yield
    finally:
        with _interface.lock:
            for each in put:
                there = _interface.rules[id(each.module)]
                there.remove(each)
                if not there:
                    del _interface.rules[id(each.module)]
        release()


def rules_of(module: nn.Module) -> HeadRules | None:
    """The rules that a module's next call follows; None: all heads have the model's own."""
    own: Any = module._modules.get(INSTALLED)
    put = [each.rules for each in _interface.rules.get(id(module), ()) if each.here()]
    if own is None and len(put) <= 1:
        return put[0] if put else None
    installed: list[Assigned] = [] if own is None else [each.assigned() for each in own]
    return HeadRules([*installed, *(each for rules in put for each in rules.assigned)])


def begin_to_serve(module: nn.Module, *given: Any) -> None:
    """Before a module runs: it has not asked the interface yet."""
    _served.modules.discard(id(module))


def check_served(module: nn.Module, *made: Any) -> None:
    """After a module ran: refuse to let one pass that has rules and went around the interface."""
    if id(module) not in _served.modules and rules_of(module) is not None:
        raise InputError(
            f"a {type(module).__name__} computed its attention outside transformers' interface: "
            "another rule cannot be put there"
        )


def _wrapped(implementation: str, own: Callable[..., Any] | None) -> Callable[..., Any]:
    def function(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        original = eager_function(module) if own is None else own
        rules, watcher = rules_of(module), _interface.watcher

        def answer(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if rules is None:
                return original(module, *args, **kwargs)
            _served.modules.add(id(module))
            return attend(rules, implementation, original, module, args, kwargs)

        if watcher is None or not watcher.watches(module):
            return answer(module, *args, **kwargs)
        return watcher.see(implementation, answer, rules, module, args, kwargs)

    # Compiled code stops here, and goes on behind: what it does depends on who asks.
    return torch.compiler.disable(function) if "torch._dynamo" in sys.modules else function


def _autograd_thread() -> bool:
    """Whether this is a thread of a backward pass, which python did not start."""
    if torch._C._current_graph_task_id() == -1:
        return False
    here = threading.get_ident()
    return all(each.ident != here for each in threading.enumerate())
