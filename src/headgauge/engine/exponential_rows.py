"""Compiled: exponentials to the last bits without a call, so that loops over them stay vectors.

With k next to x/log 2 and y = x − k log 2, e^x = 2^k e^y, where 2^k is put together from its bits
and e^y is a series for |y| ≤ ½ log 2.
"""

import numpy as np

from headgauge.kernels import literal, summed

_ONE_BITS = np.int64(0x3FF0000000000000)  # those of 1.0
_PER_LN2 = 1.4426950408889634  # 1/log 2
_LN2_HIGH = 6.93147180369123816490e-01  # log 2 in two parts, the first with zeros at its end
_LN2_LOW = 1.90821492927058770002e-10
_MOST = 700.0  # e^x is finite up to here, and e^−x as good as 0 beyond
_LEAST = -50.0  # e^x is nothing beside 1 below


@summed
def _series(y):
    """e^y − 1."""
    p = 1.0 / 6227020800.0
    p = p * y + 1.0 / 479001600.0
    p = p * y + 1.0 / 39916800.0
    p = p * y + 1.0 / 3628800.0
    p = p * y + 1.0 / 362880.0
    p = p * y + 1.0 / 40320.0
    p = p * y + 1.0 / 5040.0
    p = p * y + 1.0 / 720.0
    p = p * y + 1.0 / 120.0
    p = p * y + 1.0 / 24.0
    p = p * y + 1.0 / 6.0
    return y + (p * y + 0.5) * (y * y)


@literal
def expm1(x):
    """e^x − 1 = 2^k(e^y − 1) + (2^k − 1), of x = 700 for any x above. A NaN stays one."""
    x = _LEAST if x < _LEAST else x
    x = _MOST if x > _MOST else x
    k = np.int32(x * _PER_LN2 + (0.5 if x > 0.0 else -0.5))
    whole = np.float64(k)
    y = (x - whole * _LN2_HIGH) - whole * _LN2_LOW
    power = np.int64(_ONE_BITS + (np.int64(k) << 52)).view(np.float64)
    return power * _series(y) + (power - 1.0)


@literal
def exp_of_minus(t):
    """e^−t for t ≥ 0; 0 from t = 700 on. A NaN stays one."""
    near = _MOST if t > _MOST else t
    k = np.int32(near * _PER_LN2 + 0.5)
    whole = np.float64(k)
    y = (whole * _LN2_HIGH - near) + whole * _LN2_LOW
    power = np.int64(_ONE_BITS - (np.int64(k) << 52)).view(np.float64)
    found = power * _series(y) + power
    return 0.0 if t >= _MOST else found
