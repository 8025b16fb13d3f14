"""Digests of all bits of an array, as fast as memory and faster where a loop reads it.

On the CPU an array is blocks of 128 words. The digest of a block is the sum of the
products of the two halves of each word, to which a key was added (the hash NH of Black
et al., UMAC, CRYPTO 1999, section 4; random keys, a new one for each of the 128 words),
mixed with the number of the block by a bijection (the finaliser of splitmix64); that of
an array is the sum over its blocks, which can be made in any order. Two arrays that
differ have one digest by a chance of about 2**-32 at most, whatever the change: keys
that were linear in the place let through one in five of those where two equal elements
move apart by as much. On a GPU it is the sum of a bijection of each word that depends
on its place.
"""

from __future__ import annotations

NAME = "digest"

#: Words of 8 bytes in a block.
BLOCK = 128

#: What makes the digest of whole blocks: `words` has one axis, `first` and `last` count
#: blocks, of which the first one of all has the number `place`.
BLOCKS = f"""\
KEYS = np.random.PCG64(2026).random_raw({BLOCK})


@njit(**SERIAL)
def digest_blocks(words, place, first, last):
    total = np.uint64(0)
    for block in range(first, last):
        mixed = np.uint64(0)
        for j in range({BLOCK}):
            z = words[{BLOCK} * block + j] + KEYS[j]
            mixed += (z & np.uint64(0xFFFFFFFF)) * (z >> np.uint64(32))
        z = mixed + np.uint64(place + block + 1) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        total += z ^ (z >> np.uint64(31))
    return total
"""

#: A module as `pyrev.emit.numba` writes them.
TEXT = f"""\
# A sum over the blocks of an array in which the place of each counts.
import numpy as np
from numba import njit, prange

ENTRY = {{"error_model": "numpy", "nogil": True, "cache": True}}
SERIAL = {{"error_model": "numpy", "nogil": True}}
SERIAL |= {{"no_cpython_wrapper": True, "no_cfunc_wrapper": True}}
PARALLEL = {{**SERIAL, "parallel": True}}
{BLOCKS}

@njit(**PARALLEL)
def _parts(words, place, sums):
    blocks = words.size // {BLOCK}
    for part in prange(64):
        first, last = blocks * part // 64, blocks * (part + 1) // 64
        sums[part] = digest_blocks(words, place, first, last)


@njit(**ENTRY)
def digest(words, place):
    if words.size < 262144:  # one core is done before another has started
        return digest_blocks(words, place, 0, words.size // {BLOCK})
    sums = np.empty(64, dtype=np.uint64)
    _parts(words, place, sums)
    return sums.sum()
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
