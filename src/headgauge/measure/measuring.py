"""What an interception hands over, turned into the tables of a unit.

The heads of a layer run side by side, each on one thread: a product that is split over threads
leaves them spinning, and its last digits depend on their number. One Gram matrix is held at a time
unless they are small.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

from headgauge import engine, models
from headgauge.engine.geometry import Precision
from headgauge.measure.gathered import Gathered
from headgauge.measure.head import Head, output_norms
from headgauge.measure.requests import CurveRequest, Task
from headgauge.measure.samples import Sampler, sampled_places
from headgauge.measure.settings import UnitSettings
from headgauge.runs import UnitKey
from headgauge.threads import one_thread

Progress = Callable[[float], object]
Work = Callable[[], Gathered]
Kind = tuple[str, str]  # of vectors: their name, and "unit" or "raw"

_SHARED = 64 << 20  # bytes of Gram matrix up to which several may be held


class Measurer:
    """An observer of one forward pass; `gathered` is what came of it.

    Its seconds are wall time: that of the layers, parted among the phases as their threads spent
    it.
    """

    def __init__(
        self,
        loaded: models.LoadedModel,
        key: UnitKey,
        inputs: Mapping[str, Tensor],
        vectors: models.KeyVectors,
        settings: UnitSettings,
        task: Task,
        progress: Progress | None = None,
    ) -> None:
        self.gathered = Gathered()
        self.tapped: list[str] = []
        self._unit = {"window": key.window, "length": key.length}
        self._ids = {
            "encoder": inputs["input_ids"][0].cpu(),
            "decoder": inputs.get("decoder_input_ids", inputs["input_ids"])[0].cpu(),
        }
        self._vectors = vectors
        self._settings = settings
        self._task = task
        self._requests: dict[Kind, list[CurveRequest]] = {}
        for request in task.curves:
            self._requests.setdefault((request.vectors, request.scale), []).append(request)
        self._tokenizer = loaded.tokenizer
        self._modules = list(models.attention_modules(loaded.model))
        self._progress = progress
        self._shared: dict[Any, engine.Geometry] = {}
        seed = (settings.seed, key.window, key.length)
        # A short document has fewer places than the window's length.
        self._places = sampled_places(len(self._ids["encoder"]), settings.sample_rows, seed)

    def __call__(self, call: models.ObservedCall) -> None:
        chosen = self._settings.layers
        if chosen is None or call.layer in chosen:
            self._layer(call)
        if self._progress is not None:
            self._progress((self._modules.index(call.module) + 1) / len(self._modules))

    def chosen(self, module: str) -> bool:
        """Whether a module is among the layers that were asked for."""
        layers = self._settings.layers
        return layers is None or self._modules.index(module) in layers

    def _layer(self, call: models.ObservedCall) -> None:
        outputs = output_norms(call)
        if outputs is None:
            self.tapped.append(call.module)
        query_side, key_side = self._vectors.sides(call)
        sampler = Sampler(
            self._places,
            self._settings.sample_keys,
            self._ids[query_side],
            self._ids[key_side],
            self._tokenizer,
        )
        place = {"layer": call.layer, "occurrence": call.occurrence, "module": call.module}
        wanted = self._settings.heads
        heads = [
            Head(call, head, self._unit | place | {"head": head}, outputs, sampler)
            for head in range(call.heads)
            if wanted is None or head in wanted
        ]
        sound = [head for head in heads if call.finite[head.head]]
        for work in self._measuring(call, sound):
            self._run(work, call)
        if self._task.probes:
            self._run([self._probing(call, head) for head in sound], call)
        if self._task.judged:
            broken = [head.known(call.queries) for head in heads if head not in sound]
            self.gathered.parts["heads"] += broken
        self._shared = {name: kept for name, kept in self._shared.items() if name[1] != "layer"}

    def _measuring(self, call: models.ObservedCall, heads: Sequence[Head]) -> Iterator[list[Work]]:
        """The work of a layer in the pieces whose Gram matrices may be held together."""
        each = 4 if self._settings.precision == "float32" else 8
        small = call.keys**2 * each <= _SHARED
        together: list[Work] = []
        judged = self._task.judged  # with the first vectors, where there are any
        for kind, requests in self._requests.items():
            vectors = self._vectors.of(call, kind[0])
            groups: dict[int, list[Head]] = {}
            for head in heads:
                several = vectors is not None and vectors.shape[1] > 1
                groups.setdefault(call.kv_head(head.head) if several else 0, []).append(head)
            for group, members in groups.items():
                geometry = None
                if vectors is not None and _finite(vectors[0, group]):
                    geometry = self._geometry(call, kind, group, vectors[0, group], small)
                work = [
                    partial(head.measure, self._settings, requests, geometry, judged)
                    for head in members
                    if geometry is not None or judged
                ]
                if small:
                    together += work
                else:
                    yield work
            judged = False
        if small:
            yield together

    def _probing(self, call: models.ObservedCall, head: Head) -> Work:
        """All probes of a head as one piece of work."""

        def vectors(kind: str) -> Tensor | None:
            found = self._vectors.of(call, kind)
            if found is None:
                return None
            own = found[0, call.kv_head(head.head) if found.shape[1] > 1 else 0]
            return own if _finite(own) else None

        def probe_all() -> Gathered:
            found = Gathered()
            for probe in self._task.probes:
                with found.timed(probe.part):
                    found.parts[probe.table] += probe.measure(head, vectors)
            return found

        return probe_all

    def _geometry(
        self, call: models.ObservedCall, kind: Kind, group: int, vectors: Tensor, small: bool
    ) -> engine.Geometry:
        """The vectors of a group of heads, made once for all that share them."""
        lasting = kind[0] in ("embedding", "final")
        name = (kind, self._vectors.sides(call)[1]) if lasting else (kind, "layer", group)
        if name not in self._shared:
            with self.gathered.timed("vectors"):
                if not small:
                    self._shared.clear()
                precision = cast(Precision, self._settings.precision)
                made = engine.Geometry.of(vectors, kind[1] == "raw", precision)
                made.prepare()
                self._shared[name] = made
        return self._shared[name]

    def _run(self, pieces: Sequence[Work], call: models.ObservedCall) -> None:
        workers = self._settings.threads if _on_cpu(call) else 1
        began = time.perf_counter()
        with one_thread():
            if workers == 1:
                done = [_without_graph(piece) for piece in pieces]
            else:
                with ThreadPoolExecutor(
                    workers, initializer=torch.set_num_threads, initargs=(1,)
                ) as pool:
                    done = list(pool.map(_without_graph, pieces))
        wall = time.perf_counter() - began
        spent = sum(sum(each.seconds.values()) for each in done)
        for each in done:
            for table, parts in each.parts.items():
                self.gathered.parts[table] += parts
            for phase, seconds in each.seconds.items():
                self.gathered.seconds[phase] += wall * seconds / spent


def _without_graph(piece: Work) -> Gathered:
    with torch.no_grad():  # a thread starts without it
        return piece()


def _finite(vectors: Tensor) -> bool:
    """Whether they can be measured: the last hidden states of a broken model cannot."""
    return bool(vectors.isfinite().all())


def _on_cpu(call: models.ObservedCall) -> bool:
    seen = call.query if isinstance(call, models.AttentionCall) else call.block(0, 0, 0, 1).weights
    return seen.device.type == "cpu"
