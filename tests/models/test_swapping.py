"""Another rule in a model, against plain float64 attention: eager logits, rule, values."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

import headgauge
from headgauge import models, normalizers
from headgauge.errors import InputError
from headgauge.models import rule_paths
from headgauge.models.attention_rows import Attention
from headgauge.models.head_rules import together
from headgauge.normalizers import Normalizer
from model_families import Case, case
from normalizers.conftest import RULES

Build = Callable[[str, str], Any]
TABLE = {"L0H1": "sparsemax", (0, 3): normalizers.get("ssmax", s=0.4)}
TABLE |= {(1, 0): normalizers.get("ssmax", s=0.2), (1, 2): normalizers.get("ssmax", s=0.9, b=0.3)}


@pytest.fixture(autouse=True)
def _several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_paths, "_BLOCK_ENTRIES", 1)
    monkeypatch.setattr(rule_paths, "_LEAST_ROWS", 16)


def _first(output: Any) -> Tensor:
    return output[0] if "logits" not in output else output.logits


def _registry() -> dict[str, Any]:
    return dict(hf.AttentionInterface._global_mapping)


def _visible(call: models.AttentionCall, shape: torch.Size) -> Tensor:
    if call.mask is None:
        seen = torch.ones(shape, dtype=torch.bool)
        return seen.tril() if call.causal else seen
    mask = call.mask[..., : shape[-1]]
    return (mask if mask.dtype == torch.bool else mask > -1e30).expand(shape)


def _plain(call: models.AttentionCall, rules: dict[int, Normalizer]) -> Tensor:
    """Attention as its definition says, in float64; heads without a rule have softmax."""
    softmax = normalizers.get("softmax")
    made = {id(rule): _all_heads(call, rule) for rule in {*rules.values(), softmax}}
    return torch.stack(
        [made[id(rules.get(head, softmax))][:, head] for head in range(call.heads)], 2
    )


def _all_heads(call: models.AttentionCall, rule: Normalizer) -> Tensor:
    query, key, value = (each.double() for each in (call.query, call.key, call.value))
    shared = call.heads // call.kv_heads
    key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
    if rule.cosines:
        rule = replace(rule, dim=query.shape[-1])  # pyright: ignore[reportCallIssue]
        z = nn.functional.normalize(query, dim=-1) @ nn.functional.normalize(key, dim=-1).mT
    else:
        z = query @ key.mT * call.scaling
        z = z if call.softcap is None else call.softcap * torch.tanh(z / call.softcap)
    if call.bias is not None:
        z = z + call.bias[..., : call.keys].double()
    seen = _visible(call, z.shape)
    if call.sinks is None or rule.is_sink:
        return rule(z, seen) @ value
    sink = call.sinks.double()[:, None]
    if rule.uses_length:
        return rule(z, seen, sink=sink) @ value
    also = torch.ones_like(seen[..., :1])
    row = torch.cat([z, sink[..., None].expand(*z.shape[:-1], 1)], -1)
    return rule(row, torch.cat([seen, also], -1))[..., :-1] @ value


def _assert_exact(call: Any, rules: dict[int, Normalizer], close: float = 3e-6) -> None:
    assert isinstance(call, models.AttentionCall)
    expected = _plain(call, rules)
    alive = _visible(call, torch.Size(call.shape)).any(-1).transpose(1, 2)
    error = (call.output - expected).abs()[alive].max() / expected.abs().max()
    assert error < close, (call.module, rules.get(0), float(error))


def _alone(call: models.AttentionCall, row: int) -> Attention:
    """The call of one token, whose cache ends with it."""
    reach = row + 1 if call.causal and call.mask is None else call.keys

    def of_row(tensor: Tensor | None) -> Tensor | None:
        return tensor if tensor is None or tensor.shape[2] == 1 else tensor[:, :, [row]]

    return Attention(
        query=call.query[:, :, [row]],
        key=call.key[:, :, :reach],
        value=call.value[:, :, :reach],
        scaling=call.scaling,
        mask=of_row(call.mask),
        causal=False,
        softcap=call.softcap,
        sinks=call.sinks,
        bias=of_row(call.bias),
    )


def _assert_alone(call: Any, rule: Normalizer) -> None:
    """A row is alone, as when a token is generated, what it is among the others."""
    heads = tuple(range(call.heads))
    for row in (6, call.queries - 1):
        alone = rule_paths.by_rows(_alone(call, row), rule, heads)
        error = (alone - call.output[:, [row]]).abs().max() / call.output.abs().max()
        assert error < 1e-5, (call.module, rule, float(error))


def _watched(found: Any, **more: Any) -> list[Any]:
    """The calls of one run, all of them trusted."""
    calls: list[models.ObservedCall] = []
    with models.intercept(found.model, calls.append) as seen:
        found.run(**more)
    assert (seen.unseen, seen.distrusted) == ([], {})
    return calls


@pytest.mark.usefixtures("unchecked")
def test_every_rule_in_every_family_is_what_it_says(inside: Case) -> None:
    """And interception's weights are the rule's: it checks them against the output."""
    for rule in RULES:
        with headgauge.swap(inside.model, rule):
            calls = _watched(inside)
        assert len(calls) == inside.family.attentions
        for call in calls:
            _assert_exact(call, dict.fromkeys(range(call.heads), rule))
            _assert_alone(call, rule)
    assert _registry().get("eager") is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_differences_that_a_rule_magnifies_keep_their_digits(dtype: torch.dtype) -> None:
    """Keys a thousandth apart: nearly flat rows, of whose differences lssar takes 15th powers."""
    source, size = torch.Generator().manual_seed(0), (1, 2, 40, 16)
    query, around, value = (torch.randn(size, generator=source) for _ in range(3))
    key = around[:, :, :1] + 1e-3 * around
    given = Attention(
        query.to(dtype), key.to(dtype), value.to(dtype), 0.25, None, True, None, None, None
    )
    doubled = {name: getattr(given, name).double() for name in ("query", "key", "value")}
    rule = normalizers.get("lssar")
    made, exact = (
        rule_paths.by_rows(each, rule, (0, 1)) for each in (given, replace(given, **doubled))
    )
    assert made.dtype == dtype
    assert exact.dtype == torch.float64
    close = 1e-6 if dtype == torch.float32 else 1e-2
    torch.testing.assert_close(made.double(), exact, atol=close, rtol=close)


def test_the_models_own_rule_changes_nothing(inside: Case) -> None:
    plain = _first(inside.run())
    with headgauge.swap(inside.model, "softmax"):
        same = _first(inside.run())
    assert torch.equal(same, plain)
    # By rows: a rule of the same numbers that does not say that it is a factor.
    with headgauge.swap(inside.model, normalizers.get("topk", k=64)):
        same = _first(inside.run())
    close = 2e-6 * float(plain.abs().max())
    alive = inside.inputs.get("attention_mask", torch.ones(plain.shape[:2])).bool()
    if inside.family.name != "t5" and alive.shape == plain.shape[:2]:
        same, plain = same[alive], plain[alive]
    torch.testing.assert_close(same, plain, atol=close, rtol=1e-6)
    assert torch.equal(_first(inside.run()), _first(inside.run()))


@pytest.mark.parametrize("name", ["ssmax", "sparsemax", "sink"])
def test_generate_makes_every_token_by_the_rule(build: Build, name: str) -> None:
    found = build("llama", "sdpa")
    ids = found.inputs["input_ids"][:1, :6]
    with headgauge.swap(found.model, name), torch.no_grad():
        made = found.model.generate(ids, max_new_tokens=6, do_sample=False, eos_token_id=49)
        for end in range(6, made.shape[1]):
            step = found.model(made[:, :end], use_cache=False).logits[0, -1].argmax()
            assert step == made[0, end]
    plain = found.model.generate(ids, max_new_tokens=6, do_sample=False, eos_token_id=49)
    assert not torch.equal(plain, made)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("name", ["ssmax", "log_length_su", "entmax", "sink", "sigmoid"])
def test_padding_and_packed_documents_do_not_count(
    build: Build, implementation: str, name: str
) -> None:
    found = build("llama", implementation)
    ids = found.inputs["input_ids"][:1]
    mask, places = torch.ones_like(ids), torch.arange(24)[None]
    blocks = torch.block_diag(torch.ones(9, 9), torch.ones(15, 15)).tril().bool()[None, None]
    additive = torch.zeros(blocks.shape).masked_fill(~blocks, torch.finfo(torch.float32).min)
    left, right = mask.clone(), mask.clone()
    left[:, :9] = right[:, 15:] = 0
    own = (places - 9).clamp(min=0)
    with headgauge.swap(found.model, name), torch.no_grad():
        alone = found.model(ids[:, 9:]).logits
        begun = found.model(ids[:, :15]).logits
        packed = found.model(
            ids,
            attention_mask=blocks if implementation == "sdpa" else additive,
            position_ids=torch.cat([places[:, :9], places[:, :15]], -1),
        ).logits
        padded = found.model(ids, attention_mask=left, position_ids=own).logits
        cut = found.model(ids, attention_mask=right).logits
    torch.testing.assert_close(packed[:, 9:], alone, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(padded[:, 9:], alone, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(cut[:, :15], begun, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("family", "kind"), [("llama", "sdpa"), ("gpt-oss", "eager")])
def test_heads_and_layers_are_chosen(build: Build, family: str, kind: str) -> None:
    found = build(family, kind)
    ssmax, one = normalizers.get("ssmax", s=0.4), normalizers.get("softmax_one")
    chosen: list[tuple[Any, dict[str, Any], dict[int, dict[int, Normalizer]]]] = [
        (ssmax, {"layers": 1}, {1: dict.fromkeys(range(4), ssmax)}),
        (ssmax, {"heads": [3, 0]}, {layer: {0: ssmax, 3: ssmax} for layer in (0, 1)}),
        (one, {"layers": [0], "heads": 2}, {0: {2: one}}),
        (one, {"heads": ["L1H2", (0, 3)]}, {1: {2: one}, 0: {3: one}}),
        (
            TABLE,
            {},
            {
                0: {1: normalizers.get("sparsemax"), 3: ssmax},
                1: {0: TABLE[1, 0], 2: TABLE[1, 2]},
            },
        ),
    ]
    plain = _watched(found)[0]
    for rule, where, expected in chosen:
        with headgauge.swap(found.model, rule, **where):
            calls = _watched(found)
        for call in calls:
            _assert_exact(call, expected.get(call.layer, {}))
        untouched = [head for head in range(4) if head not in expected.get(0, {})]
        if family == "llama":  # on the model's own function, to the bit
            assert torch.equal(calls[0].output[:, :, untouched], plain.output[:, :, untouched])


def test_a_number_for_every_head(build: Build) -> None:
    found, s = build("llama", "sdpa"), torch.tensor([0.1, 0.2, 0.3, 0.4])
    each = {(layer, head): normalizers.get("ssmax", s=float(s[head])) for layer in (0, 1)
            for head in range(4)}  # fmt: skip
    with headgauge.swap(found.model, "ssmax", s=s):
        several = _first(found.run())
    with headgauge.swap(found.model, each):
        torch.testing.assert_close(_first(found.run()), several, atol=1e-5, rtol=1e-5)
    assert len(together(dict(enumerate(each.values())))) == 1
    with headgauge.swap(found.model, "sink", sink=s[:2, None], heads=[1, 2]):
        for call in _watched(found):
            two = {head: normalizers.get("sink", sink=float(s[head - 1])) for head in (1, 2)}
            _assert_exact(call, two)
    hot, cold = (normalizers.get("softmax", temperature=each) for each in (5.0, 0.2))
    both = torch.tensor([5.0, 0.2])
    with headgauge.swap(found.model, "softmax", heads=["L0H3", "L0H1"], temperature=both):
        _assert_exact(_watched(found)[0], {3: hot, 1: cold})


def test_numbers_that_are_learned_are_those_of_the_moment(build: Build) -> None:
    """Step after step in one block, wherever they stand."""
    found, one = build("llama", "sdpa"), [torch.tensor(0.2), torch.tensor(0.4)]
    both = torch.tensor([0.2, 0.4])
    learned = [each.requires_grad_() for each in (*one, both)]
    singly = {(0, head): normalizers.get("ssmax", s=s) for head, s in enumerate(one)}
    ways = [(singly, {}), ("ssmax", {"s": both, "layers": 0, "heads": [1, 0]})]
    made = []
    for rule, more in ways:
        with headgauge.swap(found.model, rule, **more):
            for _ in range(3):
                loss = _first(found.model(**found.inputs)).square().mean()
                loss.backward()
                made.append(float(loss.detach()))
                with torch.no_grad():
                    for each in learned:
                        each += 0.3
    assert len(set(made)) == 6
    assert all(each.grad is not None and bool(each.grad.any()) for each in learned)


def test_blocks_nest_in_any_order_fail_and_end(build: Build) -> None:
    found, other = build("llama", "sdpa"), build("gpt2", "sdpa")
    before, plain, others = _registry(), _first(found.run()), _first(other.run())
    ssmax, relu = normalizers.get("ssmax", s=0.4), normalizers.get("relu")

    def fail() -> None:
        calls: list[models.ObservedCall] = []
        with models.intercept(found.model, calls.append) as seen:
            with headgauge.swap(found.model, ssmax), headgauge.swap(other.model, relu):
                with headgauge.swap(found.model, relu, heads=[1]):
                    found.run()
                both = {head: relu if head == 1 else ssmax for head in range(4)}
                _assert_exact(calls[0], both)
                found.run()
                _assert_exact(calls[2], dict.fromkeys(range(4), ssmax))
                assert not torch.equal(_first(other.run()), others)
            assert torch.equal(_first(found.run()), plain)
            _assert_exact(calls[4], {})
        assert (seen.unseen, seen.distrusted) == ([], {})
        with headgauge.swap(found.model, ssmax):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert _registry() == before
    assert torch.equal(_first(found.run()), plain)
    assert not any(m._forward_pre_hooks or m._forward_hooks for m in found.model.modules())


def test_other_threads_have_the_models_own_rule(build: Build) -> None:
    found, made = build("llama", "sdpa"), []
    plain = _first(found.run())
    with headgauge.swap(found.model, "sparsemax"):
        thread = threading.Thread(target=lambda: made.append(_first(found.run())))
        thread.start()
        thread.join()
        assert not torch.equal(_first(found.run()), plain)
    assert torch.equal(made[0], plain)


def test_a_head_is_taken_out_of_a_swapped_model(build: Build) -> None:
    found = build("llama", "sdpa")
    with headgauge.swap(found.model, "entmax"):
        alone = _first(found.run())
        with headgauge.ablated(found.model, [(0, 1)]):
            without = _first(found.run())
        assert torch.equal(_first(found.run()), alone)
    with headgauge.ablated(found.model, [(0, 1)]), headgauge.swap(found.model, "entmax"):
        assert torch.equal(_first(found.run()), without)
    assert not torch.equal(alone, without)


def _gradients(found: Any) -> list[Tensor]:
    found.model.zero_grad()
    loss = found.model(**found.inputs, labels=found.inputs["input_ids"]).loss
    loss.backward()
    return [loss.detach(), *(p.grad.clone() for p in found.model.parameters())]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_gradients_are_those_of_the_formula(build: Build, rule: Normalizer) -> None:
    """Also where checkpointing computes the layers a second time."""
    if rule.name in ("lssar", "topk", "sa_softmax_normalized"):
        pytest.skip("jumps where the last digits differ")
    found = build("llama", "sdpa")
    found.model.double().train()

    def plain(call: models.AttentionCall) -> Tensor:
        return _plain(call, dict.fromkeys(range(call.heads), rule))

    with models.intercept(found.model, lambda call: None, replacement=plain):
        expected = _gradients(found)
    found.model.gradient_checkpointing_enable({"use_reentrant": False})
    with headgauge.swap(found.model, rule):
        again = _gradients(found)
        found.model.gradient_checkpointing_disable()
        ours = _gradients(found)
    for one, two, three in zip(ours, again, expected, strict=True):
        torch.testing.assert_close(one, three, atol=1e-9, rtol=1e-7)
        torch.testing.assert_close(two, one, atol=1e-12, rtol=1e-10)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_stays_near(build: Build, dtype: torch.dtype) -> None:
    found = build("llama", "sdpa")
    for weight in found.model.parameters():
        weight.data = weight.data.to(dtype).float()  # the same model
    half = build("llama", "sdpa")
    half.model.load_state_dict(found.model.state_dict())
    half.model.to(dtype)
    for rule in RULES:
        with headgauge.swap(half.model, rule):
            calls = _watched(half)
        _assert_exact(calls[0], dict.fromkeys(range(4), rule), 3e-2)
        assert calls[0].output.dtype == dtype
        assert bool(calls[1].output.isfinite().all())


def test_compiled_models_are_changed_too(build: Build) -> None:
    found = build("llama", "sdpa")
    compiled: Any = torch.compile(found.model, backend="eager")
    with torch.no_grad():
        plain = compiled(**found.inputs).logits
        with headgauge.swap(compiled, "sparsemax"):
            inner = compiled(**found.inputs).logits
        assert torch.equal(compiled(**found.inputs).logits, plain)
        with headgauge.swap(found.model, "sparsemax"):
            assert torch.equal(inner, found.run().logits)


def test_eager_weights_that_are_asked_for_are_the_rules(build: Build) -> None:
    found = build("llama", "eager")
    for name in ("ssmax", "sparsemax", "sink"):
        with headgauge.swap(found.model, name):
            calls = _watched(found)
            given = found.run(output_attentions=True).attentions
        for call, weights in zip(calls, given, strict=True):
            block = call.block(1, 2, 0, 24)
            torch.testing.assert_close(weights[1, 2], block.weights, atol=1e-5, rtol=0)


@pytest.fixture
def gpt2_outside() -> Any:
    config = hf.GPT2Config(
        vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64,
        reorder_and_upcast_attn=True, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return hf.GPT2LMHeadModel._from_config(config, attn_implementation="eager").eval()


def test_a_module_that_goes_around_the_interface_is_told(gpt2_outside: Any) -> None:
    with (
        pytest.raises(InputError, match="a GPT2Attention computed its attention outside"),
        headgauge.swap(gpt2_outside, "sparsemax"),
    ):
        gpt2_outside(torch.arange(3, 9)[None])


@pytest.mark.parametrize(
    ("family", "rule", "more", "said"),
    [
        ("llama", "sparsmax", {}, "no normalizer 'sparsmax' .did you mean sparsemax"),
        ("llama", "ssmax", {"t": 1}, "ssmax has no parameter 't'"),
        ("llama", "ssmax", {"layers": [2]}, "there are layers 0 to 1, not 2"),
        ("llama", "ssmax", {"heads": [4]}, "has heads 0 to 3, not 4"),
        ("llama", "ssmax", {"heads": []}, "heads needs at least one number"),
        ("llama", "ssmax", {"heads": ["L0H1"], "layers": 0}, "name their layers"),
        ("llama", "ssmax", {"s": torch.ones(3)}, r"one number for each of 4 heads, got .* \(3,\)"),
        ("llama", {"L5H0": "ssmax"}, {}, "there are layers 0 to 1, not 5"),
        ("llama", {"L0H0": "ssmax"}, {"heads": 1}, "a mapping says which heads"),
        ("llama", normalizers.get("topk"), {"k": 3}, "topk has its parameters already"),
        ("gptj", "ssmax", {}, "outside transformers' interface"),
        ("falcon-sdpa", "ssmax", {}, "outside transformers' interface"),
    ],
)
def test_what_cannot_be_swapped_is_told_in_a_line(
    build: Build, family: str, rule: Any, more: dict[str, Any], said: str
) -> None:
    found = case(family, "eager" if family == "gptj" else "sdpa")
    before = _registry()
    with pytest.raises(InputError, match=said), headgauge.swap(found.model, rule, **more):
        pass
    assert _registry() == before


def test_other_implementations_are_refused(build: Build) -> None:
    model = build("llama", "sdpa").model
    model.config._attn_implementation = "flex_attention"
    with pytest.raises(InputError, match="'flex_attention'"), headgauge.swap(model, "ssmax"):
        pass
