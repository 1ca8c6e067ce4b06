"""Loading from folders, files and names; every failure is one line and leaves nothing behind."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from headgauge import models
from headgauge.errors import InputError
from headgauge.models import finding, loading
from headgauge.models.declared import Held
from headgauge.models.facts import describe
from headgauge.models.windows import check_tokenizer
from tiny_gguf import write_gguf

Build = Callable[[str, str], Any]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGAUGE_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def folder(build: Build, tmp_path: Path) -> Callable[[str], Path]:
    def save(name: str) -> Path:
        build(name, "eager").model.save_pretrained(tmp_path / name)
        return tmp_path / name

    return save


def _fails(name: str | Path, **options: Any) -> str:
    with pytest.raises(InputError) as failure:
        models.load(name, **options)
    line = str(failure.value)
    assert "\n" not in line
    # `from None`: the command line prints the line alone, and a notebook no chain of causes.
    assert failure.value.__suppress_context__ or failure.value.__context__ is None
    return line


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("llama", models.ModelFacts("decoder", 2, 4, 2, 8, 64, 50)),
        ("gpt2", models.ModelFacts("decoder", 2, 4, 4, 8, 64, 50)),
        ("bert", models.ModelFacts("encoder", 2, 4, 4, 8, 64, 50)),
        ("t5", models.ModelFacts("encoder-decoder", 2, 4, 4, 8, None, 50)),
    ],
)
def test_a_folder(folder: Callable[[str], Path], name: str, facts: models.ModelFacts) -> None:
    loaded = models.load(folder(name))
    assert loaded.facts == facts
    assert loaded.source == "folder"
    assert not loaded.model.training
    assert loaded.tokenizer is None
    assert loaded.note is not None
    assert loaded.note.startswith("no tokenizer (")
    with pytest.raises(InputError, match=r"put its tokenizer.json beside .*; no tokenizer \("):
        check_tokenizer(loaded)
    assert loaded.quantisation is None


def test_dtype_device_and_attention(folder: Callable[[str], Path]) -> None:
    path = folder("llama")
    assert next(models.load(path).model.parameters()).dtype == torch.float32
    loaded: Any = models.load(path, dtype="bfloat16", attention="eager")
    assert loaded.model.dtype == torch.bfloat16
    assert loaded.model.config._attn_implementation == "eager"
    assert "no dtype 'int3'" in _fails(path, dtype="int3")
    assert "no device 'toaster'" in _fails(path, device="toaster")


def test_a_model_without_text_is_refused(folder: Callable[[str], Path]) -> None:
    assert "(vit) takes no text input" in _fails(folder("vit"))


def test_pickles_are_refused(folder: Callable[[str], Path]) -> None:
    path = folder("llama")
    weights = path / "model.safetensors"
    torch.save({}, path / "pytorch_model.bin")
    weights.unlink()
    assert "no safetensors weights" in _fails(path)


def test_remote_code_is_refused(folder: Callable[[str], Path]) -> None:
    path = folder("llama")
    config = path / "config.json"
    text = config.read_text().replace('"model_type": "llama"', '"model_type": "own"')
    config.write_text(text.replace("{", '{"auto_map": {"AutoConfig": "own.Config"},', 1))
    (path / "own.py").write_text("raise SystemExit('ran')")
    assert str(path) in _fails(path)


def test_damaged_folders(folder: Callable[[str], Path], tmp_path: Path) -> None:
    path = folder("llama")
    assert "no config.json" in _fails(tmp_path)
    weights = path / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[: len(content) // 2])
    assert str(path) in _fails(path)


def test_missing_weights_are_not_made_up(folder: Callable[[str], Path]) -> None:
    from safetensors.torch import load_file, save_file

    path = folder("llama")
    weights = load_file(path / "model.safetensors")
    del weights["model.layers.1.self_attn.q_proj.weight"]
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    assert "lacks 1 weights, such as model.layers.1.self_attn.q_proj.weight" in _fails(path)


def test_layers_that_are_left_out_are_told(folder: Callable[[str], Path]) -> None:
    path = folder("llama")
    config = path / "config.json"
    config.write_text(
        config.read_text().replace('"num_hidden_layers": 2', '"num_hidden_layers": 1')
    )
    loaded = models.load(path)
    assert loaded.facts.layers == 1
    assert str(loaded.note).startswith(
        "1 layers of its files are not in its configuration: model.layers.1, …; no tokenizer ("
    )


def test_corrupt_gguf_files_leave_no_cache(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    no_gguf, junk, half = (tmp_path / name for name in ("a.gguf", "b.gguf", "c.gguf"))
    no_gguf.write_bytes(b"PK\x03\x04")
    junk.write_bytes(b"GGUF" + bytes(range(200)))
    with finding.default_file().open("rb") as file:
        half.write_bytes(file.read(5_000_000))
    assert "is not a GGUF file" in _fails(no_gguf)
    assert "cannot read the GGUF file" in _fails(junk)
    assert "cannot read the GGUF file" in _fails(half)
    assert models.list_cache() == {}


def test_tensors_that_are_missing_from_a_gguf_file_are_not_made_up(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    path = write_gguf(tmp_path / "tiny.gguf")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"blk.0.attn_q.weight", b"blk.0.attn_p.weight"))
    assert "lacks 1 weights, such as model.layers.0.self_attn.q_proj" in _fails(path)
    key = b"llama.feed_forward_length" + struct.pack("<I", 4)
    wide = content.replace(key + struct.pack("<I", 24), key + struct.pack("<I", 1 << 30))
    assert wide != content
    path.write_bytes(wide)
    assert "describes a far larger model than its 12 tensors" in _fails(path)
    assert models.list_cache() == {}


def test_a_damaged_copy_is_made_again(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a copy serves every dtype, with the rotary frequencies left in float32."""
    pytest.importorskip("gguf")
    path = write_gguf(tmp_path / "tiny.gguf")
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=_words())
    converted: list[Any] = []

    def convert(file: Path, held: Held, options: dict[str, Any]) -> tuple[Any, Any]:
        converted.append(options["dtype"])
        return build("llama", "sdpa").model, tokenizer

    monkeypatch.setattr(loading, "_convert", convert)
    half: Any = models.load(path, dtype="bfloat16")
    assert half.model.dtype == torch.bfloat16
    assert half.model.model.rotary_emb.inv_freq.dtype == torch.float32
    assert half.source == "gguf"
    assert half.quantisation == "F32 (GGUF file)"
    models.load(path)
    assert converted == [torch.float32]
    (kept,) = models.list_cache()
    for count, name in enumerate(("model.safetensors", "tokenizer.json", "config.json"), start=2):
        content = bytearray((kept / name).read_bytes())
        content[-20] ^= 1  # a weight's last bits: nothing else would notice
        (kept / name).write_bytes(content)
        again: Any = models.load(path)
        assert converted == [torch.float32] * count
        assert again.note == (
            "the converted copy in the cache was made anew: its files are not what was kept"
        )
    last = models.load(path)
    assert last.tokenizer("said the")["input_ids"] == [2, 0]  # type: ignore[misc]
    assert last.note is None
    assert len(converted) == 4


def _words() -> Tokenizer:
    words = {"the": 0, "prince": 1, "said": 2, "<unk>": 3}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    return tokenizer


def test_transformers_logging_is_left_as_it_was(folder: Callable[[str], Path]) -> None:
    level = hf.logging.get_verbosity()
    models.load(folder("llama"))
    assert hf.logging.get_verbosity() == level
    assert hf.logging.is_progress_bar_enabled()


def test_roberta_loses_its_first_positions(tmp_path: Path) -> None:
    config = hf.RobertaConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=48, max_position_embeddings=66, pad_token_id=1,
    )  # fmt: skip
    assert describe(hf.RobertaModel(config), "encoder").context_length == 64
