"""Electrical machines: field-oriented control of a motor, three results per helper."""

import numpy as np

TWO_THIRDS = 2.0 / 3.0
ROOT3 = np.sqrt(3.0)


def clarke(ia, ib, ic):
    alpha = TWO_THIRDS * (ia - 0.5 * ib - 0.5 * ic)
    beta = (ib - ic) / ROOT3
    return alpha, beta


def park(alpha, beta, theta):
    c, s = np.cos(theta), np.sin(theta)
    return alpha * c + beta * s, beta * c - alpha * s


def inverse(d, q, theta):
    c, s = np.cos(theta), np.sin(theta)
    alpha, beta = d * c - q * s, d * s + q * c
    return alpha, -0.5 * alpha + 0.5 * ROOT3 * beta, -0.5 * alpha - 0.5 * ROOT3 * beta


def limit(x, bound):
    return bound * np.tanh(x / bound)


def motor(state, va, vb, vc, load, par, dt):
    """Currents in the rotating frame, speed and angle."""
    alpha, beta = clarke(va, vb, vc)
    vd, vq = park(alpha, beta, state[3])
    i_d, i_q, w, theta = state
    r, l, flux, inertia = par
    new = np.empty(4)
    new[0] = i_d + dt * (vd - r * i_d + w * l * i_q) / l
    new[1] = i_q + dt * (vq - r * i_q - w * (l * i_d + flux)) / l
    new[2] = w + dt * (1.5 * flux * i_q - load) / inertia
    new[3] = theta + dt * w
    return new


def program(state0, reference, gains, load, par, dt=0.01):
    state = state0.copy()
    integral = 0.0
    cost = 0.0
    for k in range(len(reference)):
        error = reference[k] - state[2]
        integral += dt * error
        iq_ref = limit(gains[0] * error + gains[1] * integral, 3.0)
        vd = -gains[2] * state[0]
        vq = gains[2] * (iq_ref - state[1])
        va, vb, vc = inverse(vd, vq, state[3])
        state = motor(state, va, vb, vc, load[k], par, dt)
        cost += dt * (error**2 + 0.1 * state[0] ** 2)
    return cost


def inputs(rng):
    return {
        "state0": np.array([0.1, 0.2, 1.0, 0.3]),
        "reference": rng.uniform(1.0, 2.0, 6),
        "gains": np.array([1.2, 3.0, 2.0]),
        "load": rng.uniform(0.1, 0.3, 6),
        "par": np.array([0.5, 0.05, 0.2, 0.02]),
    }
