"""Medical imaging: Bloch equations of a shaped pulse over isochromats."""

import numpy as np


def rotate_z(m, angle):
    c, s = np.cos(angle), np.sin(angle)
    x = c * m[0] + s * m[1]
    y = -s * m[0] + c * m[1]
    m[0] = x
    m[1] = y


def rotate_x(m, angle):
    c, s = np.cos(angle), np.sin(angle)
    y = c * m[1] + s * m[2]
    z = -s * m[1] + c * m[2]
    m[1] = y
    m[2] = z


def relax(m, dt, t1, t2):
    e1 = np.exp(-dt / t1)
    e2 = np.exp(-dt / t2)
    m[0] *= e2
    m[1] *= e2
    m[2] = 1.0 + (m[2] - 1.0) * e1


def simulate(pulse, offset, gradient, dt, t1, t2):
    m = np.array([0.0, 0.0, 1.0])
    for k in range(len(pulse)):
        rotate_z(m, 0.5 * dt * gradient * offset)
        rotate_x(m, pulse[k] * dt)
        rotate_z(m, 0.5 * dt * gradient * offset)
        relax(m, dt, t1, t2)
    # refocus
    rotate_z(m, -0.5 * dt * len(pulse) * gradient * offset)
    return m


def program(pulse, offsets, wanted, gradient, dt, t1, t2, power_weight):
    loss = 0.0
    for i in range(len(offsets)):
        m = simulate(pulse, offsets[i], gradient, dt, t1, t2)
        d = m - wanted[i]
        loss += d @ d
    power = 0.0
    for p in pulse:
        power += p * p * dt
    return loss + power_weight * power


def inputs(rng):
    return {
        "pulse": rng.uniform(0.2, 1.0, 6),
        "offsets": np.linspace(-1.0, 1.0, 4),
        "wanted": np.array([[0, 0, 1.0], [0, 1.0, 0], [0, 1.0, 0], [0, 0, 1.0]]),
        "gradient": 2.0,
        "dt": 0.3,
        "t1": 10.0,
        "t2": 2.0,
        "power_weight": 0.01,
    }
