"""Control: a cart-pole swing, controls refined by gradient steps of a hand adjoint."""

import numpy as np

G = 9.81


def dynamics(s, u, mc, mp, l):
    th, v, w = s[1], s[2], s[3]
    st = np.sin(th)
    ct = np.cos(th)
    total = mc + mp
    tmp = (u + mp * l * w * w * st) / total
    alpha = (G * st - ct * tmp) / (l * (4.0 / 3.0 - mp * ct * ct / total))
    acc = tmp - mp * l * alpha * ct / total
    return np.array([v, w, acc, alpha])


def rollout(s0, u, dt, mc, mp, l):
    n = len(u)
    states = np.zeros((n + 1, 4))
    states[0] = s0
    for k in range(n):
        f = dynamics(states[k], u[k], mc, mp, l)
        mid = states[k] + 0.5 * dt * f
        states[k + 1] = states[k] + dt * dynamics(mid, u[k], mc, mp, l)
    return states


def stage_cost(s, u):
    return 0.1 * s[0] ** 2 + (1 - np.cos(s[1])) + 0.01 * u * u


def program(u, s0, dt, mc, mp, l, limit):
    states = rollout(s0, u, dt, mc, mp, l)
    cost = 0.0
    for k in range(len(u)):
        cost += dt * stage_cost(states[k], u[k])
        # a log barrier keeps the cart on the track
        room = limit**2 - states[k + 1, 0] ** 2
        if room <= 0.0:
            cost += 100.0
            break
        cost -= 1e-3 * np.log(room)
    last = states[-1]
    return cost + 5.0 * np.sum(last**2)


def inputs(rng):
    return {
        "u": rng.normal(0, 2.0, 6),
        "s0": np.array([0.1, 0.4, 0.0, -0.2]),
        "dt": 0.05,
        "mc": 1.0,
        "mp": 0.2,
        "l": 0.5,
        "limit": 2.0,
    }
