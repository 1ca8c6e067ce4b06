"""The experiments of arXiv 2508.17821 in the paper's order. They compute, they never plot.

    fig1_geometry      the ball B_r(s), on a circle and in real heads
    fig2a_length       Algorithm 1: distance over L
    fig2b_top_n        Algorithm 2: distance over N
    fig2c_critical     Algorithm 3: the critical N
    fig3_separability  Algorithm 4: N_s/N over N
    fig4_sensitivity   Algorithm 5: g(T, ε)

Each has a frozen `Config` and `run(measured, config)`, which returns a frame. What they read comes
from one pass over each window (`settings` says what is measured where), and `reproduce` does it
all:

    from headgauge import experiments

    found = experiments.reproduce("default")          # or a folder, a GGUF file, a hub name
    found.paper["fig2c"]                              # polars
    found.paper["verdicts"]                           # the paper's claims, one by one
"""

from headgauge.experiments.choices import CHOICES, CLOSEST, RULES, Choice
from headgauge.experiments.measured import Measured
from headgauge.experiments.reproducing import make_reproduction, reproduce
from headgauge.experiments.result import Reproduction
from headgauge.experiments.settings import LENGTHS, QUICK_LENGTH, ReproduceSettings, quick

__all__ = [
    "CHOICES",
    "CLOSEST",
    "LENGTHS",
    "QUICK_LENGTH",
    "RULES",
    "Choice",
    "Measured",
    "ReproduceSettings",
    "Reproduction",
    "make_reproduction",
    "quick",
    "reproduce",
]
