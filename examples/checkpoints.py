"""How heads come to be: a small model trained on War and Peace, scanned at a few checkpoints.

    python examples/checkpoints.py                     # about ten minutes on two cores
    headgauge compare runs/checkpoints/step-* --out runs/checkpoints/series

The model reads bytes. The first nine tenths of the text train it, windows of the last tenth are
scanned.
"""

import argparse
from pathlib import Path

import torch
import transformers

import headgauge
from headgauge import models

LENGTH = 256


def small_model(seed: int) -> transformers.LlamaForCausalLM:
    """1.6 million parameters: 6 layers of 8 heads."""
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=256,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=LENGTH,
        tie_word_embeddings=True,
    )
    return transformers.LlamaForCausalLM(config)


def train(steps: list[int], out: Path, batch: int = 16, windows: int = 4, seed: int = 0) -> None:
    """Train to the last of `steps` and scan at each into out/step-N."""
    text = models.read_text(None).text
    tokens = torch.tensor(list(text.encode()))
    split = len(tokens) * 9 // 10
    judged = tokens[split:][: windows * LENGTH].view(windows, LENGTH)
    model = small_model(seed)
    last = max(steps)
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, betas=(0.9, 0.95), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 2e-3, last + 1, pct_start=0.1)
    drawn = torch.Generator().manual_seed(seed)
    for step in range(last + 1):
        if step in steps:
            found = headgauge.scan(model, judged, out=out / f"step-{step:05}")
            print(step, found.finding(), flush=True)
        starts = torch.randint(split - LENGTH, (batch,), generator=drawn)
        ids = torch.stack([tokens[start : start + LENGTH] for start in starts.tolist()])
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
