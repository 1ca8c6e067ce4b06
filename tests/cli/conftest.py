import jaxtyping
import pytest

from headgauge.cli.app import run


@pytest.fixture(scope="module", autouse=True)
def _shapes_are_checked_elsewhere():
    """Whole commands, run for what they say and leave: with every shape checked on the way, as the
    tests of the pieces do, most of the time would go there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        yield


@pytest.fixture
def cli(capsys):
    """Run the command line in this process: (exit code, stdout, stderr)."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
