"""Tracking: an unscented filter of a falling body, sigma points in a matrix."""

import numpy as np


def cholesky(P):
    n = P.shape[0]
    L = np.zeros_like(P)
    for j in range(n):
        s = P[j, j]
        for k in range(j):
            s -= L[j, k] ** 2
        L[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            s = P[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j]
    return L


def sigma_points(x, P, lam):
    n = len(x)
    pts = np.zeros((2 * n + 1, n))
    L = cholesky(P * (n + lam))
    pts[0] = x
    for j in range(n):
        pts[1 + j] = x + L[:, j]
        pts[1 + n + j] = x - L[:, j]
    return pts


def weights(n, lam):
    w = np.full(2 * n + 1, 0.5 / (n + lam))
    w[0] = lam / (n + lam)
    return w


def motion(s, drag, dt):
    alt, vel = s[0], s[1]
    acc = 9.8 - drag * np.exp(-alt / 10.0) * vel * vel
    return np.array([alt - dt * vel, vel + dt * acc])


def unscented_mean(pts, w):
    return w @ pts


def spread(pts, mean, w):
    n = len(mean)
    P = np.zeros((n, n))
    for k in range(len(w)):
        d = pts[k] - mean
        P += w[k] * np.outer(d, d)
    return P


def program(ranges, x0, P0, drag, q, r, baseline, dt, lam=1.0):
    x, P = x0.copy(), P0.copy()
    w = weights(len(x), lam)
    nll = 0.0
    for t in range(len(ranges)):
        pts = sigma_points(x, P, lam)
        for k in range(len(w)):
            pts[k] = motion(pts[k], drag, dt)
        x = unscented_mean(pts, w)
        P = spread(pts, x, w) + q * np.eye(2)
        z = np.sqrt(baseline**2 + pts[:, 0] ** 2)
        zbar = np.dot(w, z)
        S = r
        cross = np.zeros(2)
        for k in range(len(w)):
            S += w[k] * (z[k] - zbar) ** 2
            cross += w[k] * (z[k] - zbar) * (pts[k] - x)
        innovation = ranges[t] - zbar
        gain = cross / S
        x = x + gain * innovation
        P = P - S * np.outer(gain, gain)
        nll += 0.5 * (np.log(S) + innovation**2 / S)
    return nll


def inputs(rng):
    return {
        "ranges": np.array([30.5, 28.2, 26.1, 23.0]) + 0.2 * rng.normal(size=4),
        "x0": np.array([29.0, 2.0]),
        "P0": np.array([[1.0, 0.1], [0.1, 0.5]]),
        "drag": 0.2,
        "q": 0.05,
        "r": 0.3,
        "baseline": 10.0,
        "dt": 0.5,
    }
