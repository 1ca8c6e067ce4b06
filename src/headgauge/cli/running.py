"""What the commands that run share: model, text, the folder's name, the opening lines."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console

from headgauge.cli.output import share_bar
from headgauge.cli.process import printable
from headgauge.errors import InputError
from headgauge.options.commands import (
    AblateOptions,
    ReproduceOptions,
    ScanOptions,
    ValidateOptions,
)

if TYPE_CHECKING:
    from headgauge.models import LoadedModel, ModelSource
    from headgauge.scanning import Plan

Source = TypeVar("Source", bound="ModelSource | LoadedModel")


def compile_kernels(asked: Any, what: str = "scan") -> None:
    """Begin, before torch is imported, to compile what a first use on a machine has to compile."""
    from headgauge import first_use

    if _double(asked):
        what = "scan-float64"
    if asked.device in (None, "auto", "cpu"):
        first_use.start(what)


def open_model(
    asked: ScanOptions | AblateOptions | ReproduceOptions | ValidateOptions, notes: Console
) -> "ModelSource":
    """The model, whichever way it was named, loaded."""
    name = one_name(asked.model, asked.model_option) or "default"
    return loaded_source(name, asked, notes)


def loaded_source(name: str, asked: Any, notes: Console) -> "ModelSource":
    """The model of this name, loaded as the options say."""
    from headgauge.models import ModelSource

    source = ModelSource(name, asked.dtype, asked.device, asked.revision, _double(asked))
    return loaded(source, name, notes)


def _double(asked: Any) -> bool:
    return getattr(asked, "precision", "float32") == "float64"


def one_name(argument: str | None, option: str | None) -> str | None:
    """The model's name, given as an argument or as an option."""
    name = option if argument is None else argument
    if option not in (None, name):
        raise InputError(f"two models were given, {name} and {option}: give one")
    return name


def loaded(source: "Source", name: str, notes: Console) -> "Source":
    """The same, with its model loaded now."""
    with notes.status(f"loading {name}"):
        opened = source.open()
    if next(opened.model.parameters()).device.type == "cpu":
        wait_for_kernels(notes)
    return source


def wait_for_kernels(notes: Console) -> None:
    """Until those that a command needs are compiled."""
    from headgauge import first_use

    with notes.status("") as status:
        for done, total in first_use.waiting():
            status.update(f"compiling kernels, once: {done}/{total or '…'}")


def look_at(name: str | None, string: str | None = None, chat: bool = False) -> Any:
    """The text as far as it can be read before a model is loaded; `-` is what comes in."""
    from headgauge.measure.reading import look_at as look

    if name == "-" and string is None:
        name, string = None, _incoming()
    return look(name, string, chat)


def _incoming() -> str:
    try:
        return typer.get_binary_stream("stdin").read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"what comes in on stdin is not UTF-8 text: {error.reason} at byte {error.start}"
        ) from None


def fetched(seen: Any, notes: Console) -> Any:
    """The text behind a name, with a bar where it has to be downloaded first."""
    from headgauge import models

    if seen is not None and not isinstance(seen, str):
        return seen
    with _downloading(notes) as progress:
        return models.read_text(seen, progress)


def default_texts(notes: Console) -> list[Any]:
    """All texts that need no name."""
    from headgauge import models

    with _downloading(notes) as progress:
        return models.default_texts(progress)


@contextmanager
def _downloading(notes: Console) -> Iterator[Callable[[int, int | None], None]]:
    with share_bar("downloading War and Peace", notes) as progress:
        yield lambda done, total: progress(done / total if total else 0.0)


def default_folder(command: str, identity: dict[str, Any], *names: str) -> Path:
    """A name that says what is in it; another choice of settings is another folder."""
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:8]
    # Names of models and texts are a user's: a file system must take what is made of them.
    name = printable("-".join((command, *names)).replace("/", "--")).encode(errors="ignore")[:200]
    return Path("runs") / f"{name.decode(errors='ignore')}-{digest}"


def opening(plan: "Plan", place: Path, notes: Console, texts: Sequence["Plan"]) -> None:
    """Model, texts, folder: what a reader checks before waiting."""
    loaded, facts = plan.loaded, plan.loaded.facts
    weights = f", {loaded.quantisation} weights" if loaded.quantisation else ""
    device = next(loaded.model.parameters()).device.type
    said = (loaded.note, *(note for each in texts for note in each.notes))
    for line in (
        f"model  {loaded.name}: {facts.layers} layers × {facts.heads} heads{weights}, on {device}",
        *(f"text   {_text_line(each)}" for each in texts),
        f"out    {place}",
        *(f"note   {note}" for note in dict.fromkeys(said) if note),
    ):
        notes.print(line, style="dim", soft_wrap=True)


def _text_line(plan: "Plan") -> str:
    text, settings = plan.text, plan.settings
    known = f"{text.name} ({text.why}): "
    if text.documents is not None:
        return known + (
            f"{settings.windows} of {text.documents} documents, {text.tokens} tokens in all, at "
            f"most {settings.length} of each"
        )
    windows = f"{settings.windows} × {settings.length} from token {settings.offset}"
    return f"{known}{text.tokens} tokens, {windows}"
