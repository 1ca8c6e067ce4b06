"""A TOML file that changes thresholds.

# my-thresholds.toml changes two and leaves the rest
["idle sink".idle_weight]
value = 0.5
[saturated.separability]
value = 0.4
top_n = 8
"""

import reprlib
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from headgauge.errors import LARGEST, InputError
from headgauge.scanning.thresholds import DEFAULT, LIMITS, ROLE_LINES, WORDS, Threshold


def read_thresholds(path: str | Path) -> tuple[Threshold, ...]:
    """The default table, roles behind verdicts, with the changes of a TOML file, whose name becomes
    their source."""
    file = Path(path)
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the thresholds {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # no text, no TOML, endless digits or brackets
        raise InputError(f"{path} is no TOML file: {error}") from None
    read = {threshold.name: threshold for threshold in (*DEFAULT, *ROLE_LINES)}
    for verdict, measures in tables.items():
        for measure, given in _table(measures, verdict, path).items():
            name = f"{verdict}.{measure}"
            if name not in read:
                raise InputError(f"{path}: no threshold {name!r}, only {', '.join(read)}")
            change = _table(given, name, path)
            for key, value in change.items():
                _check(read[name], key, value, file.name)
            number = float(change.get("value", read[name].value))
            read[name] = replace(read[name], **change | {"value": number}, source=file.name)
    return tuple(read.values())


def _table(value: Any, name: str, path: str | Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(
            f"{path}: {name} must be a table like [diffuse.rest_entropy_share] with value = 0.8, "
            f"got {reprlib.repr(value)}"
        )
    return value


def _check(threshold: Threshold, key: str, value: Any, file: str) -> None:
    where, got = f"{file}: {key} of {threshold.name}", f"got {reprlib.repr(value)}"
    allowed = ("value", *threshold.choice)
    if key not in allowed:
        raise InputError(f"{where} cannot be set, only {', '.join(allowed)}")
    if key == "value":
        limit = LIMITS.get(threshold.measure, sys.float_info.max)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and 0 < value < limit):
            bounds = f"between 0 and {limit:g}" if limit <= 1 else "above 0"
            raise InputError(f"{where} must be a number {bounds}, {got}")
    elif key == "top_n":
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
            raise InputError(f"{where} must be a whole number from 1 on, {got}")
    elif value not in WORDS[key]:
        raise InputError(f"{where} must be one of {', '.join(WORDS[key])}, {got}")
