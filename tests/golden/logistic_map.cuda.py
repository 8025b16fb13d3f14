# Adjoint (reverse-mode derivative) of `logistic_map` in kernels.py.
import functools

import cupy as cp
import numpy as np


CODE = r"""
// helpers.cuda.txt: device thread_x

extern "C" __global__ void logistic_map_adjoint_1(double* __restrict__ x_2,
    double* __restrict__ p_2_tape, long long x_n0, long long p_2_tape_n1, long long t)
{
    // no two iterations of i write the same element of p_2_tape: [t, i], x_2: [i]
    for (long long i = thread_x(); i < x_n0; i += threads_x()) {
        // kernels.py:42: x[i] = 3.7 * x[i] * (1.0 - x[i])
        const double v = 3.7 * x_2[i] * (1.0 - x_2[i]);
        const double p = -3.7 * x_2[i];
        const double p_2 = p + 3.7 * (1.0 - x_2[i]);
        p_2_tape[t * p_2_tape_n1 + i] = p_2;
        x_2[i] = v;
    }
}

extern "C" __global__ void logistic_map_adjoint_2(double* __restrict__ d_x_2,
    const double* __restrict__ p_2_tape, long long x_n0, long long p_2_tape_n1,
    long long t)
{
    // no two iterations of i write the same element of d_x_2: [i]
    for (long long i = thread_x(); i < x_n0; i += threads_x()) {
        // kernels.py:42: x[i] = 3.7 * x[i] * (1.0 - x[i])
        const double d_value = d_x_2[i];
        d_x_2[i] = d_value * p_2_tape[t * p_2_tape_n1 + i];
    }
}
"""
KERNELS = cp.RawModule(code=CODE, options=("--std=c++17", "--fmad=false"))


# helpers.cuda.txt: host kernel


# helpers.cuda.txt: host launch


def logistic_map_adjoint(x, steps, d_x):
    if not all((a.flags.c_contiguous for a in (x, d_x))):
        raise ValueError("pass C-contiguous arrays")
    x_2 = x.astype(np.float64)
    p_2_tape = cp.empty((max(steps, 0), x.shape[0]), dtype=np.float64)
    for t in range(steps):
        launch(
            "logistic_map_adjoint_1",
            (x.shape[0],),
            (x_2, p_2_tape, x.shape[0], p_2_tape.shape[1], np.int64(t)),
        )
    d_x_2 = d_x.astype(np.float64)
    for t in reversed(range(steps)):
        launch(
            "logistic_map_adjoint_2",
            (x.shape[0],),
            (d_x_2, p_2_tape, x.shape[0], p_2_tape.shape[1], np.int64(t)),
        )
    return (d_x_2,)
