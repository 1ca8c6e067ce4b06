"""The header's values are those that gguf's own reader finds."""

import struct
from pathlib import Path

import pytest

from headgauge.errors import InputError
from headgauge.models.finding import default_file
from headgauge.models.gguf_header import TENSORS, read_header
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
    assert found.pop(TENSORS) == len(gguf.GGUFReader(path).tensors)
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
        assert found.pop(TENSORS) == 0
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


def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _hostile(tensors: int, values: int, rest: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, values) + rest


def _array(kind: int, count: int) -> bytes:
    return _text(b"a") + struct.pack("<IIQ", 9, kind, count)


def _tensor(*shape: int, kind: int = 0, offset: int = 0, name: bytes = b"t") -> bytes:
    start = _text(name) + struct.pack("<I", len(shape))
    return start + struct.pack(f"<{len(shape)}QIQ", *shape, kind, offset)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (_hostile(0, 1, _array(0, 1 << 62)), "an array of 4611686018427387904 values"),
        (_hostile(0, 1, _array(8, 1 << 62)), "an array of 4611686018427387904 values"),
        (_hostile(0, 1, _array(9, (1 << 64) - 1)), "an array of 18446744073709551615 values"),
        (_hostile(0, 1, _array(8, 1 << 20)), "ends in the middle"),
        (_hostile(0, 1, _array(5, 1 << 20)), "ends in the middle"),
        (_hostile(0, 1, _array(8, 2) + struct.pack("<QQ", (1 << 64) - 1, 5)), "ends in the middle"),
        (_hostile(0, 1, _array(9, 1) + struct.pack("<IQ", 9, 1) * 5000), "at depth 5"),
        (_hostile(0, 1, struct.pack("<Q", 1 << 63)), "ends in the middle"),
        (_hostile(0, 1 << 63, b""), "ends in the middle"),
        (_hostile(1 << 63, 0, b""), "ends in the middle"),
        (_hostile(1, 0, _text(b"t") + struct.pack("<I", 1 << 31)), "2147483648 dimensions"),
        (_hostile(1, 0, _tensor(1 << 33, 1 << 33)), "do not fit into the file"),
        (_hostile(1, 0, _tensor(1, offset=(1 << 64) - 1) + bytes(99)), "do not fit into the file"),
        (_hostile(9, 0, b"".join(_tensor(50) for _ in range(9)) + bytes(250)), "do not fit"),
        (_hostile(1, 0, _tensor(1, kind=77)), "77 is not a valid"),
    ],
)
def test_lengths_beyond_the_file(tmp_path: Path, content: bytes, reason: str) -> None:
    """gguf's own reader would fill the memory with them: it is not let at such a file."""
    path = tmp_path / "hostile.gguf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"cannot read the GGUF file .*{reason}"):
        read_header(path)


@pytest.mark.parametrize("layers", [0, 2, 1 << 31])
def test_layers_without_tensors(tmp_path: Path, layers: int) -> None:
    path = write_gguf(tmp_path / "tiny.gguf")
    key = _text(b"llama.block_count") + struct.pack("<I", 4)
    content = path.read_bytes()
    assert content.count(key + struct.pack("<I", 1)) == 1
    path.write_bytes(content.replace(key + struct.pack("<I", 1), key + struct.pack("<I", layers)))
    with pytest.raises(InputError, match=f"{layers} layers in its header, tensors of 1"):
        read_header(path)
    path.write_bytes(content.replace(b"llama.block_count", b"llama.black_count"))
    with pytest.raises(InputError, match="0 layers in its header, tensors of 1"):
        read_header(path)


def test_another_version_of_the_format(tmp_path: Path) -> None:
    (tmp_path / "one.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 1, 0, 0))
    with pytest.raises(InputError, match="version 1 of the format, not 2 or 3"):
        read_header(tmp_path / "one.gguf")
