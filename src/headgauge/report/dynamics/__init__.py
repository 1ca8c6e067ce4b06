"""Tokens as particles: a simulation's figures, a model's layers beside it, and a moving picture."""
