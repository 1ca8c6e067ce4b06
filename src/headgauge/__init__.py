"""headgauge: how selective are the attention heads of a transformer, and what limits them?

    import headgauge

    result = headgauge.scan("default")          # every head of a model; see headgauge.diagnostics
    result.verdicts()

    rule = headgauge.normalizers.get("entmax", alpha=1.5)
    weights = rule(logits, mask)

`headgauge.theory` has the paper's results, `headgauge.normalizers` the rules, `headgauge.claims`
the ledger, `headgauge.engine` computes theory's measures fast, `headgauge.models` loads a model and
watches its attention, `headgauge.diagnostics` scans it, `headgauge.experiments` reproduces the
paper's figures on it, `headgauge.dynamics` simulates tokens as particles on the sphere,
`headgauge.results` keeps what was found and `headgauge.report` draws it.
Each is imported when it is first used: torch takes seconds.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgauge import (
        claims,
        diagnostics,
        dynamics,
        engine,
        experiments,
        models,
        normalizers,
        report,
        results,
        theory,
    )
    from headgauge.diagnostics import scan

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "claims",
    "diagnostics",
    "dynamics",
    "engine",
    "experiments",
    "models",
    "normalizers",
    "report",
    "results",
    "scan",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name == "scan":
        return importlib.import_module("headgauge.diagnostics").scan
    if name in __all__:
        return importlib.import_module(f"headgauge.{name}")
    raise AttributeError(f"module 'headgauge' has no attribute {name!r}")
