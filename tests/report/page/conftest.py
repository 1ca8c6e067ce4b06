"""A real browser for the page's tests, and a page of each kind to open in it."""

import os
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from headgauge.report.page import page, write_page
from headgauge.report.page.parts import Page, figures, section
from report.page import described
from report.page.dynamics_frames import depth_frame
from report.page.reading import Reader
from report.page.results import fake_reproduction, fake_scan, fake_simulation

_QUIET = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --allow-file-access-from-files"
)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Chromium without a window; it and its driver are the machine's own, nothing is fetched."""
    named = os.environ.get("HEADGAUGE_CHROMIUM")
    program = named or next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium with chromedriver here: `make browser` installs it")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in [*_QUIET.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield running
    finally:
        running.quit()


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """By kind the file of a page; a scan has depth and an outlook."""
    drawn = figures([described.lines(), described.points(), described.cells()])
    kit = [section("figures", "Figures", "Figures", drawn)]
    manifest = section("manifest", "Manifest", "Manifest", {"kind": "manifest", "manifest": {}})
    shown = {
        "figures": Page("Figures", "", [], [], [], [*kit, manifest]),
        "scan": page(fake_scan(8192, depth=depth_frame())),
        "reproduction": page(fake_reproduction()),
        "simulation": page(fake_simulation()),
    }
    folder = tmp_path_factory.mktemp("pages")
    return {name: write_page(folder / name, each) for name, each in shown.items()}


def _opened(kind):
    @pytest.fixture
    def opened(browser, pages):
        reader = Reader(browser)
        reader.open(pages[kind])
        yield reader
        assert reader.complaints() == []

    return opened


drawn = _opened("figures")
scan = _opened("scan")
reproduction = _opened("reproduction")
simulation = _opened("simulation")
