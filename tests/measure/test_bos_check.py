"""The first window read with BOS and without, and what is said of it."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import models as token_models
from torch.nn import functional as F  # noqa: N812

import headgauge
from headgauge import models
from headgauge.errors import InputError
from headgauge.measure import bos_check, unit
from headgauge.measure.plan import source_of
from headgauge.options.commands import ScanOptions
from headgauge.scanning import ScanResult, scan_plan, scan_settings
from model_families import case
from tiny_gguf import BOS, EOS, write_gguf

SMALL: dict[str, Any] = {"top_n": [1, 2], "threads": 1, "length": 24, "windows": 2}
FIRST = "w0000-L00024"


@pytest.fixture(scope="module")
def prose(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty words that the small models' tokenizer knows."""
    draw = torch.Generator().manual_seed(3)
    words = torch.randint(3, 40, (60,), generator=draw).tolist()
    file = tmp_path_factory.mktemp("prose") / "prose.txt"
    file.write_text(" ".join(f"w{each}" for each in words))
    return file


@pytest.fixture(scope="module")
def loaded() -> models.LoadedModel:
    """Of the tests that change nothing in it."""
    return models.wrap(case("llama", "sdpa").model, _tokenizer())


@pytest.fixture(scope="module")
def scanned(loaded: models.LoadedModel, prose: Path) -> dict[str, ScanResult]:
    """With BOS and without."""
    small: dict[str, Any] = SMALL | {"length": [12, 24]}
    return {bos: headgauge.scan(loaded, prose, bos=bos, **small) for bos in ("always", "never")}


def _tokenizer() -> Any:
    words = {f"w{i}": i for i in range(3, 40)} | {"<s>": 1, "<unk>": 2}
    inner = Tokenizer(token_models.WordLevel(words, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    return hf.PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>")


def _expected(loaded: models.LoadedModel, text: Path, size: int = 24) -> dict[str, float]:
    """From the definition: the mean −log p of the text's tokens 2 to size − 1, read both ways."""
    tokens = torch.tensor(loaded.tokenizer(text.read_text())["input_ids"][: size - 1])  # type: ignore[misc]
    found = {}
    for name, before in (("with_bos", [1]), ("without_bos", [])):
        ids = torch.cat([torch.tensor(before, dtype=torch.long), tokens])
        with torch.no_grad():
            logits = loaded.model(ids[None]).logits[0]
        predicting = logits[len(before) : -1]
        found[name] = float(F.cross_entropy(predicting, tokens[1:]))
    return found


@pytest.mark.parametrize("bos", ["always", "never"])
def test_both_ways_over_the_same_tokens(
    loaded: models.LoadedModel, prose: Path, scanned: dict[str, ScanResult], bos: str
) -> None:
    units = scanned[bos].manifest["units"]
    assert units[FIRST].get("bos_losses") == pytest.approx(_expected(loaded, prose), rel=1e-5)
    assert [name for name, record in units.items() if record.get("bos_losses")] == [FIRST]
    ids = torch.tensor([[1] * (bos == "always")]).long()
    tokens = torch.tensor(loaded.tokenizer(prose.read_text())["input_ids"])  # type: ignore[misc]
    ids = torch.cat([ids[0], tokens])[None, :24]
    with torch.no_grad():
        whole = float(loaded.model(ids, labels=ids).loss)
    assert units[FIRST]["loss"] == pytest.approx(whole, rel=1e-5)


def test_of_a_long_window_the_beginning(
    loaded: models.LoadedModel, prose: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bos_check, "TOKENS", 10)
    for bos in ("always", "never"):
        result = headgauge.scan(loaded, prose, bos=bos, **SMALL)
        found = result.manifest["units"][FIRST].get("bos_losses")
        assert found == pytest.approx(_expected(loaded, prose, 10), rel=1e-5)


def test_a_change_is_told_and_how_to_read_the_other_way(
    loaded: models.LoadedModel,
    prose: Path,
    scanned: dict[str, ScanResult],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_bos, without = _expected(loaded, prose).values()
    assert abs(with_bos - without) > 0.03 * max(with_bos, without)  # so that there is one to tell
    told = {}
    for bos, here, there in (("always", with_bos, without), ("never", without, with_bos)):
        (told[bos],) = [note for note in scanned[bos].notes() if "BOS" in note]
        assert f"loss is {here:.2f} nats so and {there:.2f} with" in told[bos]
        assert "asked for" in told[bos]
        assert "over the same tokens of its first 256)" in told[bos]
        assert ("; --bos" in told[bos]) == (there < here)
    assert ("--bos always" in told["never"]) == (with_bos < without)
    monkeypatch.setattr(bos_check, "LIMIT", 10.0)
    assert not any("BOS" in note for note in scanned["always"].notes())


def test_a_model_that_does_not_mind_is_left_in_peace_and_as_it_was(llama: Any, prose: Path) -> None:
    loaded = models.wrap(llama.train(), _tokenizer())
    with torch.no_grad():
        llama.lm_head.weight.zero_()
    torch.manual_seed(0)
    expected = torch.rand(1, generator=torch.Generator().manual_seed(0))
    result = headgauge.scan(loaded, prose, **SMALL)
    losses = result.manifest["units"][FIRST].get("bos_losses", {})
    assert losses["with_bos"] == pytest.approx(torch.log(torch.tensor(50.0)).item(), rel=1e-5)
    assert not any("BOS" in note for note in result.notes())
    assert llama.training
    assert torch.equal(torch.rand(1), expected)


def test_what_is_not_compared(
    build: Any, llama: Any, loaded: models.LoadedModel, prose: Path
) -> None:
    given = headgauge.scan(loaded, torch.arange(3, 27)[None], top_n=[1])
    assert given.manifest["splits"] is not None
    assert given.manifest["splits"].get("bos", {}).get("why") == "token ids were given"
    assert all(record.get("bos_losses") == {} for record in given.manifest["units"].values())
    without = _tokenizer()
    without.bos_token = None
    others = {"llama": without, "bert": _tokenizer(), "t5": _tokenizer()}
    for name, tokenizer in others.items():
        source = source_of(build(name).model, tokenizer, None, None)
        plan = scan_plan(source, prose, scan_settings(ScanOptions(**SMALL)))
        assert [unit.other for unit in plan.units] == [None, None]


def _manifest(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "manifest.json").read_text())
    del found["times"]
    return found


def test_taken_up_again_it_is_not_repeated(
    loaded: models.LoadedModel, prose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(share: float) -> None:
        if share > 0.6:
            raise KeyboardInterrupt

    whole = headgauge.scan(loaded, prose, out=tmp_path / "whole", **SMALL)
    with pytest.raises(KeyboardInterrupt):
        headgauge.scan(loaded, prose, out=tmp_path / "part", progress=stop, **SMALL)
    assert [place.name for place in (tmp_path / "part" / "units").iterdir()] == [FIRST]
    monkeypatch.setattr(unit, "both_losses", lambda *args: pytest.fail("compared again"))
    again = headgauge.scan(loaded, prose, out=tmp_path / "part", **SMALL)
    assert _manifest(tmp_path / "part") == _manifest(tmp_path / "whole")
    assert again.notes() == whole.notes()
    assert any("BOS" in note for note in again.notes())
    _check_an_older_run(loaded, prose, tmp_path / "whole")


def _check_an_older_run(loaded: models.LoadedModel, prose: Path, run: Path) -> None:
    """One from before BOS was compared is read and taken up."""
    manifest = json.loads((run / "manifest.json").read_text())
    for name in ("bos", "eos"):
        del manifest["splits"][name]
    for record in manifest["units"].values():
        del record["bos_losses"]
    (run / "manifest.json").write_text(json.dumps(manifest))
    old = ScanResult.load(run)
    assert not any("BOS" in note for note in old.notes())
    path = run / "units" / FIRST / "unit.json"
    unit_file = json.loads(path.read_text())
    del unit_file["facts"]["bos_losses"]
    path.write_text(json.dumps(unit_file))
    again = headgauge.scan(loaded, prose, out=run, **SMALL)
    assert "bos_losses" not in again.manifest["units"][FIRST]


@pytest.fixture
def gguf_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("gguf")
    monkeypatch.setenv("HEADGAUGE_CACHE_DIR", str(tmp_path / "cache"))
    # A process keeps a model that it opened by its name: each file has its own.
    return lambda **said: write_gguf(tmp_path / f"{len(list(tmp_path.iterdir()))}.gguf", **said)


def test_the_manifest_says_what_was_put_and_why(gguf_file: Any, prose: Path) -> None:
    result = headgauge.scan(gguf_file(add_bos_token=True, add_eos_token=True), prose, **SMALL)
    splits = result.manifest["splits"]
    assert splits is not None
    assert splits.get("bos") == {
        "put": True, "id": BOS, "why": "the GGUF file says so", "file": True, "tokenizer": False,
    }  # fmt: skip
    assert splits.get("eos") == {
        "put": False, "id": EOS, "why": "a window of running text has no end",
        "file": True, "tokenizer": False,
    }  # fmt: skip
    assert any("the GGUF file was followed" in note for note in result.notes())
    assert result.samples.filter(key=0)["key_id"].unique().to_list() == [BOS]


def test_a_run_from_before_the_file_was_asked_is_another_run(
    gguf_file: Any, prose: Path, tmp_path: Path
) -> None:
    """Its units were read without BOS: going on would mix the two."""
    source = source_of(gguf_file(add_bos_token=False), None, None, None)
    plain = scan_plan(source, prose, scan_settings(ScanOptions(**SMALL)))
    assert "bos_token" not in plain.identity
    path = gguf_file(add_bos_token=True)
    result = headgauge.scan(path, prose, out=tmp_path / "run", **SMALL)
    assert result.manifest["settings"]["bos_token"] == BOS
    before = json.loads((tmp_path / "run" / "manifest.json").read_text())
    del before["settings"]["bos_token"]
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(before))
    with pytest.raises(InputError, match="bos_token"):
        headgauge.scan(path, prose, out=tmp_path / "run", **SMALL)
