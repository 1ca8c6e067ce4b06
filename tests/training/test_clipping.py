"""QK-clip: every head ends at its own factor, and a training that blows up does not."""

from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

import headgauge
from headgauge.errors import InputError
from headgauge.training import QKClip

from .conftest import SIZES, batches, gpt2, llama, plain_loss, train


def peaks(model: Any, ids: Tensor, clip: QKClip | None = None) -> tuple[Tensor, Any]:
    """The largest logit of every head, (layers, heads), and the record; clips if asked."""
    with headgauge.Monitor(model, spectra_every=None, clip=clip) as monitor:
        plain_loss(model, ids)
        monitor.step()
    assert monitor.latest is not None
    return torch.tensor(monitor.latest["heads"]["max_logit"]), monitor.latest


def grown(model: Any) -> Any:
    """Some heads with large logits, each by its own factor; biases that take part."""
    torch.manual_seed(3)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if any(part in name for part in ("q_proj", "k_proj", "c_attn")):
                weight.add_(torch.randn_like(weight) * 0.3)
                if weight.ndim == 1:
                    weight.add_(torch.randn_like(weight))
    return model


def one_layer(**more: Any) -> Any:
    """Of one layer: with more, what the first changes reaches the second's logits."""
    return llama(num_hidden_layers=1, attention_dropout=0.0, **more)


@pytest.mark.parametrize("alpha", [0.5, 0.0, 1.0])
@pytest.mark.parametrize(
    "make",
    [
        lambda: one_layer(),
        lambda: one_layer(num_key_value_heads=4),
        lambda: one_layer(num_key_value_heads=1, attention_bias=True),
        lambda: gpt2(n_layer=1, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0),
    ],
    ids=["gqa", "mha", "mqa-biases", "fused-qkv"],
)
def test_every_head_ends_at_its_own_limit_and_the_others_stay(make, alpha):
    model, (ids,) = grown(make()), batches(1, 3, 40)
    before, _ = peaks(model, ids)
    limit = float(before.median())  # some are over, some are not
    _, record = peaks(model, ids, QKClip(limit, alpha))
    after, _ = peaks(model, ids)
    gamma = torch.where(before > limit, limit / before, 1.0)
    torch.testing.assert_close(after, before * gamma, rtol=2e-3, atol=1e-3)
    told = {(each["layer"], each["head"]): each["factor"] for each in record["clipped"]}
    over = (before > limit).nonzero().tolist()
    assert told == pytest.approx({(a, b): float(gamma[a, b]) for a, b in over}, rel=1e-3)
    assert 0 < len(over) < before.numel()


def test_a_largest_logit_below_zero_is_left_alone():
    """γ = τ/S would be negative, and a root of it NaN."""
    of = torch.tensor([-3.0, 0.0, -torch.inf, torch.inf, 50.0, 200.0], dtype=torch.float64)
    gamma, of_query, of_key = QKClip(limit=100.0).factors(of, 3)
    assert gamma.tolist() == [1, 1, 1, 1, 1, 0.5]
    assert of_key.tolist() == pytest.approx([1, 1, 0.5**0.5])
    # Of the two that share a key, the one below the limit keeps its logits.
    assert of_query.tolist() == pytest.approx([1, 1, 1, 1, 2**0.5, 0.5**0.5])


def test_all_micro_batches_take_part_and_none_twice():
    model, several = grown(one_layer()), batches(3, 2, 24)
    each = torch.stack([peaks(model, ids)[0] for ids in several])
    limit = 0.5 * float(each.min())
    with headgauge.Monitor(model, every=100, clip=QKClip(limit)) as monitor:
        for ids in several:
            plain_loss(model, ids)
        monitor.step()
    record = monitor.latest
    assert record is not None
    whole = each.amax(0)[0]
    factors = [entry["factor"] for entry in record["clipped"]]
    assert factors == pytest.approx((limit / whole).tolist(), rel=1e-3)


def test_factors_between_logged_steps_multiply():
    model, (ids,) = grown(one_layer()), batches(1)
    limit = 0.5 * float(peaks(model, ids)[0].min())
    with headgauge.Monitor(model, every=3, budget=None, clip=QKClip(limit)) as monitor:
        for _ in range(3):
            plain_loss(model, ids)
            with torch.no_grad():
                model.model.layers[0].self_attn.q_proj.weight.mul_(2)
            monitor.step()
    record = monitor.latest
    assert record is not None
    assert record["step"] == 3
    assert [each["factor"] for each in record["clipped"]] == pytest.approx([0.25] * 4, rel=0.02)


def test_master_copies_follow():
    model, (ids,) = grown(one_layer()), batches(1)
    masters = {each: each.detach().clone() for each in model.parameters()}
    model.to(torch.bfloat16)
    limit = 0.5 * float(peaks(model, ids)[0].max())
    peaks(model, ids, QKClip(limit, masters=masters.get))
    for parameter, master in masters.items():
        torch.testing.assert_close(parameter.float(), master, rtol=2e-2, atol=1e-3)
    wrong = QKClip(limit / 2, masters=lambda _: torch.ones(3))
    with pytest.raises(InputError, match=r"the master copy of a parameter of shape"):
        peaks(model, ids, wrong)


def test_what_cannot_be_clipped_is_refused_with_the_reason():
    torch.manual_seed(0)
    normed = hf.Qwen3ForCausalLM(hf.Qwen3Config(**SIZES)).train()
    with pytest.raises(InputError, match="normalises its queries and keys"):
        headgauge.Monitor(normed, clip=QKClip())
    headgauge.Monitor(normed).close()  # it was let go again
    with pytest.raises(InputError, match="Linear is no transformers model"):
        headgauge.Monitor(nn.Linear(2, 2), clip=QKClip())
    several: list[dict[str, Any]] = [{"limit": 0.0}, {"alpha": 2.0}, {"every": 0}]
    for wrong in several:
        with pytest.raises(InputError, match=r"QK-clip|every must be"):
            QKClip(**wrong)


def test_without_a_head_over_the_limit_nothing_changes(steps):
    plain = train(llama(), None, steps)
    assert train(llama(), {"every": 2, "budget": None, "clip": QKClip(1e6)}, steps) == plain


def blown_up(clip: QKClip | None) -> tuple[list[float], list[float], list[str]]:
    """A small model on real text, its queries and keys learning at thirty times the rate of the
    rest: losses, largest logits, alarms."""
    torch.manual_seed(0)
    sizes = SIZES | {"vocab_size": 256, "hidden_size": 64, "head_dim": 16, "attention_dropout": 0.0}
    model: Any = hf.LlamaForCausalLM(hf.LlamaConfig(**sizes)).train()
    words = headgauge.models.read_text("python-reference").text[:20_000]
    text = torch.tensor(list(words.encode()))
    rates: dict[bool, list[nn.Parameter]] = {True: [], False: []}
    for name, parameter in model.named_parameters():
        rates["q_proj" in name or "k_proj" in name].append(parameter)
    groups = [{"params": rates[True], "lr": 0.3}, {"params": rates[False]}]
    optimizer = torch.optim.AdamW(groups, 0.01, weight_decay=0.0)
    source = torch.Generator().manual_seed(0)
    losses, largest, alarms = [], [], []
    watch: dict[str, Any] = {"every": 1, "budget": None, "rows": 0, "spectra_every": None}
    with headgauge.Monitor(model, **watch, clip=clip, on_alarm=alarms.append) as monitor:
        for _ in range(60):
            at = torch.randint(len(text) - 64, (8,), generator=source)
            ids = torch.stack([text[place : place + 64] for place in at])
            loss = plain_loss(model, ids)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            monitor.step(loss)
            assert monitor.latest is not None
            losses.append(float(loss.detach()))
            largest.append(max(map(max, monitor.latest["heads"]["max_logit"])))
    return losses, largest, [each.alarm for each in alarms if each.state == "raised"]


def test_it_stops_a_blow_up(unchecked):
    losses, largest, alarms = blown_up(None)
    held_losses, held, _ = blown_up(QKClip())
    assert {"logit growth", "entropy collapse", "saturation"} & {*alarms}
    assert largest[-1] > 3000
    assert max(held) < 1000  # a step's own growth comes before the clip
    # Of about 93; on one processor 1.3 apart. Ten steps alone say less than processors differ.
    assert sum(held_losses[-30:]) < sum(losses[-30:]) - 0.5
