"""The command line: one file per command, which parses, calls and prints."""

from headgauge.cli.app import main

__all__ = ["main"]
