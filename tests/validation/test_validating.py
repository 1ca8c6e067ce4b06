"""A validation before it runs, and the induction check against the loss worked out by hand."""

from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
import transformers as hf
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.unit import Unit
from headgauge.options.commands import ValidateOptions
from headgauge.runs import UnitKey
from headgauge.validation import make_validation, validation_settings
from headgauge.validation.induction import TOKENS, induction_rows, repeated_tokens, why_not
from headgauge.validation.validating import ValidationPlan
from model_families import case

LAYERS, HEADS, WORDS = 3, 4, 60


@pytest.fixture(scope="module")
def loaded() -> models.LoadedModel:
    torch.manual_seed(0)
    config = hf.GPT2Config(
        vocab_size=WORDS, n_embd=32, n_layer=LAYERS, n_head=HEADS, n_positions=256,
        bos_token_id=0, eos_token_id=0, initializer_range=0.4,
    )  # fmt: skip
    return models.wrap(hf.GPT2LMHeadModel(config).eval(), None)


def ids(count: int, seed: int = 0) -> Tensor:
    return torch.randint(3, 50, (count,), generator=torch.Generator().manual_seed(seed))


def plan(model: Any, *texts: Any, **asked: Any) -> ValidationPlan:
    settings = validation_settings(ValidateOptions(threads=1, **asked))
    source = model if isinstance(model, models.LoadedModel) else models.wrap(model, None)
    return make_validation(source, texts, settings)


def test_lines_are_chosen_and_judged_on_windows_of_their_own(loaded: models.LoadedModel) -> None:
    first, second = ids(401), ids(300, 1)
    made = plan(loaded, first, second, windows=2, length=40)
    starts = {name: [unit.start for unit in part.units] for name, part in made.parts.items()}
    assert starts == {"choosing": [0, 40], "judging": [200, 240], "second text": [0, 40]}
    assert made.parts["judging"].units[1].ids == tuple(first[240:280].tolist())
    assert made.parts["second text"].units[0].ids == tuple(second[:40].tolist())
    assert {part.settings.effects for part in made.parts.values()} == {"mean"}  # pyright: ignore
    alone = plan(loaded, first, windows=1, length=40, how="zero")
    assert list(alone.parts) == ["choosing", "judging"]
    assert "one text" in alone.notes[0]
    assert alone.identity["how"] == alone.identity["effects"] == "zero"


def test_sizes_that_nobody_asked_for_fit_half_of_the_text(loaded: models.LoadedModel) -> None:
    made = plan(loaded, ids(201), ids(300, 1))
    ends = [unit.start + len(unit.ids) for unit in made.parts["choosing"].units]
    assert max(ends) <= 100
    assert min(unit.start for unit in made.parts["judging"].units) == 100


def test_bad_input(loaded: models.LoadedModel) -> None:
    text, size = ids(200), {"windows": 1, "length": 20}
    one_head = models.wrap(
        hf.GPT2LMHeadModel(hf.GPT2Config(n_embd=16, n_layer=2, n_head=1, vocab_size=60)), None
    )
    refused = [
        ("one head in a layer", one_head, (text,), size),
        ("got 3 texts", loaded, (text, ids(200, 1), ids(200, 2)), size),
        ("given twice", loaded, (text, text), size),
        ("documents of their own", loaded, (torch.stack([ids(30), ids(30, 1)]).unbind(),), size),
        ("is an encoder", case("bert", "eager").model, (text,), size),
        ("can be ablated", case("falcon", "eager").model, (text,), size),
        ("no how named 'median'", loaded, (text,), size | {"how": "median"}),
        ("tokens, but", loaded, (text,), {"windows": 9, "length": 40}),
    ]
    for words, model, texts, asked in refused:
        with pytest.raises(InputError, match=words):
            plan(model, *texts, **asked)


def test_one_layer_decides_nothing() -> None:
    config = hf.GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=60)
    made = plan(models.wrap(hf.GPT2LMHeadModel(config), None), ids(200), windows=1, length=20)
    assert "one layer: there is no interval over layers, and nothing is decided" in made.notes


def test_the_induction_check(loaded: models.LoadedModel) -> None:
    """Of 12 heads one is the best: its rise by hand, and random heads of its layer beside it."""
    model: Any = loaded.model
    places = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    scores = [0.9 if place == (1, 2) else 0.1 for place in places]
    heads = pl.DataFrame(places, schema=["layer", "head"], orient="row")
    heads = heads.with_columns(induction_score=pl.Series(scores))
    window = ids(50, 3)
    natural = [Unit(UnitKey(0, 50), 0, tuple(window.tolist()))]
    with torch.no_grad():
        rows = induction_rows(loaded, heads, natural, 7, None, 5)
        repeated = repeated_tokens(loaded, 7, np.random.default_rng((5, TOKENS)))

        def losses() -> list[float]:
            logits = model(repeated).logits[:, TOKENS:-1]  # what foretells the second half
            second = F.cross_entropy(logits.flatten(0, 1), repeated[:, TOKENS + 1 :].flatten())
            prose = F.cross_entropy(model(window[None]).logits[0, :-1], window[1:])
            return [float(second), float(prose)]

        whole = losses()
        with models.ablated(loaded, [(1, 2)]):
            without = losses()
    rise = np.subtract(without, whole)
    assert abs(rise).min() > 1e-3
    assert [rows[0]["repeated"], rows[0]["natural"]] == pytest.approx(rise, abs=1e-5)
    assert rows[0]["heads"] == "L1H2"
    assert [row["draw"] for row in rows] == list(range(21))
    assert {row["heads"] for row in rows[1:]} == {"L1H0", "L1H1", "L1H3"}


def test_what_is_repeated(loaded: models.LoadedModel) -> None:
    found = repeated_tokens(loaded, 7, np.random.default_rng(0))
    assert found.shape == (4, 1 + 2 * TOKENS)
    assert (found[:, 0] == 7).all()
    assert torch.equal(found[:, 1 : TOKENS + 1], found[:, TOKENS + 1 :])
    assert not torch.equal(found[0], found[1])
    assert repeated_tokens(loaded, None, np.random.default_rng(0)).shape == (4, 2 * TOKENS)


def test_without_a_score_the_check_is_left_out(loaded: models.LoadedModel) -> None:
    unscored = pl.DataFrame({"induction_score": [None, None]}, {"induction_score": pl.Float64})
    assert "no head has an induction score" in (why_not(loaded, unscored) or "")
    encoder = models.wrap(case("bert", "eager").model, None)
    assert "for decoders" in (why_not(encoder, unscored.fill_null(0.5)) or "")
    assert why_not(loaded, unscored.fill_null(0.5)) is None
