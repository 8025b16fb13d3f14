"""Loops over `prange` as calls: the same iterations, on the same threads."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pytest

from pyrev.runtime import code_cache
from pyrev.runtime.code_cache import load
from pyrev.runtime.parallel_loops import NAME, with_calls
from tests.corpora.everything import EVERY, accepted
from tests.turns import share_of

HEAD = """\
import numpy as np
from numba import njit, prange

ENTRY = {"error_model": "numpy", "nogil": True, "cache": True}
SERIAL = {"error_model": "numpy", "nogil": True}
SERIAL |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
PARALLEL = {**SERIAL, "parallel": True}
"""

#: The forms that loops over all cores have in generated modules: one iteration a call,
#: a block of them a call, several nested loops as one.
LOOPS = (
    HEAD
    + """

@njit(**SERIAL)
def row(x, i, factor, narrow, exact, out):
    if x[i] < 0.0:
        raise ValueError("below zero")
    out[i] += x[i] * factor + narrow if exact else x[i]


@njit(**PARALLEL)
def each(x, factor, narrow, exact, out):
    alone = x.shape[0] < 3
    for i in prange(x.shape[0]):
        row(x, np.int64(i), factor, narrow, exact, out)


@njit(**SERIAL)
def rows(first, size, total, x, out):
    for i in range(first, min(first + size, total)):
        out[i] += 3.0 * x[i]


@njit(**PARALLEL)
def blocks(x, out):
    total = x.shape[0]
    size = max(1, min(4, (total + 127) // 128))
    for block in prange((total + size - 1) // size):
        rows(np.int64(block) * size, size, total, x, out)


@njit(**PARALLEL)
def nested(x, out):
    count = min(x.shape[0], 2)
    for task in prange(x.shape[0] // max(count, 1) * count):
        number = np.int64(task)
        half = number // max(count, 1)
        row(x, half * count + number % max(count, 1), 5.0, np.float32(0.5), True, out)


@njit(**ENTRY)
def f(x, factor, narrow, exact, out):
    each(x, factor, narrow, exact, out)
    blocks(x, out)
    nested(x, out)
    return out
"""
)


@pytest.fixture(params=[1, 2, 3], ids=lambda n: f"threads{n}")
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    if request.param > numba.config.NUMBA_NUM_THREADS:
        pytest.skip(f"Numba has {numba.config.NUMBA_NUM_THREADS} threads here")
    before = numba.get_num_threads()
    numba.set_num_threads(request.param)
    yield request.param
    numba.set_num_threads(before)


def expected(x: Any, factor: Any, narrow: Any, exact: bool) -> Any:
    out = x * factor + narrow if exact else x.copy()
    out += 3.0 * x
    even = x.size // 2 * 2 if x.size > 1 else x.size
    out[:even] += x[:even] * 5.0 + 0.5
    return out


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 31, 32, 33, 1000])
def test_each_iteration_runs_once(size: int, threads: int) -> None:
    f = load(LOOPS, "loops").f
    x, narrow = np.linspace(1.0, 2.0, size), np.float32(0.25)
    for exact in (True, False):
        out = f(x, 2.0, narrow, exact, np.zeros(size))
        np.testing.assert_allclose(out, expected(x, 2.0, narrow, exact), rtol=1e-15)


def test_chunks_of_the_users_size_are_taken(threads: int) -> None:
    f = load(LOOPS, "loops").f
    x = np.linspace(1.0, 2.0, 333)
    before = numba.get_parallel_chunksize()
    for size in (1, 7, 1000):
        with numba.parallel_chunksize(size):
            out = f(x, 2.0, np.float32(1), True, np.zeros(x.size))
        np.testing.assert_allclose(out, expected(x, 2.0, 1.0, True), rtol=1e-15)
    assert numba.get_parallel_chunksize() == before


@pytest.mark.parametrize("place", [0, 500, 999])
def test_what_an_iteration_raises_is_raised(place: int, threads: int) -> None:
    """Numba's own loops lose it, or fail with a SystemError."""
    f = load(LOOPS, "loops").f
    x = np.ones(1000)
    x[place] = -1.0
    with pytest.raises(ValueError, match="below zero"):
        f(x, 2.0, np.float32(1), True, np.zeros(x.size))
    x[place] = 1.0
    out = f(x, 2.0, np.float32(1), True, np.zeros(x.size))
    np.testing.assert_allclose(out, expected(x, 2.0, 1.0, True))


def test_arrays_are_as_alive_as_before() -> None:
    f = load(LOOPS, "loops").f
    x, out = np.ones(100), np.zeros(100)
    counts = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(10):
        f(x, 2.0, np.float32(1), True, out)
    assert (sys.getrefcount(x), sys.getrefcount(out)) == counts


def test_another_process_finds_the_code_and_starts_threads() -> None:
    x = np.linspace(1.0, 2.0, 1000)
    load(LOOPS, "loops").f(x, 2.0, np.float32(1), True, np.zeros(1000))
    code = f"""
import numpy as np
from pyrev.runtime.code_cache import load
f = load({LOOPS!r}, "loops").f
out = f(np.linspace(1.0, 2.0, 1000), 2.0, np.float32(1), True, np.zeros(1000))
assert f.stats.cache_hits and not f.stats.cache_misses
print(out.sum())
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert float(told.stdout) == pytest.approx(expected(x, 2.0, 1.0, True).sum())


def test_another_version_of_numba_has_the_same_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    x = np.linspace(1.0, 2.0, 1000)
    ours = load(LOOPS, "loops").f(x, 2.0, np.float32(1), True, np.zeros(1000))
    monkeypatch.setattr(code_cache, "TESTED_NUMBA", "0.999")
    monkeypatch.setenv("PYREV_CACHE_DIR", str(tmp_path))
    module = load(LOOPS, "loops")
    assert not hasattr(module, NAME)
    numbas = module.f(x, 2.0, np.float32(1), True, np.zeros(1000))
    np.testing.assert_array_equal(ours, numbas)


def test_a_module_for_one_core_starts_no_other() -> None:
    """A child of a process with GNU OpenMP would end there."""
    module = load(code_cache.serial(LOOPS), "loops")
    assert not hasattr(module, NAME)
    assert hasattr(load(LOOPS, "loops"), NAME)


def functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}


def test_loops_are_calls_where_their_functions_were_called() -> None:
    made = functions(with_calls(ast.parse(LOOPS)))
    assert [*made] == ["row", "rows", "nested_task_0", "f"]
    calls = ast.unparse(made["f"]).splitlines()
    for call in (
        "row, x.shape[0], 1, (x,), (factor, narrow, exact, out), alone",
        "rows, (total + size - 1) // size, size, (), (size, total, x, out), False",
        "nested_task_0, x.shape[0] // max(count, 1) * count, 1, (), (count, out, x), "
        "False",
    ):
        assert f"    {NAME}({call})" in calls
    assert all("PARALLEL" not in ast.unparse(f) for f in made.values())


def test_a_function_stays_that_several_call_or_whose_names_others_have() -> None:
    twice = LOOPS.replace("    blocks(x, out)\n", "    blocks(x, out)\n" * 2)
    assert "blocks" in functions(with_calls(ast.parse(twice)))
    taken = LOOPS.replace("    return out\n", "    total = out\n    return total\n")
    assert "blocks" in functions(with_calls(ast.parse(taken)))
    other = LOOPS.replace("    blocks(x, out)\n", "    blocks(out, x)\n")
    assert "blocks" in functions(with_calls(ast.parse(other)))
    x = np.linspace(1.0, 2.0, 7)
    out = load(taken, "taken").f(x, 2.0, np.float32(1), True, np.zeros(7))
    np.testing.assert_allclose(out, expected(x, 2.0, 1.0, True), rtol=1e-15)


def test_a_function_stays_that_returns_early() -> None:
    """In the place of its call it would leave the other one, and return nothing."""
    guard = "    if exact:\n        return\n"
    guarded = LOOPS.replace("    total = x", f"{guard}    total = x")
    guarded = guarded.replace("blocks(x, out)", "blocks(x, exact, out)")
    assert "blocks" in functions(with_calls(ast.parse(guarded)))
    f, x = load(guarded, "guarded").f, np.linspace(1.0, 2.0, 8)
    for exact in (True, False):
        out = f(x, 2.0, np.float32(1), exact, np.zeros(8))
        want = expected(x, 2.0, 1.0, exact) - 3.0 * x * exact
        np.testing.assert_allclose(out, want, rtol=1e-14)


CORES = (
    HEAD.replace("import njit", "import get_thread_id, njit")
    + """

@njit(**SERIAL)
def row(i, out):
    out[i] = get_thread_id()


@njit(**PARALLEL)
def each(few, out):
    alone = few > 0
    for i in prange(out.shape[0]):
        row(np.int64(i), out)


@njit(**ENTRY)
def f(few, out):
    each(few, out)
    return out
"""
)


@pytest.mark.parametrize("few", [0, 1])
def test_a_loop_stays_on_one_core_that_says_so(few: int) -> None:
    if numba.get_num_threads() < 2:
        pytest.skip("Numba has one thread here")
    ran = {*load(CORES, "cores").f(few, np.zeros(1000))}
    assert (len(ran) == 1) == bool(few)


def test_arrays_may_have_the_names_of_builtins() -> None:
    text = re.sub(r"\bout\b", "input", re.sub(r"\bx\b", "filter", LOOPS))
    x = np.linspace(1.0, 2.0, 9)
    out = load(text, "builtins").f(x, 2.0, np.float32(1), True, np.zeros(9))
    np.testing.assert_allclose(out, expected(x, 2.0, 1.0, True), rtol=1e-15)


LEFT = {
    "a sum in a name": """
    total = 0.0
    for i in prange(x.shape[0]):
        total += x[i]
    out[0] = total
""",
    "a range with a first number": """
    for i in prange(1, x.shape[0]):
        out[i] = x[i]
""",
    "a way out": """
    for i in prange(x.shape[0]):
        if x[i] > 3.0:
            continue
        out[i] = x[i]
""",
}


@pytest.mark.parametrize("what", LEFT)
def test_other_loops_are_numbas(what: str) -> None:
    text = f"{HEAD}\n\n@njit(**PARALLEL)\ndef f(x, out):{LEFT[what]}"
    assert ast.dump(with_calls(ast.parse(text))) == ast.dump(ast.parse(text))


@pytest.mark.parametrize("name", share_of(EVERY, 24))
def test_no_parallel_loop_of_a_generated_module_is_left(name: str) -> None:
    f = accepted(EVERY[name], "numba")
    for text in (f.primal.source, f.adjoint.source):
        assert "prange(" not in ast.unparse(with_calls(ast.parse(text))), text


def test_kinds_of_arguments() -> None:
    """Whatever is not an array goes by value, of its own type."""
    kinds = (np.int8(-3), np.uint16(7), np.float32(0.5), np.float64(2.5), True, 4)
    dtypes = ("int8", "uint32", "float32", "bool")
    arrays = [np.arange(6).astype(d) for d in dtypes]
    arrays += [np.ones((3, 6))[::2, ::-1], np.asfortranarray(np.ones((2, 6)))]
    names = [f"a{k}" for k in range(len(kinds) + len(arrays))]
    listed = ", ".join(names)
    sums = " + ".join(
        [*names[: len(kinds)]]
        + [f"{n}[i]" for n in names[len(kinds) : -2]]
        + [f"{n}[1, i]" for n in names[-2:]]
    )
    text = f"""{HEAD}

@njit(**SERIAL)
def row(i, {listed}, out):
    out[i] = {sums}


@njit(**PARALLEL)
def rows({listed}, out):
    for i in prange(out.shape[0]):
        row(np.int64(i), {listed}, out)


@njit(**ENTRY)
def f({listed}, out):
    rows({listed}, out)
    return out
"""
    out = load(text, "kinds").f(*kinds, *arrays, np.zeros(6))
    total = sum(map(float, kinds)) + 2.0
    want = [total + 3 * i + (i > 0) for i in range(6)]
    np.testing.assert_allclose(out, want)


def test_loops_in_several_python_threads() -> None:
    f = load(LOOPS, "loops").f
    x = np.linspace(1.0, 2.0, 500)
    want = expected(x, 2.0, 1.0, True)
    outs = [np.zeros(500) for _ in range(4)]

    def work(out: Any) -> None:
        with code_cache.LAUNCH:
            f(x, 2.0, np.float32(1), True, out)

    workers = [threading.Thread(target=work, args=(out,)) for out in outs]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    for out in outs:
        np.testing.assert_allclose(out, want)
