"""What the intervals of an outlook stand on: degrees of freedom, and how far they were tested."""

from dataclasses import dataclass
from typing import Any

import polars as pl

# Times the longest length measured. docs/verdicts.md has how often intervals held the truth up to
# here; nobody has looked further.
TESTED_REACH = 4


@dataclass(frozen=True)
class Grounds:
    """Of the intervals at `target`, over heads and measures that have one.

    `lengths` are those a trend was fitted to, fewest and most; K of them leave K − 2 degrees of
    freedom for the law's misfit, and the windows' spread adds to these: `freedom` has the fewest,
    the median and the most after Satterthwaite. Both are None where there is no interval.
    """

    target: int
    longest: int
    lengths: tuple[int, int] | None
    freedom: tuple[float, float, float] | None

    def reach(self) -> float:
        return self.target / self.longest

    def tested(self) -> bool:
        return self.reach() <= TESTED_REACH

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        names = ("least", "median", "most")
        freedom = None if self.freedom is None else dict(zip(names, self.freedom, strict=True))
        return {
            "target": self.target,
            "longest": self.longest,
            "reach": self.reach(),
            "degrees_of_freedom": freedom,
            "tested_reach": TESTED_REACH,
            "tested": self.tested(),
            "notes": self.notes(),
        }

    def notes(self) -> list[str]:
        """In words, for below the table."""
        found = [self._freedom_words()]
        if not self.tested():
            found.append(
                f"never tested: {self.target} tokens are {self.reach():.4g} times the longest "
                "length measured, and intervals were compared with the truth up to "
                f"{TESTED_REACH} times ({TESTED_REACH * self.longest} tokens here)"
            )
        return found

    def _freedom_words(self) -> str:
        if self.lengths is None or self.freedom is None:
            return f"no intervals at {self.target} tokens: they need three lengths or more"
        least, median, most = self.freedom
        fewest = self.lengths[0]
        few = "" if fewest > 3 else ", so that it is wide and unsteady: measure more (--lengths)"
        return (
            f"intervals at {self.target} tokens: {fewest} lengths leave {fewest - 2} degree"
            f"{'s' if fewest > 3 else ''} of freedom for the misfit of the law{few}; with the "
            f"spread of the windows {least:.1f} to {most:.1f}, median {median:.1f}"
        )


def grounds(trends: pl.DataFrame) -> Grounds:
    """Of a table of `capacity.capacity`."""
    target, longest = trends["target"].max(), trends["longest"].max()
    assert isinstance(target, int)
    assert isinstance(longest, int)
    sure = trends.filter(pl.col("freedom").is_not_null())
    if not len(sure):
        return Grounds(target, longest, None, None)
    lengths, freedom = sure["lengths"].to_list(), sure["freedom"]
    spans = [float(each) for each in freedom.to_list()]
    middle = freedom.median()
    assert isinstance(middle, float)
    return Grounds(target, longest, (min(lengths), max(lengths)), (min(spans), middle, max(spans)))
