import json
import re
import shutil
from dataclasses import replace
from html import escape

import pytest

import headgauge
import headgauge.report.notebook
from headgauge.errors import InputError
from headgauge.paper import Reproduction
from headgauge.paper.result import read_timing
from headgauge.report.page import page as page_of
from headgauge.report.page.document import page_bytes
from headgauge.runs import REPRODUCTION, RunFolder
from headgauge.scanning import ScanResult
from report.page.paper_frames import TEXTS
from report.page.results import fake_reproduction


def test_a_reproduction_is_read_from_its_folder(kept):
    read = Reproduction.load(kept.folder)
    assert read.folder == kept.folder
    assert read.paper.keys() == kept.paper.keys()
    for name, table in kept.paper.items():
        assert read.paper[name].equals(table), name
    assert read.timing == tuple(json.loads(json.dumps(kept.timing)))
    assert len(read.timing) == 5
    assert read.scan.heads.equals(kept.scan.heads)
    assert read.scan.untrained() == kept.scan.untrained() is not None
    assert read.judging == kept.judging


def test_random_weights_are_told_first(kept):
    warnings = kept.warnings()
    assert len(warnings) == len(kept.scans)
    assert kept.notes()[: len(warnings)] == warnings
    html = kept._repr_html_()
    assert "<script" not in html
    for shown in (html, repr(kept)[1:]):
        before = re.sub(r"<[^>]*>", "", shown.split("random weights: a loss of")[0])
        assert "Table" not in before
        assert len(before) < 40
    claims = kept.paper["verdicts"]["claim"]
    assert all(escape(claim) in html for claim in claims)
    assert repr(kept).endswith(f"{len(claims)} cannot be tested here>")
    page = page_bytes(page_of(kept)).decode()
    at = page.index('<p class="warning" role="alert">')
    assert at < page.index('<p class="caption">') < page.index('class="stands"')


def test_a_run_is_read_back_whichever_it_is(kept):
    assert isinstance(headgauge.read_run(kept.folder), Reproduction)
    assert isinstance(headgauge.read_run(kept.scan.folder), ScanResult)
    with pytest.raises(InputError, match="is no run of headgauge"):
        headgauge.read_run(kept.folder / "figures")


def test_a_folder_is_told_from_that_of_a_scan(kept, tmp_path):
    assert Reproduction.is_in(kept.folder)
    assert not Reproduction.is_in(kept.scan.folder)
    assert not Reproduction.is_in(tmp_path)
    with pytest.raises(InputError, match="is no reproduction of headgauge"):
        Reproduction.load(tmp_path)


def test_without_a_folder_nothing_is_drawn(kept):
    with pytest.raises(InputError, match="has no folder to draw into"):
        headgauge.draw(replace(kept, folder=None))


def test_keeping_twice_is_the_same_bytes(kept, parquet_bytes):
    before = parquet_bytes(kept.folder)
    files = {name: (kept.folder / name).read_bytes() for name in ("timing.json", "judging.json")}
    settings = json.loads((kept.folder / "manifest.json").read_text())["settings"]
    kept.keep(RunFolder.open(kept.folder, settings, REPRODUCTION))
    assert parquet_bytes(kept.folder) == before
    for name, content in files.items():
        assert (kept.folder / name).read_bytes() == content


def test_what_is_judged_is_needed(kept, tmp_path):
    copied = tmp_path / "run"
    shutil.copytree(kept.folder, copied)
    for damage in ("{}", '{"choice": {"vectors": "final", "width": 3}}', None):
        (copied / "judging.json").unlink()
        if damage is not None:
            (copied / "judging.json").write_text(damage)
        with pytest.raises(
            InputError, match=r"judging.json is (missing; |damaged: choice.* is missing: )repeat"
        ):
            Reproduction.load(copied)
        (copied / "judging.json").touch()


def test_times_that_are_not_there_are_none(tmp_path):
    assert read_timing(tmp_path) == ()


def test_a_finding_counts_the_claims_and_says_who_judged():
    said = fake_reproduction().finding()
    assert said.startswith("Of 8 claims of the paper, on prose and code <b>. Reproduced: 1;")
    assert "Not reproduced: claim 3 (Fig. 4)." in said
    assert "chosen on prose, so code <b> judged what depends on them" in said
    alone = fake_reproduction(TEXTS[:1])
    assert "One text judges nothing: give another with --text." in alone.finding()
    manifest = alone.scan.manifest | {"settings": {"quick": True}}
    quick = replace(alone, scans={"prose": replace(alone.scan, manifest=manifest)})
    assert "judges nothing. Run it without --quick" in quick.finding()
