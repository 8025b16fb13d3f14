# Adjoint (reverse-mode derivative) of `conv2d` in kernels.py.
import functools

import cupy as cp
import numpy as np


CODE = r"""
// helpers.cuda.txt: device thread_x

// helpers.cuda.txt: device thread_y

// helpers.cuda.txt: device py_min

// helpers.cuda.txt: device py_max

// helpers.cuda.txt: device added

// helpers.cuda.txt: device block_sum

extern "C" __global__ void conv2d_adjoint_1(const double* __restrict__ d_out,
    const double* __restrict__ kernel, double* __restrict__ d_image, long long out_n0,
    long long kernel_n0, long long out_n1, long long kernel_n1, long long d_out_n1,
    long long d_image_n1)
{
    // no two iterations of u write the same element of d_image: [u, v]
    for (long long u = thread_y(); u < out_n0 + kernel_n0 - 1; u += threads_y()) {
        for (long long v = thread_x(); v < out_n1 + kernel_n1 - 1; v += threads_x()) {
            double sum_d_image = -0.0;
            for (long long j = py_max<long long>(0, u - out_n0 + 1); j < py_min<long long>(kernel_n0, u + 1); ++j) {
                for (long long i = py_max<long long>(0, v - out_n1 + 1); i < py_min<long long>(kernel_n1, v + 1); ++i) {
                    // kernels.py:11: out[y, x] += image[y + j, x + i] * kernel[j, i]
                    sum_d_image = fma(d_out[(u - j) * d_out_n1 + v - i], kernel[j * kernel_n1 + i], sum_d_image);
                }
            }
            if (added(sum_d_image)) {
                d_image[u * d_image_n1 + v] += sum_d_image;
            }
        }
    }
}

extern "C" __global__ void conv2d_adjoint_2(const double* __restrict__ d_out,
    const double* __restrict__ image, double* __restrict__ sum_d_kernel_parts,
    long long kernel_n0, long long kernel_n1, long long out_n0, long long out_n1,
    long long d_out_n1, long long image_n1)
{
    // the threads of a block share out y, x; added in one order
    for (long long owner = blockIdx.y; owner < kernel_n0 * kernel_n1; owner += gridDim.y) {
        const long long i = owner % kernel_n1;
        const long long j = owner / kernel_n1;
        double sum_d_kernel = -0.0;
        for (long long term = thread_x(); term < out_n0 * out_n1; term += threads_x()) {
            const long long x = term % out_n1;
            const long long y = term / out_n1;
            // kernels.py:11: out[y, x] += image[y + j, x + i] * kernel[j, i]
            sum_d_kernel = fma(d_out[y * d_out_n1 + x], image[(y + j) * image_n1 + x + i], sum_d_kernel);
        }
        sum_d_kernel = block_sum<double>(sum_d_kernel);
        if (threadIdx.x == 0) sum_d_kernel_parts[owner * gridDim.x + blockIdx.x] = sum_d_kernel;
    }
}

extern "C" __global__ void conv2d_adjoint_2_sum(double* __restrict__ d_kernel,
    const double* __restrict__ d_kernel_parts, long long parts_2, long long kernel_n0,
    long long kernel_n1, long long d_kernel_n1)
{
    // the sums of all blocks
    for (long long owner = blockIdx.y; owner < kernel_n0 * kernel_n1; owner += gridDim.y) {
        const long long i = owner % kernel_n1;
        const long long j = owner / kernel_n1;
        double total = -0.0;
        for (long long k = threadIdx.x; k < parts_2; k += 256) {
            total += d_kernel_parts[owner * parts_2 + k];
        }
        total = block_sum<double>(total);
        if (threadIdx.x == 0 && added(total)) d_kernel[j * d_kernel_n1 + i] += total;
    }
}
"""
KERNELS = cp.RawModule(code=CODE, options=("--std=c++17", "--fmad=false"))


# helpers.cuda.txt: host kernel


# helpers.cuda.txt: host launch


# helpers.cuda.txt: host reduce


def conv2d_adjoint(image, kernel, out, d_out):
    if not all((a.flags.c_contiguous for a in (image, kernel, out, d_out))):
        raise ValueError("pass C-contiguous arrays")
    d_image = cp.zeros((image.shape[0], image.shape[1]), dtype=np.float64)
    d_kernel = cp.zeros((kernel.shape[0], kernel.shape[1]), dtype=np.float64)
    launch(
        "conv2d_adjoint_1",
        (out.shape[1] + kernel.shape[1] - 1, out.shape[0] + kernel.shape[0] - 1),
        (
            d_out,
            kernel,
            d_image,
            out.shape[0],
            kernel.shape[0],
            out.shape[1],
            kernel.shape[1],
            d_out.shape[1],
            d_image.shape[1],
        ),
    )
    owners = kernel.shape[0] * kernel.shape[1]
    parts = max(1, min(256, out.shape[0] * out.shape[1] // 1024, 16384 // max(1, owners)))
    d_kernel_parts = cp.empty(owners * parts, dtype=np.float64)
    reduce(
        "conv2d_adjoint_2",
        parts,
        owners,
        (
            d_out,
            image,
            d_kernel_parts,
            kernel.shape[0],
            kernel.shape[1],
            out.shape[0],
            out.shape[1],
            d_out.shape[1],
            image.shape[1],
        ),
    )
    reduce(
        "conv2d_adjoint_2_sum",
        1,
        owners,
        (d_kernel, d_kernel_parts, parts, kernel.shape[0], kernel.shape[1], d_kernel.shape[1]),
    )
    d_out_2 = d_out.astype(np.float64)
    return d_image, d_kernel, d_out_2
