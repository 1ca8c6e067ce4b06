import itertools

import pytest
import torch

from headgauge.errors import InputError
from headgauge.particles.attention import Attention, Weights
from headgauge.particles.layers import stack
from headgauge.particles.schemes import MixLn, PostLn, Scheme
from headgauge.particles.systems import Particles
from particles import reference
from particles.running import numbers, states_at, uniform


def test_with_smaller_steps_the_stack_becomes_the_system(scheme: Scheme, unchecked: None):
    """What is missing halves with h; Mix-LN's switch at 2 is a layer's beginning each time."""
    directions, attention = uniform(1, 4, 5), Attention(numbers(1.5))
    system, state = Particles.of(directions, attention, scheme, 1.3)
    exact = states_at(system, state, [3.0], 1e-9)[0]
    stream = system.radius(exact)[..., None] * system.directions(exact)

    def missing(layers: int) -> float:
        *_, (time, last) = stack(directions, scheme, attention, layers, 3 / layers, 1.3)
        assert time == pytest.approx(3)
        return float((last - stream).norm())

    errors = [missing(layers) for layers in (60, 120, 240)]
    assert errors[-1] < 0.02
    assert [a / b for a, b in itertools.pairwise(errors)] == pytest.approx([2, 2], rel=0.12)


def test_layer_by_layer_it_is_the_tables_step(scheme: Scheme):
    """From unit length, as the table has it; Mix-LN's layers 0 and 1 are Post-LN's."""
    directions, beta = uniform(1, 4, 5), 2.0
    x = directions[0].numpy()
    for layer, (time, stream) in enumerate(stack(directions, scheme, Attention(numbers(beta)), 4)):
        assert time == layer
        assert stream[0].numpy() == pytest.approx(x, rel=1e-12, abs=1e-14)
        theta = x / ((x**2).sum(-1, keepdims=True)) ** 0.5
        # A layer that starts at the switch is behind it.
        now = layer + 1e-9 if layer == 2 and scheme.breaks() else layer
        x = reference.layer(scheme, x, reference.attend(theta, beta), 1.0, now)


def test_each_unit_of_time_has_its_own_matrices():
    directions, weights = uniform(2, 3, 4), Weights("layers", 4)
    attention = Attention(numbers(1, 2), weights)
    streams = [stream for _, stream in stack(directions, PostLn(), attention, 20, 0.1)]
    for layer in (0, 9, 10, 19):
        matrices = weights.at(0.5 if layer < 10 else 1.5)
        output = attention.output(streams[layer], matrices)
        expected = PostLn().step(streams[layer], output, 0.1, 0.1 * layer)
        assert torch.allclose(streams[layer + 1], expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("step", [0.1, 0.07, 0.7, 0.35])
def test_the_switch_is_where_it_is_whatever_the_step(step: float):
    """.7 is a whole number of each step, though not in floating point."""
    layers = round(1.4 / step)
    streams = stack(uniform(1, 3, 4), MixLn(switch=0.7), Attention(numbers(1.0)), layers, step)
    grown = [float(stream.norm(dim=-1).max()) > 1 + 1e-9 for _, stream in streams]
    assert grown.index(True) == round(0.7 / step) + 1


@pytest.mark.parametrize(("layers", "step"), [(-1, 1.0), (3, 0.0), (3, -1.0)])
def test_mistakes(layers: int, step: float):
    with pytest.raises(InputError, match=r"^a stack needs 0 layers or more and a step above 0"):
        list(stack(uniform(1, 3, 4), PostLn(), Attention(numbers(1.0)), layers, step))


def test_nothing_is_made_on_another_device(elsewhere: None):
    with torch.device("cpu"):
        directions, attention = uniform(1, 3, 4), Attention(numbers(1.0))
    streams = stack(directions, MixLn(1.0), attention, 2)
    assert {stream.device.type for _, stream in streams} == {"cpu"}
