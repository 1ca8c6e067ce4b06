"""A log is written line by line, read meanwhile, taken up again, and refused where it is broken."""

import json
import math
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.training import LogWriter, TrainingLog
from training.logs import HEADER, HEADS, LAYERS, MEASURES, loss, record, value, write_log

TABLES = ("alarms", "heads", "steps")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(tmp_path_factory.mktemp("log") / "mine", loss=math.nan)


def log_text(folder: Path) -> list[str]:
    return (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()


def test_what_was_written_is_read_again(written: Path):
    log = TrainingLog.load(written)
    found = log.heads()
    assert found.height == 12 * sum(HEADS)
    for step, layer, head, *numbers in found.select("step", "layer", "head", *MEASURES).rows():
        for name, number in zip(MEASURES, numbers, strict=True):
            if (step, layer, head, name) == (120, 0, 2, "max_logit"):
                assert math.isnan(number)
            elif (step, layer, head, name) == (120, 0, 1, "entropy_share"):
                assert number is None
            else:
                assert number == value(name, step, layer, head)
    assert found["entropy"].is_null().all()
    assert found.drop_nulls("clip_factor").select(
        "step", "layer", "head", "clip_factor"
    ).rows() == [(50, 1, 0, 0.5)]
    assert found.filter(step=20)["qk_largest"].to_list() == [1, 2, 3, 4, 5]
    assert found.filter(step=30)["qk_largest"].is_null().all()
    steps = log.steps()
    assert steps["step"].to_list() == list(range(10, 130, 10))
    assert steps["loss"].to_list()[:-1] == [loss(step) for step in range(10, 120, 10)]
    assert math.isnan(steps["loss"][-1])
    assert steps["notes"].to_list()[:2] == [None, "logging every 10 steps from here"]
    assert log.alarms().rows() == [
        (40, "logit growth", 1, 0, 140.0, "raised"),
        (80, "logit growth", 1, 0, 180.0, "cleared"),
        (90, "logit growth", 1, 1, 190.0, "raised"),
    ]
    assert [line["step"] for line in log.lines()] == steps["step"].to_list()


def test_a_closed_log_has_its_tables_beside_it_and_nothing_else(written: Path):
    log = TrainingLog.load(written)
    for name in TABLES:
        table = pl.read_parquet(written / f"{name}.parquet")
        assert table.equals(getattr(log, name)(), null_equal=True)
    assert sorted(path.name for path in written.iterdir()) == [
        *("alarms.parquet", "heads.parquet", "log.jsonl", "steps.parquet")
    ]
    assert json.loads(log_text(written)[-1])["lines"] == 12


def test_the_log_is_json_that_others_read_too(written: Path):
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    lines = [json.loads(line, parse_constant=refuse) for line in log_text(written)]
    assert lines[0]["kind"] == "headgauge training log"
    assert lines[0]["layers"] == LAYERS
    assert lines[-2]["loss"] == "nan"
    assert lines[-2]["heads"]["max_logit"][0][2] == "nan"


def test_numbers_of_heads_have_six_digits_and_none_is_lost(tmp_path: Path):
    told = [[1 / 3, -math.inf, 1.5e-9], [123456.7, 0.0]]
    with LogWriter(tmp_path, HEADER) as writer:
        writer.write({"step": 1, "heads": {"max_logit": told}})
    found = TrainingLog.load(tmp_path).heads()["max_logit"].to_list()
    assert found == [0.333333, -math.inf, 1.5e-9, 123457.0, 0.0]


def test_it_is_read_while_another_process_writes_it(tmp_path: Path):
    code = f"""
import sys
from training.logs import HEADER, record
from headgauge.training import LogWriter
writer = LogWriter({str(tmp_path)!r}, HEADER)
for step in map(int, sys.stdin):
    writer.write(record(step))
    print(step, flush=True)
writer.close()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    tests = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", code], cwd=tests, **pipes) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for step in (1, 2, 3):
            other.stdin.write(f"{step}\n")
            other.stdin.flush()
            assert int(other.stdout.readline()) == step
            log = TrainingLog.load(tmp_path)
            assert log.steps()["step"].to_list() == list(range(1, step + 1))
            assert not log.thinned().closed
        with pytest.raises(InputError, match="being written by another training"):
            LogWriter(tmp_path, HEADER)
        other.stdin.close()
        assert other.wait(60) == 0
    assert TrainingLog.load(tmp_path).thinned().closed


def test_a_log_without_a_step_has_tables_without_rows(tmp_path: Path):
    LogWriter(tmp_path, HEADER).close()
    assert [pl.read_parquet(tmp_path / f"{name}.parquet").height for name in TABLES] == [0, 0, 0]
    assert TrainingLog.load(tmp_path).finding() == "No step was logged yet."


def test_a_last_line_that_is_cut_off_is_left_out_and_said(tmp_path: Path):
    write_log(tmp_path, finished=False)
    path = tmp_path / "log.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    log = TrainingLog.load(tmp_path)
    assert log.steps()["step"].to_list() == list(range(10, 120, 10))
    assert "what follows the last whole line (cut off, or still being written) is left out" in (
        log.stands()
    )


def _line(number: int, change):
    def changed(lines: list[str]) -> list[str]:
        held = json.loads(lines[number - 1])
        return [*lines[: number - 1], json.dumps(change(held)), *lines[number:]]

    return changed


def _with_heads(**more):
    return lambda line: line | {"heads": line["heads"] | more}


DAMAGE = {
    "a hole": (lambda lines: [*lines[:4], lines[4][:50], *lines[5:]], "line 5: it is no JSON"),
    "no header": (lambda lines: lines[1:], "no header of a training log"),
    "nothing": (lambda lines: [], "no header of a training log"),
    "of tomorrow": (_line(1, lambda line: line | {"format": 2}), "format 2 of headgauge"),
    "header": (_line(1, lambda line: line | {"layers": 3}), "header.layers is 3, not a list"),
    "no heads": (_line(1, lambda line: line | {"layers": []}), "names no heads"),
    "steps": (_line(4, lambda line: line | {"step": 5}), "line 4: step 5 comes after step 20"),
    "step": (_line(4, lambda line: line | {"step": "30"}), "line 4.step is '30'"),
    "loss": (_line(4, lambda line: line | {"loss": "low"}), "line 4.loss is 'low'"),
    "measure": (_line(4, _with_heads(mood=[[1, 2, 3], [4, 5]])), "'mood' is no measure"),
    "shape": (_line(4, _with_heads(max_logit=[[1, 2], [4, 5]])), "max_logit has other layers"),
    "rows": (_line(4, _with_heads(max_logit=7)), "max_logit has other layers"),
    "number": (_line(4, _with_heads(max_logit=[[1, "x", 3], [4, 5]])), "max_logit has no number"),
    "alarm": (_line(4, lambda line: line | {"alarms": [{"alarm": 1}]}), "alarms[0].alarm is 1"),
    "after": (lambda lines: [*lines, lines[3]], "follows the one that closed the log"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_broken_log_is_told_in_one_line(written: Path, tmp_path: Path, name: str):
    change, said = DAMAGE[name]
    text = "".join(f"{line}\n" for line in change(log_text(written)))
    (tmp_path / "log.jsonl").write_text(text, encoding="utf-8")
    for ask in (lambda log: log.thinned(), lambda log: log.heads()):
        with pytest.raises(InputError) as caught:
            ask(TrainingLog.load(tmp_path))
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_finished_log_or_another_run_is_not_written_over(written: Path, tmp_path: Path):
    before = {path.name: path.read_bytes() for path in written.iterdir()}
    with pytest.raises(InputError, match="holds a finished log"):
        LogWriter(written, HEADER)
    assert {path.name: path.read_bytes() for path in written.iterdir()} == before
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds another run \(manifest.json\)"):
        LogWriter(tmp_path, HEADER)
    assert not (tmp_path / "log.jsonl").exists()


def test_the_log_of_another_model_is_not_taken_up(tmp_path: Path):
    write_log(tmp_path, finished=False)
    before = log_text(tmp_path)
    for other in ({"model": "Other"}, {"layers": LAYERS[:1]}):
        with pytest.raises(InputError, match="the log of another model"):
            LogWriter(tmp_path, HEADER | other)
    assert log_text(tmp_path) == before
    LogWriter(tmp_path, HEADER).close()  # nobody holds it


def test_a_training_that_is_taken_up_goes_on_in_its_log(tmp_path: Path):
    write_log(tmp_path, lines=4, finished=False)
    path = tmp_path / "log.jsonl"
    path.write_bytes(path.read_bytes()[:-5])  # killed while it wrote step 40
    with LogWriter(tmp_path, HEADER | {"every": 20}) as writer:
        writer.write(record(50, notes=["all well"]))
        writer.write(record(70))
    log = TrainingLog.load(tmp_path)
    assert log.steps().select("step", "every").rows() == [
        *((step, 10) for step in (10, 20, 30)),
        *((step, 20) for step in (50, 70)),
    ]
    assert log.notes()[1:] == [
        "step 50: taken up again after step 30: every is 10 before, 20 now",
        "step 50: a line that was cut off is left out",
        "step 50: all well",
    ]
    assert log.thinned().closed


def test_what_a_training_does_over_is_kept_under_another_name(tmp_path: Path):
    write_log(tmp_path, lines=12, finished=False)
    before = (tmp_path / "log.jsonl").read_bytes()
    with LogWriter(tmp_path, HEADER) as writer:
        writer.write(record(40))
    assert (tmp_path / "log-before-1.jsonl").read_bytes() == before
    log = TrainingLog.load(tmp_path)
    assert log.steps()["step"].to_list() == [10, 20, 30, 40]
    assert log.alarms().is_empty()
    assert "step 40: what was logged from step 40 on before is in log-before-1.jsonl" in log.notes()


def test_a_training_that_breaks_off_leaves_a_log_to_take_up(tmp_path: Path):
    with suppress(KeyboardInterrupt), LogWriter(tmp_path, HEADER) as writer:
        writer.write(record(10))
        raise KeyboardInterrupt
    assert not (tmp_path / "heads.parquet").exists()
    assert "its training goes on, or was broken off" in TrainingLog.load(tmp_path).stands()[-1]
    LogWriter(tmp_path, HEADER).close()


def test_a_record_that_could_not_be_read_again_is_not_written(tmp_path: Path):
    writer = LogWriter(tmp_path, HEADER)
    writer.write(record(10))
    for line, said in (
        (record(10), "step 10 comes after step 10"),
        ({"step": 20, "heads": {"mood": [[1, 2, 3], [4, 5]]}}, "'mood' is no measure"),
        ({"step": 20, "heads": {"max_logit": [[1, 2, 3]]}}, "max_logit has other layers"),
    ):
        with pytest.raises(InputError, match=said):
            writer.write(line)
    writer.close()
    assert TrainingLog.load(tmp_path).steps()["step"].to_list() == [10]
    for header in ({}, {"layers": []}, HEADER | {"alarms": 3}):
        with pytest.raises(InputError):
            LogWriter(tmp_path / "other", header)
    assert not (tmp_path / "other").exists()
