"""Time series: soft dynamic time warping with the smooth minimum."""

import numpy as np

BIG = 1e10


def softmin3(a, b, c, gamma):
    lo = min(a, min(b, c))
    s = np.exp(-(a - lo) / gamma)
    s += np.exp(-(b - lo) / gamma)
    s += np.exp(-(c - lo) / gamma)
    return lo - gamma * np.log(s)


def pairwise(x, y):
    n, d = x.shape
    m = y.shape[0]
    D = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            acc = 0.0
            for k in range(d):
                diff = x[i, k] - y[j, k]
                acc += diff * diff
            D[i, j] = acc
    return D


def soft_dtw(D, gamma):
    n, m = D.shape
    R = np.full((n + 1, m + 1), BIG)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = softmin3(R[i - 1, j - 1], R[i - 1, j], R[i, j - 1], gamma)
            R[i, j] = D[i - 1, j - 1] + best
    return R[n, m]


def program(x, y, gamma=0.5):
    xy = soft_dtw(pairwise(x, y), gamma)
    xx = soft_dtw(pairwise(x, x), gamma)
    yy = soft_dtw(pairwise(y, y), gamma)
    return xy - 0.5 * (xx + yy)


def inputs(rng):
    return {"x": rng.normal(size=(5, 2)), "y": rng.normal(size=(4, 2)), "gamma": 0.7}
