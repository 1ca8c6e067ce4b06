"""Cells stay large enough, figures small enough, and nothing leaves the page."""

import pytest

from headgauge.report.head_grid import head_grid
from headgauge.report.sheet import lay_out, open_page, panel_axes


@pytest.mark.parametrize(
    ("layers", "heads"), [(2, 1), (30, 9), (12, 12), (48, 64), (96, 128), (2, 64)]
)
@pytest.mark.parametrize("panels", [1, 6, 7])
def test_panels_fit_and_do_not_overlap(make_run, layers, heads, panels):
    grid = head_grid(make_run(layers, heads, windows=1, ns=())[0])
    sheet = lay_out(grid, panels, head=0.4)
    page = open_page(sheet, "title", "unit", "caption", legend_lines=1, one_bar=True)
    places = [panel_axes(page, place).get_position() for place in range(panels)]
    assert min(sheet.cell) >= 0.03
    assert page.width < 20
    assert page.height < 20
    for number, box in enumerate(places):
        assert 0 <= box.x0 < box.x1 <= 1
        assert page.panels / page.height < box.y0 < box.y1 < 1
        assert not any(box.overlaps(other) for other in places[:number])


def test_a_large_model_has_several_rows_of_panels_and_a_deep_one_a_single(make_run):
    deep = lay_out(head_grid(make_run(30, 9, windows=1, ns=())[0]), 6)
    large = lay_out(head_grid(make_run(48, 64, windows=1, ns=())[0]), 6)
    assert (deep.columns, deep.rows) == (6, 1)
    assert large.rows > 1
