"""Rules as part of a model: trained, copied, saved, and gone without a trace."""

import copy
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from safetensors.torch import save_file
from torch import Tensor

import headgauge
from headgauge import models, normalizers
from headgauge.errors import InputError
from headgauge.models.attention_rows import Attention
from headgauge.models.sink_kernel import with_sink
from normalizers.conftest import RULES

Build = Callable[[str, str], Any]
NAMES = normalizers.names()
GIVEN: dict[str, dict[str, Any]] = {
    "ssmax": {"s": 0.3, "b": 0.2},
    "sink": {"sink": 0.7},
    "entmax": {"alpha": 1.4},
}
LEARNED = {"softmax": 1, "ssmax": 2, "sink": 1, "entmax": 1, "asentmax": 3, "topk": 1}
LEARNED |= {"relu": 1}


def _registry() -> dict[str, Any]:
    return dict(hf.AttentionInterface._global_mapping)


def _learned(model: Any) -> dict[str, Tensor]:
    return {k: p for k, p in model.named_parameters() if "installed_rules" in k}


def _loss(found: Any) -> Tensor:
    return found.model(**found.inputs, labels=found.inputs["input_ids"]).loss


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_can_be_installed_and_taken_out(build: Build, name: str) -> None:
    found = build("llama", "sdpa")
    before, keys, plain = _registry(), list(found.model.state_dict()), found.run().logits
    headgauge.install(found.model, name, trainable=name != "sigmoid")  # which has nothing to train
    learned = _learned(found.model)
    assert len(learned) == 2 * LEARNED.get(name, 0)
    assert all(each.shape == (4,) and each.dtype == torch.float32 for each in learned.values())
    assert {key for key in found.model.state_dict() if key not in keys} == set(learned)
    made = found.run().logits
    rule = normalizers.get(name)
    fits = type(rule).fits()
    neutral = {key: fit.unchanged for key, fit in fits.items() if fit.unchanged is not None}
    if name in ("softmax", "ssmax"):
        assert torch.equal(made, plain)
    elif name in ("sink", "entmax"):  # no change, on another path
        torch.testing.assert_close(made, plain, atol=1e-4, rtol=1e-4)
    else:
        more = {"dim": 8} if rule.cosines else {}
        headgauge.uninstall(found.model)
        with headgauge.swap(found.model, name, **neutral, **more):
            torch.testing.assert_close(found.run().logits, made, atol=1e-5, rtol=1e-5)
        headgauge.install(found.model, name, trainable=name != "sigmoid")
    headgauge.uninstall(found.model)
    assert torch.equal(found.run().logits, plain)
    assert list(found.model.state_dict()) == keys
    assert _registry() == before
    assert not any(m._forward_pre_hooks or m._forward_hooks for m in found.model.modules())


@pytest.mark.parametrize("name", [name for name in LEARNED if name != "topk"])
def test_parameters_are_trained_with_the_rest(build: Build, name: str) -> None:
    found = build("llama", "sdpa")
    headgauge.install(found.model, name)
    found.model.train()
    found.model.gradient_checkpointing_enable({"use_reentrant": False})
    learned = _learned(found.model)
    start = {key: value.detach().clone() for key, value in learned.items()}
    others = [p for k, p in found.model.named_parameters() if k not in learned]
    groups = [{"params": others, "lr": 1e-3}, {"params": [*learned.values()], "lr": 0.05}]
    optimiser = torch.optim.Adam(groups)
    losses = []
    for _ in range(4):
        optimiser.zero_grad()
        loss = _loss(found)
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
    for key, value in learned.items():
        if name != "sink":  # whose share of 3e-7 moves slowly
            assert not torch.equal(value, start[key]), key
    assert bool(_loss(found).isfinite())  # also with an α that was stepped below 1
    headgauge.uninstall(found.model)


def test_gradients_to_parameters_are_those_of_the_formula(build: Build) -> None:
    found = build("gpt2", "sdpa")  # float64 throughout, where others have norms in float32
    towards = torch.randn(
        2, 24, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(3)
    )

    def value() -> Tensor:
        return (found.model(**found.inputs).logits * towards).sum()

    for name, given in GIVEN.items():
        headgauge.install(found.model, name, **given)
        found.model.double()
        parameter = next(iter(_learned(found.model).values()))
        value().backward()
        slopes = []
        for head in range(4):
            values = []
            for step in (1e-6, -1e-6):
                with torch.no_grad():
                    parameter[head] += step
                    values.append(value())
                    parameter[head] -= step
            slopes.append((values[0] - values[1]) / 2e-6)
        torch.testing.assert_close(parameter.grad, torch.stack(slopes), atol=1e-4, rtol=1e-4)
        headgauge.uninstall(found.model)


def test_the_gradient_of_a_sink_is_summed_in_float32(build: Build) -> None:
    """Of a bfloat16 model, against the same numbers in float64."""
    half, wide = build("llama", "sdpa"), build("llama", "sdpa")
    half.model.bfloat16()
    wide.model.load_state_dict(half.model.state_dict())
    wide.model.double()
    calls: list[Any] = []
    with models.intercept(half.model, calls.append):
        half.run()
    call = calls[0]
    gradient = torch.randn(call.output.shape, generator=torch.Generator().manual_seed(3))
    found = []
    for kind in (torch.bfloat16, torch.float64):
        s = torch.full((4, 1), 0.5, dtype=torch.float32, requires_grad=True)
        given = {k: getattr(call, k).to(kind) for k in ("query", "key", "value")}
        rest = ("scaling", "mask", "causal", "softcap", "sinks", "bias")
        given |= {k: getattr(call, k) for k in rest}
        attention = Attention(**given)
        made = with_sink(attention, s, (0, 1, 2, 3))
        assert made is not None
        (made.double() * gradient).sum().backward()
        assert s.grad is not None
        assert s.grad.dtype == torch.float32
        found.append(s.grad.clone())
    torch.testing.assert_close(*found, atol=2e-2, rtol=2e-2)


def test_a_file_names_the_rule_and_gives_it_back(build: Build, tmp_path: Path) -> None:
    one, other = build("llama", "sdpa"), build("llama", "sdpa")
    headgauge.install(one.model, "ssmax", s=torch.tensor([0.1, 0.3]), heads=[1, 2])
    headgauge.install(one.model, "topk", layers=1, heads=[3], k=5, trainable=False)
    headgauge.install(one.model, "sigmoid", layers=0, heads=[0], trainable=False)
    with pytest.raises(InputError, match="bias has no number that training could begin at"):
        headgauge.install(one.model, "sigmoid", layers=0, heads=[3])
    with pytest.raises(InputError, match="there is no folder"):
        headgauge.save_rule(one.model, tmp_path / "nowhere" / "rules.safetensors")
    path = tmp_path / "rules.safetensors"
    headgauge.save_rule(one.model, path)
    headgauge.load_rule(other.model, path)
    assert torch.equal(other.run().logits, one.run().logits)
    names = [each.name for each in other.model.model.layers[1].self_attn.installed_rules]
    assert names == ["ssmax", "topk"]
    with pytest.raises(InputError, match=r"head 1 of .*self_attn has ssmax installed"):
        headgauge.load_rule(other.model, path)
    with pytest.raises(InputError, match="which GPT2LMHeadModel has not"):
        headgauge.load_rule(build("gpt2", "sdpa").model, path)
    save_file({"a": torch.ones(1)}, tmp_path / "else.safetensors")
    for name, said in (("else.safetensors", "not written by save_rule"), ("none", "no file")):
        with pytest.raises(InputError, match=said):
            headgauge.load_rule(other.model, tmp_path / name)
    (tmp_path / "cut").write_bytes(path.read_bytes()[:40])
    with pytest.raises(InputError, match="was cut or is no safetensors"):
        headgauge.load_rule(other.model, tmp_path / "cut")
    for found in (one, other):
        headgauge.uninstall(found.model)
        with pytest.raises(InputError, match="no rule installed"):
            headgauge.save_rule(found.model, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    assert "eager" not in _registry()


def test_frozen_copied_and_forgotten(build: Build) -> None:
    found = build("llama", "sdpa")
    headgauge.install(found.model, "ssmax", s=0.4, trainable=False)
    assert not any(each.requires_grad for each in _learned(found.model).values())
    twin = copy.deepcopy(found.model)
    made = found.run().logits
    with headgauge.swap(found.model, "relu", heads=[1]):  # a block is above what is installed
        assert not torch.equal(found.run().logits, made)
    headgauge.uninstall(found.model)
    with torch.no_grad():
        assert torch.equal(twin(**found.inputs).logits, made)
    del twin
    gc.collect()
    assert "eager" not in _registry()
    with pytest.raises(InputError, match="has no rule installed"):
        headgauge.uninstall(found.model)


def test_a_models_own_sinks_are_where_a_learned_sink_begins(build: Build) -> None:
    found = build("gpt-oss", "eager")
    plain = found.run().logits
    headgauge.install(found.model, "sink")
    torch.testing.assert_close(found.run().logits, plain, atol=1e-5, rtol=1e-5)
    headgauge.uninstall(found.model)


def test_compiled_code_gives_way_to_an_installed_rule(build: Build) -> None:
    found = build("llama", "sdpa")
    compiled: Any = torch.compile(found.model, backend="eager")
    with torch.no_grad():
        plain = compiled(**found.inputs).logits
        headgauge.install(compiled, "softmax", temperature=0.5)
        made = compiled(**found.inputs).logits
        torch.testing.assert_close(made, found.run().logits)
        assert not torch.allclose(made, plain)
        headgauge.uninstall(compiled)
        torch.testing.assert_close(compiled(**found.inputs).logits, plain)


@pytest.mark.parametrize("name", LEARNED)
def test_far_beyond_its_limits_a_parameter_acts_as_on_them(build: Build, name: str) -> None:
    found = build("llama", "sdpa")
    headgauge.install(found.model, name)
    for parameter in _learned(found.model).values():
        for far in (-100.7, 313.13):
            with torch.no_grad():
                parameter.fill_(far)
            assert not bool(found.run().logits.isnan().any())
            loss = _loss(found)
            loss.backward()
            assert parameter.grad is not None
    headgauge.uninstall(found.model)


def test_the_list_of_rules_with_parameters_is_whole() -> None:
    learned = {rule.name: len(rule.per_row()) for rule in RULES}
    assert {name: count for name, count in learned.items() if count} == LEARNED | {
        "sigmoid": 1,  # −log n unless a number is given
        "topk": 1,
    }
