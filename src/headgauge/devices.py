"""Whether a device is there, before work is begun that would fail on it, and how exact it is."""

import torch

from headgauge.errors import InputError


def check_device(device: str, double: bool = False) -> None:
    """An InputError of one line if torch cannot use the device here, in double precision or not."""
    try:
        torch.zeros(1, device=device, dtype=torch.float64 if double else None).tolist()
    except (RuntimeError, AssertionError, TypeError, ImportError) as error:
        lines = (line.strip() for line in str(error).splitlines())
        reason = next((line for line in lines if line), repr(error))
        # torch quotes the name as it stands, and lists its backends in a thousand characters.
        told = "".join(letter for letter in reason[:200] if letter.isprintable())
        raise InputError(f"no device {device!r} here: {told}") from None


def most_exact(device: torch.device) -> torch.dtype:
    """float64, but on Apple's GPUs, which have none."""
    return torch.float32 if device.type == "mps" else torch.float64
