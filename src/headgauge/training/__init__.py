"""Watching a training: its log, and what is read from it."""

from headgauge.training.log import LogWriter, TrainingLog

__all__ = ["LogWriter", "TrainingLog"]
