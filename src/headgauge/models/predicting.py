"""A pass whose logits are made a few tokens at a time, and the loss that proves a model right.

    made = run(loaded, inputs)
    for part in made.logits.pieces(): …      # (windows, some tokens, words)
    next_token_loss(loaded, made, ids)

No matrix of tokens × vocabulary stands: it is larger than all else of a long window.
While the model runs, the layer that makes its logits (`get_output_embeddings`) is given the last
token alone; what it would have read is kept, and read piece by piece when it is asked for. What
models do to logits behind that layer is known by name (a bias, a factor, a softcap) and looked at
once per model, in a pass over a few tokens: where it is something else, or where the layer cannot
be told apart, the model makes all logits at once, as it does by itself.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headgauge.models.facts import LoadedModel
from headgauge.models.hooks import Hooks
from headgauge.models.structure import without_cache
from headgauge.models.windows import decoder_start, model_inputs, vocabulary
from headgauge.products import FasterLinear

AT_ONCE = 1 << 23  # logits: 32 MB; more are asked of the system anew each time, page by page
_LOOKED_AT = 5  # tokens
_ROUNDING = {torch.float64: 1e-10, torch.float32: 1e-4}
_ROUNDING_HALF = 5e-2

Layer = Callable[[Tensor], Tensor]
# Of each model its output layer when it was looked at, and whether that can be told apart.
_looked: "WeakKeyDictionary[nn.Module, tuple[Any, bool]]" = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Logits:
    """What `made` makes of what it reads, token by token; without it they are made already."""

    read: Float[Tensor, "windows tokens width"]
    made: Layer | None = None
    words: int = 0

    @property
    def shape(self) -> tuple[int, int, int]:
        """(windows, tokens, words)."""
        windows, tokens, width = self.read.shape
        return windows, tokens, width if self.made is None else self.words

    def of(self, tokens: slice) -> "Logits":
        """Those of some tokens."""
        return replace(self, read=self.read[:, tokens])

    def pieces(self, at_once: int | None = None) -> Iterator[Float[Tensor, "windows some words"]]:
        """At most so many logits at a time, token after token."""
        windows, _, words = self.shape
        for part in self.read.split(max(1, (at_once or AT_ONCE) // (windows * words)), dim=1):
            with FasterLinear():
                made = part if self.made is None else self.made(part)
            yield made


@dataclass(frozen=True, eq=False)
class Predicted:
    """What a pass returned, but for its logits; None where the model makes none."""

    logits: Logits | None

    def of(self, tokens: slice) -> "Predicted":
        """Of some tokens."""
        return Predicted(None if self.logits is None else self.logits.of(tokens))


def run(loaded: LoadedModel, inputs: Mapping[str, Tensor]) -> Predicted:
    """A pass of the model as it is now."""
    model: Any = loaded.model
    made, asked = apart(loaded), without_cache(loaded.model)
    if made is None:
        with FasterLinear():
            whole = getattr(model(**inputs, **asked), "logits", None)
        return Predicted(None if whole is None else Logits(whole))
    with FasterLinear():
        read, output = _kept(model, {**inputs, **asked})
    return Predicted(Logits(read, made, output.shape[-1]))


def predictions(
    loaded: LoadedModel, output: Any, ids: Int[Tensor, "windows length"]
) -> tuple[Logits, Int[Tensor, "windows tokens"]] | None:
    """The logits that predict a token of the window, and these tokens; None for an encoder.

    `output` is what the model returned, or what `run` did."""
    logits = getattr(output, "logits", None)
    if loaded.facts.kind == "encoder" or logits is None:
        return None
    made = logits if isinstance(logits, Logits) else Logits(logits)
    ids = ids.to(made.read.device)
    if loaded.facts.kind == "decoder":
        return made.of(slice(None, -1)), ids[:, 1:]
    before = len(decoder_start(loaded, ids)) - 1
    return made.of(slice(before, None)), ids[:, : ids.shape[1] - before]


def next_token_loss(
    loaded: LoadedModel, output: Any, ids: Int[Tensor, "windows length"]
) -> Float[Tensor, "windows"] | None:
    """Mean −log p of the window's tokens in nats, per window; None for an encoder.

    A decoder predicts tokens 2 to L. An encoder-decoder predicts all that its decoder has room for
    from the encoded text, so its loss says little about the text.
    """
    losses = token_losses(loaded, output, ids)
    return None if losses is None else mean_loss(losses)


def mean_loss(losses: Float[Tensor, "windows tokens"]) -> Float[Tensor, "windows"]:
    """In float64, on the CPU, because not every device has it."""
    return losses.cpu().double().mean(1).float().to(losses.device)


def token_losses(
    loaded: LoadedModel, output: Any, ids: Int[Tensor, "windows length"]
) -> Float[Tensor, "windows tokens"] | None:
    """−log p of each token that is predicted; None for an encoder."""
    found = predictions(loaded, output, ids)
    if found is None:
        return None
    logits, labels = found
    losses, at, room = [], 0, None
    for part in logits.pieces():
        each, part = labels[:, at : at + part.shape[1], None], part.float()
        at += part.shape[1]
        if part.requires_grad:
            log_p = torch.log_softmax(part, -1)
        else:  # room is asked for once: the first piece is the largest
            room = torch.empty_like(part) if room is None else room
            log_p = torch.log_softmax(part, -1, out=room[:, : part.shape[1]])
        losses.append(-log_p.gather(-1, each)[..., 0])
    return torch.cat(losses, 1)


def apart(loaded: LoadedModel) -> Layer | None:
    """What makes the model's logits of what its output layer reads; None: only the whole model.

    It may run the model over a few tokens: not while anybody watches it."""
    model: Any = loaded.model
    layer = model.get_output_embeddings()
    before, told = _looked.get(model, (None, False))
    if before is not layer:  # the first time, or a vocabulary was resized, a layer replaced
        with torch.no_grad():
            told = _told_apart(loaded, layer)
        _looked[model] = layer, told
    return _behind(model, layer) if told else None


def _told_apart(loaded: LoadedModel, layer: Any) -> bool:
    model: Any = loaded.model
    if not isinstance(layer, nn.Module) or layer is model.get_input_embeddings():
        return False
    made, size = _behind(model, layer), min(_LOOKED_AT, loaded.facts.context_length or _LOOKED_AT)
    ids = torch.arange(size)[None] % (vocabulary(loaded) or 1)
    asked: dict[str, Any] = {**model_inputs(loaded, ids), **without_cache(model)}
    try:
        whole = model(**asked).logits
        read, last = _kept(model, asked)
        own = made(read)
        # The layer's own numbers are the same here, so that rounding cannot hide what came after.
        same = _near(made(read[:, -1:]), last, 4 * torch.finfo(last.dtype).eps)
        rounding = _ROUNDING.get(whole.dtype, _ROUNDING_HALF)
        return same and whole.shape == own.shape and _near(own, whole, rounding)
    except Exception:  # a model that does not bear it fails in ways of its own
        return False


def _kept(model: Any, asked: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
    """What the output layer would have read, and the logits of the last token."""
    layer, read = model.get_output_embeddings(), []

    def last(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        (given,) = args
        read.append(given)
        return (given[:, -1:],), kwargs

    with Hooks() as hooks:
        hooks.before(layer, last)
        output = model(**asked).logits
    (given,) = read  # one that runs twice, or not at all, is an error
    return given, output


def _behind(model: Any, layer: nn.Module) -> Layer:
    """The layer, and what is known to be done to its logits, by the numbers of now."""
    config = model.config.get_text_config()
    factor = getattr(model, "logit_scale", None)  # Cohere
    divisor = getattr(config, "logits_scaling", None)  # Granite
    cap = getattr(config, "final_logit_softcapping", None)  # Gemma 2
    bias = getattr(model, "final_logits_bias", None)  # BART

    def made(read: Tensor) -> Tensor:
        logits = layer(read)
        logits = logits if factor is None else logits * factor
        logits = logits if divisor is None else logits / divisor
        logits = logits if cap is None else torch.tanh(logits / cap) * cap
        return logits if bias is None else logits + bias.to(logits)

    return made


def _near(found: Tensor, wanted: Tensor, rounding: float) -> bool:
    if found.shape != wanted.shape or not bool(wanted.isfinite().all()):
        return False
    return bool((found - wanted).abs().max() <= rounding * wanted.abs().max())
