"""Hand-written expert Numba (parallel CPU): the code a pyrev code generator should reach.
No atomics anywhere: gather adjoints, or scatters owned by one thread, or private partial sums."""

import math

import numpy as np
from llvmlite import ir
from numba import njit, prange
from numba.core import types
from numba.extending import intrinsic

f32 = np.float32
i32 = np.int32
P = dict(parallel=True, fastmath=True, error_model="numpy", boundscheck=False)
K = dict(fastmath=True, error_model="numpy", boundscheck=False)


# ---------------------------------------------------------------- 5. checkpointing example
def _gen_ckpt(KH, KW):
    L = [
        "def ckpt(x, k, t, d):",
        "  H, W = t.shape",
        "  HD = H + %d" % (KH - 1),
        "  RB = 32",
        "  for b in prange((HD + RB - 1)//RB):",
        "    r0 = b*RB; r1 = min(r0 + RB, HD)",
        "    ring = np.zeros((%d, W + %d), np.float32)" % (KH, 2 * (KW - 1)),
    ]
    for j in range(KH):
        for i in range(KW):
            L.append(f"    k{j}_{i} = k[{j},{i}]")
    L += [
        f"    for y in range(r0 - {KH - 1}, r1):",
        f"      q = ring[(y + {KH}) % {KH}]",
        "      if y >= 0 and y < H:",
        "        tr = t[y]",
    ]
    for j in range(KH):
        L.append(f"        x{j} = x[y+{j}]")
    taps = " + ".join(f"k{j}_{i}*x{j}[c+{i}]" for j in range(KH) for i in range(KW))
    L += [
        "        for c in range(W):",
        f"          q[c+{KW - 1}] = f32(2)*({taps} - tr[c])",
        "      else:",
        "        q[:] = f32(0)",
        "      if y >= r0:",
        "        dr = d[y]",
    ]
    for j in range(KH):
        L.append(f"        q{j} = ring[(y - {j} + {KH}) % {KH}]")
    taps = " + ".join(
        f"k{j}_{i}*q{j}[c+{KW - 1 - i}]" for j in range(KH) for i in range(KW)
    )
    L += [f"        for c in range(W+{KW - 1}):", f"          dr[c] = {taps}"]
    ns = dict(np=np, prange=prange, f32=f32)
    exec("\n".join(L), ns)
    return njit(**P)(ns["ckpt"])


def _ckpt(i):
    x, k, t = i["x"], i["k"], i["target"]
    d = np.empty_like(x)
    f = _gen_ckpt(*k.shape)

    def step():
        f(x, k, t, d)
        return dict(d_input=d)

    return step


ckpt1x5 = ckpt3x5 = _ckpt
# ---------------------------------------------------------------- 4. conv2d
LB = (
    1024  # flattened block of pixels: 4 accumulators of LB floats = 16 KiB, L1-resident
)


@njit(**K)
def _mac4x3(acc, v, o, L, w, c0, ci, j):
    """acc[k*LB+p] += sum_i w[c0+k,ci,j,i]*v[o+p+i], k=0..3: 12 FMAs per 3 (unaligned) loads + 4 load/stores"""
    a00 = w[c0, ci, j, 0]
    a01 = w[c0, ci, j, 1]
    a02 = w[c0, ci, j, 2]
    a10 = w[c0 + 1, ci, j, 0]
    a11 = w[c0 + 1, ci, j, 1]
    a12 = w[c0 + 1, ci, j, 2]
    a20 = w[c0 + 2, ci, j, 0]
    a21 = w[c0 + 2, ci, j, 1]
    a22 = w[c0 + 2, ci, j, 2]
    a30 = w[c0 + 3, ci, j, 0]
    a31 = w[c0 + 3, ci, j, 1]
    a32 = w[c0 + 3, ci, j, 2]
    u = v[o : o + L + 2]
    for p in range(L):
        v0 = u[p]
        v1 = u[p + 1]
        v2 = u[p + 2]
        acc[p] += a00 * v0 + a01 * v1 + a02 * v2
        acc[p + LB] += a10 * v0 + a11 * v1 + a12 * v2
        acc[p + 2 * LB] += a20 * v0 + a21 * v1 + a22 * v2
        acc[p + 3 * LB] += a30 * v0 + a31 * v1 + a32 * v2


@njit(**P)
def conv_fwd(x, w, out):
    N, C, H, W = x.shape
    KO = w.shape[0]
    OH = H - 2
    OW = W - 2
    RB = LB // W
    nb_ = (OH + RB - 1) // RB
    for t in prange(N * nb_):
        n = t // nb_
        y0 = (t - n * nb_) * RB
        y1 = min(y0 + RB, OH)
        acc = np.empty(4 * LB, np.float32)
        L = (y1 - y0) * W - 2
        for c0 in range(0, KO, 4):
            acc[:] = f32(0)
            for ci in range(C):
                v = x[n, ci].ravel()
                for j in range(3):
                    _mac4x3(acc, v, (y0 + j) * W, L, w, c0, ci, j)
            for k in range(4):
                for y in range(y0, y1):
                    o = k * LB + (y - y0) * W
                    r = out[n, c0 + k, y]
                    for q in range(OW):
                        r[q] = acc[o + q]


@njit(**K)
def _dot4x3(g, go, v, o, L, s):
    """12 dot products: 4 channels of g (plane stride s) with v shifted by 0,1,2"""
    a = b = c = d = e = f = h = i = j = k = l = m = f32(0)
    u = v[o : o + L + 2]
    g0 = g[go:]
    g1 = g[go + s :]
    g2 = g[go + 2 * s :]
    g3 = g[go + 3 * s :]
    for p in range(L):
        v0 = u[p]
        v1 = u[p + 1]
        v2 = u[p + 2]
        x0 = g0[p]
        x1 = g1[p]
        x2 = g2[p]
        x3 = g3[p]
        a += x0 * v0
        b += x0 * v1
        c += x0 * v2
        d += x1 * v0
        e += x1 * v1
        f += x1 * v2
        h += x2 * v0
        i += x2 * v1
        j += x2 * v2
        k += x3 * v0
        l += x3 * v1
        m += x3 * v2
    return a, b, c, d, e, f, h, i, j, k, l, m


@njit(**P)
def conv_bwd(x, w, go, dx, dw, part):
    N, C, H, W = x.shape
    KO = w.shape[0]
    OH = H - 2
    OW = W - 2
    wt = np.empty((C, KO, 3, 3), np.float32)
    for a in range(C):
        for b in range(KO):
            for j in range(3):
                for i in range(3):
                    wt[a, b, j, i] = w[b, a, 2 - j, 2 - i]
    RB = LB // W
    SP = 8 * RB
    ns = (H + SP - 1) // SP
    for t in prange(N * ns):
        n = t // ns
        ya = (t - n * ns) * SP
        yb = min(ya + SP, H)  # rows of dx owned by this task; go rows ya-2..yb-1
        S = (SP + 2) * W + 4
        pad = np.zeros(
            KO * S, np.float32
        )  # go with 2 zero columns right (=left of next row), zero rows outside
        for k in range(KO):
            for y in range(max(ya - 2, 0), min(yb, OH)):
                o = k * S + 2 + (y - ya + 2) * W
                r = go[n, k, y]
                for q in range(OW):
                    pad[o + q] = r[q]
        acc = np.empty(4 * LB, np.float32)
        for y0 in range(ya, yb, RB):
            y1 = min(y0 + RB, yb)
            L = (y1 - y0) * W
            for c0 in range(0, C, 4):
                acc[:] = f32(0)
                for k in range(KO):
                    v = pad[k * S : (k + 1) * S]
                    for j in range(3):
                        _mac4x3(acc, v, (y0 - ya + j) * W, L, wt, c0, k, j)
                for k in range(4):
                    d = dx[n, c0 + k].ravel()
                    o = y0 * W
                    for q in range(L):
                        d[o + q] = acc[k * LB + q]
        # dw partial over go rows ya..yb-1
        pt = part[t]
        pt[:] = f32(0)
        for y0 in range(ya, min(yb, OH), RB):
            y1 = min(y0 + RB, min(yb, OH))
            L = (y1 - y0) * W - 2
            for c0 in range(0, KO, 4):
                for ci in range(C):
                    v = x[n, ci].ravel()
                    for j in range(3):
                        r = _dot4x3(
                            pad, c0 * S + 2 + (y0 - ya + 2) * W, v, (y0 + j) * W, L, S
                        )
                        b = ((c0 * C + ci) * 3 + j) * 3
                        e = C * 9
                        pt[b] += r[0]
                        pt[b + 1] += r[1]
                        pt[b + 2] += r[2]
                        pt[b + e] += r[3]
                        pt[b + e + 1] += r[4]
                        pt[b + e + 2] += r[5]
                        pt[b + 2 * e] += r[6]
                        pt[b + 2 * e + 1] += r[7]
                        pt[b + 2 * e + 2] += r[8]
                        pt[b + 3 * e] += r[9]
                        pt[b + 3 * e + 1] += r[10]
                        pt[b + 3 * e + 2] += r[11]
    for q in prange(dw.size):
        s = np.float64(0)
        for t in range(N * ns):
            s += part[t, q]
        dw[q] = s


def conv2d(i):
    x, w, go = i["x"], i["w"], i["go"]
    out = np.empty_like(go)
    dx = np.empty_like(x)
    dw = np.empty_like(w)
    part = np.empty(
        (
            x.shape[0]
            * ((x.shape[2] + 8 * (LB // x.shape[3]) - 1) // (8 * (LB // x.shape[3]))),
            w.size,
        ),
        np.float32,
    )

    def step():
        conv_fwd(x, w, out)
        conv_bwd(x, w, go, dx, dw.reshape(-1), part)
        return dict(out=out, d_input=dx, d_w=dw)

    return step


# ---------------------------------------------------------------- 1./2. warps
@njit(inline="always", **K)
def _tap_zero(ix, W):
    """base index in [0,W-2] and the two weights/derivative weights, zero outside"""
    ix = min(max(ix, f32(-2)), f32(W + 1))
    q = math.floor(ix + f32(0))
    x0 = i32(q)
    w = ix - f32(q)
    l = f32(1) - w if (x0 >= 0 and x0 < W) else f32(0)
    r = w if (x0 >= -1 and x0 < W - 1) else f32(0)
    dl = f32(-1) if (x0 >= 0 and x0 < W) else f32(0)
    dr = f32(1) if (x0 >= -1 and x0 < W - 1) else f32(0)
    if x0 < 0:
        return i32(0), r, f32(0), dr, f32(0)
    if x0 > W - 2:
        return i32(W - 2), f32(0), l, f32(0), dl
    return x0, l, r, dl, dr


@njit(**K)
def _row_stn(th, n, y, H, W, base, w):
    """w rows: 0 wx0 1 wx1 2 wy0 3 wy1 4 dx0 5 dx1 6 dy0 7 dy1"""
    Y = f32(2 * y + 1) / f32(H) - f32(1)
    for x in range(W):
        X = f32(2 * x + 1) / f32(W) - f32(1)
        ix = (
            (th[n, 0, 0] * X + th[n, 0, 1] * Y + th[n, 0, 2] + f32(1)) * f32(W) - f32(1)
        ) * f32(0.5)
        iy = (
            (th[n, 1, 0] * X + th[n, 1, 1] * Y + th[n, 1, 2] + f32(1)) * f32(H) - f32(1)
        ) * f32(0.5)
        bx, a, b, c, d = _tap_zero(ix, W)
        by, e, f, g, h = _tap_zero(iy, H)
        base[x] = by * i32(W) + bx
        w[0, x] = a
        w[1, x] = b
        w[2, x] = e
        w[3, x] = f
        w[4, x] = c
        w[5, x] = d
        w[6, x] = g
        w[7, x] = h


@njit(**K)
def _row_flow(fl, n, y, H, W, base, w):
    fx = fl[n, 0, y]
    fy = fl[n, 1, y]
    for x in range(W):
        jx = f32(x) + fx[x]
        jy = f32(y) + fy[x]
        ix = min(max(jx, f32(0)), f32(W - 1))
        iy = min(max(jy, f32(0)), f32(H - 1))
        bx = min(i32(ix), i32(W - 2))
        by = min(i32(iy), i32(H - 2))
        a = ix - f32(bx)
        b = iy - f32(by)
        mx = f32(1) if (jx > f32(0) and jx < f32(W - 1)) else f32(0)
        my = f32(1) if (jy > f32(0) and jy < f32(H - 1)) else f32(0)
        base[x] = by * i32(W) + bx
        w[0, x] = f32(1) - a
        w[1, x] = a
        w[2, x] = f32(1) - b
        w[3, x] = b
        w[4, x] = -mx
        w[5, x] = mx
        w[6, x] = -my
        w[7, x] = my


@njit(**K)
def _gat(v, o, base, w, W):
    w0 = w[0]
    w1 = w[1]
    w2 = w[2]
    w3 = w[3]
    for x in range(o.size):
        b = base[x]
        o[x] = w2[x] * (w0[x] * v[b] + w1[x] * v[b + 1]) + w3[x] * (
            w0[x] * v[b + W] + w1[x] * v[b + W + 1]
        )


@njit(**K)
def _sca(v, d, g, base, w, S, W):
    w0 = w[0]
    w1 = w[1]
    w2 = w[2]
    w3 = w[3]
    s0 = S[0]
    s1 = S[1]
    s2 = S[2]
    s3 = S[3]
    for x in range(g.size):
        b = base[x]
        q = g[x]
        t0 = q * w2[x]
        t1 = q * w3[x]
        s0[x] += q * v[b]
        s1[x] += q * v[b + 1]
        s2[x] += q * v[b + W]
        s3[x] += q * v[b + W + 1]
        d[b] += t0 * w0[x]
        d[b + 1] += t0 * w1[x]
        d[b + W] += t1 * w0[x]
        d[b + W + 1] += t1 * w1[x]


@njit(**K)
def _fin(w, S, gx, gy):
    for x in range(gx.size):
        gx[x] = w[2, x] * (w[4, x] * S[0, x] + w[5, x] * S[1, x]) + w[3, x] * (
            w[4, x] * S[2, x] + w[5, x] * S[3, x]
        )
        gy[x] = w[6, x] * (w[0, x] * S[0, x] + w[1, x] * S[1, x]) + w[7, x] * (
            w[0, x] * S[2, x] + w[1, x] * S[3, x]
        )


CB = 16


def _gen_warp(rowfn, affine):
    @njit(**P)
    def fwd(x, th, out):
        N, C, H, W = x.shape
        YB = 32
        ny = (H + YB - 1) // YB
        for t in prange(N * ny):
            n = t // ny
            y0 = (t - n * ny) * YB
            y1 = min(y0 + YB, H)
            base = np.empty((YB, W), np.int32)
            w = np.empty((YB, 8, W), np.float32)
            for y in range(y0, y1):
                rowfn(th, n, y, H, W, base[y - y0], w[y - y0])
            for c in range(C):
                v = x[n, c].ravel()
                for y in range(y0, y1):
                    _gat(v, out[n, c, y], base[y - y0], w[y - y0], W)

    @njit(**P)
    def bwd(x, th, go, dx, gx, gy):
        """scatter into dx is owned: a task owns planes (n, c-block); d_coord partial per c-block"""
        N, C, H, W = x.shape
        nc = (C + CB - 1) // CB
        YB = 32
        for t in prange(N * nc):
            n = t // nc
            cb = t - n * nc
            c0 = cb * CB
            c1 = min(c0 + CB, C)
            base = np.empty((YB, W), np.int32)
            w = np.empty((YB, 8, W), np.float32)
            S = np.empty((YB, 4, W), np.float32)
            for c in range(c0, c1):
                dx[n, c] = f32(0)
            for y0 in range(0, H, YB):
                y1 = min(y0 + YB, H)
                S[:] = f32(0)
                for y in range(y0, y1):
                    rowfn(th, n, y, H, W, base[y - y0], w[y - y0])
                for c in range(c0, c1):
                    v = x[n, c].ravel()
                    d = dx[n, c].ravel()
                    for y in range(y0, y1):
                        _sca(v, d, go[n, c, y], base[y - y0], w[y - y0], S[y - y0], W)
                for y in range(y0, y1):
                    _fin(w[y - y0], S[y - y0], gx[cb, n, y], gy[cb, n, y])

    return fwd, bwd


_stn = _gen_warp(_row_stn, True)
_flw = _gen_warp(_row_flow, False)


@njit(**P)
def _theta_red(gx, gy, dth):
    nc, N, H, W = gx.shape
    part = np.zeros((N, H, 6), np.float32)
    for t in prange(N * H):
        n = t // H
        y = t - n * H
        Y = f32(2 * y + 1) / f32(H) - f32(1)
        sx = f32(0)
        sy = f32(0)
        sxx = f32(0)
        syx = f32(0)
        for b in range(nc):
            a = gx[b, n, y]
            e = gy[b, n, y]
            for x in range(W):
                X = f32(2 * x + 1) / f32(W) - f32(1)
                sx += a[x]
                sy += e[x]
                sxx += a[x] * X
                syx += e[x] * X
        p = part[n, y]
        p[0] = sxx
        p[1] = sx * Y
        p[2] = sx
        p[3] = syx
        p[4] = sy * Y
        p[5] = sy
    for n in range(N):
        for k in range(6):
            s = 0.0
            for y in range(H):
                s += part[n, y, k]
            dth[n, k // 3, k % 3] = s * (W if k < 3 else H) * 0.5


def stn(i):
    x, th, go = i["x"], i["theta"], i["go"]
    N, C, H, W = x.shape
    out = np.empty_like(x)
    dx = np.empty_like(x)
    dth = np.empty_like(th)
    nc = (C + CB - 1) // CB
    gx = np.empty((nc, N, H, W), np.float32)
    gy = np.empty_like(gx)

    def step():
        _stn[0](x, th, out)
        _stn[1](x, th, go, dx, gx, gy)
        _theta_red(gx, gy, dth)
        return dict(out=out, d_input=dx, d_theta=dth)

    return step


@njit(**P)
def _flow_red(gx, gy, df):
    nc, N, H, W = gx.shape
    for t in prange(N * H):
        n = t // H
        y = t - n * H
        a = df[n, 0, y]
        b = df[n, 1, y]
        for x in range(W):
            a[x] = gx[0, n, y, x]
            b[x] = gy[0, n, y, x]
        for k in range(1, nc):
            p = gx[k, n, y]
            q = gy[k, n, y]
            for x in range(W):
                a[x] += p[x]
            for x in range(W):
                b[x] += q[x]


def flownet(i):
    x, fl, go = i["x"], i["flow"], i["go"]
    N, C, H, W = x.shape
    out = np.empty_like(x)
    dx = np.empty_like(x)
    df = np.empty_like(fl)
    nc = (C + CB - 1) // CB
    gx = np.empty((nc, N, H, W), np.float32)
    gy = np.empty_like(gx)

    def step():
        _flw[0](x, fl, out)
        _flw[1](x, fl, go, dx, gx, gy)
        _flow_red(gx, gy, df)
        return dict(out=out, d_input=dx, d_flow=df)

    return step


# ---------------------------------------------------------------- 8a. heat3d
@njit(**P)
def heat_fwd(u, a, o):
    D, H, W = u.shape
    for z in prange(D):
        for y in range(H):
            r = o[z, y]
            c = u[z, y]
            if z == 0 or z == D - 1 or y == 0 or y == H - 1:
                r[:] = c
            else:
                q = a[z, y]
                m = u[z - 1, y]
                p = u[z + 1, y]
                s = u[z, y - 1]
                t = u[z, y + 1]
                r[0] = c[0]
                r[W - 1] = c[W - 1]
                for x in range(1, W - 1):
                    r[x] = c[x] + q[x] * (
                        m[x] + p[x] + s[x] + t[x] + c[x - 1] + c[x + 1] - f32(6) * c[x]
                    )


@njit(**P)
def heat_bwd(u, a, g, du, da):
    D, H, W = u.shape
    for z in prange(D):
        zi = 0 < z < D - 1
        t = np.zeros((1, W), np.float32)[0]
        for y in range(H):
            yi = 0 < y < H - 1
            d = du[z, y]
            e = da[z, y]
            c = u[z, y]
            gc = g[z, y]
            ac = a[z, y]
            if zi and yi:
                m = u[z - 1, y]
                p = u[z + 1, y]
                s = u[z, y - 1]
                n = u[z, y + 1]
                e[0] = f32(0)
                e[W - 1] = f32(0)
                for x in range(1, W - 1):
                    e[x] = gc[x] * (
                        m[x] + p[x] + s[x] + n[x] + c[x - 1] + c[x + 1] - f32(6) * c[x]
                    )
                for x in range(1, W - 1):
                    t[x] = ac[x] * gc[x]
                d[0] = gc[0] + t[1]
                d[W - 1] = gc[W - 1] + t[W - 2]
                for x in range(1, W - 1):
                    d[x] = gc[x] + t[x - 1] + t[x + 1] - f32(6) * t[x]
            else:
                e[:] = f32(0)
                d[:] = gc
            if yi and z - 1 > 0:
                k = a[z - 1, y]
                l = g[z - 1, y]
                for x in range(1, W - 1):
                    d[x] += k[x] * l[x]
            if yi and z + 1 < D - 1:
                k = a[z + 1, y]
                l = g[z + 1, y]
                for x in range(1, W - 1):
                    d[x] += k[x] * l[x]
            if zi and y - 1 > 0:
                k = a[z, y - 1]
                l = g[z, y - 1]
                for x in range(1, W - 1):
                    d[x] += k[x] * l[x]
            if zi and y + 1 < H - 1:
                k = a[z, y + 1]
                l = g[z, y + 1]
                for x in range(1, W - 1):
                    d[x] += k[x] * l[x]


def heat3d(i):
    u, a, g = i["u"], i["a"], i["go"]
    o = np.empty_like(u)
    du = np.empty_like(u)
    da = np.empty_like(u)

    def step():
        heat_fwd(u, a, o)
        heat_bwd(u, a, g, du, da)
        return dict(out=o, d_u=du, d_a=da)

    return step


# ---------------------------------------------------------------- 8b. rd2d
@njit(**P)
def rd_step(u, a, o):
    H, W = u.shape
    R = f32(0.05)
    for y in prange(H):
        c = u[y]
        m = u[max(y - 1, 0)]
        p = u[min(y + 1, H - 1)]
        q = a[y]
        r = o[y]
        for x in range(1, W - 1):
            r[x] = (
                c[x]
                + q[x] * (m[x] + p[x] + c[x - 1] + c[x + 1] - f32(4) * c[x])
                + R * c[x] * (f32(1) - c[x])
            )
        r[0] = (
            c[0]
            + q[0] * (m[0] + p[0] + c[1] - f32(3) * c[0])
            + R * c[0] * (f32(1) - c[0])
        )
        x = W - 1
        r[x] = (
            c[x]
            + q[x] * (m[x] + p[x] + c[x - 1] - f32(3) * c[x])
            + R * c[x] * (f32(1) - c[x])
        )


@njit(**P)
def rd_adj(u, a, l, d, da):
    H, W = u.shape
    R = f32(0.05)
    for y in prange(H):
        ym = max(y - 1, 0)
        yp = min(y + 1, H - 1)
        c = u[y]
        m = u[ym]
        p = u[yp]
        q = a[y]
        qm = a[ym]
        qp = a[yp]
        g = l[y]
        gm = l[ym]
        gp = l[yp]
        r = d[y]
        e = da[y]
        for x in range(1, W - 1):
            e[x] += g[x] * (m[x] + p[x] + c[x - 1] + c[x + 1] - f32(4) * c[x])
        for x in range(1, W - 1):
            r[x] = (
                g[x] * (f32(1) + R - f32(2) * R * c[x])
                + qm[x] * gm[x]
                + qp[x] * gp[x]
                + q[x - 1] * g[x - 1]
                + q[x + 1] * g[x + 1]
                - f32(4) * q[x] * g[x]
            )
        e[0] += g[0] * (m[0] + p[0] + c[1] - f32(3) * c[0])
        x = W - 1
        e[x] += g[x] * (m[x] + p[x] + c[x - 1] - f32(3) * c[x])
        r[0] = (
            g[0] * (f32(1) + R - f32(2) * R * c[0])
            + qm[0] * gm[0]
            + qp[0] * gp[0]
            + q[1] * g[1]
            - f32(3) * q[0] * g[0]
        )
        r[x] = (
            g[x] * (f32(1) + R - f32(2) * R * c[x])
            + qm[x] * gm[x]
            + qp[x] * gp[x]
            + q[x - 1] * g[x - 1]
            - f32(3) * q[x] * g[x]
        )


@njit(error_model="numpy")
def rd_fwd_all(us, a, T):
    for t in range(T):
        rd_step(us[t], a, us[t + 1])


@njit(error_model="numpy")
def rd_bwd_all(us, a, lam, da, T):
    da[:] = f32(0)
    k = 0
    for t in range(T - 1, -1, -1):
        rd_adj(us[t], a, lam[k], lam[1 - k], da)
        k = 1 - k
    return k


@njit(error_model="numpy")
def rd_ck(ck, seg, a, go, lam, da, T, K_):
    """two-level checkpointing: keep every K_-th state, recompute a segment at a time"""
    n = (T + K_ - 1) // K_
    for s in range(n):
        seg[0] = ck[s]
        m = min(K_, T - s * K_)
        for t in range(m):
            rd_step(seg[t], a, seg[t + 1])
        ck[s + 1] = seg[m]
    lam[0] = go
    da[:] = f32(0)
    k = 0
    for s in range(n - 1, -1, -1):
        m = min(K_, T - s * K_)
        if s < n - 1:
            seg[0] = ck[s]
            for t in range(m - 1):
                rd_step(seg[t], a, seg[t + 1])
        for t in range(m - 1, -1, -1):
            rd_adj(seg[t], a, lam[k], lam[1 - k], da)
            k = 1 - k
    return k


def rd2d(i):
    u0, a, go, T = i["u0"], i["a"], i["go"], int(i["T"])
    us = np.empty((T + 1,) + u0.shape, np.float32)
    us[0] = u0
    lam = np.empty((2,) + u0.shape, np.float32)
    da = np.empty_like(u0)

    def step():
        rd_fwd_all(us, a, T)
        lam[0] = go
        k = rd_bwd_all(us, a, lam, da, T)
        return dict(out=us[T], d_u0=lam[k], d_a=da)

    step.note = "store-all"
    return step


# ---------------------------------------------------------------- 3. bilateral slice
# grid transposed once to [n][y][z*gw+x][16] with 16 = ci*4+co (co padded to 4): a tap is two contiguous ymm loads.
def _gen_bslice(unroll):
    """unroll: emit the 16-wide loops as `for c in range(16)` (vectorised by LLVM iff not fully unrolled first / SLP on)"""
    pass


@njit(**P)
def _bs_pack(grid, G):
    N, C, D, H, W = grid.shape
    for t in prange(N * H):
        n = t // H
        y = t - n * H
        for z in range(D):
            for x in range(W):
                g = G[n, y, z * W + x]
                for ci in range(4):
                    for co in range(3):
                        g[ci * 4 + co] = grid[n, co * 4 + ci, z, y, x]
                    g[ci * 4 + 3] = f32(0)


@njit(**K)
def _bs_lerp(a, b, w, o):
    for k in range(o.size):
        o[k] = a[k] * (f32(1) - w) + b[k] * w


@njit(**K)
def _bs_cell(x, W, gw):
    """affine cell coordinate, border clamp: (i0, i1, w)"""
    f = (f32(x) + f32(0.5)) * f32(gw / W) - f32(0.5)
    f = min(max(f, f32(0)), f32(gw - 1))
    i0 = min(i32(f), i32(gw - 2))
    return i0, f - f32(i0)


@njit(**K)
def _bs_fwd_row(gy, gu, r, g, b, o0, o1, o2, gw, gd, t):
    W = gu.size
    for x in range(W):
        i0, wx = _bs_cell(x, W, gw)
        f = min(max(gu[x] * f32(gd) - f32(0.5), f32(0)), f32(gd - 1))
        z0 = min(i32(f), i32(gd - 2))
        wz = f - f32(z0)
        a = (z0 * gw + i0) * 16
        e = a + gw * 16
        w11 = wx * wz
        w10 = wz - w11
        w01 = wx - w11
        w00 = f32(1) - wx - w10
        R = r[x]
        Gc = g[x]
        B = b[x]
        for c in range(4):
            c0 = (
                w00 * gy[a + c]
                + w01 * gy[a + 16 + c]
                + w10 * gy[e + c]
                + w11 * gy[e + 16 + c]
            )
            c1 = (
                w00 * gy[a + 4 + c]
                + w01 * gy[a + 20 + c]
                + w10 * gy[e + 4 + c]
                + w11 * gy[e + 20 + c]
            )
            c2 = (
                w00 * gy[a + 8 + c]
                + w01 * gy[a + 24 + c]
                + w10 * gy[e + 8 + c]
                + w11 * gy[e + 24 + c]
            )
            c3 = (
                w00 * gy[a + 12 + c]
                + w01 * gy[a + 28 + c]
                + w10 * gy[e + 12 + c]
                + w11 * gy[e + 28 + c]
            )
            t[c] = c0 * R + c1 * Gc + c2 * B + c3
        o0[x] = t[0]
        o1[x] = t[1]
        o2[x] = t[2]


@njit(**P)
def bs_fwd(xin, guide, G, out, gd, gh, gw):
    N, _, H, W = xin.shape
    for t in prange(N * H):
        n = t // H
        y = t - n * H
        j0, wy = _bs_cell(y, H, gh)
        gy = np.empty(gd * gw * 16, np.float32)
        tmp = np.empty(4, np.float32)
        _bs_lerp(G[n, j0].ravel(), G[n, j0 + 1].ravel(), wy, gy)
        _bs_fwd_row(
            gy,
            guide[n, y],
            xin[n, 0, y],
            xin[n, 1, y],
            xin[n, 2, y],
            out[n, 0, y],
            out[n, 1, y],
            out[n, 2, y],
            gw,
            gd,
            tmp,
        )


@njit(**K)
def _bs_bwd_row(gy, dg, gu, r, g, b, p0, p1, p2, dgu, d0, d1, d2, gw, gd, q, A):
    W = gu.size
    for x in range(W):
        i0, wx = _bs_cell(x, W, gw)
        s = gu[x] * f32(gd) - f32(0.5)
        f = min(max(s, f32(0)), f32(gd - 1))
        z0 = min(i32(f), i32(gd - 2))
        wz = f - f32(z0)
        a = (z0 * gw + i0) * 16
        e = a + gw * 16
        w11 = wx * wz
        w10 = wz - w11
        w01 = wx - w11
        w00 = f32(1) - wx - w10
        vx = f32(1) - wx
        R = r[x]
        Gc = g[x]
        B = b[x]
        q[0] = p0[x]
        q[1] = p1[x]
        q[2] = p2[x]
        for c in range(4):
            h = q[c]
            hr = h * R
            hg = h * Gc
            hb = h * B
            a0 = gy[a + c]
            a1 = gy[a + 16 + c]
            e0 = gy[e + c]
            e1 = gy[e + 16 + c]
            z = vx * (e0 - a0) + wx * (e1 - a1)
            zz = z * hr
            A[c] = h * (w00 * a0 + w01 * a1 + w10 * e0 + w11 * e1)
            a0 = gy[a + 4 + c]
            a1 = gy[a + 20 + c]
            e0 = gy[e + 4 + c]
            e1 = gy[e + 20 + c]
            z = vx * (e0 - a0) + wx * (e1 - a1)
            zz += z * hg
            A[4 + c] = h * (w00 * a0 + w01 * a1 + w10 * e0 + w11 * e1)
            a0 = gy[a + 8 + c]
            a1 = gy[a + 24 + c]
            e0 = gy[e + 8 + c]
            e1 = gy[e + 24 + c]
            z = vx * (e0 - a0) + wx * (e1 - a1)
            zz += z * hb
            A[8 + c] = h * (w00 * a0 + w01 * a1 + w10 * e0 + w11 * e1)
            a0 = gy[a + 12 + c]
            a1 = gy[a + 28 + c]
            e0 = gy[e + 12 + c]
            e1 = gy[e + 28 + c]
            z = vx * (e0 - a0) + wx * (e1 - a1)
            zz += z * h
            A[12 + c] = zz
            dg[a + c] += w00 * hr
            dg[a + 4 + c] += w00 * hg
            dg[a + 8 + c] += w00 * hb
            dg[a + 12 + c] += w00 * h
            dg[a + 16 + c] += w01 * hr
            dg[a + 20 + c] += w01 * hg
            dg[a + 24 + c] += w01 * hb
            dg[a + 28 + c] += w01 * h
            dg[e + c] += w10 * hr
            dg[e + 4 + c] += w10 * hg
            dg[e + 8 + c] += w10 * hb
            dg[e + 12 + c] += w10 * h
            dg[e + 16 + c] += w11 * hr
            dg[e + 20 + c] += w11 * hg
            dg[e + 24 + c] += w11 * hb
            dg[e + 28 + c] += w11 * h
        d0[x] = A[0] + A[1] + A[2]
        d1[x] = A[4] + A[5] + A[6]
        d2[x] = A[8] + A[9] + A[10]
        dgu[x] = (
            (A[12] + A[13] + A[14]) * f32(gd)
            if (s > f32(0) and s < f32(gd - 1))
            else f32(0)
        )


@njit(**P)
def bs_bwd(xin, guide, G, go, dx, dgu, part, gd, gh, gw):
    """task = (n, block of rows); private d_grid rows: part[t] covers the whole [gh] of image n (393 KiB)"""
    N, _, H, W = xin.shape
    nt = part.shape[0] // N
    for t in prange(N * nt):
        n = t // nt
        yb = t - n * nt
        ya = H * yb // nt
        ye = H * (yb + 1) // nt
        gy = np.empty(gd * gw * 16, np.float32)
        dg = np.empty(gd * gw * 16, np.float32)
        q = np.zeros(4, np.float32)
        A = np.empty(16, np.float32)
        part[t] = f32(0)
        for y in range(ya, ye):
            j0, wy = _bs_cell(y, H, gh)
            _bs_lerp(G[n, j0].ravel(), G[n, j0 + 1].ravel(), wy, gy)
            dg[:] = f32(0)
            _bs_bwd_row(
                gy,
                dg,
                guide[n, y],
                xin[n, 0, y],
                xin[n, 1, y],
                xin[n, 2, y],
                go[n, 0, y],
                go[n, 1, y],
                go[n, 2, y],
                dgu[n, y],
                dx[n, 0, y],
                dx[n, 1, y],
                dx[n, 2, y],
                gw,
                gd,
                q,
                A,
            )
            u = part[t, j0].ravel()
            v = part[t, j0 + 1].ravel()
            vy = f32(1) - wy
            for k in range(dg.size):
                u[k] += vy * dg[k]
            for k in range(dg.size):
                v[k] += wy * dg[k]


@njit(**P)
def _bs_unpack(part, dgrid):
    N, C, D, H, W = dgrid.shape
    nt = part.shape[0] // N
    for t in prange(N * H):
        n = t // H
        y = t - n * H
        for z in range(D):
            for x in range(W):
                for ci in range(4):
                    for co in range(3):
                        s = f32(0)
                        for k in range(nt):
                            s += part[n * nt + k, y, z * W + x, ci * 4 + co]
                        dgrid[n, co * 4 + ci, z, y, x] = s


def bslice(i):
    x, gu, gr, go = i["x"], i["guide"], i["grid"], i["go"]
    N, _, gd, gh, gw = gr.shape
    G = np.empty((N, gh, gd * gw, 16), np.float32)
    out = np.empty_like(x)
    dx = np.empty_like(x)
    dgu = np.empty_like(gu)
    dgr = np.empty_like(gr)
    part = np.empty((N * 4, gh, gd * gw, 16), np.float32)

    def step():
        _bs_pack(gr, G)
        bs_fwd(x, gu, G, out, gd, gh, gw)
        bs_bwd(x, gu, G, go, dx, dgu, part, gd, gh, gw)
        _bs_unpack(part, dgr)
        return dict(out=out, d_grid=dgr, d_guide=dgu, d_input=dx)

    return step


# ---------------------------------------------------------------- 7. HM-LSTM: inline polynomial exp (no SVML needed, vectorises)
@intrinsic
def bits2f(tyctx, a):
    """reinterpret int32 as float32"""

    def cg(ctx, b, sig, args):
        return b.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), cg


@njit(inline="always", **K)
def expf(x):
    x = min(max(x, f32(-87)), f32(88))
    y = x * f32(1.44269504)
    k = i32(y + f32(127.5)) - i32(127)
    kf = f32(k)
    r = x - kf * f32(0.693145752) - kf * f32(1.42860677e-6)
    p = f32(1.9875691e-4)
    p = p * r + f32(1.3981999e-3)
    p = p * r + f32(8.3334519e-3)
    p = p * r + f32(4.1665796e-2)
    p = p * r + f32(1.6666665e-1)
    p = p * r + f32(0.5)
    p = p * r * r + r + f32(1)
    return p * bits2f((k + i32(127)) << i32(23))


@njit(inline="always", **K)
def sigm(x):
    return f32(1) / (f32(1) + expf(-x))


@njit(inline="always", **K)
def tanhf(x):
    return f32(1) - f32(2) / (f32(1) + expf(x + x))


@njit(**P)
def lstm_fwd(c, f, i, g, z1, z2, o):
    H, W = c.shape
    for y in prange(H):
        cr = c[y]
        fr = f[y]
        ir_ = i[y]
        gr = g[y]
        r = o[y]
        for x in range(W):
            m = sigm(ir_[x]) * tanhf(gr[x])
            s = sigm(fr[x]) * cr[x]
            r[x] = ((s + m) if z2[x] == f32(1) else cr[x]) if z1[x] == f32(0) else m


@njit(**P)
def lstm_bwd(c, f, i, g, z1, z2, go, dc, df, di, dg):
    H, W = c.shape
    for y in prange(H):
        cr = c[y]
        fr = f[y]
        ir_ = i[y]
        gr = g[y]
        q = go[y]
        a = dc[y]
        b = df[y]
        d = di[y]
        e = dg[y]
        B = 256
        t = np.empty(2 * B, np.float32)
        for x0 in range(
            0, W, B
        ):  # fissioned: at most 4 read + 2 written streams per loop (alias checks)
            L = min(B, W - x0)
            for x in range(L):
                u = z1[x0 + x] == f32(0)
                v = z2[x0 + x] == f32(1)
                h = q[x0 + x]
                t[x] = (h if v else f32(0)) if u else f32(0)  # grad of f-term
                t[x + B] = (h if v else f32(0)) if u else h  # grad of m
            for x in range(L):
                s = sigm(fr[x0 + x])
                h = t[x]
                a[x0 + x] = h * s
                b[x0 + x] = h * cr[x0 + x] * s * (f32(1) - s)
            for x in range(L):
                u = z1[x0 + x] == f32(0)
                v = z2[x0 + x] == f32(1)
                a[x0 + x] = (a[x0 + x] if v else q[x0 + x]) if u else f32(0)
            for x in range(L):
                s = sigm(ir_[x0 + x])
                w = tanhf(gr[x0 + x])
                h = t[x + B]
                d[x0 + x] = h * w * s * (f32(1) - s)
                e[x0 + x] = h * s * (f32(1) - w * w)


def hmlstm(i):
    o = np.empty_like(i["c"])
    d = [np.empty_like(o) for _ in range(4)]
    a = [i[k] for k in ("c", "f", "i", "g", "z1", "z2")]
    go = i["go"]

    def step():
        lstm_fwd(*a, o)
        lstm_bwd(*a, go, *d)
        return dict(out=o, d_c=d[0], d_f=d[1], d_i=d[2], d_g=d[3])

    return step


# ---------------------------------------------------------------- 6. strided dilated conv (NHWC)
@njit(**K)
def _gemm4(acc, A, oa0, oa1, oa2, oa3, Bm, L, KC):
    """acc[p*64+c] += sum_k A[oa_p+k]*B[k,c]; 4 pixels x 4 k per pass over the L (=CO) wide rows"""
    for k in range(0, KC, 4):
        b0 = Bm[k]
        b1 = Bm[k + 1]
        b2 = Bm[k + 2]
        b3 = Bm[k + 3]
        a00 = A[oa0 + k]
        a01 = A[oa0 + k + 1]
        a02 = A[oa0 + k + 2]
        a03 = A[oa0 + k + 3]
        a10 = A[oa1 + k]
        a11 = A[oa1 + k + 1]
        a12 = A[oa1 + k + 2]
        a13 = A[oa1 + k + 3]
        a20 = A[oa2 + k]
        a21 = A[oa2 + k + 1]
        a22 = A[oa2 + k + 2]
        a23 = A[oa2 + k + 3]
        a30 = A[oa3 + k]
        a31 = A[oa3 + k + 1]
        a32 = A[oa3 + k + 2]
        a33 = A[oa3 + k + 3]
        for c in range(L):
            w0 = b0[c]
            w1 = b1[c]
            w2 = b2[c]
            w3 = b3[c]
            acc[c] += a00 * w0 + a01 * w1 + a02 * w2 + a03 * w3
            acc[64 + c] += a10 * w0 + a11 * w1 + a12 * w2 + a13 * w3
            acc[128 + c] += a20 * w0 + a21 * w1 + a22 * w2 + a23 * w3
            acc[192 + c] += a30 * w0 + a31 * w1 + a32 * w2 + a33 * w3


@njit(**P)
def dil_fwd(I, Kw, O):
    N, H, W, CI = I.shape
    _, OH, OW, CO = O.shape
    for t in prange(N * OH):
        n = t // OH
        y = t - n * OH
        acc = np.empty(256, np.float32)
        o = O[n, y]
        for x in range(0, OW, 4):
            acc[:] = f32(0)
            x1 = min(x + 1, OW - 1)
            x2 = min(x + 2, OW - 1)
            x3 = min(x + 3, OW - 1)
            for j in range(3):
                row = I[n, 3 * y + 2 * j].ravel()
                for i in range(3):
                    _gemm4(
                        acc,
                        row,
                        (3 * x + 2 * i) * CI,
                        (3 * x1 + 2 * i) * CI,
                        (3 * x2 + 2 * i) * CI,
                        (3 * x3 + 2 * i) * CI,
                        Kw[j, i],
                        CO,
                        CI,
                    )
            for p in range(min(4, OW - x)):
                for c in range(CO):
                    o[x + p, c] = acc[64 * p + c]


@njit(**P)
def dil_dx(go, KT, dI):
    """residue classes: row Y meets exactly the tap j with 2j = Y mod 3 (PlaidML's defract), likewise columns"""
    N, H, W, CI = dI.shape
    _, OH, OW, CO = go.shape
    for t in prange(N * H):
        n = t // H
        Y = t - n * H
        d = dI[n, Y]
        d[:] = f32(0)
        m = Y % 3
        j = 0 if m == 0 else (2 if m == 1 else 1)
        y = (Y - 2 * j) // 3
        if Y - 2 * j >= 0 and y < OH:
            acc = np.empty(256, np.float32)
            row = go[n, y].ravel()
            for i in range(3):
                B = KT[j, i]
                for x in range(0, OW, 4):
                    x1 = min(x + 1, OW - 1)
                    x2 = min(x + 2, OW - 1)
                    x3 = min(x + 3, OW - 1)
                    acc[:] = f32(0)
                    _gemm4(acc, row, x * CO, x1 * CO, x2 * CO, x3 * CO, B, CI, CO)
                    for p in range(min(4, OW - x)):
                        e = d[3 * (x + p) + 2 * i]
                        for c in range(CI):
                            e[c] = acc[64 * p + c]


@njit(**K)
def _outer4(P_, I, o0, o1, o2, o3, g0, g1, g2, g3, CI, CO):
    for k in range(CI):
        p = P_[k]
        a0 = I[o0 + k]
        a1 = I[o1 + k]
        a2 = I[o2 + k]
        a3 = I[o3 + k]
        for c in range(CO):
            p[c] += a0 * g0[c] + a1 * g1[c] + a2 * g2[c] + a3 * g3[c]


@njit(**P)
def dil_dw(I, go, part, dW):
    N, H, W, CI = I.shape
    _, OH, OW, CO = go.shape
    nt = part.shape[0]
    for t in prange(nt):
        pt = part[t]
        pt[:] = f32(0)
        r0 = N * OH * t // nt
        r1 = N * OH * (t + 1) // nt
        for r in range(r0, r1):
            n = r // OH
            y = r - n * OH
            g = go[n, y]
            for j in range(3):
                row = I[n, 3 * y + 2 * j].ravel()
                for i in range(3):
                    q = pt[j, i]
                    xe = OW - OW % 4
                    for x in range(0, xe, 4):
                        b = (3 * x + 2 * i) * CI
                        _outer4(
                            q,
                            row,
                            b,
                            b + 3 * CI,
                            b + 6 * CI,
                            b + 9 * CI,
                            g[x],
                            g[x + 1],
                            g[x + 2],
                            g[x + 3],
                            CI,
                            CO,
                        )
                    for x in range(xe, OW):
                        b = (3 * x + 2 * i) * CI
                        e = g[x]
                        for k in range(CI):
                            a = row[b + k]
                            p = q[k]
                            for c in range(CO):
                                p[c] += a * e[c]
    dW[:] = f32(0)
    for t in range(nt):
        dW += part[t]


def dilconv(i):
    x, w, go = i["x"], i["w"], i["go"]
    O = np.empty_like(go)
    dx = np.empty_like(x)
    dw = np.empty_like(w)
    part = np.empty((8,) + w.shape, np.float32)

    def step():
        dil_fwd(x, w, O)
        KT = np.ascontiguousarray(w.transpose(0, 1, 3, 2))
        dil_dx(go, KT, dx)
        dil_dw(x, go, part, dw)
        return dict(out=O, d_input=dx, d_w=dw)

    return step


# ---------------------------------------------------------------- 10. splat
@njit(**P)
def splat_fwd(v, g, G, C):
    D, m, _ = G.shape
    n = v.shape[0]
    S = n // m
    for Y in prange(m):
        G[:, Y] = f32(0)
        C[:, Y] = f32(0)
        for y in range(Y * S, Y * S + S):
            vr = v[y]
            gr = g[y]
            for X in range(m):
                for x in range(X * S, X * S + S):
                    z = gr[x] * f32(D - 1)
                    z0 = min(i32(z), i32(D - 2))
                    w = z - f32(z0)
                    a = vr[x]
                    G[z0, Y, X] += a - a * w
                    G[z0 + 1, Y, X] += a * w
                    C[z0, Y, X] += f32(1) - w
                    C[z0 + 1, Y, X] += w


@njit(**P)
def splat_bwd(v, g, dG, dC, dv, dg):
    D, m, _ = dG.shape
    n = v.shape[0]
    S = n // m
    for y in prange(n):
        Y = y // S
        vr = v[y]
        gr = g[y]
        p = dv[y]
        q = dg[y]
        t = np.empty((2, D), np.float32)
        for X in range(m):
            for k in range(D):
                t[0, k] = dG[k, Y, X]
                t[1, k] = dC[k, Y, X]
            for x in range(X * S, X * S + S):
                z = gr[x] * f32(D - 1)
                z0 = min(i32(z), i32(D - 2))
                w = z - f32(z0)
                a = t[0, z0]
                b = t[0, z0 + 1]
                p[x] = a + w * (b - a)
                q[x] = f32(D - 1) * (vr[x] * (b - a) + t[1, z0 + 1] - t[1, z0])


def splat(i):
    v, g, dG, dC = i["v"], i["g"], i["d_grid"], i["d_cnt"]
    G = np.empty_like(dG)
    C = np.empty_like(dC)
    dv = np.empty_like(v)
    dg = np.empty_like(g)

    def step():
        splat_fwd(v, g, G, C)
        splat_bwd(v, g, dG, dC, dv, dg)
        return dict(grid=G, cnt=C, d_v=dv, d_g=dg)

    return step
