# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, B905, E741
"""Robots, vehicles, rotors, control, kinetics, thermodynamics."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("mechanics")


def _like(m, values):
    return np.ascontiguousarray(values, dtype=m.dtype)


def _steer_limit(angle, rate, s_min, s_max, sv_max):
    if (angle <= s_min and rate <= 0.0) or (angle >= s_max and rate >= 0.0):
        return 0.0
    if rate <= -sv_max:
        return -sv_max
    elif rate >= sv_max:
        return sv_max
    return rate


def _magic_formula(slip, load, B, C, D):
    return D * load * math.sin(C * math.atan(B * slip))


def single_track_rollout(x0, controls, params, dt):
    """States of a bicycle model with Pacejka tyres under steering and pedals."""
    lf, lr = params["lf"], params["lr"]
    lwb = lf + lr
    g = 9.81
    states = np.empty((controls.shape[0] + 1, 6))
    states[0] = x0
    for t in range(controls.shape[0]):
        px, py, delta, v, yaw, rate = states[t]
        sv = _steer_limit(
            delta, controls[t, 0], params["s_min"], params["s_max"], params["sv_max"]
        )
        accl = min(max(controls[t, 1], -params["a_max"]), params["a_max"])
        if abs(v) < 0.5:
            slip = math.atan(lr / lwb * math.tan(delta))
            f = np.array(
                [
                    v * math.cos(yaw + slip),
                    v * math.sin(yaw + slip),
                    sv,
                    accl,
                    v * math.cos(slip) / lwb * math.tan(delta),
                    0.0,
                ]
            )
        else:
            load_f = (g * lr - accl * params["h"]) * params["m"] / lwb
            load_r = (g * lf + accl * params["h"]) * params["m"] / lwb
            alpha_f = delta - math.atan(lf * rate / v)
            alpha_r = math.atan(lr * rate / v)
            fy_f = params["mu"] * _magic_formula(alpha_f, load_f, *params["tire"])
            fy_r = params["mu"] * _magic_formula(alpha_r, load_r, *params["tire"])
            f = np.array([v * math.cos(yaw), v * math.sin(yaw), sv, accl, rate, 0.0])
            f[5] = (lf * fy_f * math.cos(delta) - lr * fy_r) / params["I"]
        states[t + 1] = states[t] + dt * f
    return states


case(
    single_track_rollout,
    lambda n, m: dict(
        x0=_like(m, [0.0, 0.0, 0.1, 1.5, 0.2, 0.1] + 0.05 * m(6)),
        controls=_like(m, [0.1, 0.3] + 0.05 * m(n, 2)),
        params={
            "lf": 0.16,
            "lr": 0.17,
            "h": 0.074,
            "m": 3.7,
            "I": 0.047,
            "mu": 1.05,
            "s_min": -0.42,
            "s_max": 0.42,
            "sv_max": 3.2,
            "a_max": 9.5,
            "tire": (7.4, 1.2, 0.9),
        },
        dt=0.01,
    ),
    idiom="a dictionary of parameters, a tuple in it that is starred, limit helpers",
    seen="f1tenth/f1tenth_gym gym/f110_gym/envs/dynamic_models.py",
)


def pursuit_steering(pose, path, lookahead, wheelbase):
    """Pure pursuit: steering angle, cross-track error and position on the path."""
    point = pose[:2]
    diffs = path[1:, :2] - path[:-1, :2]
    l2s = diffs[:, 0] ** 2 + diffs[:, 1] ** 2
    dots = np.empty((path.shape[0] - 1,))
    for i in range(dots.shape[0]):
        dots[i] = np.dot((point - path[i, :2]), diffs[i, :])
    t = dots / l2s
    t[t < 0.0] = 0.0
    t[t > 1.0] = 1.0
    projections = path[:-1, :2] + (t * diffs.T).T
    dists = np.empty((projections.shape[0],))
    for i in range(dists.shape[0]):
        temp = point - projections[i]
        dists[i] = np.sqrt(np.sum(temp * temp))
    nearest = np.argmin(dists)
    target = None
    for i in range(nearest, path.shape[0] - 1):
        if np.linalg.norm(path[i + 1, :2] - point) > lookahead:
            target = path[i + 1, :2]
            break
    if target is None:
        target = path[-1, :2]
    rel = target - point
    local_y = np.dot(np.array([np.sin(-pose[2]), np.cos(-pose[2])]), rel)
    if np.abs(local_y) < 1e-6:
        return 0.0, dists[nearest], t[nearest]
    radius = np.dot(rel, rel) / (2.0 * local_y)
    return np.arctan(wheelbase / radius), dists[nearest], t[nearest]


case(
    pursuit_steering,
    lambda n, m: dict(
        pose=_like(m, [0.8, 0.7, 0.2] + 0.1 * m(3)),
        path=_like(
            m,
            np.stack([np.arange(n), 0.1 * np.arange(n) ** 1.5], axis=1)
            + 0.05 * m(n, 2),
        ),
        lookahead=1.6,
        wheelbase=0.33,
    ),
    least=3,
    idiom="masks as targets, argmin, None until found, several returns of tuples",
    seen="f1tenth_gym examples/waypoint_follow.py nearest_point_on_trajectory",
)


def _dh_transform(a, alpha, d, theta):
    ct, st = np.cos(theta), np.sin(theta)
    ca, sa = np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def geometric_jacobian(dh, q, revolute, tool=None):
    """The pose of the last frame and the 6 by n Jacobian at it."""
    T = np.eye(4)
    origins = [T[:3, 3]]
    axes = [T[:3, 2]]
    for i, (a, alpha, d, offset) in enumerate(dh):
        if revolute[i]:
            T = T @ _dh_transform(a, alpha, d, offset + q[i])
        else:
            T = T @ _dh_transform(a, alpha, d + q[i], offset)
        origins.append(T[:3, 3])
        axes.append(T[:3, 2])
    if tool is not None:
        T = T @ tool
    tip = T[:3, 3]
    jacobian = np.zeros((6, len(q)))
    for i in range(len(q)):
        if revolute[i]:
            jacobian[:3, i] = np.cross(axes[i], tip - origins[i])
            jacobian[3:, i] = axes[i]
        else:
            jacobian[:3, i] = axes[i]
    return T, jacobian


case(
    geometric_jacobian,
    lambda n, m: dict(dh=m(n, 4), q=m(n), revolute=np.arange(n) % 3 != 2, tool=m(4, 4)),
    real=7,
    idiom="lists of vectors that grow, a matrix rebound by @, enumerate that unpacks",
    seen="forward_kinematics and jacobian scripts of UR3e and FR3 (by find_string)",
)


def inverse_dynamics_rnea(parent, axis, offset, mass, com, inertia, q, qd, qdd, g):
    """Joint torques of a tree of revolute joints, recursive Newton-Euler."""
    n = len(parent)
    R = np.zeros((n, 3, 3))
    w = np.zeros((n, 3))
    wd = np.zeros((n, 3))
    acc = np.zeros((n, 3))
    force = np.zeros((n, 3))
    moment = np.zeros((n, 3))
    tau = np.zeros(n)
    for i in range(n):
        u = axis[i] / np.linalg.norm(axis[i])
        c, s = math.cos(q[i]), math.sin(q[i])
        skew = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
        R[i] = c * np.eye(3) + s * skew + (1.0 - c) * np.outer(u, u)
        p = parent[i]
        if p < 0:
            w_p = np.zeros(3)
            wd_p = np.zeros(3)
            a_p = -g
        else:
            w_p, wd_p, a_p = w[p], wd[p], acc[p]
        Rt = R[i].T
        w[i] = Rt @ w_p + u * qd[i]
        wd[i] = Rt @ wd_p + u * qdd[i] + np.cross(Rt @ w_p, u * qd[i])
        lever = np.cross(wd_p, offset[i]) + np.cross(w_p, np.cross(w_p, offset[i]))
        acc[i] = Rt @ (a_p + lever)
        a_c = acc[i] + np.cross(wd[i], com[i])
        a_c += np.cross(w[i], np.cross(w[i], com[i]))
        force[i] = mass[i] * a_c
        moment[i] = inertia[i] @ wd[i] + np.cross(w[i], inertia[i] @ w[i])
        moment[i] += np.cross(com[i], force[i])
    for i in range(n - 1, -1, -1):
        u = axis[i] / np.linalg.norm(axis[i])
        tau[i] = np.dot(u, moment[i])
        p = parent[i]
        if p >= 0:
            f = R[i] @ force[i]
            force[p] += f
            moment[p] += R[i] @ moment[i] + np.cross(offset[i], f)
    return tau


case(
    inverse_dynamics_rnea,
    lambda n, m: dict(
        parent=np.array([i - 1 if i % 3 else i // 2 - 1 for i in range(n)], np.int64),
        axis=m.away(n, 3),
        offset=m(n, 3),
        mass=m.positive(n),
        com=m(n, 3),
        inertia=_like(m, m(n, 3, 3) * 0.1 + np.eye(3)),
        q=m(n),
        qd=m(n),
        qdd=m(n),
        g=_like(m, [0.0, 0.0, -9.81]),
    ),
    real=7,
    idiom="a tree by parent indices, forward and backward sweeps, np.cross, .T, outer",
    seen="newton_euler_forward scripts; AlexanderFabisch/distance3d geometry.py",
)


def blade_element_momentum(
    r, chord, twist, alpha_tab, cl_tab, cd_tab, v_inf, omega, n_blades, tol=1e-12
):
    """Induction factors and loads of a rotor, with Prandtl's tip loss."""
    tip = r[-1] + 0.5 * (r[-1] - r[-2])
    a_out = np.zeros(r.size)
    thrust = 0.0
    torque = 0.0
    for i in range(r.size):
        sigma = n_blades * chord[i] / (2.0 * np.pi * r[i])
        a, ap = 0.2, 0.01
        for it in range(200):
            phi = np.arctan2(v_inf * (1.0 - a), omega * r[i] * (1.0 + ap))
            sphi, cphi = np.sin(phi), np.cos(phi)
            alpha = phi - twist[i]
            cl = np.interp(alpha, alpha_tab, cl_tab)
            cd = np.interp(alpha, alpha_tab, cd_tab)
            cn = cl * cphi + cd * sphi
            ct = cl * sphi - cd * cphi
            f = 0.5 * n_blades * (tip - r[i]) / (r[i] * abs(sphi))
            F = 2.0 / np.pi * np.arccos(np.exp(-f))
            a_new = 1.0 / (4.0 * F * sphi**2 / (sigma * cn) + 1.0)
            if a_new > 0.4:
                print("heavily loaded section", i)
                a_new = 0.4
            ap_new = 1.0 / (4.0 * F * sphi * cphi / (sigma * ct) - 1.0)
            done = abs(a_new - a) < tol and abs(ap_new - ap) < tol
            a = 0.5 * (a + a_new)
            ap = 0.5 * (ap + ap_new)
            if done:
                break
        else:
            raise RuntimeError("induction did not converge")
        w2 = (v_inf * (1.0 - a)) ** 2 + (omega * r[i] * (1.0 + ap)) ** 2
        thrust += 0.5 * n_blades * chord[i] * w2 * cn
        torque += 0.5 * n_blades * chord[i] * w2 * ct * r[i]
        a_out[i] = a
    return a_out, thrust, torque


case(
    blade_element_momentum,
    lambda n, m: dict(
        r=_like(m, np.linspace(1.0, 3.0, n) + 0.02 * m(n)),
        chord=_like(m, 0.12 * m.positive(n)),
        twist=_like(m, 0.12 + 0.02 * m(n)),
        alpha_tab=_like(m, [-1.0, -0.5, 0.9, 1.6]),
        cl_tab=_like(m, [-1.2, -0.7, 1.1, 0.9]),
        cd_tab=_like(m, [0.3, 0.05, 0.09, 0.4]),
        v_inf=2.0,
        omega=2.4,
        n_blades=3,
    ),
    least=3,
    real=5,
    idiom="for/else that raises, a print on trouble, np.interp of tables, a flag",
    seen="csimaoferreira/RotorWakeAerodynamicsBEM copies, WISDEM/CCBlade ccblade.py",
)


def finite_horizon_lqr(A, B, Q, R, Qf, x0, horizon):
    """Riccati recursion backwards, then the closed loop: states, inputs, cost."""
    nx, nu = B.shape
    K = np.zeros((horizon, nu, nx))
    P = Qf
    for t in range(horizon - 1, -1, -1):
        S = R + B.T @ P @ B
        K[t] = np.linalg.solve(S, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K[t])
        P = 0.5 * (P + P.T)
    xs = np.zeros((horizon + 1, nx))
    us = np.zeros((horizon, nu))
    xs[0] = x0
    cost = 0.0
    for t in range(horizon):
        us[t] = -K[t] @ xs[t]
        cost += xs[t] @ Q @ xs[t] + us[t] @ R @ us[t]
        xs[t + 1] = A @ xs[t] + B @ us[t]
    cost += xs[-1] @ Qf @ xs[-1]
    return xs, us, cost


case(
    finite_horizon_lqr,
    lambda n, m: dict(
        A=_like(m, np.eye(3) + 0.2 * m(3, 3)),
        B=m(3, 2),
        Q=m.definite(3),
        R=m.definite(2),
        Qf=m.definite(3),
        x0=m(3),
        horizon=n,
    ),
    idiom="chains of @ and .T, np.linalg.solve, a matrix rebound in a backward loop",
    seen="AtsushiSakai/PythonRobotics lqr_steer_control.py solve_DARE, dlqr",
)


@dataclass
class TrackerNoise:
    """Standard deviations of a constant-velocity tracker."""

    process: float
    sensor: float
    gate: float


def track_with_gaps(z, dt, noise, x_init=0.0):
    """Kalman filter of position and speed; nan where the sensor gave nothing."""
    n = len(z)
    x, v = x_init, 0.0
    p00, p01, p11 = 10.0, 0.0, 10.0
    q = noise.process**2
    r = noise.sensor**2
    smooth = np.full((n, 2), np.nan)
    loglike = 0.0
    rejected = 0
    for t in range(n):
        x += dt * v
        p00 += dt * (2.0 * p01 + dt * p11) + 0.25 * q * dt**4
        p01 += dt * p11 + 0.5 * q * dt**3
        p11 += q * dt**2
        smooth[t] = x, v
        if np.isnan(z[t]):
            continue
        innovation = z[t] - x
        s = p00 + r
        if innovation**2 / s > noise.gate**2:
            rejected += 1
            continue
        loglike -= 0.5 * (np.log(2.0 * np.pi * s) + innovation**2 / s)
        k0, k1 = p00 / s, p01 / s
        x += k0 * innovation
        v += k1 * innovation
        p11 -= k1 * p01
        p01 *= 1.0 - k0
        p00 *= 1.0 - k0
        smooth[t] = x, v
    return smooth, loglike, rejected


def _with_gaps(z):
    z[2::4] = np.nan
    return z


case(
    track_with_gaps,
    lambda n, m: dict(z=_with_gaps(m(n)), dt=0.3, noise=TrackerNoise(0.5, 0.4, 5.0)),
    idiom="nan for missing data, a dataclass of settings, a tuple stored in a row",
    seen="AtsushiSakai/PythonRobotics extended_kalman_filter.py, openamundsen (isnan)",
)


def mass_action_rates(
    T, conc, nu_f, nu_r, arrhenius, third_body, gibbs, wdot, R_gas=8.314e-3
):
    """Production rates of species by reversible reactions; fills wdot."""
    n_species = len(conc)
    n_reac = nu_f.shape[0]
    RT = R_gas * T
    wdot[:] = 0.0
    rates = np.empty(n_reac)
    for r in range(n_reac):
        A, beta, Ea = arrhenius[r]
        kf = A * T**beta * np.exp(-Ea / RT)
        dg = 0.0
        dn = 0
        for s in range(n_species):
            dg += (nu_r[r, s] - nu_f[r, s]) * gibbs[s]
            dn += nu_r[r, s] - nu_f[r, s]
        kc = np.exp(-dg) * (1.0 / RT) ** dn
        forward, backward = kf, kf / kc
        for s in range(n_species):
            if nu_f[r, s] > 0:
                forward *= conc[s] ** nu_f[r, s]
            if nu_r[r, s] > 0:
                backward *= conc[s] ** nu_r[r, s]
        rates[r] = forward - backward
        if third_body[r, 0] >= 0.0:
            M = 0.0
            for s in range(n_species):
                M += third_body[r, s] * conc[s]
            rates[r] *= M
        for s in range(n_species):
            wdot[s] += (nu_r[r, s] - nu_f[r, s]) * rates[r]
    return rates


case(
    mass_action_rates,
    lambda n, m: dict(
        T=1.3,
        conc=m.positive(4),
        nu_f=m.indices(3, n, 4),
        nu_r=m.indices(3, n, 4),
        arrhenius=_like(m, m.positive(n, 3) * [1.0, 0.5, 0.4]),
        third_body=_like(
            m, m.positive(n, 4) * np.where(np.arange(n) % 2, 1, -1)[:, None]
        ),
        gibbs=_like(m, 0.2 * m(4)),
        wdot=m(4),
        R_gas=0.8314,
    ),
    out="wdot",
    real=7,
    idiom="integer stoichiometry, powers by integers, a negative entry as a flag",
    seen="hansbdein/Speciale bbn2_test_integrate.py (pynucastro, numba)",
)


def flash_vapor_fraction(zs, Ks, guess=None, maxiter=60):
    """Rachford-Rice by guarded Newton: vapour fraction and both compositions."""
    N = len(zs)
    Kmin, Kmax = min(Ks), max(Ks)
    if Kmin >= 1.0 or Kmax <= 1.0:
        raise ValueError("For provided K values, there is no two-phase solution")
    low = 1.0 / (1.0 - Kmax)
    high = 1.0 / (1.0 - Kmin)
    K_minus_1 = [K - 1.0 for K in Ks]
    zs_k_minus_1 = [0.0] * N
    for i in range(N):
        zs_k_minus_1[i] = zs[i] * K_minus_1[i]
    if guess is not None and low < guess < high:
        VF = guess
    else:
        VF = 0.5 * (low + high)
    for _ in range(maxiter):
        err0, err1 = 0.0, 0.0
        for num, Kim1 in zip(zs_k_minus_1, K_minus_1):
            inv = 1.0 / (1.0 + VF * Kim1)
            err0 += num * inv
            err1 -= num * Kim1 * inv * inv
        if err0 > 0.0:
            low = VF
        else:
            high = VF
        step = err0 / err1
        VF_new = VF - step
        if not low < VF_new < high:
            VF_new = 0.5 * (low + high)
        if abs(VF_new - VF) < 1e-14:
            VF = VF_new
            break
        VF = VF_new
    xs = [zs[i] / (1.0 + VF * K_minus_1[i]) for i in range(N)]
    ys = [K * x for K, x in zip(Ks, xs)]
    return VF, np.array(xs), np.array(ys)


case(
    flash_vapor_fraction,
    lambda n, m: dict(
        zs=_like(m, m.positive(n) / max(n, 1)),
        Ks=_like(m, np.where(np.arange(n) % 2, 0.45, 1.6) + 0.01 * np.arange(n)),
    ),
    least=3,
    idiom="list comprehensions, [0.0] * N, min and max of an array, None for a guess",
    seen="CalebBell/chemicals chemicals/rachford_rice.py",
)


def _largest_root(b, c, d, phase):
    p = c - b * b / 3.0
    q = 2.0 * b**3 / 27.0 - b * c / 3.0 + d
    disc = q * q / 4.0 + p**3 / 27.0
    if disc > 0.0:
        root = math.sqrt(disc)
        u = -q / 2.0 + root
        v = -q / 2.0 - root
        u = math.copysign(abs(u) ** (1.0 / 3.0), u)
        v = math.copysign(abs(v) ** (1.0 / 3.0), v)
        return u + v - b / 3.0
    r = 2.0 * math.sqrt(-p / 3.0)
    theta = math.acos(3.0 * q / (p * r)) / 3.0
    z = [r * math.cos(theta - 2.0 * math.pi * k / 3.0) - b / 3.0 for k in range(3)]
    return max(z) if phase == "vapor" else min(z)


def ln_fugacity_pr(T, P, zs, Tcs, Pcs, omegas, kijs, phase="vapor"):
    """Peng-Robinson: compressibility and logs of fugacity coefficients."""
    R = 8.314
    N = zs.shape[0]
    a = np.zeros(N)
    b = np.zeros(N)
    for i in range(N):
        kappa = 0.37464 + omegas[i] * (1.54226 - 0.26992 * omegas[i])
        alpha = (1.0 + kappa * (1.0 - np.sqrt(T / Tcs[i]))) ** 2
        a[i] = 0.45724 * (R * Tcs[i]) ** 2 / Pcs[i] * alpha
        b[i] = 0.0778 * R * Tcs[i] / Pcs[i]
    a_mix = 0.0
    b_mix = 0.0
    sums = np.zeros(N)
    for i in range(N):
        b_mix += zs[i] * b[i]
        for j in range(N):
            aij = (1.0 - kijs[i, j]) * math.sqrt(a[i] * a[j])
            sums[i] += zs[j] * aij
        a_mix += zs[i] * sums[i]
    A = a_mix * P / (R * T) ** 2
    B = b_mix * P / (R * T)
    Z = _largest_root(B - 1.0, A - 3.0 * B * B - 2.0 * B, B**3 + B**2 - A * B, phase)
    s2 = 2.0**0.5
    lnphis = np.zeros(N)
    log_term = math.log((Z + (1.0 + s2) * B) / (Z + (1.0 - s2) * B))
    for i in range(N):
        ratio = b[i] / b_mix
        lnphis[i] = ratio * (Z - 1.0) - math.log(Z - B)
        lnphis[i] -= A / (2.0 * s2 * B) * (2.0 * sums[i] / a_mix - ratio) * log_term
    return Z, lnphis


case(
    ln_fugacity_pr,
    lambda n, m: dict(
        T=1.5,
        P=0.9,
        zs=_like(m, m.positive(n) / n),
        Tcs=m.positive(n),
        Pcs=_like(m, 9.0 * m.positive(n)),
        omegas=_like(m, 0.2 * m.positive(n)),
        kijs=_like(m, 0.05 * m(n, n)),
    ),
    least=3,
    real=7,
    idiom="double loops of a mixture, math.copysign, max of a list, a phase by string",
    seen="CalebBell/chemicals chemicals/rachford_rice.py; DanielSkorov eos.py",
)


def _colebrook(Re, eD, tol=1e-14):
    x = 1.0 / math.sqrt(0.02)
    while True:
        arg = eD / 3.7 + 2.51 * x / Re
        step = (x + 2.0 * math.log10(arg)) / (1.0 + 2.0 * 2.51 / (Re * arg * 2.302585))
        x -= step
        if abs(step) < tol * x:
            break
    return 1.0 / (x * x)


def friction_factor_pipe(Re, eD=0.0, Method="Colebrook", Darcy=True):
    if Method is None:
        Method = "Colebrook"
    if Re < 2040.0 or Method == "laminar":
        fd = 64.0 / Re
    elif Method == "Colebrook":
        fd = _colebrook(Re, eD)
    elif Method == "Haaland":
        fd = (-1.8 * math.log10((eD / 3.7) ** 1.11 + 6.9 / Re)) ** -2
    elif Method == "Swamee_Jain_1976":
        fd = 0.25 / math.log10(eD / 3.7 + 5.74 / Re**0.9) ** 2
    elif Method == "Blasius":
        fd = 0.3164 * Re**-0.25
    else:
        raise ValueError("Method not recognized")
    if not Darcy:
        fd *= 0.25
    return fd


def pipe_pressure_drops(flow, D, length, roughness, rho, mu, K_minor, Method=None):
    """Pressure drops of pipes in series; the sign follows the flow."""
    dP = np.zeros(flow.shape)
    for i in range(flow.shape[0]):
        area = 0.25 * math.pi * D[i] ** 2
        v = flow[i] / area
        Re = rho * abs(v) * D[i] / mu
        fd = friction_factor_pipe(Re, roughness[i] / D[i], Method=Method)
        loss = (fd * length[i] / D[i] + K_minor[i]) * 0.5 * rho * v * v
        dP[i] = math.copysign(loss, v)
    return dP, np.sum(dP)


case(
    pipe_pressure_drops,
    lambda n, m: dict(
        flow=m.away(n),
        D=_like(m, 0.3 * m.positive(n)),
        length=m.positive(n),
        roughness=_like(m, 1e-3 * m.positive(n)),
        rho=1.1,
        mu=1e-4,
        K_minor=m.positive(n),
        Method="Haaland",
    ),
    idiom="a chain of string options in a helper, keyword arguments, None renamed",
    seen="CalebBell/fluids fluids/friction.py friction_factor",
)


class NasaGas:
    """Seven-coefficient polynomials, low and high."""

    T_mid = 1.0

    @staticmethod
    def cp(coefs, T):
        c = coefs[0] if T < NasaGas.T_mid else coefs[1]
        return c[0] + T * (c[1] + T * (c[2] + T * (c[3] + T * c[4])))

    @staticmethod
    def h(coefs, T):
        c = coefs[0] if T < NasaGas.T_mid else coefs[1]
        poly = c[3] / 4.0 + T * c[4] / 5.0
        poly = c[1] / 2.0 + T * (c[2] / 3.0 + T * poly)
        return T * (c[0] + T * poly) + c[5]


def temperatures_from_enthalpy(*, H, Y, coefs, inv_weights, T_guess, max_iter=30):
    """The temperature of every cell's mixture by Newton on its enthalpy."""
    n_cells, n_species = Y.shape
    T_out = np.zeros(n_cells)

    def mixture(f, i, T):
        total = 0.0
        for s in range(n_species):
            total += Y[i, s] * inv_weights[s] * f(coefs[s], T)
        return total

    for i in range(n_cells):
        T = T_guess
        iterations = 0
        residual = mixture(NasaGas.h, i, T) - H[i]
        while abs(residual) > 1e-13 and iterations < max_iter:
            T -= residual / mixture(NasaGas.cp, i, T)
            residual = mixture(NasaGas.h, i, T) - H[i]
            iterations += 1
        T_out[i] = T
    return T_out


case(
    temperatures_from_enthalpy,
    lambda n, m: dict(
        H=_like(m, 3.2 + 0.5 * m.positive(n)),
        Y=m.positive(n, 3),
        coefs=_like(
            m,
            np.array([2.0, 0.3, 0.05, 0.01, 0.001, 0.1])
            * (1.0 + 0.1 * m(3, 1, 6))
            * np.ones((1, 2, 1)),
        ),
        inv_weights=_like(m, 0.5 * m.positive(3)),
        T_guess=1.3,
    ),
    idiom="static methods as functions, a nested function, keyword-only arguments",
    seen="open-atmos/PySDM impl_numba/methods/chemistry_methods.py, trivia functions",
)
