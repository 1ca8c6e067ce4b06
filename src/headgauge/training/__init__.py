"""Watching a training: the monitor, its hosts, its alarms and actions, and its log.

    with headgauge.Monitor(model, every=50, out="logs/mine") as monitor: …   # a plain loop
    headgauge.training.TrainerCallback(trainer, every=50, out="logs/mine")   # transformers' Trainer
    headgauge.training.LightningCallback(every=50, out="logs/mine")          # Lightning
    headgauge.training.TrainingLog.load("logs/mine")                         # what was logged

What is here measures a training and acts on it, `log/` keeps what was measured. Everything is
imported when it is first used: who reads a log needs no torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgauge.training.alarms import ALARMS, Alarm, Line
    from headgauge.training.clipping import QKClip
    from headgauge.training.hosts import LightningCallback, TrainerCallback
    from headgauge.training.log.reading import TrainingLog
    from headgauge.training.log.writing import LogWriter
    from headgauge.training.monitor import Monitor

_PLACES = {
    "ALARMS": "alarms",
    "Alarm": "alarms",
    "Line": "alarms",
    "LightningCallback": "hosts",
    "LogWriter": "log.writing",
    "Monitor": "monitor",
    "QKClip": "clipping",
    "TrainerCallback": "hosts",
    "TrainingLog": "log.reading",
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
