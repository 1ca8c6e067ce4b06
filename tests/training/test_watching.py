"""Every implementation is watched by the arguments of its calls: all give the same numbers."""

from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

import headgauge
from headgauge.errors import InputError

from .conftest import SIZES, batches, llama

MEASURES = ("entropy", "max_logit", "sink_weight", "output_norm", "separability", "jacobian_norm")


def sharp(**more):
    model = llama(attention_dropout=0.0, **more)
    with torch.no_grad():
        for each in model.modules():
            if hasattr(each, "q_proj"):
                each.q_proj.weight.mul_(20)
    return model


def numbers(model, **inputs) -> dict[str, list[list[float]]]:
    """What a monitor logs of one forward pass in train mode."""
    with headgauge.Monitor(model, spectra_every=None, rows=16) as monitor, torch.no_grad():
        model(**inputs)
        monitor.step()
    assert monitor.latest is not None
    return {name: monitor.latest["heads"][name] for name in MEASURES}


def flash(module, query, key, value, attention_mask, scaling=None, sliding_window=None, **kwargs):
    """What flash attention computes, row by row from what it is told, with zeros at padding."""
    made = torch.zeros_like(query)
    groups = query.shape[1] // key.shape[1]
    documents = kwargs.get("documents")
    for batch in range(len(query)):
        for row in range(query.shape[2]):
            if attention_mask is not None and not attention_mask[batch, row]:
                continue
            first = 0 if sliding_window is None else max(0, row - sliding_window + 1)
            seen = [
                at
                for at in range(first, row + 1)
                if (attention_mask is None or attention_mask[batch, at])
                and (documents is None or documents[at] == documents[row])
            ]
            own = query[batch, :, row : row + 1]
            keys, values = (
                each[batch][:, seen].repeat_interleave(groups, 0) for each in (key, value)
            )
            weights = torch.softmax(own @ keys.mT * scaling, dim=-1)
            made[batch, :, row] = (weights @ values)[:, 0]
    return made.transpose(1, 2), None


@pytest.fixture
def with_flash():
    """The name of flash attention, under which a function of ours stands in."""
    entries = hf.AttentionInterface._global_mapping
    own = entries["flash_attention_2"]
    entries["flash_attention_2"] = flash
    yield "flash_attention_2"
    assert entries["flash_attention_2"] is flash  # the wrapper is gone
    entries["flash_attention_2"] = own


def padded(side: str) -> dict[str, Tensor]:
    (ids,) = batches(1, 2, 24)
    mask = torch.ones_like(ids)
    mask[0, slice(0, 7) if side == "left" else slice(-7, None)] = 0
    return {"input_ids": ids, "attention_mask": mask}


def assert_same(found, expected):
    for name, rows in expected.items():
        for layer, row in enumerate(rows):
            assert found[name][layer] == pytest.approx(row, rel=1e-4, abs=1e-4), name


@pytest.mark.parametrize("side", [None, "left", "right"])
@pytest.mark.parametrize("family", ["llama", "mistral"])
def test_flash_is_watched_by_its_own_arguments(with_flash, family, side):
    inputs = {"input_ids": batches(1, 2, 24)[0]} if side is None else padded(side)
    model = sharp()
    if family == "mistral":  # with a sliding window
        torch.manual_seed(0)
        sizes = SIZES | {"attention_dropout": 0.0, "sliding_window": 10}
        model = hf.MistralForCausalLM(hf.MistralConfig(**sizes)).train()
    expected = numbers(model, **inputs)
    model.config._attn_implementation = with_flash
    assert_same(numbers(model, **inputs), expected)


def test_sequences_packed_into_one_are_told_apart(with_flash):
    model, (ids,) = sharp(), batches(1, 1, 24)
    places = torch.cat([torch.arange(9), torch.arange(15)])[None]
    expected = numbers(model, input_ids=ids, position_ids=places, use_cache=False)  # by a mask
    model.config._attn_implementation = with_flash
    documents = torch.tensor([0] * 9 + [1] * 15)
    more = {"input_ids": ids, "position_ids": places, "documents": documents}
    assert_same(numbers(model, **more), expected)
    edges = torch.tensor([0, 9, 24], dtype=torch.int32)
    told = {"cu_seq_lens_q": edges, "cu_seq_lens_k": edges, "max_length_q": 15, "max_length_k": 15}
    assert_same(numbers(model, **more, **told), expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:flex_attention called without")
@pytest.mark.parametrize("side", [None, "right"])
def test_flex_is_watched_by_its_block_mask(side):
    inputs = {"input_ids": batches(1, 2, 24)[0]} if side is None else padded(side)
    model = sharp()
    expected = numbers(model, **inputs)
    model.set_attn_implementation("flex_attention")
    with torch.compiler.set_stance("force_eager"):  # compiled, it takes most of a minute
        assert_same(numbers(model, **inputs), expected)


def test_an_implementation_that_is_not_known_is_refused():
    hf.AttentionInterface.register("mine", lambda *_, **__: None)
    model = llama()
    model.config._attn_implementation = "mine"
    try:
        with pytest.raises(InputError, match="attention implementation 'mine' is not known"):
            headgauge.Monitor(model)
    finally:
        del hf.AttentionInterface._global_mapping["mine"]


def test_encoder_decoders_have_all_their_attention_watched():
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "vocab_size": 50, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4,
        "dropout_rate": 0.0, "pad_token_id": 0, "decoder_start_token_id": 0,
    }  # fmt: skip
    config = hf.T5Config(**sizes)
    model = hf.T5ForConditionalGeneration(config).train()
    (ids,) = batches(1)
    inputs = {"input_ids": ids, "decoder_input_ids": batches(1, 2, 9)[0]}
    eager = hf.T5ForConditionalGeneration._from_config(config, attn_implementation="eager")
    eager.load_state_dict(model.state_dict())
    made = eager.eval()(**inputs, output_attentions=True)
    weights = [*made.encoder_attentions]
    for own, cross in zip(made.decoder_attentions, made.cross_attentions, strict=True):
        weights += [own, cross]
    found = numbers(model, **inputs)["sink_weight"]
    assert len(found) == 6
    for layer, alpha in enumerate(weights):
        assert found[layer] == pytest.approx(alpha[..., 0].mean((0, 2)).tolist(), abs=1e-4)


def test_sinks_and_softcaps_are_part_of_the_rows():
    """Falls back to rows of weights where log-sum-exps do not tell."""
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 24, 8).unbind(0)

    class Nothing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(1))

    sinks = torch.tensor([0.0, 1.0, -1.0, 2.0])
    model = Nothing().train()
    with headgauge.Monitor(model, rows=200) as monitor:
        monitor.see(query, key, value, layer=0, causal=True, softcap=2.0, sinks=sinks)
        monitor.step()
    assert monitor.latest is not None
    z = 2.0 * torch.tanh(query @ key.mT * 8**-0.5 / 2.0)
    z = z.masked_fill(~torch.ones(24, 24, dtype=torch.bool).tril(), -torch.inf)
    whole = torch.cat([z, sinks.view(1, 4, 1, 1).expand(2, 4, 24, 1)], dim=-1)
    alpha = F.softmax(whole, dim=-1)[..., :-1]
    found = monitor.latest["heads"]
    assert found["sink_weight"][0] == pytest.approx(alpha[..., 0].mean((0, 2)).tolist(), abs=1e-4)
    # Rows are drawn from the ninth on, where N_s/N has a meaning.
    own = [headgauge.theory.normalization.sensitivity.largest_eigenvalue(alpha[:, h, 8:].double())
           for h in range(4)]  # fmt: skip
    assert found["jacobian_norm"][0] == pytest.approx([float(e.mean()) for e in own], rel=0.1)
