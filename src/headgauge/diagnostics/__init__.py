"""Scan a model's heads over text, and say what is wrong with which."""
