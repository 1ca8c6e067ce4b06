"""What is read: padding and neighbours enter no number, chats and documents say what they are."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import models as token_models
from torch import Tensor

import headgauge
from headgauge.errors import InputError
from headgauge.measure.plan import describe_plan, source_of
from headgauge.measure.reading import look_at
from headgauge.models import SourceText
from headgauge.options.commands import ScanOptions
from headgauge.scanning import scan_plan, scan_settings

SMALL: dict[str, Any] = {"threads": 1}
SIZES = (24, 5, 13)


def _padded(ids: Tensor, side: str) -> dict[str, Tensor]:
    """Rows of different lengths as a tokenizer would pad them."""
    batch = {"input_ids": torch.zeros_like(ids), "attention_mask": torch.zeros_like(ids)}
    for row, size in enumerate(SIZES):
        place = slice(0, size) if side == "right" else slice(ids.shape[1] - size, None)
        batch["input_ids"][row, place] = ids[row, :size]
        batch["attention_mask"][row, place] = 1
    return batch


@pytest.mark.parametrize(
    ("name", "side"), [("llama", "left"), ("llama", "right"), ("bert", "right")]
)
def test_a_short_row_is_what_the_padded_and_masked_batch_computes(
    build: Any, ids: Tensor, name: str, side: str
) -> None:
    model, batch = build(name).model, _padded(ids, side)
    result = headgauge.scan(model, batch, **SMALL)
    with torch.no_grad():
        layers = model(**batch, output_attentions=True).attentions
    measured = result.heads.sort("window", "layer", "head")
    expected = []
    for row, mask in enumerate(batch["attention_mask"].bool()):
        for weights in layers:
            shown = weights[row][:, mask][..., mask].double()
            assert torch.allclose(shown.sum(-1), torch.ones(1).double(), atol=1e-5)
            expected += (-torch.xlogy(shown, shown).sum(-1).mean(-1)).tolist()
    assert measured["entropy"].to_list() == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert measured["rows"].unique().sort().to_list() == sorted(SIZES)


def test_a_row_does_not_know_of_the_others(llama: Any, ids: Tensor) -> None:
    rows = [row[:size].tolist() for row, size in zip(ids, SIZES, strict=True)]
    together = headgauge.scan(llama, rows, depth=True, keep_rows=True, **SMALL)
    assert together.heads["length"].unique().to_list() == [24]
    assert together.depth is not None
    for window, row in [*enumerate(rows)][1:]:
        alone = headgauge.scan(llama, [row], top_n=[1, 2, 4], depth=True, **SMALL)
        for name in ("heads", "curves", "depth"):
            mine = getattr(together, name).filter(window=window).drop("window", "length")
            if name == "curves":
                # An N that no row of a short window can answer is null, not wrong.
                beyond = mine.filter(mine["top_n"] >= len(row))
                assert beyond["distance"].null_count() == len(beyond)
                mine = mine.filter(mine["top_n"] <= 4)
            assert mine.equals(getattr(alone, name).drop("window", "length"))
        places = together.samples.filter(window=window)
        assert max(places["row"].to_list()) < len(row)
        assert max(places["key"].to_list()) < len(row)
    assert "tokens: 3 windows with 5 to 24 tokens of their own; 2 shorter read as long" in str(
        together.notes()
    )
    assert [unit["tokens"] for unit in together.manifest["units"].values()] == list(SIZES)
    assert len(together.frame()) == 8
    assert "5 to 24 query rows" in together.stands()[0]


def test_rows_are_cut_and_never_joined(llama: Any, ids: Tensor) -> None:
    result = headgauge.scan(llama, [ids[0].tolist(), ids[1, :6].tolist()], length=8, **SMALL)
    tokens = [unit["tokens"] for unit in result.manifest["units"].values()]
    assert tokens == [8, 6]
    assert "1 longer than L = 8 cut to it; 1 shorter read" in str(result.notes())
    first = headgauge.scan(llama, ids[:1, :8], **SMALL)
    assert first.heads.drop("window").equals(result.heads.filter(window=0).drop("window"))


@pytest.mark.parametrize(
    ("choice", "line"),
    [
        ({"windows": 50}, "tokens has 2 rows, but 50 windows were asked for"),
        ({"offset": 3}, "an offset of 3 tokens is for running text"),
        ({"length": [4, 24]}, "the shortest of 2 rows has 6: use one length, or at most 6"),
        ({"length": 100}, "longer than the context"),
    ],
)
def test_what_rows_cannot_give_is_refused(
    llama: Any, ids: Tensor, choice: dict[str, Any], line: str
) -> None:
    with pytest.raises(InputError, match=line):
        headgauge.scan(llama, [ids[0].tolist(), ids[1, :6].tolist()], **choice, **SMALL)


@pytest.fixture
def words() -> Any:
    inner = Tokenizer(token_models.WordLevel({f"w{i}": i for i in range(40)}, "w0"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]
    template = "{{ bos_token }}{% for m in messages %} {{ m['content'] }}{% endfor %} w9"
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="w1", unk_token="w0", chat_template=template
    )


def test_texts_documents_and_chats(llama: Any, words: Any) -> None:
    def plan(*given: Any, bos: str = "auto", **more: Any) -> Any:
        source = source_of(llama, words, None, None)
        return scan_plan(source, look_at(*given, **more), scan_settings(ScanOptions(bos=bos)))

    def ids(plan: Any) -> list[list[int]]:
        return [list(unit.ids) for unit in plan.units]

    text = " ".join(f"w{i % 40}" for i in range(150))
    running = plan(text=text)
    assert (running.settings.lengths, running.settings.windows) == ((64,), 2)
    described = describe_plan(running)
    assert described["data"] is not None
    assert described["data"]["name"] == "text-string"
    assert described["data"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert "w3 w4" not in str(described)
    documents = plan(["w3 w4 w5 w6", "w7 w8 w9"])
    assert ids(documents) == [[3, 4, 5, 6], [7, 8, 9]]
    assert documents.identity["text"]["documents"] == 2
    assert documents.edges.eos.why == "a document is read as it stands"
    chat = plan(["w3 w4", "w7 w8 w2"], chat=True)
    assert ids(chat) == [[1, 3, 4, 9], [1, 7, 8, 2, 9]]
    assert (chat.edges.bos.put, chat.edges.bos.why) == (True, "as the chat template writes it")
    assert chat.identity["text"].keys() == {"name", "sha256", "documents", "chat"}
    assert ids(plan(text="w3 w4", chat=True)) == [[1, 3, 4, 9]]
    assert ids(plan(["w3 w4 w5 w6"], bos="always")) == [[1, 3, 4, 5, 6]]


def test_without_a_tokenizer_ids_can_be_given(llama: Any, tmp_path: Path) -> None:
    source = source_of(llama, None, None, None)
    with pytest.raises(InputError, match=r"came without a tokenizer: put its tokenizer\.json"):
        scan_plan(source, ["hello there"], scan_settings(ScanOptions()))
    file = tmp_path / "ids.JSONL"
    file.write_text('{"input_ids": [3, 4, 5]}\n{"input_ids": [6, 7]}\n')
    plan = scan_plan(source, file, scan_settings(ScanOptions()))
    assert [unit.ids for unit in plan.units] == [(3, 4, 5), (6, 7)]
    assert plan.edges.bos.why == "token ids were given"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"tokens": "war-and-peace", "text": "hello"}, "a text by name and a text itself"),
        ({"tokens": "war-and-peace", "chat": True}, "a chat template is put on prompts"),
        ({"chat": True}, "a chat template is put on prompts"),
        ({"tokens": [[1, 2]], "chat": True}, "a chat template is put on prompts"),
        ({"text": " "}, "text-string is an empty text"),
        ({"text": "half \udcff"}, "text-string has half a character"),
        ({"text": ""}, "text must be a string or a list of them, got ''"),
        ({"text": 3}, "text must be a string or a list of them, got 3"),
        ({"text": ["hello", ""]}, "text-string, document 2 is an empty text"),
        ({"tokens": ["hello", 3]}, "document 2 must be a string, got int"),
    ],
)
def test_mistakes_are_told_without_a_model(given: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        look_at(**given)


def test_a_text_that_is_not_there_is_told_before_a_model_is_loaded(tmp_path: Any) -> None:
    with pytest.raises(InputError, match="no text"):
        headgauge.scan("no/such/model/here", tmp_path / "none.txt")
    assert isinstance(look_at(text="hello"), SourceText)
