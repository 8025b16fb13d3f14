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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.analysis.bounds import natural
from pyrev.driver.targets import PYTHON
from pyrev.emit.python import emit_python
from pyrev.ir import nodes
from pyrev.testing import comparisons, distance, draw_cotangents, floats, outcome, run
from tests.corpora.corpus import ENTRIES
from tests.corpora.entry import Entry
from tests.corpora.test_corpus import BY_NAME, compiled_here, generator
from tests.tools import costs
from tests.tools.interpreted import (
    Recorder,
    Recording,
    RecordingNumpy,
    interpreted,
    shuffled,
)
from tests.tools.oracle import check, same_bits
from tests.turns import FULL, share_of

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
    captured = differentiable(entry.name)._units.function.parsed.captured
    hidden = [one.read() for one in captured]
    return [
        *arguments.values(),
        *weights.written.values(),
        *weights.returned,
        *hidden,
    ]


def differentiable(name: str, target: str = "python") -> Any:
    return costs.differentiable(BY_NAME[name].function, target=target)


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


@pytest.mark.slow
@pytest.mark.parametrize("name", MUST_SHOW)
def test_every_decision_has_a_reason_and_a_line(name: str) -> None:
    report = differentiable(name).adjoint.report()
    assert report.loops
    for d in report.loops:
        assert d.reason.strip(), d
        assert (d.kind in ("serial", "reduction")) <= (not d.proof), d
        assert d.loc.line > 0, d


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "numba"])
@pytest.mark.parametrize("name", MUST_SHOW)
def test_every_parallel_loop_carries_its_proof(name: str, target: str) -> None:
    if target == "numba" and not (FULL or compiled_here(name)):
        pytest.skip("another run's turn")
    f = differentiable(name, target)
    for loop, proof in f.adjoint.parallel_loops(target):
        assert "same element" in proof or "one iteration" in proof, (loop.index, proof)
    gathered = any(kinds == ("gather",) for kinds in BY_NAME[name].kinds.values())
    if gathered:
        assert f.adjoint.parallel_loops(target), f.adjoint.source


# ----------------------------------------------------------------- races, by running


def instrumented(f: Any, module: dict[str, Any]) -> Callable[..., Any]:
    """The readable adjoint with every parallel loop running through `__turns__`."""
    adjoint = f.adjoint
    unit = adjoint._default(PYTHON)
    # As loops, statements about whole arrays too.
    tree = ast.parse(emit_python(natural(unit.program)).text)
    tree.body = [
        s for s in tree.body if not isinstance(s, (ast.Import, ast.ImportFrom))
    ]
    (function,) = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    texts = [n for n in _in_order(function) if isinstance(n, ast.For)]
    loops = [
        s
        for s in nodes.walk(unit.program.body)
        if isinstance(s, nodes.For) or (isinstance(s, nodes.While) and s.index)
    ]
    assert len(texts) == len(loops), "the text and the program have different loops"
    for text, loop in zip(texts, loops, strict=True):
        assert isinstance(text.target, ast.Name)
        assert text.target.id == loop.index or loop.index.startswith("_")
        if isinstance(loop, nodes.For) and loop.parallel:
            text.iter = ast.Call(ast.Name("__turns__", ast.Load()), [text.iter], [])
    exec(compile(ast.fix_missing_locations(tree), "<instrumented>", "exec"), module)
    made: Callable[..., Any] = module[function.name]
    return made


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ACCEPTED)
def test_iterations_of_parallel_loops_may_run_in_any_order(name: str) -> None:
    entry = BY_NAME[name]
    f = differentiable(name)
    if not f.adjoint.parallel_loops():
        pytest.skip("no parallel loop")
    module = {"np": np, "math": math, "__turns__": shuffled(0)}
    function = instrumented(f, module)
    for size in (max(4, entry.least), max(7, entry.least)):
        arguments = adjoint_call(entry, size)
        straight = f.adjoint.python(*copy.deepcopy(arguments))
        mixed = function(*copy.deepcopy(arguments))
        for one, other in zip(straight, mixed, strict=True):
            assert same_bits(one, other)


def cpu_text(entry: Entry, arguments: dict[str, Any]) -> tuple[str, str]:
    """The module that Numba would compile for a call, and its function's name."""
    adjoint = differentiable(entry.name, "numba").adjoint
    return adjoint.source_for("numba", *arguments.values()), f"{entry.name}_adjoint"


def primal_arguments(entry: Entry, size: int) -> dict[str, Any]:
    return entry.make(size, np.float64, generator(entry, size))


def gradients_by(entry: Entry, size: int) -> dict[str, Any]:
    """The gradients of the Python target, for the same call."""
    f = differentiable(entry.name)
    rng = generator(entry, size)
    arguments = entry.make(size, np.float64, rng)
    weights = draw_cotangents(run(entry.function, arguments, entry.outputs), rng)
    _, pullback = pyrev.vjp(f, *copy.deepcopy(list(arguments.values())))
    return dict(pullback(weights.positional, cotangents=weights.written).items())


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(ACCEPTED, 4))
def test_the_text_for_numba_gives_the_gradients_in_any_order(name: str) -> None:
    entry = BY_NAME[name]
    for size in (max(2, entry.least), entry.real):
        text, function = cpu_text(entry, primal_arguments(entry, size))
        expected = gradients_by(entry, size)
        bits = []
        for seed in (0, 1):
            arguments = adjoint_call(entry, size)
            found = interpreted(text, function, shuffled(seed))(*arguments)
            for parameter, gradient in zip(expected, found, strict=True):
                np.testing.assert_allclose(
                    np.asarray(gradient),
                    np.asarray(expected[parameter]),
                    rtol=1e-11,
                    atol=1e-12,
                    err_msg=f"{parameter} at size {size}",
                )
            bits.append([np.asarray(g).tobytes() for g in found])
        assert bits[0] == bits[1], f"the order of iterations matters at size {size}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", share_of([n for n in ACCEPTED if not BY_NAME[n].only64], 4)
)
def test_the_text_for_numba_is_right_in_single_precision(name: str) -> None:
    entry = BY_NAME[name]
    size = max(5, entry.least)
    rng = generator(entry, size)
    arguments = entry.make(size, np.float32, rng)
    expected = run(entry.function, arguments, entry.outputs)
    weights = draw_cotangents(expected, rng)
    f = differentiable(name, "numba")
    given = list(arguments.values())

    own = copy.deepcopy(arguments)
    primal = f.primal.source_for("numba", *given)
    raw = interpreted(primal, name, shuffled(0))(*own.values())
    raw = tuple(raw) if isinstance(raw, (tuple, list)) else raw
    assert distance(expected, outcome(raw, own, entry.outputs)) < 2e-5

    adjoint = f.adjoint.source_for("numba", *given)
    found = interpreted(adjoint, f"{name}_adjoint", shuffled(0))(
        *copy.deepcopy(given), *weights.written.values(), *weights.returned
    )
    gradients = dict(zip(floats(arguments), found, strict=True))
    for parameter, gradient in gradients.items():
        if isinstance(arguments[parameter], np.ndarray):
            assert gradient.dtype == np.float32, parameter
    wrong = [
        str(c)
        for c in comparisons(
            entry.function,
            arguments,
            entry.outputs,
            weights,
            gradients,
            rng,
            entries=4,
            directions=2,
        )
        if not c.error <= 2e-3
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(ACCEPTED, 3))
def test_no_two_iterations_of_a_prange_touch_one_element(name: str) -> None:
    entry = BY_NAME[name]
    size = max(6, entry.least)
    text, function = cpu_text(entry, primal_arguments(entry, size))
    if "prange(" not in text:
        pytest.skip("no parallel loop")
    recorder = Recorder()
    numpy = RecordingNumpy(recorder)
    wrapped = [
        Recording(recorder, a) if isinstance(a, np.ndarray) else a
        for a in adjoint_call(entry, size)
    ]
    interpreted(text, function, recorder.turns, numpy)(*wrapped)
    assert recorder.races() == []
    assert recorder.runs > 0


# ----------------------------------------------------------------- compiled


@pytest.mark.slow
@pytest.mark.parametrize("name", MUST_SHOW)
def test_gradients_have_the_same_bits_for_one_and_two_threads(name: str) -> None:
    if not (FULL or BY_NAME[name].paper or compiled_here(name)):
        pytest.skip("another run's turn")
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


SECOND_ORDER = (
    "conv2d",
    "gamma_loss",
    "logistic_map",
    "nonlinear_five_points",
    "square_in_place",
    "wave_history",
)


#: Adjoints with a tape that grows from one entry on, as no array of the language does.
#: Further derivatives are made of the program, not of its text.
GROWS = {"measured_while_it_runs_again"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ACCEPTED)
def test_the_adjoint_is_itself_a_legal_input(name: str) -> None:
    if not (FULL or name in SECOND_ORDER or compiled_here(name)):
        pytest.skip("another run's turn")
    entry = BY_NAME[name]
    plain = differentiable(name).adjoint.python
    again = pyrev.differentiable(plain, target="python")
    own = again.adjoint._units.function
    names = own.visible
    # Before any call a mask or a label is a float, and so is its adjoint here; off the
    # whole numbers no step of a difference crosses a comparison with a label.
    values = [
        v + 0.25
        if rank and floating and isinstance(v, np.ndarray) and v.dtype.kind in "biu"
        else v
        for v, (rank, floating) in zip(
            adjoint_call(entry, max(3, entry.least)),
            [(p.rank, p.is_float) for p in own.program.params],
            strict=True,
        )
    ]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    given = dict(zip(names, values, strict=True))
    if name in GROWS:
        with pytest.raises(ValueError, match="grows"):
            check(again, plain, given, (), rng, entries=6)
        return
    check(again, plain, given, (), rng, entries=6)
