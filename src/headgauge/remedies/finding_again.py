"""A scan's model and text, found again by what its manifest says of them."""

import os
from pathlib import Path
from typing import Any

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.plan import Model, source_of
from headgauge.measure.reading import Reading, Seen
from headgauge.measure.unit import Source
from headgauge.models.text import PYTHON_REFERENCE, WAR_AND_PEACE
from headgauge.runs.manifest_file import MANIFEST, find_manifest
from headgauge.scanning import ScanResult


def scan_in(given: Any) -> ScanResult | None:
    """The scan in a folder; None for what is no run's, which then names a model."""
    if isinstance(given, ScanResult):
        return given
    if not isinstance(given, (str, Path)) or not os.path.isfile(Path(given, MANIFEST)):
        return None
    found = find_manifest(Path(given))
    if found is not None and found["status"] == "finished" and "heads" not in found["tables"]:
        raise InputError(
            f"{given} is a run of another kind and has no verdicts: give the folder of a scan, or "
            "a model"
        )
    return ScanResult.load(given)


def scan_source(
    scan: ScanResult,
    model: Model | None,
    tokenizer: Any = None,
    dtype: str | None = None,
    device: str = "auto",
    revision: str | None = None,
) -> Source:
    """The model that a scan was made of, found again by its name where it has one."""
    known: Any = scan.manifest["model"]
    named: Model = "default" if model is None else model
    if model is None:
        if known["source"] not in ("default", "hub"):
            raise InputError(
                f"the scan does not say where its model {known['name']} lies: name it too (--model)"
            )
        named = named if known["source"] == "default" else known["name"]
        revision = known.get("revision") if revision is None else revision
    if isinstance(named, (str, Path)) and dtype is None:
        dtype = scan.manifest["settings"].get("model", {}).get("dtype")
    return source_of(named, tokenizer, dtype, device, revision)


def scan_text(scan: ScanResult, seen: Seen) -> Seen:
    """The text that a scan read, found again by its name where it has one."""
    known: Any = scan.manifest["data"]
    if seen is None and known["name"] not in (WAR_AND_PEACE, PYTHON_REFERENCE):
        raise InputError(
            f"the scan does not say where its text {known['name']} lies: give it again (--text)"
        )
    return known["name"] if seen is None else seen


def check_model(loaded: models.LoadedModel, scan: ScanResult) -> None:
    """Refuse another model than the scan's."""
    known: Any = scan.manifest["model"]
    here = models.fingerprint(loaded.model)
    if known["fingerprint"] not in (None, here):
        raise InputError(
            f"{loaded.name} is not the model of the scan, {known['name']}: its weights have the "
            f"fingerprint {here[:12]}, there {known['fingerprint'][:12]}"
        )


def check_text(reading: Reading, scan: ScanResult) -> None:
    """Refuse another text than the scan's."""
    there = scan.manifest["settings"]["text"]
    here = reading.text.identity
    if any(here.get(name) != there.get(name) for name in ("sha256", "chat")):
        raise InputError(
            f"{reading.text.name} is not the text of the scan, {there['name']}: its sha256 is "
            f"{here['sha256'][:12]}, there {there['sha256'][:12]}"
        )
