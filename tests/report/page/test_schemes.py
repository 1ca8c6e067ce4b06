import polars as pl

from headgauge.report.page.schemes import SCHEMES, by_scheme, scheme_words


def test_every_scheme_looks_different():
    assert len({look.colour for look in SCHEMES.values()}) == len(SCHEMES)
    assert len({look.title for look in SCHEMES.values()}) == len(SCHEMES)
    assert scheme_words()["pre_ln"] == {"title": "Pre-LN", "colour": "#0072B2", "dash": "6 3"}


def test_rows_stand_in_the_order_of_the_schemes_and_keep_their_own():
    frame = pl.DataFrame({"scheme": ["new", "ngpt", "post_ln", "ngpt"], "time": [1, 3, 4, 2]})
    assert by_scheme(frame).rows() == [("post_ln", 4), ("ngpt", 3), ("ngpt", 2), ("new", 1)]
