"""What the `math` module counts: factorials, binomial coefficients, divisors.

Python's integers have no end, these have 64 bits: past them is an `OverflowError`.
``| 0`` is for integers only, and changes none.
"""

from __future__ import annotations

import math

import numpy as np

from pyrev.parse.library.entries import Count, Number, Vector, means


@means(math.factorial)
def factorial(n: Count) -> Count:
    """The product of the integers up to `n`."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError("a factorial beyond 20! has more than 64 bits")
    product = 1
    for k in range(2, n + 1):
        product = product * k
    return product


@means(math.comb)
def comb(n: Count, k: Count) -> Count:
    """In how many ways `k` of `n` are chosen; each product is divisible by `i`."""
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")
    found = 1
    if k > n:
        found = 0
    else:
        for i in range(1, min(k, n - k) + 1):
            if 1.0 * found * (n - i + 1) > 9.2e18:
                raise OverflowError("a binomial coefficient has more than 64 bits")
            found = found * (n - i + 1) // i
    return found


@means(math.gcd)
def gcd(a: Count, b: Count) -> Count:
    """The greatest common divisor, by Euclid's algorithm."""
    large = abs(a)
    small = abs(b)
    while small > 0:
        rest = large % small
        large = small
        small = rest
    return large


@means(math.lcm)
def lcm(a: Count, b: Count) -> Count:
    """The least common multiple; zero if one of them is."""
    found = 0
    if (a | 0) != 0 and (b | 0) != 0:
        found = abs(a) // math.gcd(a, b) * abs(b)
    return found


@means(math.isqrt)
def isqrt(n: Count) -> Count:
    """The root, rounded down: of a float, which may be off by one, put right."""
    if (n | 0) < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    found = 0
    if n > 0:
        found = int(np.sqrt(1.0 * n))
        if found > n // found:
            found -= 1
        if found + 1 <= n // (found + 1):
            found += 1
    return found


@means(np.gcd)
def gcd_of_two(x1: Number, x2: Number) -> Count:
    """NumPy's: the greatest common divisor."""
    large = abs(x1 | 0)
    small = abs(x2 | 0)
    while small > 0:
        rest = large % small
        large = small
        small = rest
    return large


@means(np.gcd)
def gcd_of_each(x1: Vector, x2: Vector) -> Vector:
    """The same of each of two."""
    if x1.shape[0] != x2.shape[0]:
        raise ValueError("operands could not be broadcast together")
    made = np.empty(x1.shape[0], dtype=np.result_type(x1, x2))
    for k in range(x1.shape[0]):
        made[k] = np.gcd(x1[k], x2[k])
    return made


@means(np.gcd)
def gcd_of_each_and(x1: Vector, x2: Number) -> Vector:
    """The same of each and a number."""
    made = np.empty(x1.shape[0], dtype=np.result_type(x1, x2))
    for k in range(x1.shape[0]):
        made[k] = np.gcd(x1[k], x2)
    return made


@means(np.gcd)
def gcd_of_one_and_each(x1: Number, x2: Vector) -> Vector:
    """The same the other way round."""
    return np.gcd(x2, x1)


@means(np.lcm)
def lcm_of_two(x1: Number, x2: Number) -> Count:
    """NumPy's: the least common multiple."""
    found = (x1 | 0) * (x2 | 0) * 0
    if x1 != 0 and x2 != 0:
        found = abs(x1) // np.gcd(x1, x2) * abs(x2)
    return found


@means(np.lcm)
def lcm_of_each(x1: Vector, x2: Vector) -> Vector:
    """The same of each of two."""
    if x1.shape[0] != x2.shape[0]:
        raise ValueError("operands could not be broadcast together")
    made = np.empty(x1.shape[0], dtype=np.result_type(x1, x2))
    for k in range(x1.shape[0]):
        made[k] = np.lcm(x1[k], x2[k])
    return made


@means(np.lcm)
def lcm_of_each_and(x1: Vector, x2: Number) -> Vector:
    """The same of each and a number."""
    made = np.empty(x1.shape[0], dtype=np.result_type(x1, x2))
    for k in range(x1.shape[0]):
        made[k] = np.lcm(x1[k], x2)
    return made


@means(np.lcm)
def lcm_of_one_and_each(x1: Number, x2: Vector) -> Vector:
    """The same the other way round."""
    return np.lcm(x2, x1)
