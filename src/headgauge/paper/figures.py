"""Every figure of one text, from the tables that one pass over each of its windows left.

Figures 2a, 2b and 3 stand here: Algorithms 1, 2 and 4 are means over the heads' curves.
"""

import polars as pl

from headgauge.errors import InputError
from headgauge.paper import assumptions, discussion, fig1_geometry, fig2c_critical, fig4_sensitivity
from headgauge.paper.bands import over_heads
from headgauge.paper.choice_table import choice_table
from headgauge.paper.settings import ReproduceSettings
from headgauge.registry.published import CHOICE_AND_RULE, DISTANCE_N, LARGEST_N

Tables = dict[str, pl.DataFrame]

# Of the expectation also the corrected one, which lies between eq. 24 and the upper side.
DISTANCE = (
    "distance",
    "bound_printed",
    "bound_centroid",
    "bound_lower",
    "bound_upper",
    "expected_printed",
    "expected_appendix",
    "expected_upper",
)
# With Theorem 2's bounds as printed (the upper one is false) and the corrected lower one, which
# counts what is certain: ξ_i ≤ r. A corrected upper bound for the paper's own radius needs the
# unselected vectors to be independent and uniform, which no model's are: `theory` has it, the
# figure does not.
SEPARABILITY = (
    "separability",
    "separability_printed_lower",
    "separability_printed_upper",
    "separability_lower",
)
# Powers of 2 up to the last N of Figure 2b; the paper names none for Figure 3.
SEPARABILITY_NS = (1, 2, 4, 8, 16, 32, 64, 100)


def longest(curves: pl.DataFrame) -> int:
    """The longest L."""
    if curves.is_empty():
        raise InputError(
            "no attention of this model could be measured for the paper's figures: its layers "
            "could not be seen, are not finite, or have no vectors of the chosen kind"
        )
    return int(curves["length"].max())  # pyright: ignore[reportArgumentType]


def figures(tables: Tables, settings: ReproduceSettings, text: str) -> Tables:
    """The frames of `runs.paper_schema` by name, but for the verdicts."""
    curves = tables["paper_curves"]
    at_longest = curves.filter(length=longest(curves))
    critical, growth, tests = fig2c_critical.run(curves, settings.draws)
    choice = settings.chosen
    found = {
        "vanishing": assumptions.vanishing(tables["vanishing"]),
        "fig1": fig1_geometry.run(tables["points"]),
        "fig2a": over_heads(curves.filter(top_n=DISTANCE_N), DISTANCE),
        "fig2b": over_n(at_longest),
        "fig2c": critical,
        "fig2c_growth": growth,
        "fig2c_tests": tests,
        "fig3": over_heads(at_longest.filter(pl.col("top_n").is_in(SEPARABILITY_NS)), SEPARABILITY),
        "fig4": fig4_sensitivity.run(tables["sensitivity"], settings.temperatures),
        "coverage": discussion.coverage(tables["shared_tokens"]),
        "vectors": assumptions.vectors(tables["vector_sets"]),
        "signs": discussion.signs(at_longest.filter(**vars(choice)), tables["heads"]),
        "gains": discussion.gains(at_longest.filter(**vars(choice)), tables["sensitivity"]),
        "choices": choice_table(at_longest, critical, choice),
    }
    return {name: frame.with_columns(text=pl.lit(text)) for name, frame in found.items()}


def over_n(at_longest: pl.DataFrame) -> pl.DataFrame:
    """Figure 2b: every N that was measured in all of a choice's windows, so that the curve between
    the paper's N shows too."""
    windows = pl.col("window").n_unique()
    everywhere = windows.over(*CHOICE_AND_RULE, "top_n") == windows.over(*CHOICE_AND_RULE)
    near = at_longest.filter(pl.col("top_n") <= LARGEST_N)
    return over_heads(near.filter(everywhere), DISTANCE)
