"""A figure's file is there whole or not at all."""

import os
from contextlib import contextmanager

import matplotlib
import pytest
from matplotlib.figure import Figure

from headgauge.errors import InputError
from headgauge.report.figure_files import house_style, save_figure

resource = pytest.importorskip("resource", reason="limits on the size of files are Unix's")


@contextmanager
def room_for(size):
    """No file may grow beyond this, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_where_there_is_no_room_the_old_files_stay_and_no_part_is_left(tmp_path):
    figure = Figure(figsize=(1, 1))
    figure.text(0, 0, "abcdefghijklmnopqrstuvwxyz" * 2)  # outlines: more in the SVG than in the PNG
    paths = save_figure(figure, tmp_path, "a")
    assert [path.name for path in paths] == ["a.png", "a.svg"]  # unless told otherwise
    sizes = [path.stat().st_size for path in paths]
    assert sizes[0] < sizes[1]
    for path in tmp_path.iterdir():
        path.write_bytes(b"old")
    with (
        room_for(100),
        pytest.raises(InputError, match=r"^the largest file allowed .*a\.png") as caught,
    ):
        save_figure(figure, tmp_path, "a")
    assert "\n" not in str(caught.value)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old", b"old"]
    with room_for(sum(sizes) // 2), pytest.raises(InputError, match=r"while writing .*a\.svg"):
        save_figure(figure, tmp_path, "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg"]
    assert (tmp_path / "a.svg").read_bytes() == b"old"


def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        save_figure(Figure(), tmp_path / "file", "a")


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "/tmp/x", "..", "", ".hidden", "a\\b", "a\nb", "a\0b", "C:x"]
)
def test_a_figure_stays_in_its_folder(name, tmp_path):
    with pytest.raises(InputError, match="is no name for a figure"):
        save_figure(Figure(), tmp_path / "figures", name)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_among_the_figures_is_swept(tmp_path):
    left = tmp_path / ".writing-a.png-00000000-1-01234567"
    left.touch()
    os.utime(left, (1e9, 1e9))
    save_figure(Figure(figsize=(1, 1)), tmp_path, "a", ("png",))
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_the_users_settings_neither_count_nor_change():
    with matplotlib.rc_context({"font.size": 30.0, "svg.hashsalt": "mine"}):
        with house_style():
            assert matplotlib.rcParams["font.size"] == 10.0
            assert matplotlib.rcParams["svg.hashsalt"] == "headgauge"
        assert matplotlib.rcParams["font.size"] == 30.0
        assert matplotlib.rcParams["svg.hashsalt"] == "mine"


def words():
    figure = Figure(figsize=(2, 1))
    figure.text(0.1, 0.1, r"√2 ≤ α, $\tilde{d}$")
    return figure


def test_files_have_the_size_asked_for_whatever_was_written_before_and_a_pdf_no_date(tmp_path):
    pdf, svg, png = save_figure(words(), tmp_path, "a", ("pdf", "svg", "png"), dpi=300)
    assert [path.name for path in (pdf, svg, png)] == ["a.pdf", "a.svg", "a.png"]
    assert png.read_bytes()[16:24] == (600).to_bytes(4) + (300).to_bytes(4)
    assert b'width="144pt"' in svg.read_bytes()
    (again,) = save_figure(words(), tmp_path, "b", ("pdf",))
    first = pdf.read_bytes()
    assert first == again.read_bytes()
    assert b"/CreationDate" not in first
    assert b"/CIDFontType2" in first  # TrueType
    assert b"/Type3" not in first
