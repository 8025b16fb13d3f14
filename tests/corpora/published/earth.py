# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Catchments, rivers, canopies, soils and snow."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("earth")


def _lag_weights(lag):
    weights = np.zeros(int(np.ceil(lag)), np.float64)
    done = 0.0
    for j in range(weights.size):
        share = min((j + 1) / lag, 1.0) ** 2.5
        weights[j] = share - done
        done = share
    return weights


def four_parameter_catchment(rain, demand, start, params):
    capacity, exchange = params["capacity"], params["exchange"]
    reach, lag = params["reach"], params["lag"]
    n = len(rain)
    weights = _lag_weights(lag)
    pending = np.zeros(weights.size, np.float64)
    soil = np.zeros(n + 1, np.float64)
    river = np.zeros(n + 1, np.float64)
    flow = np.zeros(n, np.float64)
    soil[0], river[0] = start[0] * capacity, start[1] * reach
    for t in range(n):
        full = soil[t] / capacity
        net = rain[t] - demand[t]
        excess = 0
        if net >= 0:
            w = np.tanh(net / capacity)
            stored = capacity * (1 - full**2) * w / (1 + full * w)
            excess = net - stored
        else:
            w = np.tanh(-net / capacity)
            stored = -soil[t] * (2 - full) * w / (1 + (1 - full) * w)
        level = soil[t] + stored
        leak = level - level / (1 + (level / (2.25 * capacity)) ** 4) ** 0.25
        soil[t + 1] = level - leak
        pending[:-1] = pending[1:]
        pending[-1] = 0.0
        pending += weights * (leak + excess)
        loss = exchange * (river[t] / reach) ** 3.5
        level = max(0, river[t] + pending[0] + loss)
        river[t + 1] = level / (1 + (level / reach) ** 4) ** 0.25
        flow[t] = level - river[t + 1]
    return flow, soil[1:], river[1:]


def _four_parameters():
    names = ("capacity", "exchange", "reach", "lag")
    kind = np.dtype([(name, "f8") for name in names])
    return np.array([(3.1, 0.2, 1.7, 2.6)], dtype=kind)[0]


case(
    four_parameter_catchment,
    lambda n, m: dict(
        rain=m.positive(n),
        demand=m.positive(n) + 0.1,
        start=(0.4, 0.5),
        params=_four_parameters(),
    ),
    idiom="a record of a structured array as parameters; a queue shifted by slices",
    seen="kratzert/RRMPG rrmpg/models/gr4j_model.py",
)


def banded_snowpack(prec, temp, heights, station, factor, inertia):
    steps, bands = len(prec), len(heights)
    water = np.zeros((steps, bands), np.float64)
    pack = np.zeros((steps, bands), np.float64)
    for b in range(bands):
        local = temp - 0.65 * (heights[b] - station)
        share = np.where(local <= 0, 1.0, 0.0)
        snow = share * prec
        water[:, b] = prec - snow
        store, state = 0.7, -0.11
        usual = 0.9 * np.sum(snow) / max(steps, 1) + 0.5
        for t in range(steps):
            store += snow[t]
            state = min(inertia * state + (1 - inertia) * local[t], 0)
            melt = 0
            if state == 0 and local[t] > 0:
                melt = min(factor * local[t], store)
                cover = store / usual if store < usual else 1
                melt *= 0.9 * cover + 0.1
            store -= melt
            pack[t, b] = store
            water[t, b] += melt
    outflow = np.zeros(steps, np.float64)
    for t in range(steps):
        outflow[t] = np.mean(water[t, :])
    return outflow, pack


case(
    banded_snowpack,
    lambda n, m: dict(
        prec=m.positive(n),
        temp=m.away(n),
        heights=np.array([0.9, 1.02, 1.15], m.dtype),
        station=1.0,
        factor=0.8,
        inertia=0.37,
    ),
    seed=4,
    idiom="columns by vector statements, time by a loop; int zeros; mean of a row",
    seen="kratzert/RRMPG rrmpg/models/cemaneige_model.py",
)


def leaky_soil_column(rain, demand, capacity=2.5, wilting=0.45, leak=0.9, power=2.2):
    n = rain.size
    dtype = np.asarray(capacity + wilting + leak + power).dtype
    level = np.full(n + 1, 0.5 * capacity, dtype=dtype)
    fluxes = np.zeros((3, n), dtype=dtype)
    for t in range(n):
        now = level[t]
        spill = 0.0
        if now.real > capacity:
            spill = now - capacity
            now = capacity
        wet = now / (wilting * capacity)
        fluxes[0, t] = demand[t] * (wet if wet.real < 1.0 else 1.0)
        drained = leak * (now / capacity) ** power
        if drained.real > now.real:
            drained = now
        fluxes[1, t] = drained
        fluxes[2, t] = spill
        after = now + rain[t] - drained - fluxes[0, t]
        level[t + 1] = after if after.real > 0.0 else 0.0
    return level[:-1], -fluxes[0], -fluxes[1], -fluxes[2]


case(
    leaky_soil_column,
    lambda n, m: dict(rain=m.positive(n), demand=0.5 * m.positive(n)),
    idiom="the dtype taken from the parameters; .real in comparisons; negated returns",
    seen="pastas/pastas pastas/recharge.py get_root_zone_balance",
)


def _power_store(storage, before, t, supply, rate, exponent):
    if storage is None:
        storage = before
    release = rate[t] * storage ** exponent[t]
    return (supply[t], -release), (0.0, before + supply[t] + 1e-3)


def _backward_residual(law, storage, before, t, args):
    fluxes, bracket = law(storage, before, t, *args)
    change = 0
    for flux in fluxes:
        change += flux
    guess = before if storage is None else storage
    return guess - before - change, *bracket


def march_reservoir(residual, law, before, args, nstep, tol=1e-11, itmax=60):
    path = np.zeros(nstep)
    for t in range(nstep):
        _, lo, hi = residual(law, None, before, t, args)
        flo, *_ = residual(law, lo, before, t, args)
        fhi, *_ = residual(law, hi, before, t, args)
        if flo * fhi > 0:
            raise ValueError("no change of sign over the bracket")
        root = lo
        for _ in range(itmax):
            root = hi - fhi * (hi - lo) / (fhi - flo)
            f, *_rest = residual(law, root, before, t, args)
            if abs(f) < tol:
                break
            if f * fhi < 0:
                lo, flo = hi, fhi
            else:
                flo = flo * fhi / (fhi + f)
            hi, fhi = root, f
        path[t] = root
        before = root
    return path


case(
    march_reservoir,
    lambda n, m: dict(
        residual=_backward_residual,
        law=_power_store,
        before=1.2,
        args=(m.positive(n), m.positive(n), 1.0 + m.positive(n)),
        nstep=n,
    ),
    idiom="functions and a tuple of arrays as arguments; *args; starred names; None",
    seen="dalmo1991/superflexPy implementation/root_finders/pegasus.py",
)


def _route_node(node, q, side, feeders, nfeed, resistance, beta):
    supply = side[node]
    for f in range(nfeed[node]):
        supply += q[feeders[node, f]]
    if supply <= 1e-12:
        q[node] = 0
        return
    guess = supply / (1.0 + resistance[node])
    last = -1.0
    tries = 0
    while guess != last and tries < 50:
        last = guess
        error = guess + resistance[node] * guess**beta - supply
        if abs(error) < 1e-13:
            break
        guess -= error / (1.0 + beta * resistance[node] * guess ** (beta - 1.0))
        guess = max(guess, 1e-12)
        tries += 1
    q[node] = guess


def kinematic_network(q, side, order, feeders, nfeed, resistance, beta):
    for node in order:
        _route_node(node, q, side, feeders, nfeed, resistance, beta)


def _binary_tree(n):
    feeders = -np.ones((n, 2), dtype=np.int64)
    count = np.zeros(n, dtype=np.int64)
    for node in range(1, n):
        down = (node - 1) // 2
        feeders[down, count[down]] = node
        count[down] += 1
    return dict(feeders=feeders, nfeed=count, order=np.arange(n)[::-1].copy())


case(
    kinematic_network,
    lambda n, m: dict(
        q=m.positive(n),
        side=m.positive(n),
        resistance=m.positive(n),
        beta=0.6,
        **_binary_tree(n),
    ),
    out="q",
    idiom="lookups of upstream nodes; a helper that works on one element",
    seen="ec-jrc/lisflood-code hydrological_modules/kinematic_wave_parallel_tools.py",
)


def _trapezoid(h, bw, z):
    area = (bw + h * z) * h
    perimeter = bw + 2.0 * h * math.sqrt(1.0 + z * z)
    top = bw + 2.0 * z * h
    return area, perimeter, top, area / perimeter


def muskingum_cunge(inflow, lateral, dt, dx, bw, z, manning, slope):
    nt = inflow.shape[0]
    outflow = np.zeros(nt)
    depth = np.zeros(nt)
    if nt == 0:
        return outflow, depth
    outflow[0] = inflow[0]
    h = 0.8
    for t in range(1, nt):
        qref = (inflow[t] + inflow[t - 1] + outflow[t - 1]) / 3.0
        for _ in range(30):
            area, perimeter, top, radius = _trapezoid(h, bw, z)
            q = math.sqrt(slope) / manning * area * radius ** (2.0 / 3.0)
            dradius = (top - radius * 2.0 * math.sqrt(1.0 + z * z)) / perimeter
            dq = q * (top / area + 2.0 / 3.0 * dradius / radius)
            step = (q - qref) / dq
            h -= step
            if h < 1e-3:
                h = 1e-3
            if abs(step) < 1e-11:
                break
        area, perimeter, top, radius = _trapezoid(h, bw, z)
        speed = math.sqrt(slope) / manning
        celerity = speed * (5.0 / 3.0 * radius ** (2.0 / 3.0)) * 0.9
        k = dx / celerity
        x = 0.5 * (1.0 - qref / (top * celerity * slope * dx))
        if x < 0.0:
            x = 0.0
        d = k * (1.0 - x) + 0.5 * dt
        c1 = (k * x + 0.5 * dt) / d
        c2 = (0.5 * dt - k * x) / d
        c3 = (k * (1.0 - x) - 0.5 * dt) / d
        c4 = lateral[t] * dt / d
        q = c1 * inflow[t - 1] + c2 * inflow[t] + c3 * outflow[t - 1] + c4
        outflow[t] = max(q, 0.0)
        depth[t] = h
    return outflow, depth


case(
    muskingum_cunge,
    lambda n, m: dict(
        inflow=m.positive(n) + 1.0,
        lateral=0.1 * m.positive(n),
        dt=1.1,
        dx=90.0,
        bw=2.0,
        z=0.6,
        manning=0.03,
        slope=0.021,
    ),
    idiom="a helper with four returns; a state carried over the Newton iterations",
    seen="nzahasan/tank-model tank_core/channel_routing.py; muskingum_cunge_cost",
)


def canopy_interception(caught, wetloss, drip, film, lai, rain, demand, share):
    kinds, cells = film.shape
    for v in range(kinds):
        for c in range(cells):
            leaf = lai[v, c]
            if leaf <= 0.1:
                room = 0.0
            elif leaf <= 40.0:
                room = 0.2 + 0.6 * leaf - 0.007 * leaf**2
            else:
                room = 13.0
            caught[v, c] = 0.0
            if room > 0:
                fills = room * (1.0 - np.exp(-0.5 * leaf * rain[c] / room))
                caught[v, c] = min(fills, rain[c], room - film[v, c])
                film[v, c] += caught[v, c]
            if film[v, c] <= 0.0:
                wetloss[v, c] = 0.0
                drip[v, c] = 0.0
                continue
            wetloss[v, c] = max(min(demand[v, c], film[v, c]), 0.0)
            film[v, c] -= wetloss[v, c]
            drip[v, c] = share * film[v, c]
            film[v, c] -= drip[v, c]


case(
    canopy_interception,
    lambda n, m: dict(
        caught=m(2, n),
        wetloss=m(2, n),
        drip=m(2, n),
        film=0.3 * m.positive(2, n),
        lai=3.0 * m.positive(2, n),
        rain=m.positive(n),
        demand=0.1 * m.positive(2, n),
        share=0.3,
    ),
    out="caught wetloss drip film",
    idiom="eight arguments, four of them written; min of three; no return value",
    seen="ec-jrc/lisflood-code hydrological_modules/soilloop.py",
)


class Tetens:
    @staticmethod
    def pressure(t):
        return 0.6108 * np.exp(17.27 * t / (t + 237.3))

    @staticmethod
    def slope(t):
        return 4098.0 * Tetens.pressure(t) / (t + 237.3) ** 2


def reference_evapotranspiration(
    doy, latitude, altitude, tmin, tmax, wind, radiation, humidity
):
    tavg = 0.5 * (tmax + tmin)
    u2 = wind.copy()
    u2[wind < 0.5] = 0.5
    es = 0.5 * (Tetens.pressure(tmin) + Tetens.pressure(tmax))
    ea = humidity * es
    slope = 0.5 * (Tetens.slope(tmin) + Tetens.slope(tmax))
    pressure = 101.3 * np.power((293 - 0.0065 * altitude) / 293, 5.26)
    gamma = 0.000665 * pressure
    lat = latitude * np.pi / 180.0
    decl = 0.409 * np.sin(0.0172 * doy - 1.39)
    dist = 1.0 + 0.033 * np.cos(0.0172 * doy)
    sunset = np.arccos(-np.tan(lat) * np.tan(decl))
    ra = sunset * np.sin(lat) * np.sin(decl)
    ra = 37.6 * dist * (ra + np.cos(lat) * np.cos(decl) * np.sin(sunset))
    rs0 = (0.75 + 2e-5 * altitude) * ra
    rns = 0.77 * radiation
    sigma = 4.903e-9
    rnl = sigma * ((tmax + 273.16) ** 4 + (tmin + 273.16) ** 4) / 2
    rnl = rnl * (0.34 - 0.14 * ea**0.5) * (1.35 * radiation / rs0 - 0.35)
    rn = rns - rnl
    et0 = 0.408 * slope * rn + gamma * 900.0 / (tavg + 273.0) * u2 * (es - ea)
    et0 = et0 / (slope + gamma * (1.0 + 0.34 * u2))
    et0[et0 < 0] = 0
    return et0


case(
    reference_evapotranspiration,
    lambda n, m: dict(
        doy=np.arange(120, 120 + n),
        latitude=44.0,
        altitude=210.0,
        tmin=8.0 + m(n),
        tmax=19.0 + m(n),
        wind=m.positive(n) + np.where(np.arange(n) % 3 == 0, -0.2, 0.1).astype(m.dtype),
        radiation=14.0 + m(n),
        humidity=0.5 + 0.1 * m(n),
    ),
    seed=2,
    idiom="whole arrays with masked assignments; static methods of a class; rebinding",
    seen="gicait/PyAEZ pyaez/ETOCalc.py calculateETONumba",
)


def crop_phenology(tmin, tmax, method, tbase, tupper, thresholds):
    ndays = len(tmin)
    gdd = np.zeros(ndays)
    stage = np.zeros(ndays, dtype=np.int32)
    total = 0.0
    current = 0
    for d in range(ndays):
        lo, hi = tmin[d], tmax[d]
        if method == 1:
            tmean = min(max(0.5 * (hi + lo), tbase), tupper)
            gdd[d] = tmean - tbase
        elif method == 2:
            hi = min(max(hi, tbase), tupper)
            lo = min(max(lo, tbase), tupper)
            gdd[d] = 0.5 * (hi + lo) - tbase
        elif method == 3:
            hi = min(max(hi, tbase), tupper)
            lo = min(lo, tupper)
            gdd[d] = max(0.5 * (hi + lo), tbase) - tbase
        else:
            raise ValueError("unknown method of degree days")
        total += gdd[d]
        while current < len(thresholds) and total >= thresholds[current]:
            current += 1
        stage[d] = current
    return gdd, stage, total


case(
    crop_phenology,
    lambda n, m: dict(
        tmin=0.4 * m.away(n),
        tmax=2.0 + m.away(n),
        method=3,
        tbase=0.11,
        tupper=2.57,
        thresholds=np.array([2.13, 5.07, 9.11], np.float64),
    ),
    seed=3,
    idiom="a method by number in an elif chain; rebinding; an integer stage",
    seen="aquacropos/aquacrop aquacrop/solution/growing_degree_day.py",
)


def water_limited_yield(
    pet, prec, kc, depth, stage_share, sensitivity, holding, potential
):
    length = pet.size
    days = np.round(length * (stage_share.cumsum() / 100)).astype("int")
    petc = np.zeros(length)
    peta = np.zeros(length)
    for i in range(length):
        if i < days[0]:
            petc[i] = kc[0] * pet[i]
        elif i < days[1]:
            step = (i - days[0]) * ((kc[1] - kc[0]) / (days[1] - days[0]))
            petc[i] = (kc[0] + step) * pet[i]
        else:
            petc[i] = kc[1] * pet[i]
    water = holding * depth
    for i in range(length):
        available = water + prec[i]
        if prec[i] >= petc[i]:
            peta[i] = petc[i]
        elif available >= holding * depth * 0.6:
            peta[i] = petc[i]
        else:
            peta[i] = available / (holding * depth * 0.6) * petc[i]
        water = min(available - peta[i], holding * depth)
        if water < 0:
            water = 0
    factors = []
    start = 0
    for s, end in enumerate(days):
        need = np.sum(petc[start:end])
        if need == 0:
            f = 1 - sensitivity[s]
        else:
            f = 1 - sensitivity[s] * (1 - np.sum(peta[start:end]) / need)
        factors.append(f)
        start = end
    total = 1.0
    for f in factors:
        total *= f
    return [total * potential, total]


case(
    water_limited_yield,
    lambda n, m: dict(
        pet=m.positive(n),
        prec=0.3 * m.positive(n),
        kc=np.array([0.61, 1.13], m.dtype),
        depth=1.3,
        stage_share=np.array([30, 40, 30]),
        sensitivity=np.array([0.2, 0.6, 0.4], m.dtype),
        holding=1.1,
        potential=8.1,
    ),
    idiom="stages by astype of rounded sums; a list of factors; a list returned",
    seen="gicait/PyAEZ pyaez/CropWatCalc.py",
)


def _smaller_root(a, b, c):
    discriminant = b * b - 4.0 * a * c
    if discriminant < 0.0:
        raise ValueError("no real root")
    return (b - math.sqrt(discriminant)) / (2.0 * a)


def leaf_gas_exchange(par, vpd, ca, photo, tol=1e-10, max_iter=100):
    n = len(par)
    assimilation = np.empty(n)
    conductance = np.empty(n)
    for i in range(n):
        ci = 0.7 * ca
        an = 0.0
        gs = photo["g0"]
        for _ in range(max_iter):
            electron = _smaller_root(
                photo["theta"],
                photo["alpha"] * par[i] + photo["jmax"],
                photo["alpha"] * par[i] * photo["jmax"],
            )
            ac = photo["vcmax"] * (ci - photo["gamma"]) / (ci + photo["km"])
            aj = 0.25 * electron * (ci - photo["gamma"]) / (ci + 2.0 * photo["gamma"])
            an = _smaller_root(0.98, ac + aj, ac * aj) - photo["rd"]
            gs = photo["g0"] + (1.0 + photo["g1"] / np.sqrt(vpd[i])) * an / ca
            ci_new = ca - an / gs
            if abs(ci_new - ci) < tol:
                break
            ci = 0.5 * (ci + ci_new)
        assimilation[i] = an
        conductance[i] = gs
    return {"an": assimilation, "gs": conductance}


case(
    leaf_gas_exchange,
    lambda n, m: dict(
        par=8.0 + m.positive(n),
        vpd=m.positive(n),
        ca=4.0,
        photo=dict(
            vcmax=5.0,
            jmax=10.0,
            theta=0.7,
            alpha=0.3,
            gamma=0.43,
            km=7.1,
            rd=0.1,
            g0=0.02,
            g1=3.1,
        ),
    ),
    real=9,
    idiom="a dictionary in and a dictionary out; damped fixed-point iteration",
    seen="LukeEcomod/pyAPES_VESBO canopy/planttype/photo.py",
)


def two_big_leaf_profile(lai, direct, diffuse, zenith, clumping=1.0):
    nlayer = len(lai)
    kb = 0.5 / np.cos(zenith) * clumping
    kd = 0.78 * clumping
    sunlit = np.zeros(nlayer)
    shaded = np.zeros(nlayer)
    fraction = np.zeros(nlayer)
    above = 0.0
    up = 0.0
    for k in range(nlayer):
        mid = above + 0.5 * lai[k]
        fraction[k] = np.exp(-kb * mid)
        sky = diffuse * kd * np.exp(-kd * mid)
        scattered = direct * (
            0.8 * kb * np.exp(-0.9 * kb * mid) - kb * np.exp(-kb * mid)
        )
        shaded[k] = sky + max(scattered, 0.0)
        sunlit[k] = kb * direct + shaded[k]
        above += lai[k]
    ground = direct * np.exp(-kb * above) + diffuse * np.exp(-kd * above)
    for k in range(nlayer - 1, -1, -1):
        up = up * np.exp(-kd * lai[k]) + 0.05 * sunlit[k] * lai[k]
        shaded[k] += 0.1 * (up + 0.15 * ground)
    return sunlit, shaded, fraction, ground


case(
    two_big_leaf_profile,
    lambda n, m: dict(lai=0.3 * m.positive(n), direct=3.1, diffuse=1.2, zenith=0.5),
    idiom="a sweep down and a sweep up over the layers; four returns",
    seen="layer loops of canopy codes, e.g. emf-creaf/medfate, pyAPES_VESBO",
)
