"""Every thing that is measured, judged, chosen or printed, described once.

Docs, terminal, figures and page take names, symbols, units, limits, colours and explanations from
here; the page gets them as JSON. It imports nothing of ours.
"""

from dataclasses import asdict
from typing import Any

from headgauge.registry import measures, names
from headgauge.registry.entry import Entry


def as_json() -> dict[str, Any]:
    """For the page: by kind and name what is not empty of each entry; `ink` goes on its colour."""
    groups = {
        "measures": measures.MEASURES | measures.CURVES,
        "layers": measures.LAYERS,
        "verdicts": names.VERDICTS,
        "roles": names.ROLES,
        "changes": names.CHANGES,
        "schemes": names.SCHEMES,
        **names.CHOICES,
    }
    held = {
        group: {name: _plain(entry) for name, entry in entries.items()}
        for group, entries in groups.items()
    }
    more = {"groups": measures.GROUPS, "titles": names.CHOICE_TITLES, "notes": names.RULE_NOTES}
    return held | more


def _plain(entry: Entry) -> dict[str, Any]:
    empty = asdict(Entry(entry.title, name=entry.name))
    plain = {key: value for key, value in asdict(entry).items() if value != empty[key]}
    return plain | {"title": entry.title, "look": asdict(entry.look) | {"ink": entry.look.ink}}
