"""What the commands that run a model share: model, text, the folder's name, the opening lines."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from headgauge.cli.output import share_bar
from headgauge.cli.process import printable
from headgauge.errors import InputError

if TYPE_CHECKING:
    from headgauge.scanning import Plan


def one_model(argument: str | None, option: str | None) -> str:
    """The model's name, whichever way it was given."""
    if argument is not None and option is not None and argument != option:
        raise InputError(f"two models were given, {argument} and {option}: give one")
    return next((name for name in (argument, option) if name is not None), "default")


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
    with share_bar("downloading War and Peace", notes) as progress:
        return models.read_text(seen, lambda done, total: progress(done / total if total else 0.0))


def default_texts(notes: Console, only_first: bool = False) -> list[Any]:
    """All texts that can be had without a name, or only the first."""
    from headgauge import models

    with share_bar("downloading War and Peace", notes) as progress:
        found = models.default_texts(lambda done, total: progress(done / total if total else 0.0))
    return found[:1] if only_first else found


def default_folder(plan: "Plan", command: str, identity: dict[str, Any] | None = None) -> Path:
    """A name that says what is in it; another choice of settings is another folder."""
    known = plan.identity if identity is None else identity
    digest = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:8]
    known = plan.identity["model"]["name"].replace("/", "--")
    # Both names are a user's: whatever they hold, a file system must take what is made of them.
    name = printable(f"{command}-{known}-{plan.text.name}").encode(errors="ignore")[:200]
    return Path("runs") / f"{name.decode(errors='ignore')}-{digest}"


def opening(plan: "Plan", place: Path, texts: Sequence["Plan"] | None = None) -> list[str]:
    """Model, text or texts, folder: what a reader checks before waiting."""
    loaded = plan.loaded
    weights = f", {loaded.quantisation} weights" if loaded.quantisation else ""
    facts = loaded.facts
    lines = [
        f"model  {loaded.name}: {facts.layers} layers × {facts.heads} heads{weights}",
        *(f"text   {_text_line(each)}" for each in texts or [plan]),
        f"out    {place}",
    ]
    notes = (loaded.note, *(note for each in texts or [plan] for note in each.notes))
    return lines + [f"note   {note}" for note in dict.fromkeys(notes) if note]


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
