# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Kernels in the style of NPBench: slices, broadcasting, whole arrays."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()


def compute_clip(array_1, array_2, a, b, c):
    return np.clip(array_1, 0.2, 0.8) * a + array_2 * b + c


case(
    compute_clip,
    lambda n, m: dict(
        array_1=m.distinct(n, n + 1),
        array_2=m(n, n + 1),
        a=m.scalar(),
        b=m.scalar(),
        c=m.scalar(),
    ),
    real=9,
)


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


case(go_fast, lambda n, m: dict(a=m(n, n)), real=12)


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    temp = (
        np.sin((theta_2 - theta_1) / 2) ** 2
        + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    )
    return 2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))


case(
    arc_distance,
    lambda n, m: dict(
        theta_1=0.5 * m(n), phi_1=m(n), theta_2=0.8 + 0.3 * m(n), phi_2=m(n)
    ),
    real=30,
)


def azimuthal_average(data, radius, nbins, rmax):
    result = np.zeros(nbins)
    count = np.zeros(nbins)
    for i in range(data.shape[0]):
        b = int(radius[i] / rmax * nbins)
        if 0 <= b < nbins:
            result[b] += data[i] * data[i]
            count[b] += 1.0
    for b in range(nbins):
        if count[b] > 0:
            result[b] = math.sqrt(result[b] / count[b])
    return result


case(
    azimuthal_average,
    lambda n, m: dict(
        data=m.positive(n),
        radius=(m.indices(7, n) + 0.25).astype(m.dtype),
        nbins=6,
        rmax=6.0 + 0.1,
    ),
    wrt=("data",),
    covers=("index from a float",),
)


def cavity_build_up_b(b, rho, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = rho * (
        1
        / dt
        * (
            (u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)
            + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)
        )
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2
        * (
            (u[2:, 1:-1] - u[0:-2, 1:-1])
            / (2 * dy)
            * (v[1:-1, 2:] - v[1:-1, 0:-2])
            / (2 * dx)
        )
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )


case(
    cavity_build_up_b,
    lambda n, m: dict(
        b=m(n, n),
        rho=m.scalar(),
        dt=m.scalar(),
        u=m(n, n),
        v=m(n, n),
        dx=m.scalar(),
        dy=m.scalar(),
    ),
    "b",
    least=2,
    wide=(3,),
    real=8,
    heavy=True,
)


def pressure_poisson(p, dx, dy, b, iterations):
    pn = np.empty_like(p)
    for q in range(iterations):
        pn[:] = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2
            + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[
            1:-1, 1:-1
        ]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


case(
    pressure_poisson,
    lambda n, m: dict(p=m(n, n), dx=m.scalar(), dy=m.scalar(), b=m(n, n), iterations=3),
    "p",
    least=2,
    wide=(3,),
    real=8,
    covers=("negative index", "time stepping"),
    heavy=True,
)


def cavity_flow_step(u, v, p, dt, dx, dy, rho, nu):
    un = u.copy()
    vn = v.copy()
    u[1:-1, 1:-1] = (
        un[1:-1, 1:-1]
        - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
        - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
        - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
        + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
    )
    v[1:-1, 1:-1] = (
        vn[1:-1, 1:-1]
        - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
        - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
        - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
    )
    u[0, :] = 0
    u[:, 0] = 0
    u[:, -1] = 0
    u[-1, :] = 1
    v[0, :] = v[-1, :] = 0
    v[:, 0] = v[:, -1] = 0


case(
    cavity_flow_step,
    lambda n, m: dict(
        u=m(n, n),
        v=m(n, n),
        p=m(n, n),
        dt=m.scalar(0.05, 0.1),
        dx=m.scalar(),
        dy=m.scalar(),
        rho=m.scalar(),
        nu=m.scalar(0.05, 0.1),
    ),
    "u v",
    least=2,
    wide=(3,),
    real=8,
    covers=("negative index", "several targets"),
    heavy=True,
)


def channel_flow_periodic(u, p, dx, dt, force, tolerance_digits):
    udiff = 1.0
    steps = 0
    while udiff > 0.001 and steps < tolerance_digits:
        un = u.copy()
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - dt * un[1:-1, 1:-1] / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            + dt * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
            + dt * force
        )
        u[1:-1, -1] = (
            un[1:-1, -1]
            - dt * un[1:-1, -1] / dx * (un[1:-1, -1] - un[1:-1, -2])
            - dt * (p[1:-1, 0] - p[1:-1, -2])
        )
        u[1:-1, 0] = un[1:-1, 0] + dt * (p[1:-1, 1] - p[1:-1, -1])
        u[0, :] = 0
        u[-1, :] = 0
        udiff = abs(np.sum(u) - np.sum(un)) / np.sum(u * u + 1.0)
        steps += 1
    return steps


case(
    channel_flow_periodic,
    lambda n, m: dict(
        u=m.positive(n, n),
        p=m(n, n),
        dx=m.scalar(),
        dt=m.scalar(0.1, 0.2),
        force=m.scalar(),
        tolerance_digits=3,
    ),
    "u",
    least=3,
    real=7,
    covers=("negative index", "trip count from data"),
    heavy=True,
)


def conv2d_bias(image, weights, bias):
    k = weights.shape[0]
    h_out = image.shape[1] - k + 1
    w_out = image.shape[2] - k + 1
    output = np.empty((image.shape[0], h_out, w_out, weights.shape[3]))
    for i in range(h_out):
        for j in range(w_out):
            for b in range(image.shape[0]):
                for o in range(weights.shape[3]):
                    output[b, i, j, o] = np.sum(
                        image[b, i : i + k, j : j + k, :] * weights[:, :, :, o]
                    )
    return output + bias


case(
    conv2d_bias,
    lambda n, m: dict(image=m(2, n + 1, n + 2, 2), weights=m(2, 2, 2, 3), bias=m(3)),
    least=1,
    real=4,
    heavy=True,
)


def softmax_rows(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        row = x[i]
        top = np.max(row)
        e = np.exp(row - top)
        out[i] = e / np.sum(e)
    return out


case(
    softmax_rows,
    lambda n, m: dict(x=m.distinct(n, n + 1)),
    real=9,
    covers=("row view",),
)


def mlp(x, w1, b1, w2, b2, w3, b3):
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2, 0)
    logits = h2 @ w3 + b3
    e = np.exp(logits)
    total = 0.0
    for i in range(e.shape[0]):
        total += np.log(np.sum(e[i])) - logits[i, i % e.shape[1]]
    return total


case(
    mlp,
    lambda n, m: dict(
        x=m(n, 3), w1=m(3, 4), b1=m(4), w2=m(4, 4), b2=m(4), w3=m(4, 3), b3=m(3)
    ),
    real=6,
)


def max_pool_2x2(x):
    out = np.empty((x.shape[0] // 2, x.shape[1] // 2))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.max(x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
    return out


case(
    max_pool_2x2,
    lambda n, m: dict(x=m.distinct(n, n + 1)),
    wide=(4,),
    real=7,
    catalogue=(74,),
)


def lenet_front(image, conv, bias):
    k = conv.shape[1]
    h = image.shape[0] - k + 1
    w = image.shape[1] - k + 1
    maps = np.zeros((conv.shape[0], h, w))
    for c in range(conv.shape[0]):
        for j in range(k):
            for i in range(k):
                maps[c] += conv[c, j, i] * image[j : j + h, i : i + w]
        maps[c] += bias[c]
    maps = np.maximum(maps, 0.0)
    pooled = np.zeros((conv.shape[0], h // 2, w // 2))
    for y in range(h // 2):
        for x in range(w // 2):
            for c in range(conv.shape[0]):
                pooled[c, y, x] = 0.25 * np.sum(
                    maps[c, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2]
                )
    return pooled


case(
    lenet_front,
    lambda n, m: dict(image=m(n + 1, n + 2), conv=m(2, 2, 2), bias=m(2)),
    least=1,
    real=7,
    heavy=True,
)


def horizontal_diffusion(in_field, coeff):
    lap = 4.0 * in_field[1:-1, 1:-1] - (
        in_field[2:, 1:-1]
        + in_field[:-2, 1:-1]
        + in_field[1:-1, 2:]
        + in_field[1:-1, :-2]
    )
    res = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flx = np.where(res * (in_field[2:-1, 2:-2] - in_field[1:-2, 2:-2]) > 0, 0.0, res)
    res2 = lap[1:-1, 1:] - lap[1:-1, :-1]
    fly = np.where(res2 * (in_field[2:-2, 2:-1] - in_field[2:-2, 1:-2]) > 0, 0.0, res2)
    return in_field[2:-2, 2:-2] - coeff * (
        flx[1:, :] - flx[:-1, :] + fly[:, 1:] - fly[:, :-1]
    )


case(
    horizontal_diffusion,
    lambda n, m: dict(in_field=9 * m.distinct(n, n + 1), coeff=m(n - 4, n - 3)),
    least=4,
    wide=(5,),
    real=8,
    catalogue=(81,),
    heavy=True,
)


def vertical_advection(u, w, dt):
    n, k = u.shape
    ccol = np.zeros((n, k))
    dcol = np.zeros((n, k))
    out = np.zeros((n, k))
    gcv = 0.25 * w[:, 1:]
    for j in range(k):
        if j == 0:
            bcol = dt - gcv[:, 0]
            ccol[:, 0] = gcv[:, 0] / bcol
            dcol[:, 0] = (dt * u[:, 0] - gcv[:, 0] * (u[:, 1] - u[:, 0])) / bcol
        elif j < k - 1:
            gav = -0.25 * w[:, j]
            cs = gcv[:, j]
            bcol = dt - gav - cs
            corr = -gav * (u[:, j - 1] - u[:, j]) - cs * (u[:, j + 1] - u[:, j])
            divided = 1.0 / (bcol - ccol[:, j - 1] * gav)
            ccol[:, j] = cs * divided
            dcol[:, j] = (dt * u[:, j] + corr - dcol[:, j - 1] * gav) * divided
        else:
            gav = -0.25 * w[:, j]
            corr = -gav * (u[:, j - 1] - u[:, j])
            divided = 1.0 / (dt - gav - ccol[:, j - 1] * gav)
            dcol[:, j] = (dt * u[:, j] + corr - dcol[:, j - 1] * gav) * divided
    for j in range(k - 1, -1, -1):
        if j == k - 1:
            out[:, j] = dcol[:, j]
        else:
            out[:, j] = dcol[:, j] - ccol[:, j] * out[:, j + 1]
    return out


case(
    vertical_advection,
    lambda n, m: dict(u=m(n, n), w=0.5 * m(n, n + 1), dt=m.scalar(2.0, 3.0)),
    least=2,
    real=7,
    catalogue=(81,),
    covers=("negative step",),
    heavy=True,
)


def nbody_slices(pos, vel, mass, dt, softening, steps):
    n = pos.shape[0]
    for t in range(steps):
        acc = np.zeros((n, 3))
        for i in range(n):
            for j in range(n):
                d = pos[j] - pos[i]
                inv = (np.sum(d * d) + softening**2) ** (-1.5)
                acc[i] += d * inv * mass[j]
        vel += acc * dt / 2.0
        pos += vel * dt
    return 0.5 * np.sum(mass * np.sum(vel * vel, axis=1))


case(
    nbody_slices,
    lambda n, m: dict(
        pos=m(n, 3),
        vel=m(n, 3),
        mass=m.positive(n),
        dt=m.scalar(0.05, 0.1),
        softening=m.scalar(0.5, 0.8),
        steps=2,
    ),
    "pos vel",
    real=5,
    covers=("row view", "time stepping"),
    heavy=True,
)


def scattering_self_energies(neigh_idx, dh, g, sigma):
    atoms = neigh_idx.shape[0]
    for a in range(atoms):
        for b in range(neigh_idx.shape[1]):
            for i in range(3):
                for j in range(3):
                    dhg = g[neigh_idx[a, b]] * dh[a, b, i]
                    sigma[a] += dhg * dh[a, b, j]


case(
    scattering_self_energies,
    lambda n, m: dict(neigh_idx=m.indices(n, n, 2), dh=m(n, 2, 3), g=m(n), sigma=m(n)),
    "sigma",
    real=8,
    covers=("index from an array",),
)


def quadrature_of_matrices(a, points, weights):
    total = np.zeros(a.shape)
    for k in range(points.shape[0]):
        shifted = a.copy()
        for i in range(a.shape[0]):
            shifted[i, i] += points[k]
        total += weights[k] * (shifted @ shifted)
    return total


case(
    quadrature_of_matrices,
    lambda n, m: dict(a=m(n, n), points=m(3), weights=m(3)),
    real=7,
)


def correlation_slices(data):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    centred = data - mean
    stddev = np.sqrt(np.mean(centred * centred, axis=0))
    centred /= math.sqrt(n) * stddev
    corr = np.zeros((m, m))
    for i in range(m):
        corr[i, i] = 1.0
        corr[i, i + 1 :] = centred[:, i] @ centred[:, i + 1 :]
        corr[i + 1 :, i] = corr[i, i + 1 :]
    return corr


case(
    correlation_slices,
    lambda n, m: dict(data=m(n + 2, n)),
    least=1,
    real=7,
    covers=("view",),
)


def covariance_slices(data):
    data -= np.mean(data, axis=0)
    m = data.shape[1]
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i:m, i] = cov[i, i:m] = data[:, i] @ data[:, i:m] / (data.shape[0] - 1.0)
    return cov


case(
    covariance_slices,
    lambda n, m: dict(data=m(n + 2, n)),
    "data",
    real=7,
    covers=("several targets",),
)


def gemver_whole(alpha, beta, a, u1, v1, w, x, y, z):
    a += u1[:, np.newaxis] * v1
    x += beta * y @ a + z
    w += alpha * a @ x


case(
    gemver_whole,
    lambda n, m: dict(
        alpha=m.scalar(),
        beta=m.scalar(),
        a=m(n, n),
        u1=m(n),
        v1=m(n),
        w=m(n),
        x=m(n),
        y=m(n),
        z=m(n),
    ),
    "a w x",
    real=12,
)


def jacobi_2d_slices(a, b, steps):
    for t in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (
            a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]
        )
        a[1:-1, 1:-1] = 0.2 * (
            b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1]
        )


case(
    jacobi_2d_slices,
    lambda n, m: dict(a=m(n, n), b=m(n, n), steps=3),
    "a b",
    least=2,
    wide=(3,),
    real=9,
    covers=("time stepping",),
)


def fdtd_2d_slices(ex, ey, hz, fict):
    for t in range(fict.shape[0]):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


case(
    fdtd_2d_slices,
    lambda n, m: dict(ex=m(n, n), ey=m(n, n), hz=m(n, n), fict=m(3)),
    "ex ey hz",
    least=1,
    real=9,
    catalogue=(79,),
    covers=("time stepping",),
)


def seidel_2d_slices(a, steps):
    n = a.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += (
                a[i - 1, :-2]
                + a[i - 1, 1:-1]
                + a[i - 1, 2:]
                + a[i, 2:]
                + a[i + 1, :-2]
                + a[i + 1, 1:-1]
                + a[i + 1, 2:]
            )
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


case(
    seidel_2d_slices,
    lambda n, m: dict(a=m(n, n), steps=2),
    "a",
    least=1,
    wide=(3,),
    real=8,
    catalogue=(77,),
    covers=("in-place recurrence", "right side first"),
)


def durbin_slices(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(r[k - 1 :: -1], y[:k])) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
    return y


case(
    durbin_slices,
    lambda n, m: dict(r=0.3 * m(n)),
    least=1,
    real=10,
    catalogue=(80,),
    covers=("negative step slice", "right side first"),
)


def trisolv_slices(low, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]


case(
    trisolv_slices,
    lambda n, m: dict(low=m.dominant(n), x=m(n), b=m(n)),
    "x",
    real=12,
    catalogue=(78,),
    covers=("triangular",),
)


def cholesky_slices(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


case(
    cholesky_slices,
    lambda n, m: dict(a=m.definite(n)),
    "a",
    least=1,
    real=7,
    covers=("triangular",),
)


def syrk_slices(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


case(
    syrk_slices,
    lambda n, m: dict(alpha=m.scalar(), beta=m.scalar(), c=m(n, n), a=m(n, 3)),
    "c",
    real=9,
    covers=("triangular",),
)


def gramschmidt_slices(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


case(
    gramschmidt_slices,
    lambda n, m: dict(a=m(n + 2, n) + np.eye(n + 2, n)),
    "a",
    least=2,
    real=6,
    covers=("triangular",),
    only64=True,
)


def adi_sweep_slices(u, v, a, b):
    n = u.shape[0]
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    v[0, 1:-1] = 1.0
    q[1:-1, 0] = v[0, 1:-1]
    for j in range(1, n - 1):
        p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
        q[1:-1, j] = (u[j, 2:] + u[j, :-2] - a * q[1:-1, j - 1]) / (
            a * p[1:-1, j - 1] + b
        )
    v[n - 1, 1:-1] = 1.0
    for j in range(n - 2, 0, -1):
        v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]


case(
    adi_sweep_slices,
    lambda n, m: dict(
        u=m(n, n), v=m(n, n), a=m.scalar(-0.6, -0.3), b=m.scalar(2.0, 3.0)
    ),
    "v",
    least=2,
    wide=(3,),
    real=8,
    catalogue=(80,),
    heavy=True,
)


def heat_3d_slices(a, steps):
    for t in range(steps):
        inner = a[1:-1, 1:-1, 1:-1]
        a[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * inner + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * inner + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * inner + a[1:-1, 1:-1, :-2])
            + inner * inner
        )


case(
    heat_3d_slices,
    lambda n, m: dict(a=m(n, n, n), steps=2),
    "a",
    least=2,
    wide=(3,),
    real=6,
    catalogue=(79,),
    covers=("view", "right side first", "time stepping"),
    heavy=True,
)
