"""What a normalisation rule is: weights from logits, and what is known about them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.errors import InputError
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Logits, Mask, Number, PerRow, Positions, Rows, prepare


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known about a rule before any logits are seen."""

    name: str
    formula: str
    source: str
    parameters: dict[str, Any]
    fits: dict[str, "Fit"]
    sums_to_one: bool
    sparse: bool
    form_f: bool
    uses_length: bool
    jacobian_bound: str

    @property
    def written(self) -> str:
        """As users write it, with its defaults: ssmax:s=1:b=0 (`normalizers.asked`)."""
        return self.name + "".join(f":{each}" for each in self.settings)

    @property
    def settings(self) -> list[str]:
        """Each parameter with its default; one without a default wants a number."""
        return [
            f"{name}={'NUMBER' if default is None else f'{default:g}'}"
            for name, default in self.parameters.items()
        ]

    @property
    def properties(self) -> str:
        """Those that hold, in words."""
        words = {
            "sums to one": self.sums_to_one,
            "sparse": self.sparse,
            "form F": self.form_f,
            "knows n": self.uses_length,
        }
        return ", ".join(word for word, holds in words.items() if holds) or "–"


@dataclass(frozen=True)
class Fit:
    """Where a fit looks for a parameter: from `low` to `high`, evenly or evenly on the logarithm.

    `unchanged`, with the rule's other parameters at theirs, leaves the logits as they are: softmax
    itself where the rule has it, else its plain form (1.5-entmax of ASEntmax). None where there is
    no such value. What is learned acts as if it stopped at `least` and `most`.
    """

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    unchanged: float | None = None
    least: float | None = None
    most: float | None = None


def limited(
    default: Number | None,
    wanted: str,
    holds: Callable[[Any], bool | Tensor],
    fit: Fit | None = None,
) -> Any:
    """A parameter that must be what `wanted` says, which is where `holds` is true.

    With a `fit` it can be fitted and learned, so that it may be a tensor too.
    """
    return field(default=default, metadata={"wanted": wanted, "holds": holds, "fit": fit})


def free(default: Number | None, fit: Fit) -> Any:
    """A parameter that may be any number, and where a fit looks for it."""
    return field(default=default, metadata={"fit": fit})


@dataclass(frozen=True, eq=False)
class Normalizer:
    """A rule that turns each row of logits into attention weights along the last axis.

    Class-level facts:

    - `source`: an arXiv id, a repository, or "–";
    - `sums_to_one`: every row that sees a key sums to 1;

    and, False unless a rule says otherwise,

    - `sparse`: on whole regions of logits, several visible keys get exactly 0;
    - `form_f`: weights_i = F(logits_i, θ)/Σ_j F(logits_j, θ), where θ may contain n;
    - `uses_length`: n (or the position) enters the formula;
    - `cosines`: it reads cosines of queries and keys instead of logits, and has a parameter `dim`,
      the size of the head unless it is given;
    - `is_sink`: its own sink takes the place of one that a model has;
    - `wide`: it makes the last digits of logits large ones, so that logits and weights are computed
      in fp64 where the device has it.

    Its parameters are fields, `limited` where not every number will do; those with a `Fit` can be
    fitted and learned. A rule implements `_weights` and `_jacobian` on prepared rows. A model that
    gets the rule can use its own fast function where the rule says how, by `factor_on_logits` or
    `mass_of_sink`.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    sums_to_one: ClassVar[bool]
    sparse: ClassVar[bool] = False
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = False
    cosines: ClassVar[bool] = False
    is_sink: ClassVar[bool] = False
    wide: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse a parameter that is no number, no tensor, not finite, or beyond its limits."""
        for each in fields(self):
            value = getattr(self, each.name)
            if value is None and each.default is None:
                continue
            if not _is_number(value):
                raise self._refusal(each.name, "a finite number or a floating-point tensor")
            if isinstance(value, int) and abs(value) >> 63:  # torch takes no such integers
                object.__setattr__(self, each.name, float(value))
        self._check_limits()

    def _check_limits(self) -> None:
        for each in fields(self):
            if "holds" in each.metadata:
                value = getattr(self, each.name)
                if value is None:
                    continue
                if not bool(torch.as_tensor(each.metadata["holds"](value)).all()):  # nor NaN
                    raise self._refusal(each.name, each.metadata["wanted"])

    def _refusal(self, label: str, wanted: str) -> InputError:
        shown = value = getattr(self, label)
        if isinstance(value, Tensor):
            shown = f"a tensor of shape {tuple(value.shape)}"
        elif isinstance(value, int) and value.bit_length() > 64:  # python prints no huge ones
            shown = f"an integer of {value.bit_length()} bits"
        return InputError(f"{self.name}: {label} must be {wanted}; got {shown}")

    def __call__(
        self,
        logits: Logits,
        mask: Mask = None,
        *,
        positions: Positions = None,
        sink: PerRow | None = None,
    ) -> Logits:
        """The weights, in the dtype of the logits (fp16 and bf16 are computed in fp32).

        `mask` is True where a key may be seen. `positions`, counted from 1, matter only to rules
        that follow the position instead of the number of visible keys. `sink` is one more logit of
        each row, whose weight goes nowhere and which is no key: n does not count it.
        """
        rows = self._prepare(logits, mask, positions)
        if logits.numel() == 0:
            return logits.clone()
        rows = rows.widened() if self.wide else rows
        if sink is not None:
            return self._weights(rows.with_sink(sink))[..., :-1].to(logits.dtype)
        return self._weights(rows).to(logits.dtype)

    def in_heads_of(self, dim: int) -> "Normalizer":
        """The rule in heads of this size."""
        return replace(self, dim=dim) if self.cosines and vars(self)["dim"] is None else self

    def factor_on_logits(self, n: Tensor) -> PerRow | None:
        """c for rows that see n keys, if the weights are softmax(c·z); None for other rules."""
        return None

    def mass_of_sink(self) -> PerRow | None:
        """S, if the weights are exp(z)/(e^S + Σ exp(z)); None for other rules."""
        return None

    @classmethod
    def per_row(cls) -> tuple[str, ...]:
        """The parameters that may be a tensor, one number per head, say."""
        return tuple(each.name for each in fields(cls) if each.type in (PerRow, PerRow | None))

    @torch.no_grad()
    def jacobian(
        self, logits: Logits, mask: Mask = None, *, positions: Positions = None
    ) -> Jacobian:
        """∂weights/∂logits at these logits, in fp64 where the device has it, without a graph.

        At a kink (a key that enters or leaves the support) it is one of the one-sided ones.
        """
        rows = self._prepare(logits, mask, positions).widened()
        if logits.numel() == 0:
            return Jacobian(torch.zeros_like(rows.logits))
        return self._jacobian(rows)

    @torch.no_grad()
    def spectral_norm(
        self, logits: Logits, mask: Mask = None, *, positions: Positions = None
    ) -> Float[Tensor, "*rows"]:
        """‖J‖₂ of every row: how far the weights move for a unit step of the logits, at worst."""
        norm = self.jacobian(logits, mask, positions=positions).spectral_norm()
        return norm if logits.dtype == torch.float64 else norm.float()

    def jacobian_bound(self, n: int) -> float | None:
        """A bound on ‖J‖₂ over all logits of n visible keys, for a query that stands at n.

        `math.inf` where the norm is unbounded, None where no bound is known. Whether it is
        attained stands in `jacobian_bound_text`.
        """
        raise NotImplementedError

    def _prepare(self, logits: Tensor, mask: Tensor | None, positions: Tensor | None) -> Rows:
        rows = prepare(logits, mask, positions)
        for label, value in vars(self).items():
            if isinstance(value, Tensor):
                rows.column(value, f"{self.name}: {label}")
        return rows

    def _weights(self, rows: Rows) -> Tensor:
        raise NotImplementedError

    def _jacobian(self, rows: Rows) -> Jacobian:
        raise NotImplementedError

    @classmethod
    def fits(cls) -> dict[str, Fit]:
        """The parameters that can be fitted and learned, and where to look for them."""
        found = {each.name: each.metadata.get("fit") for each in fields(cls)}
        return {name: fit for name, fit in found.items() if fit is not None}

    @classmethod
    def facts(cls) -> Facts:
        """The class-level facts and the parameters with their defaults."""
        named = ("name", "formula", "source", "sums_to_one", "sparse", "form_f", "uses_length")
        return Facts(
            **{name: getattr(cls, name) for name in named},
            parameters={each.name: each.default for each in fields(cls)},
            fits=cls.fits(),
            jacobian_bound=cls.jacobian_bound_text,
        )


def _is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.dtype.is_floating_point
    try:
        real = isinstance(value, Real) and not isinstance(value, bool)
        return real and math.isfinite(float(value))
    except OverflowError:  # an integer beyond floats
        return False


def largest(value: PerRow) -> float:
    """The largest magnitude among the rows, for a bound that must hold on all of them."""
    return float(value.detach().abs().max()) if isinstance(value, Tensor) else abs(value)
