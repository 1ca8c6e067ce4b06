"""The second paper's mathematics ("Normalization in Attention Dynamics", arXiv 2510.22026).

| module | result |
|---|---|
| `schemes` | the six: speed factor, radial equation, residual step, how they start and end |
| `theorems` | bounds of Theorems 3.1, 4.2 and 4.3 |
| `clocks` | how far Peri-LN is ahead of Pre-LN; LN-Scaling's clock |
| `long_context` | one layer at β = γ log n |
| `observables` | what is looked at in a swarm, from the gaps of its pairs |
"""

from headgauge.theory.dynamics import clocks, long_context, observables, schemes, theorems

__all__ = ["clocks", "long_context", "observables", "schemes", "theorems"]
