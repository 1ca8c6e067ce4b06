"""The numbers of many lines at once: most of a long log has nothing to tell but these.

Lines that `lines.line_text` wrote without spectra, alarms, clips and notes have the same
letters but for their numbers. What has any other form is left to `line_reading`, line by line,
which says what is wrong where something is.
"""

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
import polars as pl

from headgauge.errors import LARGEST
from headgauge.runs.training_schema import ROW_MEASURES
from headgauge.training.log.batches import Batch

_HEADS, _REST = b',"heads":{', b'},"spectra":null,"alarms":[],"clipped":[],"notes":[]}\n'
_NAMES = re.compile(rb'"([a-z_]+)":')
_IN_NUMBERS = b"0123456789.-+e"
_FRONT = {"step", "loss", "every", "cost"}


def usual_batch(raws: Sequence[bytes], heads: Sequence[int]) -> Batch | None:
    """Lines of which each is usual, with so many heads in each layer; None where one is not."""
    fronts, bodies = [], []
    for raw in raws:
        front, _, rest = raw.partition(_HEADS)
        if not rest.endswith(_REST):
            return None
        fronts.append(front)
        bodies.append(rest[: -len(_REST)])
    forms = {body.replace(b"null", b"").translate(None, _IN_NUMBERS) for body in bodies}
    names = [name.decode() for name in _NAMES.findall(bodies[0])]
    if len(forms) > 1 or forms.pop() != _form(names, heads) or not set(names) <= {*ROW_MEASURES}:
        return None
    told = _NAMES.sub(b"", b",".join(bodies)).replace(b"null", b"nan").translate(None, b"[]")
    try:
        with warnings.catch_warnings(action="error"):  # what is no number is said so, quietly
            numbers = np.fromstring(told, sep=",")
        steps = json.loads(b"[" + b"},".join(fronts) + b"}]")
    except (ValueError, DeprecationWarning):
        return None
    if len(steps) != len(raws) or len(numbers) != len(raws) * len(names) * sum(heads):
        return None
    if not all(each.keys() == _FRONT and is_usual(each) for each in steps):
        return None
    numbers = numbers.reshape(len(raws), len(names), sum(heads))
    columns = {
        name: pl.Series(name, numbers[:, place].ravel(), nan_to_null=True)
        for place, name in enumerate(names)
    }
    return Batch(
        *([each[name] for each in steps] for name in ("step", "loss", "every", "cost")),
        heads=columns,
    )


def is_usual(step: Mapping[str, Any]) -> bool:
    """Whether a step says what it should of itself, in the usual kinds of numbers."""
    return all(
        type(step.get(name)) is int and 0 <= step[name] <= LARGEST for name in ("step", "every")
    ) and all(type(step.get(name, "")) in (float, NoneType) for name in ("loss", "cost"))


def _form(names: Sequence[str], heads: Sequence[int]) -> bytes:
    """What is left of a line's measures without their numbers."""
    rows = ",".join("[" + "," * (count - 1) + "]" for count in heads)
    told = ",".join(f'"{name}":[{rows}]' for name in names)
    return told.encode().translate(None, _IN_NUMBERS)
