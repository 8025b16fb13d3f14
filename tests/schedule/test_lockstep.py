"""Which loops may run in lockstep, and why others may not."""

from __future__ import annotations

import pytest

from pyrev.ir.nodes import For
from pyrev.parse import parse_block
from pyrev.schedule.lockstep import Nest, Serial, lockstep

LIVE = frozenset("abcxyz")


def chosen(text: str, live: frozenset[str] = LIVE) -> Nest | Serial:
    (loop,) = parse_block(text)
    assert isinstance(loop, For)
    return lockstep(loop, (), live, frozenset())


def axes(text: str) -> set[str]:
    """The indices of the loops in lockstep."""
    found = chosen(text)
    assert isinstance(found, Nest), found.why
    loops = {at.number: at.loop.index for s in found.region.leaves for at in s.loops}
    return {loops[n] for n in found.axes}


AXES = {
    "elements": ("for i in range(n):\n    a[i] = b[i] + c[i]", {"i"}),
    "what is read before it is overwritten": (
        "for i in range(n):\n    a[i] = a[i + 1]",
        {"i"},
    ),
    "backwards, what is read before it is overwritten": (
        "for i in reversed(range(1, n)):\n    a[i] = a[i - 1]",
        {"i"},
    ),
    "a statement behind the one it reads": (
        "for i in range(1, n):\n    a[i] = b[i]\n    c[i] = a[i - 1]",
        {"i"},
    ),
    "a number of each iteration": (
        "for i in range(n):\n    t = a[i]\n    a[i] = b[i]\n    b[i] = t",
        {"i"},
    ),
    "a sum": ("for i in range(n):\n    x[0] += a[i] * b[i]", {"i"}),
    "products of matrices": (
        "for i in range(n):\n    for j in range(n):\n        for k in range(n):\n"
        "            c[i, j] += a[i, k] * b[k, j]",
        {"i", "j", "k"},
    ),
    "a window: its offset stays a loop": (
        "for i in range(n):\n    for k in range(m):\n        a[i] += b[i + k] * c[k]",
        {"i"},
    ),
    "steps of all points": (
        "for i in range(n):\n    t = a[i]\n    for k in range(m):\n"
        "        t = t * t + b[i]\n    a[i] = t",
        {"i"},
    ),
    "columns of rows that wait": (
        "for j in range(n):\n    for t in range(1, m):\n        a[t, j] = a[t - 1, j]",
        {"j"},
    ),
    "a scatter of sums": ("for i in range(n):\n    a[x[i]] += b[i]", {"i"}),
}


@pytest.mark.parametrize("name", AXES)
def test_these_loops_run_in_lockstep(name: str) -> None:
    text, expected = AXES[name]
    assert axes(text) == expected


def test_the_outer_of_two_that_meet_may_be_the_loop() -> None:
    found = chosen(
        "for k in range(3):\n    for i in range(n):\n        a[i] += b[i + k] * c[k]"
    )
    assert isinstance(found, Serial)
    assert found.why == "its index meets another one in a subscript"


SERIAL = {
    "for i in range(n):\n    a[i + 1] = a[i]": (
        "it carries a value from one iteration to the next through `a`"
    ),
    "for i in reversed(range(n)):\n    a[i] = a[i + 1]": (
        "it carries a value from one iteration to the next through `a`"
    ),
    "for i in range(n):\n    b[i] = a[i - 1]\n    a[i] = c[i]": (
        "it carries a value from one iteration to the next through `a`"
    ),
    "for i in range(n):\n    a[i] = s\n    s = s * b[i]": (
        "it carries a value from one iteration to the next through `s`"
    ),
    "for i in range(n):\n    a[x[i]] = b[i]": (
        "two iterations write the same element of `a`"
    ),
    "for i in range(n):\n    y[0] = a[i]": (
        "two iterations write the same element of `y`"
    ),
    "for i in range(n):\n    b[i] = s\n    s += a[i]": (
        "it carries a value from one iteration to the next through `s`"
    ),
    "for i in range(n):\n    for j in range(i):\n        a[i] += b[j]": (
        "the range of `j` in it changes"
    ),
    "for i in range(n):\n    t = np.zeros(3)\n    a[i] = t[0]": (
        "each iteration makes an array, `t`"
    ),
}


@pytest.mark.parametrize("text", SERIAL)
def test_these_stay_loops(text: str) -> None:
    found = chosen(text, LIVE | {"s"})
    assert isinstance(found, Serial)
    assert found.why == SERIAL[text]
