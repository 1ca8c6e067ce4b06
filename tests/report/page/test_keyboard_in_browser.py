"""The way through a page with the keyboard: few stops, and arrow keys inside of each."""

import pytest
from selenium.webdriver.common.keys import Keys

STOPS = (
    "window.stops = new Set(); document.addEventListener('focusin', e => stops.add(e.target));"
    "document.activeElement.blur(); window.getSelection().removeAllRanges()"
)


@pytest.mark.parametrize("kind", ["scan", "reproduction", "simulation"])
def test_fewer_than_a_hundred_tab_stops_lead_to_the_end(reader, pages, kind):
    reader.open(pages(kind))
    reader.run(STOPS)
    reader.hand().send_keys(*[Keys.TAB] * 100).perform()
    focused = "[...stops].filter(e => e !== document.body)"
    assert 25 < reader.run(f"return {focused}.length") < 100
    assert reader.run(f"return {focused}.some(e => e.closest('#manifest'))")


def walked(reader, css, *keys):
    """What has the focus after keys, from the only stop among many controls."""
    stops = "const all = [...document.querySelectorAll(arguments[0])];"
    stops += "const stops = all.filter(e => e.tabIndex === 0);"
    assert reader.run(f"{stops} stops[0].focus(); return stops.length", css) == 1
    reader.keys(*keys)
    focus = "all.indexOf(document.activeElement)"
    stop, now = reader.run(f"{stops} return [all.indexOf(stops[0]), {focus}]", css)
    assert stop == now
    return now


def test_arrow_keys_go_between_controls_that_share_a_stop(scan, reader, pages):
    scan.opened = None  # what has the focus stays another
    assert walked(scan, "#all-heads .link", Keys.ARROW_DOWN, Keys.ARROW_DOWN) == 2
    assert walked(scan, "#all-heads .link", Keys.END) == 11
    assert walked(scan, "#all-heads .sort", Keys.ARROW_RIGHT) == 1
    scan.keys(Keys.ENTER)  # the rows are new, and one of them is the stop
    assert walked(scan, "#all-heads .link") == 0
    assert walked(scan, "#depth .legend button", Keys.ARROW_RIGHT) == 1
    scan.keys(Keys.SPACE)  # drawn anew, and the same is the stop
    assert walked(scan, "#depth .legend button") == 1
    assert walked(scan, "#depth .tools button:enabled", Keys.ARROW_RIGHT) == 1
    reader.open(pages("simulation"))
    assert walked(reader, "#claims summary", Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_DOWN) == 1
