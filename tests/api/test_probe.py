"""`pyrev.probe` against differences of the plain function, moved where it probes."""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.bridges.pure import Level, Pure
from tests.targets.cuda import needs, ondevice

Log = list[tuple[str, float]]
Make = Callable[..., Any]

log: Log = []


def one(d: float) -> None:
    log.append(("one", d))


def two(d: float) -> str:
    log.append(("two", d))
    return "ignored"


@pytest.fixture(autouse=True)
def _fresh_log() -> Iterator[None]:
    log.clear()
    yield


def loaded(text: str, probe: Make) -> Any:
    """The function `f` of a text, whose `probe` is this one."""
    file = f"<probed {hash(text) & 0xFFFFFFFF:08x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    given = {"np": np, "math": math, "probe": probe, "one": one, "two": two}
    exec(compile(text, file, "exec"), given)
    return given["f"]


def expected(text: str, call: Callable[[Any], float]) -> Log:
    """The adjoints of all executions, the first one first: central differences.

    `call` runs a function on fresh arguments and gives the number that is
    differentiated.
    """
    order: list[str] = []

    def count(x: float, callback: Any) -> float:
        order.append(callback.__name__)
        return x

    call(loaded(text, count))

    def moved(which: int, step: float) -> float:
        done: list[None] = []

        def move(x: float, callback: Any) -> float:
            done.append(None)
            return x + step if len(done) == which + 1 else x

        return call(loaded(text, move))

    h = 1e-3

    def slope(k: int, h: float) -> float:
        return (moved(k, h) - moved(k, -h)) / (2 * h)

    return [
        (name, (4 * slope(k, h / 2) - slope(k, h)) / 3) for k, name in enumerate(order)
    ]


class Differenced:
    """A text, its arguments, and what the pullback should tell."""

    def __init__(self, text: str, *args: Any, w: Any = None) -> None:
        self.text, self.args, self.w = text, args, w

    def fresh(self) -> list[Any]:
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self.args]

    def number(self, f: Any) -> float:
        args = self.fresh()
        result = f(*args)
        total = 0.0 if result is None else float(result)
        return total if self.w is None else total + float(np.sum(self.w * args[-1]))

    def check(self, **options: Any) -> None:
        wanted = expected(self.text, self.number)[::-1]
        wrt = options.pop("wrt", None)
        f = pyrev.differentiable(loaded(self.text, pyrev.probe), **options)
        result, pullback = pyrev.vjp(f, *self.fresh(), wrt=wrt)
        assert log == []
        cotangent = None if result is None else 1.0
        named = {} if self.w is None else {"out": self.w}
        pullback(cotangent, cotangents=named)
        assert [name for name, _ in log] == [name for name, _ in wanted]
        np.testing.assert_allclose(
            [d for _, d in log], [d for _, d in wanted], rtol=2e-6, atol=2e-6
        )
        log.clear()


X = np.array([0.3, -0.8, 1.1, 0.6, -0.2])

LOOPS = """
def f(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        total += math.sin(probe(x[i] * w, one)) * probe(w, two)
    return total
"""

CORNERS = {
    "loops": LOOPS,
    "a while, whose test probes": """
def f(x, w):
    s, k = 0.2, 0
    while probe(s, one) < 3.0 and k < 9:
        s += probe(x[k % 5] * x[k % 5], two) + 0.3 * w
        k += 1
    return s * s
""",
    "branches, and conditional expressions": """
def f(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            total += probe(x[i], one) ** 2 if i != 2 else w
        elif i > 1:
            total *= probe(w, two)
        else:
            total -= w * x[i]
    return total
""",
    "nested loops that break": """
def f(x, w):
    total = 1.0
    for i in range(x.shape[0]):
        for j in range(i + 1):
            if probe(x[i] * x[j], one) * w > 0.9:
                break
            total += probe(total * x[j], two) * 0.1
    return total
""",
    "helpers": """
def square(t):
    return t * t

def own(t):
    half = probe(t / 2, one)
    return half * t

def f(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        total += square(probe(x[i] * w, two)) + own(x[i]) * own(w)
    return total
""",
    "one in another": """
def f(x, w):
    return probe(probe(x[0] * w, one) ** 2 + w, two) * probe(x[0] * w, one)
""",
    "what no output depends on, and what depends on no input": """
def f(x, w):
    lost = probe(x[1] * w, one)
    lost = x[1]
    fixed = probe(2.0, two) * probe(3, one)
    return fixed * x[0] + 0.0 * lost
""",
    "a value that is overwritten": """
def f(x, w):
    s = w
    for i in range(x.shape[0]):
        s = probe(s, one) * 0.9 + x[i]
        s = probe(s, two)
        if i == 3:
            s = 1.5 * w
    return s * s
""",
    "straight-line code behind it, whose partials may be multiplied out": """
def f(x, w):
    s = 0.5 * w
    for i in range(x.shape[0]):
        p = probe(x[i], one)
        for t in range(4):
            a = p * p * s
            b = a * math.sin(a) * w
            c = math.cos(b) * b * p
            s = c * b + a + p
    return s
""",
    "lambdas, defaults and keywords": """
def f(x, w, k=2):
    scaled = lambda t, a=0.5: probe(callback=one, x=t * a)
    return scaled(x[0]) * scaled(w, a=2.0) + probe(w, callback=two) ** k
""",
    "short circuits and asserts": """
def f(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] > 0.0 and probe(x[i] * w, one) > 0.5 or i == 1:
            total += probe(x[i], two) * w
        assert total < 100.0
    return total
""",
}


@pytest.mark.parametrize("text", CORNERS.values(), ids=CORNERS)
def test_each_execution_is_told_once_and_the_last_one_first(text: str) -> None:
    Differenced(text, X, 0.7).check(target="python")
    Differenced(text, X, 0.7).check(target="python", wrt="w")


IN_PLACE = """
def f(x, w, out):
    u = np.zeros(x.shape[0])
    for t in range(6):
        for i in range(1, x.shape[0] - 1):
            u[i] = probe(out[i] * w, one) + 0.2 * (out[i - 1] - out[i + 1])
        for i in range(x.shape[0]):
            out[i] = math.tanh(probe(u[i], two) + x[i])
"""


@pytest.mark.parametrize(
    "options", [{}, {"memory": "500B"}, {"store": "u"}, {"target": "numba"}], ids=str
)
def test_steps_that_are_recorded_or_run_again_are_told_once(
    options: dict[str, Any],
) -> None:
    w = np.array([1.0, -0.5, 0.25, 2.0, 1.5])
    case = Differenced(IN_PLACE, X, 0.7, np.full(5, 0.1), w=w)
    case.check(**{"target": "python", **options})


def test_checkpointed_loops_are_told_once() -> None:
    text = IN_PLACE.replace("range(6)", "pyrev.checkpointed(range(6), slots=2)")
    text = text.replace("def f", "import pyrev\n\ndef f")
    w = np.array([1.0, -0.5, 0.25, 2.0, 1.5])
    Differenced(text, X, 0.7, np.full(5, 0.1), w=w).check(target="python")


class Writer:
    """A random function with probes everywhere."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.probes = 0

    def pick(self, *some: str) -> str:
        return str(self.rng.choice(some))

    def value(self, index: str, depth: int = 0) -> str:
        if depth > 2 or self.rng.random() < 0.3:
            found = self.pick("s", "t", "w", f"x[{index}]", f"u[{index}]", "0.7")
        else:
            a, b = self.value(index, depth + 1), self.value(index, depth + 1)
            form = self.pick(
                "({a} + {b})",
                "({a} - 0.5 * {b})",
                "math.sin({a}) * {b}",
                "math.tanh({a} * {b})",
                "half({a})",
                "({a} if x[{i}] > 0.2 else {b})",
                "max({a}, -3.0)",
            )
            found = form.format(a=a, b=b, i=index)
        if self.probes < 12 and self.rng.random() < 0.25:
            self.probes += 1
            return f"probe({found}, {self.pick('one', 'two')})"
        return found

    def block(self, indent: int, index: str, budget: int) -> None:
        pad = "    " * indent
        for _ in range(budget):
            kind = self.rng.integers(8)
            value = self.value(index)
            if kind == 0:
                self.lines.append(f"{pad}s = math.sin({value})")
            elif kind == 1:
                self.lines.append(f"{pad}t += 0.1 * {value}")
            elif kind == 2:
                self.lines.append(f"{pad}u[{index}] = math.tanh({value})")
            elif kind == 3:
                self.lines.append(f"{pad}out[{index}] += {value}")
            elif kind == 4:
                self.lines.append(f"{pad}out[(2 * {index}) % 5] = 0.5 * {value}")
            elif kind == 5 and indent < 3:
                inner = "ijk"[indent]
                order = self.pick("range(5)", "reversed(range(4))", f"range({index})")
                self.lines.append(f"{pad}for {inner} in {order}:")
                self.block(indent + 1, inner, 2)
            elif kind == 6 and indent < 4:
                self.lines.append(f"{pad}if {value} > 0.3:")
                self.block(indent + 1, index, 1)
                self.lines.append(f"{pad}else:")
                self.block(indent + 1, index, 1)
            else:
                self.lines.append(f"{pad}t = probe({value}, two) * 0.6")

    def text(self) -> str:
        self.lines = [
            "def half(v):",
            "    return probe(v * v, one) * 0.5 if v > 0.2113 else probe(v, two)",
            "",
            "def f(x, w, out):",
            "    s, t = 0.4, w",
            "    u = np.zeros(5)",
        ]
        self.block(1, "0", 4)
        self.lines.append("    for i in range(5):")
        self.block(2, "i", 3)
        self.lines.append("        out[i] -= 0.1 * s")
        self.lines.append("    return s + t + u[2]")
        return "\n".join(self.lines) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_random_functions_tell_what_differences_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = Writer(rng).text()
    x, out, w = rng.normal(size=5), rng.normal(size=5), rng.normal(size=5)
    case = Differenced(text, x, 0.8, out, w=w)
    wrt = [None, "w", "x", ("w", "out")][seed % 4]
    # What a triangular loop makes has no size to bound.
    bounded = seed % 5 == 0 and not re.search(r"range\([ijk0]\)", text)
    case.check(target="python", wrt=wrt, memory="4kB" if bounded else None)


def probed(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        total += math.sin(pyrev.probe(x[i] * w, one))
    return total


def quiet(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        total += math.sin(x[i] * w)
    return total


def test_the_text_stands_alone_and_says_what_it_calls(tmp_path: Path) -> None:
    f = pyrev.differentiable(probed)
    text = f.adjoint.source
    assert "def probed_adjoint(x, w, d_result, one):" in text
    assert re.search(r"d_probed = .*\n        one\(d_probed\)\n", text)
    where = f.adjoint.save(tmp_path / "saved.py", target="numba")
    assert "pyrev.probe" not in re.sub("#.*", "", where.read_text())
    saved: dict[str, Any] = {}
    exec(where.read_text(), saved)
    told: list[float] = []
    d_x, d_w = saved["probed_adjoint"](X, 0.7, 2.0, told.append)
    np.testing.assert_allclose(told[::-1], 2 * np.cos(0.7 * X))
    np.testing.assert_allclose(f.adjoint(X, 0.7, 2.0)[0], d_x)
    assert [d for _, d in log] == told
    np.testing.assert_allclose(d_w, 2 * np.cos(0.7 * X) @ X)


def test_it_says_why_nothing_is_parallel() -> None:
    f = pyrev.differentiable(probed, target="numba")
    for said in (f.explain(), f.explain("numba"), f.explain("numba", X, 0.7)):
        assert "all serial, in CPython, in the order of the text: it calls" in said
        assert "one(d_probed)" in said
    assert f.adjoint.report().to_dict()["called"]


def test_only_a_pullback_calls_back() -> None:
    for target in ("python", "numba"):
        f = pyrev.differentiable(probed, target=target)
        g = pyrev.differentiable(quiet, target=target)
        assert f(X, 0.7) == g(X, 0.7)
        moves = {"x": np.ones(5)}
        _, moved = pyrev.jvp(f, X, 0.7, tangents=moves)
        assert moved["return"] == pyrev.jvp(g, X, 0.7, tangents=moves)[1]["return"]
        if target == "numba":
            continue
        h = pyrev.hvp(f, X, 0.7, tangents=moves)
        np.testing.assert_allclose(h.x, pyrev.hvp(g, X, 0.7, tangents=moves).x)
        for sparse in (False, True):
            h, j = pyrev.hessian(f, "x", sparse), pyrev.jacobian(f, "x", sparse=sparse)
            want = pyrev.hessian(g, "x")(X, 0.7), pyrev.jacobian(g, "x")(X, 0.7)
            for mine, other in zip((h(X, 0.7), j(X, 0.7)), want, strict=True):
                dense = mine.toarray() if sparse else mine
                np.testing.assert_allclose(dense.reshape(other.shape), other)
        assert pyrev.check_grad(f, X, 0.7).ok
    assert log == []
    _, pullback = pyrev.vjp(f, X, 0.7)
    assert log == []
    pullback(1.0)
    pullback(1.0)
    assert len(log) == 10 and log[:5] == log[5:]


def test_bridges_of_second_order_read_a_text_that_calls_nothing() -> None:
    f = pyrev.differentiable(probed, target="python")
    given = {"x": X, "w": 0.7}
    first = Pure(f).gradients(given, ["x"], [Level((0,), (0,))], [1.0])
    assert len(log) == 5
    np.testing.assert_allclose(first[0], 0.7 * np.cos(0.7 * X))
    weights = np.arange(5.0)
    levels = [Level((0,), (0,)), Level((0,), (0,))]
    (second,) = Pure(f).gradients(given, ["x"], levels, [1.0, weights])
    np.testing.assert_allclose(second, -0.49 * weights * np.sin(0.7 * X))
    assert len(log) == 5


def test_the_adjoint_as_a_function_of_its_own_is_differentiated_and_silent() -> None:
    second = pyrev.differentiable(pyrev.differentiable(probed).adjoint, target="python")
    (d_x, _), pullback = pyrev.vjp(second, X, 0.7, 1.0)
    np.testing.assert_allclose(d_x, 0.7 * np.cos(0.7 * X))
    weights = np.arange(5.0)
    g = pullback((weights, None))
    np.testing.assert_allclose(g.x, -weights * 0.49 * np.sin(0.7 * X))
    assert log == []


def test_what_a_callback_raises_comes_out_and_leaves_all_as_it_was() -> None:
    def bounded(d: float) -> None:
        assert abs(d) < 0.9, "the adjoint grows"

    def f(x, out):
        for i in range(x.shape[0]):
            out[i] = pyrev.probe(x[i], bounded) ** 2

    out = np.zeros(5)
    _, pullback = pyrev.vjp(f, X, out)
    into = {"x": np.ones(5)}
    with pytest.raises(AssertionError, match="grows"):
        pullback(out=1.0, into=into)
    assert into["x"].tolist() == [1.0] * 5
    g = pullback(out=0.1)
    np.testing.assert_allclose(g.x, 0.2 * X)


def test_attributes_and_closures_are_read_at_each_call() -> None:
    seen: list[float] = []

    def f(x):
        return pyrev.probe(x, seen.append) ** 2

    g = pyrev.grad(f)
    assert g(3.0).x == 6.0 and seen == [6.0]
    seen = []
    assert g(1.0).x == 2.0 and seen == [2.0]
    seen = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        g(1.0)


def test_a_name_that_is_no_function_any_more_is_refused_at_the_call() -> None:
    told = print

    def f(x):
        return pyrev.probe(x, told) ** 2

    g = pyrev.differentiable(f)
    told = 3  # type: ignore[assignment]
    assert g(2.0) == 4.0
    with pytest.raises(pyrev.ArgumentError, match="`told`, which is now of type int"):
        pyrev.grad(g)(2.0)


def test_names_of_callbacks_meet_no_other_names() -> None:
    append = 2.0
    d_x: list[float] = []

    def f(x):
        y = pyrev.probe(x * append, d_x.append)
        return y * y

    f = pyrev.differentiable(f)
    assert pyrev.grad(f)(3.0).x == 24.0 and d_x == [12.0]


def test_float32_and_integers_keep_their_kinds() -> None:
    def f(x, k, out):
        for i in range(x.shape[0]):
            out[i] = (
                pyrev.probe(x[i], one) * pyrev.probe(k, two)
                + x[int(pyrev.probe(i, two))]
            )

    x, out = X.astype(np.float32), np.zeros(5, np.float32)
    for target in ("python", "numba"):
        log.clear()
        g = pyrev.differentiable(f, target=target)
        _, pullback = pyrev.vjp(g, x, 3, out)
        np.testing.assert_allclose(out, 4 * x, rtol=1e-6)
        assert pullback(out=1.0).x.tolist() == [4.0] * 5
        # An integer is a constant: its adjoint is a number all the same.
        assert log[:3] == [("two", 0.0), ("two", x[4]), ("one", 3.0)]


def test_an_array_that_probes_is_not_made_again() -> None:
    def f(x):
        smooth = np.zeros(x.shape[0])
        for i in range(smooth.shape[0]):
            smooth[i] = pyrev.probe(x[i], one) * 2.0
        total = 0.0
        for i in range(1, smooth.shape[0]):
            total += smooth[i] * smooth[i - 1]
        return total

    f = pyrev.differentiable(f, recompute="smooth", target="python")
    with pytest.raises(pyrev.ArgumentError, match="probe"):
        pyrev.grad(f)(X)


@needs.compiler
def test_on_a_gpu_the_function_runs_and_its_adjoint_is_refused() -> None:
    with ondevice.standing_in():
        f = pyrev.differentiable(probed, target="cuda")
        assert float(f(ondevice.there(X), 0.7)) == pytest.approx(quiet(X, 0.7))
        with pytest.raises(pyrev.UnsupportedError, match="P304"):
            pyrev.grad(f)(ondevice.there(X), 0.7)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("probe(x, one)[0] + x[0]", "takes numbers, and an array is given"),
        ("probe(x[1:] * 2.0, one)[0]", "takes numbers, and an array is given"),
        ("probe(x[0], lambda d: None)", "does not name a function outside"),
        ("probe(x[0], w)", "does not name a function outside"),
        ("probe(x[0], math.pi)", "does not name a function outside"),
        ("probe(x[0], nobody)", "does not name a function outside"),
        ("probe(x[0], one.nothing)", "does not name a function outside"),
        ("probe(x[0])", "takes x, callback"),
        ("probe(x[0], one, two)", "takes x, callback"),
        ("probe(x[0], calls=one)", "takes x, callback"),
    ],
)
def test_what_is_refused(text: str, because: str) -> None:
    f = loaded(f"def f(x, w):\n    return {text}\n", pyrev.probe)
    with pytest.raises(pyrev.UnsupportedError, match=because):
        pyrev.grad(f)(X, 1.0)


def test_a_probe_whose_value_is_dropped_is_refused() -> None:
    f = loaded("def f(x):\n    probe(x[0], one)\n    return x[0]\n", pyrev.probe)
    with pytest.raises(pyrev.UnsupportedError, match="P115"):
        pyrev.grad(f)(X)


def root_vjp(a, result, d_result):
    return d_result / (2 * result)


@pyrev.custom_vjp(root_vjp)
def root(a):
    y = 1.0
    while abs(y * y - a) > 1e-14 * a:
        y = 0.5 * (y + a / y)
    return y


def test_what_goes_into_and_comes_out_of_a_rule_of_the_users_is_told() -> None:
    def f(x):
        h = np.zeros(x.shape[0])
        for i in range(x.shape[0]):
            h[i] = pyrev.probe(root(pyrev.probe(x[i], one)), two)
        total = 0.0
        for i in range(x.shape[0]):
            total += h[i] ** 3
        return total

    x = np.array([1.0, 4.0])
    f = pyrev.differentiable(f, target="python")
    g = pyrev.grad(f, wrt=("x", "h"))(x)
    np.testing.assert_allclose(g.h, 3.0 * x)
    np.testing.assert_allclose(g.x, 1.5 * np.sqrt(x))
    told = [("two", 12.0), ("one", 3.0), ("two", 3.0), ("one", 1.5)]
    assert [n for n, _ in log] == [n for n, _ in told]
    np.testing.assert_allclose([d for _, d in log], [d for _, d in told])
    assert "probed" in str(f.graph("adjoint"))
