import pytest

from headgauge.cli.app import run


@pytest.fixture
def cli(capsys):
    """Run the command line in this process: (exit code, stdout, stderr)."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def undrawn(monkeypatch):
    """The page alone: most of a small run's time goes into its figures."""
    for name in ("save_figures", "paper_figures"):
        monkeypatch.setattr(f"headgauge.report.figures.{name}", lambda *_, **__: [])
