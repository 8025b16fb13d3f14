"""Generated kernels in the meter's emulator: their results, and what it counts."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from tests.targets.cuda import nvrtc, ondevice, standin

if nvrtc.library() is None or standin.COMPILER is None:
    pytest.skip("needs NVRTC and a C++ compiler", allow_module_level=True)
if importlib.util.find_spec("benchmarks") is None:
    pytest.skip("needs the benchmarks of the repository", allow_module_level=True)

from benchmarks.gpu_meter import cases
from benchmarks.gpu_meter.emulator import Module, aligned
from benchmarks.gpu_meter.sass import numbered


def tupled(found):
    made = found if isinstance(found, tuple) else (found,)
    return [np.array(a, np.float64) for a in made if a is not None]


def emulated(name, part):
    """What all blocks of all kernels of a case make, and its arguments afterwards."""
    found, result, given = cases.predicted(
        cases.CASES[name], part, small=True, whole=True
    )
    kernels = [r.measured for r in found.rows if r.measured is not None]
    assert kernels and all(m.sampled == m.blocks for m in kernels)
    return tupled(result), given


@pytest.mark.parametrize(
    "name", ["dilconv", "heat3d", "softmax", "splat", "hmlstm", "stn", "gmm"]
)
def test_adjoints_are_those_of_the_stand_in(name):
    found, _ = emulated(name, cases.ADJOINT)
    case = cases.CASES[name]
    given = cases.arguments(case, cases.ADJOINT, small=True)
    text, called = cases.text(case, cases.ADJOINT, given)
    wanted = cases._parameters(text, called)
    space = {}
    with ondevice.standing_in():
        exec(compile(text, f"<{called}>", "exec"), space)
        result = space[called](**{n: given[n] for n in wanted if n in given})
    expected = tupled(result)
    assert len(found) == len(expected) and any(np.any(e) for e in expected)
    for a, e in zip(found, expected, strict=True):
        # Sums of atomic additions come in another order.
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=2e-5 * np.abs(e).max())


def test_results_are_those_of_numpy():
    (found,), given = emulated("sumsq", cases.PRIMAL)
    assert np.isclose(found, np.square(given["x"], dtype=np.float64).sum(), rtol=1e-5)
    _, given = emulated("softmax", cases.PRIMAL)
    e = np.exp(given["x"].astype(np.float64))
    np.testing.assert_allclose(given["y"], e / e.sum(1, keepdims=True), rtol=1e-5)
    (found, _), given = emulated("matmul", cases.ADJOINT)
    expected = np.einsum("nij,nkj->nik", given["d_c"], given["b"])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


# Written by hand: no compiler decides how many instructions there are.
BY_HAND = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry straight(.param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mad.lo.s32 %r2, %r1, %r1, 7;
    st.global.u32 [%rd3], %r2;
    ret;
}
.visible .entry halves(.param .u64 out)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r3, 5;
    and.b32 %r2, %r1, 31;
    setp.gt.u32 %p1, %r2, 15;
    @%p1 bra $L_done;
    add.s32 %r3, %r3, 1;
    shl.b32 %r3, %r3, 2;
    xor.b32 %r3, %r3, 1;
$L_done:
    st.global.u32 [%rd3], %r3;
    ret;
}
"""


def test_instructions_of_a_text_by_hand():
    y = aligned(4 * 64).view(np.int32)
    counts = Module(BY_HAND).run("straight", (1,), (64,), (y,))
    assert np.array_equal(y, np.arange(64) ** 2 + 7)
    # Seven for each of two warps.
    assert counts.instructions == 14


def test_half_of_the_lanes_in_a_branch():
    y = aligned(4 * 64).view(np.int32)
    counts = Module(BY_HAND).run("halves", (1,), (64,), (y,))
    assert np.array_equal(y, np.where(np.arange(64) % 32 > 15, 5, 25))
    # Eight, then three by half of the lanes, then two by all: of two warps.
    assert counts.instructions == 2 * 13
    each = [n for _, n in counts.encoded.blocks]
    assert sum(int(k) * n for k, n in zip(counts.lanes, each, strict=True)) == (
        64 * 8 + 32 * 3 + 64 * 2
    )


def test_numbers_of_lines_keep_local_arrays():
    text = ".entry f() {\n.local .align 8 .b8 d[8];\n.loc 1 7 0\nret;\n}"
    made = numbered(text)
    assert ".local .align 8 .b8 d[8];" in made
    assert ".loc 1 7 0" not in made and ".loc 1 1 0" in made
