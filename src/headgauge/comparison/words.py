"""How differences are written."""


def signed(value: float | None, error: float | None = None) -> str:
    """A difference with its sign, and its standard error; a dash where there is none."""
    if value is None:
        return "–"
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{_short(value)}" + ("" if error is None else f" ± {_short(error, 2)}")


def _short(value: float, digits: int = 3) -> str:
    """A number of any size without its sign."""
    size = abs(value)
    return f"{size:.0f}" if size >= 10**digits else f"{size:.{digits}g}"
