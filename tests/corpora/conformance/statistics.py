# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Quadrature, interpolation, transforms, sorting, prices and likelihoods."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()

# ---------------------------------------------------------------- quadrature


def trapezoid(x, y):
    total = 0.0
    for i in range(1, len(x)):
        total += 0.5 * (x[i] - x[i - 1]) * (y[i] + y[i - 1])
    return total


case(trapezoid, lambda n, m: dict(x=m(n), y=m(n)), real=30)


def simpson_slices(y, h):
    return h / 3.0 * (y[0] + y[-1] + 4.0 * np.sum(y[1:-1:2]) + 2.0 * np.sum(y[2:-1:2]))


case(
    simpson_slices,
    lambda n, m: dict(y=m(2 * n + 1), h=m.scalar()),
    least=1,
    real=15,
    covers=("negative index",),
)


def _integrand(x, a, b):
    return math.exp(-a * x) * math.sin(b * x) + 1.0 / (1.0 + x * x)


def gauss_legendre(a, b, lo, hi, panels):
    nodes = np.array([-0.7745966692414834, 0.0, 0.7745966692414834])
    weights = np.array([5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0])
    total = 0.0
    width = (hi - lo) / panels
    for p in range(panels):
        middle = lo + (p + 0.5) * width
        for k in range(nodes.shape[0]):
            total += weights[k] * _integrand(middle + 0.5 * width * nodes[k], a, b)
    return 0.5 * width * total


case(
    gauss_legendre,
    lambda n, m: dict(a=m.scalar(), b=m.scalar(), lo=0.1, hi=m.scalar(2, 3), panels=n),
    least=1,
    covers=("scalar helper",),
)


def romberg_table(a, b, levels):
    table = np.zeros((levels, levels))
    h = b - a
    table[0, 0] = 0.5 * h * (_integrand(a, 1.0, 2.0) + _integrand(b, 1.0, 2.0))
    for i in range(1, levels):
        h *= 0.5
        total = 0.0
        for k in range(1, 2**i, 2):
            total += _integrand(a + k * h, 1.0, 2.0)
        table[i, 0] = 0.5 * table[i - 1, 0] + h * total
        for j in range(1, i + 1):
            table[i, j] = table[i, j - 1] + (table[i, j - 1] - table[i - 1, j - 1]) / (
                4**j - 1
            )
    return table[levels - 1, levels - 1]


case(
    romberg_table,
    lambda n, m: dict(a=m.scalar(0.1, 0.3), b=m.scalar(1.5, 2.0), levels=n),
    least=1,
    real=5,
    covers=("scalar helper", "triangular"),
)


def monte_carlo_pi_smooth(points, sharpness):
    total = 0.0
    for i in range(points.shape[0]):
        r2 = points[i, 0] ** 2 + points[i, 1] ** 2
        total += 1.0 / (1.0 + math.exp(sharpness * (r2 - 1.0)))
    return 4.0 * total / max(1, points.shape[0])


case(
    monte_carlo_pi_smooth,
    lambda n, m: dict(points=m(n, 2), sharpness=m.scalar(2.0, 4.0)),
    real=30,
)

# ---------------------------------------------------------------- interpolation


def interpolate_search(x, xs, ys):
    n = xs.shape[0]
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        lo = 0
        hi = n - 1
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if xs[mid] <= x[i]:
                lo = mid
            else:
                hi = mid
        t = (x[i] - xs[lo]) / (xs[hi] - xs[lo])
        out[i] = (1 - t) * ys[lo] + t * ys[hi]
    return out


case(
    interpolate_search,
    lambda n, m: dict(
        x=(m.indices(6, n) + 0.3 + 0.4 * m.rng.random(n)).astype(m.dtype),
        xs=(np.arange(7) + 0.1 * m.rng.random(7)).astype(m.dtype),
        ys=m(7),
    ),
    covers=("index from a search",),
)


def interpolate_linear_scan(x, xs, ys):
    total = 0.0
    for i in range(len(x)):
        k = 0
        while k < len(xs) - 2 and xs[k + 1] < x[i]:
            k += 1
        slope = (ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k])
        total += (ys[k] + slope * (x[i] - xs[k])) ** 2
    return total


case(
    interpolate_linear_scan,
    lambda n, m: dict(
        x=(m.indices(6, n) + 0.3 + 0.4 * m.rng.random(n)).astype(m.dtype),
        xs=(np.arange(7) + 0.1 * m.rng.random(7)).astype(m.dtype),
        ys=m(7),
    ),
    covers=("index from a search",),
)


def natural_cubic_spline(y, at):
    n = y.shape[0]
    m2 = np.zeros(n)
    c = np.zeros(n)
    for i in range(1, n - 1):
        rhs = 6.0 * (y[i - 1] - 2.0 * y[i] + y[i + 1])
        pivot = 4.0 - c[i - 1]
        c[i] = 1.0 / pivot
        m2[i] = (rhs - m2[i - 1]) / pivot
    for i in range(n - 2, 0, -1):
        m2[i] -= c[i] * m2[i + 1]
    out = np.zeros_like(at)
    for p in range(at.shape[0]):
        k = min(int(at[p]), n - 2)
        t = at[p] - k
        s = 1.0 - t
        out[p] = s * y[k] + t * y[k + 1]
        out[p] += ((s**3 - s) * m2[k] + (t**3 - t) * m2[k + 1]) / 6.0
    return out


case(
    natural_cubic_spline,
    lambda n, m: dict(
        y=m(n),
        at=(m.indices(n - 1, n) + 0.2 + 0.6 * m.rng.random(n)).astype(m.dtype),
    ),
    least=2,
    real=15,
    covers=("index from a float", "min max index"),
)


def b_spline_basis(x, coefficients):
    total = 0.0
    for i in range(x.shape[0]):
        k = int(math.floor(x[i]))
        u = x[i] - k
        basis = np.empty(4)
        basis[0] = (1 - u) ** 3 / 6
        basis[1] = (3 * u**3 - 6 * u**2 + 4) / 6
        basis[2] = (-3 * u**3 + 3 * u**2 + 3 * u + 1) / 6
        basis[3] = u**3 / 6
        value = 0.0
        for r in range(4):
            value += basis[r] * coefficients[k + r]
        total += value * value
    return total


case(
    b_spline_basis,
    lambda n, m: dict(
        x=(m.indices(4, n) + 0.2 + 0.6 * m.rng.random(n)).astype(m.dtype),
        coefficients=m(7),
    ),
    covers=("index from a float",),
)


def lagrange_interpolation(xs, ys, x):
    total = 0.0
    for i in range(xs.shape[0]):
        term = ys[i]
        for j in range(xs.shape[0]):
            if j != i:
                term *= (x - xs[j]) / (xs[i] - xs[j])
        total += term
    return total


case(
    lagrange_interpolation,
    lambda n, m: dict(
        xs=(np.arange(n) + 0.2 * m.rng.random(n)).astype(m.dtype),
        ys=m(n),
        x=m.scalar(0.4, 0.6),
    ),
    real=6,
)


def newton_divided_differences(xs, ys, x):
    n = len(xs)
    coefficients = ys.copy()
    for level in range(1, n):
        for i in range(n - 1, level - 1, -1):
            coefficients[i] = (coefficients[i] - coefficients[i - 1]) / (
                xs[i] - xs[i - level]
            )
    value = 0.0
    for i in range(n - 1, -1, -1):
        value = value * (x - xs[i]) + coefficients[i]
    return value


case(
    newton_divided_differences,
    lambda n, m: dict(
        xs=(np.arange(n) + 0.2 * m.rng.random(n)).astype(m.dtype),
        ys=m(n),
        x=m.scalar(0.4, 0.6),
    ),
    real=7,
    covers=("in-place recurrence", "triangular", "negative step"),
)

# ---------------------------------------------------------------- transforms


def dft_power(x):
    n = x.shape[0]
    power = np.zeros(n // 2 + 1)
    for k in range(n // 2 + 1):
        re = 0.0
        im = 0.0
        for t in range(n):
            angle = 2.0 * math.pi * k * t / n
            re += x[t] * math.cos(angle)
            im -= x[t] * math.sin(angle)
        power[k] = re * re + im * im
    return power


case(dft_power, lambda n, m: dict(x=m(n)), least=1, real=15)


def dct_blocks(image, out):
    for by in range(0, image.shape[0] - 3, 4):
        for bx in range(0, image.shape[1] - 3, 4):
            for u in range(4):
                for v in range(4):
                    total = 0.0
                    for y in range(4):
                        for x in range(4):
                            total += (
                                image[by + y, bx + x]
                                * math.cos((2 * y + 1) * u * np.pi / 8)
                                * math.cos((2 * x + 1) * v * np.pi / 8)
                            )
                    out[by + u, bx + v] = total


case(
    dct_blocks,
    lambda n, m: dict(image=m(n, n + 1), out=m(n, n + 1)),
    "out",
    wide=(4,),
    real=9,
    heavy=True,
)


def fft_radix_two(re, im):
    n = re.shape[0]
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    length = 2
    while length <= n:
        half = length // 2
        for start in range(0, n, length):
            for k in range(half):
                angle = -2.0 * math.pi * k / length
                wr, wi = math.cos(angle), math.sin(angle)
                a = start + k
                b = a + half
                tr = wr * re[b] - wi * im[b]
                ti = wr * im[b] + wi * re[b]
                re[b], im[b] = re[a] - tr, im[a] - ti
                re[a], im[a] = re[a] + tr, im[a] + ti
        length *= 2


case(
    fft_radix_two,
    lambda n, m: dict(re=m(8 if n > 2 else 2), im=m(8 if n > 2 else 2)),
    "re im",
    least=2,
    real=8,
    covers=("swap", "index carried through a loop"),
)


def haar_2d(a):
    n = a.shape[0]
    size = n
    while size >= 2:
        for i in range(size):
            tmp = a[i, :size].copy()
            for j in range(size // 2):
                a[i, j] = 0.5 * (tmp[2 * j] + tmp[2 * j + 1])
                a[i, size // 2 + j] = 0.5 * (tmp[2 * j] - tmp[2 * j + 1])
        size //= 2


case(
    haar_2d,
    lambda n, m: dict(a=m(n, n)),
    "a",
    wide=(4,),
    real=9,
    covers=("overwrites what was read",),
)


def autocorrelation(x, lags):
    n = x.size
    mean = np.mean(x)
    out = np.zeros(lags)
    for lag in range(lags):
        out[lag] = np.dot(x[lag:] - mean, x[: n - lag] - mean) / n
    return out


case(autocorrelation, lambda n, m: dict(x=m(n), lags=min(n, 3)), least=1, real=20)

# ---------------------------------------------------------------- sorting


def bubble_sort_weighted(a, weights):
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    total = 0.0
    for i in range(n):
        total += weights[i] * a[i]
    return total


case(
    bubble_sort_weighted,
    lambda n, m: dict(a=m.distinct(n), weights=m(n)),
    "a",
    real=9,
    covers=("swap",),
)


def insertion_sort(a):
    for i in range(1, a.shape[0]):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


case(
    insertion_sort,
    lambda n, m: dict(a=m.distinct(n)),
    "a",
    real=10,
    covers=("overwrites what was read", "index from a search"),
)


def selection_of_top_k(x, k):
    a = x.copy()
    total = 0.0
    for r in range(min(k, a.shape[0])):
        best = r
        for i in range(r + 1, a.shape[0]):
            if a[i] > a[best]:
                best = i
        a[r], a[best] = a[best], a[r]
        total += a[r] ** 2
    return total


case(
    selection_of_top_k,
    lambda n, m: dict(x=m.distinct(n), k=3),
    real=10,
    covers=("swap", "index from a search"),
)


def merge_two_runs(a, b):
    out = np.empty(a.shape[0] + b.shape[0])
    i = 0
    j = 0
    for k in range(out.shape[0]):
        if j >= b.shape[0] or (i < a.shape[0] and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


case(
    merge_two_runs,
    lambda n, m: dict(
        a=(np.arange(n) + 0.3 * m.rng.random(n)).astype(m.dtype),
        b=(np.arange(n + 1) * 1.1 + 0.45).astype(m.dtype),
    ),
    real=6,
    covers=("index carried through a loop",),
)


def running_median_of_five(x):
    n = x.shape[0]
    out = np.zeros(n)
    for i in range(2, n - 2):
        w = x[i - 2 : i + 3].copy()
        for p in range(3):
            for q in range(4 - p):
                if w[q] > w[q + 1]:
                    w[q], w[q + 1] = w[q + 1], w[q]
        out[i] = w[2]
    return out


case(
    running_median_of_five,
    lambda n, m: dict(x=m.distinct(n)),
    wide=(5,),
    real=9,
    covers=("swap",),
)


def quickselect_partition(a, pivot):
    i = 0
    j = a.shape[0] - 1
    while i <= j:
        if a[i] < pivot:
            i += 1
        elif a[j] >= pivot:
            j -= 1
        else:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    total = 0.0
    for k in range(i):
        total += a[k] * (k + 1)
    return total


case(
    quickselect_partition,
    lambda n, m: dict(a=m.distinct(n), pivot=0.0),
    "a",
    real=10,
    covers=("swap", "index carried through a loop"),
)

# ---------------------------------------------------------------- prices


def black_scholes(spot, strike, rate, vol, t, out):
    for i in range(spot.shape[0]):
        d1 = math.log(spot[i] / strike[i]) + (rate + 0.5 * vol[i] ** 2) * t
        d1 = d1 / (vol[i] * math.sqrt(t))
        d2 = d1 - vol[i] * math.sqrt(t)
        n1 = 0.5 * (1.0 + math.erf(d1 / math.sqrt(2.0)))
        n2 = 0.5 * (1.0 + math.erf(d2 / math.sqrt(2.0)))
        out[i] = spot[i] * n1 - strike[i] * math.exp(-rate * t) * n2


case(
    black_scholes,
    lambda n, m: dict(
        spot=m.positive(n),
        strike=m.positive(n),
        rate=0.05,
        vol=0.4 * m.positive(n),
        t=m.scalar(),
        out=m(n),
    ),
    "out",
    real=30,
)


def binomial_tree_american(spot, strike, up, p, discount, steps):
    values = np.zeros(steps + 1)
    for i in range(steps + 1):
        price = spot * up ** (2 * i - steps)
        values[i] = max(strike - price, 0.0)
    for t in range(steps - 1, -1, -1):
        for i in range(t + 1):
            hold = discount * (p * values[i + 1] + (1.0 - p) * values[i])
            exercise = strike - spot * up ** (2 * i - t)
            values[i] = hold if hold > exercise else exercise
    return values[0]


case(
    binomial_tree_american,
    lambda n, m: dict(
        spot=m.scalar(0.95, 1.05),
        strike=m.scalar(1.1, 1.2),
        up=m.scalar(1.1, 1.15),
        p=m.scalar(0.45, 0.55),
        discount=0.98,
        steps=n,
    ),
    real=8,
    covers=("triangular", "in-place recurrence"),
    seed=2,
)


def monte_carlo_asian(spot, rate, vol, strike, normals):
    paths, steps = normals.shape
    dt = 1.0 / steps
    payoff = 0.0
    for p in range(paths):
        s = spot
        mean = 0.0
        for t in range(steps):
            s *= math.exp(
                (rate - 0.5 * vol * vol) * dt + vol * math.sqrt(dt) * normals[p, t]
            )
            mean += s / steps
        if mean > strike:
            payoff += mean - strike
    return math.exp(-rate) * payoff / paths


case(
    monte_carlo_asian,
    lambda n, m: dict(
        spot=1.0, rate=0.05, vol=m.scalar(0.4, 0.6), strike=0.97, normals=m(n, 4)
    ),
    least=1,
    real=8,
)


def barrier_option_paths(spot, vol, barrier, normals):
    total = 0.0
    for p in range(normals.shape[0]):
        s = spot
        alive = True
        for t in range(normals.shape[1]):
            s = s * (1.0 + vol * normals[p, t])
            if s > barrier:
                alive = False
                break
        if alive:
            total += s
    return total


case(
    barrier_option_paths,
    lambda n, m: dict(spot=1.0, vol=m.scalar(0.2, 0.3), barrier=1.35, normals=m(n, 4)),
    real=7,
)


def bond_yield_newton(price, coupons, guess):
    y = guess
    for k in range(40):
        value = -price
        slope = 0.0
        for t in range(len(coupons)):
            discount = (1.0 + y) ** (-(t + 1))
            value += coupons[t] * discount
            slope -= (t + 1) * coupons[t] * discount / (1.0 + y)
        change = value / slope
        y -= change
        if abs(change) < 1e-14:
            return y
    return y


case(
    bond_yield_newton,
    lambda n, m: dict(price=1.0 * n, coupons=m.positive(n + 1), guess=0.1),
    least=1,
    real=5,
    covers=("trip count from data",),
)

# ---------------------------------------------------------------- likelihoods


def gaussian_mixture(x, means, sigmas, logits):
    k = means.shape[0]
    top = np.max(logits)
    norm = top + np.log(np.sum(np.exp(logits - top)))
    total = 0.0
    for i in range(x.shape[0]):
        p = 0.0
        for c in range(k):
            z = (x[i] - means[c]) / sigmas[c]
            p += np.exp(logits[c] - norm - 0.5 * z * z) / sigmas[c]
        total += np.log(p)
    return total


case(
    gaussian_mixture,
    lambda n, m: dict(x=m(n), means=m(3), sigmas=m.positive(3), logits=m.distinct(3)),
    real=20,
)


def k_means_step(points, centres):
    k = centres.shape[0]
    sums = np.zeros_like(centres)
    counts = np.zeros(k)
    for i in range(points.shape[0]):
        best = 0
        nearest = np.inf
        for c in range(k):
            d = 0.0
            for j in range(points.shape[1]):
                d += (points[i, j] - centres[c, j]) ** 2
            if d < nearest:
                nearest = d
                best = c
        counts[best] += 1
        for j in range(points.shape[1]):
            sums[best, j] += points[i, j]
    for c in range(k):
        if counts[c] > 0:
            for j in range(centres.shape[1]):
                centres[c, j] = sums[c, j] / counts[c]


case(
    k_means_step,
    lambda n, m: dict(points=m(n, 2), centres=m(3, 2)),
    "centres",
    real=9,
    covers=("index from a search",),
)


def ridge_gradient_step(x, y, w, lam, rate):
    residual = x @ w - y
    w -= rate * (x.T @ residual / len(y) + lam * w)
    return 0.5 * np.mean(residual**2) + 0.5 * lam * np.dot(w, w)


case(
    ridge_gradient_step,
    lambda n, m: dict(x=m(n, 3), y=m(n), w=m(3), lam=m.scalar(), rate=0.1),
    "w",
    least=1,
    real=20,
)


def welford_variance(x):
    mean = 0.0
    m2 = 0.0
    for i, value in enumerate(x):
        delta = value - mean
        mean += delta / (i + 1)
        m2 += delta * (value - mean)
    return mean, m2


case(welford_variance, lambda n, m: dict(x=m(n)), real=30)


def kernel_density(x, at, bandwidth):
    out = np.zeros(at.shape)
    for i in range(at.shape[0]):
        z = (at[i] - x) / bandwidth
        out[i] = np.sum(np.exp(-0.5 * z * z)) / bandwidth
    return out


case(
    kernel_density,
    lambda n, m: dict(x=m(n), at=m(n + 1), bandwidth=m.scalar()),
    real=12,
)


def gaussian_process_diagonal(x, length, noise):
    n = x.shape[0]
    k = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            k[i, j] = math.exp(-(((x[i] - x[j]) / length) ** 2))
        k[i, i] += noise
    logdet = 0.0
    for j in range(n):
        for i in range(j, n):
            s = k[i, j]
            for p in range(j):
                s -= k[i, p] * k[j, p]
            if i == j:
                k[j, j] = math.sqrt(s)
                logdet += 2.0 * math.log(k[j, j])
            else:
                k[i, j] = s / k[j, j]
    return logdet


case(
    gaussian_process_diagonal,
    lambda n, m: dict(x=m(n), length=m.scalar(), noise=m.scalar()),
    real=7,
    covers=("triangular", "in-place recurrence"),
)


def isotonic_violation(y, w):
    total = 0.0
    worst = 0.0
    for i in range(1, y.shape[0]):
        if y[i] < y[i - 1]:
            gap = y[i - 1] - y[i]
            total += w[i] * gap**2
            if gap > worst:
                worst = gap
    return total, worst


case(isotonic_violation, lambda n, m: dict(y=m.distinct(n), w=m.positive(n)))


def attention_head(q, k, v):
    n, d = q.shape
    out = np.zeros((n, v.shape[1]))
    for i in range(n):
        scores = k[: i + 1] @ q[i] / math.sqrt(d)
        weights = np.exp(scores - np.max(scores))
        weights /= np.sum(weights)
        out[i] = weights @ v[: i + 1]
    return out


case(
    attention_head,
    lambda n, m: dict(q=m(n, 3), k=m(n, 3), v=m(n, 2)),
    real=7,
    covers=("triangular", "row view"),
    heavy=True,
)


def layer_norm(x, gamma, beta):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        mean = x[i].mean()
        var = ((x[i] - mean) ** 2).mean()
        out[i] = gamma * (x[i] - mean) / np.sqrt(var + 1e-2) + beta
    return out


case(
    layer_norm,
    lambda n, m: dict(x=m(n, 4), gamma=m(4), beta=m(4)),
    real=8,
    covers=("row view",),
)


def cross_entropy_labels(logits, labels):
    total = 0.0
    for i in range(logits.shape[0]):
        top = logits[i, 0]
        for c in range(1, logits.shape[1]):
            if logits[i, c] > top:
                top = logits[i, c]
        norm = 0.0
        for c in range(logits.shape[1]):
            norm += math.exp(logits[i, c] - top)
        total += math.log(norm) + top - logits[i, labels[i]]
    return total / max(1, logits.shape[0])


case(
    cross_entropy_labels,
    lambda n, m: dict(logits=m.distinct(n, 4), labels=m.indices(4, n)),
    real=8,
    covers=("index from an array",),
)


def embedding_bag(table, tokens, offsets, out):
    for b in range(out.shape[0]):
        for t in range(offsets[b], offsets[b + 1]):
            for d in range(out.shape[1]):
                out[b, d] += table[tokens[t], d]


def _offsets(n, m):
    return np.concatenate([[0], np.cumsum(m.rng.integers(0, 3, n))]).astype(np.int64)


case(
    embedding_bag,
    lambda n, m: (
        lambda offsets: dict(
            table=m(5, 3),
            tokens=m.indices(5, int(offsets[-1])),
            offsets=offsets,
            out=m(n, 3),
        )
    )(_offsets(n, m)),
    "out",
    real=12,
    covers=("bounds from data", "index from an array"),
)
