"""The manifest of a scan: what was planned, in the words of `runs.manifest`."""

from dataclasses import asdict
from typing import Any

import torch

from headgauge import runs
from headgauge.measure.plan import Plan

RESEARCH_TYPE = "measurement of a trained model's attention on prose"


def describe_plan(plan: Plan) -> runs.Manifest:
    """Everything the manifest can say before the run."""
    identity = plan.identity
    known: dict[str, Any] = identity["model"]
    settings = plan.settings
    return runs.manifest(
        settings=identity,
        research_type=RESEARCH_TYPE,
        pseudocode=settings.pseudocode,
        data=runs.Data(
            name=plan.text.name,
            sha256=plan.text.sha256,
            origin=f"{plan.text.origin} ({plan.text.why})",
            tokens=plan.text.tokens,
        ),
        splits=runs.Splits(
            offset=settings.offset,
            windows=settings.windows,
            lengths=sorted(settings.lengths),
            bos=runs.EdgeToken(**asdict(plan.edges.bos)),
            eos=runs.EdgeToken(**asdict(plan.edges.eos)),
        ),
        model=runs.Model(
            name=known["name"],
            source=plan.loaded.source,
            quantisation=plan.loaded.quantisation,
            sha256=plan.loaded.sha256,
            fingerprint=known["fingerprint"],
            facts=asdict(plan.loaded.facts),
            **({} if plan.loaded.revision is None else {"revision": plan.loaded.revision}),
        ),
        device=known["device"],
        gpu=torch.cuda.get_device_name() if known["device"] == "cuda" else None,
        seeds={"samples": settings.seed},
        notes=[note for note in (plan.loaded.note, *plan.edges.notes, *plan.notes) if note],
    )
