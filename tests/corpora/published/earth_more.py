# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B905
"""Soil columns, snow layers, surface layer, coasts, ecosystems, ice, fire."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("earth")

DAY_LENGTH = np.array(
    [
        [11.5, 10.5, 9.2, 7.9, 6.8, 6.2, 6.5, 7.4, 8.7, 10.0, 11.2, 11.8],
        [6.5, 7.5, 9.0, 12.8, 13.9, 13.9, 12.4, 10.9, 9.4, 8.0, 7.0, 6.0],
    ]
)


def _thomas(lower, diag, upper, rhs, overwrite=False):
    n = rhs.shape[0]
    x = rhs if overwrite else rhs.copy()
    ratio = np.empty(n)
    pivot = diag[0]
    x[0] = x[0] / pivot
    for k in range(1, n):
        ratio[k] = upper[k - 1] / pivot
        pivot = diag[k] - lower[k] * ratio[k]
        x[k] = (x[k] - lower[k] * x[k - 1]) / pivot
    for k in range(n - 1, 0, -1):
        x[k - 1] -= ratio[k] * x[k]
    return x


def soil_heat_implicit(temp, surface, conductivity, capacity, dz, dt, nstep):
    n = temp.shape[0]
    lower = np.zeros(n)
    diag = np.zeros(n)
    upper = np.zeros(n)
    series = np.zeros((nstep, n))
    temp = temp.copy()
    for step in range(nstep):
        rhs = capacity * dz / dt * temp
        for k in range(n):
            if k > 0:
                g = 2.0 / (dz[k - 1] / conductivity[k - 1] + dz[k] / conductivity[k])
                lower[k] = -g
            else:
                g = 2.0 * conductivity[0] / dz[0]
                rhs[0] += g * surface[step]
            diag[k] = capacity[k] * dz[k] / dt + g
            if k < n - 1:
                g = 2.0 / (dz[k + 1] / conductivity[k + 1] + dz[k] / conductivity[k])
                upper[k] = -g
                diag[k] += g
        temp = _thomas(lower, diag, upper, rhs, overwrite=True)
        series[step] = temp
    return series


case(
    soil_heat_implicit,
    lambda n, m: dict(
        temp=m(n),
        surface=m(4),
        conductivity=m.positive(n),
        capacity=m.positive(n),
        dz=m.positive(n),
        dt=0.7,
        nstep=4,
    ),
    least=1,
    idiom="a tridiagonal helper with an overwrite flag: its result may be its input",
    seen="openamundsen/openamundsen openamundsen/tridiag.py",
)


def _van_genuchten(psi, alpha, nvg, theta_r, theta_s, ksat):
    m = 1.0 - 1.0 / nvg
    if psi >= 0.0:
        return theta_s, ksat, 1e-6
    se = (1.0 + (alpha * abs(psi)) ** nvg) ** (-m)
    theta = theta_r + (theta_s - theta_r) * se
    k = ksat * math.sqrt(se) * (1.0 - (1.0 - se ** (1.0 / m)) ** m) ** 2
    c = alpha * m * nvg * (theta_s - theta_r) * (alpha * abs(psi)) ** (nvg - 1)
    c = c * (1.0 + (alpha * abs(psi)) ** nvg) ** (-m - 1.0)
    return theta, k, c


def richards_picard(psi, flux_top, dz, dt, alpha, nvg, ksat, nstep=2, maxiter=25):
    n = psi.shape[0]
    theta0 = np.zeros(n)
    theta = np.zeros(n)
    k = np.zeros(n)
    c = np.zeros(n)
    iterations = np.zeros(nstep, dtype=np.int64)
    for step in range(nstep):
        for i in range(n):
            theta0[i], _, _ = _van_genuchten(psi[i], alpha, nvg, 0.05, 0.43, ksat)
        cur = psi.copy()
        converged = False
        while not converged and iterations[step] < maxiter:
            for i in range(n):
                theta[i], k[i], c[i] = _van_genuchten(
                    cur[i], alpha, nvg, 0.05, 0.43, ksat
                )
            a = np.zeros(n)
            b = np.zeros(n)
            up = np.zeros(n)
            r = np.zeros(n)
            for i in range(n):
                b[i] = c[i] / dt
                r[i] = -(theta[i] - theta0[i]) / dt
                if i == 0:
                    r[i] += flux_top / dz
                else:
                    km = 0.5 * (k[i] + k[i - 1])
                    a[i] = -km / dz**2
                    b[i] += km / dz**2
                    r[i] += km / dz * ((cur[i - 1] - cur[i]) / dz + 1.0)
                if i < n - 1:
                    km = 0.5 * (k[i] + k[i + 1])
                    up[i] = -km / dz**2
                    b[i] += km / dz**2
                    r[i] -= km / dz * ((cur[i] - cur[i + 1]) / dz + 1.0)
                else:
                    r[i] -= k[i] / dz
            delta = _thomas(a, b, up, r)
            cur += delta
            iterations[step] += 1
            converged = np.max(np.abs(delta)) < 1e-11
        psi = cur
    return psi, theta


case(
    richards_picard,
    lambda n, m: dict(
        psi=-1.0 - m.positive(n),
        flux_top=0.02,
        dz=0.4,
        dt=0.3,
        alpha=0.8,
        nvg=1.7,
        ksat=0.3,
    ),
    least=1,
    real=7,
    idiom="a while loop on a flag; element-wise assignment of three returns; rebinding",
    seen="SouvikCSSL-UWM/fdm_richards_1D and other 1-D Richards codes, by search",
)


def compact_snow_layers(cells, count, depth, ice, water, rho, air, hours):
    for cell in cells:
        r, c = cell
        above = 0.0
        for k in range(count[r, c]):
            if depth[k, r, c] <= 0:
                continue
            mass = ice[k, r, c] + water[k, r, c]
            weight = above + 0.5 * mass
            above += mass
            rho[k, r, c] = mass / depth[k, r, c]
            stiff = np.exp(0.8 * (1.0 - air[r, c]) + 0.2 * rho[k, r, c])
            rate = 0.1 * weight / stiff
            settle = 0.02 if water[k, r, c] > 0 else 0.01
            settle *= np.exp(-0.4 * (1.0 - air[r, c]))
            if rho[k, r, c] > 1.5:
                settle *= np.exp(-0.46 * (rho[k, r, c] - 1.5))
            rate += settle
            if np.isnan(rate):
                rate = 0.0
            rho[k, r, c] *= 1.0 + rate * hours
            depth[k, r, c] = mass / rho[k, r, c]


case(
    compact_snow_layers,
    lambda n, m: dict(
        cells=np.array([(i, i % 2) for i in range(n)], dtype=np.int64).reshape(n, 2),
        count=m.indices(4, n, 2).reshape(n, 2),
        depth=m.positive(3, n, 2),
        ice=m.positive(3, n, 2),
        water=m.positive(3, n, 2),
        rho=m.positive(3, n, 2),
        air=0.5 * m(n, 2),
        hours=0.6,
    ),
    out="depth rho",
    seed=3,
    idiom="integer rows that unpack into r, c; 3-D arrays [layer, row, column]",
    seen="openamundsen/openamundsen modules/snow/snow.py",
)


def _stability(z, length):
    if length > 0:
        return -5.0 * z / length, -5.0 * z / length
    if length < 0:
        x = (1.0 - 16.0 * z / length) ** 0.25
        psi_m = 2.0 * math.log((1.0 + x) / 2.0) + math.log((1.0 + x * x) / 2.0)
        return psi_m - 2.0 * math.atan(x) + math.pi / 2.0, 2.0 * math.log(
            (1.0 + x * x) / 2.0
        )
    return 0.0, 0.0


def bulk_turbulent_fluxes(wind, air_temp, surface_temp, z, z0, scheme="MO"):
    n = wind.shape[0]
    sensible = np.zeros(n)
    ustar = np.zeros(n)
    for i in range(n):
        diff = air_temp[i] - surface_temp[i]
        if scheme == "MO":
            length = 0.0
            previous = np.inf
            going = True
            count = 0
            while going:
                psi_m, psi_h = _stability(z, length)
                psi_m0, psi_h0 = _stability(z0, length)
                ustar[i] = 0.41 * wind[i] / (np.log(z / z0) - psi_m + psi_m0)
                cs = 0.41 / (np.log(z / (0.1 * z0)) - psi_h + psi_h0)
                flux = cs * ustar[i] * diff
                length = ustar[i] ** 3 * 290.0 / (0.41 * 9.81 * flux)
                change = np.abs(previous - flux)
                if change < 1e-10 or count > 40:
                    going = False
                count = count + 1
                previous = flux
            sensible[i] = flux
        elif scheme == "Ri":
            cs = 0.41**2 / np.log(z / z0) ** 2
            ri = 9.81 * diff * z / (290.0 * wind[i] ** 2)
            if ri > 0.01:
                cs *= max(1.0 - 5.0 * ri, 0.0) ** 2
            sensible[i] = cs * wind[i] * diff
        else:
            raise ValueError("unknown stability scheme")
    return sensible, ustar


case(
    bulk_turbulent_fluxes,
    lambda n, m: dict(
        wind=4.0 + m.positive(n),
        air_temp=m.away(n),
        surface_temp=0.1 * m(n),
        z=21.0,
        z0=0.51,
    ),
    idiom="a while loop on a flag; np.inf at the start; a string for the scheme",
    seen="cryotools/cosipy cosipy/modules/surfaceTemperature.py eb_fluxes",
)


def shoreline_equilibrium(energy, dt, slope, rest, seaward, landward, start):
    n = energy.shape[0]
    goal = (energy - rest) / slope
    line = np.full(n, start, dtype=energy.dtype)
    drive = slope * np.sqrt(energy)
    for i in range(1, n):
        gap = line[i - 1] - goal[i]
        growing = 1.0 if gap < 0.0 else 0.0
        speed = growing * seaward + (1.0 - growing) * landward
        line[i] = goal[i] + gap * math.exp(-speed * drive[i] * dt[i - 1])
    return line, goal


case(
    shoreline_equilibrium,
    lambda n, m: dict(
        energy=m.positive(n),
        dt=m.positive(max(n - 1, 0)),
        slope=0.6,
        rest=1.03,
        seaward=0.9,
        landward=0.5,
        start=0.24,
    ),
    seed=1,
    idiom="a condition turned into 1.0 or 0.0; arrays made before the loop",
    seen="IHCantabria/IHSetYates09 IHSetYates09/yates09.py",
)


def _collect(cell, first_child, sibling, runoff, loss, total):
    acc = runoff[cell]
    child = first_child[cell]
    while child != -1:
        acc += (1.0 - loss) * _collect(child, first_child, sibling, runoff, loss, total)
        child = sibling[child]
    total[cell] = acc
    return acc


def upstream_runoff(downstream, runoff, loss, nodata=-9999.0):
    n = runoff.size
    first_child = np.full(n, -1, dtype=np.int64)
    sibling = np.full(n, -1, dtype=np.int64)
    pits = []
    for cell in range(n):
        down = downstream[cell]
        if down == cell:
            pits.append(cell)
        elif runoff[cell] != nodata:
            sibling[cell] = first_child[down]
            first_child[down] = cell
    total = np.zeros(n)
    for pit in pits:
        _collect(pit, first_child, sibling, runoff, loss, total)
    return total


case(
    upstream_runoff,
    lambda n, m: dict(
        downstream=np.arange(n) // 3, runoff=m.positive(n), loss=0.1, nodata=-9999.0
    ),
    idiom="recursion over a tree of children; a list of outlets; a nodata number",
    seen="mdbartos/pysheds pysheds/_sgrid.py; Deltares/pyflwdir arithmetics.py",
)


@dataclass
class Plankton:
    vmax: float = 1.3
    kn: float = 0.4
    grazing: float = 0.9
    kp: float = 0.6
    loss: float = 0.1
    yield_: float = 0.7
    remin: float = 0.2


def _npzd_rates(state, light, par):
    n, p, z, d = state[0], state[1], state[2], state[3]
    uptake = par.vmax * light * n / (par.kn + n) * p
    graze = par.grazing * p**2 / (par.kp**2 + p**2) * z
    rates = np.empty(4)
    rates[0] = -uptake + par.remin * d + 0.5 * par.loss * z
    rates[1] = uptake - graze - par.loss * p
    rates[2] = par.yield_ * graze - par.loss * z
    rates[3] = (1.0 - par.yield_) * graze + par.loss * p + 0.5 * par.loss * z
    rates[3] -= par.remin * d
    return rates


def npzd_season(state, light, dt, par):
    nsteps = len(light)
    trajectory = np.zeros((nsteps + 1, 4))
    trajectory[0, :] = state
    for t in range(nsteps):
        y = trajectory[t]
        k1 = _npzd_rates(y, light[t], par)
        k2 = _npzd_rates(y + 0.5 * dt * k1, light[t], par)
        k3 = _npzd_rates(y + 0.5 * dt * k2, light[t], par)
        k4 = _npzd_rates(y + dt * k3, light[t], par)
        trajectory[t + 1] = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return trajectory


case(
    npzd_season,
    lambda n, m: dict(state=m.positive(4), light=m.positive(n), dt=0.2, par=Plankton()),
    idiom="a dataclass of parameters; Runge-Kutta on rows; a helper's array",
    seen="Diego-Ibarra/aquaculture-modelling-fall2020 NPZmodel_6.py",
)


def _season_length(lat, month):
    if -90 <= lat < -30:
        row = DAY_LENGTH[0, :]
    elif -30 <= lat < 30:
        return 9.0
    elif 30 <= lat <= 90:
        row = DAY_LENGTH[1, :]
    else:
        raise ValueError("Invalid lat specified.")
    return row[month - 1]


def fire_weather_season(temp, rain, humidity, wind, months, lat, start):
    n = temp.shape[0]
    codes = np.zeros((n, 4))
    fine, duff, drought = start
    for t in range(n):
        length = _season_length(lat, months[t])
        # fine fuel
        mo = 147.2 * (101.0 - fine) / (59.5 + fine)
        if rain[t] > 0.5:
            rf = rain[t] - 0.5
            wet = 42.5 * rf * math.exp(-100.0 / (251.0 - mo))
            wet *= 1.0 - math.exp(-6.93 / rf)
            if mo > 150.0:
                wet += 0.0015 * (mo - 150.0) ** 2 * math.sqrt(rf)
            mo = min(mo + wet, 250.0)
        warm = 0.18 * (21.1 - temp[t]) * (1.0 - math.exp(-0.115 * humidity[t]))
        ed = (
            0.942 * humidity[t] ** 0.679
            + 11 * math.exp((humidity[t] - 100) / 10)
            + warm
        )
        if mo > ed:
            kl = 0.424 * (1 - (humidity[t] / 100.0) ** 1.7)
            kl += 0.0694 * math.sqrt(wind[t]) * (1 - (humidity[t] / 100.0) ** 8)
            m = ed + (mo - ed) / 10 ** (kl * 0.581 * math.exp(0.0365 * temp[t]))
        else:
            ew = 0.618 * humidity[t] ** 0.753
            ew += 10 * math.exp((humidity[t] - 100) / 10) + warm
            if mo < ew:
                dry = 1.0 - humidity[t] / 100.0
                kw = 0.424 * (1 - dry**1.7) + 0.0694 * math.sqrt(wind[t]) * (1 - dry**8)
                m = ew - (ew - mo) / 10 ** (kw * 0.581 * math.exp(0.0365 * temp[t]))
            else:
                m = mo
        fine = 59.5 * (250.0 - m) / (147.2 + m)
        fine = min(max(fine, 0.0), 101.0)
        # duff
        if rain[t] > 1.5:
            effective = 0.92 * rain[t] - 1.27
            if duff <= 33:
                b = 100.0 / (0.5 + 0.3 * duff)
            elif duff <= 65:
                b = 14.0 - 1.3 * math.log(duff)
            else:
                b = 6.2 * math.log(duff) - 17.2
            wet = 20.0 + 280.0 / math.exp(0.023 * duff)
            wet += 1000.0 * effective / (48.77 + b * effective)
            duff = max(43.43 * (5.6348 - math.log(wet - 20.0)), 0.0)
        duff += 1.894e-4 * (temp[t] + 1.1) * (100.0 - humidity[t]) * length
        # drought
        if rain[t] > 2.8:
            store = 800.0 * math.exp(-drought / 400.0)
            store += 3.937 * (0.83 * rain[t] - 1.27)
            drought = max(400.0 * math.log(800.0 / store), 0.0)
        drought += max(0.36 * (temp[t] + 2.8) + length - 9.0, 0.0) / 2
        # spread and build-up
        m = 147.2 * (101.0 - fine) / (59.5 + fine)
        spread = 19.1 * math.exp(-0.1386 * m) * (1.0 + m**5.31 / 4.93e7)
        spread *= math.exp(0.05039 * wind[t])
        buildup = 0.8 * duff * drought / (duff + 0.4 * drought)
        codes[t, 0] = fine
        codes[t, 1] = duff
        codes[t, 2] = drought
        codes[t, 3] = spread * (0.626 * buildup**0.809 + 2.0)
    return codes


case(
    fire_weather_season,
    lambda n, m: dict(
        temp=17.0 + m(n),
        rain=2.2 + 1.1 * m.distinct(n),
        humidity=45.0 + m(n),
        wind=9.0 + m(n),
        months=1 + np.arange(n) % 12,
        lat=46,
        start=np.array([85.0, 6.3, 15.1], m.dtype),
    ),
    seed=2,
    idiom="a module's table in a helper that returns early or raises; a long loop body",
    seen="Ouranosinc/xclim src/xclim/indices/fire/_cffwis.py",
)


def metapopulation_years(abundance, capacity, coords, growth, emigration, scale, years):
    npatch = abundance.shape[0]
    kernel = np.zeros((npatch, npatch))
    for i in range(npatch):
        row_sum = 0.0
        for j in range(npatch):
            if i == j:
                continue
            dx = coords[i, 0] - coords[j, 0]
            dy = coords[i, 1] - coords[j, 1]
            kernel[i, j] = np.exp(-np.sqrt(dx**2 + dy**2) / scale)
            row_sum += kernel[i, j]
        if row_sum > 0:
            kernel[i] /= row_sum
    history = np.zeros((years + 1, npatch))
    history[0] = abundance
    for y in range(1, years + 1):
        local = np.zeros(npatch)
        for i in range(npatch):
            now = history[y - 1, i]
            local[i] = growth * now / (1.0 + (growth - 1.0) * now / capacity[i])
        leaving = emigration * local
        arriving = np.zeros(npatch)
        for i in range(npatch):
            arriving += leaving[i] * kernel[i]
        history[y] = local - leaving + 0.9 * arriving
    return history


case(
    metapopulation_years,
    lambda n, m: dict(
        abundance=m.positive(n),
        capacity=2.0 * m.positive(n),
        coords=m(n, 2),
        growth=1.7,
        emigration=0.2,
        scale=0.6,
        years=4,
    ),
    real=11,
    idiom="a kernel normalised row by row in place; rows added as vectors; continue",
    seen="dispersal models of ecology found by search, e.g. samuelbx/pyspecies",
)


def soil_carbon_pools(pools, inputs, temp, moisture, rates, transfer, humified=0.46):
    npool = len(pools)
    state = [float(c) for c in pools]
    respired = np.zeros(inputs.size)
    totals = np.zeros(inputs.size)
    for t in range(inputs.size):
        modifier = 47.9 / (1.0 + np.exp(106.0 / (temp[t] + 18.3)))
        modifier *= 0.2 + 0.8 * moisture[t]
        new = [0.0] * npool
        for i, (stock, rate) in enumerate(zip(state, rates)):
            decayed = stock * (1.0 - np.exp(-rate * modifier / 12.0))
            new[i] += stock - decayed
            respired[t] += (1.0 - humified) * decayed
            for j in range(npool):
                new[j] += humified * transfer[i, j] * decayed
        new[0] += 0.59 * inputs[t]
        new[1] += 0.41 * inputs[t]
        state = new
        totals[t] = sum(state)
    return np.array(state), totals, respired


case(
    soil_carbon_pools,
    lambda n, m: dict(
        pools=m.positive(4),
        inputs=0.3 * m.positive(n),
        temp=12.0 + m(n),
        moisture=0.5 * m.positive(n),
        rates=np.array([10.0, 0.3, 0.66, 0.02], m.dtype),
        transfer=m.positive(4, 4) / 4.0,
    ),
    idiom="a list of stocks replaced each month; enumerate(zip()); sum of a list",
    seen="Rothamsted-Models/RothC_Py RothC_Py.py",
)


def glacier_flowline(bed, thickness, balance, width, dx, dt, flow=0.6, n=3):
    nx = thickness.shape[0]
    h = thickness.copy()
    passed = 0.0
    nsub = 0
    while passed < dt:
        surface = bed + h
        flux = np.zeros(nx + 1)
        largest = 1e-6
        for i in range(1, nx):
            slope = (surface[i] - surface[i - 1]) / dx
            hm = 0.5 * (h[i] + h[i - 1])
            diffusivity = flow * hm ** (n + 2) * abs(slope) ** (n - 1)
            flux[i] = -diffusivity * slope * 0.5 * (width[i] + width[i - 1])
            largest = max(largest, diffusivity)
        dt_use = min(0.5 * dt, dt - passed)
        for i in range(nx):
            div = (flux[i + 1] - flux[i]) / (dx * width[i])
            h[i] = max(h[i] + dt_use * (balance[i] - div), 0.0)
        passed += dt_use
        nsub += 1
        if nsub > 50:
            raise RuntimeError("too many substeps")
    volume = np.sum(h * width) * dx
    return h, volume


case(
    glacier_flowline,
    lambda n, m: dict(
        bed=2.0 - 0.1 * np.arange(n, dtype=m.dtype),
        thickness=m.positive(n),
        balance=0.2 * m(n),
        width=m.positive(n),
        dx=1.0,
        dt=0.04,
    ),
    idiom="substeps in a while loop up to a time; staggered fluxes; int exponent",
    seen="OGGM/oggm oggm/core/flowline.py; cosipy modules/heatEquation.py",
)


def resample_means(begin, finish, values, edges):
    means = np.full(max(len(edges) - 1, 0), np.nan)
    for i in range(len(edges) - 1):
        lo, hi = edges[i], edges[i + 1]
        if lo < begin[0] or hi > finish[-1]:
            continue
        good = (finish > lo) & (begin < hi) & ~np.isnan(values)
        if good.sum() == 0:
            continue
        span = np.minimum(finish[good], hi) - np.maximum(begin[good], lo)
        means[i] = (span * values[good]).sum() / span.sum()
    means[np.isnan(means)] = 0.0
    return means


case(
    resample_means,
    lambda n, m: dict(
        begin=np.arange(n + 1, dtype=m.dtype),
        finish=np.arange(1, n + 2, dtype=m.dtype),
        values=m(n + 1),
        edges=0.37 + np.arange(0, n, 2) + 0.2 * m(len(range(0, n, 2))),
    ),
    idiom="nan as missing; masks combined with & and ~; a final fill",
    seen="pastas/pastas pastas/timeseries_utils.py _ts_resample_slow",
)


def _pick(rng, prob):
    cumulative = np.cumsum(prob)
    return np.searchsorted(cumulative, rng.uniform(0.0, cumulative[-1]))


def walk_water_parcels(rng, stage, depth, start, nparcel, nstep, theta=1.0):
    nrow, ncol = stage.shape
    offsets = ((-1, 1), (0, 1), (1, 1), (-1, 0), (1, 0))
    discharge = np.zeros((nrow, ncol))
    paths = []
    for parcel in range(nparcel):
        i, j = start[parcel % len(start)]
        length = 0.0
        for _ in range(nstep):
            discharge[i, j] += 1.0 / nparcel
            weight = np.zeros(5)
            for k, (di, dj) in enumerate(offsets):
                r, c = i + di, j + dj
                if r < 0 or r >= nrow or c < 0 or c >= ncol:
                    continue
                dist = math.sqrt(di * di + dj * dj)
                drop = max(0.0, (stage[i, j] - stage[r, c]) / dist)
                weight[k] = depth[r, c] ** theta * (drop + 0.05)
            if np.sum(weight) == 0:
                break
            di, dj = offsets[_pick(rng, weight)]
            length += math.hypot(di, dj)
            i, j = i + di, j + dj
        paths.append(length)
    return discharge, np.array(paths)


case(
    walk_water_parcels,
    lambda n, m: dict(
        rng=np.random.default_rng(3),
        stage=m(n, n),
        depth=m.positive(n, n),
        start=[(0, 0), (n // 2, 0)],
        nparcel=4,
        nstep=n,
    ),
    least=1,
    real=8,
    idiom="random walks; a tuple of offsets, enumerated and unpacked; a list of tuples",
    seen="DeltaRCM/pyDeltaRCM pyDeltaRCM/water_tools.py and shared_tools.py",
)
