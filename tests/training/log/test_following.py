"""Looking at a log again and again while it grows."""

from pathlib import Path

from headgauge.training import LogWriter
from headgauge.training.log.following import Followed
from headgauge.training.log.line_reading import Lines
from training.logs import HEADER, record


def test_every_look_reads_only_what_came_since_the_last(tmp_path: Path, monkeypatch):
    writer = LogWriter(tmp_path, HEADER)
    followed = Followed(tmp_path)
    read = []
    plain = Lines._raws
    monkeypatch.setattr(
        Lines, "_raws", lambda self, size: (read.append(raws) or raws for raws in plain(self, size))
    )
    assert followed.look().lines == 0
    for step in (1, 2):
        writer.write(record(step))
        log = followed.look()
        assert (log.lines, log.loss) == (step, record(step)["loss"])
    assert followed.look().lines == 2
    assert [len(raws) for raws in read] == [1, 1]
    # Half a line is not there yet.
    with (tmp_path / "log.jsonl").open("ab") as file:
        file.write(b'{"step": 3')
        file.flush()
        assert (followed.look().lines, followed.log.cut) == (2, True)
    assert followed.seconds_ago() < 60
    writer.close(finished=False)


def test_a_log_that_was_taken_up_at_an_earlier_step_is_read_anew(tmp_path: Path):
    with LogWriter(tmp_path, HEADER) as writer:
        for step in (10, 20, 30):
            writer.write(record(step))
        writer.close(finished=False)
    followed = Followed(tmp_path)
    assert followed.look().lines == 3
    with LogWriter(tmp_path, HEADER) as writer:
        writer.write(record(20))
    log = followed.look()
    assert (log.lines, log.steps[:, 1].tolist(), log.closed) == (2, [10, 20], True)
