from pathlib import Path

import pytest


@pytest.mark.parametrize("command", ["scan", "reproduce"])
def test_a_model_that_is_not_there_and_a_revision_of_one_that_is(cli, command: str, tmp_path: Path):
    for options, reason in (
        (["./nothere"], "no such file or folder: './nothere'"),
        ([str(tmp_path), "--revision", "v1"], "a revision is for models of the hub"),
    ):
        code, out, err = cli(command, *options, "--out", str(tmp_path / "run"), "--quiet")
        assert code == 2
        assert out == ""
        assert reason in " ".join(err.split())
        assert not (tmp_path / "run").exists()
