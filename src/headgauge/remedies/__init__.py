"""A remedy is a thing that can be tried: what does it do to the heads that have the verdict?

    found = headgauge.remedy("runs/mine")       # a scan, or a model: a scan is made first
    found.trials                                # loss, measure and verdict under each remedy
    found.finding()                             # in a paragraph

`scanning.thresholds` has what of a remedy can be tried, `limits` what turns a change of the loss
into a word, both fixed before a run. `finding_again` finds a scan's model and text, `planning` the
windows that follow it, `trials` has the heads and their control, `windows` what is measured,
`judging` adds it up.
"""

from headgauge.remedies.finding_again import scan_in, scan_source, scan_text
from headgauge.remedies.planning import RemedyPlan, judged_by, make_remedy, remedy_settings
from headgauge.remedies.result import Remedies
from headgauge.remedies.trying import remedy, run_remedy

__all__ = [
    "Remedies",
    "RemedyPlan",
    "judged_by",
    "make_remedy",
    "remedy",
    "remedy_settings",
    "run_remedy",
    "scan_in",
    "scan_source",
    "scan_text",
]
