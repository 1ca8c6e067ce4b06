import math

import pytest
import torch

from headgauge.particles import schemes
from headgauge.runs.dynamics_schema import RateRow, SphereRow
from headgauge.runs.schema import frame_schema
from headgauge.simulation.rows import rate_rows, sphere_rows

CHOSEN = [schemes.get("post_ln"), schemes.get("pre_ln")]
TIMES = torch.tensor([0.0, 1.0, 30.0], dtype=torch.float64)


def test_all_start_together_on_the_sphere_and_move():
    rows = sphere_rows(CHOSEN, 7, 1.0, TIMES, seed=2, radius=2.0)
    assert len(rows) == 2 * 3 * 7
    assert all(row.keys() == frame_schema(SphereRow).keys() for row in rows)
    for row in rows:
        assert row["x"] ** 2 + row["y"] ** 2 + row["z"] ** 2 == pytest.approx(1, abs=1e-12)
    first = [[row["x"] for row in rows if (row["scheme"], row["time"]) == (name, 0.0)] for name in
             ("post_ln", "pre_ln")]  # fmt: skip
    assert first[0] == first[1]
    last = [row for row in rows if row["time"] == 30.0 and row["scheme"] == "post_ln"]
    assert max(row["x"] for row in last) - min(row["x"] for row in last) < 1e-6
    assert {row["radius"] for row in last} == {2.0}
    assert min(r["radius"] for r in rows if r["scheme"] == "pre_ln" and r["time"] == 30.0) > 10


@pytest.mark.usefixtures("unchecked")
def test_what_has_not_set_off_has_no_final_rate():
    rows = rate_rows([schemes.get("pre_ln")], 4, 25.0)
    assert [row["quantity"] for row in rows] == ["initial velocity"]


@pytest.mark.usefixtures("unchecked")
def test_rows_have_theory_beside_the_measured():
    rows = rate_rows(CHOSEN, 6, 1.0, 2.0)
    found = [RateRow(**row) for row in rows]
    assert [(row.scheme, row.quantity) for row in found] == [
        ("post_ln", "initial velocity"),
        ("post_ln", "final rate"),
        ("pre_ln", "initial velocity"),
        ("pre_ln", "final rate"),
    ]
    for row in found:
        assert row.reduced == pytest.approx(row.theory, rel=1e-3)
        assert row.particles == pytest.approx(row.theory, rel=1e-3)
    assert found[2].theory == pytest.approx(2 / (2.0 * (math.e + 5)))
    assert [row.against for row in found] == ["t", "t", "t", "log t"]
    assert found[3].law == "1 − γ ~ C/t²"
