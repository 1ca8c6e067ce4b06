"""Reading a page as a person does: pointing, pressing, dragging, typing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait


class Reader:
    """A page in the browser. A class because each step needs the browser of the last."""

    def __init__(self, browser):
        self.browser = browser
        self.opened: Path | None = None  # the page that is there as it was opened

    def show(self, page: Path) -> None:
        """The page in the usual window, opened unless it is there already."""
        if self.opened != page:
            self.open(page)
            self.opened = page

    def open(self, page: Path, width: int = 1280, height: int = 900, theme: str = "light") -> None:
        """A fresh page in a window of this size, for a system with light or dark colours."""
        self.opened = None
        self.resize(width, height)
        wanted = [{"name": "prefers-color-scheme", "value": theme}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
        self.complaints()
        self.requests()
        self.browser.get(page.as_uri())
        if self.run("const kept = localStorage.length; localStorage.clear(); return kept"):
            self.browser.refresh()
        self.wait(lambda: self.all("#manifest"))
        self.settle()

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def wait(self, until: Callable[[], Any]) -> None:
        WebDriverWait(self.browser, 10, poll_frequency=0.02).until(lambda _: until())

    def hand(self) -> ActionChains:
        """A hand on the mouse, quicker than a person's."""
        return ActionChains(self.browser, duration=0)

    def run(self, script: str, *values):
        return self.browser.execute_script(script, *values)

    def settle(self) -> None:
        """Until charts have been drawn at their size."""
        self.browser.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )

    def all(self, css: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        (found,) = self.all(css)
        return found

    def first(self, css: str) -> WebElement:
        return self.all(css)[0]

    def text(self, css: str) -> str:
        """What it says, shown or scrolled out of sight."""
        return self.run("return arguments[0].textContent", self.first(css))

    def bring(self, element: WebElement) -> WebElement:
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        self.settle()
        return element

    def point_at(self, element: WebElement) -> str:
        """The tooltip of what the mouse is moved to; empty where there is none."""
        self.bring(element)
        self.hand().move_to_element(element).perform()
        return self.tooltip()

    def tooltip(self) -> str:
        tip = self.one("#tooltip")
        return tip.text if tip.is_displayed() else ""

    def press(self, element: WebElement) -> None:
        self.bring(element)
        element.click()
        self.settle()

    def drag(self, element: WebElement, start: tuple[int, int], by: tuple[int, int]) -> None:
        """From a place relative to the element's middle."""
        self.bring(element)
        chain = self.hand().move_to_element_with_offset(element, *start)
        chain.click_and_hold().move_by_offset(*by).release().perform()
        self.settle()

    def double_click(self, element: WebElement) -> None:
        self.hand().double_click(self.bring(element)).perform()
        self.settle()

    def keys(self, *keys: str) -> None:
        self.hand().send_keys(*keys).perform()
        self.settle()

    def choose(self, element: WebElement, value: str) -> None:
        Select(self.bring(element)).select_by_value(value)
        self.settle()

    def axis(self, chart: str) -> list[float]:
        """What a chart spans: x from, to; y from, to."""
        names = ("xLow", "xHigh", "yLow", "yHigh")
        return [
            float(self.run(f"return arguments[0].dataset.{n}", self.first(chart))) for n in names
        ]

    def line(self, figure: str, series: str) -> dict[float, float]:
        """The points of a line by their x."""
        found = self.run(
            "return [...document.querySelectorAll(arguments[0])]"
            ".map(mark => [mark.dataset.x, mark.dataset.y])",
            f"{figure} svg.chart [data-series='{series}'] .marker",
        )
        return {float(x): float(y) for x, y in found}

    def nameless(self) -> list[str]:
        """Controls that a screen reader could not name."""
        return self.run(
            "return [...document.querySelectorAll('button, select, input, svg.chart')].filter(e =>"
            "!(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')"
            " || (e.labels && e.labels.length))).map(e => e.outerHTML)"
        )

    def try_everything(self) -> int:
        """Choose every option and press every switch; how many there were."""
        self.opened = None
        return self.run(
            "let tried = 0; for (const box of document.querySelectorAll('select'))"
            "  for (const option of [...box.options].reverse()) {"
            "    box.value = option.value; box.dispatchEvent(new Event('change')); tried += 1; }"
            "const pressed = 'input, .legend button, .sort, .zoomers button';"
            "for (const each of document.querySelectorAll(pressed)) { each.click(); tried += 1; }"
            "return tried"
        )

    def drawn(self) -> str:
        """The markup of every chart, map and sphere."""
        return self.run(
            "return [...document.querySelectorAll('svg.chart, svg.heat, svg.sphere')]"
            ".map(e => e.outerHTML).join('')"
        )

    def complaints(self) -> list[dict]:
        """Whatever the console has said since it was last asked."""
        return self.browser.get_log("browser")

    def requests(self) -> list[str]:
        """Every address asked for since the last time."""
        messages = [
            json.loads(each["message"])["message"] for each in self.browser.get_log("performance")
        ]
        sent = [each for each in messages if each["method"] == "Network.requestWillBeSent"]
        return [each["params"]["request"]["url"] for each in sent]
