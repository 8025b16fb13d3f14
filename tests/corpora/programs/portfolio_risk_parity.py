"""Finance: risk parity weights by multiplicative updates, drift and drawdown cost."""

import numpy as np


def ewma_covariance(returns, lam):
    T, n = returns.shape
    cov = np.zeros((n, n))
    for i in range(n):
        cov[i, i] = 1e-4
    for t in range(T):
        r = returns[t]
        cov = lam * cov + (1.0 - lam) * np.outer(r, r)
    return cov


def risk_contributions(w, cov):
    marginal = cov @ w
    total = np.sqrt(w @ marginal)
    return w * marginal / total


def risk_parity(cov, rounds):
    n = cov.shape[0]
    w = np.ones(n) / n
    for _ in range(rounds):
        rc = risk_contributions(w, cov)
        target = np.mean(rc)
        w = w * np.sqrt(target / rc)
        w = w / np.sum(w)
    return w


def max_drawdown(path):
    peak = path[0]
    worst = 0.0
    for x in path:
        if x > peak:
            peak = x
        dd = (peak - x) / peak
        worst = max(worst, dd)
    return worst


def program(returns, lam, fee, split):
    n = returns.shape[1]
    w = risk_parity(ewma_covariance(returns[:split], lam), 4)
    rest = returns[split:]
    path = np.zeros(len(rest) + 1)
    path[0] = 1.0 - fee
    for t in range(len(rest)):
        gain = 0.0
        for i in range(n):
            gain += w[i] * rest[t, i]
        path[t + 1] = path[t] * (1.0 + gain - fee)
    return np.log(path[-1]) - 0.5 * max_drawdown(path)


def inputs(rng):
    return {
        "returns": 0.02 * rng.normal(size=(14, 3)),
        "lam": 0.9,
        "fee": 0.0004,
        "split": 8,
    }
