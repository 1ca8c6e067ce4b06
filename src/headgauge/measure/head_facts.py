"""What is known of a model's heads once for a run: one window of repeated random tokens, and the
weights alone.

The window has 64 different ordinary tokens twice in a row, with BOS in front if the run's windows
have it. Its scores are those of `theory.roles.repeat_scores`. A head that looks ahead or at another
sequence has none, and neither has one whose window slides past the first half.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from headgauge import models
from headgauge.engine.qk_spectra import finite, qk_spectra
from headgauge.models.circuits import InputWeights, input_weights, single_tokens
from headgauge.models.projections import OutputProjection, Projections, output_projections
from headgauge.products import FasterLinear
from headgauge.theory import roles
from headgauge.threads import one_thread

Columns = dict[str, float | None]
_TRACED = 12  # tokens by which it is told where a layer has its norms


@dataclass(frozen=True)
class Adds:
    """How the output of an attention's heads reaches the stream: through the projection of this
    name, times `factor`; None where a norm stands between, so that the sum is not the heads'."""

    projection: str
    layer: int
    heads: int
    value_dim: int
    factor: float | None


@dataclass(frozen=True)
class HeadFacts:
    """Small, so that it can be handed to other processes."""

    scores: dict[tuple[str, int, int], Columns] = field(default_factory=dict)  # by occurrence
    circuits: dict[tuple[str, int], Columns] = field(default_factory=dict)
    adds: dict[str, Adds] = field(default_factory=dict)

    def columns(self, module: str, occurrence: int, head: int) -> Columns:
        """Of one head, whatever is known."""
        scores = self.scores.get((module, occurrence, head), {})
        return scores | self.circuits.get((module, head), {})

    def projection(self, loaded: models.LoadedModel, module: str) -> OutputProjection | None:
        """The module that reads what the heads put out."""
        if (known := self.adds.get(module)) is None:
            return None
        there = loaded.model.get_submodule(known.projection)
        at = known.layer, known.projection, there, known.heads, known.value_dim
        return OutputProjection(module, *at)


def head_facts(loaded: models.LoadedModel, bos: int | None, seed: int) -> HeadFacts:
    """`bos` is the token in front of every window, None where there is none."""
    projections = output_projections(loaded)
    return HeadFacts(
        _scores(loaded, bos, seed), _circuits(loaded, projections), _adds(loaded, projections)
    )


def why_no_scores(kind: str, vocabulary: int | None, context: int | None) -> str | None:
    """Why a model has no induction and duplicate scores; None where it may."""
    if kind == "encoder":
        return "an encoder looks both ways"
    if vocabulary is not None and vocabulary < roles.REPEATED:
        return f"{vocabulary} tokens are too few for {roles.REPEATED} different ones"
    if context is not None and context < 2 * roles.REPEATED + 1:
        return f"a context of {context} tokens does not hold {roles.REPEATED} tokens twice"
    return None


def repeated_window(loaded: models.LoadedModel, bos: int | None, seed: int) -> Tensor | None:
    """The tokens of the window, (1, tokens); None where the model cannot have it."""
    ordinary, facts = models.ordinary_tokens(loaded), loaded.facts
    if why_no_scores(facts.kind, len(ordinary), facts.context_length) is not None:
        return None
    source = torch.Generator().manual_seed(seed)
    drawn = ordinary[torch.randperm(len(ordinary), generator=source)[: roles.REPEATED]]
    front = [] if bos is None else [drawn.new_tensor([bos])]
    return torch.cat([*front, drawn, drawn])[None]


def _scores(
    loaded: models.LoadedModel, bos: int | None, seed: int
) -> dict[tuple[str, int, int], Columns]:
    found: dict[tuple[str, int, int], Columns] = {}
    if (ids := repeated_window(loaded, bos, seed)) is None:
        return found
    inputs = models.model_inputs(loaded, ids)
    with models.KeyVectors(loaded.model, inputs, ()) as vectors:
        sides = {"encoder": inputs["input_ids"], "decoder": inputs.get("decoder_input_ids")}

        def look(call: models.ObservedCall) -> None:
            if call.cross:
                return
            side = vectors.sides(call)[0]
            tokens = inputs["input_ids"] if sides[side] is None else sides[side]
            assert tokens is not None
            heads, places = range(call.heads), torch.arange(call.queries)
            drawn = call.drawn(heads, places)
            weights, visible = drawn.weights.cpu(), drawn.visible.cpu()
            ahead = visible.triu(1).flatten(1).any(1).tolist()
            rows = weights.flatten(0, 1), visible.flatten(0, 1), places.repeat(call.heads)
            both = roles.repeat_scores(*rows, tokens[0].cpu())
            scores = zip(*(each.view(call.heads, -1) for each in both), strict=True)
            for head, each in zip(heads, scores, strict=True):
                if call.finite[head] and not ahead[head]:
                    induction, duplicate = map(_mean, each)
                    named = {"induction_score": induction, "duplicate_score": duplicate}
                    found[call.module, call.occurrence, head] = named

        with models.intercept(loaded.model, look, look), FasterLinear():
            body: Any = getattr(loaded.model, "base_model", loaded.model)
            body(**inputs, **models.without_cache(body))
    return found


def _mean(rows: Tensor) -> float | None:
    """Over the rows that have a number; exact, as all sums of a run."""
    there = rows[~rows.isnan()].tolist()
    return math.fsum(there) / len(there) if there else None


def _circuits(
    loaded: models.LoadedModel, projections: Projections
) -> dict[tuple[str, int], Columns]:
    inputs = models.model_inputs(loaded, single_tokens(models.vocabulary(loaded) or 1))
    weights = input_weights(loaded.model, inputs)

    def of(module: str) -> list[Columns]:
        with torch.no_grad():  # a thread starts without it
            return _circuits_of(weights[module], projections.get(module))

    # Each module on one thread: the digits must not depend on how many there are.
    workers = torch.get_num_threads()
    with one_thread(), ThreadPoolExecutor(workers, "", torch.set_num_threads, (1,)) as pool:
        found = zip(weights, pool.map(of, weights), strict=True)
        return {(module, h): row for module, rows in found for h, row in enumerate(rows)}


def _circuits_of(weights: InputWeights, output: OutputProjection | None) -> list[Columns]:
    """Of each query head; a key or value head serves several."""
    heads = len(weights.query) if weights.query is not None else output.heads if output else 0
    query, key, value = weights.query, weights.key, weights.value
    found: list[Columns] = [{} for _ in range(heads)]
    if query is not None and key is not None:
        found = qk_spectra(query, key)
    for head, columns in enumerate(found):
        projection = None if output is None else output.weight(head)
        if value is None or projection is None:
            continue
        if not (value.isfinite().all() and projection.isfinite().all()):
            continue
        if projection.shape[1] == value.shape[1]:
            own = value[head * len(value) // heads].cpu().double()  # as the projection is
            columns["ov_copying"] = finite(roles.ov_copying(own, projection))
    return found


def _adds(loaded: models.LoadedModel, projections: Projections) -> dict[str, Adds]:
    size = min(_TRACED, loaded.facts.context_length or _TRACED)
    tokens = torch.arange(size)[None] % (models.vocabulary(loaded) or 1)
    traced = models.layer_norms(loaded.model, models.model_inputs(loaded, tokens))
    factors = {
        each.attention: each.factor
        for each in traced
        if each.scheme in ("pre_ln", "post_ln") and each.added is not None
    }
    return {
        name: Adds(each.name, each.layer, each.heads, each.value_dim, factors.get(name))
        for name, each in projections.items()
    }
