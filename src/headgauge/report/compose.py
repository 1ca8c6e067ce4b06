"""Panels put together: one figure with its heat maps, colour bars, legend and caption."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from headgauge.report.head_grid import HeadGrid
from headgauge.report.panels import (
    Colours,
    colour_bar,
    colours,
    draw_cells,
    label_axes,
    panel_title,
)
from headgauge.report.sheet import (
    Page,
    Sheet,
    lay_out,
    open_page,
    panel_axes,
    panel_corner,
    wrapped,
)
from headgauge.report.verdict_map import (
    NO_HEAD,
    NOT_SEEN,
    Told,
    draw_legend,
    draw_verdicts,
    legend_entries,
    legend_lines,
)
from headgauge.report.words import Measure


@dataclass(frozen=True)
class Panel:
    """A heat map of a measure; without a measure, the map of the verdicts."""

    title: str
    unit: str
    measure: Measure | None
    values: Float[np.ndarray, "rows heads"] | None


def compose(
    grid: HeadGrid,
    panels: list[Panel],
    title: str,
    unit: str,
    caption: str,
    found: Told | None = None,
    *,
    box: tuple[float, float] = (7.0, 6.0),
    cell_least: float = 0.03,
    one_scale: bool = False,
) -> Figure:
    """The figure. With `one_scale` all panels share their colours, and one bar tells them."""
    bars = not one_scale and any(panel.measure for panel in panels)
    sheet = _sheet(grid, panels, bars, box, cell_least)
    entries = legend_entries(found or {}, _hatched(grid, panels, found))
    legend = legend_lines(entries, sheet.width - 0.24)
    page = open_page(sheet, title, unit, caption, legend_lines=len(legend), one_bar=one_scale)
    draw_legend(page, legend, 0.12, page.legend)
    scales = _scales(panels, one_scale)
    for place, (panel, scale) in enumerate(zip(panels, scales, strict=True)):
        _draw(page, grid, panel, place, found or {}, scale, own_bar=bars)
    if one_scale and scales[0] is not None:
        image = page.figure.axes[0].images[0]
        colour_bar(page, image, scales[0], sheet.left, page.bar, min(3.5, sheet.width - 1))
    return page.figure


def _sheet(
    grid: HeadGrid, panels: list[Panel], bars: bool, box: tuple[float, float], cell_least: float
) -> Sheet:
    """How wide a panel is decides how many lines its title takes, and they how large it can be."""
    head = 0.0
    for _ in range(2):
        sheet = lay_out(grid, len(panels), head=head, bars=bars, box=box, cell_least=cell_least)
        lines = max(len(wrapped(panel.unit, sheet.panel[0], 7)) for panel in panels)
        head = 0.2 + 0.115 * lines if panels[0].title else 0.04
    return lay_out(grid, len(panels), head=head, bars=bars, box=box, cell_least=cell_least)


def _scales(panels: list[Panel], one_scale: bool) -> list[Colours | None]:
    if one_scale and panels[0].measure is not None:
        together = np.stack([panel.values for panel in panels if panel.values is not None])
        return [colours(together, panels[0].measure)] * len(panels)
    return [
        None
        if panel.measure is None or panel.values is None
        else colours(panel.values, panel.measure)
        for panel in panels
    ]


def _draw(
    page: Page,
    grid: HeadGrid,
    panel: Panel,
    place: int,
    found: Told,
    scale: Colours | None,
    own_bar: bool,
) -> None:
    axes = panel_axes(page, place)
    unit = panel.unit
    if panel.measure is None or panel.values is None or scale is None:
        lettered = draw_verdicts(axes, grid, found, page.sheet.cell)
        unit = unit if lettered else "letters: see verdicts.png"
    else:
        image = draw_cells(axes, grid, panel.values, panel.measure, scale)
        if own_bar:
            left, bottom = panel_corner(page, place)
            width = min(page.sheet.panel[0] - 0.12, 3.5)
            colour_bar(page, image, scale, left, bottom, width)
    label_axes(axes, grid, page, place)
    if panel.title:
        panel_title(page, place, panel.title, unit)


def _hatched(grid: HeadGrid, panels: list[Panel], found: Told | None) -> list[str]:
    """The kinds of hatching that occur."""
    unseen = found is not None and len(found) < int(grid.exists.sum())
    for panel in panels:
        if panel.values is not None:
            unseen |= bool((grid.exists & ~np.isfinite(panel.values)).any())
    return [NOT_SEEN] * unseen + [NO_HEAD] * bool((~grid.exists).any())
