"""What a head does, against loops over the definitions and cases worked out by hand."""

import math

import pytest
import torch

from headgauge.theory import roles


def _head(keys: int, kind: str, seed: int = 0):
    """Weights, who sees whom, the places and repeated tokens of one head."""
    source = torch.Generator().manual_seed(seed)
    query, key = torch.arange(keys)[:, None], torch.arange(keys)
    visible = {
        "causal": key <= query,
        "window": (key <= query) & (key > query - 40),
        "encoder": (key >= 0) & (query >= 0),
    }[kind]
    logits = 2 * torch.randn(keys, keys, dtype=torch.float64, generator=source)
    weights = torch.softmax(logits.masked_fill(~visible, -math.inf), -1)
    return weights, visible, torch.arange(keys), torch.randint(9, (keys,), generator=source)


@pytest.mark.parametrize("kind", ["causal", "window", "encoder"])
def test_masses_are_sums_over_their_keys(kind):
    weights, visible, places, ids = _head(420, kind)

    def literal(belongs, none=math.nan):
        found = []
        for i in (0, 1, 17, 300, 419):
            keys = [j for j in range(420) if visible[i, j] and belongs(i, j)]
            found.append(sum(float(weights[i, j]) for j in keys) if keys else none)
        return found

    given = (weights, visible, places)
    for found, wanted in (
        (roles.self_mass(*given), literal(lambda i, j: i == j)),
        (roles.previous_mass(*given), literal(lambda i, j: j == i - 1)),
        (roles.local_mass(*given), literal(lambda i, j: abs(i - j) <= 15, 0.0)),
        (roles.long_mass(*given), literal(lambda i, j: j and abs(i - j) >= 256)),
        (roles.duplicate_mass(*given, ids), literal(lambda i, j: j < i and ids[i] == ids[j])),
        (
            roles.induction_mass(*given, ids),
            literal(lambda i, j: 0 < j <= i and ids[i] == ids[j - 1]),
        ),
    ):
        picked = found[[0, 1, 17, 300, 419]].tolist()
        assert picked == pytest.approx(wanted, rel=1e-12, nan_ok=True)


def test_streaming_counts_rows_with_more_than_384_keys():
    weights, visible, places, _ = _head(400, "causal")
    found = roles.streaming_mass(weights, visible, places)
    assert found[:384].isnan().all()
    lost = [float(weights[i, 128 : i - 255].sum()) for i in range(384, 400)]
    assert found[384:].tolist() == pytest.approx([1 - each for each in lost], rel=1e-12)


def test_what_a_row_by_hand_has():
    weights = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    seen, place = torch.ones(1, 3, dtype=torch.bool), torch.tensor([2])
    assert roles.mean_distance(weights, seen, place).tolist() == [1.25]
    assert roles.collision_entropy(weights, seen).tolist() == pytest.approx([-math.log(0.375)])
    lengths = torch.tensor([1.0, 4.0, 4.0], dtype=torch.float64)
    assert roles.sink_output_share(weights, seen, lengths).tolist() == [0.2]
    hidden = torch.tensor([[False, True, True]])
    assert roles.sink_output_share(weights, hidden, lengths).isnan().all()


def test_values_and_outputs():
    source = torch.Generator().manual_seed(1)
    values = torch.randn(8, 3, dtype=torch.float64, generator=source)
    lengths = sorted(math.dist(each, [0] * 3) for each in values.tolist())
    wanted = math.dist(values[0].tolist(), [0] * 3) / ((lengths[3] + lengths[4]) / 2)
    assert float(roles.first_value_ratio(values)) == pytest.approx(wanted, rel=1e-12)
    one = torch.outer(torch.arange(1.0, 5.0), torch.tensor([1.0, 2.0])).double()
    assert float(roles.stable_rank(one)) == pytest.approx(1.0)
    assert float(roles.stable_rank(torch.eye(4, dtype=torch.float64))) == pytest.approx(4.0)
    stream = torch.full((8, 4), 0.5, dtype=torch.float64)
    projection = torch.zeros(3, 4, dtype=torch.float64)
    projection[0, 1] = 2.0
    found = roles.contribution(values, projection, stream)
    assert found.tolist() == pytest.approx((2 * values[:, 0].abs()).tolist())


def test_a_head_that_copies_what_followed():
    k = roles.REPEATED
    ids = torch.cat([torch.tensor([99]), torch.arange(k), torch.arange(k)])
    keys = len(ids)
    weights = torch.zeros(keys, keys, dtype=torch.float64)
    visible = torch.ones(keys, keys, dtype=torch.bool).tril()
    for t in range(1 + k, keys):
        weights[t, t - k + 1], weights[t, t - k] = 0.75, 0.25
    induction, duplicate = roles.repeat_scores(weights, visible, torch.arange(keys), ids)
    assert induction[: k + 1].isnan().all()
    assert set(induction[k + 1 :].tolist()) == {0.75}
    assert set(duplicate[k + 1 :].tolist()) == {0.25}


def test_circuits_are_those_of_the_large_matrices():
    source = torch.Generator().manual_seed(2)
    query, key, value = (
        torch.randn(12, 4, dtype=torch.float64, generator=source) for _ in range(3)
    )
    values = torch.linalg.svdvals(query @ key.T)[:4]
    largest, rank, entropy = roles.qk_spectrum(query, key)
    share = values / values.sum()
    assert float(largest) == pytest.approx(float(values[0]))
    assert float(rank) == pytest.approx(float((values / values[0]).square().sum()))
    assert float(entropy) == pytest.approx(float(-(share * share.log()).sum()))
    projection = torch.randn(4, 12, dtype=torch.float64, generator=source)
    found = torch.linalg.eigvals(value @ projection)
    wanted = float(found.real.sum() / found.abs().sum())
    assert float(roles.ov_copying(value, projection)) == pytest.approx(wanted)
    assert float(roles.ov_copying(value, value.T)) == pytest.approx(1.0)
    assert float(roles.ov_copying(value, -value.T)) == pytest.approx(-1.0)
