"""Robotics: a pose graph in the plane, one Gauss-Newton step per call, chi squared."""

import math

import numpy as np


def wrap(a):
    while a > math.pi:
        a -= 2.0 * math.pi
    while a < -math.pi:
        a += 2.0 * math.pi
    return a


def relative(pose_i, pose_j):
    dx = pose_j[0] - pose_i[0]
    dy = pose_j[1] - pose_i[1]
    c = math.cos(pose_i[2])
    s = math.sin(pose_i[2])
    return c * dx + s * dy, -s * dx + c * dy, wrap(pose_j[2] - pose_i[2])


def edge_error(poses, i, j, measured, weight):
    x, y, a = relative(poses[i], poses[j])
    ex = x - measured[0]
    ey = y - measured[1]
    ea = wrap(a - measured[2])
    return weight[0] * (ex * ex + ey * ey) + weight[1] * ea * ea


def robust(e, scale):
    # Geman-McClure
    return e / (scale + e)


def chain(odometry, start):
    n = odometry.shape[0]
    poses = np.zeros((n + 1, 3))
    poses[0] = start
    for k in range(n):
        c = math.cos(poses[k, 2])
        s = math.sin(poses[k, 2])
        poses[k + 1, 0] = poses[k, 0] + c * odometry[k, 0] - s * odometry[k, 1]
        poses[k + 1, 1] = poses[k, 1] + s * odometry[k, 0] + c * odometry[k, 1]
        poses[k + 1, 2] = wrap(poses[k, 2] + odometry[k, 2])
    return poses


def program(odometry, start, corrections, edges, measured, weight, scale=2.0):
    poses = chain(odometry, start) + corrections
    chi2 = 0.0
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        err = edge_error(poses, i, j, measured[e], weight)
        if j - i > 1:
            err = robust(err, scale)
        chi2 += err
    return chi2


def inputs(rng):
    odo = np.array([[1.0, 0.0, 1.2], [1.0, 0.1, 1.1], [0.9, 0.0, 1.3], [1.1, 0.0, 1.2]])
    return {
        "odometry": odo + 0.05 * rng.normal(size=odo.shape),
        "start": np.array([0.1, -0.2, 0.3]),
        "corrections": 0.05 * rng.normal(size=(5, 3)),
        "edges": np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4], [1, 4]]),
        "measured": rng.normal(0.5, 0.5, (6, 3)),
        "weight": np.array([2.0, 5.0]),
    }
