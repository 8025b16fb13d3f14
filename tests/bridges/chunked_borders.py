"""Loop functions that read far from what they write: periodic borders, and others."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bridges.chunked_functions import Case, Values, cases_of

BORDERS: list[Case] = []
case = cases_of(BORDERS)

H, W = 11, 7


def planes(rng: np.random.Generator) -> Values:
    return {"u": rng.random((H, W)), "c": 0.1 * rng.random((H, W)), "n": 3}


def lines(rng: np.random.Generator) -> Values:
    return {"u": rng.random(13), "w": rng.random(13)}


@case(planes, u=(0, 1), c=(0, 1))
def remainders(u: Any, c: Any, n: int) -> None:
    for _ in range(n):
        v = u.copy()
        for y in range(u.shape[0]):
            for x in range(u.shape[1]):
                around = v[(y - 1) % u.shape[0], x] + v[(y + 1) % u.shape[0], x]
                around += v[y, (x - 1) % u.shape[1]] + v[y, (x + 1) % u.shape[1]]
                u[y, x] = v[y, x] + c[y, x] * v[y, x] * (around - 4.0 * v[y, x])


@case(planes, u=(0, 1), c=(0,))
def nine_points(u: Any, c: Any, n: int) -> None:
    ny, nx = u.shape
    for _ in range(n):
        v = u.copy()
        for y in range(ny):
            for x in range(nx):
                u[y, x] = v[y, x] + c[y, x] * (
                    v[y - 1, x - 1] * v[(y + 1) % ny, (x + 1) % nx]
                    - v[(y + 1) % ny, x - 1] * v[y - 1, (x + 1) % nx]
                )


@case(planes, u=(0, 1), c=(0, 1))
def neighbours_with_names(u: Any, c: Any, n: int) -> None:
    ny, nx = u.shape
    for _ in range(n):
        v = u.copy()
        for y in range(ny):
            up = y - 1 if y > 0 else ny - 1
            down = y + 1
            if down == ny:
                down = 0
            for x in range(nx):
                if x == 0:
                    left = nx - 1
                else:
                    left = x - 1
                u[y, x] = v[y, x] + c[y, x] * (v[up, x] * v[down, x] - v[y, left])


@case(planes, u=(0, 1), c=(0, 1))
def ghost_cells(u: Any, c: Any, n: int) -> None:
    ny, nx = u.shape
    for _ in range(n):
        for x in range(nx):
            u[0, x] = u[ny - 2, x]
            u[ny - 1, x] = u[1, x]
        for y in range(ny):
            u[y, 0] = u[y, nx - 2]
            u[y, nx - 1] = u[y, 1]
        v = u.copy()
        for y in range(1, ny - 1):
            for x in range(1, nx - 1):
                around = v[y - 1, x] + v[y + 1, x] + v[y, x - 1] + v[y, x + 1]
                u[y, x] = v[y, x] + c[y, x] * v[y, x] * (around - 4.0 * v[y, x])


@case(planes, u=(0, 1), c=(0, 1))
def rolled(u: Any, c: Any, n: int) -> None:
    for _ in range(n):
        u[:] = u + c * (np.roll(u, 1, axis=0) * np.roll(u, -2, axis=1) - u)


def wind(rng: np.random.Generator) -> Values:
    return {"q": rng.random(13), "a": rng.random(13), "n": 3}


@case(wind, q=(0,), a=(0,))
def upwind(q: Any, a: Any, n: int) -> None:
    size = q.shape[0]
    for _ in range(n):
        new = np.zeros(size)
        for i in range(size):
            new[i] = q[i] - 0.3 * a[i] * (q[i] - q[i - 1])
        for i in range(size):
            q[i] = new[i]


@case(wind, q=(0,), a=(0,))
def fluxes(q: Any, a: Any, n: int) -> None:
    size = q.shape[0]
    for _ in range(n):
        flux = np.zeros(size + 1)
        for i in range(1, size):
            flux[i] = 0.5 * a[i] * (q[i - 1] + q[i])
        flux[0] = 0.5 * a[0] * (q[size - 1] + q[0])
        flux[size] = flux[0]
        for i in range(size):
            q[i] -= 0.2 * (flux[i + 1] - flux[i])


@case(lines, u=(0,), w=(0,))
def branches(u: Any, w: Any) -> None:
    n = u.shape[0]
    for i in range(n):
        if i == 0:
            w[i] = u[n - 1] * u[i + 1]
        elif i == n - 1:
            w[i] = u[i - 1] * u[0]
        else:
            w[i] = u[i - 1] * u[i + 1]


@case(lines, u=(0,), w=(0,), sums=True)
def energy_on_a_ring(u: Any, w: Any) -> float:
    n = u.shape[0]
    e = 0.0
    for i in range(n):
        e += 0.5 * (u[(i + 1) % n] - w[i]) ** 2 * u[i - 2]
    return e


@case(lines, u=(0,), w=(0,))
def with_its_mirror(u: Any, w: Any) -> None:
    n = u.shape[0]
    for i in range(n):
        w[i] = u[i] * u[n - 1 - i]


@case(planes, u=(0, 1), c=(0, 1))
def less_a_row(u: Any, c: Any, n: int) -> None:
    for y in range(u.shape[0]):
        for x in range(u.shape[1]):
            c[y, x] = u[y, x] * u[n, x] - u[y, 1]


@case(lines, u=(0,), w=(0,))
def written_and_read_at_both_ends(u: Any, w: Any) -> None:
    n = u.shape[0]
    u[0] = u[n - 1] * w[0]
    u[n - 1] = u[0] * w[n - 1]
    for i in range(n):
        w[i] = u[(i + 3) % n] * u[i]


@case(lines, u=(0,), w=(0,))
def in_place_around_a_ring(u: Any, w: Any) -> None:
    n = u.shape[0]
    for i in range(n):
        u[i] = u[i] * w[(i + 1) % n]
    for i in range(0, n, 2):
        u[i] += w[(i - 1) % n]
    for i in range(n - 1, -1, -1):
        w[i] = 0.5 * u[(i + 2) % n]


def waves(rng: np.random.Generator) -> Values:
    return {
        "p": rng.random((H, W)),
        "q": rng.random((H, W)),
        "c": rng.random(H),
        "n": 4,
    }


@case(waves, p=(0,), q=(0,), c=(0,), sums=True)
def waves_on_a_cylinder(p: Any, q: Any, c: Any, n: int) -> float:
    ny, nx = p.shape
    for t in range(n):
        new = np.empty_like(p)
        for y in range(ny):
            for x in range(nx):
                around = p[(y + 1) % ny, x] - 2.0 * p[y, x] + p[y - 1, x]
                new[y, x] = 2.0 * p[y, x] - q[y, x] + 0.1 * c[y] * around * p[y, x]
        new[ny // 2, 2] += 0.1 * t
        for y in range(ny):
            for x in range(nx):
                q[y, x] = p[y, x]
                p[y, x] = new[y, x]
    s = 0.0
    for y in range(ny):
        s += p[y, 1] ** 2
    return s


def spins(rng: np.random.Generator) -> Values:
    return {"s": rng.random((5, 6, 7)), "h": rng.random((5, 6, 7))}


@case(spins, s=(0, 1, 2), h=(0, 1, 2), sums=True)
def spins_on_a_torus(s: Any, h: Any) -> float:
    nz, ny, nx = s.shape
    e = 0.0
    for z in range(nz):
        for y in range(ny):
            for x in range(nx):
                near = s[(z + 1) % nz, y, x] + s[z, (y + 1) % ny, x]
                near += s[z, y, (x + 1) % nx]
                e -= s[z, y, x] * near + h[z, y, x] * s[z, y, x]
    return e


@case(lines, u=(0,), w=(0,))
def backwards_around_a_ring(u: Any, w: Any) -> None:
    n = u.shape[0]
    for i in reversed(range(n)):
        w[i] = w[i] * u[(i + 2) % n] + 0.5 * u[i - 1]
    for i in reversed(range(1, n)):
        w[i] += u[i] * u[(i - 5) % n]


@case(lines, u=(0,), w=(0,))
def from_the_end_where_data_says_so(u: Any, w: Any) -> None:
    o = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        if w[i] > 0.5:
            o[i] = u[i - 2] ** 2
        elif w[i] > 0.2:
            o[i] = u[i - 1] * w[i - 3]
    for i in range(u.shape[0]):
        u[i] = o[i] + o[i - 1]


def shifted(rng: np.random.Generator) -> Values:
    return {"u": rng.random(13), "w": rng.random(13), "k": 3}


@case(shifted, u=(0,), w=(0,))
def subtracted_at_the_end(u: Any, w: Any, k: int) -> None:
    n = u.shape[0]
    for i in range(n):
        j = i + k
        if j >= n:
            j -= n
        h = i - 1
        if h < 0:
            h += n
        w[i] = u[j] * w[i] - u[h]


@case(lines, u=(0,), w=(0,))
def neighbours_that_are_there(u: Any, w: Any) -> None:
    n = u.shape[0]
    for i in range(n):
        s = 0.0
        for d in (-2, -1, 1, 2):
            a = i + d
            if a >= 0 and a < n:
                s += u[a] * u[i]
        w[i] = s
    for d in (-1, 1):
        for i in range(1, n - 1):
            w[i] += u[i + d]
