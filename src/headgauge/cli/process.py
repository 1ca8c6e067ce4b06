"""The command as a process: a signal ends it in one line, a stream that nobody reads does no harm.

Only what Python brings is imported here: from the first millisecond on, Ctrl-C is heard.
"""

import contextlib
import errno
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from pathlib import Path

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 10.0  # seconds in which a command that was asked to end may put away what it has
_folder: "Path | None" = None
_asked: int | None = None  # the signal that asked it to end
_said = False


class Ended(BaseException):
    """A signal asked the command to end. No `KeyboardInterrupt`: libraries have ways with those."""


class OutputError(Exception):
    """stdout takes no more, or its reader has enough. No `OSError`, for the same reason."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write to stdout: {error.strerror}")
        self.enough = error.errno in (errno.EPIPE, errno.EINVAL)  # Windows has the second


def works_in(folder: "Path") -> None:
    """Name the folder in which the same command would go on."""
    global _folder
    _folder = folder


def main(run: Callable[[], int]) -> NoReturn:
    """Run a command whose exit code becomes the process's."""
    code = 0
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup and the like stay what they are
            signal.signal(number, _end)
    try:
        _open_streams()
        code = run()
        sys.stdout.flush()
    except OutputError as error:
        code = 0 if error.enough else 2
        if code:
            print(f"headgauge: {error}", file=sys.stderr)
    except BaseException:
        if _asked is None:
            raise
        # Whatever came out of it: an import that was interrupted may say it in its own way.
    if _asked is not None:
        _leave()  # putting away libraries takes seconds, and an interrupt in there would be noise
    for number in _SIGNALS:  # all is said; Python's own end has no handler
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_DFL)
    sys.exit(code)


def _end(number: int, _frame: object) -> None:
    global _asked
    if _asked is not None:
        _leave()
    _asked = number
    # Threads and finalisers that fall over the same exception have nothing to add, nor have the
    # warnings of libraries whose work is broken off.
    sys.unraisablehook = threading.excepthook = lambda _: None
    warnings.simplefilter("ignore")
    patience = threading.Timer(_PATIENCE, _leave)
    patience.daemon = True
    patience.start()
    raise Ended


def _leave() -> NoReturn:
    """At once, whatever else is going on; the first to leave says why."""
    global _said
    assert _asked is not None
    said, _said = _said, True
    what = "interrupted" if _asked == signal.SIGINT else "ended by SIGTERM"
    how = "start again" if _folder is None or not _folder.exists() else f"go on in {_folder}"
    line = printable(f"headgauge: {what}; repeat the command to {how}") + "\n"
    cursor = "\x1b[?25h" if os.isatty(2) else ""  # a bar that was broken off had hidden it
    with contextlib.suppress(OSError):
        os.write(2, b"" if said else (cursor + line).encode(errors="backslashreplace"))
    os._exit(128 + _asked)


def printable(text: str) -> str:
    """Without control characters, which a terminal would obey, and bytes that are no letters:
    names come from foreign files."""
    return text.translate(_FOREIGN)


_FOREIGN = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}
_FOREIGN |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


class _Stream(io.TextIOWrapper):
    """A standard stream that shows what its terminal can show.

    Where it cannot be written to, stdout says so in one way; stderr has only notes to lose.
    """

    def write(self, text: str, /) -> int:
        return self._try(super().write, text) or 0

    def flush(self) -> None:
        self._try(super().flush)

    def _try(self, call: Callable[..., Any], *given: str) -> Any:
        try:
            return call(*given)
        except OSError as error:
            # What is left of it must not trouble Python when it closes the stream.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if self is sys.stdout:
                raise OutputError(error) from None


def _open_streams() -> None:
    for number in (0, 2):  # a file of ours must not become what others take for a stream
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        print("headgauge: stdout is closed: give the result a place to go", file=sys.stderr)
        sys.exit(2)
    sys.stdout = _stream(sys.stdout, "replace")
    sys.stderr = _stream(sys.stderr, "backslashreplace")


def _stream(given: Any, errors: str) -> Any:
    if not isinstance(given, io.TextIOWrapper):
        return given
    lines, through, encoding = given.line_buffering, given.write_through, given.encoding
    return _Stream(given.detach(), encoding, errors, line_buffering=lines, write_through=through)
