"""The pictures of these pages, taken from finished runs: `python -m docs.pictures RUN …`.

    headgauge scan --effects      effect.png, effects.png, and as all scans page.png, map.png,
                                  heads.png, roles.png, curves.png, head.png
    headgauge scan --depth        depth.png
    headgauge scan --matrix L14H5 only matrix.png
    headgauge reproduce           paper.png
    headgauge simulate            dynamics.png
    examples/training.py          training.png, from the folder of all its logs

The scan of start-here.md comes last, because a later run replaces the pictures of an earlier. The
page is opened in Chromium (`make browser`), with the head that start-here.md speaks of.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import headgauge
from headgauge.registry.entry import BLUE, GREEN, RED
from headgauge.scanning import ScanResult
from headgauge.training import ALARMS, TrainingLog

IMAGES = Path(__file__).parent / "images"
HEAD = (18, 7)
# The page's top, and its map with the head beside it: where in the page, and how high.
SHOTS = {"page": ("", 1150), "map": (f"#L{HEAD[0]}H{HEAD[1]}", 800)}
COPIED = ("heads", "roles", "effect", "effects", "curves", "depth", "paper", "dynamics")


def take(folder: Path) -> None:
    if (folder / "results.json").is_file():
        trainings(folder)
        return
    run = headgauge.read_run(folder)
    page, *_ = headgauge.draw(run)
    if isinstance(run, ScanResult) and "matrices" in run.tables:
        layer, head = run.tables["matrices"].select("layer", "head").row(0)
        with Chromium() as browser, tempfile.TemporaryDirectory() as place:
            shot = Path(place, "matrix.png")
            look(browser, f"{page.resolve().as_uri()}#L{layer}H{head}", 1600)  # all of it in sight
            whole = browser.find_element("css selector", "#head-panel > div:last-child")
            whole.screenshot(str(shot))
            keep(shot, IMAGES / shot.name)
        return
    for name in COPIED:
        if (drawn := folder / "figures" / f"{name}.png").is_file():
            keep(drawn, IMAGES / drawn.name)
    if isinstance(run, ScanResult):
        with tempfile.TemporaryDirectory() as place:
            taken = {name: Path(place, f"{name}.png") for name in (*SHOTS, "head")}
            headgauge.plot(run, *HEAD).savefig(taken["head"], dpi=110)
            screenshots(page.resolve().as_uri(), taken)
            for shot in taken.values():
                keep(shot, IMAGES / shot.name)


def trainings(folder: Path) -> None:
    """Loss, largest logit and smallest entropy share of every run of the example."""
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    for kind, colour in (("stable", BLUE), ("pushed", RED), ("clipped", GREEN)):
        for at, log in enumerate(map(TrainingLog.load, sorted(folder.glob(f"{kind}-*")))):
            losses = json.loads((log.folder / "losses.json").read_text())["losses"]
            smooth = np.convolve(losses, np.ones(20) / 20, "valid")
            over = log.heads().group_by("step", maintain_order=True)
            heads = over.agg(pl.col("max_logit").max(), pl.col("entropy_share").min())
            look = {"color": colour, "linewidth": 1.4, "linestyle": "-" if at else ":"}
            panels[0].plot(np.arange(20, len(losses) + 1), smooth, label=kind, **look)
            panels[1].plot(heads["step"], heads["max_logit"], **look)
            panels[2].plot(heads["step"], heads["entropy_share"], **look)
    titles = (
        "loss, mean of 20 steps, nats",
        "largest logit of all heads",
        "smallest entropy share",
    )
    for panel, title in zip(panels, titles, strict=True):
        panel.set_title(title, fontsize=10, loc="left")
        panel.set_xlabel("step")
        panel.spines[["top", "right"]].set_visible(False)
    for panel, alarm in ((panels[1], "logit growth"), (panels[2], "entropy collapse")):
        panel.set_yscale("log")
        panel.axhline(ALARMS[alarm].raised, color="black", linewidth=0.8, linestyle="--")
    known = dict(zip(*panels[0].get_legend_handles_labels()[::-1], strict=True))
    panels[0].legend(known.values(), known)
    with tempfile.TemporaryDirectory() as place:
        figure.savefig(shot := Path(place, "training.png"), dpi=110)
        keep(shot, IMAGES / shot.name)


def screenshots(address: str, targets: Mapping[str, Path]) -> None:
    with Chromium() as browser:
        for name, (place, height) in SHOTS.items():
            look(browser, address + place, height)
            browser.save_screenshot(str(targets[name]))


class Chromium(webdriver.Chrome):
    """Without a window; a context manager, as every driver is."""

    def __init__(self) -> None:
        found = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("no Chromium")
        options = webdriver.ChromeOptions()
        options.binary_location = found
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(argument)
        super().__init__(options=options, service=Service(shutil.which("chromedriver")))


def look(browser: webdriver.Chrome, address: str, height: int) -> None:
    size = {"width": 1280, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get("about:blank")  # else only the place in the page would change
    browser.get(address)
    time.sleep(2)


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
