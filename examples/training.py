"""A training that is watched: stable, pushed over by its learning rate, and the same with QK-clip.

    python examples/training.py                        # nine runs, in ten minutes on two cores
    headgauge watch runs/training/pushed-0             # in another terminal, while it goes on
    headgauge report runs/training/pushed-0

Every seed has three runs on the same batches. They differ in the learning rate that their warm-up
leads to, and in QK-clip. A run that was finished before is not made again. The table tells at which
step each alarm came and at which the loss showed that something is wrong, in two ways that were
fixed before any run was judged: `rising`, as one sees it in the run itself, and `behind`, which
only someone sees who has the stable run beside it. results.json has the numbers of the table.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from small_model import BATCH, LENGTH, batches, read_bytes, small_model

import headgauge
from headgauge.training import ALARMS, QKClip, TrainingLog

STEPS, WARM_UP, EVERY = 200, 20, 5
MEAN = 20  # steps of loss that are averaged: a batch alone tells little
RISE, BEHIND, LASTING = 0.05, 0.1, 10  # nats, and for how many steps on end


@dataclass(frozen=True)
class Kind:
    """The learning rate at the end of the warm-up, and what is done against its harm."""

    rate: float
    clip: QKClip | None = None


KINDS = {
    "stable": Kind(2e-3),
    "pushed": Kind(1e-2),
    "clipped": Kind(1e-2, QKClip(limit=30)),
}


def train(kind: Kind, seed: int, out: Path, steps: int = STEPS, layers: int = 6) -> dict[str, Any]:
    """One run: its log in `out`, its losses and the loss on text that it never saw."""
    trained, judged = read_bytes()
    model = small_model(seed, LENGTH, layers).train()
    optimiser = torch.optim.AdamW(model.parameters(), kind.rate, betas=(0.9, 0.95), weight_decay=0)
    warm = torch.optim.lr_scheduler.LinearLR(optimiser, 1 / WARM_UP, 1.0, WARM_UP - 1)
    losses = []
    # No budget: every run is to be logged on the same steps.
    monitor = headgauge.Monitor(model, EVERY, None, out, clip=kind.clip)
    with monitor:
        for ids in batches(trained, LENGTH, BATCH, steps, seed):
            loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            warm.step()
            optimiser.zero_grad()
            losses.append(loss.item())
            monitor.step(loss)
    windows = judged[: 32 * LENGTH].view(32, LENGTH)
    with torch.no_grad():
        unseen = model.eval()(input_ids=windows, labels=windows).loss.item()
    return {"losses": losses, "unseen": unseen}


def shown(gaps: np.ndarray, least: float) -> int | None:
    """The first step at which a gap has been above `least` for long enough."""
    lasting = np.convolve(gaps > least, np.ones(LASTING), "valid") == LASTING
    return int(lasting.argmax()) + LASTING + MEAN - 1 if lasting.any() else None


def judge(run: dict[str, Any], stable: dict[str, Any], log: TrainingLog) -> dict[str, Any]:
    """What the table has of one run."""
    every_loss = (np.array(each["losses"]) for each in (run, stable))
    own, good = (np.convolve(each, np.ones(MEAN) / MEAN, "valid") for each in every_loss)
    raised = log.alarms().filter(state="raised")
    alarms = {}
    for name in ALARMS:
        those = raised.filter(alarm=name)
        heads = those.select("layer", "head").n_unique()
        alarms[name] = {"first": those["step"].min(), "heads": heads} if heads else None
    return {
        "last": float(own[-1]),
        "unseen": run["unseen"],
        "max_logit": log.heads()["max_logit"].max(),
        "alarms": alarms,
        "rising": shown(own - np.minimum.accumulate(own), RISE),
        "behind": shown(own - good, BEHIND),
    }


def table(found: dict[str, dict[str, Any]]) -> Table:
    headings = ("loss at the end", "on unseen text", "largest logit", *ALARMS, "rising", "behind")
    drawn = Table(title="the step of each kind's first alarm (heads that had it), and of the loss")
    for heading in ("run-seed", *headings):
        drawn.add_column(heading, justify="right")
    for name, run in found.items():
        numbers = [f"{run['last']:.2f}", f"{run['unseen']:.2f}", f"{run['max_logit']:.0f}"]
        for each in run["alarms"].values():
            numbers.append(f"{each['first']} ({each['heads']})" if each else "–")
        numbers += [str(run[way] or "–") for way in ("rising", "behind")]
        drawn.add_row(name, *numbers)
    return drawn


def run_all(out: Path, seeds: list[int], steps: int = STEPS, layers: int = 6) -> dict[str, Any]:
    """All runs that are not there yet, and what the table says of all."""
    made = {}
    for seed in seeds:
        for name, kind in KINDS.items():
            kept = out / f"{name}-{seed}" / "losses.json"
            if not kept.exists():
                run = train(kind, seed, kept.parent, steps, layers)
                kept.write_text(json.dumps(run))
                print(f"{name}-{seed}: {run['unseen']:.3f} nats on unseen text", flush=True)
            made[name, seed] = json.loads(kept.read_text())
    return {
        f"{name}-{seed}": judge(run, made["stable", seed], TrainingLog.load(out / f"{name}-{seed}"))
        for (name, seed), run in made.items()
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--out", type=Path, default=Path("runs/training"))
    options = parser.parse_args()
    found = run_all(options.out, [int(seed) for seed in options.seeds.split(",")])
    (options.out / "results.json").write_text(json.dumps(found, indent=1))
    Console(width=130).print(table(found))
