"""The monitor as a guest of transformers' Trainer and of Lightning."""

import csv
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch.utils.data import DataLoader, Dataset

import headgauge
from headgauge.errors import InputError
from headgauge.training import QKClip, TrainingLog

from .conftest import batches, llama

KEYS = {"headgauge/entropy_share_min", "headgauge/max_logit", "headgauge/alarms"}


class Texts(Dataset):
    def __len__(self) -> int:
        return 16

    def __getitem__(self, at: int) -> dict[str, torch.Tensor]:
        ids = batches(16, 1)[at][0]
        return {"input_ids": ids, "labels": ids}


def trainer(folder: Path, watch: dict[str, Any] | None = None, **more: Any) -> hf.Trainer:
    given: dict[str, Any] = {"max_steps": 4, "logging_steps": 2, "report_to": [], "use_cpu": True}
    given |= {"save_strategy": "no", "disable_tqdm": True, "per_device_train_batch_size": 2}
    arguments = hf.TrainingArguments(str(folder), **given | more)
    made = hf.Trainer(llama(), arguments, train_dataset=Texts(), eval_dataset=Texts())
    if watch is not None:
        made.add_callback(headgauge.training.TrainerCallback(made, **watch))
    return made


def weights(model: Any) -> list[torch.Tensor]:
    return [each.detach().clone() for each in model.parameters()]


WATCH: dict[str, Any] = {"every": 2, "budget": None}


@pytest.mark.parametrize(
    "how",
    [
        {"gradient_accumulation_steps": 2},
        {"eval_strategy": "steps", "eval_steps": 1, "bf16": True},
    ],
    ids=["accumulation", "evaluation-bf16"],
)
def test_a_trainer_trains_as_without_and_logs_its_keys(tmp_path, how):
    plain = trainer(tmp_path, **how)
    plain.train()
    watched = trainer(tmp_path, WATCH, **how)  # draws from the same beginning
    watched.train()
    assert all(map(torch.equal, weights(plain.model), weights(watched.model)))
    logs = [each for each in watched.state.log_history if {*each} >= KEYS]
    assert [each["step"] for each in logs] == [1, 2, 4]

    def others(made: hf.Trainer) -> list[Any]:
        return [(each["step"], each["loss"]) for each in made.state.log_history if "loss" in each]

    assert others(plain) == others(watched)  # ours take the place of none


def test_trainers_loggers_get_numbers_and_one_picture(tmp_path):
    made = trainer(tmp_path, WATCH | {"out": tmp_path / "log"})
    seen: dict[str, list[Any]] = {"numbers": [], "pictures": []}

    class Writer:
        def add_image(self, tag, picture, step, dataformats):
            seen["pictures"].append((tag, picture.shape, step, dataformats))

    class Board(hf.TrainerCallback):
        tb_writer = Writer()

        def on_log(self, args, state, control, logs=None, **kwargs):
            seen["numbers"].append(logs)

    made.add_callback(Board())
    made.train()
    assert sum({*each} >= KEYS for each in seen["numbers"]) == 3
    assert seen["pictures"][0] == ("headgauge/entropy_share", (24, 48, 3), 1, "HWC")
    assert len(seen["pictures"]) == 3
    log = TrainingLog.load(tmp_path / "log").steps()
    assert log["step"].to_list() == [1, 2, 4]
    told = [each["loss"] for each in made.state.log_history if "loss" in each]
    assert log["loss"].to_list()[1:] == pytest.approx(told, rel=1e-3)


def test_an_exception_in_a_trainer_leaves_nothing_behind(tmp_path):
    before = dict(hf.AttentionInterface._global_mapping)
    made = trainer(tmp_path, WATCH | {"clip": QKClip()})

    class Fails(hf.TrainerCallback):
        def on_step_begin(self, args, state, control, **kwargs):
            if state.global_step == 1:
                raise RuntimeError("out of luck")

    made.add_callback(Fails())
    with pytest.raises(RuntimeError, match="out of luck"):
        made.train()
    assert dict(hf.AttentionInterface._global_mapping) == before
    headgauge.Monitor(made.model).close()  # the model is free


def test_a_trainer_that_compiles_is_refused(tmp_path):
    made = trainer(tmp_path, WATCH)
    made.args.torch_compile = True
    callback: Any = made.callback_handler.callbacks[-1]
    with pytest.raises(InputError, match="Trainer compiles the model"):
        callback.on_train_begin(made.args, made.state, made.control, model=made.model)


def module(package: Any) -> Any:
    class Module(package.LightningModule):
        def __init__(self):
            super().__init__()
            self.inner = llama()

        def training_step(self, batch, at):
            return self.inner(**batch).loss

        def validation_step(self, batch, at):
            self.inner(**batch)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), 1e-2)

    return Module()


def fit(package: Any, callbacks: list[Any], logger: Any = False, **more: Any) -> Any:
    torch.manual_seed(1)
    made, data = module(package), DataLoader(Texts(), batch_size=2)
    quiet: dict[str, Any] = {"enable_progress_bar": False, "enable_model_summary": False}
    quiet |= {"enable_checkpointing": False, "accelerator": "cpu", "log_every_n_steps": 1}
    package.Trainer(max_steps=4, logger=logger, callbacks=callbacks, **quiet | more).fit(
        made, data, data
    )
    return made


lightning = pytest.mark.filterwarnings("ignore")  # Lightning has warnings of its own, and many


@lightning
@pytest.mark.parametrize("name", ["lightning.pytorch", "pytorch_lightning"])
def test_lightning_trains_as_without_and_logs_its_keys(tmp_path, name):
    package = importlib.import_module(name)
    how: dict[str, Any] = {"accumulate_grad_batches": 2, "limit_val_batches": 1}
    how |= {"val_check_interval": 2, "max_epochs": 2}
    plain = fit(package, [], **how)
    logger = importlib.import_module(f"{name}.loggers").CSVLogger(tmp_path)
    pictures = []
    logger.log_image = lambda key, images, step: pictures.append((key, step, images[0]))
    callback: Any = headgauge.training.LightningCallback(**WATCH, out=tmp_path / "log")
    assert isinstance(callback, package.Callback)
    watched = fit(package, [callback], logger, **how)
    assert all(map(torch.equal, weights(plain), weights(watched)))
    with open(Path(logger.log_dir) / "metrics.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["headgauge/max_logit"]]
    assert [row["step"] for row in rows] == ["1", "2", "4"]
    assert {*rows[0]} >= KEYS
    assert [step for _, step, _ in pictures] == [1, 2, 4]
    assert isinstance(pictures[0][2], np.ndarray)
    log = TrainingLog.load(tmp_path / "log")
    assert log.header["layers"][0]["module"] == "inner.model.layers.0.self_attn"
    assert log.steps()["loss"].null_count() == 0


@lightning
def test_an_exception_in_lightning_leaves_nothing_behind():
    package = importlib.import_module("lightning.pytorch")
    before = dict(hf.AttentionInterface._global_mapping)

    class Fails(package.Callback):
        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
            if batch_idx == 1:
                raise RuntimeError("out of luck")

    callback: Any = headgauge.training.LightningCallback(**WATCH, clip=QKClip())
    with pytest.raises(RuntimeError, match="out of luck"):
        fit(package, [callback, Fails()])
    assert dict(hf.AttentionInterface._global_mapping) == before
    assert callback.monitor.closed


def test_what_is_wrong_is_told_before_the_training(tmp_path, unchecked):
    made = trainer(tmp_path)
    for options, said in (({"evry": 3}, "no option 'evry'"), ({"every": 0}, "every must be in 1"),
                          ({"budget": "2%"}, "budget must be a number, got '2%'"),
                          ({"alarms": {"none": (1, 0)}}, "no alarm named 'none'")):  # fmt: skip
        with pytest.raises(InputError, match=said):
            headgauge.training.TrainerCallback(made, **options)
        with pytest.raises(InputError, match=said):
            headgauge.training.LightningCallback(**options)
    with pytest.raises(InputError, match="give the Trainer that it is added to, got NoneType"):
        headgauge.training.TrainerCallback(None)
    headgauge.training.TrainerCallback(made)
    with pytest.raises(InputError, match=r"not added: trainer\.add_callback"):
        made.train()


def test_without_lightning_a_line_says_so(monkeypatch):
    from headgauge.training import hosts

    for name in ("lightning.pytorch", "pytorch_lightning"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="Lightning is not installed"):
        hosts._lightning_bases()
