from headgauge.paper.measured import Measured


def test_a_finished_run_has_what_the_figures_read(kept):
    measured = Measured.of(kept.scan)
    assert measured.length == 110
    assert measured.head_count == 8
    assert set(measured.curves["window"]) == {0, 1}
    assert len(measured.sensitivity) > 0
    assert len(measured.points) == 2 * 110
