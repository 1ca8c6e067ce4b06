"""report.html: a run as one page that needs nothing but a browser.

scanning, reproduction,          what the page of each kind of result has, section by section
simulation, validation, remedies,
run_comparison, rules, training
comparison                       sides held against each other, on a map
heads                            the heads: map, list, curves, samples
parts, values                    what sections are made of, and numbers as JSON
document                         all of it in one file, with the scripts and styles in `assets/`
"""

from pathlib import Path

from headgauge.atomic import one_line, whole_file
from headgauge.comparison import RuleComparison, RunComparison
from headgauge.paper import Reproduction
from headgauge.remedies import Remedies
from headgauge.report.page.document import page_bytes
from headgauge.report.page.parts import Page
from headgauge.report.page.remedies import remedy_page
from headgauge.report.page.reproduction import reproduction_page
from headgauge.report.page.rules import rules_page
from headgauge.report.page.run_comparison import run_comparison_page
from headgauge.report.page.scanning import scan_page
from headgauge.report.page.simulation import simulation_page
from headgauge.report.page.training import training_page
from headgauge.report.page.validation import validation_page
from headgauge.scanning import ScanResult
from headgauge.simulation import Simulation
from headgauge.training.log.reading import TrainingLog
from headgauge.validation import Validation


def page(
    result: ScanResult
    | Reproduction
    | Simulation
    | Validation
    | Remedies
    | RunComparison
    | RuleComparison
    | TrainingLog,
) -> Page:
    """What the page of a result shows."""
    if isinstance(result, Reproduction):
        return reproduction_page(result)
    if isinstance(result, Validation):
        return validation_page(result)
    if isinstance(result, RunComparison):
        return run_comparison_page(result)
    if isinstance(result, RuleComparison):
        return rules_page(result)
    if isinstance(result, Remedies):
        return remedy_page(result)
    if isinstance(result, TrainingLog):
        return training_page(result)
    return simulation_page(result) if isinstance(result, Simulation) else scan_page(result)


def write_page(folder: Path, shown: Page) -> Path:
    """FOLDER/report.html, put in place only when it is whole; the same content, the same bytes."""
    target = folder / "report.html"
    held = page_bytes(shown)
    with one_line(target):
        folder.mkdir(parents=True, exist_ok=True)
    with whole_file(target, needed=len(held)) as part:
        part.write_bytes(held)
    return target
