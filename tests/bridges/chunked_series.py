"""Programs with series over time, buffers copied from chunks, and tables of places."""

from __future__ import annotations

import math

import numpy as np

from tests.bridges.chunked_functions import Case, Values, cases_of

SERIES: list[Case] = []
case = cases_of(SERIES)

H, W = 9, 6


def recorded(m: np.random.Generator) -> Values:
    return {"u": m.random(12), "s": m.random(4), "rec": np.zeros(4)}


@case(recorded, u=(0,), s=(0,))
def recorded_like_its_source(u, s, rec):
    for t in range(s.shape[0]):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i - 1] * v[i + 1] * v[i]
        u[4] += s[t]
        rec[t] = u[2]


@case(recorded, u=(0,), s=(0,), rec=(0,), steps=(1, 2))
def recorded_in_chunks(u, s, rec):
    for t in range(s.shape[0]):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i - 1] * v[i + 1] * v[i]
        rec[t] = u[2] * s[t]


@case(
    lambda m: dict(u=m.random((4, 5)), k=m.random(5)),
    u=(0,),
    k=(0,),
)
def a_buffer_for_each_row(u, k):
    for y in range(u.shape[0]):
        w = k.copy()
        for x in range(1, u.shape[1]):
            w[x] = k[x] * u[y, x]
        for x in range(1, u.shape[1]):
            u[y, x] = w[x] * w[x - 1]


@case(lambda m: dict(u=m.random(9)), u=(0,))
def a_series_of_its_own(u):
    n = u.shape[0]
    r = np.zeros(n)
    for t in range(n):
        v = u.copy()
        for i in range(1, n - 1):
            u[i] = v[i] + v[i - 1] * v[i + 1] * 0.1
        r[t] = u[5]
    for i in range(n):
        u[i] = u[i] * r[i]


@case(lambda m: dict(u=m.random((5, 3)), b=m.random((5, 3))), u=(0,), b=(0,))
def a_copy_of_all_for_each_row(u, b):
    for y in range(1, u.shape[0] - 1):
        w = b.copy()
        for x in range(u.shape[1]):
            w[y, x] = b[y, x] * u[y, x]
        for x in range(u.shape[1]):
            u[y, x] = w[y - 1, x] * w[y, x]


@case(lambda m: dict(u=m.random(12), a=m.random(4)), u=(0,), a=(0,))
def an_amplitude_that_decays(u, a):
    for t in range(a.shape[0]):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i] + v[i - 1] * v[i + 1] * a[t]
        a[t] = a[t] * 0.5


@case(lambda m: dict(u=m.random(12), q=m.random(6)), u=(0,), q=(0,), sums=True)
def misfit_in_each_step(u, q):
    s = 0.0
    for t in range(q.shape[0]):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i] + v[i - 1] * v[i + 1] * 0.1
        s += (u[5] - q[t]) ** 2
    return s


@case(lambda m: dict(u=m.random(12), h=m.random((4, 12))), u=(0,), h=(0, 1))
def a_history(u, h):
    for t in range(h.shape[0]):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i] + v[i - 1] * v[i + 1] * 0.1
        for i in range(u.shape[0]):
            h[t, i] = u[i]


@case(lambda m: dict(u=m.random(12)), u=(0,), sums=True)
def two_layers_with_one_temporary(u):
    n = u.shape[0]
    a = np.zeros(n)
    for i in range(1, n - 1):
        s = 0.0
        for k in range(3):
            s += u[i + k - 1] * (k + 1)
        a[i] = s * s
    loss = 0.0
    for i in range(1, n - 1):
        s = 0.0
        for k in range(3):
            s += a[i + k - 1] * (k + 1)
        loss += s * s
    return loss


@case(lambda m: dict(u=m.random(12), n=3), u=(0,), steps=(1, 2))
def buffers_that_change_places(u, n):
    v = u.copy()
    m = u.shape[0]
    for _t in range(n):
        for i in range(1, m - 1):
            q = u[i] * u[i]
            v[i] = u[i - 1] + q - q * q
        u, v = v, u
    return u


@case(
    lambda m: dict(
        x=m.random((H, 5)),
        w=m.random((5, 3)),
        label=m.integers(0, 3, H),
    ),
    x=(0,),
    label=(0,),
    sums=True,
)
def cross_entropy(x, w, label):
    loss = 0.0
    for b in range(x.shape[0]):
        z = np.zeros(3)
        for k in range(3):
            for j in range(5):
                z[k] += x[b, j] * w[j, k]
        total = 0.0
        for k in range(3):
            total += math.exp(z[k])
        loss += math.log(total) - z[label[b]]
    return loss / x.shape[0]


@case(
    lambda m: dict(u=m.random((H, W)), mask=m.random((H, W)) > 0.3, n=2),
    u=(0, 1),
    mask=(0, 1),
    steps=(1, 2),
)
def means_around_by_offsets(u, mask, n):
    for _t in range(n):
        v = u.copy()
        for y in range(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                if not mask[y, x]:
                    continue
                s = 0.0
                c = 0
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        if mask[y + dy, x + dx]:
                            s += v[y + dy, x + dx]
                            c += 1
                u[y, x] = s / c * v[y, x]


@case(lambda m: dict(u=m.random((H, W)), v=m.random((H, W))), u=(0, 1), v=(0, 1))
def a_table_of_neighbours(u, v):
    for y in range(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            s = 0.0
            for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                s += v[y + dy, x + dx] * (v[y, x] - dy)
            u[y, x] = s


@case(
    lambda m: dict(q=m.random(13), n=5, dt=0.1),
    q=(0,),
    steps=(1, 2, 3, 5),
    sums=True,
)
def fluxes_with_walls(q, n, dt):
    m = q.shape[0]
    for _t in range(n):
        flux = np.zeros(m + 1)
        flux[0] = 0.5 * q[0] ** 2
        flux[m] = 0.5 * q[m - 1] ** 2
        for i in range(1, m):
            flux[i] = 0.5 * (q[i - 1] * q[i])
        for i in range(m):
            q[i] = q[i] - dt * (flux[i + 1] - flux[i])
    e = 0.0
    for i in range(m):
        e += q[i] ** 3
    return e


@case(lambda m: dict(u=m.random(13), w=m.random(13)), u=(0,), w=(0,))
def offsets_that_change_on_the_way(u, w):
    o = np.zeros(u.shape[0])
    for i in range(4, u.shape[0] - 4):
        for d in (-1, 1):
            k = d
            if u[i] > 0.5:
                k = k * 2
            o[i] += u[i] * k
            e = d
            e = e + d
            o[i] += w[i + e]
            f = e
            for _z in range(2):
                f = f + 1
            o[i] *= 1.0 + 0.1 * f
    for i in range(u.shape[0]):
        u[i] = o[i]


@case(lambda m: dict(u=m.random(13), w=m.random(13)), u=(0,), w=(0,))
def tables_that_count_from_the_end(u, w):
    o = np.zeros(u.shape[0])
    off = np.array([-2, -1])
    for i in range(u.shape[0]):
        for d in (-1, -2):
            o[i] += u[i + d] * u[i]
        for k in range(2):
            w[i + off[k]] += u[i]
    for i in range(u.shape[0]):
        u[i] = o[i]


@case(
    lambda m: dict(u=m.random(13), w=m.random(13)),
    refused="only data keep this from writing outside of `o`",
    u=(0,),
    w=(0,),
)
def written_where_data_allow_it(u, w):
    o = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        if w[i] < 1.0 - 0.2 * i:
            o[i + 2] = u[i]
    for i in range(u.shape[0]):
        u[i] = o[i]


@case(lambda m: dict(u=m.random(13), w=np.arange(13) / 13), u=(0,), w=(0,))
def read_where_data_allow_it(u, w):
    o = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        if w[i] < 0.6:
            o[i] = u[i + 2] * u[i]
    for i in range(u.shape[0]):
        u[i] = o[i]


@case(
    lambda m: dict(u=m.random(13), w=m.random(13)),
    refused="data decides which elements of `w`",
    u=(0,),
    w=(0,),
)
def offsets_from_the_turn_before(u, w):
    for i in range(2, u.shape[0] - 2):
        s = 0.0
        before = 0
        for k, d in enumerate((-1, 2, 1)):
            s += w[i + before] * (1.0 + k)
            before = d
        u[i] = s * u[i]


def rounded(a):
    return a.copy()


def changed_over(a, b):
    return b, a


def spread(a, k):
    n = a.shape[0]
    out = np.zeros(n)
    for i in range(n):
        out[i] = a[i] * 0.5 + a[i - k] * a[(i + 1) % n]
    return out


def gauges(m: np.random.Generator) -> Values:
    c = 0.5 + m.random(14)
    c[[3, 9]] = np.nan
    known = m.integers(0, 3, 14).astype(np.int8)
    return dict(u=m.random(14), w=m.random(14), c=c, known=known, n=3, k=2)


@case(
    gauges,
    u=(0,),
    w=(0,),
    c=(0,),
    known=(0,),
    steps=(1, 2),
    sums=True,
)
def levels_around_an_island(u, w, c, known, n, k):
    size = u.shape[0]
    a, b = changed_over(u.copy(), w.copy())
    top = 1e-3
    for _t in range(n):
        v = rounded(a)
        for i in range(size):
            if known[i] > 0 and not np.isnan(c[i]):
                top = max(top, abs(v[i - 1]) * c[i])
        for i in range(size):
            left = i - 1 if i > 0 else size - 1
            if known[i] == 2:
                b[i] = a[i] + 0.1 * v[left] * a[(i + k) % size] / top
            elif not np.isnan(c[i]):
                b[i] = a[i] * c[i] - 0.1 * v[left]
            else:
                b[i] = a[left]
        a, b = b, a
    s = spread(a, k)
    total = 0.0
    for i in range(size):
        total += s[i] * s[i] * top
    return total
