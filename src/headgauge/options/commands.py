"""What can be asked of `scan`, `reproduce` and `simulate`, in the order `--help` shows it.

Command and Python function come from the same fields.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgauge.options import option

READ, MEASURED, KEPT = "What is read", "What is measured", "Running and keeping"
OPEN, SCHEMES, SWARM = "What the paper leaves open", "The schemes", "The swarm"

MODEL = (
    "A hub name, a folder with safetensors, a GGUF file, or 'default' (SmolLM2-135M-Instruct, "
    "4-bit)."
)


def _flag(help: str, group: str | None = None, **more: Any) -> Any:
    return option(False, help, group=group, **more)


def _command(default: Any, help: str, group: str | None = None, **more: Any) -> Any:
    return option(default, help, group=group, command_only=True, **more)


# What several commands have.
_SHARED: dict[str, dict[str, Any]] = {
    "model": {"default": None, "help": MODEL, "argument": True, "command_only": True},
    "model_option": {
        "default": None,
        "help": "The same, as an option.",
        "flags": ("--model",),
        "command_only": True,
    },
    "offset": {
        "default": 0,
        "help": "The text token the first window starts at.",
        "group": READ,
    },
    "bos": {
        "default": "auto",
        "help": "BOS in front of each window: auto (as the model's file says, else as its "
        "tokenizer does), always, never.",
        "group": READ,
    },
    "dtype": {
        "default": None,
        "help": "float32, bfloat16, float16, float64. Without it: float32 on the CPU.",
        "group": KEPT,
    },
    "device": {"default": None, "help": "cpu, cuda, mps, … Without it: cpu.", "group": KEPT},
    "revision": {
        "default": None,
        "help": "A branch, tag or commit of a hub model.",
        "group": KEPT,
    },
    "json_output": {
        "default": False,
        "help": "Print JSON on stdout instead of the table.",
        "flags": ("--json",),
        "command_only": True,
    },
    "quiet": {
        "default": False,
        "help": "No progress and no notes on stderr.",
        "flags": ("--quiet", "-q"),
        "command_only": True,
    },
}


def _shared(name: str) -> Any:
    return option(**_SHARED[name])


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """Of `headgauge scan` and `headgauge.scan`."""

    model: str | None = _shared("model")
    model_option: str | None = _shared("model_option")
    text: str | None = _command(
        None,
        "A text file, 'war-and-peace', 'python-reference', or - for stdin. A .jsonl file has a "
        'prompt or document in each line, each a window of its own: {"text": …}, {"prompt": …}, '
        '{"messages": […]} or {"input_ids": […]}. Without it: War and Peace where it can be had.',
        READ,
    )
    text_string: str | None = _command(None, "The text itself.", READ)
    chat: bool = _flag(
        "Put --text-string or the lines of a .jsonl file into the model's chat template; a plain "
        "prompt is the user's message.",
        READ,
    )
    length: int | Sequence[int] | None = option(  # several in Python
        None,
        "Tokens in a window (L). Without it: 1024, or what context and text have.",
        group=READ,
        typed=int | None,
    )
    windows: int | None = option(
        None,
        "Windows, one after the other. Without it: 4, or what the text has; every line of a .jsonl "
        "file.",
        group=READ,
    )
    offset: int = _shared("offset")
    bos: str = _shared("bos")
    top_n: Sequence[int] | None = option(
        None,
        "The list of N, such as 1,2,4 or 1-100. Without it: 1,2,4,8,16,32,64, as far as they are "
        "below L.",
        group=MEASURED,
        least=1,
    )
    vectors: str | Sequence[str] = option(
        ("value",),
        "The vectors x: value, hidden, embedding, final, or several.",
        group=MEASURED,
        names=True,
        shows="value",
    )
    raw: bool = _flag("Vectors as long as they are, not of unit length.", MEASURED)
    keys: str | Sequence[str] = option(
        ("visible",),
        "Keys that count: visible, all (masked ones with weight 0), or both.",
        group=MEASURED,
        names=True,
        shows="visible",
    )
    layers: Sequence[int] | None = option(
        None, "Only these layers, such as 0,4-7.", group=MEASURED, least=0
    )
    heads: Sequence[int] | None = option(None, "Only these heads of each.", group=MEASURED, least=0)
    precision: str = option(
        "float32", "Of the inner loops: float32 (error about 1e-6), float64.", group=MEASURED
    )
    depth: bool = _flag(
        "Follow the residual stream too, layer by layer, beside what the model's normalisation "
        "scheme predicts.",
        MEASURED,
    )
    lengths: Sequence[int] | None = option(
        None,
        "Shorter lengths too, such as 128,256,512, for the trend over length.",
        group=MEASURED,
        least=2,
    )
    target_length: int | None = _command(
        None,
        "Say what the trend over length means for this context; tested up to 4 times --length. "
        "Without --lengths: L/8, L/4, L/2; without --length a target of 1024 or less makes L half "
        "of it.",
        MEASURED,
    )
    thresholds: Path | None = _command(None, "A TOML file that changes thresholds.", MEASURED)
    out: str | Path | None = option(
        None, "The run's folder. Without it: runs/scan-MODEL-TEXT-….", group=KEPT, typed=Path | None
    )
    rows: bool = _flag("Keep every row's numbers too.", KEPT)
    dtype: str | None = _shared("dtype")
    device: str | None = _shared("device")
    revision: str | None = _shared("revision")
    jobs: int = option(1, "Processes, each with its own model.", group=KEPT)
    threads: int | None = option(None, "Threads of each. Without it: a fair share.", group=KEPT)
    seed: int = option(0, "Of the sampled rows.", group=KEPT)
    estimate: bool = _command(False, "Say what the run would need, and do not run.", KEPT)
    json_output: bool = _shared("json_output")
    quiet: bool = _shared("quiet")


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Of `headgauge reproduce` and `headgauge.reproduce`."""

    model: str | None = _shared("model")
    model_option: str | None = _shared("model_option")
    text: list[str] | None = _command(
        None,
        "A text file, 'war-and-peace' or 'python-reference'; more than once for several: vectors "
        "and keys are chosen on the first, the others judge. Without it: War and Peace where it "
        "can be had, and the Python reference; with --quick only the first.",
        READ,
    )
    length: int | None = option(
        None,
        "The longest L; the others are its halves down to 32. Without it: 1024 (with --quick 512), "
        "or what context and texts have.",
        group=READ,
    )
    windows: int | None = option(
        None,
        "Windows of each text; those after the first give the bands. Without it: 5, with --quick "
        "1, or what the texts have.",
        group=READ,
    )
    offset: int = _shared("offset")
    bos: str = _shared("bos")
    sensitivity_rows: int | None = option(
        None,
        "Query rows per head for Figure 4, evenly spread; 0 for all of them. Without it: 64, with "
        "--quick 8.",
        group=READ,
    )
    vectors: str | None = option(
        None,
        "The vectors measured in full: final, embedding, hidden, value. Without this and the next "
        "two: those that come closest to the paper on the first text.",
        group=OPEN,
    )
    scale: str | None = option(None, "Their length: unit or raw.", group=OPEN)
    keys: str | None = option(
        None, "Keys that count: all (masked ones with weight 0) or visible.", group=OPEN
    )
    all_choices: bool = _flag("Measure every choice in full, not on drawn rows.", OPEN)
    rules: Sequence[str] | None = option(
        None,
        "Other rules on the same logits, such as 'ssmax,sparsemax', or 'none'. Without it: softmax "
        "T=0.5, softmax T=2, ssmax, sparsemax, 1.5-entmax. The guidelines' own rules are always "
        "measured.",
        group=OPEN,
        names=True,
    )
    quick: bool = _flag(
        "The same figures from one text, L = 512, one window, fewer rows and N, in about a minute: "
        "a look, too little to judge by.",
        KEPT,
    )
    out: str | Path | None = option(
        None,
        "The run's folder. Without it: runs/reproduce-MODEL-TEXT-….",
        group=KEPT,
        typed=Path | None,
    )
    dtype: str | None = _shared("dtype")
    device: str | None = _shared("device")
    revision: str | None = _shared("revision")
    threads: int | None = option(None, "Without it: all cores.", group=KEPT)
    seed: int = option(0, "Of drawn rows, directions and bands.", group=KEPT)
    estimate: bool = _command(
        False, "Say what the run would need, from one head measured, and do not run.", KEPT
    )
    json_output: bool = _shared("json_output")
    quiet: bool = _shared("quiet")


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """Of `headgauge simulate` and `headgauge.simulate`."""

    schemes: tuple[str, ...] = option(
        ("post_ln", "pre_ln", "mix_ln", "peri_ln", "ngpt", "ln_scaling"),
        "all, or some of post_ln, pre_ln, mix_ln, peri_ln, ngpt, ln_scaling, and ln_scaling_pre.",
        group=SCHEMES,
        flags=("--scheme",),
        names=True,
        shows="all",
    )
    alpha: float = option(1.0, "nGPT: α at time 0.", group=SCHEMES)
    decay: float = option(0.0, "nGPT: α/(1 + decay·t).", group=SCHEMES)
    switch: float = option(2.0, "Mix-LN: the time of its change (τ).", group=SCHEMES)
    tokens: int = option(256, "Tokens (n).", group=SWARM)
    dim: int = option(512, "Dimensions (d).", group=SWARM)
    beta: float = option(5.0, "β where Q = K = V = I.", group=SWARM)
    random_beta: float | None = option(None, "β for random matrices. Without it: √d.", group=SWARM)
    horizon: float = option(10.0, "Time to simulate; about layers.", group=SWARM)
    seeds: int = option(20, "How many starts and random matrices.", group=SWARM)
    weights: tuple[str, ...] = option(
        ("identity", "random"),
        "Q, K and V: identity, random, layers (new ones in every unit of time), or several.",
        group=SWARM,
        names=True,
        shows="identity,random",
    )
    heads: int = option(1, "Attention heads of the swarms.", group=SWARM)
    causal: bool = _flag("In the swarms a token sees those before it.", SWARM)
    rule: str = option(
        "softmax",
        "The normaliser of the swarms' attention; headgauge normalizers lists them.",
        group=SWARM,
    )
    radius: float = option(1.0, "The length tokens start with (r₀).", group=SWARM)
    parts: tuple[str, ...] = option(
        ("curves", "rates", "swarms", "phase", "sphere"),
        "What to compute: curves, rates, swarms, phase, sphere.",
        group=KEPT,
        names=True,
        shows="curves,rates,swarms,phase,sphere",
    )
    tolerance: float = option(
        1e-5, "Error of a step of a swarm, in radians or as a share of a gap.", group=KEPT
    )
    out: Path | None = _command(None, "The folder. Without it: runs/simulate-….", KEPT)
    device: str = _command("cpu", "cpu, cuda, …", KEPT)
    seed: int = option(0, "The first seed.", group=KEPT)
    json_output: bool = _shared("json_output")
    quiet: bool = _shared("quiet")
