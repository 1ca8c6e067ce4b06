"""From what a caller gives to windows of their own for naming heads, for judging and for choosing
among candidates, one behind the other in the text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from torch import Tensor

from headgauge import models
from headgauge.errors import LARGEST, InputError, check_whole, whole
from headgauge.measure.plan import Plan, fit, plan_of
from headgauge.measure.reading import Reading, Seen, read
from headgauge.measure.requests import Experiment, Task
from headgauge.measure.runner import default_threads
from headgauge.measure.settings import UnitSettings, check_among
from headgauge.measure.unit import Source
from headgauge.models.windows import check_context
from headgauge.options.commands import RemedyOptions, ScanOptions
from headgauge.remedies.finding_again import check_model, check_text
from headgauge.remedies.limits import WINDOWS, calibration_windows
from headgauge.scanning import ScanResult, ScanSettings, read_thresholds, scan_settings
from headgauge.scanning.scanning import SCAN
from headgauge.scanning.thresholds import DEFAULT, ROLES, VERDICTS, Threshold

LENGTH = 512
PSEUDOCODE = (
    "For every verdict: its remedy put into all heads that have it on the scan's windows, with "
    "parameters chosen on calibration windows, and into random heads of the same layers; the "
    "next-token loss and the measures of the heads, on windows that follow the scan's."
)


@dataclass(frozen=True, kw_only=True)
class RemedySettings(UnitSettings):
    """How remedies are tried: `calibration` windows choose among candidates, `draws` of random
    heads are the control, `verdicts` are those whose remedies are tried."""

    calibration: int = 2
    draws: int = 6
    verdicts: tuple[str, ...] = VERDICTS


@dataclass(frozen=True, eq=False)
class RemedyPlan:
    """Remedies before they are tried. `scan` names the heads, found or still to be made; `judged`
    has the windows that judge, `calibration` those that choose."""

    scan: ScanResult | Plan
    judged: Plan
    calibration: tuple[Tensor, ...]
    thresholds: tuple[Threshold, ...]

    @property
    def settings(self) -> RemedySettings:
        return cast(RemedySettings, self.judged.settings)

    @property
    def identity(self) -> dict[str, Any]:
        """What two runs must share to be the same run."""
        known = self.scan
        scan = known.identity if isinstance(known, Plan) else known.manifest["settings"]
        lines = [each for each in self.thresholds if each.verdict in self.settings.verdicts]
        return self.judged.identity | {
            "scan": {name: value for name, value in scan.items() if name not in ("model", "text")},
            "thresholds": {each.name: [each.value, *each.choice.values()] for each in lines},
            "tries": {each.name: [list(some) for some in each.tries] for each in lines},
        }


def remedy_settings(asked: RemedyOptions) -> RemedySettings:
    """From what a caller asked for, which is checked here: the command line and Python meet."""
    given = {"length": asked.length, "windows": asked.windows}
    verdicts = VERDICTS if asked.verdicts is None else asked.verdicts
    verdicts = (verdicts,) if isinstance(verdicts, str) else tuple(verdicts)
    check_among("verdict", verdicts, VERDICTS)
    check_whole("draws", asked.draws, 1, 1000)
    windows = WINDOWS if asked.windows is None else whole("windows", asked.windows)
    threads = default_threads(1, asked.out) if asked.threads is None else asked.threads
    check_whole("windows", windows, 1, LARGEST)
    return RemedySettings(
        free=frozenset(name for name, value in given.items() if value is None),
        lengths=(LENGTH if asked.length is None else whole("length", asked.length),),
        windows=windows,
        calibration=calibration_windows(windows),
        offset=whole("offset", asked.offset),
        bos=asked.bos,
        threads=whole("threads", threads),
        seed=whole("seed", asked.seed),
        draws=whole("draws", asked.draws),
        verdicts=tuple(name for name in VERDICTS if name in verdicts),
    )


def judged_by(given: Any) -> tuple[Threshold, ...]:
    """Thresholds, or a file that changes some of them, without the lines of roles."""
    read = DEFAULT if given is None else given
    read = read_thresholds(read) if isinstance(read, (str, Path)) else read
    return tuple(each for each in read if each.verdict not in ROLES)


def make_remedy(
    source: Source,
    seen: Seen,
    settings: RemedySettings,
    scan: ScanResult | None = None,
    thresholds: Sequence[Threshold] = DEFAULT,
) -> RemedyPlan:
    """The windows of the scan, of judging and of choosing; refused where they cannot be had."""
    loaded = source.open()
    if loaded.facts.kind == "encoder":
        raise InputError(
            f"{loaded.name} is an encoder and predicts no next token: without a loss no remedy can "
            "be judged"
        )
    with models.swap(loaded, "softmax"):  # refused where its attention cannot be reached
        pass
    known: dict[str, Any] = {}
    if scan is not None:
        check_model(loaded, scan)
        known = scan.manifest["settings"]
        settings = replace(settings, bos=known["bos"], offset=known["offset"])
    # Of token ids, too, windows are cut: one that is as long as all of them leaves nothing.
    reading = replace(read(loaded, seen, settings.bos), whole=False, compared=False)
    if scan is None:
        settings, notes = _fit_all(settings, loaded, reading)
        first = _scan_settings(settings)
        named: ScanResult | Plan = plan_of(source, reading, first, SCAN, notes)
        rest, settings = reading.behind(settings)
    else:
        check_text(reading, scan)
        named, notes = scan, []
        first = UnitSettings(lengths=tuple(known["lengths"]), windows=known["windows"])
        first = replace(first, offset=settings.offset)
        if "length" in settings.free:
            settings = replace(settings, lengths=(first.length,))
        rest, later = reading.behind(first)
        settings = _fit_rest(replace(settings, offset=later.offset), loaded, rest, first.windows)
        settings = replace(settings, layers=_wholes(known["layers"]), heads=_wholes(known["heads"]))
    judged = plan_of(source, rest, settings, Experiment(PSEUDOCODE, _task), notes)
    last, later = rest.behind(settings)
    windows = last.windows(replace(later, windows=settings.calibration))[0]
    calibration = tuple(ids[: settings.length] for _, ids in windows)
    return RemedyPlan(named, judged, calibration, tuple(thresholds))


def _task(settings: Any, key: Any) -> Task:
    return Task((), roles=True)


def _wholes(given: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if given is None else tuple(given)


def _scan_settings(settings: RemedySettings) -> ScanSettings:
    """A scan of as many windows as are judged, with everything that verdicts need."""
    asked = ScanOptions(threads=settings.threads, seed=settings.seed)
    same = {name: getattr(settings, name) for name in ("lengths", "windows", "offset", "bos")}
    return replace(scan_settings(asked), **same)


def _fit_all(
    settings: RemedySettings, loaded: models.LoadedModel, reading: Reading
) -> tuple[RemedySettings, list[str]]:
    """Sizes that nobody asked for give way to the model's context and to the text, which has the
    scan's windows, as many to judge by, and some to choose by."""
    free = "windows" in settings.free
    wanted = replace(
        settings,
        windows=_in_all(1 if free else settings.windows, True),
        free=settings.free - {"windows"},
    )
    fitting, notes = fit(wanted, loaded, [reading])
    settings = replace(settings, lengths=fitting.lengths)
    windows = _windows(settings, reading.room(settings), True)
    if windows is None:
        least = _in_all(1 if free else settings.windows, True)
        raise InputError(
            f"{reading.has}, with room for {max(0, reading.room(settings))} windows of "
            f"{settings.length} tokens, but remedies need {least}: for a scan, as many to judge "
            "by, and some to choose by"
        )
    if windows < settings.windows:
        notes.append(f"windows: {windows} instead of {settings.windows}, {reading.has}")
    return replace(settings, windows=windows, calibration=calibration_windows(windows)), notes


def _fit_rest(
    settings: RemedySettings, loaded: models.LoadedModel, rest: Reading, read: int
) -> RemedySettings:
    """The same of what is left behind the windows of a scan."""
    check_context(loaded, settings.length)
    room = max(0, rest.room(settings))
    windows = _windows(settings, room, False)
    if windows is None:
        least = _in_all(1 if "windows" in settings.free else settings.windows, False)
        raise InputError(
            f"{rest.text.name} has {room} windows of {settings.length} tokens left behind the "
            f"{read} of the scan, but remedies need {least}: to judge by, and some to choose by"
        )
    return replace(settings, windows=windows, calibration=calibration_windows(windows))


def _in_all(windows: int, scanned: bool) -> int:
    return windows * (1 + scanned) + calibration_windows(windows)


def _windows(settings: RemedySettings, room: int, scanned: bool) -> int | None:
    """How many windows can judge: those asked for, or as many of the usual as there is room."""
    least = 1 if "windows" in settings.free else settings.windows
    fitting = (n for n in range(settings.windows, least - 1, -1) if _in_all(n, scanned) <= room)
    return next(fitting, None)
