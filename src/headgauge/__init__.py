"""headgauge: how selective are the attention heads of a transformer, and what limits them?

    import headgauge

    rule = headgauge.normalizers.get("entmax", alpha=1.5)
    weights = rule(logits, mask)

`headgauge.theory` has the paper's results, `headgauge.normalizers` the rules, `headgauge.claims`
the ledger, `headgauge.engine` computes theory's measures fast, and `headgauge.models` loads a model
and watches its attention. Each is imported when it is first used, because torch takes seconds.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headgauge import claims, engine, models, normalizers, theory

__version__ = "0.1.0"
__all__ = ["__version__", "claims", "engine", "models", "normalizers", "theory"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"headgauge.{name}")
    raise AttributeError(f"module 'headgauge' has no attribute {name!r}")
