"""Loop functions of several fields, to be run on arrays in chunks.

Each is a case: the arguments for a size, and the axes along which their arrays may be
cut. Those that can't run on such chunks say why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Values = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A function, its arguments, and the axes of each array that are cut."""

    plain: Callable[..., Any]
    make: Callable[[np.random.Generator], Values]
    cut: Mapping[str, tuple[int, ...]]
    steps: tuple[int, ...] = (1,)
    refused: str = ""  # a part of the reason
    sums: bool = False  # what it sums over chunks has other last bits
    gathers: bool = True  # its adjoint on chunks reads no more than blocks have

    @property
    def name(self) -> str:
        return str(self.plain.__name__)


def cases_of(row: list[Case]) -> Callable[..., Any]:
    """The decorator that registers a function as a case in `row`."""

    def case(
        make: Any,
        steps: Any = (1,),
        refused: str = "",
        sums: bool = False,
        gathers: bool = True,
        **cut: Any,
    ) -> Any:
        def register(f: Callable[..., Any]) -> Callable[..., Any]:
            row.append(Case(f, make, cut, steps, refused, sums, gathers))
            return f

        return register

    return case


CASES: list[Case] = []
case = cases_of(CASES)

H, W = 11, 7


# ------------------------------------------------------------------ stencils


@case(lambda m: dict(u=m.random(23), out=m.random(23)), u=(0,), out=(0,))
def smoothed(u, out):
    for i in range(2, u.shape[0] - 2):
        out[i] = (u[i - 2] + u[i - 1] ** 2 + u[i] + u[i + 1] + u[i + 2]) / 5.0


@case(lambda m: dict(u=m.random((H, W)), out=m.random((H, W))), u=(0, 1), out=(0, 1))
def borders(u, out):
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            out[y, x] = (
                u[min(y + 2, u.shape[0] - 1), x] * u[max(y - 1, 0), u.shape[1] - 1 - x]
                + u[y // 2, x]
            )


@case(
    lambda m: dict(u=m.random((5, 6, 4)), out=m.random((5, 6, 4))),
    u=(0, 1, 2),
    out=(0, 1, 2),
)
def laplacian_3d(u, out):
    a, b, c = u.shape
    for i in range(1, a - 1):
        for j in range(1, b - 1):
            for k in range(1, c - 1):
                out[i, j, k] = (
                    u[i - 1, j, k]
                    + u[i + 1, j, k]
                    + u[i, j - 1, k]
                    + u[i, j + 1, k]
                    + u[i, j, k - 1]
                    + u[i, j, k + 1]
                    - 6.0 * u[i, j, k]
                ) * u[i, j, k]


@case(lambda m: dict(u=m.random((H, W)), out=m.random((H, W))), u=(0, 1), out=(0, 1))
def every_second_row(u, out):
    for y in range(1, u.shape[0], 2):
        for x in range(u.shape[1]):
            out[y, x] = u[y - 1, x] ** 2


@case(lambda m: dict(u=m.random((H, W)), out=m.random((H, W))), u=(0, 1), out=(0, 1))
def backwards(u, out):
    for y in range(u.shape[0] - 2, 0, -3):
        for x in reversed(range(u.shape[1])):
            out[y, x] += u[y + 1, x] * u[y - 1, x]


@case(lambda m: dict(u=m.random((H, W)), k=0.5), u=(0, 1))
def upwind_in_place(u, k):
    for y in range(u.shape[0] - 1):
        for x in range(u.shape[1]):
            u[y, x] = u[y, x] * k + u[y + 1, x]


@case(
    lambda m: dict(u=m.random((H, W)), g=m.random((H, W)), s=m.random((H, W))),
    u=(0, 1),
    g=(0, 1),
    s=(0, 1),
)
def two_passes(u, g, s):
    for y in range(u.shape[0]):
        for x in range(1, u.shape[1]):
            g[y, x] = np.tanh(u[y, x] - u[y, x - 1])
    for y in range(1, u.shape[0] - 1):
        for x in range(u.shape[1]):
            s[y, x] += g[y - 1, x] * g[y + 1, x] + u[y, -1]


@case(lambda m: dict(u=m.random((H, W)), out=m.random((H, W))), u=(0, 1), out=(0, 1))
def with_a_local_array(u, out):
    n, w = u.shape
    flux = np.zeros((n - 1, w))
    for y in range(n - 1):
        for x in range(w):
            flux[y, x] = (u[y + 1, x] - u[y, x]) * (u[y + 1, x] + u[y, x])
    for y in range(1, n - 1):
        for x in range(w):
            out[y, x] = flux[y, x] - flux[y - 1, x]


@case(lambda m: dict(u=m.random((H, W))), u=(0, 1))
def returned(u):
    out = np.zeros_like(u)
    for y in range(u.shape[0]):
        for x in range(1, u.shape[1]):
            out[y, x] = u[y, x] * u[y, x - 1]
    return out


@case(
    lambda m: dict(
        u=m.random((H, W)), mask=m.random((H, W)) > 0.4, out=m.random((H, W))
    ),
    u=(0, 1),
    out=(0, 1),
    mask=(0, 1),
)
def where_data_say(u, mask, out):
    for y in range(1, u.shape[0]):
        for x in range(u.shape[1]):
            if mask[y, x] and u[y - 1, x] > 0.2:
                v = u[y, x] * u[y - 1, x]
                out[y, x] = v * v
            else:
                out[y, x] = u[y, x]


# ------------------------------------------------------------------ convolutions


@case(
    lambda m: dict(
        image=m.random((H + 2, W + 2)), kernel=m.random((3, 3)), out=m.random((H, W))
    ),
    image=(0, 1),
    out=(0, 1),
)
def convolution(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for r in range(kernel.shape[0]):
                for s in range(kernel.shape[1]):
                    out[y, x] += image[y + r, x + s] * kernel[r, s]


@case(
    lambda m: dict(
        image=m.random((17, 12)), kernel=m.random((3, 2)), out=m.random((6, 5))
    ),
    image=(0, 1),
    out=(0, 1),
)
def strided(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            total = 0.0
            for r in range(kernel.shape[0]):
                for s in range(kernel.shape[1]):
                    total += image[2 * y + 2 * r, 2 * x + s] * kernel[r, s]
            out[y, x] = total


@case(
    lambda m: dict(
        x=m.random((2, 3, 13)), w=m.random((2, 3, 3)), out=m.random((2, 2, 11))
    ),
    x=(0, 2),
    out=(0, 2),
)
def channels(x, w, out):
    for n in range(out.shape[0]):
        for o in range(out.shape[1]):
            for i in range(out.shape[2]):
                for c in range(x.shape[1]):
                    for k in range(w.shape[2]):
                        out[n, o, i] += x[n, c, i + k] * w[o, c, k]


@case(lambda m: dict(u=m.random((H, W)), out=m.random((6, W))), u=(0, 1), out=(0, 1))
def downsampled(u, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = u[2 * y, x] * u[min(2 * y + 1, u.shape[0] - 1), x]


@case(lambda m: dict(u=m.random((6, W)), out=m.random((H, W))), u=(0, 1), out=(0, 1))
def upsampled(u, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            t = 0.5 * (y % 2)
            out[y, x] = (1.0 - t) * u[y // 2, x] + t * u[
                min(y // 2 + 1, u.shape[0] - 1), x
            ]


# ------------------------------------------------------------------ time


@case(
    lambda m: dict(u=m.random((H, W)), c=0.1 * m.random((H, W)), n=5),
    steps=(1, 2, 5, 7),
    u=(0, 1),
    c=(0, 1),
)
def heat(u, c, n):
    for _t in range(n):
        v = u.copy()
        for y in range(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                around = v[y - 1, x] + v[y + 1, x] + v[y, x - 1] + v[y, x + 1]
                u[y, x] = v[y, x] + c[y, x] * v[y, x] * (around - 4.0 * v[y, x])


@case(
    lambda m: dict(u=m.random((H, W)), v=m.random((H, W)), c=m.random((H, W)), n=4),
    steps=(1, 3),
    u=(0, 1),
    v=(0, 1),
    c=(0, 1),
)
def leapfrog(u, v, c, n):
    for _t in range(n):
        for y in range(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                around = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1]
                v[y, x] += 0.1 * c[y, x] * (around - 4.0 * u[y, x]) * u[y, x]
        for y in range(u.shape[0]):
            for x in range(u.shape[1]):
                u[y, x] += 0.1 * v[y, x]


@case(lambda m: dict(u=m.random(19), n=6), steps=(1, 4), u=(0,))
def two_buffers(u, n):
    old = u.copy()
    new = u.copy()
    for _t in range(n):
        for i in range(1, u.shape[0] - 1):
            new[i] = old[i] + 0.1 * (old[i - 1] ** 2 - 2.0 * old[i] + old[i + 1])
        for i in range(u.shape[0]):
            old[i] = new[i]
    return old


@case(
    lambda m: dict(u=m.random(19), source=m.random(5), amplitude=0.3),
    steps=(1, 2, 3),
    u=(0,),
)
def with_a_source(u, source, amplitude):
    n = u.shape[0]
    for t in range(source.shape[0]):
        push = amplitude * source[t] * (1.0 + 0.1 * t)
        v = u.copy()
        for i in range(1, n - 1):
            u[i] = 0.5 * v[i] + 0.25 * (v[i - 1] + v[i + 1]) + push * (i % 3)


@case(lambda m: dict(u=m.random(21), n=3), steps=(1, 3), u=(0,))
def advected_both_ways(u, n):
    for _t in range(n):
        v = u.copy()
        for i in range(2, u.shape[0]):
            u[i] = v[i] - 0.3 * v[i - 1] * (v[i] - v[i - 2])
        w = u.copy()
        for i in range(u.shape[0] - 1):
            u[i] = w[i] + 0.2 * w[i + 1] ** 2


# ------------------------------------------------------------------ sums


@case(
    lambda m: dict(u=m.random((H, W)), d=m.random((H, W)), w=0.3),
    sums=True,
    u=(0, 1),
    d=(0, 1),
)
def misfit(u, d, w):
    s = 0.0
    for y in range(u.shape[0] - 1):
        for x in range(u.shape[1]):
            r = u[y, x] - d[y, x]
            e = u[y + 1, x] - u[y, x]
            s += r * r + w * e * e
    return math.sqrt(s / u.size)


@case(
    lambda m: dict(
        u=m.random((H, W)), c=0.1 * m.random((H, W)), d=m.random((H, W)), n=4
    ),
    steps=(1, 3),
    sums=True,
    u=(0, 1),
    c=(0, 1),
    d=(0, 1),
)
def simulated_misfit(u, c, d, n):
    for _t in range(n):
        v = u.copy()
        for y in range(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                around = v[y - 1, x] + v[y + 1, x] + v[y, x - 1] + v[y, x + 1]
                u[y, x] = v[y, x] + c[y, x] * v[y, x] * (around - 4.0 * v[y, x])
    s = 0.0
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            s += (u[y, x] - d[y, x]) ** 2
    return 0.5 * s


@case(lambda m: dict(u=m.random((H, W)), out=m.random(H)), u=(0,), out=(0,))
def row_sums(u, out):
    for y in range(u.shape[0]):
        s = 0.0
        for x in range(u.shape[1]):
            s += u[y, x] ** 2
        out[y] = s


@case(lambda m: dict(u=m.random((H, W)), out=m.random(W)), sums=True, u=(0,))
def column_sums(u, out):
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            out[x] += u[y, x] ** 2


@case(lambda m: dict(u=m.random((H, W))), sums=True, u=(0, 1))
def normalised(u):
    m = np.mean(u)
    s = 0.0
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            s += (u[y, x] - m) ** 2
    out = np.zeros_like(u)
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            out[y, x] = (u[y, x] - m) / math.sqrt(s / u.size)
    return out


@case(
    lambda m: dict(x=m.random((H, 4)), w=m.random(4), y=(m.random(H) > 0.5) * 1.0),
    sums=True,
    x=(0,),
    y=(0,),
)
def logistic_loss(x, w, y):
    loss = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for j in range(w.shape[0]):
            z += x[i, j] * w[j]
        loss += math.log(1.0 + math.exp(-z)) + (1.0 - y[i]) * z
    return loss / x.shape[0]


# ------------------------------------------------------------------ batches, gathers


@case(
    lambda m: dict(
        a=m.random((H, 3, 3)), b=m.random((H, 3, 2)), out=m.random((H, 3, 2))
    ),
    a=(0,),
    b=(0,),
    out=(0,),
)
def batched_products(a, b, out):
    for n in range(a.shape[0]):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                s = 0.0
                for k in range(a.shape[2]):
                    s += a[n, i, k] * b[n, k, j]
                out[n, i, j] = s


@case(
    lambda m: dict(a=m.random((H, 5)), b=m.random((5, W)), out=m.random((H, W))),
    a=(0,),
    b=(1,),
    out=(0, 1),
)
def product(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


@case(
    lambda m: dict(u=m.random((H, W)), shift=m.integers(0, W, H), out=m.random((H, W))),
    u=(0,),
    shift=(0,),
    out=(0,),
)
def warped_rows(u, shift, out):
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            out[y, x] = u[y, (x + shift[y]) % u.shape[1]] ** 2


@case(
    lambda m: dict(
        ptr=np.array([0, 2, 3, 3, 6, 8, 9, 9, 12, 13, 14, 16]),
        col=m.integers(0, 5, 16),
        val=m.random(16),
        x=m.random(5),
        y=m.random(H),
    ),
    y=(0,),
)
def csr_rows(ptr, col, val, x, y):
    for i in range(y.shape[0]):
        for k in range(ptr[i], ptr[i + 1]):
            y[i] += val[k] * x[col[k]]


@case(lambda m: dict(x=m.random((H, W)), y=m.random((H, W))), x=(0,), y=(0,))
def recurrence_along_rows(x, y):
    for i in range(x.shape[0]):
        for t in range(1, x.shape[1]):
            y[i, t] = 0.5 * y[i, t - 1] + x[i, t] ** 2


@case(lambda m: dict(u=m.random((H, W)), out=m.random((H, W))), u=(0, 1), out=(0, 1))
def newton_per_element(u, out):
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            r = 1.0
            for _k in range(5):
                r = 0.5 * (r + (u[y, x] + 1.0) / r)
            out[y, x] = r


# ------------------------------------------------------------------ refused


@case(
    lambda m: dict(u=m.random((H, W))),
    refused="keep axis 0 of `u` in one chunk",
    u=(0,),
)
def summed_down(u):
    for y in range(1, u.shape[0]):
        for x in range(u.shape[1]):
            u[y, x] = u[y, x] + 0.5 * u[y - 1, x]


@case(
    lambda m: dict(u=m.random((H, W)), rows=m.integers(0, H, 9), out=m.random((9, W))),
    refused="data decides which elements of `u`",
    u=(0,),
    out=(0,),
)
def looked_up(u, rows, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = u[rows[y], x] * 2.0


@case(
    lambda m: dict(u=m.random(H)),
    refused="how often this loop over chunks runs",
    u=(0,),
)
def until_small(u):
    worst = 1.0
    while worst > 0.1:
        worst = 0.0
        for i in range(u.shape[0]):
            u[i] *= 0.5
            worst = max(worst, u[i])


@case(
    lambda m: dict(u=m.random(H), out=m.random(H)),
    refused="goes from one iteration",
    u=(0,),
    out=(0,),
)
def running_sum(u, out):
    s = 0.0
    for i in range(u.shape[0]):
        s = 0.9 * s + u[i]
        out[i] = s
