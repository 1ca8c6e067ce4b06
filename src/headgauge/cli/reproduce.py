"""`headgauge reproduce`: the paper's figures and claims on a model, in one command."""

from pathlib import Path
from typing import Annotated, Any

import typer

from headgauge.cli import lists
from headgauge.cli import reproduce_views as views
from headgauge.cli.output import JsonOption, QuietOption, print_json, share_bar, stderr
from headgauge.cli.running import default_folder, opening, read_text
from headgauge.errors import InputError

_OPEN, _READ, _KEPT = "What the paper leaves open", "What is read", "Running and keeping"
_SHORTEST = 32


def command(
    model: Annotated[
        str | None,
        typer.Argument(
            help="A hub name, a folder with safetensors, a GGUF file, or 'default' "
            "(SmolLM2-135M-Instruct, 4-bit).",
        ),
    ] = None,
    model_option: Annotated[
        str | None, typer.Option("--model", help="The same, as an option.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            help="A text file, 'war-and-peace' or 'python-reference'. Without it: War and Peace "
            "where it can be had.",
            rich_help_panel=_READ,
        ),
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(
            help="The longest L; the others are its halves down to 32. Without it: 1024, or the "
            "model's context.",
            rich_help_panel=_READ,
        ),
    ] = None,
    windows: Annotated[
        int | None,
        typer.Option(help="Windows; those after the first give the bands.", rich_help_panel=_READ),
    ] = None,
    offset: Annotated[
        int, typer.Option(help="The text token the first window starts at.", rich_help_panel=_READ)
    ] = 0,
    bos: Annotated[
        str,
        typer.Option(
            help="BOS in front of each window: auto (as the tokenizer does), always, never.",
            rich_help_panel=_READ,
        ),
    ] = "auto",
    vectors: Annotated[
        str,
        typer.Option(
            help="The vectors measured in full: final, embedding, hidden, value.",
            rich_help_panel=_OPEN,
        ),
    ] = "final",
    scale: Annotated[
        str, typer.Option(help="Their length: unit or raw.", rich_help_panel=_OPEN)
    ] = "unit",
    keys: Annotated[
        str,
        typer.Option(
            help="Keys that count: all (masked ones with weight 0) or visible.",
            rich_help_panel=_OPEN,
        ),
    ] = "all",
    all_choices: Annotated[
        bool,
        typer.Option(
            "--all-choices",
            help="Measure every choice in full, not only the claims that hang on it.",
            rich_help_panel=_OPEN,
        ),
    ] = False,
    rules: Annotated[
        str | None,
        typer.Option(
            help="Other rules on the same logits, such as 'ssmax,sparsemax', or 'none'. Without "
            "it: softmax T=0.5, softmax T=2, ssmax, sparsemax, 1.5-entmax.",
            rich_help_panel=_OPEN,
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="The same figures from L = 512, one window, fewer rows and N, in under a minute.",
            rich_help_panel=_KEPT,
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The run's folder. Without it: runs/reproduce-MODEL-TEXT-….", rich_help_panel=_KEPT
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
    threads: Annotated[
        int | None, typer.Option(help="Without it: all cores.", rich_help_panel=_KEPT)
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Of drawn rows, directions and bands.", rich_help_panel=_KEPT)
    ] = 0,
    json_output: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Reproduce Figures 1 to 4 and Algorithms 1 to 5 of arXiv 2508.17821 on a model.

    Prints the paper's claims beside what was measured, and leaves the tables, the figures (SVG,
    PDF) and an interactive report.html in the run's folder. A run that was interrupted goes on when
    it is started again.
    """
    # torch and transformers take seconds: not for --help.
    from headgauge import diagnostics, experiments
    from headgauge.experiments.reproducing import run_reproduction
    from headgauge.models import ModelSource

    if model is not None and model_option is not None and model != model_option:
        raise InputError(f"two models were given, {model} and {model_option}: give one")
    name = model or model_option or "default"
    notes = stderr(quiet)
    known = experiments.RULES if rules is None else lists.names("" if rules == "none" else rules)
    chosen: dict[str, Any] = {
        "windows": (1 if quick else 5) if windows is None else windows,
        "offset": offset,
        "bos": bos,
        "choice": experiments.Choice(vectors, scale, keys),
        "all_choices": all_choices,
        "rules": tuple(known),
        "seed": seed,
        "threads": diagnostics.default_threads(1, out) if threads is None else threads,
    }
    experiments.ReproduceSettings(**chosen)  # a mistake is told before a model is loaded
    source = ModelSource(name, dtype, device)
    with notes.status(f"loading {name}"):
        context = source.open().facts.context_length
    usual = experiments.QUICK_LENGTH if quick else max(experiments.LENGTHS)
    longest = min(usual, context or usual) if length is None else length
    settings = experiments.ReproduceSettings(lengths=_lengths(longest), **chosen)
    settings = experiments.quick(settings) if quick else settings
    plan = experiments.make_reproduction(source, read_text(text, notes), settings)
    place = out or default_folder(plan, "reproduce")
    for line in opening(plan, place):
        notes.print(line, style="dim", soft_wrap=True)
    with share_bar("reproducing", notes) as progress:
        found = run_reproduction(plan, place, progress)
    with notes.status("drawing"):
        drawn = found.draw()
    if json_output:
        print_json(views.document(found, drawn))
    else:
        views.show(found, drawn)


def _lengths(longest: int) -> tuple[int, ...]:
    """Halves down to 32, the longest last."""
    if longest < 2:
        raise InputError(f"--length needs at least 2 tokens, got {longest}")
    found = [longest]
    while found[0] // 2 >= _SHORTEST:
        found.insert(0, found[0] // 2)
    return tuple(found)
