"""What trying remedies will need, before it starts."""

from headgauge.measure.estimates import Estimate, estimate, pass_seconds
from headgauge.remedies.planning import RemedyPlan
from headgauge.remedies.trials import groups
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import MEAN

_ROW_BYTES = 2 * 40  # of the numbers of a head, before and under remedies
_FIGURE_BYTES = 2 << 20


def estimate_remedy(plan: RemedyPlan) -> Estimate:
    """For all verdicts that a scan names heads by; of a model that has none yet, for all there
    are."""
    settings, seconds, disk = plan.settings, 0.0, _FIGURE_BYTES
    if isinstance(plan.scan, ScanResult):
        scan = plan.scan.with_thresholds(plan.thresholds)
        found = groups(scan, settings.verdicts, settings.draws, settings.seed)
        tries = [each.tries for each in found]
    else:
        first = estimate(plan.scan, 1)
        seconds, disk = first.seconds, disk + first.disk
        lines = [each for each in plan.thresholds if each.verdict in settings.verdicts]
        tries = list({each.verdict: each.tries for each in lines if each.tries}.values())
    needed = estimate(plan.judged)  # the windows that judge, measured once
    rules = sum(some != (MEAN,) for several in tries for some in several)
    remedies = sum(map(len, tries))
    candidates = sum(len(some) for several in tries for some in several)
    measured = 2 * rules  # named heads, and the first draw
    plain = remedies * (1 + settings.draws) - measured + 1
    one = pass_seconds(plan.judged, settings.length)
    seconds += (measured + 1) * needed.seconds + settings.windows * plain * one
    seconds += settings.calibration * (candidates + 2) * one
    heads = plan.judged.loaded.facts.layers * plan.judged.loaded.facts.heads
    disk += (measured + 1) * heads * settings.windows * _ROW_BYTES
    return Estimate(seconds, needed.memory, disk)
