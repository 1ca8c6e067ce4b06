"""Pages as a whole, in a browser: they open offline, fit, and run nothing but themselves."""

import pytest
from selenium.webdriver.common.keys import Keys

from headgauge.report.page import page, write_page
from report.page.conftest import KINDS
from report.page.dynamics_frames import HOSTILE, SIX, depth_cosine, predicted_cosine
from report.page.paper_frames import TEXTS, WORDS
from report.page.results import SCRIPT, WINDOWS, fake_reproduction

SECTIONS = {
    "scan": ["heads", "worth", "depth", "outlook", "manifest"],
    "simulation": ["dynamics", "claims", "manifest"],
}


_ALL_TEXTS = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
_FORMULAS = (
    "return [...document.querySelectorAll(`${arguments[0]} math`)]"
    ".map(e => e.getAttribute('alttext'))"
)


def sections(reader):
    return [each.get_attribute("id") for each in reader.all("main > section")]


def rows_of(reader, table):
    """The cells of a table's rows, as they are read."""
    return reader.run(
        "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.innerText))",
        table,
    )


def test_a_reproduction_has_all_and_asks_nobody(reproduction, pages):
    wanted = ["verdict", "figures", "choices", "heads", "timing", "claims", "manifest"]
    assert sections(reproduction) == wanted
    asked = reproduction.requests()
    assert asked
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} == {
        pages("reproduction").as_uri()
    }
    # Warnings on top, what it stands on before the first number.
    warning = reproduction.one(".warning")
    assert "random weights: not a result" in warning.text
    assert warning.rect["y"] < reproduction.one(".caption").rect["y"] < 400
    lines = [each.text for each in reproduction.all(".stands li")]
    assert lines == [f"quick run: 32 of 1024 query rows per head {SCRIPT}", "text prose"]
    assert reproduction.one(".stands").rect["y"] < reproduction.one("#overview").rect["y"]
    assert f"{WINDOWS} windows" in reproduction.text(".caption")
    reproduction.keys(Keys.TAB)
    assert reproduction.run("return document.activeElement.className") == "skip"


def test_the_verdict_on_the_paper_is_a_table_and_on_a_phone_cards(reproduction):
    rows = rows_of(reproduction, "#verdict .verdict-table")
    assert rows[1][1] == "N ≈ 0.06 L"
    assert [line for line in rows[1][2].split("\n") if line] == [
        "prose (for choosing)",
        "0.06 L (0.05 to 0.07)",
        "corrected: 0.20 L",
        "A <b>comment</b> on what was seen on prose.",
        "code <b> (for judging)",
        "0.07 L (0.05 to 0.07)",
        "corrected: 0.20 L",
        "A <b>comment</b> on what was seen on code <b>.",
    ]
    for words in ("reproduced only with the printed formula", "held on 2 of 2 texts"):
        assert words in rows[1][3]
    assert "A <b>comment</b> on it" in rows[1][3]
    # Where the texts differ each says its own word.
    assert "prose (for choosing) ✗ not reproduced" in rows[2][2]
    assert "code <b> (for judging) ✓ reproduced" in rows[2][2]
    assert "≠ depends on the text" in rows[2][3]
    assert "held on 1 of 2 texts" in rows[2][3]
    assert "held on" not in rows[4][3]
    chips = [each.text.split() for each in reproduction.all("#overview a[href='#verdict']")]
    assert [" ".join(each[1:-1]) for each in chips] == list(WORDS)
    assert {each[-1] for each in chips} == {"1"}
    # The small tables behind it.
    reproduction.press(reproduction.one("#verdict .behind summary"))
    vectors, coverage, signs, *_ = (
        rows_of(reproduction, f"#verdict .behind .table-whole:nth-of-type({place})")
        for place in (1, 2, 3, 4)
    )
    line = ["prose", "embedding", "0.21", "−0.01 to 0.4", "57.3 of 576", "0", "0.63", "12.5 %"]
    assert vectors[0] == [*line, "30 × 1024"]
    assert len(vectors) == 4
    told = ["3", "0.973 (0.957 to 0.984)", "0.978", "0.976", "0.7", "30 × 8"]
    assert coverage[2][0] == "prose"
    assert coverage[2][2:] == told
    assert signs[2] == ["code <b>", "Entropy share", "−0.41 (−0.46 to −0.28)", "270"]
    reproduction.resize(390)
    shown = reproduction.run(
        "return getComputedStyle(document.querySelector('#verdict tbody td')).display"
    )
    assert shown == "block"
    reproduction.resize(1280)


def test_choices_are_marked_filtered_by_text_and_sorted(reproduction):
    (marked,) = rows_of(reproduction, "#choices")[:1]
    assert "judged" in marked[4]
    assert "closest here" in marked[4]
    assert len(reproduction.all("#choices tr.chosen")) == 1
    said = reproduction.text("#choices > p")
    assert "The verdicts are about value vectors, unit length, visible keys, the closest on" in said
    assert said.endswith("on prose by equally many rows of every choice.")
    reproduction.press(reproduction.all("#choices .sort")[3])  # by how many numbers agree
    reproduction.press(reproduction.all("#choices .sort")[3])
    assert rows_of(reproduction, "#choices")[0][0] == "hidden"
    reproduction.choose(reproduction.one("#choices-text"), "code <b>")
    (closest,) = [row for row in rows_of(reproduction, "#choices") if "closest here" in row[4]]
    assert closest[:4] == ["hidden", "unit", "visible", "2"]
    assert closest[5] == "163"


def test_times_claims_and_the_manifest(reproduction):
    (times,) = rows_of(reproduction, "#timing")
    assert times[3].startswith("37.8 h")
    assert times[3].endswith("extrapolated from 0.06 % of the work")
    claim = reproduction.first("#claims details")
    reproduction.press(claim.find_element("css selector", "summary"))
    assert "Seen in" in claim.text
    assert "Why" in claim.text
    assert "What holds" in claim.text
    reproduction.choose(reproduction.one("#claim-filter"), "true")
    kept = {each.get_attribute("data-verdict") for each in reproduction.all(".claim")}
    assert kept == {"true"}
    assert "[object" not in reproduction.text("#manifest")
    raw = reproduction.text("#manifest pre")
    assert '"loss": null' in raw
    assert SCRIPT in raw


def test_what_a_text_holds_is_shown_as_text_and_the_policy_stops_the_rest(reproduction):
    assert reproduction.one("h1").text == f"headgauge: small {SCRIPT}"
    reproduction.opened = None  # what is put into it below stays there
    reproduction.press(reproduction.first("#heads .cell[data-cell='0']"))
    shown = [each.text for each in reproduction.all("#head-panel .sample li .token")]
    assert shown[:4] == [SCRIPT.replace(" ", "␣"), "</td>", "␣the", "↵"]
    assert "onerror" in shown[4]
    assert reproduction.all("main script, main img, td td") == []
    assert reproduction.run("return window.hacked") is None
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


def test_with_one_text_there_is_none_to_choose(reader, tmp_path):
    alone = fake_reproduction(TEXTS[:1], chosen=False)
    reader.open(write_page(tmp_path, page(alone)))
    assert "visible keys, as asked for." in reader.text("#choices > p")
    assert not reader.one("#choices-text").is_displayed()
    assert reader.complaints() == []


def test_the_outlook_is_a_table_and_what_it_stands_on(scan):
    rows = rows_of(scan, "#outlook")
    assert rows[0][1:] == ["138", "108", "90 to 150", "270", "3"]
    assert rows[1][3] == "–"
    assert "Outlook at 8192 tokens" in scan.text("#outlook")
    assert "4 lengths leave 2 degrees <b>" in scan.text("#outlook .notes")


def test_depth_is_measured_beside_what_the_model_scheme_predicts(scan):
    first = "#depth .chart-whole:nth-child(1)"
    assert len(scan.all("#depth svg.chart")) == 4
    assert "Recognised as Pre-LN (11 of 12 layers)" in scan.text("#recognised")
    for words in ("n = 63 tokens", "β = 1.625"):
        assert words in scan.text("#recognised")
    scan.run("arguments[0].focus()", scan.bring(scan.one(f"{first} svg.chart")))
    scan.keys(*[Keys.ARROW_RIGHT] * 5)
    said = scan.tooltip()
    mean = (depth_cosine(4, 0) + depth_cosine(4, 1)) / 2
    assert "layer = 4" in said
    assert f"{mean:.4g} (0.205 to 0.405)" in said
    assert f"{predicted_cosine('pre_ln', 4):.5g}" in said
    assert f"layers.4 {HOSTILE}" in said
    assert scan.all("main img, #tooltip img") == []

    def width(scheme):
        line = scan.one(f"{first} svg.chart [data-series='{scheme}'] .line")
        return scan.run("return parseFloat(getComputedStyle(arguments[0]).strokeWidth)", line)

    assert width("pre_ln") > 2 * width("peri_ln")


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_page_has_its_own_sections_and_links_to_them(request, kind):
    reader = request.getfixturevalue(kind)
    assert sections(reader) == SECTIONS[kind]
    links = [each.get_attribute("href").split("#")[1] for each in reader.all("#nav a")]
    assert links == ["top", *SECTIONS[kind]]
    assert "of the paper" not in reader.text("#overview")
    assert ("attention heads in" in reader.text("#overview")) == (kind == "scan")
    # What it is, what its words mean, what was found.
    parts = [each.get_attribute("id") for each in reader.all("#overview > *")][:3]
    assert parts == ["introduction", "glossary", "finding"]
    assert reader.one("#glossary").get_attribute("open") is None
    reader.press(reader.one("#glossary summary"))
    said = reader.run(_ALL_TEXTS, "#glossary dt")
    assert ("sandwich" in said, "β" in said) == (kind == "scan", kind == "simulation")
    assert ("N_s/N" in reader.run(_FORMULAS, "#glossary dt")) == (kind == "scan")
    reader.press(reader.one("#glossary summary"))


def test_a_simulation_has_theory_beside_what_was_measured(simulation):
    assert [each.get_attribute("data-name") for each in simulation.all(".sphere")] == SIX
    assert all(each.rect["y"] + each.rect["height"] < 1000 for each in simulation.all(".sphere"))
    rates = rows_of(simulation, "#rates")
    assert rates[1][:2] == ["Post-LN", "final rate"]
    assert rates[1][3:] == ["t", "−0.5", "−0.4975", "–"]
    law = simulation.all("#rates math")[1]
    assert law.get_dom_attribute("alttext") == "e^{−2t}"
    assert ["Pre-LN", "random Q, K, V", "10", "25 %", "–", "14", "–"] in rows_of(
        simulation, "#collapse"
    )
    assert HOSTILE in simulation.text("#rates")
    assert simulation.all("main img, main script") == []
    assert simulation.run("return window.hacked") is None
    simulation.resize(390)
    simulation.settle()
    assert len({round(each.rect["x"]) for each in simulation.all(".sphere")}) == 3
    simulation.bring(simulation.one("#swarms"))
    bar = simulation.run("return document.querySelector('.clock').getBoundingClientRect().top")
    assert 0 <= bar < 120  # under the sections' bar, wherever the charts are
    assert simulation.one("#time").rect["width"] > 250
    simulation.resize(1280)


def test_colours_follow_the_system_until_the_button_is_pressed(simulation, pages):
    def paper_is_dark():
        shade = simulation.run("return getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in shade[4:-1].split(",")) < 200

    assert not paper_is_dark()
    simulation.open(pages("simulation"), theme="dark")
    assert paper_is_dark()
    simulation.press(simulation.one("#theme"))
    assert not paper_is_dark()
    simulation.browser.refresh()
    assert not paper_is_dark()


@pytest.mark.parametrize("kind", KINDS)
def test_everything_fits_has_a_name_and_can_be_pressed(reader, pages, kind):
    """Whatever fails when it is pressed is said in the console."""
    reader.show(pages(kind))
    reader.run("for (const each of document.querySelectorAll('details')) each.open = true")
    for width in (390, 1280):
        reader.resize(width)
        reader.settle()
        there, room = reader.run(
            "const page = document.documentElement; return [page.scrollWidth, page.clientWidth]"
        )
        assert there <= room <= width
        outside = reader.run(
            "const room = document.documentElement.clientWidth + 1; return [...document"
            ".querySelectorAll('main > *, figure, svg.chart, .sphere, .clock, .scroll, .control')]"
            ".filter(e => e.getBoundingClientRect().right > room).map(e => e.outerHTML)"
        )
        assert outside == []
    assert reader.nameless() == []
    assert reader.try_everything() > 20
    assert "NaN" not in reader.drawn()
    assert "undefined" not in reader.text("main")
    assert reader.complaints() == []
