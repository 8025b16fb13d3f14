import time

import numba as nb
import numpy as np
from numba import njit, prange

f32 = np.float32


def tm(f, *a, n=200):
    f(*a)
    ts = []
    for _ in range(n):
        t = time.perf_counter()
        f(*a)
        ts.append(time.perf_counter() - t)
    return 1e6 * np.median(ts), 1e6 * np.min(ts)


PP = dict(parallel=True, fastmath=True, error_model="numpy", boundscheck=False)
o = np.zeros(64, f32)


@njit(**PP)
def launch(o):
    for i in prange(2):
        o[i] = f32(i)


print("layer")
print("prange launch overhead us med/min", tm(launch, o, n=2000), nb.threading_layer())


# imbalance: triangular work
@njit(**PP)
def tri(o, n):
    for i in prange(n):
        s = f32(0)
        for j in range(i * 2000):
            s += f32(j) * f32(0.5) / (f32(j) + f32(1))
        o[i] = s


print("triangular prange default", tm(tri, o, 64, n=20))
nb.set_parallel_chunksize(1)
print("triangular chunksize 1", tm(tri, o, 64, n=20))
nb.set_parallel_chunksize(0)
# 2-D flat in prange body vs callee
A = np.random.rand(512, 512).astype(f32)
B = np.empty_like(A)


@njit(**PP)
def body(A, B):
    H, W = A.shape
    for y in prange(1, H - 1):
        for x in range(1, W - 1):
            B[y, x] = A[y - 1, x] + A[y + 1, x] + A[y, x - 1] + A[y, x + 1]


@njit(fastmath=True, error_model="numpy")
def row(m, c, p, o):
    for x in range(1, c.size - 1):
        o[x] = m[x] + p[x] + c[x - 1] + c[x + 1]


@njit(**PP)
def callee(A, B):
    for y in prange(1, A.shape[0] - 1):
        row(A[y - 1], A[y], A[y + 1], B[y])


@njit(fastmath=True, error_model="numpy")
def blk(A, B, y0, y1):
    for y in range(y0, y1):
        for x in range(1, A.shape[1] - 1):
            B[y, x] = A[y - 1, x] + A[y + 1, x] + A[y, x - 1] + A[y, x + 1]


@njit(**PP)
def callblk(A, B):
    n = (A.shape[0] - 2 + 31) // 32
    for t in prange(n):
        blk(A, B, 1 + t * 32, min(1 + t * 32 + 32, A.shape[0] - 1))


for nm, f in (
    ("prange body inline", body),
    ("prange + row callee with views", callee),
    ("prange over 32-row blocks + block callee", callblk),
):
    print(nm, tm(f, A, B, n=300))
ns = dict(np=np)
exec("def g(a):\n  return a+1\n", ns)
try:
    njit(cache=True)(ns["g"])
    print("cache on exec OK")
except Exception as e:
    print("cache=True on exec'd source:", repr(e)[:120])


# 'auto-parallel' of array expressions inside parallel=True, and allocation in prange
@njit(**PP)
def alloc(A, B):
    for y in prange(A.shape[0]):
        t = np.empty(512, f32)
        for x in range(512):
            t[x] = A[y, x] * f32(2)
        for x in range(512):
            B[y, x] = t[x]


print("np.empty(512) inside prange iteration", tm(alloc, A, B, n=300))


@njit(**PP)
def red(A):
    s = f32(0)
    for y in prange(A.shape[0]):
        r = f32(0)
        for x in range(A.shape[1]):
            r += A[y, x]
        s += r
    return s


@njit(**PP)
def red2(A):
    s = f32(0)
    a = A.ravel()
    for y in prange(a.size):
        s += a[y]
    return s


print(
    "row-wise scalar prange reduction",
    tm(red, A, n=300),
    " flat prange reduction",
    tm(red2, A, n=300),
)
