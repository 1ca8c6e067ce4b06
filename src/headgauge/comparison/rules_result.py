"""What a comparison of rules found: the loss under each, and every head's measures."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import polars as pl
from scipy import stats

from headgauge import runs
from headgauge.comparison.rules_sides import RuleSides
from headgauge.measure.bos_check import bos_notes
from headgauge.measure.effects import standard_error
from headgauge.measure.pass_times import PASS
from headgauge.measure.requests import OWN
from headgauge.normalizers import RULES, asked_rules
from headgauge.runs.schema import RuleRow, frame_schema
from headgauge.scanning.summary import guessing
from headgauge.shown import Shown

FITTED = "softmax:temperature=fit"  # always a row
LEVEL = 0.95  # of the intervals that decide


def over_windows(rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each rule: means and standard errors over the windows, in the order asked."""
    fitted = rows.filter(rule=FITTED).select("window", "length", fitted="loss")
    beside = rows.join(fitted, on=("window", "length"), how="left", maintain_order="left")
    beside = beside.with_columns(beyond=pl.col("loss") - pl.col("fitted"))
    found = beside.group_by("place", "rule").agg(
        pl.len().cast(pl.Int64).alias("windows"),
        *(
            # A window without a number is none less: the mean would be over others.
            pl.when(pl.col(name).null_count() == 0).then(pl.mean(name)).alias(name)
            for name in ("loss", "difference", "beyond", "kl", "agreement")
        ),
        standard_error("loss").alias("loss_error"),
        standard_error("difference").alias("error"),
        standard_error("beyond").alias("beyond_error"),
    )
    return found.sort("place").select(*frame_schema(RuleRow))


@dataclass(frozen=True, eq=False, repr=False)
class RuleComparison(runs.Run, Shown):
    """The tables of `runs.RULES` by name.

    `manifest` says how they came about, `folder` where they are kept (None: only here).
    """

    @staticmethod
    def of(run: runs.Run) -> "RuleComparison":
        return RuleComparison(run.manifest, run.tables, None, run.folder)

    @staticmethod
    def load(folder: str | Path) -> "RuleComparison":
        """A finished run from its folder."""
        return RuleComparison.of(runs.load_run(folder, runs.RULES))

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        return runs.RULES.is_in(folder)

    def rules(self) -> pl.DataFrame:
        """One row per rule, the original first: its bare name and its parameters, the loss and its
        paired difference to the original's, the distance of the predictions, the time of a pass
        against plain sdpa and eager attention."""
        return self._rules

    @cached_property
    def _rules(self) -> pl.DataFrame:
        spent = self.pass_seconds()
        rows = []
        for row in self.tables["rules"].rows(named=True):
            text = row.pop("rule")
            row.pop("place")
            # The original is timed as its own kernel.
            own = spent.get(self._kernel() if text == OWN else text)
            ratios = {
                f"to_{kernel}": own / spent[kernel] if own and kernel in spent else None
                for kernel in ("sdpa", "eager")
            }
            named = {"text": text, "rule": bare_name(text), "parameters": self.words(text)}
            rows.append(named | row | {"seconds": own} | ratios)
        texts = ("text", "rule", "parameters")
        types = {name: pl.String if name in texts else pl.Float64 for name in rows[0]}
        return pl.DataFrame(rows, schema=types | {"windows": pl.Int64})

    def parameters(self, text: str) -> dict[str, Any]:
        """Of a rule as it was asked for, with what was fitted: a number, or one by layer ("L3") or
        head ("L3H5")."""
        if text == OWN:
            return {}
        (rule,) = asked_rules(text)
        found: dict[str, Any] = dict(rule.parameters)
        for name, scope in rule.fitted.items():
            own = self.tables["fits"].filter(rule=text, parameter=name)
            rows = own.select("layer", "head", "value").rows()
            found[name] = (
                rows[0][2]
                if scope == "model"
                else {
                    f"L{layer}" + ("" if head is None else f"H{head}"): value
                    for layer, head, value in rows
                }
            )
        return found

    def words(self, text: str) -> str:
        """The same for a reader: several numbers by their range."""
        said = []
        for name, value in self.parameters(text).items():
            if isinstance(value, Mapping):
                low, high = min(value.values()), max(value.values())
                said.append(f"{name} = {low:.3g} to {high:.3g}")
            else:
                said.append(f"{name} = {value:.4g}")
        return ", ".join(said)

    def title(self, text: str) -> str:
        """A rule with its numbers, for tables and figures."""
        if text == OWN:
            return "the model's own"
        (rule,) = asked_rules(text)
        numbers = self.words(text)
        scopes = dict.fromkeys(rule.fitted.values())
        by = "".join(f" by {scope}" for scope in scopes if scope != "model")
        return bare_name(text) + f" {numbers}" * bool(numbers) + f" (fitted{by})" * bool(scopes)

    def texts(self) -> list[str]:
        """The rules as they were asked for, the original ("model") first."""
        return self.tables["rules"]["rule"].to_list()

    def sides(self) -> RuleSides:
        """The heads under each rule as a scan has them, and what differs from the original."""
        return self._sides

    @cached_property
    def _sides(self) -> RuleSides:
        titles = {text: self.title(text) for text in self.texts()}
        return RuleSides(self.manifest, self.tables, titles)

    def pass_seconds(self) -> dict[str, float]:
        """Of one pass over the first window, side by side: plain sdpa and eager, every rule."""
        units = self.manifest["times"]["units"].values()
        return {
            name.removeprefix(PASS): seconds
            for unit in units
            for name, seconds in unit.items()
            if name.startswith(PASS)
        }

    def _kernel(self) -> str:
        return str(self.manifest["settings"]["model"]["attention"])

    def reach(self, row: Mapping[str, Any], number: str = "difference") -> float | None:
        """Half the 95 % interval of a difference, by Student's t over windows; None with one."""
        error = row["error" if number == "difference" else f"{number}_error"]
        if error is None or row["windows"] < 2:
            return None
        return error * float(stats.t.isf((1 - LEVEL) / 2, row["windows"] - 1))

    def decided(self, row: Mapping[str, Any], number: str = "difference") -> str:
        """Whether the interval of a difference leaves out 0: "better" or "worse", else "undecided";
        "the same" where no window differs at all."""
        reach = self.reach(row, number)
        if row[number] == 0 and not reach:
            return "the same"
        if reach is None or row[number] is None or abs(row[number]) <= reach:
            return "undecided"
        return "better" if row[number] < 0 else "worse"

    def finding(self) -> str:
        """What was found, in a paragraph."""
        own, *others = self.rules().rows(named=True)
        titles = {row["text"]: self.title(row["text"]) for row in others}
        windows = f"{own['windows']} window{'s' * (own['windows'] > 1)}"
        if own["loss"] is None:
            return f"The original model's loss is no number on {windows}: nothing can be compared."
        said = [f"The original model has a loss of {own['loss']:.4f} nats per token on {windows}."]
        words = {each: [r for r in others if self.decided(r) == each] for each in _SAID}
        for word, rows in words.items():
            if rows:
                listed = [f"{titles[row['text']]} ({_signed(row)})" for row in _by_loss(rows)]
                said.append(f"{_SAID[word]}: {'; '.join(listed)}.")
        said.append(self._beyond(others, titles))
        said.append("The weights were trained for the original rule: training could change all.")
        return " ".join(filter(None, said))

    def _beyond(self, others: list[dict[str, Any]], titles: dict[str, str]) -> str:
        """Whether anything does more than sharpen or flatten."""
        rest = [row for row in others if row["text"] != FITTED and row["beyond"] is not None]
        if not rest:
            return ""
        better = [row for row in rest if self.decided(row, "beyond") == "better"]
        if not better:
            return f"None is better than {titles[FITTED]} beyond doubt."
        named = "; ".join(f"{titles[row['text']]} by {-row['beyond']:.4f}" for row in better)
        return f"Better than {titles[FITTED]}: {named}."

    def stands(self) -> list[str]:
        """What the numbers stand on."""
        fits = self.tables["fits"]
        kept = fits["windows"].max() if fits.height else 0
        return [
            self.caption(),
            f"parameters fitted on {kept} window{'s' * (kept != 1)} behind those that are judged",
        ]

    def warnings(self) -> list[str]:
        """Why the numbers may be no result: said before any of them."""
        losses = self.tables["window_rules"].filter(rule=OWN)["loss"].drop_nulls().to_list()
        found = guessing(losses, self._model()["facts"].get("vocabulary"))
        return [found] if found else []

    def notes(self) -> list[str]:
        """What a reader must know."""
        found = [*self.manifest["notes"], *bos_notes(self.manifest)]
        units = self.manifest["units"].values()
        for name in sorted({name for unit in units for name in unit["unseen"]}):
            found.append(f"{name} could not be measured: it is in no table of heads")
        broken = self.tables["rules"].filter(pl.col("loss").is_null())["rule"].to_list()
        found += [f"{text}: the loss is no number in some window" for text in broken]
        found += self._ends()
        if len(self.manifest["units"]) < 2:
            found.append("one window: differences have no error, and nothing is decided")
        return found

    def _ends(self) -> list[str]:
        """Fits that stopped at an end of the range they looked in."""
        found, fits = [], self.tables["fits"]
        for (text, name), own in fits.group_by("rule", "parameter", maintain_order=True):
            fit, values = RULES[bare_name(str(text))].fits()[str(name)], own["value"]
            ends = ((values - fit.low).abs() < 1e-9) | ((values - fit.high).abs() < 1e-9)
            if ends.any():
                few = "its number is" if len(values) == 1 else f"{ends.sum()} of its numbers are"
                found.append(f"{text}: {few} at an end of the range, {fit.low:g} to {fit.high:g}")
        return found

    def caption(self) -> str:
        """What was measured, in a line."""
        model = self._model()
        data = cast(runs.Data, self.manifest["data"])
        weights = f" ({model['quantisation']} weights)" if model["quantisation"] else ""
        chosen = self.manifest["settings"]
        windows = f"{chosen['windows']} window{'s' * (chosen['windows'] > 1)}"
        where = ""
        for what in ("layers", "heads"):
            if chosen[what] is not None:
                where += f", {what} {', '.join(map(str, chosen[what]))}"
        return (
            f"{model['name']}{weights}, {data['name']}, {windows} of {max(chosen['lengths'])} "
            f"tokens{where}"
        )

    def model_name(self) -> str:
        return self._model()["name"]

    def _model(self) -> runs.Model:
        return cast(runs.Model, self.manifest["model"])  # described before it runs

    def document(self) -> list[dict[str, Any]]:
        """The rules as `--json` prints them."""
        rows = self.rules().rows(named=True)
        return [row | {"parameters": self.parameters(row["text"])} for row in rows]

    def __repr__(self) -> str:
        return f"<comparison of {len(self.texts()) - 1} rules: {self.caption()}>"


_SAID = {
    "better": "Lower than that",
    "the same": "The same",
    "undecided": "Not to be told from it",
    "worse": "Higher",
}


def bare_name(text: str) -> str:
    return text.partition(":")[0]


def _by_loss(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: math.inf if row["loss"] is None else row["loss"])


def _signed(row: Mapping[str, Any]) -> str:
    if row["difference"] is None:
        return "no number"
    error = "" if row["error"] is None else f" ± {row['error']:.4f}"
    return f"{row['difference']:+.4f}{error}".replace("-", "−")
