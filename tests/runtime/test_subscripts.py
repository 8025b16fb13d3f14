"""Subscripts of generated modules: which count from the end, with which compiler."""

import ast
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from pyrev.emit.numba import emit_numba
from pyrev.ir.nodes import Param, Program
from pyrev.parse import parse_block
from pyrev.runtime import code_cache
from pyrev.runtime.subscripts import FromEnd

HEAD = """\
import numpy as np
from numba import njit, prange

ENTRY = {"error_model": "numpy", "nogil": True, "cache": True}
"""

PICKED = f"""{HEAD}

@njit(**ENTRY)
def picked(x, k, out):
    for i in range(k.shape[0]):
        out[i] = x[np.int64(k[i]), i] - x[np.int64(k[i] + 1), np.int64(-1 - i)]
        x[i, np.int64(k[i])] += out[i]
"""


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_what_says_so_counts_from_the_end(dtype: str) -> None:
    k = np.array([-3, 0, -1, 1], dtype)
    x = np.arange(20.0).reshape(4, 5) ** 2
    plain, out, wanted = x.copy(), np.zeros(4), np.zeros(4)
    code_cache.load(PICKED, "picked").picked(x, k, out)
    for i, at in enumerate(map(int, k)):
        wanted[i] = plain[at, i] - plain[at + 1, -1 - i]
        plain[i, at] += wanted[i]
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(x, plain)


def test_other_functions_are_compiled_as_numba_has_them(tmp_path: Path) -> None:
    """A user's own, beside ours, and what Numba compiles of its own for ours."""
    (tmp_path / "users.py").write_text(
        f"{HEAD}\n\n@njit\ndef last(x, k):\n    return x[k]\n"
    )
    spec = importlib.util.spec_from_file_location("users", tmp_path / "users.py")
    assert spec is not None and spec.loader is not None
    users = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(users)
    x = np.arange(5.0)
    calls = f"""{HEAD}

@njit(**ENTRY)
def sorted_last(x, k):
    y = np.sort(x)
    return np.median(x) + y[np.int64(k)]
"""
    assert code_cache.load(calls, "sorted_last").sorted_last(x[::-1], -2) == 5.0
    assert users.last(x, -2) == 3.0


@pytest.mark.parametrize(
    "subscript",
    ["x[i, j]", "x[0]", "x.shape[0]", "x[1:i]", "x[np.int32(i)]", "np.int64(x[i])"],
)
def test_nothing_is_added_to_other_subscripts(subscript: str) -> None:
    text = f"@njit(**SERIAL)\ndef f(x, i, j):\n    return {subscript}\n"
    assert ast.unparse(FromEnd().visit(ast.parse(text))) == ast.unparse(ast.parse(text))


def test_a_function_that_is_not_compiled_stays() -> None:
    text = "def f(x, k):\n    return x[np.int64(k)]\n"
    assert ast.unparse(FromEnd().visit(ast.parse(text))) == text.strip()


def test_a_negative_number_says_so_too() -> None:
    body = parse_block("for i in range(n):\n    a[i] = b[-1] + b[0]")
    arrays = (Param("a", 1, "float64"), Param("b", 1, "float64"))
    program = Program("f", (*arrays, Param("n", 0, "int64")), body)
    dtypes = {"a": "float64", "b": "float64", "n": "int64"}
    text = emit_numba(program, dtypes).text.text
    assert "b[np.int64(-1)] + b[0]" in text
    a = np.zeros(3)
    code_cache.load(text, "f").f(a, np.array([1.0, 20.0, 300.0]), 3)
    assert list(a) == [301.0] * 3
