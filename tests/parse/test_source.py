"""A function's text is found whatever stands around it, with the user's positions."""

from __future__ import annotations

import ast
import functools
import linecache
import pickle
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import gast
import numpy as np
import pytest

import pyrev
from pyrev.ir.diagnostics import UnsupportedError
from pyrev.ir.text import program_text
from pyrev.parse import parse
from pyrev.parse.source import plain, read


def defined(
    text: str, name: str = "f", file: str = "<cell>", *, alone: bool = False
) -> Any:
    """What `name` is after a notebook cell with this text has run: as a whole, or each
    statement `alone`, as IPython does.
    """
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {}
    tree = ast.parse(text)
    for part in [ast.Module([s], []) for s in tree.body] if alone else [tree]:
        exec(compile(part, file, "exec", dont_inherit=True), namespace)
    return namespace[name]


def shown(f: object) -> str:
    return program_text(parse(f).program)


def test_positions_are_those_of_the_file_under_decorators() -> None:
    f = defined(
        """
        def keep(*options):
            return lambda f: f


        @keep
        @keep(
            1,
            2,
        )
        def other(x):
            return x
        """,
        "keep",
    )
    source = read(f)
    assert source.loc(source.node)[1:3] == (1, 0)
    f = defined(
        """
        def keep(*options):
            return lambda f: f


        @keep(1)
        @keep(
            2,
            3,
        )
        def f(
            x,
        ): return x * y
        """
    )
    with pytest.raises(UnsupportedError) as caught:
        parse(f)
    (finding,) = caught.value.findings
    assert finding.at == ("<cell>", 12, 14, 12, 15)


@pytest.mark.parametrize("alone", [False, True], ids=["whole", "statements"])
def test_a_cell_may_import_what_its_functions_call(alone: bool) -> None:
    """CPython 3.11 compiles a call of what the same unit imports to other code."""
    cell = """
        import numpy as np
        from math import sqrt


        def g(x):
            return np.sqrt(x) + sqrt(2.0)


        def f(x):
            total = 0.0
            for i in range(x.shape[0]):
                total += np.sin(x[i]) * g(x[i])
            return total


        pair = (lambda x: np.sin(x) * 2.0, lambda x: np.sin(x) * 3.0)
        """
    f = defined(cell, alone=alone)
    d = pyrev.differentiable(f)
    assert "np.cos" in d.adjoint.source
    assert pickle.loads(pickle.dumps(d))(np.ones(3)) == pytest.approx(f(np.ones(3)))
    first, second = defined(cell, "pair", alone=alone)
    assert "2.0" in shown(first) and "3.0" in shown(second)


def test_a_changed_cell_is_no_cell_of_single_statements() -> None:
    f = defined("import numpy as np\ndef f(x):\n    return np.sin(x)\n", alone=True)
    defined("import numpy as np\ndef f(x):\n    return np.cos(x)\n", "np")
    with pytest.raises(UnsupportedError, match="P114"):
        parse(f)


def test_columns_count_characters_not_bytes() -> None:
    f = defined('def f(größe): """äöü"""; return größe * weiß\n')
    with pytest.raises(UnsupportedError) as caught:
        parse(f)
    (finding,) = caught.value.findings
    line = linecache.getline("<cell>", 1)
    assert line[finding.at.col : finding.at.end_col] == "weiß"
    caret = str(finding).splitlines()[2]
    assert caret.index("^") - caret.index("|") - 2 == finding.at.col


def test_tabs_stay_in_front_of_the_caret() -> None:
    f = defined("def f(x):\n\tif x:\n\t\tdel x\n\treturn 1.0\n")
    with pytest.raises(UnsupportedError) as caught:
        parse(f)
    assert "     | \t\t^^^^^ a name" in str(caught.value)


def test_two_lambdas_on_one_line_are_told_apart() -> None:
    pair = defined("pair = (lambda x: x * 2.0, lambda x: x * 3.0)\n", "pair")
    assert "x * 2.0" in shown(pair[0])
    assert "x * 3.0" in shown(pair[1])


def test_a_lambda_inside_a_lambda_is_told_apart() -> None:
    outer = defined("f = lambda a: (lambda x: x * a)\n")
    assert "return x * a" in shown(outer(3.0))


def test_a_lambda_over_several_lines_is_found() -> None:
    f = defined(
        """
        f = (
            lambda x:
                x *
                x
        )
        """
    )
    assert "return x * x" in shown(f)


def test_functions_of_one_name_are_told_apart_by_their_line() -> None:
    f = defined(
        """
        def f(x):
            return x

        g = f

        def f(x):
            return 2.0 * x
        """
    )
    assert "return 2.0 * x" in shown(f)


def test_a_nested_function_reads_its_closure() -> None:
    def make(scale: float) -> Callable[[float], float]:
        def inner(x: float) -> float:
            return x * scale

        return inner

    parsed = parse(make(3.0))
    (capture,) = parsed.captured
    assert (capture.name, capture.read()) == ("scale", 3.0)
    assert parsed.program.captured == ("scale",)


def test_a_wrapper_is_not_taken_for_what_it_wraps() -> None:
    def double(f: Callable[..., float]) -> Callable[..., float]:
        @functools.wraps(f)
        def wrapper(*args: float) -> float:
            return 2.0 * f(*args)

        return wrapper

    @double
    def f(x: float) -> float:
        return x

    with pytest.raises(UnsupportedError, match=r"`f` needs `x`"):
        parse(f)
    assert pyrev.grad(f)(3.0)["args"] == (2.0,)


def test_an_object_with_a_python_attribute_stands_for_that_function() -> None:
    def f(x: float) -> float:
        return x

    class Decorated:
        python = staticmethod(f)

    assert plain(Decorated()) is f
    assert plain(f) is f
    assert plain(len) is None


def test_a_numba_dispatcher_stands_for_its_source() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def f(x):  # type: ignore[no-untyped-def]
        return x * x

    assert "return x * x" in shown(f)


def test_a_text_that_nobody_kept_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x): return x", namespace)
    with pytest.raises(UnsupportedError, match="P114"):
        parse(namespace["f"])


def test_a_builtin_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="has no text in Python"):
        parse(len)


@pytest.mark.parametrize(
    "after",
    [
        "def f(x):\n    return x * 3.0\n",
        "y = 1\ndef f(x):\n    return x * 2.0\n",
        "def g(x):\n    return x * 2.0\n",
        "def f(x):\n    return x +\n",
    ],
)
def test_a_file_edited_since_its_import_is_refused(tmp_path: Path, after: str) -> None:
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x * 2.0\n")
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    assert isinstance(namespace["f"], FunctionType)
    assert isinstance(read(namespace["f"]).node, gast.FunctionDef)
    path.write_text(after)
    with pytest.raises(UnsupportedError, match="compiled from"):
        parse(namespace["f"])


def test_statements_take_the_lines_up_to_their_bodies() -> None:
    f = defined(
        """
        def f(
            a, b=1
        ):
            '''Two
            lines.'''
            c = (a +
                 b); d = c
            for i in range(
                3
            ):
                # about the test

                if i > 1 and (
                    c
                ):
                    pass
                elif i:
                    d += 1
                else:
                    d = 2
            while d: d -= 1
            def inside(x):
                return x
            g = lambda x: (
                x
            )
            return d
        """
    )
    assert read(f).statements() == (
        *((1, 3), (6, 7), (7, 7), (8, 10), (13, 15), (17, 17), (18, 18), (20, 20)),
        *((21, 21), (21, 21), (22, 22), (24, 26), (27, 27)),
    )


def test_a_lambda_is_one_statement() -> None:
    f = defined("f = (lambda x:\n    x *\n    x)\n")
    assert read(f).statements() == ((1, 3),)
