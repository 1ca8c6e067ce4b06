import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.report.page import page, write_page
from report.page.results import curve_rows, fake_scan, head_rows, sample_rows


def test_the_page_is_whole_and_nothing_else_is_left(tmp_path):
    written = write_page(tmp_path / "run", page(fake_scan()))
    assert written == tmp_path / "run" / "report.html"
    assert [each.name for each in written.parent.iterdir()] == ["report.html"]
    first = written.read_bytes()
    assert first.rstrip().endswith(b"</html>")
    write_page(tmp_path / "run", page(fake_scan()))
    assert written.read_bytes() == first


def test_a_folder_that_cannot_be_is_told_in_one_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"cannot write .*report\.html") as told:
        write_page(tmp_path / "file", page(fake_scan()))
    assert "\n" not in str(told.value)


def test_a_large_run_stays_under_four_megabytes(tmp_path):
    """270 heads, four windows, eight choices, more N than are shown: as of a reproduction."""
    heads, samples = (
        pl.concat(
            [
                frame.with_columns(pl.col("layer") + 3 * layer, pl.col("window") + 2 * window)
                .with_columns(pl.format("model.layers.{}.attn", "layer").alias("module"))
                .with_columns(pl.col(pl.Float64) * (1 + 0.0123456 * layer + 0.00123 * window))
                for layer in range(23)
                for window in range(2)
            ]
        )
        for frame in (head_rows(), sample_rows())
    )
    places = heads.filter(pl.col("window") == 0).select("layer", "occurrence", "module", "head")
    one = curve_rows().drop(places.columns, "top_n", "vectors", "window").head(1)
    number = pl.col(pl.Float64).fill_null(0.123) * (1 + pl.col("top_n") / 7.7 + pl.col("layer"))
    curves = (
        places.join(pl.DataFrame({"top_n": range(1, 31)}), how="cross")
        .join(pl.DataFrame({"vectors": list("abcdefgh")}), how="cross")
        .join(one.with_columns(window=pl.lit(0).cast(pl.Int64)), how="cross")
        .with_columns(number)
    )
    large = page(fake_scan(heads=heads, samples=samples, curves=curves))
    assert len(places) == 276
    assert write_page(tmp_path, large).stat().st_size < 4_000_000
