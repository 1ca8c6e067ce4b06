"""A reproduction for real: whole, the same every time, taken up where it was stopped."""

import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from headgauge import paper
from headgauge.errors import InputError
from headgauge.paper import reproducing
from headgauge.paper.choices import CHOICES, GUIDELINE_RULES
from headgauge.paper.verdicts import CLAIMS
from headgauge.runs import UnitKey
from headgauge.runs.paper_schema import PAPER_TABLES, UNTESTABLE
from headgauge.runs.schema import frame_schema

LENGTHS = (20, 40, 110)


def test_every_frame_has_its_schema_and_rows(kept):
    assert kept.paper.keys() == PAPER_TABLES.keys()
    for name, row in PAPER_TABLES.items():
        assert dict(kept.paper[name].schema) == dict(frame_schema(row)), name
        floats = kept.paper[name].select(pl.col(pl.Float64))
        assert not any(column.is_nan().any() for column in floats), name
        if "text" in row.__annotations__:
            assert set(kept.paper[name]["text"]) <= kept.scans.keys(), name
    # Growth begins at L = 256, and this run ends at 110.
    empty = {name for name, frame in kept.paper.items() if frame.is_empty()}
    assert empty == {"fig2c_growth"}


def test_the_papers_part_is_every_row_and_every_n(kept):
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet")
    own = curves.filter(window=0, rule="model", vectors="final", scale="unit", keys="all")
    for length in LENGTHS:
        here = own.filter(length=length)
        near = here.filter(pl.col("top_n") <= 100)
        assert near["top_n"].unique().to_list() == list(range(1, min(100, length - 1) + 1))
        assert near["rows"].unique().to_list() == [length]
        assert set(near.group_by("layer", "head").len()["len"]) == {min(100, length - 1)}
        assert near.select("layer", "head").n_unique() == 8
    beyond = own.filter(pl.col("top_n") > 100)
    assert beyond["length"].unique().to_list() == [110]
    assert beyond["top_n"].unique().to_list() == [103]
    assert beyond["rows"].unique().to_list() == [10]


def test_windows_rules_and_choices_are_drawn(kept):
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet")
    again = curves.filter(window=1)
    assert set(again["length"]) == set(LENGTHS)
    assert set(again["rows"]) == {12}
    assert again.select("vectors", "scale", "keys").n_unique() == 1
    assert set(again.filter(pl.col("length") < 110)["rule"]) == {"model"}
    assert set(again.filter(length=110)["rule"]) == {"model", *GUIDELINE_RULES}
    rules = curves.filter(pl.col("rule") != "model", window=0)
    assert set(rules["rule"]) == {"softmax T=2", "sparsemax", *GUIDELINE_RULES}
    assert set(rules["rows"]) == {12}
    assert set(rules.filter(pl.col("length") < 110)["top_n"]) == {5}
    others = curves.filter(pl.col("rule") == "model", window=0, length=110)
    names = set(others.select("vectors", "scale", "keys").rows())
    assert names == {tuple(vars(choice).values()) for choice in CHOICES}
    assert len(names) == 16
    drawn = others.filter(vectors="hidden", scale="raw", keys="all")
    assert set(drawn.filter(pl.col("top_n") <= 100)["rows"]) == {9}
    assert set(drawn.filter(pl.col("top_n") > 100)["rows"]) == {3}


def test_any_rule_can_be_put_on_the_logits(reproduce, settings):
    """Also those whose rows sum to anything, with weights below zero or above one."""
    asked = ("softmax", "entmax:alpha=1.3", "ssmax:b=0.1:s=0.2", "sa_softmax", "relu:exponent=0",
             "softmax_one", "topk:k=4", "entmax:alpha=1.5")  # fmt: skip
    small = {"lengths": (20,), "windows": 1, "others": False, "every_n": False, "paper_rows": 4,
             "drawn_rows": 4, "sensitivity_rows": 2, "sensitivity_rule_rows": 1}  # fmt: skip
    few = replace(settings, rules=asked, **small)
    rules = {"model", *asked} - {"ssmax:b=0.1:s=0.2", "entmax:alpha=1.5"}
    rules |= {"ssmax:s=0.2:b=0.1", "1.5-entmax"}
    found = reproduce(settings=few).paper
    assert set(found["vanishing"]["rule"]) == rules
    for name in ("fig2b", "fig2c", "fig3"):
        assert set(found[name]["rule"]) == {*rules, *GUIDELINE_RULES}, name
    # A softmax at another temperature is the figure itself, shifted.
    steps = {each for each in found["fig4"]["direction"] if " under " in each}
    assert steps == {f"random under {rule}" for rule in rules - {"model", "softmax"}}
    # Plain softmax is what the model does, on the same rows.
    curves = found["fig2b"].filter(measure="distance", vectors="final", scale="unit", keys="all")
    own, same = (curves.filter(rule=rule)["mean"].to_list() for rule in ("model", "softmax"))
    assert len(own) == 19
    assert same == pytest.approx(own, rel=1e-5)


def test_it_contains_a_scan_of_the_longest_windows(kept):
    assert set(kept.scan.heads["length"]) == {110}
    assert set(kept.scan.heads["window"]) == {0, 1}
    assert len(kept.scan.frame()) == 8
    assert set(kept.scan.curves["vectors"]) == {"value"}


def test_a_finished_run_is_read_again(kept, reproduce, parquet_bytes, settings):
    before = parquet_bytes(kept.folder)
    again = reproduce(out=kept.folder)
    assert again.timing == kept.timing  # the literal loops are timed once
    assert parquet_bytes(kept.folder) == before
    with pytest.raises(InputError, match="holds a run with other settings"):
        reproduce(out=kept.folder, settings=replace(settings, seed=1))


def test_random_weights_prove_nothing(kept):
    losses = [unit["loss"] for unit in kept.scan.manifest["units"].values()]
    assert losses == pytest.approx([math.log(100)] * 6, rel=0.03)
    said = kept.scan.untrained()
    assert said is not None
    assert said.startswith(f"random weights: a loss of {min(losses):.2f} nats")
    assert "guessing among 100 tokens" in said
    for table in (kept.paper["verdicts"], kept.paper["readings"]):
        assert table.height == len(CLAIMS)
        assert set(table["verdict"]) == {UNTESTABLE}
        assert set(table["comment"]) == {said}
    assert kept.scan.notes()[0] == said


def test_a_model_that_predicts_is_judged(kept):
    units = kept.scan.manifest["units"]
    trained = {name: unit | {"loss": 3.3} for name, unit in units.items()}
    scan = replace(kept.scan, manifest={**kept.scan.manifest, "units": trained})
    assert scan.untrained() is None
    nothing = {name: unit | {"loss": None} for name, unit in units.items()}
    unknown = replace(kept.scan, manifest={**kept.scan.manifest, "units": nothing})
    assert unknown.untrained() is None  # an encoder has no loss


def test_the_plan_has_a_unit_for_every_window_and_length(model, tokens, settings):
    source = reproducing.source_of(model, None, None, None)
    plan = paper.make_reproduction(source, tokens, settings).first
    keys = [UnitKey(window, length) for length in LENGTHS for window in range(2)]
    assert [unit.key for unit in plan.units] == keys
    assert isinstance(plan.settings, paper.ReproduceSettings)
    assert plan.settings.model_layers == 2
    first, longer = plan.units[0].ids, plan.units[-2].ids
    assert longer[: len(first)] == first


def test_a_single_text_is_looked_at_and_not_judged(kept, settings):
    """With weights that predict: one text, and a choice that was given."""
    frames = {name: kept.paper[name] for name in PAPER_TABLES.keys() - {"verdicts", "readings"}}
    scans = {"a": _trained(kept.scan)}
    paper, judging = reproducing.judged_frames({"a": frames}, scans, settings, False)
    words = set(paper["verdicts"]["verdict"])
    assert words <= {"one text: not judged", "too few rows to judge", UNTESTABLE}
    assert "one text: not judged" in words
    assert len(set(paper["readings"]["verdict"])) > len(words)  # what was seen is told
    assert judging.chosen_on is None
    assert judging.reading == ("scaled", "random")


def _trained(scan):
    units = {name: unit | {"loss": 3.3} for name, unit in scan.manifest["units"].items()}
    return replace(scan, manifest={**scan.manifest, "units": units})


def test_a_folder_keeps_no_place_of_this_machine(kept):
    for path in kept.folder.rglob("*.json"):
        assert str(Path.home()) not in path.read_text()
        assert str(kept.folder.parent) not in path.read_text()
