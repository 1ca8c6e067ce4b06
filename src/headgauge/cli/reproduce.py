"""`headgauge reproduce`: the paper's figures and claims on a model, in one command."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from headgauge.cli import lists, results
from headgauge.cli.output import JsonOption, QuietOption, print_json, share_bar, stderr
from headgauge.cli.process import works_in
from headgauge.cli.running import (
    ModelArgument,
    ModelOption,
    RevisionOption,
    default_folder,
    default_texts,
    fetched,
    look_at,
    one_model,
    opening,
)
from headgauge.errors import InputError

_OPEN, _READ, _KEPT = "What the paper leaves open", "What is read", "Running and keeping"


def command(
    model: ModelArgument = None,
    model_option: ModelOption = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            help="A text file, 'war-and-peace' or 'python-reference'; more than once for several: "
            "vectors and keys are chosen on the first, the others judge. Without it: War and Peace "
            "where it can be had, and the Python reference; with --quick only the first.",
            rich_help_panel=_READ,
        ),
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(
            help="The longest L; the others are its halves down to 32. Without it: 1024 (with "
            "--quick 512), or what context and texts have.",
            rich_help_panel=_READ,
        ),
    ] = None,
    windows: Annotated[
        int | None,
        typer.Option(
            help="Windows of each text; those after the first give the bands. Without it: 5, with "
            "--quick 1, or what the texts have.",
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
    vectors: Annotated[
        str | None,
        typer.Option(
            help="The vectors measured in full: final, embedding, hidden, value. Without this and "
            "the next two: those that come closest to the paper on the first text.",
            rich_help_panel=_OPEN,
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(help="Their length: unit or raw.", rich_help_panel=_OPEN),
    ] = None,
    keys: Annotated[
        str | None,
        typer.Option(
            help="Keys that count: all (masked ones with weight 0) or visible.",
            rich_help_panel=_OPEN,
        ),
    ] = None,
    all_choices: Annotated[
        bool,
        typer.Option(
            "--all-choices",
            help="Measure every choice in full, not on drawn rows.",
            rich_help_panel=_OPEN,
        ),
    ] = False,
    rules: Annotated[
        str | None,
        typer.Option(
            help="Other rules on the same logits, such as 'ssmax,sparsemax', or 'none'. Without "
            "it: softmax T=0.5, softmax T=2, ssmax, sparsemax, 1.5-entmax. The guidelines' "
            "own rules are always measured.",
            rich_help_panel=_OPEN,
        ),
    ] = None,
    sensitivity_rows: Annotated[
        int | None,
        typer.Option(
            help="Query rows per head for Figure 4, evenly spread; 0 for all of them. Without it: "
            "64, with --quick 8.",
            rich_help_panel=_READ,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="The same figures from one text, L = 512, one window, fewer rows and N, in about "
            "a minute: a look, too little to judge by.",
            rich_help_panel=_KEPT,
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run's folder. Without it: runs/reproduce-MODEL-TEXT-….",
            rich_help_panel=_KEPT,
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            help="float32, bfloat16, float16, float64. Without it: float32 on the CPU.",
            rich_help_panel=_KEPT,
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, mps, …", rich_help_panel=_KEPT)] = "cpu",
    revision: RevisionOption = None,
    threads: Annotated[
        int | None, typer.Option(help="Without it: all cores.", rich_help_panel=_KEPT)
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of drawn rows, directions and bands.", rich_help_panel=_KEPT)
    ] = 0,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Say what the run would need, from one head measured, and do not run.",
            rich_help_panel=_KEPT,
        ),
    ] = False,
    json_output: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Reproduce Figures 1 to 4 and Algorithms 1 to 5 of arXiv 2508.17821 on a model.

    Prints the paper's claims beside what was measured on each text, and leaves the tables, the
    figures (SVG, PDF) and an interactive report.html in the run's folder. What the paper leaves
    open is chosen on the first text and judged on the others; one text alone judges nothing. A run
    that was interrupted goes on when it is started again.
    """
    # torch and transformers take seconds: not for --help.
    from headgauge import paper, scanning
    from headgauge.models import ModelSource
    from headgauge.paper.reproducing import run_reproduction

    name = one_model(model, model_option)
    notes = stderr(quiet)
    texts = [look_at(each) for each in text or ()]
    known = paper.RULES if rules is None else lists.names("" if rules == "none" else rules)
    parts = {"vectors": vectors, "scale": scale, "keys": keys}
    given = {part: value for part, value in parts.items() if value is not None}
    usual = paper.QUICK_LENGTH if quick else max(paper.LENGTHS)
    sizes = {"length": length, "windows": windows}
    settings = paper.ReproduceSettings(
        lengths=paper.halves(usual if length is None else length),
        windows=(1 if quick else 5) if windows is None else windows,
        free=frozenset(each for each, given in sizes.items() if given is None),
        offset=offset,
        bos=bos,
        choice=paper.Choice(**given) if given else None,
        all_choices=all_choices,
        rules=tuple(known),
        seed=seed,
        threads=scanning.default_threads(1, out) if threads is None else threads,
    )
    settings = paper.quick(settings) if quick else settings
    if sensitivity_rows is not None:
        if sensitivity_rows < 0:
            raise InputError(f"--sensitivity-rows needs 0 or more, got {sensitivity_rows}")
        settings = replace(settings, fig4=replace(settings.fig4, rows=sensitivity_rows))
    source = ModelSource(name, dtype, device, revision)
    with notes.status(f"loading {name}"):
        source.open()
    read = [fetched(each, notes) for each in texts] or default_texts(notes, only_first=quick)
    plan = paper.make_reproduction(source, read, settings)
    place = out or default_folder(plan.first, "reproduce", plan.identity)
    for line in opening(plan.first, place, list(plan.texts.values())):
        notes.print(line, style="dim", soft_wrap=True)
    if estimate:
        results.show_estimate(paper.estimate_reproduction(plan), json_output)
        return
    works_in(place)
    with share_bar("reproducing", notes) as progress:
        found = run_reproduction(plan, place, progress)
    with notes.status("drawing"):
        drawn = found.draw()
    if json_output:
        print_json(results.reproduction_document(found, drawn))
    else:
        results.show_reproduction(found, drawn)
