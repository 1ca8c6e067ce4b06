"""manifest.json: what a run was, so that another can be made like it.

`Manifest` is its form. It answers every reproducibility variable: research type, pseudocode, source
code, data, splits, hardware, software, experiment set-up (`settings`) and seeds. All that differs
between two runs of the same thing on the same machine stands under `times`. No path of the machine,
user name or host name is in it: a path that comes in is cut to its last part. A number that is not
finite is the text "nan", "inf" or "-inf".
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NotRequired, Required, TypedDict

from headgauge.runs.environment import Hardware, SourceCode, hardware, software, source_code
from headgauge.runs.json_files import plain

FORMAT = 2  # of a run's folder: one more where versions before and after cannot read each other's
NotFinite = Literal["nan", "inf", "-inf"]


class Data(TypedDict):
    """The text the model read."""

    name: str
    sha256: str  # of the text in UTF-8
    origin: str  # where it came from
    tokens: int  # of the whole text


class EdgeToken(TypedDict):
    """A token that begins (BOS) or ends (EOS) a text."""

    put: bool  # whether it stands in front of (EOS: behind) every window
    id: int | None  # null: the model has none
    why: str  # who was followed: the model's file, its tokenizer, or what was asked for
    file: bool | None  # whether the model's file says that a text gets one; null: it does not say
    tokenizer: bool | None  # whether its tokenizer as loaded puts one; null: there is none


class Splits(TypedDict):
    """Which parts of the text; where each window starts is among its facts in `units`."""

    offset: int  # the text token of the first window
    windows: int  # of each length
    lengths: list[int]  # L
    bos: NotRequired[EdgeToken]  # one of a window's L tokens where it is put
    eos: NotRequired[EdgeToken]  # never put: a window of running text has no end


class Model(TypedDict):
    """The model."""

    name: str
    source: str  # "default", "gguf", "folder" or "hub"
    quantisation: str | None  # what its weights went through; None: nothing known
    sha256: str | None  # of its file, where it is one file
    fingerprint: str | None  # of its weights as loaded
    facts: dict[str, Any]  # kind, layers, heads, kv_heads, head_dim, context_length
    revision: NotRequired[str]  # of a hub model, where one was asked for


class Facts(TypedDict, total=False):
    """What a reader must find among a model's facts, and what it may."""

    kind: Required[Literal["decoder", "encoder", "encoder-decoder"]]
    vocabulary: int | None


class Times(TypedDict):
    """When it ran and how long it took."""

    started: str  # UTC
    finished: str | None
    resumed: int  # how often it was taken up again
    seconds: dict[str, float]  # by phase, summed over the units
    units: dict[str, dict[str, float]]  # by unit and phase


class UnitRecord(TypedDict):
    """A unit's facts."""

    loss: float | NotFinite | None  # mean −log p of the next token: proof of the weights
    tokens: int  # tokens the model read
    start: int  # the text token the window starts at
    unseen: list[str]  # attention modules whose weights could not be seen
    distrusted: dict[str, float | NotFinite]  # modules left out, and how far off they were
    tapped: list[str]  # modules seen at their softmax, without values
    whole_passes: NotRequired[bool]  # the layers before an ablated head ran again every time
    # Units from before BOS was compared have none.
    bos_losses: NotRequired[dict[str, float | NotFinite]]  # with_bos, without_bos: first window


class UnitFacts(UnitRecord):
    """The same where the unit is, with what it took."""

    seconds: dict[str, float]  # by phase


class UnitFile(TypedDict):
    """What unit.json holds."""

    tables: dict[str, str]  # the sha256 of each
    facts: UnitFacts


class TableRecord(TypedDict):
    """A merged table."""

    rows: int
    sha256: str  # of its file


class Outlook(TypedDict):
    """What the trends over length mean for a longer context. It is asked of the tables and changes
    none of them: another call may ask for another."""

    target: int  # tokens
    verdicts: list[dict[str, Any]]  # heads per verdict: now, target, certainly, possibly, unknown
    grounds: dict[str, Any]  # what the intervals stand on, and how far they were tested


class Manifest(TypedDict):
    """What manifest.json holds, in this order."""

    format: int  # of the folder; a version reads its own
    status: Literal["running", "finished"]
    research_type: str
    pseudocode: str  # which algorithms of the paper the tables correspond to
    source_code: SourceCode | None
    data: Data | None
    splits: Splits | None
    model: Model | None
    settings: dict[str, Any]  # the experiment's set-up: every option
    seeds: dict[str, int]
    hardware: Hardware | None
    software: dict[str, str | None]
    notes: list[str]
    units: dict[str, UnitRecord]  # by name, once the run is finished
    tables: dict[str, TableRecord]  # by name, once the run is finished
    times: Times
    outlook: NotRequired[Outlook]  # only where a target length was asked for


def manifest(
    settings: Mapping[str, Any], device: str, gpu: str | None = None, **described: Any
) -> Manifest:
    """The manifest of a run that starts now, with the code, machine and packages at hand;
    `described` has what else there is to say before the run, by its key."""
    around = {"source_code": source_code(), "hardware": hardware(device, gpu)}
    return plain({**first_manifest(settings), **described, **around, "software": software()})


def first_manifest(settings: Mapping[str, Any]) -> Manifest:
    """What a folder holds before the run has been described."""
    made = Manifest(
        format=FORMAT,
        status="running",
        research_type="",
        pseudocode="",
        source_code=None,
        data=None,
        splits=None,
        model=None,
        settings=dict(settings),
        seeds={},
        hardware=None,
        software={},
        notes=[],
        units={},
        tables={},
        times=Times(started=now(), finished=None, resumed=0, seconds={}, units={}),
    )
    return plain(made)


def keep_facts(made: Manifest, facts: Mapping[str, UnitFacts]) -> None:
    """The facts of the units, by name, where a manifest has them."""
    times = made["times"]
    made["units"], times["units"], times["seconds"] = {}, {}, {}
    for name, known in facts.items():
        record = plain({key: value for key, value in known.items() if key != "seconds"})
        made["units"][name], times["units"][name] = record, dict(known["seconds"])
        for phase, spent in known["seconds"].items():
            times["seconds"][phase] = times["seconds"].get(phase, 0.0) + spent


def now() -> str:
    """UTC as 2025-01-31T12:00:00Z."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
