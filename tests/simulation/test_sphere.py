import pytest
import torch

from headgauge.particles import schemes
from headgauge.runs.dynamics_schema import SphereRow
from headgauge.runs.schema import frame_schema
from headgauge.simulation.sphere import sphere_rows

TIMES = torch.tensor([0.0, 1.0, 30.0], dtype=torch.float64)


def test_all_start_together_on_the_sphere_and_move():
    chosen = [schemes.get("post_ln"), schemes.get("pre_ln")]
    rows = sphere_rows(chosen, 7, 1.0, TIMES, seed=2, radius=2.0)
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
