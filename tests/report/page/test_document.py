import base64
import hashlib
import html
import json
import re
from importlib import resources

import pytest

from headgauge.report.page.document import (
    SCRIPTS,
    STYLES,
    asset,
    embedded,
    page_bytes,
    page_data,
)
from report.page.dynamics_frames import depth_frame
from report.page.results import SCRIPT, page_content, simulation_content


@pytest.fixture(scope="module")
def page():
    return page_bytes(page_content()).decode()


def test_the_same_content_gives_the_same_bytes():
    assert page_bytes(page_content()) == page_bytes(page_content())
    assert page_bytes(page_content()) != page_bytes(page_content(caption="another"))


def test_no_text_of_the_run_can_break_out(page):
    assert SCRIPT not in page
    assert html.escape(f"headgauge: small {SCRIPT}") in page
    # Two blocks of ours, each closed once, whatever the tokens were.
    assert page.count("<script") == page.count("</script>") == 2
    block = page.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(block)
    data = json.loads(block)
    assert SCRIPT in data["heads"]["samples"]["tokens"]
    assert data["manifest"]["units"]["w0"] == {"loss": None, "text": SCRIPT}


@pytest.mark.parametrize(
    "text", ["</script>", "<!--<script>", "a\u2028b\u2029", "&lt;", '"\\', "\ud800"]
)
def test_embedded_text_is_read_back_as_it_was(text):
    held = embedded({"text": text}).encode("utf-8", "backslashreplace").decode()
    assert not set("<>&\u2028\u2029\ud800") & set(held)
    assert json.loads(held) == {"text": text}


def test_the_policy_allows_our_script_and_style_and_nothing_else(page):
    (found,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    policy = html.unescape(found)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == _hash(page.rsplit("<script>", 1)[1].split("</script>")[0])
    assert rules["style-src"] == _hash(page.split("<style>")[1].split("</style>")[0])
    assert set(rules) == {
        *("default-src", "script-src", "style-src"),
        "img-src",
        "base-uri",
        "form-action",
    }


def _hash(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_every_asset_is_used_and_none_is_markup_or_asks_the_network():
    kept = {each.name for each in (resources.files("headgauge.report.page") / "assets").iterdir()}
    assert kept == {*SCRIPTS, *STYLES, "page.html"}
    for name in (*SCRIPTS, *STYLES):
        text = asset(name)
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "</", "eval(", "fetch("):
            assert forbidden not in text, name
        addresses = set(re.findall(r"https?://[^'\"\s)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, name


def test_what_a_run_does_not_have_is_null():
    data = page_data(simulation_content())
    assert [name for name, held in data.items() if held is None] == [
        *("counts", "heads", "paper", "depth", "outlook")
    ]
    scanned = page_data(page_content(paper=False, depth=depth_frame()))
    assert scanned["dynamics"] is None
    assert scanned["depth"]["predicted"] == []
    assert scanned["heads"] is not None


def test_what_the_page_stands_on_needs_no_script():
    held = page_bytes(page_content(stands=("quick run: a <look>",))).decode()
    before = held.split('<main id="main">')[0]
    assert "<li>quick run: a &lt;look&gt;</li>" in before
    assert 'class="stands"' not in page_bytes(simulation_content()).decode()


def test_no_choice_is_written_into_the_page():
    for name in SCRIPTS:
        assert not re.search(r"""['"](final|all)['"].*['"](unit|raw)['"]""", asset(name)), name
        assert "hangs on" not in asset(name)


def test_a_place_holder_in_the_data_is_not_filled():
    page = page_bytes(page_content(notes=("@@SCRIPT@@ and @@DATA@@",))).decode()
    assert page.count("@@SCRIPT@@ and @@DATA@@") == 1
