"""A small run for the page: numbers that say where they belong, tokens that try to break out."""

from typing import Any

import polars as pl

from headgauge.report.page import PageContent
from headgauge.runs.schema import CurveRow, HeadRow, SampleRow, frame_schema
from headgauge.scanning import summary
from headgauge.scanning.verdicts import verdicts
from report.page.dynamics_frames import dynamics_frames
from report.page.paper_frames import TEXTS, paper_frames

LAYERS, HEADS, WINDOWS, LENGTH = 3, 4, 2, 64
NS = (1, 4, 16, 32)
CHOICES = (("value", "unit", "visible"), ("hidden", "unit", "all"))
SCRIPT = "<script>window.hacked=1</script>"
TOKENS = (
    SCRIPT,
    "</td>",
    " the",
    "\n",
    "</script><img src=x onerror=window.hacked=2>",
    "\u2028&amp;",
)
CLAIMS = (
    {
        "id": "1",
        "where": "Lemma 1",
        "seen_in": "the paper",
        "statement": f"A statement with {SCRIPT}.",
        "verdict": "false",
        "because": "A reason.",
        "corrected": "What holds.",
    },
    {
        "id": "2",
        "where": "Theorem 1",
        "seen_in": "second-hand notes",
        "statement": "Another.",
        "verdict": "true",
        "because": "It is proved.",
        "corrected": "same",
    },
)
TIMING = (
    {
        "algorithm": "Algorithm 2",
        "what": "distance over N",
        "paper_seconds": 5400.0,
        "ours_seconds": 63.25,
        "literal_seconds": 135987.5,
        "literal_share": 0.0006,
        "ratio": 2150.0,
        "note": None,
    },
)
MANIFEST = {
    "status": "finished",
    "model": {"name": "small", "facts": {"layers": LAYERS, "sizes": [1, 2]}},
    "units": {"w0": {"loss": float("nan"), "text": SCRIPT}},
    "notes": [],
}


def page_content(paper: bool = True, **changes: Any) -> PageContent:
    """A reproduction, or with `paper=False` a plain scan."""
    heads = changes.pop("heads", head_rows())
    curves = changes.pop("curves", curve_rows())
    told = verdicts(heads, curves)
    tables = changes.pop("paper_tables", None) or (paper_frames() if paper else None)
    content: dict[str, Any] = {
        "title": f"headgauge: small {SCRIPT}",
        "caption": f"small, prose, L = {LENGTH}, {WINDOWS} windows",
        "warnings": ("random weights: not a result",),
        "stands": (f"quick run: 32 of 1024 query rows per head {SCRIPT}", "text prose"),
        "notes": ("a note",),
        "manifest": MANIFEST,
        "head_table": summary.head_table(heads, curves, told),
        "verdicts": told,
        "counts": summary.counts(told),
        "heads": heads,
        "curves": curves,
        "samples": sample_rows(),
        "claims": CLAIMS if paper else (),
        "paper": tables,
        "chosen_on": TEXTS[0] if paper else None,
        "timing": TIMING if paper else (),
    }
    return PageContent(**{**content, **changes})


def simulation_content(**changes: Any) -> PageContent:
    """A simulation: no model, no heads."""
    content: dict[str, Any] = {
        "title": f"headgauge: dynamics {SCRIPT}",
        "caption": "six schemes",
        "warnings": (),
        "notes": ("a note",),
        "manifest": {"status": "finished"},
        "claims": (),
        "dynamics": dynamics_frames(),
    }
    return PageContent(**{**content, **changes})


def sink_weight(layer: int, head: int, window: int) -> float:
    """Above the threshold in the last layer only."""
    return 0.5 + head / 100 if layer == LAYERS - 1 else 0.01 * (1 + head + window)


def distance(layer: int, head: int, n: int, choice: int, window: int) -> float:
    return 100 / n + layer + head / 10 + 50 * choice + window / 100


def _places(windows: int):
    for window in range(windows):
        for layer in range(LAYERS):
            for head in range(HEADS):
                yield {
                    "window": window,
                    "length": LENGTH,
                    "layer": layer,
                    "occurrence": 0,
                    "module": f"model.layers.{layer}.attn",
                    "head": head,
                }


def head_rows(windows: int = WINDOWS) -> pl.DataFrame:
    rows = [
        place
        | {"kv_head": place["head"] // 2, "cross": False, "seen": "qkv", "rows": LENGTH}
        | {"entropy": 1.5 + place["layer"], "entropy_share": 0.4, "effective_n": 5.0}
        | {"sink_weight": sink_weight(place["layer"], place["head"], place["window"])}
        | {"max_logit": 3.0 + place["window"], "jacobian_norm": 0.25, "sharpness": 1.5}
        | {"sharp_rows": 0.5, "output_norm": 2.0, "output_ratio": 1.0 + place["head"] / 10}
        for place in _places(windows)
    ]
    return pl.DataFrame(rows, schema=frame_schema(HeadRow))


def curve_rows() -> pl.DataFrame:
    rows = []
    for place in _places(WINDOWS):
        for number, (vectors, scale, keys) in enumerate(CHOICES):
            for n in NS:
                value = distance(place["layer"], place["head"], n, number, place["window"])
                rows.append(
                    place
                    | {"top_n": n, "vectors": vectors, "scale": scale, "keys": keys, "rows": 32}
                    | {"rule": "model", "distance": value, "expected_printed": 8 * value}
                    | {"expected_appendix": 0.6 * value, "radius": 0.1}
                    | {"separability": 0.3 if place["layer"] == 0 else 0.8}
                )
    held = frame_schema(CurveRow)
    return pl.DataFrame(
        [{name: row[name] for name in row if name in held} for row in rows], schema=held
    )


def sample_rows() -> pl.DataFrame:
    rows = [
        place
        | {"row": 40, "query_id": 2, "query_text": TOKENS[place["head"]], "visible": 41}
        | {"rank": rank, "key": rank * 3, "key_id": rank}
        | {"key_text": TOKENS[rank - 1] if rank <= len(TOKENS) else None}
        | {"weight": 0.5 / rank + place["head"] / 1000}
        for place in _places(1)
        for rank in range(1, 8)
    ]
    return pl.DataFrame(rows, schema=frame_schema(SampleRow))


def outlook_frame() -> pl.DataFrame:
    """One verdict with a span, one without a trend."""
    return pl.DataFrame(
        {
            "verdict": ["sink", "inactive"],
            "heads": [270, 270],
            "now": [138, 11],
            "target": [108, 16],
            "certainly": [90, 0],
            "possibly": [150, 0],
            "unknown": [3, 270],
        }
    )
