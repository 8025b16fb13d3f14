"""Gradients of local values against differences of a function that moves them.

In a text ``#: h += move`` is a comment; in the one that is differenced it is a line.
"""

from __future__ import annotations

import linecache
import math
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.targets.cuda import needs, ondevice
from tests.turns import share_of

X = np.array([0.3, -0.8, 1.1, 0.6, -0.2])


def loaded(text: str, **more: Any) -> Any:
    file = f"<local {hash(text) & 0xFFFFFFFF:08x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    given = {"np": np, "math": math, "idx": np.array([2, 0, 2, 4]), **more}
    exec(compile(text, file, "exec"), given)
    return given["f"]


def differences(text: str, shape: tuple[int, ...], args: tuple[Any, ...]) -> Any:
    moving = text.replace("#: ", "")
    assert moving != text
    found = np.zeros(shape)

    def moved(place: tuple[int, ...], step: float) -> float:
        move = np.zeros(shape)
        move[place] = step
        f = loaded(moving, move=move if shape else step)
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        result = f(*own)
        return float(np.sum(result * (1.0 + np.arange(np.size(result)))))

    h = 1e-3
    for place in np.ndindex(*shape):
        for factor, step in ((4 / 3, h / 2), (-1 / 3, h)):
            slope = (moved(place, step) - moved(place, -step)) / (2 * step)
            found[place] += factor * slope
    return found


LATER = """
def f(x, w):
    h = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            h[i] += math.sin(w * x[i] * x[j])
    #: h += move
    total = 0.0
    for i in range(1, x.shape[0]):
        total += h[i] * h[i - 1] * w
    return total
"""
RECURRENCE = """
def f(x, w):
    h = np.zeros(x.shape[0])
    #: h[0] += move[0]
    for t in range(1, x.shape[0]):
        h[t] = math.tanh(w * h[t - 1] + x[t])
        #: h[t] += move[t]
    total = 0.0
    for t in range(x.shape[0]):
        total += h[t] * h[t] * x[t]
    return total
"""
EDGES = """
def f(x, w):
    h = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        h[i] = w
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            h[i] += x[i] * x[j] * w
    h[0] = w * w
    h[-1] = 0.0
    #: h += move
    total = 0.0
    for i in range(x.shape[0]):
        total += math.exp(h[i]) * x[i] + h[0] * h[i]
    return total
"""
PRIVATE = """
def f(x, w):
    h = np.zeros(x.shape[0])
    total = 0.0
    for i in range(x.shape[0]):
        h[i] = x[i] * w
        #: h[i] += move[i]
        total += math.sin(h[i]) * h[i]
    return total
"""
CASES = {
    "read later": LATER,
    "a recurrence": RECURRENCE,
    "edges that are set again": EDGES,
    "one that could be made anew in each iteration": PRIVATE,
    "a full one, some elements set": """
def f(x, w):
    h = np.full(x.shape[0], w * w)
    for i in range(2):
        h[2 * i] = x[i] * w
    #: h += move
    return np.sum(h * h * x)
""",
    "a copy that is added to": """
def f(x, w):
    h = x.copy()
    for i in range(x.shape[0] - 1):
        h[i] += w * x[i + 1]
    #: h += move
    return np.sum(h * h * h)
""",
    "a copy, some elements set": """
def f(x, w):
    h = x.copy()
    h[1:3] = w * x[0]
    #: h += move
    return np.sum(h * h * h)
""",
    "a whole expression": """
def f(x, w):
    h = np.tanh(w * x) + 1.0
    #: h += move
    return np.sum(h * h) + h[2]
""",
    "one that is returned": """
def f(x, w):
    h = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        h[i] = x[i] * w
    #: h += move
    return h
""",
    "a name for a part of it": """
def f(x, w):
    h = np.zeros(x.shape[0])
    tail = h[1:]
    for i in range(x.shape[0] - 1):
        tail[i] = x[i] * w
    #: h += move
    return np.sum(tail * tail) + h[0]
""",
    "filled by a helper": """
def fill(a, x, w):
    for i in range(x.shape[0]):
        a[i] = math.sin(x[i] * w)

def f(x, w):
    h = np.zeros(x.shape[0])
    fill(h, x, w)
    #: h += move
    return np.sum(h * h)
""",
    "scattered, and read in a while": """
def f(x, w):
    h = np.zeros(x.shape[0])
    for i in range(4):
        h[idx[i]] += x[i] * w
    #: h += move
    total, k = 0.0, 0
    while total < 2.0 and k < 5:
        total += math.exp(h[k] * h[idx[k % 4]])
        k += 1
    return total
""",
    "set under a test of data": """
def f(x, w):
    h = np.ones(x.shape[0])
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            h[i] = x[i] * w
    #: h += move
    total = 0.0
    for i in range(x.shape[0]):
        total += h[i] ** 2 if h[i] < 0.5 else h[i] * w
    return total
""",
    "no output depends on it": """
def f(x, w):
    h = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        h[i] = x[i] * w
    #: h += move
    return w * x[0]
""",
    "it depends on no input": """
def f(x, w):
    h = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        h[i] = 1.0 * i
    #: h += move
    return np.sum(h * h * x)
""",
    "counted from the end": """
def f(x, w):
    n = x.shape[0]
    h = np.zeros(n)
    for i in range(n):
        h[n - 1 - i] = x[i] * w + (h[n - i] if i > 0 else 0.0)
        #: h[n - 1 - i] += move[n - 1 - i]
    total = 0.0
    for i in range(n):
        total += h[i - 1] * h[i] * h[i]
    return total
""",
}
SCALAR = """
def f(x, w):
    h = 0.5 * w
    for i in range(x.shape[0]):
        h += x[i] * x[i]
    #: h += move
    norm = math.sqrt(h)
    return norm * w + h * x[0]
"""


def gradient(f: Any, text: str) -> Any:
    result, pullback = pyrev.vjp(f, X, 0.7, wrt=("x", "h", "w"))
    if isinstance(result, np.ndarray):
        return pullback(1.0 + np.arange(result.size))
    return pullback(1.0)


def agrees(g: Any, text: str) -> None:
    np.testing.assert_allclose(
        g["h"], differences(text, np.shape(g["h"]), (X, 0.7)), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_the_gradient_of_a_local_array_is_that_of_a_number_added(text: str) -> None:
    f = pyrev.differentiable(loaded(text), target="python")
    g = gradient(f, text)
    assert tuple(g) == ("x", "w", "h") and g.h.shape == X.shape
    agrees(g, text)
    plain = pyrev.vjp(f, X, 0.7)[1](
        1.0 + np.arange(5.0) if "return h\n" in text else 1.0
    )
    np.testing.assert_allclose(g.x, plain.x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(g.w, plain.w, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", {"a recurrence": 0} | dict.fromkeys(share_of(CASES, 8))
)
def test_compiled_code_says_the_same(name: str) -> None:
    agrees(
        gradient(pyrev.differentiable(loaded(CASES[name])), CASES[name]), CASES[name]
    )


@pytest.mark.slow
@needs.compiler
@pytest.mark.parametrize(
    "name", share_of(sorted({*CASES} - {"one that is returned"}), 8)
)
def test_on_a_gpu_too(name: str) -> None:
    with ondevice.standing_in():
        f = pyrev.differentiable(loaded(CASES[name]), target="cuda")
        _, pullback = pyrev.vjp(f, ondevice.there(X), 0.7, wrt="h")
        agrees({"h": ondevice.back(pullback(1.0).h)}, CASES[name])


class Watched:
    """An array of numbers of which one is moved when it is written the last time."""

    def __init__(self, writes: list[int], place: int, step: float) -> None:
        self.values = np.zeros(len(writes))
        self.writes, self.place, self.step = writes, place, step
        self.seen = [0] * len(writes)
        if place >= 0 and not writes[place]:
            self.values[place] += step

    def __getitem__(self, k: int) -> float:
        return float(self.values[k])

    def __setitem__(self, k: int, value: float) -> None:
        k %= len(self.writes)
        self.seen[k] += 1
        last = k == self.place and self.seen[k] == self.writes[k]
        self.values[k] = value + (self.step if last else 0.0)


def watched(text: str, x: Any, w: float) -> Any:
    """The gradient of `h`, by differences of the plain function."""
    first = Watched([0] * 5, -1, 0.0)
    loaded(text.replace("np.zeros(5)", "made"), made=first)(x, w)

    def moved(place: int, step: float) -> float:
        made = Watched(first.seen, place, step)
        return float(loaded(text.replace("np.zeros(5)", "made"), made=made)(x, w))

    h = 1e-3
    slopes = [
        [(moved(k, s) - moved(k, -s)) / (2 * s) for s in (h / 2, h)] for k in range(5)
    ]
    return np.array([(4 * fine - coarse) / 3 for fine, coarse in slopes])


def written(rng: np.random.Generator) -> str:
    """A random function that writes and reads `h`, some of it in its own order."""
    lines = ["def f(x, w):", "    h = np.zeros(5)", "    s = w"]

    def pick(*some: str) -> str:
        return str(rng.choice(some))

    def value(i: str) -> str:
        return pick(
            f"math.sin(x[{i}] * w)",
            f"x[{i}] * s",
            "0.3 * w",
            f"math.tanh({place(i)} * w + x[{i}])",
            f"{place(i)} * x[{i}]",
        )

    def place(i: str) -> str:
        return f"h[{pick(i, i, f'{i} - 1', f'4 - {i}', f'(2 * {i}) % 5', '2')}]"

    for _ in range(int(rng.integers(1, 4))):
        order = pick("range(5)", "range(1, 5)", "range(4, -1, -1)", "range(2, 4)")
        lines.append(f"    for i in {order}:")
        for _ in range(int(rng.integers(1, 3))):
            kind = rng.integers(6)
            if kind < 3:
                lines.append(f"        {place('i')} {pick('=', '+=')} {value('i')}")
            elif kind == 3:
                lines.append(f"        s += {value('i')}")
            elif kind == 4:
                lines.append("        if x[i] > 0.1:")
                lines.append(f"            h[i] {pick('=', '+=')} {value('i')}")
            else:
                lines.append("        for j in range(i):")
                lines.append(f"            h[{pick('i', 'j')}] += x[j] * {value('i')}")
    lines += ["    for i in range(5):", f"        s += h[i] * {value('i')}"]
    return "\n".join([*lines, "    return s * s", ""])


@pytest.mark.parametrize("seed", range(60))
def test_random_functions_are_right_or_refused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text, x = written(rng), rng.normal(size=5)
    f = pyrev.differentiable(loaded(text), target="python")
    try:
        g = pyrev.grad(f, wrt="h")(x, 0.7)
    except pyrev.ArgumentError as refused:
        assert "overwrites" in str(refused)
        return
    np.testing.assert_allclose(g, watched(text, x, 0.7), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("options", [{"memory": "400B"}, {"store": "h"}], ids=str)
def test_what_is_kept_does_not_matter(options: Any) -> None:
    f = pyrev.differentiable(loaded(RECURRENCE), target="python", **options)
    agrees(gradient(f, RECURRENCE), RECURRENCE)


def test_numbers_have_gradients_of_their_own_too() -> None:
    for target in ("python", "numba"):
        f = pyrev.differentiable(loaded(SCALAR), target=target)
        agrees(pyrev.grad(f, wrt=("h", "w"))(X, 0.7), SCALAR)
        value, norm = pyrev.value_and_grad(f, wrt="norm")(X, 0.7)
        assert norm == 0.7 and value == f(X, 0.7) and type(norm) is float


def test_shapes_and_dtypes_are_those_of_the_array() -> None:
    def f(x, out):
        h = np.zeros((x.shape[0], 3), dtype=x.dtype)
        for i in range(x.shape[0]):
            for k in range(3):
                h[i, k] = x[i] * (k + 1)
        for i in range(x.shape[0]):
            for k in range(3):
                out[i] += h[i, k] * h[i, k]

    x = X.astype(np.float32)
    _, pullback = pyrev.vjp(
        pyrev.differentiable(f, target="python"), x, np.zeros_like(x), wrt="h"
    )
    g = pullback(out=1.0)
    assert g.h.shape == (5, 3) and g.h.dtype == np.float32
    np.testing.assert_allclose(g.h, 2 * x[:, None] * [1, 2, 3], rtol=1e-6)


def test_the_text_returns_them_behind_the_parameters() -> None:
    f = pyrev.differentiable(loaded(PRIVATE), wrt=("h", "x"), target="python")
    assert f.adjoint.source.endswith("    return d_x, d_h\n")
    d_x, d_h = f.adjoint(X, 0.7, 1.0)
    h = X * 0.7
    np.testing.assert_allclose(d_h, np.cos(h) * h + np.sin(h))
    np.testing.assert_allclose(d_x, 0.7 * d_h)
    assert pyrev.check_grad(f, X, 0.7).ok
    second = pyrev.differentiable(f.adjoint, target="python")
    _, pullback = pyrev.vjp(second, X, 0.7, 1.0, wrt="x")
    weights = np.arange(5.0)
    curved = 0.7 * (2 * np.cos(h) - h * np.sin(h))
    np.testing.assert_allclose(pullback((None, weights)).x, weights * curved)


def test_a_pullback_may_be_called_again_and_keeps_what_it_gave() -> None:
    f = pyrev.differentiable(loaded(LATER), target="python")
    _, pullback = pyrev.vjp(f, X, 0.7, wrt=("x", "h"))
    one = pullback(1.0)
    kept = one.h.copy()
    np.testing.assert_array_equal(pullback(2.0).h, 2 * kept)
    np.testing.assert_array_equal(one.h, kept)
    x = np.ones(5)
    assert pullback(1.0, into={"x": x}).x is x
    with pytest.raises(pyrev.ArgumentError, match="into: there is no gradient for `h`"):
        pullback(1.0, into={"h": np.zeros(5)})


REFUSED = {
    "written after it was read": (
        """
    h = np.zeros(5)
    for t in range(3):
        for i in range(5):
            h[i] = h[i] * w + x[i]
""",
        "line 5 may read a value of it that line 5 overwrites",
    ),
    "read by a copy before it is ready": (
        """
    h = x * w
    g = h.copy()
    h[2] = g[0]
""",
        "line 3 may read a value of it that line 4 overwrites",
    ),
    "counted from the end where it is still to be written": (
        """
    h = np.zeros(5)
    for i in range(5):
        h[i] = x[i] + w * h[i - 1]
""",
        "line 4 may read a value of it that line 4 overwrites",
    ),
    "where data says what is written": (
        """
    h = np.zeros(5)
    for i in range(4):
        h[idx[i]] = x[i] + h[i]
""",
        "line 4 may read a value of it that line 4 overwrites",
    ),
    "made in a loop": (
        """
    for t in range(3):
        h = np.zeros(5)
        h[t] = x[t] * w
        x[t] = h[t]
    h = x
""",
        "no such parameter",
    ),
    "one of a loop": (
        """
    for t in range(3):
        h = np.zeros(5)
        h[t] = x[t] * w
        x[t] = h[t]
""",
        "line 3 makes it in a loop or under an `if`",
    ),
    "several arrays of one name": (
        """
    h = x * w
    h = h * h
""",
        "no such parameter",
    ),
    "another name for a parameter": (
        """
    h = x
    h[0] = w
""",
        "no such parameter",
    ),
    "buffers that change places": (
        """
    h, g = np.zeros(5), np.zeros(5)
    for t in range(3):
        for i in range(5):
            g[i] = h[i] * w + x[i]
        h, g = g, h
""",
        "no such parameter",
    ),
    "integers": (
        """
    h = np.zeros(5, dtype=np.int64)
    h[0] = 2
    x[0] = h[0] * w
""",
        "it holds int64; only floats",
    ),
    "a number that is set twice": (
        """
    h = w * w
    x[0] = h
    h = w + 1.0
    x[1] = h
""",
        "no such parameter",
    ),
    "a number that is read while it grows": (
        """
    h = 0.0
    for i in range(5):
        h += x[i]
        x[i] = h * w
""",
        "line 5 may read a value of it that line 4 overwrites",
    ),
    "an index": (
        """
    for h in range(5):
        x[h] *= w
""",
        "no such parameter",
    ),
    "a part of a parameter": (
        """
    h = x[1:]
    h[0] = w
""",
        "no such parameter",
    ),
    "what only a helper names": (
        """
    x[0] = inner(x, w)
""",
        "no such parameter",
    ),
}
INNER = """def inner(x, w):
    h = x * w
    return h[0] * h[1]

"""


@pytest.mark.parametrize(("body", "because"), REFUSED.values(), ids=REFUSED)
def test_what_means_no_one_thing_is_refused(body: str, because: str) -> None:
    more = {"inner": loaded(INNER.replace("def inner", "def f"))}
    f = loaded(f"def f(x, w):{body}    return x[0]\n", **more)
    f = pyrev.differentiable(f, target="python")
    with pytest.raises(pyrev.ArgumentError, match="wrt='h'") as caught:
        pyrev.vjp(f, X.copy(), 0.7, wrt=("x", "h"))
    assert because in str(caught.value)


def test_what_is_made_again_where_it_is_read_has_none() -> None:
    f = pyrev.differentiable(loaded(CASES["a whole expression"]), recompute="h")
    with pytest.raises(pyrev.ArgumentError, match="leave it out of `recompute`"):
        pyrev.grad(f, wrt="h")(X, 0.7)


def test_only_pullbacks_have_gradients_of_local_values() -> None:
    f = pyrev.differentiable(loaded(PRIVATE), target="python")
    moves = {"x": np.ones(5)}
    with pytest.raises(pyrev.ArgumentError, match="wrt='h'"):
        pyrev.jvp(f, X, 0.7, tangents={"h": np.ones(5)})
    with pytest.raises(pyrev.ArgumentError, match="wrt='h'"):
        pyrev.hvp(f, X, 0.7, tangents=moves, wrt="h")
    with pytest.raises(pyrev.ArgumentError, match="wrt='h'"):
        pyrev.jacobian(f, wrt="h")(X, 0.7)
    with pytest.raises(pyrev.ArgumentError, match="and the local values h, total"):
        pyrev.grad(f, wrt="hidden")(X, 0.7)
