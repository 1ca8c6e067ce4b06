"""headgauge: how selective are the attention heads of a transformer, and what limits them?

    import headgauge

    result = headgauge.scan("default")          # every head of a model; see headgauge.scanning
    result.verdicts()
    headgauge.plot(result, 3, 5)                # layer 3, head 5; plot(result, "heads") all of them

    loaded = headgauge.load("default")          # a model once, for several runs
    headgauge.reproduce(loaded)                 # the paper's figures on it
    headgauge.simulate(tokens=64, dim=128)      # tokens as particles on the sphere
    with headgauge.swap(loaded, "sparsemax"):   # another rule in place of its softmax
        headgauge.scan(loaded)
    headgauge.stats(query, key, causal=True)    # entropy, largest logit, … of every attention row
    headgauge.install(loaded, "ssmax")          # a rule whose parameters are trained with the rest
    headgauge.ablate(loaded)                    # what each head is worth to its loss
    headgauge.validate(loaded)                  # do the verdicts tell what a head is worth?
    headgauge.compare("runs/a", "runs/b")       # two scans head by head; one model: rules in it
    headgauge.remedy(loaded)                    # what do the verdicts' remedies do?
    headgauge.Monitor(model, every=50)          # what the heads of a model do while it is trained
    headgauge.read_run("runs/mine")             # any of these, from its folder
    headgauge.export("runs/mine", "csv")        # a scan in the forms that other tools load

    rule = headgauge.normalizers.get("entmax", alpha=1.5)
    weights = rule(logits, mask)

`headgauge.theory` has the papers' results, `headgauge.normalizers` the rules, `headgauge.claims`
the ledger, `headgauge.engine` computes theory's measures fast, `headgauge.models` loads a model and
watches its attention, `headgauge.measure` measures it, `headgauge.scanning` judges its heads,
`headgauge.ablation` takes them out, `headgauge.validation` tests verdicts against that,
`headgauge.comparison` holds two things beside each other,
`headgauge.remedies` tries what verdicts recommend, `headgauge.training` watches a training,
`headgauge.paper` reproduces the paper's figures, `headgauge.particles` has tokens as particles on
the sphere, `headgauge.simulation` lets them run, `headgauge.runs` keeps what was found,
`headgauge.report` draws it and `headgauge.exports` hands it on.
Each is imported when it is first used: torch takes seconds.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgauge import (
        ablation,
        claims,
        comparison,
        engine,
        errors,
        exports,
        measure,
        models,
        normalizers,
        paper,
        particles,
        remedies,
        report,
        runs,
        scanning,
        simulation,
        theory,
        training,
        validation,
    )
    from headgauge.ablation import ablate
    from headgauge.comparison import compare
    from headgauge.engine import stats
    from headgauge.exports import export
    from headgauge.models import ablated, install, load, load_rule, save_rule, swap, uninstall
    from headgauge.paper import reproduce
    from headgauge.reading import read_run
    from headgauge.remedies import remedy
    from headgauge.report.figures import draw, plot
    from headgauge.scanning import scan
    from headgauge.simulation import simulate
    from headgauge.training import Monitor
    from headgauge.validation import validate

__version__ = "0.1.0"
__all__ = [
    "Monitor",
    "__version__",
    "ablate",
    "ablated",
    "ablation",
    "claims",
    "compare",
    "comparison",
    "draw",
    "engine",
    "errors",
    "export",
    "exports",
    "install",
    "load",
    "load_rule",
    "measure",
    "models",
    "normalizers",
    "paper",
    "particles",
    "plot",
    "read_run",
    "remedies",
    "remedy",
    "report",
    "reproduce",
    "runs",
    "save_rule",
    "scan",
    "scanning",
    "simulate",
    "simulation",
    "stats",
    "swap",
    "theory",
    "training",
    "uninstall",
    "validate",
    "validation",
]
# What is reached without naming its package.
_FUNCTIONS = {
    "Monitor": "training",
    "ablate": "ablation",
    "ablated": "models",
    "compare": "comparison",
    "draw": "report.figures",
    "export": "exports",
    "install": "models",
    "load": "models",
    "load_rule": "models",
    "plot": "report.figures",
    "read_run": "reading",
    "remedy": "remedies",
    "reproduce": "paper",
    "save_rule": "models",
    "scan": "scanning",
    "simulate": "simulation",
    "stats": "engine",
    "swap": "models",
    "uninstall": "models",
    "validate": "validation",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        if name in (
            "compare",
            "read_run",
            "remedy",
            "reproduce",
            "scan",
            "simulate",
            "validate",
        ):  # what they return shows itself in notebooks
            importlib.import_module("headgauge.report.notebook")
        return getattr(importlib.import_module(f"headgauge.{_FUNCTIONS[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"headgauge.{name}")
    raise AttributeError(f"module 'headgauge' has no attribute {name!r}")
