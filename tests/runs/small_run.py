"""A small run with made-up numbers, from the tests or as a process of its own that can be killed.

python small_run.py DIR: opens the run, makes its units and merges them.

python small_run.py: the same for each line `SEED EVENT DIR` that comes in, in a process of its own,
with the units in an order drawn from SEED. It kills itself with SIGKILL at the EVENT-th opening,
renaming or removal of a file. A line with its exit code and the number of events goes out.
"""

import os
import random
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from headgauge.runs import (
    Data,
    EdgeToken,
    Manifest,
    Model,
    RunFolder,
    Splits,
    UnitFacts,
    UnitKey,
    UnitTables,
    frame_schema,
    write_unit,
)
from headgauge.runs.columns import Column, columns
from headgauge.runs.manifest import first_manifest
from headgauge.runs.schema import TABLES

KEYS = [UnitKey(window, length) for window in range(3) for length in (8, 16)]
SETTINGS = {"model": "small", "text": {"name": "prose", "offset": 0}, "lengths": (8, 16)}
WATCHED = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"}


def unit_tables(
    key: UnitKey, with_rows: bool = True, queries: int = 5, with_paper: bool = True
) -> UnitTables:
    """Tables that depend on the key alone, their rows in no order."""
    draw = random.Random(f"{key.window} {key.length}")
    places = [
        {
            "window": key.window,
            "length": key.length,
            "layer": layer,
            "occurrence": 0,
            "module": f"layers.{layer}.attention",
            "head": head,
        }
        for layer in range(3)
        for head in range(4)
    ]
    some = {
        "heads": places,
        "curves": [
            place | {"top_n": n, "vectors": "value", "scale": "unit", "keys": "visible"}
            for place in places
            for n in (1, 2, 5)
        ],
        "samples": [place | {"row": 3, "rank": rank} for place in places for rank in (1, 2)],
        "rows": [place | {"row": row} for place in places for row in range(queries)],
    }
    frames = {name: _frame(name, rows, draw) for name, rows in some.items()}
    facts = UnitFacts(
        loss=draw.random(),
        tokens=key.length,
        start=key.window * key.length,
        unseen=["layers.9.attention"],
        distrusted={"layers.8.attention": draw.random()},
        tapped=[],
        bos_losses={},
        seconds={"model": 0.5, "measures": draw.random()},
    )
    if with_paper:
        more = random.Random(f"{key.window} {key.length} paper")  # the rest does not depend on it
        frames |= {name: _frame(name, rows, more) for name, rows in _paper_rows(places).items()}
    unit = {"window": key.window, "length": key.length}
    depth = [unit | {"layer": layer, "module": f"layers.{layer}"} for layer in range(4)]
    matrix = [places[5] | {"row": row, "key": at} for row in range(3) for at in range(row + 1)]
    tokens = [places[5] | {"side": side, "place": at} for side in ("query", "key") for at in (0, 1)]
    spans = [places[5] | {"span": name, "kind": "span"} for name in ("question", "system")]
    on_request = {"depth": depth, "matrices": matrix, "tokens": tokens, "spans": spans}
    for name, rows in on_request.items():
        frames[name] = _frame(name, rows, random.Random(key.name))
    if not with_rows:
        del frames["rows"]
    return UnitTables(key, frames, facts)


def _paper_rows(places: list[dict]) -> dict[str, list[dict]]:
    """What names the rows of the tables that a scan does not have."""
    choice = {"vectors": "final", "scale": "unit", "keys": "all"}
    rules = [{"rule": "sparsemax", "where": where} for where in ("logits", "inside")]
    windows = [{name: places[0][name] for name in ("window", "length")}] * 3
    return {
        "window_effects": [place | {"group": None} for place in places],
        "rule_heads": [place | rule for place in places for rule in rules],
        "rule_curves": [place | choice | rule | {"top_n": 3} for place in places for rule in rules],
        "window_rules": [each | {"place": i} for i, each in enumerate(windows)],
        "paper_curves": [
            place | choice | {"top_n": n, "rule": rule}
            for place in places
            for n in (1, 3)
            for rule in ("model", "sparsemax")
        ],
        "sensitivity": [
            place
            | {"logits": "scaled", "direction": along, "epsilon": epsilon, "temperature": warm}
            for place in places
            for along, epsilon in (("random", 0.1), ("exact", 0.0))
            for warm in (0.01, 1.0)
        ],
        "points": [place | {"row": 4, "key": at} for place in places for at in range(3)],
        "vanishing": [place | {"rule": rule} for place in places for rule in ("model", "ssmax")],
        "shared_tokens": [
            place | {"row": row, "key": at} for place in places for row in (2, 4) for at in range(2)
        ],
        "vector_sets": [
            place | {"vectors": kind} for place in places for kind in ("final", "value")
        ],
    }


def _frame(name: str, rows: list[dict], draw: random.Random) -> pl.DataFrame:
    made = {
        int: lambda: draw.randrange(100),
        float: lambda: draw.gauss(0, 1),
        str: lambda: draw.choice(["a", "ß", " the"]),
        bool: lambda: False,
    }

    def value(column: Column) -> Any:
        if column.optional and draw.random() < 0.5:
            return None
        return draw.choice(column.words) if column.words else made[column.kind]()

    known = columns(TABLES[name]).items()
    full = [{key: row[key] if key in row else value(each) for key, each in known} for row in rows]
    draw.shuffle(full)
    return pl.DataFrame(full, schema=frame_schema(TABLES[name]))


def described(settings: Mapping[str, Any]) -> Manifest:
    """What a run must say of itself to be read."""
    none = EdgeToken(put=False, id=None, why="not asked", file=None, tokenizer=None)
    made = first_manifest(settings)
    made["data"] = Data(name="prose", sha256="", origin="made up", tokens=99)
    made["splits"] = Splits(offset=0, windows=3, lengths=[8], bos=none, eos=none)
    made["model"] = Model(
        name="a",
        source="default",
        quantisation=None,
        sha256=None,
        fingerprint=None,
        facts={"kind": "decoder"},
    )
    return made


def make(folder: Path, seed: int) -> None:
    run = RunFolder.open(folder, SETTINGS)
    run.describe(described(SETTINGS))
    left = sorted(set(KEYS) - run.finished())
    random.Random(seed).shuffle(left)
    for key in left:
        write_unit(run.path, unit_tables(key, with_paper=False))
    run.merge(KEYS)


def make_watched(folder: str, seed: int, event: int, counted: int) -> None:
    """A run that ends at an event; each is a byte to the descriptor `counted`."""
    seen = 0

    def watch(name: str, arguments: tuple) -> None:
        nonlocal seen
        if name in WATCHED and folder in str(arguments[0]):
            seen += 1
            os.write(counted, b".")
            if seen == event:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    make(Path(folder), seed)


def serve() -> None:
    """Forked, not started anew: polars has no threads yet, and importing it takes a second."""
    for line in sys.stdin:
        seed, event, folder = line.rstrip("\n").split(" ", 2)
        counted, counting = os.pipe()
        child = os.fork()
        if child == 0:
            make_watched(folder, int(seed), int(event), counting)
            os._exit(0)
        os.close(counting)
        _, status = os.waitpid(child, 0)
        with os.fdopen(counted, "rb") as seen:
            print(os.waitstatus_to_exitcode(status), len(seen.read()), flush=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]), 0) if sys.argv[1:] else serve()
