"""All figures of a run: which files, the same bytes twice, and no global state."""

import hashlib
import subprocess
import sys

import matplotlib

from headgauge.report import heat_maps
from headgauge.report.words import CURVE_MEASURES, HEAD_MEASURES

HEADS_ONLY = [name for name in HEAD_MEASURES if name != "rest_entropy_share"]


def test_every_measure_has_a_png_and_an_svg(frames, tmp_path):
    heads, curves, verdicts = frames
    files = heat_maps(heads, curves, verdicts, "a model, a text", tmp_path)
    names = ["heads", "verdicts", *HEADS_ONLY, *CURVE_MEASURES]
    assert files == [
        tmp_path / "figures" / f"{name}.{kind}" for name in names for kind in ("png", "svg")
    ]
    assert sorted(files) == sorted((tmp_path / "figures").iterdir())
    assert files[0].read_bytes().startswith(b"\x89PNG")


def test_the_same_data_gives_the_same_bytes_and_settings_stay(frames, tmp_path):
    heads, curves, verdicts = frames
    before = dict(matplotlib.rcParams)
    digests = []
    for run in ("one", "two"):
        files = heat_maps(heads, curves, verdicts, "a model", tmp_path / run)
        digests.append([hashlib.sha256(path.read_bytes()).hexdigest() for path in files])
    assert digests[0] == digests[1]
    assert dict(matplotlib.rcParams) == before


def test_pyplot_stays_out_and_tables_need_no_matplotlib():
    code = (
        "import sys, headgauge.report\n"
        "assert 'matplotlib' not in sys.modules\n"
        "import headgauge.report.figure_files, headgauge.report.head_figures\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
