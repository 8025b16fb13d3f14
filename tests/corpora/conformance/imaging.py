# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Imaging layers: filters, resampling, warps, histograms, losses."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()


def bilateral_filter(image, sigma_s, sigma_r, out):
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            total = 0.0
            norm = 0.0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    yy = min(max(y + dy, 0), h - 1)
                    xx = min(max(x + dx, 0), w - 1)
                    d = image[yy, xx] - image[y, x]
                    weight = math.exp(
                        -(dy * dy + dx * dx) / (2 * sigma_s**2)
                        - d * d / (2 * sigma_r**2)
                    )
                    total += weight * image[yy, xx]
                    norm += weight
            out[y, x] = total / norm


case(
    bilateral_filter,
    lambda n, m: dict(
        image=m(n, n + 1),
        sigma_s=m.scalar(1.0, 2.0),
        sigma_r=m.scalar(0.5, 1.0),
        out=m(n, n + 1),
    ),
    "out",
    real=8,
    covers=("min max index",),
    heavy=True,
)


def bilateral_grid_slice(grid, image, out):
    depth = grid.shape[1]
    for i in range(image.shape[0]):
        z = image[i] * (depth - 1)
        k = int(z)
        if k > depth - 2:
            k = depth - 2
        f = z - k
        out[i] = (1 - f) * grid[i // 2, k] + f * grid[i // 2, k + 1]


case(
    bilateral_grid_slice,
    lambda n, m: dict(
        grid=m((n + 1) // 2, 5),
        image=((m.indices(4, n) + 0.2 + 0.3 * m.rng.random(n)) / 4).astype(m.dtype),
        out=m(n),
    ),
    "out",
    real=20,
    covers=("index from a float",),
)


def bilateral_grid_splat(image, grid):
    depth = grid.shape[1]
    for i in range(image.shape[0]):
        z = image[i] * (depth - 1)
        k = math.floor(z)
        f = z - k
        grid[i // 2, k] += (1 - f) * image[i]
        grid[i // 2, k + 1] += f * image[i]


case(
    bilateral_grid_splat,
    lambda n, m: dict(
        image=((m.indices(4, n) + 0.2 + 0.3 * m.rng.random(n)) / 4).astype(m.dtype),
        grid=m((n + 1) // 2, 5),
    ),
    "grid",
    real=20,
    covers=("index from a float",),
)


def demosaic_bilinear(raw, rgb):
    h, w = raw.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            cross = 0.25 * (
                raw[y - 1, x] + raw[y + 1, x] + raw[y, x - 1] + raw[y, x + 1]
            )
            corners = 0.25 * (
                raw[y - 1, x - 1]
                + raw[y - 1, x + 1]
                + raw[y + 1, x - 1]
                + raw[y + 1, x + 1]
            )
            horizontal = 0.5 * (raw[y, x - 1] + raw[y, x + 1])
            vertical = 0.5 * (raw[y - 1, x] + raw[y + 1, x])
            if y % 2 == 0:
                if x % 2 == 0:
                    rgb[y, x, 0] = raw[y, x]
                    rgb[y, x, 1] = cross
                    rgb[y, x, 2] = corners
                else:
                    rgb[y, x, 0] = horizontal
                    rgb[y, x, 1] = raw[y, x]
                    rgb[y, x, 2] = vertical
            elif x % 2 == 0:
                rgb[y, x, 0] = vertical
                rgb[y, x, 1] = raw[y, x]
                rgb[y, x, 2] = horizontal
            else:
                rgb[y, x, 0] = corners
                rgb[y, x, 1] = cross
                rgb[y, x, 2] = raw[y, x]


case(
    demosaic_bilinear,
    lambda n, m: dict(raw=m(n, n + 1), rgb=m(n, n + 1, 3)),
    "rgb",
    wide=(4,),
    real=8,
    heavy=True,
)


def resample_cubic(signal, scale, out):
    n = signal.shape[0]
    for i in range(out.shape[0]):
        position = (i + 0.37) * scale
        left = int(math.floor(position))
        t = position - left
        total = 0.0
        for k in range(-1, 3):
            d = abs(t - k)
            if d < 1.0:
                weight = 1.5 * d**3 - 2.5 * d**2 + 1.0
            elif d < 2.0:
                weight = -0.5 * d**3 + 2.5 * d**2 - 4.0 * d + 2.0
            else:
                weight = 0.0
            j = left + k
            if j < 0:
                j = -j
            if j >= n:
                j = n - 1
            total += weight * signal[j]
        out[i] = total


case(
    resample_cubic,
    lambda n, m: dict(signal=m(n), scale=0.78, out=m(n)),
    "out",
    least=2,
    real=15,
    covers=("index from a float",),
)


def lanczos_downscale(image, out):
    factor = image.shape[0] // max(1, out.shape[0])
    for i in range(out.shape[0]):
        norm = 0.0
        total = 0.0
        for k in range(-factor, 2 * factor):
            j = i * factor + k
            if j < 0 or j >= image.shape[0]:
                continue
            x = (k - 0.5 * factor + 0.5) / factor
            weight = 1.0 if x == 0 else math.sin(math.pi * x) / (math.pi * x)
            total += weight * image[j]
            norm += weight
        out[i] = total / norm


case(
    lanczos_downscale,
    lambda n, m: dict(image=m(3 * n), out=m(n)),
    "out",
    real=9,
)


def bilinear_warp(image, flow_y, flow_x, out):
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            fy = y + flow_y[y, x]
            fx = x + flow_x[y, x]
            y0 = int(np.floor(fy))
            x0 = int(np.floor(fx))
            wy = fy - y0
            wx = fx - x0
            value = 0.0
            for j in range(2):
                for i in range(2):
                    if 0 <= y0 + j < h and 0 <= x0 + i < w:
                        a = wy if j else 1.0 - wy
                        b = wx if i else 1.0 - wx
                        value += a * b * image[y0 + j, x0 + i]
            out[y, x] = value


case(
    bilinear_warp,
    lambda n, m: dict(
        image=m(n, n + 1),
        flow_y=(m.indices(3, n, n + 1) - 0.7 + 0.2 * m.rng.random((n, n + 1))).astype(
            m.dtype
        ),
        flow_x=(m.indices(3, n, n + 1) - 0.7 + 0.2 * m.rng.random((n, n + 1))).astype(
            m.dtype
        ),
        out=m(n, n + 1),
    ),
    "out",
    real=7,
    covers=("index from a float", "bools as numbers"),
    heavy=True,
)


def forward_splat(values, positions, out):
    for i in range(values.shape[0]):
        left = int(positions[i])
        t = positions[i] - left
        if left >= 0 and left + 1 < out.shape[0]:
            out[left] += values[i] * (1.0 - t)
            out[left + 1] += values[i] * t


case(
    forward_splat,
    lambda n, m: dict(
        values=m(n),
        positions=(m.indices(n + 2, n) + 0.3 + 0.3 * m.rng.random(n)).astype(m.dtype),
        out=m(n + 1),
    ),
    "out",
    real=20,
    covers=("index from a float",),
)


def trilinear_lookup(lut, pixels):
    out = np.zeros_like(pixels)
    n = lut.shape[0] - 1
    for p in range(pixels.shape[0]):
        r = pixels[p, 0] * n
        g = pixels[p, 1] * n
        b = pixels[p, 2] * n
        i, j, k = int(r), int(g), int(b)
        fr, fg, fb = r - i, g - j, b - k
        for c in range(3):
            total = 0.0
            for di in range(2):
                for dj in range(2):
                    for dk in range(2):
                        weight = fr if di == 1 else 1 - fr
                        weight *= fg if dj == 1 else 1 - fg
                        weight *= fb if dk == 1 else 1 - fb
                        total += weight * lut[i + di, j + dj, k + dk, c]
            out[p, c] = total
    return out


case(
    trilinear_lookup,
    lambda n, m: dict(
        lut=m(3, 3, 3, 3),
        pixels=((m.indices(2, n, 3) + 0.2 + 0.6 * m.rng.random((n, 3))) / 2).astype(
            m.dtype
        ),
    ),
    real=6,
    covers=("index from a float",),
    heavy=True,
)


def histogram_soft(image, bins, width):
    hist = np.zeros(bins)
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            for b in range(bins):
                d = (image[y, x] - (b + 0.5) / bins) / width
                hist[b] += math.exp(-0.5 * d * d)
    return hist


case(
    histogram_soft,
    lambda n, m: dict(image=m(n, n), bins=4, width=m.scalar(0.2, 0.4)),
    real=7,
)


def histogram_equalise(image, levels):
    hist = np.zeros(levels)
    for i in range(image.shape[0]):
        hist[int(image[i] * levels)] += 1.0
    cdf = np.zeros(levels)
    running = 0.0
    for k in range(levels):
        running += hist[k] / image.shape[0]
        cdf[k] = running
    out = np.empty_like(image)
    for i in range(image.shape[0]):
        out[i] = image[i] * cdf[int(image[i] * levels)]
    return out


case(
    histogram_equalise,
    lambda n, m: dict(
        image=((m.indices(4, n) + 0.3 + 0.4 * m.rng.random(n)) / 4).astype(m.dtype),
        levels=4,
    ),
    least=1,
    real=20,
    covers=("index from a float",),
)


def ssim(a, b, window):
    total = 0.0
    c1, c2 = 0.01, 0.03
    for y in range(a.shape[0] - window + 1):
        for x in range(a.shape[1] - window + 1):
            pa = a[y : y + window, x : x + window]
            pb = b[y : y + window, x : x + window]
            ma = np.mean(pa)
            mb = np.mean(pb)
            va = np.mean(pa * pa) - ma * ma
            vb = np.mean(pb * pb) - mb * mb
            cov = np.mean(pa * pb) - ma * mb
            total += (
                (2 * ma * mb + c1)
                * (2 * cov + c2)
                / ((ma**2 + mb**2 + c1) * (va + vb + c2))
            )
    return total


case(
    ssim,
    lambda n, m: dict(a=m.positive(n, n), b=m.positive(n, n), window=2),
    real=6,
    covers=("view",),
    heavy=True,
)


def median_of_three_rows(image, out):
    for y in range(1, image.shape[0] - 1):
        for x in range(image.shape[1]):
            a, b, c = image[y - 1, x], image[y, x], image[y + 1, x]
            if a > b:
                a, b = b, a
            if b > c:
                b, c = c, b
            if a > b:
                a, b = b, a
            out[y, x] = b


case(
    median_of_three_rows,
    lambda n, m: dict(image=m.distinct(n, n), out=m(n, n)),
    "out",
    wide=(3,),
    real=7,
    covers=("swap",),
)


def median_by_network(image):
    h, w = image.shape
    out = image.copy()
    window = np.zeros(9)
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            k = 0
            for j in range(-1, 2):
                for i in range(-1, 2):
                    window[k] = image[y + j, x + i]
                    k += 1
            for p in range(5):
                for q in range(8 - p):
                    if window[q] > window[q + 1]:
                        window[q], window[q + 1] = window[q + 1], window[q]
            out[y, x] = window[4]
    return out


case(
    median_by_network,
    lambda n, m: dict(image=m.distinct(n, n)),
    wide=(3,),
    real=6,
    covers=("swap",),
    heavy=True,
)


def total_variation_slices(u, eps):
    dy = u[1:, :-1] - u[:-1, :-1]
    dx = u[:-1, 1:] - u[:-1, :-1]
    return np.sum(np.sqrt(dy**2 + dx**2 + eps**2))


case(
    total_variation_slices,
    lambda n, m: dict(u=m(n, n), eps=m.scalar(0.3, 0.5)),
    least=1,
    real=12,
)


def chambolle_dual(p, image, steps, tau):
    n = image.shape[0]
    for s in range(steps):
        div = np.zeros(n)
        div[0] = p[0]
        div[1:-1] = p[1:-1] - p[:-2]
        div[-1] = -p[-2]
        grad = np.zeros(n)
        v = div - image
        grad[:-1] = v[1:] - v[:-1]
        p[:] = (p + tau * grad) / (1.0 + tau * np.abs(grad))


case(
    chambolle_dual,
    lambda n, m: dict(p=m(n), image=5 * m.distinct(n), steps=2, tau=m.scalar(0.1, 0.2)),
    "p",
    least=2,
    real=9,
    covers=("negative index", "time stepping"),
)


def perona_malik(image, kappa, steps):
    h, w = image.shape
    for s in range(steps):
        new = image.copy()
        for y in range(h):
            for x in range(w):
                flux = 0.0
                if y > 0:
                    d = image[y - 1, x] - image[y, x]
                    flux += d * math.exp(-((d / kappa) ** 2))
                if y < h - 1:
                    d = image[y + 1, x] - image[y, x]
                    flux += d * math.exp(-((d / kappa) ** 2))
                if x > 0:
                    d = image[y, x - 1] - image[y, x]
                    flux += d * math.exp(-((d / kappa) ** 2))
                if x < w - 1:
                    d = image[y, x + 1] - image[y, x]
                    flux += d * math.exp(-((d / kappa) ** 2))
                new[y, x] += 0.2 * flux
        image[:, :] = new


case(
    perona_malik,
    lambda n, m: dict(image=m(n, n + 1), kappa=m.scalar(), steps=2),
    "image",
    real=6,
    covers=("time stepping",),
    heavy=True,
)


def sobel_magnitude(image):
    gx = (
        image[:-2, 2:]
        + 2 * image[1:-1, 2:]
        + image[2:, 2:]
        - image[:-2, :-2]
        - 2 * image[1:-1, :-2]
        - image[2:, :-2]
    )
    gy = (
        image[2:, :-2]
        + 2 * image[2:, 1:-1]
        + image[2:, 2:]
        - image[:-2, :-2]
        - 2 * image[:-2, 1:-1]
        - image[:-2, 2:]
    )
    return np.sqrt(gx * gx + gy * gy + 0.1)


case(
    sobel_magnitude,
    lambda n, m: dict(image=m(n, n + 1)),
    least=2,
    wide=(3,),
    real=9,
    heavy=True,
)


def unsharp_mask(image, amount):
    blurred = np.zeros_like(image)
    weights = np.array([0.25, 0.5, 0.25])
    n = image.shape[1]
    for y in range(image.shape[0]):
        for x in range(n):
            for k in range(3):
                blurred[y, x] += weights[k] * image[y, (x + k - 1) % n]
    return image + amount * (image - blurred)


case(
    unsharp_mask,
    lambda n, m: dict(image=m(n, n + 1), amount=m.scalar()),
    real=8,
    covers=("wrapped index",),
)


def harris_response(image, k):
    h, w = image.shape
    out = np.zeros((h, w))
    for y in range(2, h - 2):
        for x in range(2, w - 2):
            sxx = syy = sxy = 0.0
            for j in range(-1, 2):
                for i in range(-1, 2):
                    ix = 0.5 * (image[y + j, x + i + 1] - image[y + j, x + i - 1])
                    iy = 0.5 * (image[y + j + 1, x + i] - image[y + j - 1, x + i])
                    sxx += ix * ix
                    syy += iy * iy
                    sxy += ix * iy
            trace = sxx + syy
            out[y, x] = sxx * syy - sxy**2 - k * trace**2
    return out


case(
    harris_response,
    lambda n, m: dict(image=m(n, n + 1), k=m.scalar(0.04, 0.06)),
    wide=(5,),
    real=8,
    covers=("several targets",),
    heavy=True,
)


def non_local_means(signal, h):
    n = signal.shape[0]
    out = np.zeros(n)
    for i in range(1, n - 1):
        norm = 0.0
        for j in range(1, n - 1):
            d2 = 0.0
            for k in range(-1, 2):
                d2 += (signal[i + k] - signal[j + k]) ** 2
            weight = math.exp(-d2 / h**2)
            out[i] += weight * signal[j]
            norm += weight
        out[i] /= norm
    return out


case(
    non_local_means,
    lambda n, m: dict(signal=m(n), h=m.scalar()),
    wide=(3,),
    real=10,
)


def gamma_tone_curve(image, knots):
    out = np.empty_like(image)
    last = knots.shape[0] - 1
    for i in range(image.size):
        x = image[i]
        if x <= 0.0:
            out[i] = knots[0]
            continue
        if x >= 1.0:
            out[i] = knots[last]
            continue
        k = int(x * last)
        t = x * last - k
        out[i] = knots[k] + t * (knots[k + 1] - knots[k])
    return out


case(
    gamma_tone_curve,
    lambda n, m: dict(
        image=((m.indices(6, n) - 1 + 0.3 + 0.4 * m.rng.random(n)) / 4).astype(m.dtype),
        knots=m(5),
    ),
    real=20,
    covers=("index from a float",),
)


def rgb_to_luma_flat(pixels, width, out):
    height = out.shape[0]
    for y in range(height):
        for x in range(width):
            p = (y * width + x) * 3
            out[y, x] = (
                0.299 * pixels[p] + 0.587 * pixels[p + 1] + 0.114 * pixels[p + 2] ** 2
            )


case(
    rgb_to_luma_flat,
    lambda n, m: dict(pixels=m(3 * n * (n + 1)), width=n + 1, out=m(n, n + 1)),
    "out",
    real=9,
    covers=("flattened index",),
)


def radial_distortion(points, k1, k2):
    for p in range(points.shape[0]):
        x = points[p, 0]
        y = points[p, 1]
        r2 = x * x + y * y
        factor = 1.0 + r2 * (k1 + r2 * k2)
        points[p, 0] = x * factor
        points[p, 1] = y * factor


case(
    radial_distortion,
    lambda n, m: dict(points=m(n, 2), k1=m.scalar(0.1, 0.3), k2=m.scalar(0.01, 0.1)),
    "points",
    real=20,
    covers=("overwrites what was read",),
)


def distance_transform_1d(f, cost):
    n = f.shape[0]
    for q in range(n):
        best = np.inf
        for p in range(n):
            d = (q - p) ** 2 * cost + f[p]
            if d < best:
                best = d
        f[q] = best


case(
    distance_transform_1d,
    lambda n, m: dict(f=m.distinct(n), cost=m.scalar(0.02, 0.05)),
    "f",
    real=8,
    covers=("in-place recurrence",),
)


def connected_weights(image, threshold):
    h, w = image.shape
    total = 0.0
    for y in range(h):
        for x in range(w):
            if image[y, x] < threshold:
                continue
            run = 0.0
            for k in range(x, w):
                if image[y, k] < threshold:
                    break
                run += image[y, k] ** 2
            total += math.sqrt(1.0 + run)
    return total


case(
    connected_weights,
    lambda n, m: dict(image=m.distinct(n, n), threshold=0.0),
    real=7,
)


def shifted_planes(x, shift, out):
    for n in range(out.shape[0]):
        for c in range(out.shape[1]):
            for i in range(out.shape[2]):
                for j in range(out.shape[3]):
                    p = (0.3 + shift[n, i] * (j + 1) / out.shape[3]) * 0.5
                    p = min(max(p, 0.0), 1.0) * (x.shape[2] - 1)
                    k = min(int(p), x.shape[2] - 2)
                    w = p - k
                    out[n, c, i, j] += (1 - w) * x[n, c, k] + w * w * x[n, c, k + 1]


case(
    shifted_planes,
    lambda n, m: dict(x=m(2, 3, n + 1), shift=m.away(2, 2), out=m(2, 3, 2, n)),
    "out",
    real=6,
)


def one_mask_for_all_channels(x, w, mask, out):
    for c in range(1, x.shape[0] - 1):
        for i in range(x.shape[1]):
            for j in range(1, x.shape[2]):
                inside = np.exp(w[i, j] * w[i, j - 1]) / (1.0 + w[i, j] ** 2)
                soft = np.tanh(inside + mask[j]) * inside
                for k in range(2):
                    out[c, i] += x[c + k, i, j] * soft * inside


case(
    one_mask_for_all_channels,
    lambda n, m: dict(x=m(5, 3, n), w=m(3, n), mask=m(n), out=m(5, 3)),
    "out",
    real=6,
)


def border_value_of_a_filter(x, w, out):
    for k in range(out.shape[0]):
        for i in range(out.shape[1]):
            left = w[k - 2] if k > 1 else 0.5
            out[k, i] += x[i] * (x[i] + (w[k - 2] if k > 1 else 0.5)) + left * x[i + 1]


case(
    border_value_of_a_filter,
    lambda n, m: dict(x=m(n + 1), w=m(4), out=m(6, n)),
    "out",
    real=40,
)


def colour_table(image, table, out):
    top = table.shape[1] - 1
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            r = min(max(image[y, x, 0], 0.0), 1.0) * top
            b = min(max(image[y, x, 1], 0.0), 1.0) * top
            r0 = min(int(r), top - 1)
            b0 = min(int(b), top - 1)
            for c in range(3):
                value = 0.0
                for i in range(2):
                    for j in range(2):
                        weight = r - r0 if i == 1 else 1 - (r - r0)
                        weight *= b - b0 if j == 1 else 1 - (b - b0)
                        value += weight * table[c, r0 + i, b0 + j]
                out[y, x, c] += value * value


case(
    colour_table,
    lambda n, m: dict(
        image=0.5 + 0.4 * m.away(n, 3, 2), table=m(3, 5, 5), out=m(n, 3, 3)
    ),
    "out",
    real=6,
)


def two_planes_of_votes(where, weight):
    votes = np.zeros((2, 8))
    for k in range(where.shape[0]):
        bin = where[k] % 8
        votes[0, bin] += weight[k]
        votes[1, bin] += weight[k] * weight[k]
    spread = 0.0
    for bin in range(8):
        spread += votes[1, bin] - votes[0, bin] * votes[0, bin] / 8
    return spread


case(
    two_planes_of_votes,
    lambda n, m: dict(where=m.indices(40, n), weight=m(n)),
    real=30,
)


def channels_of_a_walk(start, field, out):
    for k in range(start.shape[0]):
        at = start[k]
        for step in range(3):
            total = 0.0
            for c in range(2):
                part = 0.0
                for side in range(2):
                    part += field[c, at + side] * (side + 1)
                total += part * part * (c + 1)
            out[k] += total
            at = (at + 2) % (field.shape[1] - 1)


case(
    channels_of_a_walk,
    lambda n, m: dict(start=m.indices(5, n), field=m(2, 6), out=m(n)),
    "out",
    real=12,
)


def masked_twice(x, y, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] * y[i, j] * out[i, j]
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            out[i, j] = out[i, j] * y[i, j]


case(
    masked_twice,
    lambda n, m: dict(x=m(n, 3), y=m(n, 3), out=m(n, 3)),
    "out",
    real=12,
)
