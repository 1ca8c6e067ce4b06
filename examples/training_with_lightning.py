"""The training of training.py inside Lightning.

python examples/training_with_lightning.py         # about a minute on two cores
headgauge watch runs/training/lightning
"""

from pathlib import Path
from typing import Any

import lightning
import torch
from small_model import BATCH, LENGTH, batches, read_bytes, small_model
from torch import Tensor

from headgauge.training import LightningCallback, QKClip


class Trained(lightning.LightningModule):
    """The model and its optimiser, as Lightning wants them."""

    def __init__(self, model: Any, rate: float):
        super().__init__()
        self.model, self.rate = model, rate

    def training_step(self, ids: Tensor, at: int) -> Tensor:
        return self.model(input_ids=ids, labels=ids).loss

    def configure_optimizers(self) -> Any:
        adam = torch.optim.AdamW(self.parameters(), self.rate, betas=(0.9, 0.95), weight_decay=0)
        warm = torch.optim.lr_scheduler.LinearLR(adam, 1 / 20, 1.0, 19)
        return [adam], [{"scheduler": warm, "interval": "step"}]


def train(
    out: Path, rate: float = 1e-2, steps: int = 200, length: int = LENGTH, layers: int = 6
) -> None:
    drawn = list(batches(read_bytes()[0], length, BATCH, steps, seed=0))
    watched = LightningCallback(every=10, out=out / "lightning", clip=QKClip(limit=30))
    trainer = lightning.Trainer(
        accelerator="cpu",
        max_steps=steps,
        gradient_clip_val=1.0,
        callbacks=[watched],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    loader = torch.utils.data.DataLoader(drawn, batch_size=None)  # they are batches already
    trainer.fit(Trained(small_model(0, length, layers).train(), rate), loader)


if __name__ == "__main__":
    train(Path("runs/training"))
