"""Figure 4 under other rules, against the rule itself on the model's own logits."""

import numpy as np
import polars as pl
import pytest
import torch

from headgauge import models
from headgauge.measure.requests import spread_rows
from headgauge.paper.choices import rule
from headgauge.paper.fig4_rules import Config

LENGTH = 110
NAME = "random under sparsemax"  # of the run's two other rules the one that is no softmax


@pytest.fixture(scope="module")
def table(kept) -> pl.DataFrame:
    return pl.read_parquet(kept.scan.folder / "sensitivity.parquet").filter(direction=NAME)


def test_only_rules_that_are_no_softmax_and_were_asked_for(kept, table):
    assert Config().rules == ("ssmax", "sparsemax", "1.5-entmax")
    told = pl.read_parquet(kept.scan.folder / "sensitivity.parquet")["direction"].unique()
    assert [name for name in told if " under " in name] == [NAME]
    assert len(table) == 8 * len(Config().temperatures) * len(Config().epsilons)
    assert set(table["rows"]) == {Config().rows}
    assert set(table["logits"]) == {"scaled"}


def test_the_numbers_are_the_rules_own(table, model, tokens, unchecked):
    sparsemax = rule("sparsemax")
    places = spread_rows(0, LENGTH, LENGTH, Config().rows)
    seen = 0

    def observer(call: models.ObservedCall) -> None:
        nonlocal seen
        for head in range(call.heads):
            draw = np.random.default_rng((0, 0, LENGTH, call.layer, 0, head))
            normal = torch.from_numpy(draw.standard_normal((len(places), LENGTH)))
            block = call.block(0, head, 0, LENGTH)
            for temperature, epsilon in ((0.1, 1e-3), (1.0, 10.0)):
                g = []
                for at, place in enumerate(places):
                    keys = block.visible[place]
                    z = block.logits[place][keys].double()
                    v = normal[at][keys] / normal[at][keys].norm()
                    before, after = sparsemax(torch.stack([z, z + epsilon * v]) / temperature)
                    g.append(float((after - before).norm()) / epsilon)
                found = table.filter(
                    layer=call.layer, head=head, temperature=temperature, epsilon=epsilon
                )
                assert found["sensitivity"].item() == pytest.approx(np.mean(g), rel=1e-6)
                seen += 1

    with torch.no_grad(), models.intercept(model, observer):
        model(tokens[:1])
    assert seen == 16


def test_sparsemax_moves_by_no_more_than_one_over_t(table):
    assert (table["sensitivity"] <= 1 / table["temperature"] + 1e-9).all()
    assert (table["sensitivity"] > 0).any()


def test_the_figure_has_them(kept):
    drawn = kept.paper["fig4"].filter(direction=NAME)
    assert len(drawn) == len(Config().temperatures) * len(Config().epsilons)
    assert set(drawn["rows"]) == {Config().rows}
