"""Lists on the command line: 1,2,4 and 0,4-7 and value,hidden."""

from headgauge.errors import InputError

_LARGEST = 1_000_000


def numbers(option: str, given: str, least: int = 0) -> tuple[int, ...]:
    """Whole numbers and ranges, in order and once each."""
    found: set[int] = set()
    for part in given.split(","):
        first, dash, last = part.strip().partition("-")
        try:
            start = int(first)
            stop = int(last) if dash else start
        except ValueError:
            raise InputError(
                f"{option} wants numbers and ranges such as 1,2,8-16, got {given!r}"
            ) from None
        if start < least or stop < start:
            raise InputError(f"{option} wants numbers of {least} or more, got {part.strip()!r}")
        if stop > _LARGEST:  # before a range of a trillion is written out
            raise InputError(f"{option} wants numbers up to {_LARGEST}, got {part.strip()!r}")
        found.update(range(start, stop + 1))
    return tuple(sorted(found))


def names(given: str) -> tuple[str, ...]:
    """Names, in the order given and once each."""
    return tuple(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
