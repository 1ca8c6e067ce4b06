"""How a unit of work gets its model, in whatever process it runs.

A `ModelSource` is a name and how to load it: small, picklable, the same in every process. It loads
once per process. A model that lives in memory alone can be used only where it lives.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from headgauge.models.facts import Kind, LoadedModel, describe
from headgauge.models.loading import load
from headgauge.models.readable import readable
from headgauge.threads import in_turn

_opened: dict["ModelSource", LoadedModel] = {}


@dataclass(frozen=True)
class ModelSource:
    """The arguments of `load`."""

    name: str
    dtype: str | None = None
    device: str = "cpu"
    revision: str | None = None

    @in_turn()  # loading changes torch's default dtype for all threads
    def open(self) -> LoadedModel:
        """The model, loaded at most once per process."""
        if self not in _opened:
            _opened.clear()
            _opened[self] = load(self.name, self.dtype, self.device, revision=self.revision)
        return _opened[self]

    def close(self) -> None:
        """Let go of the model; `open` would load it again."""
        _opened.pop(self, None)


@dataclass(frozen=True, eq=False)
class MemorySource:
    """A model that the caller already has."""

    loaded: LoadedModel

    def open(self) -> LoadedModel:
        return self.loaded

    def close(self) -> None:
        pass


def wrap(model: nn.Module, tokenizer: Any | None = None, name: str | None = None) -> LoadedModel:
    """A transformers model that is already in memory, as `load` would hand it out."""
    loose: Any = readable(model)
    known = name or getattr(loose.config, "_name_or_path", "") or type(loose).__name__
    return LoadedModel(loose, tokenizer, known, "memory", describe(loose, _kind(loose)))


def _kind(model: Any) -> Kind:
    if getattr(model.config, "is_encoder_decoder", False):
        return "encoder-decoder"
    predicts = getattr(model, "get_output_embeddings", lambda: None)() is not None
    return "decoder" if predicts and type(model).__name__.endswith(_CAUSAL) else "encoder"


_CAUSAL = ("ForCausalLM", "LMHeadModel")


def fingerprint(model: nn.Module) -> str:
    """A short hash of the configuration and the weights: names, shapes, values spread over each.

    Two models with the same fingerprint are the same for our purposes, wherever they came from;
    hashing every byte would take longer than a scan of a large model.
    """
    digest = hashlib.sha256(_configuration(model).encode())
    for name, weight in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}\n".encode())
        flat = weight.detach().reshape(-1)
        places = torch.arange(64) * (flat.numel() - 1) // 63 if flat.numel() else torch.arange(0)
        digest.update(flat[places.to(flat.device)].double().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


# What says where a model came from or how it is run, not what it is.
_PASSING = ("name_or_path", "version", "dtype", "attn_implementation", "architectures", "use_cache")


def _configuration(model: nn.Module) -> str:
    loose: Any = model
    known = loose.config.to_dict() if hasattr(loose, "config") else {}
    lasting = {k: v for k, v in known.items() if not any(part in k for part in _PASSING)}
    return f"{type(model).__name__} {json.dumps(lasting, sort_keys=True, default=str)}"
