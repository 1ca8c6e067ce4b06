"""Parts of a log against its lines, and the quick way of reading against the plain one."""

import math
from pathlib import Path

import numpy as np
import pytest

from headgauge.training import LogWriter, TrainingLog
from headgauge.training.log.batches import batch_of
from headgauge.training.log.line_reading import Lines
from headgauge.training.log.thinning import Thinned
from headgauge.training.log.usual_lines import usual_batch
from training.logs import HEADER, HEADS, alarm, record, write_log

NUMBERS = [0.25, -3.0, 1.5e-7, 12345.0, None]


def random_log(folder: Path, lines: int, seed: int = 0, broken: bool = True) -> Path:
    """Numbers of every size, nulls, some that are not finite, now and then more to tell."""
    chance = np.random.default_rng(seed)
    with LogWriter(folder, HEADER) as writer:
        step = 0
        for _ in range(lines):
            step += int(chance.integers(1, 4))
            some = [*NUMBERS, math.nan, -math.inf] if broken and chance.random() < 0.1 else NUMBERS
            told = [[some[chance.integers(len(some))] for _ in range(count)] for count in HEADS]
            line = record(step)
            line["heads"]["max_logit"] = told
            if chance.random() < 0.1:
                line["spectra"] = {"qk_largest": told}
            if chance.random() < 0.1:
                line["loss"] = None
            writer.write(line)
    return folder


def part(log: Thinned, number: int, held: np.ndarray) -> np.ndarray:
    return held[number * log.width : (number + 1) * log.width]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("lines", "points"), [(1, 4), (7, 8), (8, 8), (9, 8), (600, 20)])
def test_a_part_has_the_extremes_and_the_last_of_its_lines(
    tmp_path: Path, lines: int, points: int, known: bool
):
    """Whether the number of lines is known before, or parts are joined as it grows."""
    read = Lines(random_log(tmp_path, lines) / "log.jsonl")
    log = Thinned(read.header, points, lines if known else 0)
    log.read(read)
    assert log.parts <= points
    assert log.width == (-(-lines // points) if known else log.width)
    frame = TrainingLog.load(tmp_path).heads()
    steps = frame["step"].unique().sort().to_numpy()
    for name in ("max_logit", "qk_largest", "entropy_share"):
        column = frame[name].fill_nan(math.inf).to_numpy().reshape(lines, -1)
        found = log.of_heads(name)
        for number in range(log.parts):
            own = part(log, number, column)
            for head, line in enumerate(own.T):
                there = line[~np.isnan(line)]
                told = [each[number, head] for each in found]
                if len(there):
                    assert told == [there.min(), there.max(), there[-1]]
                else:
                    assert np.isnan(told).all()
            assert log.steps[number].tolist() == part(log, number, steps)[[0, -1]].tolist()
        for head, line in enumerate(column.T):
            there = line[~np.isnan(line)]
            now = log.now(name)[head]
            assert now == there[-1] if len(there) else np.isnan(now)


def test_one_step_among_many_is_not_lost_and_memory_does_not_grow(tmp_path: Path):
    with LogWriter(tmp_path, HEADER) as writer:
        for step in range(1, 1201):
            more = {"loss": 500.0, "alarms": [alarm(step, 0)]} if step == 234 else {}
            line = record(step, **more)
            if step == 722:
                line["heads"]["entropy_share"][1][1] = 0.0
            writer.write(line)
    read = Lines(tmp_path / "log.jsonl")
    log = Thinned(read.header, 16)
    held = log._low.nbytes
    log.read(read)
    assert (log.lines, log.parts <= 16, log._low.nbytes) == (1200, True, held)
    assert log.of_step("loss").high.max() == 500.0
    number = int(log.of_step("loss").high[:, 0].argmax())
    assert log.steps[number, 0] <= 234 <= log.steps[number, 1]
    assert log.over_heads("entropy_share")[0].min() == 0.0
    assert [(each.step, each.head) for each in log.alarms] == [(234, 0)]
    assert log.marks() == [("logit growth", "raised", 234, 1)]


@pytest.mark.parametrize("finished", [True, False])
def test_as_many_lines_as_points_stay_single(tmp_path: Path, finished: bool):
    log = TrainingLog.load(write_log(tmp_path, 12, finished))
    assert (log.thinned(12).width, log.thinned(11).width, log.thinned(6).width) == (1, 2, 2)
    assert log.thinned(6).parts == 6


def test_alarms_that_are_left_and_those_that_were(tmp_path: Path):
    log = TrainingLog.load(write_log(tmp_path)).thinned()
    assert [(each.layer, each.head, each.step) for each in log.present.values()] == [(1, 1, 90)]
    assert log.counts == {"logit growth": 2}
    assert log.lost("max_logit")
    assert not log.lost("separability")


def test_over_heads_leaves_out_what_is_not_finite(tmp_path: Path):
    log = TrainingLog.load(write_log(tmp_path)).thinned()
    low, median, high = log.over_heads("max_logit")
    own = log.of_heads("max_logit").last
    assert (low[0], high[0]) == (own[0].min(), own[0].max())
    assert median[0] == np.median(own[0])
    rest = np.delete(own[-1], 2)
    assert (low[-1], median[-1], high[-1]) == (rest.min(), np.median(rest), rest.max())


def test_the_quick_way_reads_what_the_plain_one_reads(tmp_path: Path):
    path = random_log(tmp_path, 300, broken=False) / "log.jsonl"
    raws = path.read_bytes().splitlines(keepends=True)[1:-1]
    lines = list(Lines(path).fresh())
    quick = 0
    for raw, line in zip(raws, lines, strict=True):
        found, plain = usual_batch([raw], HEADS), batch_of([line], HEADS, "")
        if found is None:
            assert line["spectra"] is not None
            continue
        quick += 1
        for name in ("step", "loss", "every", "cost"):
            assert getattr(found, name) == getattr(plain, name)
        assert found.heads.keys() == plain.heads.keys()
        assert all(found.heads[name].equals(plain.heads[name]) for name in plain.heads)
    assert quick > 200


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"step":10', b'"step":1e1'),
        (b'"step":10', b'"step":-10'),
        (b'"loss":4', b'"loss":"nan",'),
        (b'"cost":0.01', b'"cost":0.01,"more":1'),
        (b'"cost":0.01', b'"cost":0.01},{"step":1'),
        (b'"max_logit"', b'"mood"'),
        (b"[[10", b'[["nan"'),
        (b"[[10", b"[[1.0.0"),
        (b"[[10", b"[[1-0"),
        (b"[[10", b"[[10,10"),
        (b"[[10", b"[[[10]"),
        (b'"alarms":[]', b'"alarms":[7]'),
        (b"}\n", b"} \n"),
    ],
)
def test_what_is_not_usual_is_left_to_the_plain_way(tmp_path: Path, old: bytes, new: bytes):
    raws = (write_log(tmp_path) / "log.jsonl").read_bytes().splitlines(keepends=True)
    raw = raws[1]
    assert usual_batch([raw], HEADS) is not None
    assert old in raw
    assert usual_batch([raw.replace(old, new, 1)], HEADS) is None
    assert usual_batch([raw], HEADS[:1]) is None
