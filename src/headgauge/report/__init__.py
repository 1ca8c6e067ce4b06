"""Figures and tables; it draws, never computes."""
