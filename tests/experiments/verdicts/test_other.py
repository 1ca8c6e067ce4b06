from headgauge.experiments.verdicts import other
from headgauge.experiments.verdicts.evidence import Evidence
from headgauge.results.paper_schema import UNTESTABLE


def test_three_heads_cover_is_arithmetic(frames):
    row = other.three_heads_cover(Evidence({}, frames.choice))
    assert row.verdict == UNTESTABLE
    assert row.printed == "1 − .2³ = 0.992"
    assert row.corrected == f"at .7: 4 heads for {1 - 0.3**4:.3f}"


def test_a_time_on_another_machine_is_no_verdict(frames):
    assert other.run_time(Evidence({}, frames.choice)).verdict == UNTESTABLE
