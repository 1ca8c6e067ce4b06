"""Watching a training: the monitor, its hosts, its alarms and actions, and its log.

    with headgauge.Monitor(model, every=50, out="logs/mine") as monitor: …   # a plain loop
    headgauge.training.TrainerCallback(trainer, every=50, out="logs/mine")   # transformers' Trainer
    headgauge.training.LightningCallback(every=50, out="logs/mine")          # Lightning
    headgauge.training.TrainingLog.load("logs/mine")                         # what was logged

`log_lines` has the form of a log, `log` writes it, `log_reading` reads it, `thinning` makes a few
parts of one that is long, `following` looks at one again and again while it grows. Everything is
imported when it is first used: who reads a log needs no torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgauge.training.alarms import ALARMS, Alarm, Line
    from headgauge.training.clipping import QKClip
    from headgauge.training.hosts import LightningCallback, TrainerCallback
    from headgauge.training.log import LogWriter, TrainingLog
    from headgauge.training.monitor import Monitor

_PLACES = {
    "ALARMS": "alarms",
    "Alarm": "alarms",
    "Line": "alarms",
    "LightningCallback": "hosts",
    "LogWriter": "log",
    "Monitor": "monitor",
    "QKClip": "clipping",
    "TrainerCallback": "hosts",
    "TrainingLog": "log",
}
__all__ = [
    "ALARMS",
    "Alarm",
    "LightningCallback",
    "Line",
    "LogWriter",
    "Monitor",
    "QKClip",
    "TrainerCallback",
    "TrainingLog",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"headgauge.training.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'headgauge.training' has no attribute {name!r}")
