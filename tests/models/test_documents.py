"""Prompts and documents: each is read alone, and a line that cannot be read is named."""

import json
from pathlib import Path
from typing import Any

import pytest
import transformers as hf
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import models as token_models

from headgauge import models
from headgauge.errors import InputError
from headgauge.models.documents import document_rows, from_jsonl, from_strings
from headgauge.models.text import at_hand
from model_families import case

WORDS = ["<s>", "user", "assistant", "hello", "there", "<unk>"]
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %} {{ m['role'] }} {{ m['content'] }}{% endfor %}"
    "{% if add_generation_prompt %} assistant{% endif %}"
)


@pytest.fixture(scope="module")
def loaded() -> models.LoadedModel:
    inner = Tokenizer(token_models.WordLevel({w: i for i, w in enumerate(WORDS)}, "<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]
    words = hf.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", unk_token="<unk>", chat_template=TEMPLATE
    )
    return models.wrap(case("llama", "sdpa").model, words, "tiny")


def _ids(loaded: models.LoadedModel, given: models.Documents, bos: int | None = None) -> Any:
    return [row.ids.tolist() for row in document_rows(loaded, given, bos)]


def _lines(*records: Any, chat: bool = False) -> models.Documents:
    return from_jsonl("\n".join(map(json.dumps, records)) + "\n", "mine.jsonl", "", chat)


def test_a_line_is_a_document(loaded: models.LoadedModel) -> None:
    # The separator is no line end in JSON, though Python's splitlines thinks so.
    text = '{"text": "hello\u2028there"}\r\n{"prompt": "there there hello", "id": 7}\n'
    found = from_jsonl(text, "mine.jsonl", "")
    assert found.notes == ("mine.jsonl: fields that were not read: id",)
    assert _ids(loaded, found) == [[3, 4], [4, 4, 3]]
    assert _ids(loaded, found, bos=0) == [[0, 3, 4], [0, 4, 4, 3]]
    ids = _lines({"input_ids": [4, 3]}, {"input_ids": [3, 4, 5]})
    assert _ids(loaded, ids, bos=0) == [[4, 3], [3, 4, 5]]  # as they stand
    assert found.sha256 != from_jsonl(text.strip(), "mine.jsonl", "").sha256


def test_a_chat_is_as_the_template_writes_it(loaded: models.LoadedModel) -> None:
    turns = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "there"}]
    found = _lines({"messages": turns}, {"messages": turns[:1]}, {"prompt": "there"}, chat=True)
    # One BOS, the template's; the assistant's turn is opened unless it has spoken.
    assert _ids(loaded, found, bos=0) == [[0, 1, 3, 2, 4], [0, 1, 3, 2], [0, 1, 4, 2]]
    assert _ids(loaded, from_strings(["hello"], "x", chat=True)) == [[0, 1, 3, 2]]


def test_a_template_that_cannot(loaded: models.LoadedModel) -> None:
    plain = models.LoadedModel(loaded.model, None, "tiny", "folder", loaded.facts)
    with pytest.raises(InputError, match="tiny has no chat template: leave --chat"):
        document_rows(plain, from_strings(["hello"], "x", chat=True), None)
    words: Any = loaded.tokenizer
    strict = hf.PreTrainedTokenizerFast(
        tokenizer_object=words.backend_tokenizer,
        chat_template="{{ raise_exception('roles must\nalternate') }}",
    )
    given = from_strings(["hello"], "x", chat=True)
    with pytest.raises(InputError, match=r"x, document 1 does not fit .*roles must alternate") as e:
        document_rows(models.wrap(loaded.model, strict), given, None)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    ("line", "chat", "said"),
    [
        ("", False, "line 2 is empty"),
        ("{", False, "line 2 is no JSON"),
        ("[" * 100_000, False, "line 2 is no JSON"),
        ("1" * 5000, False, "line 2 is no JSON"),
        ('"hello"', False, "line 2 is no JSON object"),
        ('{"body": "hello", "id": 1}', False, "line 2 needs one of text, prompt, messages, input"),
        ('{"text": "hello", "prompt": "there"}', False, "and has text and prompt"),
        ('{"text": ["hello"]}', False, "line 2: text must be a string, got list"),
        ('{"text": " "}', False, "line 2 is an empty text"),
        ('{"text": "\\ud800"}', False, "line 2 has half a character"),
        ('{"messages": [{"role": "user", "content": "x"}]}', False, "line 2 has messages: give -"),
        ('{"messages": []}', True, "line 2: messages must be a list of"),
        ('{"messages": [{"content": "x"}]}', True, "line 2: messages must be a list of"),
        ('{"input_ids": [1, 2]}', True, "line 2 has token ids, which no chat template"),
        ('{"input_ids": [1, 2.5]}', False, "line 2: input_ids must be a list of whole numbers"),
        ('{"input_ids": [1, -2]}', False, "line 2: input_ids must be a list of whole numbers"),
        ('{"input_ids": [1, true]}', False, "line 2: input_ids must be a list of whole numbers"),
        ('{"input_ids": [1, 18446744073709551616]}', False, "input_ids must be a list of whole"),
        ('{"input_ids": [1, 2]}', False, "line 2 has token ids and mine.jsonl, line 1 has text"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line: str, chat: bool, said: str) -> None:
    with pytest.raises(InputError) as error:
        from_jsonl(f'{{"text": "hello"}}\n{line}\n{{"text": "there"}}', "mine.jsonl", "", chat)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_too_short_for_a_window(loaded: models.LoadedModel) -> None:
    with pytest.raises(InputError, match="line 2 has 1 token: a window needs at least"):
        document_rows(loaded, _lines({"text": "hello there"}, {"text": "hello"}), None)
    assert len(document_rows(loaded, _lines({"text": "hello"}), 0)) == 1  # with BOS it has two


def test_files_are_read_before_a_model(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"text": "hello"}\n')
    found = at_hand(file)
    assert isinstance(found, models.Documents)
    assert (found.name, len(found.documents)) == ("mine.jsonl", 1)
    assert at_hand("war-and-peace") == "war-and-peace"  # may have to be downloaded
    for name in (tmp_path / "none.txt", "a text itself, " * 100):
        with pytest.raises(InputError, match="or the text itself with --text-string") as error:
            at_hand(name)
        assert len(str(error.value)) < 400
