import inspect
from dataclasses import dataclass, fields

import pytest
import typer

from headgauge.cli.building import command
from headgauge.errors import InputError
from headgauge.options import option, options, takes
from headgauge.options.commands import (
    AblateOptions,
    CompareOptions,
    ReproduceOptions,
    ScanOptions,
    SimulateOptions,
)


@dataclass(frozen=True, kw_only=True)
class Some:
    length: int | None = option(None, "Tokens.", group="Read")
    top_n: tuple[int, ...] = option((1, 2), "The list of N.", least=1)
    vectors: tuple[str, ...] = option(("value",), "Vectors.", names=True, shows="value")
    raw: bool = option(False, "As long as they are.")
    quiet: bool = option(False, "Silent.", flags=("--quiet", "-q"), command_only=True)
    unsaid: int = 3


def run(*words: str) -> Some:
    """What a command line becomes."""
    got: list[Some] = []
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(command(Some, got.append))
    app(words, standalone_mode=False)
    return got[0]


def test_a_command_reads_its_fields():
    assert run() == Some()
    given = run("--length", "8", "--top-n", "1,4-6", "--vectors", "hidden, value", "--raw", "-q")
    assert given == Some(
        length=8, top_n=(1, 4, 5, 6), vectors=("hidden", "value"), raw=True, quiet=True
    )


def test_a_list_that_is_none_names_its_option():
    with pytest.raises(InputError, match=r"--top-n wants numbers and ranges .* got 'many'"):
        run("--top-n", "many")
    with pytest.raises(InputError, match="--top-n wants numbers of 1 or more, got '0'"):
        run("--top-n", "0")


def test_a_function_has_the_same_keywords_and_words():
    @takes(Some)
    def measured(model: str, *, top_n: tuple[int, ...] = (), **given: object) -> Some:
        """Measure."""
        return Some(**given)  # pyright: ignore[reportArgumentType]

    names = list(inspect.signature(measured).parameters)
    assert names == ["model", "top_n", "length", "vectors", "raw", "unsaid"]
    assert "length: Tokens." in (measured.__doc__ or "")
    assert measured("m", raw=True) == Some(raw=True)
    for wrong in ("lenght", "quiet"):
        with pytest.raises(TypeError, match=f"'{wrong}'; there are length, raw, unsaid, vectors"):
            measured("m", **{wrong: ()})


@pytest.mark.parametrize(
    "settings", [ScanOptions, AblateOptions, CompareOptions, ReproduceOptions, SimulateOptions]
)
def test_every_option_has_a_sentence(settings: type):
    known = options(settings)
    assert [each.name for each in fields(settings)] == list(known)
    assert all(
        said.help[0].isupper() or said.help.startswith(("cpu", "float", "all,", "nGPT", "β"))
        for said in known.values()
    )
    assert all(said.help.endswith((".", "…")) for said in known.values())
