"""What turns an interval into a word, fixed before a run.

A measure is judged by the area under the ROC curve for "effect below the layer's median". A verdict
or role is judged by how often a head that has it has a smaller effect than another of its layer:
the area of a 0 or 1 that names few heads is near .5 whatever these heads are like. Both are .5
where nothing is told, and the adjusted interval decides, on every part that judges.
"""

from collections.abc import Sequence

LEVEL = 0.95
# An area of .7 is the least that is commonly called of use. Closer to .5 no limit could be met: of
# 270 heads the interval that allows for all comparisons is some .15 wide on either side.
USEFUL = 0.7
SURE = 2.0  # standard errors over windows, from which on a head's effect counts as seen
DRAWS = 1000  # of random heads, as a control

LESS, MORE = "less effect", "more effect"
LITTLE, UNDECIDED = "little or nothing", "undecided"
WORDS = {
    LESS: "the higher the number, or where the verdict holds, the smaller the effect",
    MORE: "the higher the number, or where the verdict holds, the larger the effect",
    LITTLE: f"the interval reaches over .5 and stays between {1 - USEFUL:.1f} and {USEFUL:.1f}",
    UNDECIDED: "the interval allows for both, or the parts disagree",
}


def decide(intervals: Sequence[tuple[float | None, float | None]]) -> str:
    """What the intervals of all judging parts say together."""
    known = [(low, high) for low, high in intervals if low is not None and high is not None]
    if not known or len(known) < len(intervals):
        return UNDECIDED
    if all(low > 0.5 for low, _ in known):
        return LESS
    if all(high < 0.5 for _, high in known):
        return MORE
    if all(1 - USEFUL <= low <= 0.5 <= high <= USEFUL for low, high in known):
        return LITTLE
    return UNDECIDED
