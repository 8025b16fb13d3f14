"""What is float32 in the primal has a float32 adjoint, also behind a float64 array."""

from __future__ import annotations

import math
import re

import numpy as np

import pyrev
from pyrev.testing import check_grad


def through_wide(a, w, out):
    """The intermediates `t` and `y` are float32, the array between is not."""
    wide = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        t = w[0]
        for j in range(w.shape[0]):
            y = math.sin(a[i] * w[j])
            t += y * y
        wide[i] = t
    for i in range(a.shape[0]):
        out[i] = wide[i] * wide[i]


def narrow_arguments():
    rng = np.random.default_rng(5)
    a, w = (rng.uniform(0.2, 0.8, n).astype(np.float32) for n in (6, 4))
    return a, w, np.zeros(6)


def test_scalars_are_as_wide_as_their_primals() -> None:
    f = pyrev.differentiable(through_wide)
    text = f.adjoint.source_for("numba", *narrow_arguments())
    # What is made of float32 alone needs no conversion.
    assert set(re.findall(r"np\.float32\((d_\w+)", text)) == {"d_wide"}, text


def test_nothing_is_converted_where_all_is_float64() -> None:
    f = pyrev.differentiable(through_wide)
    wide = [x.astype(np.float64) for x in narrow_arguments()]
    assert "float32" not in f.adjoint.source_for("numba", *wide)


def test_the_gradient_is_right() -> None:
    for target in ("python", "numba"):
        f = pyrev.differentiable(through_wide, target=target)
        check_grad(f, *narrow_arguments())
        check_grad(f, *(x.astype(np.float64) for x in narrow_arguments()))
