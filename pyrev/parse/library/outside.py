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

from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.array_rules import ARRAY_RULE, ArrayRule

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
    *modules: str,
    rule: Callable[..., Any],
    result: Callable[..., Any],
    jvp: Callable[..., Any] | None = None,
) -> Callable[[F], F]:
    """Note that a function stands for one of the same name in these modules, if any.

    Rules are texts of the language that call functions with rules: so they have
    derivatives, too.
    """

    def note(function: F) -> F:
        assert isinstance(function, FunctionType) and isinstance(rule, FunctionType)
        assert isinstance(result, FunctionType)
        assert jvp is None or isinstance(jvp, FunctionType)
        own = function.__code__.co_argcount
        count = (rule.__code__.co_argcount - own) // 2
        made = ArrayRule(function, rule, result, jvp, count, True)
        function.__dict__[ARRAY_RULE] = made
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


def _qr_jvp(a: Any, q: Any, r: Any, to_a: Any) -> Any:
    # Walter, Lehmann and Lamour 2012.
    c = np.linalg.solve(r.T, to_a.T).T
    inner = q.T @ c
    turn = np.tril(inner, -1) - np.tril(inner, -1).T
    return q @ turn + c - q @ inner, (inner - turn) @ r


@_means(
    "numpy.linalg",
    rule=_qr_vjp,
    jvp=_qr_jvp,
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


def _apart(w: Any) -> Any:
    """How far different numbers are apart, and infinite for each and itself."""
    return w[None, :] - w[:, None] + np.diag(np.full(w.shape[0], np.inf))


def _both(a: Any) -> Any:
    """The symmetric matrix of which this is the lower half."""
    return np.tril(a) + np.tril(a, -1).T


def _eigh_vjp(a: Any, w: Any, v: Any, d_w: Any, d_v: Any) -> Any:
    return _lower(v @ (np.diag(d_w) + (v.T @ d_v) / _apart(w)) @ v.T)


def _eigh_jvp(a: Any, w: Any, v: Any, to_a: Any) -> Any:
    inner = v.T @ _both(to_a) @ v
    return np.diag(inner).copy(), v @ (inner / _apart(w))


@_means(
    "numpy.linalg",
    rule=_eigh_vjp,
    jvp=_eigh_jvp,
    result=lambda a: (np.empty(a.shape[0]), np.empty(a.shape)),
)
def eigh(a: Any) -> Any:
    """Eigenvalues and eigenvectors; the eigenvalues are different ones."""
    return np.linalg.eigh(a)


def _eigvalsh_vjp(a: Any, w: Any, d_w: Any) -> Any:
    _, v = eigh(a)
    return _lower(v @ np.diag(d_w) @ v.T)


def _eigvalsh_jvp(a: Any, w: Any, to_a: Any) -> Any:
    _, v = eigh(a)
    return np.diag(v.T @ _both(to_a) @ v).copy()


@_means(
    "numpy.linalg",
    rule=_eigvalsh_vjp,
    jvp=_eigvalsh_jvp,
    result=lambda a: np.empty(a.shape[0]),
)
def eigvalsh(a: Any) -> Any:
    """The eigenvalues of a symmetric matrix."""
    return np.linalg.eigvalsh(a)


def _svd_vjp(
    a: Any, full_matrices: Any, u: Any, s: Any, vh: Any, d_u: Any, d_s: Any, d_vh: Any
) -> Any:
    k, v, d_v = s.shape[0], vh.T, d_vh.T
    gaps = _apart(s * s)
    of_u, of_v = (u.T @ d_u) / gaps, (v.T @ d_v) / gaps
    inner = (of_u + of_u.T) * s[None, :] + s[:, None] * (of_v + of_v.T) + np.diag(d_s)
    found = u @ inner @ vh
    if a.shape[0] > k:
        found += ((d_u - u @ (u.T @ d_u)) / s) @ vh
    if a.shape[1] > k:
        found += (u / s) @ (d_v - v @ (v.T @ d_v)).T
    return found, 0


def _svd_jvp(
    a: Any, full_matrices: Any, u: Any, s: Any, vh: Any, to_a: Any, to_full: Any
) -> Any:
    v = vh.T
    inner, gaps = u.T @ to_a @ v, _apart(s * s)
    to_u = u @ ((inner * s[None, :] + s[:, None] * inner.T) / gaps)
    to_v = v @ ((s[:, None] * inner + inner.T * s[None, :]) / gaps)
    to_u = to_u + (to_a @ v - u @ inner) / s
    to_v = to_v + (to_a.T @ u - v @ inner.T) / s
    return to_u, np.diag(inner).copy(), to_v.T


@_means(
    "numpy.linalg",
    rule=_svd_vjp,
    jvp=_svd_jvp,
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
    u, _, vh = svd(a, 0)
    return (u * d_s) @ vh


def _svdvals_jvp(a: Any, s: Any, to_a: Any) -> Any:
    u, _, vh = svd(a, 0)
    return np.diag(u.T @ to_a @ vh.T).copy()


@_means(
    "numpy.linalg",
    "scipy.linalg",
    rule=_svdvals_vjp,
    jvp=_svdvals_jvp,
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


def _pinv_jvp(a: Any, x: Any, to_a: Any) -> Any:
    left, right = np.eye(a.shape[0]) - a @ x, np.eye(a.shape[1]) - x @ a
    return -x @ to_a @ x + x @ x.T @ to_a.T @ left + right @ to_a.T @ x.T @ x


@_means(
    "numpy.linalg",
    "scipy.linalg",
    rule=_pinv_vjp,
    jvp=_pinv_jvp,
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
    d_b = solve(a.T, d_x)
    return -np.outer(d_b, x) if x.ndim == 1 else -d_b @ x.T, d_b


def _solve_jvp(a: Any, b: Any, x: Any, to_a: Any, to_b: Any) -> Any:
    return solve(a, to_b - to_a @ x)


@_means("scipy.linalg", rule=_solve_vjp, jvp=_solve_jvp, result=lambda a, b: b)
def solve(a: Any, b: Any) -> Any:
    """The solution of a linear system, for one right side or several."""
    from scipy import linalg

    return linalg.solve(a, b)


def _half(a: Any, lower: Any) -> Any:
    """The half of a matrix that is read."""
    return np.tril(a) if lower else np.triu(a)


def _solve_triangular_vjp(
    a: Any, b: Any, trans: Any, lower: Any, x: Any, d_x: Any
) -> Any:
    d_b = solve_triangular(a, d_x, 0 if trans else 1, lower)
    d_a = -np.outer(d_b, x) if x.ndim == 1 else -d_b @ x.T
    return _half(d_a.T if trans else d_a, lower), d_b, 0, 0


def _solve_triangular_jvp(
    a: Any,
    b: Any,
    trans: Any,
    lower: Any,
    x: Any,
    to_a: Any,
    to_b: Any,
    to_trans: Any,
    to_lower: Any,
) -> Any:
    moved = _half(to_a, lower)
    moved = moved.T if trans else moved
    return solve_triangular(a, to_b - moved @ x, trans, lower)


@_means(
    "scipy.linalg",
    rule=_solve_triangular_vjp,
    jvp=_solve_triangular_jvp,
    result=lambda a, b, trans, lower: b,
)
def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: Any = False) -> Any:
    """The solution of a triangular system, of which the other half is not read."""
    from scipy import linalg

    return linalg.solve_triangular(a, b, int(trans), bool(lower))


def _frechet_vjp(a: Any, e: Any, x: Any, d_x: Any) -> Any:
    # It is a block of the exponential of a matrix of blocks (Van Loan 1978).
    n = a.shape[0]
    blocks, seen = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))
    blocks[:n, :n] = a.T
    blocks[n:, n:] = a.T
    blocks[n:, :n] = e.T
    seen[:n, n:] = d_x
    found = frechet(blocks, seen)
    return found[:n, :n] + found[n:, n:], found[:n, n:].copy()


def _frechet_jvp(a: Any, e: Any, x: Any, to_a: Any, to_e: Any) -> Any:
    n = a.shape[0]
    blocks, moved = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))
    blocks[:n, :n] = a
    blocks[n:, n:] = a
    blocks[:n, n:] = e
    moved[:n, :n] = to_a
    moved[n:, n:] = to_a
    moved[:n, n:] = to_e
    return frechet(blocks, moved)[:n, n:].copy()


@_means(rule=_frechet_vjp, jvp=_frechet_jvp, result=lambda a, e: np.empty(a.shape))
def frechet(a: Any, e: Any) -> Any:
    """The derivative of the exponential of a matrix along `e`."""
    from scipy import linalg

    return linalg.expm_frechet(a, e, compute_expm=False)


def _expm_vjp(A: Any, x: Any, d_x: Any) -> Any:  # noqa: N803
    return frechet(A.T, d_x)


def _expm_jvp(A: Any, x: Any, to_a: Any) -> Any:  # noqa: N803
    return frechet(A, to_a)


@_means(
    "scipy.linalg", rule=_expm_vjp, jvp=_expm_jvp, result=lambda A: np.empty(A.shape)
)
def expm(A: Any) -> Any:  # noqa: N803
    """The exponential of a matrix."""
    from scipy import linalg

    return linalg.expm(A)


# -------------------------------------------------------------------- linear ones


def _scales(n: int) -> Any:
    """What the rows of SciPy's cosine transform are longer than orthonormal ones."""
    return np.sqrt(2.0 * n) * np.where(np.arange(n) == 0, np.sqrt(2.0), 1.0)


def _dct_vjp(x: Any, y: Any, d_y: Any) -> Any:
    return dct_across(d_y)


def _dct_jvp(x: Any, y: Any, to_x: Any) -> Any:
    return dct(to_x)


@_means("scipy.fft", rule=_dct_vjp, jvp=_dct_jvp, result=lambda x: np.empty(x.shape))
def dct(x: Any) -> Any:
    """The cosine transform along the last axis."""
    from scipy import fft

    return fft.dct(x)


def _dct_across_vjp(y: Any, x: Any, d_x: Any) -> Any:
    return dct(d_x)


def _dct_across_jvp(y: Any, x: Any, to_y: Any) -> Any:
    return dct_across(to_y)


@_means(rule=_dct_across_vjp, jvp=_dct_across_jvp, result=lambda y: np.empty(y.shape))
def dct_across(y: Any) -> Any:
    """The transpose of the cosine transform."""
    from scipy import fft

    return fft.idct(y * _scales(y.shape[-1]), norm="ortho")


def _idct_vjp(x: Any, y: Any, d_y: Any) -> Any:
    return idct_across(d_y)


def _idct_jvp(x: Any, y: Any, to_x: Any) -> Any:
    return idct(to_x)


@_means("scipy.fft", rule=_idct_vjp, jvp=_idct_jvp, result=lambda x: np.empty(x.shape))
def idct(x: Any) -> Any:
    """Its inverse."""
    from scipy import fft

    return fft.idct(x)


def _idct_across_vjp(y: Any, x: Any, d_x: Any) -> Any:
    return idct(d_x)


def _idct_across_jvp(y: Any, x: Any, to_y: Any) -> Any:
    return idct_across(to_y)


@_means(rule=_idct_across_vjp, jvp=_idct_across_jvp, result=lambda y: np.empty(y.shape))
def idct_across(y: Any) -> Any:
    """The transpose of the inverse."""
    from scipy import fft

    return fft.dct(y, norm="ortho") / _scales(y.shape[-1])


def _fftconvolve_vjp(in1: Any, in2: Any, y: Any, d_y: Any) -> Any:
    return correlated(d_y, in2), correlated(d_y, in1)


def _fftconvolve_jvp(in1: Any, in2: Any, y: Any, to_1: Any, to_2: Any) -> Any:
    return fftconvolve(to_1, in2) + fftconvolve(in1, to_2)


@_means(
    "scipy.signal",
    rule=_fftconvolve_vjp,
    jvp=_fftconvolve_jvp,
    result=lambda in1, in2: np.empty(in1.shape[0] + in2.shape[0] - 1),
)
def fftconvolve(in1: Any, in2: Any) -> Any:
    """The full convolution of two vectors."""
    from scipy import signal

    return signal.fftconvolve(in1, in2)


def _correlated_vjp(y: Any, b: Any, x: Any, d_x: Any) -> Any:
    return fftconvolve(d_x, b), correlated(y, d_x)


def _correlated_jvp(y: Any, b: Any, x: Any, to_y: Any, to_b: Any) -> Any:
    return correlated(to_y, b) + correlated(y, to_b)


@_means(
    rule=_correlated_vjp,
    jvp=_correlated_jvp,
    result=lambda y, b: np.empty(y.shape[0] - b.shape[0] + 1),
)
def correlated(y: Any, b: Any) -> Any:
    """The sums of a vector times a shorter one that is moved along it."""
    from scipy import signal

    return signal.correlate(y, b, "valid", "fft")


def _gaussian_filter_vjp(image: Any, sigma: Any, y: Any, d_y: Any) -> Any:
    # Its matrix is symmetric: so are the kernel and the reflection at an edge.
    return gaussian_filter(d_y, sigma), None


def _gaussian_filter_jvp(image: Any, sigma: Any, y: Any, to: Any, to_sigma: Any) -> Any:
    if np.any(to_sigma):
        raise ArgumentError("gaussian_filter has no derivative by its width here")
    return gaussian_filter(to, sigma)


@_means(
    "scipy.ndimage",
    rule=_gaussian_filter_vjp,
    jvp=_gaussian_filter_jvp,
    result=lambda image, sigma: np.empty(image.shape),
)
def gaussian_filter(image: Any, sigma: Any) -> Any:
    """An image, smoothed; the width is no variable."""
    from scipy import ndimage

    return ndimage.gaussian_filter(image, sigma)


def _reflected(image: Any, weights: Any) -> Any:
    """The places of the elements of an image that is reflected at its edges."""
    if not all(n % 2 for n in weights.shape):
        raise ValueError("the derivative of convolve is that of odd kernels")
    wide = [(n // 2, n // 2) for n in weights.shape]
    return np.pad(np.arange(image.size).reshape(image.shape), wide, "symmetric")


def _convolve_vjp(image: Any, weights: Any, y: Any, d_y: Any) -> Any:
    return convolve_across(d_y, weights), convolve_weights(image, d_y, weights)


def _convolve_jvp(image: Any, weights: Any, y: Any, to: Any, to_weights: Any) -> Any:
    return convolve(to, weights) + convolve(image, to_weights)


@_means(
    "scipy.ndimage",
    rule=_convolve_vjp,
    jvp=_convolve_jvp,
    result=lambda image, weights: np.empty(image.shape),
)
def convolve(image: Any, weights: Any) -> Any:
    """An image, convolved with a kernel of odd sizes, reflected at its edges."""
    from scipy import ndimage

    return ndimage.convolve(image, weights)


def _convolve_across_vjp(d: Any, weights: Any, x: Any, d_x: Any) -> Any:
    return convolve(d_x, weights), convolve_weights(d_x, d, weights)


def _convolve_across_jvp(d: Any, weights: Any, x: Any, to: Any, to_w: Any) -> Any:
    return convolve_across(to, weights) + convolve_across(d, to_w)


@_means(
    rule=_convolve_across_vjp,
    jvp=_convolve_across_jvp,
    result=lambda d, weights: np.empty(d.shape),
)
def convolve_across(d: Any, weights: Any) -> Any:
    """The transpose of the convolution with a kernel."""
    from scipy import signal

    places = _reflected(d, weights)
    owed = signal.convolve(d, np.flip(weights), "full", "direct")
    return np.bincount(places.ravel(), owed.ravel(), d.size).reshape(d.shape)


def _convolve_weights_vjp(image: Any, d: Any, like: Any, x: Any, d_x: Any) -> Any:
    return convolve_across(d, d_x), convolve(image, d_x), 0


def _convolve_weights_jvp(
    image: Any, d: Any, like: Any, x: Any, to: Any, to_d: Any, to_like: Any
) -> Any:
    return convolve_weights(to, d, like) + convolve_weights(image, to_d, like)


@_means(
    rule=_convolve_weights_vjp,
    jvp=_convolve_weights_jvp,
    result=lambda image, d, like: np.empty(like.shape),
)
def convolve_weights(image: Any, d: Any, like: Any) -> Any:
    """What a kernel that is `like` this one owes to its convolution with an image."""
    from scipy import signal

    padded = image.ravel()[_reflected(image, like)]
    return np.flip(signal.correlate(padded, d, "valid", "direct")).copy()
