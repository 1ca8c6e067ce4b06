import pytest
import torch

from headgauge import normalizers

F64 = torch.float64


def test_keeps_the_largest_and_the_first_of_the_tied() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.0, 3.0, 3.0, 2.0]])
    kept = normalizers.get("topk", k=2)(logits) > 0
    assert kept.tolist() == [[False, True, False, True, False, False]]
    kept = normalizers.get("topk", k=4)(logits) > 0
    assert kept.tolist() == [[False, True, True, True, True, False]]
    assert (normalizers.get("topk", k=2)(torch.zeros(5)) > 0).tolist() == [True, True] + [False] * 3


@pytest.mark.parametrize("k", [1, 3, 5, 50])
def test_agrees_with_a_full_sort(k: int) -> None:
    logits = torch.randint(-3, 3, (40, 12), generator=torch.Generator().manual_seed(0)).to(F64)
    mask = torch.rand(40, 12, generator=torch.Generator().manual_seed(1)) > 0.3
    order = logits.masked_fill(~mask, -torch.inf).sort(dim=-1, descending=True, stable=True).indices
    rank = order.argsort(dim=-1)
    kept = mask & (rank < k)
    expected = torch.softmax(logits.masked_fill(~kept, -torch.inf) / 0.7, dim=-1).nan_to_num()
    torch.testing.assert_close(
        normalizers.get("topk", k=k, temperature=0.7)(logits, mask), expected
    )


def test_bound_is_attained_inside_a_cell() -> None:
    rule = normalizers.get("topk", k=2, temperature=0.25)
    norm = rule.spectral_norm(torch.tensor([1.0, 1.0, 0.9], dtype=F64))
    assert float(norm) == pytest.approx(2.0)
    assert rule.jacobian_bound(3) == 2.0
    assert normalizers.get("topk", k=1).jacobian_bound(3) == 0.0
