"""Two things beside each other, head by head: rules in a model, or finished runs.

    found = headgauge.compare("runs/before", "runs/after")     # two scans of the same shape
    found.differences()                # B − A of every head and measure, with its standard error
    found.finding()                    # in a paragraph

    found = headgauge.compare("default", rules="ssmax:s=fit,sparsemax")    # rules in a model
    found.rules()                      # one row per rule: loss, its paired difference, KL, time

`rules` has what is asked of a model, `runs` what is asked of finished scans; `comparing` tells one
from the other.
"""

from headgauge.comparison.comparing import compare
from headgauge.comparison.rules_result import RuleComparison
from headgauge.comparison.runs_result import RunComparison

__all__ = ["RuleComparison", "RunComparison", "compare"]
