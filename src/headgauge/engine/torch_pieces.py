"""In plain torch, a piece of rows: every key at once, one asked N after the other.

Every length here is ‖p_i x_i − z‖ for some numbers p and one vector z per row, taken from inner
products, and from the vectors themselves where those cancel (`_mend`). The passes over keys run in
the geometry's precision, what is one number per row or rank in double where the device has it.

Paper → code: α_i → `a`, ‖y_i‖² → `own`, ⟨x_i, s⟩ → `c`, ‖s‖² → `context2`, i ∉ I → not `gone`,
x̄ → `mean`. A key that does not count is `gone` from the start.
"""

import math

import torch
from torch import Tensor

from headgauge.devices import most_exact
from headgauge.engine.geometry import Geometry
from headgauge.engine.rows import CANCELLED
from headgauge.engine.torch_products import splits
from headgauge.engine.torch_ranks import Ball, Ranks, counted, roughly_counted, xi_bounds
from headgauge.theory.normalization.selection import leave_one_out_sum

TABLES = 24  # of (rows, keys) that a piece has in use at once
_RANKS = 8  # whose distances to all keys are among them
_ONE = 1e-5  # as in theory.selection.sums_to_one
# What single precision cannot tell, as shares of what was added up: see `rows`.
_CANCELLED_SINGLE = 1e-2
_CANCELLED_MEAN = 1e-4
_CANCELLED_CONTEXT = 1e-3
_NOTHING = 1e-12
_EFFORT = 1 << 18  # vector entries that may be read to replace lost squares of one row


class Piece:
    """Rows over the keys of a span; `spans` has first, end and count of each."""

    def __init__(
        self,
        geometry: Geometry,
        span: slice,
        weights: Tensor,
        visible: Tensor,
        spans: Tensor,
        everything: bool,
    ) -> None:
        self.geometry, self.span, self.everything = geometry, span, everything
        self.products = geometry.products
        self.x, self.norms2 = self.products.x[span], self.products.norms2[span]
        self.single, self.exact = self.x.dtype == torch.float32, most_exact(self.x.device)
        self.lost = _CANCELLED_SINGLE if self.single else CANCELLED
        visible = visible.expand(weights.shape)
        a = torch.where(visible, weights, 0.0)
        sound = torch.isfinite(a).all(-1)
        self.a = torch.where(sound[:, None], a, 0.0)
        counts = visible.any(-1, keepdim=True) if everything else visible
        self.counts = (counts & sound[:, None]).expand(weights.shape)
        self.first, self.end, self.size = *spans[:2], torch.where(sound, spans[2], 0)
        self.answers = self.size > 0
        self.hard, self.effort = torch.zeros_like(sound), torch.zeros_like(self.size)

    def measure(self, asked: list[int], entries: int) -> Tensor:
        """(N, measure, row), NaN where a row does not answer; the last is 1 for rows that single
        precision cannot answer. `entries` are those of a table that the device has room for."""
        self.entries = entries
        self._load()
        ranks = self.ranks = self._ranked(asked[-1])
        separation2, sphere2 = self._separation2(), self._sphere2()
        self.gone, reached, found = ~self.counts, torch.zeros_like(self.a), []
        for entered, n in zip([0, *asked], asked, strict=False):
            self.answers = self.size >= n if self.everything else self.size > n
            entering = ranks.places[:, entered:n]
            self.gone = self.gone.scatter(-1, entering, True)
            for some in splits(n - entered, _RANKS):
                apart2 = self.products.apart2(entering[:, some] + self.span.start, self.span)
                reached = torch.maximum(reached, apart2.amax(1))
            distance, bounds, ball, held, doubtful = self._outside(n, reached)
            xi = xi_bounds(ranks.values[:, :n], separation2, sphere2, ball.radius)
            separable = [ball.radius, held, held / n, *xi, doubtful, self.hard]
            column = [distance, *self._expected(n), *bounds, *separable]
            column = torch.stack([each.to(self.exact) for each in column])
            found.append(torch.where(self.answers, column, math.nan))
        if self.single:
            self.hard = self.hard | (self.effort * self.x.shape[1] > _EFFORT)
        answered = ~torch.isnan(found[0][-1])
        found[0][-1] = self.hard & answered
        return torch.stack(found)

    def _load(self) -> None:
        """What is asked of the keys before any is selected."""
        a = self.a
        self.own = a**2 * self.norms2
        self.mean = a @ self.x
        self.mean2 = (self.mean.to(self.exact) ** 2).sum(-1)
        self.minus = (self.mean @ self.x.T).mul_(-2)  # −2⟨x_i, x̄⟩
        self.across = a * self.minus
        self.positive = (a >= 0).all(-1)
        total = a.sum(-1, dtype=self.exact)
        self.one = self.positive & ((total - 1).abs() <= _ONE)
        if self.single:
            lengths = self.own.sqrt().sum(-1).to(self.exact)
            self.hard = self.mean2 < _CANCELLED_MEAN * lengths**2
        self.spread = self._spread()

    def _spread(self) -> Tensor:
        """V_i up to the factor that depends on N: Σ_{j≠i}‖z_j‖² − ‖z_i‖²/(n − 1), z centred y."""
        share = 1 / self.size.clamp(min=1).to(self.exact)
        small = self.mean2 * share**2
        squares = torch.addcmul(self._real(small), self.across, self._real(share))
        squares = squares.add_(self.own).clamp_(min=0).masked_fill_(~self.counts, 0.0)
        rest = squares.sum(-1) - squares.amax(-1)
        vanish = rest < 10 * self.lost * self.size * small
        if self.single:  # not to be told where all z nearly vanish
            self.hard = self.hard | vanish
        else:
            limit = torch.where(vanish, self.lost * small, -1.0)
            self._mend(squares, limit, self.a, self.mean * share[:, None], self.counts)
        others = (self.size - 1).clamp(min=1)
        return (leave_one_out_sum(squares) - squares / others[:, None]).clamp_(min=0)

    def _ranked(self, most: int) -> Ranks:
        # Keys that do not count come last, whatever the weights.
        keyed = torch.where(self.counts, self.a, -math.inf)
        places = torch.sort(keyed, dim=-1, descending=True, stable=True).indices[:, :most]
        values = self.a.gather(-1, places).to(self.exact)
        norms2 = self.norms2.to(self.exact)[places]
        rest = self.a.scatter(-1, places, 0.0).sum(-1, dtype=self.exact)
        rest2 = self.own.scatter(-1, places, 0.0).amax(-1).to(self.exact)
        ranks = Ranks.of(values, places, norms2, rest, rest2)
        if self.single:
            some = (self.a != 0).any(-1)
            self.hard = self.hard | (some & (ranks.own[:, 0] < _NOTHING**2))
        return ranks

    def _separation2(self) -> Tensor:
        """δ²; for rows that see all keys up to their last it is known."""
        least = self.products.running2[(self.end - 1).clamp(min=0)]
        others = torch.nonzero((self.first > 0) | (self.size < self.end))[:, 0]
        for some in splits(len(others), len(others)):
            step = self.entries // self.a.shape[1]
            found = self.products.separation2(self.counts[others[some]], self.span, step)
            least = least.index_put((others[some],), found)
        return least.to(self.exact)

    def _sphere2(self) -> Tensor:
        """M²."""
        if self.geometry.unit:
            return torch.ones_like(self.mean2)
        return torch.where(self.counts, self.norms2, 0.0).amax(-1).to(self.exact)

    def _outside(
        self, n: int, reached: Tensor
    ) -> tuple[Tensor, list[Tensor], Ball, Tensor, Tensor]:
        """d̃, the bounds of Theorem 1.1, the ball, N_s and whether only the reference can tell it,
        from the distances of the unselected keys to s."""
        ranks, gone = self.ranks, self.gone
        mass, reach, tail = ranks.mass[:, n], ranks.reach[:, n], ranks.tail[:, n]
        left_out = self.size - n
        outside = self.a.masked_fill(gone, 0.0)
        s = (self.a - outside) @ self.x
        c = s @ self.x.T
        context2 = (s.to(self.exact) ** 2).sum(-1)
        h = torch.sub(self.own, self.a * c, alpha=2).masked_fill_(gone, math.inf)
        least = h.amin(-1).to(self.exact)
        squares = h.add_(self._real(context2))
        row, mended = self._mend(squares, self.lost * context2, self.a, s)
        least = least.scatter_reduce(0, row, mended - context2[row], "amin", include_self=False)
        radius = (least + context2).clamp(min=0).sqrt()
        ball = Ball(radius, context2.sqrt(), reach)
        squares.masked_fill_(gone, 0.0)
        upper = (left_out * squares.sum(-1)).sqrt()
        distance = squares.sqrt_().sum(-1)
        far2 = reached.masked_fill(gone, 0.0).amax(-1).to(self.exact)
        far2 = self._far2(n, far2)
        if self.single:
            self.hard = self.hard | (self.answers & (context2 < _CANCELLED_CONTEXT * reach**2))
        bracket = mass * left_out - tail
        printed = tail * far2.sqrt() + ranks.chosen2[:, n].sqrt() * bracket
        inverse = torch.where(mass > 0, 1 / mass, 0.0)
        centroid = self._from_centroid(c, s, context2, inverse, outside)
        centroid = centroid + ball.length * inverse * bracket
        lower = torch.linalg.vector_norm((left_out + 1)[:, None] * s - self.mean, dim=-1)
        bounds = [
            torch.where(self.one, printed, math.nan),
            torch.where(self.positive, centroid, math.nan),
            torch.where(left_out > 0, lower, 0.0),
            upper,
        ]
        own, values = ranks.own[:, :n], ranks.values[:, :n]
        h = own - 2 * values * c.gather(-1, ranks.places[:, :n])
        if not self.single:
            held, certain = counted(own, h + context2[:, None], ball)
            return distance, bounds, ball, held, ~certain
        noise = torch.finfo(c.dtype).eps / 2 * (n + s.shape[1] + 8)
        held, certain = roughly_counted(own, h, least, ranks.longest2[:, n], noise, ball)
        return distance, bounds, ball, *self._decided(n, held, certain)

    def _from_centroid(
        self, c: Tensor, s: Tensor, context2: Tensor, inverse: Tensor, outside: Tensor
    ) -> Tensor:
        """Σ_{i∉I} α_i‖x_i − s/ᾱ‖. A square matters as far as its key has weight beside ᾱ."""
        squares = torch.addcmul(self.norms2, c, self._real(-2 * inverse))
        squares.add_(self._real(context2 * inverse**2))
        lost = self.own * self._real(torch.where(self.answers, self.lost * inverse**2, 0.0))
        one = torch.ones_like(inverse, dtype=s.dtype)[:, None].expand_as(c)
        self._mend(squares, lost, one, s * self._real(inverse), ~self.gone)
        return squares.clamp_(min=0).sqrt_().mul_(outside).sum(-1)

    def _far2(self, n: int, far2: Tensor) -> Tensor:
        """max ‖x_i − x_j‖² over i ∉ I, j ∈ I, from the vectors where all of these are close."""
        scale2 = torch.where(self.counts, self.products.centred2[self.span], 0.0).amax(-1)
        near = self.answers & self.one & (self.size > n) & (far2 < 2 * self.lost * scale2)
        if self.single:
            self.hard = self.hard | near
            return far2
        rows, places = torch.nonzero(near)[:, 0], self.ranks.places[:, :n]
        for some in splits(len(rows), TABLES * self.entries // (n * self.a.shape[1])):
            row = rows[some]
            apart = torch.cdist(
                self.x[places[row]], self.x, compute_mode="donot_use_mm_for_euclid_dist"
            )
            farthest = apart.amax(1).masked_fill(self.gone[row], 0.0).amax(-1)
            far2 = far2.index_put((row,), farthest**2)
        return far2

    def _decided(self, n: int, held: Tensor, certain: Tensor) -> tuple[Tensor, Tensor]:
        """N_s of the rows whose distances single precision cannot compare, from those in double."""
        asked = self.answers & ~self.hard & ~certain
        if self.exact == torch.float32:
            self.hard = self.hard | asked
            return held, torch.zeros_like(asked)
        rows = torch.nonzero(asked)[:, 0]
        if not len(rows):
            return held, ~certain
        double = self.geometry.double.products
        x, norms2 = double.x[self.span], double.norms2[self.span]
        a, gone, places = self.a[rows].double(), self.gone[rows], self.ranks.places[rows, :n]
        s = (a - a.masked_fill(gone, 0.0)) @ x
        context2 = (s**2).sum(-1)
        own = a**2 * norms2
        h = torch.sub(own, a * (s @ x.T), alpha=2)
        least = h.masked_fill(gone, math.inf).amin(-1)
        radius = (least + context2).clamp(min=0).sqrt()
        ball = Ball(radius, context2.sqrt(), self.ranks.reach[rows, n])
        told, sure = counted(own.gather(-1, places), (h + context2[:, None]).gather(-1, places), ball)
        return held.index_put((rows,), told), (~certain).index_put((rows,), ~sure)

    def _expected(self, n: int) -> list[Tensor]:
        """The three forms of E (Theorem 1.2)."""
        size = self.size.to(self.exact)
        others = (size - 1).clamp(min=1)
        nu = torch.where(size > 1, n / others, 0.0)
        pairs = (others * (size - 2)).clamp(min=1)
        factor = torch.where(n < size - 1, n * (size - 1 - n) / pairs, 0.0)
        weights = self.a + self._real(nu)
        # ‖(α_i + ν)x_i − x̄‖²
        squares = torch.addcmul(self.minus, weights, self.norms2)
        squares = torch.addcmul(self._real(self.mean2), squares, weights)
        self._mend(squares, self.lost * self.mean2, weights, self.mean, self.counts)
        printed = self._roots(squares)
        # ‖m_i‖² = (1 + ν)²‖y_i − κx̄‖² with κ = ν/(1 + ν)
        kappa = nu / (1 + nu)
        shrunk = kappa**2 * self.mean2
        squares = torch.addcmul(self.own, self.across, self._real(kappa))
        squares.add_(self._real(shrunk))
        self._mend(squares, self.lost * shrunk, self.a, self.mean * self._real(kappa), self.counts)
        upper = torch.addcmul(squares, self.spread, self._real(factor / (1 + nu) ** 2))
        share = (size - n) / size.clamp(min=1)
        grown = share * (1 + nu)
        return [share * printed, grown * self._roots(squares), grown * self._roots(upper)]

    def _roots(self, squares: Tensor) -> Tensor:
        """Σ√q over the counting keys."""
        squares = squares.masked_fill_(~self.counts, 0.0).clamp_(min=0)
        return squares.sqrt_().sum(-1)

    def _real(self, each: Tensor) -> Tensor:
        """One number per row, to meet the keys."""
        return each.to(self.a.dtype)[:, None]

    def _mend(
        self, squares: Tensor, small: Tensor, p: Tensor, z: Tensor, among: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Squares below `small` anew, as ‖p_i x_i − z‖² from the vectors; the rows and values of
        those. A row that has lost too many is left to double precision."""
        if small.ndim == 1:
            small = self._real(torch.where(self.answers, small, -math.inf))
        lost = squares < small
        row, key = torch.nonzero(lost if among is None else lost & among, as_tuple=True)
        dim = self.x.shape[1]
        if self.single and len(row):
            self.effort = self.effort.index_add(0, row, torch.ones_like(row))
            if len(row) * dim > _EFFORT:
                few = self.effort[row] * dim <= _EFFORT
                row, key = row[few], key[few]
        vectors = self.geometry.vectors[self.span]
        parts = [row.new_empty(0, dtype=self.exact)]
        for some in splits(len(row), TABLES * self.entries // (8 * dim)):
            at = row[some], key[some]
            apart = p[at].to(self.exact)[:, None] * vectors[at[1]] - z[at[0]]
            parts.append((apart**2).sum(-1))
        mended = torch.cat(parts)
        squares[row, key] = mended.to(squares)
        return row, mended
