"""claims.md, written from the records."""

from collections import Counter

from docs.tables import table
from headgauge.claims.ledger import CLAIMS
from headgauge.claims.record import Claim, Verdict
from headgauge.claims.sentences import SENTENCES

HEADER = """\
# The claims ledger

Every statement of two papers that the toolkit relies on or had to correct, with a verdict and,
unless it is only about wording, a check that runs: "Limitations of Normalization in Attention
Mechanism" (arXiv 2508.17821) in the rows 1 to 22, "Normalization in Attention Dynamics" (arXiv
2510.22026) in the rows D1 to D11, with one law of "Critical attention scaling in long-context
transformers" (arXiv 2510.05554). `headgauge claims` runs them all and ends with exit code 1 if one
disagrees with the verdict written here; `headgauge claims 11` shows one with its numbers.

Of the first paper the text and the slides were read; of the second only the abstract and
second-hand notes were at hand, of the third only such notes. Each row says where its statement was
seen.

The checks are counterexamples, randomised searches and simulations; what is called true is proved
in the docstring of the module named beside it, or the row says that it is not. This page is made
from the records in `src/headgauge/claims/` by `make docs`, and a test keeps it so.
"""


SENTENCES_HEADER = """\
## Where each sentence of abstract and slides is answered

The sentences of "Limitations of Normalization in Attention Mechanism" (arXiv 2508.17821, CC BY 4.0)
and the rows above that judge them. What a figure shows is judged by `headgauge reproduce` on a
model and several texts; the last column names its verdicts.
"""


def render() -> str:
    """The page as Markdown."""
    counts = Counter(claim.verdict for claim in CLAIMS)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    rows = [(_link(claim), claim.where, claim.statement, claim.verdict) for claim in CLAIMS]
    statements = table(("#", "where", "statement", "verdict"), rows)
    sections = [_section(claim) for claim in CLAIMS]
    counted = f"{len(CLAIMS)} statements: {summary}.\n"
    return "\n".join([HEADER, counted, statements, *sections, SENTENCES_HEADER, _sentences()])


def _sentences() -> str:
    """The abstract and the slides, sentence by sentence."""
    links = {claim.id: _link(claim) for claim in CLAIMS}
    rows = [
        (
            sentence.where,
            sentence.quote,
            ", ".join(links[number] for number in sentence.claims),
            "; ".join(sentence.verdicts),
        )
        for sentence in SENTENCES
    ]
    return table(("where", "sentence", "answered by", "measured as"), rows)


def _link(claim: Claim) -> str:
    return f"[{claim.id}](#{_anchor(claim)})"


def _anchor(claim: Claim) -> str:
    number = claim.id.lower().rstrip("'")
    return f"claim-{number}" + "-prime" * (len(claim.id) - len(number))


def _section(claim: Claim) -> str:
    paragraphs = [
        f'<a id="{_anchor(claim)}"></a>',
        f"## {claim.id} — {claim.verdict}" + (" (textual)" if claim.textual else ""),
        f"*{claim.where}; seen in {claim.seen_in}.* {claim.statement}",
        f"**Why.** {claim.because}",
        f"**Corrected.** {claim.corrected}",
    ]
    if claim.code:
        paragraphs.append("**Code.** " + ", ".join(f"`headgauge.{name}`" for name in claim.code))
    return "\n\n".join(paragraphs) + "\n"
