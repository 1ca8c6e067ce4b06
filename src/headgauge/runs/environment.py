"""What a run was made with: the code, the machine and the packages, without paths and names."""

import importlib.metadata
import os
import platform
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

import psutil

from headgauge import __version__

PACKAGES = (
    *("torch", "transformers", "numpy", "numba", "polars"),
    *("tokenizers", "safetensors", "gguf", "joblib"),
)


class SourceCode(TypedDict):
    """The code that ran."""

    name: str  # "headgauge"
    version: str
    commit: str | None  # of the checkout it ran from; None when it was installed as a package
    dirty: bool | None  # whether the package's files differ from that commit


class Hardware(TypedDict):
    """The machine."""

    cpu: str  # the model's name
    cores: int | None  # physical ones
    threads: int  # logical ones this process may use
    memory_bytes: int
    device: str  # where the model ran: "cpu", "cuda:0"
    gpu: str | None  # its name


def source_code() -> SourceCode:
    """The version, and the commit where headgauge runs from a checkout's src folder."""
    package = Path(__file__).resolve().parents[1]
    root = package.parents[1]
    commit = changes = None
    if package == root / "src" / "headgauge" and (root / ".git").exists():
        commit = _git(root, "rev-parse", "--verify", "HEAD")
        changes = _git(root, "status", "--porcelain", "--", "src/headgauge")
    dirty = None if commit is None or changes is None else bool(changes)
    return SourceCode(name="headgauge", version=__version__, commit=commit, dirty=dirty)


def hardware(device: str, gpu: str | None = None) -> Hardware:
    """The machine this process runs on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return Hardware(
        cpu=_cpu_model(),
        cores=psutil.cpu_count(logical=False),
        threads=len(affinity(0)) if affinity else os.cpu_count() or 1,
        memory_bytes=psutil.virtual_memory().total,
        device=device,
        gpu=gpu,
    )


def software() -> dict[str, str | None]:
    """Versions by name; None for a package that is not installed."""
    around = {"python": platform.python_version(), "platform": platform.platform()}
    return around | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            timeout=20,
            # Asking for the status must not write the index: others may be using it.
            env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _cpu_model() -> str:
    said = None
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        said = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    if said is None and platform.system() == "Darwin":
        asked = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        said = re.search("(.+)", done.stdout)
    return said[1].strip() if said else platform.processor() or platform.machine()
