from __future__ import annotations

import contextlib
import copy
import math
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pyrev.adjoint.elimination import (
    Eliminated,
    LocalGraph,
    Run,
    eliminate,
    local_graph,
    runs,
)
from pyrev.ir.dtypes import infer, is_float
from pyrev.ir.nodes import (
    Add,
    Block,
    Expr,
    Load,
    Program,
    Var,
    blocks,
    exprs,
    loop_indices,
    walk,
    walk_expr,
)
from pyrev.ir.text import block_text, expr_text
from pyrev.parse import parse_block, parse_text
from tests.corpora.everything import EVERY, accepted
from tests.turns import share_of

ERF = """
def error_function(x):
    a = abs(x)
    s = 0.3275911 * a
    s = 1.0 + s
    t = 1.0 / s
    p = 1.061405429 * t
    p = p - 1.453152027
    p = p * t
    p = p + 1.421413741
    p = p * t
    p = p - 0.284496736
    p = p * t
    p = p + 0.254829592
    p = p * t
    q = a * a
    e = np.exp(-q)
    y = 1.0 - p * e
    r = y if x >= 0.0 else -y
"""


class Cells(dict[Any, Any]):
    """An array without end: each element has a number that only its place decides."""

    shape = (5, 7, 6, 4, 3)

    def __init__(self, name: str, dtype: str) -> None:
        self.name, self.dtype = name, dtype

    def __missing__(self, place: Any) -> Any:
        seed = zlib.crc32(f"{self.name}{place}".encode())
        if is_float(self.dtype):
            return np.float64(0.2 + 0.6 * seed / 2**32)
        return seed % 2 if self.dtype == "bool" else seed % 5


def memory(program: Program) -> dict[str, Any]:
    """A value for every name of a program."""
    ranks = {p.name for p in program.params if p.rank}
    ranks |= {s.array for s in walk(program.body) if hasattr(s, "array")}
    ranks |= {
        e.array
        for s in walk(program.body)
        for e in _elements(s)  # what is only indexed
    }
    return {
        name: Cells(name, kind) if name in ranks else Cells(name, kind)[()]
        for name, kind in infer(program).items()
    }


def _elements(s: Any) -> Iterator[Load]:
    for top in exprs(s):
        yield from (e for e in walk_expr(top) if isinstance(e, Load))


SPACE = {"np": np, "math": math, "stop_gradient": lambda x: x}


def value_of(e: Expr, values: dict[str, Any]) -> Any:
    return eval(expr_text(e), SPACE, values)


def cell(place: Expr | None, values: dict[str, Any]) -> tuple[str, Any]:
    if isinstance(place, Var):
        return place.name, ()
    assert isinstance(place, Load)
    index = tuple(int(value_of(k, values)) for k in place.index)
    return place.array, index[0] if len(index) == 1 else index


def read(values: dict[str, Any], place: tuple[str, Any]) -> Any:
    name, index = place
    return values[name] if index == () else values[name][index]


def moved(values: dict[str, Any], place: tuple[str, Any], by: float) -> dict[str, Any]:
    name, index = place
    new = copy.deepcopy(values)
    if index == ():
        new[name] = new[name] + by
    else:
        new[name][index] = new[name][index] + by
    return new


def named(graph: LocalGraph, values: dict[str, Any]) -> dict[str, Any]:
    """The values on entry, and those that partials call by a name."""
    known = dict(values)
    for name, e in graph.names:
        known[name] = value_of(e, known)
    return known


def jacobian(
    graph: LocalGraph, done: Eliminated, run: Run, values: dict[str, Any]
) -> dict[tuple[Any, Any], float]:
    """What is left behind by what was there, from the edges."""
    known = named(graph, values)
    for name, e in done.steps:
        known[name] = value_of(e, known)
    found: dict[tuple[Any, Any], float] = {}
    for (i, j), e in done.edges.items():
        source, target = graph.vertices[i], graph.vertices[j]
        assert (source.kind, target.kind) == ("input", "output")
        pair = cell(source.place, known), cell(target.place, known)
        found[pair] = found.get(pair, 0.0) + float(value_of(e, known))
    return found


def every_run(block: Block) -> Iterator[Run]:
    yield from runs(block)
    for s in block:
        for inner in blocks(s):
            yield from every_run(inner)


def check(run: Run, values: dict[str, Any], active: frozenset[str]) -> int:
    """Compare all derivatives of a run with differences; how many could be."""
    scalars = frozenset(s.target.name for s in run if isinstance(s.target, Var))
    graph = local_graph(run, active, scalars)
    done = eliminate(graph)
    found = jacobian(graph, done, run, values)
    text = block_text(run)

    def after(by: float, place: tuple[str, Any]) -> dict[str, Any]:
        new = moved(values, place, by)
        exec(text, SPACE, new)
        return new

    known = named(graph, values)
    inputs = {cell(v.place, known) for v in graph.vertices if v.kind == "input"}
    outputs = {cell(v.place, known) for v in graph.vertices if v.kind == "output"}
    adds = {
        cell(s.target, known)
        for s in run
        if isinstance(s, Add) and isinstance(s.target, Load)
    }
    checked = 0
    for place in sorted(inputs, key=str):
        if place[0] not in active:
            continue
        steps = [(after(h, place), after(-h, place), h) for h in (1e-5, 3e-5)]
        for target in sorted(outputs, key=str):
            if target[0] not in active:
                continue
            one, two = (
                float((read(up, target) - read(down, target)) / (2 * h))
                for up, down, h in steps
            )
            if not math.isfinite(one) or abs(one - two) > 1e-4 * (1 + abs(one)):
                continue  # a kink, or outside of the domain
            expected = found.get((place, target), 0.0)
            expected += place == target and target in adds
            assert expected == pytest.approx(one, rel=2e-4, abs=2e-5), (place, target)
            checked += 1
    return checked


@pytest.mark.parametrize("name", share_of(EVERY, 24))
def test_what_is_left_of_a_run_is_its_jacobian(name: str) -> None:
    program = accepted(EVERY[name], "python")._units.function.program
    kinds = infer(program)
    active = frozenset(n for n, kind in kinds.items() if is_float(kind))
    values = memory(program)
    silent = loop_indices(program.body)
    for number, run in enumerate(every_run(program.body)):
        here = values | {
            n: 3 + 2 * k + number % 3 for k, n in enumerate(sorted(silent))
        }
        # An integer that is not of its kind may shift by less than nothing.
        with np.errstate(all="ignore"), contextlib.suppress(ValueError):
            check(run, here, active)


def one_run(text: str) -> Run:
    (run,) = runs(parse_block(text))
    return run


def graph_of(text: str, live: str = "") -> LocalGraph:
    run = one_run(text)
    active = {n for s in run for n in (s.target_name, *map(str, "abcdxyzstuvpq"))}
    return local_graph(
        run, frozenset(active), frozenset(live.split()), frozenset("ijk")
    )


def test_the_error_function_collapses_to_one_edge_with_its_derivative() -> None:
    body = parse_text(ERF).body
    (run,) = runs(body)
    active = frozenset("xastpqeyr")
    graph = local_graph(run, active, frozenset("r"))
    assert len(graph.edges) == 27
    done = eliminate(graph)
    ((pair, _),) = done.edges.items()
    assert [graph.vertices[k].place for k in pair] == [Var("x"), Var("r")]
    assert done.multiplications < len(graph.edges)
    for x in (-1.3, -0.2, 0.4, 2.0):
        values = {"x": np.float64(x)}
        found = jacobian(graph, done, run, values)[("x", ()), ("r", ())]
        # The complex step: exact where the function is analytic, on either side of 0.
        moved = dict(values, x=x + 1e-30j)
        side = ERF.replace("abs(x)", f"{math.copysign(1.0, x)} * x").replace(
            "x >= 0.0", str(x >= 0)
        )
        body_text = "\n".join(line[4:] for line in side.splitlines()[2:])
        exec(body_text, SPACE, moved)
        assert found == pytest.approx(moved["r"].imag / 1e-30, rel=1e-13)
        whole = done.expanded(pair, 10_000)
        assert whole is not None
        assert value_of(whole, named(graph, values)) == pytest.approx(found, rel=1e-13)
        assert found == pytest.approx(
            2 / math.sqrt(math.pi) * math.exp(-x * x), abs=3e-6
        )


def test_the_vertex_with_the_fewest_pairs_goes_first() -> None:
    # Four inputs meet in `t`, which goes out twice: to join each of them with it before
    # its uses takes 12 products, to join `t` with its uses first takes 10.
    graph = graph_of(
        """
        s = a[0] * b[0] + a[1] * b[1]
        t = sqrt(s)
        c[0] = t * x
        d[0] = t * y
        """
    )
    done = eliminate(graph)
    assert len(done.edges) == 10
    assert done.multiplications == 10


def test_a_read_that_may_meet_a_write_begins_a_run() -> None:
    def lengths(text: str) -> list[int]:
        return [len(run) for run in runs(parse_block(text))]

    assert lengths("a[i] = x\nb[i] = a[i]") == [2]  # the very element
    assert lengths("a[i] = x\nb[i] = a[i + 1]") == [2]  # surely another
    assert lengths("a[i] = x\nb[i] = a[k]") == [1, 1]
    assert lengths("a[i] += x\nb[i] = a[i]") == [1, 1]
    assert lengths("a[i] += x\na[k] += y") == [2]  # increments commute
    assert lengths("a[i] = x\na[k] = y") == [1, 1]
    assert lengths("a[i] = x\na[i] += y") == [1, 1]
    assert lengths("a[k] = x\nk = k + 1\nb[i] = a[k]") == [2, 1]
    assert lengths("a[k] = x\nk = k - 1\nb[i] = a[k + 1]") == [2, 1]
    assert lengths("t = a[i]\nif t > 0:\n    t = 1.0\nb[i] = t") == [1, 1]


def test_the_values_of_a_scalar_are_told_apart() -> None:
    graph = graph_of("t = t * x\nt = sin(t)\nb[0] = t * y", live="t")
    assert [name for name, _ in graph.names] == ["t_2", "t_3"]
    run = one_run("t = t * x\nt = sin(t)\nb[0] = t * y")
    values = {n: np.float64(v) for n, v in (("t", 0.7), ("x", 0.9), ("y", 1.3))}
    values["b"] = Cells("b", "float64")
    assert check(run, values, frozenset("txyb")) == 6


def test_partials_mention_results_by_their_names() -> None:
    graph = graph_of("t = y / x\nb[0] = t")
    places = [v.place for v in graph.vertices]
    pair = places.index(Var("x")), places.index(Var("t"))
    assert expr_text(graph.edges[pair]) == "-t / x"


def test_an_element_that_was_assigned_is_read_back_as_what_was_assigned() -> None:
    run = one_run("a[i] = a[i] * x\nb[i] = sin(a[i])\na_2 = a[i]")
    values: dict[str, Any] = {"i": 2, "x": np.float64(0.8)}
    values |= {n: Cells(n, "float64") for n in "ab"}
    assert check(run, values, frozenset(("a", "b", "x", "a_2"))) == 6


def test_no_derivative_passes_through_subscripts_tests_and_flat_operations() -> None:
    graph = graph_of("b[i] = a[k[i]] * floor(x) if y > 0 else z")
    names = {expr_text(graph.vertices[i].value): (i, j) for i, j in sorted(graph.uses)}
    assert {"k[i]", "x", "y"} <= set(names)
    inputs = {
        expr_text(v.value): k
        for k, v in enumerate(graph.vertices)
        if v.kind == "input" and any(i == k for i, _ in graph.edges)
    }
    assert set(inputs) == {"a[k[i]]", "z"}


def test_a_choice_selects_and_a_branch_that_is_not_taken_stays_out() -> None:
    done = eliminate(graph_of("t = log(x)\nb[0] = t if x > 0 else 3.0 * y"))
    with np.errstate(all="ignore"):
        values = {"x": np.float64(0.0), "y": np.float64(1.0)}
        for step, inner in done.steps:
            values[step] = value_of(inner, values)
        found = [value_of(e, values) for e in done.edges.values()]
    assert sorted(found) == [0.0, 3.0]  # and not 0 * inf


def test_steps_have_names_of_their_own() -> None:
    graph = graph_of("p = sin(x) * cos(x)\np_2 = exp(p)\nb[p_3] = p_2 * p_2 * p")
    done = eliminate(graph)
    steps = [name for name, _ in done.steps]
    assert steps and not {"p", "p_2", "p_3", "x", "b"} & set(steps)
    assert len(set(steps)) == len(steps)
    again = eliminate(graph)
    assert again == done


def test_a_partial_that_would_be_too_long_is_not_written_out() -> None:
    text = "\n".join(f"t = sin(t) * cos(t)  # {k}" for k in range(40))
    graph = graph_of(f"t = x\n{text}\nb[0] = t")
    done = eliminate(graph)
    ((pair, _),) = done.edges.items()
    assert done.expanded(pair, 1000) is not None
    assert done.expanded(pair, 100) is None
    assert len(done.steps) < 200
