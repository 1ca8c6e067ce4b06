"""What is compiled is kept and read again, and nothing that lies in the cache does harm."""

import ast
import importlib.util
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.errors import TypingError

from headgauge import kernel_cache

TIMES = """
from headgauge.kernels import compiled
from constant import FACTOR

@compiled
def _once(x):
    return FACTOR * x

@compiled
def times(x, out, start, stop):
    for i in range(start, stop):
        out[i] = _once(x)
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a kernel, which has a constant of another file compiled into it."""
    monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(kernel_cache, "folder", kernel_cache.folder.__wrapped__)
    monkeypatch.setattr(kernel_cache.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.syspath_prepend(str(tmp_path / "package" / "engine"))
    folder = tmp_path / "package" / "engine"
    folder.mkdir(parents=True)
    (folder / "rows.py").write_text(TIMES)
    (folder / "constant.py").write_text("FACTOR = 2")
    return folder


def fresh(folder: Path) -> ModuleType:
    """The package's kernels as another process finds them."""
    sys.modules.pop("constant", None)
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    spec = importlib.util.spec_from_file_location("rows", folder / "rows.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def times(module: ModuleType, x: float = 3.0) -> float:
    out = np.zeros(1)
    module.times(x, out, 0, 1)
    return float(out[0])


def compiled(module: ModuleType) -> int:
    """How many kernels this process has compiled."""
    kernels = module.times, module._once
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)


def test_a_second_process_compiles_nothing_and_one_after_an_edit_everything(sources: Path) -> None:
    first, second = fresh(sources), fresh(sources)
    assert (times(first), times(second)) == (6.0, 6.0)
    assert (compiled(first), compiled(second)) == (2, 0)
    (sources / "constant.py").write_text("FACTOR = 5")  # rows.py itself is as it was
    edited = fresh(sources)
    assert (times(edited), compiled(edited)) == (15.0, 2)
    kept = list((sources.parent / "__pycache__").iterdir())
    assert len(kept) == 1  # what was compiled from other sources is gone


def test_one_that_fails_to_compile_keeps_nobody_waiting(
    sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TypingError):
        fresh(sources).times("no number", np.zeros(1), 0, 1)
    locks = list((sources.parent / "__pycache__").rglob("*.lock"))
    assert locks
    monkeypatch.setattr(kernel_cache, "_PATIENCE", 0.0)
    held = [kernel_cache._lock(str(path)) for path in locks]
    assert None not in held
    for each in held:
        kernel_cache._unlock(each)


def test_of_two_compilers_neither_takes_away_what_the_other_made(sources: Path) -> None:
    found = []
    for checked in (0, 1, 0, 1):
        with pytest.MonkeyPatch.context() as other:
            other.setattr(kernel_cache.config, "BOUNDSCHECK", checked)
            module = fresh(sources)
            assert times(module) == 6.0
            found.append(compiled(module))
    assert found == [2, 2, 0, 0]


def test_whatever_is_compiled_into_a_kernel_is_among_its_sources() -> None:
    """Functions and constants of other files too: a change there must not find the old kernel."""
    whole = kernel_cache.PACKAGE
    told = {path for pattern in kernel_cache._SOURCES for path in whole.glob(pattern)}
    met = 0
    for path in sorted(told):
        found = importlib.import_module(
            ".".join(("headgauge", *path.relative_to(whole).with_suffix("").parts))
        )
        named: set[str] = set()
        for value in vars(found).values():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == found.__name__:
                named.update(value.py_func.__code__.co_names)
        imports = [
            each
            for each in ast.parse(path.read_text("utf-8")).body
            if isinstance(each, ast.ImportFrom)
        ]
        for each in imports:
            module = each.module or ""
            if module.startswith("headgauge.") and named & {alias.name for alias in each.names}:
                other = whole.joinpath(*module.split(".")[1:]).with_suffix(".py")
                assert other in told, f"{path.name} compiles what stands in {module}"
                met += 1
    assert met > 10


def test_read_only_installations_are_cached_in_the_users_folder(sources: Path) -> None:
    (sources.parent / "__pycache__").write_text("no folder can be made here")
    assert times(fresh(sources)) == 6.0
    again = fresh(sources)
    assert (times(again), compiled(again)) == (6.0, 0)
    home = sources.parent.parent / "home"
    assert list(home.rglob("*.nbi"))
    shutil.rmtree(home)
    home.write_text("nor here")
    assert times(fresh(sources)) == 6.0


def _change(path: Path, to: Callable[[bytes], bytes]) -> None:
    path.write_bytes(to(path.read_bytes()))


def _flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


HARM: dict[str, tuple[str, Callable[[Path], object]]] = {
    "half of the code": ("nbc", lambda path: _change(path, lambda data: data[: len(data) // 2])),
    "a wrong bit in the code": ("nbc", lambda path: _change(path, _flip)),
    "no code": ("nbc", Path.unlink),
    "an empty file": ("nbc", lambda path: path.write_bytes(b"")),
    "half of the index": ("nbi", lambda path: _change(path, lambda data: data[:30])),
    "garbage for an index": ("nbi", lambda path: path.write_bytes(b"\x80garbage")),
    "a folder for an index": ("nbi", lambda path: (path.unlink(), path.mkdir())),
    "another's code": ("nbc", lambda path: shutil.copy(next(path.parent.glob("*_once*c")), path)),
}


@pytest.mark.parametrize("what", HARM)
def test_a_damaged_cache_is_compiled_anew(sources: Path, what: str) -> None:
    times(fresh(sources))
    ending, harm = HARM[what]
    (path,) = (sources.parent / "__pycache__").rglob(f"*times*.{ending}")
    harm(path)
    after, again = fresh(sources), fresh(sources)
    assert (times(after), compiled(after)) == (6.0, 1)
    assert (times(again), compiled(again)) == (6.0, 1 if path.is_dir() else 0)


def test_what_cannot_be_kept_is_computed_all_the_same(sources: Path) -> None:
    module = fresh(sources)
    shutil.rmtree(sources.parent / "__pycache__")
    (sources.parent / "__pycache__").write_text("the folder is gone")
    assert times(module) == 6.0


def test_a_full_disk_is_no_failure(sources: Path) -> None:
    module = fresh(sources)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        assert times(module) == 6.0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    again = fresh(sources)
    assert (times(again), compiled(again) > 0) == (6.0, True)


TOGETHER = """
import sys, time, numba
from pathlib import Path
from headgauge import kernel_cache

@numba.njit
def total(x):
    return x.sum() + x.max() + x.mean()

kernel_cache.keep(total)
Path(sys.argv[1], sys.argv[2]).touch()
while len(list(Path(sys.argv[1]).iterdir())) < 2:
    time.sleep(0.01)
import numpy
print(total(numpy.ones(2)), sum(total.stats.cache_misses.values()))
"""


def test_of_two_processes_at_once_one_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "there").mkdir()
    (tmp_path / "total.py").write_text(TOGETHER)
    command = [sys.executable, tmp_path / "total.py", tmp_path / "there"]
    both = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "ab"]
    assert sorted(each.communicate()[0] for each in both) == ["4.0 0\n", "4.0 1\n"]
