"""Layer × head heat maps of a scan, as PNG and SVG.

    heads           the overview: the most telling measures and the verdicts side by side
    verdicts        which head has which verdict
    entropy, …      one figure for each measure of `heads`
    separability, … one figure for each measure of `curves`, a panel for each N

A choice of vectors and keys other than unit values and visible keys is part of the file's name.
"""

from itertools import islice
from pathlib import Path

import polars as pl


def heat_maps(
    heads: pl.DataFrame,
    curves: pl.DataFrame,
    verdicts: pl.DataFrame,
    caption: str,
    folder: Path,
    first: int | None = None,
) -> list[Path]:
    """Draw the figures at the longest length into FOLDER/figures; the files, overview first.

    `first` draws only so many of them, in the order above.

    `caption` names the model and its quantisation, the text, L and the number of windows. A measure
    that is null for every head has no figure.
    """
    # Here and not above: the terminal's tables come from this package too, and need no matplotlib.
    from headgauge.report.figure_files import house_style, save_figure
    from headgauge.report.head_figures import figures

    with house_style():
        return [
            path
            for name, figure in islice(figures(heads, curves, verdicts, caption), first)
            for path in save_figure(figure, folder / "figures", name)
        ]
