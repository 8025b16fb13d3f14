# Adjoint (reverse-mode derivative) of `upsample` in kernels.py.
import functools

import cupy as cp
import numpy as np


CODE = r"""
__device__ long long thread_x()  // the number of this thread along x
{
    return blockIdx.x * (long long)blockDim.x + threadIdx.x;
}
__device__ long long threads_x()
{
    return gridDim.x * (long long)blockDim.x;
}

template <class T> __device__ T floor_div(T a, T b)  // a // b, rounded down
{
    T q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
__device__ double floor_div(double a, double b)
{
    if (b == 0.0) return a / b;
    double m = fmod(a, b);
    double q = (a - m) / b;
    if (m != 0.0 && (b < 0.0) != (m < 0.0)) q -= 1.0;
    if (q == 0.0) return copysign(0.0, a / b);
    double f = floor(q);
    return q - f > 0.5 ? f + 1.0 : f;
}
__device__ float floor_div(float a, float b)
{
    if (b == 0.0f) return a / b;
    float m = fmodf(a, b);
    float q = (a - m) / b;
    if (m != 0.0f && (b < 0.0f) != (m < 0.0f)) q -= 1.0f;
    if (q == 0.0f) return copysignf(0.0f, a / b);
    float f = floorf(q);
    return q - f > 0.5f ? f + 1.0f : f;
}

template <class T> __device__ T py_min(T a, T b) { return b < a ? b : a; }

__device__ bool added(double sum)  // was anything added to -0.0, or 0?
{
    return sum != 0.0 || !signbit(sum);
}
__device__ bool added(float sum) { return sum != 0.0f || !signbit(sum); }
template <class T> __device__ bool added(T sum) { return sum != 0; }

extern "C" __global__ void upsample_adjoint_1(const double* __restrict__ d_fine,
    const double* __restrict__ coarse, double* __restrict__ d_coarse, long long fine_n0)
{
    // no two iterations of u write the same element of d_coarse: [u]
    for (long long u = thread_x(); u < floor_div<long long>(fine_n0 + 3, 4); u += threads_x()) {
        double sum_d_coarse = -0.0;
        for (long long x = 4 * u; x < py_min<long long>(fine_n0, 4 * u + 4); ++x) {
            // kernels.py:29: fine[x] = coarse[x // 4] ** 2
            sum_d_coarse = fma(2.0 * d_fine[x], coarse[u], sum_d_coarse);
        }
        if (added(sum_d_coarse)) {
            d_coarse[u] += sum_d_coarse;
        }
    }
}
"""
KERNELS = cp.RawModule(code=CODE, options=("--std=c++17", "--fmad=false"))


@functools.cache
def loaded(name, device):
    return KERNELS.get_function(name)


def kernel(name):
    return loaded(name, cp.cuda.runtime.getDevice())


def launch(name, counts, args):
    """Run a kernel with a thread for each of `counts`, the first along x."""
    if min(counts) > 0:
        block = {1: (256,), 2: (32, 8), 3: (32, 4, 2)}[len(counts)]
        grid = tuple(int(min(-(-n // k), 65535)) for n, k in zip(counts, block))
        kernel(name)(grid, block, args)


def upsample_adjoint(coarse, fine, d_fine):
    if not all((a.flags.c_contiguous for a in (coarse, fine, d_fine))):
        raise ValueError("pass C-contiguous arrays")
    d_fine_2 = cp.zeros(fine.shape[0], dtype=np.float64)
    d_coarse = cp.zeros(coarse.shape[0], dtype=np.float64)
    launch(
        "upsample_adjoint_1", ((fine.shape[0] + 3) // 4,), (d_fine, coarse, d_coarse, fine.shape[0])
    )
    return d_coarse, d_fine_2
