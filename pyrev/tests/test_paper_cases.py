"""The paper's cases and their kin: the shape of the adjoint, its proofs, its races.

`recorded` runs the readable adjoint with arrays that remember which iteration of a
parallel loop touched which element; `shuffled` runs it again with the iterations of
every parallel loop in another order. Neither asks the compiler's own proof.
"""

from __future__ import annotations

import ast
import copy
import math
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev import ir
from pyrev.testing import draw_cotangents, run
from pyrev.tests.corpus import ENTRIES, Entry
from pyrev.tests.oracle import same_bits
from pyrev.tests.test_corpus import BY_NAME, FULL, compiled_here, generator

NAMED = {
    *range(1, 10),
    *range(14, 20),
    *range(23, 30),
    *range(34, 38),
    *range(43, 47),
}
MUST_SHOW = [e.name for e in ENTRIES if e.paper or NAMED & set(e.catalogue)]
ACCEPTED = [e.name for e in ENTRIES if not e.deferred]


def adjoint_call(entry: Entry, size: int) -> list[Any]:
    """Arguments for the adjoint's text: the primal's, cotangents, captured values."""
    rng = generator(entry, size)
    arguments = entry.make(size, np.float64, rng)
    weights = draw_cotangents(run(entry.function, arguments, entry.outputs), rng)
    captured = differentiable(entry.name)._units.parsed.captured
    hidden = [one.read() for one in captured]
    return [
        *arguments.values(),
        *weights.written.values(),
        *weights.returned,
        *hidden,
    ]


def differentiable(name: str, target: str = "python") -> Any:
    return pyrev.differentiable(BY_NAME[name].function, target=target)


def test_every_entry_that_the_paper_or_the_issue_names_is_in_the_corpus() -> None:
    found = {number for e in ENTRIES for number in e.catalogue}
    assert found >= NAMED
    assert {e.name for e in ENTRIES if e.paper} >= {
        "conv1d",
        "conv2d",
        "upsample4",
        "masked_update",
        "gamma_loss",
        "conv_stride3_dilation2",
        "conv_nchw",
        "conv_5d",
    }


# ----------------------------------------------------------------- what explain() says


@pytest.mark.parametrize("name", [n for n in ACCEPTED if BY_NAME[n].kinds])
def test_explain_names_the_schedule_of_each_adjoint(name: str) -> None:
    f = differentiable(name)
    report = f.adjoint.report()
    text = f.explain("python")
    for array, allowed in BY_NAME[name].kinds.items():
        kinds = {d.kind for d in report.loops if d.array == array}
        assert kinds, f"nothing is said about {array}:\n{text}"
        assert kinds <= set(allowed), f"{array}: {sorted(kinds)} in\n{text}"
        assert array in text


@pytest.mark.parametrize("name", MUST_SHOW)
def test_every_decision_has_a_reason_and_a_line(name: str) -> None:
    report = differentiable(name).adjoint.report()
    assert report.loops
    for d in report.loops:
        assert d.reason.strip(), d
        assert (d.kind in ("serial", "reduction")) <= (not d.proof), d
        assert d.loc.line > 0, d


@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("name", MUST_SHOW)
def test_every_parallel_loop_carries_its_proof(name: str, target: str) -> None:
    if target == "numba" and not (FULL or compiled_here(name)):
        pytest.skip("another quarter")
    f = differentiable(name, target)
    for loop, proof in f.adjoint.parallel_loops(target):
        assert "same element" in proof or "one iteration" in proof, (loop.index, proof)
    gathered = any(kinds == ("gather",) for kinds in BY_NAME[name].kinds.values())
    if gathered:
        assert f.adjoint.parallel_loops(target), f.adjoint.source


# ----------------------------------------------------------------- races, by running


class Recorder:
    """Who touched what inside parallel loops."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, int]] = []
        self.runs = 0
        self.touched: dict[tuple[int, int, tuple[int, ...]], set[int]] = {}
        self.written: set[tuple[int, int, tuple[int, ...]]] = set()
        self.arrays = 0

    def turns(self, values: Iterable[int]) -> Iterator[int]:
        """A parallel loop: number its iterations."""
        if self.stack:
            yield from values
            return
        self.runs += 1
        for turn, value in enumerate(values):
            self.stack.append((self.runs, turn))
            yield value
            self.stack.pop()

    def touch(self, array: int, index: tuple[int, ...], write: bool) -> None:
        if not self.stack:
            return
        run, turn = self.stack[-1]
        key = (run, array, index)
        self.touched.setdefault(key, set()).add(turn)
        if write:
            self.written.add(key)

    def races(self) -> list[tuple[int, tuple[int, ...]]]:
        return [(k[1], k[2]) for k in self.written if len(self.touched[k]) > 1]


class Recording:
    """An array that tells the recorder about every element read or written."""

    def __init__(self, recorder: Recorder, data: Any) -> None:
        recorder.arrays += 1
        self.recorder, self.data, self.id = recorder, data, recorder.arrays

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def size(self) -> int:
        return int(self.data.size)

    def __len__(self) -> int:
        return len(self.data)

    def copy(self) -> Recording:
        return Recording(self.recorder, self.data.copy())

    def _index(self, index: Any) -> tuple[int, ...]:
        index = index if isinstance(index, tuple) else (index,)
        assert len(index) == self.data.ndim, f"{index} of {self.data.shape}"
        for i, n in zip(index, self.data.shape, strict=True):
            assert 0 <= i < n, f"index {index} leaves {self.data.shape}"
        return tuple(int(i) for i in index)

    def __getitem__(self, index: Any) -> Any:
        at = self._index(index)
        self.recorder.touch(self.id, at, write=False)
        return self.data[at]

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._index(index)
        self.recorder.touch(self.id, at, write=True)
        self.data[at] = value


class RecordingNumpy(ModuleType):
    """NumPy whose new arrays record."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__("numpy")
        self.recorder = recorder

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name)
        makers = ("zeros", "ones", "empty", "full", "copy")
        if name not in (*makers, *(f"{m}_like" for m in makers)):
            return value

        def make(*args: Any, **kw: Any) -> Recording:
            plain = [a.data if isinstance(a, Recording) else a for a in args]
            return Recording(self.recorder, value(*plain, **kw))

        return make


def instrumented(f: Any, module: dict[str, Any]) -> Callable[..., Any]:
    """The readable adjoint with every parallel loop running through `__turns__`."""
    adjoint = f.adjoint
    unit = adjoint._default("python")
    tree = ast.parse(adjoint.source)
    tree.body = [
        s for s in tree.body if not isinstance(s, (ast.Import, ast.ImportFrom))
    ]
    (function,) = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    texts = [n for n in _in_order(function) if isinstance(n, ast.For)]
    loops = [s for s in ir.walk(unit.program.body) if isinstance(s, ir.For)]
    assert len(texts) == len(loops), "the text and the program have different loops"
    for text, loop in zip(texts, loops, strict=True):
        assert isinstance(text.target, ast.Name) and text.target.id == loop.index
        if loop.parallel:
            text.iter = ast.Call(ast.Name("__turns__", ast.Load()), [text.iter], [])
    exec(compile(ast.fix_missing_locations(tree), "<instrumented>", "exec"), module)
    made: Callable[..., Any] = module[function.name]
    return made


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


@pytest.mark.parametrize("name", ACCEPTED)
def test_no_two_iterations_of_a_parallel_loop_touch_one_element(name: str) -> None:
    entry = BY_NAME[name]
    f = differentiable(name)
    if not f.adjoint.parallel_loops():
        pytest.skip("no parallel loop")
    recorder = Recorder()
    module = {
        "np": RecordingNumpy(recorder),
        "math": math,
        "__turns__": recorder.turns,
    }
    function = instrumented(f, module)
    for size in (max(3, entry.least), max(6, entry.least)):
        arguments = adjoint_call(entry, size)
        wrapped = [
            Recording(recorder, a) if isinstance(a, np.ndarray) else a
            for a in arguments
        ]
        function(*wrapped)
    assert recorder.races() == []
    assert recorder.touched or name in ("only_scalars",)


@pytest.mark.parametrize("name", ACCEPTED)
def test_iterations_of_parallel_loops_may_run_in_any_order(name: str) -> None:
    entry = BY_NAME[name]
    f = differentiable(name)
    if not f.adjoint.parallel_loops():
        pytest.skip("no parallel loop")
    rng = np.random.default_rng(0)

    def shuffled(values: Iterable[int]) -> Iterator[int]:
        order = list(values)
        return iter([order[k] for k in rng.permutation(len(order))])

    module = {"np": np, "math": math, "__turns__": shuffled}
    function = instrumented(f, module)
    for size in (max(4, entry.least), max(7, entry.least)):
        arguments = adjoint_call(entry, size)
        straight = f.adjoint.python(*copy.deepcopy(arguments))
        mixed = function(*copy.deepcopy(arguments))
        for one, other in zip(straight, mixed, strict=True):
            assert same_bits(one, other)


# ----------------------------------------------------------------- compiled


@pytest.mark.slow
@pytest.mark.parametrize("name", MUST_SHOW)
def test_gradients_have_the_same_bits_for_one_and_two_threads(name: str) -> None:
    if not (FULL or BY_NAME[name].paper or compiled_here(name)):
        pytest.skip("another quarter")
    import numba

    entry = BY_NAME[name]
    f = differentiable(name, "numba")
    size = max(entry.real, entry.least)
    rng = generator(entry, size)
    arguments = entry.make(size, np.float64, rng)
    weights = draw_cotangents(run(entry.function, arguments, entry.outputs), rng)
    before = numba.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 1):
            numba.set_num_threads(min(threads, before))
            _, pullback = pyrev.vjp(f, **copy.deepcopy(arguments))
            found.append(pullback(weights.positional, cotangents=weights.written))
    finally:
        numba.set_num_threads(before)
    for gradients in found[1:]:
        for parameter in found[0]:
            assert same_bits(found[0][parameter], gradients[parameter]), parameter


# ----------------------------------------------------------------- the text


def test_the_adjoint_of_a_2d_convolution_is_short_and_gathers_by_bare_indices() -> None:
    f = differentiable("conv2d")
    source = f.adjoint.source
    assert len(source.rstrip("\n").splitlines()) <= 40
    tree = ast.parse(source)
    imported = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    ]
    assert imported == ["numpy"]
    writes = 0

    def visit(node: ast.AST, indices: frozenset[str]) -> None:
        nonlocal writes
        if isinstance(node, ast.For):
            assert isinstance(node.target, ast.Name)
            indices |= {node.target.id}
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if (
                    isinstance(target, ast.Subscript)
                    and ast.unparse(target.value) == "d_image"
                ):
                    writes += 1
                    subscripts = target.slice
                    assert isinstance(subscripts, ast.Tuple)
                    for one in subscripts.elts:
                        assert isinstance(one, ast.Name) and one.id in indices
        for child in ast.iter_child_nodes(node):
            visit(child, indices)

    visit(tree, frozenset())
    assert writes == 1


@pytest.mark.parametrize("name", ["conv2d", "gamma_loss", "upsample4", "logistic_map"])
def test_the_saved_module_runs_without_pyrev(name: str, tmp_path: Path) -> None:
    entry = BY_NAME[name]
    f = differentiable(name)
    path = tmp_path / "saved_adjoint.py"
    f.adjoint.save(path)
    arguments = adjoint_call(entry, 6)
    expected = f.adjoint.python(*copy.deepcopy(arguments))
    np.save(tmp_path / "arguments.npy", np.array(arguments, dtype=object))
    program = textwrap.dedent(
        f"""
        import sys
        for name in ("pyrev", "gast", "astunparse", "islpy", "numba"):
            sys.modules[name] = None
        sys.path.insert(0, {str(tmp_path)!r})
        import numpy as np
        import saved_adjoint
        path = {str(tmp_path / "arguments.npy")!r}
        found = saved_adjoint.{name}_adjoint(*np.load(path, allow_pickle=True))
        for gradient in found:
            print(np.asarray(gradient).tobytes().hex())
        """
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    hexes = done.stdout.split("\n")[: len(expected)]
    assert hexes == [np.asarray(g).tobytes().hex() for g in expected]


SECOND_ORDER = [
    "gamma_loss",
    "square_in_place",
    "nonlinear_five_points",
    "wave_history",
]


@pytest.mark.parametrize("name", [*SECOND_ORDER, "conv2d", "logistic_map"])
def test_the_adjoint_is_itself_a_legal_input(name: str) -> None:
    from pyrev.tests.oracle import check

    entry = BY_NAME[name]
    plain = differentiable(name).adjoint.python
    again = pyrev.differentiable(plain, target="python")
    names = list(again.adjoint._units.visible)
    values = adjoint_call(entry, max(3, entry.least))
    arguments = dict(zip(names, values, strict=True))
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    check(again, plain, arguments, (), rng, entries=6)
