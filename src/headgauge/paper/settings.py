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
from dataclasses import dataclass, field, replace

from headgauge.errors import InputError
from headgauge.measure.requests import CurveRequest, Probe
from headgauge.measure.settings import TOP_NS, UnitSettings
from headgauge.paper import (
    assumptions,
    coverage,
    fig1_geometry,
    fig2a_length,
    fig2b_top_n,
    fig2c_critical,
    fig3_separability,
    fig4_rules,
    fig4_sensitivity,
    gains,
    vanishing,
)
from headgauge.paper.choices import CHOICES, GUIDELINE_RULES, RULES, Choice, rule
from headgauge.runs import UnitKey

LENGTHS = (32, 64, 128, 256, 512, 1024)
QUICK_LENGTH = 512
_SHARES = (0.125, 0.16, 0.2, 0.25, 0.32, 0.4, 0.5, 0.64, 0.8, 0.9375)  # of L, beyond `largest`


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
    every_n: bool = True
    rules_over_length: bool = True
    fig1: fig1_geometry.Config = field(default_factory=fig1_geometry.Config)
    fig2a: fig2a_length.Config = field(default_factory=fig2a_length.Config)
    fig2b: fig2b_top_n.Config = field(default_factory=fig2b_top_n.Config)
    fig2c: fig2c_critical.Config = field(default_factory=fig2c_critical.Config)
    fig3: fig3_separability.Config = field(default_factory=fig3_separability.Config)
    fig4: fig4_sensitivity.Config = field(default_factory=fig4_sensitivity.Config)
    under_rules: fig4_rules.Config = field(default_factory=fig4_rules.Config)
    lemma_1: vanishing.Config = field(default_factory=vanishing.Config)
    discussion: coverage.Config = field(default_factory=coverage.Config)
    assumption: assumptions.Config = field(default_factory=assumptions.Config)
    guideline: gains.Config = field(default_factory=gains.Config)
    model_layers: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.rules:
            rule(name)
        if self.length <= 2 * self.fig2a.top_n:
            raise InputError(
                f"a window of {self.length} tokens is too short for the paper's figures: "
                f"use more than {2 * self.fig2a.top_n}"
            )

    def lengths_up_to(self, longest: int) -> tuple[int, ...]:
        return halves(longest)

    def judged(self, key: UnitKey) -> bool:
        return key.length == self.length and not self.choosing

    def requests(self, key: UnitKey) -> tuple[CurveRequest, ...]:
        if self.choosing:
            asked = self._choices(CHOICES, key)
        else:
            asked = self._first(key) if key.window == 0 else self._again(key)
        wanted = (request for request in asked if request.top_ns and request.rows != 0)
        return (*self._scanned(key), *wanted)

    def probes(self, key: UnitKey) -> tuple[Probe, ...]:
        if self.choosing:
            return ()
        rules = self.rules if key.window == 0 and self._rules_at(key) else ()
        found = [vanishing.probe(self.lemma_1, rules)]
        if key.window == 0 and key.length == self.length:
            seed = (self.seed, key.window, key.length)
            wanted = tuple(name for name in self.under_rules.rules if name in self.rules)
            found += [
                fig4_sensitivity.probe(self.fig4, seed),
                fig4_rules.probe(replace(self.under_rules, rules=wanted), seed),
                fig1_geometry.probe(replace(self.fig1, choice=self.chosen), self.model_layers),
                coverage.probe(self.discussion, self.chosen),
                assumptions.probe(self.assumption),
            ]
        return tuple(found)

    @property
    def chosen(self) -> Choice:
        """The choice that is measured in full."""
        if self.choice is None:
            raise InputError("no choice of vectors and keys has been made yet")
        return self.choice

    def _scanned(self, key: UnitKey) -> Iterator[CurveRequest]:
        if self.judged(key):
            few = tuple(n for n in TOP_NS if n < key.length)
            yield CurveRequest("value", "unit", "visible", few)

    def _first(self, key: UnitKey) -> Iterator[CurveRequest]:
        """The window the paper is reproduced on."""
        others = tuple(other for other in CHOICES if other != self.chosen)
        full = (self.chosen, *others) if self.all_choices else (self.chosen,)
        for choice in full:
            near = self._every(key.length) if self.every_n else self._some(key.length)
            part = "paper" if choice == self.chosen else "choices"
            yield self._request(choice, near, part, self.paper_rows)
            yield self._request(choice, self._far(key.length), "beyond", self.far_rows)
            yield from self._under_rules(choice, key)
        if self.others and not self.all_choices:
            yield from self._choices(others, key)

    def _choices(self, choices: Iterable[Choice], key: UnitKey) -> Iterator[CurveRequest]:
        """A look at the other choices, at the longest L."""
        for choice in choices if key.length == self.length else ():
            yield self._request(choice, self._some(key.length), "choices", self.choice_rows)
            yield self._request(choice, self._far(key.length), "choices", self.choice_far_rows)

    def _under_rules(self, choice: Choice, key: UnitKey) -> Iterator[CurveRequest]:
        if not self._rules_at(key):
            return
        longest = key.length == self.length
        top_ns = self._some(key.length) if longest else self._fig2a(key.length)
        for name in self.rules:
            yield self._under_rule(choice, name, top_ns)
        if longest and choice == self.chosen:
            yield from self._guideline_rules(key, but=self.rules)

    def _guideline_rules(self, key: UnitKey, but: tuple[str, ...] = ()) -> Iterator[CurveRequest]:
        """What the guidelines are judged by, whichever rules were asked for."""
        few = tuple(n for n in TOP_NS if n < key.length)
        for name in GUIDELINE_RULES:
            if name not in but:
                yield self._under_rule(self.chosen, name, few)

    def _under_rule(self, choice: Choice, name: str, top_ns: tuple[int, ...]) -> CurveRequest:
        request = self._request(choice, top_ns, "rules", self.drawn_rows)
        return replace(request, rule=name, normalizer=rule(name))

    def _rules_at(self, key: UnitKey) -> bool:
        return key.length == self.length or self.rules_over_length

    def _again(self, key: UnitKey) -> Iterator[CurveRequest]:
        """A further window, for the bands."""
        top_ns = self._some(key.length) if key.length == self.length else self._fig2a(key.length)
        yield self._request(self.chosen, top_ns, "windows", self.drawn_rows)
        if key.length == self.length:
            yield from self._guideline_rules(key)

    def _request(
        self, choice: Choice, top_ns: tuple[int, ...], part: str, rows: int | None
    ) -> CurveRequest:
        return CurveRequest(
            choice.vectors,
            choice.scale,
            choice.keys,
            top_ns,
            rows=rows,
            table="paper_curves",
            part=part,
        )

    def _every(self, length: int) -> tuple[int, ...]:
        return tuple(range(1, min(self.fig2c.largest, length - 1) + 1))

    def _some(self, length: int) -> tuple[int, ...]:
        """Every N up to 20, every second up to 40, every fourth beyond, and the figures' own."""
        grid = {*range(1, 21), *range(22, 41, 2), *range(44, self.fig2c.largest + 1, 4)}
        grid |= {self.fig2a.top_n, *self.fig2b.top_ns, *self.fig3.top_ns}
        return tuple(sorted(n for n in grid if n < length and n <= self.fig2c.largest))

    def _fig2a(self, length: int) -> tuple[int, ...]:
        return (self.fig2a.top_n,) if self.fig2a.top_n < length else ()

    def _far(self, length: int) -> tuple[int, ...]:
        largest = self.fig2c.largest
        grid = {round(share * length) for share in _SHARES}
        return tuple(sorted(n for n in grid if largest < n < length))


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
        every_n=False,
        rules_over_length=False,
        fig2c=replace(settings.fig2c, draws=20),
        fig4=replace(settings.fig4, temperatures=fig4_sensitivity.grid(13), rows=8),
        under_rules=replace(settings.under_rules, rows=4),
        lemma_1=replace(settings.lemma_1, rows=8),
        discussion=replace(settings.discussion, rows=2),
    )
