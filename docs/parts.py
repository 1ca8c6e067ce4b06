"""Parts of pages that are made from the code, between `<!-- NAME -->` and `<!-- end -->`."""

import importlib
import importlib.util
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer

from docs.tables import table
from headgauge import normalizers
from headgauge.cli.app import app
from headgauge.registry import measures
from headgauge.registry.entry import Entry
from headgauge.scanning.thresholds import DEFAULT, ROLE_LINES
from headgauge.training import ALARMS

HERE = Path(__file__).parent
COMMANDS: Mapping[str, Any] = getattr(typer.main.get_command(app), "commands")  # noqa: B009


def options(command: str) -> str:
    """What `--help` lists."""
    rows = []
    for each in COMMANDS[command].params:
        named = ", ".join(f"`{flag}`" for flag in each.opts if flag.startswith("-"))
        shown = each.default not in (None, False, ()) and each.show_default
        default = f" Default: {each.default}." if shown else ""
        rows.append((named or each.name.upper(), f"{each.help}{default}"))
    return table(("option", "what it does"), rows)


def entries(known: Mapping[str, Entry]) -> str:
    rows = [
        (f"`{name}`", each.title, each.symbol, each.unit, each.explanation, each.source)
        for name, each in known.items()
    ]
    return table(("column", "measure", "symbol", "unit and limits", "what it is", "source"), rows)


def thresholds() -> str:
    rows = [
        (each.verdict, f"{each.what} {each.direction} {each.value:g}", each.source, each.remedy)
        for each in DEFAULT
    ]
    return table(("verdict", "holds where", "where the line comes from", "what to do"), rows)


def tries() -> str:
    rows = {
        (each.verdict, "; ".join(" or ".join(some) for some in each.tries) or "–", each.untried)
        for each in DEFAULT
    }
    order = [each.verdict for each in DEFAULT]
    listed = sorted(rows, key=lambda row: order.index(row[0]))
    return table(("verdict", "what is tried", "what is not, and why"), listed)


def roles() -> str:
    rows = [
        (each.verdict, f"{each.what} {each.direction} {each.value:g}", each.source, each.remedy)
        for each in ROLE_LINES
    ]
    return table(("role", "named where", "where the line comes from", "what it means"), rows)


def alarms() -> str:
    rows = []
    for name, line in ALARMS.items():
        entry, side = measures.MEASURES[line.measure], "above" if line.above else "below"
        of = ", of the layer's median" if line.by_layer else ""
        what = f"{entry.title.lower()} (`{line.measure}`){of}"
        rows.append((name, what, f"{side} {line.raised:g}", f"{line.cleared:g}", line.why))
    return table(("alarm", "looks at", "raised", "cleared at", "why there"), rows)


def trainings() -> str:
    """The runs of examples/training.py, as the pages speak of them."""
    found = json.loads((HERE.parent / "examples" / "training.json").read_text())
    rows = []
    for name, run in found.items():
        loss = f"{run['last']:.2f}", f"{run['unseen']:.2f}", f"{run['max_logit']:.0f}"
        alarms = (
            f"{each['first']} ({each['heads']})" if each else "–" for each in run["alarms"].values()
        )
        shown = (str(run[way] or "–") for way in ("rising", "behind"))
        rows.append((name.replace("-", ", seed "), *loss, *alarms, *shown))
    titles = ("run", "loss at the end", "on unseen text", "largest logit")
    return table((*titles, *ALARMS, "loss rises", "loss is behind"), rows)


def rules() -> str:
    rows = []
    for rule in map(normalizers.describe, normalizers.names()):
        fits = ", ".join(rule.fits) or "–"
        facts = (rule.formula, rule.properties, rule.jacobian_bound, rule.source)
        rows.append((f"`{rule.written}`", fits, *facts))
    names = ("rule, its defaults", "can be fitted", "weights", "properties", "‖Jacobian‖", "source")
    return table(names, rows)


def glossary() -> str:
    """The terms that pages explain, where the registry has them."""
    if importlib.util.find_spec("headgauge.registry.glossary") is None:
        return ""
    known = importlib.import_module("headgauge.registry.glossary").GLOSSARY
    return table(("term", "what it means"), [(each.term, each.words) for each in known])


PARTS: dict[str, Callable[[], str]] = {
    **{f"options of {command}": partial(options, command) for command in COMMANDS},
    "measures of a head": partial(
        entries,
        {k: v for k, v in measures.HEAD_MEASURES.items() if k not in measures.ROLE_MEASURES},
    ),
    "what a head does": partial(entries, measures.ROLE_MEASURES),
    "measures over N": partial(entries, measures.CURVES),
    "thresholds": thresholds,
    "roles": roles,
    "tries": tries,
    "alarms": alarms,
    "trainings": trainings,
    "rules": rules,
    "glossary": glossary,
}


def render(page: str) -> str:
    """The page with its parts as the code has them now."""
    marked = re.compile(rf"(<!-- ({'|'.join(PARTS)}) -->\n).*?(?=<!-- end -->)", re.DOTALL)
    return marked.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]()}\n", page)


def write() -> None:
    for file in HERE.glob("*.md"):
        file.write_text(render(file.read_text(encoding="utf-8")), encoding="utf-8")
