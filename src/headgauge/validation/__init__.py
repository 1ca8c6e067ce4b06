"""Do measures, verdicts and roles predict what a head is worth? Tested on text that chose no line.

    found = headgauge.validate("default")
    found.decided()                        # a word for each, with the intervals that decided it
    found.finding()                        # in a paragraph

`limits` has what turns an interval into a word, fixed before a run; `parts` reads effects and
scores from a scan, `scores` holds them against each other (`theory.statistics`), `induction` takes
the induction heads out.
"""

from headgauge.validation.result import Validation
from headgauge.validation.validating import (
    ValidationPlan,
    make_validation,
    run_validation,
    validate,
    validation_settings,
)

__all__ = [
    "Validation",
    "ValidationPlan",
    "make_validation",
    "run_validation",
    "validate",
    "validation_settings",
]
