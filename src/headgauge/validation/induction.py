"""Do the heads with the highest induction score carry the repeating of what was read?

They are taken out together: on fresh repeated random tokens, of which nothing but the repetition
can be foretold, the loss on the second half must rise by much more than without as many other heads
of the same layers, and on natural text not by more.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import torch
from jaxtyping import Int
from torch import Tensor

from headgauge import models
from headgauge.measure.unit import Unit
from headgauge.models.ablation import Means
from headgauge.registry.names import head_name

TOKENS = 64  # random ones, read twice
SEQUENCES = 4
SHARE = 0.05  # of the heads
RANDOM = 20  # draws of as many others

Heads = list[tuple[int, int]]  # layer and head of each
Ids = Int[Tensor, "sequences tokens"]
Window = Int[Tensor, "1 length"]


def induction_rows(
    loaded: models.LoadedModel,
    heads: pl.DataFrame,
    natural: Sequence[Unit],
    first: int | None,
    means: Means | None,
    seed: int,
    progress: Callable[[float], object] | None = None,
) -> list[dict[str, Any]]:
    """The rise of the loss without the heads of highest `induction_score` and without random ones
    of the same layers. `heads` has the score of each; `first` is the BOS in front of a window,
    `means` what is put in a head's place, zeros where it is None."""
    repeated = repeated_tokens(loaded, first, np.random.default_rng((seed, TOKENS)))
    windows = [torch.tensor([unit.ids]) for unit in natural]
    best = _highest(heads)
    sets = [best, *_others(heads, best, np.random.default_rng(seed))]
    rows = []
    whole = _losses(loaded, repeated, windows)
    for draw, out in enumerate(sets):
        with models.ablated(loaded, out, means):
            without = _losses(loaded, repeated, windows)
        names = ", ".join(head_name(layer, 0, head) for layer, head in out)
        repeats, prose = (there - here for there, here in zip(without, whole, strict=True))
        rows.append({"draw": draw, "heads": names, "repeated": repeats, "natural": prose})
        if progress is not None:
            progress((draw + 1) / len(sets))
    return rows


def why_not(loaded: models.LoadedModel, heads: pl.DataFrame) -> str | None:
    """What the check lacks, if anything."""
    if loaded.facts.kind != "decoder":
        return "the induction check is for decoders: it asks for the next token"
    if heads["induction_score"].drop_nulls().is_empty():
        return "no induction check: no head has an induction score here"
    return None


def repeated_tokens(
    loaded: models.LoadedModel, first: int | None, source: np.random.Generator
) -> Ids:
    """Sequences of random ordinary tokens, each twice in a row, behind `first`."""
    special = set(getattr(loaded.tokenizer, "all_special_ids", ()))
    ordinary = [each for each in range(models.vocabulary(loaded) or 0) if each not in special]
    drawn = torch.from_numpy(source.choice(ordinary, (SEQUENCES, TOKENS)))
    begin = drawn.new_full((SEQUENCES, 1 if first is not None else 0), first or 0)
    return torch.cat([begin, drawn, drawn], dim=1)


def _losses(loaded: models.LoadedModel, repeated: Ids, windows: Sequence[Window]) -> list[float]:
    """On the second half of what is repeated, and on natural windows."""
    found = []
    for tokens in (repeated, *windows):
        inputs = models.model_inputs(loaded, tokens)
        kept = slice(-TOKENS - 1 if tokens is repeated else None, None)
        seen = models.run(loaded, inputs).of(kept)
        loss = models.next_token_loss(loaded, seen, tokens[:, kept])
        assert loss is not None
        found.append(float(loss.mean()))
    return [found[0], float(np.mean(found[1:]))]


def _highest(heads: pl.DataFrame) -> Heads:
    ranked = heads.drop_nulls("induction_score").sort("induction_score", descending=True)
    return ranked.select("layer", "head").rows()[: max(1, round(SHARE * len(heads)))]


def _others(heads: pl.DataFrame, best: Heads, source: np.random.Generator) -> Iterator[Heads]:
    """As many heads of each layer, but others, as far as a layer has others."""
    layers = {layer: [head for each, head in best if each == layer] for layer, _ in best}
    for _ in range(RANDOM):
        drawn = []
        for layer, named in layers.items():
            mine = source.permutation(heads.filter(layer=layer)["head"].to_numpy()).tolist()
            drawn += [(layer, head) for head in sorted(mine, key=named.__contains__)[: len(named)]]
        yield sorted(drawn)
