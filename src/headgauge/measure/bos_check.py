"""Whether BOS matters to a model: its first window read with it and without it.

A model that was trained with BOS in front of every text and reads one without has no sink to rest
on, and all that is measured then belongs to an input it does not know; its loss tells. One plain
pass of at most `TOKENS` tokens, once per run, beside the pass that is measured anyway. Both losses
are means over the same tokens: all of the text's but the first, which only a BOS can predict.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge import models, runs

TOKENS = 256
# Relative. BOS changes the loss of the default model, which wants none, by at most .7 %; without it
# that of Gemma 3 270M, which wants one, rises by 19 to 62 % (two texts, two places, 256 and 1024
# tokens each). The line is between them.
LIMIT = 0.03


def other_reading(
    loaded: models.LoadedModel, bos: models.EdgeToken, ids: tuple[int, ...]
) -> tuple[int, ...] | None:
    """A window of a text without its BOS, or with one if it has none; None: not to be compared."""
    # Three tokens of the text: one that is not predicted by both, one that is.
    if loaded.facts.kind != "decoder" or bos.id is None or len(ids) < 4:
        return None
    if bos.id >= (models.vocabulary(loaded) or math.inf):  # a tokenizer of another model
        return None
    shown = ids[:TOKENS]
    return shown[1:] if bos.put else (bos.id, *shown[:-1])


def both_losses(
    loaded: models.LoadedModel,
    ids: Int[Tensor, "1 length"],
    losses: Float[Tensor, "1 tokens"],
    other: tuple[int, ...],
) -> dict[str, float]:
    """The loss with BOS and without, from that of the measured pass's tokens and from a pass of the
    other reading."""
    others = torch.tensor([other], dtype=torch.long)
    made = models.run(loaded, models.model_inputs(loaded, others))
    theirs = models.token_losses(loaded, made, others)
    assert theirs is not None
    put = ids[0, 1 : len(other) + 1].tolist() == list(other)
    with_bos, without = (losses, theirs) if put else (theirs, losses)
    text = len(other) - (not put)  # tokens of the text, of which the first is not judged
    # With BOS in front each stands one place later.
    return {
        "with_bos": float(models.mean_loss(with_bos[:, 1:text])[0]),
        "without_bos": float(models.mean_loss(without[:, : text - 1])[0]),
    }


def bos_notes(manifest: runs.Manifest) -> list[str]:
    """That the model's loss depends on BOS, where it does."""
    splits = manifest["splits"]
    if splits is None or "bos" not in splits:  # a run from before this was written down
        return []
    put, notes = splits["bos"]["put"], []
    read, other, remedy = ("with", "without", "never") if put else ("without", "with", "always")
    for losses in filter(None, (record.get("bos_losses") for record in manifest["units"].values())):
        here, there = (float(losses[f"{name}_bos"]) for name in (read, other))
        if not abs(there - here) > LIMIT * here:  # nan is no change that was seen
            continue
        notes.append(
            f"read {read} BOS ({splits['bos']['why']}): the first window's loss is {here:.2f} nats "
            f"so and {there:.2f} {other} it ({there / here - 1:+.0%}, over the same tokens of its "
            f"first {TOKENS})" + (f"; --bos {remedy} reads it {other}" if there < here else "")
        )
    return notes
