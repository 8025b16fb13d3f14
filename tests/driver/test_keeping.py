"""`store` and `recompute`: where values live, as the user says."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.schedule.costs import SHIPPED
from tests.tools.costs import differentiable


def swirl(u, v, c, steps):  # type: ignore[no-untyped-def]
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            u[i] += 0.1 * (v[i + 1] - v[i])
            v[i] -= 0.1 * (u[i] - u[i - 1])
        for i in range(1, u.shape[0] - 1):
            bend = u[i] - v[i] - v[i - 1] + u[i + 1]
            c[i] += bend * bend * 0.1


def squared(x, k):  # type: ignore[no-untyped-def]
    smooth = np.zeros(x.shape[0] - 2)
    for i in range(smooth.shape[0]):
        for j in range(3):
            smooth[i] += x[i + j] * k[j]
    total = 0.0
    for i in range(1, smooth.shape[0]):
        total += smooth[i] * smooth[i - 1] if x[i] > 0.5 else x[i]
    return total


def arguments(n: int = 8) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    given = {name: rng.uniform(0.5, 1.5, n) for name in "uvc"}
    return {**given, "steps": 3}


def recorded(f: pyrev.api.differentiable.Differentiable) -> list[str]:
    alternatives = f.adjoint.report().to_dict()["alternatives"]
    assert isinstance(alternatives, list)
    (taken,) = (a for a in alternatives if a["taken"])
    return [s["name"] for s in taken["recorded"]]


def test_what_is_stored_is_recorded_instead_of_what_it_is_made_of() -> None:
    assert sorted(recorded(pyrev.differentiable(swirl))) == ["u", "v"]
    kept = pyrev.differentiable(swirl, store="bend")
    assert recorded(kept) == ["bend"]
    assert "bend_tape" in kept.adjoint.source
    assert pyrev.check_grad(kept, **arguments()).ok


def test_sizes_choose_what_is_recorded() -> None:
    f = differentiable(swirl, replace(SHIPPED, compiled_elements=100))
    assert "u_before" in f.adjoint.source_for("numba", **arguments(3))
    text = f.adjoint.source_for("numba", **arguments(40))
    assert "bend_tape" in text and "u_before" not in text
    both = str(f.explain())
    assert "store=('bend',): bend [" in both
    assert "nothing asked for (taken): " in both


def test_what_is_computed_again_needs_no_array() -> None:
    again = pyrev.differentiable(squared, recompute="smooth")
    rng = np.random.default_rng(1)
    x, k = rng.random(9), rng.random(3)
    for target in ("python", "numba"):
        f = pyrev.differentiable(squared, recompute=["smooth"], target=target)
        assert pyrev.check_grad(f, x, k).ok
        assert abs(f(x, k) - squared(x, k)) < 1e-12
    for text in (again.adjoint.source, again.primal.source):
        code = [line.partition("#")[0] for line in text.splitlines()]
        assert not any("smooth[" in line for line in code)
    with pytest.raises(ValueError, match="negative dimensions"):
        again(np.ones(1), k)


def test_a_stored_array_is_kept_whole() -> None:
    rng = np.random.default_rng(2)
    x, k = rng.random((300, 300)), rng.random(5)

    def blurred(x, k):  # type: ignore[no-untyped-def]
        smooth = np.zeros((300, 296))
        for i in range(300):
            for j in range(296):
                for r in range(5):
                    smooth[i, j] += x[i, j + r] * k[r]
        total = 0.0
        for i in range(300):
            for j in range(296):
                total += smooth[i, j] ** 2
        return total

    free = pyrev.differentiable(blurred).adjoint.source_for("numba", x, k)
    kept = pyrev.differentiable(blurred, store="smooth")
    text = kept.adjoint.source_for("numba", x, k)
    assert "smooth_row" in free
    assert "smooth_row" not in text and re.search(r"smooth = (zeros|empty)", text)


REFUSED = {
    "it begins as a copy": ("b = a.copy()", "begins as a copy"),
    "a part is left out": (
        "b = np.zeros(n)\n    for i in range(1, n):\n        b[i] = a[i]",
        "leave some",
    ),
    "neighbours": (
        "b = np.zeros(n)\n    for i in range(n):\n        b[i] = a[i] + b[i - 1]",
        "more than the element",
    ),
    "two loops": (
        "b = np.zeros(n)\n    for i in range(n):\n        b[i] = a[i]\n    b[0] = 1.0",
        "more than one statement",
    ),
    "what it is made of changes": (
        "b = np.zeros(n)\n    for i in range(n):\n        b[i] = a[i]\n    a[0] = 1.0",
        "changes before it is read",
    ),
    "handed on": (
        "b = np.zeros(n)\n    s = 0.0\n    for i in range(n):\n        s += a[i]\n"
        "        b[i] = s",
        "hands a value on",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_computed_again_is_refused_with_the_reason(name: str) -> None:
    from tests.analysis.test_random_subscripts import function_of

    lines, reason = REFUSED[name]
    text = f"import numpy as np\ndef f(a, out):\n    n = a.shape[0]\n    {lines}\n"
    text += "    for i in range(n):\n        out[i] = b[i] * b[i]\n"
    f = pyrev.differentiable(function_of(text), recompute="b")
    with pytest.raises(pyrev.ArgumentError, match=reason):
        f(np.ones(4), np.ones(4))


def test_a_state_cannot_be_computed_again() -> None:
    def grow(x, n):  # type: ignore[no-untyped-def]
        s = 1.0
        for _ in range(n):
            s = s * s * x
        return s

    with pytest.raises(pyrev.ArgumentError, match="give `memory` instead"):
        pyrev.grad(pyrev.differentiable(grow, recompute="s"))(0.5, 3)
    assert pyrev.check_grad(pyrev.differentiable(grow, store="s"), 0.5, 3).ok


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"store": "nothing"}, "has no local value of that name; it has"),
        ({"recompute": ("smooth", "x")}, "recompute='x'"),
        ({"store": 3}, "give names of local values"),
        ({"store": "smooth", "recompute": ["smooth"]}, "leave it in one"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(pyrev.ArgumentError, match=message):
        pyrev.differentiable(squared, **options)
