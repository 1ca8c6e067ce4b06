"""What is known of heads before a text is read: the scores on repeated tokens, against attention
weights as the plain eager model returns them."""

from typing import Any

import pytest
import torch
import transformers as hf

import headgauge
from headgauge import models
from headgauge.measure.head_facts import head_facts, repeated_window, why_no_scores
from headgauge.theory.roles import REPEATED

_SIZES: dict[str, Any] = {
    "vocab_size": 90, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 160,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip


def _loaded(kind: str = "Llama", **more: Any) -> models.LoadedModel:
    torch.manual_seed(0)
    model = getattr(hf, f"{kind}ForCausalLM")(getattr(hf, f"{kind}Config")(**_SIZES | more))
    for name, weight in model.named_parameters():
        if weight.ndim > 1 and "embed" not in name:
            weight.data.mul_(8)  # far from uniform attention
    return models.wrap(model.eval())


@pytest.mark.parametrize("bos", [None, 1])
def test_scores_are_weights_of_the_second_half(bos: int | None, unchecked: None) -> None:
    loaded = _loaded()
    found = head_facts(loaded, bos, seed=3).scores
    ids = repeated_window(loaded, bos, seed=3)
    assert ids is not None
    front = 0 if bos is None else 1
    first, second = ids[0, front:].chunk(2)
    assert torch.equal(first, second)
    assert len(set(first.tolist())) == REPEATED
    assert not {0, 1, 2} & set(first.tolist())  # special tokens are no ordinary ones
    plain: Any = loaded.model
    plain.set_attn_implementation("eager")
    with torch.no_grad():
        layers = plain(ids, output_attentions=True).attentions
    places = range(front + REPEATED, front + 2 * REPEATED)
    for layer, weights in enumerate(layers):
        for head in range(4):
            row = found[f"model.layers.{layer}.self_attn", 0, head]
            induction = [float(weights[0, head, t, t - REPEATED + 1]) for t in places]
            duplicate = [float(weights[0, head, t, t - REPEATED]) for t in places]
            assert row["induction_score"] == pytest.approx(sum(induction) / REPEATED, rel=1e-5)
            assert row["duplicate_score"] == pytest.approx(sum(duplicate) / REPEATED, rel=1e-5)


def test_a_window_that_slides_past_the_first_half_has_none(unchecked: None) -> None:
    short = head_facts(_loaded("Mistral", sliding_window=20), None, 0).scores
    assert {row["induction_score"] for row in short.values()} == {None}
    # 64 keys reach what followed the token, but not the token itself.
    long = head_facts(_loaded("Mistral", sliding_window=REPEATED), None, 0).scores
    assert None not in {row["induction_score"] for row in long.values()}
    assert {row["duplicate_score"] for row in long.values()} == {None}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"vocab_size": 50}, "50 tokens are too few for 64 different ones"),
        ({"max_position_embeddings": 100}, "a context of 100 tokens does not hold 64 tokens twice"),
    ],
)
def test_what_has_no_scores_says_why(more: dict[str, Any], said: str) -> None:
    loaded = _loaded(**more)
    ids = torch.randint(3, 50, (2, 24), generator=torch.Generator().manual_seed(1))
    result = headgauge.scan(loaded, ids, top_n=[1])
    assert result.heads["induction_score"].is_null().all()
    assert f"induction_score and duplicate_score are null: {said}" in result.notes()
    assert why_no_scores("encoder", 50000, 512) == "an encoder looks both ways"


def test_a_text_without_repeats_says_so() -> None:
    result = headgauge.scan(_loaded(), torch.arange(3, 27)[None], top_n=[1])
    assert result.heads["duplicate_mass"].is_null().all()
    assert any("no token of the windows occurs twice" in note for note in result.notes())
