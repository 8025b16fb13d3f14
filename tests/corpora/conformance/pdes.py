# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Time-stepped and relaxed PDEs: in place, in two and three buffers, in slices."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()


def heat_slices(u, steps, k):
    for _ in range(steps):
        u[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])


case(
    heat_slices,
    lambda n, m: dict(u=m(n), steps=5, k=m.scalar(0.1, 0.3)),
    "u",
    least=2,
    wide=(3,),
    real=40,
    covers=("time stepping", "right side first"),
)


def heat_swapped(u, steps, k):
    now = u.copy()
    new = u.copy()
    for t in range(steps):
        for i in range(1, now.shape[0] - 1):
            new[i] = now[i] + k * (now[i - 1] - 2 * now[i] + now[i + 1])
        now, new = new, now
    return now


case(
    heat_swapped,
    lambda n, m: dict(u=m(n), steps=3, k=m.scalar(0.1, 0.3)),
    wide=(3,),
    real=40,
    covers=("buffers swapped by name", "time stepping"),
)


def nonlinear_heat_swapped(u, v, steps):
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                k = 0.1 + 0.05 * u[i, j] ** 2
                v[i, j] = u[i, j] + k * (
                    u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]
                )
        u, v = v, u
    return u.sum()


case(
    nonlinear_heat_swapped,
    lambda n, m: dict(u=m(n, n + 1), v=m(n, n + 1), steps=3),
    "u v",
    wide=(3,),
    real=9,
    covers=("buffers swapped by name", "time stepping"),
)


def wave_three_buffers(initial, c, steps):
    n = initial.shape[0]
    old = initial.copy()
    now = initial.copy()
    new = np.zeros(n)
    for t in range(steps):
        for i in range(1, n - 1):
            new[i] = 2 * now[i] - old[i] + c[i] * (now[i - 1] - 2 * now[i] + now[i + 1])
        old, now, new = now, new, old
    energy = 0.0
    for i in range(n):
        energy += now[i] * now[i]
    return energy


case(
    wave_three_buffers,
    lambda n, m: dict(initial=m(n), c=0.3 * m.positive(n), steps=7),
    wide=(3,),
    real=33,
    covers=("buffers swapped by name", "time stepping"),
)


def wave_2d_slices(u, v, c, dt, steps):
    for t in range(steps):
        lap = (
            u[2:, 1:-1]
            + u[:-2, 1:-1]
            + u[1:-1, 2:]
            + u[1:-1, :-2]
            - 4.0 * u[1:-1, 1:-1]
        )
        v[1:-1, 1:-1] += dt * c[1:-1, 1:-1] ** 2 * lap
        u[1:-1, 1:-1] += dt * v[1:-1, 1:-1]


case(
    wave_2d_slices,
    lambda n, m: dict(
        u=m(n, n), v=m(n, n), c=m.positive(n, n), dt=m.scalar(0.1, 0.2), steps=3
    ),
    "u v",
    least=2,
    wide=(3,),
    real=9,
    covers=("time stepping",),
)


def red_black_gauss_seidel(u, f, h, sweeps):
    n = u.shape[0]
    for s in range(sweeps):
        for colour in range(2):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    if (i + j) % 2 == colour:
                        u[i, j] = 0.25 * (
                            u[i - 1, j]
                            + u[i + 1, j]
                            + u[i, j - 1]
                            + u[i, j + 1]
                            - h * h * f[i, j]
                        )


case(
    red_black_gauss_seidel,
    lambda n, m: dict(u=m(n, n), f=m(n, n), h=m.scalar(), sweeps=2),
    "u",
    wide=(3,),
    real=9,
    covers=("in-place recurrence",),
)


def red_black_slices(u, f):
    for s in range(3):
        u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2] - f[1:-1:2])
        u[2:-1:2] = 0.5 * (u[1:-2:2] + u[3::2] - f[2:-1:2])


case(
    red_black_slices,
    lambda n, m: dict(u=m(2 * n + 3), f=m(2 * n + 3)),
    "u",
    real=15,
    covers=("right side first",),
)


def sor_until_converged(u, f, omega):
    n = u.shape[0]
    change = 1.0
    sweeps = 0
    while change > 0.05 and sweeps < 40:
        change = 0.0
        for i in range(1, n - 1):
            new = (1 - omega) * u[i] + 0.5 * omega * (u[i - 1] + u[i + 1] - f[i])
            change += abs(new - u[i])
            u[i] = new
        sweeps += 1
    return sweeps


case(
    sor_until_converged,
    lambda n, m: dict(u=m(n), f=m(n), omega=m.scalar(1.1, 1.3)),
    "u",
    wide=(3,),
    real=6,
    covers=("trip count from data", "in-place recurrence"),
)


def jacobi_until_converged(b, diagonal):
    n = b.shape[0]
    x = np.zeros(n)
    for sweep in range(200):
        new = np.zeros(n)
        for i in range(n):
            left = x[i - 1] if i > 0 else 0.0
            right = x[i + 1] if i < n - 1 else 0.0
            new[i] = (b[i] + left + right) / diagonal
        error = np.max(np.abs(new - x))
        x = new
        if error < 1e-12:
            break
    return x


case(
    jacobi_until_converged,
    lambda n, m: dict(b=m.positive(n), diagonal=m.scalar(4.0, 5.0)),
    least=1,
    real=12,
    covers=("rebound array", "trip count from data"),
)


def burgers_upwind(u, dt, dx, steps):
    n = u.shape[0]
    for t in range(steps):
        before = u.copy()
        for i in range(1, n):
            u[i] = before[i] - before[i] * dt / dx * (before[i] - before[i - 1])


case(
    burgers_upwind,
    lambda n, m: dict(u=m.positive(n), dt=m.scalar(0.1, 0.2), dx=m.scalar(), steps=3),
    "u",
    wide=(2,),
    real=30,
    covers=("time stepping",),
)


def lax_friedrichs(u, dt, steps):
    n = u.shape[0]
    for t in range(steps):
        flux = 0.5 * u * u
        new = np.empty_like(u)
        for i in range(n):
            left = (i - 1) % n
            right = (i + 1) % n
            new[i] = 0.5 * (u[left] + u[right]) - 0.5 * dt * (flux[right] - flux[left])
        u[:] = new


case(
    lax_friedrichs,
    lambda n, m: dict(u=m(n), dt=m.scalar(0.1, 0.3), steps=4),
    "u",
    real=20,
    covers=("wrapped index", "time stepping"),
)


def minmod_advection(u, c, steps):
    n = u.shape[0]
    for t in range(steps):
        slope = np.zeros(n)
        for i in range(1, n - 1):
            a = u[i] - u[i - 1]
            b = u[i + 1] - u[i]
            if a * b > 0.0:
                slope[i] = a if abs(a) < abs(b) else b
        face = u + 0.5 * (1.0 - c) * slope
        u[1:] = u[1:] - c * (face[1:] - face[:-1])


case(
    minmod_advection,
    lambda n, m: dict(u=3.0 * m.distinct(n), c=m.scalar(0.3, 0.6), steps=1),
    "u",
    least=1,
    wide=(3,),
    real=14,
)


def reaction_diffusion(u, v, feed, kill, steps):
    n = u.shape[0]
    for t in range(steps):
        du = np.zeros(n)
        dv = np.zeros(n)
        for i in range(n):
            uvv = u[i] * v[i] * v[i]
            du[i] = 0.2 * (u[(i + 1) % n] + u[(i - 1) % n] - 2 * u[i]) - uvv
            dv[i] = 0.1 * (v[(i + 1) % n] + v[(i - 1) % n] - 2 * v[i]) + uvv
            du[i] += feed * (1 - u[i])
            dv[i] -= (feed + kill) * v[i]
        u += du
        v += dv


case(
    reaction_diffusion,
    lambda n, m: dict(
        u=m.positive(n), v=0.3 * m.positive(n), feed=0.05, kill=0.06, steps=3
    ),
    "u v",
    real=20,
    covers=("wrapped index", "time stepping"),
)


def crank_nicolson(u, r, steps):
    n = u.shape[0]
    for t in range(steps):
        rhs = np.zeros(n)
        for i in range(n):
            rhs[i] = (1 - r) * u[i]
            if i > 0:
                rhs[i] += 0.5 * r * u[i - 1]
            if i < n - 1:
                rhs[i] += 0.5 * r * u[i + 1]
        upper = np.zeros(n)
        for i in range(n):
            if i == 0:
                upper[i] = -0.5 * r / (1 + r)
                rhs[i] = rhs[i] / (1 + r)
            else:
                pivot = 1 + r + 0.5 * r * upper[i - 1]
                upper[i] = -0.5 * r / pivot
                rhs[i] = (rhs[i] + 0.5 * r * rhs[i - 1]) / pivot
        for i in range(n - 1, -1, -1):
            u[i] = rhs[i]
            if i < n - 1:
                u[i] -= upper[i] * u[i + 1]


case(
    crank_nicolson,
    lambda n, m: dict(u=m(n), r=m.scalar(0.3, 0.9), steps=2),
    "u",
    real=17,
    covers=("time stepping",),
)


def leapfrog_shallow_water(h, q, dt, g, steps):
    n = h.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            q[i] -= dt * g * 0.5 * (h[i + 1] - h[i - 1])
        for i in range(1, n - 1):
            h[i] -= dt * 0.5 * (q[i + 1] - q[i - 1]) * h[i]
        q[0], q[-1] = 0.0, 0.0
        h[0] = h[1]
        h[-1] = h[-2]


case(
    leapfrog_shallow_water,
    lambda n, m: dict(
        h=m.positive(n), q=m(n), dt=m.scalar(0.1, 0.2), g=m.scalar(), steps=3
    ),
    "h q",
    least=2,
    wide=(3,),
    real=30,
    covers=("negative index", "time stepping"),
)


def yee_1d(e, h, eps, source):
    n = e.shape[0]
    for t in range(source.shape[0]):
        h[: n - 1] += 0.5 * (e[1:] - e[:-1])
        e[1 : n - 1] += 0.5 * eps[1 : n - 1] * (h[1 : n - 1] - h[: n - 2])
        e[n // 2] += source[t]


case(
    yee_1d,
    lambda n, m: dict(e=m(n), h=m(n), eps=m.positive(n), source=m(5)),
    "e h",
    least=2,
    wide=(3,),
    real=30,
    covers=("time stepping",),
)


def periodic_roll_by_slices(u, speed):
    n = u.shape[0]
    padded = np.zeros(n + 2)
    padded[1:-1] = u
    padded[0] = u[-1]
    padded[-1] = u[0]
    return (
        u
        - speed * (padded[1:-1] - padded[:-2])
        + 0.1 * (padded[2:] - 2 * padded[1:-1] + padded[:-2])
    )


case(
    periodic_roll_by_slices,
    lambda n, m: dict(u=m(n), speed=m.scalar()),
    least=1,
    real=20,
    covers=("negative index",),
)


def multigrid_two_levels(u, f):
    n = u.shape[0]
    half = (n - 1) // 2
    r = np.zeros(n)
    for s in range(2):
        for i in range(1, n - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
    for i in range(1, n - 1):
        r[i] = f[i] - (2 * u[i] - u[i - 1] - u[i + 1])
    coarse = np.zeros(half + 1)
    rhs = np.zeros(half + 1)
    for i in range(1, half):
        rhs[i] = r[2 * i - 1] + 2 * r[2 * i] + r[2 * i + 1]
    for s in range(3):
        for i in range(1, half):
            coarse[i] = 0.5 * (coarse[i - 1] + coarse[i + 1] + rhs[i])
    for i in range(1, n - 1):
        if i % 2 == 0:
            u[i] += coarse[i // 2]
        else:
            u[i] += 0.5 * (coarse[i // 2] + coarse[i // 2 + 1])


case(
    multigrid_two_levels,
    lambda n, m: dict(u=m(2 * n + 1), f=m(2 * n + 1)),
    "u",
    real=12,
)


def level_set_reinitialise(phi, steps, dt):
    n = phi.shape[0]
    sign = np.zeros(n)
    for i in range(n):
        sign[i] = phi[i] / math.sqrt(phi[i] * phi[i] + 0.01)
    for t in range(steps):
        new = phi.copy()
        for i in range(1, n - 1):
            back = phi[i] - phi[i - 1]
            forward = phi[i + 1] - phi[i]
            if sign[i] > 0:
                g2 = max(back, 0.0) ** 2 + min(forward, 0.0) ** 2
            else:
                g2 = min(back, 0.0) ** 2 + max(forward, 0.0) ** 2
            new[i] = phi[i] - dt * sign[i] * (math.sqrt(g2 + 0.1) - 1.0)
        phi[:] = new


case(
    level_set_reinitialise,
    lambda n, m: dict(phi=m.distinct(n), steps=2, dt=m.scalar(0.1, 0.2)),
    "phi",
    wide=(3,),
    real=14,
    covers=("time stepping",),
)


def perfectly_matched_layer(u, sigma, steps):
    n = u.shape[0]
    psi = np.zeros(n)
    for t in range(steps):
        for i in range(1, n - 1):
            psi[i] = math.exp(-sigma[i]) * psi[i] + sigma[i] * (u[i + 1] - u[i - 1])
        for i in range(1, n - 1):
            u[i] += 0.1 * psi[i] - 0.05 * u[i] ** 3


case(
    perfectly_matched_layer,
    lambda n, m: dict(u=m(n), sigma=m.positive(n), steps=4),
    "u",
    wide=(3,),
    real=25,
    covers=("time stepping",),
)


def tsunami_until_arrival(h, depth):
    n = h.shape[0]
    old = h.copy()
    t = 0
    while abs(h[n - 2]) < 0.05:
        new = np.zeros(n)
        for i in range(1, n - 1):
            new[i] = 2 * h[i] - old[i] + depth[i] * (h[i - 1] - 2 * h[i] + h[i + 1])
        for i in range(n):
            old[i] = h[i]
            h[i] = new[i]
        t += 1
        if t >= 4 * n:
            break
    return h[n // 2]


case(
    tsunami_until_arrival,
    lambda n, m: dict(
        h=np.concatenate([[0.0, 1.0], 0.001 * m(n - 2)]).astype(m.dtype),
        depth=0.5 * m.positive(n),
    ),
    "h",
    least=4,
    real=10,
    covers=("trip count from data", "time stepping"),
)


def strided_wavelet(signal):
    n = signal.shape[0]
    while n > 1:
        half = n // 2
        low = 0.5 * (signal[0 : 2 * half : 2] + signal[1 : 2 * half : 2])
        high = 0.5 * (signal[0 : 2 * half : 2] - signal[1 : 2 * half : 2])
        signal[:half] = low
        signal[half : 2 * half] = high
        n = half


case(
    strided_wavelet,
    lambda n, m: dict(signal=m(n)),
    "signal",
    wide=(8,),
    real=35,
    covers=("right side first",),
)


def copied_and_then_inside(u, w, out):
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            for k in range(u.shape[2]):
                out[i, j, k] = u[i, j, k] * w[k]
    for i in range(1, u.shape[0] - 1):
        if w[i] > 0.0:
            for j in range(1, u.shape[1] - 1):
                for k in range(u.shape[2] - 1):
                    around = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j, k + 1]
                    out[i, j, k] += around * u[i, j - 1, k] * w[i + 1]


case(
    copied_and_then_inside,
    lambda n, m: dict(u=m(n + 1, n, n + 2), w=m.away(n + 2), out=m(n + 1, n, n + 2)),
    "out",
    real=9,
)


def interior_before_the_whole(u, v, out, n):
    if n % 2 == 1:
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                for k in range(u.shape[2]):
                    v[i, j, k] = u[i - 1, j, k] * u[i, j + 1, k]
    for i in range(u.shape[0]):
        for j in range(u.shape[1]):
            for k in range(u.shape[2]):
                out[i, j, k] += v[i, j, k] * u[i, j, k]


case(
    interior_before_the_whole,
    lambda n, m: dict(
        u=m(n + 2, n + 2, n), v=m(n + 2, n + 2, n), out=m(n + 2, n + 2, n), n=5
    ),
    "v out",
    least=1,
    real=9,
)
