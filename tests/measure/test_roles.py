"""What a head does, against `theory.roles` in float64 on all of the model's own weights at once."""

from functools import partial
from typing import Any

import polars as pl
import pytest
import torch
from torch import Tensor

from headgauge import models
from headgauge.measure.unit import Unit, known_heads, measure_unit
from headgauge.models.structure import layer_of
from headgauge.runs import UnitKey
from headgauge.runs.schema import HeadRow
from headgauge.scanning.scanning import ScanSettings, scan_task
from headgauge.theory import roles
from model_families import DIRECT, INSIDE, OUTSIDE

LENGTH = 24
FAMILIES = {family.name: family for family in (*INSIDE, DIRECT, *OUTSIDE)}
SINGLE = ("gemma2", "gpt-oss")  # their own attention computes in float32 whatever they are
BY_PLACE = (
    *("self_mass", "previous_mass", "local_mass", "long_mass", "streaming_mass", "mean_distance"),
    *("duplicate_mass", "induction_mass"),
)
OF_VALUES = ("first_value_ratio", "sink_output_share", "output_stable_rank", "contribution")
OF_WEIGHTS = ("ov_copying", "qk_largest", "qk_stable_rank", "qk_spectral_entropy")


def _measured(name: str, ids: Tensor) -> tuple[Any, pl.DataFrame, dict[str, list[Any]]]:
    """The model in float64, its table of heads, and its attention calls by module."""
    family = FAMILIES[name]
    model = family.build(family.implementations[0])
    model = model if name in SINGLE else model.double()
    loaded = models.wrap(model)
    settings = ScanSettings(lengths=(LENGTH,), top_ns=(1,), block_rows=7, precision="float64")
    unit = Unit(UnitKey(0, LENGTH), 0, tuple(ids[0].tolist()))
    task = scan_task(settings, unit.key)
    object.__setattr__(task, "facts", known_heads(loaded, None, settings))
    heads = measure_unit(loaded, unit, settings, task).tables["heads"]
    calls: dict[str, list[Any]] = {}
    inputs = models.model_inputs(loaded, ids[:1])
    with (
        torch.no_grad(),
        models.intercept(model, lambda call: calls.setdefault(call.module, []).append(call)),
    ):
        model(**inputs)
    return loaded, heads, calls


@pytest.fixture
def ids() -> Tensor:
    """Of few tokens, so that many occur again."""
    return torch.randint(3, 12, (1, LENGTH), generator=torch.Generator().manual_seed(4))


def _mean(rows: Tensor) -> float | None:
    there = rows[~rows.isnan()]
    return float(there.mean()) if len(there) else None


def _plain(call: Any, head: int, ids: Tensor) -> dict[str, float | None]:
    """Every column by theory, from the whole matrix of weights."""
    block = call.block(0, head, 0, call.queries)
    weights = torch.zeros(call.queries, call.keys, dtype=torch.float64)
    visible = torch.zeros_like(weights, dtype=torch.bool)
    weights[:, : block.reach], visible[:, : block.reach] = block.weights.double(), block.visible
    places = torch.arange(call.queries)
    found: dict[str, float | None] = dict.fromkeys((*BY_PLACE, *OF_VALUES))
    found["collision_entropy"] = _mean(roles.collision_entropy(weights, visible))
    if not call.cross:
        for name in ("self_mass", "previous_mass", "local_mass", "long_mass", "mean_distance"):
            found[name] = _mean(getattr(roles, name)(weights, visible, places))
        if not visible.triu(1).any():
            found["streaming_mass"] = _mean(roles.streaming_mass(weights, visible, places))
            found["duplicate_mass"] = _mean(roles.duplicate_mass(weights, visible, places, ids))
            found["induction_mass"] = _mean(roles.induction_mass(weights, visible, places, ids))
    if not isinstance(call, models.AttentionCall):
        return found
    values = call.value[0, call.kv_head(head)].double()
    lengths = torch.linalg.vector_norm(values, dim=-1)
    share = roles.sink_output_share(weights, visible, lengths)
    found["sink_output_share"] = None if share.isnan().any() else float(share.mean())
    found["first_value_ratio"] = float(roles.first_value_ratio(values))
    outputs = weights @ values
    found["output_stable_rank"] = float(roles.stable_rank(outputs))
    return found


@pytest.mark.parametrize(
    "name", ["llama", "gpt2", "mistral", "gemma2", "gpt-oss", "bert", "t5", "gptj", "falcon-sdpa"]
)
def test_every_column_is_theorys(name: str, ids: Tensor, unchecked: None) -> None:
    loaded, heads, calls = _measured(name, ids)
    decoder = models.model_inputs(loaded, ids).get("decoder_input_ids", ids)
    assert len(heads)
    for row in heads.iter_rows(named=True):
        call = calls[row["module"]][row["occurrence"]]
        own = decoder if "decoder" in row["module"] else ids
        for column, wanted in _plain(call, row["head"], own[0]).items():
            if column != "contribution":
                rel = 2e-5 if name in SINGLE else 1e-9
                near = wanted if wanted is None else pytest.approx(wanted, rel=rel, abs=1e-9)
                assert row[column] == near, (row, column)
    encoder, seen = name in ("bert",), name != "gptj"
    assert heads["induction_mass"].is_null().all() == encoder
    assert heads["output_stable_rank"].is_not_null().all() == seen
    assert heads["streaming_mass"].is_null().all()  # no window of 24 tokens has 384 keys
    slides = name in ("mistral", "gemma2", "gpt-oss")
    assert heads["sink_output_share"].is_null().any() == (slides or not seen)


@pytest.mark.parametrize("name", ["llama", "gpt2", "bert", "falcon-sdpa"])
def test_a_contribution_is_the_projected_output_beside_the_stream(name: str, ids: Tensor) -> None:
    loaded, heads, calls = _measured(name, ids)
    projections = models.output_projections(loaded)
    streams: dict[str, Tensor] = {}
    modules = dict(loaded.model.named_modules())

    def keep(attention: str, _: Any, args: Any, kwargs: Any) -> None:
        streams[attention] = args[0] if args else kwargs["hidden_states"]

    for attention in calls:
        layer = modules[layer_of(attention, modules)]
        layer.register_forward_pre_hook(partial(keep, attention), with_kwargs=True)
    with torch.no_grad():
        loaded.model(ids)
    for row in heads.iter_rows(named=True):
        output = calls[row["module"]][0].output[0, :, row["head"]]
        weight = projections[row["module"]].weight(row["head"])
        assert weight is not None
        wanted = roles.contribution(output, weight, streams[row["module"]][0]).mean()
        assert row["contribution"] == pytest.approx(float(wanted), rel=1e-9)


@pytest.mark.parametrize("name", ["gemma2", "gemma3", "gptj", "t5"])
def test_no_contribution_where_a_norm_follows_or_nothing_is_seen(name: str, ids: Tensor) -> None:
    _, heads, _ = _measured(name, ids)
    alone = heads.filter(~pl.col("cross")) if name != "t5" else heads.filter("cross")
    assert alone["contribution"].is_null().all()


def test_circuits_are_those_of_the_models_own_matrices(ids: Tensor) -> None:
    loaded, heads, _ = _measured("llama", ids)
    attention = loaded.model.model.layers[1].self_attn
    row = heads.row(by_predicate=(pl.col("layer") == 1) & (pl.col("head") == 3), named=True)
    query, key, value = (
        each.weight.detach().T.reshape(32, -1, 8)
        for each in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    largest, rank, entropy = roles.qk_spectrum(query[:, 3], key[:, 1])  # two heads read one
    wanted = [float(each) for each in (largest, rank, entropy)]
    assert [row[name] for name in OF_WEIGHTS[1:]] == pytest.approx(wanted, rel=1e-9)
    projection = attention.o_proj.weight.detach().T[24:32]
    copying = float(roles.ov_copying(value[:, 1], projection))
    assert row["ov_copying"] == pytest.approx(copying, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "there"), [("gpt2", 4), ("gemma3", 4), ("bert", 4), ("t5", 4), ("gptj", 0)]
)
def test_circuits_of_other_families(name: str, there: int, ids: Tensor) -> None:
    """Fused matrices, norms on q and k, encoders; nothing where only the softmax is seen."""
    _, heads, _ = _measured(name, ids)
    assert sum(heads[column].is_not_null().all() for column in OF_WEIGHTS) == there
    assert set(OF_WEIGHTS) <= set(HeadRow.__annotations__)
