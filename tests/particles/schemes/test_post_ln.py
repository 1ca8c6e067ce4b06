import torch

from headgauge.particles.schemes import PostLn


def test_neither_time_nor_length_nor_attention_matter():
    many = torch.logspace(-3, 3, 7, dtype=torch.float64)
    assert torch.equal(PostLn().speed_factor(many, many, many), torch.ones_like(many))
    assert not PostLn().grows(many).any()
