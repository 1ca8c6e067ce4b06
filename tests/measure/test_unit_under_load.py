"""A unit while other threads use the model, and what it leaves behind when it is stopped."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.unit import Unit, measure_unit
from headgauge.runs import UnitKey, UnitTables
from headgauge.scanning.scanning import ScanSettings, scan_task

LENGTH = 24
Progress = Callable[[float], object]


def _measure(model: Any, ids: Tensor, progress: Progress | None = None, **more: Any) -> UnitTables:
    settings = ScanSettings(lengths=(LENGTH,), top_ns=(1, 4), **more)
    unit = Unit(UnitKey(0, LENGTH), 0, tuple(ids[0].tolist()))
    source, task = models.wrap(model), scan_task(settings, unit.key)
    return measure_unit(source, unit, settings, task, progress)


def _same(left: UnitTables, right: UnitTables) -> bool:
    names = left.tables | right.tables
    return all(left.tables[name].equals(right.tables[name]) for name in names)


def _elsewhere(work: Callable[[], object], seconds: float | None = None) -> threading.Thread:
    """Run in another thread and wait for it, or for some time."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(seconds)
    return thread


@contextmanager
def _served(model: Any, inputs: dict[str, Tensor]) -> Iterator[list[Tensor]]:
    """Whenever a module has run, another thread reads another text with the model."""
    here, answers = threading.get_ident(), []

    def serve() -> None:
        with torch.no_grad():
            answers.append(model(**inputs).logits)

    def ran(module: Any, args: Any, output: Any) -> None:
        if threading.get_ident() == here and not any(module.children()):
            _elsewhere(serve)

    hooks = [module.register_forward_hook(ran) for module in model.modules()]
    try:
        yield answers
    finally:
        for hook in hooks:
            hook.remove()


@pytest.mark.parametrize(
    ("family", "implementation"), [("llama", "sdpa"), ("gpt2", "eager"), ("gptj", "eager")]
)
def test_calls_from_another_thread_are_not_seen(
    build: Any, ids: Tensor, family: str, implementation: str
) -> None:
    model = build(family, implementation).model
    choices: dict[str, Any] = {"vectors": ("value", "hidden"), "depth": True}
    alone = _measure(model, ids, **choices)
    other = {"input_ids": ids[1:2, :9]}
    with torch.no_grad():
        plain = model(**other).logits
    with _served(model, other) as answers:
        served = _measure(model, ids, **choices)
    assert _same(alone, served)
    assert served.facts["unseen"] == []
    assert len(answers) > 20
    assert all(torch.equal(answer, plain) for answer in answers)


def _dropping(**more: Any) -> Any:
    torch.manual_seed(0)
    config = hf.GPT2Config(
        vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1,
        eos_token_id=2, **more,
    )  # fmt: skip
    return hf.GPT2LMHeadModel(config).train()


def test_two_threads_take_turns(ids: Tensor) -> None:
    """The second must not switch dropout on again under the first."""
    model = _dropping()
    alone = _measure(model, ids)
    second: list[UnitTables] = []
    threads: list[threading.Thread] = []

    def start(share: float) -> None:
        if not threads:
            work = lambda: second.append(_measure(model, ids))  # noqa: E731
            threads.append(_elsewhere(work, seconds=0.3))

    first = _measure(model, ids, start)
    threads[0].join(60)
    assert _same(first, alone)
    assert [_same(each, alone) for each in second] == [True]
    assert model.training


def test_different_models_in_two_threads(build: Any, ids: Tensor) -> None:
    cases = [build("llama", "sdpa").model, build("gpt2", "eager").model]
    alone = [_measure(model, ids) for model in cases]
    found: dict[int, list[bool]] = {0: [], 1: []}

    def work(place: int) -> None:
        for _ in range(2):
            found[place].append(_same(_measure(cases[place], ids), alone[place]))

    threads = [threading.Thread(target=work, args=(place,)) for place in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {0: [True] * 2, 1: [True] * 2}


def test_an_interception_elsewhere_is_refused_while_a_unit_runs(llama: Any, ids: Tensor) -> None:
    refused: list[str] = []

    def start() -> None:
        try:
            with models.intercept(llama, lambda call: None):
                pass
        except InputError as error:
            refused.append(str(error))

    _measure(llama, ids, lambda share: _elsewhere(start))
    assert len(refused) == 2
    assert "another thread" in refused[0]
    start()
    assert len(refused) == 2


def _state(model: Any) -> dict[str, Any]:
    """Everything a unit touches."""
    return {
        "interface": dict(hf.AttentionInterface._global_mapping),
        "hooks": [(m._forward_hooks | m._forward_pre_hooks) for m in model.modules()],
        "training": [module.training for module in model.modules()],
        "threads": torch.get_num_threads(),
        "random": torch.get_rng_state().tolist(),
        "gradients": torch.is_grad_enabled(),
        "modes": torch._C._len_torch_function_stack(),
    }


@pytest.mark.parametrize(
    ("place", "stop"),
    [
        ("observer", KeyboardInterrupt),
        ("plain pass", KeyboardInterrupt),
        ("model", KeyboardInterrupt),
        ("model", ZeroDivisionError),
        ("stream", KeyboardInterrupt),
    ],
)
def test_a_unit_that_is_stopped_leaves_all_as_it_was(
    ids: Tensor, place: str, stop: type[BaseException]
) -> None:
    model = _dropping()
    model.transformer.h[0].eval()
    before, calls = _state(model), 0
    # Two short ones that look at the output layer, the pass for the final vectors, the observed
    # one, that for the norms and that for the stream.
    passes = {"observer": 0, "plain pass": 3, "model": 4, "stream": 6}

    def fail(*args: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == passes[place]:
            raise stop

    def progress(share: float) -> None:
        if place == "observer":
            raise stop

    hook = model.transformer.h[1].mlp.register_forward_hook(fail)
    watched = _state(model)
    with pytest.raises(stop):
        _measure(model, ids, progress, vectors=("final", "hidden"), depth=True, seed=3, threads=1)
    assert _state(model) == watched
    hook.remove()
    assert _state(model) == before
    assert len(_measure(model, ids).tables["heads"]) == 8


def test_a_scan_inside_a_scan_is_refused(ids: Tensor) -> None:
    model = _dropping()
    alone, before = _measure(model, ids), _state(model)
    refused: list[str] = []

    def again(share: float) -> None:
        with pytest.raises(InputError) as caught:
            _measure(model, ids)
        refused.append(str(caught.value))

    assert _same(_measure(model, ids, again), alone)
    assert refused == ["an interception is already running: end it before starting another"] * 2
    assert _state(model) == before
