"""`headgauge scan`: measure every head of a model and say what is wrong with which."""

import os
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from headgauge.cli import lists
from headgauge.cli import scan_views as views
from headgauge.cli.output import JsonOption, QuietOption, print_json, share_bar, size, stderr
from headgauge.cli.running import default_folder, opening, read_text
from headgauge.errors import InputError

_LONG = 60.0  # seconds from which on a run tells what it will need

_MEASURED, _READ, _KEPT = "What is measured", "What is read", "Running and keeping"


def command(
    model: Annotated[
        str,
        typer.Argument(
            help="A hub name, a folder with safetensors, a GGUF file, or 'default' "
            "(SmolLM2-135M-Instruct, 4-bit).",
        ),
    ] = "default",
    text: Annotated[
        str | None,
        typer.Option(
            help="A text file, 'war-and-peace' or 'python-reference'. Without it: War and Peace "
            "where it can be had.",
            rich_help_panel=_READ,
        ),
    ] = None,
    length: Annotated[
        int, typer.Option(help="Tokens in a window (L).", rich_help_panel=_READ)
    ] = 1024,
    windows: Annotated[
        int, typer.Option(help="Windows, one after the other.", rich_help_panel=_READ)
    ] = 4,
    offset: Annotated[
        int, typer.Option(help="The text token the first window starts at.", rich_help_panel=_READ)
    ] = 0,
    bos: Annotated[
        str,
        typer.Option(
            help="BOS in front of each window: auto (as the model's file says, else as its "
            "tokenizer does), always, never.",
            rich_help_panel=_READ,
        ),
    ] = "auto",
    top_n: Annotated[
        str,
        typer.Option(
            "--top-n", help="The list of N, such as 1,2,4 or 1-100.", rich_help_panel=_MEASURED
        ),
    ] = "1,2,4,8,16,32,64",
    vectors: Annotated[
        str,
        typer.Option(
            help="The vectors x: value, hidden, embedding, final, or several.",
            rich_help_panel=_MEASURED,
        ),
    ] = "value",
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Vectors as long as they are, not of unit length.",
            rich_help_panel=_MEASURED,
        ),
    ] = False,
    keys: Annotated[
        str,
        typer.Option(
            help="Keys that count: visible, all (masked ones with weight 0), or both.",
            rich_help_panel=_MEASURED,
        ),
    ] = "visible",
    layers: Annotated[
        str | None,
        typer.Option(help="Only these layers, such as 0,4-7.", rich_help_panel=_MEASURED),
    ] = None,
    heads: Annotated[
        str | None, typer.Option(help="Only these heads of each.", rich_help_panel=_MEASURED)
    ] = None,
    precision: Annotated[
        str,
        typer.Option(
            help="Of the inner loops: float32 (error about 1e-6), float64.",
            rich_help_panel=_MEASURED,
        ),
    ] = "float32",
    depth: Annotated[
        bool,
        typer.Option(
            "--depth",
            help="Follow the residual stream too, layer by layer, beside what the model's "
            "normalisation scheme predicts.",
            rich_help_panel=_MEASURED,
        ),
    ] = False,
    lengths: Annotated[
        str | None,
        typer.Option(
            help="Shorter lengths too, such as 128,256,512, for the trend over length.",
            rich_help_panel=_MEASURED,
        ),
    ] = None,
    target_length: Annotated[
        int | None,
        typer.Option(
            help="Say what the trend over length means for this context; tested up to 4 times "
            "--length. Without --lengths: L/8, L/4, L/2.",
            rich_help_panel=_MEASURED,
        ),
    ] = None,
    thresholds: Annotated[
        Path | None,
        typer.Option(help="A TOML file that changes thresholds.", rich_help_panel=_MEASURED),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run's folder. Without it: runs/scan-MODEL-TEXT-….", rich_help_panel=_KEPT
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Keep every row's numbers too.", rich_help_panel=_KEPT)
    ] = False,
    dtype: Annotated[
        str | None,
        typer.Option(
            help="float32, bfloat16, float16, float64. Without it: float32 on the CPU.",
            rich_help_panel=_KEPT,
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps, …", rich_help_panel=_KEPT)] = "cpu",
    jobs: Annotated[
        int, typer.Option(help="Processes, each with its own model.", rich_help_panel=_KEPT)
    ] = 1,
    threads: Annotated[
        int | None,
        typer.Option(help="Threads of each. Without it: a fair share.", rich_help_panel=_KEPT),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sampled rows.", rich_help_panel=_KEPT)] = 0,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate", help="Say what the run would need, and do not run.", rich_help_panel=_KEPT
        ),
    ] = False,
    json_output: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure every head of a model over windows of a text.

    Prints the worst heads and a summary by layer, and leaves tables (Parquet), figures and a
    manifest in the run's folder. A run that was interrupted goes on when it is started again.
    """
    # torch and transformers take seconds: not for --help.
    from headgauge import diagnostics
    from headgauge.models import ModelSource

    notes = stderr(quiet)
    changed = None if thresholds is None else diagnostics.read_thresholds(thresholds)
    chosen: dict[str, Any] = {
        "lengths": _all_lengths(length, lengths, target_length),
        "windows": windows,
        "offset": offset,
        "bos": bos,
        "top_ns": lists.numbers("--top-n", top_n, least=1),
        "vectors": lists.names(vectors),
        "raw": raw,
        "keys": lists.names("visible,all" if keys == "both" else keys),
        "layers": None if layers is None else lists.numbers("--layers", layers),
        "heads": None if heads is None else lists.numbers("--heads", heads),
        "precision": precision,
        "save_rows": rows,
        "depth": depth,
        "seed": seed,
        "threads": threads or diagnostics.default_threads(jobs, out),
    }
    settings = diagnostics.ScanSettings(**chosen)
    source = ModelSource(model, dtype, device)
    with notes.status(f"loading {model}"):
        source.open()
    plan = diagnostics.make_plan(source, read_text(text, notes), settings)
    place = out or default_folder(plan, "scan")
    for line in opening(plan, place):
        notes.print(line, style="dim", soft_wrap=True)
    needs = diagnostics.estimate(plan, jobs, None if estimate else _left(plan, place))
    if estimate:
        views.show_estimate(needs, json_output)
        return
    _check_disk(needs, place)
    if needs.seconds > _LONG:
        notes.print(f"needs  about {views.needs(needs)}", style="dim")
    with share_bar("scanning", notes) as progress:
        result = diagnostics.run_plan(plan, place, jobs, progress)
    if changed is not None:
        result = result.with_thresholds(changed)
    with notes.status("drawing"):
        figures = result.draw()
    if json_output:
        print_json(views.document(result, target_length))
    else:
        views.show(result, target_length, figures)


def _all_lengths(length: int, shorter: str | None, target: int | None) -> tuple[int, ...]:
    """The main length and the shorter ones that a trend needs."""
    if target is not None and target <= length:
        raise InputError(f"--target-length {target} must exceed --length {length}")
    if shorter is not None:
        asked = lists.numbers("--lengths", shorter, least=2)
        if max(asked) > length:
            raise InputError(f"--lengths must not exceed --length {length}, got {max(asked)}")
        return tuple(sorted({*asked, length}))
    if target is None:
        return (length,)
    return tuple(sorted({max(2, length // 8), max(2, length // 4), max(2, length // 2), length}))


def _left(plan: Any, place: Path) -> int:
    from headgauge.results import begun_units

    return len({unit.key for unit in plan.units} - begun_units(place))


def _check_disk(needs: Any, place: Path) -> None:
    there = next(parent for parent in (place, *place.absolute().parents) if os.path.exists(parent))
    free = shutil.disk_usage(there).free
    if free < needs.disk:
        raise InputError(
            f"the run needs about {size(needs.disk)} on disk, but {there} has {size(free)} free: "
            "choose another --out"
        )
