"""The observer sees what the model computes, and the model computes what it would alone."""

import dataclasses
import math
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor

from headgauge import models
from headgauge.errors import InputError

Build = Callable[[str, str], Any]


def _first(output: Any) -> Tensor:
    return output[0] if "logits" not in output else output.logits


def _registry() -> dict[str, Any]:
    return dict(hf.AttentionInterface._global_mapping)


def test_a_family_computes_what_it_would_alone_and_all_of_it_is_seen(inside: Any) -> None:
    """Its output to the bit, the weights of the eager model, and weights·values the output."""
    plain = _first(inside.run())
    calls: list[models.ObservedCall] = []
    with models.intercept(inside.model, calls.append) as seen:
        watched = _first(inside.run())
    assert torch.equal(plain, watched)
    assert (seen.unseen, seen.distrusted) == ([], {})
    expected = inside.weights()
    names = list(models.attention_modules(inside.model))
    assert len(names) == len(seen.observed) == len(expected) == inside.family.attentions
    assert sorted(call.layer for call in calls) == list(range(len(names)))
    for call in calls:
        assert isinstance(call, models.AttentionCall)
        assert names[call.layer] == call.module
        weights = torch.zeros(call.shape)
        for block in call.blocks(block_rows=10):
            assert block.value is not None
            ours = block.weights @ block.value
            theirs = call.output[block.batch, block.start : block.stop, block.head]
            alive = ~block.dead
            torch.testing.assert_close(ours[alive], theirs[alive], atol=1e-5, rtol=1e-5)
            rows = weights[block.batch, block.head, block.start : block.stop]
            rows[:, : block.reach] = block.weights
        # Rows that see nothing hold what the version pleases; ours are zero there.
        alive = weights.sum(-1) > 0
        theirs = expected[call.layer]
        torch.testing.assert_close(weights[alive], theirs[alive], atol=1e-5, rtol=0)
        assert alive.float().mean() > 0.85
        # A test on uniform weights would pass with a wrong scale.
        assert weights[..., -1, :].max() > 1.5 / weights.shape[-1]


def test_layers_are_numbered_in_the_order_of_the_model(build: Build) -> None:
    calls = build("t5", "sdpa").calls()
    names = [call.module for call in sorted(calls, key=lambda call: call.layer)]
    assert [call.layer for call in sorted(calls, key=lambda call: call.layer)] == list(range(6))
    assert names[0] == "encoder.block.0.layer.0.SelfAttention"
    assert names[2:4] == [
        "decoder.block.0.layer.0.SelfAttention",
        "decoder.block.0.layer.1.EncDecAttention",
    ]
    assert [call.cross for call in calls] == [False, False, False, True, False, True]


def test_query_heads_read_their_own_key_heads(build: Build) -> None:
    call = build("llama", "sdpa").calls()[0]
    assert (call.heads, call.kv_heads) == (4, 2)
    assert [call.kv_head(head) for head in range(4)] == [0, 0, 1, 1]


def test_plain_causal_rows_see_their_past_and_encoders_see_all(build: Build) -> None:
    block = next(build("llama", "sdpa").calls()[0].blocks(block_rows=24))
    assert torch.equal(block.visible, torch.ones(24, 24).tril().bool())
    block = next(build("vit", "sdpa").calls()[0].blocks())
    assert bool(block.visible.all())


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_sliding_windows(build: Build, implementation: str) -> None:
    block = next(build("mistral", implementation).calls()[0].blocks())
    assert block.visible.sum(-1).tolist() == [min(row + 1, 7) for row in range(24)]


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_left_padding_leaves_dead_rows(build: Build, implementation: str) -> None:
    call = build("llama-left-padded", implementation).calls()[0]
    first, second = call.block(0, 0, 0, 24), call.block(1, 0, 0, 24)
    assert first.dead.tolist() == [True] * 5 + [False] * 19
    assert not bool(second.dead.any())
    assert bool((first.weights[:5] == 0).all())
    assert not bool(first.visible[:, :5].any())


def test_raw_logits_come_before_softcap_and_bias(build: Build) -> None:
    call = build("gemma2", "eager").calls()[0]
    block = call.block(0, 1, 0, 24)
    assert block.raw is not None
    assert block.raw.abs().max() > 1
    torch.testing.assert_close(block.logits, 0.5 * torch.tanh(block.raw / 0.5))
    call = build("t5", "sdpa").calls()[0]
    block = call.block(0, 1, 0, 24)
    assert call.scaling == 1.0
    assert block.raw is not None
    bias = call.bias[0, 1, :, : block.reach]
    torch.testing.assert_close(block.logits - block.raw, bias, atol=1e-4, rtol=1e-5)


def test_sinks_take_their_share(build: Build) -> None:
    for call in build("gpt-oss", "eager").calls():
        sums = call.block(0, 2, 0, 24).weights.sum(-1)
        assert bool((sums < 1 - 1e-6).all())


def test_decoding_with_a_cache(build: Build) -> None:
    case = build("llama", "sdpa")
    full = case.gather()
    ids = case.inputs["input_ids"]
    found: list[models.ObservedCall] = []
    with torch.no_grad(), models.intercept(case.model, found.append):
        past = case.model(ids[:, :20], use_cache=True).past_key_values
        past = case.model(ids[:, 20:23], past_key_values=past, use_cache=True).past_key_values
        case.model(ids[:, 23:], past_key_values=past)
    assert [call.shape[2:] for call in found[::2]] == [(20, 20), (3, 23), (1, 24)]
    assert [call.occurrence for call in found[::2]] == [0, 1, 2]
    several, last = found[2].block(1, 3, 0, 3), found[4].block(1, 3, 0, 1)
    expected = full[found[4].module][1, 3]
    torch.testing.assert_close(several.weights, expected[20:23, :23], atol=1e-5, rtol=0)
    torch.testing.assert_close(last.weights, expected[23:], atol=1e-5, rtol=0)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_everything_is_put_back(build: Build, implementation: str) -> None:
    case = build("llama", implementation)
    before = _registry()
    # An earlier test that left its wrapper would hide one left here.
    assert "eager" not in before
    case.gather()
    assert _registry() == before

    def fail(call: models.ObservedCall) -> None:
        raise RuntimeError("observer")

    with pytest.raises(RuntimeError, match="observer"), models.intercept(case.model, fail):
        case.run()
    assert _registry() == before
    assert case.model.config._attn_implementation == implementation
    for module in case.model.modules():
        assert not module._forward_pre_hooks
        assert not module._forward_hooks
    assert len(case.gather()) == 2


def test_a_second_interception_is_refused(build: Build) -> None:
    case = build("llama", "sdpa")
    errors: list[str] = []

    def start() -> None:
        try:
            with models.intercept(case.model, lambda call: None):
                pass
        except InputError as error:
            errors.append(str(error))

    with models.intercept(case.model, lambda call: None) as seen:
        start()
        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        case.run()
    assert len(errors) == 2
    assert len(seen.observed) == 2


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_other_models_pass_through(build: Build, implementation: str) -> None:
    case, other = build("llama", implementation), build("gpt2", implementation)
    plain = other.run().logits
    with models.intercept(case.model, lambda call: pytest.fail("not ours")) as seen:
        assert torch.equal(other.run().logits, plain)
    assert not seen.observed


def test_hidden_masks_are_refused(build: Build) -> None:
    case = build("llama", "sdpa")
    case.model.config._attn_implementation_internal = "flex_attention"
    with (
        pytest.raises(InputError, match="flex_attention"),
        models.intercept(case.model, lambda call: None),
    ):
        pass


def test_weights_that_do_not_add_up_are_never_handed_over(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A family with a twist that nobody knows of: here, a function that doubles the scale."""
    case = build("llama", "sdpa")
    own = hf.AttentionInterface._global_mapping["sdpa"]

    def twisted(module: Any, *args: Any, scaling: float, **kwargs: Any) -> Any:
        return own(module, *args, scaling=2 * scaling, **kwargs)

    monkeypatch.setitem(hf.AttentionInterface._global_mapping, "sdpa", twisted)
    with models.intercept(case.model, lambda call: pytest.fail("wrong weights")) as seen:
        case.run()
    assert seen.unseen == list(models.attention_modules(case.model))
    assert all(error > 1e-2 for error in seen.distrusted.values())


def test_training_with_dropout_is_seen_and_keeps_its_gradients(build: Build) -> None:
    case = build("gpt2", "eager")
    case.model.train()
    found: list[models.ObservedCall] = []
    with models.intercept(case.model, found.append) as seen:
        case.model(**case.inputs, labels=case.inputs["input_ids"]).loss.backward()
    assert len(found) == 2
    assert seen.unseen == []
    assert not any(call.query.requires_grad for call in found)  # type: ignore[attr-defined]
    assert all(weight.grad is not None for weight in case.model.parameters())


def test_half_precision(build: Build) -> None:
    case = build("llama", "sdpa")
    case.model.to(torch.bfloat16)
    calls = case.calls()
    assert len(calls) == 2
    assert next(calls[0].blocks()).weights.dtype == torch.float32


def test_a_family_that_branches_on_the_name_of_its_attention() -> None:
    """DeepSeek-V3.2 selects keys by a mask under "eager" and "sdpa" alone."""
    config = hf.DeepseekV32Config(
        vocab_size=50, hidden_size=32, intermediate_size=48, moe_intermediate_size=16,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4, kv_lora_rank=16,
        q_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8, n_routed_experts=4,
        num_experts_per_tok=2, n_group=1, topk_group=1, first_k_dense_replace=2, index_topk=4,
        index_head_dim=16, index_n_heads=2, max_position_embeddings=64, pad_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    model = hf.DeepseekV32ForCausalLM(config).eval()
    ids = torch.randint(3, 50, (1, 24), generator=torch.Generator().manual_seed(1))
    found: list[models.ObservedCall] = []
    with torch.no_grad():
        plain = model(ids).logits
        with models.intercept(model, found.append) as seen:
            assert torch.equal(model(ids).logits, plain)
    assert seen.unseen == []
    visible = found[0].block(0, 0, 0, 24).visible.sum(-1)
    assert visible.tolist() == [min(row + 1, 4) for row in range(24)]


def test_eager_attention_without_a_mask_sees_all(build: Build) -> None:
    """Only sdpa reads `is_causal`; eager attention is causal by its mask alone."""
    case = build("vit", "eager")
    for module in models.attention_modules(case.model).values():
        module.is_causal = True  # type: ignore[assignment]
    calls = case.calls()
    assert len(calls) == 2
    assert bool(next(calls[0].blocks()).visible.all())


@pytest.mark.parametrize("family", ["llama", "gptj"])
def test_what_is_not_finite_is_never_handed_over(build: Build, family: str) -> None:
    case = build(family, "eager")
    modules = list(models.attention_modules(case.model).values())
    with torch.no_grad():
        modules[1].q_proj.weight[3, 3] = torch.nan  # type: ignore[index, union-attr]
    found: list[models.ObservedCall] = []
    spoilt: list[models.ObservedCall] = []
    with models.intercept(case.model, found.append) as seen:
        case.run()
    assert [call.layer for call in found] == [0]
    assert seen.unseen == list(models.attention_modules(case.model))[1:]
    assert seen.distrusted == dict.fromkeys(seen.unseen, math.inf)
    with models.intercept(case.model, found.append, spoilt.append) as seen:
        case.run()
    assert [call.finite for call in spoilt] == [[False, True, True, True]]
    assert [call.layer for call in found] == [0, 0]
    assert seen.unseen == []


def test_an_error_that_is_no_number_is_not_small(build: Build) -> None:
    """inf/inf: everything is as wrong as it can be, and no comparison says so."""
    call = build("llama", "sdpa").calls()[0]
    assert isinstance(call, models.AttentionCall)
    assert call.reconstruction_error() < 1e-5
    nowhere = torch.full_like(call.output, torch.nan)
    assert dataclasses.replace(call, output=nowhere).reconstruction_error() == math.inf
    vast = torch.full_like(call.value, torch.inf)
    assert dataclasses.replace(call, value=vast).reconstruction_error() == math.inf


def _without_head(call: models.AttentionCall) -> Tensor | None:
    if call.layer != 0:
        return None
    output = call.output.clone()
    output[:, :, 2] = 0
    return output


@pytest.mark.parametrize(
    ("family", "implementation"), [("llama", "sdpa"), ("llama", "eager"), ("falcon-sdpa", "sdpa")]
)
def test_what_attention_makes_is_replaced(build: Build, family: str, implementation: str) -> None:
    """A head that is taken out, against a model whose projection does not read it."""
    case, cut = build(family, implementation), build(family, implementation)
    first = next(iter(models.attention_modules(cut.model).values()))
    projection: Any = first.dense if family == "falcon-sdpa" else first.o_proj
    with torch.no_grad():
        projection.weight[:, 16:24] = 0
    found: list[models.ObservedCall] = []
    with models.intercept(case.model, found.append, replacement=_without_head) as seen:
        replaced = case.run().logits
        generated = case.model.generate(case.inputs["input_ids"], max_new_tokens=4)
    assert seen.unseen == []
    assert seen.distrusted == {}
    torch.testing.assert_close(replaced, cut.run().logits)
    assert not torch.equal(replaced, case.run().logits)
    assert torch.equal(generated, cut.model.generate(cut.inputs["input_ids"], max_new_tokens=4))
    # The observer sees what the model itself computed, at every token that is generated.
    assert bool(found[0].output[:, :, 2].abs().max() > 0)  # type: ignore[attr-defined]
    assert [call.queries for call in found[2::2]] == [24, 1, 1, 1]


def test_gradients_flow_through_what_is_put_in_place(build: Build) -> None:
    """The same weights by way of our rows: the same loss, and the same gradients."""
    case, plain = build("gemma2", "eager"), build("gemma2", "eager")

    def recomputed(call: models.AttentionCall) -> Tensor:
        output = torch.zeros_like(call.output)
        for block in call.blocks(block_rows=10):
            assert block.value is not None
            output[block.batch, block.start : block.stop, block.head] = block.weights @ block.value
        return output

    losses = []
    for each, how in ((case, recomputed), (plain, lambda call: None)):
        each.model.train()
        with models.intercept(each.model, lambda call: None, replacement=how):
            loss = each.model(**each.inputs, labels=each.inputs["input_ids"]).loss
        loss.backward()
        losses.append(loss.detach())
    torch.testing.assert_close(*losses)
    for ours, theirs in zip(case.model.parameters(), plain.model.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-3, atol=1e-5)


def test_what_cannot_be_replaced_is_told(build: Build) -> None:
    case = build("gptj", "eager")
    with (
        pytest.raises(InputError, match="outside transformers' interface"),
        models.intercept(case.model, lambda call: None, replacement=_without_head),
    ):
        case.run()
    case = build("llama", "sdpa")
    with (
        pytest.raises(InputError, match=r"must have the shape \(2, 24, 4, 8\), got \(2, 24, 4\)"),
        models.intercept(case.model, lambda call: None, replacement=lambda c: c.output[..., 0]),
    ):
        case.run()
    assert not any(m._forward_pre_hooks or m._forward_hooks for m in case.model.modules())
