"""Products by oneDNN: they are those of torch, and everything else is left to torch."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from headgauge import products
from headgauge.products import FasterLinear, batched, times


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[torch.Size]:
    """oneDNN serves whatever the processor is, also few numbers; the shapes it was asked for."""
    found: list[torch.Size] = []
    linear = products._onednn()
    if linear is None:
        pytest.skip("torch was built without oneDNN here: nothing but torch.matmul serves")

    def counted(x: Tensor, *others: Tensor) -> Tensor:
        found.append(x.shape)
        return linear(x, *others)

    monkeypatch.setattr(products, "_pays", lambda: True)
    monkeypatch.setattr(products, "_FEW", 1)
    monkeypatch.setattr(products, "_onednn", lambda: counted)
    return found


def close(found: Tensor, a: Tensor, b: Tensor) -> bool:
    """To a few roundings of what is added up."""
    error = (found.double() - a.double() @ b.double()).abs()
    return bool((error <= 1e-6 * (a.abs().double() @ b.abs().double()) + 1e-30).all())


sizes = st.integers(1, 70)


@given(sizes, sizes, sizes, st.integers(0, 3))
def test_a_product_is_that_of_torch(rows: int, inner: int, n: int, strides: int) -> None:
    linear = products._onednn()
    a, b = torch.randn(rows + 1, inner + 2), torch.randn(inner + 1, n + 3)
    a = a[1:, 2:] if strides % 2 else a[1:, 2:].contiguous()
    b = b[1:, 3:] if strides // 2 else b[1:, 3:].T.contiguous().T
    assert linear is None or close(linear(a, b.T), a, b)


WRONG: dict[str, Callable[[Tensor, Tensor, Tensor | None], bool]] = {
    "a weight the other way round": lambda x, weight, bias: not weight.is_contiguous(),
    "a bias": lambda x, weight, bias: bias is not None,
    "rows in batches": lambda x, weight, bias: x.ndim == 3,
    "many numbers": lambda x, weight, bias: x.numel() * len(weight) >= products._FEW,
}


@pytest.mark.parametrize("what", [None, *WRONG])
def test_one_that_is_wrong_does_not_serve(what: str | None) -> None:
    def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        made = F.linear(x, weight, bias)
        return made * 1.001 if what and WRONG[what](x, weight, bias) else made

    assert products._right(linear) == (what is None)


def test_products_are_made_by_onednn_where_it_pays(asked: list[torch.Size]) -> None:
    a, b = torch.randn(2, 3, 40, 64), torch.randn(2, 3, 64, 30)
    assert close(times(a, b[0, 0]), a, b[0, 0])
    assert close(batched(a, b), a, b)
    assert close(batched(a[:1, :1], b[:1, :1]), a[:1, :1], b[:1, :1])
    assert close(batched(a[0, 0], b[0, 0]), a[0, 0], b[0, 0])
    transposed = torch.randn(2, 3, 30, 64).mT
    assert close(batched(a, transposed), a, transposed)
    assert asked == [a.shape] + 6 * [(40, 64)] + 2 * [(40, 64)] + 6 * [(40, 64)]


def test_infinity_and_nan_stay_where_they_are(asked: list[torch.Size]) -> None:
    a = torch.ones(3, 4)
    a[0, 1], a[1, 2] = torch.inf, torch.nan
    assert times(a, torch.ones(4, 2)).tolist()[0] == [torch.inf, torch.inf]
    assert times(a, torch.ones(4, 2))[1].isnan().all()
    assert times(a, torch.ones(4, 2)).tolist()[2] == [4.0, 4.0]
    assert asked


@pytest.mark.parametrize(
    "a",
    [
        torch.randn(40, 30).double(),
        torch.randn(40, 30).bfloat16(),
        torch.randn(40, 30, requires_grad=True),
        torch.empty(40, 30, device="meta"),
        torch.empty(0, 30),
    ],
    ids=["double", "half", "graph", "meta", "no rows"],
)
def test_all_else_is_torchs(asked: list[torch.Size], a: Tensor) -> None:
    b = torch.randn(30, 20).to(a)
    found = times(a, b), batched(a[None], b[None])[0]
    for each in found:
        assert (each.shape, each.dtype, each.device) == ((len(a), 20), a.dtype, a.device)
        assert each.requires_grad == a.requires_grad
        assert each.is_meta or torch.equal(each, a @ b)
    assert not asked


def test_what_a_user_asked_of_torch_is_kept(
    asked: list[torch.Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = torch.randn(40, 30), torch.randn(30, 20)
    with torch.autocast("cpu", torch.bfloat16):
        assert times(a, b).dtype == torch.bfloat16
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        times(a, b)
    finally:
        torch.set_float32_matmul_precision(before)
    torch.backends.cuda.matmul.fp32_precision = "tf32"  # by the newer name, which mixes the two
    try:
        times(a, b)
    finally:
        torch.backends.cuda.matmul.fp32_precision = "none"
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)
    times(a, b)
    assert not asked
    monkeypatch.undo()


def test_a_processor_on_which_it_is_not_known_to_pay_keeps_torchs(
    asked: list[torch.Size], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_pays", lambda: False)
    times(torch.randn(40, 30), torch.randn(30, 20))
    assert not asked


def test_linear_maps_of_a_model_are_made_so_below_its_hooks(asked: list[torch.Size]) -> None:
    model = nn.Sequential(nn.Linear(30, 20), nn.ReLU(), nn.Linear(20, 10, bias=False))
    x, heard = torch.randn(2, 5, 30), []
    model[0].register_forward_hook(lambda module, args, output: heard.append(output.shape))
    with torch.no_grad():
        wanted = model(x)
        with FasterLinear():
            found = model(x)
            mapped = torch.addmm(torch.ones(10), x[0], torch.ones(30, 10))
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(mapped, x[0] @ torch.ones(30, 10) + 1)
    assert heard == 2 * [(2, 5, 20)]
    assert asked == [(2, 5, 30), (2, 5, 20), (5, 30)]


def test_a_model_that_learns_is_left_alone(asked: list[torch.Size]) -> None:
    layer, x = nn.Linear(30, 20), torch.randn(5, 30)
    with FasterLinear():
        layer(x).sum().backward()
        torch.addmm(torch.ones(5, 20), x, torch.ones(30, 20))  # no bias
        F.linear(x, torch.ones(20, 30), bias=torch.ones(20))
    assert layer.weight.grad is not None
    assert not asked
