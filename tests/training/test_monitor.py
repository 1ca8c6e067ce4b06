"""The monitor leaves a training as it is, to the last bit, and sees what it says it sees."""

import functools
from contextlib import nullcontext
from typing import Any, cast

import pytest
import torch
import transformers as hf
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

import headgauge
from headgauge.errors import InputError
from headgauge.training import QKClip, TrainingLog
from headgauge.training.attention import Call, measured
from headgauge.training.watching import Watching

from .conftest import batches, gpt2, llama, plain_loss, train

WATCH = {"every": 2, "budget": None}


def entries():
    return dict(hf.AttentionInterface._global_mapping)


@pytest.fixture(autouse=True)
def _everything_is_put_back():
    before = entries()
    yield
    assert entries() == before


def in_bfloat16(model, ids):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return plain_loss(model, ids)


def evaluated(model):
    model.eval()
    with torch.no_grad():
        model(input_ids=batches(1, batch=3)[0])
    model.train()


class Selective(nn.Module):
    """A checkpoint that keeps the products: what is computed meanwhile must not be kept."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        def policy(context, operation, *args, **kwargs):
            kept = operation in (torch.ops.aten.mm.default, torch.ops.aten.bmm.default)
            return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

        def run(ids):
            return self.model(input_ids=ids).logits

        contexts = functools.partial(create_selective_checkpoint_contexts, policy)
        logits = checkpoint(run, ids, use_reentrant=False, context_fn=contexts)
        return F.cross_entropy(logits.flatten(0, 1), ids.flatten())


def checkpointed(reentrant):
    model = llama()
    model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    return model


CASES = {
    "sdpa": (llama, plain_loss, None, 1),
    "eager": (lambda: llama(attn_implementation="eager"), plain_loss, None, 1),
    "fused-qkv": (gpt2, plain_loss, None, 1),
    "accumulation": (llama, plain_loss, None, 3),
    "checkpointing": (lambda: checkpointed(False), plain_loss, None, 2),
    "reentrant": (lambda: checkpointed(True), plain_loss, None, 2),
    "selective": (lambda: Selective(llama()), lambda model, ids: model(ids), None, 1),
    "autocast": (llama, in_bfloat16, None, 1),
    "evaluation": (llama, plain_loss, evaluated, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_losses_and_weights_are_those_without_it_to_the_last_bit(case):
    make, loss, after, micro = CASES[case]
    several = [batches(5 * micro)[at::5] for at in range(5)]
    plain = train(make(), None, several, loss, after)
    watched = train(make(), WATCH, several, loss, after)
    assert watched == plain
    assert watched.monitor.latest["step"] == 4


@pytest.mark.parametrize("case", ["accumulation", "checkpointing", "reentrant", "selective"])
def test_every_row_of_one_micro_batch_counts_once(case, monkeypatch):
    make, loss, _, micro = CASES[case]
    seen = []

    def counted(call):
        seen.append(call.logits.query)
        return measured(call)

    monkeypatch.setattr("headgauge.training.monitor.measured", counted)
    several = [batches(micro)]
    train(make(), WATCH, several, loss)
    assert [tuple(each.shape) for each in seen] == [(2, 4, 24, 8)] * 2


def test_what_a_checkpoint_computes_again_is_not_looked_at(monkeypatch):
    """Also where every call of a step is, as QK-clip asks."""
    seen, take = [], Watching.take

    def watched(self, layer, call):
        seen.append(layer)
        take(self, layer, call)

    monkeypatch.setattr(Watching, "take", watched)
    train(checkpointed(False), WATCH | {"clip": QKClip()}, [batches(3)])
    assert sorted(seen) == sorted(["model.layers.0.self_attn", "model.layers.1.self_attn"] * 3)


def test_a_head_that_computes_no_number_has_an_infinite_logit():
    model = llama(attention_dropout=0.0)
    with torch.no_grad():
        model.model.layers[1].self_attn.q_proj.weight[8:16] = torch.nan  # of head 1
    monitor = train(model, WATCH, [batches(1)], rate=0.0).monitor
    tops = torch.tensor(monitor.latest["heads"]["max_logit"])
    assert tops[1, 1] == torch.inf
    assert tops[0].isfinite().all()
    assert tops[1, [0, 2, 3]].isfinite().all()
    assert ("logit growth", 1, 1) in {(e.alarm, e.layer, e.head) for e in monitor.alarms}


def test_batches_may_change_their_shape_and_have_padding():
    sizes = [(2, 24), (1, 9), (3, 40), (2, 2), (1, 1)]
    several = [[batches(1, *size)[0]] for size in sizes]

    def padded(model, ids):
        mask = torch.ones_like(ids)
        mask[0, -ids.shape[1] // 3 :] = 0
        return model(input_ids=ids, attention_mask=mask, labels=ids).loss

    for loss in (plain_loss, padded):
        plain = train(llama(), None, several[:4], loss)
        watched = train(llama(), {"every": 1, "budget": None}, several[:4], loss)
        assert watched == plain
        assert watched.monitor.latest["step"] == 4


def test_what_is_measured_is_what_the_rows_have():
    """Against the weights that the eager model returns."""
    model = llama(attn_implementation="eager", attention_dropout=0.0)
    with torch.no_grad():
        for each in model.model.layers:
            each.self_attn.q_proj.weight.mul_(20)
    (ids,) = batches(1)
    weights = model(input_ids=ids, output_attentions=True).attentions
    found = train(model, WATCH, [[ids]], rate=0.0).monitor.latest["heads"]
    for layer, each in enumerate(weights):
        alpha = each.detach().double()
        entropy = -torch.where(alpha > 0, alpha * alpha.log(), 0.0).sum(-1)
        n = torch.arange(1.0, 25.0).expand_as(entropy).double()
        share = (entropy[..., 1:] / n[..., 1:].log()).mean((0, 2))
        expected = {
            "entropy": entropy.mean((0, 2)),
            "entropy_share": share,
            "collision_entropy": -alpha.square().sum(-1).log().mean((0, 2)),
            "largest_weight": alpha.amax(-1).mean((0, 2)),
            "sink_weight": alpha[..., 0].mean((0, 2)),
        }
        for name, numbers in expected.items():
            assert found[name][layer] == pytest.approx(numbers.tolist(), abs=2e-4), name
        # The first row sees one key: its entropy is 0.
        assert found["entropy_min"][layer] == pytest.approx([0.0] * 4, abs=1e-4)
        lower, norm, upper = (
            torch.tensor(found[name][layer])
            for name in ("jacobian_lower", "jacobian_norm", "jacobian_upper")
        )
        assert (lower <= upper).all()
        assert (norm > 0).all()
    assert set(found) >= {"separability", "output_norm", "max_logit"}


def test_nothing_is_wrapped_on_steps_that_are_not_logged():
    before = entries()
    model, (ids, *_) = llama(), batches(1)
    with headgauge.Monitor(model, every=3, budget=None) as monitor:
        wrapped = []
        for _ in range(6):
            wrapped.append(entries() != before)
            plain_loss(model, ids).backward()
            assert entries() == before  # all that was asked for is there
            monitor.step()
    assert wrapped == [True, False, True, False, False, True]


def test_an_exception_leaves_nothing_behind(tmp_path):
    before, model = entries(), llama()
    hooks = [len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules()]

    def fail(*_):
        raise RuntimeError("out of luck")

    def training():
        with headgauge.Monitor(model, every=1, budget=None, out=tmp_path) as monitor:
            plain_loss(model, batches(1)[0]).backward()
            monitor.step()
            model.model.layers[1].mlp.register_forward_pre_hook(fail)
            plain_loss(model, batches(1)[0])

    with pytest.raises(RuntimeError, match="out of luck"):
        training()
    assert entries() == before
    model.model.layers[1].mlp._forward_pre_hooks.clear()
    after = [len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules()]
    assert after == hooks
    with headgauge.Monitor(model):  # the model is free for another
        pass
    assert not (tmp_path / "heads.parquet").exists()  # to be taken up again
    with headgauge.Monitor(model, every=1, out=tmp_path) as monitor:
        monitor.begin_at(1)
        plain_loss(model, batches(1)[0])
        monitor.step()
    assert TrainingLog.load(tmp_path).steps()["step"].to_list() == [1, 2]


def test_a_log_is_written(tmp_path, steps):
    told = train(llama(), WATCH | {"out": tmp_path, "spectra_every": 3}, steps)
    log = TrainingLog.load(tmp_path)
    assert log.header["model"] == "LlamaForCausalLM"
    assert log.header["layers"][1] == {
        "module": "model.layers.1.self_attn", "heads": 4, "kv_heads": 2,
    }  # fmt: skip
    assert log.steps()["step"].to_list() == [1, 2, 4]
    assert log.steps()["loss"].to_list() == pytest.approx([told.losses[at] for at in (0, 1, 3)])
    assert (tmp_path / "heads.parquet").exists()
    assert told.monitor.latest["spectra"] is not None
    assert told.monitor.latest["heads"]["entropy_share"][0][0] == pytest.approx(1, abs=0.1)


class Plain(nn.Module):
    """Attention by torch's own function, and no transformers."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding, self.qkv = nn.Embedding(50, 32), nn.Linear(32, 96)
        self.monitor: Any = None

    def forward(self, ids):
        q, k, v = self.qkv(self.embedding(ids)).unflatten(-1, (3, 4, 8)).permute(2, 0, 3, 1, 4)
        made = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        if self.monitor is not None:
            self.monitor.see(q, k, v, layer="only", causal=True, output=made)
        return made.transpose(1, 2).flatten(2) @ self.embedding.weight.T


def test_a_model_of_plain_torch_shows_its_attention_itself(steps, tmp_path):
    def loss(model, ids):
        return F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())

    def run(watch: dict[str, Any] | None) -> Any:
        torch.manual_seed(1)
        model = Plain()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        with nullcontext() if watch is None else headgauge.Monitor(model, **watch) as monitor:
            model.monitor = monitor
            for (ids,) in steps:
                loss(model, ids).backward()
                optimizer.step()
                optimizer.zero_grad()
                if monitor is not None:
                    monitor.step()
        return [each.detach() for each in model.parameters()], monitor

    plain, _ = run(None)
    watched, monitor = run(WATCH | {"out": tmp_path})
    assert all(map(torch.equal, plain, watched))
    assert monitor.latest["step"] == 4
    assert len(monitor.latest["heads"]["separability"][0]) == 4
    assert monitor.notes == [
        "no spectra of the weights: Plain is no transformers model, and none of its parts is"
    ]
    assert TrainingLog.load(tmp_path).header["layers"][0]["module"] == "only"


def test_sampled_rows_are_the_seeds():
    several = [batches(1, 4, 40)]
    found = [
        train(llama(), WATCH | {"seed": seed}, several).monitor.latest["heads"]["jacobian_norm"]
        for seed in (0, 0, 1)
    ]
    assert found[0] == found[1] != found[2]


def test_heads_that_follow_another_rule_are_not_read():
    model = llama()
    with headgauge.Monitor(model) as monitor, headgauge.swap(model, "sparsemax"):
        plain_loss(model, batches(1)[0])
        with pytest.raises(InputError, match="other rules than softmax"):
            monitor.step()


def test_a_step_without_attention_is_told():
    model = llama()
    with headgauge.Monitor(model) as monitor:
        model.eval()
        plain_loss(model, batches(1)[0])
        with pytest.raises(InputError, match="no attention of LlamaForCausalLM was seen in step 1"):
            monitor.step()
    with headgauge.Monitor(Plain()) as monitor, pytest.raises(InputError, match=r"monitor\.see"):
        monitor.step()
    model.train()
    with headgauge.Monitor(model, every=1) as monitor:
        plain_loss(model, batches(1)[0])
        assert monitor.step()
        with pytest.warns(UserWarning, match="seen in step 2"):  # training goes on
            assert not monitor.step()
        plain_loss(model, batches(1)[0])
        assert monitor.step()


def test_what_cannot_be_asked_is_told_in_one_line(unchecked):
    model, number = llama(), cast(Any, 100)
    monitor = headgauge.Monitor(model)
    wrong: list[Any] = [
        (lambda: headgauge.Monitor(model), "has a monitor already"),
        (lambda: headgauge.Monitor(model.model), "has a monitor already"),
        (lambda: headgauge.Monitor("gpt2"), "str is no model"),
        (lambda: headgauge.Monitor(nn.ReLU()), "no parameters"),
        (lambda: headgauge.Monitor(nn.DataParallel(llama())), "DataParallel runs copies"),
        (lambda: headgauge.Monitor(llama(), every=0), "every must be in 1"),
        (lambda: headgauge.Monitor(llama(), budget=2), "budget is a share"),
        (lambda: headgauge.Monitor(llama(), budget=cast(Any, "2%")), "budget must be a number"),
        (lambda: headgauge.Monitor(llama(), alarms=cast(Any, ["fire"])), "lines by name"),
        (lambda: QKClip(limit=cast(Any, "a")), "limit of QK-clip must be a number"),
        (lambda: headgauge.Monitor(llama(), clip=number), "clip must be a QKClip"),
        (lambda: headgauge.Monitor(llama(), alarms={"fire": (1, 2)}), "no alarm named 'fire'"),
        (lambda: monitor.image(), "no step was logged yet"),
    ]
    for ask, said in wrong:
        with pytest.raises(InputError, match=said) as told:
            ask()
        assert "\n" not in str(told.value)
    monitor.close()
    monitor.close()
    with pytest.raises(InputError, match="closed"):
        monitor.step()
    headgauge.Monitor(model).close()


def test_a_folder_that_takes_no_log_is_told_before_the_first_step(tmp_path, unchecked):
    model, file = llama(), tmp_path / "file"
    file.write_text("")
    train(llama(), WATCH | {"out": tmp_path / "done"}, [batches(1)]).monitor.close()
    wrong: list[Any] = [
        (tmp_path / "done", "holds a finished log: choose another folder"),
        (file, "is a file: give a folder"),
        (5, "out must be the folder of the log, got 5"),
    ]
    for out, said in wrong:
        with pytest.raises(InputError, match=said):
            headgauge.Monitor(model, out=out)
    headgauge.Monitor(model).close()  # none of them holds the model


def test_what_is_shown_of_a_model_of_plain_torch_is_looked_at(unchecked):
    query, key, value = torch.randn(3, 2, 4, 24, 8).unbind(0)
    past = torch.ones(24, 24, dtype=torch.bool).tril()
    found = []
    for mask in (past, past[None], past[None, None], None):
        with headgauge.Monitor(Plain().train()) as monitor:
            monitor.see(query, key, value, layer=0, mask=mask, causal=mask is None)
            monitor.step()
            assert monitor.latest is not None
            found.append(monitor.latest["heads"]["entropy"][0])
    for each in found:
        assert each == pytest.approx(found[-1], abs=1e-5)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"query": query[0]}, r"query must be \(batch, heads, tokens, dim\), got \(4, 24, 8\)"),
        ({"query": [1.0]}, "query must be a torch tensor, got list"),
        ({"value": value[:, :, :3]}, r"value must be \(2, 4, 24, dim\), got \(2, 4, 3, 8\)"),
        ({"output": query.transpose(1, 2)}, r"output must be \(2, 4, 24, dim\)"),
        ({"mask": past[:5]}, "mask must fit logits"),
        ({"scaling": "a"}, "scaling must be a number, got 'a'"),
    ]
    with headgauge.Monitor(Plain().train()) as monitor:
        for given, said in wrong:
            with pytest.raises(InputError, match=said):
                monitor.see(**{"query": query, "key": key, "value": value, "layer": 0} | given)


def test_a_model_outside_the_interface_is_refused():
    config = hf.GPTJConfig(vocab_size=50, n_embd=32, n_layer=1, n_head=4, rotary_dim=4)
    with pytest.raises(InputError, match="GPTJForCausalLM computes its attention outside"):
        headgauge.Monitor(hf.GPTJForCausalLM(config))


def test_compiled_models_are_refused():
    with pytest.raises(InputError, match="the model is compiled"):
        headgauge.Monitor(torch.compile(llama(), backend="eager"))
    model = llama()
    model.model.layers[0].compile(backend="eager")
    with pytest.raises(InputError, match="the model is compiled"):
        headgauge.Monitor(model)
    model = llama()
    with headgauge.Monitor(model):  # and where it is compiled only afterwards
        later = torch.compile(model, backend="eager")
        with torch.no_grad(), pytest.raises(InputError, match="the model is compiled"):
            later(input_ids=batches(1)[0])
    torch._dynamo.reset()


def test_a_call_is_taken_apart_from_autograd():
    query = torch.randn(1, 2, 4, 8, requires_grad=True)
    fields = {"query": query, "key": query, "value": query, "scaling": 1.0, "mask": None}
    call = Call.of(fields | {"causal": True, "softcap": None, "sinks": None}, None)
    assert not call.logits.query.requires_grad
