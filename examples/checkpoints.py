"""How heads come to be: a small model trained on War and Peace, scanned at a few checkpoints.

    python examples/checkpoints.py                     # about ten minutes on two cores
    headgauge compare runs/checkpoints/step-* --out runs/checkpoints/series

The model reads bytes. The first nine tenths of the text train it, windows of the last tenth are
scanned.
"""

import argparse
from pathlib import Path

import torch
from small_model import batches, read_bytes, small_model

import headgauge

LENGTH, LAYERS = 256, 6


def train(steps: list[int], out: Path, batch: int = 16, windows: int = 4, seed: int = 0) -> None:
    """Train to the last of `steps` and scan at each into out/step-N."""
    trained, rest = read_bytes()
    judged = rest[: windows * LENGTH].view(windows, LENGTH)
    model = small_model(seed, LENGTH, LAYERS)
    last = max(steps)
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, betas=(0.9, 0.95), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, last + 1, pct_start=0.1)
    for step, ids in enumerate(batches(trained, LENGTH, batch, last + 1, seed)):
        if step in steps:
            found = headgauge.scan(model, judged, out=out / f"step-{step:05}")
            print(step, found.finding(), flush=True)
        loss = model.train()(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", default="0,30,100,300,1000", help="checkpoints to scan")
    parser.add_argument("--out", type=Path, default=Path("runs/checkpoints"))
    options = parser.parse_args()
    train([int(step) for step in options.steps.split(",")], options.out)
