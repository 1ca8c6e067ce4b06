"""The monitor inside transformers' Trainer and inside Lightning, as a callback of each.

    trainer.add_callback(headgauge.training.TrainerCallback(trainer, every=50, out="logs/mine"))
    trainer = lightning.Trainer(callbacks=[headgauge.training.LightningCallback(every=50)])

Both take what `Monitor` takes but the model. On a logged step the few numbers of `scalars` go to
the host's own loggers, with one picture for those that take pictures. Neither host is imported
before its callback is asked for.
"""

import importlib
import importlib.util
import sys
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

from torch import Tensor

from headgauge.errors import InputError
from headgauge.training.alarms import Alarms
from headgauge.training.asked import check_numbers
from headgauge.training.monitor import Monitor

_PICTURE = "headgauge/entropy_share"
_LIGHTNING = ("lightning.pytorch", "pytorch_lightning")  # one package by two names


class _Host:
    """What the callbacks share: a monitor as long as the host trains."""

    def __init__(self, **options: Any):
        _check(options)
        self._options = options
        self.monitor: Monitor | None = None

    def _begin(self, model: Any, steps: int) -> None:
        self._end(finished=False)
        self.monitor = Monitor(model, **self._options)
        self.monitor.begin_at(steps)

    def _end(self, finished: bool) -> None:
        if self.monitor is not None:
            self.monitor.close(finished)


def _check(options: dict[str, Any]) -> None:
    """Refuse what no monitor could be asked for, before there is a model."""
    known = signature(Monitor).parameters
    for name in options:
        if name == "model" or name not in known:
            there = ", ".join(each for each in known if each != "model")
            raise InputError(f"a monitor has no option {name!r}; there are {there}")
    asked = {name: known[name].default for name in check_numbers.__annotations__ if name in known}
    check_numbers(**asked | {name: given for name, given in options.items() if name in asked})
    Alarms(options.get("alarms"), options.get("on_alarm"))


class _OfTrainer(_Host):
    """Transformers' Trainer: keys reach its log_history and its loggers.

    `trainer` is the one it is added to. Trainer tells its callbacks of no exception, so that its
    `train` is watched for one: however it ends, the model is left as it was.
    """

    def __init__(self, trainer: Any, **options: Any):
        super().__init__(**options)
        if not hasattr(trainer, "callback_handler"):
            raise InputError(f"give the Trainer that it is added to, got {type(trainer).__name__}")
        self.trainer, train = trainer, trainer.train

        def watched(*args: Any, **kwargs: Any) -> Any:
            if self not in trainer.callback_handler.callbacks:
                raise InputError("the callback was made and not added: trainer.add_callback(it)")
            try:
                return train(*args, **kwargs)
            finally:
                self._end(finished=False)

        trainer.train = watched

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if args.torch_compile:
            raise InputError("Trainer compiles the model: train without torch_compile to watch it")
        self._begin(kwargs["model"], state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        assert self.monitor is not None
        if self.monitor.step(self._loss, state.global_step):
            wanted = control.should_log
            self.trainer.log(self.monitor.scalars())
            control.should_log = wanted  # a log of ours takes the place of none of its own
            for each in self.trainer.callback_handler.callbacks:
                self._draw(each, state.global_step)
        return control

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end(finished=True)

    def _loss(self) -> float | None:
        """The mean since Trainer's last log, which is what it would log now."""
        total = getattr(self.trainer, "_tr_loss", None)
        since = getattr(self.trainer, "_globalstep_last_logged", 0)
        steps = self.trainer.state.global_step - since
        if isinstance(total, Tensor) and steps > 0:
            return float(total) / steps
        logged = (each["loss"] for each in self.trainer.state.log_history[::-1] if "loss" in each)
        return next(logged, None)

    def _draw(self, callback: Any, step: int) -> None:
        assert self.monitor is not None
        if (writer := getattr(callback, "tb_writer", None)) is not None:
            writer.add_image(_PICTURE, self.monitor.image(), step, dataformats="HWC")
        if (wandb := getattr(callback, "_wandb", None)) is not None and wandb.run is not None:
            wandb.log({_PICTURE: wandb.Image(self.monitor.image()), "train/global_step": step})


class _OfLightning(_Host):
    """Lightning's Trainer, under either of its names: keys reach its loggers."""

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._begin(pl_module, trainer.global_step)

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert self.monitor is not None
        if trainer.global_step == self.monitor.steps:
            return  # a micro-batch of several
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if not self.monitor.step(loss, trainer.global_step):
            return
        for logger in trainer.loggers:
            logger.log_metrics(self.monitor.scalars(), step=trainer.global_step)
            if hasattr(logger, "log_image"):
                logger.log_image(_PICTURE, [self.monitor.image()], step=trainer.global_step)
            elif hasattr(logger.experiment, "add_image"):
                picture, step = self.monitor.image(), trainer.global_step
                logger.experiment.add_image(_PICTURE, picture, step, dataformats="HWC")

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._end(finished=True)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end(finished=False)


if TYPE_CHECKING:
    import transformers

    class TrainerCallback(_OfTrainer, transformers.TrainerCallback): ...

    class LightningCallback(_OfLightning, Any): ...


def __getattr__(name: str) -> Any:
    if name == "TrainerCallback":
        return _callback(name, _OfTrainer, importlib.import_module("transformers").TrainerCallback)
    if name == "LightningCallback":
        return _callback(name, _OfLightning, *_lightning_bases())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _callback(name: str, own: type, *bases: type) -> type:
    """The callback as a subclass of its host's own."""
    return type(name, (own, *bases), {"__doc__": own.__doc__, "__module__": "headgauge.training"})


def _lightning_bases() -> list[type]:
    """That of the name in use, or of both."""
    names = [name for name in _LIGHTNING if name in sys.modules]
    if not names:
        names = [name for name in _LIGHTNING if importlib.util.find_spec(name.split(".")[0])][:1]
    if not names:
        raise InputError("Lightning is not installed: pip install lightning")
    return [importlib.import_module(name).Callback for name in names]
