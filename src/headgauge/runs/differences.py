"""How two nested settings differ, said in one line."""

import json
from typing import Any

_SHOWN = 3
_LONGEST = 40


def differences(there: dict[str, Any], here: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The values that differ, by dotted name, as they read there and here."""
    old, new = _flat(there), _flat(here)
    names = list(new) + [name for name in old if name not in new]
    return {
        name: (_said(name, old), _said(name, new))
        for name in names
        if (name in old) != (name in new) or old.get(name) != new.get(name)
    }


def sentence(found: dict[str, tuple[str, str]], there: str = "there", here: str = "here") -> str:
    """ "length is 512 there, 1024 here; offset is 0 there, 7 here; ... and 2 more"."""
    said = [f"{name} is {old} {there}, {new} {here}" for name, (old, new) in found.items()]
    more = len(said) - _SHOWN
    return "; ".join(said[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _flat(values: dict[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and value:
            flat |= _flat(value, f"{above}{name}.")
        else:
            flat[above + name] = value
    return flat


def _said(name: str, values: dict[str, Any]) -> str:
    if name not in values:
        return "not set"
    text = json.dumps(values[name], ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
