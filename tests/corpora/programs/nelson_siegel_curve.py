"""Finance: a yield curve fitted to coupon bonds, price errors weighted by duration."""

import numpy as np


def zero_rate(t, b0, b1, b2, tau):
    x = t / tau
    if x < 1e-8:
        return b0 + b1
    load = (1.0 - np.exp(-x)) / x
    return b0 + b1 * load + b2 * (load - np.exp(-x))


def discount(t, beta):
    return np.exp(-t * zero_rate(t, beta[0], beta[1], beta[2], beta[3]))


def bond_price(maturity, coupon, beta, freq=2):
    price = 0.0
    n = int(maturity * freq)
    for k in range(1, n + 1):
        price += coupon / freq * discount(k / freq, beta)
    return price + 100.0 * discount(n / freq, beta)


def duration(maturity, coupon, beta, freq=2):
    num = 0.0
    den = 0.0
    k = 1
    while k <= int(maturity * freq):
        t = k / freq
        cash = coupon / freq
        if k == int(maturity * freq):
            cash += 100.0
        pv = cash * discount(t, beta)
        num += t * pv
        den += pv
        k += 1
    return num / den


def program(beta, coupons, prices, maturities):
    loss = 0.0
    for i in range(len(prices)):
        model = bond_price(maturities[i], coupons[i], beta, freq=2)
        w = 1.0 / duration(maturities[i], coupons[i], beta)
        loss += w * (model - prices[i]) ** 2
    return loss


def inputs(rng):
    return {
        "beta": np.array([0.04, -0.02, 0.01, 1.7]),
        "coupons": rng.uniform(1.0, 5.0, 4),
        "prices": rng.uniform(95.0, 105.0, 4),
        "maturities": np.array([1, 2, 3, 5]),
    }
