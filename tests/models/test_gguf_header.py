"""The header's values are those that gguf's own reader finds."""

import struct
from pathlib import Path

import pytest

from headgauge.errors import InputError
from headgauge.models.gguf_header import read_header
from headgauge.models.loading import default_file
from tiny_gguf import write_gguf

gguf = pytest.importorskip("gguf")


def test_as_gguf_reads_it(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf", add_bos_token=True, add_eos_token=False)
    expected = {
        name: field.contents()
        for name, field in gguf.GGUFReader(path).fields.items()
        if field.types and field.types[0] != gguf.GGUFValueType.ARRAY and name[:5] != "GGUF."
    }
    found = read_header(path)
    assert found == expected
    assert found["tokenizer.ggml.add_bos_token"] is True
    assert found["llama.attention.layer_norm_rms_epsilon"] == pytest.approx(1e-5)
    assert not any(name.endswith((".tokens", ".merges")) for name in found)


def test_every_kind_of_value_and_both_byte_orders(tmp_path: Path) -> None:
    for order in (gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG):
        writer = gguf.GGUFWriter(tmp_path / "all.gguf", "llama", endianess=order)
        writer.add_uint8("u8", 200)
        writer.add_int8("i8", -3)
        writer.add_uint16("u16", 60_000)
        writer.add_int16("i16", -300)
        writer.add_int32("i32", -70_000)
        writer.add_uint64("u64", 1 << 60)
        writer.add_int64("i64", -(1 << 60))
        writer.add_float64("f64", 0.1)
        writer.add_array("words", ["a", "bc", ""])
        writer.add_array("pairs", [[1, 2], [3, 4, 5]])
        writer.add_array("numbers", [1.5, 2.5])
        writer.add_string("text", "naïve")
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        found = read_header(tmp_path / "all.gguf")
        assert found.pop("general.architecture") == "llama"
        assert list(found.values()) == [
            200, -3, 60_000, -300, -70_000, 1 << 60, -(1 << 60), 0.1, "naïve",
        ]  # fmt: skip


def test_the_default_model_wants_no_bos() -> None:
    found = read_header(default_file())
    assert found["tokenizer.ggml.add_bos_token"] is False
    assert found["tokenizer.ggml.bos_token_id"] == 1


@pytest.mark.parametrize("size", [4, 8, 30, 200, 2000])
def test_a_file_that_was_cut(tmp_path: Path, size: int) -> None:
    whole = write_gguf(tmp_path / "tiny.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[:size])
    with pytest.raises(InputError, match="cannot read the GGUF file"):
        read_header(tmp_path / "cut.gguf")


def test_another_version_of_the_format(tmp_path: Path) -> None:
    (tmp_path / "one.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 1, 0, 0))
    with pytest.raises(InputError, match="version 1 of the format, not 2 or 3"):
        read_header(tmp_path / "one.gguf")
