"""What a monitor is asked for, looked at before it has a model: a line for each mistake."""

from os import PathLike
from pathlib import Path
from typing import Any

from headgauge.errors import LARGEST, InputError, check_whole, number
from headgauge.training.buffers import rank
from headgauge.training.clipping import QKClip
from headgauge.training.log.writing import check_log_folder


def folder_of(out: Any) -> Path | None:
    """Where the log goes, if it can: better told now than after the first step."""
    if out is None:
        return None
    if not isinstance(out, str | PathLike):
        raise InputError(f"out must be the folder of the log, got {out!r}")
    if rank() == 0:
        check_log_folder(Path(out))
    return Path(out)


def check_numbers(
    every: int,
    budget: float | None,
    rows: int,
    spectra_every: int | None,
    clip: QKClip | None,
    seed: int,
) -> None:
    check_whole("every", every, 1, LARGEST)
    check_whole("rows", rows, 0, LARGEST)
    check_whole("seed", seed, 0, LARGEST)
    if spectra_every is not None:
        check_whole("spectra_every", spectra_every, 1, LARGEST)
    if budget is not None and not 0 < number("budget", budget) <= 1:
        raise InputError(f"budget is a share of step time, above 0 and at most 1, got {budget}")
    if clip is not None and not isinstance(clip, QKClip):
        raise InputError(f"clip must be a QKClip, got {clip!r}")
