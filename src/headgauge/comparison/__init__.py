"""Two things beside each other, head by head: rules in a model, or finished runs.

    found = headgauge.compare("runs/before", "runs/after")     # two scans of the same shape
    found.differences()                # B − A of every head and measure, with its standard error
    found.finding()                    # in a paragraph

`rules` has what is asked of a model, `runs` what is asked of finished scans; `comparing` tells one
from the other.
"""

from headgauge.comparison.comparing import compare
from headgauge.comparison.runs_result import RunComparison

__all__ = ["RunComparison", "compare"]
