# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007
"""Particles with cut-offs and neighbour lists, and integrators of ODEs."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.entry import Cases

case = Cases()

# ---------------------------------------------------------------- particles


def lennard_jones_energy(pos, epsilon, sigma, cutoff):
    n = pos.shape[0]
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            r2 = 0.0
            for d in range(3):
                r2 += (pos[i, d] - pos[j, d]) ** 2
            if r2 > cutoff * cutoff:
                continue
            s6 = (sigma * sigma / r2) ** 3
            energy += 4.0 * epsilon * (s6 * s6 - s6)
    return energy


def _lattice(n, m, dims=3):
    spread = np.arange(n)[:, None] * np.array([1.1, 0.7, 0.4])[:dims]
    return (spread + 0.1 * m.rng.uniform(-1, 1, (n, dims))).astype(m.dtype)


case(
    lennard_jones_energy,
    lambda n, m: dict(
        pos=_lattice(n, m), epsilon=m.scalar(), sigma=m.scalar(0.9, 1.1), cutoff=3.5
    ),
    real=8,
    covers=("triangular",),
)


def lennard_jones_forces(pos, force, cutoff):
    n = len(pos)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            dz = pos[i, 2] - pos[j, 2]
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < cutoff**2:
                inv = 1.0 / r2
                s6 = inv**3
                f = 24.0 * inv * s6 * (2.0 * s6 - 1.0)
                force[i, 0] += f * dx
                force[i, 1] += f * dy
                force[i, 2] += f * dz


case(
    lennard_jones_forces,
    lambda n, m: dict(pos=_lattice(n, m), force=m(n, 3), cutoff=3.5),
    "force",
    real=8,
)


def newtons_third_law(pos, force):
    n = pos.shape[0]
    for i in range(n):
        for j in range(i):
            d = pos[i] - pos[j]
            f = d / (1.0 + d * d)
            force[i] += f
            force[j] -= f


case(
    newtons_third_law,
    lambda n, m: dict(pos=m(n), force=m(n)),
    "force",
    real=12,
    covers=("triangular",),
)


def verlet_neighbour_list(pos, vel, neighbours, counts, dt, steps):
    n = pos.shape[0]
    for t in range(steps):
        force = np.zeros_like(pos)
        for i in range(n):
            for k in range(counts[i]):
                j = neighbours[i, k]
                dx = pos[j, 0] - pos[i, 0]
                dy = pos[j, 1] - pos[i, 1]
                r = math.sqrt(dx * dx + dy * dy + 0.1)
                f = (r - 1.0) / r
                force[i, 0] += f * dx
                force[i, 1] += f * dy
        for i in range(n):
            vel[i, 0] += dt * force[i, 0]
            vel[i, 1] += dt * force[i, 1]
            pos[i, 0] += dt * vel[i, 0]
            pos[i, 1] += dt * vel[i, 1]


case(
    verlet_neighbour_list,
    lambda n, m: dict(
        pos=_lattice(n, m, 2),
        vel=m(n, 2),
        neighbours=m.indices(n, n, 3),
        counts=m.indices(4, n),
        dt=m.scalar(0.05, 0.1),
        steps=3,
    ),
    "pos vel",
    real=10,
    covers=("bounds from data", "time stepping", "index from an array"),
    heavy=True,
)


def cell_list_density(pos, mass, h, cells):
    n = pos.shape[0]
    head = np.full(cells, -1, dtype=np.int64)
    link = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        c = int(pos[i])
        link[i] = head[c]
        head[c] = i
    density = np.zeros(n)
    for i in range(n):
        c = int(pos[i])
        for d in range(max(0, c - 1), min(cells, c + 2)):
            j = head[d]
            while j >= 0:
                r = abs(pos[i] - pos[j]) / h
                if r < 1.0:
                    density[i] += mass[j] * (1.0 - r * r) ** 3
                j = link[j]
    return density


case(
    cell_list_density,
    lambda n, m: dict(
        pos=(m.indices(5, n) + 0.2 + 0.6 * m.rng.random(n)).astype(m.dtype),
        mass=m.positive(n),
        h=m.scalar(0.8, 0.95),
        cells=5,
    ),
    real=12,
    covers=("index from a float", "integer local array"),
)


def periodic_pair_energy(pos, box):
    n = pos.shape[0]
    energy = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            d = pos[i] - pos[j]
            d -= box * round(d / box)
            energy += math.exp(-d * d)
    return energy


case(
    periodic_pair_energy,
    lambda n, m: dict(pos=m(n), box=m.scalar(2.6, 2.9)),
    real=9,
    covers=("triangular",),
)


def smoothed_particle_pressure(pos, rho, stiffness):
    n = pos.shape[0]
    acc = np.zeros((n, 2))
    for i in range(n):
        pi = stiffness * (rho[i] - 1.0)
        for j in range(n):
            pj = stiffness * (rho[j] - 1.0)
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            q = math.sqrt(dx * dx + dy * dy + 0.01)
            if q >= 2.0:
                continue
            w = (2.0 - q) ** 2 / q
            acc[i, 0] -= (pi + pj) / (2.0 * rho[j]) * w * dx
            acc[i, 1] -= (pi + pj) / (2.0 * rho[j]) * w * dy
    return acc


case(
    smoothed_particle_pressure,
    lambda n, m: dict(pos=m(n, 2), rho=m.positive(n), stiffness=m.scalar()),
    real=7,
)


def bond_chain_angles(pos):
    n = pos.shape[0]
    energy = 0.0
    for i in range(1, n - 1):
        ax = pos[i - 1, 0] - pos[i, 0]
        ay = pos[i - 1, 1] - pos[i, 1]
        bx = pos[i + 1, 0] - pos[i, 0]
        by = pos[i + 1, 1] - pos[i, 1]
        cosine = (ax * bx + ay * by) / (math.hypot(ax, ay) * math.hypot(bx, by))
        energy += (math.acos(max(-0.999, min(0.999, cosine))) - 2.0) ** 2
    return energy


case(
    bond_chain_angles,
    lambda n, m: dict(
        pos=np.stack([0.8 * np.arange(n), 0.5 * m.rng.random(n)], 1).astype(m.dtype)
        + 0.0
    ),
    real=10,
)


def ewald_structure_factor(pos, charge, kmax):
    energy = 0.0
    for k in range(1, kmax + 1):
        re = 0.0
        im = 0.0
        for i in range(pos.shape[0]):
            re += charge[i] * math.cos(k * pos[i])
            im += charge[i] * math.sin(k * pos[i])
        energy += math.exp(-0.1 * k * k) / (k * k) * (re * re + im * im)
    return energy


case(ewald_structure_factor, lambda n, m: dict(pos=m(n), charge=m(n), kmax=4), real=12)


def particle_in_cell(x, v, q, field, dt, steps):
    cells = field.shape[0]
    for t in range(steps):
        rho = np.zeros(cells)
        for p in range(x.shape[0]):
            c = int(x[p])
            w = x[p] - c
            rho[c] += q * (1.0 - w)
            rho[(c + 1) % cells] += q * w
        for c in range(cells):
            field[c] += dt * (rho[c] - rho[c - 1])
        for p in range(x.shape[0]):
            c = int(x[p])
            w = x[p] - c
            e = (1.0 - w) * field[c] + w * field[(c + 1) % cells]
            v[p] += dt * e
            x[p] = x[p] + dt * v[p]


case(
    particle_in_cell,
    lambda n, m: dict(
        x=(m.indices(6, n) + 0.4 + 0.2 * m.rng.random(n)).astype(m.dtype),
        v=m(n),
        q=0.2,
        field=0.2 * m(6),
        dt=0.05,
        steps=3,
    ),
    "x v field",
    real=10,
    covers=("index from a float", "negative index", "wrapped index", "time stepping"),
)


def random_walk_potential(steps, table, start):
    position = start
    energy = 0.0
    n = table.shape[0]
    for s in steps:
        position = (position + s) % n
        energy += table[position] * (1.0 + 0.1 * energy)
    return energy


case(
    random_walk_potential,
    lambda n, m: dict(steps=m.indices(5, n) - 2, table=m(7), start=3),
    covers=("wrapped index", "index carried through a loop"),
)


def collide_and_bounce(x, v, dt, steps):
    for t in range(steps):
        for i in range(x.shape[0]):
            x[i] += dt * v[i]
            if x[i] < 0.0:
                x[i] = -x[i]
                v[i] = -0.9 * v[i]
            elif x[i] > 1.0:
                x[i] = 2.0 - x[i]
                v[i] *= -0.9


case(
    collide_and_bounce,
    lambda n, m: dict(x=m.positive(n) - 0.45, v=m.away(n), dt=0.4, steps=3),
    "x v",
    covers=("time stepping",),
    seed=1,
)

# ---------------------------------------------------------------- integrators


def _pendulum(theta, omega, damping):
    return omega, -math.sin(theta) - damping * omega


def rk4_pendulum(theta, omega, damping, dt, steps):
    for t in range(steps):
        k1, l1 = _pendulum(theta, omega, damping)
        k2, l2 = _pendulum(theta + 0.5 * dt * k1, omega + 0.5 * dt * l1, damping)
        k3, l3 = _pendulum(theta + 0.5 * dt * k2, omega + 0.5 * dt * l2, damping)
        k4, l4 = _pendulum(theta + dt * k3, omega + dt * l3, damping)
        theta = theta + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
        omega = omega + dt / 6.0 * (l1 + 2 * l2 + 2 * l3 + l4)
    return theta, omega


case(
    rk4_pendulum,
    lambda n, m: dict(
        theta=m.scalar(), omega=m.scalar(), damping=m.scalar(0.1, 0.3), dt=0.1, steps=n
    ),
    seed=1,
    covers=("tuple helper", "time stepping"),
)


def _lorenz(state, sigma, rho, beta, rate):
    rate[0] = sigma * (state[1] - state[0])
    rate[1] = state[0] * (rho - state[2]) - state[1]
    rate[2] = state[0] * state[1] - beta * state[2]


def rk4_lorenz(state, sigma, rho, beta, steps):
    dt = 0.01
    k1 = np.zeros(3)
    k2 = np.zeros(3)
    k3 = np.zeros(3)
    k4 = np.zeros(3)
    for t in range(steps):
        _lorenz(state, sigma, rho, beta, k1)
        _lorenz(state + 0.5 * dt * k1, sigma, rho, beta, k2)
        _lorenz(state + 0.5 * dt * k2, sigma, rho, beta, k3)
        _lorenz(state + dt * k3, sigma, rho, beta, k4)
        state += dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)


case(
    rk4_lorenz,
    lambda n, m: dict(
        state=m.positive(3),
        sigma=m.scalar(5.0, 6.0),
        rho=m.scalar(10.0, 12.0),
        beta=m.scalar(2.0, 3.0),
        steps=n,
    ),
    "state",
    least=1,
    real=8,
    covers=("array helper", "time stepping"),
)


def adaptive_heun(y, rate, end):
    t = 0.0
    dt = 0.25
    accepted = 0
    while t < end:
        if t + dt > end:
            dt = end - t
        f0 = -rate * y * y + math.cos(t)
        guess = y + dt * f0
        f1 = -rate * guess * guess + math.cos(t + dt)
        new = y + 0.5 * dt * (f0 + f1)
        error = abs(new - guess)
        if error > 0.05:
            dt *= 0.5
            continue
        t += dt
        y = new
        accepted += 1
        if error < 0.005:
            dt *= 2.0
    return y


case(
    adaptive_heun,
    lambda n, m: dict(y=m.scalar(1.0, 1.5), rate=m.scalar(), end=2.03),
    least=3,
    real=3,
    covers=("trip count from data",),
)


def adaptive_step_system(y, k, end):
    n = y.shape[0]
    t = 0.0
    h = 0.2
    while t < end - 1e-12:
        h = min(h, end - t)
        full = np.empty(n)
        half = np.empty(n)
        worst = 0.0
        for i in range(n):
            full[i] = y[i] - h * k[i] * y[i]
            mid = y[i] - 0.5 * h * k[i] * y[i]
            half[i] = mid - 0.5 * h * k[i] * mid
            worst = max(worst, abs(full[i] - half[i]))
        if worst < 0.03:
            t += h
            for i in range(n):
                y[i] = 2.0 * half[i] - full[i]
            h *= 1.5
        else:
            h *= 0.5
    return t


case(
    adaptive_step_system,
    lambda n, m: dict(y=m.positive(n), k=m.positive(n), end=1.0),
    "y",
    real=5,
    covers=("trip count from data",),
)


def velocity_verlet(q, p, k, dt, steps):
    force = -k * q
    for t in range(steps):
        p += 0.5 * dt * force
        q += dt * p
        force = -k * q - 0.1 * q**3
        p += 0.5 * dt * force


case(
    velocity_verlet,
    lambda n, m: dict(q=m(n), p=m(n), k=m.positive(n), dt=0.1, steps=4),
    "q p",
    covers=("time stepping", "rebound array"),
)


def adams_bashforth(u, steps, dt):
    n = u.shape[0]
    now = np.zeros(n)
    last = np.zeros(n)
    for t in range(steps):
        for i in range(n):
            now[i] = u[(i + 1) % n] * (1.0 - u[i - 1]) - 0.5 * u[i]
        if t == 0:
            for i in range(n):
                u[i] += dt * now[i]
        else:
            for i in range(n):
                u[i] += dt * (1.5 * now[i] - 0.5 * last[i])
        now, last = last, now


case(
    adams_bashforth,
    lambda n, m: dict(u=m(n), steps=4, dt=m.scalar(0.05, 0.1)),
    "u",
    least=1,
    covers=("buffers swapped by name", "negative index", "time stepping"),
)


def stiff_backward_euler(y, lam, dt, steps):
    for t in range(steps):
        old = y
        for k in range(30):
            residual = y - old + dt * lam * y**3
            delta = residual / (1.0 + 3.0 * dt * lam * y * y)
            y = y - delta
            if abs(delta) < 1e-14:
                break
    return y


case(
    stiff_backward_euler,
    lambda n, m: dict(y=m.scalar(), lam=m.scalar(5.0, 8.0), dt=0.1, steps=n),
    real=6,
    covers=("trip count from data", "time stepping"),
)


def three_body_history(masses, start, velocity, dt, history):
    n = masses.shape[0]
    pos = start.copy()
    vel = velocity.copy()
    for t in range(history.shape[0]):
        for i in range(n):
            for j in range(n):
                if i != j:
                    dx = pos[j, 0] - pos[i, 0]
                    dy = pos[j, 1] - pos[i, 1]
                    r3 = (dx * dx + dy * dy + 0.2) ** 1.5
                    vel[i, 0] += dt * masses[j] * dx / r3
                    vel[i, 1] += dt * masses[j] * dy / r3
        for i in range(n):
            for d in range(2):
                pos[i, d] += dt * vel[i, d]
                history[t, i, d] = pos[i, d]


case(
    three_body_history,
    lambda n, m: dict(
        masses=m.positive(3),
        start=m(3, 2),
        velocity=m(3, 2),
        dt=m.scalar(0.05, 0.1),
        history=m(n, 3, 2),
    ),
    "history",
    real=6,
    covers=("time stepping",),
    heavy=True,
)


def epidemic_until_peak(s, i, beta, gamma):
    days = 0
    while True:
        new = beta * s * i
        recovered = gamma * i
        if new < recovered or days > 60:
            return s, i, days
        s -= new
        i += new - recovered
        days += 1


case(
    epidemic_until_peak,
    lambda n, m: dict(
        s=m.scalar(0.7, 0.8),
        i=m.scalar(0.2, 0.3),
        beta=m.scalar(0.6, 0.8),
        gamma=m.scalar(0.1, 0.2),
    ),
    seed=1,
    least=3,
    real=3,
    covers=("trip count from data",),
)


def projectile_until_landing(v, angle, drag):
    dt = 0.11
    x = 0.0
    y = 0.0
    vx = v * math.cos(angle)
    vy = v * math.sin(angle)
    while True:
        speed = math.sqrt(vx * vx + vy * vy)
        vx -= dt * drag * speed * vx
        vy -= dt * (1.0 + drag * speed * vy)
        last_x, last_y = x, y
        x += dt * vx
        y += dt * vy
        if y < 0.0:
            break
    return last_x - last_y * (x - last_x) / (y - last_y)


case(
    projectile_until_landing,
    lambda n, m: dict(v=m.scalar(2.0, 3.0), angle=m.scalar(0.7, 0.9), drag=0.05),
    least=3,
    real=3,
    covers=("trip count from data",),
)
