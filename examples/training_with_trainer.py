"""The training of training.py inside transformers' Trainer.

python examples/training_with_trainer.py           # about a minute on two cores
headgauge watch runs/training/trainer
"""

from pathlib import Path

import transformers
from small_model import BATCH, LENGTH, batches, read_bytes, small_model

from headgauge.training import QKClip, TrainerCallback


def train(
    out: Path, rate: float = 1e-2, steps: int = 200, length: int = LENGTH, layers: int = 6
) -> list:
    """Trainer's own log, which has the monitor's keys beside the loss."""
    drawn = batches(read_bytes()[0], length, BATCH, steps, seed=0)
    windows = [{"input_ids": ids, "labels": ids} for batch in drawn for ids in batch]
    asked = transformers.TrainingArguments(
        output_dir=str(out / "checkpoints"),
        per_device_train_batch_size=BATCH,
        max_steps=steps,
        learning_rate=rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=20,
        adam_beta2=0.95,
        logging_steps=10,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = transformers.Trainer(small_model(0, length, layers), asked, train_dataset=windows)
    watched = TrainerCallback(trainer, every=10, out=out / "trainer", clip=QKClip(limit=30))
    trainer.add_callback(watched)
    trainer.train()
    return trainer.state.log_history


if __name__ == "__main__":
    train(Path("runs/training"))
