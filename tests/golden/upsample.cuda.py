# Adjoint (reverse-mode derivative) of `upsample` in kernels.py.
import functools

import cupy as cp
import numpy as np


CODE = r"""
// helpers.cuda.txt: device thread_x

// helpers.cuda.txt: device floor_div

// helpers.cuda.txt: device py_min

// helpers.cuda.txt: device added

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


# helpers.cuda.txt: host kernel


# helpers.cuda.txt: host launch


def upsample_adjoint(coarse, fine, d_fine):
    if not all((a.flags.c_contiguous for a in (coarse, fine, d_fine))):
        raise ValueError("pass C-contiguous arrays")
    d_coarse = cp.zeros(coarse.shape[0], dtype=np.float64)
    launch(
        "upsample_adjoint_1", ((fine.shape[0] + 3) // 4,), (d_fine, coarse, d_coarse, fine.shape[0])
    )
    d_fine_2 = cp.zeros(fine.shape[0], dtype=np.float64)
    return d_coarse, d_fine_2
