"""The figure that every picture of ours is drawn on."""

import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from headgauge.report.figure_files import DPI, house_style


class Drawing(Figure):
    """A figure that shows itself in a notebook: without pyplot no backend is there to do it."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.set_dpi(DPI)
        with house_style():
            FigureCanvasAgg(self).print_png(picture)
        return picture.getvalue()
