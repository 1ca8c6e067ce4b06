from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

import headgauge

SIZES: dict[str, Any] = {
    "vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "max_position_embeddings": 64, "attention_dropout": 0.1,
}  # fmt: skip


def llama(seed: int = 0, **more: Any) -> Any:
    """A small model with dropout, so that a number drawn out of turn shows."""
    torch.manual_seed(seed)
    return hf.LlamaForCausalLM(hf.LlamaConfig(**SIZES | more)).train()


def gpt2(**more: Any) -> Any:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"vocab_size": 50, "n_embd": 32, "n_layer": 2, "n_head": 4}
    sizes |= {"n_positions": 64} | more
    return hf.GPT2LMHeadModel(hf.GPT2Config(**sizes)).train()


def batches(count: int, batch: int = 2, length: int = 24) -> list[Tensor]:
    source = torch.Generator().manual_seed(5)
    return [torch.randint(3, 50, (batch, length), generator=source) for _ in range(count)]


class Trained:
    """What is left of a training: losses, weights, torch's random numbers, the monitor."""

    def __init__(self, losses: list[float], model: nn.Module, monitor: Any):
        self.losses, self.model, self.monitor = losses, model, monitor
        self.weights = [each.detach().clone() for each in model.parameters()]
        self.random = torch.get_rng_state()

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Trained)
        same = all(map(torch.equal, self.weights, other.weights))
        return self.losses == other.losses and same and torch.equal(self.random, other.random)


Loss = Callable[[Any, Tensor], Tensor]


def plain_loss(model: Any, ids: Tensor) -> Tensor:
    return model(input_ids=ids, labels=ids).loss


def train(
    model: Any,
    watch: dict[str, Any] | None,
    several: list[list[Tensor]],
    loss: Loss = plain_loss,
    after: Callable[[Any], object] | None = None,
    rate: float = 1e-2,
) -> Trained:
    """A plain loop over steps of micro-batches; `after` runs behind each step."""
    torch.manual_seed(1)
    optimizer = torch.optim.AdamW(model.parameters(), rate)
    monitor = None if watch is None else headgauge.Monitor(model, **watch)
    losses = []
    for micro in several:
        total = 0.0
        for ids in micro:
            made = loss(model, ids) / len(micro)
            made.backward()
            total += float(made.detach())
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total)
        if monitor is not None:
            monitor.step(total)
        if after is not None:
            after(model)
    if monitor is not None:
        monitor.close()
    return Trained(losses, model, monitor)


@pytest.fixture
def steps() -> list[list[Tensor]]:
    return [[ids] for ids in batches(5)]
