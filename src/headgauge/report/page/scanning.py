"""The page of a scan: heads, depth, outlook, claims, manifest."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from headgauge.claims.ledger import CLAIMS
from headgauge.registry import names
from headgauge.report.captions import longest
from headgauge.report.dynamics.depth import depth_figure
from headgauge.report.page import parts
from headgauge.report.page.heads import heads_part
from headgauge.report.page.parts import Column, Page, Part, plural, section, text
from headgauge.report.tables import span_words
from headgauge.scanning import ScanResult


def scan_page(scan: ScanResult) -> Page:
    warnings = scan.warnings()
    return Page(
        title=title(scan),
        caption=scan.caption(),
        warnings=warnings,
        stands=scan.stands(),
        overview=[
            *head_counts(scan),
            parts.notes(line for line in scan.notes() if line not in warnings),
        ],
        sections=[*scan_sections(scan), *closing(scan.manifest)],
    )


def title(scan: ScanResult) -> str:
    known = scan.manifest["model"]
    return f"headgauge: {known['name'] if known else 'a model'}"


def head_counts(scan: ScanResult, on: str = "") -> list[Part]:
    """How many heads have each verdict; `on` names the text where there are several."""
    heads = scan.frame()
    layers = heads.select("layer", "occurrence", "module").n_unique()
    counts = scan.counts().filter(pl.col("heads") > 0)
    lead = (
        f"{plural(len(heads), 'attention head')} in {plural(layers, 'layer')}{on}, by verdict "
        "(a head can have several):"
    )
    chips = counts.select("verdict", "heads", "share").rows()
    return [
        text(lead, lead=True),
        {"kind": "chips", "chips": chips, "href": "#heads", "of_heads": True},
    ]


def scan_sections(scan: ScanResult, on: str = "") -> list[Part | None]:
    heads = section("heads", "Heads", f"Heads{on}", heads_part(scan))
    return [heads, _depth(scan), _outlook(scan)]


def closing(manifest: Mapping[str, Any], only: str = "") -> list[Part]:
    """The ledger, or the claims whose names begin with `only`, and how the run came about."""
    claims = [claim.as_dict() for claim in CLAIMS if claim.id.startswith(only)]
    said = text(
        "Statements of two papers with a verdict each; a row opens to say why, and what holds "
        "instead."
    )
    ledger = {"kind": "ledger", "claims": claims}
    came_about = {"kind": "manifest", "manifest": dict(manifest)}
    return [
        section("claims", "Claims", "Claims ledger", said, ledger),
        section("manifest", "Manifest", "Manifest", came_about),
    ]


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
        Column("Verdict", ("verdict",), "verdicts"),
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
        text("Each head's trend over the scanned lengths, continued."),
        parts.table(shown, rows, "Outlook", look="dense"),
        parts.notes(scan.outlook_grounds(target).notes()),
    )
