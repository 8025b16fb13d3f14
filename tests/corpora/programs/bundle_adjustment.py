"""Computer vision: bundle adjustment with Rodrigues rotations and radial distortion."""

import numpy as np


def rotate(r, p):
    theta2 = np.dot(r, r)
    if theta2 < 1e-12:
        return p + cross(r, p)
    theta = np.sqrt(theta2)
    k = r / theta
    c = np.cos(theta)
    s = np.sin(theta)
    return p * c + cross(k, p) * s + k * (np.dot(k, p) * (1.0 - c))


def cross(a, b):
    c = np.empty(3)
    c[0] = a[1] * b[2] - a[2] * b[1]
    c[1] = a[2] * b[0] - a[0] * b[2]
    c[2] = a[0] * b[1] - a[1] * b[0]
    return c


def project(camera, point):
    p = rotate(camera[:3], point) + camera[3:6]
    u = -p[0] / p[2]
    v = -p[1] / p[2]
    r2 = u * u + v * v
    distortion = 1.0 + r2 * (camera[7] + r2 * camera[8])
    return camera[6] * distortion * u, camera[6] * distortion * v


def cauchy(e2, c):
    return c * c * np.log(1.0 + e2 / (c * c))


def program(cameras, points, obs, cam_index, point_index, c):
    total = 0.0
    for k in range(obs.shape[0]):
        u, v = project(cameras[cam_index[k]], points[point_index[k]])
        du = u - obs[k, 0]
        dv = v - obs[k, 1]
        total += cauchy(du * du + dv * dv, c)
    return total


def inputs(rng):
    cams = np.zeros((2, 9))
    cams[:, :3] = 0.2 * rng.normal(size=(2, 3))
    cams[:, 3:6] = 0.1 * rng.normal(size=(2, 3))
    cams[:, 5] -= 5.0
    cams[:, 6] = 2.0
    cams[:, 7] = 0.05
    cams[:, 8] = 0.01
    return {
        "cameras": cams,
        "points": rng.uniform(-1, 1, (4, 3)),
        "obs": rng.uniform(-0.5, 0.5, (6, 2)),
        "cam_index": np.array([0, 0, 0, 1, 1, 1]),
        "point_index": np.array([0, 1, 2, 1, 2, 3]),
        "c": 0.6,
    }
