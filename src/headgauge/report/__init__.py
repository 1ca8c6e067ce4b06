"""Figures and tables of results; it draws, never computes."""
