"""Turbomachinery: a gas turbine cycle with map lookup and matching by secant."""

import numpy as np

GAMMA = 1.4
CP = 1005.0


def interp2(table, u, v):
    """Bilinear on a unit grid, clamped."""
    n, m = table.shape
    u = min(max(u, 0.0), n - 1.001)
    v = min(max(v, 0.0), m - 1.001)
    i = int(u)
    j = int(v)
    a = u - i
    b = v - j
    low = (1 - b) * table[i, j] + b * table[i, j + 1]
    high = (1 - b) * table[i + 1, j] + b * table[i + 1, j + 1]
    return (1 - a) * low + a * high


def compress(t_in, ratio, eta):
    return t_in * (1.0 + (ratio ** ((GAMMA - 1.0) / GAMMA) - 1.0) / eta)


def expand(t_in, ratio, eta):
    return t_in * (1.0 - eta * (1.0 - ratio ** (-(GAMMA - 1.0) / GAMMA)))


def mismatch(speed, ratio, fuel, pr_map, eta_map):
    flow = 1.0 + 2.0 * speed
    delivered = interp2(pr_map, 2.0 * speed, flow - 1.0)
    return delivered * (1.0 - 0.02 * fuel) - ratio, interp2(
        eta_map, 2.0 * speed, flow - 1.0
    )


def match_speed(ratio, fuel, pr_map, eta_map):
    s0, s1 = 0.55, 0.75
    f0, _ = mismatch(s0, ratio, fuel, pr_map, eta_map)
    f1, eta = mismatch(s1, ratio, fuel, pr_map, eta_map)
    k = 0
    while abs(f1) > 1e-13 and k < 30:
        s2 = s1 - f1 * (s1 - s0) / (f1 - f0)
        s0, f0 = s1, f1
        s1 = s2
        f1, eta = mismatch(s1, ratio, fuel, pr_map, eta_map)
        k += 1
    return s1, eta


def program(ratios, fuel, t_amb, pr_map, eta_map, eta_turbine):
    total = 0.0
    for r in range(len(ratios)):
        speed, eta = match_speed(ratios[r], fuel[r], pr_map, eta_map)
        t2 = compress(t_amb, ratios[r], eta)
        t3 = t2 + 400.0 * fuel[r]
        t4 = expand(t3, ratios[r] * 0.97, eta_turbine)
        work = (t3 - t4) - (t2 - t_amb)
        total += work / (t3 - t2) + 0.01 * speed
    return total / len(ratios)


def inputs(rng):
    speeds = np.arange(4)[:, None]
    flows = np.arange(5)[None, :]
    return {
        "ratios": np.array([7.3, 8.9]),
        "fuel": np.array([1.5, 1.8]),
        "t_amb": 290.0,
        "pr_map": 2.0 + 5.0 * speeds - 0.3 * flows + 0.2 * rng.random((4, 5)),
        "eta_map": 0.8 + 0.02 * rng.random((4, 5)),
        "eta_turbine": 0.88,
    }
