"""What a comparison of runs found: its tables, and what follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from headgauge.comparison.conditions import Answer, Condition, answers, read_conditions
from headgauge.comparison.runs_differences import LOSS, SURE
from headgauge.comparison.words import signed
from headgauge.errors import InputError
from headgauge.registry.names import head_name, listed
from headgauge.runs import COMPARISON, Manifest, load_run
from headgauge.scanning.thresholds import HEALTHY
from headgauge.shown import Shown

_FEW = 3  # names in a sentence
_MANY = 2.0  # times what chance would give


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Shown):
    """`tables` has the frames of `runs.comparison_schema` by name; `conditions` what must not hold
    of the last run against the first."""

    manifest: Manifest
    tables: dict[str, pl.DataFrame]
    folder: Path | None = None
    conditions: tuple[Condition, ...] = ()

    @staticmethod
    def load(folder: str | Path) -> "RunComparison":
        """A comparison from its folder; nothing is computed again."""
        run = load_run(folder, COMPARISON)
        return RunComparison(run.manifest, run.tables, Path(folder))

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        return COMPARISON.is_in(folder)

    def sides(self) -> list[str]:
        """The runs' names, in their order."""
        return self.tables["sides"]["side"].to_list()

    def pairs(self) -> list[tuple[str, str]]:
        """(side, against) of which there are differences: steps first, then with the first."""
        there = self.tables["measures"].select("side", "against").unique(maintain_order=True)
        return [(side, against) for side, against in there.rows()]

    def of(self, table: str, side: str | None = None, against: str | None = None) -> pl.DataFrame:
        """The rows of a pair of runs, by default the last held against the first."""
        names = self.sides()
        side, against = side or names[-1], against or names[0]
        if (side, against) not in self.pairs():
            there = "; ".join(f"{b} against {a}" for b, a in self.pairs())
            raise InputError(f"{side} was not held against {against} here; there are {there}")
        return self.tables[table].filter(side=side, against=against)

    def differences(self, side: str | None = None, against: str | None = None) -> pl.DataFrame:
        """One row per head and measure."""
        return self.of("differences", side, against)

    def measures(self, side: str | None = None, against: str | None = None) -> pl.DataFrame:
        """One row per measure, the loss first, then by how many more heads differ than chance
        would give; last what has no spread over windows: what weights alone decide, and the
        largest logit."""
        more = pl.col("beyond") - pl.col("by_chance")
        spread = (pl.col("measure") == LOSS, pl.col("by_chance").fill_null(0) > 0, more)
        return self.of("measures", side, against).sort(
            *spread, descending=True, nulls_last=True, maintain_order=True
        )

    def heads(self, side: str | None = None, against: str | None = None) -> pl.DataFrame:
        """One row per head, the one that moved farthest first."""
        return self.of("heads", side, against)

    def changes(self, side: str | None = None, against: str | None = None) -> pl.DataFrame:
        """One row per verdict gained or lost, and role changed."""
        return self.of("changes", side, against)

    def steps(self) -> pl.DataFrame:
        """The changes from each run to the next, in their order."""
        names = self.sides()
        found = [self.changes(b, a) for a, b in pairwise(names)]
        return pl.concat(found)

    def with_conditions(self, given: str | Sequence[str]) -> "RunComparison":
        """The same tables asked for other failures, such as "separability<-0.05"."""
        return replace(self, conditions=read_conditions(given))

    def answers(self) -> list[Answer]:
        """What became of each condition."""
        return answers(self.conditions, self.of("measures"), self.of("counts"))

    def failing(self) -> list[str]:
        """A line for each condition that holds: which, and by how much."""
        return [f"{each.condition} holds: {each.words}" for each in self.answers() if each.holds]

    def caption(self) -> str:
        """What was compared, in a line for a figure or the head of a page."""
        rows = self.tables["sides"]
        shared = [name for name in ("model", "text") if rows[name].n_unique() == 1]
        told = [rows[name][0] for name in shared]
        length, windows = rows["length"][0], rows["windows"].unique().sort().to_list()
        counted = " or ".join(map(str, windows))
        return ", ".join(
            [
                " → ".join(self.sides()),
                *told,
                f"L = {length}",
                f"{counted} window{'s' * (windows != [1])}",
            ]
        )

    def stands(self) -> list[str]:
        """What the numbers stand on: said before any of them."""
        paired = self.of("measures")["paired"][0]
        how = (
            "the same windows of the same text in both, so that differences are paired"
            if paired
            else "other windows or texts, so that errors are from the spread in each"
        )
        heads = self.of("heads").height
        pair = "" if len(self.sides()) == 2 else f"{self.sides()[-1]} against {self.sides()[0]}: "
        return [
            *(f"{row['side']}: {_side_words(row)}" for row in self.tables["sides"].to_dicts()),
            f"{pair}{heads} heads; {how}",
        ]

    def warnings(self) -> list[str]:
        """Why differences may be no result: said before any of them."""
        told = self.tables["sides"].drop_nulls("warning").select("side", "warning").rows()
        found = [f"{side}: {line}" for side, line in told]
        if self.tables["sides"]["windows"].min() == 1:
            found.append("a run has one window: nothing says which differences are chance")
        return found

    def notes(self) -> list[str]:
        """What a reader must know, the warnings first."""
        lost = self._lacking()
        return [*self.warnings(), *lost, *self.manifest["notes"]]

    def _lacking(self) -> list[str]:
        """Measures that not every run has."""
        values = self.tables["values"].drop_nulls("value")
        seen = values.group_by("measure", maintain_order=True).agg(pl.col("side").n_unique())
        some = seen.filter(pl.col("side") < len(self.sides()))["measure"].to_list()
        return [f"not in every run, and not compared: {', '.join(some)}"] if some else []

    def finding(self) -> str:
        """What differs, how surely, and which heads moved, in a paragraph."""
        names = self.sides()
        told = [*self._loss(), *self._moved(), *self._marks(), *self._farthest()]
        if len(names) > 2:
            steps = [self.changes(b, a).height for a, b in pairwise(names)]
            most = max(range(len(steps)), key=steps.__getitem__)
            if steps[most]:
                step = f"{names[most]} to {names[most + 1]}"
                told.append(f"Most verdicts and roles change from {step}: {steps[most]}.")
        return " ".join([f"{names[-1]} against {names[0]}:", *told])

    def _loss(self) -> list[str]:
        row = self.measures().filter(measure=LOSS).row(0, named=True)
        if row["difference"] is None:
            return ["no loss in both."]
        word = "higher" if row["difference"] > 0 else "lower"
        if row["difference"] == 0:
            return [f"the loss is the same, {row['after']:.4f} nats per token."]
        by = signed(abs(row["difference"]), row["error"]).removeprefix("+")
        if row["error"] is not None and abs(row["difference"]) <= SURE * row["error"]:
            by += f" nats per token, within {SURE:g} standard errors"
            return [f"the loss is {word} by {by}."]
        return [f"the loss is {word} by {by} nats per token."]

    def _moved(self) -> list[str]:
        """The measures of which more heads moved than by chance, the farthest first."""
        table = self.measures().filter(pl.col("measure") != LOSS)
        if table["difference"].abs().max() in (0.0, None):
            return ["No measure of any head differs."]
        known = table.filter(pl.col("by_chance") > 0)
        if known.is_empty():
            return ["One window has no spread, so that no difference can be told from chance."]
        more = known.filter(pl.col("beyond") > _MANY * pl.col("by_chance"))
        if more.is_empty():
            return [
                "In no measure more than twice as many heads differ by over two standard errors "
                "as would by chance."
            ]
        rows = more.head(_FEW).to_dicts()
        parts = [f"{row['measure']} ({_beyond(row)})" for row in rows]
        return [
            f"In {more.height} of {known.height} measures more than twice as many heads differ by "
            f"over two standard errors as would by chance, most in {listed(parts)}."
        ]

    def _marks(self) -> list[str]:
        changes = self.changes()
        verdicts, roles = changes.filter(kind="verdict"), changes.filter(kind="role")
        parts = []
        told = verdicts.filter(pl.coalesce("after", "before") != HEALTHY)
        for word, end in (("gained", "after"), ("lost", "before")):
            counted = told.drop_nulls(end).group_by(end).len().sort("len", end, descending=True)
            each = [f"{count} {name}" for name, count in counted.rows()]
            parts.append(f"{word}: {listed(each) if each else 'none'}")
        judged = verdicts.drop_nulls("beyond")
        sure = judged["beyond"].sum()
        how = f"; {sure} of {judged.height} on a number that differs by over two errors"
        said = f"Verdicts {'; '.join(parts)}{how * bool(judged.height)}."
        return [said, f"{roles.height or 'No'} role{'s' * (roles.height != 1)} changed."]

    def _farthest(self) -> list[str]:
        heads = self.heads().drop_nulls("distance").filter(pl.col("distance") > 0).head(_FEW)
        parts = [
            f"{head_name(row['layer'], row['occurrence'], row['head'])} by {row['distance']:.2g} "
            f"({row['measure']} {signed(row['difference'])})"
            for row in heads.to_dicts()
        ]
        told = f"Farthest moved, in standard deviations over heads: {listed(parts)}."
        return [told] * bool(parts)

    def __repr__(self) -> str:
        changed = self.changes().height
        return f"<comparison of {self.caption()}; {changed} verdicts and roles changed>"


def _beyond(row: dict[str, Any]) -> str:
    mean = signed(row["difference"], row["error"])
    return f"{row['beyond']} heads, {row['by_chance']:.0f} by chance; mean {mean}"


def _side_words(row: dict[str, Any]) -> str:
    weights = f" ({row['quantisation']} weights)" if row["quantisation"] else ""
    windows = f"{row['windows']} window{'s' * (row['windows'] != 1)} of {row['length']} tokens"
    error = "" if row["loss_error"] is None else f" ± {row['loss_error']:.2g}"
    loss = "" if row["loss"] is None else f", loss {row['loss']:.4f}{error}"
    return f"{row['model']}{weights}, {row['text']}, {windows}{loss}"
