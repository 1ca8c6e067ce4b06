"""The one error that means "the caller asked for something impossible"."""


class InputError(ValueError):
    """A user's mistake, told in one line: what was wrong, with its shape or name, and what to do.

    The command line prints the line alone and ends with exit code 2; from Python it is an
    ordinary `ValueError`.
    """
