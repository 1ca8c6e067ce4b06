"""Figures and tables; it draws, never computes."""

from headgauge.report.heat_maps import heat_maps
from headgauge.report.notebook import result_html
from headgauge.report.tables import (
    counts_view,
    head_table_view,
    layer_view,
    legend_view,
    outlook_view,
)

__all__ = [
    "counts_view",
    "head_table_view",
    "heat_maps",
    "layer_view",
    "legend_view",
    "outlook_view",
    "result_html",
]
