"""The papers' results as plain, readable functions: the reference for everything faster.

`normalization` has "Limitations of Normalization in Attention Mechanism" (arXiv 2508.17821),
`dynamics` "Normalization in Attention Dynamics" (arXiv 2510.22026); `roles` what a head does.
"""

from headgauge.theory import dynamics, normalization, roles

__all__ = ["dynamics", "normalization", "roles"]
