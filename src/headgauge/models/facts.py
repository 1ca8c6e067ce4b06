"""What a loaded model is: the facts a result must state, read from its configuration."""

from dataclasses import dataclass
from typing import Any, Literal

from torch import nn

Kind = Literal["decoder", "encoder", "encoder-decoder"]


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


def describe(model: nn.Module, kind: Kind) -> ModelFacts:
    """The facts of a model; of the text part of one that also sees."""
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
