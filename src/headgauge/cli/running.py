"""What the commands that run a model share: the text, the folder's name, the opening lines."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from headgauge.cli.output import share_bar

if TYPE_CHECKING:
    from headgauge.diagnostics import Plan


def read_text(name: str | None, notes: Console) -> Any:
    """The text, with a bar where it has to be downloaded first."""
    from headgauge import models

    with share_bar("downloading War and Peace", notes) as progress:
        return models.read_text(name, lambda done, total: progress(done / total if total else 0.0))


def default_folder(plan: "Plan", command: str) -> Path:
    """A name that says what is in it; another choice of settings is another folder."""
    digest = hashlib.sha256(json.dumps(plan.identity, sort_keys=True).encode()).hexdigest()[:8]
    known = plan.identity["model"]["name"].replace("/", "--")
    return Path("runs") / f"{command}-{known}-{plan.text.name}-{digest}"


def opening(plan: "Plan", place: Path) -> list[str]:
    """Model, text, folder: what a reader checks before waiting."""
    loaded, settings = plan.loaded, plan.settings
    weights = f", {loaded.quantisation} weights" if loaded.quantisation else ""
    facts = loaded.facts
    lines = [
        f"model  {loaded.name}: {facts.layers} layers × {facts.heads} heads{weights}",
        f"text   {plan.text.name} ({plan.text.why}): {plan.text.tokens} tokens, "
        f"{settings.windows} × {settings.length} from token {settings.offset}",
        f"out    {place}",
    ]
    return lines + ([f"note   {loaded.note}"] if loaded.note else [])
