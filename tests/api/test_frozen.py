"""`f.frozen`: calls with fixed shapes, dtypes and integers."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numba
import numpy as np
import pytest

import pyrev
from pyrev.api.frozen import Frozen


def smooth(u: Any, c: float, out: Any) -> None:
    for y in range(1, u.shape[0] - 1):
        for x in range(1, u.shape[1] - 1):
            out[y, x] = u[y, x] + c * (u[y - 1, x] + u[y, x + 1])


def energy(u: Any, c: float, n: int) -> Any:
    s = 0.0
    for _ in range(n):
        for i in range(1, u.shape[0]):
            s += c * u[i] * u[i - 1] * u[i]
    return s


def both(u: Any, k: int) -> Any:
    v = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        v[i] = u[i] * k
    return v, u, 3


def doubled(u: Any) -> Any:
    v = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        v[i] = 2.0 * u[i]
    return v


def counted(u: Any) -> Any:
    n = 0
    for i in range(u.shape[0]):
        if u[i] > 0.5:
            n += 1
    return n


def gathered(u: Any, at: Any) -> Any:
    s = 0.0
    for k in range(at.shape[0]):
        s += u[at[k]]
    return s


def asserted(u: Any) -> Any:
    s = 0.0
    for i in range(u.shape[0]):
        if u[i] < 0.0:
            raise ValueError("negative")
        s += u[i] ** 1.5
    return s


weight = 2.0


def weighted(u: Any) -> Any:
    s = 0.0
    for i in range(u.shape[0]):
        s += weight * u[i]
    return s


def drawn(n: int = 5, m: int = 6) -> tuple[Any, float, Any]:
    return np.random.default_rng(n).random((n, m)), 0.3, np.zeros((n, m))


@pytest.mark.parametrize("shape", [(5, 6), (0, 3), (300, 400)])
def test_a_frozen_call_is_the_call(shape: tuple[int, int]) -> None:
    u, c, out = drawn(*shape)
    wanted = out.copy()
    smooth(u, c, wanted)
    f = pyrev.differentiable(smooth).frozen(u, c, out)
    assert not out.any()  # nothing has run
    assert f(u, c, out) is None
    np.testing.assert_allclose(out, wanted, rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (energy, (np.linspace(0, 1, 9), 0.2, 3)),
        (energy, (np.linspace(0, 1, 9, dtype="float32"), np.float32(0.2), 3)),
        (both, (np.linspace(0, 1, 9), 4)),
        (counted, (np.linspace(0, 1, 9),)),
        (asserted, (np.linspace(0, 1, 9),)),
    ],
)
def test_results_are_those_of_the_call(function: Any, args: Any) -> None:
    f = pyrev.differentiable(function)
    found, wanted = f.frozen(*args)(*args), f(*args)
    row = zip(found, wanted, strict=True) if function is both else [(found, wanted)]
    for mine, other in row:
        assert type(mine) is type(other)
        np.testing.assert_array_equal(mine, other)
    if function is both:
        assert found[1] is args[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda u, c, out: (u[:4].copy(), c, out), r"`u` float64\[5, 6\]"),
        (lambda u, c, out: (u, c, out[:, :5].copy()), r"`out` float64\[5, 6\]"),
        (lambda u, c, out: (u, c, u), "writes `out`, which overlaps `u`"),
        (lambda u, c, out: (u.astype("f4"), c, out), "not float32 with 2 axes"),
        (lambda u, c, out: (np.asfortranarray(u), c, out), "not in C order"),
        (lambda u, c, out: (u, c), "u, c, out; 2 were given"),
        (lambda u, c, out: (u, "c", out), "`c` float, not str"),
        (lambda u, c, out: (u, c, read_only(out)), "read-only"),
        (lambda u, c, out: (u[0], c, out), "not float64 with 1 axes"),
    ],
)
def test_other_arguments_are_refused(change: Any, words: str) -> None:
    given = drawn()
    f = pyrev.differentiable(smooth).frozen(*given)
    changed = change(*given)
    before = [np.copy(a) for a in changed]
    with pytest.raises(pyrev.ArgumentError, match=words):
        f(*changed)
    for mine, own in zip(changed, before, strict=True):
        np.testing.assert_array_equal(mine, own)


def read_only(a: Any) -> Any:
    a = a.copy()
    a.flags.writeable = False
    return a


def test_overlaps_are_seen_to_the_byte() -> None:
    room = np.zeros(61)
    u, out = room[:30].reshape(5, 6), room[30:60].reshape(5, 6)
    f = pyrev.differentiable(smooth).frozen(u, 0.1, out)
    f(u, 0.1, out)  # side by side
    with pytest.raises(pyrev.ArgumentError, match="overlaps"):
        f(u, 0.1, room[29:59].reshape(5, 6))
    with pytest.raises(pyrev.ArgumentError, match="overlaps"):
        f(room[31:61].reshape(5, 6), 0.1, out)


def test_integers_are_fixed() -> None:
    u = np.ones(5)
    f = pyrev.differentiable(energy).frozen(u, 0.1, 3)
    f(u, 0.7, 3)
    with pytest.raises(pyrev.ArgumentError, match="frozen for `n` int 3"):
        f(u, 0.1, 4)
    assert "n int 3" in repr(f)


@pytest.mark.parametrize(
    ("function", "args", "words"),
    [
        (gathered, (np.ones(3), np.array([0, 2])), "data decide"),
        (weighted, (np.ones(3),), "uses `weight`, which is not its own"),
        (smooth, (np.ones((3, 6)).T, 0.1, np.zeros((6, 3))), "`u` is not in C order"),
    ],
)
def test_what_needs_a_look_at_each_call_is_not_frozen(
    function: Any, args: Any, words: str
) -> None:
    with pytest.raises(pyrev.ArgumentError, match=words):
        pyrev.differentiable(function).frozen(*args)


def test_other_targets_are_not_frozen() -> None:
    f = pyrev.differentiable(target="python")(smooth)
    with pytest.raises(pyrev.ArgumentError, match="use target='numba'"):
        f.frozen(*drawn())


def test_a_frozen_adjoint_is_the_adjoint() -> None:
    u, c, out = drawn()
    f = pyrev.differentiable(smooth)
    seed = np.random.default_rng(1).random(out.shape)
    frozen = f.adjoint.frozen(u, c, out, seed)
    found, wanted = frozen(u, c, out, seed), f.adjoint(u, c, out, seed)
    assert isinstance(frozen, Frozen)
    assert len(found) == len(wanted) == 3
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-14)
    # The cotangent is not what is changed.
    np.testing.assert_array_equal(seed, np.random.default_rng(1).random(out.shape))
    with pytest.raises(pyrev.ArgumentError, match="`d_out` float64"):
        frozen(u, c, out, seed[:2].copy())
    with pytest.raises(pyrev.ArgumentError, match="asserts"):
        pyrev.differentiable(asserted).adjoint.frozen(np.ones(3), 1.0)
    with pytest.raises(pyrev.ArgumentError, match="the function makes"):
        pyrev.differentiable(doubled).adjoint.frozen(np.ones(3), np.ones(3))


def test_compiled_code_calls_a_frozen_adjoint() -> None:
    u = np.linspace(0.1, 1.0, 7)
    adjoint = pyrev.differentiable(energy).adjoint.frozen(u, 0.5, 2, 1.0).njit

    @numba.njit
    def descended(u: Any, steps: int) -> Any:
        for _ in range(steps):
            u -= 0.01 * adjoint(u, 0.5, 2, 1.0)[0]
        return u

    own = u.copy()
    gradient = pyrev.grad(energy, wrt="u")
    for _ in range(20):
        own -= 0.01 * gradient(own, 0.5, 2)
    np.testing.assert_allclose(descended(u.copy(), 20), own, rtol=1e-12)
    with pytest.raises(pyrev.ArgumentError, match="`u`"):
        descended(u[:5].copy(), 1)


frozen_energy = pyrev.differentiable(energy, target="numba")


def test_it_travels_by_its_function_and_the_kinds_of_its_arguments() -> None:
    u = np.linspace(0.0, 1.0, 2000)
    frozen = frozen_energy.frozen(u, 0.5, 3)
    sent = pickle.dumps(frozen)
    assert len(sent) < 1000
    again = pickle.loads(sent)
    assert again(u, 0.5, 3) == frozen(u, 0.5, 3)
    with pytest.raises(pyrev.ArgumentError, match=r"float64\[2000\]"):
        again(u[:5].copy(), 0.5, 3)
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy([frozen])[0] is frozen
    adjoint = frozen_energy.adjoint.frozen(u, 0.5, 3, 1.0)
    thawed = pickle.loads(pickle.dumps(adjoint))
    for one, other in zip(thawed(u, 0.5, 3, 1.0), adjoint(u, 0.5, 3, 1.0), strict=True):
        assert np.array_equal(one, other)
