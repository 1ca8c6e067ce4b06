"""The page as a whole, in a browser: it opens offline, fits, and runs nothing but itself."""

import pytest
from selenium.webdriver.common.keys import Keys

from headgauge.report.page import write_page
from report.page.results import SCRIPT, WINDOWS, page_content
from report.page.paper_frames import TEXTS, WORDS, paper_frames


def sections(reader):
    return [each.get_attribute("id") for each in reader.all("main > section")]


def test_a_reproduction_has_every_section_and_a_scan_only_its_own(reproduction):
    assert sections(reproduction) == [
        *("verdict", "figures", "choices", "heads", "timing", "claims", "manifest")
    ]
    links = [each.get_attribute("href").split("#")[1] for each in reproduction.all("#nav a")]
    assert links == ["top", *sections(reproduction)]


def test_a_scan_has_no_trace_of_the_paper(scan):
    assert sections(scan) == ["heads", "manifest"]
    assert "claims of the paper" not in scan.text("#overview")
    assert scan.all("figure") == []
    scan.press(scan.first(".cell[data-head='5']"))
    assert scan.text("#head-panel h3") == "Layer 1, head 1"


def test_no_request_leaves_the_page(reproduction, reproduction_page):
    asked = reproduction.requests()
    assert asked
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} == {
        reproduction_page.as_uri()
    }


def test_the_policy_stops_what_would_fetch_or_run(reproduction):
    reproduction.run(
        "const made = document.createElement('script'); made.textContent = 'window.hacked = 3';"
        "document.body.append(made); const seen = document.createElement('img');"
        "seen.src = 'https://example.invalid/a.png'; document.body.append(seen);"
    )
    reproduction.settle()
    assert reproduction.run("return window.hacked") is None
    said = " ".join(each["message"] for each in reproduction.complaints())
    assert "Content Security Policy" in said
    assert "example.invalid" in said


def test_what_a_text_holds_is_shown_as_text(reproduction):
    assert reproduction.one("h1").text == f"headgauge: small {SCRIPT}"
    assert reproduction.run("return window.hacked") is None
    reproduction.press(reproduction.first(".cell[data-head='0']"))
    shown = [each.text for each in reproduction.all("#head-panel .sample li .token")]
    assert shown[:4] == [SCRIPT.replace(" ", "␣"), "</td>", "␣the", "↵"]
    assert "onerror" in shown[4]
    assert reproduction.all("main script, main img, td td") == []
    assert reproduction.run("return window.hacked") is None
    assert SCRIPT in reproduction.text("#claims")


def test_warnings_stand_on_top(reproduction):
    warning = reproduction.one(".warning")
    assert "random weights: not a result" in warning.text
    assert warning.rect["y"] < reproduction.one(".caption").rect["y"] < 400


def test_the_outlook_is_a_table_and_what_it_stands_on(scan, outlook_page):
    assert scan.all("#outlook") == []
    scan.open(outlook_page)
    rows = [each.text.split("\n") for each in scan.all("#outlook tbody tr")]
    cells = [each.text for each in scan.all("#outlook tbody tr:first-child td")]
    assert len(rows) == 2
    assert cells[1:] == ["138", "108", "90 to 150", "270", "3"]
    assert scan.all("#outlook tbody tr:last-child td")[3].text == "–"
    assert "Outlook at 8192 tokens" in scan.text("#outlook")
    assert "4 lengths leave 2 degrees <b>" in scan.text("#outlook .notes")
    assert "Outlook" in scan.text("#nav")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "which", ["reproduction_page", "outlook_page", "simulation_page", "deep_page"]
)
def test_nothing_is_wider_than_the_window(reproduction, request, width, which):
    reproduction.open(request.getfixturevalue(which), width=width)
    for details in reproduction.all("details"):
        reproduction.run("arguments[0].open = true", details)
    reproduction.settle()
    there, room = reproduction.run(
        "const page = document.documentElement; return [page.scrollWidth, page.clientWidth]"
    )
    assert there <= room <= width
    outside = reproduction.run(
        "const room = document.documentElement.clientWidth + 1; return [...document"
        ".querySelectorAll('main > *, figure, svg.chart, .sphere, .clock, .scroll, .control')]"
        ".filter(e => e.getBoundingClientRect().right > room).map(e => e.outerHTML)"
    )
    assert outside == []


def test_colours_follow_the_system_until_the_button_is_pressed(reproduction, reproduction_page):
    def paper_is_dark():
        shade = reproduction.run("return getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in shade[4:-1].split(",")) < 200

    assert not paper_is_dark()
    reproduction.open(reproduction_page, theme="dark")
    assert paper_is_dark()
    reproduction.press(reproduction.one("#theme"))
    assert not paper_is_dark()
    reproduction.browser.refresh()
    assert not paper_is_dark()


def test_the_verdict_on_the_paper_is_a_table_and_on_a_phone_cards(reproduction, reproduction_page):
    rows = reproduction.all("#verdict tbody tr")
    cells = [each.text for each in rows[1].find_elements("css selector", "td")]
    assert cells[1] == "N ≈ 0.06 L"
    assert cells[2].split("\n") == [
        "prose (for choosing)",
        "0.06 L (0.05 to 0.07)",
        "corrected: 0.20 L",
        "A <b>comment</b> on what was seen on prose.",
        "code <b> (for judging)",
        "0.07 L (0.05 to 0.07)",
        "corrected: 0.20 L",
        "A <b>comment</b> on what was seen on code <b>.",
    ]
    assert "reproduced only with the printed formula" in cells[3]
    assert "held on 2 of 2 texts" in cells[3]
    assert "A <b>comment</b> on it" in cells[3]
    reproduction.open(reproduction_page, width=390)
    shown = reproduction.run(
        "return getComputedStyle(document.querySelector('#verdict tbody td')).display"
    )
    assert shown == "block"


def test_the_overview_counts_what_the_paper_claims(reproduction):
    chips = [each.text.split() for each in reproduction.all("#overview a[href='#verdict']")]
    assert [" ".join(each[1:-1]) for each in chips] == list(WORDS)
    assert {each[-1] for each in chips} == {"1"}


def test_where_the_texts_differ_each_says_its_own_word(reproduction):
    row = reproduction.all("#verdict tbody tr")[2]
    cells = [each.text for each in row.find_elements("css selector", "td")]
    assert "prose (for choosing) ✗ not reproduced" in cells[2]
    assert "code <b> (for judging) ✓ reproduced" in cells[2]
    assert "≠ depends on the text" in cells[3]
    assert "held on 1 of 2 texts" in cells[3]
    undecided = reproduction.all("#verdict tbody tr")[4]
    assert undecided.find_elements("css selector", ".held") == []


@pytest.mark.parametrize("which", ["reproduction_page", "scan_page"])
def test_what_the_page_stands_on_is_said_before_the_first_number(reproduction, request, which):
    reproduction.open(request.getfixturevalue(which))
    lines = [each.text for each in reproduction.all(".stands li")]
    assert lines == [f"quick run: 32 of 1024 query rows per head {SCRIPT}", "text prose"]
    assert reproduction.one(".stands").rect["y"] < reproduction.one("#overview").rect["y"]
    assert reproduction.run("return window.hacked") is None


def test_assumptions_coverage_and_signs_stand_beside_the_claims(reproduction):
    reproduction.press(reproduction.one("#verdict .behind summary"))
    vectors, coverage, signs, *_ = reproduction.all("#verdict .small-table table")
    rows = [each.text for each in vectors.find_elements("css selector", "tbody tr")]
    assert rows[0] == "prose embedding 0.21 −0.01 to 0.4 57.3 of 576 0 0.63 12.5 % 30 × 1024"
    assert len(rows) == 4
    rows = [each.text for each in coverage.find_elements("css selector", "tbody tr")]
    assert rows[2] == "prose 3 0.973 (0.957 to 0.984) 0.978 0.976 0.7 30 × 8"
    rows = [each.text for each in signs.find_elements("css selector", "tbody tr")]
    assert rows[2] == "code <b> Entropy share −0.41 (−0.46 to −0.28) 270"


def test_claims_open_and_are_filtered_by_verdict(reproduction):
    claim = reproduction.first("#claims details")
    reproduction.press(claim.find_element("css selector", "summary"))
    assert "Lemma 1; seen in the paper" in claim.text
    assert "A reason." in claim.text
    assert "What holds." in claim.text
    reproduction.choose(reproduction.one("#claim-filter"), "true")
    assert [e.get_attribute("data-verdict") for e in reproduction.all(".claim")] == ["true"]


def test_extrapolated_times_say_so(reproduction):
    row = reproduction.one("#timing tbody tr").text
    assert "37.8 h" in row
    assert "extrapolated from 0.06 % of the work" in row


def test_the_judged_choice_and_the_closest_of_each_text_are_marked_as_computed(reproduction):
    (marked,) = reproduction.all("#choices tr.chosen")
    assert "judged closest here" in marked.text
    assert marked.text.startswith("value")
    said = reproduction.text("#choices > p")
    assert "The verdicts are about value vectors, unit length, visible keys, the closest on" in said
    assert said.endswith("on prose by equally many rows of every choice.")
    reproduction.choose(reproduction.one("#choices .control select"), "code <b>")
    (marked,) = reproduction.all("#choices tr.chosen")
    assert marked.text.startswith("value unit visible judged 0")
    (closest,) = reproduction.all("#choices .badge.good")
    row = closest.find_element("xpath", "ancestor::tr")
    assert row.text.startswith("hidden unit visible closest here 2 163")


def test_a_choice_that_was_asked_for_is_told(reproduction, tmp_path):
    paper = paper_frames(TEXTS[:1])
    reproduction.open(write_page(tmp_path, page_content(paper_tables=paper, chosen_on=None)))
    assert "visible keys, as asked for." in reproduction.text("#choices > p")
    assert [each.text for each in reproduction.all("#figures [data-field='text'] option")] == [
        "prose"
    ]


def test_choices_are_sorted_by_what_is_pressed(reproduction):
    reproduction.press(reproduction.all("#choices .sort")[3])  # by how many numbers agree
    reproduction.press(reproduction.all("#choices .sort")[3])
    assert reproduction.first("#choices tbody tr").text.startswith("hidden")


def test_the_manifest_is_readable_and_whole(reproduction):
    assert "small" in reproduction.text("#manifest .facts") + reproduction.text("#manifest")
    assert "[object" not in reproduction.text("#manifest")
    raw = reproduction.text("#manifest pre")
    assert '"loss": null' in raw
    assert SCRIPT in raw


def test_every_control_has_a_name(reproduction):
    assert reproduction.nameless() == []
    assert f"{WINDOWS} windows" in reproduction.text(".caption")


def test_the_keyboard_reaches_the_content_first(reproduction):
    reproduction.keys(Keys.TAB)
    assert reproduction.run("return document.activeElement.className") == "skip"


def test_every_option_of_every_control_can_be_chosen(reproduction):
    """Whatever fails in one of them is said in the console, which the fixture reads at the end."""
    assert reproduction.try_everything() > 80
    assert "NaN" not in reproduction.drawn()
    assert "undefined" not in reproduction.text("main")
