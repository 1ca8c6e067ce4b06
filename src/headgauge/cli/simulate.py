"""`headgauge simulate`: tokens as particles on the sphere, under six normalisation schemes."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from headgauge.cli import lists, results
from headgauge.cli.output import JsonOption, QuietOption, part_bars, print_json, stderr
from headgauge.cli.process import works_in

_SWARM, _SCHEME, _KEPT = "The swarm", "The schemes", "Running and keeping"


def command(
    scheme: Annotated[
        str,
        typer.Option(
            help="all, or some of post_ln, pre_ln, mix_ln, peri_ln, ngpt, ln_scaling, and "
            "ln_scaling_pre.",
            rich_help_panel=_SCHEME,
        ),
    ] = "all",
    tokens: Annotated[int, typer.Option(help="Tokens (n).", rich_help_panel=_SWARM)] = 256,
    dim: Annotated[int, typer.Option(help="Dimensions (d).", rich_help_panel=_SWARM)] = 512,
    beta: Annotated[
        float, typer.Option(help="β where Q = K = V = I.", rich_help_panel=_SWARM)
    ] = 5.0,
    random_beta: Annotated[
        float | None,
        typer.Option(help="β for random matrices. Without it: √d.", rich_help_panel=_SWARM),
    ] = None,
    horizon: Annotated[
        float, typer.Option(help="Time to simulate; about layers.", rich_help_panel=_SWARM)
    ] = 10.0,
    seeds: Annotated[
        int, typer.Option(help="How many starts and random matrices.", rich_help_panel=_SWARM)
    ] = 20,
    weights: Annotated[
        str,
        typer.Option(
            help="Q, K and V: identity, random, layers (new ones in every unit of time), or "
            "several.",
            rich_help_panel=_SWARM,
        ),
    ] = "identity,random",
    heads: Annotated[
        int, typer.Option(help="Attention heads of the swarms.", rich_help_panel=_SWARM)
    ] = 1,
    causal: Annotated[
        bool,
        typer.Option(
            "--causal", help="In the swarms a token sees those before it.", rich_help_panel=_SWARM
        ),
    ] = False,
    rule: Annotated[
        str,
        typer.Option(
            help="The normaliser of the swarms' attention; headgauge normalizers lists them.",
            rich_help_panel=_SWARM,
        ),
    ] = "softmax",
    radius: Annotated[
        float, typer.Option(help="The length tokens start with (r₀).", rich_help_panel=_SWARM)
    ] = 1.0,
    alpha: Annotated[float, typer.Option(help="nGPT: α at time 0.", rich_help_panel=_SCHEME)] = 1.0,
    decay: Annotated[
        float, typer.Option(help="nGPT: α/(1 + decay·t).", rich_help_panel=_SCHEME)
    ] = 0.0,
    switch: Annotated[
        float, typer.Option(help="Mix-LN: the time of its change (τ).", rich_help_panel=_SCHEME)
    ] = 2.0,
    parts: Annotated[
        str,
        typer.Option(
            help="What to compute: curves, rates, swarms, phase, sphere.", rich_help_panel=_KEPT
        ),
    ] = "curves,rates,swarms,phase,sphere",
    tolerance: Annotated[
        float,
        typer.Option(
            help="Error of a step of a swarm, in radians or as a share of a gap.",
            rich_help_panel=_KEPT,
        ),
    ] = 1e-5,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder. Without it: runs/simulate-….", rich_help_panel=_KEPT),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, …", rich_help_panel=_KEPT)] = "cpu",
    seed: Annotated[int, typer.Option(help="The first seed.", rich_help_panel=_KEPT)] = 0,
    json_output: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate attention dynamics under several normalisation schemes.

    Prints initial velocities and final rates, theory beside measured, and when the swarms collapse;
    leaves tables (Parquet), figures, an animation and a page with a slider through time in the
    folder. A simulation that was interrupted goes on when it is started again.
    """
    # torch takes seconds: not for --help.
    from headgauge import particles, simulation

    notes = stderr(quiet)
    named = particles.schemes.names() if scheme == "all" else lists.names(scheme)
    settings = simulation.SimulationSettings(
        schemes=tuple(particles.schemes.get(name).name for name in named),
        tokens=tokens,
        dim=dim,
        beta=beta,
        random_beta=random_beta,
        horizon=horizon,
        seeds=seeds,
        seed=seed,
        weights=lists.names(weights),
        heads=heads,
        causal=causal,
        rule=rule,
        radius=radius,
        alpha=alpha,
        decay=decay,
        switch=switch,
        tolerance=tolerance,
        parts=lists.names(parts),
    )
    place = out or Path("runs") / f"simulate-{_digest(settings.as_dict())}"
    works_in(place)
    notes.print(f"out    {place}", style="dim", soft_wrap=True)
    with part_bars(notes) as progress:
        found = simulation.run_settings(settings, place, device, progress)
    with notes.status("drawing"):
        drawn = found.draw()
    if json_output:
        print_json(results.simulation_document(found, drawn))
    else:
        results.show_simulation(found, drawn)


def _digest(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
