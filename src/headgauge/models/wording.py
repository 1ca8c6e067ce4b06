"""What transformers and model files say, made fit for one line of ours."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

# C0, DEL and C1: a terminal would obey them.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_LONGEST = 300


def plain(text: str) -> str:
    """Text from a file without the characters that steer a terminal."""
    return _CONTROL.sub(" ", text).strip()


def brief(error: BaseException) -> str:
    """An error in one line: its first, and its second where the first only announces it."""
    lines = [found for line in str(error).splitlines() if (found := plain(line))]
    if not lines:
        return repr(error)
    said = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"


@contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' own progress bars and advice, and put back as it was."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
