"""Functions of NumPy and SciPy that run as they are, each with the rule for it.

The rules are the textbook's: Giles, Collected matrix derivative results for forward and
reverse mode (2008), for the factorisations; a linear function has its transpose.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from pyrev.parse.array_rules import ArrayRule

F = TypeVar("F", bound=Callable[..., Any])

#: The rules by the modules and the names of the functions.
_RULES: dict[tuple[str, str], ArrayRule] = {}


def outside(function: object) -> ArrayRule | None:
    """The rule of a function of NumPy's or SciPy's; None if there is none here."""
    name = getattr(function, "__name__", "")
    for (module, own), rule in _RULES.items():
        if own == name and getattr(sys.modules.get(module), own, None) is function:
            return rule
    return None


def _means(
    *modules: str, rule: Callable[..., Any], result: Callable[..., Any]
) -> Callable[[F], F]:
    """Note that a function stands for one of the same name in these modules."""

    def note(function: F) -> F:
        assert isinstance(function, FunctionType) and isinstance(rule, FunctionType)
        assert isinstance(result, FunctionType)
        own = function.__code__.co_argcount
        count = (rule.__code__.co_argcount - own) // 2
        made = ArrayRule(function, rule, result, None, count, True)
        for module in modules:
            _RULES[module, function.__name__] = made
        return function

    return note


# -------------------------------------------------------------------- factorisations


def _qr_vjp(a: Any, q: Any, r: Any, d_q: Any, d_r: Any) -> Any:
    if a.shape[0] < a.shape[1]:
        raise ValueError("the derivative of qr is that of no more columns than rows")
    m = r @ d_r.T - d_q.T @ q
    inner = d_q + q @ (np.tril(m) + np.tril(m, -1).T)
    return np.linalg.solve(r, inner.T).T


@_means(
    "numpy.linalg",
    rule=_qr_vjp,
    result=lambda a: (
        np.empty((a.shape[0], min(a.shape[0], a.shape[1]))),
        np.empty((min(a.shape[0], a.shape[1]), a.shape[1])),
    ),
)
def qr(a: Any) -> Any:
    """The reduced factors of a matrix with no more columns than rows."""
    return np.linalg.qr(a)


def _lower(s: Any) -> Any:
    """What a symmetric matrix of which only the lower half is read owes to it."""
    return np.tril(s) + np.tril(s.T, -1)


def _eigh_vjp(a: Any, w: Any, v: Any, d_w: Any, d_v: Any) -> Any:
    gaps = w[None, :] - w[:, None]
    np.fill_diagonal(gaps, np.inf)
    return _lower(v @ (np.diag(d_w) + (v.T @ d_v) / gaps) @ v.T)


@_means(
    "numpy.linalg",
    rule=_eigh_vjp,
    result=lambda a: (np.empty(a.shape[0]), np.empty(a.shape)),
)
def eigh(a: Any) -> Any:
    """Eigenvalues and eigenvectors; the eigenvalues are different ones."""
    return np.linalg.eigh(a)


def _eigvalsh_vjp(a: Any, w: Any, d_w: Any) -> Any:
    v = np.linalg.eigh(a)[1]
    return _lower(v @ np.diag(d_w) @ v.T)


@_means("numpy.linalg", rule=_eigvalsh_vjp, result=lambda a: np.empty(a.shape[0]))
def eigvalsh(a: Any) -> Any:
    """The eigenvalues of a symmetric matrix."""
    return np.linalg.eigvalsh(a)


def _svd_vjp(
    a: Any, full_matrices: Any, u: Any, s: Any, vh: Any, d_u: Any, d_s: Any, d_vh: Any
) -> Any:
    k, v, d_v = s.shape[0], vh.T, d_vh.T
    gaps = s[None, :] ** 2 - s[:, None] ** 2
    np.fill_diagonal(gaps, np.inf)
    of_u, of_v = (u.T @ d_u) / gaps, (v.T @ d_v) / gaps
    inner = (of_u + of_u.T) * s[None, :] + s[:, None] * (of_v + of_v.T) + np.diag(d_s)
    found = u @ inner @ vh
    if a.shape[0] > k:
        found += ((d_u - u @ (u.T @ d_u)) / s) @ vh
    if a.shape[1] > k:
        found += (u / s) @ (d_v - v @ (v.T @ d_v)).T
    return found, None


@_means(
    "numpy.linalg",
    rule=_svd_vjp,
    result=lambda a, full_matrices: (
        np.empty((a.shape[0], min(a.shape[0], a.shape[1]))),
        np.empty(min(a.shape[0], a.shape[1])),
        np.empty((min(a.shape[0], a.shape[1]), a.shape[1])),
    ),
)
def svd(a: Any, full_matrices: Any = True) -> Any:
    """The reduced factors; the singular values are different ones."""
    return np.linalg.svd(a, full_matrices=bool(full_matrices))


def _svdvals_vjp(a: Any, s: Any, d_s: Any) -> Any:
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return (u * d_s) @ vh


@_means(
    "numpy.linalg",
    "scipy.linalg",
    rule=_svdvals_vjp,
    result=lambda a: np.empty(min(a.shape[0], a.shape[1])),
)
def svdvals(a: Any) -> Any:
    """The singular values of a matrix."""
    return np.linalg.svd(a, compute_uv=False)


def _pinv_vjp(a: Any, x: Any, d_x: Any) -> Any:
    # Golub and Pereyra 1973, of a matrix of full rank.
    g = d_x.T
    left, right = np.eye(a.shape[0]) - a @ x, np.eye(a.shape[1]) - x @ a
    return -x.T @ d_x @ x.T + left @ g @ x @ x.T + x.T @ x @ g @ right


@_means(
    "numpy.linalg",
    "scipy.linalg",
    rule=_pinv_vjp,
    result=lambda a: np.empty((a.shape[1], a.shape[0])),
)
def pinv(a: Any) -> Any:
    """The pseudo-inverse of a matrix of full rank."""
    return np.linalg.pinv(a)


def _slogdet_vjp(a: Any, sign: Any, log: Any, d_sign: Any, d_log: Any) -> Any:
    return d_log * np.linalg.inv(a).T


@_means("numpy.linalg", rule=_slogdet_vjp, result=lambda a: (0.0, 0.0))
def slogdet(a: Any) -> Any:
    """Sign and logarithm of a determinant."""
    return np.linalg.slogdet(a)


# -------------------------------------------------------------------- SciPy's


def _solve_vjp(a: Any, b: Any, x: Any, d_x: Any) -> Any:
    d_b = np.linalg.solve(a.T, d_x)
    return -np.outer(d_b, x) if x.ndim == 1 else -d_b @ x.T, d_b


@_means("scipy.linalg", rule=_solve_vjp, result=lambda a, b: b)
def solve(a: Any, b: Any) -> Any:
    """The solution of a linear system, for one right side or several."""
    from scipy import linalg

    return linalg.solve(a, b)


def _solve_triangular_vjp(
    a: Any, b: Any, trans: Any, lower: Any, x: Any, d_x: Any
) -> Any:
    from scipy import linalg

    d_b = linalg.solve_triangular(a, d_x, 0 if trans else 1, bool(lower))
    d_a = -np.outer(d_b, x) if x.ndim == 1 else -d_b @ x.T
    d_a = d_a.T if trans else d_a
    return np.tril(d_a) if lower else np.triu(d_a), d_b, None, None


@_means("scipy.linalg", rule=_solve_triangular_vjp, result=lambda a, b, trans, lower: b)
def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: Any = False) -> Any:
    """The solution of a triangular system, of which the other half is not read."""
    from scipy import linalg

    return linalg.solve_triangular(a, b, int(trans), bool(lower))


def _expm_vjp(A: Any, x: Any, d_x: Any) -> Any:  # noqa: N803
    from scipy import linalg

    return linalg.expm_frechet(A.T, d_x, compute_expm=False)


@_means("scipy.linalg", rule=_expm_vjp, result=lambda A: np.empty(A.shape))
def expm(A: Any) -> Any:  # noqa: N803
    """The exponential of a matrix."""
    from scipy import linalg

    return linalg.expm(A)


def _scales(n: int) -> Any:
    """What the rows of SciPy's cosine transform are longer than orthonormal ones."""
    return np.sqrt(2.0 * n) * np.where(np.arange(n) == 0, np.sqrt(2.0), 1.0)


def _dct_vjp(x: Any, y: Any, d_y: Any) -> Any:
    from scipy import fft

    return fft.idct(d_y * _scales(x.shape[-1]), norm="ortho")


@_means("scipy.fft", rule=_dct_vjp, result=lambda x: np.empty(x.shape))
def dct(x: Any) -> Any:
    """The cosine transform along the last axis."""
    from scipy import fft

    return fft.dct(x)


def _idct_vjp(x: Any, y: Any, d_y: Any) -> Any:
    from scipy import fft

    return fft.dct(d_y, norm="ortho") / _scales(x.shape[-1])


@_means("scipy.fft", rule=_idct_vjp, result=lambda x: np.empty(x.shape))
def idct(x: Any) -> Any:
    """Its inverse."""
    from scipy import fft

    return fft.idct(x)


def _fftconvolve_vjp(in1: Any, in2: Any, y: Any, d_y: Any) -> Any:
    from scipy import signal

    return (
        signal.correlate(d_y, in2, "valid", "fft"),
        signal.correlate(d_y, in1, "valid", "fft"),
    )


@_means(
    "scipy.signal",
    rule=_fftconvolve_vjp,
    result=lambda in1, in2: np.empty(in1.shape[0] + in2.shape[0] - 1),
)
def fftconvolve(in1: Any, in2: Any) -> Any:
    """The full convolution of two vectors."""
    from scipy import signal

    return signal.fftconvolve(in1, in2)


def _gaussian_filter_vjp(image: Any, sigma: Any, y: Any, d_y: Any) -> Any:
    # Its matrix is symmetric: so are the kernel and the reflection at an edge.
    from scipy import ndimage

    return ndimage.gaussian_filter(d_y, sigma), None


@_means(
    "scipy.ndimage",
    rule=_gaussian_filter_vjp,
    result=lambda image, sigma: np.empty(image.shape),
)
def gaussian_filter(image: Any, sigma: Any) -> Any:
    """An image, smoothed; the width is no variable."""
    from scipy import ndimage

    return ndimage.gaussian_filter(image, sigma)


def _convolve_vjp(image: Any, weights: Any, y: Any, d_y: Any) -> Any:
    from scipy import signal

    if not all(n % 2 for n in weights.shape):
        raise ValueError("the derivative of convolve is that of odd kernels")
    wide = [(n // 2, n // 2) for n in weights.shape]
    places = np.pad(np.arange(image.size).reshape(image.shape), wide, "symmetric")
    flipped = np.flip(weights)
    owed = signal.convolve(d_y, flipped, "full", "direct")
    d_image = np.bincount(places.ravel(), owed.ravel(), image.size)
    padded = image.ravel()[places]
    d_weights = np.flip(signal.correlate(padded, d_y, "valid", "direct"))
    return d_image.reshape(image.shape), d_weights


@_means(
    "scipy.ndimage",
    rule=_convolve_vjp,
    result=lambda image, weights: np.empty(image.shape),
)
def convolve(image: Any, weights: Any) -> Any:
    """An image, convolved with a kernel of odd sizes, reflected at its edges."""
    from scipy import ndimage

    return ndimage.convolve(image, weights)
