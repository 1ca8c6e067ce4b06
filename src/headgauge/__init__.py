"""headgauge: how selective are the attention heads of a transformer, and what limits them?"""

__version__ = "0.1.0"
