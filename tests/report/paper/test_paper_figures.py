"""The entrance: files."""

from headgauge.report.paper import paper_figures


def test_the_overview_comes_first_and_each_figure_is_there_as_svg_and_pdf(tmp_path):
    paths = paper_figures({}, "the caption", tmp_path)
    names = ["paper", "fig1", "fig2", "fig3", "fig4", "choices", "rules"]
    assert [path.name for path in paths] == [
        "paper.png",
        *(f"{name}.{kind}" for name in names for kind in ("svg", "pdf")),
    ]
    assert {path.parent for path in paths} == {tmp_path / "figures"}
    assert sorted(paths) == sorted((tmp_path / "figures").iterdir())
    starts = {path.suffix: path.read_bytes()[:8] for path in paths}
    assert starts[".png"].startswith(b"\x89PNG")
    assert starts[".pdf"].startswith(b"%PDF")
    # The overview is as wide as a page shows it.
    assert int.from_bytes(paths[0].read_bytes()[16:20]) == 1200
