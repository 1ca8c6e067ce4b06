"""A real browser for the page's tests, and pages to open in it."""

import os
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from headgauge.report.page import write_page
from report.page.dynamics_frames import depth_curves_frame, depth_frame
from report.page.results import outlook_frame, page_content, simulation_content
from report.page.reading import Reader

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
def reproduction_page(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("reproduction"), page_content())


@pytest.fixture(scope="session")
def scan_page(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("scan"), page_content(paper=False))


@pytest.fixture(scope="session")
def simulation_page(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("simulation"), simulation_content())


@pytest.fixture(scope="session")
def deep_page(tmp_path_factory):
    content = page_content(paper=False, depth=depth_frame(), depth_curves=depth_curves_frame())
    return write_page(tmp_path_factory.mktemp("deep"), content)


@pytest.fixture(scope="session")
def outlook_page(tmp_path_factory):
    notes = ("4 lengths leave 2 degrees <b>",)
    told = {"outlook": outlook_frame(), "target": 8192, "outlook_notes": notes}
    return write_page(tmp_path_factory.mktemp("outlook"), page_content(paper=False, **told))


def _read(browser, page):
    reader = Reader(browser)
    reader.open(page)
    yield reader
    assert reader.complaints() == []


@pytest.fixture
def reproduction(browser, reproduction_page):
    yield from _read(browser, reproduction_page)


@pytest.fixture
def scan(browser, scan_page):
    yield from _read(browser, scan_page)


@pytest.fixture
def simulation(browser, simulation_page):
    yield from _read(browser, simulation_page)


@pytest.fixture
def deep_scan(browser, deep_page):
    yield from _read(browser, deep_page)
