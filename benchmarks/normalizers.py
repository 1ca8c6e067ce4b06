"""The normalisation rules against the entmax package and against plain torch.

Every call starts from unmasked logits and a causal boolean mask, on both sides. The others get
masked_fill first, with −10⁴ for the entmax package (which cannot take −inf) and −inf for
torch.softmax; that fill is part of their time as finding the visible keys is part of ours. With
backward, both sides propagate the same gradient to the unmasked logits.
"""

import math
from collections.abc import Callable, Iterator

import entmax
import torch
from torch import Tensor

from benchmarks.timing import Comparison, compare
from headgauge import kernels, normalizers

SHAPE = (12, 1024, 1024)
ALPHA = 1.33
FILL = -1e4

Attend = Callable[[Tensor], Tensor]


def run(rounds: int) -> Iterator[Comparison]:
    """The table's rows, one at a time."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(SHAPE, generator=generator)
    gradient = torch.randn(SHAPE, generator=generator)
    mask = torch.ones(SHAPE[-2:], dtype=torch.bool).tril()

    def ours(name: str, **parameters: float) -> Attend:
        rule = normalizers.get(name, **parameters)
        return lambda z: rule(z, mask)

    def theirs(function: Callable[..., Tensor], fill: float = FILL, **options: float) -> Attend:
        return lambda z: function(z.masked_fill(~mask, fill), dim=-1, **options)

    pairs = (
        ("sparsemax", "entmax.sparsemax", theirs(entmax.sparsemax), ours("sparsemax"), 5.0),
        ("1.5-entmax", "entmax.entmax15", theirs(entmax.entmax15), ours("entmax"), 5.0),
        (
            f"{ALPHA}-entmax",
            "entmax.entmax_bisect",
            theirs(entmax.entmax_bisect, alpha=ALPHA),
            ours("entmax", alpha=ALPHA),
            5.0,
        ),
        (
            "softmax",
            "masked_fill + softmax",
            theirs(torch.softmax, fill=-math.inf),
            ours("softmax"),
            1 / 1.5,
        ),
    )
    for what, name, their_rule, our_rule, goal in pairs:
        for backward in (False, True):
            kind = f"{what}, forward + backward" if backward else f"{what}, forward"
            yield compare(
                kind,
                (name, _call(their_rule, logits, gradient, backward)),
                ("headgauge", _call(our_rule, logits, gradient, backward)),
                goal,
                rounds,
            )
    # The harder case for the compiled rows: nearly equal logits, where every key keeps its weight.
    flat = 0.01 * logits
    for what, name, their_rule, our_rule, _ in pairs[:3]:
        yield compare(
            f"{what}, forward, nearly flat rows",
            (name, _call(their_rule, flat, gradient, False)),
            ("headgauge", _call(our_rule, flat, gradient, False)),
            None,
            max(1, rounds // 2),
        )
    # What serves without numba and on other devices: shown for honesty, promised nothing.
    for what, name, their_rule, our_rule, _ in pairs[:3]:
        with kernels.use_compiled(False):
            yield compare(
                f"{what}, forward, without the compiled kernels",
                (name, _call(their_rule, logits, gradient, False)),
                ("headgauge", _call(our_rule, logits, gradient, False)),
                None,
                max(1, rounds // 2),
            )


def _call(rule: Attend, logits: Tensor, gradient: Tensor, backward: bool) -> Callable[[], object]:
    if not backward:
        return lambda: rule(logits)

    def forward_and_backward() -> object:
        z = logits.detach().requires_grad_()
        rule(z).backward(gradient)
        return z.grad

    return forward_and_backward


def setting() -> str:
    """What was measured, for the line above the table."""
    shape = "×".join(map(str, SHAPE))
    return f"{shape} fp32 Gaussian logits, causal boolean mask; masking is counted on both sides"
