import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
from numba import njit

f32 = np.float32
KK = dict(fastmath=True, error_model="numpy", boundscheck=False)


def tm(f, *a, n=200):
    f(*a)
    ts = []
    for _ in range(n):
        t = time.perf_counter()
        f(*a)
        ts.append(time.perf_counter() - t)
    return 1e6 * np.median(ts)


def asm(d):
    """packed float arithmetic found anywhere in the compiled asm (incl. unused fallback loops)"""
    s = "\n".join(d.inspect_asm().values())
    A = r"v(mul|add|sub|div|fn?m\w+)"
    return " ".join(
        t
        for t, r in (
            ("ymm-ps", A + r"ps\s.*ymm"),
            ("ymm-pd", A + r"pd\s.*ymm"),
            ("xmm-ps", A + r"ps\s[^\n]*xmm"),
            ("gather", r"vgather"),
            ("ss", A + r"ss\s"),
            ("sd", A + r"sd\s"),
        )
        if re.search(r, s)
    )


def rep(l, f, *a):
    print(f"{l:58s} {tm(f, *a):8.2f} us  {asm(f)}")


a = np.random.rand(8192).astype(f32)
b = a.copy()
o = np.empty_like(a)
ix = np.arange(8192, dtype=np.int32)
ix64 = ix.astype(np.int64)


@njit(**KK)
def red(a, b):
    s = f32(0)
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@njit(error_model="numpy")
def red_nofm(a, b):
    s = f32(0)
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@njit(fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")
def red_cr(a, b):
    s = f32(0)
    for i in range(a.size):
        s += a[i] * b[i]
    return s


@njit(**KK)
def red_f64(a, b):
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
    return s


rep("dot fastmath f32 acc", red, a, b)
rep("dot no fastmath", red_nofm, a, b)
rep("dot {contract,reassoc,nsz}", red_cr, a, b)
rep("dot acc starts 0.0 (=float64!)", red_f64, a, b)


@njit(**KK)
def c1(a, o):
    for i in range(a.size):
        o[i] = a[i] * f32(2) + f32(1)


@njit(**KK)
def c2(a, o):
    for i in range(a.size):
        o[i] = a[i] * 2.0 + 1.0


rep("f32 literals", c1, a, o)
rep("python float literals (promote to f64)", c2, a, o)


@njit(fastmath=True)
def d1(a, o):
    for i in range(a.size):
        o[i] = f32(1) / (a[i] + f32(1))


@njit(**KK)
def d2(a, o):
    for i in range(a.size):
        o[i] = f32(1) / (a[i] + f32(1))


rep("division error_model=python", d1, a, o)
rep("division error_model=numpy", d2, a, o)


@njit(fastmath=True, error_model="numpy", boundscheck=True)
def bc(a, o):
    for i in range(1, a.size - 1):
        o[i] = a[i - 1] + a[i + 1]


@njit(**KK)
def nbc(a, o):
    for i in range(1, a.size - 1):
        o[i] = a[i - 1] + a[i + 1]


@njit(**KK)
def wrap(a, o, s):
    for i in range(1, a.size - 1):
        o[i] = a[i - s] + a[i + s]


rep("3-pt boundscheck on", bc, a, o)
rep("3-pt, literal offsets", nbc, a, o)
rep("3-pt, runtime (maybe-negative => wraparound) offset", wrap, a, o, 1)
A = np.random.rand(64, 8192).astype(f32)
O = np.empty_like(A)


@njit(**KK)
def t2(A, O, y):
    for i in range(1, A.shape[1] - 1):
        O[y, i] = A[y - 1, i] + A[y + 1, i] + A[y, i - 1] + A[y, i + 1]


@njit(**KK)
def t2r(A, O, y):
    m = A[y - 1]
    p = A[y + 1]
    c = A[y]
    o = O[y]
    for i in range(1, c.size - 1):
        o[i] = m[i] + p[i] + c[i - 1] + c[i + 1]


@njit(**KK)
def t2c(A, O, y):
    for i in range(1, A.shape[1] - 1):
        O[y, i] = (
            A[max(y - 1, 0), i]
            + A[min(y + 1, A.shape[0] - 1), i]
            + A[y, max(i - 1, 0)]
            + A[y, min(i + 1, A.shape[1] - 1)]
        )


rep("5-pt A[y-1,i] 2-D subscripts", t2, A, O, 5)
rep("5-pt hoisted row views", t2r, A, O, 5)
rep("5-pt clamp min/max inside inner loop", t2c, A, O, 5)
rep(
    "5-pt 2-D subscripts, non-contiguous ('A' layout) array",
    t2,
    A[:, ::1][::2],
    O[::2],
    5,
)


@njit(**KK)
def g32(a, ix, o):
    for i in range(o.size):
        o[i] = a[ix[i]]


@njit(**KK)
def g64(a, ix, o):
    for i in range(o.size):
        o[i] = a[ix[i]]


@njit(**KK)
def gu(a, ix, o):
    for i in range(o.size):
        o[i] = a[np.uint32(ix[i])]


rep("gather int32 index (signed: wraparound select)", g32, a, ix, o)
rep("gather int64", g64, a, ix64, o)
rep("gather cast to uint32", gu, a, ix, o)


@njit(**KK)
def m_floor(a, o):
    for i in range(a.size):
        o[i] = a[i] * f32(9) - np.floor(a[i] * f32(9))


import math


@njit(**KK)
def m_mfloor(a, o):
    for i in range(a.size):
        o[i] = a[i] * f32(9) - f32(math.floor(a[i] * f32(9)))


@njit(**KK)
def m_cast(a, o):
    for i in range(a.size):
        o[i] = a[i] * f32(9) - f32(np.int32(a[i] * f32(9)))


rep("np.floor", m_floor, a, o)
rep("math.floor", m_mfloor, a, o)
rep("int32 cast (non-negative)", m_cast, a, o)


@njit(**KK)
def e1(a, o):
    for i in range(a.size):
        o[i] = math.exp(a[i])


from peers.numba_hand import expf


@njit(**KK)
def e2(a, o):
    for i in range(a.size):
        o[i] = expf(a[i])


rep("math.exp f32", e1, a, o)
rep("inlined polynomial expf", e2, a, o)


@njit(**KK)
def u16(a, o):
    for p in range(0, a.size, 16):
        for c in range(16):
            o[p + c] += a[p + c] * f32(2)


@njit(**KK)
def uN(a, o, N):
    for p in range(0, a.size, N):
        for c in range(N):
            o[p + c] += a[p + c] * f32(2)


rep("inner trip count literal 16", u16, a, o)
rep("inner trip count runtime 16", uN, a, o, 16)
k = (f32(0.1), f32(0.2), f32(0.3), f32(0.4), f32(0.5))


@njit(**KK)
def kt(a, o, k):
    for i in range(a.size - 4):
        s = f32(0)
        for j in range(5):
            s += k[j] * a[i + j]
        o[i] = s


ka = np.array(k)


@njit(**KK)
def kx(a, o, k):
    for i in range(a.size - 4):
        o[i] = (
            k[0] * a[i]
            + k[1] * a[i + 1]
            + k[2] * a[i + 2]
            + k[3] * a[i + 3]
            + k[4] * a[i + 4]
        )


@njit(**KK)
def kh(a, o, k):
    k0 = k[0]
    k1 = k[1]
    k2 = k[2]
    k3 = k[3]
    k4 = k[4]
    for i in range(a.size - 4):
        o[i] = k0 * a[i] + k1 * a[i + 1] + k2 * a[i + 2] + k3 * a[i + 3] + k4 * a[i + 4]


@njit(**KK)
def kr(a, o, k):
    for i in range(a.size - 4):
        s = f32(0)
        for j in range(k.size):
            s += k[j] * a[i + j]
        o[i] = s


rep("5 taps: tuple + range(5)", kt, a, o, k)
rep("5 taps: array k + range(k.size)", kr, a, o, ka)
rep("5 taps unrolled, k[j] in loop", kx, a, o, ka)
rep("5 taps unrolled, k hoisted to scalars", kh, a, o, ka)
