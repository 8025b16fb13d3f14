"""A loop is parallel only with a proof, and in any order only if nothing forbids it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyrev.ir.nodes import Block, DisjointWrites, For, Proof, Var, walk
from pyrev.ir.text import proof_text
from pyrev.parse import parse_block
from pyrev.schedule.legality import (
    forward,
    free_order,
    parallelise_chunks,
    prove_parallel,
)

PARALLEL = {
    "each iteration writes its own element": "for i in range(n):\n    a[i] = b[i]",
    "a shifted element": "for i in range(n):\n    a[i + 1] += b[i]",
    "its own row": """
for i in range(n):
    for j in range(n):
        a[i, j] = a[i, j] + b[j, i]
""",
    "it reads another array's neighbours": (
        "for i in range(1, n - 1):\n    a[i] = b[i - 1] + b[i + 1]"
    ),
    "a private scalar": "for i in range(n):\n    t = b[i]\n    a[i] = t * t",
    "a private local array": """
for i in range(n):
    t = np.zeros(3)
    t[0] += b[i]
    a[i] = t[0]
""",
    "a scalar that both branches set": """
for i in range(n):
    if b[i] > 0:
        t = 1.0
    else:
        t = 2.0
    a[i] = t
""",
    "blocks that do not overlap": """
for i in range(n):
    for j in range(4):
        a[4 * i + j] += b[i, j]
""",
    "even from odd": "for i in range(n):\n    a[2 * i] = a[2 * i + 1]",
    "a row of its own at data": "for i in range(n):\n    a[i, k[i]] += b[i]",
    "the upper from the lower triangle": """
for i in range(n):
    for j in range(i):
        a[j, i] = a[i, j]
""",
    "stepped": "for i in range(0, n, 2):\n    a[i] = b[i]\n    a[i + 1] = b[i]",
    "tests keep iterations apart": """
for i in range(n):
    if i < 5:
        a[i] = b[i]
    if i >= 5:
        a[i - 5 + 100] = b[i]
        c[i] = 0.0
""",
    "a flattened image": """
for y in range(h):
    for x in range(w):
        a[y * w + x] += b[y, x]
""",
    "flattened channels": """
for y in range(h):
    for x in range(w):
        for c in range(3):
            a[(y * w + x) * 3 + c] += b[y, x, c]
""",
    "a flattened volume": """
for z in range(d):
    for y in range(h):
        for x in range(w):
            a[(z * h + y) * w + x] += a[z * h * w + y * w + x]
""",
    "nothing is written": "for i in range(n):\n    t = b[i]",
}

RACES = {
    "one element for all": "for i in range(n):\n    a[0] += b[i]",
    "a sum": "for i in range(n):\n    s += b[i]",
    "the next one's element": "for i in range(n):\n    a[i] = a[i + 1]",
    "two targets that meet": (
        "for i in range(n):\n    a[i] += b[i]\n    a[i + 1] += b[i]"
    ),
    "data": "for i in range(n):\n    a[k[i]] += b[i]",
    "a scalar read afterwards": "for i in range(n):\n    t = b[i]\n    out[i] = t",
    "a scalar that may be left over": """
for i in range(n):
    if b[i] > 0:
        t = b[i]
    a[i] = t
""",
    "a scalar set in a loop that may not run": """
for i in range(n):
    for j in range(m):
        t = b[j]
    a[i] = t
""",
    "a local array made outside": """
for i in range(n):
    t[0] = b[i]
    a[i] = t[0]
""",
    "upsampling": "for i in range(n):\n    a[i // 2] += b[i]",
    "wrapped": "for i in range(n):\n    a[(i + 1) % 8] += b[i]",
    "transposed in place": """
for i in range(n):
    for j in range(n):
        a[i, j] = a[j, i]
""",
    "a product of unknowns": """
for i in range(n):
    for j in range(m):
        a[i * m + j * q] += b[i, j]
""",
    "a flattened image whose rows overlap": """
for y in range(h):
    for x in range(w + 1):
        a[y * w + x] += b[y, x]
""",
    "flattened rows of two widths": """
for y in range(h):
    for x in range(w):
        if x < v:
            a[y * w + x] = b[y, x]
            a[y * v + x] += b[y, x]
""",
    "a flattened image read with a neighbour": """
for y in range(h):
    for x in range(w):
        a[y * w + x] += a[y * w + x + 1]
""",
    "a float is no integer": """
for i in range(n):
    if i < t:
        a[i] += b[i]
    if i > t - 1:
        a[i + 1] += b[i]
""",
    "its bound changes while it runs": """
for i in range(n):
    for j in range(k):
        a[j] += b[i]
    k = k - 1
""",
    "several steps share an element": """
for i in range(0, n, 2):
    a[i] += b[i]
    a[i + 2] += b[i]
""",
}


def one_loop(text: str) -> For:
    block = parse_block(text)
    (loop,) = block
    assert isinstance(loop, For)
    return loop


LIVE = frozenset({"a", "c", "s", "out", "t0", "k"})


@pytest.mark.parametrize("name", PARALLEL)
def test_a_loop_without_conflicts_is_proved_parallel(name: str) -> None:
    assert prove_parallel(one_loop(PARALLEL[name]), (), LIVE)


@pytest.mark.parametrize("name", RACES)
def test_a_loop_with_a_possible_conflict_is_not(name: str) -> None:
    live = LIVE | {"t"} if "afterwards" in name or "outside" in name else LIVE
    assert prove_parallel(one_loop(RACES[name]), (), live) is None


def test_the_proof_names_the_loop_the_array_and_the_element() -> None:
    loop = one_loop(
        "for y in range(n):\n    for x in range(m):\n        a[y, x] += b[x]"
    )
    proof = prove_parallel(loop, (), LIVE)
    assert proof == Proof((DisjointWrites("y", (("a", (Var("y"), Var("x"))),)),))
    words = "no two iterations of y write the same element of a: [y, x]"
    assert proof_text(proof) == words


def test_an_outer_index_is_a_fixed_number_within_its_range() -> None:
    outer = one_loop(
        "for t in range(4):\n    for i in range(n):\n        a[i] = a[n + t]"
    )
    (inner,) = outer.body
    assert isinstance(inner, For)
    assert prove_parallel(inner, (outer,), LIVE)
    assert prove_parallel(inner, (), LIVE) is None


FREE = {
    "increments commute": ("for i in range(n):\n    a[i // 2] += b[i]", True),
    "a sum commutes": ("for i in range(n):\n    s += b[i]", True),
    "the last write stays": ("for i in range(n):\n    a[0] = b[i]", False),
    "reading what is incremented": ("for i in range(n):\n    a[i] += a[i - 1]", False),
    "zeroed, then incremented by another": (
        "for i in range(n):\n    a[i] = 0.0\n    a[i + 1] += b[i]",
        False,
    ),
}


@pytest.mark.parametrize("name", FREE)
def test_the_order_is_free_if_only_increments_meet(name: str) -> None:
    text, expected = FREE[name]
    assert free_order(one_loop(text), (), LIVE) is expected


def reversed_loops(block: Block) -> list[str]:
    return [s.index for s in walk(block) if isinstance(s, For) and s.reverse]


def test_only_loops_with_an_order_stay_reversed() -> None:
    loop = one_loop(
        """
for t in reversed(range(n)):
    for i in reversed(range(n)):
        a[t, i] += b[i] * a[t + 1, i]
"""
    )
    assert reversed_loops((forward(loop, (), LIVE),)) == ["t"]


CHUNKS = """
for c in range(4):
    own = 0.0
    for i in range(n * c // 4, n * (c + 1) // 4):
        own += b[i]
        a[i] = b[i]
    parts[c] = own
"""


@pytest.mark.parametrize(
    ("line", "proven"),
    [
        ("a[i] = b[i]", True),
        ("a[i + 1] += b[i]", True),
        ("a[n - i] = b[i] + a[n - i]", True),
        ("a[i] = a[i + 1]", False),
        ("a[i // 2] = b[i]", False),
        ("a[0] += b[i]", False),
        ("a[c] = b[i]", True),
        ("a[i] = a[c]", False),
    ],
)
def test_chunks_of_any_size_touch_what_their_iterations_do(
    line: str, proven: bool
) -> None:
    (chunks,) = parse_block(CHUNKS.replace("a[i] = b[i]", line).strip("\n"))
    assert isinstance(chunks, For)
    inner = chunks.body[1]
    assert isinstance(inner, For)
    (loop,) = parse_block("for i in range(n):\n    pass")
    assert isinstance(loop, For)
    live = frozenset({"a", "parts"})
    made = parallelise_chunks(chunks, chunks, loop, (inner.lo, inner.hi), (), live)
    assert bool(made.parallel) == proven
    assert replace(made, parallel=None) == chunks
