# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Records of an array under names of their own: views, whatever writes to either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1])
RECORD = np.dtype([("m", "f8"), ("v", "f8"), ("k", "i8"), ("w", "f8", 3)])


def records():
    made = np.zeros(4, dtype=RECORD)
    made["m"], made["v"] = [0.3, 0.5, 0.7, 0.9], [1.0, 2.0, 3.0, 4.0]
    made["k"] = [1, 2, 0, 3]
    made["w"] = np.arange(12).reshape(4, 3) * 0.1 + 0.2
    return made


def an_index_that_changes_later(x, r):
    i = 0
    node = r[i]
    i = 2
    node["m"] = x[0] * node["v"]
    return r["m"][0] * x[1] + r["m"][i]


def two_names_of_one_record(x, r):
    a = r[1]
    b = r[1]
    a["m"] = x[0] * x[0]
    return b["m"] * x[1] + r[1]["m"]


def records_that_swap_fields(x, r):
    a = r[0]
    b = r[1]
    a["m"], b["m"] = b["m"] * x[0], a["m"]
    return a["m"] * x[1] + r["m"][1]


def a_name_that_moves_on(x, r):
    a = r[0]
    for i in range(1, 4):
        b = a
        a = r[i]
        a["m"] += b["m"] * x[0]
    return a["m"] * b["v"]


def _upd(rec, s):
    rec["m"] = rec["m"] * s + rec["w"][1]
    rec["w"][0] += s


def a_helper_that_writes_to_a_record(x, r):
    for i in range(len(r)):
        _upd(r[i], x[0])
    return r["m"][3] * r["w"][2, 0]


def a_loop_over_records(x, r):
    for node in r:
        _upd(node, x[1])
        node["v"] += node["w"][0]
    return np.sum(r["v"]) * node["m"]


def a_loop_over_numbered_records(x, r):
    s = 0.0
    for k, node in enumerate(r):
        node["m"] *= x[k % 3]
        s += node["m"] * k
    return s


def a_loop_over_the_first_records(x, r):
    s = 0.0
    for node in r[:2]:
        w = node["w"]
        w[1] = x[0] * node["m"]
        s += node["w"][1] * w[2]
    return s


def a_loop_that_only_reads(x, r):
    s = 0.0
    for node in r:
        s += node["m"] * x[0] + node["w"][1]
    return s


def a_loop_that_only_reads_numbered_records(x, r):
    s = 0.0
    for k, node in enumerate(r):
        s += node["v"] * x[k % 3]
    return s


def a_loop_that_reads_no_field(x, r):
    s = 0.0
    for _ in r[:3]:
        s += x[0] * x[0]
    return s


def a_walk_from_record_to_record(x, r):
    i = 0
    while i != 3:
        node = r[i]
        node["m"] += x[0] * node["v"]
        i = node["k"]
        if i == 0:
            break
    return node["m"] * r["m"][0]


def _two(a, b):
    a["m"] = b["m"] * 2.0
    b["m"] = b["m"] * a["v"]
    return a["m"]


def a_helper_that_gets_one_record_twice(x, r):
    return _two(r[1], r[1]) * x[0] + r[1]["m"]


def a_helper_that_gets_the_last_record(x, r):
    a = r[-1]
    return _two(a, r[0]) * x[0] + r[3]["m"] * a["m"]


def _whole(rs, i):
    q = rs[i]
    q["m"] = q["v"] * q["v"]
    return q["m"]


def a_helper_that_gets_the_whole_array(x, r):
    a = r[2]
    t = _whole(r, 2)
    return t * x[0] * a["m"]


def a_lambda_of_a_record(x, r):
    double = lambda c: c["m"] * 2.0  # noqa: E731
    a = r[2]
    a["m"] = x[0]
    return double(a) * x[1]


def a_closure_over_a_record(x, r):
    a = r[2]

    def g():
        return a["m"] * x[1]

    r[2]["m"] = x[0] * x[0]
    return g()


def a_field_that_is_written_as_a_whole(x, r):
    a = r[0]
    r["m"][:] = x[0]
    return a["m"] * x[1]


def a_value_that_was_read_before(x, r):
    a = r[0]
    t = a["m"]
    a["m"] = x[0] * 3
    return a["m"] * t


def a_record_chosen_in_a_branch(x, r):
    a = r[0]
    if x[0] > 0.1:
        a = r[1]
    a["m"] = x[0] * 3 * a["v"]
    return r["m"][0] * x[1] + r["m"][1]


def a_name_bound_again_in_its_loop(x, r):
    for node in r:
        node = r[1]
        node["m"] += x[0] * node["v"]
    return node["m"]


def loops_in_loops_over_records(x, r):
    s = 0.0
    for a in r:
        for b in r:
            b["m"] += 0.1 * a["v"] * x[0]
            s += a["m"] * b["m"]
    return s


def a_field_that_is_an_array(x, r):
    a = r[0]
    a["w"] = x
    a["w"][1] *= a["m"]
    return np.sum(r["w"])


def a_view_of_a_field(x, r):
    a = r[0]
    a["w"][:] = x * 2
    w = a["w"]
    a = r[1]
    a["w"][0] = w[0] * a["m"]
    return np.sum(r["w"]) * w[1]


def records_of_two_arrays(x, r, q):
    a = r[0]
    b = q[1]
    a["m"] = b["m"] * x[0]
    b["v"] = a["v"] * a["m"]
    return a["m"] + b["v"]


def records_in_a_dictionary(x, p):
    a = p["nodes"][1]
    a["m"] = x[0] * p["c"]
    return p["nodes"]["m"][1] * a["v"]


def integers_in_records(x, r):
    for i in range(3):
        a = r[i]
        a["k"] = a["k"] + i
    return x[r[1]["k"] % 3] * r["m"][r[0]["k"]]


def a_record_that_is_searched(x, r):
    a = r[np.argmax(r["m"])]
    a["m"] = x[0] * a["v"]
    return r["m"][3] * x[1]


def records_that_nobody_writes(x, r):
    s = 0.0
    i = 0
    while True:
        node = r[i]
        if node["k"] == 3:
            return s
        s += node["m"] * x[node["k"]]
        i += 1


def _read_only(record):
    return record["m"] * record["v"]


def a_helper_that_reads_records(x, r):
    s = 0.0
    for i in range(r.shape[0]):
        s += _read_only(r[i]) * x[0]
    return s


def _write_first(r):
    r["m"][0] = 5.0
    return 1.0


def a_helper_that_writes_and_returns(x, r):
    node = r[0]
    return _write_first(r) * node["m"] * x[0]


CALLS = [
    (value, {})
    for name, value in [*globals().items()]
    if callable(value)
    and not name.startswith("_")
    and getattr(value, "__code__", None)
    and value.__code__.co_varnames[: value.__code__.co_argcount] == ("x", "r")
]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [c[0] for c in CALLS], ids=lambda f: f.__name__)
def test_a_record_under_a_name_is_a_view(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    rng = np.random.default_rng(1)
    check(f, plain, {"x": X.copy(), "r": records()}, ("r",), rng)


@pytest.mark.parametrize("target", ["python", "numba"])
def test_records_of_several_arguments(target: str) -> None:
    f = pyrev.differentiable(records_of_two_arrays, target=target)
    given = {"x": X.copy(), "r": records(), "q": records()}
    rng = np.random.default_rng(1)
    check(f, records_of_two_arrays, given, ("r", "q"), rng)
    f = pyrev.differentiable(records_in_a_dictionary, target=target)
    held = {"x": X.copy(), "p": {"nodes": records(), "c": 2.0}}
    check(f, records_in_a_dictionary, held, ("p",), rng)


def chosen(x, r, i):
    node = r[i]
    node["m"] = x[0] * 3.0
    return node["m"] * r["m"][0]


def stored_in_the_place(x, r, i):
    r[i]["m"] = 7.0
    return x[0] * r["m"][1]


def never_read(x, r, i):
    node = r[i]
    x[0] = 2.0
    if x[0] > 3.0:
        node["m"] = 1.0
    return x[1]


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("i", [2, np.int32(1), -1])
def test_a_record_is_chosen_by_an_integer(target: str, i: Any) -> None:
    f = pyrev.differentiable(chosen, target=target)
    rng = np.random.default_rng(1)
    check(f, chosen, {"x": X.copy(), "r": records(), "i": i}, ("r",), rng)


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("plain", [chosen, stored_in_the_place])
def test_several_records_are_a_copy(plain: Any, target: str) -> None:
    f = pyrev.differentiable(plain, target=target)
    with pytest.raises(pyrev.UnsupportedError, match="which would be copies"):
        pyrev.vjp(f, X.copy(), records(), np.array([0, 1]))
    with pytest.raises(pyrev.ArgumentError):
        pyrev.vjp(f, X.copy(), records(), True)
    with pytest.raises((IndexError, pyrev.ArgumentError)):
        pyrev.vjp(f, X.copy(), records(), 1.0)


def test_a_record_that_is_not_there_raises_where_it_gets_its_name() -> None:
    f = pyrev.differentiable(never_read, target="numba")
    for i in (7, -5):
        x = X.copy()
        with pytest.raises(IndexError):
            pyrev.vjp(f, x, records(), i)
        np.testing.assert_array_equal(x, X)


def bound_to_another_array(x, r, q):
    node = r[0]
    if x[0] > 0.1:
        node = q[0]
    node["m"] = x[0]
    return r["m"][0]


def kept_in_a_tuple(x, r):
    held = (r[0], 1.0)
    r["m"][0] = 9.0
    return held[0]["m"] * x[0]


def put_in_the_array(x, r):
    node = r[0]
    r[0] = r[1]
    return node["m"] * x[0]


def returned(x, r):
    node = r[0]
    node["m"] = x[0]
    return node


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_record_in_a_tuple_is_a_view(target: str) -> None:
    f = pyrev.differentiable(kept_in_a_tuple, target=target)
    value, pullback = pyrev.vjp(f, X.copy(), r=records())
    assert value == kept_in_a_tuple(X.copy(), records())
    assert list(pullback(1.0)["x"]) == [9.0, 0.0, 0.0]
    assert not pullback(1.0)["r"]["m"].any()


@pytest.mark.parametrize("plain", [bound_to_another_array, put_in_the_array, returned])
def test_other_uses_of_records_are_refused(plain: Any) -> None:
    more = {"q": records()} if plain is bound_to_another_array else {}
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.vjp(pyrev.differentiable(plain), X.copy(), r=records(), **more)
