"""How results show themselves in a notebook: they ask here, and the report says how."""

from collections.abc import Callable
from typing import Any

HTML: dict[type, Callable[[Any], str]] = {}


class Shown:
    """A result that a notebook can show, where `headgauge.report.notebook` was imported: it is
    with `headgauge.scan` and the like. Else its `repr` serves."""

    def _repr_html_(self) -> str | None:
        show = HTML.get(type(self))
        return None if show is None else show(self)
