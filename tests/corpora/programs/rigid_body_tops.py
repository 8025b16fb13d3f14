"""Mechanics: a free rigid body, Euler equations and a rotation matrix, RK4."""

import numpy as np


def cross(a, b):
    return np.array(
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    )


def skew(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def omega_dot(w, inertia, torque):
    return (torque - cross(w, inertia * w)) / inertia


def step(R, w, inertia, torque, dt):
    k1 = omega_dot(w, inertia, torque)
    k2 = omega_dot(w + 0.5 * dt * k1, inertia, torque)
    k3 = omega_dot(w + 0.5 * dt * k2, inertia, torque)
    k4 = omega_dot(w + dt * k3, inertia, torque)
    w_new = w + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    W = skew(0.5 * dt * (w + w_new))
    # second order expansion of the exponential map
    R_new = R + R @ W + 0.5 * ((R @ W) @ W)
    return R_new, w_new


def program(w0, inertia, torques, target_axis, dt):
    """Misalignment of the body's third axis after a sequence of torques."""
    R = np.eye(3)
    w = w0
    spent = 0.0
    for k in range(torques.shape[0]):
        R, w = step(R, w, inertia, torques[k], dt)
        spent += np.sum(torques[k] ** 2)
    axis = R[:, 2]
    return 1.0 - np.dot(axis, target_axis) + 1e-3 * spent


def inputs(rng):
    return {
        "w0": rng.normal(size=3),
        "inertia": np.array([1.0, 1.5, 2.2]),
        "torques": 0.3 * rng.normal(size=(4, 3)),
        "target_axis": np.array([0.6, 0.0, 0.8]),
        "dt": 0.1,
    }
