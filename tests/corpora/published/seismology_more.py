# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Sources, waves on grids, stacks, catalogues, gravity, location."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("seismology")


def _fault_vectors(strike, dip, rake):
    cs, ss = math.cos(strike), math.sin(strike)
    cd, sd = math.cos(dip), math.sin(dip)
    cr, sr = math.cos(rake), math.sin(rake)
    normal = np.array([-sd * ss, sd * cs, -cd])
    slip = np.array([cr * cs + cd * sr * ss, cr * ss - cd * sr * cs, -sd * sr])
    return normal, slip


def double_couple_tensor(strike, dip, rake, magnitude):
    nsrc = strike.shape[0]
    tensors = np.zeros((nsrc, 3, 3))
    for k in range(nsrc):
        moment = 10.0 ** (1.5 * magnitude[k])
        normal, slip = _fault_vectors(
            np.radians(strike[k]), np.radians(dip[k]), np.radians(rake[k])
        )
        for i in range(3):
            for j in range(i, 3):
                tensors[k, i, j] = moment * (slip[i] * normal[j] + slip[j] * normal[i])
                tensors[k, j, i] = tensors[k, i, j]
    return tensors


case(
    double_couple_tensor,
    lambda n, m: dict(
        strike=120.0 * m.positive(n),
        dip=50.0 * m.positive(n),
        rake=90.0 * m(n),
        magnitude=0.2 * m.positive(n),
    ),
    idiom="small arrays from a helper as literals; degrees in; a symmetric fill of 3-D",
    seen="valentineap/pyprop8 pyprop8.py; moment tensor examples of pyrocko/pyrocko",
)


def body_wave_radiation(moment, azimuth, takeoff, degrees=True):
    mxx, myy, mzz, mxy, mxz, myz = moment
    full = np.array([[mxx, mxy, mxz], [mxy, myy, myz], [mxz, myz, mzz]])
    if degrees:
        azimuth = np.deg2rad(azimuth)
        takeoff = np.deg2rad(takeoff)
    amp_p = np.empty(azimuth.size)
    amp_sv = np.empty(azimuth.size)
    amp_sh = np.empty(azimuth.size)
    for k in range(azimuth.size):
        sa, ca = np.sin(azimuth[k]), np.cos(azimuth[k])
        si, ci = np.sin(takeoff[k]), np.cos(takeoff[k])
        g = np.array([si * ca, si * sa, ci])
        v = np.array([ci * ca, ci * sa, -si])
        h = np.array([-sa, ca, 0.0])
        traction = full @ g
        amp_p[k] = np.dot(g, traction)
        amp_sv[k] = np.dot(v, traction)
        amp_sh[k] = np.dot(h, traction)
    return amp_p, amp_sv, amp_sh


case(
    body_wave_radiation,
    lambda n, m: dict(
        moment=m(6), azimuth=180.0 * m.positive(n), takeoff=60.0 * m.positive(n)
    ),
    idiom="an array unpacked into six names; arguments rebound; @ and np.dot",
    seen="valentineap/pyprop8 pyprop8.py; lmizrahi/etas inversion.py (theta)",
)


def acoustic_shot_gather(velocity, wavelet, dt, dh, isz, isx, rec_z, width=2):
    nz, nx = velocity.shape
    nt = wavelet.shape[0]
    c0, c1, c2 = -5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0
    past = np.zeros((nz, nx))
    pres = np.zeros((nz, nx))
    futu = np.zeros((nz, nx))
    damp = np.ones((nz, nx))
    for i in range(nz):
        for j in range(nx):
            edge = min(i, j, nz - 1 - i, nx - 1 - j)
            if edge < width:
                damp[i, j] = np.exp(-((0.15 * (width - edge)) ** 2))
    gather = np.zeros((nt, nx))
    for n in range(nt):
        pres[isz, isx] += wavelet[n] * (dt / dh) ** 2
        for i in range(2, nz - 2):
            for j in range(2, nx - 2):
                lap = 2.0 * c0 * pres[i, j]
                for r, c in ((1, c1), (2, c2)):
                    lap += c * (pres[i + r, j] + pres[i - r, j])
                    lap += c * (pres[i, j + r] + pres[i, j - r])
                courant = (velocity[i, j] * dt / dh) ** 2
                futu[i, j] = courant * lap + 2.0 * pres[i, j] - past[i, j]
        past = pres * damp
        pres = futu * damp
        gather[n, :] = pres[rec_z, :]
    return gather


case(
    acoustic_shot_gather,
    lambda n, m: dict(
        velocity=m.positive(7, 8), wavelet=m(n), dt=0.3, dh=1.2, isz=3, isx=4, rec_z=2
    ),
    idiom="fields rebound each step to damped products; a row stored per step",
    seen="GISIS-UFF/SeismicModeling2D src/utils.py",
)


def _edge_profile(i, n, width, speed, dt):
    a, b = 1.0, 0.0
    inside = max(width - i - 1, i - n + width, 0)
    if inside == 0 and width <= i < n - width:
        return a, b
    x = inside / width
    loss = 0.8 * speed * x * x
    shift = 1.9 * (1.0 - x * x)
    a = np.exp(-dt * (loss + shift))
    if loss + shift > 1e-6:
        b = (a - 1.0) * loss / (loss + shift)
    return a, b


def sh_staggered_steps(vel, stress, mu, rho, psi_v, psi_s, source, dt, dz, width=3):
    n = vel.shape[0]
    for k in range(len(source)):
        if n > 2:
            vel[n // 2] += dt * source[k]
        for i in range(1, n):
            a, b = _edge_profile(i, n, width, np.sqrt(mu[i] / rho[i]), dt)
            ds = (stress[i] - stress[i - 1]) / dz
            psi_s[i] = a * psi_s[i] + b * ds
            vel[i] += dt / rho[i] * (ds + psi_s[i])
        for i in range(n - 1):
            a, b = _edge_profile(i, n, width, np.sqrt(mu[i] / rho[i]), dt)
            dv = (vel[i + 1] - vel[i]) / dz
            psi_v[i] = a * psi_v[i] + b * dv
            stress[i] += dt * mu[i] * (dv + psi_v[i])


case(
    sh_staggered_steps,
    lambda n, m: dict(
        vel=m(n),
        stress=m(n),
        mu=m.positive(n),
        rho=m.positive(n),
        psi_v=m(n),
        psi_s=m(n),
        source=m(5),
        dt=0.2,
        dz=0.9,
    ),
    out="vel stress psi_v psi_s",
    idiom="nothing returned, six fields in place; a helper of two coefficients",
    seen="GISIS-UFF/SeismicModeling2D src/utils.py CPML profiles",
)


def diffraction_stack(data, travel, t0, rate, semblance=False):
    nsta, nt = data.shape
    npix = travel.shape[0]
    image = np.zeros(npix)
    for p in range(npix):
        total = 0.0
        power = 0.0
        used = 0
        for s in range(nsta):
            where = (travel[p, s] + t0) * rate
            it = int(np.floor(where))
            if it < 0 or it + 1 >= nt:
                continue
            frac = where - it
            amp = (1.0 - frac) * data[s, it] + frac * data[s, it + 1]
            total += amp
            power += amp * amp
            used += 1
        if used == 0:
            continue
        if semblance:
            image[p] = total**2 / (used * power)
        else:
            image[p] = total / used
    return image


case(
    diffraction_stack,
    lambda n, m: dict(
        data=m.away(3, n),
        travel=(m.indices(n + 1, n, 3) + 0.5 + 0.3 * m(n, 3)) / 8 - 0.1,
        t0=0.1,
        rate=8,
        semblance=True,
    ),
    idiom="int(np.floor()) and a fraction; samples out of the record skipped; a flag",
    seen="diffraction stacking of fracspy; uafgeotools/rtm",
)


def phase_weighted_stack(analytic, power=2.0, eps=1e-12):
    ntr, npts = analytic.shape
    linear = np.zeros(npts)
    phasor = np.zeros(npts, dtype=np.complex128)
    for k in range(ntr):
        for i in range(npts):
            size = abs(analytic[k, i])
            if size < eps:
                continue
            phasor[i] += analytic[k, i] / size
            linear[i] += analytic[k, i].real
    if ntr == 0:
        return linear, np.abs(phasor)
    phasor /= ntr
    linear /= ntr
    weight = np.abs(phasor) ** power
    return linear * weight, weight


case(
    phase_weighted_stack,
    lambda n, m: dict(analytic=m.away(4, n) + 1j * m.away(4, n)),
    idiom="complex traces as the argument; .real and abs of complex elements",
    seen="noisepy/NoisePy src/noisepy/seis/noise_module.py pws",
)


class EtasParameters(NamedTuple):
    mu: float
    k: float
    alpha: float
    c: float
    p: float
    mref: float = 2.5


def etas_minus_loglik(times, mags, par, t_end):
    n = len(times)
    for i in range(1, n):
        if times[i] < times[i - 1]:
            raise ValueError("the catalogue must be sorted")
    loglik = 0.0
    expected = par.mu * t_end
    for i in range(n):
        rate = par.mu
        for j in range(i):
            productivity = par.k * np.exp(par.alpha * (mags[j] - par.mref))
            rate += productivity / (times[i] - times[j] + par.c) ** par.p
        loglik += np.log(rate)
        productivity = par.k * np.exp(par.alpha * (mags[i] - par.mref))
        q = 1.0 - par.p
        expected += productivity * ((t_end - times[i] + par.c) ** q - par.c**q) / q
    return expected - loglik


case(
    etas_minus_loglik,
    lambda n, m: dict(
        times=np.cumsum(m.positive(n)),
        mags=2.5 + m.positive(n),
        par=EtasParameters(0.31, 0.12, 1.1, 0.05, 1.21),
        t_end=1.5 * n + 1.0,
    ),
    idiom="a named tuple of parameters with a default; a triangular double loop",
    seen="mjziebarth/ETASCatGen; lmizrahi/etas inversion.py",
)


def thinned_aftershocks(rng, k, c, p, t_end, b_value=1.0, max_events=40):
    times = []
    mags = []
    t = 0.0
    while len(times) < max_events:
        bound = k / (t + c) ** p
        t += rng.exponential(1.0 / bound)
        if t > t_end:
            break
        accept = k / (t + c) ** p
        if rng.random() * bound <= accept:
            times.append(t)
            mags.append(-np.log10(rng.random()) / b_value)
    return np.array(times), np.array(mags)


case(
    thinned_aftershocks,
    lambda n, m: dict(
        rng=np.random.default_rng(3), k=2.0 + n, c=0.05, p=1.1, t_end=3.0 + n
    ),
    idiom="draws from a generator in a while loop; two lists appended to",
    seen="ETAS and ETASI simulators; DeltaRCM/pyDeltaRCM shared_tools.py random draws",
)


def spring_slider(v0, theta0, load, stiffness, a, b, dc, dt, nstep, law="aging"):
    vref = 1.0
    radiation = 0.7

    def rates(v, theta):
        if law == "aging":
            dtheta = 1.0 - v * theta / dc
        elif law == "slip":
            x = v * theta / dc
            dtheta = -x * np.log(x)
        else:
            raise ValueError("unknown state evolution law")
        dv = stiffness * (load - v) - b * dtheta / theta
        return dv / (a / v + radiation), dtheta

    out = np.zeros((nstep + 1, 3))
    v, theta = v0, theta0
    out[0] = v, theta, 0.6 + a * np.log(v / vref) + b * np.log(theta * vref / dc)
    for n in range(nstep):
        k1v, k1t = rates(v, theta)
        k2v, k2t = rates(v + 0.5 * dt * k1v, theta + 0.5 * dt * k1t)
        k3v, k3t = rates(v + 0.5 * dt * k2v, theta + 0.5 * dt * k2t)
        k4v, k4t = rates(v + dt * k3v, theta + dt * k3t)
        v = v + dt / 6.0 * (k1v + 2 * k2v + 2 * k3v + k4v)
        theta = theta + dt / 6.0 * (k1t + 2 * k2t + 2 * k3t + k4t)
        out[n + 1, 0] = v
        out[n + 1, 1] = theta
        out[n + 1, 2] = 0.6 + a * np.log(v / vref) + b * np.log(theta * vref / dc)
    return out


case(
    spring_slider,
    lambda n, m: dict(
        v0=0.8,
        theta0=0.9,
        load=m.scalar(),
        stiffness=0.7,
        a=0.3,
        b=0.25,
        dc=0.8,
        dt=0.05,
        nstep=n,
    ),
    idiom="a closure over the parameters; a string option; a tuple set as a row",
    seen="jrleeman/rsfmodel rsfmodel/rsf.py; spring sliders under numba",
)


def _log_term(factor, argument):
    if abs(factor) < 1e-10:
        return 0.0
    return factor * np.log(argument)


def _angle(y, x):
    if x == 0:
        if y == 0:
            return 0.0
        return np.pi / 2 if y > 0 else -np.pi / 2
    return np.arctan(y / x)


def _corner_attraction(x, y, z):
    r = np.sqrt(x * x + y * y + z * z)
    value = _log_term(x, y + r) + _log_term(y, x + r)
    return value - z * _angle(x * y, z * r)


def prism_gravity_up(points, prisms, density, out):
    for i in range(points.shape[0]):
        px, py, pz = points[i]
        for m in range(prisms.shape[0]):
            if density[m] == 0:
                continue
            west, east, south, north, bottom, top = prisms[m]
            total = 0.0
            for a, x in enumerate((west - px, east - px)):
                for b, y in enumerate((south - py, north - py)):
                    for c, z in enumerate((bottom - pz, top - pz)):
                        value = _corner_attraction(x, y, z)
                        total += value if (a + b + c) % 2 == 1 else -value
            out[i] += density[m] * total


case(
    prism_gravity_up,
    lambda n, m: dict(
        points=m(n, 3) + np.array([0.0, 0.0, 2.0], m.dtype),
        prisms=m.positive(2, 6) + np.array([-2.6, 0.6, -2.7, 0.5, -4, -1.6], m.dtype),
        density=m.away(2),
        out=m(n),
    ),
    out="out",
    real=7,
    idiom="guards with early returns; enumerate of tuples; the output as an argument",
    seen="fatiando/choclo src/choclo/point; fatiando/harmonica src/harmonica/_forward",
)


def geiger_location(
    stations, arrivals, is_s, start, vp, ratio=1.73, weights=None, tol=1e-11, nmax=5
):
    nsta = stations.shape[0]
    if arrivals.shape[0] != nsta or is_s.shape[0] != nsta:
        raise ValueError("one arrival and one phase per station are needed")
    if weights is None:
        weights = np.ones(nsta)
    model = start.copy()
    residuals = np.zeros(nsta)
    errors = np.zeros(4)
    normal = np.zeros((4, 4))
    converged = False
    for iteration in range(nmax):
        normal[:] = 0.0
        rhs = np.zeros(4)
        total = 0.0
        used = 0
        for s in range(nsta):
            speed = vp / ratio if is_s[s] else vp
            offset = model[:3] - stations[s]
            dist = np.sqrt(np.sum(offset**2))
            if dist < 1e-8:
                continue
            residuals[s] = arrivals[s] - (model[3] + dist / speed)
            w = weights[s]
            if abs(residuals[s]) > 2.0:
                w *= 2.0 / abs(residuals[s])
            if dist > 4.0:
                w *= (4.0 / dist) ** 2
            row = np.ones(4)
            for i in range(3):
                row[i] = offset[i] / (speed * dist)
            for i in range(4):
                rhs[i] += w * row[i] * residuals[s]
                for j in range(4):
                    normal[i, j] += w * row[i] * row[j]
            total += w * residuals[s] ** 2
            used += 1
        damping = 0.3 if iteration < 2 else 0.05
        for i in range(4):
            normal[i, i] += damping
        step = np.linalg.solve(normal, rhs)
        if model[2] + step[2] < 0.0:
            step[2] = -0.5 * model[2]
        model += step
        if np.sqrt(np.sum(step**2)) < tol:
            converged = True
            break
    if used > 4:
        variance = total / (used - 4)
        inverse = np.linalg.inv(normal)
        for i in range(4):
            errors[i] = np.sqrt(variance * inverse[i, i])
    return model, residuals, errors, converged


case(
    geiger_location,
    lambda n, m: dict(
        stations=np.column_stack([2.0 * m(n, 2), 0.1 * m(n, 1)]),
        arrivals=m.positive(n) + 1.0,
        is_s=np.arange(n) % 3 == 0,
        start=np.array([0.1, -0.2, 2.0, 0.3], m.dtype),
        vp=3.1,
    ),
    real=8,
    idiom="None default rebound to ones; np.linalg.solve in a loop; names of the loop",
    seen="Geiger inversions for teaching, found by search (update_model)",
)


def subsample_lag(first, second, max_lag):
    npts = len(first)
    ncc = 2 * max_lag + 1
    cc = np.zeros(ncc)
    norm = np.sqrt(np.sum(first**2) * np.sum(second**2))
    if norm == 0 or npts == 0:
        return cc, 0.0, 0.0
    for k in range(ncc):
        lag = k - max_lag
        for i in range(npts):
            if 0 <= i + lag < npts:
                cc[k] += first[i] * second[i + lag]
        cc[k] /= norm
    best = 0
    for k in range(1, ncc):
        if cc[k] > cc[best]:
            best = k
    if best == 0 or best == ncc - 1:
        return cc, float(best - max_lag), cc[best]
    left, mid, right = cc[best - 1], cc[best], cc[best + 1]
    shift = 0.5 * (left - right) / (left - 2.0 * mid + right)
    return cc, best - max_lag + shift, mid - 0.25 * (left - right) * shift


case(
    subsample_lag,
    lambda n, m: dict(first=m.away(n), second=m.away(n), max_lag=4),
    idiom="an index of the maximum by a loop, then a parabola; equal arities",
    seen="delay estimates by three points, found by search; pastas stats/core.py",
)


def polarization_windows(east, north, vertical, nwin, step=2):
    npts = east.shape[0]
    starts = np.arange(0, npts - nwin + 1, step)
    linearity = np.zeros(starts.size)
    planarity = np.zeros(starts.size)
    incidence = np.zeros(starts.size)
    for k, i0 in enumerate(starts):
        window = np.vstack(
            (east[i0 : i0 + nwin], north[i0 : i0 + nwin], vertical[i0 : i0 + nwin])
        )
        cov = np.zeros((3, 3))
        for i in range(3):
            mean_i = window[i].mean()
            for j in range(3):
                mean_j = window[j].mean()
                cov[i, j] = np.sum((window[i] - mean_i) * (window[j] - mean_j)) / nwin
        values, vectors = np.linalg.eigh(cov)
        linearity[k] = 1.0 - (values[0] + values[1]) / (2.0 * values[2])
        planarity[k] = 1.0 - 2.0 * values[0] / (values[1] + values[2])
        incidence[k] = np.degrees(np.arccos(abs(vectors[2, 2])))
    return linearity, planarity, incidence


case(
    polarization_windows,
    lambda n, m: dict(east=m(n), north=2.0 * m(n), vertical=3.0 * m(n), nwin=7),
    idiom="windows stacked with vstack; covariance by loops; np.linalg.eigh",
    seen="TwistPy polarization examples; SigProSeismology/SP-TFF",
)
