"""What a reader sees: the loops before and after, letter by letter."""

from __future__ import annotations

import pytest

from pyrev.ir.nodes import all_names
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule import Decision, schedule_readable


def after(text: str) -> tuple[str, tuple[Decision, ...]]:
    block = parse_block(text)
    names = all_names(block)
    live = frozenset(n for n in names if n.startswith(("d_", "out")) and n != "d_lap")
    done, decisions = schedule_readable(block, names, live)
    return block_text(done), decisions


SHAPES = {
    "2-D convolution": (
        """
for y in reversed(range(out.shape[0])):
    for x in reversed(range(out.shape[1])):
        for j in reversed(range(kernel.shape[0])):
            for i in reversed(range(kernel.shape[1])):
                d_image[y + j, x + i] += d_out[y, x] * kernel[j, i]
                d_kernel[j, i] += d_out[y, x] * image[y + j, x + i]
""",
        """
for u in range(out.shape[0] + kernel.shape[0] - 1):  # gather: u = y + j; v = x + i
    for v in range(out.shape[1] + kernel.shape[1] - 1):
        for j in range(max(0, u - out.shape[0] + 1), min(kernel.shape[0], u + 1)):
            for i in range(max(0, v - out.shape[1] + 1), min(kernel.shape[1], v + 1)):
                d_image[u, v] += d_out[u - j, v - i] * kernel[j, i]
for j in range(kernel.shape[0]):
    for i in range(kernel.shape[1]):
        for y in range(out.shape[0]):
            for x in range(out.shape[1]):
                d_kernel[j, i] += d_out[y, x] * image[y + j, x + i]
""",
    ),
    "5-point stencil, zeroed after it is read": (
        """
for y in reversed(range(1, h - 1)):
    for x in reversed(range(1, w - 1)):
        d_u[y, x] += -4 * d_o[y, x]
        d_u[y - 1, x] += d_o[y, x]
        d_u[y, x + 1] += d_o[y, x] * c[y, x]
        d_o[y, x] = 0.0
""",
        """
for y in range(h - 1):  # gather: y - 1 renamed to y; x + 1 renamed to x
    for x in range(1, w):
        if y >= 1 and x < w - 1:
            d_u[y, x] += -4 * d_o[y, x]
        if y < h - 2 and x < w - 1:
            d_u[y, x] += d_o[y + 1, x]
        if y >= 1 and x >= 2:
            d_u[y, x] += d_o[y, x - 1] * c[y, x - 1]
for y in range(1, h - 1):
    for x in range(1, w - 1):
        d_o[y, x] = 0.0
""",
    ),
    "strided and dilated": (
        """
for y in reversed(range(n)):
    for j in reversed(range(m)):
        d_a[3 * y + 2 * j] += d_o[y] * k[j]
""",
        """
for u in range(3 * n + 2 * m - 4):  # gather: u = 3 * y + 2 * j
    for j in range(max(0, (u - 3 * n) // 2 + 2), min(m, u // 2 + 1)):
        if (u - 2 * j) % 3 == 0:
            d_a[u] += d_o[(u - 2 * j) // 3] * k[j]
""",
    ),
    "upsampling": (
        "for x in reversed(range(n)):\n    d_a[x // 4] += d_o[x]",
        """
for u in range((n + 3) // 4):  # gather: u = x // 4
    for x in range(4 * u, min(n, 4 * u + 4)):
        d_a[u] += d_o[x]
""",
    ),
    "many to one": (
        """
for x in reversed(range(n)):
    for y in reversed(range(m)):
        d_a[2 * x + y] += d_o[x, y]
""",
        """
for u in range(2 * n + m - 2):  # gather: u = 2 * x + y
    for x in range(max(0, (u - m) // 2 + 1), min(n, u // 2 + 1)):
        d_a[u] += d_o[x, u - 2 * x]
""",
    ),
    "clamped border": (
        """
for x in reversed(range(n)):
    for r in reversed(range(3)):
        d_a[min(max(x + r - 1, 0), n - 1)] += d_o[x] * k[r]
""",
        """
for u in range(n):  # gather: u = min(max(x + r - 1, 0), n - 1)
    for r in range(max(0, u - n + 2), min(3, u + 2)):
        d_a[u] += d_o[u - r + 1] * k[r]
    if u == 0:
        d_a[u] += d_o[0] * k[0]
if n >= 1:
    d_a[n - 1] += d_o[n - 1] * k[2]
""",
    ),
    "zero padding written as a guard": (
        """
for x in reversed(range(n)):
    for r in reversed(range(3)):
        if x + r >= 1 and x + r <= n:
            d_a[x + r - 1] += d_o[x] * k[r]
""",
        """
for u in range(n):  # gather: u = x + r - 1
    for r in range(max(0, u - n + 2), min(3, u + 2)):
        d_a[u] += d_o[u - r + 1] * k[r]
""",
    ),
    "a triangle": (
        """
for i in reversed(range(n)):
    for j in reversed(range(i + 1)):
        d_x[j] += d_o[i] * l[i, j]
""",
        """
for j in range(n):
    for i in range(j, n):
        d_x[j] += d_o[i] * l[i, j]
""",
    ),
    "a diagonal under a free loop": (
        """
for i in reversed(range(n)):
    for k in reversed(range(m)):
        d_a[k, k] += d_o[i] * b[k]
""",
        """
for k in range(m):
    for i in range(n):
        d_a[k, k] += d_o[i] * b[k]
""",
    ),
    "an expensive scalar used by several targets": (
        """
for x in reversed(range(1, n - 1)):
    lap = u[x - 1] - 2 * u[x] + u[x + 1]
    d_lap = 2 * d_o[x] * lap
    d_c[x] += d_lap
    d_u[x - 1] += d_lap
    d_u[x + 1] += d_lap
""",
        """
# {SERIAL}
for x in range(1, n - 1):
    lap = u[x - 1] - 2 * u[x] + u[x + 1]
    d_lap = 2 * d_o[x] * lap
    d_c[x] += d_lap
    d_u[x - 1] += d_lap
    d_u[x + 1] += d_lap
""",
    ),
    "a cotangent with several terms is written out": (
        """
for i in reversed(range(n)):
    c = x[i]
    bar = 2 * d_o[i] * c
    bar -= d_o[i] * x[i + 1]
    d_x[i + 1] += d_o[i] * c
    d_x[i] += bar
""",
        """
for i in range(n + 1):  # gather: i + 1 renamed to i
    if i >= 1:
        d_x[i] += d_o[i - 1] * x[i - 1]
    if i < n:
        d_x[i] += 2 * d_o[i] * x[i] - d_o[i] * x[i + 1]
""",
    ),
    "a time loop stays, what is in it gathers": (
        """
for t in reversed(range(T)):
    for i in reversed(range(1, n - 1)):
        d_u[t, i - 1] += d_u[t + 1, i]
        d_u[t, i + 1] += d_u[t + 1, i]
""",
        """
for t in reversed(range(T)):{ORDER}
    for i in range(n):  # gather: i - 1, i + 1 renamed to i
        if i < n - 2:
            d_u[t, i] += d_u[t + 1, i + 1]
        if i >= 2:
            d_u[t, i] += d_u[t + 1, i - 1]
""",
    ),
    "data stays serial and says so": (
        "for i in reversed(range(n)):\n    d_a[idx[i]] += d_o[i]",
        """
# serial: two iterations may write the same element of d_a, its index `idx[i]` is data
for i in range(n):
    d_a[idx[i]] += d_o[i]
""",
    ),
    "a sum stays in order": (
        "for i in reversed(range(n)):\n    d_g += d_o[i] * a[i]",
        "for i in range(n):\n    d_g += d_o[i] * a[i]",
    ),
    "what owns its elements is kept": (
        "for i in reversed(range(n)):\n    d_a[i + 1] += d_o[i] * b[i]",
        "for i in range(n):\n    d_a[i + 1] += d_o[i] * b[i]",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_text_after_is_this(name: str) -> None:
    before, expected = SHAPES[name]
    text, _ = after(before)
    serial = "serial: two iterations of x may write the same element of d_u, and its"
    serial += " parts would need d_lap_at"
    expected = expected.replace("{SERIAL}", serial)
    order = "  # serial: an iteration of t reads what an earlier one writes in d_u"
    assert text.strip() == expected.strip().replace("{ORDER}", order)


def test_the_same_text_comes_out_twice() -> None:
    before, _ = SHAPES["2-D convolution"]
    assert after(before) == after(before)


def test_a_decision_says_what_was_done_and_why() -> None:
    _, decisions = after(SHAPES["2-D convolution"][0])
    image, kernel = decisions
    assert image.to_dict() == {
        "loop": "u",
        "array": "d_image",
        "kind": "gather",
        "reason": "u = y + j; v = x + i",
        "proof": "no two iterations of u write the same element of d_image: [u, v]",
        "file": image.loc.file,
        "line": image.loc.line,
    }
    assert kernel.kind == "gather" and kernel.proof


def test_a_serial_loop_has_a_reason_and_no_proof() -> None:
    _, decisions = after(SHAPES["data stays serial and says so"][0])
    (only,) = decisions
    assert only.kind == "serial" and "idx[i]" in only.reason and not only.proof


def test_a_user_name_is_never_taken() -> None:
    text, _ = after(
        "for u in reversed(range(n)):\n    for v in reversed(range(m)):\n"
        "        d_a[u + v] += w[v] * p * d_q[u]"
    )
    assert text.startswith("for u_2 in range(n + m - 1):  # gather: u_2 = u + v")
