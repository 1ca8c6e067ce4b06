"""The map of heads, the panel of one and the list of all."""

import polars as pl
import pytest
from selenium.webdriver.common.keys import Keys

from headgauge.registry.measures import GROUPS
from headgauge.registry.names import ROLES, VERDICTS
from headgauge.report.page import page, write_page
from headgauge.report.page.heads import heads_part
from headgauge.scanning.thresholds import DEFAULT
from report.page.results import (
    HEADS,
    NS,
    SCRIPT,
    curve_rows,
    distance,
    fake_scan,
    head_rows,
    sample_rows,
)


def cell(reader, layer, head):
    return reader.one(f"#heads .cell[data-cell='{layer * HEADS + head}']")


def faint(reader):
    """The heads that do not stand out on the map."""
    return {int(each.get_attribute("data-cell")) for each in reader.all("#heads .cell.faint")}


def pressed(reader):
    return [e.get_attribute("data-mark") for e in reader.all(".chip[aria-pressed='true']")]


def test_the_worst_head_is_open_and_chips_filter_the_map_and_the_list(scan):
    first = scan.first("#all-heads tbody tr button").text
    assert scan.text("#head-panel h3") == first
    on_top = scan.one("#overview .chip[data-mark='idle sink']")
    assert on_top.text.split() == ["S", "idle", "sink", "4", "33", "%"]
    last = set(range(2 * HEADS, 3 * HEADS))
    scan.press(on_top)
    beside = scan.one("#heads .chip[data-mark='idle sink']")
    assert scan.run("return document.activeElement") == beside
    assert scan.one("#mark-filter").get_attribute("value") == "idle sink"
    assert faint(scan) == set(range(3 * HEADS)) - last
    assert pressed(scan) == ["idle sink", "idle sink"]
    scan.choose(scan.one("#map-measure"), "sink_weight")
    assert faint(scan) == set(range(3 * HEADS)) - last
    scan.choose(scan.one("#map-measure"), "verdicts")
    scan.press(beside)  # again: all
    assert (faint(scan), pressed(scan)) == (set(), [""])
    scan.choose(scan.one("#mark-filter"), "saturated")
    assert (len(faint(scan)), pressed(scan)) == (2 * HEADS, ["saturated", "saturated"])
    scan.press(scan.one("#heads .chip[data-mark='']"))
    assert len(scan.all("#all-heads tbody tr")) == 3 * HEADS


def test_a_head_has_a_link_and_similar_heads_are_links(scan, pages):
    scan.press(cell(scan, 1, 3))
    assert scan.run("return location.hash") == "#L1H3"
    near = [each.text for each in scan.all("#head-panel .similar a")]
    numbers = heads_part(fake_scan())["similar"][HEADS + 3]
    assert near == [f"L{number // HEADS}H{number % HEADS}" for number in numbers]
    assert len(near) == 5
    scan.press(scan.first("#head-panel .similar a"))
    layer, head = numbers[0] // HEADS, numbers[0] % HEADS
    assert scan.text("#head-panel h3") == f"Layer {layer}, head {head}"
    assert cell(scan, layer, head).get_attribute("aria-selected") == "true"
    scan.press(scan.first("#finding a"))
    assert scan.text("#head-panel h3") == scan.first("#all-heads tbody tr button").text
    scan.opened = None
    scan.browser.get("about:blank")
    scan.browser.get(f"{pages('scan').as_uri()}#L0H2")
    scan.settle()
    assert scan.text("#head-panel h3") == "Layer 0, head 2"
    top = scan.run("return document.getElementById('head-panel').getBoundingClientRect().top")
    assert 0 <= top < 200


def test_later_calls_of_a_shared_module_have_room_and_links_of_their_own(scan, tmp_path):
    twice = [
        frame.with_columns(pl.lit(call).cast(pl.Int64).alias("occurrence"))
        for frame in (head_rows(), curve_rows(), sample_rows())
        for call in (0, 1)
    ]
    names = ("heads", "curves", "samples")
    tables = {name: pl.concat(twice[2 * i : 2 * i + 2]) for i, name in enumerate(names)}
    scan.open(write_page(tmp_path, page(fake_scan(**tables))))
    scan.press(scan.one(f"#heads .cell[data-cell='{3 * HEADS + 1}']"))
    assert scan.text("#head-panel h3") == "Layer 1 call 2, head 1"
    assert scan.run("return location.hash") == "#L1H1-call-2"
    lefts = scan.run(
        "return [...document.querySelectorAll('#heads .heat .tick')]"
        ".filter(e => e.textContent.includes('call')).map(e => e.getBBox().x)"
    )
    assert len(lefts) == 3
    assert min(lefts) > 0


def test_the_chosen_cell_is_seen_on_dark_and_verdicts_at_390_px(scan, pages):
    scan.open(pages("scan"), width=390, theme="dark")
    scan.press(cell(scan, 2, 1))
    rings = scan.run(
        "return [...document.querySelectorAll('#heads .chosen-ring rect')].map(e => [e.getBBox().x,"
        " getComputedStyle(e).stroke, getComputedStyle(e).visibility])"
    )
    at = scan.run("return arguments[0].firstChild.getBBox().x", cell(scan, 2, 1))
    assert [ring[0] for ring in rings] == [at, at]
    assert rings[0][1] == "rgb(0, 0, 0)"
    assert rings[1][1] != rings[0][1]
    assert {ring[2] for ring in rings} == {"visible"}
    right = scan.run(
        "return Math.max(...[...document.querySelectorAll('#all-heads td:nth-child(2) .verdict')]"
        ".map(e => e.getBoundingClientRect().right))"
    )
    assert right <= 390 - 16


def test_a_head_opens_with_its_verdicts_measures_and_tokens(scan):
    scan.press(cell(scan, 2, 1))
    panel = scan.one("#head-panel")
    assert scan.text("#head-panel h3") == "Layer 2, head 1"
    cards = [each.text for each in scan.all("#head-panel .verdict-card")]
    (card,) = [each for each in cards if "idle sink" in each.split("\n")]
    (line,) = [each.value for each in DEFAULT if each.verdict == "idle sink"]
    assert f"0.61, above the threshold {line}" in card
    assert "Threshold: " in card
    assert "reads key and value head 0" in panel.text
    rows = [each.text for each in scan.all("#head-panel tbody tr")]
    (sink,) = [row for row in rows if row.startswith("Sink weight")]
    assert sink.split()[-3:] == ["0.61", "0.61", "0.61"]  # all windows, then each
    (off,) = [row for row in rows if row.startswith("Entropy share off the sink")]
    assert [each for each in off.split()[-3:] if "–" in each] == []
    query = scan.first("#head-panel .query").text
    assert query.startswith("</td>")
    assert "query 40 of window 0, sees 41 keys" in query
    weights = [each.text for each in scan.all("#head-panel .sample li .number:not(.where)")]
    assert weights[:2] == ["0.501", "0.251"]
    assert scan.first("#head-panel .token").text == "</td>"
    assert SCRIPT in [each.text for each in scan.all("#head-panel .sample li .token")]


def test_a_heads_curves_follow_the_choice(scan):
    scan.press(cell(scan, 1, 3))
    for choice in (1, 0):
        scan.choose(scan.one("#map-choice"), str(choice))
        expected = {
            n: (distance(1, 3, n, choice, 0) + distance(1, 3, n, choice, 1)) / 2 for n in NS
        }
        assert scan.line("#head-panel", "distance") == pytest.approx(expected, rel=1e-4)


def test_the_map_shows_verdicts_by_letter_and_measures_by_colour(scan):
    letters = [each.text for each in cell(scan, 2, 0).find_elements("css selector", "text")]
    assert letters == [VERDICTS["idle sink"].letter]
    assert "idle sink" in cell(scan, 2, 0).get_attribute("aria-label")
    verdicts = scan.one("#map-measure").get_attribute("value")
    scan.choose(scan.one("#map-measure"), "sink_weight")
    assert "Sink weight: 0.025" in scan.point_at(cell(scan, 0, 1))  # the mean of 0.02 and 0.03
    fills = [
        cell(scan, layer, 0).find_element("css selector", "rect").get_attribute("fill")
        for layer in (0, 2)
    ]
    assert fills[0] != fills[1]
    assert "weight on the first token" in scan.text("#heads .map-legend")
    # Measures over N have a choice of N.
    assert not scan.one("#map-n").is_displayed()
    scan.choose(scan.one("#map-measure"), "curve distance")
    assert scan.one("#map-n").get_attribute("value") == "16"
    scan.choose(scan.one("#map-n"), "4")
    value = (distance(1, 1, 4, 0, 0) + distance(1, 1, 4, 0, 1)) / 2
    assert f"Distance d̃ at N = 4: {value:.5g}" in scan.point_at(cell(scan, 1, 1))
    scan.choose(scan.one("#map-measure"), verdicts)


def test_roles_colour_the_map_filter_it_and_stand_in_panel_and_list(scan):
    scan.choose(scan.one("#map-measure"), "roles")
    letters = {
        at: [each.text for each in cell(scan, *at).find_elements("css selector", "text")]
        for at in ((0, 3), (2, 0), (0, 0))
    }
    roles = {"induction": (0, 3), "sink-idle": (2, 0)}
    assert all(letters[at] == [ROLES[role].letter] for role, at in roles.items())
    assert letters[0, 0] == []
    assert "mixed" in scan.point_at(cell(scan, 0, 0))
    chip = scan.one("#heads .chip[data-mark='induction']")
    assert chip.text.split() == ["I", "induction", "3", "25", "%"]
    scan.press(chip)
    assert faint(scan) == set(range(3 * HEADS)) - {3, 7, 11}
    assert len(scan.all("#all-heads tbody tr")) == 3
    assert scan.one("#mark-filter").get_attribute("value") == "induction"
    assert scan.first("#all-heads tbody tr td:nth-child(3)").text.split() == ["I", "induction"]
    scan.press(chip)
    scan.press(cell(scan, 0, 3))
    assert "Induction score: 0.4, above the line 0.3" in scan.text("#head-panel .verdict-card")
    scan.press(cell(scan, 0, 0))
    assert "not above the line" in scan.text("#head-panel .verdict-card")
    scan.choose(scan.one("#map-measure"), "verdicts")


def test_what_a_head_does_stands_in_groups_and_not_in_the_table_of_windows(scan):
    scan.press(cell(scan, 1, 2))
    held = {
        each.find_element("css selector", "h5").text: each.text.split("\n")[1:]
        for each in scan.all("#head-panel .does > div")
    }
    groups = list(GROUPS)
    assert list(held) == groups[1:]
    copies = dict(zip(held["What it copies"][::2], held["What it copies"][1::2], strict=True))
    assert copies["Induction score"] == "0.30"
    names = [each.text for each in scan.all("#head-panel td .name")]
    assert "Sink weight" in names
    assert "Induction score" not in names
    offered = [each.get_attribute("label") for each in scan.all("#map-measure optgroup")]
    assert offered == [*groups, "Over N"]


def test_effects_have_a_middle_an_error_and_a_figure_without_a_second_copy(scan):
    scan.choose(scan.one("#map-measure"), "effect")
    assert "Effect: 1.0005 ± 0.0005" in scan.point_at(cell(scan, 0, 1))
    assert [each.text for each in scan.all("#heads .colour-ends span")] == ["−1", "0", "1"]
    scan.choose(scan.one("#map-measure"), "verdicts")
    scan.press(cell(scan, 1, 3))
    assert "Effect: 0.0205 ± 0.0005" in scan.text("#head-panel .verdict-card")
    listed = {row.text.split(" ± ")[0].split()[-1] for row in scan.all("#all-heads tbody tr")}
    assert "−0.0095" in listed
    mass = "#worth .chart-whole:nth-child(2)"
    scan.choose(scan.one("#worth select"), "Where it looks")
    assert "Weight on the token before" in scan.text(mass)
    later = scan.line(mass, "layer 2")
    assert later == pytest.approx({0.1: -0.0095, 0.2: 0.0005, 0.3: 0.0105, 0.4: 0.0205})
    # Linear around zero, logarithmic beyond: 1 is not so far from .02 as it would be.
    drawn = scan.run(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(e => [e.dataset.y, e.getBBox().y])",
        f"{mass} .marker",
    )
    at = {round(float(y), 4): top for y, top in drawn}
    assert at[1.0005] < at[0.0205] < at[0.0105] < at[0.0005] < at[-0.0095]
    assert at[0.0205] - at[1.0005] < 4 * (at[0.0005] - at[0.0205])
    tip = scan.point_at(scan.one(f"{mass} [data-series='layer 0'] .marker[data-x='0.4']"))
    assert "L0H3" in tip
    scan.choose(scan.one("#worth select"), "Weights and outputs")


def test_the_keyboard_walks_the_map_and_opens_a_head(scan):
    scan.press(cell(scan, 0, 0))
    scan.run("arguments[0].focus()", cell(scan, 0, 0))
    scan.keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    focused = scan.run("return document.activeElement.dataset.cell")
    assert focused == str(HEADS + 2)
    assert "Layer 1, head 2" in scan.tooltip()
    assert scan.text("#head-panel h3") == "Layer 0, head 0"
    scan.keys(Keys.ENTER)
    assert scan.text("#head-panel h3") == "Layer 1, head 2"
    scan.keys(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP)  # stops at the edge
    assert scan.run("return document.activeElement.dataset.cell") == "2"


def test_the_list_is_filtered_sorted_and_opens_heads(scan):
    scan.choose(scan.one("#mark-filter"), "idle sink")
    heads = [each.text for each in scan.all("#all-heads tbody button")]
    assert sorted(heads) == [f"Layer 2, head {head}" for head in range(HEADS)]
    (sort,) = [each for each in scan.all("#all-heads .sort") if each.text == "sink weight"]
    scan.press(sort)
    heads = [each.text for each in scan.all("#all-heads tbody button")]
    assert heads == [f"Layer 2, head {head}" for head in (3, 2, 1, 0)]
    scan.press(scan.first("#all-heads tbody button"))
    assert scan.text("#head-panel h3") == "Layer 2, head 3"
    assert cell(scan, 2, 3).get_attribute("aria-selected") == "true"


def test_on_a_phone_pressing_a_cell_brings_the_panel(scan, pages):
    scan.open(pages("scan"), width=390, height=600)
    scan.press(cell(scan, 1, 1))
    top = scan.run("return document.getElementById('head-panel').getBoundingClientRect().top")
    assert 0 <= top < 400


def test_a_model_of_two_kinds_with_places_without_heads_and_nothing_over_n(scan, tmp_path):
    kind = (
        pl.when(pl.col("layer") < 2)
        .then(pl.lit("encoder.{}.attn"))
        .otherwise(pl.lit("decoder.{}.attn"))
    )
    heads = head_rows().filter(~((pl.col("layer") == 1) & (pl.col("head") == 1)))
    heads = heads.with_columns(
        kind.str.replace("{}", pl.col("layer").cast(pl.String), literal=True).alias("module"),
        pl.lit(None, dtype=pl.Float64).alias("output_norm"),
        pl.when(pl.col("layer") > 0).then("jacobian_norm").alias("jacobian_norm"),
    )
    curves, samples = curve_rows().clear(), sample_rows().clear()
    odd = fake_scan(heads=heads, curves=curves, samples=samples)
    scan.open(write_page(tmp_path, page(odd)))
    assert "encoder" in scan.text("#heads .heat")
    assert "decoder" in scan.text("#heads .heat")
    scan.press(scan.one("#heads .cell[data-cell='4']"))  # the first of layer 1
    scan.run("arguments[0].focus()", scan.one("#heads .cell[data-cell='4']"))
    scan.keys(Keys.ARROW_RIGHT, Keys.ENTER)
    assert scan.text("#head-panel h3") == "Layer 1, head 2"  # over the gap
    assert "No rows of this head were kept." in scan.text("#head-panel")
    assert scan.all("#head-panel svg.chart") == []
    offered = [each.get_attribute("value") for each in scan.all("#map-measure option")]
    assert "output_norm" not in offered
    assert "curve distance" not in offered
    scan.choose(scan.one("#map-measure"), "jacobian_norm")
    assert "not measured" in scan.one("#heads .cell[data-cell='0']").get_attribute("aria-label")
    assert "Grey: not measured." in scan.text("#heads .map-legend")
