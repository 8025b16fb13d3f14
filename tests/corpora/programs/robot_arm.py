"""Robotics: a planar arm follows way points by damped least squares, its error."""

import math

import numpy as np


def forward_kinematics(q, lengths):
    x = 0.0
    y = 0.0
    angle = 0.0
    for k in range(len(q)):
        angle += q[k]
        x += lengths[k] * math.cos(angle)
        y += lengths[k] * math.sin(angle)
    return x, y


def jacobian(q, lengths):
    n = len(q)
    J = np.zeros((2, n))
    for i in range(n):
        angle = 0.0
        for k in range(i):
            angle += q[k]
        for k in range(i, n):
            angle += q[k]
            J[0, i] -= lengths[k] * math.sin(angle)
            J[1, i] += lengths[k] * math.cos(angle)
    return J


def damped_step(J, ex, ey, damping):
    # (J J^T + d I) is 2 x 2: solved by hand
    A = J @ J.T
    a = A[0, 0] + damping
    b = A[0, 1]
    d = A[1, 1] + damping
    det = a * d - b * b
    u = (d * ex - b * ey) / det
    v = (a * ey - b * ex) / det
    return J.T @ np.array([u, v])


def program(q0, lengths, waypoints, damping, gain, iterations):
    q = q0.copy()
    effort = 0.0
    error = 0.0
    for w in range(len(waypoints)):
        for _ in range(iterations):
            x, y = forward_kinematics(q, lengths)
            ex = waypoints[w, 0] - x
            ey = waypoints[w, 1] - y
            dq = damped_step(jacobian(q, lengths), ex, ey, damping)
            q += gain * dq
            effort += np.dot(dq, dq)
        x, y = forward_kinematics(q, lengths)
        error += (waypoints[w, 0] - x) ** 2 + (waypoints[w, 1] - y) ** 2
    return error + 0.01 * effort


def inputs(rng):
    return {
        "q0": np.array([0.3, 0.5, -0.2]),
        "lengths": np.array([1.0, 0.8, 0.5]),
        "waypoints": np.array([[1.2, 1.1], [0.7, 1.5], [0.2, 1.2]]),
        "damping": 0.1,
        "gain": 0.6,
        "iterations": 2,
    }
