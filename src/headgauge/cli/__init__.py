"""The command line: one file per command, which parses, calls and prints.

`process` is what the entry point begins with, `app` puts the commands together.
"""
