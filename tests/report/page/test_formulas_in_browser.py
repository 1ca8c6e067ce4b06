"""Formulas and sources in the page's own words: set where they surely are such."""

import pytest

from headgauge.report.page import write_page
from headgauge.report.page.parts import Page, section, text

# In words: _{below}, ^{above}, (over|under), √{inside}.
SET = {
    "Separability N_s/N": "Separability {N_{s}|N}",
    "at most 1/(2T), as ‖∇α‖₂": "at most {1|2T}, as ‖∇α‖_{2}",
    "1 − γ ~ e^{−2t}": "1 − γ ~ e^{−2t}",
    "by √(πL/2) at ξ_i² = 4": "by √{πL/2} at ξ_{i}^{2} = 4",
    "H heads cover 1−(1−p)^H": "H heads cover 1−(1−p)^{H}",
    "e^(−2Δ/T)/L ≤ α_i": "{e^{−2Δ/T}|L} ≤ α_{i}",
    "(l_max − l_min)/T": "{l_{max} − l_{min}|T}",
    "L^0.92 (0.80 to 1.05)": "L^{0.92} (0.80 to 1.05)",
    "L^-0.09; 10^32 times": "L^{−0.09}; 10^{32} times",
    "10²⁹ to 10⁻⁴": "10^{29} to 10^{−4}",
}
LEFT = (
    *("softmax_one", "self_attn.q_proj", "a_b.txt", "data/x_1.txt", "n/a", "tokens/s", "1/2"),
    # A fraction would have the wrong part above or below its line.
    *("log L/L", "C(p)/T", "max F/(2T)", "1/rN", "a/b/c", "s log L/(fL)", "x^", "√(2", "1e51"),
)
READ = """
const say = (node) => {
  if (node.nodeType === 3) return node.data.replaceAll('\\u00a0', ' ');
  const all = [...node.childNodes].map(say);
  const of = {msub: ([a, b]) => `${a}_{${b}}`, msup: ([a, b]) => `${a}^{${b}}`,
    msubsup: ([a, b, c]) => `${a}_{${b}}^{${c}}`, mfrac: ([a, b]) => `{${a}|${b}}`,
    msqrt: ([a]) => `√{${a}}`}[node.localName];
  return of ? of(all) : all.join('');
};
return [...document.querySelectorAll('#overview p')].map(say)
"""
SOURCE = "see arXiv 2508.17821, eq. (24) & N_s/N"


@pytest.fixture
def read(reader, tmp_path):
    lines = [text(each) for each in (*SET, *LEFT, SOURCE)]
    manifest = section("manifest", "Manifest", "Manifest", {"kind": "manifest", "manifest": {}})
    reader.open(write_page(tmp_path, Page("Words", "", [], [], lines, [manifest])))
    yield reader
    assert reader.complaints() == []


def test_formulas_are_set_and_what_is_unsure_is_left(read):
    found = read.run(READ)
    assert found[: len(SET)] == list(SET.values())
    assert found[len(SET) : -1] == list(LEFT)
    said = read.run(
        "return [...document.querySelectorAll('math')].map(e => e.getAttribute('alttext'))"
    )
    assert said[:2] == ["N_s/N", "1/(2T)"]
    labels = "return [...document.querySelectorAll('math')].map(e => e.getAttribute('aria-label'))"
    assert read.run(labels) == said  # else a name made of it would lack it
    assert all(each.size["height"] > 0 for each in read.all("math"))


def test_a_source_is_a_link_that_is_only_followed_when_pressed(read):
    (link,) = read.all("#overview a")
    assert link.text == "arXiv 2508.17821"
    assert link.get_dom_attribute("href") == "https://arxiv.org/abs/2508.17821"
    assert link.get_dom_attribute("rel") == "noreferrer"
    assert not [url for url in read.requests() if "arxiv" in url]


def test_whoever_copies_a_formula_gets_its_source(read):
    copied = read.run(
        "getSelection().selectAllChildren(document.querySelector('#overview p'));"
        "const event = new ClipboardEvent('copy', {clipboardData: new DataTransfer(),"
        " bubbles: true, cancelable: true}); document.body.dispatchEvent(event);"
        "return event.clipboardData.getData('text/plain')"
    )
    assert copied == "Separability N_s/N"
