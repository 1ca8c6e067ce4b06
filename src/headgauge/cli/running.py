"""What the commands that run a model share: the text, the folder's name, the opening lines."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from headgauge.cli.output import share_bar
from headgauge.cli.process import printable

if TYPE_CHECKING:
    from headgauge.diagnostics import Plan


def read_text(name: str | None, notes: Console) -> Any:
    """The text, with a bar where it has to be downloaded first."""
    from headgauge import models

    with share_bar("downloading War and Peace", notes) as progress:
        return models.read_text(name, lambda done, total: progress(done / total if total else 0.0))


def read_texts(names: list[str] | None, notes: Console, only_first: bool = False) -> list[Any]:
    """The texts of a reproduction; without names all that can be had, or only the first."""
    from headgauge import models

    if names is not None:
        return [read_text(name, notes) for name in names]
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
    loaded, settings = plan.loaded, plan.settings
    weights = f", {loaded.quantisation} weights" if loaded.quantisation else ""
    facts = loaded.facts
    lines = [
        f"model  {loaded.name}: {facts.layers} layers × {facts.heads} heads{weights}",
        *(
            f"text   {each.text.name} ({each.text.why}): {each.text.tokens} tokens, "
            f"{settings.windows} × {settings.length} from token {settings.offset}"
            for each in texts or [plan]
        ),
        f"out    {place}",
    ]
    return lines + ([f"note   {loaded.note}"] if loaded.note else [])
