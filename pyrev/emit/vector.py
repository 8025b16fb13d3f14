"""Functions that LLVM turns into vector instructions.

A call of the C library in an inner loop keeps all of it scalar. These are plain
arithmetic; a generated module that needs one holds its text, so that it runs without
pyrev. Each is exact to one and a half units in the last place in float32, to two in
float64 (the C library's own tanh to 1.9), and at infinities, zeros, subnormals and NaN
what NumPy's function is.

Sources: the reductions and the coefficients are those of Cephes (S. Moshier, `expf.c`,
`tanhf.c`, `exp.c`, `tanh.c`), as many libraries have them; `2**k` is written as the
bits of a float. What one side alone of a test needs is computed for both: a branch
would leave the loop scalar.
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


def exp_float64(x):  # type: ignore[no-untyped-def]
    """e**x in vector instructions: 2**k * e**r, with 2**k made in two steps."""
    near = x if x > -746.0 else -746.0
    near = near if near < 710.0 else 710.0
    k = np.floor(near * 1.4426950408889634 + 0.5)
    r = near - k * 6.93145751953125e-1
    r = r - k * 1.42860682030941723212e-6
    z = r * r
    p = 1.26177193074810590878e-4
    p = p * z + 3.02994407707441961300e-2
    p = (p * z + 1.0) * r
    q = 3.00198505138664455042e-6
    q = q * z + 2.52448340349684104192e-3
    q = q * z + 2.27265548208155028766e-1
    q = q * z + 2.0
    grown = 1.0 + 2.0 * (p / (q - p))
    whole = np.int32(k)
    half = np.int32(whole >> np.int32(1))
    rest = np.int32(whole - half)
    one = np.int64(np.int64(half + np.int32(1023)) << np.int64(52)).view(np.float64)
    other = np.int64(np.int64(rest + np.int32(1023)) << np.int64(52)).view(np.float64)
    return grown * one * other if x == x else x


def tanh_float64(x):  # type: ignore[no-untyped-def]
    """tanh(x) in vector instructions: by exp where x is large, else by polynomials."""
    size = abs(x)
    near = size if size < 20.0 else 20.0
    grown = exp_float64(near + near)  # type: ignore[no-untyped-call]
    z = near * near
    p = -9.64399179425052238628e-1
    p = p * z - 9.92877231001918586564e1
    p = p * z - 1.61468768441708447952e3
    q = z + 1.12811678491632931402e2
    q = q * z + 2.23548839060100448583e3
    q = q * z + 4.84406305325125486048e3
    large = 1.0 if size > 0.625 else 0.0
    small = 1.0 - large
    top = large * (grown - 1.0) + small * (near * (q + z * p))
    low = large * (grown + 1.0) + small * q
    found = top / low
    found = found if x > 0.0 else -found
    return found if size > 0.0 else x  # -0.0 stays, and what is no number
