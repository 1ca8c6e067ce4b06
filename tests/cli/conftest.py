import pytest

from headgauge.cli.app import run
from headgauge.report import drawing


@pytest.fixture
def cli(capsys):
    """Run the command line in this process: (exit code, stdout, stderr)."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture(scope="module", autouse=True)
def without_pdf():
    """Fonts are cut to size for every PDF, a second each; tests/report has tests of them."""
    save = drawing.save_figure

    def saved(figure, folder, name, formats, **others):
        return save(figure, folder, name, [kind for kind in formats if kind != "pdf"], **others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "save_figure", saved)
        yield


@pytest.fixture
def undrawn(monkeypatch):
    """The page alone: most of a small run's time goes into its figures."""
    for name in ("save_figures", "paper_figures"):
        monkeypatch.setattr(f"headgauge.report.figures.{name}", lambda *_, **__: [])
