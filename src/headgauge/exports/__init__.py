"""What a scan found, in the forms that other tools load.

    headgauge.export("runs/mine", "csv")                  # the text itself
    headgauge.export(result, "parquet", out="heads.parquet")
    headgauge.export("runs/mine", "duo-attention")        # files in runs/mine/exports

`tables` has the heads as a table in the formats people load, `caches` what is told to a KV cache.
"""

from collections.abc import Mapping
from pathlib import Path

from headgauge.atomic import folder_to_write, whole_file
from headgauge.errors import InputError
from headgauge.exports import caches, tables
from headgauge.runs.layouts import REPRODUCTION, SIMULATION
from headgauge.runs.training_schema import LOG
from headgauge.scanning import ScanResult

DUO_ATTENTION, KV_BITS = "duo-attention", "kv-bits"
FORMATS = (DUO_ATTENTION, KV_BITS, *tables.TEXTS, *tables.FILES)

__all__ = ["FORMATS", "export"]


def export(
    run: str | Path | ScanResult,
    format: str = "csv",
    out: str | Path | None = None,
    *,
    bits: float | None = None,
    slope: float | None = None,
) -> str | Path:
    """A scan, or its folder, in one of `FORMATS`: means over the windows of the longest length.

    Returns the text itself where the format is one and no `out` is given, else the path that was
    written: `out`, or a place in the run's `exports`. What stands elsewhere is not overwritten.
    `bits` and `slope` are for kv-bits (`caches.kv_bits`): the mean over KV heads, 4 without it, and
    bits per nat of collision entropy.
    """
    if format not in FORMATS:
        raise InputError(f"no format named {format!r}; there are {', '.join(FORMATS)}")
    asked = {name: given for name, given in (("bits", bits), ("slope", slope)) if given is not None}
    if asked and format != KV_BITS:
        raise InputError(f"{' and '.join(asked)} are for {KV_BITS}, not for {format}: leave out")
    scan = _scan_of(run)
    if format == DUO_ATTENTION:
        place = _place(scan, out, DUO_ATTENTION, format)
        return _written(scan, place, caches.duo_attention(scan))
    if format not in tables.FILES:
        text = caches.kv_bits(scan, **asked) if format == KV_BITS else tables.text(scan, format)
        if out is None:
            return text
        content = text.encode()
    else:
        content = tables.content(scan, format)
    place = _place(scan, out, f"heads.{tables.FILES.get(format, format)}", format)
    _written(scan, place.parent, {place.name: content})
    return place


def _scan_of(run: str | Path | ScanResult) -> ScanResult:
    if isinstance(run, ScanResult):
        return run
    if not isinstance(run, (str, Path)):
        raise InputError(f"export takes a scan or its folder, got {type(run).__name__}")
    if REPRODUCTION.is_in(run):
        raise InputError(
            f"{run} is a reproduction: export the scan of one of its texts, "
            f"{Path(run, 'texts', 'NAME')}"
        )
    if SIMULATION.is_in(run):
        raise InputError(f"{run} is a simulation, which has no heads to export")
    if Path(run, LOG).is_file():
        raise InputError(
            f"{run} is a training's log, no scan: its tables are heads.parquet, steps.parquet and "
            "alarms.parquet in it once it is closed, and in Python read_run(...).heads()"
        )
    return ScanResult.load(run)


def _place(scan: ScanResult, out: str | Path | None, name: str, format: str) -> Path:
    if out is not None:
        return Path(out)
    if scan.folder is None:
        raise InputError(f"{format} is no text, and the scan has no folder: say where with out")
    return scan.folder / "exports" / name


def _written(scan: ScanResult, folder: Path, files: Mapping[str, bytes]) -> Path:
    """The files in their folder. Only what an export left there gives way."""
    ours = scan.folder is not None and scan.folder / "exports" in (folder, *folder.parents)
    for path in (folder / name for name in files):
        if path.is_dir() or (path.exists() and not ours):
            raise InputError(f"{path} is there already: give another place, or remove it")
    folder_to_write(folder)
    for name, content in files.items():
        with whole_file(folder / name, len(content)) as new:
            new.write_bytes(content)
    return folder
