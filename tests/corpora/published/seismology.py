# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B905
"""Picking, filters, oscillators, travel times and rays."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("seismology")

FAR = 1.0e5
MU0_KM = 0.4 * math.pi


def energy_ratio_trigger(trace, n_short, n_long):
    npts = len(trace)
    short_gain = 1.0 / n_short
    long_gain = 1.0 / n_long
    ratio = np.zeros(npts, dtype=np.float64)
    short_avg = 0.0
    long_avg = np.finfo(np.float64).tiny
    for i in range(1, npts):
        energy = trace[i] ** 2
        short_avg = short_gain * energy + (1.0 - short_gain) * short_avg
        long_avg = long_gain * energy + (1.0 - long_gain) * long_avg
        ratio[i] = short_avg / long_avg
    if npts > n_long:
        ratio[:n_long] = 0
    else:
        ratio[:] = 0
    return ratio


case(
    energy_ratio_trigger,
    lambda n, m: dict(trace=m.away(n), n_short=2, n_long=6),
    idiom="recursive averages; np.finfo for the guard; a slice that is blanked after",
    seen="obspy/obspy signal/trigger.py",
)


def akaike_onset(trace, margin=2):
    npts = trace.shape[0]
    if npts < 2 * margin + 2:
        return np.zeros(npts), -1
    curve = np.zeros(npts)
    for k in range(margin, npts - margin):
        before = np.var(trace[:k])
        after = np.var(trace[k:])
        if before <= 0.0 or after <= 0.0:
            continue
        curve[k] = k * np.log(before) + (npts - k - 1) * np.log(after)
    curve[:margin] = curve[margin]
    curve[npts - margin :] = curve[npts - margin - 1]
    pick = np.argmin(curve)
    return curve, pick


case(
    akaike_onset,
    lambda n, m: dict(trace=m.distinct(n)),
    idiom="variance of slices; an early return of another kind; an argmin returned",
    seen="AIC pickers on obspy, e.g. austinholland/PhasePApy phasepicker",
)


def recursive_kurtosis_cf(trace, dt, window):
    decay = dt / window
    mean = 0.0
    second, fourth = 1.0, 3.0
    cf = np.empty_like(trace)
    slope = np.zeros_like(trace)
    for i, x in enumerate(trace):
        mean = decay * x + (1 - decay) * mean
        dev2 = (x - mean) ** 2
        second = decay * dev2 + (1 - decay) * second
        fourth = decay * dev2 * dev2 / second**2 + (1 - decay) * fourth
        cf[i] = fourth - 3.0
        if i > 0:
            slope[i] = (cf[i] - cf[i - 1]) / dt
            if slope[i] < 0:
                slope[i] = 0.0
    return cf, slope


case(
    recursive_kurtosis_cf,
    lambda n, m: dict(trace=m.away(n), dt=0.05, window=0.43),
    idiom="enumerate over the trace; running moments; a negative value reset in place",
    seen="kurtosis pickers, e.g. Camillever/localized-events-detection kurtosis.py",
)


def log_window_smooth(freqs, amps, centres, width, scaled=True):
    smoothed = np.empty_like(centres)
    tiny = np.finfo(freqs.dtype).eps
    for k, fc in enumerate(centres):
        if fc < tiny:
            smoothed[k] = amps[0]
            continue
        top = 0
        bottom = 0
        for f, amp in zip(freqs, amps):
            if f < tiny:
                continue
            x = width * np.log10(f / fc)
            if x < -3:
                continue
            elif x > 3:
                break
            w = 1.0 if abs(x) < 1e-9 else (np.sin(x) / x) ** 4
            top += w * amp
            bottom += w
        if bottom == 0:
            smoothed[k] = 0
        else:
            smoothed[k] = top / bottom if scaled else top
    return smoothed


case(
    log_window_smooth,
    lambda n, m: dict(
        freqs=np.sort(m.positive(2 * n + 1) * np.arange(1, 2 * n + 2, dtype=m.dtype)),
        amps=m.positive(2 * n + 1),
        centres=np.arange(2, 2 + n, dtype=m.dtype) + 0.31,
        width=11.0,
    ),
    idiom="enumerate and zip; integer zeros as accumulators; continue and break",
    seen="arkottke/pykooh src/pykooh/smooth_numba.py",
)


def filter_by_sections(sections, trace, memory=None):
    if sections.ndim != 2 or sections.shape[1] != 6:
        raise ValueError("a section has six coefficients")
    if memory is None:
        memory = np.zeros((sections.shape[0], 2), dtype=trace.dtype)
    else:
        memory = memory.copy()
    out = trace.copy()
    for s in range(sections.shape[0]):
        b0, b1, b2, a0, a1, a2 = sections[s]
        first, second = memory[s]
        for n in range(out.shape[0]):
            x = out[n]
            y = (b0 * x + first) / a0
            first = b1 * x - a1 * y + second
            second = b2 * x - a2 * y
            out[n] = y
        memory[s, 0] = first
        memory[s, 1] = second
    return out, memory


case(
    filter_by_sections,
    lambda n, m: dict(
        sections=m(3, 6) * 0.2 + np.array([0.5, 0.2, 0.3, 1.4, -0.4, 0.2], m.dtype),
        trace=m(n),
    ),
    idiom="None default rebound to an array or a copy; rows unpacked into names",
    seen="biquad and sosfilt loops under numba, found by search in signal codes",
)


def _exact_matrices(omega, zeta, dt):
    root = math.sqrt(1.0 - zeta * zeta)
    wd = omega * root
    e = math.exp(-zeta * omega * dt)
    s = math.sin(wd * dt)
    c = math.cos(wd * dt)
    q = zeta / root
    t1 = (2.0 * zeta * zeta - 1.0) / (omega * omega * dt)
    t2 = 2.0 * zeta / (omega**3 * dt)
    w2 = 1.0 / omega**2
    a = np.empty((2, 2))
    b = np.empty((2, 2))
    a[0, 0] = e * (q * s + c)
    a[0, 1] = e * s / wd
    a[1, 0] = -omega / root * e * s
    a[1, 1] = e * (c - q * s)
    b[0, 0] = e * ((t1 + zeta / omega) * s / wd + (t2 + w2) * c) - t2
    b[0, 1] = -e * (t1 * s / wd + t2 * c) - w2 + t2
    turn = wd * s + zeta * omega * c
    b[1, 0] = e * ((t1 + zeta / omega) * (c - q * s) - (t2 + w2) * turn) + w2 / dt
    b[1, 1] = -e * (t1 * (c - q * s) - t2 * turn) - w2 / dt
    return a, b


def oscillator_spectra(acc, dt, periods, damping=0.05):
    nper = len(periods)
    sd = np.zeros(nper)
    psa = np.zeros(nper)
    for k in range(nper):
        omega = 2.0 * np.pi / periods[k]
        a, b = _exact_matrices(omega, damping, dt)
        state = np.zeros(2)
        peak = 0.0
        for i in range(len(acc) - 1):
            x0 = a[0, 0] * state[0] + a[0, 1] * state[1]
            x0 += b[0, 0] * acc[i] + b[0, 1] * acc[i + 1]
            x1 = a[1, 0] * state[0] + a[1, 1] * state[1]
            x1 += b[1, 0] * acc[i] + b[1, 1] * acc[i + 1]
            state[0], state[1] = x0, x1
            if abs(x0) > peak:
                peak = abs(x0)
        sd[k] = peak
        psa[k] = omega**2 * peak
    return sd, psa


case(
    oscillator_spectra,
    lambda n, m: dict(acc=m.away(n), dt=0.11, periods=m.positive(min(n, 5)) + 0.4),
    seed=1,
    idiom="a helper that returns two matrices; the largest response kept by comparing",
    seen="ucgmsim/IM_calculation IM/rspectra.py and Nigam-Jennings codes under numba",
)


def _upwind_node(tt, slow, i, j, steps):
    nz, nx = slow.shape
    dz, dx, dz2i, dx2i = steps
    up = tt[i - 1, j] if i > 0 else FAR
    down = tt[i + 1, j] if i < nz - 1 else FAR
    left = tt[i, j - 1] if j > 0 else FAR
    right = tt[i, j + 1] if j < nx - 1 else FAR
    tv = min(up, down)
    te = min(left, right)
    s = slow[i, j]
    best = min(tv + dz * s, te + dx * s)
    if tv < FAR and te < FAR and tv < te + dx * s and te < tv + dz * s:
        a = dz2i + dx2i
        half = tv * dz2i + te * dx2i
        rest = tv**2.0 * dz2i + te**2.0 * dx2i - s**2.0
        disc = half**2.0 - a * rest
        if disc >= 0.0:
            best = min(best, (half + disc**0.5) / a)
    tt[i, j] = min(tt[i, j], best)


def sweep_first_arrivals(slow, dz, dx, zsrc, xsrc, nsweep=2):
    nz, nx = slow.shape
    if not (0 <= zsrc < nz and 0 <= xsrc < nx):
        raise ValueError("source out of bound")
    steps = (dz, dx, 1.0 / dz / dz, 1.0 / dx / dx)
    tt = np.full((nz, nx), FAR, dtype=np.float64)
    tt[zsrc, xsrc] = 0.0
    for _ in range(nsweep):
        for j in range(nx):
            for i in range(nz):
                _upwind_node(tt, slow, i, j, steps)
            for i in range(nz - 1, -1, -1):
                _upwind_node(tt, slow, i, j, steps)
        for j in range(nx - 1, -1, -1):
            for i in range(nz):
                _upwind_node(tt, slow, i, j, steps)
            for i in range(nz - 1, -1, -1):
                _upwind_node(tt, slow, i, j, steps)
    return tt


case(
    sweep_first_arrivals,
    lambda n, m: dict(
        slow=m.positive(n, n + 1) * 0.2 + 0.8, dz=0.9, dx=1.1, zsrc=0, xsrc=n // 2
    ),
    least=1,
    real=5,
    idiom="a helper that writes one node in place; a tuple of steps; four sweeps",
    seen="keurfonluu/fteikpy fteikpy/_fteik/_fteik2d.py",
)


def _arc(p, h, v1, v2):
    if p * v1 >= 1.0:
        return 0.0, 0.0, 0
    if h == 0.0:
        return 0.0, 0.0, -1
    cos1 = math.sqrt(1.0 - (p * v1) ** 2)
    gradient = (v2 - v1) / h
    if abs(gradient) < 1e-12:
        return h * p * v1 / cos1, h / (v1 * cos1), 1
    if p * v2 >= 1.0:
        return cos1 / (p * gradient), math.log((1.0 + cos1) / (p * v1)) / gradient, 2
    cos2 = math.sqrt(1.0 - (p * v2) ** 2)
    t = math.log(v2 / v1 * (1.0 + cos1) / (1.0 + cos2)) / gradient
    return (cos1 - cos2) / (p * gradient), t, 1


def turning_ray(p, depth, velocity):
    distance = 0.0
    time = 0.0
    turned = False
    for k in range(len(depth) - 1):
        h = depth[k + 1] - depth[k]
        dx, dt, code = _arc(p, h, velocity[k], velocity[k + 1])
        if code == -1:
            continue
        distance += dx
        time += dt
        if code != 1:
            turned = True
            break
    return 2.0 * distance, 2.0 * time, turned


case(
    turning_ray,
    lambda n, m: dict(
        p=0.31,
        depth=np.cumsum(m.positive(n + 1)),
        velocity=1.0 + 0.4 * np.cumsum(m.positive(n + 1)),
    ),
    seed=2,
    idiom="a helper with many returns and a status code; a flag returned",
    seen="ports of layer tracing with return codes, e.g. LLNL/mtinv src/rayp",
)


def _offset_and_slope(p, thickness, velocity):
    x = 0.0
    dxdp = 0.0
    for h, v in zip(thickness, velocity):
        root = np.sqrt(1.0 - (p * v) ** 2)
        x += h * p * v / root
        dxdp += h * v / root**3
    return x, dxdp


def two_point_time(thickness, velocity, offset, tol=1e-12, max_iter=60):
    if len(thickness) != len(velocity):
        raise ValueError("thickness and velocity must have one length")
    thickness = np.asarray(thickness, dtype=np.float64)
    velocity = np.asarray(velocity, dtype=np.float64)
    pmax = 1.0 / np.max(velocity)
    p = 0.5 * pmax
    for _ in range(max_iter):
        x, dxdp = _offset_and_slope(p, thickness, velocity)
        pnew = p - (x - offset) / dxdp
        if pnew >= pmax:
            pnew = 0.5 * (p + pmax)
        elif pnew <= 0.0:
            pnew = 0.5 * p
        if abs(pnew - p) < tol * pmax:
            p = pnew
            break
        p = pnew
    else:
        raise RuntimeError("two-point ray tracing did not converge")
    time = 0.0
    for h, v in zip(thickness, velocity):
        time += h / (v * np.sqrt(1.0 - (p * v) ** 2))
    return time, p


case(
    two_point_time,
    lambda n, m: dict(
        thickness=m.positive(n), velocity=1.0 + m.distinct(n) ** 2, offset=1.3
    ),
    least=1,
    idiom="Newton with a break and for-else that raises; zip of layers; np.asarray",
    seen="whimian/ExplorationPy raytrace.py; keurfonluu/disba gtsolh",
)


def _bilinear(z, x, grid, zp, xp):
    i = np.searchsorted(z, zp, side="right") - 1
    j = np.searchsorted(x, xp, side="right") - 1
    i = min(max(i, 0), len(z) - 2)
    j = min(max(j, 0), len(x) - 2)
    wz = (zp - z[i]) / (z[i + 1] - z[i])
    wx = (xp - x[j]) / (x[j + 1] - x[j])
    top = (1.0 - wx) * grid[i, j] + wx * grid[i, j + 1]
    bottom = (1.0 - wx) * grid[i + 1, j] + wx * grid[i + 1, j + 1]
    return (1.0 - wz) * top + wz * bottom


def descend_raypath(z, x, zgrad, xgrad, end, source, stepsize, max_step=200):
    inside = z[0] <= end[0] <= z[-1] and x[0] <= end[1] <= x[-1]
    if not inside:
        raise ValueError("end point out of bound")
    ray = np.empty((max_step, 2), dtype=np.float64)
    cur = np.array([end[0], end[1]], dtype=np.float64)
    ray[0] = cur.copy()
    count = 1
    delta = np.empty(2)
    while math.hypot(cur[0] - source[0], cur[1] - source[1]) >= stepsize:
        gz = _bilinear(z, x, zgrad, cur[0], cur[1])
        gx = _bilinear(z, x, xgrad, cur[0], cur[1])
        norm = (gz * gz + gx * gx) ** 0.5
        if norm <= 0.0:
            break
        delta[0] = stepsize * gz / norm
        delta[1] = stepsize * gx / norm
        cur -= delta
        cur[0] = min(max(cur[0], z[0]), z[-1])
        cur[1] = min(max(cur[1], x[0]), x[-1])
        ray[count] = cur
        count += 1
        if count >= max_step - 1:
            raise RuntimeError("maximum number of steps reached")
    ray[count] = source
    return ray[: count + 1], count


def _gradient_grids(n, m):
    z = np.linspace(0.0, 3.0, n).astype(m.dtype)
    x = np.linspace(0.0, 4.0, n).astype(m.dtype)
    zz, xx = np.meshgrid(z - 0.37, x - 0.41, indexing="ij")
    r = np.hypot(zz, xx) + 0.5
    end = np.array([2.61, 3.17], m.dtype)
    source = np.array([0.37, 0.41], m.dtype)
    return dict(
        z=z, x=x, zgrad=zz / r, xgrad=xx / r, end=end, source=source, stepsize=0.61
    )


case(
    descend_raypath,
    _gradient_grids,
    least=3,
    real=9,
    idiom="a buffer of the largest size, a count and a slice; searchsorted",
    seen="keurfonluu/fteikpy fteikpy/_fteik/_ray2d.py",
)


def _sh_terms(wvno, omega, beta, h):
    excess = wvno**2 - (omega / beta) ** 2
    root = np.sqrt(np.abs(excess))
    q = root * h
    if excess < 0:
        return np.cos(q), np.sin(q) / root, -root * np.sin(q)
    elif excess > 0:
        return np.cosh(q), np.sinh(q) / root, root * np.sinh(q)
    else:
        return 1.0, h, 0.0


def love_secular(speeds, period, thickness, beta, rho):
    omega = 2.0 * np.pi / period
    out = np.zeros(len(speeds), dtype=np.float64)
    for i, c in enumerate(speeds):
        wvno = omega / c
        modulus = rho * beta**2
        below = np.sqrt(wvno**2 - (omega / beta[-1]) ** 2)
        stress, motion = modulus[-1] * below, 1.0
        for m in reversed(range(len(thickness) - 1)):
            cosq, y, z = _sh_terms(wvno, omega, beta[m], thickness[m])
            new = stress * cosq + motion * modulus[m] * z
            motion = stress * y / modulus[m] + motion * cosq
            stress = new
            size = max(np.abs(stress), np.abs(motion))
            if size > 50.0:
                stress /= size
                motion /= size
        out[i] = stress
    return out


case(
    love_secular,
    lambda n, m: dict(
        speeds=3.05 + 0.37 * m.positive(n),
        period=5.3,
        thickness=m.positive(4),
        beta=np.array([2.9, 3.9, 4.3, 4.9], m.dtype),
        rho=m.positive(4) + 2.0,
    ),
    idiom="layers from below with reversed(range()); a helper with three returns",
    seen="keurfonluu/disba disba/_cps/_surf96.py dltar1",
)


def magnetotelluric_1d(frequency, resistivity, thickness, out="rho"):
    nfreq = np.size(frequency)
    z = np.zeros(nfreq, dtype=np.complex128)
    for k in range(nfreq):
        iwm = 2j * np.pi * frequency[k] * MU0_KM
        below = np.sqrt(iwm * resistivity[-1])
        for j in range(len(resistivity) - 2, -1, -1):
            own = np.sqrt(iwm * resistivity[j])
            tanh = np.tanh(own / resistivity[j] * thickness[j])
            below = own * (below + own * tanh) / (own + below * tanh)
        z[k] = below
    if out.lower() == "imp":
        return z.real, z.imag
    elif out.lower() == "rho":
        rhoa = np.abs(z) ** 2 / (2.0 * np.pi * frequency * MU0_KM)
        return rhoa, np.degrees(np.arctan2(z.imag, z.real))
    else:
        raise ValueError("out must be imp or rho")


case(
    magnetotelluric_1d,
    lambda n, m: dict(
        frequency=m.positive(n),
        resistivity=3.0 * m.positive(4),
        thickness=m.positive(4),
    ),
    idiom="complex recursion from the basement up; a string option with lower()",
    seen="volkerrath/Py4MTX py4mt/snippets/mt1dfwd.py",
)
