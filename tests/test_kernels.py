"""The compiled kernels: the cache, threads, switches, and life without them."""

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest
import torch

from headgauge import kernels, normalizers


def test_the_switch() -> None:
    tensor = torch.zeros(3)
    assert kernels.serves(tensor)
    with kernels.use_compiled(False):
        assert not kernels.serves(tensor)
    assert kernels.serves(tensor)


@pytest.fixture
def no_numba(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package can be imported anew, and finds no numba; what was imported comes back."""

    def taken() -> dict[str, ModuleType]:
        ours = [name for name in sys.modules if name.split(".")[0] == "headgauge"]
        return {name: sys.modules.pop(name) for name in ours}

    before = taken()
    monkeypatch.setitem(sys.modules, "numba", None)
    yield
    taken()
    sys.modules.update(before)


@pytest.mark.usefixtures("no_numba", "unchecked")
def test_everything_works_where_numba_is_missing() -> None:
    engine, rules = map(importlib.import_module, ("headgauge.engine", "headgauge.normalizers"))
    assert not sys.modules["headgauge.kernels"].serves(torch.zeros(3))
    z = torch.tensor([-2.0, 0.0, 0.5], requires_grad=True)
    weights = rules.get("sparsemax")(z)
    weights[1].backward()
    assert weights.tolist() == [0.0, 0.25, 0.75]
    assert z.grad is not None
    assert z.grad.tolist() == [0.0, 0.5, -0.5]
    found = engine.curves(weights.detach()[None], engine.Geometry.of(torch.eye(3)), [1])
    assert found.separability.tolist() == [[1.0]]


def test_rows_split_over_threads_are_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = torch.randn(2, 67, 131, dtype=torch.float64)
    mask = torch.rand(67, 131) > 0.3
    gradient = torch.randn_like(logits)
    alpha = torch.linspace(1, 2, 67, dtype=torch.float64).requires_grad_()
    rule = normalizers.get("entmax", alpha=alpha)

    def results() -> list[torch.Tensor]:
        z = logits.clone().requires_grad_()
        weights = rule(z, mask)
        return [weights.detach(), *torch.autograd.grad(weights, (z, alpha), gradient)]

    inline = results()
    monkeypatch.setattr(kernels, "_SMALL", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    for one, other in zip(inline, results(), strict=True):
        assert torch.equal(one, other)


def test_concurrent_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_SMALL", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    rule = normalizers.get("entmax")
    logits = torch.randn(8, 50, 60)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(rule, logits))
    for row, weights in zip(logits, together, strict=True):
        assert torch.equal(weights, rule(row))


TWICE = """
from headgauge.kernels import compiled
from constant import FACTOR

@compiled
def times(x):
    return FACTOR * x
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one kernel, which has a constant of another file compiled into it."""
    monkeypatch.setattr(kernels, "_PACKAGE", tmp_path / "package")
    monkeypatch.setattr(kernels, "cache_folder", kernels.cache_folder.__wrapped__)
    monkeypatch.setattr(kernels._config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(str(tmp_path / "package" / "engine"))
    folder = tmp_path / "package" / "engine"
    folder.mkdir(parents=True)
    (folder / "rows.py").write_text(TWICE)
    (folder / "constant.py").write_text("FACTOR = 2")
    return folder


def fresh(folder: Path) -> ModuleType:
    """The package's kernel as another process finds it."""
    sys.modules.pop("constant", None)
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    spec = importlib.util.spec_from_file_location("rows", folder / "rows.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_second_process_compiles_nothing_and_one_after_an_edit_everything(sources: Path) -> None:
    first, second = fresh(sources), fresh(sources)
    assert (first.times(3.0), second.times(3.0)) == (6.0, 6.0)
    assert not first.times.stats.cache_hits
    assert second.times.stats.cache_hits
    (sources / "constant.py").write_text("FACTOR = 5")  # rows.py itself is as it was
    edited = fresh(sources)
    assert edited.times(3.0) == 15.0
    assert not edited.times.stats.cache_hits
    kept = list((sources.parent / "__pycache__").iterdir())
    assert len(kept) == 1  # what was compiled from other sources is gone


def test_read_only_installations_are_cached_in_the_users_folder(sources: Path) -> None:
    (sources.parent / "__pycache__").write_text("no folder can be made here")
    assert fresh(sources).times(3.0) == 6.0
    again = fresh(sources)
    assert again.times(3.0) == 6.0
    assert again.times.stats.cache_hits
    home = sources.parent.parent / "home"
    assert list(home.rglob("*.nbi"))
    shutil.rmtree(home)
    home.write_text("nor here")
    assert fresh(sources).times(3.0) == 6.0
