# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Images, tomography, light curves and photometry."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("signals")


def bilateral_gray(image, radius, sigma_space, sigma_range):
    rows, cols = image.shape
    out = np.zeros_like(image)
    for i in range(rows):
        for j in range(cols):
            total = 0.0
            norm = 0.0
            for di in range(-radius, radius + 1):
                for dj in range(-radius, radius + 1):
                    y = i + di
                    x = j + dj
                    if y < 0 or y >= rows or x < 0 or x >= cols:
                        continue
                    near = np.exp(-(di**2 + dj**2) / (2.0 * sigma_space**2))
                    step = image[y, x] - image[i, j]
                    alike = np.exp(-(step**2) / (2.0 * sigma_range**2))
                    total += near * alike * image[y, x]
                    norm += near * alike
            out[i, j] = total / norm
    return out


case(
    bilateral_gray,
    lambda n, m: dict(image=m(3, n), radius=1, sigma_space=1.3, sigma_range=0.6),
    idiom="four loops over pixels and offsets, and continue at the border",
    seen="NikhilTank94/GPU-powered-Bilateral-Filter bilateral_filter.py",
)


def _neighbour_mean(field, i, j):
    up = max(i - 1, 0)
    down = min(i + 1, field.shape[0] - 1)
    left = max(j - 1, 0)
    right = min(j + 1, field.shape[1] - 1)
    near = field[up, j] + field[down, j] + field[i, left] + field[i, right]
    far = field[up, left] + field[up, right] + field[down, left] + field[down, right]
    return near / 6.0 + far / 12.0


def horn_schunck_fields(first, second, alpha=1.0, iterations=2):
    assert first.shape == second.shape, "two frames of one shape"
    h, w = first.shape
    u = np.zeros((h, w))
    v = np.zeros((h, w))
    gradient = np.zeros((3, h, w))
    for i in range(h):
        for j in range(w):
            k = min(i + 1, h - 1)
            q = min(j + 1, w - 1)
            gradient[0, i, j] = 0.5 * (
                first[i, q] - first[i, j] + second[i, q] - second[i, j]
            )
            gradient[1, i, j] = 0.5 * (
                first[k, j] - first[i, j] + second[k, j] - second[i, j]
            )
            gradient[2, i, j] = second[i, j] - first[i, j]
    for _ in range(iterations):
        u_new = np.empty_like(u)
        v_new = np.empty_like(v)
        for i in range(h):
            for j in range(w):
                gx, gy, gt = gradient[:, i, j]
                u_bar = _neighbour_mean(u, i, j)
                v_bar = _neighbour_mean(v, i, j)
                ratio = (gx * u_bar + gy * v_bar + gt) / (alpha**2 + gx**2 + gy**2)
                u_new[i, j] = u_bar - gx * ratio
                v_new[i, j] = v_bar - gy * ratio
        u, v = u_new, v_new
    return u, v


case(
    horn_schunck_fields,
    lambda n, m: dict(first=m(3, n), second=m(3, n), alpha=0.8),
    idiom="two fields replaced by new arrays in each turn; clamped neighbours; assert",
    seen="alexlib/OpticalFlow-RI src/denseLucasKanade_Numba.py",
)


def _inverse_of_symmetric(a, b, c, d, e, f):
    det = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d)
    scale = 1.0 / det
    return (
        (d * f - e * e) * scale,
        (c * e - b * f) * scale,
        (b * e - c * d) * scale,
        (a * f - c * c) * scale,
        (b * c - a * e) * scale,
        (a * d - b * b) * scale,
    )


def color_line_affinity(image, is_known, epsilon, r, values):
    h, w, depth = image.shape
    assert depth == 3
    size = 2 * r + 1
    area = size * size
    c = np.zeros((size, size, 3))
    for y in range(r, h - r):
        for x in range(r, w - r):
            if np.all(is_known[y - r : y + r + 1, x - r : x + r + 1]):
                continue
            for channel in range(3):
                mean = 0.0
                for dy in range(size):
                    for dx in range(size):
                        mean += image[y + dy - r, x + dx - r, channel] / area
                for dy in range(size):
                    for dx in range(size):
                        c[dy, dx, channel] = (
                            image[y + dy - r, x + dx - r, channel] - mean
                        )
            xx = yy = zz = epsilon / area
            xy = xz = yz = 0.0
            for dy in range(size):
                for dx in range(size):
                    xx += c[dy, dx, 0] * c[dy, dx, 0] / area
                    xy += c[dy, dx, 0] * c[dy, dx, 1] / area
                    xz += c[dy, dx, 0] * c[dy, dx, 2] / area
                    yy += c[dy, dx, 1] * c[dy, dx, 1] / area
                    yz += c[dy, dx, 1] * c[dy, dx, 2] / area
                    zz += c[dy, dx, 2] * c[dy, dx, 2] / area
            i00, i01, i02, i11, i12, i22 = _inverse_of_symmetric(xx, xy, xz, yy, yz, zz)
            for dyi in range(size):
                for dxi in range(size):
                    p, q, s = c[dyi, dxi]
                    c0 = i00 * p + i01 * q + i02 * s
                    c1 = i01 * p + i11 * q + i12 * s
                    c2 = i02 * p + i12 * q + i22 * s
                    i = (y + dyi - r) * w + x + dxi - r
                    for dyj in range(size):
                        for dxj in range(size):
                            dot = (
                                c0 * c[dyj, dxj, 0]
                                + c1 * c[dyj, dxj, 1]
                                + c2 * c[dyj, dxj, 2]
                            )
                            same = 1.0 if dyi == dyj and dxi == dxj else 0.0
                            row = dyj - dyi + 2 * r
                            col = dxj - dxi + 2 * r
                            values[i, row, col] += same - (1.0 + dot) / area


case(
    color_line_affinity,
    lambda n, m: dict(
        image=m(3, n, 3),
        is_known=np.zeros((3, n), dtype=np.bool_),
        epsilon=0.5,
        r=1,
        values=np.zeros((3 * n, 5, 5)),
    ),
    out="values",
    real=7,
    idiom="a long kernel, a scratch array used again, one value for three names",
    seen="pymatting/pymatting pymatting/laplacian/cf_laplacian.py",
)


def back_projection(sinogram, angles, center, edge_pad=False):
    views, width = sinogram.shape
    last = width - 1
    middle = 0.5 * last
    recon = np.zeros((width, width), dtype=sinogram.dtype)
    for i in range(views):
        cos_theta = math.cos(-angles[i])
        sin_theta = math.sin(-angles[i])
        for row in range(width):
            y = row - middle
            for col in range(width):
                pos = (col - middle) * cos_theta + y * sin_theta + center
                if 0 <= pos <= last:
                    low = np.int32(np.floor(pos))
                    high = np.int32(np.ceil(pos))
                    if high != low:
                        below = sinogram[i, low]
                        above = sinogram[i, high]
                        recon[row, col] += below + (above - below) * (pos - low)
                    else:
                        recon[row, col] += sinogram[i, low]
                elif edge_pad:
                    if pos < 0:
                        recon[row, col] += sinogram[i, 0]
                    else:
                        recon[row, col] += sinogram[i, last]
    return recon * math.pi / max(views, 1)


case(
    back_projection,
    lambda n, m: dict(
        sinogram=m(2, n),
        angles=np.array([0.37, 1.21]),
        center=0.5 * n - 0.33,
        edge_pad=True,
    ),
    real=5,
    idiom="floor and ceil to 32 bit indices, a border flag, a chained comparison",
    seen="algotom/algotom algotom/rec/reconstruction.py (back_projection_cpu)",
)


def _slab(origin, direction, low, high):
    if abs(direction) < 1e-12:
        return -np.inf, np.inf
    one = (low - origin) / direction
    two = (high - origin) / direction
    return min(one, two), max(one, two)


def siddon_line_integral(image, source, detector):
    ny, nx = image.shape
    dx = detector[0] - source[0]
    dy = detector[1] - source[1]
    length = np.sqrt(dx * dx + dy * dy)
    in_x, out_x = _slab(source[0], dx, 0.0, float(nx))
    in_y, out_y = _slab(source[1], dy, 0.0, float(ny))
    entry = max(in_x, in_y, 0.0)
    leave = min(out_x, out_y, 1.0)
    if entry >= leave:
        return 0.0

    ix = int(source[0] + entry * dx)
    iy = int(source[1] + entry * dy)
    if ix < 0:
        ix = 0
    elif ix >= nx:
        ix = nx - 1
    if iy < 0:
        iy = 0
    elif iy >= ny:
        iy = ny - 1

    if dx > 0:
        step_x = 1
        next_x = (ix + 1 - source[0]) / dx
        delta_x = 1.0 / dx
    elif dx < 0:
        step_x = -1
        next_x = (ix - source[0]) / dx
        delta_x = -1.0 / dx
    else:
        step_x = 0
        next_x = delta_x = np.inf
    if dy > 0:
        step_y = 1
        next_y = (iy + 1 - source[1]) / dy
        delta_y = 1.0 / dy
    elif dy < 0:
        step_y = -1
        next_y = (iy - source[1]) / dy
        delta_y = -1.0 / dy
    else:
        step_y = 0
        next_y = delta_y = np.inf

    t = entry
    total = 0.0
    while t < leave:
        value = image[iy, ix]
        if next_x < next_y:
            t_new = min(next_x, leave)
            next_x += delta_x
            ix += step_x
        else:
            t_new = min(next_y, leave)
            next_y += delta_y
            iy += step_y
        total += value * (t_new - t) * length
        t = t_new
        if ix < 0 or ix >= nx or iy < 0 or iy >= ny:
            break
    return total


case(
    siddon_line_integral,
    lambda n, m: dict(
        image=m(4, n),
        source=np.array([-1.3, 0.37]),
        detector=np.array([n + 1.1, 3.71]),
    ),
    idiom="a walk over a grid by while; one name for several targets; early return",
    seen="vargasp/vir sys_mat/rd.py; Minghao Guo srf_ct _proj_siddon.py",
)


Orbit = namedtuple("Orbit", "period t_peri ecc omega amplitude")


def _eccentric_anomaly(mean, ecc):
    ea = mean + ecc * np.sin(mean)
    err = 1.0
    k = 0
    while abs(err) > 1e-10 and k < 100:
        err = ea - ecc * np.sin(ea) - mean
        ea = ea - err / (1.0 - ecc * np.cos(ea))
        k += 1
    return ea


def radial_velocity_curve(times, orbits, offset, trend=0.0):
    rv = np.full(times.size, offset)
    for orbit in orbits:
        period, t_peri, ecc, omega, amplitude = orbit
        if ecc < 0.0 or ecc >= 1.0:
            raise ValueError("eccentricity must be in [0, 1)")
        for j in range(times.size):
            mean = np.mod(2.0 * np.pi * (times[j] - t_peri) / period, 2.0 * np.pi)
            ea = _eccentric_anomaly(mean, ecc)
            sta = np.sqrt(1.0 - ecc**2) * np.sin(ea) / (1.0 - ecc * np.cos(ea))
            cta = (np.cos(ea) - ecc) / (1.0 - ecc * np.cos(ea))
            ta = np.arctan2(sta, cta)
            rv[j] += amplitude * (np.cos(ta + omega) + ecc * np.cos(omega))
    for j in range(times.size):
        rv[j] += trend * (times[j] - times[0])
    return rv


case(
    radial_velocity_curve,
    lambda n, m: dict(
        times=np.linspace(0.2, 5.1, n),
        orbits=(Orbit(2.3, 0.41, 0.3, 0.9, 1.7), Orbit(7.1, 1.3, 0.12, -0.4, 0.6)),
        offset=0.25,
        trend=0.03,
    ),
    idiom="a tuple of named tuples looped over; Newton by while with a cap; np.mod",
    seen="hpparvi/PyTransit pytransit/orbits/orbits_py.py",
)


def box_search(time, flux, weights, periods, n_bins, widest):
    power = np.zeros(len(periods))
    best_bin = np.zeros(len(periods), dtype=np.int32)
    w = weights / np.sum(weights)
    mean = 0.0
    for i in range(len(time)):
        mean += w[i] * flux[i]
    for p in range(len(periods)):
        frequency = 1.0 / periods[p]
        sums = np.zeros(n_bins + widest)
        masses = np.zeros(n_bins + widest)
        for i in range(len(time)):
            phase = time[i] * frequency
            phase -= np.floor(phase)
            b = int(phase * n_bins)
            sums[b] += w[i] * (flux[i] - mean)
            masses[b] += w[i]
        for b in range(n_bins, n_bins + widest):
            sums[b] = sums[b - n_bins]
            masses[b] = masses[b - n_bins]
        top = 0.0
        for b in range(n_bins):
            s = 0.0
            r = 0.0
            for k in range(widest):
                s += sums[b + k]
                r += masses[b + k]
                if r < 1e-3 or r > 1.0 - 1e-3:
                    continue
                chi = s**2 / (r * (1.0 - r))
                if chi > top + 1e-9:
                    top = chi
                    best_bin[p] = b
        power[p] = np.sqrt(top)
    return power, best_bin


case(
    box_search,
    lambda n, m: dict(
        time=4.0 * m.positive(n),
        flux=m(n),
        weights=m.positive(n),
        periods=np.array([1.37, 1.9]),
        n_bins=6,
        widest=2,
    ),
    least=3,
    idiom="a histogram by int() of a phase, wrapped at its end; a best window by if",
    seen="hippke/tls transitleastsquares/core.py; exofit detrend (search)",
)


def _biweight(data, cval):
    center = np.median(data)
    mad = np.median(np.abs(data - center))
    if mad == 0:
        return center
    scale = 1.0 / (cval * mad)
    change = np.inf
    turns = 0
    while np.abs(change) > 1e-11 and turns < 50:
        distance = data - center
        u = distance * scale
        weight = (1.0 - u**2) ** 2
        weight[np.abs(u) >= 1.0] = 0.0
        change = np.sum(distance * weight) / np.sum(weight)
        center = center + change
        turns += 1
    return center


def _trimmed(data, proportion):
    ordered = np.sort(data)
    cut = int(len(ordered) * proportion)
    return np.mean(ordered[cut : len(ordered) - cut])


def sliding_location(time, flux, window, cval, method_code, edge=0.0):
    size = len(time)
    trend = np.full(size, np.nan)
    half = window / 2
    if edge > half:
        edge = half
    first = np.min(time) + edge
    final = np.max(time) - edge
    start = 0
    stop = 0
    for i in range(size):
        if time[i] < first or time[i] > final:
            continue
        while time[start] < time[i] - half:
            start += 1
        while stop < size and time[stop] < time[i] + half:
            stop += 1
        f = flux[start:stop]
        f = f[~np.isnan(f)]
        if len(f) == 0:
            trend[i] = np.nan
        elif method_code == 1:
            trend[i] = _biweight(f, cval)
        elif method_code == 2:
            trend[i] = np.median(f)
        elif method_code == 3:
            trend[i] = _trimmed(f, proportion=cval)
        else:
            raise ValueError("unknown method")
    return trend


def _gappy(n, m):
    flux = m.distinct(n)
    if n > 5:
        flux[3] = np.nan
    return flux


case(
    sliding_location,
    lambda n, m: dict(
        time=0.3 * np.arange(n),
        flux=_gappy(n, m),
        window=1.7,
        cval=5.0,
        method_code=1,
    ),
    least=1,
    real=7,
    idiom="a code chooses the statistic; nan as missing; masks; convergence",
    seen="hippke/wotan wotan/slider.py, wotan/location_estimates.py",
)


def lomb_scargle_power(t, y, freqs, dy=None, fit_mean=True, normalization="standard"):
    if dy is None:
        w = np.ones(len(t))
    else:
        w = dy**-2.0
    w = w / w.sum()
    if fit_mean:
        y = y - np.dot(w, y)
    yy = np.dot(w, y**2)
    power = np.zeros(freqs.shape[0])
    for k, frequency in enumerate(freqs):
        omega = 2.0 * np.pi * frequency
        s2 = 0.0
        c2 = 0.0
        for i in range(len(t)):
            s2 += w[i] * np.sin(2.0 * omega * t[i])
            c2 += w[i] * np.cos(2.0 * omega * t[i])
        tau = np.arctan2(s2, c2) / (2.0 * omega)
        yc = ys = cc = ss = 0.0
        for i in range(len(t)):
            c = np.cos(omega * (t[i] - tau))
            s = np.sin(omega * (t[i] - tau))
            yc += w[i] * y[i] * c
            ys += w[i] * y[i] * s
            cc += w[i] * c * c
            ss += w[i] * s * s
        power[k] = yc * yc / cc + ys * ys / ss
    if normalization == "standard":
        power /= yy
    elif normalization == "log":
        power = -np.log(1.0 - power / yy)
    elif normalization != "psd":
        raise ValueError(f"normalization {normalization} not recognized")
    return power


case(
    lomb_scargle_power,
    lambda n, m: dict(
        t=np.cumsum(m.positive(n)),
        y=m.away(n),
        freqs=np.array([0.13, 0.29, 0.41]),
        dy=m.positive(n),
        normalization="log",
    ),
    least=4,
    idiom="None for no errors, a string for the scale, a parameter rebound",
    seen="find_string lomb_scargle, files 13282686072 and 71006045473",
)


def _overlap(x, y, radius, subpixels):
    inside = 0
    for a in range(subpixels):
        for b in range(subpixels):
            u = x - 0.5 + (a + 0.5) / subpixels
            v = y - 0.5 + (b + 0.5) / subpixels
            if u * u + v * v < radius * radius:
                inside += 1
    return inside / subpixels**2


def aperture_photometry(image, x0, y0, radius, inner, outer, gain, subpixels=5):
    h, w = image.shape
    flux = 0.0
    area = 0.0
    sky = []
    for row in range(h):
        for col in range(w):
            dx = col - x0
            dy = row - y0
            distance = math.hypot(dx, dy)
            if distance < radius - 0.8:
                flux += image[row, col]
                area += 1.0
            elif distance < radius + 0.8:
                part = _overlap(dx, dy, radius, subpixels)
                flux += part * image[row, col]
                area += part
            elif inner < distance < outer:
                sky.append(image[row, col])
    if len(sky) == 0:
        raise ValueError("no pixel of sky in the annulus")
    background = np.median(np.array(sky))
    net = flux - area * background
    error = np.sqrt(abs(net) / gain + area * np.var(np.array(sky)))
    return net, background, error


case(
    aperture_photometry,
    lambda n, m: dict(
        image=m.distinct(8, 8) + 5.0 * (n > 3),
        x0=3.37,
        y0=3.64,
        radius=1.71,
        inner=2.81,
        outer=3.93,
        gain=2.0,
    ),
    idiom="a list of pixels of unknown number, its median and variance; counts inside",
    seen="dnidever/prometheus prometheus/numba/utils_numba.py",
)


PIXEL = np.dtype([("u", "f8"), ("v", "f8"), ("val", "f8"), ("ierr", "f8")])
MOMENTS = np.dtype(
    [("row", "f8"), ("col", "f8"), ("irr", "f8"), ("irc", "f8"), ("icc", "f8")]
)
RESULT = np.dtype(
    [("flags", "i4"), ("numiter", "i4"), ("sums", "f8", 6), ("pars", "f8", 5)]
)
LOW_DET = 1
NONPOS_FLUX = 2
NOT_CONVERGED = 4


def _weighted_sums(pixels, weight, sums):
    sums[:] = 0.0
    det = weight["irr"] * weight["icc"] - weight["irc"] ** 2
    for i in range(pixels.size):
        pixel = pixels[i]
        v = pixel["v"] - weight["row"]
        u = pixel["u"] - weight["col"]
        chi2 = weight["icc"] * v * v + weight["irr"] * u * u
        chi2 -= 2.0 * weight["irc"] * u * v
        chi2 /= det
        if chi2 > 50.0:
            continue
        wdata = np.exp(-0.5 * chi2) * pixel["val"] * pixel["ierr"]
        sums[0] += wdata * v
        sums[1] += wdata * u
        sums[2] += wdata * v * v
        sums[3] += wdata * u * v
        sums[4] += wdata * u * u
        sums[5] += wdata


def adaptive_moments(pixels, guess, result, maxiter=6, tol=1e-5):
    weight = guess[0]
    res = result[0]
    previous = weight["irr"] + weight["icc"]
    res["flags"] = NOT_CONVERGED
    for it in range(maxiter):
        res["numiter"] = it + 1
        det = weight["irr"] * weight["icc"] - weight["irc"] ** 2
        if det <= 1e-8:
            res["flags"] = LOW_DET
            return
        _weighted_sums(pixels, weight, res["sums"])
        if res["sums"][5] <= 0.0:
            res["flags"] = NONPOS_FLUX
            return
        inverse = 1.0 / res["sums"][5]
        weight["row"] += res["sums"][0] * inverse
        weight["col"] += res["sums"][1] * inverse
        mrr = res["sums"][2] * inverse
        mrc = res["sums"][3] * inverse
        mcc = res["sums"][4] * inverse
        mdet = mrr * mcc - mrc * mrc
        nrr = mcc / mdet - weight["icc"] / det
        ncc = mrr / mdet - weight["irr"] / det
        nrc = -mrc / mdet + weight["irc"] / det
        ndet = nrr * ncc - nrc * nrc
        if ndet <= 1e-8:
            res["flags"] = LOW_DET
            return
        weight["irr"] = ncc / ndet
        weight["icc"] = nrr / ndet
        weight["irc"] = -nrc / ndet
        size = weight["irr"] + weight["icc"]
        if abs(size / previous - 1.0) < tol:
            res["flags"] = 0
            break
        previous = size
    res["pars"][0] = weight["row"]
    res["pars"][1] = weight["col"]
    res["pars"][2] = weight["icc"] - weight["irr"]
    res["pars"][3] = 2.0 * weight["irc"]
    res["pars"][4] = weight["icc"] + weight["irr"]


def _stamp(n, m):
    side = 7 if n > 3 else 5
    pixels = np.zeros(side * side, dtype=PIXEL)
    for i in range(pixels.size):
        v = i // side - side / 2 + 0.6
        u = i % side - side / 2 + 0.4
        pixels[i] = (u, v, math.exp(-0.5 * (u * u / 1.4 + v * v / 1.1)), 1.0)
    pixels["val"] += 0.001 * m(side * side)
    return pixels


case(
    adaptive_moments,
    lambda n, m: dict(
        pixels=_stamp(n, m),
        guess=np.array([(0.0, 0.0, 1.2, 0.05, 1.3)], dtype=MOMENTS),
        result=np.zeros(1, dtype=RESULT),
        maxiter=3,
    ),
    out="guess result",
    idiom="records read and written by name, flags and early returns",
    seen="esheldon/ngmix ngmix/admom/admom_nb.py",
)
