"""The program of a function computes what the function computes, to the bit."""

from __future__ import annotations

import builtins
import copy
import math
import textwrap
from typing import Any

import numpy as np
import pytest

from pyrev.ir import nodes
from pyrev.ir.diagnostics import UnsupportedError
from pyrev.ir.text import block_text, program_text
from pyrev.parse import parse, parse_block, parse_expr, parse_text, retype
from pyrev.parse.functions import FOLDED, TABLE, meaning
from tests.parse.test_source import defined


def function(text: str) -> Any:
    head = "import math\nimport numpy as np\n"
    return defined(head + textwrap.dedent(text))


def run(f: Any, *args: Any) -> tuple[Any, tuple[Any, ...]]:
    """What the program of `f` gives, and its arguments afterwards."""
    parsed = parse(f)
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(program_text(parsed.program), namespace)
    mine = copy.deepcopy(args)
    bound = parsed.signature.bind(*mine)
    bound.apply_defaults()
    hidden = {c.name: c.read() for c in parsed.captured}
    return namespace[parsed.program.name](**bound.arguments, **hidden), mine


def agrees(text: str, *args: Any) -> None:
    """The program does what CPython does: the same result, the same writes."""
    f = function(text)
    plain = copy.deepcopy(args)
    expected = f(*plain)
    got, mine = run(f, *args)
    assert type(got) is type(expected)
    np.testing.assert_array_equal(got, expected)
    for a, b in zip(mine, plain, strict=True):
        np.testing.assert_array_equal(a, b)


def body(text: str) -> str:
    """The program's statements, as text."""
    return block_text(parse(function(text)).program.body)


def lines(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


X = np.array([1.1, 0.7, 1.3, -0.9, 1.2])
Y = np.array([0.5, -2.0, 3.0, 0.25, -1.0])
A = np.arange(12.0).reshape(3, 4) - 5.5


# ------------------------------------------------------------------ statements


def test_loops_count_as_ranges_do() -> None:
    agrees(
        """
        def f(x, y):
            n = len(x)
            for i in range(n - 1, -1, -2):
                y[i] += 2.0 * x[i]
            for i in reversed(range(1, n, 3)):
                y[i] *= x[i - 1]
            for i in range(2):
                for j in range(i, n):
                    y[j] -= x[i] / (j + 1)
        """,
        X,
        Y,
    )


def test_every_augmented_assignment_means_its_operation() -> None:
    agrees(
        """
        def f(x, y):
            s = 2.0
            s += x[0]
            s -= x[1]
            s *= x[2]
            s /= x[3]
            s //= 0.3
            s %= 5.0
            s **= 2
            k = 13
            k -= 3
            k //= 2
            for i in range(len(y)):
                y[i] += s
                y[i] -= x[i]
                y[i] *= x[i]
                y[i] /= 1.5
                y[i] //= 0.1
                y[i] %= 3.0
                y[i] **= 2
            return s + k
        """,
        X,
        Y,
    )


def test_swaps_and_chained_assignments_keep_their_order() -> None:
    agrees(
        """
        def f(x, y):
            a, b = 1.0, 2.0
            a, b = b, a + b
            a, b, c = b, a, a * b
            for i in range(len(x)):
                x[i], y[i] = y[i], x[i]
                x[0], x[i] = x[i], x[0]
            p = q = a - c
            k = 1
            k, x[k] = 2, 9.0
            return a, b, p, q, k
        """,
        X,
        Y,
    )


def test_a_range_is_evaluated_once() -> None:
    agrees(
        """
        def f(x, y):
            n = 3
            s = 0.0
            for i in range(n):
                n = n + 1
                s += x[i]
            m = 2
            for i in range(int(y[2])):
                y[2] = 0.0
                s += x[i]
            for i in range(m, 5):
                m -= 1
                s *= x[i]
            return s
        """,
        X,
        Y,
    )


def test_a_loop_that_reads_what_it_changes_gets_a_temporary_bound() -> None:
    text = body(
        """
        def f(x, n):
            for i in range(n):
                n = n - 1
            return n
        """
    )
    assert text == lines(
        """
        stop = n
        for i in range(stop):
            n = n - 1
        return n
        """
    )


def test_conditions_mean_what_python_means() -> None:
    agrees(
        """
        def f(x, y):
            s = 0.0
            for i in range(len(x)):
                if 0 <= i - 1 < 3 and not x[i] < 0.0 or i == 4:
                    s += x[i] if y[i] > 0 else -x[i]
                elif y[i] > 2.0:
                    s += 100.0
                else:
                    s -= 0.5
                s += x[i] or 7.0
                s *= (y[i] > 0.0 and y[i]) or 1.0
                s += int(x[i] > 1.0) + int(x[i] > 0.0 or y[i] > 0.0)
            return s
        """,
        X,
        Y,
    )


def test_integers_and_bits_stay_integers() -> None:
    agrees(
        """
        def f(n, m):
            a = (n << 2) ^ (m & 6) | ~n
            b = -7 // 2 + -7 % 3 + (n >> 1) + n ** 2
            return a + b, 7 / 2, round(2.5), int(-3.9), n // m, abs(-m)
        """,
        5,
        6,
    )


def test_negative_constant_subscripts_count_from_the_end() -> None:
    f = """
        def f(a, y):
            a[-1, -2] = 3.0
            y[-1] += a[-3][-4]
            k = -2
            return y[k]
        """
    agrees(f, A, Y)
    assert "a[a.shape[0] - 1, -2] = 3.0" in body(f)


def test_sizes_stand_where_they_are_used() -> None:
    text = body(
        """
        def f(a, n):
            h, w = a.shape
            m = min(h, w) - 1
            k = 2 * n
            total = 0
            for i in range(1, m):
                for j in range(k):
                    a[i, j] = 0.0
                    total = total + w
            return total + a.size + a.ndim + len(a.shape)
        """
    )
    assert text == lines(
        """
        total = 0
        for i in range(1, min(a.shape[0], a.shape[1]) - 1):
            for j in range(2 * n):
                a[i, j] = 0.0
                total = total + a.shape[1]
        return total + a.shape[0] * a.shape[1] + 2 + 2
        """
    )


def test_a_size_that_changes_is_not_replaced() -> None:
    agrees(
        """
        def f(x, n):
            m = n + 1
            n = 0
            k = 2
            if m > 3:
                k = 1
            for i in range(m):
                x[i] += k + n
            return m
        """,
        X,
        3,
    )


def test_new_arrays_are_those_of_numpy() -> None:
    agrees(
        """
        def f(a, y, n):
            u = np.zeros(n)
            v = np.ones((n, 2 * n), dtype=np.float32)
            w = np.full(n, 3)
            z = np.full_like(y, 0.5)
            c = a.copy()
            d = np.copy(y)
            e = np.empty(a.shape, a.dtype)
            g = np.zeros_like(y, dtype=int)
            h = np.full(len(y), y[0] * 2.0)
            b = np.zeros(a.shape[1], bool)
            for i in range(a.shape[0]):
                for j in range(a.shape[1]):
                    e[i, j] = a[i, j]
                    c[i, j] += 1.0
            for i in range(n):
                u[i] += w[i] + d[i]
                g[i] = 2
                b[i] = True
            s = u[0] + v[1, 1] + w[1] + z[0] + c[1, 1]
            return s, d[0], e[2, 3], g[0], h[1], b[0], b[3]
        """,
        A,
        Y,
        2,
    )


def test_the_rank_of_an_array_comes_from_its_like() -> None:
    program = parse(
        function(
            """
            def f(a):
                u = np.zeros_like(a)
                v = u.copy()
                for i in range(v.shape[0]):
                    v[i, 0, 1] = 1.0
                return v
            """
        )
    ).program
    assert program.params[0].rank == 3
    first = program.body[0]
    assert isinstance(first, nodes.Alloc)
    assert len(first.shape) == 3


# ------------------------------------------------------------------ functions


@pytest.mark.filterwarnings("ignore:numpy.fix")  # NumPy 2.5 has `trunc` for it
@pytest.mark.parametrize("name", TABLE)
def test_a_known_function_means_what_it_computes(name: str) -> None:
    module, attribute = name.split(".")
    modules = {"math": math, "np": np, "builtins": builtins}
    known = getattr(modules[module], attribute, None)
    if known is None:
        pytest.skip("this Python does not have it")
    found = meaning(known)
    assert found is not None
    values = {1: [(0.4,), (0.75,)], 2: [(0.4, 2.0), (2.5, -1.5)], 3: [(1.0, 2.0, 3.0)]}
    for args in values[len(found.parameters)]:
        args = tuple(1.0 + v if "cosh" in attribute else v for v in args)
        if (
            attribute.startswith("bitwise")
            or "shift" in attribute
            or "inv" in attribute
        ):
            args = tuple(abs(int(4.0 * v)) for v in args)
        names = ", ".join(found.parameters)
        call = name.removeprefix("builtins.")
        f = function(f"def f({names}): return {call}({names})\n")
        got, _ = run(f, *args)
        np.testing.assert_allclose(got, known(*args), rtol=1e-15)


def test_min_and_max_fold_from_the_left_as_python_does() -> None:
    assert set(FOLDED.values()) == {"min", "max"}
    nan = math.nan
    for args in ((1.0, 1, 1.0), (nan, 2.0, 1.0), (2.0, nan, 1.0), (2.0, 1.0, nan)):
        for name in ("min", "max"):
            agrees(f"def f(a, b, c): return {name}(a, b, c)\n", *args)


def test_keywords_and_constants_of_the_libraries_are_known() -> None:
    agrees(
        """
        def f(x):
            return np.clip(x, a_max=1.0, a_min=-1.0) * math.pi + np.pi, -np.inf, \\
                float("inf"), math.e, np.square(x * 2.0)
        """,
        0.3,
    )


# ------------------------------------------------------------------ inlining


def test_a_helper_of_one_expression_becomes_an_expression() -> None:
    text = body(
        """
        def square(v):
            return v * v

        def f(x):
            for i in range(len(x)):
                x[i] = square(x[i]) + square(v=2.0 * x[i])
        """
    )
    assert text == lines(
        """
        for i in range(x.shape[0]):
            v = 2.0 * x[i]
            x[i] = x[i] * x[i] + v * v
        """
    )


def test_a_helper_that_writes_keeps_the_order_of_evaluation() -> None:
    agrees(
        """
        def bump(a, i, by=1.0, *, twice=False):
            a[i] += by
            if twice:
                a[i] += by
            return a[i]

        def f(x, y):
            s = x[0] + bump(x, 0) * x[0]
            t = x[1] if bump(x, 1, 0.5) > 100.0 else bump(x, 1, twice=True)
            x[2] += bump(x, 2)
            y[int(bump(y, 0))] = y[1] * bump(y, 1) + y[0]
            u = s > 1e9 and bump(x, 3) > 0.0
            v = s < 1e9 or bump(x, 3) > 0.0
            bump(x, 4, by=bump(x, 4))
            w = max(x[0], bump(x, 0, -10.0), x[0])
            p, q = x[3], bump(x, 3)
            return s, t, u, v, w, p, q
        """,
        X,
        Y,
    )


def test_early_returns_at_the_end_of_paths_are_branches() -> None:
    agrees(
        """
        def clamp(v, lo, hi):
            if v < lo:
                return lo
            elif v > hi:
                return hi
            return v

        def steps(v):
            if v > 1.0:
                w = v * v
                if w > 1.5:
                    return w, 1
            else:
                v = v - 1.0
                return v, 2
            return v, 3

        def f(x, y):
            s = 0.0
            for i in range(len(x)):
                a, k = steps(x[i])
                s += clamp(x[i], -0.5, 1.15) * a * k
            if s > 3.0:
                return s
            return -s
        """,
        X,
        Y,
    )


def test_a_helper_of_branches_becomes_a_conditional_expression() -> None:
    text = body(
        """
        def relu(v):
            if v > 0.0:
                return v
            return 0.0

        def f(x):
            return relu(x)
        """
    )
    assert text == "return x if x > 0.0 else 0.0"


def test_closures_lambdas_and_functions_as_arguments_are_inlined() -> None:
    agrees(
        """
        SCALE = 3.0

        def apply(g, v):
            return g(v) + g(SCALE)

        def f(x, y):
            k = 2.0
            def scaled(v):
                return v * k
            cube = lambda v, n=3: v ** n
            s = 0.0
            for i in range(len(x)):
                k = x[i]
                s += apply(scaled, y[i]) - apply(cube, x[i])
                s += apply(lambda v: v - i, 1.0)
            return s
        """,
        X,
        Y,
    )


def test_locals_of_helpers_get_names_of_their_own() -> None:
    agrees(
        """
        i = 10.0

        def total(x, k):
            s = 0.0
            for i in range(k):
                k = k - 1
                s += x[i]
            return s + k

        def shift(v):
            return v + i

        def f(x, y):
            s = 1.0
            k = 4
            for i in range(3):
                s += total(x, i + 1) * total(y, k)
                s = shift(s)
            return s, k
        """,
        X,
        Y,
    )


def test_a_helper_may_make_and_return_an_array() -> None:
    text = body(
        """
        def blurred(u):
            out = np.zeros_like(u)
            for i in range(1, len(u) - 1):
                out[i] = u[i - 1] + u[i + 1]
            return out

        def f(x):
            once = blurred(x)
            twice = blurred(once)
            return twice
        """
    )
    assert text == lines(
        """
        once = np.zeros_like(x)
        for i in range(1, x.shape[0] - 1):
            once[i] = x[i - 1] + x[i + 1]
        twice = np.zeros_like(once)
        for i_2 in range(1, once.shape[0] - 1):
            twice[i_2] = once[i_2 - 1] + once[i_2 + 1]
        return twice
        """
    )


def test_a_second_name_of_an_array_is_that_array() -> None:
    agrees(
        """
        def f(x, y):
            u = x
            for i in range(len(u)):
                u[i] += y[i]
            return x[0] + u[1]
        """,
        X,
        Y,
    )


# ------------------------------------------------------------------ parameters


def types(text: str) -> dict[str, tuple[int, str]]:
    return {p.name: (p.rank, p.dtype) for p in parse_text(text).params}


def test_ranks_and_types_come_from_use() -> None:
    found = types(
        """
        def f(a, idx, n, offset, scale, unused, shift):
            k = idx[n] + offset
            for i in range(n):
                a[i, min(k, 3)] *= scale + shift
        """
    )
    assert found == {
        "a": (2, "float64"),
        "idx": (1, "int64"),
        "n": (0, "int64"),
        "offset": (0, "int64"),
        "scale": (0, "float64"),
        "unused": (0, "float64"),
        "shift": (0, "float64"),
    }


def test_a_comparison_or_a_conversion_does_not_make_an_integer() -> None:
    found = types(
        """
        def f(a, x, y, z):
            for i in range(int(x)):
                a[i if y > 0.5 else 0] = a[int(z * 2.0)]
        """
    )
    assert {found[name] for name in "xyz"} == {(0, "float64")}


def test_annotations_win() -> None:
    found = types(
        """
        def f(a: "float32[:, :]", n: int, x: np.float32, b: np.ndarray, c: bool):
            return x * n + b[0]
        """
    )
    assert found == {
        "a": (2, "float32"),
        "n": (0, "int64"),
        "x": (0, "float32"),
        "b": (1, "float64"),
        "c": (0, "bool"),
    }


def test_what_a_helper_requires_counts() -> None:
    found = types(
        """
        def get(v, i, j):
            return v[i][j]

        def f(a, k):
            return get(a, k, 0)
        """
    )
    assert found == {"a": (2, "float64"), "k": (0, "int64")}


def test_captured_values_are_parameters_that_are_read_at_every_call() -> None:
    f = function(
        """
        WEIGHTS = np.array([1.0, 2.0], dtype=np.float32)
        N = 2

        def f(x):
            s = 0.0
            for i in range(N):
                s += WEIGHTS[i] * x[i]
            return s
        """
    )
    parsed = parse(f)
    assert parsed.program.captured == ("N", "WEIGHTS")
    found = {p.name: (p.rank, p.dtype) for p in parsed.program.params}
    assert found["N"] == (0, "int64")
    assert found["WEIGHTS"] == (1, "float32")
    f.__globals__["N"] = 1
    assert [c.read() for c in parsed.captured][0] == 1


def test_a_helper_that_is_bound_again_is_noticed() -> None:
    f = function(
        """
        def g(x):
            return x

        def f(x):
            return g(x)
        """
    )
    grounds = parse(f).grounds
    assert grounds.hold()
    g = f.__globals__["g"]
    f.__globals__["g"] = lambda x: 2.0 * x
    assert not grounds.hold()
    f.__globals__["g"] = g
    assert grounds.hold()


def test_retype_changes_parameters_only() -> None:
    program = parse_text("def f(a, n): a[n] = 0.0\n")
    typed = retype(program, {"a": (1, "float32"), "n": (0, "int32")})
    assert [p.dtype for p in typed.params] == ["float32", "int32"]
    assert typed.body == program.body


def test_types_of_actual_arguments_decide_what_the_text_leaves_open() -> None:
    f = function("def f(a):\n    u = a.copy()\n    return u\n")
    assert parse(f).program.params[0].rank == 1
    program = parse(f, {"a": (2, "float32")}).program
    assert program.params[0] == nodes.Param("a", 2, "float32")
    first = program.body[0]
    assert isinstance(first, nodes.Alloc)
    assert len(first.shape) == 2


# ------------------------------------------------------------------ form


def test_statements_are_numbered_in_the_order_of_the_text() -> None:
    program = parse_text(
        """
        def f(x, y):
            n = len(x)
            for i in range(n):
                if x[i] > 0:
                    y[i] = 1.0
                else:
                    y[i] += 2.0
            y[0] = 3.0
        """
    )
    assert [s.id for s in nodes.walk(program.body)] == [0, 1, 2, 3, 4]


def test_statements_keep_the_line_they_come_from() -> None:
    program = parse_text("def f(x):\n\n    x[0] = 1.0\n    x[1] += 2.0\n")
    assert [s.loc.line for s in program.body] == [3, 4]


def test_a_local_that_hides_a_builtin_is_renamed() -> None:
    text = """
        def f(x):
            max = x[0]
            sum = 0.0
            for i in range(len(x)):
                max = x[i] if x[i] > max else max
                sum += x[i]
            return max + sum
        """
    agrees(text, X)
    assert "max_2" in body(text)


def test_a_hidden_range_is_not_taken_for_the_builtin() -> None:
    with pytest.raises(UnsupportedError, match="P111"):
        parse_text("def f(x):\n    range = 3\n    for i in range(2): x[i] = 0.0\n")


def test_two_parses_are_equal() -> None:
    text = "def f(x, y):\n    for i in range(len(x)): y[i] += x[i] * 2\n"
    assert parse_text(text) == parse_text(text)


def test_a_block_takes_free_names_as_they_come() -> None:
    block = parse_block("for i in range(n):\n    d_u[i] += c * sin(u[i])\n")
    assert block_text(block) == lines(
        """
        for i in range(n):
            d_u[i] += c * np.sin(u[i])
        """
    )


def test_an_expression_of_the_rule_table_is_read_as_written() -> None:
    expected = nodes.Call(
        "where", (nodes.Var("a"), nodes.Const(-1), nodes.Load("b", (nodes.Var("i"),)))
    )
    assert parse_expr("-1 if a else b[i]") == expected
    with pytest.raises(ValueError, match="not an expression of the rule table"):
        parse_expr("[a]")
    assert parse_expr("not b > a") == nodes.Call(
        "not", (nodes.Call(">", (nodes.Var("b"), nodes.Var("a"))),)
    )


def test_a_helper_passed_to_itself_through_a_lambda_is_no_recursion() -> None:
    agrees(
        """
        def apply(g, v):
            return g(v) + v

        def f(x):
            return apply(lambda v: apply(lambda w: w * v, v), x)
        """,
        1.5,
    )


def test_an_array_takes_its_rank_from_its_second_name() -> None:
    found = types("def f(x):\n    u = x\n    for i in range(len(u)): u[i, 0] = 0.0\n")
    assert found == {"x": (2, "float64")}


def test_a_size_that_fills_an_array_makes_integers() -> None:
    f = "def f(x):\n    n = len(x)\n    u = np.full(n, n)\n    return u[0] / 2\n"
    agrees(f, X)


def test_a_size_that_is_negative_counts_from_the_end() -> None:
    f = "def f(x):\n    k = -1\n    return x[k] + x[k - 1]\n"
    agrees(f, X)
    assert "x[x.shape[0] - 1]" in body(f)


def test_a_global_and_a_local_of_one_name_are_kept_apart() -> None:
    agrees(
        """
        n = 2.0
        s = 3.0

        def scaled(v):
            return v * n

        def shifted(v):
            s = scaled(v)
            return s + n

        def g(v):
            return shifted(v) * s

        def f(x, n):
            s = 1.0
            for i in range(n):
                s += g(x[i])
            return s
        """,
        X,
        4,
    )


def test_an_element_assignment_evaluates_the_value_before_the_subscript() -> None:
    agrees(
        """
        def bump(a, i):
            a[i] += 1.0
            return a[i]

        def f(x, y):
            x[int(bump(y, 2)) - 3] = y[2]
            x[int(bump(y, 2)) - 3] += y[2]
        """,
        X,
        Y,
    )
