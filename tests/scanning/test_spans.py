"""Weight on parts of the text, against the weights that the plain eager model returns."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers as hf
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import models as token_models
from torch import Tensor

import headgauge
from headgauge import models
from headgauge.errors import InputError
from headgauge.options.commands import ScanOptions
from headgauge.scanning.scanning import run_scan, scan_plan, scan_settings
from headgauge.scanning.spans import named_spans
from model_families import Case, case

SMALL: dict[str, Any] = {"top_n": [1], "threads": 1}
LETTERS = ["<s>", "<unk>", *"abcdefghijklmnop"]


# One way of doing attention each: grouped keys, a sliding window, sinks, no mask, tapped softmax.
@pytest.mark.parametrize("family", ["llama", "mistral", "gpt-oss", "bert", "gptj", "t5"])
def test_masses_are_sums_of_the_models_own_weights(
    build: Callable[..., Case], ids: Tensor, family: str
) -> None:
    built = build(family)
    loaded = models.wrap(built.model)
    inputs = models.model_inputs(loaded, ids[:1])
    expected = Case(built.family, "eager", built.model, inputs).weights()
    asked = {"first": [0, 3], "two": [[5, 6], [10, 14]], "last": {"tokens": [23, 24]}}
    keys = {"first": [0, 1, 2], "two": [5, 10, 11, 12, 13], "last": [23]}
    settings = scan_settings(ScanOptions(spans=asked, **SMALL, heads=[0, 3]))
    spans = run_scan(scan_plan(loaded, ids[:1], replace(settings, block_rows=7)), None).spans
    assert spans is not None
    found = 0
    for layer, name in ((layer, name) for layer in range(len(expected)) for name in keys):
        for head in (0, 3):
            weights = expected[layer][0, head].double().numpy()
            # T5's decoder reads the text behind its start token, which pushes the last one out.
            later = family == "t5" and layer in (2, 4)
            places = [each + later for each in keys[name] if each + later < len(ids[0])]
            own = spans.filter(layer=layer, head=head, span=name)
            if not places:
                assert own.is_empty()
                continue
            mass = weights[:, places].sum(1)
            rows = (weights[:, places] > 0).any(1)
            uniform = (weights[:, places] > 0).sum(1)[rows] / (weights > 0).sum(1)[rows]
            assert own.select("kind", "tokens", "rows").rows() == [
                ("span", len(places), rows.sum())
            ]
            assert own["mass"].item() == pytest.approx(mass[rows].mean(), abs=1e-6)
            assert own["uniform"].item() == pytest.approx(uniform.mean(), abs=1e-9)
            found += 1
    assert found == len(spans)


@pytest.fixture(scope="module")
def loaded() -> models.LoadedModel:
    inner = Tokenizer(token_models.WordLevel({w: i for i, w in enumerate(LETTERS)}, "<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]
    words = hf.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", unk_token="<unk>", chat_template="{{ messages }}"
    )
    return models.wrap(case("llama", "sdpa").model, words, "tiny")


def counts(spans: Any) -> dict[tuple[int, str], int]:
    """Tokens by window and name."""
    assert spans is not None
    return {(w, name): n for w, name, n in spans.select("window", "span", "tokens").unique().rows()}


@pytest.mark.parametrize("bos", ["always", "never"])
def test_characters_become_tokens_of_their_windows(loaded: models.LoadedModel, bos: str) -> None:
    """The tenth letter is at 18: "g h i" are tokens 6 to 8, with a space on either side."""
    text = " ".join("abcdefghijklmnop")
    shared: dict[str, Any] = {"text": text, "length": 6, "offset": 2, "bos": bos, **SMALL}
    given = {"some": {"characters": [11, 18]}, "early": [0, 3], "late": {"characters": [24, 31]}}
    result = headgauge.scan(loaded, windows=2, spans=given, **shared)
    spans = result.spans
    assert spans is not None
    own = counts(spans.filter(kind="span"))
    if bos == "never":  # c d e f g h, i j k l m n
        assert own == {(0, "some"): 2, (1, "some"): 1, (1, "late"): 2}
        assert spans.filter(kind="class").is_empty()
    else:  # c d e f g, h i j k l
        assert own == {(0, "some"): 1, (1, "some"): 2}
        special = spans.filter(kind="class").sort("window", "layer", "head")
        first = result.heads.sort("window", "layer", "head")["sink_weight"]
        np.testing.assert_allclose(special["mass"], first, atol=1e-7)
        assert "span 'late' has no token in any window" in result.notes()
    assert "span 'early' has no token in any window" in result.notes()
    again = headgauge.scan(loaded, windows=2, spans={"some": {"tokens": [6, 9]}}, **shared).spans
    assert again is not None
    assert again.filter(span="some").equals(spans.filter(span="some"))


def test_of_documents_they_count_in_each(loaded: models.LoadedModel) -> None:
    texts = ["a b c d e f", "a b c", "a b"]
    for bos in ("always", "never"):
        found = headgauge.scan(loaded, spans={"x": [4, 8]}, text=texts, bos=bos, **SMALL).spans
        assert found is not None
        assert counts(found.filter(kind="span")) == {(0, "x"): 2, (1, "x"): 1}
    with pytest.raises(InputError, match="the longest of 3 documents in text-string has 11 char"):
        headgauge.scan(loaded, spans={"x": [4, 12]}, text=texts, **SMALL)


def test_classes_of_tokens_are_found_by_their_ids(ids: Tensor) -> None:
    model = case("llama", "sdpa").model
    model.config.image_token_id = int(ids[0, 4])
    spans = headgauge.scan(model, ids, spans="classes", length=[8, 24], **SMALL).spans
    assert spans is not None
    assert set(spans.select("kind", "span").unique().rows()) == {("class", "image placeholders")}
    for length in (8, 24):
        there = [int((row[:length] == ids[0, 4]).sum()) for row in ids]
        own = counts(spans.filter(length=length))
        assert own == {(w, "image placeholders"): n for w, n in enumerate(there) if n}
    model.config.image_token_id = 49
    notes = headgauge.scan(model, ids[:, :8] % 9, spans="classes", **SMALL).notes()
    assert "token classes: the windows have no special tokens and no placeholders" in notes


def test_a_file_a_mapping_and_what_is_none(tmp_path: Path) -> None:
    asked = {"a": [0, 4], "b": {"tokens": [[1, 2], [3, 5]]}, "c": [[0, 1]]}
    (tmp_path / "spans.json").write_text(json.dumps(asked))
    found = named_spans(asked)
    assert found == named_spans(tmp_path / "spans.json")
    pieces = (("", 0, 4),), (("tokens", 1, 2), ("tokens", 3, 5)), (("", 0, 1),)
    assert found == tuple(zip("abc", pieces, strict=True))
    assert (named_spans(None), named_spans("classes")) == (None, ())


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"a": [3, 2]}, "span 'a' from 3 to 2: it must start at 0 or later and end behind that"),
        ({"a": [2, 2]}, "span 'a' from 2 to 2"),
        ({"a": [-1, 2]}, "span 'a' from -1 to 2"),
        ({"a": [0, 25]}, "span 'a' from 0 to 25 is outside the text: tokens has 24 tokens"),
        ({"a": {"characters": [0, 2]}}, "span 'a' counts characters, and what is read are token"),
        ({"a": {"words": [0, 2]}}, "span 'a' needs one of characters, tokens, and has 'words'"),
        ({"a": {"tokens": {"tokens": [0, 2]}}}, "span 'a' needs one of characters, tokens"),
        ({"a": [0, 2, 4]}, r"must be \[start, end\] in whole numbers, got \[0, 2, 4\]"),
        ({"a": [0, 2.5]}, r"got \[0, 2.5\]"),
        ({"a": []}, r"got \[\]"),
        ({"a": "0-2"}, "got '0-2'"),
        ({"": [0, 2]}, "a span needs a name, got ''"),
        ({}, "spans must name spans"),
        ("none.json", "cannot read spans from none.json: No such file"),
        ("broken.json", "broken.json is no JSON"),
        ("list.json", r"list.json must name spans: \{\"name\": \[start, end\], …\}"),
    ],
)
def test_what_is_no_span_is_one_line(
    llama: Any, ids: Tensor, given: Any, line: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.json").write_text("{")
    Path("list.json").write_text("[1]")
    with pytest.raises(InputError, match=line) as error:
        headgauge.scan(llama, ids[0], spans=given, out="run", **SMALL)
    assert "\n" not in str(error.value)
    assert not Path("run").exists()


def test_a_tokenizer_without_places_takes_tokens(loaded: models.LoadedModel) -> None:
    """ByT5's, one token a byte; the model knows those up to "."."""
    slow = replace(loaded, tokenizer=hf.ByT5Tokenizer())
    asked: dict[str, Any] = {"text": "(#*$)" * 5, "bos": "never", **SMALL}
    with pytest.raises(InputError, match="does not say which characters a token has: give"):
        headgauge.scan(slow, spans={"a": [0, 2]}, **asked)
    spans = headgauge.scan(slow, spans={"a": {"tokens": [0, 2]}}, **asked).spans
    assert spans is not None
    assert spans["mass"].is_between(0, 1).all()
    assert counts(spans) == {(0, "a"): 2}
