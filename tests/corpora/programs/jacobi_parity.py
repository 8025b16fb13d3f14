"""Electrostatics: Jacobi on two planes of one array, chosen by parity."""

import numpy as np


def relax(planes, src, dst, charge, fixed, h):
    worst = 0.0
    _, ny, nx = planes.shape
    for y in range(ny):
        for x in range(nx):
            if fixed[y, x]:
                planes[dst, y, x] = planes[src, y, x]
                continue
            s = planes[src, y - 1, x] + planes[src, y + 1, x]
            s += planes[src, y, x - 1] + planes[src, y, x + 1]
            new = 0.25 * (s + h * h * charge[y, x])
            worst = max(worst, abs(new - planes[src, y, x]))
            planes[dst, y, x] = new
    return worst


def field_energy(phi, h):
    e = 0.0
    for y in range(phi.shape[0] - 1):
        for x in range(phi.shape[1] - 1):
            ex = (phi[y, x + 1] - phi[y, x]) / h
            ey = (phi[y + 1, x] - phi[y, x]) / h
            e += 0.5 * (ex * ex + ey * ey) * h * h
    return e


def program(boundary, charge, fixed, h, tol=1e-3, limit=40):
    ny, nx = boundary.shape
    planes = np.zeros((2, ny, nx))
    planes[0] = boundary
    cur = 0
    for it in range(limit):
        worst = relax(planes, cur, 1 - cur, charge, fixed, h)
        cur = 1 - cur
        if worst < tol:
            break
    return field_energy(planes[cur], h)


def inputs(rng):
    fixed = np.ones((4, 5), dtype=bool)
    fixed[1:-1, 1:-1] = False
    return {
        "boundary": rng.uniform(-1, 1, (4, 5)),
        "charge": rng.normal(size=(4, 5)),
        "fixed": fixed,
        "h": 0.3,
    }
