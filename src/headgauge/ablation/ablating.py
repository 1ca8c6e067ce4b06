"""`headgauge.ablate`: the loss of a model without each of its heads, or without groups of them.

    result = headgauge.ablate("default")                       # or a folder, a GGUF file, a model
    result = headgauge.ablate(model, token_ids, how="zero", layers=[0, 1])
    result = headgauge.ablate(model, groups={"induction": ["L18H7", (18, 8)]})

With `out` each window is written as it finishes, and a run that is started again in the same folder
does what is left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from headgauge.ablation.result import Ablation
from headgauge.errors import InputError, whole, wholes
from headgauge.measure.calibration import ablating, means_table
from headgauge.measure.effects import over_windows
from headgauge.measure.plan import Model, Plan, make_plan, source_of
from headgauge.measure.reading import Seen, Tokens, look_at
from headgauge.measure.requests import Ablate, Experiment, Task
from headgauge.measure.runner import Progress, default_threads, run_plan
from headgauge.measure.settings import UnitSettings, check_among
from headgauge.measure.unit import Source
from headgauge.models.head_names import Heads, named_heads
from headgauge.options import takes
from headgauge.options.commands import AblateOptions
from headgauge.runs import ABLATION, UnitKey
from headgauge.runs.columns import How
from headgauge.runs.json_files import read_json

LENGTH = 512
PSEUDOCODE = (
    "For every head: its output before the output projection replaced by its mean over other "
    "windows, or by zeros, and the next-token loss computed again; the effect is the rise."
)


@takes(AblateOptions)
def ablate(
    model: Model = "default",
    tokens: Tokens = None,
    *,
    text: str | Sequence[str] | None = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> Ablation:
    """Measure what every head, or every group of heads, is worth to the model's loss.

    `model`, `tokens` and `text` are as in `headgauge.scan`. `groups` maps names to heads, or is a
    JSON file that does.
    """
    asked = AblateOptions(**options)
    seen = look_at(tokens, text, asked.chat)
    settings = ablate_settings(asked)
    source = source_of(model, tokenizer, asked.dtype, asked.device, asked.revision)
    return run_ablation(ablate_plan(source, seen, settings), asked.out, asked.jobs, progress)


@dataclass(frozen=True, kw_only=True)
class AblateSettings(UnitSettings):
    """What is taken out of the model, and what is put in its place."""

    how: str = "mean"
    groups: tuple[tuple[str, Heads], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_among("how", (self.how,), get_args(How))


def ablate_settings(asked: AblateOptions) -> AblateSettings:
    """From what a caller asked for, which is checked here: the command line and Python meet."""
    given = {"length": asked.length, "windows": asked.windows}
    groups = () if asked.groups is None else _groups(asked.groups)
    layers, heads = wholes("layers", asked.layers), wholes("heads", asked.heads)
    if groups and (layers or heads):
        raise InputError("groups name their heads themselves: give either them or layers and heads")
    threads = default_threads(asked.jobs, asked.out) if asked.threads is None else asked.threads
    return AblateSettings(
        free=frozenset(name for name, value in given.items() if value is None),
        lengths=(LENGTH if asked.length is None else whole("length", asked.length),),
        windows=4 if asked.windows is None else whole("windows", asked.windows),
        offset=whole("offset", asked.offset),
        bos=asked.bos,
        how=asked.how,
        groups=groups,
        layers=layers,
        heads=heads,
        threads=whole("threads", threads),
    )


def _groups(given: Any) -> tuple[tuple[str, Heads], ...]:
    """Names and heads, from a JSON file or as they are."""
    where = "groups"
    if isinstance(given, (str, Path)):
        where = str(given)
        try:
            given = read_json(Path(given))
        except OSError as error:
            raise InputError(f"cannot read {given}: {error.strerror}") from None
    if not isinstance(given, Mapping) or not given:
        raise InputError(f'{where} must have names and their heads: {{"name": ["L18H7", [18, 8]]}}')
    found = []
    for name, heads in given.items():
        if not isinstance(name, str) or not isinstance(heads, (str, list, tuple)):
            raise InputError(f"{where}: the group {name!r} must be a list of heads, got {heads!r}")
        found.append((name, named_heads(f"the group {name!r}", heads)))
    return tuple(found)


def _task(settings: AblateSettings, key: UnitKey) -> Task:
    asked = Ablate(cast(How, settings.how), settings.groups)
    return Task((), judged=False, ablate=asked, tables=("window_effects",))


EXPERIMENT = Experiment(
    PSEUDOCODE,
    _task,
    once=lambda settings: {"means": means_table} if settings.how == "mean" else {},
    derived={"effects": ("window_effects", over_windows)},
    layout=ABLATION,
)


def ablate_plan(source: Source, tokens: Tokens | Seen, settings: AblateSettings) -> Plan:
    """An ablation before it runs."""
    named = tuple(sorted({head for _, heads in settings.groups for head in heads}))
    return ablating(make_plan(source, tokens, settings, EXPERIMENT), settings.how, named)


def run_ablation(
    plan: Plan, out: str | Path | None, jobs: int = 1, progress: Progress | None = None
) -> Ablation:
    """Do what is not done yet of an ablation."""
    return Ablation.of(run_plan(plan, out, jobs, progress))
