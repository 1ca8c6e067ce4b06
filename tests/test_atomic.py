import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest

from headgauge import atomic
from headgauge.atomic import locked, one_line, sweep, whole_file, whole_folder
from headgauge.errors import InputError


def names(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir())


def test_a_file_appears_when_the_block_ends(tmp_path):
    target = tmp_path / "a"
    with whole_file(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
        assert names(tmp_path) == [temporary.name]
    assert target.read_text() == "new"
    assert names(tmp_path) == ["a"]


def test_who_reads_the_old_file_reads_it_to_the_end(tmp_path):
    (tmp_path / "a").write_text("old")
    with (tmp_path / "a").open() as reader:
        with whole_file(tmp_path / "a") as temporary:
            temporary.write_text("new and longer")
        assert reader.read() == "old"
    assert (tmp_path / "a").read_text() == "new and longer"


def test_a_block_that_fails_leaves_the_old_file(tmp_path):
    (tmp_path / "a").write_text("old")

    def write_half():
        with whole_file(tmp_path / "a") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_name_may_be_as_long_as_the_system_takes(tmp_path):
    for name in ("x" * 255, "ß" * 127, "😀" * 63):
        with whole_file(tmp_path / name) as temporary:
            temporary.write_text("new")
        assert (tmp_path / name).read_text() == "new"


def test_a_place_that_cannot_be_is_one_line(tmp_path):
    """Also where the temporary file cannot even be looked for."""
    (tmp_path / "file").touch()

    def write(place: Path) -> None:
        with whole_file(place) as temporary:
            temporary.write_text("new")

    with pytest.raises(InputError, match=r"cannot write .*below: Not a directory$"):
        write(tmp_path / "file" / "below")
    with pytest.raises(InputError, match=r"cannot write .*: File name too long$"):
        write(tmp_path / ("x" * 256))
    assert names(tmp_path) == ["file"]


def test_a_lock_is_held_by_one_at_a_time_and_leaves_nothing(tmp_path):
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        for _ in range(20):
            with locked(tmp_path):
                inside += 1
                most = max(most, inside)
                time.sleep(0.0002)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert names(tmp_path) == []


def test_the_lock_of_who_was_killed_is_free(tmp_path):
    program = """
import os, signal, sys
from pathlib import Path
from headgauge.atomic import locked
with locked(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert names(tmp_path) == [".writing-lock"]
    with locked(tmp_path):
        pass
    assert names(tmp_path) == []


def test_the_first_of_two_folders_stays(tmp_path):
    target = tmp_path / "units" / "a"
    with whole_folder(target) as slow:
        with whole_folder(target) as fast:
            (fast / "x").write_text("first")
        (slow / "x").write_text("second")
    assert (target / "x").read_text() == "first"
    assert names(target.parent) == ["a"]


def test_a_file_in_a_folders_place_is_told(tmp_path):
    (tmp_path / "a").write_text("file")

    def write():
        with whole_folder(tmp_path / "a") as temporary:
            (temporary / "x").write_text("x")

    with pytest.raises(InputError, match=r"cannot write .*a: Not a directory$"):
        write()
    assert names(tmp_path) == ["a"]


def test_the_living_keep_what_they_write_and_the_dead_do_not(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    mine = f"{atomic.WRITING}a-{atomic._MACHINE}"
    theirs = f"{atomic.WRITING}a-00000000"
    time.sleep(0.01)
    alive = tmp_path / f"{mine}-{child.pid}-01234567"
    alive.mkdir()
    (alive / "x").touch()
    # Not yet reaped: a zombie writes nothing either.
    dead = subprocess.Popen([sys.executable, "-c", ""])
    while Path(f"/proc/{dead.pid}/stat").exists() and b") Z" not in _stat(dead.pid):
        time.sleep(0.01)
    (tmp_path / f"{mine}-{dead.pid}-01234567").touch()
    inherited = tmp_path / f"{mine}-{child.pid}-89abcdef"
    inherited.touch()
    os.utime(inherited, (1e9, 1e9))
    (tmp_path / f"{theirs}-1-01234567").touch()
    old = tmp_path / f"{theirs}-1-89abcdef"
    old.mkdir()
    os.utime(old, (1e9, 1e9))
    try:
        sweep(tmp_path)
        assert names(tmp_path) == sorted([alive.name, f"{theirs}-1-01234567"])
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        dead.wait()
    sweep(tmp_path)
    assert names(tmp_path) == [f"{theirs}-1-01234567"]


def _stat(pid: int) -> bytes:
    return Path(f"/proc/{pid}/stat").read_bytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("writer", ["polars", "polars, lazily", "python"])
def test_a_full_disk_is_one_line(writer, tmp_path):
    frame = pl.DataFrame({"a": range(1000)})
    target = tmp_path / "a.parquet"

    def write():
        with one_line(target, needed=2_000_000):
            if writer == "polars":
                frame.write_parquet("/dev/full")
            elif writer == "polars, lazily":
                frame.lazy().sink_parquet("/dev/full")
            else:
                Path("/dev/full").write_text("a")

    line = r"^no space left on the disk while writing .*a\.parquet \(\d+\.\d MB free, about 2\.0 MB"
    with pytest.raises(InputError, match=line):
        write()


def test_a_full_quota_is_one_line(tmp_path):
    def write():
        with one_line(tmp_path / "a"):
            raise OSError(errno.EDQUOT, "Disk quota exceeded")

    with pytest.raises(InputError, match=r"^the disk quota is used up while writing"):
        write()


def test_other_errors_of_polars_are_not_hidden(tmp_path):
    def write():
        with one_line(tmp_path / "a"):
            pl.DataFrame({"a": [1]}).select("b")

    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        write()
