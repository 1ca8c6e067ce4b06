from base64 import b64decode

import pytest

from headgauge.report.page.heads import heads_part
from report.page.results import HEADS, LENGTH, TOKENS, fake_scan, matrix_frames


def _read(text: str) -> list[int]:
    """The numbers in base 128."""
    found, value, unit = [], 0, 1
    for digit in b64decode(text):
        value, unit = value + (digit & 127) * unit, unit * 128
        if digit < 128:
            found, value, unit = [*found, value], 0, 1
    return found


def test_rows_can_be_read_back_to_three_digits():
    frames = matrix_frames()
    held = heads_part(fake_scan(**frames))["matrices"]
    (number,) = held["heads"]
    first, second = held["heads"][number]
    assert (first["window"], second["window"]) == (0, 1)
    assert first["rows"] != second["rows"]
    matrix = first
    assert number == HEADS + 2
    assert (matrix["query"], matrix["key"]) == (0, 0)  # one list of tokens serves both
    assert held["streams"] == [[(*TOKENS, f"token {at}")[at % 7] for at in range(LENGTH)]]
    numbers = iter(_read(matrix["rows"]))
    for row in range(LENGTH):
        count, share, key = next(numbers), next(numbers), 0
        own = frames["matrices"].filter(row=row, window=0).sort("key")
        assert share == pytest.approx(1000 * own["weight"].sum(), abs=0.51)
        for known_key, weight in own.select("key", "weight").rows():
            key += next(numbers)
            assert (key, next(numbers)) == (known_key, round(1000 * weight))
        assert count == len(own)
    assert next(numbers, None) is None


def test_a_page_without_a_matrix_has_none_of_it():
    assert "matrices" not in heads_part(fake_scan())
    cleared = {name: frame.clear() for name, frame in matrix_frames().items()}
    assert "matrices" not in heads_part(fake_scan(**cleared))
