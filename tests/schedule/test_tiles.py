"""Register tiles: what becomes of loops, and that every value stays."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pyrev.analysis.poly import integer_names
from pyrev.ir.liveness import live_before
from pyrev.ir.nodes import Block, Const, Expr, For, Load, all_names
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.legality import parallelise
from pyrev.schedule.tiles import _Tiler, tiled

ARRAYS = {"a": 1, "b": 1, "c": 1, "p": 2, "q": 2, "r": 2, "s": 3}
TYPES = {**dict.fromkeys(ARRAYS, "float64"), "n": "int64", "m": "int64"}
LIVE = frozenset(ARRAYS)


def proven(block: Block) -> Block:
    """The outermost loops, and those directly in them, parallel where that is so."""
    out = []
    for s in block:
        if isinstance(s, For):
            s = parallelise(s, (), LIVE, integer_names(block))
            if s.parallel and len(s.body) == 1 and isinstance(s.body[0], For):
                inside = LIVE | live_before(s.body, LIVE)
                first = parallelise(s.body[0], (s,), inside, integer_names(block))
                s = replace(s, body=(first,))
        out.append(s)
    return tuple(out)


#: What is shipped, and what takes every tile that is legal.
PLAIN = CpuCosts()
ALWAYS = CpuCosts(tiled_iterations=1, tile_gain=0.0)


def plenty(count: Expr, least: int) -> bool | None:
    return True


def in_tiles(text: str, parallel: bool = False, cpu: CpuCosts = PLAIN) -> str:
    block = parse_block(text.strip("\n"))
    taken = {*all_names(block), *TYPES}
    made = tiled(
        proven(block) if parallel else block,
        LIVE,
        integer_names(block),
        TYPES,
        taken,
        plenty,
        cpu,
    )
    return block_text(made).strip("\n")


MADE = {
    "sums that share what they load": (
        False,
        """
for y in range(m):
    for x in range(1, m):
        a[y] += b[x] * q[y, x]
""",
        """
for y in range(0, m // 4 * 4, 4):  # 4 of y at a time
    for x in range(1, m):
        a[y] += b[x] * q[y, x]
        a[y + 1] += b[x] * q[y + 1, x]
        a[y + 2] += b[x] * q[y + 2, x]
        a[y + 3] += b[x] * q[y + 3, x]
for y in range(max(0, m // 4 * 4), m):  # those that are left
    for x in range(1, m):
        a[y] += b[x] * q[y, x]
""",
    ),
    "terms of one element": (
        False,
        """
for y in range(8):
    for x in range(m):
        a[x] += b[y] * q[y, x]
""",
        """
for y in range(0, 8, 4):  # 4 of y at a time
    if 0 < m:
        b_at = b[y]
        b_at_2 = b[y + 1]
        b_at_3 = b[y + 2]
        b_at_4 = b[y + 3]
        for x in range(m):
            a[x] = (
                a[x]
                + b_at * q[y, x]
                + b_at_2 * q[y + 1, x]
                + b_at_3 * q[y + 2, x]
                + b_at_4 * q[y + 3, x]
            )
""",
    ),
    "rows of a parallel loop, which stays one loop": (
        True,
        """
for z in range(n):
    for x in range(m):
        p[z, x] = b[x] + c[x] + a[x]
""",
        """
for z_tile in range((n + 3) // 4):  # 4 of z at a time
    if 4 * z_tile + 4 <= n:
        for x in range(m):
            b_at = b[x]
            c_at = c[x]
            a_at = a[x]
            sum_p = b_at + c_at + a_at
            sum_p_2 = b_at + c_at + a_at
            sum_p_3 = b_at + c_at + a_at
            sum_p_4 = b_at + c_at + a_at
            p[4 * z_tile, x] = sum_p
            p[4 * z_tile + 1, x] = sum_p_2
            p[4 * z_tile + 2, x] = sum_p_3
            p[4 * z_tile + 3, x] = sum_p_4
    else:
        for z in range(4 * z_tile, n):
            for x in range(m):
                p[z, x] = b[x] + c[x] + a[x]
""",
    ),
}

GUARDED = """
for z in range(n):
    for x in range(m):
        p[z, x] = b[x] * (c[z - 2] if z > 1 else 0.5) + a[x]
"""

LEFT = {
    "each iteration goes on from the last": """
for y in range(m):
    for x in range(m):
        q[y + 1, x] = q[y, x] * b[x] + c[x]
""",
    "the inner bounds move": """
for y in range(m):
    for x in range(y):
        a[x] += b[y] * q[y, x]
""",
    "a test that moves": """
for y in range(m):
    if y > 2:
        for x in range(m):
            a[x] += b[y] * q[y, x]
""",
    "nothing is shared": """
for y in range(m):
    for x in range(m):
        p[y, x] += q[y, x]
""",
    "a scalar": """
for y in range(m):
    t = b[y] * 2.0
    for x in range(m):
        a[x] += t * q[y, x]
""",
}


@pytest.mark.parametrize("name", MADE)
def test_iterations_that_share_are_taken_together(name: str) -> None:
    parallel, text, expected = MADE[name]
    assert in_tiles(text, parallel) == expected.strip("\n")


def test_what_a_condition_guards_is_not_read_before_it() -> None:
    text = in_tiles(GUARDED)
    assert "b_at = b[x]" in text and "sum_p = b_at * (c[z - 2] if" in text


def test_rows_do_not_change_the_bound_of_what_is_tiled() -> None:
    (loop,) = parse_block(
        "for y in range(n):\n    for x in range(m):\n        a[x] += b[y]"
    )
    assert isinstance(loop, For)
    tiler = _Tiler(frozenset(), TYPES, set(), plenty, PLAIN, {})
    assert tiler.jammable(loop)
    assert not tiler.jammable(replace(loop, hi=Load("a", (Const(0),))))


@pytest.mark.parametrize("name", LEFT)
def test_it_stays_as_it_is(name: str) -> None:
    assert in_tiles(LEFT[name]) == LEFT[name].strip("\n")


def drawn(rng: random.Random) -> str:
    """A nest of three loops, whose statements may depend on each other in any way."""

    def index(names: str) -> str:
        k = rng.randint(0, 2)
        return rng.choice([*names] * 3 + ["1"]) + (f" + {k}" if k else "")

    def element() -> str:
        array = rng.choice(list(ARRAYS))
        subscripts = [index("zyx") for _ in range(ARRAYS[array] - 1)]
        return f"{array}[{', '.join([*subscripts, index('xxxy')])}]"

    def statement() -> str:
        op = rng.choice(["=", "+=", "+=", "+=", "-="])
        terms = [f"{element()} * {element()}", element(), "2.0"]
        value = rng.choice([" + ", " * "]).join(rng.sample(terms, rng.randint(1, 2)))
        return f"{element()} {op} {value}"

    first = f"for z in range({rng.choice(['4', 'n', '1, n'])}):"
    second = f"for y in range({rng.choice(['m', '3', '6', '1, n'])}):"
    third = f"for x in range({rng.choice(['n', 'm', '1, n'])}):"
    lines = [first, f"    {second}"]
    if rng.random() < 0.3:
        test = rng.choice(["m > 3", "z > 1", "n >= 4"])
        lines.append(f"        if {test}:")
        lines.append(f"            {third}")
        deeper = " " * 16
    else:
        lines.append(f"        {third}")
        deeper = " " * 12
    lines += [deeper + statement() for _ in range(rng.choice([1, 1, 2]))]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(120))
def test_random_nests_keep_every_value(seed: int) -> None:
    rng = random.Random(seed)
    cpu = replace(ALWAYS, tile_factors=rng.choice([(2,), (3,), (4, 2)]))
    text = drawn(rng)
    made = in_tiles(text, rng.random() < 0.5, cpu)

    def run(lines: str, n: int, m: int) -> dict[str, Any]:
        space: dict[str, Any] = {"n": n, "m": m}
        for k, (name, rank) in enumerate(ARRAYS.items()):
            # Few small whole numbers: their sums are exact in any order.
            values = np.arange(12.0**rank).reshape((12,) * rank)
            space[name] = (values * (k + 3)) % 7 - 3
        with np.errstate(all="ignore"):
            exec(lines, space)
        return {name: space[name] for name in ARRAYS}

    for n, m in ((0, 0), (1, 2), (4, 3), (5, 6), (7, 9)):
        found, expected = run(made, n, m), run(text, n, m)
        for name in ARRAYS:
            assert np.array_equal(found[name], expected[name], equal_nan=True), (
                f"{name}, n={n} m={m}\n{text}\n\n{made}"
            )


def test_the_random_nests_are_tiled_often() -> None:
    texts = [drawn(random.Random(seed)) for seed in range(120)]
    assert sum("at a time" in in_tiles(text, cpu=ALWAYS) for text in texts) > 40
