"""A small decoder with random weights, token ids, and lines that name some of its heads."""

from dataclasses import replace

import pytest
import torch
import transformers as hf
from torch import Tensor

import headgauge
from headgauge import models
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import DEFAULT, Threshold

LAYERS, HEADS, WORDS, LENGTH = 3, 4, 60, 32
LINES = {"diffuse": 0.54, "inactive": 0.85, "idle sink": 0.016}


@pytest.fixture(scope="session")
def loaded() -> models.LoadedModel:
    torch.manual_seed(0)
    config = hf.GPT2Config(
        vocab_size=WORDS, n_embd=32, n_layer=LAYERS, n_head=HEADS, n_positions=128,
        bos_token_id=0, eos_token_id=0, initializer_range=0.3,
    )  # fmt: skip
    return models.wrap(hf.GPT2LMHeadModel(config).eval(), None)


@pytest.fixture(scope="session")
def tokens() -> Tensor:
    return torch.randint(3, 50, (400,), generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="session")
def lines() -> tuple[Threshold, ...]:
    """Of three verdicts, where random weights have some heads on either side."""
    return tuple(
        replace(each, value=LINES[each.verdict]) for each in DEFAULT if each.verdict in LINES
    )


@pytest.fixture(scope="session")
def scan(loaded: models.LoadedModel, tokens: Tensor, lines: tuple[Threshold, ...]) -> ScanResult:
    """Of the first two windows."""
    return headgauge.scan(loaded, tokens, length=32, windows=2, threads=1).with_thresholds(lines)
