"""What stands beside Fourier transforms: the order of frequencies, and these."""

from __future__ import annotations

import numpy as np

from pyrev.parse.library.entries import Count, Matrix, Number, Vector, means


@means(np.fft.fftshift)
def fftshift_row(x: Vector) -> Vector:
    """The elements with the first one in the middle."""
    return np.roll(x, x.shape[0] // 2)


@means(np.fft.fftshift)
def fftshift(x: Matrix) -> Matrix:
    """The same of a matrix, along both axes."""
    n, m = x.shape
    return np.roll(np.roll(x, n // 2, axis=0), m // 2, axis=1)


@means(np.fft.ifftshift)
def ifftshift_row(x: Vector) -> Vector:
    """The elements with the middle one first."""
    return np.roll(x, -(x.shape[0] // 2))


@means(np.fft.ifftshift)
def ifftshift(x: Matrix) -> Matrix:
    """The same of a matrix, along both axes."""
    n, m = x.shape
    return np.roll(np.roll(x, -(n // 2), axis=0), -(m // 2), axis=1)


@means(np.fft.fftfreq)
def fftfreq(n: Count, d: Number = 1.0) -> Vector:
    """The frequencies of a transform of `n` numbers that are `d` apart."""
    found = np.empty(n)
    for k in range((n + 1) // 2):
        found[k] = k * (1.0 / (n * d))
    for k in range((n + 1) // 2, n):
        found[k] = (k - n) * (1.0 / (n * d))
    return found


@means(np.fft.rfftfreq)
def rfftfreq(n: Count, d: Number = 1.0) -> Vector:
    """The frequencies of the half of a transform of `n` real numbers."""
    found = np.empty(n // 2 + 1)
    for k in range(n // 2 + 1):
        found[k] = k * (1.0 / (n * d))
    return found
