"""A training that is watched: its log, and what is read from it.

`log_lines` has the form of a log, `log` writes it, `log_reading` reads it, `thinning` makes a few
parts of one that is long, `following` looks at one again and again while it grows.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgauge.training.log import LogWriter, TrainingLog

__all__ = ["LogWriter", "TrainingLog"]
# Imported when they are first used: who reads a log needs no torch.
_WHERE = {"LogWriter": "log", "TrainingLog": "log"}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f"headgauge.training.{_WHERE[name]}"), name)
    raise AttributeError(f"module 'headgauge.training' has no attribute {name!r}")
