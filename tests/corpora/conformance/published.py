# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Functions in the manner of code that is published under `numba.njit`.

They sort and search, shape arrays, select by masks and by arrays of integers, and carry
arrays through loops that change their lengths.
"""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()

# ------------------------------------------------------------- sorting and searching


def flow_duration_curve(flow, exceedance):
    n = flow.shape[0]
    ranked = np.sort(flow)[::-1]
    position = np.arange(1, n + 1) / (n + 1.0)
    typical = np.interp(exceedance, position, ranked)
    slope = 0.0
    for k in range(1, exceedance.shape[0]):
        slope += (typical[k - 1] - typical[k]) / (exceedance[k] - exceedance[k - 1])
    return typical, slope / np.median(flow)


case(
    flow_duration_curve,
    lambda n, m: dict(
        flow=2.0 + m.distinct(n),
        exceedance=np.array([0.213, 0.547, 0.871], dtype=m.dtype),
    ),
    least=1,
)


def lorenz_curve_and_gini(income, weight):
    order = np.argsort(income)
    w = weight[order]
    people = np.cumsum(w) / np.sum(w)
    share = np.cumsum(w * income[order])
    share = share / share[-1]
    k = np.searchsorted(people, 0.5)
    poorer_half = share[k]
    area = np.trapezoid(share, people) + 0.5 * people[0] * share[0]
    return 1.0 - 2.0 * area, poorer_half


case(
    lorenz_curve_and_gini,
    lambda n, m: dict(income=3.0 + m.distinct(n), weight=m.positive(n)),
    least=1,
)


def drawdown_and_ulcer(returns):
    wealth = np.cumprod(1.0 + 0.2 * returns)
    peak = np.maximum.accumulate(wealth)
    fall = 1.0 - wealth / peak
    under = np.count_nonzero(fall)
    ulcer = 0.0
    for t in range(fall.shape[0]):
        ulcer += fall[t] * fall[t]
    return np.max(fall), math.sqrt(1e-2 + ulcer) / (1.0 + under)


case(drawdown_and_ulcer, lambda n, m: dict(returns=m.away(n)), least=1)


def light_curve_without_outliers(flux, rounds):
    kept = flux.copy()
    for _ in range(rounds):
        centre = np.nanmedian(kept)
        spread = np.nanstd(kept)
        kept[np.abs(kept - centre) > 1.37 * spread] = np.nan
    depth = np.nanmax(kept) - np.nanmin(kept)
    return np.nanmean(kept), depth


case(
    light_curve_without_outliers,
    lambda n, m: dict(flux=1.0 + m.distinct(n), rounds=2),
    least=1,
)


def diversity_of_biomass(species, biomass):
    per_species = np.bincount(species, weights=biomass)
    present = per_species[per_species > 0.0]
    richness = np.unique(species).size
    total = 0.0
    for p in present / np.sum(biomass):
        total -= p * np.log(p)
    return total, total / np.log(richness + 1.5)


case(
    diversity_of_biomass,
    lambda n, m: dict(species=m.indices(5, n), biomass=m.positive(n)),
)


def loudness_range(signal, hop):
    frames = signal.shape[0] // hop
    level = np.empty(frames)
    for f in range(frames):
        part = signal[f * hop : (f + 1) * hop]
        level[f] = 10.0 * np.log10(np.mean(part * part) + 1e-3)
    gate = np.mean(level) - 20.0
    loud = level[np.flatnonzero(level > gate)]
    return np.percentile(loud, 95.0) - np.percentile(loud, 10.0), np.quantile(loud, 0.3)


case(loudness_range, lambda n, m: dict(signal=m.away(3 * n + 1), hop=3), least=1)


def tumbling_satellite(inertia, spin, torque, dt, steps):
    w = spin.copy()
    for _ in range(steps):
        momentum = inertia @ w
        w = w + dt * np.linalg.solve(inertia, torque - np.cross(w, momentum))
    energy = 0.5 * np.dot(w, inertia @ w)
    return w, energy / np.linalg.det(inertia)


case(
    tumbling_satellite,
    lambda n, m: dict(
        inertia=m.definite(3), spin=m(3), torque=m(3), dt=m.scalar(0.05, 0.1), steps=n
    ),
    real=6,
    covers=("time stepping",),
)


def tabulated_pair_energy(pos, knots, energy):
    total = 0.0
    for i in range(pos.shape[0]):
        for j in range(i):
            gap = pos[i] - pos[j]
            r = math.sqrt(np.sum(gap * gap) + 0.01)
            k = np.searchsorted(knots, r, side="right")
            if k < knots.shape[0]:
                u = (r - knots[k - 1]) / (knots[k] - knots[k - 1])
                u = u * u * (3.0 - 2.0 * u)
                total += energy[k - 1] + u * (energy[k] - energy[k - 1])
    return total


case(
    tabulated_pair_energy,
    lambda n, m: dict(
        pos=m(n, 3),
        knots=np.array([0.0, 0.61, 1.27, 1.93], dtype=m.dtype),
        energy=m(4),
    ),
    real=6,
    covers=("index from a search",),
)


def prism_spectrum(wavelength, dispersion, line_shape):
    index = np.polyval(dispersion, wavelength)
    lost = ((index - 1.0) / (index + 1.0)) ** 2
    passed = (1.0 - lost) ** 2
    weights = line_shape / np.sum(line_shape)
    seen = np.convolve(passed, weights, mode="same")
    inner = np.convolve(passed, weights, mode="valid")
    return np.trapezoid(seen, wavelength), np.sum(inner), seen


case(
    prism_spectrum,
    lambda n, m: dict(
        wavelength=np.cumsum(0.2 * m.positive(n)),
        dispersion=m.positive(3),
        line_shape=m.positive(3),
    ),
    least=3,
)


def storm_classes(rain, edges, duration):
    kind = np.digitize(rain, edges)
    depth = np.bincount(kind, rain * duration)
    hours = np.bincount(kind, duration)
    erosion = 0.0
    for c in range(depth.shape[0]):
        if hours[c] > 0.0:
            erosion += (c + 1.0) * (depth[c] / hours[c]) ** 1.5
    return erosion, np.average(rain, weights=duration)


case(
    storm_classes,
    lambda n, m: dict(
        rain=2.0 + m.distinct(n),
        edges=np.array([1.71, 2.01, 2.21], dtype=m.dtype),
        duration=m.positive(n),
    ),
    least=1,
)


def kalman_of_two_states(observed, drift, noise, dt):
    state = np.zeros(2)
    spread = np.eye(2)
    move = np.array([[1.0, dt], [0.0, 1.0]])
    cost = 0.0
    for t in range(observed.shape[0]):
        state = move @ state
        spread = move @ spread @ move.T + drift
        within = spread + noise
        gain = spread @ np.linalg.inv(within)
        off = observed[t] - state
        cost += np.log(np.linalg.det(within)) + np.dot(off, off)
        state = state + gain @ off
        spread = spread - gain @ spread
    return state, cost


case(
    kalman_of_two_states,
    lambda n, m: dict(
        observed=m(n, 2), drift=m.definite(2), noise=m.definite(2), dt=m.scalar()
    ),
    real=6,
    covers=("time stepping",),
)

# ------------------------------------------------------------- shapes


def coarse_image_and_residual(image, b):
    h, w = image.shape
    coarse = image.reshape(h // b, b, w // b, b).mean(axis=3).mean(axis=1)
    fine = np.empty((h, w))
    for i in range(h):
        fine[i] = np.repeat(coarse[i // b], b)
    left = (image - fine).reshape(-1)
    total = 0.0
    for k in range(1, left.size):
        total += left[k] * left[k] * left[k - 1]
    return coarse.ravel(), total


case(
    coarse_image_and_residual,
    lambda n, m: dict(image=m(2 * n, 4), b=2),
    real=5,
)


def risk_of_factors(loadings, specific, weight):
    covariance = loadings @ loadings.T + np.diag(specific**2)
    below = np.tril(covariance, -1)
    mirrored = below + below.transpose(1, 0) + np.diag(np.diag(covariance))
    risk = np.sqrt(np.diag(covariance))
    correlation = np.triu(mirrored, 1) / (risk[:, None] * risk[None, :])
    variance = np.dot(weight, mirrored @ weight)
    return variance, correlation, np.sum(np.diag(covariance) * weight**2)


case(
    risk_of_factors,
    lambda n, m: dict(loadings=m(n, 2), specific=m.positive(n), weight=m(n)),
    real=5,
)


def autoregression_of_two_lags(x):
    design = np.column_stack((x[1:-1], x[:-2]))
    target = x[2:]
    normal = design.T @ design
    normal[0, 0] += 0.1
    normal[1, 1] += 0.1
    phi = np.linalg.solve(normal, design.T @ target)
    left = target - design @ phi
    return phi, np.sum(left * left)


case(autoregression_of_two_lags, lambda n, m: dict(x=m(n)), least=2, real=20)


def reaction_and_diffusion_rolled(u, v, feed, steps):
    for _ in range(steps):
        around = np.roll(u, 1, axis=0) + np.roll(u, -1, axis=0)
        around = around + np.roll(u, 1, axis=1) + np.roll(u, -1, axis=1)
        eaten = u * v * v
        u = u + 0.1 * (around - 4.0 * u) - eaten + feed * (1.0 - u)
        v = v + 0.05 * (np.roll(v, 2, axis=0) - v) + eaten - feed * v
    return u, v


case(
    reaction_and_diffusion_rolled,
    lambda n, m: dict(u=m(n, n + 1), v=m(n, n + 1), feed=m.scalar(0.02, 0.06), steps=2),
    real=4,
    covers=("time stepping",),
)


def mid_and_side_at_double_rate(left, right, window):
    both = np.stack((left + right, left - right))
    held = np.vstack((np.repeat(both[0], 2), np.repeat(both[1], 2)))
    shape = np.tile(window, left.shape[0])
    held = held * shape[None, :]
    out = np.hstack((held[0], np.flip(held[1])))
    energy = 0.0
    for k in range(1, out.shape[0]):
        energy += out[k] * out[k - 1]
    return out, energy


case(
    mid_and_side_at_double_rate,
    lambda n, m: dict(left=m(n), right=m(n), window=m(2)),
)


def _joint(angle, length):
    c = math.cos(angle)
    s = math.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    along = turn @ np.array([length, 0.0])
    last = np.array([[0.0, 0.0, 1.0]])
    return np.concatenate((np.hstack((turn, along[:, None])), last), axis=0)


def planar_arm_by_frames(angles, lengths):
    frame = np.eye(3)
    reach = np.zeros((angles.shape[0], 2))
    for k in range(angles.shape[0]):
        frame = frame @ _joint(angles[k], lengths[k])
        reach[k] = frame[:2, 2]
    return reach, frame


case(
    planar_arm_by_frames,
    lambda n, m: dict(angles=m(n), lengths=m.positive(n)),
    real=5,
    covers=("array helper",),
)


def energy_distance(x, y):
    across = np.sqrt((x[:, None] - y[None, :]) ** 2 + 0.01).flatten()
    within_x = np.sqrt((np.expand_dims(x, 1) - np.expand_dims(x, 0)) ** 2 + 0.01)
    within_y = np.sqrt((y.reshape(-1, 1) - y.reshape(1, -1)) ** 2 + 0.01)
    pairs = x.size * y.size
    between = np.sum(across) / pairs
    own = np.triu(within_x, 1).sum() / x.size**2
    own += np.triu(within_y, 1).sum() / y.size**2
    return between - own


case(energy_distance, lambda n, m: dict(x=m(n), y=m(n + 1)), least=1, real=8)


def business_cycle_penalty(gdp, trend, smoothness):
    extended = np.append(trend, 2.0 * trend[-1] - trend[-2])
    bend = np.diff(extended, n=2)
    off = gdp - trend
    penalty = 0.0
    for t in range(bend.shape[0]):
        penalty += bend[t] * bend[t]
    growth = np.append(np.diff(trend), np.diff(gdp[-2:]))
    return np.sum(off * off) + smoothness * penalty, growth


case(
    business_cycle_penalty,
    lambda n, m: dict(gdp=m(n), trend=m(n), smoothness=m.scalar()),
    least=2,
)


def reflected_gradient_energy(field, passes):
    for _ in range(passes):
        wide = np.concatenate((field[:, :1], field, field[:, -1:]), axis=1)
        tall = np.concatenate((np.flip(wide[:1], axis=0), wide, wide[-1:]), axis=0)
        east = np.diff(tall, axis=1)[1:-1]
        south = np.diff(tall, axis=0)[:, 1:-1]
        field = field + 0.1 * (np.diff(east, axis=1) + np.diff(south, axis=0))
    return np.sum(field**3), field


case(
    reflected_gradient_energy,
    lambda n, m: dict(field=m(n, n + 1), passes=2),
    least=1,
    real=4,
)


def fringes_of_slits(slits, screen, wavenumber):
    path = np.sqrt((np.expand_dims(screen, 1) - slits[None, :]) ** 2 + 4.0)
    phase = wavenumber * path
    wave = np.stack((np.cos(phase) / path, np.sin(phase) / path), axis=0)
    field = np.squeeze(wave.sum(axis=2, keepdims=True), axis=2)
    parts = field.swapaxes(0, 1)
    light = parts[:, 0] ** 2 + parts[:, 1] ** 2
    contrast = 0.0
    for k in range(1, light.shape[0]):
        contrast += (light[k] - light[k - 1]) ** 2
    return np.repeat(light / (0.1 + np.mean(light)), 2), contrast


case(
    fringes_of_slits,
    lambda n, m: dict(slits=m(n), screen=m(n + 2), wavenumber=m.scalar(1.0, 3.0)),
    real=7,
)


# ------------------------------------------------------------- masks and index arrays


def peaks_over_threshold(discharge, threshold):
    excess = discharge[discharge > threshold] - threshold
    count = excess.shape[0]
    if count < 2:
        return 0.0, np.sum(discharge[discharge <= threshold])
    mean = np.mean(excess)
    spread = np.var(excess)
    shape = 0.5 * (1.0 - mean * mean / spread)
    return shape, np.sum(discharge[~(discharge > threshold)])


case(
    peaks_over_threshold,
    lambda n, m: dict(discharge=m.distinct(n), threshold=-0.0117),
)


def harvest_above_capacity(stock, growth, capacity, years):
    caught = np.zeros(stock.shape[0])
    for _ in range(years):
        stock += growth * stock * (1.0 - stock / capacity)
        over = stock > 0.8 * capacity
        rare = (stock < 0.35 * capacity) & ~over
        take = 0.3 * (stock[over] - 0.5 * capacity[over])
        caught[over] += take
        stock[over] -= take
        stock[rare] = stock[rare] * 1.2 + 0.01
    return caught


case(
    harvest_above_capacity,
    lambda n, m: dict(
        stock=m.positive(n), growth=m.positive(n), capacity=1.0 + m.positive(n), years=3
    ),
    "stock",
    covers=("time stepping",),
)


def last_bond_only(pos, first, second, stiffness, force):
    gap = pos[second] - pos[first]
    length = np.sqrt(np.sum(gap * gap, axis=1) + 0.1)
    pull = (stiffness * (1.0 - 1.0 / length))[:, None] * gap
    force[first] += pull
    force[second] -= pull
    energy = 0.0
    for b in range(length.shape[0]):
        energy += stiffness[b] * (length[b] - 1.0) ** 2
    return energy


case(
    last_bond_only,
    lambda n, m: dict(
        pos=m(n, 3),
        first=m.indices(n, n + 2),
        second=m.indices(n, n + 2),
        stiffness=m.positive(n + 2 if n else 0),
        force=m(n, 3),
    ),
    "force",
    real=7,
    covers=("index from an array",),
)


def momentum_portfolio(prices, day, chosen):
    now = prices[chosen, day]
    before = prices[chosen, day - 2]
    gain = now / before - 1.0
    weight = np.zeros(prices.shape[0])
    weight[chosen] = np.exp(gain) / np.sum(np.exp(gain))
    path = prices[chosen].sum(axis=0)
    return np.dot(weight, prices[:, day + 1]), path


case(
    momentum_portfolio,
    lambda n, m: dict(
        prices=m.positive(n + 2, 5), day=2, chosen=m.indices(n + 2, n + 1)
    ),
    covers=("index from an array",),
)


def brightness_of_skin(red, green, blue):
    warm = (red > green + 0.0271) & (red > blue - 0.0313)
    dark = (red < -0.2193) | (blue < -0.3377)
    skin = warm & ~dark
    light = 0.3 * red + 0.6 * green + 0.1 * blue
    found = light[skin]
    if found.size == 0:
        return np.sum(light)
    light[skin] = np.mean(found)
    light[~skin] *= 0.5
    return np.sum(light * light) + np.max(found)


case(brightness_of_skin, lambda n, m: dict(red=m(n), green=m(n), blue=m(n)))


def wrist_positions(shoulder, elbow, twist, upper, lower):
    out = np.zeros((shoulder.shape[0], 3))
    for k in range(shoulder.shape[0]):
        a = shoulder[k]
        b = a + elbow[k]
        flat = upper * math.cos(a) + lower * math.cos(b)
        rise = upper * math.sin(a) + lower * math.sin(b)
        out[k] = [flat * math.cos(twist[k]), flat * math.sin(twist[k]), rise]
    return out


case(
    wrist_positions,
    lambda n, m: dict(
        shoulder=m(n), elbow=m(n), twist=m(n), upper=m.scalar(), lower=m.scalar()
    ),
)


def _from_equator_to_ecliptic(ra, dec, tilt):
    x = math.cos(dec) * math.cos(ra)
    y = math.cos(dec) * math.sin(ra)
    z = math.sin(dec)
    up = z * math.cos(tilt) - y * math.sin(tilt)
    return math.atan2(y * math.cos(tilt) + z * math.sin(tilt), x), math.asin(up)


def stars_along_the_ecliptic(stars, tilt, out):
    for k in range(stars.shape[0]):
        out[k] = _from_equator_to_ecliptic(stars[k, 0], stars[k, 1], tilt)
    longitude = out[:, 0]
    near = np.abs(out[:, 1]) < 0.3517
    return np.sum(np.cos(longitude[near]))


case(
    stars_along_the_ecliptic,
    lambda n, m: dict(stars=m(n, 2), tilt=m.scalar(0.3, 0.5), out=m(n, 2)),
    "out",
    covers=("tuple helper",),
)


def bootstrap_of_a_slope(table, draws):
    slopes = np.empty(draws.shape[0])
    for b in range(draws.shape[0]):
        sample = table[:, draws[b]]
        x = sample[0] - np.mean(sample[0])
        y = sample[1] - np.mean(sample[1])
        slopes[b] = np.dot(x, y) / (np.dot(x, x) + 0.05)
    return slopes, np.std(slopes)


case(
    bootstrap_of_a_slope,
    lambda n, m: dict(table=m(2, n + 3), draws=m.indices(n + 3, n, n + 3)),
    least=2,
    real=5,
    covers=("index from an array",),
)


def heat_with_held_nodes(temp, conduct, held, values, inner, steps):
    for _ in range(steps):
        temp[held] = values
        flow = conduct[inner] * (temp[inner + 1] - temp[inner])
        temp[inner] += 0.2 * flow
        temp[inner + 1] -= 0.1 * flow * flow
    return temp[held] @ values


case(
    heat_with_held_nodes,
    lambda n, m: dict(
        temp=m(n + 2),
        conduct=m.positive(n + 2),
        held=np.array([0, n + 1]),
        values=m(2),
        inner=m.indices(n + 1, n + 1),
        steps=2,
    ),
    "temp",
    covers=("time stepping", "index from an array"),
)

# ------------------------------------------------------------- lengths that change


def alternating_series_of_euler(terms):
    c = terms.copy()
    total = 0.0
    scale = 0.5
    while len(c) > 1:
        total += scale * c[0]
        c = c[1:] - c[:-1]
        scale *= -0.5
    return total + scale * c[0] ** 2


case(alternating_series_of_euler, lambda n, m: dict(terms=m(n)), least=1)


def surplus_by_condensation(shares):
    a = np.eye(shares.shape[0]) * 3.0 - shares
    pivots = np.zeros(shares.shape[0])
    k = 0
    while a.shape[0] > 1:
        pivots[k] = a[0, 0]
        a = a[1:, 1:] - np.outer(a[1:, 0], a[0, 1:]) / a[0, 0]
        k += 1
    pivots[k] = a[0, 0]
    return np.prod(pivots), pivots


case(surplus_by_condensation, lambda n, m: dict(shares=m(n, n)), least=1, real=5)


def _halves(a):
    even = a[::2]
    odd = a[1::2]
    return (even + odd) / math.sqrt(2.0), (even - odd) / math.sqrt(2.0)


def haar_energies(signal):
    energies = np.zeros(12)
    level = 0
    a = signal
    while a.shape[0] > 1:
        a, detail = _halves(a)
        energies[level] = np.sum(detail * detail)
        level += 1
    return energies, a[0] ** 2


case(
    haar_energies,
    lambda n, m: dict(signal=m(2**n)),
    real=4,
    covers=("array helper",),
)


def self_thinning_of_a_stand(mass, light, years):
    alive = mass
    yields = 0.0
    for year in range(years):
        alive = alive * (1.0 + 0.1 * light[year])
        crowd = np.mean(alive)
        dead = alive[alive <= 0.8 * crowd]
        alive = alive[alive > 0.8 * crowd]
        yields += np.sum(dead**2)
    return yields + np.sum(alive), alive.shape[0] * crowd


case(
    self_thinning_of_a_stand,
    lambda n, m: dict(mass=2.0 + m.distinct(n), light=m.positive(3), years=3),
    least=1,
)


def newton_form_of_a_table(x, y, at):
    d = y
    value = 0.0
    basis = 1.0
    for k in range(x.shape[0]):
        value += d[0] * basis
        basis *= at - x[k]
        d = (d[1:] - d[:-1]) / (x[k + 1 :] - x[: x.shape[0] - k - 1])
    return value


case(
    newton_form_of_a_table,
    lambda n, m: dict(x=np.cumsum(m.positive(n)), y=m(n), at=m.scalar()),
    real=6,
    only64=True,
)


def romberg_by_rows(samples, levels):
    n = samples.shape[0] - 1
    row = np.empty(levels)
    for k in range(levels):
        step = n >> k
        total = 0.5 * (samples[0] + samples[n])
        for i in range(step, n, step):
            total += samples[i]
        row[k] = total * step / n
    factor = 4.0
    while row.size > 1:
        row = (factor * row[1:] - row[:-1]) / (factor - 1.0)
        factor *= 4.0
    return row[0]


case(romberg_by_rows, lambda n, m: dict(samples=m(2**n + 1), levels=n + 1), real=5)


def queue_of_parcels(parcels, demand, decay):
    lots = parcels
    served = 0.0
    t = 0
    while lots.size > 0 and t < demand.shape[0]:
        price = lots[0] * math.exp(-decay * t)
        served += price * demand[t]
        lots = lots[1:]
        if demand[t] > 0.0 and lots.size > 0:
            lots = lots * (1.0 - 0.1 * demand[t])
        t += 1
    return served, np.sum(lots)


case(
    queue_of_parcels,
    lambda n, m: dict(parcels=m(n + 1), demand=m.away(n), decay=m.scalar()),
)


def accelerated_limit(partial):
    s = partial
    while s.size > 2:
        ahead = s[2:] - s[1:-1]
        behind = s[1:-1] - s[:-2]
        s = s[2:] - ahead * ahead / (ahead - behind + 3.0)
    return s[-1]


case(
    accelerated_limit,
    lambda n, m: dict(partial=np.cumsum(0.3 * m(n))),
    least=1,
    real=9,
)


def contrast_over_scales(brightness, weight):
    level = brightness
    contrast = 0.0
    for s in range(weight.shape[0]):
        if level.shape[0] < 2 or level.shape[1] < 2:
            break
        left = level[:, ::2] + level[:, 1::2]
        contrast += weight[s] * np.var(left)
        level = 0.25 * (left[::2] + left[1::2]) ** 2
    return contrast, np.mean(level)


case(
    contrast_over_scales,
    lambda n, m: dict(brightness=m(2**n, 2**n), weight=m.positive(4)),
    real=3,
)


def cost_of_merging_runs(lengths):
    runs = np.sort(lengths)
    cost = 0.0
    while runs.size > 1:
        joined = runs[0] + runs[1]
        cost += joined * joined
        runs = np.sort(np.append(runs[2:], joined))
    return cost


case(
    cost_of_merging_runs,
    lambda n, m: dict(lengths=2.0 + m.distinct(n)),
    real=8,
)
