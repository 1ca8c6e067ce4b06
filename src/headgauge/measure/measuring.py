"""What an interception hands over, turned into the tables of a unit.

The heads of a layer run side by side, each on one thread: a product that is split over threads
leaves them spinning, and its last digits depend on their number. One Gram matrix is held at a time
unless they are small.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from headgauge import engine, kernels, models
from headgauge.measure.head import Gathered, Head, output_norms, output_ratios
from headgauge.measure.head_facts import HeadFacts
from headgauge.measure.requests import CurveRequest, RowRequest, Task, spread_rows
from headgauge.measure.roles import Surroundings, device_of
from headgauge.measure.row_sample import RowSample
from headgauge.measure.sampled_heads import SampledHeads
from headgauge.measure.samples import Sampler, sampled_places
from headgauge.measure.settings import UnitSettings
from headgauge.runs import UnitKey
from headgauge.threads import one_thread

Progress = Callable[[float], object]
Work = Callable[[], Gathered]
Kind = tuple[str, str]  # of vectors: their name, and "unit" or "raw"

_SHARED = 64 << 20  # bytes of Gram matrix up to which several may be held


@dataclass(eq=False)
class Measurer:
    """An observer of one forward pass; `gathered` is what came of it.

    Its seconds are wall time: that of the layers, parted among the phases as their threads spent
    it.
    """

    loaded: models.LoadedModel
    key: UnitKey
    inputs: Mapping[str, Tensor]
    vectors: models.KeyVectors
    streams: models.StreamLengths
    settings: UnitSettings
    task: Task
    progress: Progress | None = None
    gathered: Gathered = field(default_factory=Gathered)
    tapped: list[str] = field(default_factory=list)
    _shared: dict[Any, "_Vectors"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ids, key = self.inputs["input_ids"], self.key
        decoder = self.inputs.get("decoder_input_ids", ids)
        self._ids = {"encoder": ids[0].cpu(), "decoder": decoder[0].cpu()}
        self._modules = list(models.attention_modules(self.loaded.model))
        self._requests: dict[Kind, list[CurveRequest]] = {}
        for request in self.task.curves:
            self._requests.setdefault((request.vectors, request.scale), []).append(request)
        self._seed = (self.settings.seed, key.window, key.length)
        self._samples: dict[int, RowSample] = {}
        # A short document has fewer places than the window's length.
        length, sample = ids.shape[1], self._sample(ids.shape[1])
        among = None if sample is None else sample.places
        self._places = sampled_places(length, self.settings.sample_rows, self._seed, among)

    def _sample(self, queries: int) -> RowSample | None:
        """Which of so many query rows are measured; None: all."""
        rows = self.settings.rows
        if rows is None:
            return None
        if queries not in self._samples:
            self._samples[queries] = RowSample.drawn(queries, rows, self._seed)
        return self._samples[queries]

    def __call__(self, call: models.ObservedCall) -> None:
        chosen = self.settings.layers
        if chosen is None or call.layer in chosen:
            self._layer(call)
        if self.progress is not None:
            self.progress((self._modules.index(call.module) + 1) / len(self._modules))

    def chosen(self, module: str) -> bool:
        """Whether a module is among the layers that were asked for."""
        layers = self.settings.layers
        return layers is None or self._modules.index(module) in layers

    def _layer(self, call: models.ObservedCall) -> None:
        sample = self._sample(call.queries)
        outputs = output_norms(call, sample)
        if outputs is None:
            self.tapped.append(call.module)
        queries, keys = (self._ids[side] for side in self.vectors.sides(call))
        count, tokenizer = self.settings.sample_keys, self.loaded.tokenizer
        sampler = Sampler(self._places, count, queries, keys, tokenizer)
        place = {"layer": call.layer, "occurrence": call.occurrence, "module": call.module}
        wanted, only = self.settings.heads, self.task.only
        around = self._around(call, queries)
        facts = self.task.facts or HeadFacts()
        heads = [
            Head(
                call,
                head,
                vars(self.key) | place | {"head": head},
                outputs,
                sampler,
                around,
                facts.columns(call.module, call.occurrence, head),
            )
            for head in range(call.heads)
            if (wanted is None or head in wanted) and (only is None or (call.layer, head) in only)
        ]
        sound = [head for head in heads if call.finite[head.head]]
        before = len(self.gathered.parts["rule_heads"])
        for work in self._measuring(call, sound):
            self._run(work, call)
        output_ratios(self.gathered.parts["rule_heads"][before:], outputs)
        if self.task.probes:
            self._run([partial(self._probe, call, head) for head in sound], call)
        for request in self.task.row_requests if self.task.judged else ():
            broken = [head.known(call.queries) for head in heads if head not in sound]
            self.gathered.parts[request.table] += [row | request.choice for row in broken]
        self._shared = {name: kept for name, kept in self._shared.items() if name[1] != "layer"}

    def _around(self, call: models.ObservedCall, tokens: Tensor) -> Surroundings | None:
        """What a call's heads stand among, where it is asked what they do."""
        facts = self.task.facts
        if facts is None or not self.task.judged:
            return None
        adds = facts.adds.get(call.module)
        return Surroundings(
            call,
            None if call.cross else tokens,
            facts.projection(self.loaded, call.module),
            self.streams.of(call),
            None if adds is None else adds.factor,
        )

    def _small(self, call: models.ObservedCall) -> bool:
        """Whether Gram matrices are small enough to hold several."""
        each = 4 if self.settings.precision == "float32" else 8
        return call.keys**2 * each <= _SHARED

    def _measuring(self, call: models.ObservedCall, heads: Sequence[Head]) -> Iterator[list[Work]]:
        """The work of a layer in the pieces whose Gram matrices may be held together."""
        sample = self._sample(call.queries)
        if sample is not None:
            yield from self._sampled(call, heads, sample) if heads else ()
            return
        if heads and not _on_cpu(call) and self._plain:
            yield from self._together(call, heads)
            return
        small = self._small(call)
        before: list[Work] = []
        together: list[Work] = []
        # With the first vectors, where there are any.
        judged = self.task.row_requests if self.task.judged else ()
        if judged and not self._requests:
            yield [partial(_measured, head, self.settings, (), None, judged) for head in heads]
        for kind, requests in self._requests.items():
            for group, members in groupby(heads, partial(self._group, call, kind[0])):
                vectors = self._finite(call, kind[0], group)
                geometry = None
                if vectors is not None:
                    geometry = self._geometry(call, kind, group, vectors, small)
                work = [
                    partial(_measured, head, self.settings, requests, geometry, judged)
                    for head in members
                    if geometry is not None or judged
                ]
                if small:
                    before += [] if geometry is None else [geometry.ready]
                    together += work
                    continue
                if geometry is not None:  # a large one, on all threads
                    with self.gathered.timed("vectors"):
                        geometry.geometry()
                yield work
            judged = ()
        if small:
            yield [*before, *together]

    def _sampled(
        self, call: models.ObservedCall, heads: Sequence[Head], sample: RowSample
    ) -> Iterator[list[Work]]:
        """That of a layer of which some rows are measured: all heads at once, on all threads."""
        together, small = SampledHeads(call, heads, sample), self._small(call)
        ready: list[Work] = []
        if self.task.judged:
            ready.append(partial(together.judge, self.settings.keep_rows))
        for kind, requests in self._requests.items():
            curves: list[Work] = []
            for group, members in groupby(heads, partial(self._group, call, kind[0])):
                vectors = self._finite(call, kind[0], group)
                if vectors is None:
                    continue
                geometry = self._geometry(call, kind, group, vectors, small)
                ready.append(geometry.ready)
                curves.append(partial(together.curves, list(members), requests, geometry.geometry))
                if not small:
                    yield ready
                    yield curves
                    ready, curves = [], []
            yield ready
            yield curves
            ready = []
        if ready:  # without curves
            yield ready

    @property
    def _plain(self) -> bool:
        """Whether nothing is asked for but the model's own weights."""
        own = all(each.normalizer is None for each in self.task.curves)
        return own and self.task.row_requests in ((), (RowRequest(),))

    def _together(self, call: models.ObservedCall, heads: Sequence[Head]) -> Iterator[list[Work]]:
        """That of a layer on another device than the CPU: all rows of heads that share vectors at
        once, because each call of the engine costs as much as thousands of them."""
        if self.task.judged:
            together = SampledHeads(call, heads, every_row(call.queries, None))
            yield [partial(together.judge, self.settings.keep_rows)]
        for kind, requests in self._requests.items():
            for group, members in groupby(heads, partial(self._group, call, kind[0])):
                vectors = self._finite(call, kind[0], group)
                if vectors is None:
                    continue
                geometry = self._geometry(call, kind, group, vectors, self._small(call))
                yield [geometry.ready]
                own = list(members)
                for rows, several in groupby(requests, lambda request: request.rows):
                    together = SampledHeads(call, own, every_row(call.queries, rows))
                    yield [partial(together.curves, own, list(several), geometry.geometry)]

    def _group(self, call: models.ObservedCall, kind: str, head: Head) -> int:
        """Which of the call's sets of vectors is the head's: values have one per KV head."""
        vectors = self.vectors.of(call, kind)
        return call.kv_head(head.head) if vectors is not None and vectors.shape[1] > 1 else 0

    def _finite(self, call: models.ObservedCall, kind: str, group: int) -> Tensor | None:
        """A set of vectors; None where it is unseen or cannot be measured, as the last hidden
        states of a broken model."""
        vectors = self.vectors.of(call, kind)
        own = None if vectors is None else vectors[0, group]
        return own if own is not None and bool(own.isfinite().all()) else None

    def _probe(self, call: models.ObservedCall, head: Head) -> Gathered:
        """All probes of a head as one piece of work."""

        def vectors(kind: str) -> Tensor | None:
            return self._finite(call, kind, self._group(call, kind, head))

        found = Gathered()
        for probe in self.task.probes:
            with found.timed(probe.part):
                found.parts[probe.table] += probe.measure(head, vectors)
        return found

    def _geometry(
        self, call: models.ObservedCall, kind: Kind, group: int, vectors: Tensor, small: bool
    ) -> "_Vectors":
        """The vectors of a group of heads, made once for all that share them."""
        lasting = kind[0] in ("embedding", "final")
        name = (kind, self.vectors.sides(call)[1]) if lasting else (kind, "layer", group)
        if name not in self._shared:
            if not small:
                self._shared.clear()
            precision = cast(engine.Precision, self.settings.precision)
            self._shared[name] = _Vectors(vectors, kind[1] == "raw", precision)
        return self._shared[name]

    def _run(self, pieces: Sequence[Work], call: models.ObservedCall) -> None:
        workers = self.settings.threads if _on_cpu(call) else 1
        began = time.perf_counter()
        with one_thread():
            if workers == 1 or len(pieces) < 2:
                done = [_without_graph(piece, workers) for piece in pieces]
            else:
                # Where the heads do not come out even, the last ones would run alone.
                odd = sum(not _readies(piece) for piece in pieces) % workers
                helpers = [1] * (len(pieces) - odd) + [workers] * odd
                with ThreadPoolExecutor(workers, "", torch.set_num_threads, (1,)) as pool:
                    done = list(pool.map(_without_graph, pieces, helpers))
        wall = time.perf_counter() - began
        spent = sum(sum(each.seconds.values()) for each in done)
        for each in done:
            for table, parts in each.parts.items():
                self.gathered.parts[table] += parts
            for phase, seconds in each.seconds.items():
                self.gathered.seconds[phase] += wall * seconds / spent


def every_row(queries: int, count: int | None) -> RowSample:
    """No sample: each row stands for itself; or those that are asked for, spread evenly."""
    places = spread_rows(0, queries, queries, count)
    return RowSample(places, np.ones(len(places)), ())


class _Vectors:
    """Vectors that whoever needs them first makes ready, while the others wait."""

    def __init__(self, vectors: Tensor, raw: bool, precision: engine.Precision) -> None:
        self._given = vectors, raw, precision
        self._turn = threading.Lock()

    @cached_property
    def _made(self) -> engine.Geometry:
        made = engine.Geometry.of(*self._given)
        made.prepare()
        return made

    def geometry(self) -> engine.Geometry:
        with self._turn:
            return self._made

    def ready(self) -> Gathered:
        """As a piece of work."""
        found = Gathered()
        with found.timed("vectors"):
            self.geometry()
        return found


def _measured(
    head: Head,
    settings: UnitSettings,
    requests: Sequence[CurveRequest],
    vectors: _Vectors | None,
    judged: Sequence[RowRequest],
) -> Gathered:
    geometry = None if vectors is None else vectors.geometry()
    return head.measure(settings, requests, geometry, judged)


def _readies(piece: Work) -> bool:
    """Whether a piece of work is little: it makes vectors ready."""
    return isinstance(getattr(piece, "__self__", None), _Vectors)


def _without_graph(piece: Work, helpers: int = 1) -> Gathered:
    with torch.no_grad(), kernels.helped(helpers):  # a thread starts without it
        return piece()


def _on_cpu(call: models.ObservedCall) -> bool:
    return device_of(call).type == "cpu"
