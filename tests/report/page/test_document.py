import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from importlib import resources

import pytest

from headgauge.report.page import page as page_of
from headgauge.report.page.document import (
    SCRIPTS,
    STYLES,
    asset,
    embedded,
    page_bytes,
    page_data,
)
from report.page.results import SCRIPT, fake_scan, fake_simulation

# Names of what is drawn, which nobody asks for, and where a link may lead.
ADDRESSES = {
    "http://www.w3.org/2000/svg",
    "http://www.w3.org/1998/Math/MathML",
    "https://arxiv.org/abs/",
}


@pytest.fixture(scope="module")
def page():
    return page_bytes(page_of(fake_scan())).decode()


def test_the_same_content_gives_the_same_bytes():
    first = page_bytes(page_of(fake_scan()))
    assert page_bytes(page_of(fake_scan())) == first
    assert page_bytes(replace(page_of(fake_scan()), caption="another")) != first


def test_no_text_of_the_run_can_break_out(page):
    assert SCRIPT not in page
    assert html.escape(f"headgauge: small {SCRIPT}") in page
    # Two blocks of ours, each closed once, whatever the tokens were.
    assert page.count("<script") == page.count("</script>") == 2
    block = page.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&\u2028\u2029") & set(block)
    data = json.loads(block)
    parts = {each["id"]: each["parts"][-1] for each in data["sections"]}
    assert SCRIPT in parts["heads"]["samples"]["tokens"]
    units = parts["manifest"]["manifest"]["units"]
    assert units["w0"] == {"loss": None, "text": SCRIPT}


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
        assert addresses <= ADDRESSES, name


def test_what_a_run_does_not_have_has_no_section():
    def names(result):
        return [each["id"] for each in page_data(page_of(result))["sections"]]

    assert names(fake_scan()) == ["heads", "manifest"]
    assert names(fake_scan(4096)) == ["heads", "outlook", "manifest"]
    assert names(fake_simulation()) == ["dynamics", "claims", "manifest"]
    assert all(not frame.is_empty() for frame in fake_simulation().tables.values())


def test_scripts_are_sent_without_comments_and_indentation(page):
    script = page.rsplit("<script>", 1)[1]
    lines = script.splitlines()
    assert not [line for line in lines if line.startswith((" ", "//", "/*"))]
    assert "// " in asset("chart.js")


def test_what_the_page_stands_on_needs_no_script():
    held = page_bytes(replace(page_of(fake_scan()), stands=["quick run: a <look>"])).decode()
    before = held.split('<main id="main">')[0]
    assert "<li>quick run: a &lt;look&gt;</li>" in before
    bare = replace(page_of(fake_simulation("rates")), stands=[])
    assert 'class="stands"' not in page_bytes(bare).decode()


def test_no_figure_measure_or_choice_is_named_in_the_scripts():
    named = r"""fig\d|vanishing|gamma|swarms|['"](final|hidden|unit|raw|expected_printed)['"]"""
    for name in SCRIPTS:
        assert not re.search(named, asset(name).replace("'hidden'", "")), name


def test_a_place_holder_in_the_data_is_not_filled():
    noted = replace(page_of(fake_scan()), caption="@@SCRIPT@@ and @@DATA@@")
    page = page_bytes(noted).decode()
    assert page.count("@@SCRIPT@@ and @@DATA@@") == 1
