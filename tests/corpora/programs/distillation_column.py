"""Chemical engineering: a binary column stage by stage with a bisection on pinch."""

import numpy as np


def equilibrium(x, alpha):
    return alpha * x / (1.0 + (alpha - 1.0) * x)


def inverse_equilibrium(y, alpha):
    return y / (alpha - (alpha - 1.0) * y)


def rectifying(x, reflux, xd):
    return reflux / (reflux + 1.0) * x + xd / (reflux + 1.0)


def stripping(x, boil, xb):
    return (boil + 1.0) / boil * x - xb / boil


def relaxation(x, feed, zf, feed_stage, reflux, distillate, alpha, holdup, dt):
    """One explicit step of the unsteady tray balances."""
    n = x.shape[0]
    V = (reflux + 1.0) * distillate
    L_top = reflux * distillate
    y = equilibrium(x, alpha)
    new = x.copy()
    new[0] = x[0] + dt * V * (y[1] - x[0]) / (5.0 * holdup)
    for i in range(1, n - 1):
        L_in = L_top if i <= feed_stage else L_top + feed
        L_out = L_top if i < feed_stage else L_top + feed
        balance = L_in * x[i - 1] - L_out * x[i] + V * (y[i + 1] - y[i])
        if i == feed_stage:
            balance += feed * zf
        new[i] = x[i] + dt * balance / holdup
    bottoms = feed - distillate
    L = L_top + feed
    new[n - 1] = x[n - 1] + dt * (L * x[n - 2] - V * y[n - 1] - bottoms * x[n - 1]) / (
        5.0 * holdup
    )
    return new


def program(x0, feed, zf, feed_stage, reflux, distillate, alpha, holdup, dt, steps):
    x = x0
    for _ in range(steps):
        x = relaxation(x, feed, zf, feed_stage, reflux, distillate, alpha, holdup, dt)
    purity = x[0]
    loss = x[-1]
    gap = rectifying(x[1], reflux, purity) - equilibrium(x[1], alpha)
    back = inverse_equilibrium(purity, alpha)
    return loss - purity + gap**2 + 0.1 * back + 0.01 * stripping(x[-2], 2.0, loss)


def inputs(rng):
    return {
        "x0": np.linspace(0.8, 0.2, 7) + 0.02 * rng.random(7),
        "feed": 1.0,
        "zf": 0.45,
        "feed_stage": 3,
        "reflux": 2.0,
        "distillate": 0.5,
        "alpha": 2.4,
        "holdup": 1.0,
        "dt": 0.05,
        "steps": 5,
    }
