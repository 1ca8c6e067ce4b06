"""The entrance: files."""

from headgauge.report.paper import paper_figures

NAMES = ["vanishing", "fig1", "fig2", "fig3", "fig4", "choices", "rules"]


def test_the_overview_comes_first_and_each_figure_is_there_as_svg_and_pdf(tmp_path):
    paths = paper_figures({}, {"a text": "the caption"}, tmp_path)
    assert [path.name for path in paths] == [
        *("paper.png", "paper.svg", "paper.pdf"),
        *(f"{name}.{kind}" for name in NAMES for kind in ("svg", "pdf")),
    ]
    own = tmp_path / "figures" / "a-text"
    assert {path.parent for path in paths} == {tmp_path / "figures", own}
    assert sorted(paths[3:]) == sorted(own.iterdir())
    starts = {path.suffix: path.read_bytes()[:8] for path in paths}
    assert starts[".png"].startswith(b"\x89PNG")
    assert starts[".pdf"].startswith(b"%PDF")
    # The overview is as wide as a page shows it.
    assert int.from_bytes(paths[0].read_bytes()[16:20]) == 1200
