"""What is said beside the figures: coverage by several heads, run time."""

from headgauge.experiments.verdicts.evidence import Evidence
from headgauge.results.paper_schema import UNTESTABLE, PaperVerdictRow
from headgauge.theory.coverage import multi_head_coverage as coverage


def three_heads_cover(evidence: Evidence) -> PaperVerdictRow:
    """Arithmetic under an assumption that no head meets."""
    return PaperVerdictRow(
        claim="3 heads at .8 cover 99 %",
        where="Discussion",
        statement="Three heads with separability .8 cover 99 % of the top N.",
        paper="99 %",
        printed=f"1 − .2³ = {coverage(0.8, 3):.3f}",
        corrected=f"at .7: 4 heads for {coverage(0.7, 4):.3f}",
        verdict=UNTESTABLE,
        comment="The arithmetic is right. It needs heads that are independent and select the same "
        "N tokens, and heads do neither.",
    )


def run_time(evidence: Evidence) -> PaperVerdictRow:
    """Another machine, another model: no verdict on a time."""
    return PaperVerdictRow(
        claim="run time",
        where="Table 1",
        statement="Algorithms 1 to 5 take 18 h 13 min on a 10-core laptop.",
        paper="18 h 13 min",
        printed="see the timing table",
        corrected="same",
        verdict=UNTESTABLE,
        comment="Another machine and model. timing.json has our time of each algorithm and the "
        "literal loop's, measured on a sample in the same run.",
    )
