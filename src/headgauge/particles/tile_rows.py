"""Inside compiled rows: a few rows and columns of a product in single precision, at full speed.

What a loop of ours adds up goes to memory and back at every step, for a compiler cannot know that
the sums lie apart from what is summed. Here they are registers' from the first key to the last, so
that nothing but the multiplications counts: half as long.

>>> made = np.zeros((4, 16), np.float32)
>>> narrow(np.ones((4, 3), np.float32), np.ones((3, 16), np.float32), made, 0, 0)
>>> float(made.max())
3.0
"""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from headgauge.kernel_cache import numba

HIGH = 4  # rows of a tile
NARROW, WIDE = 16, 64  # its columns


def _tile(columns: int) -> Callable[..., None]:
    def tile(weights, gaps, met, row, column):
        """met = weights[:, :keys] · gaps on `HIGH` rows from `row` and so many columns."""
        here = slice(row, row + HIGH), slice(column, column + columns)
        if row + HIGH > len(met) or column + columns > gaps.shape[1]:
            raise IndexError(f"a tile at {row}, {column} leaves a product of {met.shape}")
        met[here] = weights[here[0], : len(gaps)] @ gaps[:, here[1]]

    tile = inspect.unwrap(tile)
    if numba is not None:
        emitted = _emitted(columns)

        def chosen(weights, gaps, met, row, column):
            emitted(weights, gaps, met, np.uint64(row), np.uint64(column))

        chosen = inspect.unwrap(chosen)
        extending: Any = importlib.import_module("numba.extending")
        extending.overload(tile, inline="always")(lambda weights, gaps, met, row, column: chosen)
    return tile


def _emitted(columns: int) -> Any:
    """The same in the compiler's own words. All arrays are of rows that lie one after the other."""
    extending: Any = importlib.import_module("numba.extending")
    cgutils: Any = importlib.import_module("numba.core.cgutils")
    types: Any = importlib.import_module("numba.core.types")
    ir: Any = importlib.import_module("llvmlite.ir")
    whole, real = ir.IntType(64), ir.FloatType()
    vector, nothing = ir.VectorType(real, NARROW), ir.Constant(ir.IntType(32), 0)
    first_of_all = ir.Constant(ir.VectorType(ir.IntType(32), NARROW), None)

    def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        weights, gaps, met = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:3], given[:3], strict=True)
        )
        row, column = given[3:]
        rows = [builder.add(row, ir.Constant(whole, r)) for r in range(HIGH)]
        parts = [builder.add(column, ir.Constant(whole, c)) for c in range(0, columns, NARROW)]

        def place(array: Any, i: Any, j: Any) -> Any:
            width = cgutils.unpack_tuple(builder, array.shape)[1]
            return builder.gep(array.data, [builder.add(builder.mul(i, width), j)])

        def several(array: Any, i: Any, j: Any) -> Any:
            return builder.bitcast(place(array, i, j), vector.as_pointer())

        # Variables that the compiler makes registers of.
        sums = [[cgutils.alloca_once(builder, vector) for _ in parts] for _ in rows]
        for total in (each for own in sums for each in own):
            builder.store(ir.Constant(vector, None), total)
        with cgutils.for_range(builder, cgutils.unpack_tuple(builder, gaps.shape)[0]) as loop:
            key = loop.index
            met_by = [builder.load(several(gaps, key, part), align=4) for part in parts]
            for i, own in zip(rows, sums, strict=True):
                one = builder.load(place(weights, i, key))
                unset = ir.Constant(vector, ir.Undefined)
                one = builder.insert_element(unset, one, nothing)
                weight = builder.shuffle_vector(one, unset, first_of_all)
                for total, gap in zip(own, met_by, strict=True):
                    more = builder.fmul(weight, gap, flags=("contract",))
                    builder.store(
                        builder.fadd(builder.load(total), more, flags=("contract",)), total
                    )
        for i, own in zip(rows, sums, strict=True):
            for part, total in zip(parts, own, strict=True):
                builder.store(builder.load(total), several(met, i, part), align=4)
        return context.get_dummy_value()

    def emitted(typing, weights, gaps, met, row, column):
        for each in (weights, gaps, met):
            assert (each.dtype, each.ndim, each.layout) == (types.float32, 2, "C"), each
        return types.void(weights, gaps, met, row, column), build

    return extending.intrinsic(inspect.unwrap(emitted))


narrow, wide = _tile(NARROW), _tile(WIDE)
