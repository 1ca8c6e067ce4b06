"""A model without heads, against the same sums written over by hand in float64."""

import threading
from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor

from headgauge import models
from headgauge.errors import InputError
from headgauge.models.ablation import head_means, silenced
from headgauge.models.projections import CHANGED, TAPPED
from model_families import Case, case

FAMILIES = ["gpt2", "llama", "mistral", "gemma2", "gpt-oss", "t5", "bert", "falcon-sdpa"]
_SIZES: dict[str, Any] = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 48}
_SIZES |= {"num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64}


def _case(name: str) -> Case:
    if name in ("gemma2", "gpt-oss"):  # their softmax is float32 in every model
        return case(name, "eager")
    found = case(name, "sdpa")
    found.model.double()
    return found


def _first(output: Any) -> Tensor:
    found = getattr(output, "logits", None)
    return output.last_hidden_state if found is None else found


def _by_hand(found: Case, silent: dict[tuple[int, int], Tensor | float]) -> Tensor:
    """The output of the model whose attention functions return other numbers for these heads."""

    def replacement(call: models.AttentionCall) -> Tensor:
        made = call.output.clone()
        for (layer, head), instead in silent.items():
            if layer == call.layer:
                made[:, :, head] = instead
        return made

    with models.intercept(found.model, lambda call: None, replacement=replacement):
        return _first(found.run())


@pytest.mark.parametrize("name", FAMILIES)
def test_heads_are_replaced_as_if_their_attention_had_said_so(name: str):
    found = _case(name)
    layers = found.family.attentions
    means = {(layers - 1, 2): torch.linspace(-1, 1, 8), (0, 3): torch.full((8,), 0.5)}
    plain = _first(found.run())
    for heads, given in (([(layers - 1, 2)], None), ([f"L{layers - 1}H2", "L0H3"], means)):
        with models.ablated(found.model, heads, means=given):
            seen = _first(found.run())
        silent: dict[tuple[int, int], Tensor | float] = {(layers - 1, 2): 0.0}
        expected = _by_hand(found, silent if given is None else dict(means))
        close = 1e-10 if seen.dtype == torch.float64 else 1e-5
        torch.testing.assert_close(seen, expected, rtol=close, atol=close)
        assert (seen - plain).abs().max() > 1e-4
    assert torch.equal(_first(found.run()), plain)


def test_without_heads_the_model_is_untouched():
    found = case("llama", "sdpa")
    plain = found.run().logits
    with models.ablated(found.model, []):
        assert torch.equal(found.run().logits, plain)
        assert not any(module._forward_pre_hooks for module in found.model.modules())


def test_every_token_of_generate_is_made_without_the_head():
    found = case("llama", "sdpa")
    ids = found.inputs["input_ids"][:1, :6]
    with models.ablated(found.model, "L0H1,L1H2"), torch.no_grad():
        made = found.model.generate(ids, max_new_tokens=8, do_sample=False)
        for end in range(6, made.shape[1]):  # without a cache, one prefix at a time
            step = found.model(made[:, :end], use_cache=False).logits[0, -1].argmax()
            assert step == made[0, end]
    assert not torch.equal(made, found.model.generate(ids, max_new_tokens=8, do_sample=False))


def test_blocks_nest_fail_and_leave_other_threads_alone():
    found = case("gpt2", "sdpa")
    plain, made = found.run().logits, []

    def fail() -> None:
        with models.ablated(found.model, [(0, 1)]):
            made.append(found.run().logits)
            with models.ablated(found.model, [(1, 2)]):
                made.append(found.run().logits)
            thread = threading.Thread(target=lambda: made.append(found.run().logits))
            thread.start()
            thread.join()
            assert torch.equal(found.run().logits, made[0])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    once, twice, other = made
    with models.ablated(found.model, [(0, 1), (1, 2)]):
        assert torch.equal(found.run().logits, twice)
    assert not torch.equal(once, twice)
    assert torch.equal(other, plain)
    assert torch.equal(found.run().logits, plain)


def test_a_mean_is_that_of_all_positions_of_all_windows():
    found = _case("llama")
    loaded = models.wrap(found.model)
    outputs = [call.output for call in found.calls() if isinstance(call, models.AttentionCall)]
    windows = [{"input_ids": row[None]} for row in found.inputs["input_ids"]]
    means = head_means(loaded, models.output_projections(loaded), windows)
    assert set(means) == {(layer, head) for layer in range(2) for head in range(4)}
    torch.testing.assert_close(means[1, 3], outputs[1][:, :, 3].mean((0, 1)))


def test_what_a_head_writes_is_its_part_of_the_projection():
    for name in ("gpt2", "bert"):
        found = _case(name)
        projections = models.output_projections(models.wrap(found.model))
        part = projections.at(1)
        assert part is not None
        weights = [part.weight(head) for head in range(4)]
        x = torch.randn(5, 32, dtype=torch.float64)
        summed = sum(
            x[:, part.columns(head)] @ weight
            for head, weight in enumerate(weights)
            if weight is not None
        )
        module: Any = part.module
        torch.testing.assert_close(summed + module.bias, module(x))
        module.weight = torch.nn.Parameter(module.weight.detach().char(), False)
        assert part.weight(0) is None  # quantised: no plain numbers


def test_the_kinds_of_attention_that_have_no_test_of_their_own_here():
    latent = hf.DeepseekV3ForCausalLM(
        hf.DeepseekV3Config(
            **_SIZES, q_lora_rank=16, kv_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=8,
            v_head_dim=6, first_k_dense_replace=2, num_key_value_heads=4,
        )
    )  # fmt: skip
    part = models.output_projections(models.wrap(latent)).at(1)
    assert part is not None
    assert (part.name, part.value_dim) == ("model.layers.1.self_attn.o_proj", 6)
    shared = hf.AlbertModel(hf.AlbertConfig(**_SIZES, embedding_size=8))
    (only,) = models.output_projections(models.wrap(shared.train())).values()
    assert only.heads == 4
    assert shared.training
    kinds = ["full_attention"] * 2
    gated = hf.Qwen3NextForCausalLM(
        hf.Qwen3NextConfig(
            **_SIZES, layer_types=kinds, num_key_value_heads=2, head_dim=8, num_experts=0
        )
    )
    found = models.output_projections(models.wrap(gated))
    assert not found
    assert set(found.missing.values()) == {CHANGED}


@pytest.mark.parametrize(
    ("heads", "means", "said"),
    [
        ([(2, 0)], None, "has heads L0H0 to L1H3, not L2H0"),
        ([(0, -1)], None, "has heads L0H0 to L1H3, not L0H-1"),
        (["L0"], None, "ablated wants heads such as L18H7, got 'L0'"),
        ([(0, 1)], {(0, 0): torch.zeros(8)}, "the means have none for L0H1"),
        ([(0, 1)], {(0, 1): torch.zeros(3)}, r"must have 8 numbers, got the shape \(3,\)"),
    ],
)
def test_what_cannot_be_ablated_is_told_in_a_line(heads: Any, means: Any, said: str):
    model = case("llama", "sdpa").model
    with pytest.raises(InputError, match=said), models.ablated(model, heads, means=means):
        pass
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_a_tapped_module_is_refused_with_the_reason():
    model = case("gptj", "eager").model
    with pytest.raises(InputError, match=TAPPED), models.ablated(model, [(0, 1)]):
        pass


def test_silencing_nothing_leaves_no_hook():
    found = case("llama", "sdpa")
    with silenced(models.output_projections(models.wrap(found.model)), (), None):
        assert not any(module._forward_pre_hooks for module in found.model.modules())
