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
from tiny_gguf import BOS, EOS, write_gguf

SMALL: dict[str, Any] = {"top_n": [1, 2], "threads": 1, "length": 24, "windows": 2}
FIRST = "w0000-L00024"


@pytest.fixture
def prose(tmp_path: Path) -> Path:
    """Sixty words that the small models' tokenizer knows."""
    draw = torch.Generator().manual_seed(3)
    words = torch.randint(3, 40, (60,), generator=draw).tolist()
    (tmp_path / "prose.txt").write_text(" ".join(f"w{each}" for each in words))
    return tmp_path / "prose.txt"


@pytest.fixture
def loaded(llama: Any) -> models.LoadedModel:
    return models.wrap(llama, _tokenizer())


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
def test_both_ways_over_the_same_tokens(loaded: models.LoadedModel, prose: Path, bos: str) -> None:
    small: dict[str, Any] = SMALL | {"length": [12, 24]}
    result = headgauge.scan(loaded, prose, bos=bos, **small)
    units = result.manifest["units"]
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
    loaded: models.LoadedModel, prose: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_bos, without = _expected(loaded, prose).values()
    assert abs(with_bos - without) > 0.03 * max(with_bos, without)  # so that there is one to tell
    told = {}
    for bos, here, there in (("always", with_bos, without), ("never", without, with_bos)):
        (told[bos],) = [n for n in headgauge.scan(loaded, prose, bos=bos, **SMALL).notes()
                        if "BOS" in n]  # fmt: skip
        assert f"loss is {here:.2f} nats so and {there:.2f} with" in told[bos]
        assert "asked for" in told[bos]
        assert ("; --bos" in told[bos]) == (there < here)
    assert ("--bos always" in told["never"]) == (with_bos < without)
    monkeypatch.setattr(bos_check, "LIMIT", 10.0)
    assert not any("BOS" in note for note in headgauge.scan(loaded, prose, **SMALL).notes())


def test_a_model_that_does_not_mind_is_left_in_peace(
    loaded: models.LoadedModel, prose: Path
) -> None:
    with torch.no_grad():
        loaded.model.lm_head.weight.zero_()  # type: ignore[union-attr]
    result = headgauge.scan(loaded, prose, **SMALL)
    losses = result.manifest["units"][FIRST].get("bos_losses", {})
    assert losses["with_bos"] == pytest.approx(torch.log(torch.tensor(50.0)).item(), rel=1e-5)
    assert not any("BOS" in note for note in result.notes())


def test_what_is_not_compared(
    build: Any, llama: Any, loaded: models.LoadedModel, prose: Path
) -> None:
    ids = torch.arange(3, 27)[None]
    given = headgauge.scan(loaded, ids, top_n=[1])
    assert given.manifest["splits"] is not None
    assert given.manifest["splits"].get("bos", {}).get("why") == "token ids were given"
    without = _tokenizer()
    without.bos_token = None
    encoder = models.wrap(build("bert").model, _tokenizer())
    both = models.wrap(build("t5").model, _tokenizer())
    found = [given] + [
        headgauge.scan(each, prose, **SMALL)
        for each in (models.wrap(llama, without), encoder, both)
    ]
    for each in found:
        assert all(record.get("bos_losses") == {} for record in each.manifest["units"].values())


def test_taken_up_again_it_is_not_repeated(
    loaded: models.LoadedModel, prose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(share: float) -> None:
        if share > 0.6:
            raise KeyboardInterrupt

    def manifest(folder: Path) -> dict[str, Any]:
        return {k: v for k, v in json.loads((folder / "manifest.json").read_text()).items()
                if k != "times"}  # fmt: skip

    whole = headgauge.scan(loaded, prose, out=tmp_path / "whole", **SMALL)
    with pytest.raises(KeyboardInterrupt):
        headgauge.scan(loaded, prose, out=tmp_path / "part", progress=stop, **SMALL)
    assert [place.name for place in (tmp_path / "part" / "units").iterdir()] == [FIRST]
    monkeypatch.setattr(unit, "both_losses", lambda *args: pytest.fail("compared again"))
    again = headgauge.scan(loaded, prose, out=tmp_path / "part", **SMALL)
    assert manifest(tmp_path / "part") == manifest(tmp_path / "whole")
    assert again.notes() == whole.notes()
    assert any("BOS" in note for note in again.notes())


def test_the_model_is_left_as_it_was(loaded: models.LoadedModel, prose: Path) -> None:
    loaded.model.train()
    torch.manual_seed(0)
    expected = torch.rand(1, generator=torch.Generator().manual_seed(0))
    headgauge.scan(loaded, prose, **SMALL)
    assert loaded.model.training
    assert torch.equal(torch.rand(1), expected)


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
    plain = headgauge.scan(gguf_file(add_bos_token=False), prose, **SMALL)
    assert "bos_token" not in plain.manifest["settings"]
    path = gguf_file(add_bos_token=True)
    result = headgauge.scan(path, prose, out=tmp_path / "run", **SMALL)
    assert result.manifest["settings"]["bos_token"] == BOS
    before = json.loads((tmp_path / "run" / "manifest.json").read_text())
    del before["settings"]["bos_token"]
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(before))
    with pytest.raises(InputError, match="bos_token"):
        headgauge.scan(path, prose, out=tmp_path / "run", **SMALL)


def test_an_older_run_is_still_read(
    loaded: models.LoadedModel, prose: Path, tmp_path: Path
) -> None:
    headgauge.scan(loaded, prose, out=tmp_path / "run", **SMALL)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    for name in ("bos", "eos"):
        del manifest["splits"][name]
    for record in manifest["units"].values():
        del record["bos_losses"]
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))
    old = headgauge.scanning.ScanResult.load(tmp_path / "run")
    assert not any("BOS" in note for note in old.notes())
    path = tmp_path / "run" / "units" / FIRST / "unit.json"
    unit_file = json.loads(path.read_text())
    del unit_file["facts"]["bos_losses"]
    path.write_text(json.dumps(unit_file))
    again = headgauge.scan(loaded, prose, out=tmp_path / "run", **SMALL)
    assert "bos_losses" not in again.manifest["units"][FIRST]
