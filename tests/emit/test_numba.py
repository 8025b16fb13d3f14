from __future__ import annotations

import ast
import copy
import inspect
import linecache
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.driver.sizes import specialise
from pyrev.emit.numba import Emitted, emit_numba
from pyrev.ir.nodes import Block, Const, For, blocks, with_blocks
from pyrev.ir.wellformed import check
from pyrev.parse import parse, retype
from pyrev.runtime.code_cache import load
from tests.corpora.published.entries import PUBLISHED
from tests.emit import programs
from tests.emit.cases import CASES, same
from tests.tools.interpreted import called_parallel


def kind(value: Any) -> tuple[int, str]:
    if isinstance(value, np.ndarray):
        return value.ndim, str(value.dtype)
    name = {bool: "bool", int: "weak int", float: "weak float"}[type(value)]
    return 0, name


def emitted(
    function: Callable[..., Any], args: tuple[Any, ...], *parallel: str
) -> Emitted:
    program = parse(function).program
    kinds = {p.name: kind(a) for p, a in zip(program.params, args, strict=True)}
    program = retype(program, kinds)
    program = replace(program, body=marked(program.body, parallel))
    check(program)  # as the passes do
    dtypes = {name: dtype for name, (_, dtype) in kinds.items()}
    return emit_numba(program, dtypes, choose=lambda count, least: True)


def marked(block: Block, parallel: tuple[str, ...]) -> Block:
    """What the scheduler proves elsewhere is taken as proved here."""
    out = []
    for s in block:
        s = with_blocks(s, tuple(marked(inner, parallel) for inner in blocks(s)))
        if isinstance(s, For) and s.index in parallel:
            s = called_parallel(s)
        out.append(s)
    return tuple(out)


def compiled(
    function: Callable[..., Any], args: tuple[Any, ...], *parallel: str
) -> Callable[..., Any]:
    text = emitted(function, args, *parallel).text.text
    made: Callable[..., Any] = getattr(load(text, function.__name__), function.__name__)
    return made


def agree(name: str, dtype: Any, *parallel: str) -> None:
    function: Callable[..., Any] = getattr(programs, name)
    made: Callable[..., Any] | None = None
    for args in CASES[name](dtype):
        made = made or compiled(function, args, *parallel)
        mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
        same(made(*mine), function(*theirs))
        same(mine, theirs)


# Subscripts are tested before the call, elsewhere, and negative affine ones refused.
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CASES) - {"negative_index"}))
def test_compiled_code_computes_what_the_function_computes(name: str) -> None:
    agree(name, np.float64)


@pytest.mark.parametrize("name", ["promoted", "elementary", "total", "floors"])
def test_single_precision_stays_single_like_numpys(name: str) -> None:
    agree(name, np.float32)
    args = next(iter(CASES[name](np.float32)))
    text = emitted(getattr(programs, name), args).text.text
    if name == "total":
        assert "float64" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parallel"),
    [
        ("blur", ("y",)),
        ("blur", ("y", "x")),
        ("backwards", ("i",)),
        ("floors", ("i",)),
        ("guarded", ("i",)),
        ("in_time", ("i",)),
        ("elementary", ("i",)),
    ],
)
def test_parallel_loops_compute_the_same(name: str, parallel: tuple[str, ...]) -> None:
    agree(name, np.float64, *parallel)


def test_a_sum_over_an_innermost_loop_is_listed_and_alone_may_reassociate() -> None:
    args = next(iter(CASES["total"](np.float32)))
    out = emitted(programs.total, args)
    assert [s.partition(": ")[2] for s in out.reassociated] == ["the sum of s over i"]
    tree = ast.parse(out.text.text)
    relaxed = [
        f.name
        for f in tree.body
        if isinstance(f, ast.FunctionDef)
        and any("SUM" in ast.unparse(d) for d in f.decorator_list)
    ]
    assert relaxed == ["_total_sum"]


def test_a_running_value_is_not_a_sum() -> None:
    args = next(iter(CASES["prefix"](np.float64)))
    assert emitted(programs.prefix, args).reassociated == ()


def added_alike(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        out[0] += x[i]
        for _ in range(2):
            out[0] += x[i]


def test_an_increment_inside_is_not_the_equal_one_around_it() -> None:
    x, out = np.linspace(0.5, 1.5, 5), np.zeros(1)
    pyrev.differentiable(added_alike, target="numba").primal(x, out)
    np.testing.assert_allclose(out, [15.0], rtol=1e-15)


def test_a_sum_of_few_terms_known_beforehand_is_left_in_order() -> None:
    program = parse(programs.blur).program
    dtypes = dict.fromkeys(("image", "kernel", "out"), "float64")
    sizes = {("kernel", 0): Const(3), ("kernel", 1): Const(2)}
    fixed = specialise(program, sizes)
    assert emit_numba(program, dtypes).reassociated
    assert not emit_numba(fixed, dtypes).reassociated
    text = emit_numba(fixed, dtypes).text.text
    made = load(text, "blur").blur
    for args in CASES["blur"](np.float64):
        mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
        made(*mine)
        programs.blur(*theirs)
        same(mine, theirs)


def test_an_integer_division_by_zero_is_python_s_error() -> None:
    k = np.array([1, 0, 2])
    made = compiled(programs.divides, (k, 7))
    with pytest.raises(ZeroDivisionError):
        made(k, 7)
    assert made(np.array([2, -2]), 7) == 7 // 2 + 7 // -2


def test_a_failed_test_in_a_parallel_loop_reaches_python() -> None:
    k, m = np.array([4, 5, 6]), np.array([1, 0, 2])
    made = compiled(programs.floors, (k, m, np.zeros((3, 5))), "i")
    with pytest.raises(ZeroDivisionError):
        made(k, m, np.zeros((3, 5)))


@pytest.mark.parametrize("name", ["chooses", "promoted"])
def test_a_parallel_loop_whose_scalar_is_read_after_it_does_not_get_here(
    name: str,
) -> None:
    args = next(iter(CASES[name](np.float64)))
    with pytest.raises(pyrev.InternalError, match="the parallel loop over i hands on"):
        emitted(getattr(programs, name), args, "i")
    f = pyrev.differentiable(getattr(programs, name), target="numba")
    assert "prange" not in f.primal.source_for("numba", *args)


def test_strided_arrays_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(0)
    image = np.asfortranarray(rng.random((9, 9)))
    kernel = rng.random((6, 6))[::2, ::3]
    mine, theirs = np.zeros((14, 14))[::2, ::2], np.zeros((7, 8))[:, :-1]
    compiled(programs.blur, (image, kernel, mine), "y")(image, kernel, mine)
    programs.blur(image, kernel, theirs)
    same(mine, theirs)


def test_new_arrays_come_from_numpy_before_anything_runs() -> None:
    args = next(iter(CASES["triangle"](np.float64)))
    text = emitted(programs.triangle, args).text.text
    compiled_part, _, wrapper = text.partition("\ndef triangle(")
    assert "= zeros((n, n))" in wrapper
    assert "zeros(" not in compiled_part
    with pytest.raises(ValueError, match="negative dimensions"):
        compiled(programs.triangle, args)(args[0], -1)


def test_the_same_program_gives_the_same_text() -> None:
    args = next(iter(CASES["elementary"](np.float64)))
    assert emitted(programs.elementary, args) == emitted(programs.elementary, args)


def test_a_descending_parallel_loop_runs_over_the_same_values() -> None:
    for n in range(6):
        a, b, expected = np.arange(float(n)), np.zeros(n), np.zeros(n)
        programs.backwards(a, expected)
        compiled(programs.backwards, (a, b), "i")(a, b)
        assert b.tolist() == expected.tolist()


def two_ranges(u, v, out):  # type: ignore[no-untyped-def]
    for z in range(u.shape[0]):
        for y in range(1, u.shape[1] - 1, 2):
            for x in range(u.shape[2]):
                out[z, y, x] = u[z, y, x] * 2.0
    for z in range(u.shape[0]):
        for y in range(u.shape[1]):
            for x in range(u.shape[2]):
                out[z, y, x] += v[z, y, x] * u[z, y, x]


@pytest.mark.slow
def test_no_parallel_loop_starts_another() -> None:
    f = pyrev.differentiable(two_ranges, target="numba")
    assert f.primal.source_for("numba").count("prange(") == 1
    u, v = np.random.default_rng(0).random((2, 4, 5, 6))
    assert pyrev.check_grad(f, u, v, np.zeros((4, 5, 6)))


def test_many_values_are_returned_of_which_one_branches() -> None:
    """CPython makes a display of more than 30 values of a list, value by value."""
    names = [f"s{k}" for k in range(40)]
    lines = [
        f"def many(x, {', '.join(names)}):",
        "    total = 0.0",
        "    for i in range(len(x)):",
        "        total += x[i] ** 2",
        f"    return total / (len(x) if len(x) > 2 else 2.0), {', '.join(names)}",
    ]
    space: dict[str, Any] = {}
    linecache.cache["many.py"] = (0, None, [f"{t}\n" for t in lines], "many.py")
    exec(compile("\n".join(lines), "many.py", "exec"), space)
    f = pyrev.differentiable(space["many"])
    numbers = [float(k) for k in range(40)]
    for n in (1, 4):
        x = np.arange(1.0, n + 1)
        assert f(x, *numbers) == space["many"](x, *numbers)
        value, pullback = pyrev.vjp(f, x, *numbers)
        found = pullback((1.0, *numbers))
        np.testing.assert_allclose(found["x"], 2.0 * x / max(n, 2))
        assert [found[s] for s in names] == numbers


def compensated(x: Any, y: Any, lost: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        big = x[i] + y[i]
        lost[i] = y[i] - (big - x[i])
        total += big
    return total


def shifted_sums(x: Any, out: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        out[i] = out[i - 1] + x[i]
        total += out[i]
    return total


def test_a_sum_beside_writes_reassociates_its_additions_alone() -> None:
    x, y = np.full(50, 1e16), np.linspace(0.1, 3.0, 50)
    args = (x, y, np.zeros(50))
    out = emitted(compensated, args)
    places = [s.partition(": ")[2] for s in out.reassociated]
    assert places == ["the sum of total over i"]
    relaxed = [
        f.name
        for f in ast.parse(out.text.text).body
        if isinstance(f, ast.FunctionDef)
        and any("SUM" in ast.unparse(d) for d in f.decorator_list)
    ]
    assert relaxed == ["_add"]
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    np.testing.assert_allclose(
        compiled(compensated, args)(*mine), compensated(*theirs), rtol=1e-14
    )
    # What a compensated sum takes up is zero where terms are reassociated.
    assert np.count_nonzero(theirs[2]) > 40
    np.testing.assert_array_equal(mine[2], theirs[2])


def copied_and_summed(x: Any, out: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        out[i] = x[i]
        total += x[i] * x[i]
    return total


def results_wherever_the_arrays_lie(function: Any, n: int) -> set[float]:
    """What it returns for two arrays of `n`, either first, at every distance."""
    f = pyrev.differentiable(function, target="numba").primal
    data = np.random.default_rng(n).normal(size=n)
    found: set[float] = set()
    for gap in range(70):
        for first in (0, n + gap):
            memory = np.zeros(2 * n + gap)
            x = memory[n + gap - first :][:n]
            x[:] = data
            found.add(f(x, memory[first:][:n]))
    return found


@pytest.mark.parametrize("n", [*range(1, 40), 63, 100, 127, 128, 129, 200])
def test_a_sum_beside_writes_has_the_same_bits_wherever_the_arrays_lie(n: int) -> None:
    """LLVM takes neighbours for arrays that may overlap, and does these one by one."""
    assert len(results_wherever_the_arrays_lie(copied_and_summed, n)) == 1


def test_a_long_sum_beside_writes_takes_any_order_unless_a_size_may_cut_it() -> None:
    long, short = (np.zeros(1000), np.zeros(1000)), (np.zeros(100), np.zeros(100))
    for function, calls in {copied_and_summed: 1, cut: 0, cut_by_data: 1}.items():
        f = pyrev.differentiable(function, target="numba").primal
        assert f.source_for("numba", *long).count(" = _add(") == calls
        assert f.source_for("numba", *short).count(" = _add(") == 0


def chosen_and_summed(x: Any, out: Any) -> Any:
    total = 0.0
    for i in range(out.shape[0]):
        if x[i] > 0.5:
            value = np.exp(x[i])
        elif x[i] > 0.0:
            value = x[i]
        else:
            value = 0.0
        out[i] = value
        total += value * value
    return total


def stored_at_times(x: Any, out: Any) -> Any:
    total = 0.0
    for i in range(out.shape[0]):
        if x[i] > 0.5:
            out[i] = x[i]
        total += out[i] * x[i]
    return total


def cut_by_a_statement(x: Any, out: Any) -> Any:
    total = 0.0
    for i in range(out.shape[0]):
        if i // 100 % 10 >= 3:
            value = x[i - 300]
        else:
            value = 0.0
        out[i] = value
        total += value
    return total


def handed_on_at_times(x: Any, out: Any) -> Any:
    total, value = 0.0, 1.0
    for i in range(out.shape[0]):
        if x[i] > 0.5:
            value = x[i]
        out[i] = value
        total += value
    return total


def test_a_sum_of_what_data_chooses_takes_any_order() -> None:
    """A test of an index keeps a subscript inside, and stays where it is."""
    args = np.linspace(-1.0, 1.0, 1000), np.zeros(1000)
    for function, calls in {
        chosen_and_summed: 1,
        stored_at_times: 1,
        cut_by_a_statement: 0,
        handed_on_at_times: 0,
    }.items():
        f = pyrev.differentiable(function, target="numba").primal
        assert f.source_for("numba", *args).count(" = _add(") == calls, function
        mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
        np.testing.assert_allclose(f(*mine), function(*theirs), rtol=1e-13)
        np.testing.assert_allclose(mine, theirs, rtol=1e-15)


@pytest.mark.parametrize("function", [chosen_and_summed, stored_at_times])
@pytest.mark.parametrize("n", [127, 128, 129, 200])
def test_what_data_chooses_has_the_same_bits_wherever_the_arrays_lie(
    function: Any, n: int
) -> None:
    assert len(results_wherever_the_arrays_lie(function, n)) == 1


def rows_summed(x: Any, out: Any) -> Any:
    total = 0.0
    for i in range(out.shape[0]):
        for j in range(i):
            out[j] = 0.5 * out[j] + x[j]
            total += out[j]
        out[i] = 0.01 * total
    return total


def test_a_sum_beside_writes_asks_how_long_it_is_where_only_the_run_knows() -> None:
    f = pyrev.differentiable(rows_summed, target="numba").primal
    x = np.linspace(0.1, 3.0, 200)
    assert " >= 128:" in f.source_for("numba", x, np.zeros(200))
    theirs, mine = np.zeros(200), np.zeros(200)
    np.testing.assert_allclose(f(x, mine), rows_summed(x, theirs), rtol=1e-13)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def cut(x: Any, out: Any) -> Any:
    total = 0.0
    for i in range(out.shape[0]):
        out[i] = 2.0
        total += x[i - 300] if i // 100 % 10 >= 3 else 0.0
    return total


def cut_by_data(x: Any, out: Any) -> Any:
    total = 0.0
    for i in range(out.shape[0]):
        out[i] = out[i] * 2.0
        total += x[i] if out[i] > 0.0 else 0.0
    return total


def narrow(x: Any, out: Any, acc: Any) -> None:
    for i in range(x.shape[0]):
        out[i] = x[i]
        acc[0] += x[i]


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_a_sum_of_more_bits_than_its_place_has_is_rounded_behind_each_addition(
    dtype: str,
) -> None:
    x = np.zeros(40, dtype)
    x[0] = 16777217
    args = x, np.zeros(40, dtype), np.array([-16777216], np.float32)
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    compiled(narrow, args)(*mine)
    narrow(*theirs)
    assert theirs[2][0] == 1.0
    same(mine, theirs)


def test_a_sum_beside_a_running_value_keeps_its_order() -> None:
    assert emitted(shifted_sums, (np.ones(9), np.zeros(9))).reassociated == ()


def planes(x: Any, out: Any) -> None:
    for y in range(x.shape[0]):
        for k in range(1, x.shape[1], 2):
            if x[y, k] > 0.5:
                out[y, k] = x[y, k] * y - k
            else:
                out[y, k - 1] = 1.0


def volumes(x: Any, out: Any) -> None:
    for z in range(1, x.shape[0]):
        for y in range(x.shape[1]):
            for k in range(x.shape[2]):
                out[z, y, k] += x[z - 1, y, k] * (100 * z + 10 * y + k)


@pytest.mark.parametrize(
    "shape", [(3, 1000), (1000, 3), (1, 1), (0, 5), (5, 0), (7, 2), (129, 2), (40, 257)]
)
def test_blocks_of_several_loops_run_every_iteration_once(
    shape: tuple[int, ...],
) -> None:
    rng = np.random.default_rng(1)
    args = rng.random(shape), np.zeros(shape)
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    text = emitted(planes, args, "y", "k").text.text
    assert "row_y" in text
    load(text, "planes").planes(*mine)
    planes(*theirs)
    same(mine, theirs)


@pytest.mark.parametrize("shape", [(3, 4, 50), (50, 4, 3), (2, 300, 1), (1, 3, 3)])
def test_blocks_of_three_loops_run_every_iteration_once(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    args = rng.random(shape), np.zeros(shape)
    mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
    compiled(volumes, args, "z", "y", "k")(*mine)
    volumes(*theirs)
    same(mine, theirs)


def turned(x: Any, n: Any) -> Any:
    u = x
    for _ in range(n):
        u = 0.5 * (u + u.T)
    return u


@pytest.mark.parametrize("size", [3, 300])
def test_sizes_that_only_the_call_knows_are_asked_for_when_it_runs(size: int) -> None:
    f = pyrev.differentiable(turned, target="numba")
    x = np.random.default_rng(2).random((size, size))
    _, pull = pyrev.vjp(f, x, 3)
    c = np.random.default_rng(3).random((size, size))
    d_x = pull(c)["x"]
    np.testing.assert_allclose(d_x, 0.5 * (c + c.T), rtol=1e-12)
    np.testing.assert_allclose(f.primal(x, 3), turned(x, 3), rtol=1e-12)


def test_what_is_known_of_a_statement_is_known_of_what_it_becomes() -> None:
    """A loop shows that its count is no zero, also where its sum is kept in a local:
    a test stood there for which nothing had been made, a NameError in the call.
    """
    name = "heisenberg_effective_field"
    (entry,) = (p.entry for p in PUBLISHED if p.entry.name == name)
    f = pyrev.differentiable(entry.plain, target="numba")
    given = entry.make(2, np.float64, entry.generator(2))
    text = f.adjoint.source_for("numba", *inspect.signature(f).bind(**given).args)
    assert "sum_d_bonds" in text and "status" not in text
