"""Timings, side by side with what they replace: `python -m benchmarks` from the repository root."""
