"""The pictures of these pages, taken from finished runs: `python -m docs.pictures RUN …`.

    headgauge scan --depth        page.png, heads.png, curves.png, head.png, depth.png
    headgauge reproduce           paper.png
    headgauge simulate            dynamics.png

The scan of start-here.md comes last, because a later run replaces the pictures of an earlier. The
page is opened in Chromium (`make browser`), with the head that start-here.md speaks of.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

import headgauge
from headgauge.scanning import ScanResult

IMAGES = Path(__file__).parent / "images"
HEAD = (18, 7)
WIDTH, HEIGHT = 1280, 1150  # of the page's first screen
COPIED = ("heads", "curves", "depth", "paper", "dynamics")


def take(folder: Path) -> None:
    run = headgauge.read_run(folder)
    page, *_ = headgauge.draw(run)
    for name in COPIED:
        if (drawn := folder / "figures" / f"{name}.png").is_file():
            keep(drawn, IMAGES / drawn.name)
    if isinstance(run, ScanResult):
        with tempfile.TemporaryDirectory() as place:
            shot = Path(place, "page.png")
            screenshot(f"{page.resolve().as_uri()}#L{HEAD[0]}H{HEAD[1]}", shot)
            keep(shot, IMAGES / shot.name)
            headgauge.plot(run, *HEAD).savefig(Path(place, "head.png"), dpi=110)
            keep(Path(place, "head.png"), IMAGES / "head.png")


def screenshot(address: str, target: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("no Chromium")
    asked = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    asked += [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={target}"]
    subprocess.run(
        [browser, *asked, "--virtual-time-budget=5000", address],
        check=True,
        stderr=subprocess.DEVNULL,
    )


def keep(source: Path, target: Path) -> None:
    """As it is, made smaller until it has at most 280 kB."""
    image = Image.open(source).convert("RGB")
    while True:
        image.save(target, optimize=True)
        if target.stat().st_size <= 280_000:
            return
        image = image.resize([round(0.9 * size) for size in image.size], Image.Resampling.LANCZOS)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        take(Path(each))
