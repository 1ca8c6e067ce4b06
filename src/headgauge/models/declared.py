"""What a model's files declare, held against what they hold, before a model is built of it.

A configuration is a few numbers that anyone can write. Believed as they stand, 10⁹ layers are built
without end and 10¹² words fill the memory, long before the first weight turns out to be missing. So
a file of weights must have at least a tensor for every layer, and a model that is being built must
not grow beyond what such a file can fill.
"""

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import nn
from torch.nn.modules import module as registering

from headgauge.errors import InputError

_LAYERS = re.compile(r"(num_|n_)?(hidden_|encoder_|decoder_)?layers?")
_SIZES = ("num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim")
_SIZES += ("hidden_size", "vocab_size")
# Weights can be packed, down to 1.5 bits each, and be replaced once by their packed form. What
# stands in no file (masks, dropout) is small beside a real model and large beside a tiny one.
_PER_BYTE, _SPARE_NUMBERS = 16, 1 << 26
_PER_TENSOR, _SPARE_MODULES = 20, 10_000


@dataclass(frozen=True)
class Held:
    """How many tensors there are in a model's files, and how many bytes."""

    tensors: int
    bytes: int


def held_in(folder: Path) -> Held:
    """What the safetensors files of a folder hold, by their headers."""
    tensors = size = 0
    for file in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(file, "pt") as opened:
                tensors += len(opened.keys())
        except SafetensorError as error:
            raise ValueError(f"{file.name} was cut or is no safetensors: {error}") from None
        size += file.stat().st_size
    return Held(tensors, size)


def check_layer_counts(declared: Any, held: Held) -> None:
    """Refuse a configuration with more layers than there are tensors, before it is taken up."""
    if isinstance(declared, Mapping):
        for key, value in declared.items():
            if _LAYERS.fullmatch(key) and isinstance(value, (int, float)) and value > held.tensors:
                raise ValueError(f"{key} is {value} for weights of {held.tensors} tensors")
            check_layer_counts(value, held)


def check_sizes(config: Any) -> None:
    """Refuse sizes that no model can have."""
    text = config.get_text_config()
    for name in _SIZES:
        value = getattr(text, name, None)
        if isinstance(value, int) and value < 1:
            raise ValueError(f"{name} is {value}, and must be at least 1")


@contextmanager
def bounded(held: Held, name: str) -> Iterator[None]:
    """End the building of a model that outgrows what its files can fill."""
    builder = threading.get_ident()
    modules = held.tensors * _PER_TENSOR + _SPARE_MODULES
    numbers = held.bytes * _PER_BYTE + _SPARE_NUMBERS

    def count(_: nn.Module, __: str, new: Any) -> None:
        nonlocal modules, numbers
        if threading.get_ident() != builder or new is None:
            return
        if isinstance(new, nn.Module):
            modules -= 1
        elif new.is_meta:  # a shape so far; weights that are read take its place
            numbers -= new.numel()
        if modules < 0 or numbers < 0:
            raise InputError(
                f"the configuration of {name} describes a far larger model than its "
                f"{held.tensors} tensors ({held.bytes} bytes): it is damaged or another model's"
            )

    with ExitStack() as hooks:
        for kind in ("module", "parameter", "buffer"):
            register = getattr(registering, f"register_module_{kind}_registration_hook")
            hooks.callback(register(count).remove)
        yield
