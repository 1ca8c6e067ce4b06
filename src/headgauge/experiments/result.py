"""What a reproduction found: the paper's figures as frames, the verdicts, the scan it contains."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from headgauge.diagnostics import ScanResult
from headgauge.errors import InputError
from headgauge.results.json_files import read_json, write_json
from headgauge.results.paper_tables import has_paper, read_paper, write_paper

TIMING = "timing.json"


@dataclass(frozen=True, eq=False)
class Reproduction:
    """`paper` has the frames of `results.paper_schema` by name, `timing` a row per algorithm.

    `scan` is the same run read as a scan: tables, verdicts on the heads, manifest.
    """

    scan: ScanResult
    paper: dict[str, pl.DataFrame]
    timing: tuple[dict[str, Any], ...] = ()

    @property
    def folder(self) -> Path | None:
        return self.scan.folder

    @staticmethod
    def load(folder: str | Path) -> "Reproduction":
        """A finished reproduction from its folder; nothing is computed again."""
        scan = ScanResult.load(folder)
        return Reproduction(scan, read_paper(Path(folder)), read_timing(Path(folder)))

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        """Whether a folder has a reproduction, not only a scan."""
        return has_paper(Path(folder))

    def keep(self) -> None:
        """Write the figures' tables and the timing into the run's folder."""
        if self.folder is None:
            raise InputError("this reproduction has no folder: run it with one")
        write_paper(self.folder, self.paper)
        write_json(self.folder / TIMING, {"algorithms": list(self.timing)})

    def draw(self) -> list[Path]:
        """The page, the paper's figures and the map of the heads, into the run's folder."""
        from headgauge.report.page import write_page
        from headgauge.report.paper import paper_figures

        if self.folder is None:
            raise InputError("this reproduction has no folder to draw into: run it with one")
        content = self.scan.page_content(self.paper, self.timing)
        page = write_page(self.folder, content)
        figures = paper_figures(self.paper, self.scan.caption, self.folder)
        # The page has the map of every measure.
        return [page, *figures, *self.scan.draw_heads(first=2)]


def read_timing(folder: Path) -> tuple[dict[str, Any], ...]:
    """The rows of timing.json; none where it is not there."""
    try:
        return tuple(read_json(folder / TIMING).get("algorithms", ()))
    except FileNotFoundError:
        return ()
