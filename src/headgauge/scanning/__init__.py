"""Scan a model's heads over text, and say what is wrong with which.

    result = headgauge.scan("default", length=1024, windows=4)
    result.heads, result.curves       # polars, as in headgauge.runs.schema
    result.frame()                    # one row per head, the worst first
    result.verdicts()                 # number, threshold, source and remedy of each verdict
    result.save("runs/mine")

`settings` is what a run is identified by, `reading` has what it reads, `fitting` makes defaults fit
both model and text, `plan` turns it into units, `unit` measures one window,
`scanning` runs them; `thresholds`, `verdicts`, `summary` and `capacity` judge the tables.
"""

from headgauge.measure.fitting import scan_settings
from headgauge.measure.plan import Plan, make_plan
from headgauge.measure.settings import ScanSettings
from headgauge.scanning.estimating import Estimate, estimate
from headgauge.scanning.result import ScanResult
from headgauge.scanning.scanning import default_threads, run_plan, scan
from headgauge.scanning.thresholds import Threshold, read_thresholds

__all__ = [
    "Estimate",
    "Plan",
    "ScanResult",
    "ScanSettings",
    "Threshold",
    "default_threads",
    "estimate",
    "make_plan",
    "read_thresholds",
    "run_plan",
    "scan",
    "scan_settings",
]
