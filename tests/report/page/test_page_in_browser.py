"""The page as a whole, in a browser: it opens offline, fits, and runs nothing but itself."""

import pytest
from selenium.webdriver.common.keys import Keys

from report.page.page_content import SCRIPT, WINDOWS


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
    assert warning.rect["y"] < 400


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "which", ["reproduction_page", "scan_page", "simulation_page", "deep_page"]
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
    assert cells[1:4] == ["N ≈ 0.06 L", "0.06 L (0.05 to 0.07)", "0.20 L"]
    assert "reproduced only with the printed formula" in cells[4]
    assert "A <b>comment</b> on it" in cells[4]
    reproduction.open(reproduction_page, width=390)
    shown = reproduction.run(
        "return getComputedStyle(document.querySelector('#verdict tbody td')).display"
    )
    assert shown == "block"


def test_the_overview_counts_what_the_paper_claims(reproduction):
    chips = [each.text.split() for each in reproduction.all("#overview a[href='#verdict']")]
    assert [each[-1] for each in chips] == ["2", "2", "2", "2"]


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


def test_the_closest_choice_is_marked(reproduction):
    (marked,) = reproduction.all("#choices tr.chosen")
    assert "closest" in marked.text
    assert marked.text.startswith("value")
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
