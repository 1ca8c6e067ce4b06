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

    `fewest` is to how few lengths a trend was fitted; K of them leave K − 2 degrees of freedom for
    the law's misfit, and the windows' spread adds to these: `freedom` has the least, the median and
    the most after Satterthwaite. Both are None where there is no interval.
    """

    target: int
    longest: int
    fewest: int | None = None
    freedom: dict[str, float] | None = None

    def reach(self) -> float:
        return self.target / self.longest

    def tested(self) -> bool:
        return self.reach() <= TESTED_REACH

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "target": self.target,
            "longest": self.longest,
            "reach": self.reach(),
            "degrees_of_freedom": self.freedom,
            "tested_reach": TESTED_REACH,
            "tested": self.tested(),
            "notes": self.notes(),
        }

    def notes(self) -> list[str]:
        """In words, for below the table."""
        if self.fewest is None or self.freedom is None:
            found = [f"no intervals at {self.target} tokens: they need three lengths or more"]
        else:
            few = ", so that it is wide and unsteady: measure more (--lengths)"
            found = [
                f"intervals at {self.target} tokens: {self.fewest} lengths leave {self.fewest - 2} "
                f"degree{'s' * (self.fewest > 3)} of freedom for the misfit of the law"
                f"{few * (self.fewest <= 3)}; with the spread of the windows "
                "{least:.1f} to {most:.1f}, median {median:.1f}".format(**self.freedom)
            ]
        if not self.tested():
            found.append(
                f"never tested: {self.target} tokens are {self.reach():.4g} times the longest "
                "length measured, and intervals were compared with the truth up to "
                f"{TESTED_REACH} times ({TESTED_REACH * self.longest} tokens here)"
            )
        return found


def grounds(trends: pl.DataFrame) -> Grounds:
    """Of a table of `capacity.capacity`."""
    target, longest = trends.select(pl.max("target", "longest")).row(0)
    sure = trends.drop_nulls("freedom")
    if sure.is_empty():
        return Grounds(target, longest)
    each = pl.col("freedom")
    freedom = sure.select(least=each.min(), median=each.median(), most=each.max())
    fewest = sure.select(pl.min("lengths")).item()
    return Grounds(target, longest, fewest, freedom.row(0, named=True))
