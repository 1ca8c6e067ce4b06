"""The discrete system: what a stack of layers does, residual step by residual step."""

from collections.abc import Iterator

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from headgauge.errors import InputError
from headgauge.particles.attention import Attention
from headgauge.particles.schemes import Scheme


def stack(
    directions: Float[Tensor, "batch n d"],
    scheme: Scheme,
    attention: Attention,
    layers: int,
    step: float = 1.0,
    radius: float = 1.0,
) -> Iterator[tuple[float, Float[Tensor, "batch n d"]]]:
    """The stream x before the first layer and after each, with the time it stands for.

    A layer is one residual step of size `step` and lasts as long: with step → 0 and as many more
    layers the stack is the continuous system.
    """
    if layers < 0 or not step > 0:
        raise InputError(f"a stack needs 0 layers or more and a step above 0: {layers}, {step:g}")
    stream = radius * normalize(directions, dim=-1)
    yield 0.0, stream
    for layer in range(layers):
        time = layer * step
        # A layer belongs to the stretch of time it starts in, a break included.
        matrices = attention.matrices(time + 1e-9 * step)
        output = attention.output(normalize(stream, dim=-1), matrices)
        # One that starts at a break is behind it.
        near = any(abs(time - each) <= 1e-9 * step for each in scheme.breaks())
        stream = scheme.step(stream, output, step, time + 1e-6 * step * near)
        yield time + step, stream
