# Adjoint (reverse-mode derivative) of `strided` in kernels.py.
import functools

import cupy as cp
import numpy as np


CODE = r"""
// helpers.cuda.txt: device thread_x

// helpers.cuda.txt: device floor_div

// helpers.cuda.txt: device py_mod

// helpers.cuda.txt: device py_min

// helpers.cuda.txt: device py_max

// helpers.cuda.txt: device added

// helpers.cuda.txt: device block_sum

extern "C" __global__ void strided_adjoint_1(const double* __restrict__ d_out,
    const double* __restrict__ weights, double* __restrict__ d_signal, long long out_n0,
    long long weights_n0)
{
    // no two iterations of u write the same element of d_signal: [u]
    for (long long u = thread_x(); u < 3 * out_n0 + 2 * weights_n0 - 4; u += threads_x()) {
        double sum_d_signal = -0.0;
        for (long long k = py_max<long long>(0, floor_div<long long>(u - 3 * out_n0, 2) + 2); k < py_min<long long>(weights_n0, floor_div<long long>(u, 2) + 1); ++k) {
            if (py_mod<long long>(u - 2 * k, 3) == 0) {
                // kernels.py:24: out[x] += signal[3 * x + 2 * k] * weights[k]
                sum_d_signal = fma(d_out[floor_div<long long>(u - 2 * k, 3)], weights[k], sum_d_signal);
            }
        }
        if (added(sum_d_signal)) {
            d_signal[u] += sum_d_signal;
        }
    }
}

extern "C" __global__ void strided_adjoint_2(const double* __restrict__ d_out,
    const double* __restrict__ signal, double* __restrict__ sum_d_weights_parts,
    long long weights_n0, long long out_n0)
{
    // the threads of a block share out x; added in one order
    for (long long k = blockIdx.y; k < weights_n0; k += gridDim.y) {
        double sum_d_weights = -0.0;
        for (long long x = thread_x(); x < out_n0; x += threads_x()) {
            // kernels.py:24: out[x] += signal[3 * x + 2 * k] * weights[k]
            sum_d_weights = fma(d_out[x], signal[3 * x + 2 * k], sum_d_weights);
        }
        sum_d_weights = block_sum<double>(sum_d_weights);
        if (threadIdx.x == 0) sum_d_weights_parts[k * gridDim.x + blockIdx.x] = sum_d_weights;
    }
}

extern "C" __global__ void strided_adjoint_2_sum(double* __restrict__ d_weights,
    const double* __restrict__ d_weights_parts, long long parts_2, long long weights_n0)
{
    // the sums of all blocks
    for (long long k = blockIdx.y; k < weights_n0; k += gridDim.y) {
        double total = -0.0;
        for (long long k_2 = threadIdx.x; k_2 < parts_2; k_2 += 256) {
            total += d_weights_parts[k * parts_2 + k_2];
        }
        total = block_sum<double>(total);
        if (threadIdx.x == 0 && added(total)) d_weights[k] += total;
    }
}
"""
KERNELS = cp.RawModule(code=CODE, options=("--std=c++17", "--fmad=false"))


# helpers.cuda.txt: host kernel


# helpers.cuda.txt: host launch


# helpers.cuda.txt: host reduce


def strided_adjoint(signal, weights, out, d_out):
    if not all((a.flags.c_contiguous for a in (signal, weights, out, d_out))):
        raise ValueError("pass C-contiguous arrays")
    d_signal = cp.zeros(signal.shape[0], dtype=np.float64)
    d_weights = cp.zeros(weights.shape[0], dtype=np.float64)
    launch(
        "strided_adjoint_1",
        (3 * out.shape[0] + 2 * weights.shape[0] - 4,),
        (d_out, weights, d_signal, out.shape[0], weights.shape[0]),
    )
    owners = weights.shape[0]
    parts = max(1, min(256, out.shape[0] // 1024, 16384 // max(1, owners)))
    d_weights_parts = cp.empty(owners * parts, dtype=np.float64)
    reduce(
        "strided_adjoint_2",
        parts,
        owners,
        (d_out, signal, d_weights_parts, weights.shape[0], out.shape[0]),
    )
    reduce(
        "strided_adjoint_2_sum", 1, owners, (d_weights, d_weights_parts, parts, weights.shape[0])
    )
    d_out_2 = d_out.astype(np.float64)
    return d_signal, d_weights, d_out_2
