"""What a model is: its kind, the facts a result must state, and how it is told from others."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from headgauge.errors import InputError
from headgauge.models.structure import attention_modules, readable

Kind = Literal["decoder", "encoder", "encoder-decoder"]
_CAUSAL = ("ForCausalLM", "LMHeadModel")
# What says where a model came from or how it is run, not what it is.
_PASSING = ("name_or_path", "version", "dtype", "attn_implementation", "architectures", "use_cache")


@dataclass(frozen=True)
class ModelFacts:
    """Sizes of a model. `context_length` is None where positions are relative and have no end."""

    kind: Kind
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    context_length: int | None
    vocabulary: int | None = None


@dataclass(frozen=True)
class FileWord:
    """What a model's file (`place`) says of the tokens around a text; None: nothing."""

    place: str
    add_bos: bool | None = None
    add_eos: bool | None = None
    bos_id: int | None = None
    eos_id: int | None = None


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready to be measured, in eval mode.

    `source` says how it was found (`default`, `gguf`, `folder`, `hub`, or `memory` for one the
    caller had), `quantisation` what its weights went through before they came here (None: nothing
    known), `sha256` identifies a GGUF file, `note` says what a user should know of the loading,
    `word` what the file says of BOS and EOS (None: there is no file), and `revision` which branch,
    tag or commit of a hub model was asked for.
    """

    model: nn.Module
    tokenizer: Any | None
    name: str
    source: Literal["default", "gguf", "folder", "hub", "memory"]
    facts: ModelFacts
    quantisation: str | None = None
    sha256: str | None = None
    note: str | None = None
    word: FileWord | None = None
    revision: str | None = None

    def open(self) -> "LoadedModel":
        """As a `ModelSource` is opened: it is there already."""
        return self


def wrap(model: nn.Module, tokenizer: Any | None = None, name: str | None = None) -> LoadedModel:
    """A transformers model that is already in memory, as `load` would hand it out."""
    loose: Any = readable(model)
    known = name or getattr(loose.config, "_name_or_path", "") or type(loose).__name__
    predicts = getattr(loose, "get_output_embeddings", lambda: None)() is not None
    causal = predicts and type(loose).__name__.endswith(_CAUSAL)
    kind: Kind = "decoder" if causal else "encoder"
    if getattr(loose.config, "is_encoder_decoder", False):
        kind = "encoder-decoder"
    return LoadedModel(loose, tokenizer, known, "memory", describe(loose, kind))


def describe(model: nn.Module, kind: Kind) -> ModelFacts:
    """The facts of a model; of the text part of one that also sees."""
    if not attention_modules(model):
        raise InputError(f"{type(model).__name__} has no attention module that could be measured")
    loose: Any = model
    config = loose.config.get_text_config()
    heads = config.num_attention_heads
    return ModelFacts(
        kind=kind,
        layers=config.num_hidden_layers,
        heads=heads,
        kv_heads=getattr(config, "num_key_value_heads", None) or heads,
        head_dim=getattr(config, "head_dim", None) or config.hidden_size // heads,
        context_length=_context_length(model, config),
        vocabulary=getattr(config, "vocab_size", None),
    )


def _context_length(model: nn.Module, config: Any) -> int | None:
    length = getattr(config, "max_position_embeddings", None)
    if length is None or length <= 0:
        return None
    for name, module in model.named_modules():
        # RoBERTa counts positions from after the padding index, so that many of them are lost.
        if (
            name.endswith("position_embeddings")
            and isinstance(module, nn.Embedding)
            and module.padding_idx is not None
            and module.num_embeddings == length
        ):
            return length - module.padding_idx - 1
    return length


def model_class(config: Any, name: str) -> tuple[Kind, Any]:
    """The kind that a configuration describes, and the transformers class that loads it.

    A model that reads no text (a ViT, a speech encoder) cannot be scanned on text and is refused;
    it can still be intercepted.
    """
    from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM
    from transformers.models.auto import modeling_auto as auto

    chosen: Any = AutoModel
    kind: Kind = "encoder"
    # BERT and its kin also exist as decoders; a checkpoint that is one says so.
    masked = type(config) in auto.MODEL_FOR_MASKED_LM_MAPPING and not getattr(
        config, "is_decoder", False
    )
    if config.is_encoder_decoder:
        chosen, kind = AutoModelForSeq2SeqLM, "encoder-decoder"
    elif type(config) in auto.MODEL_FOR_CAUSAL_LM_MAPPING and not masked:
        chosen, kind = AutoModelForCausalLM, "decoder"
    found = chosen._model_mapping.get(type(config), None)
    classes = found if isinstance(found, (list, tuple)) else (found,)
    wanted = {getattr(each, "main_input_name", "input_ids") for each in classes}
    # An encoder of text and images (CLIP) wants both at once.
    sees = kind != "decoder" and hasattr(config, "vision_config")
    if found is None or wanted != {"input_ids"} or sees:
        raise InputError(
            f"{name} ({config.model_type}) takes no text input alone: only language models can be "
            "scanned on text"
        )
    return kind, chosen


def fingerprint(model: nn.Module) -> str:
    """A short hash of the configuration and the weights: names, shapes, values spread over each.

    Two models with the same fingerprint are the same for our purposes, wherever they came from;
    hashing every byte would take longer than a scan of a large model.
    """
    loose: Any = model
    known = loose.config.to_dict() if hasattr(loose, "config") else {}
    lasting = {k: v for k, v in known.items() if not any(part in k for part in _PASSING)}
    told = f"{type(model).__name__} {json.dumps(lasting, sort_keys=True, default=str)}"
    digest = hashlib.sha256(told.encode())
    for name, weight in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}\n".encode())
        flat = weight.detach().reshape(-1)
        places = torch.arange(64) * (flat.numel() - 1) // 63 if flat.numel() else torch.arange(0)
        values = flat[places.to(flat.device)].cpu().double()  # not every device has float64
        digest.update(values.numpy().tobytes())
    return digest.hexdigest()[:16]
