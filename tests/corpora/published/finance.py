# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Option pricing, volatility, indicators, portfolios."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("finance")

CALL = 1
PUT = 2
INV_SQRT_2PI = 0.3989422804014327
ONE_MILLIONTH = 1e-6


def hastings_cdf(x):
    """Polynomial approximation, exact to seven digits."""
    b1 = 0.319381530
    b2 = -0.356563782
    b3 = 1.781477937
    b4 = -1.821255978
    b5 = 1.330274429
    if x >= 0.0:
        u = 1.0 / (1.0 + 0.2316419 * x)
        poly = u * (b1 + u * (b2 + u * (b3 + u * (b4 + u * b5))))
        return 1.0 - INV_SQRT_2PI * np.exp(-x * x / 2.0) * poly
    else:
        return 1.0 - hastings_cdf(-x)


def vanilla_book_value(spot, strike, expiry, rate, dividend, vol, option_type):
    n = len(strike)
    values = np.zeros(n)
    for i in range(n):
        k = np.maximum(strike[i], ONE_MILLIONTH)
        t = np.maximum(expiry[i], ONE_MILLIONTH)
        v = np.maximum(vol[i], ONE_MILLIONTH)
        root_t = np.sqrt(t)
        fwd = spot * np.exp(-dividend * t)
        pvk = k * np.exp(-rate * t)
        d1 = np.log(fwd / pvk) / (v * root_t) + v * root_t / 2.0
        d2 = d1 - v * root_t
        if option_type[i] == CALL:
            values[i] = fwd * hastings_cdf(d1) - pvk * hastings_cdf(d2)
        elif option_type[i] == PUT:
            values[i] = pvk * hastings_cdf(-d2) - fwd * hastings_cdf(-d1)
        else:
            raise ValueError("Unknown option type")
    return values


case(
    vanilla_book_value,
    lambda n, m: dict(
        spot=2.6,
        strike=m.positive(n),
        expiry=m.positive(n),
        rate=0.03,
        dividend=0.01,
        vol=0.2 * m.positive(n),
        option_type=np.arange(n) % 2 + 1,
    ),
    idiom="a helper that calls itself for negative arguments; integer option types",
    seen="domokane/FinancePy financepy/utils/math.py",
)


def bermudan_lattice(s0, strike, rate, sigma, expiry, exercise, is_call=False):
    steps = exercise.shape[0]
    if steps == 0:
        return max(s0 - strike, 0.0) if is_call else max(strike - s0, 0.0)
    dt = expiry / steps
    u = math.exp(sigma * math.sqrt(dt))
    d = 1.0 / u
    p = (math.exp(rate * dt) - d) / (u - d)
    df = math.exp(-rate * dt)
    sign = 1.0 if is_call else -1.0

    option = np.empty(steps + 1)
    for j in range(steps + 1):
        option[j] = max(sign * (s0 * u**j * d ** (steps - j) - strike), 0.0)

    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            option[j] = df * (p * option[j + 1] + (1.0 - p) * option[j])
            if exercise[i]:
                s = s0 * u**j * d ** (i - j)
                option[j] = max(option[j], sign * (s - strike))
    return option[0]


case(
    bermudan_lattice,
    lambda n, m: dict(
        s0=0.96,
        strike=1.48,
        rate=0.06,
        sigma=0.35,
        expiry=2.0,
        exercise=np.arange(n) % 6 == 4,
    ),
    idiom="a tree rolled back in one array; integer powers; ternary; early return",
    seen="domokane/FinancePy financepy/products/equity/equity_binomial_tree.py",
)


def asian_antithetic_value(
    s0: float,
    strike: float,
    rate: float,
    sigma: float,
    expiry: float,
    n_obs: int,
    n_paths: int,
    seed: int,
    accrued: float = None,
    elapsed: float = 0.0,
) -> float:
    if n_obs < 1:
        raise ValueError("at least one observation")
    scale = 1.0
    if elapsed > 0.0:
        if accrued is None:
            raise ValueError("accrued average is missing")
        scale = expiry / (expiry + elapsed)
        strike = (strike - accrued * (1.0 - scale)) / scale
    np.random.seed(seed)
    dt = expiry / n_obs
    drift = (rate - 0.5 * sigma * sigma) * dt
    sd = sigma * np.sqrt(dt)
    value = 0.0
    for _ in range(n_paths):
        z = np.random.standard_normal(n_obs)
        for sign in (1.0, -1.0):
            s = s0
            average = 0.0
            for k in range(n_obs):
                s *= np.exp(drift + sign * sd * z[k])
                average += s / n_obs
            value += 0.5 * max(average - strike, 0.0) / n_paths
    return scale * value * np.exp(-rate * expiry)


case(
    asian_antithetic_value,
    lambda n, m: dict(
        s0=1.2,
        strike=0.83,
        rate=0.02,
        sigma=0.15,
        expiry=0.9,
        n_obs=6,
        n_paths=n,
        seed=1937,
        accrued=1.1,
        elapsed=0.2,
    ),
    least=1,
    idiom="the global generator seeded inside; a None default; arguments rebound",
    seen="domokane/FinancePy financepy/models/equity_asian_option_mc.py",
)

SCHEME_NORMAL = 1
SCHEME_ANTITHETIC = 2


def short_rate_paths(r0, kappa, theta, sigma, dt, n_paths, n_steps, scheme, rng):
    if scheme == SCHEME_NORMAL:
        shocks = rng.normal(0.0, 1.0, size=(n_paths, n_steps))
    elif scheme == SCHEME_ANTITHETIC:
        half = rng.normal(0.0, 1.0, size=(n_paths, n_steps))
        shocks = np.concatenate((half, -half))
    else:
        raise ValueError("unknown scheme")
    decay = math.exp(-kappa * dt)
    sd = sigma * math.sqrt((1.0 - decay * decay) / (2.0 * kappa))
    paths = np.empty((shocks.shape[0], n_steps + 1))
    paths[:, 0] = r0
    for i in range(n_steps):
        paths[:, i + 1] = theta + (paths[:, i] - theta) * decay + sd * shocks[:, i]
    bonds = np.exp(-dt * paths[:, :-1].sum(axis=1))
    return paths, bonds.mean()


case(
    short_rate_paths,
    lambda n, m: dict(
        r0=0.04,
        kappa=0.7,
        theta=0.05,
        sigma=0.02,
        dt=0.08,
        n_paths=n,
        n_steps=12,
        scheme=2,
        rng=np.random.default_rng(3),
    ),
    least=1,
    idiom="draws of a generator; a shape that depends on a branch; columns per step",
    seen="domokane/FinancePy financepy/models/process_simulator.py",
)


def heston_call_value(s0, strike, expiry, rate, v0, kappa, theta, xi, rho, n_quad):
    x = np.log(s0 / strike) + rate * expiry

    def characteristic(u):
        beta = kappa - rho * xi * u * 1j
        d = np.sqrt(beta**2 + xi**2 * (u * u + 1j * u))
        g = (beta - d) / (beta + d)
        e = np.exp(-d * expiry)
        c = kappa * theta / xi**2
        c = c * ((beta - d) * expiry - 2.0 * np.log((1.0 - g * e) / (1.0 - g)))
        b = (beta - d) / xi**2 * (1.0 - e) / (1.0 - g * e)
        return np.exp(c + b * v0)

    upper = 40.0
    h = upper / max(n_quad, 1)
    total = 0.0
    for k in range(n_quad):
        w = (k + 0.5) * h
        phi = characteristic(w - 0.5j) * np.exp(1j * w * x)
        total += phi.real / (w * w + 0.25) * h
    return s0 - np.sqrt(s0 * strike) * np.exp(-rate * expiry / 2.0) * total / np.pi


case(
    heston_call_value,
    lambda n, m: dict(
        s0=1.1,
        strike=0.9,
        expiry=0.8,
        rate=0.02,
        v0=0.05,
        kappa=1.4,
        theta=0.06,
        xi=0.4,
        rho=-0.6,
        n_quad=4 * n,
    ),
    idiom="a characteristic function with 1j, as a closure; the real part of a complex",
    seen="heston_integrand_fast and others, find_string '@njit def heston'",
)


def _sabr_x(rho, z):
    root = math.sqrt(1.0 - 2.0 * rho * z + z * z)
    return math.log((root + z - rho) / (1.0 - rho))


def shifted_sabr_smile(params, f, strikes, t):
    alpha, beta, rho, nu, shift = params
    f = f + shift
    if f <= 0:
        raise ValueError("the shifted forward is not positive")
    one_b = 1.0 - beta
    smile = np.zeros(len(strikes))
    for i, k in enumerate(strikes):
        k = k + shift
        if k <= 0:
            raise ValueError("a shifted strike is not positive")
        log_m = math.log(f / k)
        fk = (f * k) ** (0.5 * one_b)
        skew = (one_b * log_m) ** 2
        denom = fk * (1.0 + skew / 24.0 + skew**2 / 1920.0)
        drift = (one_b * alpha / fk) ** 2 / 24.0
        drift += rho * beta * nu * alpha / (4.0 * fk)
        drift += (2.0 - 3.0 * rho**2) * nu**2 / 24.0
        z = nu / alpha * fk * log_m
        ratio = z / _sabr_x(rho, z) if abs(z) > 1e-7 else 1.0
        smile[i] = alpha / denom * ratio * (1.0 + drift * t)
    return smile


case(
    shifted_sabr_smile,
    lambda n, m: dict(
        params=np.array([0.25, 0.6, -0.3, 0.5, 0.1]),
        f=1.0,
        strikes=1.0 + 0.4 * m.away(n),
        t=1.5,
    ),
    idiom="an array unpacked into names; names rebound; a limit by a ternary",
    seen="domokane/FinancePy financepy/models/sabr_shifted.py",
)


def _bs_call_vega(s, k, r, t, sigma):
    sd = sigma * math.sqrt(t)
    d1 = (math.log(s / k) + r * t) / sd + 0.5 * sd
    d2 = d1 - sd
    n1 = 0.5 * math.erfc(-d1 / math.sqrt(2.0))
    n2 = 0.5 * math.erfc(-d2 / math.sqrt(2.0))
    price = s * n1 - k * math.exp(-r * t) * n2
    vega = s * INV_SQRT_2PI * math.exp(-0.5 * d1 * d1) * math.sqrt(t)
    return price, vega


def implied_vol_surface(prices, s, strikes, tenors, r, tol=1e-13, max_iter=60):
    """Newton from the Manaster and Koehler seed."""
    n_t, n_k = prices.shape
    vols = np.full((n_t, n_k), 0.3)
    iterations = np.zeros((n_t, n_k), dtype=np.int64)
    for i in range(n_t):
        t = tenors[i]
        for j in range(n_k):
            k = strikes[j]
            sigma = math.sqrt(abs(math.log(s / k) + r * t) * 2.0 / t)
            for it in range(max_iter):
                price, vega = _bs_call_vega(s, k, r, t, sigma)
                diff = price - prices[i, j]
                if abs(diff) < tol:
                    break
                sigma -= diff / vega
            else:
                raise RuntimeError("implied volatility did not converge")
            vols[i, j] = sigma
            iterations[i, j] = it
    return vols, iterations


case(
    implied_vol_surface,
    lambda n, m: dict(
        prices=0.45 + 0.05 * m.positive(2, n),
        s=1.4,
        strikes=1.1 + 0.1 * m.positive(n),
        tenors=np.array([1.1, 1.6]),
        r=0.01,
    ),
    idiom="Newton in a for with break, else raise; a helper that returns two values",
    seen="shade-econ/sequence-jacobian src/sequence_jacobian/hetblocks/hh_labor.py",
)


def _held_within(value, low, high):
    if low <= value <= high:
        return value
    if value < low:
        return low
    if np.isinf(value):
        return high + 1000
    return high + np.log(value / high)


def gjr_garch_variance(params, eps, sigma2, orders, backcast, bounds):
    p, o, q = orders
    for t in range(len(eps)):
        value = params[0]
        at = 1
        for lag in range(1, p + 1):
            value += params[at] * (eps[t - lag] ** 2 if t >= lag else backcast)
            at += 1
        for lag in range(1, o + 1):
            if t >= lag:
                value += params[at] * eps[t - lag] ** 2 * (eps[t - lag] < 0)
            else:
                value += 0.5 * params[at] * backcast
            at += 1
        for lag in range(1, q + 1):
            value += params[at] * (sigma2[t - lag] if t >= lag else backcast)
            at += 1
        sigma2[t] = _held_within(value, bounds[t, 0], bounds[t, 1])
    return sigma2


case(
    gjr_garch_variance,
    lambda n, m: dict(
        params=np.array([0.04, 0.11, 0.05, 0.08, 0.6]),
        eps=m.away(n),
        sigma2=np.zeros(n),
        orders=(2, 1, 1),
        backcast=0.3,
        bounds=np.column_stack((np.full(n, 1e-3), np.full(n, 50.0))),
    ),
    out="sigma2",
    idiom="a running index into parameters; times a comparison; a chained comparison",
    seen="bashtage/arch arch/univariate/recursions_python.py",
)


def ema_of(values, span):
    weight = 2.0 / (span + 1.0)
    out = np.empty_like(values)
    level = 0.0
    for i, v in enumerate(values):
        level = v if i == 0 else level + weight * (v - level)
        out[i] = level
    return out


def macd_lines(close, fast=12, slow=26, signal=9):
    line = ema_of(close, fast) - ema_of(close, slow)
    smoothed = ema_of(line, signal)
    return line, smoothed, line - smoothed


case(
    macd_lines,
    lambda n, m: dict(close=10.0 + m(n), fast=3, slow=7),
    idiom="keyword defaults; a helper called on whole arrays; a tuple of arrays",
    seen="public indicator modules, find_string '@jit(nopython=True) def rsi'",
)


def wilder_strength(prices: np.ndarray, period: int = 14) -> np.ndarray:
    n = len(prices)
    rsi = np.zeros(n)
    if n < period + 1:
        return rsi
    deltas = np.diff(prices)
    gains = np.where(deltas > 0, deltas, 0.0)
    losses = np.where(deltas < 0, -deltas, 0.0)
    avg_gain = np.mean(gains[:period])
    avg_loss = np.mean(losses[:period])
    rsi[:period] = 50.0
    for i in range(period, n):
        if i > period:
            avg_gain = (avg_gain * (period - 1) + gains[i - 1]) / period
            avg_loss = (avg_loss * (period - 1) + losses[i - 1]) / period
        if avg_loss == 0:
            rsi[i] = 100.0
        else:
            rs = avg_gain / avg_loss
            rsi[i] = 100.0 - 100.0 / (1.0 + rs)
    return rsi


case(
    wilder_strength,
    lambda n, m: dict(prices=20.0 + m.distinct(n), period=4),
    idiom="np.diff and np.where before the loop, means of slices, an early return",
    seen="public indicator modules, find_string '@jit(nopython=True) def rsi'",
)


def rolling_mean_of_valid(a, window, minp=None):
    if minp is None:
        minp = window
    if minp > window:
        raise ValueError("minp is larger than the window")
    out = np.zeros_like(a, dtype=np.float64)
    total = 0
    count = 0
    for i in range(len(a)):
        entering = a[i]
        if not np.isnan(entering):
            total = total + entering
            count += 1
        if i >= window:
            leaving = a[i - window]
            if not np.isnan(leaving):
                total = total - leaving
                count -= 1
        if count >= minp:
            out[i] = total / count
    return out


def _with_price_gaps(values, every):
    values[every // 2 :: every] = np.nan
    return values


case(
    rolling_mean_of_valid,
    lambda n, m: dict(a=_with_price_gaps(m(n), 5), window=4, minp=2),
    idiom="nan as missing data; a None default; an int total that becomes a float",
    seen="polakowo/vectorbt vectorbt/generic/nb.py",
)


def worst_drawdown(returns):
    growth = returns + 1
    n = len(growth)
    if not n:
        return 0.0, -1, -1
    cumulative = peak = growth[0]
    worst = 0.0
    at_peak = start = trough = 0
    for i in range(1, n):
        cumulative *= growth[i]
        if cumulative > peak:
            peak = cumulative
            at_peak = i
        else:
            loss = 1.0 - cumulative / peak
            if loss > worst:
                worst = loss
                start, trough = at_peak, i
    return worst, start, trough


case(
    worst_drawdown,
    lambda n, m: dict(returns=0.2 * m.away(n)),
    idiom="chained assignments; a running peak; returns a float with two indices",
    seen="edtechre/pybroker src/pybroker/eval.py; find_string '@njit def max_drawdown'",
)


def omega_and_sortino(returns, ann_factor, required_return=0.0):
    if len(returns) < 2:
        return 1.0, 0.0
    threshold = (1 + required_return) ** (1.0 / ann_factor) - 1
    above = returns > threshold
    upside = (returns[above] - threshold).sum()
    downside = (threshold - returns[~above]).sum()
    if downside == 0.0:
        return np.inf, np.inf
    shortfall = returns - threshold
    mean = shortfall.mean() * ann_factor
    shortfall[above] = 0.0
    risk = np.sqrt(np.mean(shortfall**2) * ann_factor)
    return upside / downside, mean / risk


case(
    omega_and_sortino,
    lambda n, m: dict(
        returns=np.abs(m.away(n)) * np.where(np.arange(n) % 3 == 1, -0.8, 1.0),
        ann_factor=12,
        required_return=0.1,
    ),
    idiom="boolean masks to select and to overwrite; early returns of inf",
    seen="polakowo/vectorbt vectorbt/returns/nb.py",
)


class Account(NamedTuple):
    cash: float
    position: float
    paid: float


def _fill(account, size, price, fee_rate):
    value = size * price
    fee = abs(value) * fee_rate
    return Account(
        cash=account.cash - value - fee,
        position=account.position + size,
        paid=account.paid + fee,
    )


def rebalanced_equity(close, target, account, fee_rate, every=1):
    equity = np.empty(close.shape[0], dtype=np.float64)
    for i in range(close.shape[0]):
        price = close[i]
        value = account.cash + account.position * price
        if i % every == 0:
            wanted = target[i] * value / price
            account = _fill(account, wanted - account.position, price, fee_rate)
        equity[i] = account.cash + account.position * price
    return equity, account


case(
    rebalanced_equity,
    lambda n, m: dict(
        close=m.positive(n),
        target=0.5 + 0.3 * m.away(n),
        account=Account(10.0, 0.0, 0.0),
        fee_rate=0.002,
    ),
    idiom="an immutable state in a named tuple, made anew at every step",
    seen="polakowo/vectorbt vectorbt/portfolio/nb.py process_order_nb",
)
