"""report.html: a run as one page that needs nothing but a browser.

content    what the page is told
columns    frames as compact lists
heads      the heads: map, curves, samples
paper      the figures of a reproduction
schemes    what the schemes of normalisation are called and how they look
dynamics   a simulation: lines over time, spheres, phase diagrams
depth      the residual stream by layer, and what is predicted of it
document   all of it in one file, with the scripts and styles in `assets/`
"""

from pathlib import Path

from headgauge.atomic import one_line, whole_file
from headgauge.report.page.content import PageContent
from headgauge.report.page.document import page_bytes

__all__ = ["PageContent", "write_page"]


def write_page(folder: Path, content: PageContent) -> Path:
    """FOLDER/report.html, put in place only when it is whole; the same content, the same bytes."""
    target = folder / "report.html"
    page = page_bytes(content)
    with one_line(target):
        folder.mkdir(parents=True, exist_ok=True)
    with whole_file(target, needed=len(page)) as part:
        part.write_bytes(page)
    return target
