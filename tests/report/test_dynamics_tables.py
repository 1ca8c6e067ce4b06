import polars as pl
import pytest
from rich.console import Console

from headgauge.report import dynamics_tables
from headgauge.runs.dynamics_schema import CollapseRow, RateRow, SwarmRow
from headgauge.runs.schema import frame_schema


def printed(table, width=80) -> str:
    console = Console(width=width, record=True)
    console.print(table)
    return console.export_text()


@pytest.fixture
def rates() -> pl.DataFrame:
    rows = [
        ("peri_ln", "initial velocity", "2/(r₀√(e^{2β} + n − 1))", "t", 0.0134731, 0.0134731, 0.01),
        ("peri_ln", "final rate", "1 − γ ~ C/t²", "log t", -2.0, -2.00133, None),
        ("ln_scaling", "final rate", "1 − γ ~ e^{−4√(t+1)}", "√(t+1)", -4.0, -4.0, -4.0),
    ]
    return pl.DataFrame(rows, schema=frame_schema(RateRow), orient="row")


def test_velocities_and_slopes_stand_apart(rates):
    first = printed(dynamics_tables.velocity_table(rates, 12, 5.0))
    assert "12 orthogonal tokens, β = 5" in first
    assert "Peri-LN  2/(r₀√(e^{2β} + n − 1))  0.013473  0.013473       0.01" in first
    assert "LN-Scaling" not in first
    second = printed(dynamics_tables.final_table(rates))
    assert "C/t²" in second
    assert "-2.0013          –" in second
    assert "LN-Scaling  1 − γ ~ e^{−4√(t+1)}  √(t+1)      -4       -4         -4" in second


@pytest.mark.parametrize("width", [60, 40])
def test_a_narrow_terminal_cuts_no_number_and_no_law(rates, width):
    text = printed(dynamics_tables.velocity_table(rates, 12, 5.0), width)
    assert "…" not in text
    assert "2/(r₀√(e^{2β} + n − 1))" in text
    assert text.count("0.013473") == 2
    text = printed(dynamics_tables.final_table(rates), width)
    for expected in ("-2.0013", "1 − γ ~ e^{−4√(t+1)}", "√(t+1)", "particles"):
        assert expected in text


def test_collapse_stands_beside_the_end_of_the_swarm():
    end = {name: 0.25 for name, kind in frame_schema(SwarmRow).items() if kind == pl.Float64}
    named = {"weights": "random", "rule": "softmax", "tokens": 4, "dim": 4, "heads": 1}
    named |= {"causal": False, "seeds": 20}
    swarms = [
        end | named | {"scheme": name, "time": t, "mean_cosine": 0.18765 + 0.08 * t}
        for name in ("post_ln", "ngpt")
        for t in (0.0, 10.0)
    ]
    frame = pl.DataFrame(swarms, schema=frame_schema(SwarmRow))
    collapse = pl.DataFrame(
        [
            ("random", "post_ln", 20, 0.65, 7.123, 5.0, None),
            ("random", "ngpt", 20, 0.0, None, None, None),
        ],
        schema=frame_schema(CollapseRow),
        orient="row",
    )
    text = printed(dynamics_tables.collapse_table(collapse, frame))
    assert "t = 10" in text
    assert "random   Post-LN   13 of 20      7.12  0.9877       0.2    0.25  0.250" in text
    assert "random   nGPT       0 of 20         –" in text
    narrow = printed(dynamics_tables.collapse_table(collapse, frame), 40)
    for expected in ("13 of 20", "7.12", "0.9877", "0.25", "0.250", "clusters", "‖A‖"):
        assert expected in narrow
    assert "…" not in narrow
