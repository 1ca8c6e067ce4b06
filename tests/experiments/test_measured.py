from headgauge import results
from headgauge.experiments.measured import Measured


def test_a_finished_run_has_what_the_figures_read(kept):
    measured = Measured.of(results.load_run(kept.folder))
    assert measured.length == 110
    assert measured.heads == 8
    assert set(measured.curves["window"]) == {0, 1}
    assert len(measured.sensitivity) > 0
    assert len(measured.points) == 2 * 110
