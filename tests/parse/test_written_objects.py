# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Numbers in the caller's objects that a function writes to."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.oracle import check

X = np.array([0.3, 0.7, 1.1])


@dataclass
class Line:
    buffer: np.ndarray
    position: int
    gain: float = 1.5


@dataclass(slots=True)
class Slots:
    buffer: np.ndarray
    position: int
    gain: float = 1.5


class Plain:
    def __init__(self, buffer, position, gain=1.5):
        self.buffer, self.position, self.gain = buffer, position, gain


class Narrower(Line):
    def describe(self):
        return f"{self.position}"


@dataclass(frozen=True)
class Frozen:
    buffer: np.ndarray
    position: int
    gain: float = 1.5


class Doubled(Plain):
    @property
    def gain(self):
        return self._gain

    @gain.setter
    def gain(self, value):
        self._gain = 2 * value


@dataclass
class Chain:
    first: Line
    k: float = 2.0


def made(kind: Any = Line) -> Any:
    return kind(X + 1, 1)


def push(x, p):
    s = 0.0
    for i in range(len(x)):
        p.buffer[p.position] = x[i] * p.gain
        p.position = (p.position + 1) % p.buffer.shape[0]
        p.gain = p.gain * x[i] + 0.1
        s += p.buffer[p.position] * p.gain
    return s


def _advance(line, v):
    line.gain += v * line.gain
    line.position += 1
    return line.gain


def in_a_helper(x, p):
    s = 0.0
    for i in range(len(x)):
        s += _advance(p, x[i]) * p.buffer[p.position % 3]
    return s


def two_names(x, p):
    q = p
    q.gain = x[0] * p.gain
    p.gain *= x[1]
    return q.gain


def in_a_branch(x, p):
    if x[0] > 0:
        p.gain, before = x[0] * x[1], p.gain
        return p.gain * x[2] * before
    return p.gain


def inside(x, p):
    def scale(v):
        p.gain = p.gain * v

    for i in range(3):
        scale(x[i])
    return p.gain


def one_in_another(x, p):
    p.first.gain *= x[0]
    _advance(p.first, x[1])
    return p.first.gain * p.k


def never_written(x, p):
    if x[0] > 5:
        p.gain = 3.0
    return p.gain * x[0]


def raises(x, p):
    for i in range(len(x)):
        p.gain = p.gain * x[i]
        p.position += 1
        if x[i] > 1.0:
            raise ValueError("too much")
    return p.gain


def of_a_dictionary(x, p):
    p["gain"] = p["gain"] * x[0]
    p["position"] += 1
    return p["gain"] * x[p["position"]]


def _namespace(buffer, position):
    return SimpleNamespace(buffer=buffer, position=position, gain=1.5)


CALLS = [
    *((push, made(kind)) for kind in (Line, Slots, Plain, Narrower, _namespace)),
    *((f, made()) for f in (in_a_helper, two_names, in_a_branch, inside)),
    (one_in_another, Chain(made())),
    (never_written, made()),
    (of_a_dictionary, {"gain": 2.0, "position": 1}),
]


def _owner(p: Any) -> Any:
    return p.first if isinstance(p, Chain) else p


def _read(p: Any, key: str) -> Any:
    return p[key] if isinstance(p, dict) else getattr(_owner(p), key)


def _write(p: Any, key: str, value: Any) -> None:
    if isinstance(p, dict):
        p[key] = value
    else:
        setattr(_owner(p), key, value)


def _state(p: Any) -> list[Any]:
    found = [(_read(p, k), type(_read(p, k))) for k in ("position", "gain")]
    return found if isinstance(p, dict) else [*found, _owner(p).buffer.tolist()]


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_the_object_is_what_cpython_leaves(number: int, target: str) -> None:
    plain, p = CALLS[number]
    f = pyrev.differentiable(plain, target=target)
    want = copy.deepcopy(p)
    value = plain(X, want)

    def moved(x: Any, by: float, *, weight: float) -> float:
        own = copy.deepcopy(p)
        _write(own, "gain", _read(own, "gain") + by)
        return float(plain(x, own) + weight * _read(own, "gain"))

    for ask in (
        f,
        lambda x, own: pyrev.vjp(f, x, own)[0],
        lambda x, own: pyrev.jvp(f, x, own, tangents={"x": np.ones(3)})[0],
    ):
        own = copy.deepcopy(p)
        assert ask(X, own) == pytest.approx(value, rel=1e-14)
        assert repr(_state(own)) == repr(_state(want))

    own = copy.deepcopy(p)
    _, pullback = pyrev.vjp(f, X, own)
    name = "p.first.gain" if isinstance(p, Chain) else "p.gain"
    seeds = {} if plain is never_written else {name: 0.7}
    weight = seeds.get(name, 0.0)
    found = pullback(1.0, cotangents=seeds)
    h, unit = 1e-6, np.eye(3)
    for k in range(3):
        up, down = X + h * unit[k], X - h * unit[k]
        slope = moved(up, 0.0, weight=weight) - moved(down, 0.0, weight=weight)
        assert found.x[k] == pytest.approx(slope / (2 * h), rel=1e-6, abs=1e-8)
    slope = moved(X, h, weight=weight) - moved(X, -h, weight=weight)
    gain = _read(found.p, "gain")
    assert np.ndim(gain) == 0 and _read(found.p, "position") is None
    assert gain == pytest.approx(slope / (2 * h), rel=1e-6, abs=1e-8)
    assert repr(_state(own)) == repr(_state(want)), "the pullback wrote to it"


@pytest.mark.parametrize("target", ["python", "numba"])
def test_the_object_is_what_an_exception_leaves(target: str) -> None:
    f = pyrev.differentiable(raises, target=target)
    want = made()
    with pytest.raises(ValueError, match="too much"):
        raises(X, want)
    for ask in (f, lambda x, p: pyrev.vjp(f, x, p)):
        own = made()
        with pytest.raises(ValueError, match="too much"):
            ask(X, own)
        assert repr(_state(own)) == repr(_state(want))


def test_tangents_of_numbers_that_are_written() -> None:
    want = pyrev.vjp(push, X, made())[1](1.0)
    _, out = pyrev.jvp(push, X, made(), tangents={"p": Line(np.zeros(3), None, 1.0)})
    assert out["return"] == pytest.approx(want.p.gain)
    assert np.ndim(out["p.gain"]) == 0
    field = pyrev.vjp(push, X, made(), wrt="p.gain")[1](1.0)
    assert field["p.gain"] == want.p.gain


def _both(x, p, q):
    p.gain = x[0] * q.gain
    return p.gain * q.gain


def _of_several(x, lines):
    for line in lines:
        line.gain *= x[0]
    return lines[0].gain


def test_one_object_under_two_names_of_the_caller_is_refused() -> None:
    one = made()
    for ask in (
        lambda: pyrev.vjp(_both, X, one, one),
        lambda: pyrev.vjp(_of_several, X, [one, one]),
    ):
        with pytest.raises(pyrev.ArgumentError, match="gain"):
            ask()
    assert one.gain == 1.5
    pyrev.vjp(_of_several, X, [one, made()])
    assert one.gain == 1.5 * X[0]


def _a_new_array(x, p):
    p.buffer = p.buffer * 2
    return p.buffer[0] * x[0]


def _returned(x, p):
    p.gain = x[0]
    return p


def _none(x, p):
    p.gain = None
    return x[0]


@pytest.mark.parametrize("plain", [_a_new_array, _returned, _none])
def test_what_else_is_done_to_an_object_is_refused(plain: Any) -> None:
    own = made()
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.vjp(plain, X, own)
    assert own.gain == 1.5


@pytest.mark.parametrize("kind", [Frozen, Doubled])
def test_what_is_no_plain_attribute_is_refused(kind: Any) -> None:
    with pytest.raises((pyrev.UnsupportedError, pyrev.ArgumentError)):
        pyrev.vjp(push, X, made(kind))


def _halves(x, p):
    p.position = p.position + 0.5
    return x[0] * p.position


def test_an_integer_stays_one() -> None:
    own = made()
    with pytest.raises(pyrev.ArgumentError, match="int64"):
        pyrev.vjp(_halves, X, own)
    assert own.position == 1
    own.position = 1.0
    pyrev.vjp(_halves, X, own)
    assert own.position == 1.5


def _tests(x, p):
    p.gain = p.gain > 1.0
    return x[0]


def test_a_truth_value_in_the_place_of_a_number_is_refused() -> None:
    own = made()
    with pytest.raises(pyrev.ArgumentError, match="bool"):
        pyrev.vjp(_tests, X, own)
    assert own.gain == 1.5


def _one_of_two(x, p, q):
    r = p
    if x[0] > 1.0:
        r = q
    r.gain *= x[0]
    p.gain += r.gain
    return p.gain * q.gain


def _change_places(x, p, q):
    for i in range(3):
        p.gain *= x[i]
        p, q = q, p
    return p.gain * q.gain


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("more", [0.0, 2.0])
def test_a_path_decides_which_object_is_written(more: float, target: str) -> None:
    f = pyrev.differentiable(_one_of_two, target=target)
    given = {"x": X + more, "p": made(), "q": made()}
    given["q"].gain = 0.8
    check(f, _one_of_two, given, ("p", "q"), np.random.default_rng(1))


def test_objects_that_change_places_are_refused() -> None:
    one, other = made(), made()
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.vjp(_change_places, X, one, other)
    assert one.gain == other.gain == 1.5


def _beside_a_local_one(x, p):
    own = Line(p.buffer, 0, p.gain)
    held = {"gain": p.gain}
    for i in range(3):
        own.gain = own.gain * x[i]
        held["gain"] = held["gain"] + x[i]
    return own.gain * held["gain"] * p.gain


def test_a_local_object_leaves_what_it_is_made_of_alone() -> None:
    own = made()
    value, pullback = pyrev.vjp(_beside_a_local_one, X.astype(np.float32), own)
    assert own.gain == 1.5 and value == pytest.approx(_beside_a_local_one(X, made()))
    assert "[0]" not in pyrev.differentiable(_beside_a_local_one).primal.source_for(
        "python", X, own
    ).replace("x[0]", "")
    assert pullback(1.0).p.position is None


def test_short_numbers_beside_one_that_is_written_are_refused() -> None:
    line = Line(X.astype(np.float32), 1)
    with pytest.raises(pyrev.ArgumentError, match="float32"):
        pyrev.vjp(push, X.astype(np.float32), line)
