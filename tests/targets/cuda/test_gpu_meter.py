"""The meter of `benchmarks/gpu_meter` on kernels whose traffic is known by hand."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from tests.targets.cuda import nvrtc, standin

if nvrtc.library() is None or standin.COMPILER is None:
    pytest.skip("needs NVRTC and a C++ compiler", allow_module_level=True)
if importlib.util.find_spec("benchmarks") is None:
    pytest.skip("needs the benchmarks of the repository", allow_module_level=True)

from benchmarks.gpu_meter.emulator import EmulationError, Module, aligned

N = 1 << 14
KERNELS = r"""
#define AT (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void copied(const float* x, float* y) { y[AT] = x[AT]; }
extern "C" __global__ void strided(const float* x, float* y) { y[AT] = x[8 * AT]; }
extern "C" __global__ void broadcast(const float* x, float* y) { y[AT] = x[0]; }
extern "C" __global__ void gathered(const float* x, const int* at, float* y)
{ y[AT] = x[at[AT]]; }
extern "C" __global__ void four(const float4* x, float4* y) { y[AT] = x[AT]; }
extern "C" __global__ void turned(const float* x, float* y)
{ y[threadIdx.x * 128 + blockIdx.x] = x[blockIdx.x * 128 + threadIdx.x]; }
extern "C" __global__ void tiled(const float* x, float* y)
{
    __shared__ float t[32][33];
    int bx = 32 * blockIdx.x, by = 32 * blockIdx.y, i = threadIdx.x, j = threadIdx.y;
    t[j][i] = x[(by + j) * 128 + bx + i];
    __syncthreads();
    y[(bx + j) * 128 + by + i] = t[i][j];
}
extern "C" __global__ void counted(const int* at, int* h) { atomicAdd(h + at[AT], 1); }
extern "C" __global__ void counted_apart(const int* at, int* h)
{
    __shared__ int own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(own + at[AT], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(h + threadIdx.x, own[threadIdx.x]);
}
extern "C" __global__ void added(const float* x, float* y)
{
    float s = x[AT];
    for (int k = 16; k; k /= 2) s += __shfl_xor_sync(~0u, s, k);
    if (threadIdx.x % 32 == 0) y[AT / 32] = s;
}
extern "C" __global__ void parted(const float* x, float* y)
{
    if (threadIdx.x % 2) y[AT] = x[AT] * 2; else y[AT] = sqrtf(x[AT]);
}
"""


def array(values):
    values = np.asarray(values)
    made = aligned(values.nbytes).view(values.dtype)
    made[:] = values
    return made


@pytest.fixture(scope="module")
def module():
    options = ("--std=c++17", "--fmad=false", "--gpu-architecture=compute_90")
    return Module(nvrtc.ptx(KERNELS, options))


def sites(counts, access, space="global"):
    which = [
        k
        for k, s in enumerate(counts.encoded.sites)
        if (s.access, s.space) == (access, space)
    ]
    return {n: int(counts.sites[n][which].sum()) for n in counts.sites.dtype.names}


X = array(np.random.default_rng(0).random(8 * N, dtype=np.float32))
PLACES = np.random.default_rng(1).integers(0, 64, N).astype(np.int32)


@pytest.mark.parametrize(
    ("name", "loads", "stores", "expected"),
    [
        ("copied", N // 8, N // 8, lambda x: x[:N]),
        ("strided", N, N // 8, lambda x: x[::8]),
        ("broadcast", N // 32, N // 8, lambda x: np.full(N, x[0])),
    ],
)
def test_sectors_of_plain_accesses(module, name, loads, stores, expected):
    y = array(np.zeros(N, np.float32))
    counts = module.run(name, (N // 256,), (256,), (X, y))
    assert np.array_equal(y, expected(X))
    assert sites(counts, "load")["sectors"] == loads
    assert sites(counts, "store")["sectors"] == stores


def test_sectors_of_a_gather_are_those_of_its_places(module):
    at = array(np.random.default_rng(2).integers(0, 8 * N, N).astype(np.int32))
    y = array(np.zeros(N, np.float32))
    counts = module.run("gathered", (N // 256,), (256,), (X, at, y))
    assert np.array_equal(y, X[at])
    expected = N // 8 + sum(len(set(w // 8)) for w in at.reshape(-1, 32))
    assert sites(counts, "load")["sectors"] == expected


def test_vectors_take_sixteen_sectors_in_one_request(module):
    y = array(np.zeros(4 * N, np.float32))
    counts = module.run("four", (N // 256,), (256,), (X, y))
    assert np.array_equal(y, X[: 4 * N])
    found = sites(counts, "load")
    assert (found["requests"], found["sectors"]) == (N // 32, N // 2)


def test_a_transpose_scatters_but_by_tiles_it_does_not(module):
    y = array(np.zeros(N, np.float32))
    counts = module.run("turned", (128,), (128,), (X, y))
    assert np.array_equal(y.reshape(128, 128), X[:N].reshape(128, 128).T)
    assert sites(counts, "store")["sectors"] == N
    y[:] = 0
    counts = module.run("tiled", (4, 4), (32, 32), (X, y))
    assert np.array_equal(y.reshape(128, 128), X[:N].reshape(128, 128).T)
    assert sites(counts, "store")["sectors"] == N // 8
    # A row of 33 words: no two lanes meet in a bank.
    assert sites(counts, "load", "shared")["wavefronts"] == N // 32


def test_histograms_add_each_lane_or_each_bin_of_a_block(module):
    at = array(PLACES)
    expected = np.bincount(PLACES, minlength=64)
    for name in ("counted", "counted_apart"):
        h = array(np.zeros(64, np.int32))
        counts = module.run(name, (N // 256,), (256,), (at, h))
        assert np.array_equal(h, expected)
        found = sites(counts, "atomic")
        if name == "counted":
            warps = PLACES.reshape(-1, 32)
            assert found["lanes"] == N
            assert found["addresses"] == sum(len(set(w)) for w in warps)
            assert found["sectors"] == sum(len(set(w // 8)) for w in warps)
            assert counts.hottest == expected.max()
        else:
            assert found["lanes"] == 64 * (N // 256)
            assert sites(counts, "atomic", "shared")["lanes"] == N


def test_a_sum_by_shuffles(module):
    y = array(np.zeros(N // 32, np.float32))
    counts = module.run("added", (N // 256,), (256,), (X, y))
    assert np.allclose(y, X[:N].reshape(-1, 32).sum(1), rtol=1e-6)
    assert sites(counts, "store")["sectors"] == N // 32


def test_a_warp_whose_lanes_part_runs_both_ways(module):
    y = array(np.zeros(N, np.float32))
    counts = module.run("parted", (N // 256,), (256,), (X, y))
    expected = np.where(np.arange(N) % 2, 2 * X[:N], np.sqrt(X[:N]))
    assert np.array_equal(y, expected)
    full = int(counts.runs.max())
    assert full == N // 32 and counts.lanes.max() == N
    half = [n for n, r in zip(counts.lanes, counts.runs, strict=True) if r == full]
    assert sorted(half)[:2] == [N // 2, N // 2]


def test_instructions_of_straight_code_are_those_of_the_text(module):
    y = array(np.zeros(N, np.float32))
    counts = module.run("copied", (N // 256,), (256,), (X, y))
    length = len(module.text.kernels["copied"].code)
    assert counts.instructions == length * (N // 32)


def test_an_address_outside_is_an_error(module):
    y = array(np.zeros(N - 1, np.float32))
    with pytest.raises(EmulationError, match="outside"):
        module.run("copied", (N // 256,), (256,), (X, y))
