"""Where tokens stand in a text, and which of them are no text."""

from typing import Any

import numpy as np
from jaxtyping import Bool

from headgauge.errors import InputError
from headgauge.models.facts import LoadedModel

# What configs and tokenizers call the token that stands for a piece of an image and the like.
_PLACEHOLDERS = {
    f"{kind} placeholders": tuple(f"{kind}_token_{end}" for end in ("id", "index"))
    for kind in ("image", "video", "audio")
}


def tokens_at(
    loaded: LoadedModel, text: str, ranges: list[tuple[int, int]]
) -> Bool[np.ndarray, "tokens"]:
    """Which tokens of a text have a character in one of the ranges [start, end). The white space
    that many tokens begin with is left aside: between two ranges a word is in one of them."""
    tokenizer: Any = loaded.tokenizer
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"the tokenizer of {loaded.name} does not say which characters a token has: give spans "
            'as {"tokens": [start, end]}'
        )
    read = tokenizer(text, add_special_tokens=False, verbose=False, return_offsets_mapping=True)
    starts, ends = np.array(read["offset_mapping"], dtype=np.int64).reshape(-1, 2).T
    # Where the next letter is; a token of white space alone, or of nothing, stands where it begins.
    places = [place if not letter.isspace() else len(text) for place, letter in enumerate(text)]
    letters = np.minimum.accumulate([len(text), *reversed(places)])[::-1]
    starts = np.where(letters[starts] < ends, letters[starts], starts)
    ends = np.maximum(ends, starts + 1)
    return np.any([(starts < end) & (ends > start) for start, end in ranges], axis=0)


def token_classes(loaded: LoadedModel) -> dict[str, tuple[int, ...]]:
    """By name the ids of tokens that are no text: special tokens, and what stands for images."""
    model: Any = loaded.model
    tokenizer: Any = loaded.tokenizer
    found: dict[str, tuple[int, ...]] = {}
    for name, called in _PLACEHOLDERS.items():
        places = (model.config, tokenizer)
        ids = {getattr(place, each, None) for place in places for each in called}
        if known := tuple(sorted(each for each in ids if isinstance(each, int))):
            found[name] = known
    others = {each for ids in found.values() for each in ids}
    special = set(getattr(tokenizer, "all_special_ids", ())) - others
    return {"special tokens": tuple(sorted(special)), **found} if special else found
