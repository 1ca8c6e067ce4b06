import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

SMALL = ["simulate", "--tokens", "6", "--dim", "8", "--horizon", "2", "--seeds", "2",
         "--scheme", "post_ln,Peri-LN", "--parts", "curves,rates,swarms,sphere"]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulation, and what it printed in a file beside it."""
    from headgauge.cli.app import run as command

    out = tmp_path_factory.mktemp("runs") / "sim"
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()) as notes:
        assert command([*SMALL, "--out", str(out)]) == 0
    assert "out " in notes.getvalue()
    out.with_suffix(".txt").write_text(printed.getvalue(), encoding="utf-8")
    return out


def test_what_it_leaves(run: Path) -> None:
    assert {path.name for path in run.iterdir()} == {
        "dynamics", "figures", "manifest.json", "report.html",
    }  # fmt: skip
    assert (run / "figures" / "sphere.gif").is_file()
    assert (run / "figures" / "gamma.png").is_file()


def test_theory_stands_beside_measured(run: Path) -> None:
    out = run.with_suffix(".txt").read_text(encoding="utf-8")
    assert "Peri-LN  2/(r₀√(e^{2β} + n − 1))" in out
    assert "1 − γ ~ e^{−2t}" in out
    assert "random" in out
    assert f"open {run / 'report.html'}" in out


def test_json_of_a_run_that_is_there(cli, run: Path, undrawn: None) -> None:
    code, out, err = cli(*SMALL, "--quiet", "--json", "--out", str(run))
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [row["scheme"] for row in found["rates"]] == ["post_ln"] * 2 + ["peri_ln"] * 2
    assert {row["weights"] for row in found["collapse"]} == {"identity", "random"}


def test_the_page_is_drawn_again(cli, run: Path, undrawn: None) -> None:
    before = (run / "report.html").read_bytes()
    (run / "report.html").unlink()
    code, out, _ = cli("report", str(run))
    assert code == 0
    assert (run / "report.html").read_bytes() == before
    assert "open" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scheme", "rmsnorm"], "no scheme 'rmsnorm'"),
        (["--tokens", "1"], "tokens must be in 2 to 9223372036854775807, got 1"),
        (["--beta", "-1"], "β must be above 0 and at most 300, got -1"),
        (["--weights", "ones"], "no weights named 'ones'"),
        (["--parts", "movie"], "no part named 'movie'"),
        (["--rule", "nonsense"], "nonsense"),
        (["--rule", "ssmax,sparsemax"], "a swarm follows one rule, and 2 were given"),
        (["--rule", "ssmax:s=fit"], "ssmax:s=fit: s needs a number: nothing is fitted here"),
        (["--rule", "topk:k=0"], "k must be a whole number from 1; got 0"),
        (["--horizon", "0"], "horizon must be above 0"),
        (["--device", "abacus"], "no device 'abacus'"),
        (["--device", "meta"], "no device 'meta'"),
        (["--radius", "-1"], "a length above 0, got -1"),
        (["--horizon", "nan"], "horizon must be above 0 and at most 1e+06, got nan"),
        (["--horizon", "1e300"], "horizon must be above 0 and at most 1e+06, got 1e+300"),
        (["--beta", "nan", "--weights", "random"], "β must be above 0 and at most 300, got nan"),
        (["--random-beta", "inf", "--weights", "identity"], "at most 300, got inf"),
        (["--decay", "inf", "--scheme", "post_ln"], "decay must be a number, got inf"),
        (["--seeds", "1000000000"], "seeds must be in 1 to 100000, got 1000000000"),
        (["--seed", "-1"], "seed must be in 0 to 9223372036854775807, got -1"),
        (["--seed", str(2**70)], "seed must be in 0 to 9223372036854775807"),
        (["--tokens", "1000000000"], "1000000000 tokens in 512 dimensions need 1.5e+11 GB of mem"),
        (
            ["--dim", "1000000000", "--random-beta", "5"],
            "in 1000000000 dimensions need 6.4e+10",
        ),
        (["--tokens", str(10**30)], "tokens must be in 2 to 9223372036854775807"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(cli, tmp_path, arguments, said) -> None:
    code, out, err = cli("simulate", *arguments, "--out", str(tmp_path / "run"))
    assert code == 2
    assert out == ""
    assert said in err.splitlines()[-1]
    assert not (tmp_path / "run").exists()
    assert "Traceback" not in err


def test_a_folder_with_other_settings_is_refused(cli, run: Path) -> None:
    code, _, err = cli(*SMALL, "--beta", "4", "--out", str(run))
    assert code == 2
    assert "beta is 5.0 there, 4.0 here" in err


def test_thresholds_mean_nothing_to_a_simulation(cli, run: Path, tmp_path) -> None:
    (tmp_path / "t.toml").write_text("")
    code, _, err = cli("report", str(run), "--thresholds", str(tmp_path / "t.toml"))
    assert code == 2
    assert "a simulation has no verdicts" in err
