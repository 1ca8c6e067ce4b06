"""Scan a model's heads over text, and say what is wrong with which.

    result = headgauge.scan("default", length=1024, windows=4)
    result.heads, result.curves       # polars, as in headgauge.runs.schema
    result.frame()                    # one row per head, the worst first
    result.verdicts()                 # number, threshold, source and remedy of each verdict
    result.finding()                  # what was found and what to do, in a paragraph
    result.save("runs/mine")

`scanning` has what a scan is identified by and measures, `headgauge.measure` does it; `thresholds`,
`verdicts`, `summary` and `capacity` judge the tables, `overview` says what was found and
what to do, `depth_prediction` follows the stream.
"""

from headgauge.measure.estimates import Estimate, estimate
from headgauge.measure.plan import Plan
from headgauge.scanning.result import ScanResult
from headgauge.scanning.scanning import ScanSettings, run_scan, scan, scan_plan, scan_settings
from headgauge.scanning.threshold_file import read_thresholds
from headgauge.scanning.thresholds import Threshold

__all__ = [
    "Estimate",
    "Plan",
    "ScanResult",
    "ScanSettings",
    "Threshold",
    "estimate",
    "read_thresholds",
    "run_scan",
    "scan",
    "scan_plan",
    "scan_settings",
]
