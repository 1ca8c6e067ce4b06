"""`headgauge scan`: measure every head of a model and say what is wrong with which."""

import os
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from headgauge.cli import lists, results
from headgauge.cli.output import JsonOption, QuietOption, print_json, share_bar, size, stderr
from headgauge.cli.process import works_in
from headgauge.cli.running import (
    ModelArgument,
    ModelOption,
    RevisionOption,
    default_folder,
    fetched,
    look_at,
    one_model,
    opening,
)
from headgauge.errors import LARGEST, InputError, check_whole

_LONG = 60.0  # seconds from which on a run tells what it will need

_MEASURED, _READ, _KEPT = "What is measured", "What is read", "Running and keeping"


def command(
    model: ModelArgument = None,
    model_option: ModelOption = None,
    text: Annotated[
        str | None,
        typer.Option(
            help="A text file, 'war-and-peace', 'python-reference', or - for stdin. A .jsonl file "
            'has a prompt or document in each line, each a window of its own: {"text": …}, '
            '{"prompt": …}, {"messages": […]} or {"input_ids": […]}. Without it: War and Peace '
            "where it can be had.",
            rich_help_panel=_READ,
        ),
    ] = None,
    text_string: Annotated[
        str | None, typer.Option(help="The text itself.", rich_help_panel=_READ)
    ] = None,
    chat: Annotated[
        bool,
        typer.Option(
            "--chat",
            help="Put --text-string or the lines of a .jsonl file into the model's chat template; "
            "a plain prompt is the user's message.",
            rich_help_panel=_READ,
        ),
    ] = False,
    length: Annotated[
        int | None,
        typer.Option(
            help="Tokens in a window (L). Without it: 1024, or what context and text have.",
            rich_help_panel=_READ,
        ),
    ] = None,
    windows: Annotated[
        int | None,
        typer.Option(
            help="Windows, one after the other. Without it: 4, or what the text has; every line of "
            "a .jsonl file.",
            rich_help_panel=_READ,
        ),
    ] = None,
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
        str | None,
        typer.Option(
            "--top-n",
            help="The list of N, such as 1,2,4 or 1-100. Without it: 1,2,4,8,16,32,64, as far as "
            "they are below L.",
            rich_help_panel=_MEASURED,
        ),
    ] = None,
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
            "--length. Without --lengths: L/8, L/4, L/2; without --length a target of 1024 or less "
            "makes L half of it.",
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
    revision: RevisionOption = None,
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
    from headgauge import scanning
    from headgauge.models import ModelSource

    if target_length is not None:
        check_whole("--target-length", target_length, 2, LARGEST)
    notes = stderr(quiet)
    name = one_model(model, model_option)
    seen = look_at(text, text_string, chat)
    changed = None if thresholds is None else scanning.read_thresholds(thresholds)
    settings = scanning.scan_settings(
        length=length,
        shorter=None if lengths is None else lists.numbers("--lengths", lengths, least=2),
        target=target_length,
        windows=windows,
        offset=offset,
        bos=bos,
        top_n=None if top_n is None else lists.numbers("--top-n", top_n, least=1),
        vectors=lists.names(vectors),
        raw=raw,
        keys=lists.names("visible,all" if keys == "both" else keys),
        layers=None if layers is None else lists.numbers("--layers", layers),
        heads=None if heads is None else lists.numbers("--heads", heads),
        precision=precision,
        save_rows=rows,
        depth=depth,
        seed=seed,
        threads=scanning.default_threads(jobs, out) if threads is None else threads,
    )
    source = ModelSource(name, dtype, device, revision)
    with notes.status(f"loading {name}"):
        source.open()
    plan = scanning.make_plan(source, fetched(seen, notes), settings)
    place = out or default_folder(plan, "scan")
    for line in opening(plan, place):
        notes.print(line, style="dim", soft_wrap=True)
    needs = scanning.estimate(plan, jobs, None if estimate else _left(plan, place))
    if estimate:
        results.show_estimate(needs, json_output)
        return
    works_in(place)
    _check_disk(needs, place)
    if needs.seconds > _LONG:
        notes.print(f"needs  about {results.needs(needs)}", style="dim")
    with share_bar("scanning", notes) as progress:
        result = scanning.run_plan(plan, place, jobs, progress)
    if changed is not None:
        result = result.with_thresholds(changed)
    if target_length is not None:
        result = result.keep_outlook(target_length)
    with notes.status("drawing"):
        figures = result.draw()
    if json_output:
        print_json(results.scan_document(result, target_length))
    else:
        results.show_scan(result, target_length, figures)


def _left(plan: Any, place: Path) -> int:
    from headgauge.runs import begun_units

    return len({unit.key for unit in plan.units} - begun_units(place))


def _check_disk(needs: Any, place: Path) -> None:
    there = next(parent for parent in (place, *place.absolute().parents) if os.path.exists(parent))
    free = shutil.disk_usage(there).free
    if free < needs.disk:
        raise InputError(
            f"the run needs about {size(needs.disk)} on disk, but {there} has {size(free)} free: "
            "choose another --out"
        )
