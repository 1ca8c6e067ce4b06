"""A small model that is reproduced for real, once; what theory says of it; hand-made frames."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
import transformers as hf
from torch import Tensor

from headgauge import paper
from headgauge.measure.requests import spread_rows
from headgauge.paper import Choice, ReproduceSettings, Reproduction
from headgauge.paper.settings import temperatures
from headgauge.runs.paper_schema import (
    PAPER_TABLES,
    ChoiceRow,
    CriticalRow,
    FigureRow,
    SensitivityFigureRow,
)
from headgauge.runs.schema import TABLES, frame_schema
from shape_checks import shapes_unchecked

LENGTHS = (20, 40, 110)
CHOICE = {"vectors": "final", "scale": "unit", "keys": "all"}
SETTINGS = ReproduceSettings(
    lengths=LENGTHS,
    choice=Choice(**CHOICE),
    windows=2,
    threads=1,
    precision="float64",
    far_rows=10,
    drawn_rows=12,
    choice_rows=9,
    choice_far_rows=3,
    rules=("softmax T=2", "sparsemax"),
    draws=20,
    temperatures=temperatures(5),
    sensitivity_rows=7,
    vanishing_rows=6,
    coverage_rows=5,
)


@pytest.fixture(scope="session")
def model() -> Any:
    """Random weights that predict nothing, but attend far from uniformly."""
    torch.manual_seed(0)
    made = hf.GPT2LMHeadModel(
        hf.GPT2Config(
            vocab_size=100, n_embd=32, n_layer=2, n_head=4, n_positions=128, bos_token_id=0,
            eos_token_id=0,
        )
    )  # fmt: skip
    with torch.no_grad():
        for name, weight in made.named_parameters():
            if "c_attn.weight" in name:
                weight.mul_(30)
    return made.eval()


@pytest.fixture(scope="session")
def tokens() -> Tensor:
    return _tokens(1)


@pytest.fixture(scope="session")
def other_tokens() -> Tensor:
    """A second text."""
    return _tokens(2)


def _tokens(seed: int) -> Tensor:
    source = torch.Generator().manual_seed(seed)
    return torch.randint(100, (2, LENGTHS[-1]), generator=source)


@pytest.fixture(scope="session")
def settings() -> ReproduceSettings:
    return SETTINGS


@pytest.fixture(scope="session")
def reproduce(model: Any, tokens: Tensor) -> Callable[..., Reproduction]:
    """A whole run of the small model, on one text and with a choice unless told otherwise."""

    def run(texts: Any = tokens, **more: Any) -> Reproduction:
        with shapes_unchecked():
            given: dict[str, Any] = {"settings": SETTINGS} | more
            return paper.reproduce(model, texts, **given)

    return run


@pytest.fixture(scope="session")
def kept(
    reproduce: Callable[..., Reproduction], tmp_path_factory: pytest.TempPathFactory
) -> Reproduction:
    """The one run that all tests of its numbers look at, in a folder."""
    return reproduce(out=tmp_path_factory.mktemp("kept") / "run")


@dataclass(frozen=True, eq=False)
class Attended:
    """What the model's own eager attention did with the beginning of a window, in float64."""

    weights: Tensor  # (layers, heads, queries, keys)
    final: Tensor  # (keys, dim), of unit length

    def means(
        self, measure: Callable[[Tensor, Tensor], Any], rows: int | None = None
    ) -> np.ndarray:
        """measure(row of weights, vectors) over the rows drawn, per head (layers × heads)."""
        places = spread_rows(0, self.weights.shape[2], self.weights.shape[2], rows)
        with shapes_unchecked():
            return np.array(
                [
                    [
                        np.mean([float(measure(head[place], self.final)) for place in places])
                        for head in layer
                    ]
                    for layer in self.weights
                ]
            )


@pytest.fixture(scope="session")
def attended(model: Any, tokens: Tensor) -> Callable[[int, int], Attended]:
    """attended(window, length)."""

    @cache
    def of(window: int, length: int) -> Attended:
        before = model.config._attn_implementation
        model.set_attn_implementation("eager")
        try:
            with torch.no_grad():
                seen = model(
                    tokens[window : window + 1, :length],
                    output_attentions=True,
                    output_hidden_states=True,
                )
        finally:
            model.set_attn_implementation(before)
        weights = torch.cat(seen.attentions).double()
        x = torch.nn.functional.normalize(seen.hidden_states[-1][0].double(), dim=-1)
        return Attended(weights, x)

    return of


def parquet_bytes(folder: Path) -> dict[str, bytes]:
    """All tables of a folder, its units' included, by their places."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.parquet"))
    }


@pytest.fixture(scope="session", name="parquet_bytes")
def _parquet_bytes() -> Callable[[Path], dict[str, bytes]]:
    return parquet_bytes


# Hand-made frames


def _filled(row: type, values: list[dict[str, Any]], default: dict[str, Any]) -> pl.DataFrame:
    schema = frame_schema(row)
    return pl.DataFrame([dict.fromkeys(schema) | default | each for each in values], schema=schema)


class Frames:
    """Frames of a reproduction in which only what a test is about is set."""

    choice = CHOICE

    def figure(self, along: str, **measures: dict[int, float]) -> pl.DataFrame:
        """FigureRows: measure={place: mean}; `maximum` is the mean too."""
        default = CHOICE | {"rule": "model", "length": 1024, "top_n": 5, "heads": 8, "windows": 2}
        rows = [
            {"measure": measure, along: place, "mean": mean, "maximum": mean, "rows": 64.0}
            for measure, curve in measures.items()
            for place, mean in curve.items()
        ]
        return _filled(FigureRow, rows, default)

    def critical(self, *rows: dict[str, Any]) -> pl.DataFrame:
        default = CHOICE | {
            "rule": "model", "length": 1000, "expected": "printed", "level": 0.01, "tried": 100,
            "heads": 8, "windows": 1, "rows": 64.0,
        }  # fmt: skip
        made = [
            each | ({"share": each["critical_n"] / each.get("length", 1000)}
            if each.get("critical_n") else {})
            for each in rows
        ]  # fmt: skip
        return _filled(CriticalRow, made, default)

    def choices(self, *rows: dict[str, Any]) -> pl.DataFrame:
        return _filled(ChoiceRow, list(rows), CHOICE | {"agrees": 0, "closest": True, "rows": 9.0})

    def sensitivity(
        self, values: dict[tuple[str, float | None], dict[float, float]]
    ) -> pl.DataFrame:
        """SensitivityFigureRows: {(direction, ε): {T: maximum}}, without intervals."""
        rows = [
            {"direction": direction, "epsilon": epsilon, "temperature": t, "maximum": g}
            for (direction, epsilon), curve in values.items()
            for t, g in curve.items()
        ]
        return _filled(SensitivityFigureRow, rows, {"logits": "scaled", "rows": 64})

    def table(self, name: str, *rows: dict[str, Any]) -> pl.DataFrame:
        """A table of a reproduction."""
        return _filled(PAPER_TABLES[name], list(rows), {})

    def left(self, name: str, rows: Any = ()) -> pl.DataFrame:
        """A table that the pass over a window left."""
        return pl.DataFrame(rows, schema=frame_schema(TABLES[name]))

    def curves(self, rows: Any = ()) -> pl.DataFrame:
        return self.left("paper_curves", rows)


@pytest.fixture(scope="session")
def frames() -> Frames:
    return Frames()
