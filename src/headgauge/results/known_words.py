"""The words that columns of the tables choose from: whatever else a file holds is damage.

They become names of files and headings, so that none may come from a file unseen.
"""

from typing import Literal

Vectors = Literal["value", "hidden", "embedding", "final"]
Scale = Literal["unit", "raw"]  # the length of the vectors
Keys = Literal["visible", "all"]  # the keys that count
Seen = Literal["qkv", "softmax"]
Logits = Literal["scaled", "raw"]
Panel = Literal["circle", "model"]
Expected = Literal["printed", "appendix", "upper"]
Weights = Literal["identity", "random", "layers"]
