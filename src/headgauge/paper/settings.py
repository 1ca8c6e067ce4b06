"""What a reproduction measures where: the paper's own part in full, the rest on drawn rows.

First, on the text that is there for choosing:

    window 0, longest L      every choice, a grid of N, drawn rows: which is the closest?

then, on every text:

    window 0, every L        the chosen one, N = 1 … 100, every row              Algorithms 1 to 4
    window 0, every L        the same, a coarse grid of N beyond 100, drawn rows
    window 0, longest L      Algorithm 5; Figure 1; what heads cover together; how vectors lie
    window 0, longest L      every other choice, a grid of N, drawn rows
    window 0, every L        other rules on the same logits, drawn rows; at the longest Figure 4
    windows 1 …, every L     the chosen one, drawn rows: the bands
    every window, longest L  the guidelines' rules, drawn rows
    every window and L       vanishing weights
    every window, longest L  what `headgauge scan` measures: the verdicts on the heads

All that belongs to a window and length happens in one pass over the model. With `all_choices` the
other choices and their rules are measured like the chosen one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from headgauge.errors import InputError
from headgauge.measure.requests import OWN, CurveRequest, Experiment, Probe, Task
from headgauge.measure.runner import default_threads
from headgauge.measure.settings import TOP_NS, UnitSettings
from headgauge.options.commands import ReproduceOptions
from headgauge.paper import assumptions, discussion, fig1_geometry, fig4_sensitivity
from headgauge.paper.choices import CHOICES, GUIDELINE_RULES, RULES, Choice, rule, rule_labels
from headgauge.registry.published import DISTANCE_N, LARGEST_N, LENGTHS
from headgauge.runs import UnitKey
from headgauge.runs.schema import PAPER
from headgauge.scanning.scanning import off_sink_curves

QUICK_LENGTH = 512
# Where not every N is measured; those of Figures 2b and 3 are among them.
GRID = (*range(1, 21), *range(22, 41, 2), *range(44, LARGEST_N + 1, 4))
_SHARES = (0.125, 0.16, 0.2, 0.25, 0.32, 0.4, 0.5, 0.64, 0.8, 0.9375)  # of L, beyond LARGEST_N


def temperatures(points: int) -> tuple[float, ...]:
    """From 1e-2 to 1e2, evenly on the logarithm; the paper says "below .1" and "from 1 on"."""
    return tuple(float(f"{value:.6g}") for value in np.logspace(-2, 2, points))


@dataclass(frozen=True, kw_only=True)
class ReproduceSettings(UnitSettings):
    """How many query rows, evenly spread, stand for all where not every row is measured.

    `choice` is None until one was chosen; `choosing` asks for the pass that it is chosen by, and
    `others` for the other choices beside it. `paper_rows` is None for every row in the paper's own
    part; 0 leaves a part out. `every_n` asks for every N up to 100 there instead of a grid,
    `rules_over_length` for the other rules at every L. `model_layers` is filled in when the model
    is known, `quick` by `quick`.
    """

    lengths: tuple[int, ...] = LENGTHS
    windows: int = 5
    block_rows: int = 1024
    choice: Choice | None = None
    choosing: bool = False
    others: bool = True
    quick: bool = False
    all_choices: bool = False
    rules: tuple[str, ...] = tuple(RULES)
    paper_rows: int | None = None
    far_rows: int = 64  # beyond N = 100
    drawn_rows: int = 128  # under other rules, in other windows
    choice_rows: int = 128  # for the other choices
    choice_far_rows: int = 16
    sensitivity_rows: int = 256  # of Figure 4
    sensitivity_rule_rows: int = 16  # of the same under other rules
    vanishing_rows: int = 32  # of the last quarter
    coverage_rows: int = 8
    every_n: bool = True
    rules_over_length: bool = True
    temperatures: tuple[float, ...] = temperatures(25)  # of Figure 4
    draws: int = 100  # of heads, for Figure 2c
    model_layers: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rules", rule_labels(self.rules))
        if self.length <= 2 * DISTANCE_N:
            raise InputError(
                f"a window of {self.length} tokens is too short for the paper's figures: "
                f"use more than {2 * DISTANCE_N}"
            )

    def lengths_up_to(self, longest: int) -> tuple[int, ...]:
        return halves(longest)

    @property
    def chosen(self) -> Choice:
        """The choice that is measured in full."""
        if self.choice is None:
            raise InputError("no choice of vectors and keys has been made yet")
        return self.choice


def halves(longest: int) -> tuple[int, ...]:
    """A length and its halves down to 32, the longest last."""
    found = [longest]
    while found[0] // 2 >= LENGTHS[0]:
        found.insert(0, found[0] // 2)
    return tuple(found)


def quick(settings: ReproduceSettings) -> ReproduceSettings:
    """The same figures from fewer rows and N, in about a minute on two cores: a look, no result."""
    return replace(
        settings,
        quick=True,
        paper_rows=32,
        far_rows=16,
        drawn_rows=16,
        choice_rows=8,
        choice_far_rows=0,
        sensitivity_rows=8,
        sensitivity_rule_rows=4,
        vanishing_rows=8,
        coverage_rows=2,
        every_n=False,
        rules_over_length=False,
        temperatures=temperatures(13),
        draws=20,
    )


def reproduce_settings(asked: ReproduceOptions) -> ReproduceSettings:
    """From what a caller asked for; sizes that are None are free (`measure.settings`)."""
    parts = {"vectors": asked.vectors, "scale": asked.scale, "keys": asked.keys}
    choice = {part: value for part, value in parts.items() if value is not None}
    sizes = {"length": asked.length, "windows": asked.windows}
    usual = QUICK_LENGTH if asked.quick else max(LENGTHS)
    rules = tuple(RULES) if asked.rules is None else asked.rules
    threads = default_threads(1, asked.out) if asked.threads is None else asked.threads
    settings = ReproduceSettings(
        lengths=halves(usual if asked.length is None else asked.length),
        windows=(1 if asked.quick else 5) if asked.windows is None else asked.windows,
        free=frozenset(name for name, given in sizes.items() if given is None),
        offset=asked.offset,
        bos=asked.bos,
        choice=Choice(**choice) if choice else None,
        all_choices=asked.all_choices,
        rules=() if rules in ("none", ("none",), ["none"]) else rule_labels(rules),
        seed=asked.seed,
        threads=threads,
    )
    settings = quick(settings) if asked.quick else settings
    if asked.sensitivity_rows is None:
        return settings
    if asked.sensitivity_rows < 0:
        raise InputError(f"--sensitivity-rows needs 0 or more, got {asked.sensitivity_rows}")
    return replace(settings, sensitivity_rows=asked.sensitivity_rows)


def task(settings: ReproduceSettings, key: UnitKey) -> Task:
    """All that is measured in a unit."""
    longest, first = key.length == settings.length, key.window == 0
    rules = settings.rules if first and (longest or settings.rules_over_length) else ()
    curves = list(_curves(settings, key, longest, rules))
    if settings.choosing:
        return Task(_wanted(curves, key), judged=False, tables=PAPER)
    probes = [assumptions.vanishing_probe(settings.vanishing_rows, rules)]
    if longest:
        judged = CurveRequest("value", "unit", "visible", TOP_NS)
        curves = [judged, *off_sink_curves(("value",), "unit", TOP_NS), *curves]
    if longest and first:
        probes += _probes(settings, (settings.seed, key.window, key.length))
    return Task(_wanted(curves, key), tuple(probes), longest, tables=PAPER)


EXPERIMENT = Experiment("arXiv 2508.17821, Algorithms 1 to 5", task)


def _wanted(asked: Iterable[CurveRequest], key: UnitKey) -> tuple[CurveRequest, ...]:
    """What has rows, and N that are below L."""
    below = (
        replace(each, top_ns=tuple(n for n in each.top_ns if n < key.length)) for each in asked
    )
    return tuple(each for each in below if each.top_ns and each.rows != 0)


def _probes(settings: ReproduceSettings, seed: tuple[int, ...]) -> Iterator[Probe]:
    """What is measured beside curves, head by head, in the first of the longest windows."""
    # A softmax at another temperature is the figure itself, shifted.
    others = [name for name in settings.rules if rule(name).name != "softmax"]
    yield fig4_sensitivity.probe(settings.sensitivity_rows, settings.temperatures, seed)
    yield fig4_sensitivity.rule_probe(settings.sensitivity_rule_rows, others, seed)
    yield fig1_geometry.probe(settings.chosen, settings.model_layers)
    yield discussion.coverage_probe(settings.chosen, settings.coverage_rows)
    yield assumptions.VECTORS_PROBE


def _curves(
    settings: ReproduceSettings, key: UnitKey, longest: bool, rules: tuple[str, ...]
) -> Iterator[CurveRequest]:
    every = range(1, LARGEST_N + 1) if settings.every_n else GRID
    drawn = GRID if longest else (DISTANCE_N,)  # of the shorter ones Figure 2a has a single N
    far = sorted({n for share in _SHARES if (n := round(share * key.length)) > LARGEST_N})
    chosen = () if settings.choosing else (settings.chosen,)
    others = tuple(choice for choice in CHOICES if choice not in chosen)
    all_in_full = settings.all_choices and not settings.choosing
    if key.window > 0:  # for the bands
        yield _request(settings.chosen, drawn, "windows", settings.drawn_rows)
    else:
        for choice in chosen + others * all_in_full:
            part = "paper" if choice in chosen else "choices"
            yield _request(choice, every, part, settings.paper_rows)
            yield _request(choice, far, "beyond", settings.far_rows)
            for name in rules:
                yield _request(choice, drawn, "rules", settings.drawn_rows, name)
        for choice in others if longest and settings.others and not all_in_full else ():
            yield _request(choice, GRID, "choices", settings.choice_rows)
            yield _request(choice, far, "choices", settings.choice_far_rows)
    for choice in chosen * longest:  # what the guidelines are judged by, whatever was asked for
        for name in (each for each in GUIDELINE_RULES if each not in rules):
            yield _request(choice, TOP_NS, "rules", settings.drawn_rows, name)


def _request(
    choice: Choice, top_ns: Iterable[int], part: str, rows: int | None, under: str = OWN
) -> CurveRequest:
    return CurveRequest(
        **vars(choice),
        top_ns=tuple(top_ns),
        rule=under,
        normalizer=None if under == OWN else rule(under),
        rows=rows,
        table="paper_curves",
        part=part,
    )
