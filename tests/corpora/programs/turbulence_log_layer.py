"""Fluid dynamics: a mixing-length channel with damping by fixed-point sweeps."""

import numpy as np

KAPPA = 0.41


def mixing_length(y, u_tau, nu, a_plus):
    y_plus = y * u_tau / nu
    return KAPPA * y * (1.0 - np.exp(-y_plus / a_plus))


def eddy_viscosity(u, y, u_tau, nu, a_plus):
    n = len(y)
    nut = np.zeros(n - 1)
    for i in range(n - 1):
        ym = 0.5 * (y[i] + y[i + 1])
        lm = mixing_length(ym, u_tau, nu, a_plus)
        shear = (u[i + 1] - u[i]) / (y[i + 1] - y[i])
        nut[i] = lm**2 * np.sqrt(shear**2 + 1e-12)
    return nut


def solve_momentum(y, nu_total, dpdx, u):
    """Integrate the shear stress from the symmetry plane, then the velocity."""
    n = len(y)
    tau = np.zeros(n - 1)
    half = y[n - 1]
    for i in range(n - 1):
        tau[i] = dpdx * (half - 0.5 * (y[i] + y[i + 1]))
    u[0] = 0.0
    for i in range(n - 1):
        u[i + 1] = u[i] + tau[i] / nu_total[i] * (y[i + 1] - y[i])


def program(y, dpdx, nu, a_plus, u_meas, relax, sweeps):
    u_tau = np.sqrt(dpdx * y[-1])
    u = u_tau * y / y[-1] * 10.0
    old = u.copy()
    for k in range(sweeps):
        nut = eddy_viscosity(u, y, u_tau, nu, a_plus)
        old[:] = u
        solve_momentum(y, nu + nut, dpdx, u)
        for i in range(len(u)):
            u[i] = relax * u[i] + (1 - relax) * old[i]
    flow = 0.0
    for i in range(1, len(y)):
        flow += 0.5 * (u[i] + u[i - 1]) * (y[i] - y[i - 1])
    return np.sum((u - u_meas) ** 2) + 0.1 * flow


def inputs(rng):
    y = np.linspace(0, 1, 8) ** 1.5
    return {
        "y": y,
        "dpdx": 1.0,
        "nu": 0.01,
        "a_plus": 26.0,
        "u_meas": 10 * y + 0.1 * rng.normal(size=8),
        "relax": 0.6,
        "sweeps": 4,
    }
