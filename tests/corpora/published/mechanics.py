# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, B905, E741
"""Finite elements, flow solvers, stencils, particles."""

from __future__ import annotations

import math

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("mechanics")


def _like(m, values):
    return np.ascontiguousarray(values, dtype=m.dtype)


def assemble_truss(xy, elements, young, area, K, fixed):
    """Adds the bars of a plane truss to K and pins the fixed freedoms."""
    for e in range(elements.shape[0]):
        a, b = elements[e]
        dx = xy[b, 0] - xy[a, 0]
        dy = xy[b, 1] - xy[a, 1]
        length = math.sqrt(dx * dx + dy * dy)
        c = dx / length
        s = dy / length
        k = young[e] * area[e] / length
        ke = k * np.array(
            [
                [c * c, c * s, -c * c, -c * s],
                [c * s, s * s, -c * s, -s * s],
                [-c * c, -c * s, c * c, c * s],
                [-c * s, -s * s, c * s, s * s],
            ]
        )
        dofs = [2 * a, 2 * a + 1, 2 * b, 2 * b + 1]
        for i, row in enumerate(dofs):
            for j, col in enumerate(dofs):
                K[row, col] += ke[i, j]
    for dof in fixed:
        K[dof, :] = 0.0
        K[:, dof] = 0.0
        K[dof, dof] = 1.0
    return K


case(
    assemble_truss,
    lambda n, m: dict(
        xy=_like(
            m,
            np.stack([np.arange(n + 2), np.arange(n + 2) % 2], axis=1)
            + 0.1 * m(n + 2, 2),
        ),
        elements=np.concatenate(
            [
                np.stack([np.arange(n + 1), np.arange(1, n + 2)], axis=1),
                np.stack([np.arange(n), np.arange(2, n + 2)], axis=1),
            ]
        ),
        young=m.positive(2 * n + 1),
        area=m.positive(2 * n + 1),
        K=m(2 * n + 4, 2 * n + 4),
        fixed=np.array([0, 1, 3]),
    ),
    out="K",
    idiom="a matrix written out as nested lists, a list of indices, scatter of +=",
    seen="zaynab-emadi/analysis_Truss_with_FEM, guanshaoheng/pyfem assembling",
)


def _quad4_shape(xi, eta, coords):
    dN = 0.25 * np.array(
        [
            [-(1.0 - eta), 1.0 - eta, 1.0 + eta, -(1.0 + eta)],
            [-(1.0 - xi), -(1.0 + xi), 1.0 + xi, 1.0 - xi],
        ]
    )
    jac = dN @ coords
    det = jac[0, 0] * jac[1, 1] - jac[0, 1] * jac[1, 0]
    if det <= 0.0:
        raise ValueError("element is inverted")
    return np.linalg.solve(jac, dN), det


def quad4_internal_force(nodes, conn, u, E, nu, thickness, state="plane_stress"):
    """Element forces and strain energy of bilinear quadrilaterals."""
    if state == "plane_stress":
        c = E / (1.0 - nu**2)
        D = c * np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - nu)]])
    elif state == "plane_strain":
        c = E / (1.0 + nu) / (1.0 - 2.0 * nu)
        D = np.zeros((3, 3))
        D[0, 0] = D[1, 1] = c * (1.0 - nu)
        D[0, 1] = D[1, 0] = c * nu
        D[2, 2] = c * 0.5 * (1.0 - 2.0 * nu)
    else:
        raise ValueError(f"unknown state {state}")
    points = [-1.0 / np.sqrt(3.0), 1.0 / np.sqrt(3.0)]
    force = np.zeros_like(u)
    energy = 0.0
    for e in range(conn.shape[0]):
        coords = nodes[conn[e]]
        ue = u[conn[e]].reshape(8)
        fe = np.zeros(8)
        for xi in points:
            for eta in points:
                dNdx, det = _quad4_shape(xi, eta, coords)
                B = np.zeros((3, 8))
                B[0, 0::2] = dNdx[0]
                B[1, 1::2] = dNdx[1]
                B[2, 0::2] = dNdx[1]
                B[2, 1::2] = dNdx[0]
                strain = B @ ue
                stress = D @ strain
                fe += B.T @ stress * det * thickness
                energy += 0.5 * np.dot(strain, stress) * det * thickness
        for a in range(4):
            force[conn[e, a], 0] += fe[2 * a]
            force[conn[e, a], 1] += fe[2 * a + 1]
    return force, energy


def _strip_nodes(n, m):
    x = np.repeat(np.arange(n + 1.0), 2)
    y = np.tile([0.0, 1.0], n + 1)
    return _like(m, np.stack([x, y], axis=1) + 0.1 * m(2 * n + 2, 2))


def _strip_quads(n):
    i = 2 * np.arange(n)
    return np.stack([i, i + 2, i + 3, i + 1], axis=1).reshape(n, 4)


case(
    quad4_internal_force,
    lambda n, m: dict(
        nodes=_strip_nodes(n, m),
        conn=_strip_quads(n),
        u=m(2 * n + 2, 2),
        E=2.1,
        nu=0.3,
        thickness=0.5,
    ),
    real=5,
    idiom="Gauss points in a list, B matrices by strided slices, @, a string option",
    seen="saullocastro/tudaesasII tudaesasII/quad4r.py update_K",
)


def radial_return(strain, plastic, kappa, bulk, shear, y0, hard, sat, tol=1e-12):
    """J2 plasticity with saturating hardening; strain history in six components."""
    nsteps = strain.shape[0]
    stress = np.zeros((nsteps, 6))
    for t in range(nsteps):
        volumetric = strain[t, 0] + strain[t, 1] + strain[t, 2]
        trial = np.empty(6)
        for i in range(6):
            mean = volumetric / 3.0 if i < 3 else 0.0
            trial[i] = 2.0 * shear * (strain[t, i] - mean - plastic[i])
        norm = 0.0
        for i in range(6):
            norm += (1.0 if i < 3 else 2.0) * trial[i] ** 2
        norm = math.sqrt(norm)
        pressure = bulk * volumetric
        radius = math.sqrt(2.0 / 3.0)
        y = y0 + hard * kappa[0] + sat * (1.0 - math.exp(-kappa[0]))
        if norm - radius * y <= 0.0:
            stress[t, :] = trial
            stress[t, :3] += pressure
            continue
        dgamma = 0.0
        iteration = 0
        while iteration < 30:
            k = kappa[0] + radius * dgamma
            y = y0 + hard * k + sat * (1.0 - math.exp(-k))
            res = norm - 2.0 * shear * dgamma - radius * y
            slope = 2.0 * shear + radius * radius * (hard + sat * math.exp(-k))
            dgamma += res / slope
            if abs(res) < tol:
                break
            iteration += 1
        direction = trial / norm
        plastic += dgamma * direction
        kappa[0] += radius * dgamma
        stress[t] = trial - 2.0 * shear * dgamma * direction
        stress[t, :3] += pressure
    return stress


case(
    radial_return,
    lambda n, m: dict(
        strain=m.away(n, 6),
        plastic=_like(m, 0.1 * m(6)),
        kappa=_like(m, [0.05]),
        bulk=1.7,
        shear=0.8,
        y0=0.6,
        hard=0.2,
        sat=0.3,
    ),
    out="plastic kappa",
    idiom="a history that is updated in place, continue if elastic, a local Newton",
    seen="fenics_constitutive VonMises3D (numba), a numpy state_update_mises",
)


def neo_hookean_residual(X, triangles, u, mu, lam, body):
    """Nodal residual of a compressible neo-Hookean sheet of linear triangles."""
    out = [0.0 for _ in range(2 * len(X))]
    for tri, b in zip(triangles, body):
        i, j, k = tri
        D = np.array([X[j] - X[i], X[k] - X[i]]).T
        area = 0.5 * (D[0, 0] * D[1, 1] - D[0, 1] * D[1, 0])
        G = np.linalg.inv(D)
        H = np.array([u[j] - u[i], u[k] - u[i]]).T @ G
        F = np.eye(2) + H
        J = F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0]
        if J <= 0.0:
            raise FloatingPointError("negative Jacobian")
        FinvT = np.array([[F[1, 1], -F[1, 0]], [-F[0, 1], F[0, 0]]]) / J
        P = mu * (F - FinvT) + lam * np.log(J) * FinvT
        grads = np.vstack((-G[0] - G[1], G[0], G[1]))
        for a, node in enumerate(tri):
            f = area * (P @ grads[a])
            out[2 * node] += f[0] - area * b / 3.0
            out[2 * node + 1] += f[1]
    return np.array(out)


case(
    neo_hookean_residual,
    lambda n, m: dict(
        X=_strip_nodes(n, m),
        triangles=np.concatenate(
            [_strip_quads(n)[:, [0, 1, 2]], _strip_quads(n)[:, [0, 2, 3]]]
        ),
        u=_like(m, 0.1 * m(2 * n + 2, 2)),
        mu=0.8,
        lam=1.2,
        body=m(2 * n),
    ),
    idiom="a list comprehension as an accumulator, small matrices from rows, vstack",
    seen="poliastro jacchia.py (lists), taichi-dev/difftaichi examples/diffmpm.py",
)


def _bspline_basis(i, p, xi, knots):
    if p == 0:
        return 1.0 if knots[i] <= xi < knots[i + 1] else 0.0
    value = 0.0
    left = knots[i + p] - knots[i]
    if left > 0.0:
        value += (xi - knots[i]) / left * _bspline_basis(i, p - 1, xi, knots)
    right = knots[i + p + 1] - knots[i + 1]
    if right > 0.0:
        value += (
            (knots[i + p + 1] - xi) / right * _bspline_basis(i + 1, p - 1, xi, knots)
        )
    return value


def nurbs_curve(control, weights, knots, degree, parameters):
    """Points of a rational spline, for isogeometric bars and trajectories."""
    if len(knots) != control.shape[0] + degree + 1:
        raise ValueError("knots and control points do not match")
    points = np.zeros((parameters.size, control.shape[1]))
    for ip, xi in enumerate(parameters):
        denominator = 0.0
        for i in range(control.shape[0]):
            n = _bspline_basis(i, degree, xi, knots)
            if n == 0.0:
                continue
            denominator += n * weights[i]
            points[ip] += n * weights[i] * control[i]
        points[ip] /= denominator
    return points


case(
    nurbs_curve,
    lambda n, m: dict(
        control=m(5, 2),
        weights=m.positive(5),
        knots=_like(m, [0.0, 0.0, 0.0, 0.8, 1.7, 2.5, 2.5, 2.5]),
        degree=2,
        parameters=_like(m, np.arange(n) % 3 * 0.8 + 0.3 + 0.1 * m(n)),
    ),
    idiom="a recursive helper with early return and conditional expression",
    seen="jcmgray/quimb bitbasis.py _recursively_fill_flatconfigs; spline codes",
)


def _limited_slope(a, b, limiter):
    if limiter == "none":
        return 0.0
    if a * b <= 0.0:
        return 0.0
    if limiter == "minmod":
        return a if abs(a) < abs(b) else b
    elif limiter == "vanleer":
        return 2.0 * a * b / (a + b)
    elif limiter == "mc":
        s = 1.0 if a > 0.0 else -1.0
        return s * min(2.0 * abs(a), 2.0 * abs(b), 0.5 * abs(a + b))
    else:
        raise ValueError("limiter not known")


def muscl_burgers(u, dx, dt, nsteps, limiter="minmod"):
    """Second-order Godunov for Burgers' equation with copied ends."""
    n = u.shape[0]
    ng = 2
    q = np.zeros(n + 2 * ng)
    flux = np.zeros(n + 1)
    q[ng : n + ng] = u
    for step in range(nsteps):
        q[:ng] = q[ng]
        q[n + ng :] = q[n + ng - 1]
        for i in range(n + 1):
            c = i + ng - 1
            sl = _limited_slope(q[c] - q[c - 1], q[c + 1] - q[c], limiter)
            sr = _limited_slope(q[c + 1] - q[c], q[c + 2] - q[c + 1], limiter)
            ql = q[c] + 0.5 * (1.0 - q[c] * dt / dx) * sl
            qr = q[c + 1] - 0.5 * (1.0 + q[c + 1] * dt / dx) * sr
            if ql > qr:
                speed = 0.5 * (ql + qr)
                state = ql if speed > 0.0 else qr
            elif ql > 0.0:
                state = ql
            elif qr < 0.0:
                state = qr
            else:
                state = 0.0
            flux[i] = 0.5 * state * state
        for i in range(n):
            q[i + ng] -= dt / dx * (flux[i + 1] - flux[i])
    return q[ng : n + ng].copy()


case(
    muscl_burgers,
    lambda n, m: dict(
        u=_like(m, 1.0 + 0.1 * np.arange(n) + 0.004 * np.arange(n) ** 2),
        dx=1.0,
        dt=0.2,
        nsteps=2,
        limiter="vanleer",
    ),
    least=3,
    idiom="ghost cells by slices, a chain of string options in a helper, copy()",
    seen="python-hydro/pyro2 lm_atm/LM_atm_interface.py upwind, Thierry-Dumont Weno",
)


def _wave_speeds(rho_l, u_l, p_l, c_l, rho_r, u_r, p_r, c_r, gamma):
    pstar = 0.5 * (p_l + p_r) - 0.125 * (u_r - u_l) * (rho_l + rho_r) * (c_l + c_r)
    pstar = max(0.0, pstar)
    g = 0.5 * (gamma + 1.0) / gamma
    q_l = 1.0 if pstar <= p_l else np.sqrt(1.0 + g * (pstar / p_l - 1.0))
    q_r = 1.0 if pstar <= p_r else np.sqrt(1.0 + g * (pstar / p_r - 1.0))
    return u_l - c_l * q_l, u_r + c_r * q_r


def hllc_interface_flux(gamma, U_l, U_r):
    """The HLLC flux at every face of rows (density, momentum, energy)."""
    idens, imom, iener = 0, 1, 2
    nface, nvar = U_l.shape
    F = np.zeros((nface, nvar))
    smallp = 1e-10
    for i in range(nface):
        rho_l = U_l[i, idens]
        un_l = U_l[i, imom] / rho_l
        p_l = (U_l[i, iener] - 0.5 * rho_l * un_l**2) * (gamma - 1.0)
        p_l = max(p_l, smallp)
        rho_r = U_r[i, idens]
        un_r = U_r[i, imom] / rho_r
        p_r = (U_r[i, iener] - 0.5 * rho_r * un_r**2) * (gamma - 1.0)
        p_r = max(p_r, smallp)
        c_l = np.sqrt(gamma * p_l / rho_l)
        c_r = np.sqrt(gamma * p_r / rho_r)
        S_l, S_r = _wave_speeds(rho_l, un_l, p_l, c_l, rho_r, un_r, p_r, c_r, gamma)
        m_l = rho_l * (S_l - un_l)
        m_r = rho_r * (S_r - un_r)
        S_c = (p_r - p_l + m_l * un_l - m_r * un_r) / (m_l - m_r)

        if S_c >= 0.0:
            U, rho, un, p, S, m = U_l[i], rho_l, un_l, p_l, S_l, m_l
            inside = S_l < 0.0
        else:
            U, rho, un, p, S, m = U_r[i], rho_r, un_r, p_r, S_r, m_r
            inside = S_r > 0.0
        F[i, idens] = rho * un
        F[i, imom] = rho * un * un + p
        F[i, iener] = (U[iener] + p) * un
        if inside:
            U_state = np.zeros(nvar)
            factor = m / (S - S_c)
            U_state[idens] = factor
            U_state[imom] = factor * S_c
            U_state[iener] = factor * (U[iener] / rho + (S_c - un) * (S_c + p / m))
            F[i, :] = F[i, :] + S * (U_state[:] - U[:])
    return F


case(
    hllc_interface_flux,
    lambda n, m: dict(
        gamma=1.4,
        U_l=_like(m, [1.0, 0.0, 2.0] + 0.3 * m.away(n, 3)),
        U_r=_like(m, [1.1, 0.0, 2.1] + 0.3 * m.away(n, 3)),
    ),
    idiom="six names rebound at once, integer names for columns, a row as a name",
    seen="python-hydro/pyro2 compressible/riemann.py riemann_hllc",
)

CX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
CY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
W = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)


def lbm_collide_stream(f, f_new, solid, tau, force_x, rho, ux, uy):
    """One BGK step on D2Q9: collide, stream, bounce back at solid nodes."""
    nx, ny, nq = f.shape
    omega = 1.0 / tau
    for i in range(nx):
        for j in range(ny):
            if solid[i, j]:
                rho[i, j] = 1.0
                ux[i, j] = uy[i, j] = 0.0
                for q in range(nq):
                    f_new[(i + CX[q]) % nx, (j + CY[q]) % ny, q] = f[i, j, OPPOSITE[q]]
                continue
            r = 0.0
            u = 0.0
            v = 0.0
            for q in range(nq):
                r += f[i, j, q]
                u += CX[q] * f[i, j, q]
                v += CY[q] * f[i, j, q]
            u = (u + 0.5 * force_x) / r
            v /= r
            rho[i, j], ux[i, j], uy[i, j] = r, u, v
            usqr = 1.5 * (u * u + v * v)
            for q in range(nq):
                cu = 3.0 * (CX[q] * u + CY[q] * v)
                feq = W[q] * r * (1.0 + cu + 0.5 * cu * cu - usqr)
                source = (1.0 - 0.5 * omega) * W[q] * 3.0 * CX[q] * force_x
                ip = (i + CX[q]) % nx
                jp = (j + CY[q]) % ny
                f_new[ip, jp, q] = f[i, j, q] - omega * (f[i, j, q] - feq) + source


case(
    lbm_collide_stream,
    lambda n, m: dict(
        f=m.positive(n, 4, 9),
        f_new=m(n, 4, 9),
        solid=np.arange(4 * n).reshape(n, 4) % 4 == 0,
        tau=0.8,
        force_x=0.01,
        rho=m(n, 4),
        ux=m(n, 4),
        uy=m(n, 4),
    ),
    out="f_new rho ux uy",
    real=5,
    idiom="tables of the module, a mask, modulo, 3-D arrays, all results in place",
    seen="serge-sans-paille/pythran pythran/tests/cases/d2q9_nxnyns.py",
)


def relax_streamfunction(psi, vorticity, h, omega=1.5, tol=1e-13, max_iter=60):
    """Successive over-relaxation of the stream function, then wall vorticity."""
    ny, nx = psi.shape
    it = 0
    err = 1.0
    while err > tol and it < max_iter:
        err = 0.0
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                old = psi[j, i]
                new = 0.25 * (
                    psi[j, i + 1]
                    + psi[j, i - 1]
                    + psi[j + 1, i]
                    + psi[j - 1, i]
                    + h * h * vorticity[j, i]
                )
                psi[j, i] = (1.0 - omega) * old + omega * new
                err = max(err, abs(psi[j, i] - old))
        it += 1
    for i in range(nx):
        vorticity[0, i] = -2.0 * psi[1, i] / h**2
        vorticity[-1, i] = -2.0 * (psi[-2, i] + h) / h**2
    for j in range(1, ny - 1):
        vorticity[j, 0] = -2.0 * psi[j, 1] / h**2
        vorticity[j, -1] = -2.0 * psi[j, -2] / h**2
    return it, err


case(
    relax_streamfunction,
    lambda n, m: dict(psi=m(n, 5), vorticity=m(n, 5), h=0.4, max_iter=12),
    out="psi vorticity",
    least=3,
    real=8,
    idiom="while error > tolerance and count < limit, max of residuals, index -1",
    seen="natashabatalha/picaso climate.py check_convergence, difftaichi compute_p",
)


def gray_scott_run(u, v, Du, Dv, feed, kill, steps, dt=1.0):
    """Reaction and diffusion on a periodic grid, with swapped buffers."""
    rows, cols = u.shape
    u_new, v_new = np.empty_like(u), np.empty_like(v)
    for _ in range(steps):
        for i in range(rows):
            north = i - 1 if i > 0 else rows - 1
            south = i + 1 if i < rows - 1 else 0
            for j in range(cols):
                west = j - 1 if j > 0 else cols - 1
                east = j + 1 if j < cols - 1 else 0
                lu = u[north, j] + u[south, j] + u[i, west] + u[i, east] - 4 * u[i, j]
                lv = v[north, j] + v[south, j] + v[i, west] + v[i, east] - 4 * v[i, j]
                uvv = u[i, j] * v[i, j] * v[i, j]
                u_new[i, j] = u[i, j] + dt * (Du * lu - uvv + feed * (1.0 - u[i, j]))
                v_new[i, j] = v[i, j] + dt * (Dv * lv + uvv - (feed + kill) * v[i, j])
        u, u_new = u_new, u
        v, v_new = v_new, v
    return u, v


case(
    gray_scott_run,
    lambda n, m: dict(
        u=m.positive(n, 4),
        v=_like(m, 0.3 * m.positive(n, 4)),
        Du=0.16,
        Dv=0.08,
        feed=0.035,
        kill=0.06,
        steps=3,
    ),
    out="u v",
    real=6,
    idiom="two buffers whose names swap each step, one of them an argument",
    seen="Thierry-Dumont/BenchmarksPythonJuliaAndCo main_lapl_2d.py lapl2d_2 (swap)",
)


def _cubic_kernel(r, h):
    q = r / h
    norm = 10.0 / (7.0 * np.pi * h * h)
    if q <= 1.0:
        return norm * (1.0 - 1.5 * q**2 + 0.75 * q**3)
    elif q <= 2.0:
        return norm * 0.25 * (2.0 - q) ** 3
    return 0.0


def _cubic_kernel_slope(r, h):
    q = r / h
    norm = 10.0 / (7.0 * np.pi * h**3)
    if q <= 1.0:
        return norm * (-3.0 * q + 2.25 * q**2)
    elif q <= 2.0:
        return -norm * 0.75 * (2.0 - q) ** 2
    return 0.0


def sph_accelerations(pos, vel, mass, h, rho0, c0, mu, gravity=(0.0, -9.81)):
    """Weakly compressible SPH: densities, pressures, then accelerations."""
    n = pos.shape[0]
    neighbours = []
    for i in range(n):
        found = []
        for j in range(n):
            if np.sum((pos[i] - pos[j]) ** 2) < 4.0 * h * h:
                found.append(j)
        neighbours.append(found)
    rho = np.zeros(n)
    for i in range(n):
        for j in neighbours[i]:
            rho[i] += mass[j] * _cubic_kernel(np.linalg.norm(pos[i] - pos[j]), h)
    pressure = c0**2 * rho0 / 7.0 * ((rho / rho0) ** 7 - 1.0)
    acc = np.zeros((n, 2))
    for i in range(n):
        for j in neighbours[i]:
            if i == j:
                continue
            dx = pos[i] - pos[j]
            r = math.sqrt(dx[0] ** 2 + dx[1] ** 2)
            slope = _cubic_kernel_slope(r, h)
            term = pressure[i] / rho[i] ** 2 + pressure[j] / rho[j] ** 2
            acc[i] -= mass[j] * term * slope * dx / r
            visc = 2.0 * mu * mass[j] * slope / (rho[i] * rho[j] * r)
            acc[i] += visc * (vel[i] - vel[j])
        acc[i, 0] += gravity[0]
        acc[i, 1] += gravity[1]
    return rho, pressure, acc


def _lattice(n, m):
    i = np.arange(n)
    return _like(m, np.stack([i // 2, i % 2], axis=1) + 0.06 * m(n, 2))


case(
    sph_accelerations,
    lambda n, m: dict(
        pos=_lattice(n, m),
        vel=m(n, 2),
        mass=m.positive(n),
        h=0.9,
        rho0=1.0,
        c0=1.0,
        mu=0.1,
    ),
    real=9,
    idiom="neighbours as a list of lists that grow, kernels of early returns",
    seen="pointeee/universe_render sph_kernels.py, cityhydro/ISPH_GNN Constants.py",
)


def mpm_substep(x, v, C, J, grid_v, grid_m, dt, E, p_vol, inv_dx, bound=1):
    """A step of the moving-least-squares material point method for a fluid."""
    n_grid = grid_m.shape[0]
    dx = 1.0 / inv_dx
    grid_v[:] = 0.0
    grid_m[:] = 0.0
    for p in range(x.shape[0]):
        base = (x[p] * inv_dx - 0.5).astype(np.int64)
        fx = x[p] * inv_dx - base
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
        stress = -dt * 4.0 * E * p_vol * (J[p] - 1.0) * inv_dx**2
        affine = np.array([[stress, 0.0], [0.0, stress]]) + p_vol * C[p]
        for i in range(3):
            for j in range(3):
                dpos = (np.array([i, j]) - fx) * dx
                weight = w[i][0] * w[j][1]
                momentum = weight * (p_vol * v[p] + affine @ dpos)
                grid_v[base[0] + i, base[1] + j] += momentum
                grid_m[base[0] + i, base[1] + j] += weight * p_vol
    for i in range(n_grid):
        for j in range(n_grid):
            if grid_m[i, j] > 0.0:
                grid_v[i, j] /= grid_m[i, j]
                grid_v[i, j, 1] -= dt * 9.8
                if i < bound and grid_v[i, j, 0] < 0.0:
                    grid_v[i, j, 0] = 0.0
                if i > n_grid - bound and grid_v[i, j, 0] > 0.0:
                    grid_v[i, j, 0] = 0.0
                if j < bound and grid_v[i, j, 1] < 0.0:
                    grid_v[i, j, 1] = 0.0
    for p in range(x.shape[0]):
        base = (x[p] * inv_dx - 0.5).astype(np.int64)
        fx = x[p] * inv_dx - base
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
        new_v = np.zeros(2)
        new_C = np.zeros((2, 2))
        for i in range(3):
            for j in range(3):
                g_v = grid_v[base[0] + i, base[1] + j]
                weight = w[i][0] * w[j][1]
                new_v += weight * g_v
                dpos = np.array([i, j]) - fx
                new_C += 4.0 * inv_dx * weight * np.outer(g_v, dpos)
        v[p] = new_v
        x[p] += dt * new_v
        J[p] *= 1.0 + dt * (new_C[0, 0] + new_C[1, 1])
        C[p] = new_C


case(
    mpm_substep,
    lambda n, m: dict(
        x=_like(m, (m.indices(4, n, 2) + 2.0 + 0.3 * m(n, 2)) / 8.0),
        v=m(n, 2),
        C=m(n, 2, 2),
        J=m.positive(n),
        grid_v=m(8, 8, 2),
        grid_m=m(8, 8),
        dt=0.002,
        E=1.5,
        p_vol=0.3,
        inv_dx=8.0,
    ),
    out="x v C J grid_v grid_m",
    real=5,
    idiom="astype of a vector to indices, a list of weight vectors, scatter and gather",
    seen="taichi-dev/difftaichi examples/diffmpm.py p2g, grid_op, g2p",
)


def vortex_velocities(points, origins, ends, strengths, ages=None, nu=0.0):
    """The velocities that straight vortex filaments with cores induce at points."""
    eps = 1e-10
    velocities = np.zeros((points.shape[0], 3))
    if ages is None:
        ages = np.zeros(origins.shape[0])
    for k in range(origins.shape[0]):
        origin, end, strength = origins[k], ends[k], strengths[k]
        core = 2.24 * math.sqrt((nu + 1e-4 * abs(strength)) * ages[k])
        r0x, r0y, r0z = end[0] - origin[0], end[1] - origin[1], end[2] - origin[2]
        c2 = (r0x**2 + r0y**2 + r0z**2) * core**2
        for i in range(points.shape[0]):
            point = points[i]
            r1x = origin[0] - point[0]
            r1y = origin[1] - point[1]
            r1z = origin[2] - point[2]
            r2x = end[0] - point[0]
            r2y = end[1] - point[1]
            r2z = end[2] - point[2]
            r3x = r1y * r2z - r1z * r2y
            r3y = r1z * r2x - r1x * r2z
            r3z = r1x * r2y - r1y * r2x
            r1 = math.sqrt(r1x**2 + r1y**2 + r1z**2)
            r2 = math.sqrt(r2x**2 + r2y**2 + r2z**2)
            r3_2 = r3x**2 + r3y**2 + r3z**2
            if r1 < eps or r2 < eps or r3_2 < eps:
                continue
            else:
                dot = r1x * r2x + r1y * r2y + r1z * r2z
                c4 = strength / (4.0 * math.pi) * (r1 + r2) * (r1 * r2 - dot)
                c4 /= r1 * r2 * (r3_2 + c2)
                velocities[i, 0] += c4 * r3x
                velocities[i, 1] += c4 * r3y
                velocities[i, 2] += c4 * r3z
    return velocities


case(
    vortex_velocities,
    lambda n, m: dict(
        points=_like(m, m(n, 3) + [0.0, 0.0, 2.0]),
        origins=m(n, 3),
        ends=_like(m, m(n, 3) + [2.5, 0.0, 0.0]),
        strengths=m.away(n),
        ages=m.positive(n),
        nu=0.01,
    ),
    idiom="an array or None by default, rows as names, many scalars, continue/else",
    seen="camUrban/PteraSoftware pterasoftware/aerodynamics.py",
)
