"""What holds for every rule."""

import math

import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from headgauge.normalizers import Normalizer

from .conftest import every_rule

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
CAUSAL = torch.ones(7, 7, dtype=torch.bool).tril()


def gaussian(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def tolerance(dtype: torch.dtype) -> float:
    # What a handful of roundings of the result, and fp32 at best inside, leave.
    return {torch.float64: 1e-12, torch.float32: 2e-5}.get(dtype, 4 * torch.finfo(dtype).eps)


@st.composite
def masked_logits(draw: st.DrawFn) -> tuple[Tensor, Tensor]:
    """Logits from a coarse grid with extremes, so that ties are exact, and any mask."""
    queries = draw(st.integers(1, 8))
    keys = draw(st.integers(1, 9))
    dtype = draw(st.sampled_from(DTYPES))
    grid = st.one_of(
        st.integers(-24, 24).map(lambda i: i / 8), st.sampled_from([-1e4, 1e4, 0.0, 30.0, -30.0])
    )
    any_row = st.lists(grid, min_size=keys, max_size=keys)
    equal = grid.map(lambda low: [low] * keys)
    one_hot = st.tuples(grid, grid, st.integers(0, keys - 1)).map(
        lambda drawn: [drawn[1] if k == drawn[2] else drawn[0] for k in range(keys)]
    )
    rows = st.one_of(any_row, equal, one_hot)
    values = draw(st.lists(rows, min_size=queries, max_size=queries))
    flags = st.lists(st.booleans(), min_size=keys, max_size=keys)
    mask = draw(st.lists(flags, min_size=queries, max_size=queries))
    return torch.tensor(values, dtype=dtype), torch.tensor(mask)


@settings(max_examples=16)
@given(masked_logits(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_weights_are_sane_on_any_input(case: tuple[Tensor, Tensor], extra: int, random) -> None:
    logits, mask = case
    order = list(range(logits.shape[-1]))
    random.shuffle(order)
    for rule in every_rule():
        variable = logits.clone().requires_grad_()
        weights = rule(variable, mask)
        gradients_are_finite(rule, variable, weights, mask)
        weights = weights.detach()
        weights_are_sane(rule, logits, weights, mask)
        three_ways_of_masking_agree(rule, logits, weights, mask)
        padding_changes_nothing(rule, logits, weights, mask, extra)
        permuting_the_keys_permutes_the_weights(rule, logits, weights, mask, order)


def weights_are_sane(rule: Normalizer, logits: Tensor, weights: Tensor, mask: Tensor) -> None:
    assert weights.dtype == logits.dtype
    assert weights.shape == logits.shape
    assert weights.isfinite().all()
    assert (weights[~mask] == 0).all()
    if rule.name != "sa_softmax":
        assert (weights >= 0).all()
    sums = weights.double().sum(-1)
    slack = 16 * torch.finfo(logits.dtype).eps if logits.dtype != torch.float64 else 1e-9
    if rule.sums_to_one:
        alive = mask.any(-1)
        assert ((sums[alive] - 1).abs() < slack).all()
        single = mask.sum(-1) == 1
        assert (weights[single].amax(-1) == 1).all()
    if rule.name in ("softmax_one", "sink", "softpick", "sa_softmax_normalized"):
        assert (sums <= 1 + slack).all()


def gradients_are_finite(rule: Normalizer, logits: Tensor, weights: Tensor, mask: Tensor) -> None:
    (weights * torch.arange(1.0, weights.shape[-1] + 1, dtype=weights.dtype)).sum().backward()
    assert logits.grad is not None
    assert logits.grad.dtype == logits.dtype
    # A jump smoothed over 1e-6 has slopes that fp16 cannot hold.
    if not (rule.name == "softpick" and logits.dtype == torch.float16):
        assert logits.grad.isfinite().all()
    assert (logits.grad[~mask] == 0).all()


def three_ways_of_masking_agree(
    rule: Normalizer, logits: Tensor, weights: Tensor, mask: Tensor
) -> None:
    for number in (-math.inf, torch.finfo(logits.dtype).min):
        filled = logits.masked_fill(~mask, number)
        torch.testing.assert_close(rule(filled), weights)
        torch.testing.assert_close(rule(filled, mask), weights)


def padding_changes_nothing(
    rule: Normalizer, logits: Tensor, weights: Tensor, mask: Tensor, extra: int
) -> None:
    padded_logits = torch.nn.functional.pad(logits, (extra, extra), value=3.0)
    padded_mask = torch.nn.functional.pad(mask, (extra, extra), value=False)
    padded = rule(padded_logits, padded_mask)
    rtol, atol = (1e-9, 1e-12) if logits.dtype == torch.float64 else (2e-5, 2e-6)
    torch.testing.assert_close(padded[:, extra:-extra], weights, rtol=rtol, atol=atol)
    assert (padded[:, :extra] == 0).all()
    assert (padded[:, -extra:] == 0).all()


def permuting_the_keys_permutes_the_weights(
    rule: Normalizer, logits: Tensor, weights: Tensor, mask: Tensor, order: list[int]
) -> None:
    if rule.name == "topk":  # which of several tied keys is kept depends on their order
        logits = logits + torch.arange(logits.shape[-1]).to(logits.dtype) * 0.25
        if any(len(set(row)) < len(row) for row in logits.tolist()):
            return
        weights = rule(logits, mask)
    moved = rule(logits[:, order], mask[:, order])
    torch.testing.assert_close(moved, weights[:, order], rtol=2e-5, atol=2e-6)


@st.composite
def vast_logits(draw: st.DrawFn) -> Tensor:
    """Rows of up to the largest and the smallest numbers of their dtype, and −inf among them."""
    dtype = draw(st.sampled_from(DTYPES))
    limits = torch.finfo(dtype)
    shares = st.sampled_from([1.0, 1 / 3, 0.24, -0.24, -0.49])  # hidden from −0.5 on
    vast = st.sampled_from([limits.max, limits.max / 40, limits.max**0.5, limits.tiny])
    number = st.one_of(
        st.tuples(shares, vast).map(math.prod),
        st.sampled_from([-math.inf, 0.0, 1.0, -1.0, 30.0, -30.0]),
        st.integers(-24, 24).map(lambda i: i / 8),
    )
    keys = draw(st.integers(1, 9))
    rows = draw(st.lists(st.lists(number, min_size=keys, max_size=keys), min_size=1, max_size=4))
    return torch.tensor(rows, dtype=torch.float64).to(dtype)


@settings(max_examples=10)
@given(vast_logits())
@example(3.4e38 * torch.tensor([[1.0, -0.49, 0.3, 0, 0, 0, 0, 0, 0]]))
@example(3.4e38 * torch.tensor([[-0.49, -0.4, -0.3]]))
def test_vast_logits_have_the_weights_they_have_in_wider_numbers(logits: Tensor) -> None:
    for rule in every_rule():
        weights = rule(logits)
        assert weights.isfinite().all()
        assert rule.name == "sa_softmax" or (weights >= 0).all()
        seen = logits > torch.finfo(logits.dtype).min / 2
        assert (weights[~seen] == 0).all()
        if rule.sums_to_one:
            slack = max(16 * torch.finfo(logits.dtype).eps, 1e-9)
            assert ((weights.double().sum(-1) - 1).abs() < slack)[seen.any(-1)].all()
        if logits.dtype != torch.float64:
            close = tolerance(logits.dtype)
            expected = rule(logits.double(), seen)
            torch.testing.assert_close(weights.double(), expected, rtol=close, atol=close)


def test_every_dtype_agrees_with_fp64(rule: Normalizer) -> None:
    for dtype in DTYPES[:3]:
        logits = (2 * gaussian(5, 7, 7)).to(dtype)
        close = tolerance(dtype)
        expected = rule(logits.double(), CAUSAL)
        torch.testing.assert_close(rule(logits, CAUSAL).double(), expected, rtol=close, atol=close)


def test_fully_masked_row_is_zero_and_has_no_gradient(rule: Normalizer) -> None:
    logits = gaussian(3, 5).requires_grad_()
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False
    weights = rule(logits, mask)
    weights.square().sum().backward()
    assert logits.grad is not None
    assert (weights[1] == 0).all()
    assert (logits.grad[1] == 0).all()
    assert logits.grad.isfinite().all()
    alone = gaussian(3, 5)
    torch.testing.assert_close(weights[[0, 2]].detach(), rule(alone)[[0, 2]])
    assert rule.spectral_norm(alone, mask)[1] == 0
    assert (rule.jacobian(alone, mask).dense()[1] == 0).all()


def test_nan_reaches_the_row_and_no_other(rule: Normalizer) -> None:
    logits = gaussian(3, 5)
    clean = rule(logits)
    logits[1, 2] = math.nan
    weights = rule(logits)
    assert weights[1, 2].isnan()
    torch.testing.assert_close(weights[[0, 2]], clean[[0, 2]])
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1, 2] = False
    assert rule(logits, mask).isfinite().all()
    assert rule.spectral_norm(logits).isnan().tolist() == [False, True, False]


def test_gradcheck(rule: Normalizer) -> None:
    logits = (1.5 * gaussian(5, 5)).requires_grad_()
    assert torch.autograd.gradcheck(lambda z: rule(z, CAUSAL[:5, :5]), logits)


def test_second_derivatives(rule: Normalizer) -> None:
    logits = gaussian(2, 4, seed=1).requires_grad_()
    assert torch.autograd.gradgradcheck(rule, logits)


def test_jacobian_is_that_of_autograd(rule: Normalizer) -> None:
    for seed, spread, shift in [(0, 1.0, 0.0), (1, 3.0, 0.0), (2, 1.0, 4.0), (3, 1.0, -4.0)]:
        logits = spread * gaussian(7, 7, seed=seed) + shift
        dense = torch.autograd.functional.jacobian(lambda z: rule(z, CAUSAL).sum(0), logits)
        expected = dense.permute(1, 0, 2)
        jacobian = rule.jacobian(logits, CAUSAL)
        torch.testing.assert_close(jacobian.dense(), expected, rtol=1e-9, atol=1e-10)
        vector = gaussian(7, 7, seed=9)
        product = (expected @ vector.unsqueeze(-1)).squeeze(-1)
        torch.testing.assert_close(jacobian.product(vector), product, rtol=1e-9, atol=1e-10)
        norm = torch.linalg.matrix_norm(expected, 2)
        torch.testing.assert_close(rule.spectral_norm(logits, CAUSAL), norm, rtol=1e-8, atol=1e-12)


def test_spectral_norm_of_extreme_rows(rule: Normalizer) -> None:
    rows = [[0.0] * 6, [1.0] * 6, [-2.0] * 6, [30.0] + [-30.0] * 5, [9.0, 9.0, -9.0, 0.0, 1.0, 2.0]]
    logits = torch.tensor(rows, dtype=torch.float64)
    expected = torch.linalg.matrix_norm(rule.jacobian(logits).dense(), 2)
    torch.testing.assert_close(rule.spectral_norm(logits), expected, rtol=1e-8, atol=1e-12)
    halves = rule.spectral_norm(logits.to(torch.bfloat16))
    torch.testing.assert_close(halves.double(), expected, rtol=1e-4, atol=1e-6)


def test_jacobian_bound_holds_or_is_truly_infinite(rule: Normalizer) -> None:
    for n in (1, 2, 3, 8):
        bound = rule.jacobian_bound(n)
        if bound is None:
            assert rule.jacobian_bound_text == "none known"
            continue
        if bound == math.inf:
            direction = torch.tensor([1.0, 0.9, -1.9, 0, 0, 0, 0, 0], dtype=torch.float64)[:n]
            hostile = torch.stack([1e-5 * direction, torch.full_like(direction, 5e4)])
            assert rule.spectral_norm(hostile).max() > 1e3
            continue
        spread = 10 ** (3.5 * torch.sigmoid(2 * gaussian(1000, 1, seed=n)) - 2)
        logits = gaussian(1000, n, seed=n + 1) * spread + 3 * gaussian(1000, 1, seed=n + 2)
        assert rule.spectral_norm(logits).max().item() <= bound * (1 + 1e-9) + 1e-12


def test_sparse_or_not(rule: Normalizer) -> None:
    weights = rule(2 * gaussian(20, 16))
    zeros = (weights == 0).sum(-1)
    if rule.sparse and getattr(rule, "alpha", 2.0) != 1.0:
        assert zeros.float().mean() > 2
    else:
        assert zeros.max() <= 1


def test_form_f_means_ratios_of_two_weights_ignore_the_others(rule: Normalizer) -> None:
    pair = torch.tensor([0.7, 0.2], dtype=torch.float64)
    others = 1.5 * gaussian(50, 4, seed=3)
    logits = torch.cat([pair.expand(50, 2), others], dim=-1)
    weights = rule(logits)
    ratios = weights[:, 0] / weights[:, 1]
    constant = bool((ratios - ratios[0]).abs().max() < 1e-9 * ratios[0].abs())
    softmax_itself = getattr(rule, "alpha", None) == 1.0
    assert rule.form_f == (constant and rule.sums_to_one and not softmax_itself)


def test_uses_length_means_that_it_does(rule: Normalizer) -> None:
    """One more key that takes no weight itself changes the others only through n."""
    # Softpick's neutral key is 0: a very negative one drains the row.
    neutral = 0.0 if rule.name == "softpick" else -600.0
    logits = torch.tensor([[2.0, 1.0, 0.6, 0.3, -700.0, neutral]], dtype=torch.float64)
    with_it = rule(logits)[0, :5]
    without = rule(logits[:, :5])[0]
    same = torch.allclose(with_it, without, rtol=1e-9, atol=0)
    fixed = getattr(rule, "bias", None) is not None  # a given bias replaces the one made from n
    assert same == (fixed or not rule.uses_length)


def test_decoding_equals_the_last_row_of_prefill(rule: Normalizer) -> None:
    logits = gaussian(2, 7, 7, dtype=torch.float32)
    prefill = rule(logits, CAUSAL)
    for query in range(7):
        decoded = rule(logits[:, query : query + 1, : query + 1])
        torch.testing.assert_close(
            decoded[:, 0], prefill[:, query, : query + 1], rtol=1e-6, atol=1e-6
        )


def test_packed_documents_do_not_see_each_other(rule: Normalizer) -> None:
    logits = gaussian(5, 5)
    document = torch.tensor([0, 0, 1, 1, 1])
    mask = (document[:, None] == document) & torch.ones(5, 5, dtype=torch.bool).tril()
    packed = rule(logits, mask)
    alone = rule(logits[2:, 2:], torch.ones(3, 3, dtype=torch.bool).tril())
    torch.testing.assert_close(packed[2:, 2:], alone)


def test_odd_shapes(rule: Normalizer) -> None:
    for shape in ((6,), (0,), (3, 0), (0, 4), (2, 1), (1,)):
        logits = gaussian(*shape)
        assert rule(logits).shape == shape
        assert rule.spectral_norm(logits).shape == shape[:-1]
        assert rule.jacobian(logits).dense().shape == (*shape, shape[-1])


def test_layout_of_the_inputs_does_not_matter(rule: Normalizer) -> None:
    logits, mask = gaussian(3, 4, 7, 7), CAUSAL
    expected = rule(logits, mask)
    transposed = logits.transpose(0, 1).contiguous().transpose(0, 1)
    strided = torch.stack([logits, logits + 1], dim=-1)[..., 0]
    for other in (transposed, strided):
        assert not other.is_contiguous()
        torch.testing.assert_close(rule(other, mask), expected)
    for same in (mask.expand(3, 4, 7, 7), mask.expand(4, 7, 7), mask[None].contiguous()):
        torch.testing.assert_close(rule(logits, same), expected)
    per_batch = mask.expand(3, 1, 7, 7).contiguous()
    torch.testing.assert_close(rule(logits, per_batch), expected)
    whole_rows = torch.tensor([True, False, True] * 2 + [True]).unsqueeze(-1)
    weights = rule(logits, whole_rows)
    torch.testing.assert_close(weights[..., 0, :], rule(logits[..., 0, :]))
    assert (weights[..., 1, :] == 0).all()


def test_without_the_shortcuts_of_the_cpu(rule: Normalizer, monkeypatch) -> None:
    """On other devices nothing is read back to choose a path: every branch is always taken."""
    logits, mask = gaussian(2, 7, 7), CAUSAL.clone()
    mask[3] = False
    expected = rule(logits, mask), rule(logits), rule.spectral_norm(logits, mask)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    actual = rule(logits, mask), rule(logits), rule.spectral_norm(logits, mask)
    torch.testing.assert_close(actual, expected)


def test_inputs_are_left_alone(rule: Normalizer) -> None:
    logits, mask = gaussian(2, 7, 7), CAUSAL.clone()
    logits[0, 0, 3] = -math.inf
    before = logits.clone(), mask.clone()
    rule(logits, mask)
    rule.spectral_norm(logits, mask)
    assert torch.equal(logits, before[0])
    assert torch.equal(mask, before[1])


def test_the_short_way_that_a_rule_names_is_the_rule(rule: Normalizer) -> None:
    """A factor for softmax, or the mass of a sink: what a model's own kernel can compute."""
    generator = torch.Generator().manual_seed(5)
    logits = torch.randn(4, 9, 9, dtype=torch.float64, generator=generator)
    mask = torch.ones(9, 9, dtype=torch.bool).tril()
    hidden, n = logits.masked_fill(~mask, -math.inf), mask.sum(-1).double()
    factor, mass = rule.factor_on_logits(n), rule.mass_of_sink()
    if factor is not None:
        c = torch.as_tensor(factor, dtype=torch.float64).expand(9).unsqueeze(-1)
        expected = (c * logits).masked_fill(~mask, -math.inf).softmax(-1)
        torch.testing.assert_close(rule(logits, mask), expected)
    if mass is not None:
        total = hidden.exp().sum(-1, keepdim=True) + math.exp(float(mass))
        torch.testing.assert_close(rule(logits, mask), hidden.exp() / total)


def test_a_sink_takes_weight_and_is_no_key(rule: Normalizer) -> None:
    """As one more logit at the end of the row; only n is that of the keys."""
    generator = torch.Generator().manual_seed(6)
    logits = torch.randn(3, 5, 7, dtype=torch.float64, generator=generator)
    sink = torch.tensor([[-1.0], [0.3], [2.0]], dtype=torch.float64)
    row = torch.cat([logits, sink.unsqueeze(-1).expand(3, 5, 1)], -1)
    ours, longer = rule(logits, sink=sink), rule(row)[..., :-1]
    if rule.uses_length:
        assert not torch.allclose(ours, longer) or rule.name in ("log_length_qwen", "sigmoid")
        factor = rule.factor_on_logits(torch.tensor([7.0], dtype=torch.float64))
        if factor is not None:
            expected = (row * torch.as_tensor(factor).unsqueeze(-1)).softmax(-1)[..., :-1]
            torch.testing.assert_close(ours, expected)
    else:
        torch.testing.assert_close(ours, longer)
    mask = torch.ones(5, 7, dtype=torch.bool)
    mask[2] = False
    assert bool((rule(logits, mask, sink=sink)[:, 2] == 0).all())
