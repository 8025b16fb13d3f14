"""The CPU that stands in for a GPU sees what it is there to see."""

from __future__ import annotations

import numpy as np
import pytest

from pyrev.emit.helpers import HELPERS, THREADS
from tests.targets.cuda.needs import compiler
from tests.targets.cuda.standin import Finding, RawModule, to_device

pytestmark = compiler

HEAD = "\n".join(HELPERS[n] for n in ("thread_x", "block_sum", "add_atomically"))


def run(
    body: str, params: str, *args: object, threads: int = 64, grid: int = 2
) -> None:
    code = f'{HEAD}\nextern "C" __global__ void f({params})\n{{\n{body}\n}}\n'
    RawModule(code=code).get_function("f")((grid,), (threads,), args)


def array(n: int = 200) -> np.ndarray:
    return to_device(np.arange(float(n)))


def test_every_thread_runs_once() -> None:
    a = array(128)
    run("a[thread_x()] += 1.0;", "double* __restrict__ a", a)
    np.testing.assert_array_equal(a, np.arange(128.0) + 1.0)


@pytest.mark.parametrize(
    "body",
    [
        "a[thread_x() / 2] = 1.0;",
        "a[0] += 1.0;",
        "a[thread_x()] = a[thread_x() + 1];",
        "double t = a[0]; if (thread_x() == 9) a[0] = t;",
        "atomicAdd(&a[0], 1.0); if (thread_x() == 9) a[0] = 2.0;",
        "atomicAdd(&a[0], 1.0); a[1 + thread_x()] = a[0];",
    ],
)
def test_races_are_found(body: str) -> None:
    with pytest.raises(Finding, match="race: a"):
        run(body, "double* __restrict__ a", array())


@pytest.mark.parametrize(
    "body",
    [
        "atomicAdd(&a[0], 1.0);",
        "a[thread_x()] = a[thread_x()] + 1.0;",
        "double t = a[0]; if (t < 0.0) a[thread_x()] = t;",
    ],
)
def test_what_is_no_race_is_none(body: str) -> None:
    run(body, "double* __restrict__ a", array())


BARRIERS = {
    "double t = a[0]; __syncthreads(); if (threadIdx.x == 9) a[0] = t;": False,
    "double t = a[0]; if (threadIdx.x == 9) a[0] = t; __syncthreads();": True,
    "if (threadIdx.x == 9) a[9] = 1.0; __syncthreads(); a[threadIdx.x] = a[9];": True,
    "if (threadIdx.x == 9) a[9] = 1.0; __syncthreads(); a[100 + threadIdx.x] = a[9];": (
        False
    ),
    "a[threadIdx.x] = 1.0; __syncthreads(); double t = a[63 - threadIdx.x];"
    "__syncthreads(); a[threadIdx.x] = t;": False,
    "a[threadIdx.x] = 1.0; __syncthreads(); a[threadIdx.x] = a[63 - threadIdx.x];": (
        True
    ),
}


@pytest.mark.parametrize("body", BARRIERS)
def test_a_barrier_is_one_for_the_threads_of_a_block(body: str) -> None:
    params = "double* __restrict__ a"
    if BARRIERS[body]:
        with pytest.raises(Finding, match="race: a"):
            run(body, params, array(), grid=1)
    else:
        run(body, params, array(), grid=1)
    with pytest.raises(Finding, match="race: a"):
        run(body, params, array(), grid=2)


@pytest.mark.parametrize("place", ["-1", "a_n0", "a_n0 + thread_x()"])
def test_a_subscript_outside_is_found(place: str) -> None:
    params = "double* __restrict__ a, long long a_n0"
    with pytest.raises(Finding, match="outside: a"):
        run(f"a[{place}] = 1.0;", params, array(), 200)
    with pytest.raises(Finding, match="outside: a"):
        run(
            f"b[thread_x()] = a[{place}];",
            "const double* __restrict__ a, double* __restrict__ b, long long a_n0",
            array(),
            array(),
            200,
        )


def test_a_block_adds_up() -> None:
    a, out = array(4 * THREADS), to_device(np.zeros(2))
    code = """
    double s = 0.0;
    for (long long k = thread_x(); k < 4 * 256; k += 2 * 256) s += a[k];
    s = block_sum<double>(s);
    if (threadIdx.x == 0) out[blockIdx.x] = s;"""
    params = "const double* __restrict__ a, double* __restrict__ out"
    run(code, params, a, out, threads=THREADS)
    assert out.sum() == a.sum()


def test_shared_memory_without_a_barrier_is_found() -> None:
    body = """
    __shared__ double parts[64];
    parts[threadIdx.x] = 1.0;
    a[thread_x()] = parts[(threadIdx.x + 1) % 64]; // block_sum: run with barriers"""
    with pytest.raises(Finding, match="race: shared memory"):
        run(body, "double* __restrict__ a", array())
    between = body.replace("= 1.0;", "= 1.0;\n__syncthreads();")
    run(between, "double* __restrict__ a", array())


def test_a_barrier_that_some_threads_miss_is_found() -> None:
    body = "if (threadIdx.x < 3) __syncthreads(); // block_sum: run with barriers"
    with pytest.raises(Finding, match="barrier that some threads never reach"):
        run(body, "double* __restrict__ a", array())


@pytest.mark.parametrize(
    "value", [1.0, np.float32(1.0), np.int32(1), np.arange(3), np.float64(2.0)]
)
def test_arguments_are_what_the_kernel_declares(value: object) -> None:
    with pytest.raises(Finding, match="for `long long n`"):
        run("", "long long n", value)
    with pytest.raises(Finding, match=r"for `float\* a`"):
        run("", "float* __restrict__ a", value)


def test_a_launch_that_no_gpu_takes_is_found() -> None:
    with pytest.raises(Finding, match="a launch of"):
        run("", "", threads=0)
