# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Methods and properties of objects, and objects that hold all sorts of things."""

from __future__ import annotations

import copy
import functools
import io
from dataclasses import dataclass
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.experimental import jitclass

import pyrev

X = np.array([0.3, 0.7, 1.1])


class Grid:
    """A part of others, with a way back to its owner."""

    sides = 2

    def __init__(self, dx, w, owner=None):
        self.dx, self.w, self.owner = dx, w, owner

    def cell(self, i):
        return self.w[i] * self.dx

    @property
    def area(self):
        return self.dx**self.sides

    @staticmethod
    def twice(v):
        return 2.0 * v


class Base:
    rate = 3.0

    def scaled(self, v):
        return self.a * v

    def named(self, v):
        return v if self.name == "model" else -v


class Model(Base):
    def __init__(self, a=2.0, w=(1.0, 2.0, 3.0)):
        self.a, self.w = a, np.array(w)
        self.grid = Grid(0.5, self.w * 2.0, self)
        self.count, self.level = 0, 1.5
        self.name, self.log = "model", io.StringIO()
        self.others = [object()]

    def value(self, x):
        s = 0.0
        for i in range(x.shape[0]):
            s += self.scaled(self.grid.cell(i) * x[i]) * self.rate
        return s * self.grid.area + self.grid.twice(self.a)

    def bump(self, v):
        self.level += v * self.a
        self.count += 1

    def put_in(self, out, x):
        for i in range(x.shape[0]):
            out[i] = self.scaled(x[i]) + self.w[i]

    def pair(self, v, by=1.0):
        return v * self.a, v + by

    def wider(self, by):
        return Disk(self.a + by, self.w)

    def above(self, v):
        if v > 0.5:
            return v * self.a
        return None

    def power(self, v, n):
        if n == 0:
            return 1.0
        return v * self.power(v, n - 1)

    def touched(self, x):
        x[0] = x[0] * self.a
        return x[0]


class Steep(Model):
    def scaled(self, v):
        return self.a * v * v


class Slotted:
    __slots__ = ("a", "w")

    def __init__(self, a, w):
        self.a, self.w = a, w

    def scaled(self, v):
        return self.a * v + self.w[0]


@dataclass
class Disk:
    k: float
    w: np.ndarray

    def norm(self):
        s = 0.0
        for i in range(self.w.shape[0]):
            s += self.w[i] ** 2
        return self.k * s**0.5

    def moved(self, d):
        return Disk(self.k + d, self.w)


class Point(NamedTuple):
    x: float
    y: float

    def dot(self, o):
        return self.x * o.x + self.y * o.y

    @property
    def length(self):
        return (self.x**2 + self.y**2) ** 0.5


@jitclass([("a", numba.float64), ("w", numba.float64[:])])
class Compiled:
    def __init__(self, a, w):
        self.a, self.w = a, w

    @property
    def half(self):
        return self.a / 2

    def scaled(self, v):
        return self.a * v + self.w[0] * self.half


def plainly(m, x):
    return m.value(x)


def state(m, x):
    for i in range(x.shape[0]):
        m.bump(x[i] ** 2)
    return m.level * m.count


def into_an_array(m, x):
    out = np.zeros(x.shape[0])
    m.put_in(out, x)
    return np.sum(out**2)


def several(m, x):
    a, b = m.pair(x[0], by=x[1])
    c, _ = m.pair(x[2])
    return a * b * c


def chained(m, x):
    return m.wider(x[0]).moved(x[1]).norm() * m.wider(1.0).k


def perhaps(m, x):
    s = 0.0
    for i in range(x.shape[0]):
        v = m.above(x[i])
        if v is not None:
            s += v**2
    return s


def by_a_helper(m, v):
    return m.scaled(v) + m.grid.area


def of_helpers(m, x):
    return by_a_helper(m, x[0]) * by_a_helper(m, x[1]) * by_its_part(m.grid, x)


def by_its_part(g, x):
    return g.cell(1) * x[2] * g.area


def inside(m, x):
    def f(v):
        return m.scaled(v) ** 2

    return f(x[0]) + f(x[1]) * m.named(x[2])


def recursive(m, x):
    return m.power(x[0], 3) * m.a


def in_place(m, x):
    y = x.copy()
    v = m.touched(y)
    return v * y[0] + y[1]


def of_several(ms, x):
    s = 0.0
    for k, m in enumerate(ms):
        s += m.scaled(x[k]) * m.grid.area
    return s


def of_data(d, x):
    e = d.moved(x[0])
    return e.norm() * d.norm() + Disk(x[1], x * 2.0).norm()


def of_points(p, x):
    q = Point(x[0], x[1])
    return p.dot(q) * q.length + p.length


def of_slots(m, x):
    return m.scaled(x[0]) ** 2


def fresh(_: Any = None) -> Any:
    return Model()


CASES: dict[str, tuple[Any, Any]] = {
    "a method": (plainly, fresh),
    "one of a subclass": (plainly, Steep),
    "numbers that are written": (state, fresh),
    "an array that is written": (into_an_array, fresh),
    "several results": (several, fresh),
    "of what methods return": (chained, fresh),
    "perhaps None": (perhaps, fresh),
    "in helpers": (of_helpers, fresh),
    "in a function inside": (inside, fresh),
    "recursive": (recursive, fresh),
    "an argument in place": (in_place, fresh),
    "objects in a list": (of_several, lambda: [Model(), Steep(1.5), Model(0.5)]),
    "of a dataclass": (of_data, lambda: Disk(1.5, np.array([1.0, 2.0]))),
    "of a named tuple": (of_points, lambda: Point(1.5, 2.0)),
    "of slots": (of_slots, lambda: Slotted(1.5, np.array([2.0, 1.0]))),
    "compiled": (of_slots, lambda: Compiled(1.5, np.array([2.0, 1.0]))),
}


def differences(f: Any, make: Any, h: float = 1e-6) -> Any:
    """The central differences of the plain function by X."""
    found = np.zeros(X.size)
    for i in range(X.size):
        for sign in (1.0, -1.0):
            moved = X.copy()
            moved[i] += sign * h
            found[i] += sign * f(make(), moved) / (2 * h)
    return found


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("case", CASES)
def test_a_method_is_a_function_of_its_object(case: str, target: str) -> None:
    f, make = CASES[case]
    ours = pyrev.differentiable(target=target)(f)
    assert ours(make(), X.copy()) == pytest.approx(f(make(), X.copy()), rel=1e-14)
    value, gradient = pyrev.value_and_grad(ours, wrt="x")(make(), X.copy())
    assert value == pytest.approx(f(make(), X.copy()), rel=1e-14)
    np.testing.assert_allclose(gradient, differences(f, make), rtol=1e-7, atol=1e-8)


def test_the_objects_are_what_cpython_leaves() -> None:
    theirs, mine = Model(), Model()
    state(theirs, X)
    pyrev.differentiable(state)(mine, X)
    assert (mine.level, mine.count) == (theirs.level, theirs.count)
    assert type(mine.count) is int


@pytest.mark.parametrize("field", ["a", "level", "grid.dx", "w"])
def test_gradients_by_fields(field: str) -> None:
    ours = pyrev.differentiable(target="python")(_all_of_it)
    found = pyrev.grad(ours, wrt=f"m.{field}")(Model(), X)
    h, expected = 1e-6, np.zeros(3 if field == "w" else 1)
    for i in range(expected.size):
        for sign in (1.0, -1.0):
            m = Model()
            of: Any = m.grid if "." in field else m
            name = field.split(".")[-1]
            if field == "w":
                m.w[i] += sign * h
            else:
                setattr(of, name, getattr(of, name) + sign * h)
            expected[i] += sign * _all_of_it(m, X) / (2 * h)
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-7)


def _all_of_it(m, x):
    m.bump(x[0])
    out = np.zeros(x.shape[0])
    m.put_in(out, x)
    return m.value(x) * m.level + np.sum(out**2)


def test_a_whole_gradient_has_the_form_of_the_object() -> None:
    found = pyrev.grad(plainly, wrt="m")(Model(), X)
    assert found.grid.w.shape == (3,) and found.grid.dx > 0
    assert found.grid.owner is None and found.log is None and found.level == 0.0


def test_what_is_of_the_class_has_a_gradient() -> None:
    found = pyrev.grad(plainly, wrt="m.rate")(Model(), X)
    h = 1e-6
    ends = []
    for sign in (1.0, -1.0):
        m = Model()
        m.rate = 3.0 + sign * h
        ends.append(plainly(m, X))
    assert found == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-7)


# ------------------------------------------------------------------ bound ones


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_bound_method_is_a_function(target: str) -> None:
    m = Model()
    value, gradient = pyrev.value_and_grad(
        pyrev.differentiable(target=target)(m.value)
    )(X)
    assert value == pytest.approx(m.value(X), rel=1e-14)
    np.testing.assert_allclose(
        gradient.x, differences(lambda o, x: o.value(x), Model), rtol=1e-7
    )
    m.a = 5.0  # what it holds when it is called counts
    assert pyrev.differentiable(m.value)(X) == pytest.approx(m.value(X), rel=1e-14)


def test_the_function_of_a_class_takes_the_object() -> None:
    found = pyrev.grad(Model.value, wrt="self.a")(Model(), X)
    assert found == pyrev.grad(plainly, wrt="m.a")(Model(), X)


class Decorated:
    def __init__(self, k):
        self.k = k

    @pyrev.differentiable
    def energy(self, x):
        return self.k * np.sum(x**2)

    @pyrev.differentiable(target="python")
    def force(self, x):
        return self.k * np.sum(x**2) + self.energy(x)


def test_a_class_may_have_differentiable_methods() -> None:
    d = Decorated(1.5)
    assert d.energy(X) == pytest.approx(1.5 * np.sum(X**2), rel=1e-14)
    np.testing.assert_allclose(pyrev.grad(d.energy, wrt="x")(X), 3.0 * X)
    np.testing.assert_allclose(pyrev.grad(d.force, wrt="x")(X), 6.0 * X)
    assert Decorated.energy(d, X) == d.energy(X)


def test_a_partial_is_the_function_with_its_arguments() -> None:
    m = Model()
    by_place, by_name = functools.partial(plainly, m), functools.partial(plainly, m=m)
    for f in (by_place, by_name):
        args = (X,) if f is by_place else ()
        kw = {} if f is by_place else {"x": X}
        gradient = pyrev.grad(f)(*args, **kw)
        assert list(gradient) == ["x"]
        np.testing.assert_allclose(gradient.x, differences(plainly, Model), rtol=1e-7)


# ------------------------------------------------------------------ what changes


def agrees(ours: Any, f: Any, make: Any) -> Any:
    """Is the gradient that of the plain function? The value comes from CPython."""
    found = pyrev.grad(ours, wrt="x")(make(), X)
    np.testing.assert_allclose(found, differences(f, make), rtol=1e-7, atol=1e-9)
    return found


def test_another_method_is_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = pyrev.differentiable(target="python")(plainly)
    before = agrees(ours, plainly, Model)
    monkeypatch.setattr(Base, "scaled", _halved)
    assert agrees(ours, plainly, Model)[0] == pytest.approx(before[0] / 2)
    monkeypatch.undo()
    np.testing.assert_array_equal(agrees(ours, plainly, Model), before)
    agrees(ours, plainly, Steep)


def _halved(self, v):
    return self.a * v / 2


def _with_its_own():
    m = Model()
    m.scaled = _cubed  # type: ignore[method-assign]
    return m


def test_an_objects_own_function_comes_first() -> None:
    ours = pyrev.differentiable(target="python")(plainly)
    agrees(ours, plainly, _with_its_own)
    agrees(ours, plainly, Model)


def _cubed(v):
    return v**3


def test_objects_with_the_same_class_name_are_not_mixed_up() -> None:
    def made(factor: float) -> Any:
        if factor > 1:

            class Local:
                def scaled(self, v):
                    return self.k * v * 2.0
        else:

            class Local:  # type: ignore[no-redef]
                def scaled(self, v):
                    return self.k - v

        found = Local()
        found.k = 1.5  # type: ignore[attr-defined]
        return found

    ours = pyrev.differentiable(target="python")(of_slots)
    for factor in (2.0, 0.5, 2.0):
        agrees(ours, of_slots, lambda factor=factor: made(factor))


# ------------------------------------------------------------------ refused


class Odd:
    def __init__(self):
        self.a, self.w = 1.5, np.array([1.0, 2.0, 3.0])

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)

    def scaled(self, v):
        return self.a * v


class Renews:
    def __init__(self):
        self.a, self.w = 1.5, np.array([1.0, 2.0, 3.0])

    def scaled(self, v):
        self.w = self.w * 2.0
        return self.a * v + self.w[0]


class Hidden:
    def __init__(self):
        self.__a = 1.5

    def scaled(self, v):
        return self.__a * v


class Gives:
    def __init__(self):
        self.a = 1.5

    def scaled(self, v):
        return super().__init__()


class Missing:
    def scaled(self, v):
        return self.nothing * v

    def __init__(self):
        self.a = 1.5


@pytest.mark.parametrize("kind", [Odd, Renews, Hidden, Gives, Missing])
def test_what_a_method_may_not_do_is_refused(kind: Any) -> None:
    made = kind()
    before = copy.deepcopy(vars(made)) if kind is not Odd else None
    with pytest.raises(pyrev.PyrevError):
        pyrev.differentiable(target="python")(of_slots)(made, X)
    assert before is None or repr(vars(made)) == repr(before)


# ------------------------------------------------------------------ order of draws


def moved_by(p, a):
    return Disk(p.k + a, p.w)


def of_it(p):
    return p.k * p.w[0]


def noisy(p, rng):
    return Disk(p.k + rng.normal(0.0, 1.0), p.w)


def drawn_in_front(p, x, rng):
    return rng.random() * of_it(moved_by(p, rng.random() * x[0]))


def drawn_by_a_helper(p, x, rng):
    return rng.random() * x[0] * of_it(noisy(p, rng))


def drawn_by_all(p, x, seed):
    np.random.seed(seed)
    return np.random.rand() * x[0] * of_it(moved_by(p, np.random.rand()))


@pytest.mark.parametrize(
    ("f", "draws"),
    [
        (drawn_in_front, np.random.default_rng),
        (drawn_by_a_helper, np.random.default_rng),
        (drawn_by_all, int),
    ],
)
def test_what_is_drawn_is_drawn_in_its_order(f: Any, draws: Any) -> None:
    """A name for what a helper gives would be bound before what stands in front."""
    with pytest.raises(pyrev.UnsupportedError):
        pyrev.differentiable(target="numba")(f)(Disk(2.0, np.array([3.0])), X, draws(1))
