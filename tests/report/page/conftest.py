"""A real browser for the page's tests, and a page of each kind to open in it."""

import os
import shutil
from collections.abc import Callable
from functools import cache

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from headgauge.report.page import page, write_page
from headgauge.report.page.parts import Page, figures, section
from report.page import described
from report.page.dynamics_frames import depth_frame
from report.page.reading import Reader
from report.page.results import fake_reproduction, fake_scan, fake_simulation, head_rows

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
    options.add_experimental_option(
        "perfLoggingPrefs", {"enableNetwork": True, "enablePage": False}
    )
    running = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield running
    finally:
        running.quit()


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The file of a page of a kind, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")
    return cache(lambda kind: write_page(folder / kind, KINDS[kind]()))


def _kit() -> Page:
    drawn = figures([described.lines(), described.points(), described.cells(), described.lone()])
    manifest = section("manifest", "Manifest", "Manifest", {"kind": "manifest", "manifest": {}})
    return Page(
        "Figures", "", [], [], [], [section("figures", "Figures", "Figures", drawn), manifest]
    )


KINDS: dict[str, Callable[[], Page]] = {
    "figures": _kit,
    # With effects, depth and an outlook.
    "scan": lambda: page(fake_scan(8192, heads=head_rows(effects=True), depth=depth_frame())),
    "reproduction": lambda: page(fake_reproduction()),
    "simulation": lambda: page(fake_simulation()),
}


@pytest.fixture(scope="session")
def reader(browser):
    return Reader(browser)


def _opened(kind):
    @pytest.fixture
    def opened(reader, pages):
        """One page for many tests: each leaves it as it found it, or says that it does not."""
        reader.show(pages(kind))
        yield reader
        assert reader.complaints() == []

    return opened


drawn = _opened("figures")
scan = _opened("scan")
reproduction = _opened("reproduction")
simulation = _opened("simulation")
