"""The page of a scan: verdicts with remedies, heads, depth, outlook, manifest."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from headgauge.claims.record import Claim
from headgauge.registry import names
from headgauge.report.captions import longest
from headgauge.report.dynamics.depth import depth_figure
from headgauge.report.effects import effects_template, worth
from headgauge.report.page import parts
from headgauge.report.page.heads import heads_part
from headgauge.report.page.parts import Column, Page, Part, opening, plural, section, text
from headgauge.report.page.spans import spans_section
from headgauge.report.page.values import column, plain
from headgauge.report.tables import span_words, threshold_words, worth_words
from headgauge.scanning import ScanResult


def scan_page(scan: ScanResult) -> Page:
    warnings = scan.warnings()
    return Page(
        title=title(scan),
        caption=scan.caption(),
        warnings=warnings,
        stands=[
            line.removeprefix(f"{scan.caption()}; ")
            for line in scan.stands()
            if line != scan.caption()
        ],
        overview=[
            *opening("scan", scan.finding()),
            *_remedies(scan),
            parts.notes(line for line in scan.notes() if line not in warnings),
        ],
        sections=[*scan_sections(scan), came_about(scan.manifest)],
    )


def title(scan: ScanResult) -> str:
    known = scan.manifest["model"]
    return f"headgauge: {known['name'] if known else 'a model'}"


def _remedies(scan: ScanResult) -> list[Part | None]:
    """What each verdict means and what to do, with the heads that are farthest beyond it."""
    heads = scan.frame()
    layers = heads.select("layer", "occurrence", "module").n_unique()
    rows = scan.remedies().to_dicts()
    for row in rows:
        row |= {"given": [["", row["source"]]], "far": []}
        row["todo"] = [["", row["remedy"]]]
        if row["threshold"] is not None:
            row["given"] = [["", threshold_words(row)], ["where", row["source"]]]
            row["far"] = list(zip(row["farthest"], row["numbers"], strict=True))
        if row["most_n"] is not None:
            ends = dict.fromkeys((row["least_n"], row["most_n"]))
            own = " to ".join(map(str, ends))
            row["todo"].append(["strong", f"For these heads that is N = {own}."])
        if measured := worth_words(row):
            row["todo"].append(["where", measured])
    columns = (
        Column("Verdict", ("verdict", "heads", "share"), "chip"),
        Column("Given where", "given", "lines"),
        Column("What to do", "todo", "lines"),
        Column("Farthest beyond", "far", "heads", None, "Heads with their own numbers"),
    )
    said = f"{plural(len(heads), 'attention head')} in {plural(layers, 'layer')}, by verdict"
    shown = parts.table(columns, rows, "Verdicts and remedies", look="cards remedies")
    return [text(f"{said} (a head can have several):", lead=True), shown]


def scan_sections(scan: ScanResult, on: str = "") -> list[Part | None]:
    heads = heads_part(scan)
    shown = section("heads", "Heads", f"Heads{on}", heads)
    return [shown, _effects(scan, heads), spans_section(scan), _depth(scan), _outlook(scan)]


def _effects(scan: ScanResult, heads: Part) -> Part | None:
    """What heads are worth against their measures; the columns that the heads have stand there."""
    if "effect" not in heads["measures"]:
        return None
    known = worth(scan)
    figure, rows = effects_template(known)
    number_of = {name: number for number, name in enumerate(heads["links"])}
    place = [number_of[name] for name in known["head_name"]]
    series = {name: [place[row] for row in own] for name, own in rows.items()}
    ordered = known.with_columns(place=pl.Series(place, dtype=pl.Int64)).sort("place")
    more = {"separability": column(ordered["separability"])}
    part = {"kind": "effects", "figure": plain(figure), "rows": series, "columns": more}
    return section("worth", "Effects", "Effects", part)


def ledger(claims: Iterable[Claim], paper: str) -> Part:
    """The records of one paper."""
    said = text(
        f"Statements of {paper} with a verdict each; a row opens to say why, and what holds "
        "instead."
    )
    shown = {"kind": "ledger", "claims": [claim.as_dict() for claim in claims]}
    return section("claims", "Claims", "Claims ledger", said, shown)


def came_about(manifest: Mapping[str, Any]) -> Part:
    """How the run came about."""
    shown = {"kind": "manifest", "manifest": dict(manifest)}
    return section("manifest", "Manifest", "Manifest", shown)


def _depth(scan: ScanResult) -> Part | None:
    if scan.depth is None or scan.depth.is_empty():
        return None
    drawn = parts.figures([depth_figure(scan.depth, scan.depth_curves(), "")])
    said = text(_recognised(scan.depth, scan.depth_curves()), id="recognised")
    return section("depth", "Depth", "Depth", said, drawn)


def _recognised(depth: pl.DataFrame, predicted: pl.DataFrame) -> str:
    """Which scheme this model has, and what its prediction is made from."""
    layers = longest(depth).sort("window").unique("layer", keep="first").sort("layer")
    known, own = layers["scheme"].drop_nulls(), predicted.filter("recognised")
    if own.is_empty():
        found = ", ".join(names.scheme(each).title for each in known.unique(maintain_order=True))
        return f"No one scheme was recognised (layers: {found or 'none'}), so none is bold."
    scheme, beta, tokens = own.select("scheme", "beta", "tokens").row(0)
    same = f" ({(known == scheme).sum()} of {plural(len(known), 'layer')})" * bool(len(known))
    return (
        f"Recognised as {names.scheme(scheme).title}{same}. Its line, in bold, is the equiangular "
        f"system (identity matrices, no mask, no MLPs) of n = {tokens:.5g} tokens started where "
        f"the model starts, with β = {beta:.4g}: the β whose softmax, masked as the model's, "
        "spreads over as many keys as the first layer's heads do."
    )


def _outlook(scan: ScanResult) -> Part | None:
    """How many heads each verdict names now and, by their trends, at a longer context."""
    target = scan.target()
    if target is None:
        return None
    rows = [row | {"interval": span_words(row)} for row in scan.outlook(target).to_dicts()]
    columns = [
        Column("Verdict", ("verdict",), "marks"),
        Column("Heads now", "now", "number"),
        Column(f"At L = {target}", "target", "number"),
        Column("90 % interval", "interval", "words"),
        Column("of", "heads", "number"),
        Column("No interval", "unknown", "number"),
    ]
    shown = columns if any(row["unknown"] for row in rows) else columns[:-1]
    return section(
        "outlook",
        "Outlook",
        f"Outlook at {target} tokens",
        text(
            f"How many of the heads each verdict names now, and how many it would name at {target} "
            "tokens if each head's trend over the scanned lengths goes on. The interval counts the "
            "heads that are beyond the threshold for certain, and those that may be."
        ),
        parts.table(shown, rows, "Outlook", look="dense"),
        parts.notes(scan.outlook_grounds(target).notes()),
    )
