"""Functions of float32 that LLVM turns into vector instructions.

A call of the C library in an inner loop keeps all of it scalar. These are plain
arithmetic; a generated module that needs one holds its text, so that it runs without
pyrev. Each is exact to about one unit in the last place, and at infinities, zeros,
subnormals and NaN what NumPy's function is.

Sources: the reduction and the coefficients are those of Cephes (S. Moshier, `expf.c`
and `tanhf.c`), as many libraries have them; `2**k` is written as the bits of a float.
"""

from __future__ import annotations

import numpy as np


def exp_float32(x):  # type: ignore[no-untyped-def]
    """e**x in vector instructions: 2**k * e**r, with 2**k made in two steps."""
    near = x if x > np.float32(-104.0) else np.float32(-104.0)
    near = near if near < np.float32(89.0) else np.float32(89.0)
    k = np.floor(near * np.float32(1.44269504) + np.float32(0.5))
    r = near - k * np.float32(0.693359375)
    r = r - k * np.float32(-2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * (r * r) + r + np.float32(1.0)
    whole = np.int32(k)
    half = np.int32(whole >> np.int32(1))
    one = np.int32((half + np.int32(127)) << np.int32(23)).view(np.float32)
    other = np.int32((whole - half + np.int32(127)) << np.int32(23)).view(np.float32)
    return p * one * other if x == x else x


def tanh_float32(x):  # type: ignore[no-untyped-def]
    """tanh(x) in vector instructions: by exp where x is large, else by a polynomial."""
    size = abs(x)
    grown = exp_float32(size + size)  # type: ignore[no-untyped-call]
    large = np.float32(1.0) - np.float32(2.0) / (grown + np.float32(1.0))
    large = large if x > np.float32(0.0) else -large
    z = x * x
    p = np.float32(-5.70498872745e-3)
    p = p * z + np.float32(2.06390887954e-2)
    p = p * z + np.float32(-5.37397155531e-2)
    p = p * z + np.float32(1.33314422036e-1)
    p = p * z + np.float32(-3.33332819422e-1)
    small = (p * z + np.float32(1.0)) * x  # -0.0 stays
    return large if size > np.float32(0.625) else small
