"""The readable schedule computes what the adjoint computes, without races."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from pyrev.analysis.poly import integer_names
from pyrev.ir.nodes import Add, Assign, Block, all_names, walk
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule import schedule_readable
from pyrev.schedule.costs import SHIPPED
from pyrev.schedule.distribute import Readable
from tests.schedule.cases import CASES, Scatter
from tests.schedule.oracle import execute, parallel_loops


def scheduled(case: Scatter) -> tuple[Block, Block]:
    block = parse_block(case.text)
    live = frozenset(case.shapes) | {"d_g"}
    done, _ = schedule_readable(block, all_names(block), live)
    return block, done


def distributed(case: Scatter) -> Block:
    """Every loop in parts, whether or not it is shorter in one piece."""
    block = parse_block(case.text)
    live = frozenset(case.shapes) | {"d_g"}
    integers = integer_names(block)
    made = Readable(all_names(block), integers, lambda name: "float64", SHIPPED)
    return made.block(block, (), live)


def inputs(
    case: Scatter, n: int, m: int
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Integer values: their sums are exact in any order."""
    rng = np.random.default_rng(n * 100 + m)
    size = {"n": n, "m": m}
    arrays = {}
    for name, text in case.shapes.items():
        shape = eval(f"({text},)", {}, size)
        below = max(1, eval(case.below, {}, size))
        if name in case.integer:
            arrays[name] = rng.integers(0, below, shape)
        else:
            arrays[name] = rng.integers(-9, 10, shape).astype(float)
    return arrays, {"n": n, "m": m, "d_g": 5.0, "d_t": 3.0}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_scheduled_and_original_agree_at_every_size(case: Scatter) -> None:
    block, done = scheduled(case)
    for n, m in product(case.n, case.m):
        arrays, scalars = inputs(case, n, m)
        before = execute(block, arrays, scalars)
        for after in (execute(b, arrays, scalars) for b in (done, distributed(case))):
            for name in (*case.shapes, "d_g"):
                assert np.array_equal(before[name], after[name]), (name, n, m)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_named_arrays_are_written_by_parallel_loops_only(case: Scatter) -> None:
    done = distributed(case)
    within: set[int] = set()
    for loop in parallel_loops(done):
        within |= {id(s) for s in walk((loop,))}
    for s in walk(done):
        if isinstance(s, (Add, Assign)) and s.target_name in case.gathers:
            assert id(s) in within, s
    assert {s.target_name for s in walk(done) if isinstance(s, (Add, Assign))} >= set(
        case.gathers
    )


NESTS = {
    "the same loops in another order": (
        """for i in reversed(range(n)):
    for j in reversed(range(m)):
        d_a[i] += d_c[i, j] * b[j]
        d_b[j] += d_c[i, j] * a[i]
        d_c[i, j] = 0.0""",
        """for i in range(n):
    for j in range(m):
        d_a[i] += d_c[i, j] * b[j]
        d_b[j] += d_c[i, j] * a[i]
        d_c[i, j] = 0.0""",
    ),
    "a sum beside a gather": (
        """for x in reversed(range(n)):
    for r in reversed(range(m)):
        d_w[r] += d_b[x] * a[x + r]
        d_a[x + r] += d_b[x] * w[r]""",
        """for r in range(m):
    for x in range(n):
        d_w[r] += d_b[x] * a[x + r]
for u in range(n + m - 1):
    for r in range(max(0, u - n + 1), min(m, u + 1)):
        d_a[u] += d_b[u - r] * w[r]""",
    ),
}


@pytest.mark.parametrize("name", NESTS)
def test_parts_with_the_same_loops_are_one_nest(name: str) -> None:
    before, after = NESTS[name]
    block = parse_block(before)
    live = frozenset({"d_a", "d_b", "d_c", "d_w"})
    done, decisions = schedule_readable(block, all_names(block), live)
    text = re.sub(r" *# .*", "", block_text(done)).strip()
    assert re.sub(r"\n+", "\n", text) == after
    told = {d.array for d in decisions}
    assert told >= {s.target_name for s in walk(block) if isinstance(s, Add)}
