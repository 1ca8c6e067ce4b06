"""From a model and a text to units. Defaults give way and say so; what was asked for does not."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import headgauge
from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.plan import model_identity, source_of
from headgauge.models import SourceText, loading
from headgauge.options.commands import ScanOptions
from headgauge.scanning import ScanSettings, scan_plan, scan_settings


def _plan(model: Any, tokens: Any, **choices: Any) -> Any:
    settings = ScanSettings(**({"lengths": (24,), "windows": 3, "top_ns": (1, 2)} | choices))
    return scan_plan(source_of(model, None, None, None), tokens, settings)


def test_float64_is_not_asked_of_a_device_without_it(
    llama: Any, ids: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgauge.measure.plan.most_exact", lambda device: torch.float32)
    with pytest.raises(InputError, match="no float64 on cpu: measure in float32, or on the CPU"):
        _plan(llama, ids, precision="float64")
    assert _plan(llama, ids).settings.precision == "float32"


def test_auto_is_no_device_without_double_where_float64_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, bool]] = []

    def chosen(device: str, double: bool = False) -> str:
        asked.append((device, double))
        raise InputError("that far")

    monkeypatch.setattr(loading, "chosen", chosen)
    options: Any
    for options in ({"precision": "float64"}, {"dtype": "float64"}, {}):
        with pytest.raises(InputError, match="that far"):
            headgauge.scan("default", **options)
    assert asked == [("auto", True), ("auto", True), ("auto", False)]


def test_what_is_needed_begins_to_be_compiled_where_the_cpu_measures(
    llama: Any, ids: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def start(what: str) -> None:
        begun.append(what)
        raise InputError("that far")

    monkeypatch.setattr("headgauge.first_use.start", start)
    monkeypatch.setattr(loading, "load", lambda *_, **__: pytest.fail("loaded before that"))
    for what in (headgauge.scan, headgauge.compare, headgauge.reproduce, headgauge.ablate):
        with pytest.raises(InputError, match="that far"):
            what("default", device="cpu")
    with pytest.raises(InputError, match="that far"):
        headgauge.scan(llama, ids, precision="float64")
    with pytest.raises(InputError, match="that far"):
        headgauge.simulate(device="cpu")
    assert begun == ["scan", "compare", "reproduce", "scan", "scan-float64", "simulate"]
    for elsewhere in ("cuda:1", "abacus"):
        assert source_of("default", None, None, elsewhere).device == elsewhere  # pyright: ignore


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


def _asked(model: Any, tokens: Any, **asked: Any) -> Any:
    """As a user asks: what is not said is free."""
    target = asked.pop("target", None)
    settings = scan_settings(ScanOptions(**asked), target)
    return scan_plan(source_of(model, None, None, None), tokens, settings)


def _sizes(plan: Any) -> tuple[tuple[int, ...], int, int]:
    return plan.settings.lengths, plan.settings.windows, max(plan.settings.top_ns)


@pytest.fixture
def letters(llama: Any) -> Any:
    """With a tokenizer that makes a token of each character."""

    class Letters:
        bos_token_id = eos_token_id = None

        def __call__(self, text: str, **options: Any) -> dict[str, list[int]]:
            return {"input_ids": [3 + ord(letter) % 40 for letter in text]}

    return models.wrap(llama, Letters(), "tiny")  # a context of 64 tokens


def _text(tokens: int) -> SourceText:
    return SourceText("story.txt", "abcdefghij" * (tokens // 10), "", "asked for")


def test_nothing_asked_for_is_the_run_it_always_was() -> None:
    chosen = scan_settings(ScanOptions(threads=1))
    assert chosen.as_dict() == ScanSettings().as_dict()
    assert "free" not in chosen.as_dict()
    assert scan_settings(ScanOptions(), target=4096).lengths == (128, 256, 512, 1024)


@pytest.mark.parametrize(
    ("tokens", "asked", "sizes", "notes"),
    [
        (400, {}, ((64,), 4, 32), ["L: 64 instead of 1024, the model's context"]),
        (130, {}, ((64,), 2, 32), ["windows: 2 instead of 4, story.txt has 130 tokens"]),
        (40, {}, ((40,), 1, 32), ["L: 40 instead of 1024, story.txt has 40 tokens"]),
        (400, {"length": 16}, ((16,), 4, 8), ["N: up to 8 instead of 64, a window has 16 tokens"]),
        (400, {"windows": 20}, ((20,), 20, 16), ["L: 20 instead of 1024, story.txt has 400"]),
        (400, {"target": 4096}, ((8, 16, 32, 64), 4, 32), ["L: 64 instead of 1024"]),
        (400, {"target": 40}, ((2, 5, 10, 20), 4, 16), []),
        (400, {"lengths": [48]}, ((48, 64), 4, 32), ["L: 64 instead of 1024"]),
        (400, {"length": 16, "windows": 2, "top_n": [3]}, ((16,), 2, 3), []),
        (70, {"offset": 20}, ((50,), 1, 32), ["L: 50 instead of 1024"]),
    ],
)
def test_defaults_fit(
    letters: Any, tokens: int, asked: dict[str, Any], sizes: Any, notes: list[str]
) -> None:
    plan = _asked(letters, _text(tokens), **asked)
    assert _sizes(plan) == sizes
    for note in notes:
        assert note in str(plan.notes)
    if not notes:
        assert not [note for note in plan.notes if not note.startswith("N:")]
    # As if it had been asked for: the same run.
    again = {"length": plan.settings.lengths, "windows": plan.settings.windows}
    same = _asked(letters, _text(tokens), offset=plan.settings.offset, **again)
    if "top_n" not in asked:
        assert same.identity == plan.identity


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"length": 128}, "128 tokens is longer than the context of tiny: at most 64"),
        ({"lengths": [100]}, "100 tokens is longer than the context"),
        ({"length": 32, "windows": 50}, "story.txt has 400 tokens, but 1600 are needed"),
        ({"top_n": [64]}, "top-N must stay below, got 64"),
        ({"windows": 300}, "story.txt has 400 tokens: too few for 300 windows of at least 2"),
        ({"offset": 400}, "too few for a window of at least 2"),
    ],
)
def test_what_was_asked_for_is_refused(letters: Any, asked: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        _asked(letters, _text(400), **asked)


def test_ids_bring_their_sizes(llama: Any) -> None:
    ids = torch.arange(32).reshape(2, 16) + 3
    assert _sizes(_asked(llama, ids)) == ((16,), 2, 8)
    assert _sizes(_asked(llama, ids.flatten())) == ((32,), 1, 16)
    assert _sizes(_asked(llama, ids, length=4)) == ((4,), 2, 2)
    assert _sizes(_asked(llama, ids.flatten(), length=8)) == ((8,), 1, 4)
    long = _asked(llama, torch.arange(200) % 40)
    assert _sizes(long) == ((64,), 1, 32)
    assert "L: 64 instead of 200, the model's context" in long.notes


def test_the_result_says_so(llama: Any, ids: Tensor) -> None:
    result = headgauge.scan(llama, ids[:2, :16], threads=1)
    assert "N: up to 8 instead of 64, a window has 16 tokens" in result.notes()


@pytest.mark.parametrize(
    ("choice", "line"),
    [
        ({"top_n": [1.5]}, "top-N must be a whole number, got 1.5"),
        ({"top_n": "1,2"}, "top-N must be a whole number, got '1'"),
        ({"top_n": []}, "top-N needs at least one number"),
        ({"layers": [0.5]}, "layers must be a whole number, got 0.5"),
        ({"layers": [99]}, "has layers 0 to 1, not 99"),
        ({"layers": []}, "layers needs at least one number"),
        ({"heads": [-1]}, "has heads 0 to 3, not -1"),
        ({"length": 12.0}, "length must be a whole number, got 12.0"),
        ({"windows": "two"}, "windows must be a whole number, got 'two'"),
        ({"windows": 50}, "tokens has 3 rows, but 50 windows were asked for"),
        ({"offset": 0.5}, "offset must be a whole number, got 0.5"),
        ({"vectors": "nope"}, "no vectors named 'nope'"),
    ],
)
def test_choices_that_make_no_sense(
    llama: Any, ids: Tensor, choice: dict[str, Any], line: str
) -> None:
    scan = inspect.unwrap(headgauge.scan)  # as users have it: without the types that tests check
    with pytest.raises(InputError) as error:
        scan(llama, ids, threads=1, **choice)
    assert line in str(error.value)


def test_numbers_of_other_libraries(llama: Any, ids: Tensor) -> None:
    plan = _asked(llama, ids, length=np.int64(24), top_n=np.array([2, 1]), layers=range(1))
    assert (plan.settings.lengths, plan.settings.top_ns, plan.settings.layers) == (
        (24,),
        (1, 2),
        (0,),
    )
