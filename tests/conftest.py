"""Shapes in headgauge's signatures are checked by beartype here, and only here."""

import os

import torch
from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("headgauge", "beartype.beartype")

# Two test processes on two cores: more threads each would only fight.
torch.set_num_threads(1 if os.environ.get("PYTEST_XDIST_WORKER") else torch.get_num_threads())

# A slow machine is no failure, and the same examples everywhere make a failure repeatable.
settings.register_profile("headgauge", deadline=None, derandomize=True)
settings.load_profile("headgauge")
