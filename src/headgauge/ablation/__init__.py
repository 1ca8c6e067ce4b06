"""What each head of a model is worth: the rise of the loss without it.

    result = headgauge.ablate("default", windows=4, length=512)
    result.effects                     # polars: one row per head, the largest effect first
    result.means                       # what stood in the heads' places, by (layer, head)
    with headgauge.ablated(model, ["L18H7"], means=result.means):
        model.generate(…)

`ablating` has what a run is identified by and measures, `headgauge.measure` does it.
"""

from headgauge.ablation.ablating import (
    AblateSettings,
    ablate,
    ablate_plan,
    ablate_settings,
    run_ablation,
)
from headgauge.ablation.result import Ablation

__all__ = [
    "AblateSettings",
    "Ablation",
    "ablate",
    "ablate_plan",
    "ablate_settings",
    "run_ablation",
]
