"""From a model and a text to units."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.plan import model_identity, source_of
from headgauge.scanning import ScanSettings, scan_plan


def _plan(model: Any, tokens: Any, **choices: Any) -> Any:
    settings = ScanSettings(**({"lengths": (24,), "windows": 3, "top_ns": (1, 2)} | choices))
    return scan_plan(source_of(model, None, None, None), tokens, settings)


def test_rows_of_tokens_are_the_windows(llama: Any, ids: Tensor) -> None:
    plan = _plan(llama, ids)
    assert [unit.key.window for unit in plan.units] == [0, 1, 2]
    assert [unit.ids for unit in plan.units] == [tuple(row) for row in ids.tolist()]
    assert plan.text.tokens == 72
    assert _plan(llama, ids, windows=2).units == plan.units[:2]


def test_a_sequence_is_cut(llama: Any, ids: Tensor) -> None:
    flat = ids.reshape(-1)
    plan = _plan(llama, flat.tolist(), lengths=(20,), windows=3, offset=5)
    assert [unit.start for unit in plan.units] == [5, 25, 45]
    assert plan.units[1].ids == tuple(flat[25:45].tolist())
    with pytest.raises(InputError, match="has 72 tokens, but 85 are needed"):
        _plan(llama, flat, lengths=(20,), windows=4, offset=5)


def test_shorter_lengths_read_the_beginning(llama: Any, ids: Tensor) -> None:
    plan = _plan(llama, ids, lengths=(6, 24), windows=2)
    keys = [(unit.key.window, unit.key.length) for unit in plan.units]
    assert keys == [(0, 6), (1, 6), (0, 24), (1, 24)]
    assert plan.units[1].ids == tuple(ids[1, :6].tolist())


@pytest.mark.parametrize(
    ("tokens", "choice", "line"),
    [
        (torch.zeros(2, 3, 4).long(), {}, "got torch.int64 of shape (2, 3, 4)"),
        (torch.zeros(24), {}, "got torch.float32 of shape (24,)"),
        (torch.zeros(3, 24).long(), {"layers": (2,)}, "has layers 0 to 1, not 2"),
        (torch.zeros(3, 24).long(), {"heads": (1, 4)}, "has heads 0 to 3, not 4"),
        (torch.zeros(400).long(), {"lengths": (100,)}, "at most 64"),
        ("war-and-peace.doc", {}, "no text 'war-and-peace.doc'"),
    ],
)
def test_refused(llama: Any, tokens: Any, choice: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as error:
        _plan(llama, tokens, **choice)
    assert line in str(error.value)


def test_text_needs_a_tokenizer(llama: Any, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("a few words")
    with pytest.raises(InputError, match="came without a tokenizer"):
        _plan(llama, file)


def test_identity_is_by_weights(llama: Any, ids: Tensor) -> None:
    before = model_identity(models.wrap(llama))
    assert before == model_identity(models.wrap(llama))
    assert "/" not in model_identity(models.wrap(llama, name="/home/me/llama"))["name"]
    with torch.no_grad():
        llama.lm_head.weight[0, 0] += 1
    after = model_identity(models.wrap(llama))
    assert after.pop("fingerprint") != before.pop("fingerprint")
    assert after == before
    identity = _plan(llama, ids).identity
    other = _plan(llama, ids + 1 - 1, seed=1).identity
    assert identity["text"] == other["text"]
    assert identity["seed"] != other["seed"]
    assert identity["text"] != _plan(llama, (ids + 1) % 50).identity["text"]


def test_a_model_in_memory_has_its_dtype(llama: Any) -> None:
    with pytest.raises(InputError, match="has its dtype and device"):
        source_of(llama, None, "float16", None)
