"""Sensor fusion: gyroscope and accelerometer by a complementary quaternion filter."""

import math

import numpy as np


def quat_multiply(a, b):
    out = np.empty(4)
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    return out


def normalized(q):
    n = math.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
    return q / n


def gravity(q):
    gx = 2.0 * (q[1] * q[3] - q[0] * q[2])
    gy = 2.0 * (q[0] * q[1] + q[2] * q[3])
    gz = q[0] ** 2 - q[1] ** 2 - q[2] ** 2 + q[3] ** 2
    return gx, gy, gz


def correct(q, acc, gain):
    gx, gy, gz = gravity(q)
    ex = acc[1] * gz - acc[2] * gy
    ey = acc[2] * gx - acc[0] * gz
    ez = acc[0] * gy - acc[1] * gx
    return gain * ex, gain * ey, gain * ez


def program(gyro, accel, q0, gain, dt):
    """Tilt error at the end against the last accelerometer sample."""
    q = normalized(q0)
    for t in range(gyro.shape[0]):
        cx, cy, cz = correct(q, accel[t], gain)
        omega = np.array([0.0, gyro[t, 0] + cx, gyro[t, 1] + cy, gyro[t, 2] + cz])
        q = normalized(q + 0.5 * dt * quat_multiply(q, omega))
    gx, gy, gz = gravity(q)
    last = accel[-1]
    return (gx - last[0]) ** 2 + (gy - last[1]) ** 2 + (gz - last[2]) ** 2


def inputs(rng):
    acc = np.array([0.1, -0.2, 0.97]) + 0.05 * rng.normal(size=(5, 3))
    return {
        "gyro": rng.normal(0, 0.5, (5, 3)),
        "accel": acc,
        "q0": np.array([0.9, 0.2, -0.1, 0.3]),
        "gain": 0.8,
        "dt": 0.1,
    }
