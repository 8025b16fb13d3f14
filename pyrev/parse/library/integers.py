"""What the `math` module counts: factorials, binomial coefficients, divisors.

Python's integers have no end, these have 64 bits: past them is an `OverflowError`.
"""

from __future__ import annotations

import math

from pyrev.parse.library.entries import Count, means


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
