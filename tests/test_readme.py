"""What the README shows is run, and what it lists is complete."""

import re
from pathlib import Path

import pytest

from headgauge import claims, normalizers
from headgauge.cli.app import run

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS)
def test_python_examples_run(code):
    exec(compile(code, "README.md", "exec"), {})


def test_every_rule_is_listed():
    for name in normalizers.names():
        assert f"`{name}`" in README


def test_the_number_of_statements_is_right():
    checked = sum(not claim.textual for claim in claims.CLAIMS)
    assert f"{len(claims.CLAIMS)} statements, {checked} with a check" in README


@pytest.mark.parametrize(
    "line", sorted(set(re.findall(r"^headgauge [^#\n]*", README, re.MULTILINE)))
)
def test_shown_commands_exist(line, capsys):
    arguments = line.split()[1:]
    assert run([*arguments[:1], "--help"]) == 0
    assert "Usage" in capsys.readouterr().out


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_links_lead_somewhere(link):
    assert (Path(__file__).parents[1] / link).exists()
