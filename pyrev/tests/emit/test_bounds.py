from __future__ import annotations

import pytest

from pyrev.emit.bounds import Inside, Nonzero, Region, analyse
from pyrev.ir import walk, written
from pyrev.parse import parse_block
from pyrev.show import expr_text
from pyrev.types import WEAK_INT


def region(text: str) -> Region:
    block = parse_block(text)
    types = dict.fromkeys(["a", "b", "c", "d"], "float64") | {"table": "int64"}
    names = {s.index for s in walk(block) if hasattr(s, "index")}
    types |= dict.fromkeys([*names, *(written(block) - set(types))], WEAK_INT)
    return analyse(block, types)


def conditions(text: str) -> list[str]:
    found = region(text)
    assert not found.open
    return [expr_text(c) for c in found.conditions()]


def open_duties(text: str) -> list[str]:
    return [
        expr_text(d.index if isinstance(d, Inside) else d.divisor)
        for d in region(text).open
    ]


def test_a_loop_over_the_array_itself_needs_no_condition() -> None:
    assert conditions("for i in range(a.shape[0]):\n    a[i] = 1.0") == []


def test_a_convolution_needs_its_sizes_to_fit() -> None:
    text = """
    for y in range(a.shape[0]):
        for j in range(b.shape[0]):
            a[y] += c[y + j] * b[j]
    """
    assert conditions(text) == ["b.shape[0] + a.shape[0] <= c.shape[0] + 1"]


def test_a_clipped_gather_needs_nothing() -> None:
    text = """
    for u in range(a.shape[0] + b.shape[0] - 1):
        for j in range(max(0, u - a.shape[0] + 1), min(b.shape[0], u + 1)):
            d[j] += a[u - j] * b[j]
    """
    assert conditions(text) == [
        "b.shape[0] <= d.shape[0] or a.shape[0] + b.shape[0] <= d.shape[0] + 1"
    ]


def test_a_triangle_needs_nothing() -> None:
    text = """
    for i in range(a.shape[0]):
        for j in range(i):
            a[i] += a[j] + a[i - j - 1]
    """
    assert conditions(text) == []


def test_steps_stop_at_the_last_value_they_reach() -> None:
    text = "for i in range(0, a.shape[0] - 1, 2):\n    a[i] = a[i + 1]"
    assert conditions(text) == []
    text = "for i in range(a.shape[0] - 1, -1, -1):\n    a[i] = 0.0"
    assert conditions(text) == []


def test_a_backward_step_stays_above_its_end() -> None:
    assert conditions("for i in range(9, 0, -2):\n    a[i - 1] = 0.0") == [
        "9 <= a.shape[0]"
    ]


@pytest.mark.parametrize(
    "index",
    [
        "min(max(i - 1, 0), a.shape[0] - 1)",
        "i % a.shape[0]",
        "(i + 3) % a.shape[0]",
        "i // 2",
        "abs(i)",
        "i if i < 3 else 0",
    ],
)
def test_clamps_and_wraps_are_understood(index: str) -> None:
    found = region(f"for i in range(a.shape[0]):\n    b[i] = a[{index}]")
    assert not any(isinstance(d, Inside) for d in found.open)


def test_a_test_around_an_access_counts() -> None:
    text = """
    for i in range(a.shape[0]):
        for j in range(3):
            if 0 <= i + j - 1 and i + j - 1 < b.shape[0]:
                a[i] += b[i + j - 1]
    """
    assert conditions(text) == []


def test_the_other_branch_of_a_test_counts_too() -> None:
    text = """
    for i in range(a.shape[0]):
        if i < 2 or i >= b.shape[0]:
            a[i] = 0.0
        else:
            a[i] = b[i - 2] if i > 1 else b[i]
    """
    assert conditions(text) == []


def test_a_test_of_an_index_read_from_data_counts() -> None:
    text = """
    for i in range(table.shape[0]):
        if table[i] >= 0 and table[i] < a.shape[0]:
            a[table[i]] += 1.0
    """
    assert conditions(text) == []


def test_a_test_counts_no_longer_when_its_data_changed() -> None:
    text = """
    for i in range(table.shape[0]):
        if table[i] >= 0 and table[i] < a.shape[0]:
            table[i] = i * i
            a[table[i]] += 1.0
    """
    assert open_duties(text) == ["table[i]"]


def test_data_is_not_trusted() -> None:
    text = "for i in range(table.shape[0]):\n    a[table[i]] += 1.0"
    assert open_duties(text) == ["table[i]"]


def test_a_scalar_is_what_it_was_assigned() -> None:
    text = """
    for i in range(a.shape[0]):
        k = i + 1
        b[k] = a[k - 1]
    """
    assert conditions(text) == ["a.shape[0] + 1 <= b.shape[0]"]


def test_a_scalar_that_is_carried_is_not_trusted() -> None:
    text = """
    k = 0
    for i in range(a.shape[0]):
        a[k] = 1.0
        k = k + 2
    """
    assert open_duties(text) == ["k"]


def test_a_scalar_copied_before_its_source_changes_is_not_the_source() -> None:
    text = """
    k = 0
    for i in range(a.shape[0]):
        k = i
        m = k
        k = i + 5
        a[m] = 1.0
        b[k] = 1.0
    """
    found = region(text)
    settled = [expr_text(c) for c in found.conditions()]
    assert settled == ["a.shape[0] + 5 <= b.shape[0]"]
    assert [d.index for d in found.open if isinstance(d, Inside)]


def test_a_negative_index_is_tested_where_it_is() -> None:
    text = "for i in range(a.shape[0]):\n    b[i] = a[i - 1]"
    assert open_duties(text) == ["i - 1"]


def test_a_new_array_has_the_size_it_was_made_with() -> None:
    text = """
    t = np.zeros(a.shape[0] + 1)
    for i in range(a.shape[0]):
        t[i + 1] = t[i]
    """
    assert conditions(text) == []


def test_a_divisor_must_be_positive() -> None:
    text = "for i in range(3):\n    a[i % b.shape[0]] = 0.0"
    assert "1 <= b.shape[0]" in conditions(text)
    found = region("for i in range(3):\n    a[0] = i // table[i]")
    assert any(isinstance(d, Nonzero) for d in found.open)
