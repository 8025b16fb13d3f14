"""Ecology: prey and predator with a seasonal harvest, discounted yield."""

import numpy as np


def seasonal(t, amplitude):
    return 1.0 + amplitude * np.sin(2.0 * np.pi * t)


def growth(state, t, par, effort):
    prey, pred = state
    r, k, a, h, e, m = par[0], par[1], par[2], par[3], par[4], par[5]
    eaten = a * prey / (1.0 + a * h * prey) * pred
    dprey = r * seasonal(t, 0.2) * prey * (1.0 - prey / k) - eaten - effort * prey
    dpred = e * eaten - m * pred
    return dprey, dpred


def rk4(prey, pred, t, dt, par, effort):
    a1, b1 = growth((prey, pred), t, par, effort)
    a2, b2 = growth(
        (prey + 0.5 * dt * a1, pred + 0.5 * dt * b1), t + 0.5 * dt, par, effort
    )
    a3, b3 = growth(
        (prey + 0.5 * dt * a2, pred + 0.5 * dt * b2), t + 0.5 * dt, par, effort
    )
    a4, b4 = growth((prey + dt * a3, pred + dt * b3), t + dt, par, effort)
    prey += dt / 6.0 * (a1 + 2 * a2 + 2 * a3 + a4)
    pred += dt / 6.0 * (b1 + 2 * b2 + 2 * b3 + b4)
    return prey, pred


def program(efforts, par, prey0, pred0, price, discount, dt):
    prey, pred = prey0, pred0
    profit = 0.0
    t = 0.0
    for k in range(len(efforts)):
        catch = efforts[k] * prey
        profit += np.exp(-discount * t) * (price * catch - 0.5 * efforts[k] ** 2) * dt
        prey, pred = rk4(prey, pred, t, dt, par, efforts[k])
        t += dt
    collapse = 1.0 / (1.0 + (prey / 0.2) ** 4)
    return profit - 5.0 * collapse


def inputs(rng):
    return {
        "efforts": rng.uniform(0.1, 0.6, 6),
        "par": np.array([1.2, 2.0, 1.5, 0.4, 0.5, 0.3]),
        "prey0": 0.9,
        "pred0": 0.4,
        "price": 3.0,
        "discount": 0.05,
        "dt": 0.25,
    }
