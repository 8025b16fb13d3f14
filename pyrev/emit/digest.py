"""Numbers for all bits of an array, at the speed of memory: on all cores, on a GPU.

On the CPU there are two, modulo 2**64, which can be summed up in any order: the sum of
the words, which changes whenever one word does, and the sum of the products of the two
halves of each word, to which a multiple of its place was added (the hash NH of Black et
al., UMAC, CRYPTO 1999, section 4, whose keys are here the places). A change of several
words that leaves both as they were is as rare as two random numbers of 64 bits that are
equal; one that leaves the first (two words that change places) goes unseen once in
2**32. On a GPU it is the sum of a bijection of each word that depends on its place (the
finaliser of splitmix64).
"""

from __future__ import annotations

NAME = "digest"

#: A module as `pyrev.emit.numba` writes them. The words have one axis; `place` is that
#: of the first one.
TEXT = """\
# A sum over the words of an array in which the place of each counts.
import numpy as np
from numba import njit, prange

ENTRY = {"error_model": "numpy", "nogil": True, "cache": True}
SERIAL = {"error_model": "numpy", "nogil": True}
SERIAL |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
PARALLEL = {**SERIAL, "parallel": True}


@njit(**SERIAL)
def _part(words, place, first, last):
    plain = np.uint64(0)
    mixed = np.uint64(0)
    for i in range(first, last):
        word = words[np.uint64(i)]
        plain += word
        z = word + (place + np.uint64(i) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed += (z & np.uint64(0xFFFFFFFF)) * (z >> np.uint64(32))
    return plain, mixed


@njit(**PARALLEL)
def _parts(words, place, sums):
    for chunk in prange(64):
        first, last = words.size * chunk // 64, words.size * (chunk + 1) // 64
        sums[chunk, 0], sums[chunk, 1] = _part(words, place, first, last)


@njit(**ENTRY)
def digest(words, place):
    if words.size < 262144:  # one core is done before another has started
        return _part(words, place, 0, words.size)
    sums = np.empty((64, 2), dtype=np.uint64)
    _parts(words, place, sums)
    return sums[:, 0].sum(), sums[:, 1].sum()
"""

_KERNEL = """\
extern "C" __global__ void digest_{bits}(
    const {kind}* __restrict__ words, long long count, long long* __restrict__ sums)
{{
    long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long step = (long long)gridDim.x * blockDim.x;
    unsigned long long total = 0;
    for (long long i = first; i < count; i += step) {{
        {kind} word = words[i];
        unsigned long long z = (unsigned long long)word;
        z += ((unsigned long long)i + 1) * 0x9E3779B97F4A7C15ULL;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        total += z ^ (z >> 31);
    }}
    sums[first] = (long long)total;
}}"""
_KINDS = {8: "signed char", 16: "short", 32: "int", 64: "long long"}
_KERNELS = "\n\n".join(_KERNEL.format(bits=b, kind=k) for b, k in _KINDS.items())

#: The same as `pyrev.emit.cuda` writes modules: of words as wide as the elements, one
#: sum for each of 256 threads, which stays on the device.
CUDA = f'''\
# Sums over the elements of an array in which the place of each counts.
import functools

import cupy as cp
import numpy as np

CODE = r"""
{_KERNELS}
"""
KERNELS = cp.RawModule(code=CODE)


@functools.cache
def loaded(name, device):
    return KERNELS.get_function(name)


def kernel(bits):
    return loaded(f"digest_{{bits}}", cp.cuda.runtime.getDevice())


def digest(array):
    bits = 8 * array.dtype.itemsize
    words = array.reshape(-1).view(f"int{{bits}}")
    blocks = max(1, min(1024, -(-words.size // 256)))
    sums = cp.empty(256 * blocks, dtype=np.int64)
    kernel(bits)((blocks,), (256,), (words, np.int64(words.size), sums))
    found = cp.empty(256, dtype=np.int64)
    kernel(64)((1,), (256,), (sums, np.int64(sums.size), found))
    return found
'''
