"""What can be asked of the commands that measure, in the order `--help` shows it.

Command and Python function come from the same fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from headgauge.options import option

MODEL = (
    "A hub name, a folder with safetensors, a GGUF file, or 'default' (SmolLM2-135M-Instruct, "
    "4-bit)."
)

# A factor that knows n, two ways to sharpen, mass that goes nowhere, and three ways to leave keys
# out; rules that at 512 tokens change nothing (log_length_qwen) are not among them.
USUAL_RULES = (
    "ssmax:s=fit,log_length_su,adaptive_temperature,softmax_one,topk:k=64,entmax:alpha=1.5,"
    "sparsemax"
)

PLAIN = "Figures without the small print at their foot; it stands beside each, in NAME.txt."

# The headings of `--help`, and what only a command has.
_read = partial(option, group="What is read")
_measured = partial(option, group="What is measured")
_compared = partial(option, group="What is compared")
_open = partial(option, group="What the paper leaves open")
_schemes = partial(option, group="The schemes")
_swarm = partial(option, group="The swarm")
_kept = partial(option, group="Running and keeping")
_command = partial(option, command_only=True)
# What several commands have.
_model = partial(_command, None, MODEL, argument=True)
_model_option = partial(_command, None, "The same, as an option.", flags=("--model",))
_text = partial(
    _read,
    None,
    "A text file, 'war-and-peace', 'python-reference', or - for stdin. A .jsonl file has a "
    'prompt or document in each line, each a window of its own: {"text": …}, {"prompt": …}, '
    '{"messages": […]} or {"input_ids": […]}. Without it: War and Peace, downloaded '
    "once; without a network the Python reference.",
    command_only=True,
)
_text_string = partial(_read, None, "The text itself.", command_only=True)
_chat = partial(
    _read,
    False,
    "Put --text-string or the lines of a .jsonl file into the model's chat template; a plain "
    "prompt is the user's message.",
)
_windows = partial(
    _read,
    None,
    "Windows, one after the other. Without it: 4, or what the text has; every line of a .jsonl "
    "file.",
)
_offset = partial(_read, 0, "The text token the first window starts at.")
_bos = partial(
    _read,
    "auto",
    "BOS in front of each window: auto (as the model's file says, else as its tokenizer does), "
    "always, never.",
)
_how = partial(
    _measured,
    "mean",
    "What is put in the place of a head's output: mean (its own over the windows that follow in "
    "the text), zero.",
)
_layers = partial(_measured, None, "Only these layers, such as 0,4-7.", least=0)
_heads = partial(_measured, None, "Only these heads of each.", least=0)
_dtype = partial(
    _kept, None, "float32, bfloat16, float16, float64. Without it: float32 on the CPU."
)
_device = partial(_kept, "auto", "Where it runs: auto (CUDA, else MPS, else the CPU), cpu, cuda, …")
_revision = partial(_kept, None, "A branch, tag or commit of a hub model.")
_jobs = partial(_kept, 1, "Processes, each with its own model.")
_threads = partial(_kept, None, "Threads of each. Without it: a fair share.")
_estimate = partial(_kept, False, "Say what the run would need, and do not run.", command_only=True)
_plain = partial(_kept, False, PLAIN, command_only=True)
_json_output = partial(
    _command, False, "Print JSON on stdout instead of the table.", flags=("--json",)
)
_quiet = partial(_command, False, "No progress and no notes on stderr.", flags=("--quiet", "-q"))


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """Of `headgauge scan` and `headgauge.scan`."""

    model: str | None = _model()
    model_option: str | None = _model_option()
    text: str | None = _text()
    text_string: str | None = _text_string()
    chat: bool = _chat()
    length: int | Sequence[int] | None = _read(  # several in Python
        None,
        "Tokens in a window (L). Without it: 1024, or what context and text have.",
        typed=int | None,
    )
    windows: int | None = _windows()
    offset: int = _offset()
    bos: str = _bos()
    top_n: Sequence[int] | None = _measured(
        None,
        "The list of N, such as 1,2,4 or 1-100. Without it: 1,2,4,8,16,32,64, as far as they are "
        "below L.",
        least=1,
    )
    vectors: str | Sequence[str] = _measured(
        ("value",), "The vectors x: value, hidden, embedding, final, or several.", names=True
    )
    raw: bool = _measured(False, "Vectors as long as they are, not of unit length.")
    keys: str | Sequence[str] = _measured(
        ("visible",),
        "Keys that count: visible, all (masked ones with weight 0), or both; off_sink, the visible "
        "but the first, is measured on 64 rows a head anyway.",
        names=True,
    )
    layers: Sequence[int] | None = _layers()
    heads: Sequence[int] | None = _heads()
    rows: int | None = _measured(
        None,
        "Measure so many query rows of each window, one drawn in each of as many equal stretches, "
        "the same of every head; each mean has its sampling error beside it. Without it: all.",
    )
    precision: str = _measured(
        "float32", "Of the inner loops: float32 (error about 1e-6), float64."
    )
    depth: bool = _measured(
        False,
        "Follow the residual stream too, layer by layer, beside what the model's normalisation "
        "scheme predicts.",
    )
    matrix: str | Sequence[str | tuple[int, int]] | None = _measured(
        None,
        "Keep the weights of these heads, such as L18H7,L17H4, for a picture token by token on the "
        "page: those of at least 1/1024, in every window (of the longest length).",
        names=True,
    )
    effects: bool = _measured(
        False,
        "Measure too what each head is worth: the rise of the loss with its mean in its place, in "
        "every window (of the longest length). As long as ablate takes.",
    )
    spans: str | Path | Mapping[str, Any] | None = _measured(
        None,
        'How much of its weight each head has on parts of the text: a JSON file, {"name": [start, '
        "end), …} in characters, and classes of tokens (special ones, image placeholders); "
        "'classes' for these alone.",
        typed=str | None,
    )
    lengths: Sequence[int] | None = _measured(
        None, "Shorter lengths too, such as 128,256,512, for the trend over length.", least=2
    )
    target_length: int | None = _measured(
        None,
        "Say what the trend over length means for this context; tested up to 4 times --length. "
        "Without --lengths: L/8, L/4, L/2; without --length a target of 1024 or less makes L half "
        "of it.",
        command_only=True,
    )
    thresholds: Path | None = _measured(
        None, "A TOML file that changes thresholds.", command_only=True
    )
    worst: bool = _measured(
        False,
        "List heads by what matters: those with a fault first, by their effect where --effects "
        "measured it, else by what they add to the stream.",
        command_only=True,
    )
    out: str | Path | None = _kept(
        None, "The run's folder. Without it: runs/scan-MODEL-TEXT-….", typed=Path | None
    )
    keep_rows: bool = _kept(False, "Keep every row's numbers too.")
    dtype: str | None = _dtype()
    device: str = _device()
    revision: str | None = _revision()
    jobs: int = _jobs()
    threads: int | None = _threads()
    seed: int = _kept(0, "Of the rows that are shown, and of those of --rows.")
    estimate: bool = _estimate()
    plain: bool = _plain()
    json_output: bool = _json_output()
    quiet: bool = _quiet()


@dataclass(frozen=True, kw_only=True)
class AblateOptions:
    """Of `headgauge ablate` and `headgauge.ablate`."""

    model: str | None = _model()
    model_option: str | None = _model_option()
    text: str | None = _text()
    text_string: str | None = _text_string()
    chat: bool = _chat()
    length: int | None = _read(
        None, "Tokens in a window (L). Without it: 512, or what context and text have."
    )
    windows: int | None = _windows()
    offset: int = _offset()
    bos: str = _bos()
    how: str = _how()
    layers: Sequence[int] | None = _layers()
    heads: Sequence[int] | None = _heads()
    groups: str | Path | Mapping[str, Sequence[Any]] | None = _measured(
        None,
        "A JSON file of groups whose heads are taken out together, in place of single heads: "
        '{"name": ["L18H7", [18, 8]]}.',
        typed=Path | None,
    )
    out: str | Path | None = _kept(
        None, "The run's folder. Without it: runs/ablate-MODEL-TEXT-….", typed=Path | None
    )
    dtype: str | None = _dtype()
    device: str = _device()
    revision: str | None = _revision()
    jobs: int = _jobs()
    threads: int | None = _threads()
    estimate: bool = _estimate()
    json_output: bool = _json_output()
    quiet: bool = _quiet()


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Of `headgauge reproduce` and `headgauge.reproduce`."""

    model: str | None = _model()
    model_option: str | None = _model_option()
    text: list[str] | None = _read(
        None,
        "A text file, 'war-and-peace' or 'python-reference'; more than once for several: vectors "
        "and keys are chosen on the first, the others judge. Without it: War and Peace, "
        "downloaded once, and the Python reference; with --quick only the first.",
        command_only=True,
    )
    length: int | None = _read(
        None,
        "The longest L; the others are its halves down to 32. Without it: 1024 (with --quick 512), "
        "or what context and texts have.",
    )
    windows: int | None = _read(
        None,
        "Windows of each text; those after the first give the bands. Without it: 5, with --quick "
        "1, or what the texts have.",
    )
    offset: int = _offset()
    bos: str = _bos()
    sensitivity_rows: int | None = _read(
        None,
        "Query rows per head for Figure 4, evenly spread; 0 for all of them. Without it: 256, with "
        "--quick 8.",
    )
    vectors: str | None = _open(
        None,
        "The vectors measured in full: final, embedding, hidden, value. Without this and the next "
        "two: those that come closest to the paper on the first text.",
    )
    scale: str | None = _open(None, "Their length: unit or raw.")
    keys: str | None = _open(None, "Keys that count: all (masked ones with weight 0) or visible.")
    all_choices: bool = _open(False, "Measure every choice in full, not on drawn rows.")
    rules: str | Sequence[Any] | None = _open(
        None,
        "Other rules on the same logits, such as 'sparsemax,entmax:alpha=1.3,ssmax:s=0.2:b=0.1' "
        "(headgauge normalizers lists them), or 'none'. Without it: softmax:temperature=0.5, "
        "softmax:temperature=2, ssmax, sparsemax, entmax:alpha=1.5. The guidelines' own rules are "
        "always measured.",
        typed=str | None,
    )
    quick: bool = _kept(
        False,
        "The same figures from one text, L = 512, one window, fewer rows and N, in about a minute: "
        "a look, too little to judge by.",
    )
    out: str | Path | None = _kept(
        None, "The run's folder. Without it: runs/reproduce-MODEL-TEXT-….", typed=Path | None
    )
    dtype: str | None = _dtype()
    device: str = _device()
    revision: str | None = _revision()
    threads: int | None = _kept(None, "Without it: all cores.")
    seed: int = _kept(0, "Of drawn rows, directions and bands.")
    estimate: bool = _kept(
        False,
        "Say what the run would need, from one head measured, and do not run.",
        command_only=True,
    )
    plain: bool = _plain()
    json_output: bool = _json_output()
    quiet: bool = _quiet()


@dataclass(frozen=True, kw_only=True)
class ValidateOptions:
    """Of `headgauge validate` and `headgauge.validate`."""

    model: str | None = _model()
    model_option: str | None = _model_option()
    text: list[str] | None = _read(
        None,
        "A text file, 'war-and-peace' or 'python-reference'; twice for two: lines are chosen on "
        "the first half of the first, its second half and the second text judge. Without it: War "
        "and Peace, downloaded once, and the Python reference.",
        command_only=True,
    )
    length: int | None = _read(
        None, "Tokens in a window (L). Without it: 512, or what context and texts have."
    )
    windows: int | None = _read(
        None, "Windows of each part. Without it: 2, or what the texts have."
    )
    bos: str = _bos()
    how: str = _how()
    out: str | Path | None = _kept(
        None, "The run's folder. Without it: runs/validate-MODEL-TEXT-….", typed=Path | None
    )
    dtype: str | None = _dtype()
    device: str = _device()
    revision: str | None = _revision()
    jobs: int = _jobs()
    threads: int | None = _threads()
    seed: int = _kept(0, "Of random heads, random tokens and sampled rows.")
    estimate: bool = _estimate()
    plain: bool = _plain()
    json_output: bool = _json_output()
    quiet: bool = _quiet()


@dataclass(frozen=True, kw_only=True)
class RemedyOptions:
    """Of `headgauge remedy` and `headgauge.remedy`."""

    run: str | None = _command(
        None,
        f"The folder of a scan, or a model, of which a scan is made first: {MODEL[0].lower()}"
        f"{MODEL[1:]}",
        argument=True,
    )
    model_option: str | None = _command(
        None,
        "The model: in place of the argument, or of a scan whose model lies in a folder or file.",
        flags=("--model",),
    )
    text: str | None = _read(
        None,
        "A text, as for scan. Of a scan it is found again if it is 'war-and-peace' or "
        "'python-reference', and must be given if it is a file.",
        command_only=True,
    )
    text_string: str | None = _text_string()
    chat: bool = _chat()
    length: int | None = _read(
        None, "Tokens in a window (L). Without it: the scan's; of a model 512, or what it has."
    )
    windows: int | None = _read(
        None,
        "Windows that judge, behind those of the scan; half as many behind them choose parameters. "
        "A scan that is made first has as many. Without it: 4, or what the text has.",
    )
    offset: int = _read(
        0, "The text token the first window of the scan starts at; a given scan has its own."
    )
    bos: str = _bos()
    verdicts: str | Sequence[str] | None = _measured(
        None,
        "Only the remedies of these verdicts, such as 'diffuse,idle sink'. Without it: all.",
        names=True,
    )
    draws: int = _measured(6, "Draws of as many random heads of the same layers, as a control.")
    thresholds: str | Path | Sequence[Any] | None = _measured(
        None, "A TOML file that changes thresholds of the verdicts.", typed=Path | None
    )
    out: str | Path | None = _kept(
        None, "The run's folder. Without it: runs/remedy-MODEL-TEXT-….", typed=Path | None
    )
    dtype: str | None = _dtype()
    device: str = _device()
    revision: str | None = _revision()
    threads: int | None = _threads()
    seed: int = _kept(0, "Of random heads and sampled rows.")
    estimate: bool = _estimate()
    plain: bool = _plain()
    json_output: bool = _json_output()
    quiet: bool = _quiet()


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Of `headgauge compare` and `headgauge.compare`: rules in a model, or runs beside each other.

    `OF_A_MODEL` and `OF_RUNS` name the fields that belong to one of the two uses alone.
    """

    names: list[str] | None = _command(
        None,
        "Two folders of finished scans or more, to compare head by head in this order; or one "
        "model, to compare rules in it: " + MODEL[0].lower() + MODEL[1:],
        argument=True,
    )
    model_option: str | None = _command(None, "The model, as an option.", flags=("--model",))
    rules: str | Sequence[Any] | None = _compared(
        None,
        "The rules put into the model, such as ssmax:s=fit,sparsemax,entmax:alpha=1.5. 'fit' "
        "chooses a parameter on calibration windows: one number, with fit/layer or fit/head one "
        "for each. headgauge normalizers lists rules and parameters. The original model and "
        f"softmax at a fitted temperature are always there too. Without it: {USUAL_RULES}.",
        typed=str | None,
    )
    fail_on: Sequence[str] | None = _compared(
        None,
        "With runs: exit code 1 if this holds of the last run against the first. MEASURE<NUMBER or "
        "MEASURE>NUMBER is on the mean difference over heads (separability<-0.05) or of the loss "
        "(loss>0.01), VERDICT>NUMBER on how many heads newly have it (inactive>3). Several with "
        "commas, or more than once.",
        typed=list[str] | None,
    )
    text: str | None = _text()
    text_string: str | None = _text_string()
    chat: bool = _chat()
    length: int | None = _read(
        None, "Tokens in a window (L). Without it: 512, or what context and text have."
    )
    windows: int | None = _read(
        None,
        "Windows that are judged, one after the other; those that parameters are fitted on follow "
        "them in the text. Without it: 4, or what the text has.",
    )
    offset: int = _offset()
    bos: str = _bos()
    layers: Sequence[int] | None = _layers()
    heads: Sequence[int] | None = _heads()
    out: str | Path | None = _kept(
        None,
        "The folder that keeps what was found, with its page and figures. Without it: of a model "
        "runs/compare-MODEL-TEXT-…; of runs none, what they differ in is printed and nothing "
        "written.",
        typed=Path | None,
    )
    dtype: str | None = _dtype()
    device: str = _device()
    revision: str | None = _revision()
    threads: int | None = _kept(None, "Without it: all cores.")
    seed: int = _kept(0, "Of the sampled rows.")
    estimate: bool = _kept(
        False,
        "Say what the run would need, from a window read under each rule, and do not run.",
        command_only=True,
    )
    plain: bool = _plain()
    json_output: bool = _json_output()
    quiet: bool = _quiet()


OF_A_MODEL = (
    *("model_option", "rules", "text", "text_string", "chat", "length", "windows", "offset", "bos"),
    *("dtype", "device", "revision", "threads", "seed", "estimate"),
)
OF_RUNS = ("fail_on",)


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """Of `headgauge simulate` and `headgauge.simulate`."""

    schemes: tuple[str, ...] = _schemes(
        ("post_ln", "pre_ln", "mix_ln", "peri_ln", "ngpt", "ln_scaling"),
        "all, or some of post_ln, pre_ln, mix_ln, peri_ln, ngpt, ln_scaling, and ln_scaling_pre.",
        flags=("--scheme",),
        names=True,
        shows="all",
    )
    alpha: float = _schemes(1.0, "nGPT: α at time 0.")
    decay: float = _schemes(0.0, "nGPT: α/(1 + decay·t).")
    switch: float = _schemes(2.0, "Mix-LN: the time of its change (τ).")
    tokens: int = _swarm(256, "Tokens (n).")
    dim: int = _swarm(512, "Dimensions (d).")
    beta: float = _swarm(5.0, "β where Q = K = V = I.")
    random_beta: float | None = _swarm(None, "β for random matrices. Without it: √d.")
    horizon: float = _swarm(10.0, "Time to simulate; about layers.")
    seeds: int = _swarm(20, "How many starts and random matrices.")
    weights: tuple[str, ...] = _swarm(
        ("identity", "random"),
        "Q, K and V: identity, random, layers (new ones in every unit of time), or several.",
        names=True,
    )
    heads: int = _swarm(1, "Attention heads of the swarms.")
    causal: bool = _swarm(False, "In the swarms a token sees those before it.")
    rule: str = _swarm(
        "softmax",
        "The normaliser of the swarms' attention, such as sparsemax or ssmax:s=0.5; headgauge "
        "normalizers lists them.",
    )
    radius: float = _swarm(1.0, "The length tokens start with (r₀).")
    parts: tuple[str, ...] = _kept(
        ("curves", "rates", "swarms", "phase", "sphere"),
        "What to compute: curves, rates, swarms, phase, sphere.",
        names=True,
    )
    tolerance: float = _kept(1e-5, "Error of a step of a swarm, in radians or as a share of a gap.")
    out: Path | None = _kept(None, "The folder. Without it: runs/simulate-….", command_only=True)
    device: str = _kept(
        "auto", "Where it runs, in double precision: auto (CUDA, else the CPU), cpu, cuda, …",
        command_only=True,
    )  # fmt: skip
    seed: int = _kept(0, "The first seed.")
    plain: bool = _plain()
    json_output: bool = _json_output()
    quiet: bool = _quiet()
