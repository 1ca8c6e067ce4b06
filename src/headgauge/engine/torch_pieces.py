"""In plain torch, a piece of rows: every key at once, one asked N after the other.

As in the compiled rows (`rows`), keys enter I in the order of their weights and bring their rows of
the Gram matrix, eight at a time; the measures are read off at the asked N. Squares of lengths
‖p_i x_i − z‖ come from inner products, and from the vectors where those cancel (`_mend`). The
passes over keys run in the geometry's precision, what is one number per row or rank in double where
the device has it.

Paper → code: α_i → `a`, ‖y_i‖² → `own`, ⟨x_i, s⟩ → `c`, ‖s‖² → `context2`, x̄ → `mean`. Keys are
masked by products and sums (`counting` and `left` are 1 or 0, `wall` is 0 or ∞): conditions cost
ten times as much.
"""

import math

import torch
from torch import Tensor

from headgauge.devices import most_exact
from headgauge.engine.geometry import Geometry
from headgauge.engine.rows import CANCELLED
from headgauge.engine.torch_products import splits
from headgauge.engine.torch_ranks import Ball, Ranks, counted, roughly_counted, xi_bounds
from headgauge.products import times
from headgauge.theory.normalization.selection import leave_one_out_sum

TABLES = 40  # of (rows, keys) that a piece has in use at once
_RANKS = 8  # whose products with all keys are among them
_ONE = 1e-5  # as in theory.selection.sums_to_one
# What single precision cannot tell, as shares of what was added up: see `rows`.
_CANCELLED_SINGLE = 1e-2
_CANCELLED_MEAN = 1e-4
_CANCELLED_CONTEXT = 1e-3
_NOTHING = 1e-12
_EFFORT = 1 << 18  # vector entries that may be read to replace lost squares of one row


class Piece:
    """Rows over the keys of a span; `spans` has first, end and count of each, `entries` is how many
    a table may have."""

    def __init__(
        self,
        geometry: Geometry,
        span: slice,
        weights: Tensor,
        visible: Tensor,
        spans: Tensor,
        everything: bool,
        entries: int,
    ) -> None:
        self.geometry, self.span, self.everything = geometry, span, everything
        self.products, self.entries = geometry.products, entries
        self.x, self.norms2 = self.products.x[span], self.products.norms2[span]
        self.single, self.exact = self.x.dtype == torch.float32, most_exact(self.x.device)
        self.lost = _CANCELLED_SINGLE if self.single else CANCELLED
        self.a = torch.where(visible, weights, 0.0)
        sound = torch.isfinite(self.a.abs().amax(-1))
        counts = visible.any(-1, keepdim=True) if everything else visible
        if not bool(sound.all()):
            self.a = torch.where(sound[:, None], self.a, 0.0)
            counts = counts & sound[:, None]
        self.counts = counts.expand(weights.shape)
        self.counting = self.counts.to(self.a.dtype)
        self.wall = 1 / self.counting - 1
        self.first, self.end, self.size = *spans[:2], torch.where(sound, spans[2], 0)
        self.answers = self.size > 0
        self.hard, self.effort = torch.zeros_like(sound), torch.zeros_like(self.size)

    def measure(self, asked: list[int]) -> Tensor:
        """(N, measure, row), NaN where a row does not answer; the last is 1 for rows that single
        precision cannot answer."""
        self._load()
        self.ranks = self._ranked(asked[-1])
        separation2, sphere2 = self._separation2(), self._sphere2()
        self.left, self.wall = self.counting.clone(), self.wall.clone()
        self.c, self.s = torch.zeros_like(self.a), torch.zeros_like(self.mean)
        self.reached = torch.full_like(self.a, math.inf)
        most = len(self.a) * min(_RANKS, asked[-1])
        self.room = [self.x.new_empty(most, each) for each in (self.x.shape[1], self.a.shape[1])]
        found = []
        for entered, n in zip([0, *asked], asked, strict=False):
            self.answers = self.size >= n if self.everything else self.size > n
            self._enter(entered, n)
            distance, bounds, ball, held, doubtful = self._outside(n)
            xi = xi_bounds(self.ranks.values[:, :n], separation2, sphere2, ball.radius)
            separable = [ball.radius, held, held / n, *xi, doubtful, torch.zeros_like(held)]
            column = [distance, *self._expected(n), *bounds, *separable]
            column = torch.stack([each.to(self.exact) for each in column])
            found.append(torch.where(self.answers, column, math.nan))
        if self.single:
            self.hard = self.hard | (self.effort * self.x.shape[1] > _EFFORT)
            found[0][-1] += self.hard  # still NaN where nothing is answered
        return torch.stack(found)

    def _load(self) -> None:
        """What is asked of the keys before any is selected."""
        a = self.a
        self.own = a**2 * self.norms2
        self.mean = times(a, self.x)
        self.mean2 = _square(self.mean, self.exact)
        self.minus = times(self.mean, self.x.T).mul_(-2)  # −2⟨x_i, x̄⟩
        self.across = a * self.minus
        self.positive = a.amin(-1) >= 0
        total = a.sum(-1, dtype=self.exact)
        self.one = self.positive & ((total - 1).abs() <= _ONE)
        self.longest2 = (self.counting * self.norms2).amax(-1).to(self.exact)
        if self.single:
            lengths = self.own.sqrt().sum(-1).to(self.exact)
            self.hard = self.mean2 < _CANCELLED_MEAN * lengths**2
        self.spread = self._spread()

    def _spread(self) -> Tensor:
        """V_i up to the factor that depends on N: Σ_{j≠i}‖z_j‖² − ‖z_i‖²/(n − 1), z centred y."""
        share = 1 / self.size.clamp(min=1).to(self.exact)
        small = self.mean2 * share**2
        squares = torch.addcmul(self._real(small), self.across, self._real(share))
        squares = squares.add_(self.own).clamp_(min=0).mul_(self.counting)
        rest = squares.sum(-1) - squares.amax(-1)
        vanish = rest < 10 * self.lost * self.size * small
        if self.single:  # not to be told where all z nearly vanish
            self.hard = self.hard | vanish
        else:
            limit = torch.where(vanish, self.lost * small, -1.0)
            self._mend(squares, limit, self.a, self.mean * share[:, None])
        others = (self.size - 1).clamp(min=1)
        spread = leave_one_out_sum(squares) - squares / others[:, None]
        return spread.clamp_(min=0).mul_(self.counting)

    def _ranked(self, most: int) -> Ranks:
        keyed = self.a - self.wall  # keys that do not count come last, whatever the weights
        values, places = keyed.topk(min(most + 1, keyed.shape[1]))
        # Among equal weights topk takes any, and the lowest index is meant.
        tied = torch.nonzero((values[:, 1:] == values[:, :-1]).any(-1))[:, 0]
        if len(tied):
            order = torch.sort(keyed[tied], dim=-1, descending=True, stable=True).indices
            places[tied] = order[:, : places.shape[1]]
        places = places[:, :most]
        values = self.a.gather(-1, places).to(self.exact)
        norms2 = self.norms2.to(self.exact)[places]
        rest = self.a.scatter(-1, places, 0.0).sum(-1, dtype=self.exact)
        rest2 = self.own.scatter(-1, places, 0.0).amax(-1).to(self.exact)
        ranks = Ranks.of(values, places, norms2, rest, rest2)
        if self.single:
            nothing = ranks.own[:, 0] < _NOTHING**2
            self.hard = self.hard | (nothing & (self.a.abs().amax(-1) > 0))
        return ranks

    def _separation2(self) -> Tensor:
        """δ²; known for rows that see all keys up to their last."""
        least = self.products.running2[(self.end - 1).clamp(min=0)]
        others = torch.nonzero((self.first > 0) | (self.size < self.end))[:, 0]
        if len(others):
            step = self.entries // self.a.shape[1]
            found = self.products.separation2(self.counts[others], self.span, step)
            least = least.index_put((others,), found)
        return least.to(self.exact)

    def _sphere2(self) -> Tensor:
        """M²."""
        return torch.ones_like(self.mean2) if self.geometry.unit else self.longest2

    def _enter(self, entered: int, n: int) -> None:
        """Ranks entered…n − 1 enter I: s, ⟨x_i, s⟩ and the farthest of them grow."""
        rows, width = self.a.shape
        places = self.ranks.places[:, entered:n]
        values = self.ranks.values[:, None, entered:n].to(self.a.dtype)
        self.left.scatter_(-1, places, 0.0)
        self.wall.scatter_(-1, places, math.inf)
        for some in splits(n - entered, _RANKS):
            keys = places[:, some].flatten()
            vectors = torch.index_select(self.x, 0, keys, out=self.room[0][: len(keys)])
            vectors = vectors.view(rows, -1, self.x.shape[1])
            if self.single:
                self.s += torch.bmm(values[..., some], vectors)[:, 0]
            else:  # one by one, not fused: opposite terms must leave nothing behind
                terms = vectors.mul_(values[..., some].mT)
                self.s = torch.cat([self.s[:, None], terms], 1).cumsum(1)[:, -1]
            room = self.room[1][: len(keys)]
            gram = self.products.gram_rows(keys + self.span.start, self.span, room)
            gram = gram.view(rows, -1, width)
            self.c += torch.bmm(values[..., some], gram)[:, 0]
            if not self.products.alike:
                gram.sub_((self.norms2[keys] / 2).view(rows, -1, 1))
            torch.minimum(self.reached, gram.amin(1), out=self.reached)

    def _outside(self, n: int) -> tuple[Tensor, list[Tensor], Ball, Tensor, Tensor]:
        """d̃, the bounds of Theorem 1.1, the ball, N_s and whether only the reference can tell it,
        from the distances of the unselected keys to s."""
        ranks, s, c = self.ranks, self.s, self.c
        mass, reach, tail = ranks.mass[:, n], ranks.reach[:, n], ranks.tail[:, n]
        longest2, left_out = ranks.longest2[:, n], self.size - n
        context2 = _square(s, self.exact)
        if self.single:
            faint = context2 < _CANCELLED_CONTEXT * reach**2
            self.hard = self.hard | (self.answers & faint)
        h = torch.addcmul(self.own, self.a, c, value=-2)
        least = (h + self.wall).amin(-1).to(self.exact)
        squares = h.add_(self._real(context2))
        small = self.lost * (context2 + longest2.sqrt() * reach)
        near = least + context2 < small
        row, mended = self._mend(squares, small, self.a, s, near, self.left)
        radius2 = (least + context2).clamp(min=0)
        radius2 = radius2.scatter_reduce(0, row, mended, "amin", include_self=False)
        ball = Ball(radius2.sqrt(), context2.sqrt(), reach)
        squares.clamp_(min=0).mul_(self.left)
        upper = (left_out * squares.sum(-1).to(self.exact)).sqrt()
        distance = squares.sqrt_().sum(-1)
        bracket = mass * left_out - tail
        printed = tail * self._far2(n).sqrt() + ranks.chosen2[:, n].sqrt() * bracket
        inverse = torch.where(mass > 0, 1 / mass, 0.0)
        centroid = self._from_centroid(context2, inverse, longest2)
        centroid = centroid + ball.length * inverse * bracket
        lower = torch.linalg.vector_norm(self._real(left_out + 1) * s - self.mean, dim=-1)
        bounds = [
            torch.where(self.one, printed, math.nan),
            torch.where(self.positive, centroid, math.nan),
            torch.where(left_out > 0, lower, 0.0),
            upper,
        ]
        own, values = ranks.own[:, :n], ranks.values[:, :n]
        h = own - 2 * values * c.gather(-1, ranks.places[:, :n])
        if self.single:
            noise = torch.finfo(c.dtype).eps / 2 * (n + s.shape[1] + 8)
            rough = roughly_counted(own, h, radius2 - context2, longest2, noise, ball)
            told = self._decided(n, noise, *rough)
        else:
            told = counted(own, h + context2[:, None], ball)
        return distance, bounds, ball, told[0], ~told[1]

    def _from_centroid(self, context2: Tensor, inverse: Tensor, longest2: Tensor) -> Tensor:
        """Σ_{i∉I} α_i‖x_i − s/ᾱ‖."""
        squares = torch.addcmul(self.norms2, self.c, self._real(-2 * inverse))
        squares.add_(self._real(context2 * inverse**2)).clamp_(min=0)
        # A square matters as far as its key has weight beside ᾱ.
        matters = self.lost * inverse**2
        near = (squares + self.wall).amin(-1) < matters * longest2
        one = self.a.new_ones(()).expand_as(squares)
        z = self.s * self._real(inverse)
        self._mend(squares, matters, one, z, near, self.left, own=True)
        return squares.sqrt_().mul_(self.a).mul_(self.left).sum(-1)

    def _far2(self, n: int) -> Tensor:
        """max ‖x_i − x_j‖² over i ∉ I, j ∈ I, from the vectors where all of these are close."""
        if self.products.alike:
            far2 = 2 - 2 * (self.reached + self.wall).amin(-1)
        else:
            far2 = torch.sub(self.norms2, self.reached, alpha=2).mul_(self.left).amax(-1)
        far2 = far2.clamp(min=0).to(self.exact)
        near = far2 < self.lost * (self.ranks.chosen2[:, n] + self.longest2)
        near = near & self.answers & self.one & (self.size > n)
        if self.single:
            self.hard = self.hard | near
            return far2
        rows, places = torch.nonzero(near)[:, 0], self.ranks.places[:, :n]
        for some in splits(len(rows), TABLES * self.entries // (n * self.a.shape[1])):
            row = rows[some]
            given = self.x[places[row]], self.x.expand(len(row), -1, -1)
            apart = torch.cdist(*given, compute_mode="donot_use_mm_for_euclid_dist")
            farthest = (apart.amax(1) * self.left[row]).amax(-1)
            far2 = far2.index_put((row,), farthest**2)
        return far2

    def _decided(
        self, n: int, noise: float, held: Tensor, certain: Tensor
    ) -> tuple[Tensor, Tensor]:
        """N_s of the rows whose distances single precision cannot compare, from those in double."""
        open_ = self.answers & ~self.hard & ~certain
        if self.exact == torch.float32:
            self.hard = self.hard | open_
            return held, torch.ones_like(certain)
        rows = torch.nonzero(open_)[:, 0]
        if not len(rows):
            return held, certain
        ranks, double = self.ranks, self.geometry.double.products
        x, norms2 = double.x[self.span], double.norms2[self.span]
        values, places = ranks.values[rows, :n], ranks.places[rows, :n]
        s, inner = torch.empty_like(x[:1].expand(len(rows), -1)), torch.empty_like(values)
        for some in splits(len(rows), TABLES * self.entries // (4 * n * x.shape[1])):
            vectors = x[places[some]]
            s[some] = torch.bmm(values[some, None], vectors)[:, 0]
            inner[some] = torch.bmm(vectors, s[some, :, None])[..., 0]
        context2, own = _square(s, self.exact), values**2 * norms2[places]
        # Of the others those that may be the nearest for all that single precision can tell.
        h = torch.addcmul(self.own[rows], self.a[rows], self.c[rows], value=-2) + self.wall[rows]
        longest, reach = ranks.longest2[rows, n].sqrt(), ranks.reach[rows, n]
        doubt = 2 * noise * longest * (2 * reach + longest)
        at, key = torch.nonzero(h <= h.amin(-1, keepdim=True) + self._real(doubt), as_tuple=True)
        radius2 = torch.full_like(context2, math.inf)
        for some in splits(len(at), TABLES * self.entries // (8 * x.shape[1])):
            row, of = at[some], key[some]
            apart = self.a[rows[row], of].double()[:, None] * x[of] - s[row]
            radius2 = radius2.scatter_reduce(0, row, _square(apart, self.exact), "amin")
        ball = Ball(radius2.sqrt(), context2.sqrt(), reach)
        told, sure = counted(own, own - 2 * values * inner + context2[:, None], ball)
        return held.index_put((rows,), told), certain.index_put((rows,), sure)

    def _expected(self, n: int) -> list[Tensor]:
        """The three forms of E (Theorem 1.2)."""
        size = self.size.to(self.exact)
        others = (size - 1).clamp(min=1)
        nu = torch.where(size > 1, n / others, 0.0)
        pairs = (others * (size - 2)).clamp(min=1)
        factor = torch.where(n < size - 1, n * (size - 1 - n) / pairs, 0.0)
        # ‖(α_i + ν)x_i − x̄‖²
        weights = self.a + self._real(nu)
        squares = torch.addcmul(self.minus, weights, self.norms2)
        squares = torch.addcmul(self._real(self.mean2), squares, weights)
        self._mend(squares, self.lost * self.mean2, weights, self.mean)
        printed = squares.clamp_(min=0).mul_(self.counting).sqrt_().sum(-1)
        # ‖m_i‖² = (1 + ν)²‖y_i − κx̄‖² with κ = ν/(1 + ν)
        kappa = nu / (1 + nu)
        shrunk = kappa**2 * self.mean2
        squares = torch.addcmul(self.own, self.across, self._real(kappa))
        squares.add_(self._real(shrunk))
        self._mend(squares, self.lost * shrunk, self.a, self.mean * self._real(kappa))
        squares.clamp_(min=0).mul_(self.counting)
        upper = torch.addcmul(squares, self.spread, self._real(factor / (1 + nu) ** 2))
        share = (size - n) / size.clamp(min=1)
        grown = share * (1 + nu)
        appendix, upper = (each.sqrt_().sum(-1) for each in (squares, upper))
        return [share * printed, grown * appendix, grown * upper]

    def _real(self, each: Tensor) -> Tensor:
        """One number per row, to meet the keys."""
        return each.to(self.a.dtype)[:, None]

    def _mend(
        self,
        squares: Tensor,
        small: Tensor,
        p: Tensor,
        z: Tensor,
        near: Tensor | None = None,
        among: Tensor | None = None,
        own: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Squares below `small` of the row (of the key's `own`) anew, as ‖p_i x_i − z‖² from the
        vectors, and the rows and values of those.

        `near`: the rows that may have any. A row that has lost too many is left to double
        precision.
        """
        near = squares.amin(-1) < small if near is None else near
        among = self.counting if among is None else among
        rows = torch.nonzero(self.answers & near)[:, 0]
        if not len(rows):
            return rows, rows.to(self.exact)
        small = self._real(small[rows])
        small = small * self.own[rows] if own else small
        lost = (squares[rows] < small) & (among[rows] > 0)
        at, key = torch.nonzero(lost, as_tuple=True)
        row, dim = rows[at], self.x.shape[1]
        if self.single:
            self.effort = self.effort.index_add(0, row, torch.ones_like(row))
            if len(row) * dim > _EFFORT:
                few = self.effort[row] * dim <= _EFFORT
                row, key = row[few], key[few]
        vectors = self.geometry.vectors[self.span]
        parts = [torch.empty(0, dtype=self.exact, device=row.device)]
        for some in splits(len(row), TABLES * self.entries // (8 * dim)):
            to, of = row[some], key[some]
            apart = p[to, of].to(self.exact)[:, None] * vectors[of] - z[to]
            parts.append((apart**2).sum(-1))
        mended = torch.cat(parts)
        squares[row, key] = mended.to(squares.dtype)
        return row, mended


def _square(vectors: Tensor, exact: torch.dtype) -> Tensor:
    return (vectors.to(exact) ** 2).sum(-1)
