"""The second paper's mathematics ("Normalization in Attention Dynamics", arXiv 2510.22026).

| module | result |
|---|---|
| `theorems` | bounds of Theorems 3.1, 4.2 and 4.3 |
| `clocks` | how far Peri-LN is ahead of Pre-LN; LN-Scaling's clock |
| `long_context` | one layer at β = γ log n |
"""

from headgauge.theory.dynamics import clocks, long_context, theorems

__all__ = ["clocks", "long_context", "theorems"]
