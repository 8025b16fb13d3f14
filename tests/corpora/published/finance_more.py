# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B905
"""Trades, household problems, credit, reserving, finite differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("finance")

OPEN = 0
CLOSED = 1
CALL = 1
PUT = 2
UP_AND_OUT_CALL = 3
trade_dt = np.dtype(
    [
        ("id", np.int64),
        ("direction", np.int64),
        ("entry_idx", np.int64),
        ("entry_price", np.float64),
        ("exit_idx", np.int64),
        ("exit_price", np.float64),
        ("pnl", np.float64),
        ("status", np.int64),
    ]
)


def _close_trade(record, i, price, fees):
    record["exit_idx"] = i
    record["exit_price"] = price
    gross = record["direction"] * (price - record["entry_price"])
    record["pnl"] = gross - fees * (price + record["entry_price"])


def trades_of_signals(close, high, low, signals, fees, stop, take, trail=np.nan):
    """One trade at a time, closed by its stop, its target or a new signal."""
    n = close.shape[0]
    if high.shape[0] != n or low.shape[0] != n:
        raise ValueError("close, high and low must have one length")
    records = np.zeros(n, dtype=trade_dt)
    equity = np.zeros(n)
    ridx = 0
    position = 0
    realised = 0.0
    stop_price = 0.0
    take_price = 0.0
    for i in range(n):
        if position != 0:
            exit_price = np.nan
            if position > 0:
                if low[i] < stop_price:
                    exit_price = stop_price
                elif high[i] > take_price:
                    exit_price = take_price
            else:
                if high[i] > stop_price:
                    exit_price = stop_price
                elif low[i] < take_price:
                    exit_price = take_price
            if np.isnan(exit_price) and signals[i] == -position:
                exit_price = close[i]
            if not np.isnan(exit_price):
                _close_trade(records[ridx], i, exit_price, fees)
                records[ridx]["status"] = CLOSED
                realised += records[ridx]["pnl"]
                ridx += 1
                position = 0
            elif not np.isnan(trail):
                if position > 0:
                    stop_price = max(stop_price, close[i] * (1.0 - trail))
                else:
                    stop_price = min(stop_price, close[i] * (1.0 + trail))
        if position == 0 and signals[i] != 0:
            position = signals[i]
            records[ridx]["id"] = ridx
            records[ridx]["direction"] = position
            records[ridx]["entry_idx"] = i
            records[ridx]["entry_price"] = close[i]
            stop_price = close[i] * (1.0 - position * stop)
            take_price = close[i] * (1.0 + position * take)
        equity[i] = realised
        if position != 0:
            equity[i] += position * (close[i] - records[ridx]["entry_price"])
    if position != 0:
        _close_trade(records[ridx], n - 1, close[-1], fees)
        records[ridx]["status"] = OPEN
        ridx += 1
    total = 0.0
    for record in records[:ridx]:
        total += record["pnl"]
    return records[:ridx]["pnl"].copy(), equity, total


def _bars(m, n):
    close = m.positive(n)
    return dict(close=close, high=close + 0.11, low=close - 0.13)


case(
    trades_of_signals,
    lambda n, m: dict(
        **_bars(m, n),
        signals=np.array([1, 0, -1, 0, 0])[np.arange(n) % 5],
        fees=0.001,
        stop=0.35,
        take=0.5,
        trail=0.4,
    ),
    idiom="structured records filled by a helper; nan for no price; many states",
    seen="polakowo/vectorbt vectorbt/signals/nb.py, portfolio/nb.py",
)


def check_groups(group_lens, n_cols):
    if group_lens.sum() != n_cols:
        raise ValueError("the groups do not cover the columns")


def benchmark_by_group(close, group_lens, init_cash):
    check_groups(group_lens, close.shape[1])
    ends = np.cumsum(group_lens)
    starts = ends - group_lens
    out = np.empty((close.shape[0], len(group_lens)), dtype=np.float64)
    for g, (first, last) in enumerate(zip(starts, ends)):
        block = close[:, first:last]
        units = init_cash[g] / (last - first) / block[0]
        out[:, g] = (block * units).sum(axis=1)
    return out


case(
    benchmark_by_group,
    lambda n, m: dict(
        close=m.positive(n, 6),
        group_lens=np.array([2, 1, 3]),
        init_cash=m.positive(3),
    ),
    least=1,
    idiom="enumerate of zip; slices of columns between integer bounds; sums by axis",
    seen="polakowo/vectorbt vectorbt/portfolio/nb.py benchmark_value_grouped_nb",
)


class Orchard(NamedTuple):
    β: float
    γ: float
    R: float
    y: np.ndarray
    P: np.ndarray
    a_grid: np.ndarray


def _felicity(c, γ):
    return c ** (1 - γ) / (1 - γ)


def bellman_iterate(v0, model, tol=1e-4, max_iter=3):
    β, γ, R, y, P, a_grid = model
    v = v0.copy()
    v_new = np.empty_like(v)
    σ = np.zeros(v.shape, dtype=np.int64)
    error = tol + 1
    i = 0
    while error > tol and i < max_iter:
        for j in range(len(y)):
            for k in range(len(a_grid)):
                best = -np.inf
                for k_next in range(len(a_grid)):
                    c = R * a_grid[k] + y[j] - a_grid[k_next]
                    if c <= 0:
                        continue
                    ev = 0.0
                    for j_next in range(len(y)):
                        ev += P[j, j_next] * v[j_next, k_next]
                    candidate = _felicity(c, γ) + β * ev
                    if candidate > best:
                        best = candidate
                        σ[j, k] = k_next
                v_new[j, k] = best
        error = np.max(np.abs(v_new - v)) if v.size else 0.0
        v[:] = v_new
        i += 1
    return v, σ


case(
    bellman_iterate,
    lambda n, m: dict(
        v0=m(2, n),
        model=Orchard(
            0.94,
            2.5,
            1.02,
            np.array([0.9, 1.3]),
            np.array([[0.8, 0.2], [0.3, 0.7]]),
            np.linspace(0.0, 2.4, n),
        ),
    ),
    real=7,
    seed=23,
    idiom="a named tuple unpacked; Greek names; while error > tol; a running best",
    seen="QuantEcon/lecture-python.myst lectures/odu.md, inventory_q.md",
)


@dataclass
class Household:
    beta: float
    rho: float
    R: float
    income: np.ndarray
    weights: np.ndarray


def _bracket(x, xi):
    low = 0
    high = x.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if x[middle] <= xi:
            low = middle
        else:
            high = middle
    return low


def _lerp(grid, value, xi):
    j = _bracket(grid, xi)
    slope = (value[j + 1] - value[j]) / (grid[j + 1] - grid[j])
    return value[j] + slope * (xi - grid[j])


def endogenous_grid_step(par, m_plus, c_plus, a_grid, m_out, c_out):
    m_out[0] = 0.0
    c_out[0] = 0.0
    for i_a in range(a_grid.size):
        expected = 0.0
        for i_y, w in enumerate(par.weights):
            m = par.R * a_grid[i_a] + par.income[i_y]
            c = _lerp(m_plus, c_plus, m)
            expected += w * par.R * c ** (-par.rho)
        c_out[i_a + 1] = (par.beta * expected) ** (-1.0 / par.rho)
        m_out[i_a + 1] = a_grid[i_a] + c_out[i_a + 1]


case(
    endogenous_grid_step,
    lambda n, m: dict(
        par=Household(
            0.95, 1.8, 1.03, np.array([0.31, 0.97, 1.42]), np.array([0.2, 0.6, 0.2])
        ),
        m_plus=np.linspace(0.0, 5.0, 8),
        c_plus=np.sqrt(np.linspace(0.02, 3.0, 8)),
        a_grid=np.linspace(0.04, 3.0, n),
        m_out=np.zeros(n + 1),
        c_out=np.zeros(n + 1),
    ),
    out="m_out c_out",
    idiom="an instance with parameters; a binary search; outputs as arguments",
    seen="NumEconCopenhagen/ConsumptionSaving consav/upperenvelope.py",
)


def _locate(grid, query, index, share):
    j = 0
    for k, q in enumerate(query):
        while j < grid.size - 2 and grid[j + 1] < q:
            j += 1
        index[k] = j
        share[k] = (grid[j + 1] - q) / (grid[j + 1] - grid[j])


def push_distribution(D, Pi, policy, grid, periods):
    n_z, n_a = D.shape
    index = np.empty(D.shape, dtype=np.int64)
    share = np.empty(D.shape)
    for z in range(n_z):
        _locate(grid, policy[z], index[z], share[z])
    mean = np.zeros(periods)
    for t in range(periods):
        moved = np.zeros_like(D)
        for z in range(n_z):
            for a in range(n_a):
                low = index[z, a]
                moved[z, low] += share[z, a] * D[z, a]
                moved[z, low + 1] += (1 - share[z, a]) * D[z, a]
        D = Pi.T @ moved
        mean[t] = np.dot(D.sum(axis=0), grid)
    return D, mean


case(
    push_distribution,
    lambda n, m: dict(
        D=m.positive(2, n) / (2 * n),
        Pi=np.array([[0.9, 0.1], [0.25, 0.75]]),
        policy=np.tile((np.arange(n) * 9 // 10 + 0.4) / (n - 1), (2, 1)),
        grid=np.linspace(0.0, 1.0, n),
        periods=4,
    ),
    least=2,
    idiom="mass scattered over two grid points; rows passed as outputs; rebound names",
    seen="shade-econ/sequence-jacobian src/.../blocks/support/het_compiled.py",
)


def discount_at(t, times, dfs):
    if t <= times[0]:
        return dfs[0] ** (t / times[0])
    for i in range(1, len(times)):
        if t <= times[i]:
            w = (t - times[i - 1]) / (times[i] - times[i - 1])
            return np.exp((1.0 - w) * np.log(dfs[i - 1]) + w * np.log(dfs[i]))
    return dfs[-1] ** (t / times[-1])


def strip_hazard_rates(tenors, spreads, recovery, times, dfs, per_year=4, steps=6):
    """Piecewise flat hazards that reprice every spread, by Newton."""
    if len(tenors) != len(spreads):
        raise ValueError("one spread for every tenor")
    hazards = []
    t0 = 0.0
    q0 = 1.0
    premium0 = protection0 = 0.0
    for tenor, spread in zip(tenors, spreads):
        count = int((tenor - t0) * per_year + 0.5)
        dt = (tenor - t0) / count
        h = spread / (1.0 - recovery)
        for _ in range(steps):
            premium, protection = premium0, protection0
            d_premium = d_protection = 0.0
            q_prev, dq_prev = q0, 0.0
            for k in range(1, count + 1):
                z = discount_at(t0 + k * dt, times, dfs)
                q = q0 * math.exp(-h * k * dt)
                dq = -k * dt * q
                premium += z * 0.5 * (q + q_prev) * dt
                d_premium += z * 0.5 * (dq + dq_prev) * dt
                protection += z * (q_prev - q) * (1.0 - recovery)
                d_protection += z * (dq_prev - dq) * (1.0 - recovery)
                q_prev, dq_prev = q, dq
            value = protection - spread * premium
            h = h - value / (d_protection - spread * d_premium)
        hazards.append(h)
        t0, q0 = tenor, q_prev
        premium0, protection0 = premium, protection
    return np.array(hazards)


case(
    strip_hazard_rates,
    lambda n, m: dict(
        tenors=0.5 * np.arange(1.0, min(n, 5) + 1.0) + 0.02,
        spreads=0.02 + 0.01 * m.positive(min(n, 5)),
        recovery=0.4,
        times=np.array([0.73, 1.67, 2.81]),
        dfs=np.array([0.98, 0.94, 0.9]),
        per_year=2,
        steps=4,
    ),
    idiom="a list that grows into an array; zip; returns in loops; tuple assignments",
    seen="domokane/FinancePy financepy/products/credit/cds.py",
)


def _conditional_default(threshold, loading, z):
    arg = (threshold - loading * z) / math.sqrt(1.0 - loading * loading)
    return 0.5 * (1.0 + math.erf(arg / math.sqrt(2.0)))


def tranche_loss_recursion(thresholds, loadings, units, attach, detach, n_nodes=9):
    num = len(thresholds)
    if attach >= detach:
        raise ValueError("attach must be below detach")
    max_units = 0
    for i in range(num):
        max_units += units[i]
    dist = np.zeros(max_units + 1)
    expected = 0.0
    dz = 12.0 / n_nodes
    z = -6.0 + dz / 2
    for _ in range(n_nodes):
        dist[:] = 0.0
        dist[0] = 1.0
        used = 0
        for i in range(num):
            p = _conditional_default(thresholds[i], loadings[i], z)
            used += units[i]
            for k in range(used, -1, -1):
                dist[k] *= 1.0 - p
                if k >= units[i]:
                    dist[k] += p * dist[k - units[i]]
        tranche = 0.0
        for k in range(max_units + 1):
            loss = min(max(k - attach, 0), detach - attach)
            tranche += loss * dist[k]
        expected += tranche * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) * dz
        z += dz
    return expected / (detach - attach)


case(
    tranche_loss_recursion,
    lambda n, m: dict(
        thresholds=-1.0 + 0.4 * m(n),
        loadings=0.3 + 0.2 * m(n),
        units=1 + m.indices(2, n),
        attach=1,
        detach=4,
        n_nodes=6,
    ),
    idiom="a loss distribution by convolution downwards in place; whole units of loss",
    seen="domokane/FinancePy financepy/models/gauss_copula_onefactor.py",
)


def chain_ladder_mack(triangle):
    n = triangle.shape[0]
    factors = np.ones(n)
    sigma2 = np.zeros(n)
    full = triangle.copy()
    for j in range(n - 1):
        num = 0.0
        den = 0.0
        for i in range(n - 1 - j):
            num += triangle[i, j + 1]
            den += triangle[i, j]
        factors[j] = num / den
        if n - 2 - j > 0:
            for i in range(n - 1 - j):
                link = triangle[i, j + 1] / triangle[i, j]
                sigma2[j] += triangle[i, j] * (link - factors[j]) ** 2
            sigma2[j] /= n - 2 - j
        elif j >= 2:
            sigma2[j] = sigma2[j - 1] ** 2 / sigma2[j - 2]
    reserves = np.zeros(n)
    for i in range(1, n):
        for j in range(n - i, n):
            full[i, j] = full[i, j - 1] * factors[j - 1]
        reserves[i] = full[i, n - 1] - full[i, n - 1 - i]
    return factors, sigma2, reserves, reserves.sum()


case(
    chain_ladder_mack,
    lambda n, m: dict(triangle=np.cumsum(m.positive(n, n), axis=1)),
    real=9,
    idiom="triangular loops; a copy completed in place; four values returned",
    seen="public reserving scripts, find_string 'def chain_ladder('",
)


def annuity_and_premium(qx, rate, benefit, loading=0.0, timing="due", term=None):
    if timing not in ("due", "immediate"):
        raise ValueError("timing is 'due' or 'immediate'")
    if term is None:
        term = len(qx)
    v = 1.0 / (1.0 + rate)
    annuity = np.zeros(term + 1)
    insurance = np.zeros(term + 1)
    for t in range(term - 1, -1, -1):
        px = 1.0 - qx[t]
        if timing == "due":
            annuity[t] = 1.0 + v * px * annuity[t + 1]
        else:
            annuity[t] = v * px * (1.0 + annuity[t + 1])
        insurance[t] = v * (qx[t] * benefit + px * insurance[t + 1])
    if term == 0:
        return annuity, insurance
    premium = insurance[0] / annuity[0] * (1.0 + loading)
    reserve = insurance - premium * annuity
    return reserve, insurance


case(
    annuity_and_premium,
    lambda n, m: dict(
        qx=0.05 * m.positive(n), rate=0.03, benefit=10.0, timing="immediate"
    ),
    idiom="a string option, checked with in; a None default; a backward recursion",
    seen="public life annuity scripts, find_string 'def annuity_due('",
)


def _sweep_tridiagonal(lower, diag, upper, rhs, work):
    n = rhs.size
    work[0] = upper[0] / diag[0]
    rhs[0] /= diag[0]
    for i in range(1, n):
        denom = diag[i] - lower[i] * work[i - 1]
        work[i] = upper[i] / denom
        rhs[i] = (rhs[i] - lower[i] * rhs[i - 1]) / denom
    for i in range(n - 2, -1, -1):
        rhs[i] -= work[i] * rhs[i + 1]


def theta_scheme_value(
    s, strike, rate, dividend, sigma, expiry, n_time, option_type, spot, damping=2
):
    """Price, delta and gamma at `spot`; the first steps are implicit."""
    n = s.size
    if n < 3:
        raise ValueError("the grid is too short")
    dt = expiry / n_time
    if option_type == CALL:
        value = np.maximum(s - strike, 0.0)
    elif option_type == PUT:
        value = np.maximum(strike - s, 0.0)
    elif option_type == UP_AND_OUT_CALL:
        value = np.maximum(s - strike, 0.0)
        value[-1] = 0.0
    else:
        raise ValueError("unknown option type")

    lower = np.zeros(n)
    diag = np.zeros(n)
    upper = np.zeros(n)
    for i in range(1, n - 1):
        dm = s[i] - s[i - 1]
        dp = s[i + 1] - s[i]
        var = sigma * sigma * s[i] * s[i]
        drift = (rate - dividend) * s[i]
        lower[i] = (var - drift * dp) / (dm * (dm + dp))
        upper[i] = (var + drift * dm) / (dp * (dm + dp))
        diag[i] = -lower[i] - upper[i] - rate

    work = np.empty(n)
    rhs = np.empty(n)
    for k in range(n_time):
        theta = 1.0 if k < damping else 0.5
        tau = (k + 1) * dt
        df_r = math.exp(-rate * tau)
        df_q = math.exp(-dividend * tau)
        if option_type == CALL:
            rhs[0] = 0.0
            rhs[-1] = s[-1] * df_q - strike * df_r
        elif option_type == PUT:
            rhs[0] = strike * df_r - s[0] * df_q
            rhs[-1] = 0.0
        else:
            rhs[0] = rhs[-1] = 0.0
        a = -theta * dt * lower
        b = 1.0 - theta * dt * diag
        c = -theta * dt * upper
        for i in range(1, n - 1):
            moved = lower[i] * value[i - 1] + diag[i] * value[i]
            moved += upper[i] * value[i + 1]
            rhs[i] = value[i] + (1.0 - theta) * dt * moved
        _sweep_tridiagonal(a, b, c, rhs, work)
        value[:] = rhs

    i = min(max(int(np.searchsorted(s, spot)), 1), n - 2)
    dm = s[i] - s[i - 1]
    dp = s[i + 1] - s[i]
    left = (value[i] - value[i - 1]) / dm
    right = (value[i + 1] - value[i]) / dp
    gamma = 2.0 * (right - left) / (dm + dp)
    delta = (left * dp + right * dm) / (dm + dp) + gamma * (spot - s[i])
    x = spot - s[i]
    price = value[i] + (delta - gamma * x) * x + 0.5 * gamma * x * x
    return price, delta, gamma


case(
    theta_scheme_value,
    lambda n, m: dict(
        s=np.linspace(0.05, 2.6, n),
        strike=0.987,
        rate=0.03,
        dividend=0.01,
        sigma=0.3,
        expiry=0.7,
        n_time=5,
        option_type=UP_AND_OUT_CALL,
        spot=1.13,
    ),
    least=3,
    idiom="integer option types; a solver that overwrites its arguments; searchsorted",
    seen="domokane/FinancePy financepy/models/finite_difference_psor.py",
)


def censored_stationary(P, pi):
    size = P.shape[0]
    last = size - 1
    for k in range(size - 1):
        leaving = P[k, k + 1 :].sum()
        if leaving <= 0:
            # the first k + 1 states are never left
            last = k
            break
        P[k + 1 :, k] /= leaving
        for i in range(k + 1, size):
            P[i, k + 1 :] += P[i, k] * P[k, k + 1 :]
    pi[:] = 0.0
    pi[last] = 1.0
    for k in range(last - 1, -1, -1):
        pi[k] = np.dot(pi[k + 1 : last + 1], P[k + 1 : last + 1, k])
    pi /= pi.sum()


case(
    censored_stationary,
    lambda n, m: dict(P=m.positive(n, n) / n, pi=np.zeros(n)),
    out="P pi",
    least=1,
    idiom="an elimination in place, with slices on both sides; it may break early",
    seen="QuantEcon/QuantEcon.py quantecon/markov/gth_solve.py",
)
