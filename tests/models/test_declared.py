"""Folders whose files are broken, or declare what they do not hold: one line each, and quickly."""

import json
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from headgauge import models
from headgauge.errors import InputError
from headgauge.models.declared import Held, bounded

Break = Callable[[Path], None]
WEIGHTS = "model.safetensors"
_GLOBAL = {"attention_types": [[["global"], 2]]}


def _config(**changes: Any) -> Break:
    def change(folder: Path) -> None:
        file = folder / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | changes))

    return change


def _file(name: str, content: str) -> Break:
    def write(folder: Path) -> None:
        (folder / name).write_text(content)

    return write


def _cut(folder: Path) -> None:
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[: len(content) // 2])


def _pickle(folder: Path) -> None:
    torch.save({}, folder / WEIGHTS)


def _header(folder: Path) -> None:
    (folder / WEIGHTS).write_bytes(struct.pack("<Q", 1 << 62) + b"{}")


def _loop(folder: Path) -> None:
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("config.json")


def _directory(folder: Path) -> None:
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()


def _other_shape(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / WEIGHTS)
    weights["model.norm.weight"] = weights["model.norm.weight"][:1].clone()
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def _shard(folder: Path) -> None:
    (folder / WEIGHTS).rename(folder / "model-00001-of-00001.safetensors")
    index = {"metadata": {}, "weight_map": {"a": "nothere.safetensors"}}
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(index))


def _only_gguf(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    (folder / "tiny.gguf").write_bytes(b"GGUF")


def _nothing(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


@pytest.mark.parametrize(
    ("break_it", "reason"),
    [
        (_config(num_hidden_layers=10**5), "num_hidden_layers is 100000 for weights of 21 tensors"),
        (_config(model_type="qwen2", num_hidden_layers=10**9), "is 1000000000 for weights of 21"),
        (_config(text_config={"num_layers": 10**9}), "num_layers is 1000000000"),
        (_config(num_hidden_layers=0), "num_hidden_layers is 0, and must be at least 1"),
        (_config(num_attention_heads=-4), "num_attention_heads is -4"),
        (_config(vocab_size=10**9), "far larger model than its 21 tensors"),
        (
            _config(model_type="gpt_neo", max_position_embeddings=10**5, **_GLOBAL),
            "far larger model than its 21 tensors",
        ),
        (_config(model_type="mixtral", num_local_experts=10**9), "far larger model than its 21"),
        (_config(hidden_size=64), "of shape .* its configuration wants"),
        (_config(hidden_size="wide"), "expected int, got str"),
        (_config(model_type="\x1b[31mred\x07\n"), r"\[31mred"),
        (_file("config.json", "[]"), "cannot load"),
        (_file("config.json", "null"), "cannot load"),
        (_file("config.json", '{"a":' * 50_000), "cannot load"),
        (_file("config.json", '{"num_hidden_layers": ' + "9" * 5000 + "}"), "cannot load"),
        (_file(WEIGHTS, ""), f"{WEIGHTS} was cut or is no safetensors"),
        (_header, "was cut or is no safetensors"),
        (_cut, "was cut or is no safetensors"),
        (_pickle, "was cut or is no safetensors"),
        (_other_shape, r"model.norm.weight of shape \(1,\), its configuration wants \(32,\)"),
        (_shard, "nothere.safetensors"),
        (_loop, "no config.json"),
        (_directory, "no config.json"),
        (_only_gguf, "no config.json, but GGUF files, which can be named: tiny.gguf"),
        (_nothing, "an empty folder"),
    ],
)
def test_broken_folders(build: Any, tmp_path: Path, break_it: Break, reason: str) -> None:
    build("llama", "eager").model.save_pretrained(tmp_path)
    break_it(tmp_path)
    start = time.perf_counter()
    with pytest.raises(InputError, match=reason) as failure:
        models.load(tmp_path)
    assert time.perf_counter() - start < 5
    line = str(failure.value)
    assert line.isprintable()
    assert len(line) < 500
    assert str(tmp_path) in line


def test_a_model_may_be_larger_than_its_files_in_what_they_do_not_hold(build: Any) -> None:
    """Masks and dropout stand in no file; and other models may be built at the same time."""
    with bounded(Held(1, 100), "x"), torch.device("meta"):
        build("gpt2", "eager")
        with pytest.raises(InputError, match="x describes a far larger model than its 1 tensors"):
            torch.nn.Linear(10_000, 10_000)
    torch.nn.Linear(10_000, 10_000, device="meta")
