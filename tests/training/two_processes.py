"""What each of two processes does that train one model together (DDP over gloo)."""

import json
import sys
from datetime import timedelta
from pathlib import Path

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import headgauge
from headgauge.training import QKClip
from training.conftest import batches, llama, plain_loss

STEPS = 3


def run(rank: int, watch: dict | None) -> tuple[list, list, list[str], headgauge.Monitor | None]:
    """A training on every other batch: losses, weights, the collectives of our own."""
    model = llama()
    shared = DistributedDataParallel(model)
    torch.manual_seed(rank)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    called: list[str] = []
    own = distributed.all_reduce

    def counted(tensor, operation):
        called.append(str(operation).rpartition(".")[2])
        return own(tensor, operation)

    monitor = None if watch is None else headgauge.Monitor(shared, **watch)
    distributed.all_reduce, losses = counted, []
    try:
        for ids in batches(2 * STEPS)[rank::2]:
            loss = plain_loss(shared, ids)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(float(loss.detach()))
            called.append("step")
            if monitor is not None:
                monitor.step(loss)
    finally:
        distributed.all_reduce = own
        if monitor is not None:
            monitor.close()
    return losses, [each.detach().tolist() for each in model.parameters()], called, monitor


def main(rank: int, folder: Path) -> None:
    store = f"file://{folder / 'store'}"
    patience = timedelta(seconds=120)  # should the other fail
    distributed.init_process_group("gloo", store, rank=rank, world_size=2, timeout=patience)
    try:
        (folder / f"{rank}.json").write_text(json.dumps(found(rank, folder)))
    finally:
        distributed.destroy_process_group()


def found(rank: int, folder: Path) -> dict:
    watch = {"every": 2, "budget": 0.5, "out": folder / "log"}
    plain = run(rank, None)
    watched = run(rank, watch)
    clipped = run(rank, {"every": 2, "budget": None, "clip": QKClip(limit=0.02)})
    assert watched[3] is not None
    assert clipped[3] is not None
    return {
        "same": plain[:2] == watched[:2],
        "called": watched[2],
        "latest": watched[3].latest,
        "clipped_calls": clipped[2],
        "clipped": clipped[3].latest,
        "clipped_weights": clipped[1],
    }


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
