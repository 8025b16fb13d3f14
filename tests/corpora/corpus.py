# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, B020
"""The corpus: plain loop functions that every rung of the test ladder runs over.

Each function is what a user would write, without pyrev; the `case` under it says how to
make its arguments at a size, which arrays it writes, and where it comes from. Numbers
in `catalogue` are the entries of the project's test catalogue. `make` keeps a margin
around every kink, so that central differences of the function exist. `wide` lists the
sizes around the function's width; every entry also runs at 0, 1, 2 and 3 unless `least`
forbids it.
"""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Arguments, Cases, Maker

case = Cases()
ENTRIES = case.entries

GATHER = ("gather",)
OWNED = ("gather", "owner", "kept")
EDGES = ("gather", "reduction")  # a clamped edge sums onto one element
SMALL = ("reduction", "kept", "gather", "owner")
NEST = ("reduction",)  # in the loops of another sum

# ---------------------------------------------------------------- the paper's cases


def conv1d(signal, kernel, out):
    for x in range(out.shape[0]):
        for k in range(kernel.shape[0]):
            out[x] += signal[x + k] * kernel[k]


case(
    conv1d,
    lambda n, m: dict(signal=m(n), kernel=m(4), out=m(n - 3)),
    "out",
    wide=(4,),
    real=40,
    kinds={"d_signal": GATHER, "d_kernel": SMALL},
    paper=True,
)


def conv1d_flipped(signal, kernel, out):
    n = signal.shape[0]
    for x in range(out.shape[0]):
        for r in range(kernel.shape[0]):
            if 0 <= x - r < n:
                out[x] += signal[x - r] * kernel[r]


case(
    conv1d_flipped,
    lambda n, m: dict(signal=m(n), kernel=m(3), out=m(n + 2 if n else 0)),
    "out",
    wide=(3,),
    real=40,
    catalogue=(6,),
    kinds={"d_signal": GATHER, "d_kernel": SMALL},
    paper=True,
)


def conv2d(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[y, x] += image[y + j, x + i] * kernel[j, i]


case(
    conv2d,
    lambda n, m: dict(image=m(n, n + 1), kernel=m(3, 2), out=m(n - 2, n)),
    "out",
    wide=(3,),
    real=12,
    kinds={"d_image": GATHER, "d_kernel": SMALL},
    paper=True,
)


def upsample4(small, out):
    for x in range(out.shape[0]):
        out[x] = small[x // 4]


case(
    upsample4,
    lambda n, m: dict(small=m((n + 3) // 4), out=m(n)),
    "out",
    wide=(4, 8),
    real=41,
    catalogue=(27,),
    kinds={"d_small": GATHER},
    paper=True,
)


def masked_update(f, g, h):
    n = f.shape[0]
    for x in range(n):
        g[x] = f[x] * f[x]
    g[1] = 2.0
    for x in range(n):
        h[x] = 3.0 * g[x]


case(
    masked_update,
    lambda n, m: dict(f=m(n), g=m(n), h=m(n)),
    "g h",
    least=2,
    wide=(3,),
    paper=True,
)


def masked_update_guarded(f, h):
    n = f.shape[0]
    g = np.zeros(n)
    for x in range(n):
        g[x] = f[x] * f[x]
    if n > 1:
        g[1] = 2.0
    for x in range(n):
        h[x] = 3.0 * g[x]


case(
    masked_update_guarded, lambda n, m: dict(f=m(n), h=m(n)), "h", wide=(4,), paper=True
)


def gamma_loss(im, tgt, g):
    f = np.zeros_like(im)
    for y in range(im.shape[0]):
        for x in range(im.shape[1]):
            f[y, x] = im[y, x] ** g
    loss = 0.0
    for y in range(im.shape[0]):
        for x in range(im.shape[1]):
            diff = f[y, x] - tgt[y, x]
            loss += diff * diff
    return loss


case(
    gamma_loss,
    lambda n, m: dict(im=m.positive(n, n + 1), tgt=m(n, n + 1), g=m.scalar(1.5, 2.5)),
    wide=(4,),
    real=9,
    paper=True,
)


def conv_stride3_dilation2(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[y, x] += image[3 * y + 2 * j, 3 * x + 2 * i] * kernel[j, i]


case(
    conv_stride3_dilation2,
    lambda n, m: dict(
        image=m(n, n + 2),
        kernel=m(3, 2),
        out=m((n - 5) // 3 + 1, (n - 1) // 3 + 1 if n else 0),
    ),
    "out",
    wide=(5, 8),
    real=15,
    kinds={"d_image": GATHER, "d_kernel": SMALL},
    paper=True,
    heavy=True,
)


def conv_stride3_dilation2_1d(signal, kernel, out):
    for x in range(out.shape[0]):
        for k in range(kernel.shape[0]):
            out[x] += signal[3 * x + 2 * k] * kernel[k]


case(
    conv_stride3_dilation2_1d,
    lambda n, m: dict(signal=m(n), kernel=m(3), out=m((n - 5) // 3 + 1)),
    "out",
    wide=(5, 8),
    real=32,
    kinds={"d_signal": GATHER, "d_kernel": SMALL},
    paper=True,
)


def conv_nchw(image, weights, out):
    for n in range(out.shape[0]):
        for k in range(out.shape[1]):
            for y in range(out.shape[2]):
                for x in range(out.shape[3]):
                    for c in range(weights.shape[1]):
                        for j in range(weights.shape[2]):
                            for i in range(weights.shape[3]):
                                out[n, k, y, x] += (
                                    image[n, c, y + j, x + i] * weights[k, c, j, i]
                                )


case(
    conv_nchw,
    lambda n, m: dict(
        image=m(2, 2, n, n + 1), weights=m(3, 2, 2, 2), out=m(2, 3, n - 1, n)
    ),
    "out",
    wide=(2,),
    real=5,
    kinds={"d_image": NEST, "d_weights": NEST},
    paper=True,
    heavy=True,
)


def conv_5d(volume, kernel, out):
    for n in range(out.shape[0]):
        for z in range(out.shape[1]):
            for y in range(out.shape[2]):
                for x in range(out.shape[3]):
                    for c in range(out.shape[4]):
                        for k in range(kernel.shape[0]):
                            for j in range(kernel.shape[1]):
                                for i in range(kernel.shape[2]):
                                    out[n, z, y, x, c] += (
                                        volume[n, z + k, y + j, x + i, c]
                                        * kernel[k, j, i, c]
                                    )


case(
    conv_5d,
    lambda n, m: dict(
        volume=m(2, n, n, n + 1, 2), kernel=m(2, 2, 2, 2), out=m(2, n - 1, n - 1, n, 2)
    ),
    "out",
    wide=(2,),
    real=4,
    kinds={"d_volume": NEST, "d_kernel": NEST},
    paper=True,
    heavy=True,
)

# ---------------------------------------------------------------- the catalogue


def box(a, b):
    for x in range(b.shape[0]):
        b[x] = a[x] + a[x + 1]


case(
    box,
    lambda n, m: dict(a=m(n + 3), b=m(n)),
    "b",
    wide=(2,),
    real=40,
    catalogue=(1,),
    kinds={"d_a": GATHER},
)


def box_clamped(a, b):
    n = a.shape[0]
    for x in range(n):
        b[x] = a[min(max(x, 0), n - 1)] + a[min(max(x + 1, 0), n - 1)]


case(
    box_clamped,
    lambda n, m: dict(a=m(n), b=m(n)),
    "b",
    wide=(2,),
    real=40,
    catalogue=(2,),
    kinds={"d_a": GATHER},
)


def separable_blur(a, out):
    h, w = a.shape
    clamped = np.zeros((h + 2, w + 2))
    rows = np.zeros((h + 2, w))
    for y in range(h + 2):
        for x in range(w + 2):
            clamped[y, x] = a[min(max(y - 1, 0), h - 1), min(max(x - 1, 0), w - 1)]
    for y in range(h + 2):
        for x in range(1, w + 1):
            rows[y, x - 1] = clamped[y, x - 1] + 2.0 * clamped[y, x] + clamped[y, x + 1]
    for y in range(1, h + 1):
        for x in range(w):
            out[y - 1, x] = (rows[y - 1, x] + 2.0 * rows[y, x] + rows[y + 1, x]) / 16.0


case(
    separable_blur,
    lambda n, m: dict(a=m(n, n + 1), out=m(n, n + 1)),
    "out",
    least=1,
    wide=(3,),
    real=9,
    catalogue=(3,),
)


def assign_then_add(c, b):
    for x in range(b.shape[0]):
        b[x] = c[x]
    for x in range(b.shape[0]):
        b[x] += c[x + 1]


case(
    assign_then_add,
    lambda n, m: dict(c=m(n + 1), b=m(n)),
    "b",
    wide=(2,),
    real=30,
    catalogue=(4,),
    kinds={"d_c": OWNED},
)


def nonlinear_update(c, u):
    n = u.shape[0]
    for x in range(n):
        u[x, 0] = c[x]
    for x in range(n):
        u[x, 1] = u[x, 0] ** 2 + c[x + 1]


case(
    nonlinear_update,
    lambda n, m: dict(c=m(n + 1), u=m(n, 2)),
    "u",
    wide=(2,),
    catalogue=(5,),
)


def same_convolution(signal, kernel):
    n = signal.shape[0]
    total = 0.0
    out = np.zeros(n)
    for x in range(n):
        for r in range(kernel.shape[0]):
            out[x] += signal[min(max(x + r - 1, 0), n - 1)] * kernel[r]
    for x in range(n):
        total += out[x] * out[x]
    return total


case(
    same_convolution,
    lambda n, m: dict(signal=m(n), kernel=m(3)),
    wide=(3,),
    real=30,
    catalogue=(6,),
)


def horner(f, c, p):
    m = c.shape[0] - 1
    for x in range(f.shape[0]):
        p[x, m] = c[m]
        for r in range(1, m + 1):
            p[x, m - r] = p[x, m - r + 1] * f[x] + c[m - r]


case(
    horner,
    lambda n, m: dict(f=m(n), c=m(4), p=m(n, 4)),
    "p",
    wide=(4,),
    catalogue=(7,),
)


def nonlinear_scan(a, f):
    for x in range(f.shape[0]):
        f[x, 0] = a[x]
    for x in range(f.shape[0]):
        for r in range(f.shape[1] - 1):
            f[x, r + 1] = f[x, r] ** 2 + 0.3 * a[r]


case(
    nonlinear_scan,
    lambda n, m: dict(a=m(max(n, 4)), f=m(n, 4)),
    "f",
    wide=(4,),
    catalogue=(8,),
)


def broadcast(a, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = (x + 1) * a[y]


case(
    broadcast,
    lambda n, m: dict(a=m(n), out=m(n, n + 1)),
    "out",
    catalogue=(9,),
    kinds={"d_a": OWNED},
)


def resample_linear(positions, values, out):
    for x in range(out.shape[0]):
        left = int(math.floor(positions[x]))
        w = positions[x] - left
        out[x] = (1.0 - w) * values[left] + w * values[left + 1]


case(
    resample_linear,
    lambda n, m: dict(
        positions=m._cast(m.indices(n + 1, n) + m.rng.uniform(0.2, 0.8, n)),
        values=m(n + 2),
        out=m(n),
    ),
    "out",
    catalogue=(10,),
)


def sparse_update(f, out):
    for x in range(out.shape[0]):
        out[x] = f[x]
    out[1] = 0.0
    out[2] = 2.0 * f[1]


case(
    sparse_update, lambda n, m: dict(f=m(n), out=m(n)), "out", least=3, catalogue=(11,)
)


def histogram(idx, weights, out):
    for r in range(idx.shape[0]):
        out[min(max(idx[r], 0), out.shape[0] - 1)] += weights[r]


case(
    histogram,
    lambda n, m: dict(idx=m.indices(5, n) - 1, weights=m(n), out=m(3)),
    "out",
    catalogue=(12,),
    deferred="writes at data-dependent places",
)


def range_update(a, out):
    for x in range(1, 3):
        out[x] = a[x - 1]
    for x in range(3, 7):
        out[x] = 0.0


case(
    range_update,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    least=7,
    wide=(8,),
    catalogue=(14,),
)


def range_update_guarded(a, out):
    n = out.shape[0]
    for x in range(1, min(3, n)):
        out[x] = a[x - 1]
    for x in range(3, min(7, n)):
        out[x] = 0.0


case(
    range_update_guarded,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    wide=(3, 7),
    catalogue=(14,),
)


def repeat_edge(a, out):
    n = a.shape[0]
    for x in range(out.shape[0]):
        out[x] = a[min(max(x - 2, 0), n - 1)] ** 2


case(
    repeat_edge,
    lambda n, m: dict(a=m(n), out=m(n + 4)),
    "out",
    least=1,
    wide=(5,),
    catalogue=(15,),
    kinds={"d_a": EDGES},
)


def constant_exterior(a, out):
    n = a.shape[0]
    for x in range(out.shape[0]):
        out[x] = a[x - 2] if 0 <= x - 2 < n else 0.0


case(
    constant_exterior,
    lambda n, m: dict(a=m(n), out=m(n + 4)),
    "out",
    wide=(5,),
    catalogue=(16,),
    kinds={"d_a": OWNED},
)


def zero_padding(a, out):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            total = 0.0
            for j in range(3):
                for i in range(3):
                    yy = y + j - 1
                    xx = x + i - 1
                    if yy >= 0 and yy < h and xx >= 0 and xx < w:
                        total += a[yy, xx] * (1.0 + j + 2 * i)
            out[y, x] = total


case(
    zero_padding,
    lambda n, m: dict(a=m(n, n + 1), out=m(n, n + 1)),
    "out",
    wide=(3,),
    real=8,
    catalogue=(16,),
)


def repeat_image(a, out):
    n = a.shape[0]
    for x in range(out.shape[0]):
        out[x] = a[x % n] * a[(x + 1) % n]


case(
    repeat_image,
    lambda n, m: dict(a=m(n), out=m(2 * n + 1)),
    "out",
    least=1,
    wide=(4,),
    catalogue=(17,),
)


def repeat_period8(a, out):
    for x in range(out.shape[0]):
        out[x] = a[x % 8]


case(
    repeat_period8,
    lambda n, m: dict(a=m(8), out=m(n)),
    "out",
    wide=(8,),
    real=30,
    catalogue=(17,),
    kinds={"d_a": OWNED},
)


def wrapped_box(a, out):
    n = a.shape[0]
    for x in range(n):
        out[x] = a[(x - 1) % n] + 2.0 * a[x] + a[(x + 1) % n]


case(
    wrapped_box,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    wide=(3,),
    catalogue=(17,),
    kinds={"d_a": GATHER},
)


def mirror_image(a, out):
    n = a.shape[0]
    for x in range(out.shape[0]):
        i = x % (2 * n)
        if i >= n:
            i = 2 * n - 1 - i
        out[x] = a[i] * 1.5


case(
    mirror_image,
    lambda n, m: dict(a=m(n), out=m(3 * n + 1)),
    "out",
    least=1,
    wide=(4,),
    catalogue=(18,),
)


def mirror_box(a, out):
    n = a.shape[0]
    for x in range(n):
        left = x - 1 if x > 0 else 0
        right = x + 1 if x < n - 1 else n - 1
        out[x] = a[left] - 2.0 * a[x] + a[right]


case(
    mirror_box,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    wide=(3,),
    catalogue=(18,),
)


def mirror_interior(a, out):
    n = a.shape[0]
    for x in range(out.shape[0]):
        i = abs(x - 2)
        out[x] = a[n - 1 - abs(n - 1 - i)] * 0.5


case(
    mirror_interior,
    lambda n, m: dict(a=m(n), out=m(n + 4)),
    "out",
    least=3,
    wide=(5,),
    catalogue=(19,),
)


def circle_doubling(a):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            if (x - 3) ** 2 + (y - 3) ** 2 <= 10:
                a[y, x] *= 2.0


case(circle_doubling, lambda n, m: dict(a=m(n, n)), "a", wide=(6,), catalogue=(21,))


def reverse_in_place(f):
    n = f.shape[0]
    for r in range(n):
        f[r] = f[n - 1 - r]


case(reverse_in_place, lambda n, m: dict(f=m(n)), "f", wide=(5,), catalogue=(22,))


def diagonal_write(a, f):
    for x in range(a.shape[0] - 1):
        f[x, x] = a[x] + a[x + 1]


case(
    diagonal_write,
    lambda n, m: dict(a=m(n + 1), f=m(n, n)),
    "f",
    wide=(4,),
    catalogue=(23,),
)


def diagonal_read(a, o):
    for x in range(o.shape[0]):
        o[x] = a[x, x]


case(
    diagonal_read,
    lambda n, m: dict(a=m(n, n), o=m(n)),
    "o",
    wide=(4,),
    catalogue=(24,),
    kinds={"d_a": OWNED},
)


def floor_and_ceil(a, out):
    for x in range(out.shape[0]):
        out[x] = a[math.floor(x / 4.0)] + 2.0 * a[math.ceil(x / 4.0)]


case(
    floor_and_ceil,
    lambda n, m: dict(a=m(n // 4 + 2), out=m(n)),
    "out",
    wide=(4,),
    catalogue=(25,),
)


def downsample4(a, out):
    for x in range(out.shape[0]):
        for r in range(4):
            out[x] += a[4 * x + r]


case(
    downsample4,
    lambda n, m: dict(a=m(n), out=m(n // 4)),
    "out",
    wide=(4, 8),
    real=41,
    catalogue=(26,),
    kinds={"d_a": OWNED},
)


def upsample_2d(small, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = small[y // 2, x // 3]


case(
    upsample_2d,
    lambda n, m: dict(small=m((n + 1) // 2, (n + 2) // 3), out=m(n, n)),
    "out",
    wide=(3, 6),
    catalogue=(27,),
    kinds={"d_small": GATHER},
)


def transpose(a, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = a[x, y]


case(
    transpose,
    lambda n, m: dict(a=m(n + 1, n), out=m(n, n + 1)),
    "out",
    wide=(4,),
    catalogue=(28,),
    kinds={"d_a": OWNED},
)


def transpose_renamed(a, out):
    for x in range(out.shape[0]):
        for y in range(out.shape[1]):
            out[x, y] = a[y, x] * a[y, x]


case(
    transpose_renamed,
    lambda n, m: dict(a=m(n + 1, n), out=m(n, n + 1)),
    "out",
    catalogue=(28,),
    kinds={"d_a": OWNED},
)


def input_bounds(a, f, g):
    for x in range(a.shape[0] - 1):
        f[x] += a[x] * a[x + 1]
    for x in range(a.shape[0] - 1):
        g[x] += f[x] * a[x]


case(
    input_bounds,
    lambda n, m: dict(a=m(n), f=m(n - 1), g=m(n - 1)),
    "f g",
    wide=(2,),
    catalogue=(29,),
)


def select_guard(v, out):
    for x in range(v.shape[0]):
        out[x] = math.log(v[x]) if v[x] > 0.0 else 3.0 * v[x]


case(select_guard, lambda n, m: dict(v=m.away(n), out=m(n)), "out", catalogue=(30,))


def scaled_with_mask(a, scale):
    f = np.zeros(a.shape[0])
    for x in range(a.shape[0]):
        f[x] = a[x] * scale
    f[0] = 4.0
    total = 0.0
    for x in range(a.shape[0]):
        total += f[x] * f[x]
    return total


case(
    scaled_with_mask,
    lambda n, m: dict(a=m(n), scale=m.scalar()),
    least=1,
    catalogue=(31,),
)


def two_outputs(a, p, q):
    for x in range(a.shape[0] - 1):
        s = a[x] * a[x + 1]
        p[x] = s + a[x]
        q[x] = s * s
    for x in range(a.shape[0] - 1):
        p[x] += q[x] * a[x]
        q[x] *= 2.0


case(
    two_outputs,
    lambda n, m: dict(a=m(n), p=m(n - 1), q=m(n - 1)),
    "p q",
    catalogue=(33,),
)


def unpool_overlap(a, out):
    for x in range(a.shape[0]):
        for i in range(4):
            out[2 * x + i] += a[x]


case(
    unpool_overlap,
    lambda n, m: dict(a=m(n), out=m(2 * n + 2 if n else 0)),
    "out",
    wide=(4,),
    catalogue=(34,),
    kinds={"d_a": OWNED},
)


def unpool_clean(a, out):
    for x in range(a.shape[0]):
        for i in range(2):
            out[2 * x + i] += a[x]


case(
    unpool_clean,
    lambda n, m: dict(a=m(n), out=m(2 * n)),
    "out",
    catalogue=(35,),
    kinds={"d_a": OWNED},
)


def strided_channels(a, b, c):
    for n in range(c.shape[0]):
        for x in range(c.shape[1]):
            for y in range(c.shape[2]):
                for co in range(c.shape[3]):
                    for i in range(b.shape[0]):
                        for j in range(b.shape[1]):
                            for ci in range(b.shape[2]):
                                c[n, x, y, co] += (
                                    a[n, i + x, j + 2 * y, ci] * b[i, j, ci, co]
                                )


case(
    strided_channels,
    lambda n, m: dict(a=m(1, n + 1, 2 * n + 1, 2), b=m(2, 3, 2, 2), c=m(1, n, n, 2)),
    "c",
    wide=(2,),
    real=3,
    catalogue=(36,),
    kinds={"d_a": NEST, "d_b": NEST},
    heavy=True,
)


def redundant_output_axis(a, o):
    for k in range(a.shape[0]):
        for j in range(a.shape[1]):
            o[k, 2 * k + 5, k - 2 * j + 4] += a[k, j] * a[k, j]


case(
    redundant_output_axis,
    lambda n, m: dict(a=m(n, 3), o=m(n, 2 * n + 5, n + 4)),
    "o",
    real=4,
    catalogue=(37,),
    kinds={"d_a": OWNED},
)


def redundant_input_axis(a, o):
    for k in range(o.shape[0]):
        for j in range(o.shape[1]):
            o[k, j] += a[k, 2 * k + 5, k - 2 * j + 4]


case(
    redundant_input_axis,
    lambda n, m: dict(a=m(n, 2 * n + 5, n + 4), o=m(n, 3)),
    "o",
    real=4,
    catalogue=(37,),
)


def rank_deficient(a, out):
    for k in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[k, j] = a[k + j, 2 * k + 2 * j]


case(
    rank_deficient,
    lambda n, m: dict(a=m(2 * n - 1, 4 * n - 3), out=m(n, n)),
    "out",
    real=4,
    catalogue=(38,),
)


def exact_division_upsample(a, kernel, out):
    for x in range(out.shape[0]):
        for k in range(kernel.shape[0]):
            if (x - k + 1) % 2 == 0 and 0 <= (x - k + 1) // 2 < a.shape[0]:
                out[x] += a[(x - k + 1) // 2] * kernel[k]


case(
    exact_division_upsample,
    lambda n, m: dict(a=m(n), kernel=m(3), out=m(2 * n)),
    "out",
    wide=(3,),
    catalogue=(40,),
    kinds={"d_a": GATHER},
)


def pointwise_strided(a, w, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = a[2 * y, 3 * x] * w[0, 0]


case(
    pointwise_strided,
    lambda n, m: dict(a=m(n, n), w=m(1, 1), out=m((n + 1) // 2, (n + 2) // 3)),
    "out",
    wide=(3, 6),
    catalogue=(41,),
    kinds={"d_a": NEST},
)


def repeat_elements(a, out):
    for n1 in range(a.shape[0]):
        for k in range(3):
            out[3 * n1 + k] = a[n1]


case(
    repeat_elements,
    lambda n, m: dict(a=m(n), out=m(3 * n)),
    "out",
    catalogue=(42,),
)


def wave1d_step(c, u_1, u_2, u):
    n = u.shape[0]
    for i in range(1, n - 1):
        u[i] = 2.0 * u_1[i] - u_2[i] + c[i] * (u_1[i - 1] - 2.0 * u_1[i] + u_1[i + 1])


case(
    wave1d_step,
    lambda n, m: dict(c=m.positive(n), u_1=m(n), u_2=m(n), u=m(n)),
    "u",
    wide=(3,),
    real=40,
    catalogue=(43, 46),
    kinds={"d_u_1": GATHER, "d_u_2": OWNED, "d_c": OWNED},
)


def wave3d_step(c, u_1, u_2, u):
    n = u.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            for k in range(1, n - 1):
                u[i, j, k] = (
                    2.0 * u_1[i, j, k]
                    - u_2[i, j, k]
                    + c[i, j, k]
                    * (
                        u_1[i - 1, j, k]
                        + u_1[i + 1, j, k]
                        + u_1[i, j - 1, k]
                        + u_1[i, j + 1, k]
                        + u_1[i, j, k - 1]
                        + u_1[i, j, k + 1]
                        - 6.0 * u_1[i, j, k]
                    )
                )


case(
    wave3d_step,
    lambda n, m: dict(c=m(n, n, n), u_1=m(n, n, n), u_2=m(n, n, n), u=m(n, n, n)),
    "u",
    wide=(3,),
    real=5,
    catalogue=(44,),
    kinds={"d_u_1": GATHER},
    heavy=True,
)


def burgers1d_step(u_1, u, dt):
    n = u.shape[0]
    for i in range(1, n - 1):
        ap = max(u_1[i], 0.0)
        am = min(u_1[i], 0.0)
        um = u_1[i] - u_1[i - 1]
        up = u_1[i + 1] - u_1[i]
        u[i] = u_1[i] - dt * (ap * um + am * up) + 0.1 * (up - um)


case(
    burgers1d_step,
    lambda n, m: dict(u_1=m.away(n), u=m(n), dt=m.scalar(0.1, 0.3)),
    "u",
    wide=(3,),
    real=30,
    catalogue=(45, 46),
    kinds={"d_u_1": ("serial",)},
)

# ------------------------------------------------ scalars carried from turn to turn


def alternating_sum(x):
    y = 0.0
    for i in range(x.shape[0]):
        y = -y + x[i]
    return y


case(alternating_sum, lambda n, m: dict(x=m(n)), catalogue=(47,))


def last_assignment(x):
    y = 0.0
    for i in range(x.shape[0]):
        y = x[i] * x[i]
    return y


case(last_assignment, lambda n, m: dict(x=m(n)), catalogue=(48,))


def running_product(x):
    p = 1.0
    for i in range(x.shape[0]):
        p = p * x[i]
    return p


case(running_product, lambda n, m: dict(x=m.away(n)), catalogue=(61,))


def product_with_zeros(x):
    p = 1.0
    for i in range(x.shape[0]):
        p *= x[i]
    return p


def _with_zeros(n: int, m: Maker) -> Arguments:
    x = m.away(n)
    x[1:3] = 0.0
    return dict(x=x)


case(product_with_zeros, _with_zeros, catalogue=(61, 65))


def square_of_sum(x):
    s = 0.5
    for i in range(x.shape[0]):
        s = s + x[i]
    return s * s


case(square_of_sum, lambda n, m: dict(x=m(n)))


def logistic_map(x, r):
    for i in range(x.shape[0]):
        r = r * 0.8 * (1.5 - r) + 0.1 * x[i]
    return r


case(logistic_map, lambda n, m: dict(x=m(n), r=m.scalar()))


def affine_recurrence(x):
    t = 1.0
    for i in range(x.shape[0]):
        t = t * x[i] + 1.0
    return t


case(affine_recurrence, lambda n, m: dict(x=m(n)), catalogue=(53,))


def invertible_sum(w, x):
    s = 0.0
    y = 0.0
    for i in range(w.shape[0]):
        s += w[i]
        y += s * x[i]
    return y


case(invertible_sum, lambda n, m: dict(w=m(n), x=m(n)), catalogue=(61,))


def fibonacci_like(a, b, n):
    for i in range(n):
        c = a + b * 0.5
        a = b
        b = c * c * 0.3
    return b


case(
    fibonacci_like,
    lambda n, m: dict(a=m.scalar(), b=m.scalar(), n=n),
)


def two_states(x, out):
    p = 0.3
    q = 0.7
    for i in range(x.shape[0]):
        t = p
        p = q * math.sin(x[i])
        q = t + p * q
        out[i] = p * q
    return p + 2.0 * q


case(two_states, lambda n, m: dict(x=m(n), out=m(n)), "out")


def nested_accumulators(a):
    total = 0.0
    for i in range(a.shape[0]):
        row = 0.0
        for j in range(a.shape[1]):
            row += a[i, j] * (1.0 + row)
        total += row * row
    return total


case(nested_accumulators, lambda n, m: dict(a=m(n, 3)), catalogue=(90,))


def added_alike_inside(x, out):
    for k in range(out.shape[0]):
        for i in range(x.shape[0]):
            out[k] += x[i] * x[i]
            for _ in range(k % 3):  # an increment that is equal to the one around it
                out[k] += x[i] * x[i]


case(added_alike_inside, lambda n, m: dict(x=m(n), out=m(n)), "out")


def carried_through_two_loops(a):
    s = 1.0
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s = s * 0.9 + a[i, j] * s
        total += s * a[i, 0]
    return total


case(carried_through_two_loops, lambda n, m: dict(a=m(n, 2)))


def reset_on_branch(x):
    q = 0.0
    total = 0.0
    for i in range(x.shape[0]):
        if i % 3 == 0:
            q = 0.0
        q += x[i]
        total += q * q
    return total


case(reset_on_branch, lambda n, m: dict(x=m(n)), wide=(4,), catalogue=(85,))


def assigned_on_one_branch(x):
    v = 2.0
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            v = x[i] * x[i]
        total += v * x[i]
    return total


case(assigned_on_one_branch, lambda n, m: dict(x=m.away(n)))


def local_accumulator(x):
    total = 0.0
    for i in range(x.shape[0]):
        p = x[i]
        q = 0.0
        for k in range(3):
            q += p
            p = p * p
        total += q
    return total


case(local_accumulator, lambda n, m: dict(x=m(n)), catalogue=(86,))


def maximum_element(x):
    best = x[0]
    for i in range(1, x.shape[0]):
        if x[i] > best:
            best = x[i]
    return best * best


case(maximum_element, lambda n, m: dict(x=m.distinct(n)), least=1)


def minimum_of_squares(x):
    best = 1e9
    for i in range(x.shape[0]):
        best = min(best, x[i] * x[i])
    return best


case(
    minimum_of_squares,
    lambda n, m: dict(x=m._cast(0.3 + 0.1 * m.rng.permutation(n))),
    catalogue=(49,),
)


def cumulative_max(x, out):
    best = x[0]
    for i in range(x.shape[0]):
        best = max(best, x[i])
        out[i] = best * x[i]


case(cumulative_max, lambda n, m: dict(x=m.distinct(n), out=m(n)), "out", least=1)


def cumulative_max_array(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i]
    for i in range(1, x.shape[0]):
        out[i] = max(out[i - 1], out[i])


case(cumulative_max_array, lambda n, m: dict(x=m.distinct(n), out=m(n)), "out")


def argmax_by_loop(x, w):
    k = 0
    for i in range(x.shape[0]):
        if x[i] > x[k]:
            k = i
    return x[k] * w[k]


case(argmax_by_loop, lambda n, m: dict(x=m.distinct(n), w=m(n)), least=1)


def exponential_sum(x):
    y = 0.0
    for i in range(x.shape[0]):
        y += math.exp(x[i])
    return y


case(exponential_sum, lambda n, m: dict(x=m(n)), catalogue=(50,))


def leaky_integrator(x, out, decay):
    state = 0.0
    for i in range(x.shape[0]):
        state = decay * state + (1.0 - decay) * x[i]
        out[i] = state


case(
    leaky_integrator,
    lambda n, m: dict(x=m(n), out=m(n), decay=m.scalar(0.3, 0.8)),
    "out",
)


def backward_recurrence(x, out):
    n = x.shape[0]
    s = 0.0
    for i in range(n - 1, -1, -1):
        s = s * x[i] + x[i]
        out[i] = s


case(backward_recurrence, lambda n, m: dict(x=m(n), out=m(n)), "out")


def counted_by_condition(x):
    count = 0
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            count += 1
            total += x[i] * count
    return total


case(counted_by_condition, lambda n, m: dict(x=m.away(n)))


def integer_recurrence_index(x, n):
    k = 1
    total = 0.0
    for i in range(n):
        total += x[k] * x[i]
        k = (k * 3 + 1) % x.shape[0]
    return total


case(
    integer_recurrence_index,
    lambda n, m: dict(x=m(n + 2), n=n),
    catalogue=(83,),
)

# ------------------------------------------------------- values overwritten and needed


def square_in_place(u):
    for i in range(u.shape[0]):
        u[i] = u[i] * u[i]


case(square_in_place, lambda n, m: dict(u=m(n)), "u", catalogue=(69,))


def square_twice(x):
    for i in range(x.shape[0]):
        x[i] = x[i] ** 2
    for i in range(x.shape[0]):
        x[i] = x[i] ** 2


case(square_twice, lambda n, m: dict(x=m(n)), "x", catalogue=(59,))


def exp_in_place(u):
    for i in range(u.shape[0]):
        u[i] = np.exp(u[i])


case(exp_in_place, lambda n, m: dict(u=m(n)), "u")


def chain_in_place(xs):
    for i in range(xs.shape[0] - 1):
        xs[i + 1] = xs[i] ** 2 + 0.5 * xs[i + 1]


case(chain_in_place, lambda n, m: dict(xs=m(n)), "xs", catalogue=(68,))


def chain_against_order(xs):
    for i in range(xs.shape[0] - 1):
        xs[i] = xs[i + 1] * xs[i]


case(chain_against_order, lambda n, m: dict(xs=m(n)), "xs")


def chain_descending(xs):
    for i in range(xs.shape[0] - 1, 0, -1):
        xs[i] = xs[i - 1] * xs[i] + 0.5


case(chain_descending, lambda n, m: dict(xs=m(n)), "xs")


def in_place_time_steps(u, steps):
    n = u.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            u[i] = u[i] * (0.3 * u[i - 1] + 0.4 * u[i + 1])


case(in_place_time_steps, lambda n, m: dict(u=m.positive(n), steps=3), "u", wide=(3,))


def gauss_seidel(u, f, sweeps):
    for t in range(sweeps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (
                    u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j]
                )


case(
    gauss_seidel,
    lambda n, m: dict(u=m(n, n), f=m(n, n), sweeps=2),
    "u",
    wide=(3,),
    real=7,
    catalogue=(77,),
)


def seidel_nine_points(a):
    n = a.shape[0]
    for t in range(2):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] += a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
                a[i, j] /= 5.0


case(
    seidel_nine_points,
    lambda n, m: dict(a=m(n, n)),
    "a",
    wide=(3,),
    real=6,
    catalogue=(77,),
)


def read_then_overwrite(u):
    s = 0.0
    for i in range(u.shape[0]):
        s += u[i] * u[i]
        u[i] = 1.0
    return s


case(read_then_overwrite, lambda n, m: dict(u=m(n)), "u", catalogue=(88, 89))


def square_then_set(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * a[i]
        a[i] = 1.0


case(square_then_set, lambda n, m: dict(a=m(n), b=m(n)), "a b", catalogue=(88,))


def used_then_shifted(b, c):
    for i in range(b.shape[0]):
        c[i] = b[i] * b[i]
    for i in range(b.shape[0]):
        b[i] += 1.0


case(used_then_shifted, lambda n, m: dict(b=m(n), c=m(n)), "b c", catalogue=(58, 87))


def in_place_multiply(u, x):
    for t in range(3):
        for i in range(u.shape[0]):
            u[i] *= x[i]


case(in_place_multiply, lambda n, m: dict(u=m(n), x=m(n)), "u")


def in_place_divide(u, x):
    for i in range(u.shape[0]):
        u[i] /= x[i]
        u[i] /= 1.0 + x[i] * x[i]


case(in_place_divide, lambda n, m: dict(u=m(n), x=m.positive(n)), "u")


def in_place_subtract(u, x):
    for i in range(u.shape[0] - 1):
        u[i] -= x[i] * u[i + 1]


case(in_place_subtract, lambda n, m: dict(u=m(n), x=m(n)), "u")


def multiply_by_itself(u):
    for i in range(u.shape[0]):
        u[i] *= u[i]
        u[i] += u[i]
        u[i] -= 0.5 * u[i]


case(multiply_by_itself, lambda n, m: dict(u=m(n)), "u")


def multiply_by_neighbour(u):
    for i in range(1, u.shape[0]):
        u[i] *= u[i - 1]


case(multiply_by_neighbour, lambda n, m: dict(u=m.away(n)), "u")


def add_shifted_self(u):
    for i in range(u.shape[0] - 2):
        u[i + 2] += 0.5 * u[i] * u[i + 1]


case(add_shifted_self, lambda n, m: dict(u=m(n)), "u", wide=(3,))


def accumulated_then_discarded(p, val):
    for i in range(p.shape[0]):
        p[i] += val[i] * val[i]
    for i in range(p.shape[0]):
        p[i] = val[i] * i


case(
    accumulated_then_discarded,
    lambda n, m: dict(p=m(n), val=m(n)),
    "p",
    catalogue=(84,),
)


def every_other_overwritten(a, b):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[i] * a[i]
    for i in range(0, n, 2):
        b[i] = b[i] * a[n - 1 - i]


case(every_other_overwritten, lambda n, m: dict(a=m(n), b=m(n)), "b")


def swap_ends(a):
    n = a.shape[0]
    for i in range(n // 2):
        t = a[i]
        a[i] = a[n - 1 - i] * 2.0
        a[n - 1 - i] = t * t


case(swap_ends, lambda n, m: dict(a=m(n)), "a", wide=(5,))


def rotate_left(a):
    first = a[0] * a[0]
    for i in range(a.shape[0] - 1):
        a[i] = a[i + 1]
    a[a.shape[0] - 1] = first


case(rotate_left, lambda n, m: dict(a=m(n)), "a", least=1)


def scalar_slot(x, out):
    for i in range(x.shape[0]):
        out[0] = out[0] * x[i] + x[i]


case(scalar_slot, lambda n, m: dict(x=m(n), out=m(1)), "out")


def sum_into_slot(xs):
    total = 0.0
    for i in range(xs.shape[0]):
        total += xs[i]
    xs[1] = total * total


case(sum_into_slot, lambda n, m: dict(xs=m(n)), "xs", least=2, catalogue=(67,))


def two_from_one(x, a, b):
    n = x.shape[0]
    for i in range(n):
        a[i] = x[i]
        b[i] = x[i]
    for t in range(3):
        for i in range(n):
            a[i] = a[i] * b[n - 1 - i]
            b[i] = b[i] + 0.3 * a[i]


case(
    two_from_one,
    lambda n, m: dict(x=m(n), a=m(n), b=m(n)),
    "a b",
    catalogue=(70,),
)


def overwritten_after_scale(a, k, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * k
        k = out[i] + 0.5
    return k


case(
    overwritten_after_scale,
    lambda n, m: dict(a=m(n), k=m.scalar(), out=m(n)),
    "out",
)


def index_overwritten(idx, x, out):
    for i in range(x.shape[0]):
        j = idx[i]
        out[i] = x[j] * x[j]
        j = idx[j]
        out[i] += x[j] * x[i]


case(
    index_overwritten,
    lambda n, m: dict(idx=m.indices(n, n), x=m(n), out=m(n)),
    "out",
    catalogue=(57,),
)


def condition_overwritten(x, out):
    for i in range(x.shape[0]):
        t = x[i]
        for k in range(3):
            if t > 0.0:
                out[i] += t * t
            else:
                out[i] -= t
            t = t - 0.55


case(
    condition_overwritten,
    lambda n, m: dict(x=m._cast(m.rng.choice([-0.9, -0.3, 0.25, 0.9], n)), out=m(n)),
    "out",
    catalogue=(56,),
)


def recurrence_in_a_loop(x, w, out):
    for p in range(out.shape[0]):
        t = w[p]
        for i in range(x.shape[0]):
            t = math.sin(t * x[i]) + 0.1
        out[p] = t * x[p]


case(
    recurrence_in_a_loop,
    lambda n, m: dict(x=m(n), w=m(n), out=m(n)),
    "out",
    catalogue=(52,),
)

# ------------------------------------------------------------------ control and ranges


def relu(x, out):
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            out[i] = x[i]
        else:
            out[i] = 0.0


case(relu, lambda n, m: dict(x=m.away(n), out=m(n)), "out")


def leaky_branches(x, out, slope):
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            out[i] = x[i] * x[i]
        elif x[i] > -0.5:
            out[i] = slope * x[i]
        else:
            out[i] += slope * slope


case(
    leaky_branches,
    lambda n, m: dict(
        x=m._cast(m.rng.choice([-0.8, -0.3, 0.2, 0.9], n)), out=m(n), slope=m.scalar()
    ),
    "out",
)


def guarded_by_index(a, out):
    n = a.shape[0]
    for i in range(n):
        if i > 0 and i < n - 1:
            out[i] = a[i - 1] * a[i + 1]
        else:
            out[i] = a[i]


case(guarded_by_index, lambda n, m: dict(a=m(n), out=m(n)), "out", wide=(3,))


def nested_conditions(a, b, out):
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            if b[i] > 0.0:
                out[i] = a[i] * b[i]
            else:
                out[i] = a[i] - b[i]
        elif b[i] > 0.0 or i == 0:
            out[i] *= b[i]


case(
    nested_conditions,
    lambda n, m: dict(a=m.away(n), b=m.away(n), out=m(n)),
    "out",
    catalogue=(76,),
)


def branch_on_parameter(a, mode, out):
    for i in range(a.shape[0]):
        if mode == 0:
            out[i] = a[i]
        elif mode == 1:
            out[i] = a[i] ** 2
        else:
            out[i] = a[i] ** 3


case(branch_on_parameter, lambda n, m: dict(a=m(n), mode=n % 3, out=m(n)), "out")


def boolean_mask(a, mask, out):
    for i in range(a.shape[0]):
        if mask[i]:
            out[i] = a[i] * a[i]


case(
    boolean_mask,
    lambda n, m: dict(a=m(n), mask=m.rng.random(n) < 0.5, out=m(n)),
    "out",
)


def integer_mask_product(a, mask, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * mask[i] + (1 - mask[i]) * out[i]


case(
    integer_mask_product,
    lambda n, m: dict(a=m(n), mask=m.indices(2, n), out=m(n)),
    "out",
)


def steps_of_three(a, out):
    for i in range(1, a.shape[0] - 1, 3):
        out[i] = a[i] * a[i + 1]
        out[i - 1] += a[i]


case(steps_of_three, lambda n, m: dict(a=m(n), out=m(n)), "out", wide=(4, 7))


def negative_steps(a, out):
    n = a.shape[0]
    for i in range(n - 1, 0, -2):
        out[i] = a[i] * a[i - 1]


case(negative_steps, lambda n, m: dict(a=m(n), out=m(n)), "out", wide=(4,))


def negative_range(out, a):
    for y in range(-2, 2):
        out[y + 2] += a[y + 2] * a[1 - y] * y


case(negative_range, lambda n, m: dict(out=m(4), a=m(4)), "out", catalogue=(51,))


def bounds_as_parameters(a, lo, hi, out):
    for i in range(lo, hi):
        out[i] = a[i] * a[i]


case(
    bounds_as_parameters,
    lambda n, m: dict(a=m(n + 2), lo=1, hi=n, out=m(n + 2)),
    "out",
)


def bounds_from_data(starts, a, out):
    for i in range(out.shape[0]):
        for j in range(starts[i], starts[i + 1]):
            out[i] += a[j] * a[j]


case(
    bounds_from_data,
    lambda n, m: dict(
        starts=np.cumsum(np.concatenate([[0], m.rng.integers(0, 3, n)])),
        a=m(2 * n),
        out=m(n),
    ),
    "out",
)


def triangular_sum(x):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            s += x[i] * x[j] * x[j]
    return s


case(triangular_sum, lambda n, m: dict(x=m(n)), wide=(4,))


def triangular_product(a, x, out):
    for i in range(out.shape[0]):
        for j in range(i + 1):
            out[i] += a[i, j] * x[j]


case(
    triangular_product,
    lambda n, m: dict(a=m(n, n), x=m(n), out=m(n)),
    "out",
    wide=(4,),
    catalogue=(78,),
)


def upper_triangle(a, out):
    n = a.shape[0]
    for i in range(n):
        for j in range(i, n):
            out[i, j] = a[i, j] * a[j, i]


case(upper_triangle, lambda n, m: dict(a=m(n, n), out=m(n, n)), "out")


def triangular_three_deep(a):
    n = a.shape[0]
    total = 0.0
    for i in range(n):
        for j in range(i, n):
            for k in range(i, j + 1):
                total += a[i] * a[j] * a[k]
    return total


case(triangular_three_deep, lambda n, m: dict(a=m(n)), real=7)


def imperfect_nest(a, b, out):
    for i in range(a.shape[0]):
        out[i] = b[i]
        for j in range(a.shape[1]):
            out[i] += a[i, j] * b[i]
        out[i] = out[i] * out[i]


case(imperfect_nest, lambda n, m: dict(a=m(n, 3), b=m(n), out=m(n)), "out")


def loop_never_runs(a, out):
    for i in range(5, 2):
        out[i] = a[i]
    for i in range(a.shape[0]):
        out[i] += 2.0 * a[i]


case(loop_never_runs, lambda n, m: dict(a=m(n), out=m(n)), "out")


def same_index_twice(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * 2.0
    for i in range(a.shape[0] - 1):
        out[i] += out[i + 1] * a[i]


case(same_index_twice, lambda n, m: dict(a=m(n), out=m(n)), "out")


def negative_literal_index(a, out):
    out[0] = a[-1] * a[-2]
    out[-1] += a[0]


case(negative_literal_index, lambda n, m: dict(a=m(n), out=m(n)), "out", least=2)


def assigned_name_chain(a, out):
    for i in range(a.shape[0]):
        x = y = a[i] * a[i]
        x = x + y
        y = x * y
        out[i] = x - y


case(assigned_name_chain, lambda n, m: dict(a=m(n), out=m(n)), "out")


def conditional_expressions(a, b, out):
    for i in range(a.shape[0]):
        t = a[i] if a[i] > b[i] else b[i] * 2.0
        out[i] = (t if i % 2 == 0 else -t) * a[i]


case(
    conditional_expressions,
    lambda n, m: dict(a=m.distinct(n), b=m.distinct(n) - 0.05, out=m(n)),
    "out",
)


def clip_and_abs(a, out):
    for i in range(a.shape[0]):
        out[i] = abs(a[i]) + min(max(a[i], -0.5), 0.5) ** 2


case(
    clip_and_abs,
    lambda n, m: dict(a=m._cast(m.rng.choice([-0.8, -0.3, 0.2, 0.9], n)), out=m(n)),
    "out",
)


def ternary_minimum(a, b, c, out):
    for i in range(a.shape[0]):
        out[i] = min(a[i], b[i], c[i]) * max(a[i], b[i], 0.05)


case(
    ternary_minimum,
    lambda n, m: dict(
        a=m.distinct(n), b=m.distinct(n) + 0.025, c=m.distinct(n) - 0.025, out=m(n)
    ),
    "out",
)

# ------------------------------------------------------------- reads at many places


def five_points(u, out):
    for y in range(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            out[y, x] = (
                u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] - 4.0 * u[y, x]
            )


case(
    five_points,
    lambda n, m: dict(u=m(n, n + 1), out=m(n, n + 1)),
    "out",
    wide=(3,),
    real=9,
    kinds={"d_u": GATHER},
)


def nonlinear_five_points(u, out):
    for y in range(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            dx = u[y, x + 1] - u[y, x - 1]
            dy = u[y + 1, x] - u[y - 1, x]
            out[y, x] = math.sqrt(0.1 + dx * dx + dy * dy) * u[y, x]


case(
    nonlinear_five_points,
    lambda n, m: dict(u=m(n, n + 1), out=m(n, n + 1)),
    "out",
    wide=(3,),
    real=8,
)


def total_variation(u):
    total = 0.0
    for y in range(u.shape[0] - 1):
        for x in range(u.shape[1] - 1):
            dx = u[y, x + 1] - u[y, x]
            dy = u[y + 1, x] - u[y, x]
            total += math.sqrt(dx * dx + dy * dy + 0.01)
    return total


case(total_variation, lambda n, m: dict(u=m(n, n + 1)), wide=(2,), real=8)


def many_to_one(a, out):
    for x in range(out.shape[0]):
        for y in range(out.shape[1]):
            out[x, y] = a[2 * x + y]


case(
    many_to_one,
    lambda n, m: dict(a=m(3 * n), out=m(n, n + 1)),
    "out",
    kinds={"d_a": GATHER},
)


def frobenius_coins(a, out):
    for x in range(out.shape[0]):
        for y in range(out.shape[1]):
            for z in range(out.shape[2]):
                out[x, y, z] = a[6 * x + 10 * y + 15 * z] * (1 + x)


case(frobenius_coins, lambda n, m: dict(a=m(31 * n), out=m(n, n, n)), "out", real=3)


def sum_and_difference(a, out):
    n = out.shape[0]
    for x in range(n):
        for y in range(n):
            out[x, y] = a[x + y, x - y + n]


case(
    sum_and_difference,
    lambda n, m: dict(a=m(2 * n, 2 * n), out=m(n, n)),
    "out",
    real=5,
    kinds={"d_a": OWNED},
)


def reversed_read(a, out):
    for x in range(out.shape[0]):
        out[x] = a[out.shape[0] - 1 - x] * 3.0


case(
    reversed_read,
    lambda n, m: dict(a=m(n), out=m(n)),
    "out",
    kinds={"d_a": OWNED},
)


def symmetric_part(a, out):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            out[i, j] = a[i, j] + a[j, i]


case(
    symmetric_part,
    lambda n, m: dict(a=m(n, n), out=m(n, n)),
    "out",
    kinds={"d_a": NEST},
)


def two_ranges_of_one(a, out):
    n = out.shape[0]
    for x in range(n):
        out[x] = a[x] * a[x + n] + a[2 * x]


case(two_ranges_of_one, lambda n, m: dict(a=m(2 * n + 1), out=m(n)), "out")


def fixed_column(a, out):
    for x in range(out.shape[0]):
        out[x] = a[x, 0] * a[0, x]


case(fixed_column, lambda n, m: dict(a=m(n, n), out=m(n)), "out")


def flattened_image(flat, out):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            out[y, x] = flat[y * w + x] * flat[y * w + x]


case(flattened_image, lambda n, m: dict(flat=m(n * (n + 1)), out=m(n, n + 1)), "out")


def interleaved_channels(flat, out):
    n = out.shape[0]
    for x in range(n):
        out[x] = 0.3 * flat[3 * x] + 0.6 * flat[3 * x + 1] + 0.1 * flat[3 * x + 2]


case(
    interleaved_channels,
    lambda n, m: dict(flat=m(3 * n), out=m(n)),
    "out",
    kinds={"d_flat": OWNED},
)


def box_2d_clamped(a, out):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            for j in range(-1, 2):
                for i in range(-1, 2):
                    yy = min(max(y + j, 0), h - 1)
                    xx = min(max(x + i, 0), w - 1)
                    out[y, x] += a[yy, xx] / 9.0


case(
    box_2d_clamped,
    lambda n, m: dict(a=m(n, n + 1), out=m(n, n + 1)),
    "out",
    wide=(3,),
    real=7,
    catalogue=(15,),
)


def transposed_convolution(small, kernel, out):
    for y in range(small.shape[0]):
        for x in range(small.shape[1]):
            for j in range(kernel.shape[0]):
                for i in range(kernel.shape[1]):
                    out[2 * y + j, 2 * x + i] += small[y, x] * kernel[j, i]


case(
    transposed_convolution,
    lambda n, m: dict(small=m(n, n), kernel=m(3, 3), out=m(2 * n + 1, 2 * n + 1)),
    "out",
    real=5,
    catalogue=(41,),
    kinds={"d_small": NEST, "d_kernel": NEST},
)


def average_pool(a, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            total = 0.0
            for j in range(2):
                for i in range(2):
                    total += a[2 * y + j, 2 * x + i]
            out[y, x] = total / 4.0


case(
    average_pool,
    lambda n, m: dict(a=m(n, n + 1), out=m(n // 2, (n + 1) // 2)),
    "out",
    wide=(2, 4),
    real=9,
)


def max_pool(a, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            best = a[2 * y, 2 * x]
            for j in range(2):
                for i in range(2):
                    if a[2 * y + j, 2 * x + i] > best:
                        best = a[2 * y + j, 2 * x + i]
            out[y, x] = best


case(
    max_pool,
    lambda n, m: dict(a=m.distinct(n, n), out=m(n // 2, n // 2)),
    "out",
    wide=(2, 4),
    real=8,
    catalogue=(74,),
)


def gather_table(table, idx, out):
    for i in range(idx.shape[0]):
        out[i] = table[idx[i]] * table[idx[i]]


case(
    gather_table,
    lambda n, m: dict(table=m(5), idx=m.indices(5, n), out=m(n)),
    "out",
    catalogue=(62,),
)


def gather_rows(table, idx, out):
    for i in range(idx.shape[0]):
        for c in range(table.shape[1]):
            out[i, c] += table[idx[i], c] * (c + 1)


case(
    gather_rows,
    lambda n, m: dict(table=m(5, 3), idx=m.indices(5, n, dtype=np.int32), out=m(n, 3)),
    "out",
)


def graph_laplacian(neighbours, u, out):
    for i in range(out.shape[0]):
        for k in range(neighbours.shape[1]):
            out[i] += u[neighbours[i, k]] - u[i]


case(
    graph_laplacian,
    lambda n, m: dict(neighbours=m.indices(n, n, 3), u=m(n), out=m(n)),
    "out",
)


def sparse_matvec(start, column, value, x, y):
    for i in range(y.shape[0]):
        for p in range(start[i], start[i + 1]):
            y[i] += value[p] * x[column[p]]


case(
    sparse_matvec,
    lambda n, m: dict(
        start=np.arange(n + 1) * 2,
        column=m.indices(n, 2 * n),
        value=m(2 * n),
        x=m(n),
        y=m(n),
    ),
    "y",
)


def double_indirection(idx, x, out):
    for i in range(out.shape[0]):
        out[i] = x[idx[idx[i]]] * x[i]


case(
    double_indirection,
    lambda n, m: dict(idx=m.indices(n, n), x=m(n), out=m(n)),
    "out",
)


def bilinear_resize(a, out):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            sy = (y + 0.5) * a.shape[0] / h - 0.5
            sx = (x + 0.5) * a.shape[1] / w - 0.5
            y0 = int(math.floor(sy))
            x0 = int(math.floor(sx))
            fy = sy - y0
            fx = sx - x0
            ya = min(max(y0, 0), a.shape[0] - 1)
            yb = min(max(y0 + 1, 0), a.shape[0] - 1)
            xa = min(max(x0, 0), a.shape[1] - 1)
            xb = min(max(x0 + 1, 0), a.shape[1] - 1)
            top = (1.0 - fx) * a[ya, xa] + fx * a[ya, xb]
            bottom = (1.0 - fx) * a[yb, xa] + fx * a[yb, xb]
            out[y, x] = (1.0 - fy) * top + fy * bottom


case(
    bilinear_resize,
    lambda n, m: dict(a=m(n, n + 1), out=m(2 * n + 1, n + 3)),
    "out",
    least=1,
    real=5,
    catalogue=(25,),
)


def warp_by_flow(a, flow, out):
    n = a.shape[0]
    for x in range(n):
        p = x + flow[x]
        x0 = min(max(int(math.floor(p)), 0), n - 2)
        w = p - x0
        out[x] = (1.0 - w) * a[x0] + w * a[x0 + 1]


case(
    warp_by_flow,
    lambda n, m: dict(a=m(n), flow=m.away(n) * 0.9, out=m(n)),
    "out",
    least=2,
)

# --------------------------------------------------------------- local arrays, calls


def scratch_per_turn(a, out):
    for i in range(a.shape[0]):
        t = np.zeros(3)
        for k in range(3):
            t[k] = a[i, k] * a[i, k]
        for k in range(2):
            t[k + 1] += t[k] * t[k + 1]
        out[i] = t[2]


case(scratch_per_turn, lambda n, m: dict(a=m(n, 3), out=m(n)), "out")


def scratch_sized_by_index(a, out):
    for i in range(a.shape[0]):
        t = np.ones(i + 1)
        for k in range(i + 1):
            t[k] += a[k] * a[i]
        for k in range(i + 1):
            out[i] += t[k] * t[i - k]


case(scratch_sized_by_index, lambda n, m: dict(a=m(n), out=m(n)), "out", real=9)


def returned_local(a):
    b = np.empty_like(a)
    for i in range(a.shape[0]):
        b[i] = a[i] ** 3
    return b


case(returned_local, lambda n, m: dict(a=m(n)))


def returned_tuple(a, scale):
    b = np.zeros(a.shape[0])
    s = 0.0
    for i in range(a.shape[0]):
        b[i] = a[i] * scale
        s += b[i] * b[i]
    return b, s


case(returned_tuple, lambda n, m: dict(a=m(n), scale=m.scalar()))


def returned_parameter(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * out[i]
    return out


case(returned_parameter, lambda n, m: dict(a=m(n), out=m(n)), "out")


def copied_first(a):
    b = a.copy()
    for i in range(1, a.shape[0]):
        b[i] = b[i] * b[i - 1] + a[i]
    return b


case(copied_first, lambda n, m: dict(a=m(n)))


def filled_with_parameter(a, fill):
    b = np.full(a.shape[0], fill)
    for i in range(a.shape[0]):
        b[i] *= a[i]
    return b


case(filled_with_parameter, lambda n, m: dict(a=m(n), fill=m.scalar()), only64=True)


def coefficient_table(x):
    c = np.array([0.5, -1.0, 2.0])
    total = 0.0
    for i in range(x.shape[0]):
        total += ((c[2] * x[i] + c[1]) * x[i] + c[0]) * x[i]
    return total


case(coefficient_table, lambda n, m: dict(x=m(n)), deferred="np.array of literals")


def _sigmoid(v):
    return 1.0 / (1.0 + math.exp(-v))


def _swish(v, beta=1.5):
    return v * _sigmoid(beta * v)


def called_helpers(x, out):
    for i in range(x.shape[0]):
        out[i] = _swish(x[i]) + _swish(x[i] * x[i], beta=0.5)


case(called_helpers, lambda n, m: dict(x=m(n), out=m(n)), "out")


def _smooth(src, dst):
    for i in range(1, src.shape[0] - 1):
        dst[i] = 0.25 * src[i - 1] + 0.5 * src[i] + 0.25 * src[i + 1]


def called_on_arrays(a, out):
    t = np.zeros(a.shape[0])
    _smooth(a, t)
    _smooth(t, out)


case(called_on_arrays, lambda n, m: dict(a=m(n), out=m(n)), "out", wide=(3, 5))


def _sum_of_squares(v):
    s = 0.0
    for i in range(v.shape[0]):
        s += v[i] * v[i]
    return s


def called_reduction(a, b):
    return _sum_of_squares(a) * _sum_of_squares(b) + _sum_of_squares(a)


case(called_reduction, lambda n, m: dict(a=m(n), b=m(n + 1)))


def _to_polar(x, y):
    return math.sqrt(x * x + y * y), math.atan2(y, x)


def called_for_a_tuple(x, y, out):
    for i in range(x.shape[0]):
        r, phi = _to_polar(x[i], y[i])
        out[i] = r * r * phi


case(
    called_for_a_tuple,
    lambda n, m: dict(x=m.positive(n), y=m.away(n), out=m(n)),
    "out",
)

_GAIN = 1.75
_WEIGHTS = np.array([0.25, 0.5, 0.25])


def captured_constants(a, out):
    for i in range(out.shape[0]):
        for k in range(3):
            out[i] += _GAIN * _WEIGHTS[k] * a[i + k] * a[i]


case(captured_constants, lambda n, m: dict(a=m(n + 2), out=m(n)), "out", only64=True)


def lambda_helper(a, out):
    f = lambda v: v * v * v  # noqa: E731
    for i in range(a.shape[0]):
        out[i] = f(a[i]) + f(2.0)


case(lambda_helper, lambda n, m: dict(a=m(n), out=m(n)), "out")


def nested_helper(a, out):
    def mix(p, q):
        t = p * q
        t += p
        return t * q

    for i in range(a.shape[0] - 1):
        out[i] = mix(a[i], a[i + 1])


case(nested_helper, lambda n, m: dict(a=m(n), out=m(n)), "out")

# --------------------------------------------------------------------- linear algebra


def matmul(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


case(
    matmul,
    lambda n, m: dict(a=m(n, 3), b=m(3, n + 1), c=m(n, n + 1)),
    "c",
    kinds={"d_a": NEST, "d_b": NEST},
)


def outer_product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j]


case(outer_product, lambda n, m: dict(a=m(n), b=m(n + 1), c=m(n, n + 1)), "c")


def batched_dot(a, b, out):
    for n in range(a.shape[0]):
        s = 0.0
        for k in range(a.shape[1]):
            s += a[n, k] * b[n, k]
        out[n] = s


case(batched_dot, lambda n, m: dict(a=m(n, 4), b=m(n, 4), out=m(n)), "out")


def weighted_inner_product(x, a, y):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            s += x[i] * a[i, j] * y[j]
    return s


case(weighted_inner_product, lambda n, m: dict(x=m(n), a=m(n, n + 1), y=m(n + 1)))


def gram_matrix(a, c):
    for i in range(a.shape[1]):
        for j in range(i + 1):
            s = 0.0
            for k in range(a.shape[0]):
                s += a[k, i] * a[k, j]
            c[i, j] = s
            c[j, i] = s


case(
    gram_matrix,
    lambda n, m: dict(a=m(3, n), c=m(n, n)),
    "c",
    catalogue=(78,),
    real=6,
)


def triangular_update(a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i + 1, b.shape[0]):
                b[i, j] += a[k, i] * b[k, j]


case(
    triangular_update,
    lambda n, m: dict(a=m(n, n), b=m(n, 2)),
    "b",
    real=6,
    catalogue=(78,),
)


def forward_substitution(low, b, x):
    for i in range(x.shape[0]):
        x[i] = b[i]
        for j in range(i):
            x[i] -= low[i, j] * x[j]
        x[i] /= low[i, i]


case(
    forward_substitution,
    lambda n, m: dict(low=m.dominant(n), b=m(n), x=m(n)),
    "x",
    real=8,
    catalogue=(78,),
)


def back_substitution(up, b, x):
    n = x.shape[0]
    for i in range(n - 1, -1, -1):
        s = b[i]
        for j in range(i + 1, n):
            s -= up[i, j] * x[j]
        x[i] = s / up[i, i]


case(
    back_substitution,
    lambda n, m: dict(up=m.dominant(n), b=m(n), x=m(n)),
    "x",
    real=8,
)


def lu_in_place(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


case(lu_in_place, lambda n, m: dict(a=m.dominant(n)), "a", real=6, catalogue=(78,))


def cholesky(a, low):
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= low[i, k] * low[j, k]
            if i == j:
                low[i, j] = math.sqrt(s)
            else:
                low[i, j] = s / low[j, j]


case(
    cholesky,
    lambda n, m: dict(a=m.definite(n), low=m._cast(np.zeros((n, n)))),
    "low",
    real=6,
    catalogue=(78,),
)


def cholesky_in_place(a):
    n = a.shape[0]
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        a[j, j] = math.sqrt(a[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]


case(
    cholesky_in_place,
    lambda n, m: dict(a=m.definite(n)),
    "a",
    real=6,
    catalogue=(78,),
)


def thomas_solver(lower, diag, upper, rhs, x):
    n = x.shape[0]
    c = np.zeros(n)
    d = np.zeros(n)
    for i in range(n):
        if i == 0:
            c[i] = upper[i] / diag[i]
            d[i] = rhs[i] / diag[i]
        else:
            w = diag[i] - lower[i] * c[i - 1]
            c[i] = upper[i] / w
            d[i] = (rhs[i] - lower[i] * d[i - 1]) / w
    for i in range(n - 1, -1, -1):
        x[i] = d[i]
        if i < n - 1:
            x[i] -= c[i] * x[i + 1]


case(
    thomas_solver,
    lambda n, m: dict(
        lower=0.3 * m(n), diag=2.0 * m.positive(n), upper=0.3 * m(n), rhs=m(n), x=m(n)
    ),
    "x",
    catalogue=(81,),
)


def power_iteration(a, v):
    n = v.shape[0]
    w = np.zeros(n)
    for t in range(3):
        for i in range(n):
            w[i] = 0.0
            for j in range(n):
                w[i] += a[i, j] * v[j]
        s = 0.0
        for i in range(n):
            s += w[i] * w[i]
        for i in range(n):
            v[i] = w[i] / math.sqrt(s)


case(
    power_iteration,
    lambda n, m: dict(a=m.positive(n, n), v=m.positive(n)),
    "v",
    least=1,
    real=6,
)


def prefix_sum(x, out):
    out[0] = x[0]
    for i in range(1, x.shape[0]):
        out[i] = out[i - 1] + x[i]


case(prefix_sum, lambda n, m: dict(x=m(n), out=m(n)), "out", least=1)


def prefix_sum_in_place(x):
    for i in range(1, x.shape[0]):
        x[i] += x[i - 1]


case(prefix_sum_in_place, lambda n, m: dict(x=m(n)), "x")


def integral_image(a, out):
    for y in range(a.shape[0]):
        row = 0.0
        for x in range(a.shape[1]):
            row += a[y, x]
            out[y, x] = row
            if y > 0:
                out[y, x] += out[y - 1, x]


case(integral_image, lambda n, m: dict(a=m(n, n + 1), out=m(n, n + 1)), "out", real=6)

# ------------------------------------------------------------- statistics and losses


def softmax(x, out):
    top = x[0]
    for i in range(x.shape[0]):
        top = max(top, x[i])
    total = 0.0
    for i in range(x.shape[0]):
        out[i] = math.exp(x[i] - top)
        total += out[i]
    for i in range(x.shape[0]):
        out[i] /= total


case(softmax, lambda n, m: dict(x=m.distinct(n), out=m(n)), "out", least=1)


def log_sum_exp(x):
    top = x[0]
    for i in range(1, x.shape[0]):
        if x[i] > top:
            top = x[i]
    total = 0.0
    for i in range(x.shape[0]):
        total += np.exp(x[i] - top)
    return top + np.log(total)


case(log_sum_exp, lambda n, m: dict(x=m.distinct(n)), least=1)


def euclidean_norm(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 2
    return math.sqrt(s)


case(euclidean_norm, lambda n, m: dict(x=m.away(n)), least=1)


def normalise(x, out):
    n = x.shape[0]
    mean = 0.0
    for i in range(n):
        mean += x[i] / n
    var = 0.0
    for i in range(n):
        var += (x[i] - mean) ** 2 / n
    for i in range(n):
        out[i] = (x[i] - mean) / math.sqrt(var + 0.1)


case(normalise, lambda n, m: dict(x=m(n), out=m(n)), "out", least=1)


def gaussian_log_likelihood(x, mu, sigma):
    total = 0.0
    for i in range(x.shape[0]):
        z = (x[i] - mu) / sigma
        total += -0.5 * z * z - math.log(sigma) - 0.5 * math.log(2.0 * math.pi)
    return total


case(
    gaussian_log_likelihood,
    lambda n, m: dict(x=m(n), mu=m.scalar(), sigma=m.scalar()),
)


def logistic_regression(features, labels, w, bias):
    loss = 0.0
    for i in range(features.shape[0]):
        z = bias
        for k in range(w.shape[0]):
            z += features[i, k] * w[k]
        loss += (
            math.log(1.0 + math.exp(-z)) if labels[i] == 1 else math.log1p(np.exp(z))
        )
    return loss / (features.shape[0] + 1)


case(
    logistic_regression,
    lambda n, m: dict(
        features=m(n, 3), labels=m.indices(2, n), w=m(3), bias=m.scalar()
    ),
)


def huber_loss(x, y, delta):
    total = 0.0
    for i in range(x.shape[0]):
        r = abs(x[i] - y[i])
        if r <= delta:
            total += 0.5 * r * r
        else:
            total += delta * (r - 0.5 * delta)
    return total


case(
    huber_loss,
    lambda n, m: dict(
        x=m._cast(m.rng.choice([-0.9, -0.3, 0.3, 0.8], n)),
        y=m._cast(m.rng.uniform(-0.1, 0.1, n)),
        delta=m.scalar(0.48, 0.52),
    ),
)


def polynomial(c, x):
    total = 0.0
    for k in range(c.shape[0]):
        total += c[k] * x**k
    return total


case(polynomial, lambda n, m: dict(c=m(n), x=m.scalar()))


def polynomial_by_powers(c, x):
    total = 0.0
    power = 1.0
    for k in range(c.shape[0]):
        total += c[k] * power
        power *= x
    return total


case(polynomial_by_powers, lambda n, m: dict(c=m(n), x=m.scalar()))


def pairwise_energy(pos):
    n = pos.shape[0]
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            energy += 1.0 / (0.5 + dx * dx + dy * dy)
    return energy


case(pairwise_energy, lambda n, m: dict(pos=m(n, 2)), real=9)


def pairwise_forces(pos, force):
    n = pos.shape[0]
    for i in range(n):
        for j in range(n):
            if i != j:
                d = pos[i] - pos[j]
                f = d / (0.5 + d * d)
                force[i] += f


case(pairwise_forces, lambda n, m: dict(pos=m(n), force=m(n)), "force", real=9)


def levenshtein_like(a, b, gap):
    n = a.shape[0]
    cost = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        cost[i, 0] = cost[i - 1, 0] + gap
    for j in range(1, n + 1):
        cost[0, j] = cost[0, j - 1] + gap
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            swap = cost[i - 1, j - 1] + (a[i - 1] - b[j - 1]) ** 2
            cost[i, j] = min(swap, cost[i - 1, j] + gap, cost[i, j - 1] + gap)
    return cost[n, n]


case(
    levenshtein_like,
    lambda n, m: dict(a=m.distinct(n), b=m.distinct(n) * 1.1, gap=m.scalar(0.31, 0.37)),
    real=5,
    only64=True,
)


def dynamic_time_warp(a, b, cost):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            d = (a[i] - b[j]) ** 2
            if i == 0 and j == 0:
                cost[i, j] = d
            elif i == 0:
                cost[i, j] = d + cost[i, j - 1]
            elif j == 0:
                cost[i, j] = d + cost[i - 1, j]
            else:
                cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])


case(
    dynamic_time_warp,
    lambda n, m: dict(a=m.distinct(n), b=m.distinct(n + 1) * 1.3, cost=m(n, n + 1)),
    "cost",
    real=5,
    only64=True,
)

# ---------------------------------------------------------------------- simulations


def euler_pendulum(theta, omega, torque, dt):
    for t in range(torque.shape[0]):
        acc = -math.sin(theta) - 0.2 * omega + torque[t]
        theta = theta + dt * omega
        omega = omega + dt * acc
    return theta * theta + omega


case(
    euler_pendulum,
    lambda n, m: dict(
        theta=m.scalar(), omega=m.scalar(), torque=m(n), dt=m.scalar(0.05, 0.1)
    ),
)


def lotka_volterra(state, rates, steps):
    for t in range(steps):
        x = state[0]
        y = state[1]
        state[0] = x + 0.1 * (rates[0] * x - rates[1] * x * y)
        state[1] = y + 0.1 * (rates[2] * x * y - rates[3] * y)


case(
    lotka_volterra,
    lambda n, m: dict(state=m.positive(2), rates=m.positive(4), steps=n),
    "state",
)


def wave_equation(u0, c, steps):
    n = u0.shape[0]
    u = np.zeros((3, n))
    for i in range(n):
        u[0, i] = u0[i]
        u[1, i] = u0[i]
    for t in range(steps):
        for i in range(1, n - 1):
            u[2, i] = (
                2.0 * u[1, i]
                - u[0, i]
                + c[i] * c[i] * (u[1, i - 1] - 2.0 * u[1, i] + u[1, i + 1])
            )
        for i in range(n):
            u[0, i] = u[1, i]
            u[1, i] = u[2, i]
    total = 0.0
    for i in range(n):
        total += u[2, i] * u[2, i] * u[1, i]
    return total


case(
    wave_equation,
    lambda n, m: dict(u0=m(n), c=0.5 * m.positive(n), steps=4),
    wide=(3,),
    real=10,
)


def wave_history(u, c):
    for t in range(1, u.shape[0] - 1):
        for i in range(1, u.shape[1] - 1):
            u[t + 1, i] = (
                2.0 * u[t, i]
                - u[t - 1, i]
                + c[i] * (u[t, i - 1] - 2.0 * u[t, i] + u[t, i + 1])
            )


case(
    wave_history,
    lambda n, m: dict(u=m(n, n + 1), c=0.3 * m.positive(n + 1)),
    "u",
    wide=(3,),
    real=7,
)


def heat_ping_pong(u, steps, k):
    h, w = u.shape
    v = np.zeros((h, w))
    for t in range(steps):
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                v[y, x] = u[y, x] + k * (
                    u[y - 1, x]
                    + u[y + 1, x]
                    + u[y, x - 1]
                    + u[y, x + 1]
                    - 4.0 * u[y, x]
                )
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                u[y, x] = v[y, x]


case(
    heat_ping_pong,
    lambda n, m: dict(u=m(n, n + 1), steps=3, k=m.scalar(0.1, 0.2)),
    "u",
    wide=(3,),
    real=7,
    catalogue=(79,),
)


def nonlinear_diffusion(u, steps):
    n = u.shape[0]
    v = np.zeros(n)
    for t in range(steps):
        for i in range(n):
            v[i] = u[i]
        for i in range(1, n - 1):
            g = v[i + 1] - v[i - 1]
            u[i] = v[i] + 0.1 * (v[i - 1] - 2.0 * v[i] + v[i + 1]) / (1.0 + g * g)


case(nonlinear_diffusion, lambda n, m: dict(u=m(n), steps=3), "u", wide=(3,), real=12)


def jacobi_steps(a, b, steps):
    n = a.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            b[i] = 0.33 * (a[i - 1] + a[i] + a[i + 1])
        for i in range(1, n - 1):
            a[i] = 0.33 * (b[i - 1] + b[i] + b[i + 1])


case(
    jacobi_steps,
    lambda n, m: dict(a=m(n), b=m(n), steps=3),
    "a b",
    wide=(3,),
    catalogue=(79,),
)


def fdtd_2d(ex, ey, hz, fict):
    nx, ny = hz.shape
    for t in range(fict.shape[0]):
        for j in range(ny):
            ey[0, j] = fict[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


case(
    fdtd_2d,
    lambda n, m: dict(ex=m(n, n), ey=m(n, n), hz=m(n, n), fict=m(3)),
    "ex ey hz",
    least=1,
    wide=(3,),
    real=5,
    catalogue=(79,),
    heavy=True,
)


def upwind_advection(u, v, out):
    n = u.shape[0]
    for i in range(1, n - 1):
        if v[i] > 0.0:
            out[i] = u[i] - v[i] * (u[i] - u[i - 1])
        else:
            out[i] = u[i] - v[i] * (u[i + 1] - u[i])


case(
    upwind_advection,
    lambda n, m: dict(u=m(n), v=m.away(n), out=m(n)),
    "out",
    wide=(3,),
)


def limited_diffusion(a, out):
    n = a.shape[0]
    flux = np.zeros(n)
    for i in range(1, n):
        d = a[i] - a[i - 1]
        flux[i] = 0.0 if d * a[i] > 0.0 else d * a[i]
    for i in range(n - 1):
        out[i] = a[i] - (flux[i + 1] - flux[i])


case(
    limited_diffusion,
    lambda n, m: dict(a=m.distinct(n), out=m(n)),
    "out",
    catalogue=(81,),
)


def deriche_filter(x, y, alpha):
    n = x.shape[0]
    left = np.zeros(n)
    right = np.zeros(n)
    before = 0.0
    for i in range(n):
        left[i] = x[i] + alpha * before
        before = left[i]
    before = 0.0
    for i in range(n - 1, -1, -1):
        right[i] = x[i] + alpha * before
        before = right[i]
    for i in range(n):
        y[i] = left[i] * right[i]


case(
    deriche_filter,
    lambda n, m: dict(x=m(n), y=m(n), alpha=m.scalar(0.3, 0.7)),
    "y",
    catalogue=(80,),
)


def recurrent_network(x, w, u, h):
    n = h.shape[0]
    new = np.zeros(n)
    for t in range(x.shape[0]):
        for i in range(n):
            s = w[i] * x[t]
            for j in range(n):
                s += u[i, j] * h[j]
            new[i] = math.tanh(s)
        for i in range(n):
            h[i] = new[i]


case(
    recurrent_network,
    lambda n, m: dict(x=m(n), w=m(3), u=m(3, 3), h=m(3)),
    "h",
    real=6,
)


def matvec_steps(a, x, steps):
    n = x.shape[0]
    y = np.zeros(n)
    for t in range(steps):
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += a[i, j] * x[j]
            y[i] = s / (1.0 + s * s)
        for i in range(n):
            x[i] = y[i]


case(
    matvec_steps,
    lambda n, m: dict(a=m(n, n), x=m(n), steps=4),
    "x",
    real=5,
    catalogue=(54,),
)

# -------------------------------------------------------------- functions and scalars


def elementary_functions(x, out):
    for i in range(x.shape[0]):
        v = x[i]
        out[i, 0] = math.exp(v) + math.log(v) + math.sqrt(v)
        out[i, 1] = math.sin(v) * math.cos(v) + math.tan(0.5 * v)
        out[i, 2] = math.sinh(v) - math.cosh(v) * math.tanh(v)
        out[i, 3] = math.asin(0.5 * v) + math.acos(0.4 * v) + math.atan(v)
        out[i, 4] = math.log1p(v) + math.expm1(v) + math.log2(v) + math.log10(v)
        out[i, 5] = math.erf(v) + math.hypot(v, 1.0) + math.atan2(v, 2.0)
        out[i, 6] = math.asinh(v) + math.acosh(v + 1.0) + math.atanh(0.5 * v)


case(
    elementary_functions,
    lambda n, m: dict(x=m.positive(n), out=m(n, 7)),
    "out",
    real=5,
    heavy=True,
)


def numpy_functions(x, out):
    for i in range(x.shape[0]):
        v = x[i]
        out[i, 0] = np.exp(v) + np.log(v) + np.sqrt(v) + np.cbrt(v)
        out[i, 1] = np.sin(v) * np.cos(v) + np.tanh(v)
        out[i, 2] = np.maximum(v, 0.2) * np.minimum(v, 3.0) + np.abs(v)
        out[i, 3] = np.arctan2(v, 0.5) + np.hypot(v, v) + np.arctan(v)
        out[i, 4] = np.power(v, 2.5) + v**3 + v**-1.5 + 2.0**v


case(
    numpy_functions,
    lambda n, m: dict(x=m.positive(n), out=m(n, 5)),
    "out",
    real=5,
    heavy=True,
)


def rounding_functions(x, out):
    for i in range(x.shape[0]):
        v = x[i]
        out[i] = v * math.floor(v) + math.ceil(v) * v + int(v) * v + v % 0.7


case(
    rounding_functions,
    lambda n, m: dict(x=m._cast(m.rng.choice([0.25, 0.5, 1.1, 1.6, 2.4], n)), out=m(n)),
    "out",
)


def powers(x, p, out):
    for i in range(x.shape[0]):
        out[i] = x[i] ** p + p ** x[i] + x[i] ** 2 + x[i] ** 0.5


case(powers, lambda n, m: dict(x=m.positive(n), p=m.scalar(), out=m(n)), "out")


def quotients(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] / b[i] + 1.0 / (b[i] * b[i]) - (a[i] + 1.0) / 3


case(quotients, lambda n, m: dict(a=m(n), b=m.positive(n), out=m(n)), "out")


def only_scalars(x, y):
    z = x * y
    z = z * z + math.sin(x)
    return z / y


case(only_scalars, lambda n, m: dict(x=m.scalar(), y=m.scalar()))


def scalar_tuple(x, y, n):
    for i in range(n):
        x = x * y
    return x, y * y


case(scalar_tuple, lambda n, m: dict(x=m.scalar(), y=m.scalar(), n=n))


def no_influence(a, b, unused, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * 2.0
    dead = 0.0
    for i in range(b.shape[0]):
        dead += b[i] * unused


case(
    no_influence,
    lambda n, m: dict(a=m(n), b=m(n), unused=m.scalar(), out=m(n)),
    "out",
)


def constant_result(a):
    for i in range(a.shape[0]):
        a[i] = 1.0
    return 2.0


case(constant_result, lambda n, m: dict(a=m(n)), "a")


def index_arithmetic_values(a, out):
    n = a.shape[0]
    for i in range(n):
        out[i] = a[i] * i / (n + 1) + (i % 3) * a[(i * 2) % n] + (i // 2) * a[i // 2]


case(index_arithmetic_values, lambda n, m: dict(a=m(n), out=m(n)), "out", wide=(5,))


def integer_accumulator(a, weights):
    total = 0
    for i in range(weights.shape[0]):
        total += weights[i]
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * total
    return s


case(
    integer_accumulator,
    lambda n, m: dict(a=m(n), weights=m.indices(5, n)),
)


def single_precision_constants(a, out):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * 2.0
        out[i] = s / 3


case(single_precision_constants, lambda n, m: dict(a=m(n), out=m(n)), "out")


def every_parameter_kind(a, n, scale, table, out):
    for i in range(n):
        k = table[i] % a.shape[0]
        if scale > 0.1:
            out[i] += scale * a[k]
        scale = scale * 0.9
    return scale


case(
    every_parameter_kind,
    lambda n, m: dict(
        a=m(n + 1), n=n, scale=m.scalar(), table=m.indices(9, n), out=m(n)
    ),
    "out",
    wide=(3,),
    real=10,
)


def carried_under_a_test(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        if a[i] > 0.0:
            s = s * b[i] + a[i]
            t = s * s
            a[i] = t * b[i]
        else:
            b[i] = b[i] * s + a[i] * b[i]
    return s


case(
    carried_under_a_test,
    lambda n, m: dict(a=m.away(n), b=m(n)),
    "a b",
    real=9,
)


def one_index_for_all(x):
    i = 2
    s = x[i]
    for i in range(3):
        for i in range(i, 4):
            x[i] = x[i] * s
        s += 0.1 * x[i]
    return s * x[i]


case(one_index_for_all, lambda n, m: dict(x=m(n)), "x", least=4)


# ---------------------------------------------------------------- whole arrays


def smoothed_rows(a, w):
    for row in a:
        row[1:-1] = w * row[2:] * row[:-2] + row[1:-1]


case(
    smoothed_rows,
    lambda n, m: dict(a=m(n + 1, n), w=m.scalar()),
    "a",
    wide=(4,),
    real=12,
)


def heat_in_new_arrays(u0, steps):
    u = u0.copy()
    for _ in range(steps):
        new = np.zeros_like(u)
        new[1:-1] = u[1:-1] + 0.1 * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u * u)


case(heat_in_new_arrays, lambda n, m: dict(u0=m(n), steps=3), wide=(4,), real=12)


def affine_layer(x, weights, bias):
    rows, _ = x.shape
    _, columns = weights.shape
    h = x @ weights + bias[None, :]
    scale = rows * columns
    return scale * np.exp(h) / np.sum(np.exp(h), axis=1, keepdims=True)


case(
    affine_layer,
    lambda n, m: dict(x=m(n + 1, n), weights=m(n, 3), bias=m(3)),
    wide=(4,),
    real=8,
)


def orthogonalised(v):
    for k in range(v.shape[1]):
        v[:, k] /= np.sqrt(np.dot(v[:, k], v[:, k]))
        for j in range(k + 1, v.shape[1]):
            v[:, j] -= np.dot(v[:, k], v[:, j]) * v[:, k]


case(
    orthogonalised,
    lambda n, m: dict(v=m.dominant(n)),
    "v",
    wide=(3,),
    real=6,
)


def window_means(x, width, out):
    for i in range(len(out)):
        part = x[i - width : i + width + 1]
        out[i] += np.sum(part * part) + len(part)


case(
    window_means,
    lambda n, m: dict(x=m(n), width=2, out=m(n)),
    "out",
    wide=(4,),
    real=12,
)


def paired(a, b, table):
    total = 0.0
    for i, (x, y) in enumerate(zip(a, reversed(b))):  # noqa: B905
        total += i * x * y
    for k in table:
        total += a[k] * b[k]
    return total


case(
    paired,
    lambda n, m: dict(a=m(n + 1), b=m(n + 2), table=m.indices(n, 4)),
    wide=(3,),
    real=10,
)


# ------------------------------------------ found by tests/tools/generator, reduced


def skipped_by_an_inner_else(v):
    for i in range(1, v.shape[0]):
        for j in range(v.shape[0]):
            if v[j] * i > 0.5:
                break
        else:
            continue
        v[i] /= 1.5


case(skipped_by_an_inner_else, lambda n, m: dict(v=m(n)), "v")


def while_under_a_test(u, s, m):
    for i in range(1, m):
        if i > 1:
            pass
        else:
            k = 0
            while k < i:
                u[i] *= s
                k += 1


case(
    while_under_a_test,
    lambda n, m: dict(u=m(n + 1), s=m.scalar(), m=n),
    "u",
)


def moved(src, dst, gain):
    for c in range(dst.shape[0]):
        dst[c] += gain * src[c]


def kept_on_one_path(u, b, v):
    v1 = np.zeros_like(v)
    if b[0] > -5.0:
        moved(u, v, b[1])
        if v1[0] > -1.0:
            if b[1] > 5.0:
                pass
            else:
                u[0] *= 0.8 * v[0]
    v[0] *= u[1]


case(
    kept_on_one_path,
    lambda n, m: dict(u=m(n), b=m(2), v=m(n)),
    "u v",
    least=2,
)


def counted_in_nested_whiles(a, x):
    r = 1.0
    while r > 0.25:
        r = 0.5 * r
        k = 0
        while k < a.shape[0] - 1:
            k += 1
            s = np.abs(r)
            while s > 0.4:
                x[0, k] += a[k] * x[0, k]
                s = 0.4


case(counted_in_nested_whiles, lambda n, m: dict(a=m(n), x=m(n, n)), "x")


def rows_to_a_helper(u, w):
    for i in range(w.shape[0]):
        moved(u, w[i], 0.5)


case(rows_to_a_helper, lambda n, m: dict(u=m(n + 1), w=m(n, n + 1)), "w")


def three_buffers(u, b):
    v = np.zeros_like(u)
    for _ in range(3):
        v[1:-1] = 0.4 * (u[2:] + u[:-2] * u[1:-1])
        u, b, v = b, v, u
    return u[0] * b[0]


case(three_buffers, lambda n, m: dict(u=m(n), b=m(n)), "u b", least=1)


def truth_as_a_number(a, mask):
    for i in range(a.shape[0]):
        a[i] = mask[i] * a[i] * a[i]


case(
    truth_as_a_number,
    lambda n, m: dict(a=m(n), mask=m(n) > 0),
    "a",
)


def quotient_bound_in_a_loop(v, n):
    for i in range(n):
        for j in range(v.shape[0] // n):
            v[i * (v.shape[0] // n) + j] *= v[j]


case(quotient_bound_in_a_loop, lambda n, m: dict(v=m(2 * n), n=n), "v")


def else_after_an_inner_definition(u):
    def half(p):
        return 0.5 * p

    for i in range(u.shape[0]):
        if u[i] > 3.0:
            break
    else:
        u[0] = half(u[0] * u[1])


case(else_after_an_inner_definition, lambda n, m: dict(u=m(n)), "u", least=2)


def rows_under_a_test(w, k):
    if k > 0:
        w[2:] = w[1:-1] * w[:-2]
    w[0, 0] *= 2.0


case(rows_under_a_test, lambda n, m: dict(w=m(n, n), k=n), "w", least=2)


def whole_parameter_scaled(b, v):
    for _ in range(2):
        v *= b[1] - b


case(whole_parameter_scaled, lambda n, m: dict(b=m(n), v=m(n)), "v", least=2)


def transposed_by_name(w):
    v = np.exp(w.T)
    return v[0, 0] * v[1, 0]


case(transposed_by_name, lambda n, m: dict(w=m(n, n + 1)), least=1)


def return_after_an_endless_loop(x, t):
    k = 0
    while True:
        k += 1
        if k > 2 or x[k % x.shape[0]] > t:
            break
    for i in range(x.shape[0]):
        if x[i] > t:
            return x[i] * x[i], k
    return 0.5 * t, k


case(
    return_after_an_endless_loop,
    lambda n, m: {"x": m(n), "t": 0.7},
    least=1,
)


def made_like_what_is_not_needed(v):
    for i in range(v.shape[0]):
        filled = np.full(i, 1.0)
        like = np.empty_like(filled)
        for c in range(like.shape[0]):
            like[c] = v[c]
        for c in range(like.shape[0]):
            v[i] += 0.1 * like[c] * v[c]


case(made_like_what_is_not_needed, lambda n, m: {"v": m(n)}, "v")


def measured_while_it_runs_again(a, w):
    for i in range(a.shape[0]):
        k = 0
        while k < 2:
            k += 1
            for j in range(w.shape[0]):
                if 1.5 >= k:
                    w[j] = a[i] * a[i]
        a[i] = 0.5 * a[i]


case(
    measured_while_it_runs_again,
    lambda n, m: {"a": m(n), "w": m(n)},
    "a w",
)


def rotated_under_a_test(a, c):
    if c > 0.1:
        v1 = a.copy()
        v2 = a.copy()
        v3 = a.copy()
        for t in range(1):
            for i in range(v1.shape[0]):
                v3[i] = v1[i] * v3[i] * a[i] - 0.2 * v2[i]
            v1, v2, v3 = v2, v3, v1
        for i in range(v3.shape[0]):
            a[i] = 0.1 * (a[i] + v3[i] * v2[i])
    else:
        a[0] = c


case(
    rotated_under_a_test,
    lambda n, m: {"a": m(n), "c": 0.3},
    "a",
    least=1,
)


def rotated_twice_by_the_index(u, v):
    w = v.copy()
    v[0] *= 2.0
    for k in range(3, 7, 2):
        w[1] = k * u[0]
        u, v, w = (v, w, u)


case(
    rotated_twice_by_the_index,
    lambda n, m: {"u": m(n + 2), "v": m(n + 2)},
    "u v",
)


def tested_by_what_is_lost(a, b):
    for _ in range(2):
        k = 0
        while k < 2:
            step = k + 1
            a[1] /= b[1] or step
            k += 1
    b[1] += 2.0


case(
    tested_by_what_is_lost,
    lambda n, m: {"a": m(n + 2), "b": m(n + 2)},
    "a b",
)


def made_like_a_local(w, x):
    for _ in range(x.shape[1]):
        x[1] += 1.2
        like = np.full_like(w, 0.5)
        made = np.full_like(like, x[1, 1])
        w[0, 0] *= made[0, 0] * like[0, 0]


case(
    made_like_a_local,
    lambda n, m: {"w": m(n + 1, 2), "x": m(n + 2, n + 2)},
    "w x",
)


def names_of_generated_code(zeros, empty, factor, launch, cp, kernel):
    status = 0.0
    for alone in range(zeros.shape[0]):
        reduce = zeros[alone] * empty[alone]
        launch[alone] = reduce * factor * reduce * (alone // cp)
    for alone in range(1, zeros.shape[0]):
        kernel[alone] = 0.5 * kernel[alone - 1] + zeros[alone]
        status += kernel[alone] * launch[alone]
    return status


case(
    names_of_generated_code,
    lambda n, m: {
        "zeros": m(n),
        "empty": m(n),
        "factor": 0.75,
        "launch": m(n),
        "cp": 3,
        "kernel": m(n),
    },
    "launch kernel",
)


def range_behind_a_test(x, flags, ends, out):
    if flags[0] == 1:
        for i in range(ends[flags[1]]):
            out[i] += x[i] * x[i]
    if flags[2] == 1:
        for i in range(ends[flags[3]]):
            out[i] *= x[i]


case(
    range_behind_a_test,
    lambda n, m: {
        "x": m(n + 1),
        "flags": np.array([0, 99, 1, 0]),
        "ends": np.array([n, 7]),
        "out": m(n + 1),
    },
    "out",
)


def empty_sums_and_ranges(v, b, out):
    for i in range(b.shape[0]):
        if b[i] > -9.0:
            for _ in range(0):
                v[1] -= b[i]
    for _ in range(0):
        for k in range(1 // 0):
            out[k] += v[k]
    for i in range(b.shape[0]):
        for k in range(i, 2):
            out[1 - k] += b[i] * v[k]
    v[0] *= 2.0


case(
    empty_sums_and_ranges,
    lambda n, m: {"v": m(n + 2), "b": m(n), "out": m(n + 2)},
    "v out",
)


def promoted_array(x, k, y, out):
    made = np.empty(x.shape, dtype=np.result_type(x, k, y, 1.0))
    for i in range(made.shape[0]):
        made[i] = k * x[i] * y[i]
    for i in range(made.shape[0]):
        out[i] = made[i] * made[i]


case(
    promoted_array,
    lambda n, m: {"x": m(n), "k": 1.5, "y": m(n), "out": m(n)},
    "out",
)
