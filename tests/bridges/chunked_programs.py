"""Small programs whose blocks have to hand on more than chunks, or to know more than
their own: numbers and rows in one piece, steps that decide, elements far away.

Most of them once came out wrong, or were refused for no reason.
"""

from __future__ import annotations

import math

import numpy as np

from tests.bridges.chunked_functions import Case, cases_of

PROGRAMS: list[Case] = []
case = cases_of(PROGRAMS)

H, W = 9, 6


# ------------------------------------------------------------------ into one piece


@case(lambda m: dict(u=m.random(12), o=m.random(13)), sums=True, u=(0,))
def flipped_out(u, o):
    for i in range(12):
        o[11 - i] = u[i] ** 2
    for i in range(1, 12):
        u[i] += o[i] * o[i - 1]


@case(lambda m: dict(u=m.random(12), o=m.random(13)), sums=True, u=(0,))
def permuted_out(u, o):
    for i in range(12):
        o[(i * 5) % 13] = u[i] ** 2


@case(lambda m: dict(u=m.random(12), o=m.random(4)), sums=True, u=(0,))
def every_third(u, o):
    for i in range(0, 12, 3):
        o[i // 3] = u[i] ** 2


@case(lambda m: dict(u=m.random((H, W)), o=m.random((W, H))), sums=True, u=(0, 1))
def turned(u, o):
    h = u.shape[0]
    w = u.shape[1]
    for y in range(h):
        for x in range(w):
            o[w - 1 - x, y] = u[y, x] ** 2


@case(lambda m: dict(u=m.random(12), o=m.random(3)), sums=True, u=(0,))
def sampled(u, o):
    o[0] = u[2]
    o[1] = u[7] * u[8]
    o[2] += u[11]


@case(lambda m: dict(u=m.random(12)), sums=True, u=(0,))
def picked(u):
    a = u[3]
    b = u[-1]
    for i in range(12):
        u[i] = u[i] * a
    return a * b + u[5]


@case(lambda m: dict(u=m.random(12)), sums=True, u=(0,))
def softmax(u):
    m = u[0]
    s = 0.0
    for i in range(u.shape[0]):
        s += math.exp(u[i] - m)
    out = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        out[i] = math.exp(u[i] - m) / s
    return out


@case(
    lambda m: dict(u=m.random(12), k=m.integers(0, 4, 12), o=m.random(4)),
    sums=True,
    u=(0,),
    k=(0,),
)
def group_means(u, k, o):
    count = np.zeros(4)
    total = np.zeros(4)
    for i in range(12):
        count[k[i]] += 1.0
        total[k[i]] += u[i]
    for g in range(4):
        o[g] = total[g] / max(count[g], 1.0)
    for i in range(12):
        u[i] -= o[k[i]]


@case(lambda m: dict(u=m.random(12), w=m.random(12) > 0.5), sums=True, u=(0,), w=(0,))
def masked_mean(u, w):
    s = 0.0
    c = 0
    for i in range(12):
        if w[i]:
            s += u[i]
            c += 1
    return s / max(c, 1)


@case(lambda m: dict(u=m.random(12), k=2, j=5), sums=True, u=(0,))
def tests_of_sizes_and_values(u, k, j):
    w = 1.0
    if k > 1 and u.shape[0] > 3:
        for i in range(j):
            u[i] = u[i] * 2
        w = 2.0
    else:
        w = u[0]
    if w > 1.5:
        w = w * u[j]
    elif u[1] > 0.3:
        w = 3.0
    for i in range(u.shape[0]):
        u[i] *= w
    return w


@case(lambda m: dict(u=m.random(12)), sums=True, u=(0,))
def values_are_checked(u):
    if u[0] < 0:
        raise ValueError("below zero")
    s = 0.0
    for i in range(12):
        s += u[i]
    if s < 0:
        raise ValueError("less than nothing")
    return s


# ------------------------------------------------------------------ far and around


@case(lambda m: dict(u=m.random(12)), gathers=False, u=(0,))
def periodic(u):
    n = u.shape[0]
    out = np.empty_like(u)
    for i in range(n):
        out[i] = u[(i + 1) % n] * u[(i - 1) % n] + u[i - 1]
    return out


@case(lambda m: dict(u=m.random(12)), u=(0,))
def reflected(u):
    n = u.shape[0]
    out = np.empty_like(u)
    for i in range(n):
        left = i - 1 if i > 0 else 1
        right = i + 1 if i < n - 1 else n - 2
        out[i] = u[left] * u[right]
    return out


@case(lambda m: dict(u=m.random(12), r=2), u=(0,))
def window_mean(u, r):
    n = u.shape[0]
    out = np.zeros(n)
    for i in range(n):
        s = 0.0
        c = 0
        for j in range(max(0, i - r), min(n, i + r + 1)):
            s += u[j] ** 2
            c += 1
        out[i] = s / c
    return out


@case(
    lambda m: dict(a=m.random(12), b=m.random(12), c=m.random(12)),
    a=(0,),
    b=(0,),
    c=(0,),
)
def products_of_neighbours(a, b, c):
    for i in range(2, a.shape[0]):
        b[i] = a[i] * a[i - 1]
        c[i] = b[i - 1] * b[i] + b[i - 2]


@case(lambda m: dict(a=m.random((8, 8))), a=(0, 1))
def symmetric(a):
    n = a.shape[0]
    o = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            o[i, j] = a[i, j] * a[j, i]
            o[j, i] = a[i, j] + a[j, i]
    return o


@case(lambda m: dict(u=m.random(16)), u=(0,))
def haar(u):
    n = u.shape[0] // 2
    a = np.zeros(n)
    d = np.zeros(n)
    for i in range(n):
        a[i] = (u[2 * i] + u[2 * i + 1]) * u[2 * i]
        d[i] = u[2 * i] - u[2 * i + 1]
    for i in range(n):
        u[i] = a[i]
        u[n + i] = d[i] ** 2


@case(lambda m: dict(u=m.random((H, W))), gathers=False, u=(0, 1))
def rows_of_their_own(u):
    for y in range(u.shape[0]):
        w = np.zeros(u.shape[1])
        for x in range(u.shape[1]):
            w[x] = u[y, x] ** 2
        for x in range(1, u.shape[1]):
            u[y, x] = w[x] * w[x - 1]


# ------------------------------------------------------------------ over time


@case(lambda m: dict(u=m.random(12), n=5), steps=(1, 2, 3), u=(0,))
def places_change(u, n):
    v = u.copy()
    for _t in range(n):
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1]) * u[i]
        u, v = v, u
    return u.copy()


def neighbours(u, i):
    return u[i - 1] - 2 * u[i] + u[i + 1]


@case(lambda m: dict(u=m.random(12), n=5, dt=0.1), steps=(1, 3), sums=True, u=(0,))
def three_change_places(u, n, dt):
    a = u.copy()
    b = u.copy()
    c = np.zeros_like(u)
    for _t in range(n):
        for i in range(1, u.shape[0] - 1):
            c[i] = 2 * b[i] - a[i] + dt * neighbours(b, i) * b[i]
        a, b, c = b, c, a
    s = 0.0
    for i in range(12):
        s += b[i] ** 2
    return s


def stepped(u, dt):
    v = np.zeros_like(u)
    for i in range(1, u.shape[0] - 1):
        v[i] = u[i] + dt * neighbours(u, i)
    return v


@case(lambda m: dict(u=m.random(12), n=4, dt=0.1), steps=(1, 3), u=(0,))
def steps_of_a_helper(u, n, dt):
    for _t in range(n):
        u = stepped(u, dt)
    return u


@case(
    lambda m: dict(u=m.random(12), out=m.random(5), n=5),
    steps=(1, 3),
    sums=True,
    u=(0,),
)
def energy_of_each_step(u, out, n):
    for t in range(n):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i] + 0.1 * (v[i - 1] - 2 * v[i] + v[i + 1])
        e = 0.0
        for i in range(u.shape[0]):
            e += u[i] ** 2
        out[t] = 0.5 * e


@case(lambda m: dict(u=m.random(12), n=4), steps=(1, 3), sums=True, u=(0,))
def power_iteration(u, n):
    for _t in range(n):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i - 1] + v[i] * v[i + 1]
        s = 0.0
        for i in range(u.shape[0]):
            s += u[i] * u[i]
        r = math.sqrt(s)
        for i in range(u.shape[0]):
            u[i] /= r


@case(lambda m: dict(u=m.random(12), n=6, most=0.05), steps=(2,), sums=True, u=(0,))
def changes_above(u, n, most):
    e = 0.0
    for _t in range(n):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i] + 0.2 * (v[i - 1] - 2 * v[i] + v[i + 1]) * v[i]
        d = 0.0
        for i in range(u.shape[0]):
            d += (u[i] - v[i]) ** 2
        if d > most:
            e += d
    return e


@case(
    lambda m: dict(u=m.random(12), rec=m.random((6, 3)), n=6),
    steps=(1, 3, 4),
    sums=True,
    u=(0,),
)
def receivers(u, rec, n):
    for t in range(n):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i] + 0.2 * (v[i - 1] - 2 * v[i] + v[i + 1]) * v[i]
        for k in range(3):
            rec[t, k] = u[4 * k] * 2.0


@case(
    lambda m: dict(u=m.random(12), rec=m.random((6, 3)), n=6),
    steps=(1, 3),
    sums=True,
    u=(0,),
)
def receivers_overwritten(u, rec, n):
    for t in range(n):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i] + 0.2 * (v[i - 1] - 2 * v[i] + v[i + 1]) * v[i]
        for k in range(3):
            rec[t // 2, k] = u[4 * k] * 2.0
        rec[5, 1] = 0.5 * (u[3] + u[7])


@case(
    lambda m: dict(u=m.random(10), src=m.random((6, 10)), rec=m.random((6, 2))),
    steps=(1, 2),
    sums=True,
    u=(0,),
    src=(1,),
)
def sources_and_receivers(u, src, rec):
    up = u.copy()
    for t in range(src.shape[0]):
        un = np.zeros_like(u)
        for x in range(1, u.shape[0] - 1):
            un[x] = 2 * u[x] - up[x] + 0.3 * neighbours(u, x) + src[t, x]
        for x in range(u.shape[0]):
            up[x] = u[x]
            u[x] = un[x]
        rec[t, 0] = u[3]
        rec[t, 1] = u[7] * t


@case(lambda m: dict(u=m.random(12), n=6), steps=(1, 2, 3), u=(0,))
def by_turns(u, n):
    out = np.zeros_like(u)
    for t in range(n):
        if t % 2 == 0:
            for i in range(1, u.shape[0] - 1):
                out[i] = u[i - 1] * 0.5 + u[i + 1] * 0.3 + t
        else:
            for i in range(1, u.shape[0] - 1):
                u[i] = out[i - 1] * 0.5 + 0.2 * out[i + 1] * out[i]


@case(lambda m: dict(u=m.random(12), n=6), steps=(1, 2), u=(0,))
def copies_by_turns(u, n):
    for t in range(n):
        if t % 2 == 0:
            v = u.copy()
            for i in range(1, u.shape[0] - 1):
                u[i] = v[i - 1] * v[i + 1]
        else:
            for i in range(u.shape[0]):
                u[i] = u[i] * 0.5 + t


@case(lambda m: dict(u=m.random(12), n=6), steps=(1, 2), u=(0,))
def inner_steps(u, n):
    for t in range(n):
        for _k in range(t % 3):
            v = u.copy()
            for i in range(1, u.shape[0] - 1):
                u[i] = v[i] + 0.1 * (v[i - 1] - v[i + 1]) * v[i]
        for i in range(u.shape[0]):
            u[i] *= 1.0 + 0.01 * t


@case(lambda m: dict(u=m.random(12), n=6), steps=(1, 3), u=(0,))
def a_number_of_steps_that_changes(u, n):
    n = n - 2
    for _t in range(n):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i - 1] * v[i + 1] + n
    n = n + 1
    for i in range(n):
        u[i] = u[i] * n
    return n


@case(lambda m: dict(u=m.random(12), n=5), steps=(1, 3), sums=True, u=(0,))
def bounds_that_close(u, n):
    lo = 1
    hi = u.shape[0] - 1
    for _t in range(n):
        v = u.copy()
        for i in range(lo, hi):
            u[i] = v[i - 1] * 0.5 + v[i + 1] * v[i]
        lo += 1
        hi -= 1
    return u[6]


@case(lambda m: dict(u=m.random(12), n=6), steps=(1, 3), u=(0,))
def red_and_black(u, n):
    for _t in range(n):
        for i in range(1, u.shape[0] - 1, 2):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) * u[i]
        for i in range(2, u.shape[0] - 1, 2):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) + u[i]


# ------------------------------------------------------------------ what they share


@case(lambda m: dict(u=m.random(8)), u=(0,))
def scaled_by_a_number_that_doubles(u):
    w = np.ones(1)
    for _t in range(3):
        w[0] *= 2
        for i in range(8):
            u[i] *= w[0]


@case(lambda m: dict(u=m.random(9)), sums=True, u=(0,))
def sums_with_a_weight_that_grows(u):
    w = np.ones(2)
    s = 0.0
    for _t in range(3):
        w[1] += 1.0
        for i in range(u.shape[0]):
            s += u[i] * w[1]
    return s * w[1]


@case(lambda m: dict(u=m.random(8), a=m.random(2), n=4), steps=(1, 3), u=(0,))
def relaxed(u, a, n):
    for _t in range(n):
        for k in range(2):
            a[k] = a[k] * 0.7 + 0.1
        for i in range(8):
            u[i] = a[0] * u[i] + a[1]


@case(lambda m: dict(u=m.random(8), snaps=m.random((3, 8)), n=6), snaps=(1,))
def snapshots(u, snaps, n):
    for t in range(n):
        for i in range(1, u.shape[0] - 1):
            u[i] = u[i] * 1.1
        if t % 2 == 0:
            for i in range(u.shape[0]):
                snaps[t // 2, i] = u[i] ** 2


@case(
    lambda m: dict(x=m.random(9), y=m.random(9), w=m.random(2), n=4),
    steps=(1, 2),
    sums=True,
    x=(0,),
    y=(0,),
)
def descended(x, y, w, n):
    loss = 0.0
    for _t in range(n):
        g = np.zeros(2)
        loss = 0.0
        for i in range(9):
            r = w[0] * x[i] + w[1] - y[i]
            loss += r * r
            g[0] += r * x[i]
            g[1] += r
        for k in range(2):
            w[k] -= 0.05 * g[k]
    return loss


@case(lambda m: dict(x=m.random((9, 4)), w=m.random(4)), sums=True, x=(0,))
def losses_of_rows(x, w):
    total = 0.0
    for b in range(9):
        o = 0.0
        for k in range(4):
            o += x[b, k] * w[k]
        total += o * o
    return total


@case(lambda m: dict(p=m.random((7, 2))), sums=True, p=(0,))
def pair_energy(p):
    e = 0.0
    for i in range(7):
        for j in range(i):
            d = 0.0
            for k in range(2):
                d += (p[i, k] - p[j, k]) ** 2
            e += 1.0 / (d + 0.1)
    return e


def slope(u):
    n = u.shape[0]
    k = np.zeros(n)
    for i in range(1, n - 1):
        k[i] = u[i - 1] - 2 * u[i] + u[i + 1] * u[i]
    return k


@case(lambda m: dict(u=m.random(10), n=2, dt=0.1), steps=(1, 2), u=(0,))
def heun(u, n, dt):
    for _t in range(n):
        first = slope(u)
        second = slope(u + dt * first)
        u = u + 0.5 * dt * (first + second)
    return u


@case(
    lambda m: dict(u=m.random((H, W)), o=m.random(H)),
    steps=(1, 3, 7),
    sums=True,
    u=(0, 1),
)
def terms_that_move_from_step_to_step(u, o):
    for y in range(H):
        for x in range(W):
            if x == y:
                o[y] = u[y, x] ** 2
            elif y >= W and x == 0:
                o[y] = u[y, x] * 3


@case(lambda m: dict(u=m.random(6)), steps=(1, 2, 3, 4), sums=True, u=(0,))
def halves_by_turns(u):
    s = 0.0
    for t in range(4):
        v = u.copy()
        for i in range(1, 6):
            u[i] = v[i - 1]
        for i in range(6):
            if t % 2 == 0:
                if i < 3:
                    s += u[i]
            elif i >= 3:
                s += u[i]
    return s


@case(lambda m: dict(u=m.random(12), n=5), steps=(1, 3, 5), sums=True, u=(0,))
def sums_that_wander(u, n):
    s = 0.0
    for t in range(n):
        v = u.copy()
        for i in range(1, 11):
            u[i] = 0.3 * v[i - 1] * v[i + 1] + v[i]
        for i in range((5 * t) % 7, (5 * t) % 7 + 3):
            s += u[i] * u[i] + t
    return s


@case(lambda m: dict(q=m.random(8)), q=(0,))
def written_and_returned(q):
    for i in range(q.shape[0]):
        q[i] = 2 * q[i] * q[i]
    return q


@case(lambda m: dict(q=m.random(8)), q=(0,))
def returned_twice(q):
    out = np.zeros_like(q)
    for i in range(q.shape[0]):
        out[i] = 2 * q[i] * q[i]
    return out, out


@case(lambda m: dict(q=m.random(8)), q=(0,))
def untouched(q):
    return q


# ------------------------------------------------------------------ a whole program


def filled_in(u, known):
    """Gaps get the mean of the neighbours that are there."""
    out = u.copy()
    for i in range(1, u.shape[0] - 1):
        if known[i] == 0:
            s = 0.0
            c = 0
            for j in range(i - 1, i + 2):
                if known[j] != 0:
                    s += u[j]
                    c += 1
            out[i] = s / c if c > 0 else 0.0
    return out


def spread(a, b, rate):
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i] + rate * (a[i - 1] - 2.0 * a[i] + a[i + 1]) * a[i]
    return b, a


def observed_with_gaps(m):
    u = m.random(14)
    known = np.ones(14, np.int8)
    known[[3, 4, 9]] = 0
    d = np.where(m.random(14) > 0.7, np.nan, m.random(14))
    return dict(u=u, known=known, d=d, rate=np.array([0.1, 0.05]), n=5)


@case(
    observed_with_gaps,
    steps=(1, 2, 3),
    sums=True,
    u=(0,),
    known=(0,),
    d=(0,),
)
def misfit_to_what_is_known(u, known, d, rate, n):
    a = filled_in(u, known)
    b = a.copy()
    shown = np.zeros(n)
    for t in range(n):
        a, b = spread(a, b, rate[0])
        if t % 2 == 1:
            rate[0] = 0.5 * (rate[0] + rate[1])
        shown[t] = a[7] * a[0]
    total = 0.0
    count = 0
    for i in range(a.shape[0]):
        if not np.isnan(d[i]):
            total += (a[i] - d[i]) ** 2
            count += 1
    for t in range(1, n):
        total += 0.1 * shown[t] * shown[t - 1]
    if count == 0:
        return 0.0
    return total / count


# ------------------------------------------------------------------ refused


@case(lambda m: dict(u=m.random(12)), refused="`k` is in one piece", u=(0,))
def last_above(u):
    k = 0
    for i in range(u.shape[0]):
        if u[i] > 0.5:
            k = i
    return k


@case(lambda m: dict(u=m.random((H, W)), o=m.random(W)), refused="`o` is in", u=(0,))
def last_row(u, o):
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            o[x] = u[y, x]


@case(lambda m: dict(u=m.random((H, W))), refused="make `w` in the loop", u=(0,))
def one_buffer_for_all_rows(u):
    w = np.zeros(u.shape[1])
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            w[x] = u[y, x] ** 2
        for x in range(1, u.shape[1]):
            u[y, x] = w[x] * w[x - 1]


@case(lambda m: dict(u=m.random(4), n=2), refused="how large `result` is", u=())
def doubled(u, n):
    for _t in range(n):
        b = np.zeros(2 * u.shape[0])
        for i in range(u.shape[0]):
            b[2 * i] = u[i]
            b[2 * i + 1] = u[i] ** 2
        u = b
    return u


@case(lambda m: dict(u=m.random(8)), refused="data in chunks decide if", u=(0,))
def checked_over_chunks(u):
    for i in range(u.shape[0]):
        if u[i] < 0:
            raise ValueError("below zero")
        u[i] = u[i] ** 0.5
