"""What is checked of the shapes in headgauge's signatures, and when not."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import jaxtyping
from jaxtyping import AbstractArray, config

_jaxtyped = jaxtyping.jaxtyped


def check_shapes() -> None:
    """From here on every function of ours is checked whose signature has a shape in it.

    Those without are left as they are: to bind their arguments anew at every call was half of the
    tests' time, and what else stands in a signature pyright looks at.
    """
    jaxtyping.jaxtyped = _where_shapes_are
    jaxtyping.install_import_hook("headgauge", "beartype.beartype")


def _where_shapes_are(*, typechecker: Any) -> Any:
    def decorate(thing: Any) -> Any:
        if inspect.isclass(thing):
            told = [each.type for each in fields(thing)] if is_dataclass(thing) else []
        elif inspect.isfunction(thing):
            told = [*inspect.get_annotations(thing).values()]
        else:
            told = ["a descriptor"]
        return _jaxtyped(thing, typechecker=typechecker) if any(map(_has_shape, told)) else thing

    return decorate


def _has_shape(annotation: Any) -> bool:
    if isinstance(annotation, str):  # not to be told without its names
        return True
    if isinstance(annotation, list | tuple):
        return any(map(_has_shape, annotation))
    if inspect.isclass(annotation) and issubclass(annotation, AbstractArray):
        return True
    return any(map(_has_shape, get_args(annotation)))


@contextmanager
def shapes_unchecked() -> Iterator[None]:
    """For whole runs and many steps, where the checks are most of the time."""
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)
