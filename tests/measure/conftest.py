"""Small models and their tokens, as for whole scans."""

from scanning.conftest import LENGTH, build, ids, llama

__all__ = ["LENGTH", "build", "ids", "llama"]
