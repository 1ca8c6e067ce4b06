"""Load a model by hub name, local folder, GGUF file, or the default one.

No code and no pickles are ever taken from a model: remote code is off and weights must be
safetensors. What its files declare is held against what they hold before it is built (`declared`).
"""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch

from headgauge.devices import check_device
from headgauge.errors import InputError
from headgauge.models import gguf_cache
from headgauge.models.declared import Held, bounded, check_layer_counts, check_sizes, held_in
from headgauge.models.edge_tokens import folder_word, gguf_word
from headgauge.models.facts import FileWord, LoadedModel, describe
from headgauge.models.finding import DEFAULT_MODEL, Found, find
from headgauge.models.gguf_header import TENSORS, read_header
from headgauge.models.kinds import model_class
from headgauge.models.wording import brief, plain, quiet

_DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}
# Weights that are missing or of another shape are told by us, with their names.
_COMPARED: dict[str, Any] = {"output_loading_info": True, "ignore_mismatched_sizes": True}
_NO_TOKENIZER = (
    "put its tokenizer.json beside the model, or give token ids instead of a text (from Python, or "
    'a .jsonl file with lines of {"input_ids": […]})'
)


def load(
    name: str | Path = DEFAULT_MODEL,
    dtype: str | None = None,
    device: str = "cpu",
    attention: Literal["sdpa", "eager"] | None = None,
    revision: str | None = None,
) -> LoadedModel:
    """A model in eval mode.

    `dtype` is float32 on the CPU and the checkpoint's own elsewhere unless it is named.
    `attention` is left to transformers (sdpa where the family has it) unless it is named.
    `revision` is a branch, tag or commit of a model of the hub.
    """
    options = _options(dtype, device, attention)
    found = find(name, revision)
    read = _load_gguf if found.source in ("default", "gguf") else _load_folder
    loaded = replace(read(found, options), name=plain(found.name), revision=revision)
    loaded.model.to(device)
    loaded.model.eval()
    return loaded


def _options(dtype: str | None, device: str, attention: str | None) -> dict[str, Any]:
    if dtype is not None and dtype not in _DTYPES:
        raise InputError(f"no dtype {dtype!r}; there are {', '.join(_DTYPES)}")
    check_device(device)
    fallback = torch.float32 if torch.device(device).type == "cpu" else "auto"
    options: dict[str, Any] = {"dtype": _DTYPES[dtype] if dtype else fallback}
    if attention is not None:
        options["attn_implementation"] = attention
    return options


def _load_gguf(found: Found, options: dict[str, Any]) -> LoadedModel:
    path = found.path
    gguf_cache.check_gguf(path)
    header = read_header(path)
    quantisation = gguf_cache.quantisation_note(header, path.name)
    sha256 = gguf_cache.file_sha256(path)
    folder, note = gguf_cache.find_copy(sha256)
    pair = _load_copy(folder, options)
    if pair is None:
        # Always in float32 first: that is the copy from which every dtype is made.
        held = Held(int(header[TENSORS]), path.stat().st_size)
        pair = _convert(path, held, options | {"dtype": torch.float32})
        with quiet():
            facts = gguf_cache.GgufFacts(path.name, sha256, quantisation)
            note = gguf_cache.keep_copy(*pair, facts) or note
        if options["dtype"] not in (torch.float32, "auto"):
            folder, _ = gguf_cache.find_copy(sha256)
            pair = _load_copy(folder, options) or _convert(path, held, options)
    model, tokenizer = pair
    known = (describe(model, "decoder"), quantisation, sha256, note, gguf_word(header))
    return LoadedModel(model, tokenizer, found.name, found.source, *known)


def _load_copy(folder: Path | None, options: dict[str, Any]) -> tuple[Any, Any] | None:
    """The converted copy of a GGUF file; one that cannot be loaded is removed and made again."""
    if folder is None:
        return None
    try:
        found = _load_folder(Found("folder", folder, str(folder)), options)
    except InputError:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return found.model, found.tokenizer


def _convert(path: Path, held: Held, options: dict[str, Any]) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"gguf_file": path.name, "local_files_only": True, "trust_remote_code": False}
    try:
        with quiet(), gguf_cache.no_bar():
            with bounded(held, path.name):
                auto: Any = AutoModelForCausalLM
                model, info = auto.from_pretrained(path.parent, **where, **_COMPARED, **options)
            _check_weights(info, path.name)
            tokenizer = AutoTokenizer.from_pretrained(path.parent, **where)
    except InputError:
        raise
    except ImportError as error:
        raise InputError(f"reading GGUF files needs another package: {brief(error)}") from None
    except Exception as error:
        # The reader meets a damaged file with whatever its arithmetic runs into.
        reason = f"{type(error).__name__}: {brief(error)}"
        raise InputError(f"cannot read the GGUF file {path} ({reason})") from None
    gguf_cache.forget_quantisation(model)
    return model, tokenizer


def _load_folder(found: Found, options: dict[str, Any]) -> LoadedModel:
    try:
        _check_folder(found.path)
        return _from_pretrained(found, options)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"cannot load {found.name} ({brief(error)})") from None


def _check_folder(path: Path) -> None:
    names = sorted(file.name for file in path.iterdir())
    if not names:
        raise InputError(f"{path} is an empty folder")
    if not (path / "config.json").is_file():
        files = [name for name in names if name.endswith(".gguf")]
        hint = f", but GGUF files, which can be named: {', '.join(files[:3])}" if files else ""
        raise InputError(f"{path} is no model folder: it has no config.json{plain(hint)}")
    if not any(name.endswith(".safetensors") for name in names):
        raise InputError(f"{path} has no safetensors weights (pickled weights are never loaded)")


def _from_pretrained(found: Found, options: dict[str, Any]) -> LoadedModel:
    from transformers import AutoConfig

    where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with quiet():
        held = held_in(found.path)
        check_layer_counts(json.loads((found.path / "config.json").read_bytes()), held)
        config = AutoConfig.from_pretrained(found.path, **where)
        check_sizes(config)
        kind, auto = model_class(config, found.name)
        with bounded(held, found.name):
            model, info = auto.from_pretrained(
                found.path, config=config, use_safetensors=True, **_COMPARED, **where, **options
            )
        _check_weights(info, found.name)
        tokenizer, note, word = _tokenizer(found.path, where)
    quantisation = getattr(config, "quantization_config", None)
    method = None if quantisation is None else plain(str(_method(quantisation)))
    notes = [each for each in (_unused_layers(model, info), note) if each]
    known = (describe(model, kind), method, None, "; ".join(notes) or None, word)
    return LoadedModel(model, tokenizer, found.name, found.source, *known)


def _check_weights(info: dict[str, Any], name: str) -> None:
    """Refuse a model of which transformers made up weights: missing ones, or of another shape."""
    # A pooler sits above the last layer: a checkpoint without one is whole for us.
    missing = sorted(key for key in info["missing_keys"] if "pooler" not in key)
    if missing:
        raise InputError(f"{name} lacks {len(missing)} weights, such as {missing[0]}")
    for key, there, wanted in sorted(info["mismatched_keys"]):
        raise InputError(
            f"{name} has {key} of shape {tuple(there)}, its configuration wants {tuple(wanted)}"
        )


def _unused_layers(model: Any, info: dict[str, Any]) -> str | None:
    """Layers that stand in the files and not in the configuration: it may be damaged."""
    built = {name for name, _ in model.named_modules()}
    numbered = (re.match(r"(.+?\.\d+)\.", key) for key in info["unexpected_keys"])
    unused = sorted({found[1] for found in numbered if found and found[1] not in built})
    if not unused:
        return None
    return f"{len(unused)} layers of its files are not in its configuration: {plain(unused[0])}, …"


def _tokenizer(path: Path, where: dict[str, Any]) -> tuple[Any, str | None, FileWord | None]:
    """The tokenizer, or None and why there is none; and what its configuration says of BOS."""
    from transformers import AutoTokenizer
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    try:
        tokenizer = AutoTokenizer.from_pretrained(path, **where)
        word = folder_word(get_tokenizer_config(path, **where))
        if _knows_words(tokenizer):
            return tokenizer, None, word
        reason = "its vocabulary does not hold a word of English"
    except Exception as error:
        reason, word = brief(error), None
    return None, f"no tokenizer ({reason}): {_NO_TOKENIZER}", word


def _knows_words(tokenizer: Any) -> bool:
    """Whether a word survives it: without a vocabulary transformers makes an empty shell."""
    ids = tokenizer("the prince said", add_special_tokens=False)["input_ids"]
    return "prince" in "".join(tokenizer.decode(ids).lower().split())


def _method(quantisation: Any) -> Any:
    if isinstance(quantisation, dict):
        return quantisation.get("quant_method", "quantised")
    return getattr(quantisation, "quant_method", "quantised")
