"""Fluid dynamics: D2Q9 lattice Boltzmann, collide and stream with two buffers."""

import numpy as np

CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
W = np.array([4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36])


def equilibrium(k, rho, ux, uy):
    cu = 3.0 * (CX[k] * ux + CY[k] * uy)
    usq = 1.5 * (ux * ux + uy * uy)
    return W[k] * rho * (1.0 + cu + 0.5 * cu * cu - usq)


def moments(f, y, x):
    rho = 0.0
    mx = 0.0
    my = 0.0
    for k in range(9):
        rho += f[k, y, x]
        mx += CX[k] * f[k, y, x]
        my += CY[k] * f[k, y, x]
    return rho, mx / rho, my / rho


def collide(f, omega):
    _, ny, nx = f.shape
    for y in range(ny):
        for x in range(nx):
            rho, ux, uy = moments(f, y, x)
            for k in range(9):
                f[k, y, x] += omega * (equilibrium(k, rho, ux, uy) - f[k, y, x])


def stream(f, g):
    _, ny, nx = f.shape
    for k in range(9):
        for y in range(ny):
            for x in range(nx):
                g[k, (y + CY[k]) % ny, (x + CX[k]) % nx] = f[k, y, x]


def run(f, omega, steps):
    g = np.zeros_like(f)
    for _ in range(steps):
        collide(f, omega)
        stream(f, g)
        f, g = g, f
    return f


def program(rho0, ux0, uy0, omega, steps):
    ny, nx = rho0.shape
    f = np.zeros((9, ny, nx))
    for y in range(ny):
        for x in range(nx):
            for k in range(9):
                f[k, y, x] = equilibrium(k, rho0[y, x], ux0[y, x], uy0[y, x])
    f = run(f, omega, steps)
    enstrophy = 0.0
    for y in range(ny):
        for x in range(nx):
            _, _, vy_r = moments(f, y, (x + 1) % nx)
            _, _, vy_l = moments(f, y, (x - 1) % nx)
            _, vx_u, _ = moments(f, (y + 1) % ny, x)
            _, vx_d, _ = moments(f, (y - 1) % ny, x)
            curl = 0.5 * (vy_r - vy_l) - 0.5 * (vx_u - vx_d)
            enstrophy += curl * curl
    return enstrophy


def inputs(rng):
    shape = (3, 4)
    return {
        "rho0": rng.uniform(0.95, 1.05, shape),
        "ux0": rng.uniform(-0.1, 0.1, shape),
        "uy0": rng.uniform(-0.1, 0.1, shape),
        "omega": 1.3,
        "steps": 2,
    }
