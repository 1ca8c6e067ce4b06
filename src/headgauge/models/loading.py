"""Load a model by hub name, local folder, GGUF file, or the default one.

No code and no pickles are ever taken from a model: remote code is off and weights must be
safetensors. What its files declare is held against what they hold before it is built (`declared`).

A `ModelSource` is a name and how to load it: small, picklable, the same in every process. It loads
once per process. A model that lives in memory alone is its own source, and only where it lives.
"""

import hashlib
import json
import re
import shutil
from dataclasses import InitVar, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch

from headgauge.devices import check_device, chosen
from headgauge.errors import InputError
from headgauge.models.cache import find_copy, keep_copy
from headgauge.models.declared import Held, bounded, check_layer_counts, check_sizes, held_in
from headgauge.models.edge_tokens import folder_word, gguf_word
from headgauge.models.facts import FileWord, LoadedModel, describe, model_class
from headgauge.models.finding import DEFAULT_MODEL, Found, brief, find, plain, told_in_one_line
from headgauge.models.gguf_header import TENSORS, quantisation_note, read_header
from headgauge.models.hooks import Hooks
from headgauge.threads import in_turn

_DTYPES = ("float32", "bfloat16", "float16", "float64")
_SAFE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
# Weights that are missing or of another shape are told by us, with their names.
_COMPARED: dict[str, Any] = {"output_loading_info": True, "ignore_mismatched_sizes": True}


@dataclass(frozen=True)
class ModelSource:
    """The arguments of `load`, with the device that "auto" means here, where it may have to be
    measured in `double` precision."""

    name: str
    dtype: str | None = None
    device: str = "auto"
    revision: str | None = None
    double: InitVar[bool] = False

    def __post_init__(self, double: bool) -> None:
        double |= self.dtype == "float64"
        object.__setattr__(self, "device", chosen(self.device, double))

    @in_turn()  # loading changes torch's default dtype for all threads
    def open(self) -> LoadedModel:
        """The model, loaded at most once per process."""
        if self not in _opened:
            _opened.clear()
            _opened[self] = load(self.name, self.dtype, self.device, revision=self.revision)
        return _opened[self]


_opened: dict[ModelSource, LoadedModel] = {}


def load(
    name: str | Path = DEFAULT_MODEL,
    dtype: str | None = None,
    device: str = "auto",
    attention: Literal["sdpa", "eager"] | None = None,
    revision: str | None = None,
) -> LoadedModel:
    """A model in eval mode.

    `device` is CUDA, else MPS, else the CPU unless it is named. `dtype` is float32 on the CPU and
    the checkpoint's own elsewhere unless it is named.
    `attention` is left to transformers (sdpa where the family has it) unless it is named.
    `revision` is a branch, tag or commit of a model of the hub.
    """
    if dtype is not None and dtype not in _DTYPES:
        raise InputError(f"no dtype {dtype!r}; there are {', '.join(_DTYPES)}")
    double = dtype == "float64"
    device = chosen(device, double)
    check_device(device, double)
    own = "auto" if torch.device(device).type != "cpu" else torch.float32
    options: dict[str, Any] = {"dtype": getattr(torch, dtype) if dtype else own}
    if attention is not None:
        options["attn_implementation"] = attention
    found = find(name, revision)
    read = _load_gguf if found.source in ("default", "gguf") else _load_folder
    loaded = replace(read(found, options), name=plain(found.name), revision=revision)
    loaded.model.to(device)
    loaded.model.eval()
    return loaded


def _load_gguf(found: Found, options: dict[str, Any]) -> LoadedModel:
    path = found.path
    header = read_header(path)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    folder, note = find_copy(sha256)
    pair = _load_copy(folder, options)
    if pair is None:
        # Always in float32 first: that is the copy from which every dtype is made.
        held = Held(int(header[TENSORS]), path.stat().st_size)
        pair = _convert(path, held, options | {"dtype": torch.float32})
        with told_in_one_line(f"cannot keep a copy of {path}"):
            note = keep_copy(*pair, path.name, sha256) or note
        if options["dtype"] not in (torch.float32, "auto"):
            pair = _load_copy(find_copy(sha256)[0], options) or _convert(path, held, options)
    model, tokenizer = pair
    quantisation = quantisation_note(header, path.name)
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
    import gguf
    from transformers import AutoModelForCausalLM, AutoTokenizer, modeling_gguf_pytorch_utils

    auto: Any = AutoModelForCausalLM
    where = _SAFE | {"gguf_file": path.name}
    # The reader meets a damaged file with whatever its arithmetic runs into.
    with told_in_one_line(f"cannot read the GGUF file {path}", kind=True), Hooks() as hooks:
        # Its progress bar is drawn whatever logging is set to.
        hooks.put(modeling_gguf_pytorch_utils.__dict__, "tqdm", lambda items, **_: items)
        # Configuration, weights and tokenizer each read the whole header, and every module makes
        # the same map of names: seconds every time.
        for name in ("GGUFReader", "get_tensor_name_map"):
            hooks.put(gguf.__dict__, name, cache(getattr(gguf, name)))
        with bounded(held, path.name):
            model, info = auto.from_pretrained(path.parent, **where, **_COMPARED, **options)
        _check_weights(info, path.name)
        tokenizer = AutoTokenizer.from_pretrained(path.parent, **where)
    # The weights are plain floats now; transformers would refuse to save them otherwise.
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    return model, tokenizer


def _load_folder(found: Found, options: dict[str, Any]) -> LoadedModel:
    from transformers import AutoConfig

    path = found.path
    with told_in_one_line(f"cannot load {found.name}"):
        _check_folder(path)
        held = held_in(path)
        check_layer_counts(json.loads((path / "config.json").read_bytes()), held)
        config = AutoConfig.from_pretrained(path, **_SAFE)
        check_sizes(config)
        kind, auto = model_class(config, found.name)
        with bounded(held, found.name):
            model, info = auto.from_pretrained(
                path, config=config, use_safetensors=True, **_COMPARED, **_SAFE, **options
            )
        _check_weights(info, found.name)
        tokenizer, note, word = _tokenizer(path)
        notes = [each for each in (_unused_layers(model, info), note) if each]
        known = (describe(model, kind), _quantisation(config), None, "; ".join(notes) or None, word)
        return LoadedModel(model, tokenizer, found.name, found.source, *known)


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


def _quantisation(config: Any) -> str | None:
    found = getattr(config, "quantization_config", None)
    if found is None:
        return None
    known = found if isinstance(found, dict) else found.to_dict()
    return plain(str(known.get("quant_method", "quantised")))


def _tokenizer(path: Path) -> tuple[Any, str | None, FileWord | None]:
    """The tokenizer, or None and why there is none; and what its configuration says of BOS."""
    from transformers import AutoTokenizer
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    word = None
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, **_SAFE)
        word = folder_word(get_tokenizer_config(path, **_SAFE))
        # Without a vocabulary transformers makes an empty shell, which no word survives.
        ids = tokenizer("the prince said", add_special_tokens=False)["input_ids"]
        if "prince" in "".join(tokenizer.decode(ids).lower().split()):
            return tokenizer, None, word
        reason = "its vocabulary does not hold a word of English"
    except Exception as error:
        reason, word = brief(error), None
    return None, f"no tokenizer ({reason})", word
