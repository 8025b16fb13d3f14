"""Greatest and least values over chunks, and what is done with them."""

from __future__ import annotations

import numpy as np

from tests.bridges.chunked_functions import Case, Values, cases_of

EXTREMES: list[Case] = []
case = cases_of(EXTREMES)

H, W = 9, 6


def line(m: np.random.Generator) -> Values:
    return {"u": m.standard_normal(13)}


def plane(m: np.random.Generator) -> Values:
    return {"u": m.standard_normal((H, W)), "c": m.random((H, W)), "n": 3}


@case(plane, u=(0, 1), c=(0, 1))
def greatest(u, c, n):
    m = 0.0
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            m = max(m, abs(u[y, x]) * c[y, x])
    return m


@case(line, u=(0,))
def by_a_test(u):
    m = -1e300
    for i in range(1, u.shape[0]):
        slope = u[i] - u[i - 1]
        if slope > m:
            m = slope
    return m * m


@case(line, u=(0,))
def of_numpy(u):
    return np.max(u) - np.min(u) * np.abs(u).max()


@case(plane, u=(0, 1), c=(0, 1), sums=True)
def scaled_to_one(u, c, n):
    low = u[0, 0]
    high = u[0, 0]
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            low = min(low, u[y, x])
            high = max(high, u[y, x])
    s = 0.0
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            u[y, x] = (u[y, x] - low) / (high - low)
            s += u[y, x] * c[y, x]
    return s


@case(plane, u=(0, 1), c=(0, 1), sums=True)
def log_of_a_sum_of_exponentials(u, c, n):
    m = u[0, 0]
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            m = max(m, u[y, x])
    s = 0.0
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            s += np.exp(u[y, x] - m)
    return m + np.log(s)


@case(plane, u=(0, 1), c=(0, 1), steps=(1, 2))
def steps_as_long_as_they_may_be(u, c, n):
    time = 0.0
    for _t in range(n):
        fastest = 1e-12
        for y in range(u.shape[0]):
            for x in range(u.shape[1]):
                if abs(u[y, x]) > fastest:
                    fastest = abs(u[y, x])
        dt = 0.2 / fastest
        time += dt
        v = u.copy()
        for y in range(1, u.shape[0] - 1):
            for x in range(u.shape[1]):
                u[y, x] = v[y, x] - dt * v[y, x] * (v[y, x] - v[y - 1, x]) * c[y, x]
    return time


@case(plane, u=(0,), c=(0,))
def greatest_of_each_column(u, c, n):
    m = np.full(u.shape[1], -10.0)
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            m[x] = max(m[x], u[y, x] * c[y, x])
    return m


@case(plane, u=(0, 1), c=(0, 1), steps=(1, 2, 3))
def greatest_over_time(u, c, n):
    m = 0.0
    for _t in range(n):
        v = u.copy()
        for y in range(1, u.shape[0] - 1):
            for x in range(u.shape[1]):
                u[y, x] = v[y, x] + c[y, x] * (v[y - 1, x] * v[y + 1, x] - v[y, x])
                m = max(m, u[y, x] * u[y, x])
    return m


@case(line, u=(0,))
def with_what_was_given_before(u):
    m = u[3] * 2.0
    for i in range(u.shape[0]):
        m = np.maximum(u[i] * 0.1, m)
    return m


def gaps(m: np.random.Generator) -> Values:
    u = m.standard_normal(13)
    u[[2, 7]] = np.nan
    return {"u": u, "w": m.standard_normal(13)}


@case(gaps, u=(0,), w=(0,))
def greatest_without_gaps(u, w):
    m = 0.0
    for i in range(u.shape[0]):
        known = not np.isnan(u[i])
        if known:
            m = max(m, w[i])
    return m


@case(line, u=(0,), refused="`m` is in one piece")
def one_that_forgets(u):
    m = 0.0
    for i in range(u.shape[0]):
        m = max(u[i], m)
    return m


@case(line, u=(0,), refused="`k` is in one piece")
def where_it_is(u):
    m = u[0]
    k = 0
    for i in range(u.shape[0]):
        if u[i] > m:
            m = u[i]
            k = i
    return k
