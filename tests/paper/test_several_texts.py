"""Several texts: chosen on the first, judged on the others."""

from dataclasses import replace

import polars as pl
import pytest
import torch

from headgauge import paper
from headgauge.errors import InputError
from headgauge.paper import Reproduction, choice_table, reproducing
from headgauge.paper.choices import CHOICES, Choice
from headgauge.paper.result import TIMING
from headgauge.paper.settings import quick
from headgauge.paper.verdicts import CLAIMS
from headgauge.runs import load_run
from headgauge.runs.paper_schema import PAPER_TABLES
from headgauge.runs.schema import KEYS

NAMES = ("tokens", "tokens 2")


@pytest.fixture(scope="module")
def small(settings):
    """No choice yet, one length and few of everything."""
    return replace(
        settings, choice=None, lengths=(40,), rules=(), far_rows=0, choice_far_rows=0,
        every_n=False, paper_rows=20,
    )  # fmt: skip


@pytest.fixture(scope="module")
def two(reproduce, small, tokens, other_tokens, tmp_path_factory) -> Reproduction:
    place = tmp_path_factory.mktemp("two") / "run"
    return reproduce([tokens[:, :40], other_tokens[:, :40]], settings=small, out=place)


def _tables(scan):
    """All that was measured, the tables of the figures among it."""
    return load_run(scan.folder).tables


def _plan(model, texts, settings):
    source = reproducing.source_of(model, None, None, None)
    return paper.make_reproduction(source, texts, settings)


def test_a_run_that_is_taken_up_tells_what_choosing_took_before(
    two, reproduce, small, tokens, other_tokens
):
    """In the process that made the pass, not in the one that finished the run."""
    (unit,) = load_run(two.folder / "choosing").manifest["times"]["units"].values()
    (first,) = (row for row in two.spent if row["part"].startswith("choosing"))
    assert first["seconds"] >= round(sum(unit.values()), 3) > 0
    written = (two.folder / TIMING).read_bytes()
    (two.folder / TIMING).unlink()
    again = reproduce([tokens[:, :40], other_tokens[:, :40]], settings=small, out=two.folder)
    (two.folder / TIMING).write_bytes(written)
    (second,) = (row for row in again.spent if row["part"].startswith("choosing"))
    assert second["seconds"] >= round(sum(unit.values()), 3)


@pytest.mark.parametrize("asked", [0, 64])
def test_no_more_rows_are_asked_for_than_there_are(model, small, tokens, asked):
    plan = _plan(model, tokens[:, :40], replace(small, sensitivity_rows=asked))
    assert plan.settings.sensitivity_rows == 40


def test_every_row_names_its_text(two):
    assert tuple(two.scans) == NAMES
    for name, frame in two.paper.items():
        if "text" in frame.columns and not frame.is_empty():
            assert frame["text"].unique(maintain_order=True).to_list() == list(NAMES), name
    assert len(two.paper["readings"]) == 2 * len(CLAIMS)
    assert len(two.paper["verdicts"]) == len(CLAIMS)


def test_the_choice_is_the_closest_on_the_first_text(two):
    chosen = Choice(**two.judging.choice)
    choices = two.paper["choices"]
    on_first = choices.filter(text=NAMES[0])
    assert choice_table.closest(on_first) == chosen
    for name in NAMES:
        mine = choices.filter(text=name)
        assert len(mine) == len(CHOICES)
        assert Choice(*mine.filter("measured").select("vectors", "scale", "keys").row(0)) == chosen
    assert two.judging.chosen_on == NAMES[0]
    # Every text is measured with it, in full.
    for scan in two.scans.values():
        curves = _tables(scan)["paper_curves"].filter(rule="model", window=0)
        full = curves.filter(rows=20).select("vectors", "scale", "keys").unique().rows()
        assert full == [tuple(vars(chosen).values())]


def test_the_choosing_text_has_the_other_choices_from_the_look(two):
    """They are not measured twice, and the figures have them all the same."""
    first, second = (_tables(scan)["paper_curves"] for scan in two.scans.values())
    assert first.filter(rule="model").select("vectors", "scale", "keys").n_unique() == 1
    assert second.filter(rule="model").select("vectors", "scale", "keys").n_unique() == 16
    fig3 = two.paper["fig3"].filter(rule="model", text=NAMES[0])
    assert fig3.select("vectors", "scale", "keys").n_unique() == 16


def test_the_second_text_changes_no_choice(two, reproduce, small, tokens):
    alone = reproduce([tokens[:, :40]], settings=small)
    assert alone.judging.choice == two.judging.choice
    assert alone.judging.reading == two.judging.reading
    for name in PAPER_TABLES.keys() - {"verdicts", "readings"}:
        assert alone.paper[name].equals(two.paper[name].filter(text=NAMES[0])), name
    # And a run in memory is the same as one in a folder.
    assert alone.folder is None
    assert alone.scan.heads.equals(two.scan.heads)


def test_the_first_text_is_the_one_that_is_looked_at(
    two, model, small, tokens, other_tokens, unchecked
):
    plan = _plan(model, [other_tokens[:, :40], tokens[:, :40]], small)
    looked, *_ = reproducing._look(plan, None, None)
    # The other way round it was the second, which has all choices but one from its own pass.
    chosen = pl.DataFrame([two.judging.choice])
    second = _tables(two.scans[NAMES[1]])["paper_curves"].filter(window=0, rule="model")
    first = load_run(two.folder / "choosing").tables["paper_curves"]
    looked, second, first = (
        each.join(chosen, on=chosen.columns, how="anti").sort(KEYS["paper_curves"])
        for each in (looked, second, first)
    )
    assert looked.equals(second)
    assert not looked.equals(first)


def test_it_is_read_again_as_it_was(two):
    read = Reproduction.load(two.folder)
    assert tuple(read.scans) == NAMES
    assert read.judging == two.judging
    assert read.timing == two.timing
    for name, frame in two.paper.items():
        assert read.paper[name].equals(frame), name
    for name, scan in two.scans.items():
        assert read.scans[name].heads.equals(scan.heads)
    assert any("for choosing" in line for line in read.judging.stands)
    assert any("for judging" in line for line in read.judging.stands)


def test_a_run_that_is_interrupted_again_and_again_goes_on_to_the_same_bytes(
    two, reproduce, small, tokens, other_tokens, parquet_bytes, tmp_path
):
    folder = tmp_path / "run"
    texts = [tokens[:, :40], other_tokens[:, :40]]
    for place in ("choosing", "texts/tokens", "texts/tokens-2"):

        def stop(share: float, place: str = place) -> None:
            if len(list((folder / place).glob("units/w*"))) == 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            reproduce(texts, settings=small, out=folder, progress=stop)
        assert (folder / place).exists()
        assert not (folder / "paper").exists()
        with pytest.raises(InputError, match=r"is no reproduction|is not finished"):
            Reproduction.load(folder)
    shares: list[float] = []
    again = reproduce(texts, settings=small, out=folder, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert parquet_bytes(folder) == parquet_bytes(two.folder)
    assert again.judging == two.judging


def test_another_run_in_the_folder_is_refused(two, reproduce, small, tokens, other_tokens):
    first, second = tokens[:, :40], other_tokens[:, :40]
    for texts, settings in (
        ([first], small),
        ([second, first], small),
        ([first, second], replace(small, seed=3)),
        ([first, second], replace(small, choice=Choice("final"))),
    ):
        with pytest.raises(InputError, match="other settings"):
            reproduce(texts, settings=settings, out=two.folder)


def test_the_same_text_twice_is_refused(model, tokens, small):
    with pytest.raises(InputError, match="was given twice: a second text must differ"):
        _plan(model, [tokens[:, :40], tokens[:, :40].clone()], small)


def test_names_that_collide_are_told_apart(model, tokens, other_tokens, small):
    third = torch.flip(tokens, (1,))
    plan = _plan(model, [each[:, :40] for each in (tokens, other_tokens, third)], small)
    assert list(plan.texts) == [*NAMES, "tokens 3"]
    assert [each["sha256"] for each in plan.identity["texts"]] == [
        text.text.sha256 for text in plan.texts.values()
    ]


def test_token_ids_are_one_text(model, tokens, small):
    ids = tokens.reshape(-1).tolist()
    assert len(_plan(model, ids, small).texts) == 1
    assert len(_plan(model, [ids, ids[::-1]], small).texts) == 2


def test_a_quick_run_reads_one_text(model, tokens, other_tokens, small):
    fast = quick(small)
    assert len(_plan(model, [tokens[:, :40]], fast).texts) == 1
    with pytest.raises(InputError) as error:
        _plan(model, [tokens[:, :40], other_tokens[:, :40]], fast)
    assert str(error.value) == (
        "a quick run reads one text, and 2 were given: give one, or leave quick out"
    )


def _judged(found, settings, chooses):
    """The same frames with trusted weights."""
    scans = {}
    for name, scan in found.scans.items():
        units = {key: unit | {"loss": 3.3} for key, unit in scan.manifest["units"].items()}
        scans[name] = replace(scan, manifest={**scan.manifest, "units": units})
    figures = PAPER_TABLES.keys() - {"verdicts", "readings"}
    frames = {
        text: {name: found.paper[name].filter(text=text) for name in figures} for text in scans
    }
    chosen = replace(settings, choice=Choice(**found.judging.choice))
    return reproducing.judged_frames(frames, scans, chosen, chooses)


def test_a_quick_run_judges_nothing(reproduce, small, tokens):
    settings = quick(replace(small, windows=1))
    found = reproduce(tokens[:, :40], settings=settings)
    for chooses in (True, False):
        paper, judging = _judged(found, settings, chooses)
        words = set(paper["verdicts"]["verdict"])
        assert words <= {
            "one text: not judged", "too few rows to judge", "cannot be tested here",
        }  # fmt: skip
        assert paper["verdicts"]["held"].sum() <= len(CLAIMS) * (not chooses)
        assert judging.stands[0].endswith("a look, nothing is judged")


def test_two_texts_of_a_model_that_predicts_are_judged(two, small):
    """The text for choosing is told, and does not count."""
    for chooses, most in ((True, 1), (False, 2)):
        paper, judging = _judged(two, small, chooses)
        # A choice that is given leaves all texts for judging.
        assert judging.chosen_on == (NAMES[0] if chooses else None)
        assert any("for choosing" in line for line in judging.stands) == chooses
        assert chooses or judging.reading == ("scaled", "random")
        verdicts = paper["verdicts"]
        free = verdicts["where"].str.contains("Lemma 1|Corollary 1|Table 1")
        leaning = verdicts.filter(~free)
        assert leaning["texts"].max() == most
        assert verdicts.filter(pl.col("held") > pl.col("texts")).is_empty()
        said = leaning.filter(pl.col("verdict") != "cannot be tested here")["comment"]
        assert len(said) > 0
        assert said.str.contains(f"on {NAMES[0]}, where the choice was made").all() == chooses
        assert not verdicts.filter(free)["comment"].str.contains("where the choice was made").any()
