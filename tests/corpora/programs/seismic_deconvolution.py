"""Seismology: predictive deconvolution with Levinson recursion, spikiness."""

import numpy as np


def autocorrelation(x, lags):
    n = len(x)
    r = np.zeros(lags)
    for k in range(lags):
        for i in range(n - k):
            r[k] += x[i] * x[i + k]
    return r


def levinson(r, order):
    a = np.zeros(order + 1)
    a[0] = 1.0
    err = r[0]
    tmp = np.zeros(order + 1)
    for m in range(1, order + 1):
        acc = r[m]
        for i in range(1, m):
            acc += a[i] * r[m - i]
        k = -acc / err
        for i in range(1, m):
            tmp[i] = a[i] + k * a[m - i]
        for i in range(1, m):
            a[i] = tmp[i]
        a[m] = k
        err *= 1.0 - k * k
    return a, err


def convolve_same(x, f):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(len(f)):
            if i - j < 0:
                break
            y[i] += f[j] * x[i - j]
    return y


def program(trace, white, order=3):
    r = autocorrelation(trace, order + 1)
    r[0] *= 1.0 + white
    f, err = levinson(r, order)
    y = convolve_same(trace, f)
    m2 = np.mean(y**2)
    m4 = np.mean(y**4)
    return m4 / m2**2 + 0.1 * np.log(err)


def inputs(rng):
    return {"trace": rng.normal(size=12), "white": 0.01}
