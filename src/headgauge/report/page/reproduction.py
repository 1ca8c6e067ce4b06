"""The page of a reproduction: the verdict on the paper, its figures, the choices, the heads."""

from typing import Any

import polars as pl

from headgauge.claims.ledger import CLAIMS
from headgauge.paper import Reproduction
from headgauge.registry import measures, names
from headgauge.registry.published import CHOICE, PLATEAU, printed
from headgauge.report.page import parts
from headgauge.report.page.parts import Column, Page, Part, figures, notes, section, table, text
from headgauge.report.page.scanning import came_about, ledger, scan_sections, title
from headgauge.report.paper import page_figures
from headgauge.report.paper_tables import chosen_words, corrected_words, held_words

_BY_SET = "The smallest and the largest set: a model, a layer or a KV head"
_STRICT = "Printed expectation, level .01, longest L"
_SETTLED = "Least and largest mean over heads for N from 16 on"
_TEXT, _HEADS = Column("Text", "text"), Column("Heads", "heads", "number")
# Behind the claims that have no figure: title, what is said of it, columns.
_BEHIND = {
    "vectors": (
        "Assumptions 1 and 2: isotropic, and a distance δ apart",
        "Vectors of a window, brought to unit length. n uniform ones have a mean cosine of 0 and "
        "an effective dimension of about nd/(n + d).",
        (
            _TEXT,
            Column("Vectors", "vectors"),
            Column("Mean cosine", "mean_cosine", "number", 3),
            Column("by set", ("mean_cosine_low", "mean_cosine_high"), "span", 3, _BY_SET),
            Column("Effective dimension", ("effective_dim", "dim"), "share", 3),
            Column("δ", "delta", "number", 3, "The smallest distance of two tokens in any set"),
            Column("Nearest other", "nearest", "number", 3, "Median distance, mean over sets"),
            Column("Coincide", "same", "percent", 1, "Tokens that equal another"),
            Column("Sets × tokens", ("sets", "tokens"), "times"),
        ),
    ),
    "coverage": (
        "What several heads of a layer separate together",
        "Of N tokens that all heads of a layer are asked for; independent: what heads that know "
        "nothing of each other would cover.",
        (
            _TEXT,
            Column("N", "top_n", "number"),
            _HEADS,
            Column("Covered", ("covered", "low", "high"), "interval", 3),
            Column("Independent", "independent", "number", 3),
            Column("1 − (1 − p)^H", "formula", "number", 3, "The paper's formula, the mean p"),
            Column("One head, p", "separable", "number", 3),
            Column("Layers × rows", ("layers", "rows"), "times"),
        ),
    ),
    "signs": (
        "What goes with a head’s separability at N = 16",
        "Rank correlation over the heads of the model, with its 95 % interval.",
        (
            _TEXT,
            Column("Sign", "sign"),
            Column("Correlation", ("correlation", "low", "high"), "interval", 2),
            _HEADS,
        ),
    ),
    "gains": (
        "What a colder or a length-aware rule changes",
        "On the same logits, at the longest L: of N_s/N the difference, of the Jacobian’s norm the "
        "ratio.",
        (
            _TEXT,
            Column("Of", "measure"),
            Column("Rule", "rule"),
            Column("against", "against"),
            Column("Change", ("change", "low", "high"), "interval", 3),
            _HEADS,
            Column("Windows", "windows", "number"),
            Column("Rows", "rows", "number", 4),
        ),
    ),
}
_CHOICES = (
    Column("Vectors", "vectors", sorts=True),
    Column("Length", "scale", sorts=True),
    Column("Keys", "keys", sorts=True),
    Column("Agrees", "agrees", "number", None, "How many of the paper's numbers it meets", True),
    Column("", "badges", "lines"),
    Column("Critical N", "critical_n", "number", 5, _STRICT, True),
    Column("of L", "critical_share", "percent", 1, sorts=True),
    Column("Critical N, eq. 24", "critical_n_corrected", "number", sorts=True),
    Column("N_s/N at 16", "separability_at_16", "fixed", 2, "Mean over heads", True),
    Column("Plateau", ("plateau_low", "plateau_high"), "span", 2, _SETTLED, True),
    Column(f"Heads in {printed(*PLATEAU)}", "heads_in_band", "percent", sorts=True),
    Column("Rows", "rows", "number", 4, "Query rows behind a number", True),
)
_TIMING = (
    Column("Algorithm", "algorithm"),
    Column("What", "what"),
    Column("Paper", "paper_seconds", "seconds"),
    Column("Literal loop here", "literal_seconds", "seconds"),
    Column("headgauge", "ours_seconds", "seconds"),
    Column("Times faster", "ratio", "number", 3, "Than the literal loop on this machine"),
    Column("Note", "note"),
)
_CLAIMS = (
    Column("Claim", "claim", "lines"),
    Column("Paper", "paper"),
    Column("Measured, text by text", "measured", "lines"),
    Column("Verdict", "verdict", "lines"),
)


def reproduction_page(run: Reproduction) -> Page:
    warnings = run.warnings()
    first, *others = run.scans
    on = f" on {first}" * bool(others)
    return Page(
        title=title(run.scan),
        caption=run.scan.caption() + "".join(f"; also on {each}" for each in others),
        warnings=warnings,
        stands=run.judging.stands,
        overview=[
            *parts.opening("reproduction", run.finding()),
            *_claim_counts(run.paper["verdicts"]["verdict"].to_list()),
            notes(line for line in run.notes() if line not in warnings),
        ],
        sections=[
            _verdict(run),
            _figures(run),
            _choices(run),
            *scan_sections(run.scan, on),
            _timing(run.timing),
            ledger([each for each in CLAIMS if not each.id.startswith("D")], "arXiv 2508.17821"),
            came_about(run.scan.manifest),
        ],
    )


def _claim_counts(verdicts: list[str]) -> list[Part]:
    claims = f"{len(verdicts)} claim{'s' * (len(verdicts) != 1)}"
    lead = text(f"{claims} of the paper, measured here:", lead=True)
    chips = [[word, verdicts.count(word), None] for word in dict.fromkeys(verdicts)]
    return [lead, {"kind": "chips", "chips": chips, "href": "#verdict"}] if verdicts else []


def _verdict(run: Reproduction) -> Part | None:
    """Claim by claim what each text says of it, and the small tables behind."""
    readings = run.paper["readings"]
    titles = names.text_titles(run.scans, run.judging.chosen_on)
    rows = [
        _claim(claim, readings.filter(claim=claim["claim"]).to_dicts(), titles)
        for claim in run.paper["verdicts"].to_dicts()
    ]
    heading = "The verdict on the paper"
    shown = table(_CLAIMS, rows, heading, look="cards verdict-table")
    return section("verdict", "Verdict", heading, shown, _behind(run.paper)) if shown else None


def _claim(
    claim: dict[str, Any], readings: list[dict[str, Any]], titles: dict[str, str]
) -> dict[str, Any]:
    """The cells of a row, line by line: [look, words, badge beside them]."""
    comments = {reading["comment"] for reading in readings}
    once = comments.pop() if len(comments) == 1 else ""  # what is said of every text alike
    measured = []
    for reading in readings:
        own = reading["verdict"] if reading["verdict"] != claim["verdict"] else ""
        comment = "" if once else reading["comment"]
        lines = ["", corrected_words(reading)], ["comment", comment]
        measured += [["of", titles[reading["text"]], own], ["", reading["printed"]]]
        measured += [line for line in lines if line[1]]
    said = [["held", held_words(claim)]]
    said += [["comment", comment] for comment in dict.fromkeys((claim["comment"], once))]
    return {
        "claim": [["strong", claim["claim"]], ["where", claim["where"]], ["", claim["statement"]]],
        "paper": claim["paper"],
        "measured": measured,
        "verdict": [["badge", claim["verdict"]], *(line for line in said if line[1])],
    }


def _behind(paper: dict[str, pl.DataFrame]) -> Part | None:
    """Assumptions, coverage, signs, gains: tables of a few rows."""
    titles = {name: measure.title for name, measure in measures.MEASURES.items()}
    measure, at = pl.col("measure"), pl.format("N_s/N at N = {}", "top_n")
    of = pl.when(measure == "separability").then(at).otherwise(measure)
    paper = paper | {
        "signs": paper["signs"].with_columns(pl.col("sign").replace(titles)),
        "gains": paper["gains"].with_columns(measure=of),
    }
    parts = [
        table(columns, paper[name].to_dicts(), title, title=title, text=words, look="dense")
        for name, (title, words, columns) in _BEHIND.items()
    ]
    held = [part for part in parts if part is not None]
    summary = "The numbers behind the claims that have no figure"
    return {"kind": "details", "summary": summary, "parts": held} if held else None


def _figures(run: Reproduction) -> Part | None:
    tables = [run.paper[name] for name in ("fig2a", "fig2b", "fig2c", "fig3")]
    rules = {rule for frame in tables for rule in frame["rule"].unique()}
    told = "; ".join(names.rule_notes(sorted(rules)))
    apart = f"Other rules are put on logits that were not trained for them: {told}." * bool(told)
    held = figures(page_figures(run.paper, list(run.scans), run.judging.chosen_on), apart)
    how = text(
        "Point at a figure to read it, drag to zoom, double-click to go back; arrow keys work too. "
        "Press a line in a legend to hide it."
    )
    return section("figures", "Figures", "The figures, redrawn", how, held) if held else None


def _choices(run: Reproduction) -> Part | None:
    """Every choice of vectors and keys beside its numbers, text by text."""
    rows = run.paper["choices"].to_dicts()
    for row in rows:
        signs = {"judged": row["measured"], "closest here": row["closest"]}
        row["badges"] = [["badge", word] for word, has in signs.items() if has]
    texts = [row["text"] for row in rows]
    titles = names.text_titles(run.scans, run.judging.chosen_on)
    shown = table(
        _CHOICES,
        rows,
        "Choices of vectors and keys",
        marked=[number for number, row in enumerate(rows) if row["measured"]],
        filter={
            "id": "choices-text",
            "title": "Text",
            "of": texts,
            "options": [[name, titles[name]] for name in dict.fromkeys(texts)],
        },
    )
    said = text(
        "The paper leaves open which vectors and which keys it means. Each choice beside its "
        "numbers; closest here: it meets most of them on this text, and is the nearest of those "
        f"that do. {_judged(run)}"
    )
    if shown is None:
        return None
    return section("choices", "Choices", "What depends on the choice", said, shown)


def _judged(run: Reproduction) -> str:
    """Which choice the verdicts are about, and where it comes from."""
    choices, on = run.paper["choices"], run.judging.chosen_on
    for vectors, scale, keys in choices.filter("measured").select(CHOICE).head(1).rows():
        alone = on is not None and len(run.scans) == 1
        return (
            f"The verdicts are about {vectors} vectors, {scale} length, {keys} keys, "
            f"{chosen_words(choices, on)}"
            + ("; with no second text to judge on, no claim is judged." if alone else ".")
        )
    return ""


def _timing(timing: tuple[dict[str, Any], ...]) -> Part | None:
    """Our times beside the paper's Table 1."""
    rows = []
    for row in timing:
        literal, share = row["literal_seconds"], row["literal_share"]
        if literal is not None and share is not None and share < 1:
            note = f"extrapolated from {100 * share:.2g} % of the work"
            row = row | {"literal_seconds": {"value": literal, "note": note}}
        rows.append(row)
    shown = table(_TIMING, rows, "Timing", look="cards")
    said = text(
        "The paper's times come from its own machine and are there for scale only. The ratio "
        "compares two ways on this one machine."
    )
    return section("timing", "Timing", "Timing, beside Table 1", said, shown) if shown else None
