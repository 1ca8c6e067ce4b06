import pytest

from headgauge.report.page.paper import paper_data
from headgauge.runs.paper_schema import PAPER_TABLES
from report.page.paper_frames import CHOICES, LENGTHS, TEXTS, distance_at, paper_frames


def test_every_table_reaches_the_page():
    data = paper_data(paper_frames())
    assert set(data) == {*PAPER_TABLES, "texts", "chosen_on"}
    assert data["verdicts"]["claim"] == paper_frames()["verdicts"]["claim"].to_list()


def test_a_line_holds_its_numbers_in_order():
    frames = paper_frames()
    shuffled = frames["fig2a"].sample(fraction=1.0, shuffle=True, seed=1)
    (line,) = [
        group
        for group in paper_data({"fig2a": shuffled})["fig2a"]
        if group["fixed"]["measure"] == "distance"
        and group["fixed"]["text"] == TEXTS[0]
        and (group["fixed"]["vectors"], group["fixed"]["keys"]) == ("value", "visible")
    ]
    assert line["lists"]["length"] == list(LENGTHS)
    expected = [distance_at(CHOICES[0], length, 5) for length in LENGTHS]
    assert line["lists"]["mean"] == pytest.approx(expected, rel=1e-4)


def test_only_separability_keeps_how_the_heads_spread():
    for group in paper_data(paper_frames())["fig3"]:
        drawn = group["fixed"]["measure"] == "separability"
        assert ("median" in group["lists"]) is drawn


def test_a_panel_of_figure_1_holds_s_and_r_once():
    panels = paper_data(paper_frames(TEXTS[:1]))["fig1"]
    assert [(p["fixed"]["panel"], p["fixed"]["head"]) for p in panels] == [
        ("circle", None),
        ("model", 1),
        ("model", 2),
    ]
    assert panels[0]["fixed"]["radius"] == 0.42
    assert len(panels[0]["lists"]["weight"]) == panels[0]["size"] == 40


def test_an_empty_table_is_left_out():
    frames = paper_frames()
    assert "fig4" not in paper_data({**frames, "fig4": frames["fig4"].clear()})


def test_texts_have_what_they_are_there_for():
    names = [{"name": TEXTS[0], "role": "for choosing"}, {"name": TEXTS[1], "role": "for judging"}]
    assert paper_data(paper_frames(), TEXTS[0])["texts"] == names
    asked_for = paper_data(paper_frames(), None)
    assert [each["role"] for each in asked_for["texts"]] == ["", ""]
    alone = paper_data(paper_frames(TEXTS[:1]), TEXTS[0])
    assert alone["texts"] == [{"name": TEXTS[0], "role": ""}]
