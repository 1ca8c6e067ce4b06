"""What README and docs show is run: code as it stands, commands on a small model."""

import json
import re
import shlex
import warnings
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import pytest
import transformers as hf
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from docs import parts
from headgauge import __version__, claims
from headgauge.cli.app import run
from headgauge.registry.names import SCHEMES
from models.test_norm_placement import EXPECTED
from norm_families import FAMILIES, OUTSIDE
from shape_checks import shapes_unchecked
from training.logs import write_log

ROOT = Path(__file__).parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)

# Commands run as they are shown, but for this: what stands on the left becomes what stands on the
# right, and what a command does not name is added.
INSTEAD = {
    # models and what only other machines have
    "my-model": "tiny", "model.gguf": "tiny", "gpt2": "tiny", "cuda": "cpu",
    # texts
    "war-and-peace": "story.txt", "python-reference": "other.txt",
    # runs of which no page tells how they were made
    "runs/step-1000": "runs/before", "runs/step-2000": "runs/after", "runs/step-3000": "runs/mine",
}  # fmt: skip
SMALLER = {
    "scan": {"--length": "32", "--windows": "2", "--target-length": "64", "--layers": "0,1",
             "--matrix": "L1H0,L1H1"},
    "ablate": {"--layers": "0,1"},
    "compare": {"--layers": "0,1", "--windows": "1"},
    "validate": {"--windows": "1"},
    "remedy": {"--windows": "1", "--draws": "2"},
    "simulate": {"--tokens": "6", "--dim": "8", "--horizon": "1", "--seeds": "1", "--heads": "2"},
}  # fmt: skip
ADDED = {
    "scan": {"--text": "story.txt", "--length": "32", "--windows": "1"},
    "ablate": {"--text": "story.txt", "--length": "32", "--windows": "1"},
    "validate": {"--text": "story.txt", "--length": "32", "--windows": "1"},
    "remedy": {"--text": "story.txt", "--length": "32", "--windows": "1", "--draws": "1"},
    "reproduce": {"--text": "story.txt", "--length": "32", "--windows": "1",
                  "--rules": "none", "--sensitivity-rows": "2"},
    "simulate": {"--tokens": "6", "--dim": "8", "--horizon": "1", "--seeds": "1",
                 "--parts": "swarms"},
}  # fmt: skip
# Run first and whole: what they leave others read. Other reproductions say what they would need.
FIRST = (
    "headgauge scan --text python-reference --windows 2 --length 512 --out runs/first",
    "headgauge reproduce --quick --out runs/paper",
    "headgauge scan my-model --text mine.txt --out runs/before",
    "headgauge scan my-model --text mine.txt --dtype bfloat16 --out runs/after",
)
# Pages on which commands that read a model are run whole.
WHOLE = ("README.md", "docs/start-here.md")
# What has its own tests: all of the ledger, and what a window of 32 tokens has no numbers for.
ELSEWHERE = {
    "headgauge claims",
    "headgauge export runs/mine --format duo-attention",
}


class Line(NamedTuple):
    page: str
    text: str


def blocks(kind: str) -> list[Line]:
    return [
        Line(page, code)
        for page, text in PAGES.items()
        for language, code in BLOCK.findall(text)
        if language == kind
    ]


def commands(program: str = "") -> list[Line]:
    """The lines of all shell blocks without their comments, each once."""
    found = {}
    for page, code in blocks("sh"):
        for line in code.splitlines():
            text = re.sub(r"\s+#.*", "", line).strip()
            if text.startswith(program):
                found.setdefault(text, Line(page, text))
    return list(found.values())


@pytest.fixture(scope="module", autouse=True)
def as_users_run() -> Iterator[None]:
    """Whole commands: their pieces have tests where every shape is checked."""
    with shapes_unchecked():
        yield


@pytest.fixture(scope="module")
def place(as_users_run: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with what the pages speak of: a model, texts, prompts, thresholds."""
    folder = tmp_path_factory.mktemp("reader")
    words = ["<unk>", "the", "prince", "said", "well", "war", "and", "peace"]
    sizes: dict[str, Any] = {"n_layer": 2, "n_head": 2, "n_embd": 16, "n_positions": 64,
                              "bos_token_id": 0, "eos_token_id": 0}  # fmt: skip
    hf.set_seed(0)
    config = hf.GPT2Config(vocab_size=len(words), **sizes)
    hf.GPT2LMHeadModel(config).save_pretrained(folder / "tiny")
    known = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    known.pre_tokenizer = WhitespaceSplit()  # type: ignore[assignment]
    template = "{% for m in messages %}{{ m['content'] }} {% endfor %}said"
    tokenizer = hf.PreTrainedTokenizerFast(
        tokenizer_object=known, unk_token="<unk>", chat_template=template
    )
    tokenizer.save_pretrained(folder / "tiny")
    for name, step in (("story", 1), ("other", 5), ("mine", 7)):
        text = " ".join(words[1 + (i * i + i // 3 + step * i) % 7] for i in range(400))
        (folder / f"{name}.txt").write_text(text)
    lines = [json.dumps({"prompt": "the prince said well war and peace " * 5})] * 2
    (folder / "prompts.jsonl").write_text("\n".join(lines))
    (folder / "prompt.txt").write_text((folder / "story.txt").read_text())
    (spans,) = [block for block in blocks("text") if block.text.startswith('{"system"')]
    (folder / "spans.json").write_text(spans.text)
    write_log(folder / "logs" / "mine")
    (folder / "groups.json").write_text('{"pair": ["L0H1", [1, 0]]}')
    (toml,) = [block for block in blocks("toml") if block.page == "docs/verdicts.md"]
    (folder / "mine.toml").write_text(toml.text)
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADGAUGE_CACHE_DIR", str(folder / "cache"))  # one of them clears it
        _undraw(patch)
        mine = "headgauge scan --text mine.txt --out runs/mine"
        begun = [run(smaller(line, whole=True)) for line in (*FIRST, mine)]
        assert begun == [0] * len(begun)
        yield folder


def _undraw(patch: pytest.MonkeyPatch) -> None:
    """Pages are drawn; figures' files take most of a small run's time and have their own tests."""
    for name in ("save_figures", "paper_figures"):
        patch.setattr(f"headgauge.report.figures.{name}", lambda *_, **__: [])


def smaller(text: str, whole: bool = False) -> list[str]:
    """A command's arguments as they are run here; not `whole`: a reproduction, and what runs whole
    in README, on the page to start from and in its own tests, only says what it would need."""
    command, *given = [INSTEAD.get(word, word) for word in shlex.split(text)[1:]]
    for option, value in SMALLER.get(command, {}).items():
        if option in given:
            given[given.index(option) + 1] = value
    documents = {"--windows"} if "prompts.jsonl" in given else set()
    itself = {"--text", "--length", "--windows"} if "--text-string" in given else set()
    added = ADDED.get(command, {})
    alone = command == "compare" and not any(each.startswith("runs/") for each in given)
    for option, value in (ADDED["ablate"] if alone else added).items():
        if option not in {*given, *documents, *itself}:
            given += [option, value]
    reading = alone or command in ("scan", "ablate", "validate", "remedy", "reproduce")
    if reading and "tiny" not in given:
        given += ["--model", "tiny"]
    long = alone or command in ("scan", "validate", "remedy")
    long &= all(Line(page, text) not in commands("headgauge ") for page in WHOLE)
    if (long or command == "reproduce") and not whole and "--estimate" not in given:
        given.append("--estimate")
    return [command, *given]


@pytest.mark.parametrize(
    "line", [pytest.param(each, id=each.text) for each in commands("headgauge ")]
)
def test_commands_run(line: Line, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if line.text in ELSEWHERE:
        assert run([line.text.split()[1], "--help"]) == 0
        return
    arguments = smaller(line.text)
    code = run(arguments)
    out, err = capsys.readouterr()
    assert code == 0, f"{line.page}: as {shlex.join(arguments)}: {err}"
    assert out.strip()


def test_what_others_read_is_shown() -> None:
    assert set(FIRST) <= {each.text for each in commands()}


@pytest.mark.parametrize(
    "block", [pytest.param(each, id=f"{each.page} {i}") for i, each in enumerate(blocks("python"))]
)
def test_python_runs(block: Line, place: Path) -> None:
    with warnings.catch_warnings():
        if "import lightning" in block.text:  # which has many of its own
            warnings.simplefilter("ignore")
        exec(compile(block.text, block.page, "exec"), {})
    plt.close("all")


def test_what_sets_up_is_what_make_does() -> None:
    """Targets are in the Makefile, and pip is given what it gives pip."""
    lines = [each.text for each in commands() if not each.text.startswith("headgauge ")]
    assert len(lines) > 8
    for line in lines:
        program, *words = shlex.split(line)
        if program == "make":
            assert all(f"\n{word}:" in MAKEFILE for word in words if word[0].islower()), line
        elif program == "pip":
            for word in (word for word in words[1:] if word[0] not in "-."):
                assert f'"{word}"' in MAKEFILE, line
        else:
            assert line in ("python3 -m venv .venv", ". .venv/bin/activate"), line


def test_every_block_says_what_it_is() -> None:
    """Output is text; anything else is run, or read by a command that is."""
    known = {"sh", "python", "toml", "text"}
    for page, text in PAGES.items():
        assert len(re.findall("^```", text, re.MULTILINE)) == 2 * len(BLOCK.findall(text)), page
        assert {language for language, _ in BLOCK.findall(text)} <= known, page


def test_links_lead_somewhere() -> None:
    for page, text in PAGES.items():
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            target, _, anchor = link.partition("#")
            path = ROOT / page if not target else (ROOT / page).parent / target
            assert path.exists(), f"{page}: {link}"
            if anchor:
                there = path.read_text(encoding="utf-8")
                assert anchor in _anchors(there), f"{page}: {link}"


def _anchors(page: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    slugs = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', page))


def test_every_page_is_in_the_index_and_every_picture_is_small_and_used() -> None:
    index = PAGES["docs/README.md"]
    for page in PAGES:
        if page.startswith("docs/") and page != "docs/README.md":
            assert f"]({Path(page).name})" in index
    everything = "".join(PAGES.values())
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 300_000, picture
        assert f"images/{picture.name})" in everything, picture


@pytest.mark.parametrize("page", sorted(page for page in PAGES if page.startswith("docs/")))
def test_made_parts_are_as_the_code_has_them(page: str) -> None:
    assert parts.render(PAGES[page]) == PAGES[page], "stale: run `make docs`"


def test_every_part_has_a_place() -> None:
    everything = "".join(PAGES.values())
    assert [name for name in parts.PARTS if f"<!-- {name} -->" not in everything] == []


def test_counts_and_versions_are_right() -> None:
    checked = sum(not claim.textual for claim in claims.CLAIMS)
    counted = f"{len(claims.CLAIMS)} statements, {checked} with a check"
    assert counted in re.sub(r"\s+", " ", PAGES["docs/theory.md"])
    assert f"prints `headgauge {__version__}`" in PAGES["docs/start-here.md"]


def test_the_families_that_were_tried() -> None:
    """Each is listed as the tests see it: tapped where its softmax is, and with its scheme."""
    rows = re.findall(r"^\| (`.*`) \| .* \| (\w+) \| ([^|]+) \|$", PAGES["docs/models.md"], re.M)
    listed = {
        name: (seen, scheme.split(";")[0])
        for names, seen, scheme in rows
        for name in re.findall("`([^`]+)`", names)
    }
    tapped = {*(family.name for family in OUTSIDE), "openai-gpt"}
    titles = {name: entry.title for name, entry in SCHEMES.items()} | {"other": "other"}
    assert listed == {
        family.name: (
            "tapped" if family.name in tapped else "recomputed",
            titles[EXPECTED[family.name].scheme],
        )
        for family in FAMILIES
    }
