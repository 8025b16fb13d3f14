"""JAX 0.10 CPU, jit(vjp); forward and backward in ONE jitted function (out, vjp(go)) - the fastest way JAX offers."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

A = lambda a: jax.block_until_ready(jnp.asarray(a))


def mk(f, names, args, go):
    def both(args, go):
        o, vjp = jax.vjp(f, *args)
        return (o,) + tuple(vjp(go))

    j = jax.jit(both)

    def step():
        return dict(zip(names, jax.block_until_ready(j(args, go))))

    return step


def _bil(x, ix, iy, zero):
    N, C, H, W = x.shape
    x0f, y0f = jnp.floor(ix), jnp.floor(iy)
    wx, wy = ix - x0f, iy - y0f
    x0, y0 = x0f.astype(jnp.int32), y0f.astype(jnp.int32)
    xf = x.reshape(N, C, H * W)

    def tap(dx, dy, w):
        xx, yy = x0 + dx, y0 + dy
        if zero:
            w = jnp.where((xx >= 0) & (xx < W) & (yy >= 0) & (yy < H), w, 0.0)
        i = (jnp.clip(yy, 0, H - 1) * W + jnp.clip(xx, 0, W - 1)).reshape(N, H * W)
        v = jax.vmap(lambda p, q: jnp.take(p, q, axis=1, mode="clip"))(xf, i).reshape(
            N, C, H, W
        )
        return v * w[:, None]

    return (
        tap(0, 0, (1 - wx) * (1 - wy))
        + tap(1, 0, wx * (1 - wy))
        + tap(0, 1, (1 - wx) * wy)
        + tap(1, 1, wx * wy)
    )


def stn(i):
    N, C, H, W = i["x"].shape

    def f(x, th):
        X = (2 * jnp.arange(W, dtype=jnp.float32) + 1) / W - 1
        Y = ((2 * jnp.arange(H, dtype=jnp.float32) + 1) / H - 1)[:, None]
        g = lambda k: (
            th[:, k, 0, None, None] * X
            + th[:, k, 1, None, None] * Y
            + th[:, k, 2, None, None]
        )
        return _bil(x, ((g(0) + 1) * W - 1) / 2, ((g(1) + 1) * H - 1) / 2, True)

    return mk(f, ["out", "d_input", "d_theta"], (A(i["x"]), A(i["theta"])), A(i["go"]))


def flownet(i):
    N, C, H, W = i["x"].shape

    def f(x, fl):
        return _bil(
            x,
            jnp.clip(jnp.arange(W, dtype=jnp.float32) + fl[:, 0], 0, W - 1),
            jnp.clip(jnp.arange(H, dtype=jnp.float32)[:, None] + fl[:, 1], 0, H - 1),
            False,
        )

    return mk(f, ["out", "d_input", "d_flow"], (A(i["x"]), A(i["flow"])), A(i["go"]))


def bslice(i):
    N, _, H, W = i["x"].shape
    gd, gh, gw = i["grid"].shape[2:]

    def f(x, gu, gr):
        fx = jnp.clip(
            (jnp.arange(W, dtype=jnp.float32) + 0.5) * (gw / W) - 0.5, 0, gw - 1
        )
        fy = jnp.clip(
            (jnp.arange(H, dtype=jnp.float32) + 0.5) * (gh / H) - 0.5, 0, gh - 1
        )[:, None]
        fz = jnp.clip(gu * gd - 0.5, 0, gd - 1)
        x0, y0, z0 = (jnp.floor(a) for a in (fx, fy, fz))
        wx, wy, wz = fx - x0, fy - y0, fz - z0
        xi, yi, zi = (a.astype(jnp.int32) for a in (x0, y0, z0))
        gf = gr.reshape(N, 12, -1)
        co = 0
        for dz in (0, 1):
            for dy in (0, 1):
                for dx in (0, 1):
                    w = (
                        (wx if dx else 1 - wx)
                        * (wy if dy else 1 - wy)
                        * (wz if dz else 1 - wz)
                    )
                    ii = (
                        jnp.minimum(zi + dz, gd - 1) * gh + jnp.minimum(yi + dy, gh - 1)
                    ) * gw + jnp.minimum(xi + dx, gw - 1)
                    co = (
                        co
                        + jax.vmap(lambda p, q: jnp.take(p, q, axis=1, mode="clip"))(
                            gf, ii.reshape(N, -1)
                        ).reshape(N, 12, H, W)
                        * w[:, None]
                    )
        co = co.reshape(N, 3, 4, H, W)
        return (co[:, :, :3] * x[:, None]).sum(2) + co[:, :, 3]

    return mk(
        f,
        ["out", "d_input", "d_guide", "d_grid"],
        (A(i["x"]), A(i["guide"]), A(i["grid"])),
        A(i["go"]),
    )


def conv2d(i):
    return mk(
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID"),
        ["out", "d_input", "d_w"],
        (A(i["x"]), A(i["w"])),
        A(i["go"]),
    )


def _ckpt(i):
    k, t = A(i["k"]), A(i["target"])
    j = jax.jit(
        jax.grad(
            lambda x: (
                (
                    lax.conv_general_dilated(
                        x[None, None], k[None, None], (1, 1), "VALID"
                    )[0, 0]
                    - t
                )
                ** 2
            ).sum()
        )
    )
    x = A(i["x"])
    return lambda: dict(d_input=jax.block_until_ready(j(x)))


ckpt1x5 = ckpt3x5 = _ckpt


def dilconv(i):
    f = lambda x, w: lax.conv_general_dilated(
        x,
        w,
        (3, 3),
        "VALID",
        rhs_dilation=(2, 2),
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )
    return mk(f, ["out", "d_input", "d_w"], (A(i["x"]), A(i["w"])), A(i["go"]))


def hmlstm(i):
    z1, z2 = A(i["z1"]), A(i["z2"])

    def f(c, ff, ii, g):
        m = jax.nn.sigmoid(ii) * jnp.tanh(g)
        return jnp.where(z1 == 0, jnp.where(z2 == 1, jax.nn.sigmoid(ff) * c + m, c), m)

    return mk(
        f,
        ["out", "d_c", "d_f", "d_i", "d_g"],
        tuple(A(i[k]) for k in "cfig"),
        A(i["go"]),
    )


def heat3d(i):
    s = slice(1, -1)

    def f(u, a):
        lap = (
            u[:-2, s, s]
            + u[2:, s, s]
            + u[s, :-2, s]
            + u[s, 2:, s]
            + u[s, s, :-2]
            + u[s, s, 2:]
            - 6 * u[s, s, s]
        )
        return u.at[s, s, s].add(a[s, s, s] * lap)

    return mk(f, ["out", "d_u", "d_a"], (A(i["u"]), A(i["a"])), A(i["go"]))


def rd2d(i):
    T = int(i["T"])

    def f(u, a):
        def st(u, _):
            p = jnp.pad(u, 1, mode="edge")
            return u + a * (
                p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u
            ) + 0.05 * u * (1 - u), None

        return lax.scan(st, u, None, length=T)[0]

    return mk(f, ["out", "d_u0", "d_a"], (A(i["u0"]), A(i["a"])), A(i["go"]))


def gmm(i):
    x = A(i["x"])
    K, d = i["mean"].shape
    r, c = np.tril_indices(d, -1)
    o = np.lexsort((r, c))
    r, c = r[o], c[o]

    def f(al, me, ic):
        q = ic[:, :d]
        L = jnp.zeros((K, d, d), jnp.float32).at[:, r, c].set(ic[:, d:]) + jax.vmap(
            jnp.diag
        )(jnp.exp(q))
        y = jnp.einsum("kij,nkj->nki", L, x[:, None] - me[None])
        return jax.nn.logsumexp(
            al + q.sum(1) - 0.5 * (y * y).sum(-1), axis=1
        ).sum() - x.shape[0] * jax.nn.logsumexp(al)

    return mk(
        f,
        ["loss", "d_alpha", "d_mean", "d_icf"],
        tuple(A(i[k]) for k in ("alpha", "mean", "icf")),
        jnp.float32(1),
    )


def splat(i):
    n = i["v"].shape[0]
    m = n // 16
    D = 32
    q = np.arange(n) // 16
    base = jnp.asarray(q[:, None] * m + q[None], jnp.int32)

    def f(v, g):
        gz = g * (D - 1)
        z0 = jnp.clip(jnp.floor(gz), 0, D - 2)
        w = gz - z0
        ii = z0.astype(jnp.int32) * (m * m) + base
        z = lambda a, b: (
            jnp.zeros(D * m * m, jnp.float32)
            .at[ii]
            .add(a)
            .at[ii + m * m]
            .add(b)
            .reshape(D, m, m)
        )
        return z(v * (1 - w), v * w), z(1 - w, w)

    def both(v, g, go):
        o, vjp = jax.vjp(f, v, g)
        return o + vjp(go)

    j = jax.jit(both)
    a = (A(i["v"]), A(i["g"]), (A(i["d_grid"]), A(i["d_cnt"])))
    return lambda: dict(
        zip(["grid", "cnt", "d_v", "d_g"], jax.block_until_ready(j(*a)))
    )
