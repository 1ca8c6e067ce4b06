"""The one wrapper around transformers' attention functions: who changes a call, who watches it.

While anyone needs it, entries of transformers' `AttentionInterface` are wrapped: "sdpa" and
"eager", into which rules can be put, and for a watcher that needs no more than the arguments of a
call those of flash and flex attention. The entries keep their names, and the model its
configuration and its mask functions, because modeling files branch on the name: DeepSeek-V3.2 turns
its sparse selection into a mask only under "eager" and "sdpa", and GPT-2 may leave the interface
under "eager". A new name would run another model.

Rules in force (`swap`, `install`) are nearest to the model's own function and watchers are around
them, in whichever order they began: they see what the rules made.
"""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
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
    """An interception, or the monitor of a training."""

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
    """The entries, wrapped as long as there are users; the rules of modules; the watchers."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users: Counter[str] = Counter()  # of each entry
        self.own: dict[str, Any] = {}
        self.rules: dict[int, list[_InForce]] = {}  # by the id of a module that is kept alive
        self.watchers: tuple[Watcher, ...] = ()


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


def acquire(names: Iterable[str] = IMPLEMENTATIONS) -> None:
    """Wrap the entries of these names, if they are not."""
    from transformers import AttentionInterface

    with _interface.lock:
        # `register` is public; taking an entry out again is not, and "eager" has none by default.
        entries = AttentionInterface._global_mapping
        for name in names:
            _interface.users[name] += 1
            if _interface.users[name] == 1:
                _interface.own[name] = entries.get(name)
                entries[name] = _wrapped(name, _interface.own[name])


def release(names: Iterable[str] = IMPLEMENTATIONS) -> None:
    """Put the entries back after the last user of each."""
    from transformers import AttentionInterface

    with _interface.lock:
        entries = AttentionInterface._global_mapping
        for name in names:
            _interface.users[name] -= 1
            if _interface.users[name]:
                continue
            own = _interface.own.pop(name)
            if own is None:
                entries.pop(name, None)
            else:
                entries[name] = own


@contextmanager
def watched(watcher: Watcher, names: Iterable[str] = IMPLEMENTATIONS) -> Iterator[None]:
    """Calls of modules that it watches go through this watcher; the last to come is outermost."""
    names = tuple(names)
    acquire(names)
    try:
        with _interface.lock:
            _interface.watchers = (*_interface.watchers, watcher)
        yield
    finally:
        with _interface.lock:
            others = [each for each in _interface.watchers if each is not watcher]
            _interface.watchers = tuple(others)
        release(names)


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
        rules = rules_of(module)

        def answer(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if rules is None or implementation not in IMPLEMENTATIONS:
                return original(module, *args, **kwargs)
            _served.modules.add(id(module))
            return attend(rules, implementation, original, module, args, kwargs)

        for watcher in _interface.watchers:
            if watcher.watches(module):
                answer = _seen(watcher, implementation, answer, rules)
        return answer(module, *args, **kwargs)

    # Compiled code stops here, and goes on behind: what it does depends on who asks.
    return torch.compiler.disable(function) if "torch._dynamo" in sys.modules else function


def _seen(
    watcher: Watcher, implementation: str, inner: Callable[..., Any], rules: HeadRules | None
) -> Callable[..., Any]:
    def function(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        return watcher.see(implementation, inner, rules, module, args, kwargs)

    return function


def _autograd_thread() -> bool:
    """Whether this is a thread of a backward pass, which python did not start."""
    if torch._C._current_graph_task_id() == -1:
        return False
    here = threading.get_ident()
    return all(each.ident != here for each in threading.enumerate())
