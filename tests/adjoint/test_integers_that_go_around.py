"""Partials that are integers of few bits: what goes around in the function goes around
in its derivative, whatever the adjoint does with products and signs.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from tests.tools.costs import differentiable

#: What stands beside `u[i]`: integers `k`, `m` of the data, all of one dtype.
FACTORS = (
    "(k[i] * k[i])",
    "(k[i] * m[i])",
    "(k[i] * k[i]) * (k[i] * k[i])",
    "(2 * k[i])",
    "(k[i] * 2 * k[i])",
    "(-k[i])",
    "-(-k[i])",
    "(k[i] + k[i])",
    "(k[i] - m[i])",
    "(k[i] ** 2)",
    "(k[i] ** 2 * m[i])",
    "abs(k[i])",
    "(k[i] // 3 * k[i])",
    "(k[i] << 1)",
    "max(k[i] * k[i], m[i])",
    "(k[i] * k[i] if k[i] > 0 else -m[i])",
)
FORMS = {
    "beside": "s += u[i] * {}",
    "before": "s += {} * u[i]",
    "squared": "s += u[i] * u[i] * {}",
    "less": "s -= u[i] * {}",
    "divided": "s += u[i] / (0.5 + {})",
    "named": "n = {}\n        s += u[i] * n",
    "again": "s = s + 0.5 * u[i] * {} * u[i]",
}


def functions(folder: Path) -> dict[str, Any]:
    """A function for each form of each factor."""
    lines = ["import numpy as np\n"]
    for f, factor in enumerate(FACTORS):
        for name, form in FORMS.items():
            lines.append(
                f"\n\ndef {name}_{f}(u, k, m):\n    s = 0.0\n"
                f"    for i in range(u.shape[0]):\n        {form.format(factor)}\n"
                f"    return s\n"
            )
    path = folder / "integers_that_go_around.py"
    path.write_text("".join(lines))
    space: dict[str, Any] = {"__name__": "integers_that_go_around"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return {n: f for n, f in space.items() if n.rpartition("_")[0] in FORMS}


U = np.array([0.3, 0.7, 0.2, 0.9, 0.4])
DATA = {
    "int8": ([-128, 127, 100, -77, 3], [127, -128, -1, 90, 5]),
    "int16": ([-32768, 32767, 300, -777, 3], [32767, -32768, -1, 290, 5]),
    "uint8": ([255, 128, 16, 200, 0], [1, 255, 17, 100, 3]),
    "int64": ([-(2**63), 2**62, 2**33, -7, 3], [2**62, -(2**63), -1, 2**40, 5]),
}


def judged(f: Any, target: str, k: Any, m: Any) -> None:
    """A gradient and tangents against complex steps of the plain function."""
    derived = differentiable(f, target=target)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CPython says that integers go around
        gradient = pyrev.grad(derived, wrt="u")(U, k, m)
        for j, along in enumerate(np.eye(U.size)):
            exact = f(U + 1e-30j * along, k, m).imag / 1e-30
            _, moved = pyrev.jvp(derived, U, k, m, tangents={"u": along})
            found = {"gradient": gradient[j], "tangent": moved["return"]}
            for mode, value in found.items():
                assert value == pytest.approx(exact, rel=1e-11, nan_ok=True), (
                    f.__name__,
                    mode,
                    str(derived.adjoint.source_for("python", U, k, m)),
                )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "dtype",
    [pytest.param(d, marks=[pytest.mark.slow] * (d != "int8")) for d in DATA],
)
def test_derivatives_are_those_of_the_function(
    form: str, dtype: str, tmp_path: Path
) -> None:
    k, m = (np.array(values, dtype=dtype) for values in DATA[dtype])
    for name, f in functions(tmp_path).items():
        if name.rpartition("_")[0] == form:
            judged(f, "python", k, m)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["beside", "again"])
def test_compiled_too(form: str, tmp_path: Path) -> None:
    k, m = (np.array(values, dtype="int8") for values in DATA["int8"])
    for factor in range(0, len(FACTORS), 3):
        judged(functions(tmp_path)[f"{form}_{factor}"], "numba", k, m)
