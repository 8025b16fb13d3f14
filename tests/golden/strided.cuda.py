# Adjoint (reverse-mode derivative) of `strided` in kernels.py.
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

template <class T> __device__ T py_mod(T a, T b)  // a % b, with the sign of b
{
    T m = a % b;
    return (m != 0 && (m < 0) != (b < 0)) ? m + b : m;
}
__device__ double py_mod(double a, double b)
{
    double m = fmod(a, b);
    if (m == 0.0) return copysign(0.0, b);
    return (b < 0.0) != (m < 0.0) ? m + b : m;
}
__device__ float py_mod(float a, float b)
{
    float m = fmodf(a, b);
    if (m == 0.0f) return copysignf(0.0f, b);
    return (b < 0.0f) != (m < 0.0f) ? m + b : m;
}

template <class T> __device__ T py_min(T a, T b) { return b < a ? b : a; }

template <class T> __device__ T py_max(T a, T b) { return b > a ? b : a; }

__device__ bool added(double sum)  // was anything added to -0.0, or 0?
{
    return sum != 0.0 || !signbit(sum);
}
__device__ bool added(float sum) { return sum != 0.0f || !signbit(sum); }
template <class T> __device__ bool added(T sum) { return sum != 0; }

template <class T> __device__ T block_sum(T value)  // of all threads, in a fixed order
{
    __shared__ T parts[256];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    T total = parts[0];
    __syncthreads();
    return total;
}

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


def reduce(name, parts, owners, args):
    """Run a kernel with `parts` blocks for each owner, of 256 threads each."""
    if owners > 0:
        kernel(name)((int(parts), int(min(owners, 65535))), (256,), args)


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
