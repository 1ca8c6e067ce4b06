"""The papers' results as plain, readable functions: the reference for everything faster.

`normalization` has "Limitations of Normalization in Attention Mechanism" (arXiv 2508.17821),
`dynamics` "Normalization in Attention Dynamics" (arXiv 2510.22026).
"""

from headgauge.theory import dynamics, normalization

__all__ = ["dynamics", "normalization"]
