"""Terminal tables: readable at any width, and without colour."""

import polars as pl
import pytest
from rich.console import Console

from headgauge.report import tables
from headgauge.scanning import summary
from headgauge.scanning import verdicts as judging
from headgauge.scanning.overview import remedies
from report.page.results import outlook_frame


def shown(table, width, **how):
    console = Console(width=width, highlight=False, **how)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_heads_are_stacked_and_lose_nothing(head_table, width):
    text = shown(tables.heads_table(head_table, 3), width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert "saturated, idle sink, inactive" in text
    assert "…" not in text.replace("… and 7 more", "")
    assert sum("saturated" in line for line in lines) == 1
    for heading in ("sink", "Jacobian", "windows", "off-sink", "logit", "effective", "entropy"):
        assert heading in text
    # Layer and head stand in front of every block.
    blocks = sum(line.startswith("layer") for line in lines)
    assert (blocks > 1) == (width < 200)
    assert sum(line.split()[:2] == ["2", "2"] for line in lines) == blocks


def test_the_rest_is_counted_and_the_order_kept(head_table):
    text = shown(tables.heads_table(head_table, 2), 80)
    assert [line.split()[0] for line in text.splitlines() if "0.12" in line] == ["0", "1"] * 2
    assert "unstable" not in text
    assert "… and 8 more" in text
    assert "more" not in shown(tables.heads_table(head_table, 10), 80)


def test_words_stay_where_colours_are_off(head_table):
    table = tables.heads_table(head_table, 3)
    assert "\x1b" not in shown(table, 80, no_color=True, force_terminal=False)
    assert "\x1b[33msaturated" in shown(table, 80, color_system="standard", force_terminal=True)


def test_module_and_call_appear_only_where_they_tell_something(head_table):
    assert "module" not in shown(tables.heads_table(head_table, 3), 120)
    kinds = ["encoder.0.attn"] * 5 + ["decoder.0.attn"] * 5
    other = head_table.with_columns(
        module=pl.Series(kinds), occurrence=pl.Series([0, 1] * 5, dtype=pl.Int64)
    )
    text = shown(tables.heads_table(other, 10), 120)
    assert "call" in text
    assert "encoder" in text


def test_module_names_are_text_and_not_markup(head_table):
    odd = head_table.with_columns(module=pl.Series(["[red]a"] * 5 + ["[/]b"] * 5))
    assert "[red]a" in shown(tables.heads_table(odd, 10), 120)


def test_layers_show_counts_and_a_dot_for_none():
    layers = pl.DataFrame(
        {
            "layer": [0, 1],
            "occurrence": [0, 0],
            "module": ["layers.0.attn", "layers.1.attn"],
            "heads": [9, 9],
            "sink_weight": [0.25, None],
            "output_ratio": [1.0, 1.0],
            "idle sink": [4, 0],
            "inactive": [0, 0],
            "healthy": [5, 9],
        }
    )
    text = shown(tables.layers_table(layers), 80)
    assert "inactive" not in text
    rows = [line.split() for line in text.splitlines() if line.strip()[:1] in ("0", "1")]
    assert rows == [["0", "9", "4", "5", "0.25"], ["1", "9", "·", "9", "–"]]


def test_counts_are_words_numbers_and_bars():
    counts = pl.DataFrame(
        {
            "verdict": ["idle sink", "inactive", "healthy"],
            "heads": [5, 0, 5],
            "share": [0.5, 0.0, 0.5],
            "flipping": [1, 0, 0],
        }
    )
    text = shown(tables.counts_table(counts), 80)
    assert "50 %" in text
    assert "█" * 10 in text
    assert "inactive" not in text


def test_roles_are_counted_and_stand_beside_the_verdicts_with_what_a_head_is_worth(head_table):
    shares = {"heads": [3, 0], "share": [0.3, 0.0], "flipping": [1, 0]}
    counts = pl.DataFrame({"role": ["induction", "local"], **shares})
    text = shown(tables.roles_table(counts), 80)
    assert "induction" in text
    assert "30 %" in text
    assert "local" not in text
    text = shown(tables.heads_table(head_table, 3), 200)
    assert "role" not in text
    assert "± error" not in text
    known = head_table.with_columns(
        role=pl.lit("induction"), effect=pl.lit(-0.01234), effect_error=pl.lit(0.0004)
    )
    text = shown(tables.heads_table(known, 3, by="effect"), 200)
    assert "10 heads, those with a fault first, by effect" in text
    assert text.count("induction") == 3
    assert text.count("-0.0123 ± 0.0004") == 3
    alone = known.with_columns(effect_error=pl.lit(None, pl.Float64), contribution=pl.lit(0.25))
    text = shown(tables.heads_table(alone, 3, by="contribution"), 200)
    assert "±" not in text.replace("± error", "")
    assert text.count("0.250") == 3


def test_the_outlook_has_a_span_or_says_that_there_is_none():
    text = shown(tables.outlook_table(outlook_frame(), 8192), 80)
    assert "90 to 150" in text
    assert "0 to 0" not in text
    assert "8192" in text


def test_the_legend_explains_only_what_occurs(frames):
    worth = {"effect": [0.0012, 0.5], "others_effect": [0.0034, None]}
    remedies = pl.DataFrame({"verdict": ["idle sink", "saturated"], **worth})
    text = " ".join(shown(tables.meaning_table(frames[2], remedies), 80).split())
    assert "Sink weight above 0.3 (a source) do something about idle sink." in text
    assert "Median effect 0.0012; of the other heads of these layers 0.0034." in text
    assert "Median effect 0.5000." in text
    assert "healthy" not in text
    assert "inactive" not in text


def test_the_frames_of_diagnostics_are_what_is_shown(make_run):
    heads, curves = make_run(layers=2, heads=3)
    verdicts = judging.verdicts(heads, curves)
    table = summary.head_table(heads, curves, verdicts)
    for view in (
        tables.heads_table(table, 2),
        tables.layers_table(summary.layer_summary(table)),
        tables.counts_table(summary.counts(verdicts)),
        tables.meaning_table(verdicts, remedies(verdicts, table)),
    ):
        assert "inactive" in shown(view, 80)


def _layers(**more):
    found = {
        "layer": [0, 1, 2],
        "mean_cosine": [0.0861, 0.5, 0.999],
        "predicted_cosine": [0.0861, 0.9, 1.0],
        "radius": [2.807, 44.09, 969.8],
        "predicted_radius": [2.807, 3.534, 81.62],
        "attention_norm": [2.8, 196.4, None],
        "other_norm": [44.04, 630.1, None],
        "speed": [1.563, 0.733, None],
        "attention_speed": [0.892, 0.116, None],
    }
    return pl.DataFrame(found | more)


def test_depth_by_layer_beside_its_prediction():
    lines = shown(tables.depth_table(_layers(), "pre_ln"), 80).splitlines()
    assert lines[0].strip() == "Depth: Pre-LN's prediction beside it"
    first = ["0", "0.086", "0.086", "2.81", "2.81", "2.80", "44.0", "1.56", "0.892"]
    assert lines[4].split() == first
    assert lines[6].split() == ["after", "0.999", "1.00", "970", "81.6", "–", "–", "–", "–"]
    assert "without MLPs" in lines[-1]


@pytest.mark.parametrize("width", [30, 40, 60, 80])
def test_depth_loses_no_column(width):
    text = shown(tables.depth_table(_layers(), "pre_ln"), width)
    assert max(map(len, text.splitlines())) <= width
    assert "turns" in text
    assert text.count("pre-") == 2
    assert "196" in text


def test_depth_without_a_scheme_has_no_prediction():
    nothing = pl.Series([None] * 3, dtype=pl.Float64)
    layers = _layers(predicted_cosine=nothing, predicted_radius=nothing)
    text = shown(tables.depth_table(layers, None), 80)
    assert "no scheme was recognised" in text
    assert "pre-" not in text
    assert "Predicted" not in text
