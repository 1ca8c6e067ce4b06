"""The papers' results as plain, readable functions: the reference for everything faster.

`normalization` has "Limitations of Normalization in Attention Mechanism" (arXiv 2508.17821),
`dynamics` "Normalization in Attention Dynamics" (arXiv 2510.22026). Of no paper: `roles`, what a
head does, and `statistics`, how a number of a head is held against what the head is worth.
"""

from headgauge.theory import dynamics, normalization, roles, statistics

__all__ = ["dynamics", "normalization", "roles", "statistics"]
