# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, B905, E741
"""Molecular simulation, N-body, spin models, orbits, relativity."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("physics")


def _like(m, values):
    return np.ascontiguousarray(values, dtype=m.dtype)


def _ring(n, m):
    x = np.zeros((n, 3))
    x[:, 0] = np.arange(n)
    return _like(m, x + 0.05 * m(n, 3))


def lj_forces_minimum_image(positions, box, epsilon, sigma, cutoff):
    """Lennard-Jones forces, potential energy and virial in a periodic box."""
    natoms = positions.shape[0]
    forces = np.zeros((natoms, 3))
    rc2 = cutoff * cutoff
    sr6 = (sigma * sigma / rc2) ** 3
    eshift = 4.0 * epsilon * (sr6 * sr6 - sr6)
    epot = 0.0
    virial = 0.0
    for i in range(natoms - 1):
        for j in range(i + 1, natoms):
            dx = positions[i, 0] - positions[j, 0]
            dy = positions[i, 1] - positions[j, 1]
            dz = positions[i, 2] - positions[j, 2]
            dx -= box[0] * np.rint(dx / box[0])
            dy -= box[1] * np.rint(dy / box[1])
            dz -= box[2] * np.rint(dz / box[2])
            r2 = dx * dx + dy * dy + dz * dz
            if r2 > rc2:
                continue
            ir2 = sigma * sigma / r2
            ir6 = ir2 * ir2 * ir2
            epot += 4.0 * epsilon * (ir6 * ir6 - ir6) - eshift
            fr = 48.0 * epsilon * (ir6 * ir6 - 0.5 * ir6) / r2
            forces[i, 0] += fr * dx
            forces[i, 1] += fr * dy
            forces[i, 2] += fr * dz
            forces[j, 0] -= fr * dx
            forces[j, 1] -= fr * dy
            forces[j, 2] -= fr * dz
            virial += fr * r2
    return forces, epot, virial


case(
    lj_forces_minimum_image,
    lambda n, m: dict(
        positions=_ring(n, m),
        box=_like(m, np.full(3, max(n, 3.0))),
        epsilon=0.9,
        sigma=0.95,
        cutoff=1.5,
    ),
    idiom="pairs of atoms, np.rint for the nearest image, continue past the cutoff",
    seen="lennardjones(U, box) of an atooms user, AlbertDeFusco/pyLJ lj_numba.py",
)


def softened_gravity(pos, mass, acc, G=1.0, softening=0.05):
    """Direct summation; the accelerations are left in acc."""
    acc[:] = 0.0
    eps2 = softening**2
    for i in range(len(mass)):
        for j in range(len(mass)):
            if i == j:
                continue
            dr = pos[j] - pos[i]
            d2 = np.dot(dr, dr) + eps2
            acc[i] += G * mass[j] * dr * d2**-1.5


case(
    softened_gravity,
    lambda n, m: dict(pos=m(n, 3), mass=m.positive(n), acc=m(n, 3), softening=0.3),
    out="acc",
    idiom="rows as vectors, np.dot, row += vector, an array filled in place, defaults",
    seen="StanczakDominik/Nbody nbody/forces/forces.py, Barnes-Hut main.py integrate",
)


def _insert_body(body, pos, children, leaf, n_nodes, cx, cy, half):
    node = 0
    while True:
        q = (1 if pos[body, 0] >= cx else 0) + (2 if pos[body, 1] >= cy else 0)
        half *= 0.5
        cx += half if q & 1 else -half
        cy += half if q & 2 else -half
        child = children[node, q]
        if child == -1:
            children[node, q] = n_nodes
            leaf[n_nodes] = body
            return n_nodes + 1
        if leaf[child] != -1:
            other = leaf[child]
            leaf[child] = -1
            oq = (1 if pos[other, 0] >= cx else 0) + (2 if pos[other, 1] >= cy else 0)
            children[child, oq] = n_nodes
            leaf[n_nodes] = other
            n_nodes += 1
        node = child


def _moments(node, pos, mass, children, leaf, node_mass, node_com):
    if leaf[node] != -1:
        node_mass[node] = mass[leaf[node]]
        node_com[node, :] = pos[leaf[node], :]
        return
    total = 0.0
    for q in range(4):
        child = children[node, q]
        if child != -1:
            _moments(child, pos, mass, children, leaf, node_mass, node_com)
            total += node_mass[child]
            node_com[node] += node_mass[child] * node_com[child]
    node_mass[node] = total
    if total > 0.0:
        node_com[node] /= total


def quadtree_potential(pos, mass, half_width, theta, softening):
    """Barnes-Hut: the potential at every body, far cells as one mass."""
    n = pos.shape[0]
    max_nodes = 40 * n + 8
    children = -np.ones((max_nodes, 4), dtype=np.int64)
    leaf = -np.ones(max_nodes, dtype=np.int64)
    node_mass = np.zeros(max_nodes)
    node_com = np.zeros((max_nodes, 2))
    n_nodes = 1
    for i in range(n):
        n_nodes = _insert_body(i, pos, children, leaf, n_nodes, 0.0, 0.0, half_width)
    _moments(0, pos, mass, children, leaf, node_mass, node_com)

    phi = np.zeros(n)
    stack = np.zeros(256, dtype=np.int32)
    sizes = np.zeros(256)
    for i in range(n):
        stack[0] = 0
        sizes[0] = 2.0 * half_width
        sp = 1
        while sp > 0:
            sp -= 1
            node = stack[sp]
            size = sizes[sp]
            if leaf[node] == i or node_mass[node] == 0.0:
                continue
            dx = node_com[node, 0] - pos[i, 0]
            dy = node_com[node, 1] - pos[i, 1]
            r = math.sqrt(dx * dx + dy * dy + softening**2)
            if leaf[node] != -1 or size < theta * r:
                phi[i] -= node_mass[node] / r
            else:
                for q in range(4):
                    if children[node, q] != -1:
                        stack[sp] = children[node, q]
                        sizes[sp] = 0.5 * size
                        sp += 1
    return phi


case(
    quadtree_potential,
    lambda n, m: dict(
        pos=m(n, 2),
        mass=m.positive(n),
        half_width=1.25,
        theta=0.5,
        softening=0.1,
    ),
    seed=1,
    idiom="a tree in integer arrays: a while loop, a recursive helper, a stack",
    seen="LucaRodia/Barnes-Hut-with-Numba-JIT-compilation main.py",
)


def _bond_vector(a, b):
    vec = a - b
    return vec, math.sqrt(vec[0] ** 2 + vec[1] ** 2 + vec[2] ** 2)


def _cross_product(a, b):
    c = np.empty(3)
    c[0] = a[1] * b[2] - a[2] * b[1]
    c[1] = a[2] * b[0] - a[0] * b[2]
    c[2] = a[0] * b[1] - a[1] * b[0]
    return c


def torsion_forces(coords, quads, params, force):
    """Ryckaert-Bellemans torsions: adds to force and returns the energy."""
    energy = 0.0
    for atoms, terms in zip(quads, params):
        i, j, k, l = atoms
        vec12, r12 = _bond_vector(coords[i], coords[j])
        vec32, r32 = _bond_vector(coords[k], coords[j])
        vec34, r34 = _bond_vector(coords[k], coords[l])
        cross1 = _cross_product(vec12, vec32)
        cross2 = _cross_product(vec32, vec34)
        n1 = np.dot(cross1, cross1)
        n2 = np.dot(cross2, cross2)
        cos_phi = np.dot(cross1, cross2) / np.sqrt(n1 * n2)
        if cos_phi > 1.0:
            cos_phi = 1.0
        elif cos_phi < -1.0:
            cos_phi = -1.0
        phi = math.acos(cos_phi)
        if np.dot(vec12, cross2) < 0:
            phi = -phi
        factor = 1.0
        ddphi = 0.0
        for p, c in enumerate(terms):
            energy += c * factor
            if p > 0:
                ddphi += p * c * factor / cos_phi
            factor *= cos_phi
        ddphi *= -math.sin(phi)
        f_i = -ddphi * r32 / n1 * cross1
        f_l = ddphi * r32 / n2 * cross2
        p = np.dot(vec12, vec32) / r32**2
        q = np.dot(vec34, vec32) / r32**2
        s = p * f_i - q * f_l
        force[i] += f_i
        force[j] -= f_i - s
        force[k] -= f_l + s
        force[l] += f_l
    return energy


def _zigzag(n, m):
    x = np.zeros((n + 3, 3))
    x[:, 0] = np.arange(n + 3)
    x[:, 1] = 0.8 * (np.arange(n + 3) % 2)
    x[:, 2] = 0.6 * (np.arange(n + 3) // 2 % 2)
    return _like(m, x + 0.05 * m(n + 3, 3))


case(
    torsion_forces,
    lambda n, m: dict(
        coords=_zigzag(n, m),
        quads=np.arange(n)[:, None] + np.arange(4)[None, :],
        params=m(n, 4),
        force=m(n + 3, 3),
    ),
    out="force",
    idiom="rows unpacked to indices, zip of two arrays, helpers that return tuples",
    seen="selimsami/qforce qforce/forces.py",
)


def ewald_reciprocal_energy(charges, positions, length, alpha, kmax):
    """The reciprocal and self parts of the Ewald sum of a cubic box."""
    n = len(charges)
    assert positions.shape == (n, 3)
    twopi = 2.0 * np.pi / length
    energy = 0.0
    for kx in range(0, kmax + 1):
        weight = 1.0 if kx == 0 else 2.0
        for ky in range(-kmax, kmax + 1):
            for kz in range(-kmax, kmax + 1):
                k2 = kx**2 + ky**2 + kz**2
                if k2 == 0 or k2 > kmax**2:
                    continue
                k2 *= twopi**2
                structure = 0.0 + 0.0j
                for i in range(n):
                    phase = (
                        kx * positions[i, 0]
                        + ky * positions[i, 1]
                        + kz * positions[i, 2]
                    )
                    structure += charges[i] * np.exp(1j * twopi * phase)
                energy += (
                    weight
                    * np.exp(-k2 / (4.0 * alpha**2))
                    / k2
                    * (structure * np.conj(structure)).real
                )
    energy *= 2.0 * np.pi / length**3
    energy -= alpha / np.sqrt(np.pi) * np.sum(charges**2)
    return energy


case(
    ewald_reciprocal_energy,
    lambda n, m: dict(
        charges=m.away(n), positions=m(n, 3), length=2.3, alpha=1.1, kmax=2
    ),
    idiom="complex sums inside nested integer loops, assert, a conditional expression",
    seen="fluiddyn/fluidsim correlations_freq.py compute_correl4_seq, fbpic (1j)",
)


def metropolis_observables(spins, coupling, field, temperature, n_sweeps, seed):
    """Runs single-flip sweeps on spins and returns mean energy, magnetisation."""
    np.random.seed(seed)
    rows, cols = spins.shape
    n_sites = rows * cols
    mean_e = 0.0
    mean_m = 0.0
    for sweep in range(n_sweeps):
        for _ in range(n_sites):
            i = np.random.randint(0, rows)
            j = np.random.randint(0, cols)
            neighbours = (
                spins[(i - 1) % rows, j]
                + spins[(i + 1) % rows, j]
                + spins[i, (j - 1) % cols]
                + spins[i, (j + 1) % cols]
            )
            delta = 2.0 * spins[i, j] * (coupling * neighbours + field[i, j])
            if delta <= 0.0 or np.random.random() < math.exp(-delta / temperature):
                spins[i, j] = -spins[i, j]
        energy = 0.0
        for i in range(rows):
            for j in range(cols):
                s = spins[i, j]
                right = spins[i, (j + 1) % cols]
                down = spins[(i + 1) % rows, j]
                energy -= coupling * s * (right + down) + field[i, j] * s
        mean_e += energy
        mean_m += np.sum(spins)
    if n_sites == 0:
        return 0.0, 0.0
    return mean_e / n_sweeps / n_sites, mean_m / n_sweeps / n_sites


case(
    metropolis_observables,
    lambda n, m: dict(
        spins=2 * m.indices(2, n, 4) - 1,
        coupling=m.scalar(),
        field=m.away(n, 4),
        temperature=2.27,
        n_sweeps=2,
        seed=11,
    ),
    out="spins",
    idiom="np.random.seed inside, random sites, integer spins flipped in place, modulo",
    seen="soanagno/ising-model-numba code.py, AKR211/ising_model ising_counter.py",
)


def heisenberg_effective_field(s, bonds, h_ext, anisotropy, out):
    nx, ny = s.shape[0], s.shape[1]
    energy = 0.0
    for i in range(nx):
        for j in range(ny):
            for c in range(3):
                f = bonds[0] * (s[(i + 1) % nx, j, c] + s[i - 1, j, c])
                f += bonds[1] * (s[i, (j + 1) % ny, c] + s[i, j - 1, c])
                if c == 2:
                    f += 2.0 * anisotropy * s[i, j, c]
                energy -= s[i, j, c] * (0.5 * f + h_ext[c])
                out[i, j, c] = f + h_ext[c]
    return energy


case(
    heisenberg_effective_field,
    lambda n, m: dict(
        s=m(n, 3, 3),
        bonds=m.away(2),
        h_ext=m(3),
        anisotropy=m.scalar(),
        out=m(n, 3, 3),
    ),
    out="out",
    idiom="3-D arrays, periodic by modulo and by index -1, an output array and a sum",
    seen="AKR211/ising_model ising_counter.py, zwicker-group/py-pde numba/operators",
)


def _llg_torque(m, h, gamma, alpha):
    mxh = np.cross(m, h)
    return -gamma / (1.0 + alpha**2) * (mxh + alpha * np.cross(m, mxh))


def macrospin_trajectory(m0, h_static, pulse, dt, gamma=1.76, alpha=0.02):
    """Landau-Lifshitz-Gilbert by Heun, renormalised after every step."""
    m = m0 / np.linalg.norm(m0)
    path = np.empty((pulse.shape[0] + 1, 3))
    path[0] = m
    h = h_static.copy()
    for t, amplitude in enumerate(pulse):
        h[:] = h_static
        h[0] += amplitude
        k1 = _llg_torque(m, h, gamma, alpha)
        k2 = _llg_torque(m + dt * k1, h, gamma, alpha)
        m = m + 0.5 * dt * (k1 + k2)
        m /= np.linalg.norm(m)
        path[t + 1] = m
    return path


case(
    macrospin_trajectory,
    lambda n, m: dict(m0=m.positive(3), h_static=m(3), pulse=m(n), dt=0.05),
    idiom="np.cross and np.linalg.norm of 3-vectors, a name rebound, enumerate",
    seen="poliastro/poliastro core/flybys.py compute_flyby (cross and norm of vectors)",
)


def _newton_kepler(mean, ecc, tol=1e-13, maxiter=50):
    guess = mean - ecc if -np.pi < mean < 0 or np.pi < mean else mean + ecc
    for _ in range(maxiter):
        step = (guess - ecc * np.sin(guess) - mean) / (1.0 - ecc * np.cos(guess))
        guess -= step
        if abs(step) < tol:
            return guess
    return np.nan


def _perifocal_to_inertial(k, p, ecc, nu, inc, raan, argp):
    r = p / (1.0 + ecc * math.cos(nu))
    q = math.sqrt(k / p)
    u = argp + nu
    cu, su = math.cos(u), math.sin(u)
    co, so = math.cos(raan), math.sin(raan)
    ci, si = math.cos(inc), math.sin(inc)
    pos = np.array([r * (co * cu - so * su * ci), r * (so * cu + co * su * ci), 0.0])
    pos[2] = r * su * si
    a = su + ecc * math.sin(argp)
    b = cu + ecc * math.cos(argp)
    vel = np.array(
        [-q * (co * a + so * b * ci), -q * (so * a - co * b * ci), q * b * si]
    )
    return pos, vel


def ephemeris_from_elements(k, elements, times):
    """Positions and velocities of orbits given as (a, ecc, inc, raan, argp, M0)."""
    n = elements.shape[0]
    rr = np.zeros((n, 3))
    vv = np.zeros((n, 3))
    for i in range(n):
        a, ecc, inc, raan, argp, mean0 = elements[i]
        if ecc >= 1.0 or a <= 0.0:
            raise ValueError("only elliptic orbits")
        mean = mean0 + np.sqrt(k / a**3) * times[i]
        mean = (mean + np.pi) % (2.0 * np.pi) - np.pi
        E = _newton_kepler(mean, ecc)
        nu = 2.0 * np.arctan(np.sqrt((1.0 + ecc) / (1.0 - ecc)) * np.tan(E / 2.0))
        p = a * (1.0 - ecc**2)
        rr[i, :], vv[i, :] = _perifocal_to_inertial(k, p, ecc, nu, inc, raan, argp)
    return rr, vv


case(
    ephemeris_from_elements,
    lambda n, m: dict(
        k=1.0,
        elements=_like(m, [1.5, 0.0, 0, 0, 0, 0] + m(n, 6) * [0.4, 0, 1, 1, 1, 0.9])
        + _like(m, 0.1 + 0.4 * m.positive(n, 1)) * _like(m, [0, 1, 0, 0, 0, 0]),
        times=m.positive(n),
    ),
    idiom="Newton that returns from the loop or nan, slices as targets of an unpack",
    seen="poliastro/poliastro core/elements.py coe2rv_many, core/angles.py M_to_E",
)


def _stumpff(psi):
    if psi > 1e-3:
        root = math.sqrt(psi)
        return (1.0 - math.cos(root)) / psi, (root - math.sin(root)) / root**3
    elif psi < -1e-3:
        root = math.sqrt(-psi)
        return (1.0 - math.cosh(root)) / psi, (math.sinh(root) - root) / root**3
    c2 = 0.5
    c3 = 1.0 / 6.0
    term2, term3 = c2, c3
    k = 1
    while k < 12:
        term2 *= -psi / ((2 * k + 1) * (2 * k + 2))
        term3 *= -psi / ((2 * k + 2) * (2 * k + 3))
        c2 += term2
        c3 += term3
        k += 1
    return c2, c3


def propagate_universal(k, r0, v0, tof, numiter=40, rtol=1e-13):
    """The state after a time of flight, by universal variables."""
    norm_r0 = np.sqrt(r0 @ r0)
    dot_r0v0 = r0 @ v0
    sqrt_k = k**0.5
    alpha = -(v0 @ v0) / k + 2.0 / norm_r0
    if alpha > 0:
        xi = sqrt_k * tof * alpha
    elif alpha < 0:
        xi = np.sign(tof) * (-1.0 / alpha) ** 0.5
    else:
        xi = sqrt_k * tof / norm_r0
    count = 0
    while count < numiter:
        psi = xi * xi * alpha
        c2, c3 = _stumpff(psi)
        norm_r = (
            xi * xi * c2
            + dot_r0v0 / sqrt_k * xi * (1.0 - psi * c3)
            + norm_r0 * (1.0 - psi * c2)
        )
        xi_new = (
            xi
            + (
                sqrt_k * tof
                - xi * xi * xi * c3
                - dot_r0v0 / sqrt_k * xi * xi * c2
                - norm_r0 * xi * (1.0 - psi * c3)
            )
            / norm_r
        )
        if abs(xi_new - xi) < rtol * max(1.0, abs(xi)):
            break
        xi = xi_new
        count += 1
    else:
        raise RuntimeError("Maximum number of iterations reached")
    f = 1.0 - xi**2 / norm_r0 * c2
    g = tof - xi**3 / sqrt_k * c3
    gdot = 1.0 - xi**2 / norm_r * c2
    fdot = sqrt_k / (norm_r * norm_r0) * xi * (psi * c3 - 1.0)
    assert np.abs(f * gdot - fdot * g - 1.0) < 1e-5
    return f * r0 + g * v0, fdot * r0 + gdot * v0


case(
    propagate_universal,
    lambda n, m: dict(
        k=1.1,
        r0=m.positive(3),
        v0=_like(m, 0.4 * m(3)),
        tof=0.1 * n + 0.3,
    ),
    idiom="while/else that raises, break on convergence, the @ of vectors, assert",
    seen="poliastro/poliastro core/iod.py vallado (while/else), _find_xy (assert)",
)


def cowell_acceleration(t0, state, k, perturbation, harmonic):
    """Two bodies, J2 and drag in an exponential atmosphere."""
    x, y, z, vx, vy, vz = state
    J2, R = harmonic
    C_D, A_over_m, H0, rho0 = perturbation
    r = np.sqrt(x**2 + y**2 + z**2)
    r3 = r**3
    factor = 1.5 * k * J2 * R**2 / r**5
    zr2 = 5.0 * z**2 / r**2
    drag = -0.5 * rho0 * np.exp(-(r - R) / H0) * C_D * A_over_m
    v = (vx * vx + vy * vy + vz * vz) ** 0.5
    du = np.array([vx, vy, vz, -k * x / r3, -k * y / r3, -k * z / r3])
    du[3:] += np.array([zr2 - 1.0, zr2 - 1.0, zr2 - 3.0]) * state[:3] * factor
    du[3:] += drag * v * state[3:]
    return du


case(
    cowell_acceleration,
    lambda n, m: dict(
        t0=0.0,
        state=m.positive(6),
        k=1.0,
        perturbation=(2.2, 0.01, 0.3, 0.7),
        harmonic=(1e-2, 1.0),
    ),
    idiom="an array unpacked to six names, tuples of parameters, an unused time",
    seen="poliastro/poliastro core/perturbations.py J2_perturbation, atmospheric_drag",
)


def _schwarzschild_symbols(r, theta, mass):
    gamma = np.zeros((4, 4, 4))
    f = 1.0 - 2.0 * mass / r
    gamma[0, 0, 1] = gamma[0, 1, 0] = mass / (r * r * f)
    gamma[1, 0, 0] = mass * f / r**2
    gamma[1, 1, 1] = -mass / (r * r * f)
    gamma[1, 2, 2] = -r * f
    gamma[1, 3, 3] = -r * f * np.sin(theta) ** 2
    gamma[2, 1, 2] = gamma[2, 2, 1] = 1.0 / r
    gamma[2, 3, 3] = -np.sin(theta) * np.cos(theta)
    gamma[3, 1, 3] = gamma[3, 3, 1] = 1.0 / r
    gamma[3, 2, 3] = gamma[3, 3, 2] = np.cos(theta) / np.sin(theta)
    return gamma


def _geodesic_rhs(y, mass):
    gamma = _schwarzschild_symbols(y[1], y[2], mass)
    dy = np.zeros(8)
    dy[:4] = y[4:]
    for mu in range(4):
        s = 0.0
        for a in range(4):
            for b in range(4):
                s += gamma[mu, a, b] * y[4 + a] * y[4 + b]
        dy[4 + mu] = -s
    return dy


def trace_geodesic(y0, mass, h, max_steps, r_max=50.0):
    """Follows a ray until it falls in or leaves; the positions that were visited."""
    path = np.zeros((max_steps + 1, 4))
    y = y0.copy()
    path[0, :] = y[:4]
    steps = 0
    for i in range(max_steps):
        k1 = _geodesic_rhs(y, mass)
        k2 = _geodesic_rhs(y + h / 2 * k1, mass)
        k3 = _geodesic_rhs(y + h / 2 * k2, mass)
        k4 = _geodesic_rhs(y + h * k3, mass)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[i + 1, :] = y[:4]
        steps = i + 1
        if y[1] < 2.05 * mass or y[1] > r_max:
            break
    return path[: steps + 1]


case(
    trace_geodesic,
    lambda n, m: dict(
        y0=_like(m, [0.0, 9.0, 1.5, 0.2, 1.2, -0.6, 0.02, 0.05] + 0.02 * m(8)),
        mass=1.0,
        h=0.2,
        max_steps=min(n, 4),
    ),
    idiom="a = b = value, four-fold loops, Runge-Kutta of arrays, a slice returned",
    seen="einsteinpy/einsteinpy src/einsteinpy/geodesic/utils.py (Kerr, int(flag))",
)


def _rotating_frame(t, u, mu):
    x, y, vx, vy = u
    r1 = ((x + mu) ** 2 + y**2) ** 1.5
    r2 = ((x - 1.0 + mu) ** 2 + y**2) ** 1.5
    ax = x + 2.0 * vy - (1.0 - mu) * (x + mu) / r1 - mu * (x - 1.0 + mu) / r2
    ay = y - 2.0 * vx - (1.0 - mu) * y / r1 - mu * y / r2
    return np.array([vx, vy, ax, ay])


def integrate_rk4(fun, y0, t_eval, args=()):
    """A fixed-step Runge-Kutta of any right-hand side."""
    n_points = len(t_eval)
    out = np.empty((n_points, y0.size))
    y = y0
    for i in range(n_points):
        out[i] = y
        if i == n_points - 1:
            break
        t = t_eval[i]
        dt = t_eval[i + 1] - t
        k1 = fun(t, y, *args)
        k2 = fun(t + dt / 2.0, y + dt / 2.0 * k1, *args)
        k3 = fun(t + dt / 2.0, y + dt / 2.0 * k2, *args)
        k4 = fun(t + dt, y + dt * k3, *args)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return out


case(
    integrate_rk4,
    lambda n, m: dict(
        fun=_rotating_frame,
        y0=_like(m, [0.5, 0.4, 0.1, 0.2] + 0.05 * m(4)),
        t_eval=_like(m, 0.05 * np.arange(n)),
        args=(0.012,),
    ),
    idiom="a function as an argument, called with *args; the state rebound",
    seen="poliastro/poliastro contrib/CR3BP func_CR3BP, pynamicalsys rk4_step",
)
