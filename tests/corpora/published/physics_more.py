# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, B905, E741
"""Optics, plasma, quantum mechanics, radiation."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("physics")


def _like(m, values):
    return np.ascontiguousarray(values, dtype=m.dtype)


def multilayer_reflectance(n_list, d_list, wavelengths, theta, polarization="s"):
    """Reflectance and transmittance of a stack of films by transfer matrices."""
    if polarization not in ("s", "p"):
        raise ValueError("polarization must be 's' or 'p'")
    nlayers = n_list.shape[0]
    R = np.zeros(wavelengths.shape[0])
    T = np.zeros(wavelengths.shape[0])
    sin0 = n_list[0] * np.sin(theta)
    for iw in range(wavelengths.shape[0]):
        k0 = 2.0 * np.pi / wavelengths[iw]
        M = np.eye(2, dtype=np.complex128)
        cos_prev = np.sqrt(1.0 - (sin0 / n_list[0]) ** 2 + 0j)
        for j in range(nlayers - 1):
            n1, n2 = n_list[j], n_list[j + 1]
            cos_next = np.sqrt(1.0 - (sin0 / n2) ** 2 + 0j)
            if polarization == "s":
                den = n1 * cos_prev + n2 * cos_next
                r = (n1 * cos_prev - n2 * cos_next) / den
            else:
                den = n2 * cos_prev + n1 * cos_next
                r = (n2 * cos_prev - n1 * cos_next) / den
            t = 2.0 * n1 * cos_prev / den
            interface = np.array([[1.0, r], [r, 1.0]], dtype=np.complex128) / t
            M = np.dot(M, interface)
            if j < nlayers - 2:
                delta = k0 * n2 * cos_next * d_list[j]
                layer = np.zeros((2, 2), dtype=np.complex128)
                layer[0, 0] = np.exp(-1j * delta)
                layer[1, 1] = np.exp(1j * delta)
                M = M @ layer
            cos_prev = cos_next
        r_total = M[1, 0] / M[0, 0]
        t_total = 1.0 / M[0, 0]
        R[iw] = np.abs(r_total) ** 2
        cos0 = np.cos(theta)
        T[iw] = (
            np.abs(t_total) ** 2
            * np.real(n_list[-1] * cos_prev)
            / (np.real(n_list[0]) * cos0)
        )
    return R, T


case(
    multilayer_reflectance,
    lambda n, m: dict(
        n_list=np.array([1.0, 1.38, 2.1 + 0.02j, 1.52], dtype=np.complex128),
        d_list=_like(m, 0.1 * m.positive(2)),
        wavelengths=_like(m, 0.6 * m.positive(n)),
        theta=0.3,
        polarization="p",
    ),
    idiom="a string option, complex arrays, 2 by 2 products by np.dot and by @",
    seen="sbyrnes321/tmm tmm_core.py interface_r, coh_tmm",
)


def gaussian_beam_through(elements, waist, wavelength):
    """Spot size and curvature after lenses, gaps and slabs, by the complex beam q."""
    q = 1j * np.pi * waist**2 / wavelength
    spots = []
    for kind, value in elements:
        if kind == "gap":
            a, b, c, d = 1.0, value, 0.0, 1.0
        elif kind == "lens":
            a, b, c, d = 1.0, 0.0, -1.0 / value, 1.0
        elif kind == "slab":
            a, b, c, d = 1.0, value / 1.5, 0.0, 1.0
        else:
            raise ValueError("unknown element: " + kind)
        q = (a * q + b) / (c * q + d)
        spots.append(np.sqrt(-wavelength / (np.pi * (1.0 / q).imag)))
    return np.array(spots), (1.0 / q).real


case(
    gaussian_beam_through,
    lambda n, m: dict(
        elements=tuple(
            (("gap", "lens", "slab")[i % 3], float(x))
            for i, x in enumerate(m.positive(n))
        ),
        waist=0.4,
        wavelength=0.9,
    ),
    idiom="a loop over (string, number) pairs, a complex scalar, a list to an array",
    seen="lenstronomy/lenstronomy Util/util.py local_minima_2d (lists), epl_numba.py",
)


def _radial_zernike(n, m, rho):
    total = np.zeros_like(rho)
    for k in range((n - m) // 2 + 1):
        c = (-1) ** k * math.factorial(n - k)
        c /= math.factorial(k)
        c /= math.factorial((n + m) // 2 - k) * math.factorial((n - m) // 2 - k)
        total += c * rho ** (n - 2 * k)
    return total


def zernike_phase(coefs, rho, theta, normalize=True):
    """The wavefront of a list of Zernike terms in OSA order."""
    phase = np.zeros(rho.shape)
    n, m = 0, 0
    for j, c in enumerate(coefs):
        if j > 0:
            if m == n:
                n += 1
                m = -n
            else:
                m += 2
        norm = 1.0
        if normalize:
            norm = np.sqrt(2.0 * (n + 1) / (2.0 if m == 0 else 1.0))
        term = _radial_zernike(n, abs(m), rho)
        if m < 0:
            term = term * np.sin(-m * theta)
        elif m > 0:
            term *= np.cos(m * theta)
        phase += norm * c * term
    return phase


case(
    zernike_phase,
    lambda n, m: dict(
        coefs=m(8), rho=_like(m, 0.5 * m.positive(n)), theta=m(n), normalize=True
    ),
    idiom="integers kept along a loop, math.factorial, whole arrays, a flag",
    seen="natashabatalha/picaso optics.py partition_sum, poliastro stumpff_c2 (gamma)",
)


def boris_push_in_place(ux, uy, uz, gamma_inv, Ex, Ey, Ez, Bx, By, Bz, q, m, dt):
    econst = 0.5 * q * dt / m
    for ip in range(ux.shape[0]):
        umx = ux[ip] + econst * Ex[ip]
        umy = uy[ip] + econst * Ey[ip]
        umz = uz[ip] + econst * Ez[ip]
        ig = 1.0 / math.sqrt(1.0 + umx**2 + umy**2 + umz**2)
        tx = econst * Bx[ip] * ig
        ty = econst * By[ip] * ig
        tz = econst * Bz[ip] * ig
        f = 2.0 / (1.0 + tx**2 + ty**2 + tz**2)
        vx = umx + umy * tz - umz * ty
        vy = umy + umz * tx - umx * tz
        vz = umz + umx * ty - umy * tx
        ux[ip] = umx + f * (vy * tz - vz * ty) + econst * Ex[ip]
        uy[ip] = umy + f * (vz * tx - vx * tz) + econst * Ey[ip]
        uz[ip] = umz + f * (vx * ty - vy * tx) + econst * Ez[ip]
        gamma_inv[ip] = 1.0 / math.sqrt(1.0 + ux[ip] ** 2 + uy[ip] ** 2 + uz[ip] ** 2)
    return


case(
    boris_push_in_place,
    lambda n, m: dict(
        **{name: m(n) for name in ("ux", "uy", "uz", "gamma_inv")},
        **{name: m(n) for name in ("Ex", "Ey", "Ez", "Bx", "By", "Bz")},
        q=-1.0,
        m=1.3,
        dt=0.2,
    ),
    out="ux uy uz gamma_inv",
    idiom="arrays updated in place, many scalars, a bare return",
    seen="fbpic particles/push/numba_methods.py, tom48701/jitpic pusher.py",
)


def _spline_weight(x):
    x = abs(x)
    if x < 0.5:
        return 0.75 - x**2
    elif x < 1.5:
        return 0.5 * (1.5 - x) ** 2
    else:
        return 0


def deposit_and_gather(x, w, v, field, rho, current, dx):
    """Quadratic charge and current deposition and the field at the particles."""
    ncells = rho.shape[0]
    felt = np.zeros(len(x))
    for ip in range(len(x)):
        cell = x[ip] / dx
        nearest = int(math.floor(cell + 0.5))
        for offset in range(-1, 2):
            i = nearest + offset
            s = _spline_weight(cell - i)
            if i < 0:
                i += ncells
            elif i > ncells - 1:
                i -= ncells
            rho[i] += w[ip] * s / dx
            current[i] += w[ip] * v[ip] * s / dx
            felt[ip] += field[i] * s
    return felt


case(
    deposit_and_gather,
    lambda n, m: dict(
        x=_like(m, m.indices(6, n) + 0.5 + 0.3 * m(n)),
        w=m.positive(n),
        v=m(n),
        field=m(7),
        rho=m(7),
        current=m(7),
        dx=1.0,
    ),
    out="rho current",
    idiom="int(math.floor()), cells that wrap, a helper of early returns",
    seen="fbpic threading_methods.py, tom48701/jitpic shapes.py, charge.py",
)


def fdtd_line(ez, hy, eps_r, sigma, steps, source, courant=0.5):
    """Yee's scheme in one dimension: absorbing ends, a soft source in the middle."""
    n = ez.size
    ca = np.empty(n)
    cb = np.empty(n)
    for i in range(n):
        loss = 0.5 * sigma[i] / eps_r[i]
        ca[i] = (1.0 - loss) / (1.0 + loss)
        cb[i] = courant / eps_r[i] / (1.0 + loss)
    left = [0.0, 0.0]
    right = [0.0, 0.0]
    for t in range(steps):
        for i in range(1, n):
            ez[i] = ca[i] * ez[i] + cb[i] * (hy[i - 1] - hy[i])
        ez[n // 2] += source[t]
        ez[0] = left.pop(0)
        left.append(ez[1])
        ez[-1] = right.pop(0)
        right.append(ez[n - 2])
        for i in range(n - 1):
            hy[i] += courant * (ez[i] - ez[i + 1])


case(
    fdtd_line,
    lambda n, m: dict(
        ez=m(n),
        hy=m(n),
        eps_r=m.positive(n),
        sigma=_like(m, 0.1 * m.positive(n)),
        steps=6,
        source=m(6),
    ),
    out="ez hy",
    least=3,
    idiom="staggered grids in place, short lists popped and appended as delays",
    seen="serge-sans-paille/pythran tests/cases/fdtd.py, fbpic numba_push_eb",
)


def _complex_thomas(lower, diag, upper, rhs):
    n = diag.size
    c = np.zeros(n, dtype=np.complex128)
    d = np.zeros(n, dtype=np.complex128)
    c[0] = upper / diag[0]
    d[0] = rhs[0] / diag[0]
    for i in range(1, n):
        w = 1.0 / (diag[i] - lower * c[i - 1])
        c[i] = upper * w
        d[i] = (rhs[i] - lower * d[i - 1]) * w
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


def crank_nicolson_packet(x, potential, k0, width, dt, steps, dx=0.3):
    """The density of a Gaussian packet after some steps, and its mean position."""
    n = x.size
    psi = np.exp(-((x - x[n // 2]) ** 2) / (2 * width**2)) * np.exp(1j * k0 * x)
    psi = psi / np.sqrt(np.sum(np.abs(psi) ** 2) * dx)
    r = 1j * dt / (4.0 * dx * dx)
    diag = 1.0 + 2.0 * r + 0.5j * dt * potential
    for _ in range(steps):
        rhs = (1.0 - 2.0 * r - 0.5j * dt * potential) * psi
        rhs[1:] += r * psi[:-1]
        rhs[:-1] += r * psi[1:]
        psi = _complex_thomas(-r, diag, -r, rhs)
    density = psi.real**2 + psi.imag**2
    return density, np.sum(x * density) * dx


case(
    crank_nicolson_packet,
    lambda n, m: dict(
        x=_like(m, 0.3 * np.arange(n)),
        potential=m(n),
        k0=2.0,
        width=0.8,
        dt=0.01,
        steps=3,
    ),
    least=3,
    idiom="complex128 arrays made from real ones, slices shifted by one, .real, .imag",
    seen="skros89/quantum_dynamics QD.md, picaso fluxes.py tri_diag_solve",
)


def transverse_ising_matvec(psi, J, h, out):
    """H psi of a periodic chain of spins, the basis being the bits of the index."""
    nspin = len(h)
    dim = 1 << nspin
    if psi.size != dim:
        raise ValueError("psi must have 2**nspin amplitudes")
    for state in range(dim):
        diag = 0.0
        for i in range(nspin):
            j = (i + 1) % nspin
            if (state >> i & 1) ^ (state >> j & 1):
                diag += J[i]
            else:
                diag -= J[i]
        amp = diag * psi[state]
        for i in range(nspin):
            amp -= h[i] * psi[state ^ (1 << i)]
        out[state] = amp
    expectation = 0.0
    for state in range(dim):
        expectation += psi[state] * out[state]
    return expectation


case(
    transverse_ising_matvec,
    lambda n, m: dict(psi=m(2**n), J=m(n), h=m(n), out=m(2**n)),
    out="out",
    real=6,
    idiom="bits of integers: shifts, exclusive or; a check that raises; an out array",
    seen="jcmgray/quimb experimental/operatorbuilder/old/bitbasis.py",
)


class Column(NamedTuple):
    """The layers of one column of air."""

    dtau: np.ndarray
    w0: np.ndarray
    g: np.ndarray
    t_level: np.ndarray
    surf_albedo: float


def _solve_tridiagonal(l, a, b, c, d):
    AS, DS = np.zeros(l), np.zeros(l)
    XK = np.zeros(l)
    AS[-1] = a[-1] / b[-1]
    DS[-1] = d[-1] / b[-1]
    for i in range(l - 2, -1, -1):
        x = 1.0 / (b[i] - c[i] * AS[i + 1])
        AS[i] = a[i] * x
        DS[i] = (d[i] - c[i] * DS[i + 1]) * x
    XK[0] = DS[0]
    for i in range(1, l):
        XK[i] = DS[i] - AS[i] * XK[i - 1]
    return XK


def thermal_two_stream(column, hemispheric=True):
    """Upward and downward thermal fluxes at the levels of a scattering column."""
    dtau, w0, g = column.dtau, column.w0, column.g
    nlayer = len(dtau)
    nlevel = nlayer + 1
    planck = column.t_level**4 / np.pi
    mu1 = 0.5 if hemispheric else 1.0 / np.sqrt(3.0)
    if hemispheric:
        g1 = 2.0 - w0 * (1.0 + g)
        g2 = w0 * (1.0 - g)
    else:
        g1 = np.sqrt(3.0) * (2.0 - w0 * (1.0 + g)) / 2.0
        g2 = np.sqrt(3.0) * w0 * (1.0 - g) / 2.0
    lamda = np.sqrt(g1**2 - g2**2)
    gama = (g1 - lamda) / g2
    b0 = planck[:-1]
    b1 = (planck[1:] - b0) / dtau
    norm = 2.0 * np.pi * mu1
    cp_up = norm * (b0 + b1 / (g1 + g2))
    cm_up = norm * (b0 - b1 / (g1 + g2))
    cp_down = norm * (b0 + b1 * dtau + b1 / (g1 + g2))
    cm_down = norm * (b0 + b1 * dtau - b1 / (g1 + g2))

    exptrm = np.minimum(lamda * dtau, 35.0)
    ep = np.exp(exptrm)
    em = 1.0 / ep
    e1 = ep + gama * em
    e2 = ep - gama * em
    e3 = gama * ep + em
    e4 = gama * ep - em

    L = 2 * nlayer
    A, B, C, D = np.zeros(L), np.zeros(L), np.zeros(L), np.zeros(L)
    B[0] = gama[0] + 1.0
    C[0] = gama[0] - 1.0
    D[0] = -cm_up[0]
    A[1::2][:-1] = (e1[:-1] + e3[:-1]) * (gama[1:] - 1.0)
    B[1::2][:-1] = (e2[:-1] + e4[:-1]) * (gama[1:] - 1.0)
    C[1::2][:-1] = 2.0 * (1.0 - gama[1:] ** 2)
    D[1::2][:-1] = (gama[1:] - 1.0) * (cp_up[1:] - cp_down[:-1]) + (1.0 - gama[1:]) * (
        cm_down[:-1] - cm_up[1:]
    )
    A[::2][1:] = 2.0 * (1.0 - gama[:-1] ** 2)
    B[::2][1:] = (e1[:-1] - e3[:-1]) * (gama[1:] + 1.0)
    C[::2][1:] = (e1[:-1] + e3[:-1]) * (gama[1:] - 1.0)
    D[::2][1:] = e3[:-1] * (cp_up[1:] - cp_down[:-1]) + e1[:-1] * (
        cm_down[:-1] - cm_up[1:]
    )
    rs = column.surf_albedo
    A[-1] = e1[-1] - rs * e3[-1]
    B[-1] = e2[-1] - rs * e4[-1]
    D[-1] = (1.0 - rs) * np.pi * planck[-1] - cp_down[-1] + rs * cm_down[-1]

    X = _solve_tridiagonal(L, A, B, C, D)
    positive = X[::2] + X[1::2]
    negative = X[::2] - X[1::2]
    flux_up = np.zeros(nlevel)
    flux_down = np.zeros(nlevel)
    flux_up[:-1] = positive + gama * negative + cp_up
    flux_down[:-1] = gama * positive + negative + cm_up
    flux_up[-1] = positive[-1] * ep[-1] + gama[-1] * negative[-1] * em[-1]
    flux_up[-1] += cp_down[-1]
    flux_down[-1] = gama[-1] * positive[-1] * ep[-1] + negative[-1] * em[-1]
    flux_down[-1] += cm_down[-1]
    return flux_up, flux_down


case(
    thermal_two_stream,
    lambda n, m: dict(
        column=Column(
            dtau=m.positive(n),
            w0=_like(m, 0.5 * m.positive(n)),
            g=_like(m, 0.5 * m(n)),
            t_level=m.positive(n + 1),
            surf_albedo=0.1,
        ),
    ),
    least=3,
    idiom="fields of a named tuple, strided slices of slices as targets, many arrays",
    seen="natashabatalha/picaso picaso/fluxes.py setup_tri_diag, get_thermal_1d",
)


def line_by_line(wn_grid, centers, strengths, gammas, sigmas, wing=2.5):
    """The absorption of pseudo-Voigt lines, each in a window of the grid."""
    absorption = np.zeros_like(wn_grid)
    lines = zip(centers, strengths, gammas, sigmas)
    for iline, (nu0, s, gamma, sigma) in enumerate(lines):
        lo = np.searchsorted(wn_grid, nu0 - wing)
        hi = np.searchsorted(wn_grid, nu0 + wing, side="right")
        if lo >= hi:
            continue
        fl = 2.0 * gamma
        fg = 2.35482 * sigma
        fv = 0.5346 * fl + np.sqrt(0.2166 * fl**2 + fg**2)
        ratio = fl / fv
        eta = ratio * (1.36603 + ratio * (-0.47719 + 0.11116 * ratio))
        u = (wn_grid[lo:hi] - nu0) / fv
        lorentz = 2.0 / np.pi / fv / (1.0 + 4.0 * u**2)
        gauss = np.sqrt(4.0 * np.log(2.0) / np.pi) / fv
        profile = eta * lorentz + (1.0 - eta) * gauss * np.exp(-2.7725887 * u * u)
        absorption[lo:hi] += s * profile
    return absorption


case(
    line_by_line,
    lambda n, m: dict(
        wn_grid=_like(m, 0.4 * np.arange(n) + 0.05 * m(n)),
        centers=_like(m, 1.7 + 0.1 * m(3)),
        strengths=m.positive(3),
        gammas=_like(m, 0.3 * m.positive(3)),
        sigmas=_like(m, 0.3 * m.positive(3)),
    ),
    idiom="enumerate(zip()) of four arrays, np.searchsorted windows, += on a slice",
    seen="radis/radis lbl/broadening.py, misc/arrays.py sparse_add_at",
)

GAUSS2D = np.dtype(
    [("p", "f8"), ("row", "f8"), ("col", "f8"), ("irr", "f8"), ("irc", "f8")]
    + [("icc", "f8"), ("drr", "f8"), ("drc", "f8"), ("dcc", "f8"), ("pnorm", "f8")]
)
PIXEL = np.dtype([("u", "f8"), ("v", "f8"), ("val", "f8"), ("ierr", "f8")])


def _set_norms(gmix):
    for i in range(gmix.size):
        gauss = gmix[i]
        det = gauss["irr"] * gauss["icc"] - gauss["irc"] ** 2
        if det < 1e-200:
            raise ValueError("det <= 0")
        gauss["drr"] = gauss["irr"] / det
        gauss["drc"] = gauss["irc"] / det
        gauss["dcc"] = gauss["icc"] / det
        gauss["pnorm"] = gauss["p"] / (2 * np.pi * np.sqrt(det))


def _eval_pixel(gmix, pixel):
    model = 0.0
    for gauss in gmix:
        vdiff = pixel["v"] - gauss["row"]
        udiff = pixel["u"] - gauss["col"]
        chi2 = gauss["dcc"] * vdiff * vdiff + gauss["drr"] * udiff * udiff
        chi2 -= 2.0 * gauss["drc"] * vdiff * udiff
        if chi2 < 25.0 and chi2 >= 0.0:
            model += gauss["pnorm"] * np.exp(-0.5 * chi2)
    return model


def galaxy_loglike(gmix, pixels, fdiff):
    """The likelihood and signal to noise of a Gaussian mixture image."""
    _set_norms(gmix)
    npix = 0
    loglike = s2n_numer = s2n_denom = 0.0
    for i in range(pixels.size):
        pixel = pixels[i]
        if pixel["ierr"] <= 0.0:
            continue
        model = _eval_pixel(gmix, pixel)
        ivar = pixel["ierr"] * pixel["ierr"]
        fdiff[i] = (model - pixel["val"]) * pixel["ierr"]
        loglike += fdiff[i] ** 2
        s2n_numer += pixel["val"] * model * ivar
        s2n_denom += model * model * ivar
        npix += 1
    loglike *= -0.5
    return loglike, s2n_numer, s2n_denom, npix


def _records(dtype, columns, n):
    records = np.zeros(n, dtype)
    for name, column in columns.items():
        records[name] = column
    return records


case(
    galaxy_loglike,
    lambda n, m: dict(
        gmix=_records(
            GAUSS2D,
            dict(p=m.positive(2), row=m(2), col=m(2), irr=1.1, irc=0.2, icc=0.8),
            2,
        ),
        pixels=_records(
            PIXEL, dict(u=m(n), v=m(n), val=m.positive(n), ierr=m.positive(n)), n
        ),
        fdiff=m(n),
    ),
    out="gmix fdiff",
    idiom="structured arrays: records read and written by string, a = b = 0.0",
    seen="esheldon/ngmix gmix/gmix_nb.py get_loglike, gauss2d_set",
)


def _isotropic_direction(rng):
    mu = 2.0 * rng.random() - 1.0
    azi = 2.0 * np.pi * rng.random()
    c = (1.0 - mu**2) ** 0.5
    return mu, math.cos(azi) * c, math.sin(azi) * c


def photon_slab_transport(weights, edges, sigma_t, albedo, rng, flux=None):
    """Packets through plane layers, with implicit capture; track lengths in flux."""
    nlayer = sigma_t.shape[0]
    if flux is None:
        flux = np.zeros(nlayer)
    reflected, transmitted = 0.0, 0.0
    for ip in range(len(weights)):
        z, w = edges[0], weights[ip]
        ux, layer = 1.0, 0
        tau = -math.log(rng.random())
        while True:
            if ux > 0.0:
                to_edge = (edges[layer + 1] - z) / ux
            else:
                to_edge = (edges[layer] - z) / ux
            to_collision = tau / sigma_t[layer]
            if to_collision < to_edge:
                flux[layer] += w * to_collision
                z += ux * to_collision
                w *= albedo[layer]
                if w < 1e-2:
                    break
                ux, _, _ = _isotropic_direction(rng)
                tau = -math.log(rng.random())
                continue
            flux[layer] += w * to_edge
            tau -= to_edge * sigma_t[layer]
            z = edges[layer + 1] if ux > 0.0 else edges[layer]
            layer += 1 if ux > 0.0 else -1
            if layer == nlayer:
                transmitted += w
                break
            if layer < 0:
                reflected += w
                break
    return flux, reflected, transmitted


case(
    photon_slab_transport,
    lambda n, m: dict(
        weights=m.positive(n),
        edges=_like(m, [0.0, 0.4, 1.1, 1.6]),
        sigma_t=m.positive(3),
        albedo=_like(m, 0.5 * m.positive(3)),
        rng=np.random.default_rng(3),
    ),
    idiom="a generator of random numbers, while True, None for an array to be made",
    seen="CEMeNT-PSAAP/MCDC mcdc/kernel.py sample_isotropic_direction, scattering",
)
