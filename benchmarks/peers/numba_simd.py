"""numba_hand + explicit SIMD through @intrinsic (llvmlite emits <4 x float> IR): bslice only.
Shows what a generator gains by emitting vector IR where LLVM's loop vectoriser gives up (gather-addressed 16-wide records)."""

from .numba_hand import *
from .numba_hand import _bs_cell, _bs_lerp, _bs_pack, _bs_unpack

_V4 = ir.VectorType(ir.FloatType(), 4)
_I32 = ir.IntType(32)
_FM = ("fast",)


def _ptr(ctx, b, ty, arr, idx):
    p = ctx.make_array(ty)(ctx, b, arr).data
    return b.bitcast(b.gep(p, [idx]), _V4.as_pointer())


def _spl(b, s):
    v = b.insert_element(ir.Constant(_V4, ir.Undefined), s, ir.Constant(_I32, 0))
    return b.shuffle_vector(
        v, ir.Constant(_V4, ir.Undefined), ir.Constant(ir.VectorType(_I32, 4), [0] * 4)
    )


def _ld(b, p, k):
    l = b.load(b.gep(p, [ir.Constant(_I32, k)]))
    l.align = 4
    return l


def _st(b, v, p, k):
    s = b.store(v, b.gep(p, [ir.Constant(_I32, k)]))
    s.align = 4


_m = lambda b, x, y: b.fmul(x, y, flags=_FM)
_a = lambda b, x, y: b.fadd(x, y, flags=_FM)
_s = lambda b, x, y: b.fsub(x, y, flags=_FM)


def _ex(b, v, k):
    return b.extract_element(v, ir.Constant(_I32, k))


_T3 = types.UniTuple(types.float32, 3)
_T4 = types.UniTuple(types.float32, 4)
_F = types.float32


@intrinsic
def px_fwd(ty, gy, a, e, w0, w1, w2, w3, R, G, B):
    def cg(ctx, b, sig, ar):
        pa = _ptr(ctx, b, sig.args[0], ar[0], ar[1])
        pe = _ptr(ctx, b, sig.args[0], ar[0], ar[2])
        W = [_spl(b, x) for x in ar[3:7]]
        C = [_spl(b, x) for x in ar[7:10]]
        acc = None
        for ci in range(4):
            c = _a(
                b,
                _a(b, _m(b, W[0], _ld(b, pa, ci)), _m(b, W[1], _ld(b, pa, 4 + ci))),
                _a(b, _m(b, W[2], _ld(b, pe, ci)), _m(b, W[3], _ld(b, pe, 4 + ci))),
            )
            if ci < 3:
                c = _m(b, c, C[ci])
            acc = c if acc is None else _a(b, acc, c)
        return ctx.make_tuple(b, sig.return_type, [_ex(b, acc, k) for k in range(3)])

    return _T3(gy, types.int64, types.int64, _F, _F, _F, _F, _F, _F, _F), cg


@intrinsic
def px_bwd(ty, gy, dg, a, e, w0, w1, w2, w3, vx, wx, R, G, B, h0, h1, h2):
    """h = go (3 channels); returns sum_co coef*h for ci=0..2 and sum over coefs of (dcoef/dz)*dcoef"""

    def cg(ctx, b, sig, ar):
        pa = _ptr(ctx, b, sig.args[0], ar[0], ar[2])
        pe = _ptr(ctx, b, sig.args[0], ar[0], ar[3])
        qa = _ptr(ctx, b, sig.args[1], ar[1], ar[2])
        qe = _ptr(ctx, b, sig.args[1], ar[1], ar[3])
        W = [_spl(b, x) for x in ar[4:8]]
        vx_, wx_ = _spl(b, ar[8]), _spl(b, ar[9])
        C = [_spl(b, x) for x in ar[10:13]]
        h = ir.Constant(_V4, [0.0] * 4)
        for k in range(3):
            h = b.insert_element(h, ar[13 + k], ir.Constant(_I32, k))
        outs = []
        zz = None
        for ci in range(4):
            a0, a1, e0, e1 = (
                _ld(b, pa, ci),
                _ld(b, pa, 4 + ci),
                _ld(b, pe, ci),
                _ld(b, pe, 4 + ci),
            )
            d = h if ci == 3 else _m(b, h, C[ci])
            t = _m(b, _a(b, _m(b, vx_, _s(b, e0, a0)), _m(b, wx_, _s(b, e1, a1))), d)
            zz = t if zz is None else _a(b, zz, t)
            if ci < 3:
                o = _m(
                    b,
                    h,
                    _a(
                        b,
                        _a(b, _m(b, W[0], a0), _m(b, W[1], a1)),
                        _a(b, _m(b, W[2], e0), _m(b, W[3], e1)),
                    ),
                )
                outs.append(_a(b, _a(b, _ex(b, o, 0), _ex(b, o, 1)), _ex(b, o, 2)))
            for q, k, w in ((qa, ci, 0), (qa, 4 + ci, 1), (qe, ci, 2), (qe, 4 + ci, 3)):
                _st(b, _a(b, _ld(b, q, k), _m(b, W[w], d)), q, k)
        outs.append(_a(b, _a(b, _ex(b, zz, 0), _ex(b, zz, 1)), _ex(b, zz, 2)))
        return ctx.make_tuple(b, sig.return_type, outs)

    return _T4(gy, dg, types.int64, types.int64, *([_F] * 12)), cg


@njit(**K)
def _fwd_row(gy, gu, r, g, b, o0, o1, o2, gw, gd):
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
        o0[x], o1[x], o2[x] = px_fwd(gy, a, e, w00, w01, w10, w11, r[x], g[x], b[x])


@njit(**K)
def _bwd_row(gy, dg, gu, r, g, b, p0, p1, p2, dgu, d0, d1, d2, gw, gd):
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
        q0, q1, q2, q3 = px_bwd(
            gy,
            dg,
            a,
            e,
            w00,
            w01,
            w10,
            w11,
            f32(1) - wx,
            wx,
            r[x],
            g[x],
            b[x],
            p0[x],
            p1[x],
            p2[x],
        )
        d0[x] = q0
        d1[x] = q1
        d2[x] = q2
        dgu[x] = q3 * f32(gd) if (s > f32(0) and s < f32(gd - 1)) else f32(0)


@njit(**P)
def _fwd(xin, guide, G, out, gd, gh, gw):
    N, _, H, W = xin.shape
    for t in prange(N * H):
        n = t // H
        y = t - n * H
        j0, wy = _bs_cell(y, H, gh)
        gy = np.empty(gd * gw * 16, np.float32)
        _bs_lerp(G[n, j0].ravel(), G[n, j0 + 1].ravel(), wy, gy)
        _fwd_row(
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
        )


@njit(**P)
def _bwd(xin, guide, G, go, dx, dgu, part, gd, gh, gw):
    N, _, H, W = xin.shape
    nt = part.shape[0] // N
    for t in prange(N * nt):
        n = t // nt
        yb = t - n * nt
        ya = H * yb // nt
        ye = H * (yb + 1) // nt
        gy = np.empty(gd * gw * 16, np.float32)
        dg = np.empty(gd * gw * 16, np.float32)
        part[t] = f32(0)
        for y in range(ya, ye):
            j0, wy = _bs_cell(y, H, gh)
            _bs_lerp(G[n, j0].ravel(), G[n, j0 + 1].ravel(), wy, gy)
            dg[:] = f32(0)
            _bwd_row(
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
            )
            u = part[t, j0].ravel()
            v = part[t, j0 + 1].ravel()
            vy = f32(1) - wy
            for k in range(dg.size):
                u[k] += vy * dg[k]
            for k in range(dg.size):
                v[k] += wy * dg[k]


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
        _fwd(x, gu, G, out, gd, gh, gw)
        _bwd(x, gu, G, go, dx, dgu, part, gd, gh, gw)
        _bs_unpack(part, dgr)
        return dict(out=out, d_grid=dgr, d_guide=dgu, d_input=dx)

    return step


for _n in (
    "conv2d",
    "ckpt1x5",
    "ckpt3x5",
    "_ckpt",
    "stn",
    "flownet",
    "heat3d",
    "rd2d",
    "dilconv",
    "hmlstm",
    "splat",
):
    globals().pop(_n, None)
