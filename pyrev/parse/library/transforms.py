"""Fourier transforms of arrays, which run as they are, on real and imaginary parts.

They are linear, so the derivative of each is its transpose, another transform (Cooley
and Tukey 1965 for the transform itself). `count` are the axes that are transformed,
from axis `first` on; none means all. `norm` is what the sum is divided by: 0 that of
"backward", 1 of "ortho", 2 of "forward".
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrev.parse.custom import custom_vjp

_NORMS = ("backward", "ortho", "forward")


def _axes(rank: int, first: int, count: int) -> tuple[int, ...]:
    if not count:
        return tuple(range(rank))
    start = first if first >= 0 else rank + first
    if start < 0 or start + count > rank:
        raise np.exceptions.AxisError(first, rank)
    return tuple(range(start, start + count))


def _parts(z: Any) -> tuple[Any, Any]:
    return np.ascontiguousarray(z.real), np.ascontiguousarray(z.imag)


def fourier_vjp(
    re: Any,
    im: Any,
    inverse: int,
    first: int,
    count: int,
    norm: int,
    out_re: Any,
    out_im: Any,
    d_re: Any,
    d_im: Any,
) -> Any:
    """The transpose: the transform the other way, divided by the rest."""
    by_re, by_im = fourier(d_re, d_im, 1 - inverse, first, count, 2 - norm)
    return by_re, by_im, 0, 0, 0, 0


def fourier_jvp(
    re: Any,
    im: Any,
    inverse: int,
    first: int,
    count: int,
    norm: int,
    out_re: Any,
    out_im: Any,
    to_re: Any,
    to_im: Any,
    to_inverse: Any,
    to_first: Any,
    to_count: Any,
    to_norm: Any,
) -> Any:
    """The same of the tangents."""
    return fourier(to_re, to_im, inverse, first, count, norm)


@custom_vjp(
    fourier_vjp,
    result=lambda re, im, inverse, first, count, norm: (
        np.empty_like(re * 1.0),
        np.empty_like(re * 1.0),
    ),
    jvp=fourier_jvp,
    check=False,
)
def fourier(re: Any, im: Any, inverse: int, first: int, count: int, norm: int) -> Any:
    """The transform of ``re + 1j * im``, arrays of one shape, or its inverse."""
    run = np.fft.ifftn if inverse else np.fft.fftn
    axes = _axes(re.ndim, first, count)
    return _parts(run(re + 1j * im, axes=axes, norm=_NORMS[norm]))  # type: ignore


def ends(n: int, inner: float) -> Any:
    """What the half of a transform of `n` numbers counts for: its ends once, what is
    between `inner` times, since it stands for two.
    """
    weights = np.full(n // 2 + 1, inner)
    weights[0] = 1.0
    if n % 2 == 0:
        weights[n // 2] = 1.0
    return weights


def fourier_half_vjp(
    x: Any,
    count: int,
    norm: int,
    out_re: Any,
    out_im: Any,
    d_re: Any,
    d_im: Any,
) -> Any:
    """The inverse, of which each number between the ends counts half."""
    weights = ends(x.shape[-1], 0.5)
    of_re, of_im = weights * d_re, weights * d_im
    d_x = fourier_whole(of_re, of_im, x.shape[-1], 0, count, 2 - norm)
    return d_x, 0, 0


def fourier_half_jvp(
    x: Any,
    count: int,
    norm: int,
    out_re: Any,
    out_im: Any,
    to_x: Any,
    to_count: Any,
    to_norm: Any,
) -> Any:
    """The same of the tangent."""
    return fourier_half(to_x, count, norm)


def _one_half(x: Any) -> Any:
    """What each part of the half of a transform is like, for up to three axes."""
    half = x.shape[-1] // 2 + 1
    if x.ndim == 1:
        return np.empty_like(x[:half] * 1.0)
    if x.ndim == 2:
        return np.empty_like(x[:, :half] * 1.0)
    return np.empty_like(x[:, :, :half] * 1.0)


@custom_vjp(
    fourier_half_vjp,
    result=lambda x, count, norm: (_one_half(x), _one_half(x)),
    jvp=fourier_half_jvp,
    check=False,
)
def fourier_half(x: Any, count: int, norm: int) -> Any:
    """The transform of real numbers along the last `count` axes, one or two: the half
    of it that says all.
    """
    axes = _axes(x.ndim, -count, count)
    return _parts(np.fft.rfftn(x, axes=axes, norm=_NORMS[norm]))  # type: ignore


def fourier_whole_vjp(
    re: Any,
    im: Any,
    n: int,
    rows: int,
    count: int,
    norm: int,
    out: Any,
    d_out: Any,
) -> Any:
    """The half of the transform, of which each number between the ends counts twice."""
    weights = ends(n, 2.0)
    of_re, of_im = fourier_half(d_out, count, 2 - norm)
    return weights * of_re, weights * of_im, 0, 0, 0, 0


def fourier_whole_jvp(
    re: Any,
    im: Any,
    n: int,
    rows: int,
    count: int,
    norm: int,
    out: Any,
    to_re: Any,
    to_im: Any,
    to_n: Any,
    to_rows: Any,
    to_count: Any,
    to_norm: Any,
) -> Any:
    """The same of the tangents."""
    return fourier_whole(to_re, to_im, n, rows, count, norm)


def _whole(re: Any, n: int) -> Any:
    """What the inverse is like, for up to three axes."""
    if re.ndim == 1:
        return np.empty(n, re.dtype)
    if re.ndim == 2:
        return np.empty((re.shape[0], n), re.dtype)
    return np.empty((re.shape[0], re.shape[1], n), re.dtype)


@custom_vjp(
    fourier_whole_vjp,
    result=lambda re, im, n, rows, count, norm: _whole(re, n),
    jvp=fourier_whole_jvp,
    check=False,
)
def fourier_whole(re: Any, im: Any, n: int, rows: int, count: int, norm: int) -> Any:
    """The inverse for real numbers along the last `count` axes, of which the last one
    gets `n` elements; where it is not zero, the axis before has `rows`.
    """
    if rows and rows != re.shape[-2]:
        raise ValueError(
            f"irfft2: {re.shape[-2]} rows of a transform, and s[0] is {rows}"
        )
    axes = _axes(re.ndim, -count, count)
    sizes = (*re.shape[re.ndim - count : -1], n)
    run = np.fft.irfftn(re + 1j * im, sizes, axes, norm=_NORMS[norm])  # type: ignore
    return np.ascontiguousarray(run)


# -------------------------------------------------------------------- whose they are


@dataclass(frozen=True, slots=True)
class Form:
    """One of NumPy's functions: the transform here that does the same, along how many
    axes, all for none; whether it is the inverse.
    """

    transform: str
    count: int
    inverse: bool = False

    @property
    def complex(self) -> bool:
        """Does it return complex numbers?"""
        return self.transform != "fourier_whole"


#: The functions of `numpy.fft` and `scipy.fft` by their names.
FORMS = {
    "fft": Form("fourier", 1),
    "ifft": Form("fourier", 1, True),
    "fft2": Form("fourier", 2),
    "ifft2": Form("fourier", 2, True),
    "fftn": Form("fourier", 0),
    "ifftn": Form("fourier", 0, True),
    "rfft": Form("fourier_half", 1),
    "rfft2": Form("fourier_half", 2),
    "irfft": Form("fourier_whole", 1, True),
    "irfft2": Form("fourier_whole", 2, True),
}


def form_of(function: object) -> Form | None:
    """What a function of NumPy's or SciPy's is here; None of any other."""
    name = getattr(function, "__name__", "")
    if name not in FORMS:
        return None
    for module in ("numpy.fft", "scipy.fft"):
        if getattr(sys.modules.get(module), name, None) is function:
            return FORMS[name]
    return None
