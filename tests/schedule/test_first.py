"""Zeros that a loop adds to once each are set by it."""

from __future__ import annotations

import pytest

from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.rows.first_writes import set_first

PLAIN = """
d = np.zeros(a.shape[0])
for i in range(a.shape[0]):
    d[i] += a[i] * b[i]
    d[i] += c[i]
"""

TURNED = """
d = np.zeros((a.shape[0], 3))
for j in range(3):
    s = b[j]
    for i in range(d.shape[0]):
        d[i, j] += s * a[i]
"""

STAYS = {
    "a part": PLAIN.replace("range(a.shape[0])", "range(1, a.shape[0])"),
    "another length": PLAIN.replace("range(a.shape[0])", "range(b.shape[0])"),
    "a test": PLAIN.replace("    d[i] += a", "    if b[i] > 0:\n        d[i] += a", 1),
    "another element": PLAIN.replace("d[i] += c[i]", "d[i] += d[i - 1]"),
    "itself": PLAIN.replace("a[i] * b[i]", "a[i] * d[i]"),
    "the element before": PLAIN.replace("d[i] +=", "d[i - 1] +="),
    "a sum": PLAIN.replace("    d[i] +=", "    for j in range(3):\n        d[i] +=", 1),
    "an earlier store": PLAIN.replace("\nfor i", "\nd[0] = c[1]\nfor i"),
    "the diagonal": TURNED.replace("d[i, j]", "d[i, i]"),
    "a moved end": TURNED.replace("a.shape[0], 3", "n, 3").replace("d.shape[0]", "n"),
}


def shown(text: str) -> str:
    return block_text(parse_block(text.strip("\n")))


def made(text: str) -> str:
    return block_text(set_first(parse_block(text.strip("\n"))))


@pytest.mark.parametrize("text", [PLAIN, TURNED], ids=["plain", "turned"])
def test_the_first_term_is_set(text: str) -> None:
    expected = shown(text).replace("np.zeros", "np.empty")
    expected = expected.replace("d[i] += a", "d[i] = 0.0 + a")
    assert made(text) == expected.replace("d[i, j] += s", "d[i, j] = 0.0 + s")


def test_before_loops_are_fused_only_what_one_of_them_uses_is_set() -> None:
    more = PLAIN + "for i in range(3):\n    d[i] += b[i]\n"
    assert "0.0 +" in block_text(set_first(parse_block(more.strip("\n"))))
    both = block_text(set_first(parse_block(more.strip("\n")), alone=True))
    assert both == shown(more)
    one = block_text(set_first(parse_block(PLAIN.strip("\n")), alone=True))
    assert one == made(PLAIN)


@pytest.mark.parametrize("name", STAYS)
def test_others_are_added_to_zeros(name: str) -> None:
    assert STAYS[name] not in (PLAIN, TURNED)
    assert made(STAYS[name]) == shown(STAYS[name])


SET = """
d = a.copy()
for i in range(a.shape[0]):
    s = b[i]
    d[i] = s * c[i]
    d[i] += 1.0
"""

ZEROED = """
d = a.copy()
for i in reversed(range(a.shape[0])):
    s = d[i] * 2.0
    if s > 0.0:
        b[i] += d[i]
    d[i] = 0.0
    c[i] += s
return d
"""

COPIED = {
    "a part": SET.replace("range(a.shape[0])", "range(1, a.shape[0])"),
    "read before": SET.replace("s = b[i]", "s = d[i]"),
    "added to first": SET.replace("d[i] = s", "d[i] += s"),
    "a test": ZEROED.replace("    d[i] = 0.0", "    if s > 1:\n        d[i] = 0.0"),
    "a neighbour": ZEROED.replace("+= d[i]", "+= d[i - 1]"),
    "read after": ZEROED.replace("c[i] += s", "c[i] += d[i]"),
    "another number": ZEROED.replace("d[i] = 0.0", "d[i] = 1.0"),
    "added to": ZEROED.replace("    s = d[i] * 2.0", "    s = 2.0\n    d[i] += s"),
    "a part of it": ZEROED.replace("range(a.shape[0])", "range(3)"),
    "what it is copied from changes": ZEROED.replace("c[i] += s", "a[i] += s"),
    "in an earlier loop": "d = a.copy()\nfor k in range(2):\n    a[k] = 1.0\n"
    + ZEROED[len("\nd = a.copy()\n") :],
}


def test_a_copy_that_is_overwritten_is_none() -> None:
    empty = "np.empty(a.shape[0], dtype=np.result_type(a))"
    assert made(SET) == shown(SET).replace("a.copy()", empty)


def test_a_copy_that_is_read_and_zeroed_is_zeros() -> None:
    expected = shown(ZEROED).replace("a.copy()", "np.zeros_like(a)")
    expected = expected.replace("    d[i] = 0.0\n", "").replace("d[i]", "a[i]")
    assert made(ZEROED) == expected


@pytest.mark.parametrize("name", COPIED)
def test_other_copies_stay(name: str) -> None:
    assert COPIED[name] not in (SET, ZEROED)
    assert made(COPIED[name]) == shown(COPIED[name])
