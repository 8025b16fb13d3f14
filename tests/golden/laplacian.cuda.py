# Adjoint (reverse-mode derivative) of `laplacian` in kernels.py.
import functools

import cupy as cp
import numpy as np


CODE = r"""
// helpers.cuda.txt: device thread_x

// helpers.cuda.txt: device thread_y

extern "C" __global__ void laplacian_adjoint_1(double* __restrict__ d_u,
    const double* __restrict__ d_out_2, long long u_n0, long long u_n1,
    long long d_u_n1, long long d_out_2_n1)
{
    // no two iterations of i write the same element of d_u: [i, j]
    for (long long i = thread_y(); i < u_n0; i += threads_y()) {
        for (long long j = thread_x(); j < u_n1; j += threads_x()) {
            if (((i >= 1 && i < u_n0 - 1) && j >= 1) && j < u_n1 - 1) {
                // kernels.py:18: out[i, j] = neighbours - 4.0 * u[i, j]
                d_u[i * d_u_n1 + j] -= 4.0 * d_out_2[i * d_out_2_n1 + j];
            }
            if ((i < u_n0 - 2 && j >= 1) && j < u_n1 - 1) {
                // kernels.py:17: neighbours = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                d_u[i * d_u_n1 + j] += d_out_2[(i + 1) * d_out_2_n1 + j];
            }
            if ((i >= 2 && j >= 1) && j < u_n1 - 1) {
                d_u[i * d_u_n1 + j] += d_out_2[(i - 1) * d_out_2_n1 + j];
            }
            if ((i >= 1 && i < u_n0 - 1) && j < u_n1 - 2) {
                d_u[i * d_u_n1 + j] += d_out_2[i * d_out_2_n1 + j + 1];
            }
            if ((i >= 1 && i < u_n0 - 1) && j >= 2) {
                d_u[i * d_u_n1 + j] += d_out_2[i * d_out_2_n1 + j - 1];
            }
        }
    }
}

extern "C" __global__ void laplacian_adjoint_2(double* __restrict__ d_out_2,
    long long u_n0, long long u_n1, long long d_out_2_n1)
{
    // no two iterations of i write the same element of d_out_2: [i, j]
    for (long long i = 1 + thread_y(); i < u_n0 - 1; i += threads_y()) {
        for (long long j = 1 + thread_x(); j < u_n1 - 1; j += threads_x()) {
            // kernels.py:18: out[i, j] = neighbours - 4.0 * u[i, j]
            d_out_2[i * d_out_2_n1 + j] = 0.0;
        }
    }
}
"""
KERNELS = cp.RawModule(code=CODE, options=("--std=c++17", "--fmad=false"))


# helpers.cuda.txt: host kernel


# helpers.cuda.txt: host launch


def laplacian_adjoint(u, out, d_out):
    if not all((a.flags.c_contiguous for a in (u, out, d_out))):
        raise ValueError("pass C-contiguous arrays")
    d_out_2 = d_out.astype(np.float64)
    d_u = cp.zeros((u.shape[0], u.shape[1]), dtype=np.float64)
    launch(
        "laplacian_adjoint_1",
        (u.shape[1], u.shape[0]),
        (d_u, d_out_2, u.shape[0], u.shape[1], d_u.shape[1], d_out_2.shape[1]),
    )
    launch(
        "laplacian_adjoint_2",
        (u.shape[1] - 2, u.shape[0] - 2),
        (d_out_2, u.shape[0], u.shape[1], d_out_2.shape[1]),
    )
    return d_u, d_out_2
