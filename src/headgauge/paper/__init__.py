"""The experiments of arXiv 2508.17821 in the paper's order. They compute, they never plot.

    assumptions        Lemma 1 and Corollary 1: the largest weight over L; Assumptions 1 and 2: how
                       isotropic the vectors are, and how far apart
    fig1_geometry      the ball B_r(s), on a circle and in real heads
    figures            Algorithms 1, 2 and 4: distance over L and N, N_s/N over N; and all of these
    fig2c_critical     Algorithm 3: the critical N
    fig4_sensitivity   Algorithm 5: g(T, ε)
    discussion         what several heads separate together; Guidelines 2 and 3: what goes with a
                       head's separability, what rules change

What they read comes from one pass over each window (`settings` says what is measured where).
`verdicts` judges, by the limits in `limits`, text by text and over all texts, and `reproduce` does
it all:

    from headgauge import paper

    found = paper.reproduce("default")          # or a folder, a GGUF file, a hub name
    found.paper["fig2c"]                              # polars
    found.paper["readings"]                           # the paper's claims, text by text
    found.paper["verdicts"]                           # and over all texts
"""

from headgauge.paper.choices import CHOICES, RULES, Choice
from headgauge.paper.estimating import estimate_reproduction
from headgauge.paper.reproducing import make_reproduction, reproduce
from headgauge.paper.result import Reproduction
from headgauge.paper.settings import ReproduceSettings, halves, quick, reproduce_settings

__all__ = [
    "CHOICES",
    "RULES",
    "Choice",
    "ReproduceSettings",
    "Reproduction",
    "estimate_reproduction",
    "halves",
    "make_reproduction",
    "quick",
    "reproduce",
    "reproduce_settings",
]
