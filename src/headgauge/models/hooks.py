"""The one way to look into a model: hooks and replaced entries that are gone when the block ends.

    with Hooks() as hooks:
        hooks.before(module, lambda module, args, kwargs: …)
        hooks.after(module, lambda module, args, kwargs, output: …)
        hooks.put(mapping, "name", function)

Everything is put back, however the block ends. Hooks hear the thread that makes them alone: a model
may serve others meanwhile. What is asked of a model stands on this: its attention calls
(`intercept`), the vectors of its keys and the runs of its layers (`layers`).
"""

import sys
import threading
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch import nn


class Hooks(ExitStack):
    """Hooks and entries, removed in the opposite order."""

    def before(self, module: nn.Module, hook: Callable[..., Any], first: bool = False) -> None:
        """hook(module, args, kwargs) whenever a module is about to run; `first`: before others."""
        handle = module.register_forward_pre_hook(here_only(hook), with_kwargs=True, prepend=first)
        self.callback(handle.remove)

    def after(self, module: nn.Module, hook: Callable[..., Any], always: bool = False) -> None:
        """hook(module, args, kwargs, output) once it has run; `always`: also if it failed."""
        handle = module.register_forward_hook(here_only(hook), with_kwargs=True, always_call=always)
        self.callback(handle.remove)

    def put(self, entries: MutableMapping[str, Any], name: str, new: Any) -> None:
        """An entry of a mapping, for as long as the block lasts."""
        if name in entries:
            self.callback(entries.__setitem__, name, entries[name])
        else:
            self.callback(entries.pop, name, None)
        entries[name] = new


@contextmanager
def in_eval(model: nn.Module) -> Iterator[None]:
    """Without dropout; the modules that were training go on with it."""
    training = [module for module in model.modules() if module.training]
    try:
        model.eval()
        yield
    finally:
        for module in training:
            module.training = True


def here_only(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A hook for the thread that makes it; to calls of other threads it does nothing.

    It takes any arguments: torch may leave some out in a thread that is inside a module while the
    hook is put there or taken away.
    """
    here = threading.get_ident()

    def guarded(*args: Any) -> Any:
        return hook(*args) if threading.get_ident() == here else None

    return guarded


def uncompiled() -> AbstractContextManager[Any]:
    """Compiled modules run as they are written meanwhile: inside compiled code nothing is seen."""
    if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):
        return torch.compiler.set_stance("force_eager")
    return nullcontext()
