"""Loop functions of Dask arrays: `pyrev.dask.distribute(f)`.

Each block of what the function writes is a task of the user's own loops, on windows
that are as wide as its subscripts say; the derivative is that of the blocks. Dask runs
the tasks, wherever it runs tasks.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask._task_spec import DataNode, TaskRef, convert_legacy_graph
from dask._task_spec import Task as DaskTask
from dask.array.core import getter, getter_inline, getter_nofancy
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from pyrev.api.differentiable import Differentiable, as_differentiable
from pyrev.api.gradients import Gradients, Tangents
from pyrev.bridges.chunked import tasks
from pyrev.bridges.chunked.calls import Asked, Planned, Shaped, planned
from pyrev.bridges.chunked.checked import (
    STEP,
    Against,
    ChunkReport,
    Slope,
    against_cpython,
    direction,
    sampled,
)
from pyrev.bridges.chunked.cold import Store
from pyrev.bridges.chunked.graph import Builder, packed
from pyrev.bridges.chunked.phases import ChunkingError
from pyrev.bridges.chunked.plan import Chunked, Graph, Plan, Single, State
from pyrev.bridges.chunked.plan import Task as PlanTask
from pyrev.bridges.chunked.told import told
from pyrev.bridges.chunked.uncollected import uncollected
from pyrev.driver.arguments import bind
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.directives import memory_bytes
from pyrev.runtime.device import is_device
from pyrev.runtime.elsewhere import is_labelled

GRADIENTS = ("gather", "sum")


def distribute(
    f: Callable[..., Any],
    *,
    steps: int | str = "auto",
    memory: float | str | None = "2GB",
    gradient: str = "gather",
    target: str = "numba",
    checkpoints: str | None = None,
) -> Distributed:
    """`f`, plain or differentiable, as a function of Dask arrays; all results are lazy.

    It changes none of its arguments. It returns what `f` returns; if that is nothing,
    the final values of the arrays that `f` writes, in the order of the parameters (one
    array if there is one). Arguments are Dask arrays, NumPy arrays, which are in one
    chunk, and numbers; integers that decide how often a loop over chunks runs have to
    be numbers. An `xarray.DataArray` is taken for the array in it; what belongs to it,
    its gradient, its tangent and its final values, comes back with its coordinates.

    `steps` is how many steps of a loop over time one task does, by default so many as
    cost least where a task costs half a millisecond. The derivative keeps
    the states between such tasks that fit into `memory`, of all workers together, and
    makes the others again; None keeps all. With `checkpoints`, a folder or the address
    of a Zarr store, all go there, and none is made again; what is in it is of no use
    when the gradients are there. What one task keeps of its own steps is bounded by
    the ``memory=`` of `pyrev.differentiable`. With
    ``gradient="gather"`` the derivative of a function without such a loop is its own
    adjoint on chunks, where that reads no more than blocks have: its bits do not depend
    on the chunks. Else, and with ``"sum"``, each block is differentiated, and what they
    owe to a chunk is added in the order of the blocks.

    Raises `ArgumentError` if the options do not fit; `ChunkingError`, when it is
    called, where the function can't be run on such chunks: with the line, the reason
    and what to do instead.
    """
    if steps != "auto" and (not isinstance(steps, int) or steps < 1):
        raise ArgumentError(f"steps={steps!r}: give a number of steps, or 'auto'")
    if gradient not in GRADIENTS:
        raise ArgumentError(f"gradient={gradient!r}: there are 'gather' and 'sum'")
    most = memory_bytes(memory)
    if checkpoints is not None and not isinstance(checkpoints, (str, os.PathLike)):
        raise ArgumentError(
            f"checkpoints={checkpoints!r}: give a folder, or the address of a store"
        )
    store = None if checkpoints is None else os.fspath(checkpoints)
    made = as_differentiable(f)
    if made.fixed is not None:
        raise ArgumentError(
            f"distribute: {made.python.__name__}() is bound; give the function itself,"
            " and all arguments when it is called"
        )
    return Distributed(made, steps, most, gradient, target, store)


class Given(NamedTuple):
    """A call as it was read, its arrays in chunks, and what labels had these."""

    asked: Asked
    arrays: dict[str, da.Array]
    labels: dict[str, Any]


class Distributed:
    """A loop function of Dask arrays, made by `distribute`."""

    def __init__(
        self,
        f: Differentiable,
        steps: int | str,
        memory: int | None,
        gradient: str,
        target: str,
        checkpoints: str | None,
    ) -> None:
        self.f, self.gradient, self.target = f, gradient, target
        self.memory, self.checkpoints = memory, checkpoints
        self.steps = steps
        functools.update_wrapper(self, f.python)

    def __reduce__(self) -> tuple[Any, ...]:
        how = self.steps, self.memory, self.gradient, self.target, self.checkpoints
        return type(self), (self.f, *how)

    def __call__(self, *args: Any, **kw: Any) -> Any:
        """The results, as Dask arrays, and numbers as those without axes."""
        return self._run(self._asked(args, kw)).result()

    def vjp(
        self, *args: Any, wrt: object = None, **kw: Any
    ) -> tuple[Any, Callable[..., Gradients]]:
        """The results, and a pullback from their cotangents to gradients.

        The pullback takes the cotangent of what is returned (a tuple for a tuple), and
        those of written arrays by name; gradients have the chunks of their arrays.
        """
        given = self._asked(args, kw)
        run = self._run(given, self.checkpoints)
        names = given.asked.call.wrt(wrt)

        def pullback(cotangent: Any = None, /, **by_name: Any) -> Gradients:
            seeds = run.seeds(cotangent, by_name)
            gathered = self._gathered(given, names, seeds, run)
            return gathered or run.gradients(names, seeds)

        return run.result(), pullback

    def value_and_grad(
        self, *args: Any, wrt: object = None, **kw: Any
    ) -> tuple[Any, Gradients]:
        """The returned number, and its gradients."""
        value, pullback = self.vjp(*args, wrt=wrt, **kw)
        if not isinstance(value, da.Array) or value.ndim:
            raise ArgumentError(
                f"{self.f.python.__name__}() does not return one number: use vjp"
            )
        return value, pullback(1.0)

    def jvp(
        self, *args: Any, tangents: Mapping[str, Any], **kw: Any
    ) -> tuple[Any, Tangents]:
        """The results, and their tangents along those of arguments: by the names of
        written arrays, and "return".
        """
        run, count, written = self._along(self._asked(args, kw), tangents)
        p = run.planned
        row = [run.array(n) for n in p.results]
        found: dict[str, Any] = {
            of: run.labelled(of, run.array(dot)) for dot, of in written.items()
        }
        if count:
            # Of what moves nothing the tangent is the number 0.
            own = [
                dot if dot.ndim == of.ndim else da.zeros_like(of)
                for dot, of in zip(row[count:], row, strict=False)
            ]
            found["return"] = own[0] if len(own) == 1 else tuple(own)
            value = row[0] if count == 1 else tuple(row[:count])
        else:
            names = [n for n in p.written if n not in written]
            row = [run.labelled(n, run.array(n)) for n in names]
            value = row[0] if len(row) == 1 else tuple(row)
        return value, Tangents(found)

    def hvp(
        self, *args: Any, tangents: Mapping[str, Any], wrt: object = None, **kw: Any
    ) -> Gradients:
        """The Hessian of a function that returns one number, times a vector."""
        given = self._asked(args, kw)
        names = given.asked.call.wrt(tuple(tangents) if wrt is None else wrt)
        run, count, _ = self._along(given, tangents, self.checkpoints)
        if count != 1 or not run.planned.results[1].startswith("return "):
            raise ArgumentError(
                f"{self.f.python.__name__}() does not return one number"
            )
        return run.gradients(names, run.seeds(None, {run.planned.results[1]: 1.0}))

    def check_grad(
        self,
        *args: Any,
        wrt: object = None,
        count: int = 2,
        seed: int = 0,
        tolerance: float = 1e-5,
        **kw: Any,
    ) -> ChunkReport:
        """Check the derivative for such arguments; unlike others this call computes.

        For each array, in `count` of its chunks, the slope along a random direction in
        that chunk is compared with a central difference of the call; and of each text
        `count` blocks run in CPython, too, on the same windows, and give the same.
        Results weigh as random numbers of this `seed` say.
        """
        call = self._asked(args, kw)
        asked, arrays, _ = call
        names = asked.call.wrt(wrt)
        given = {n: arrays.get(n, v) for n, v in asked.values.items()}
        weights: list[Any] = []

        def weighted(run: _Run) -> Any:
            """The sum of all results, with random weights."""
            total = 0.0
            for of in dict.fromkeys((*run.planned.results, *run.planned.written)):
                if run.plan.dtypes.get(of, "float64") not in ("float32", "float64"):
                    continue
                value = run.array(of)
                draw = da.random.default_rng([seed, len(of), *of.encode()])
                weight = draw.standard_normal(value.shape, chunks=value.chunks)
                weights.append((of, weight.astype(value.dtype)))
                total = total + (value * weight).sum()
            return total

        run = self._run(call._replace(labels={}))
        height = weighted(run)
        gradients = run.gradients(names, run.seeds(None, dict(weights)))
        rows, lazy = list[tuple[str, tuple[int, ...], float]](), list[Any]()
        for name in names:
            x, gradient = given[name], gradients[name]
            whole = x if isinstance(x, da.Array) else da.from_array(np.asarray(x), -1)
            size = float(abs(whole).max().compute()) if whole.size else 0.0
            h = STEP * max(1.0, size)
            for chunk in sampled(whole.numblocks, count, seed):
                move = whole.map_blocks(
                    direction, chunk=chunk, seed=seed, dtype=whole.dtype
                )
                sides = []
                for sign in (h, -h):
                    moved: Any = whole + sign * move
                    if not isinstance(x, da.Array):
                        moved = moved.compute()[()]
                    near = self._asked((), {**given, name: moved})
                    sides.append(weighted(self._run(near)))
                slope = (da.asarray(gradient) * move).sum()
                rows.append((name, chunk, h))
                lazy.append((slope, *sides))
        blocks, apart = run.against_cpython(count, seed)
        level, found, own = dask.compute(height, lazy, apart)
        slopes = tuple(
            Slope(
                name,
                chunk,
                float(slope),
                float(above - below) / (2 * h),
                100 * np.finfo(float).eps * abs(float(level)) / h,
            )
            for (name, chunk, h), (slope, above, below) in zip(rows, found, strict=True)
        )
        against = tuple(
            Against(name, place, float(a))
            for (name, place), a in zip(blocks, own, strict=True)
        )
        return ChunkReport(slopes, against, tolerance)

    def explain(self, *args: Any, **kw: Any) -> str:
        """What runs for such arguments: blocks, windows, tasks, bytes and their text.

        Of a loop over time it says what other numbers of steps in a task would cost on
        a hundred machines.
        """
        asked = self._asked(args, kw).asked
        name = self.f.python.__name__

        def other(steps: int) -> Plan | None:
            try:
                return asked.planned(steps, self.target).plan
            except ChunkingError:
                return None

        return told(asked.planned(self.steps, self.target), name, other)

    # ---------------------------------------------------------------- calls

    def _asked(self, args: Sequence[Any], kw: Mapping[str, Any]) -> Given:
        bound = bind(self.f.python.__name__, self.f._signature, args, kw)
        arrays: dict[str, da.Array] = {}
        given = {n: _shaped(n, v, arrays) for n, v in bound.items()}
        labels = {n: v for n, v in bound.items() if is_labelled(v)}
        return Given(Asked.of(self.f, given), arrays, labels)

    def _run(self, given: Given, checkpoints: str | None = None) -> _Run:
        asked, arrays, labels = given
        own = asked.planned(self.steps, self.target)
        name = self.f.python.__name__
        return _Run(own, arrays, name, self.memory, labels, checkpoints)

    def _along(
        self,
        given: Given,
        tangents: Mapping[str, Any],
        checkpoints: str | None = None,
    ) -> tuple[_Run, int, dict[str, str]]:
        """The tangent of a call, as a call; how many results are those of the function
        itself; and the tangents of written arrays, by parameter.
        """
        asked, call, arrays = given.asked, given.asked.call, dict(given.arrays)
        if not tangents:
            raise ArgumentError("no tangent was given: pass tangents={'x': ...}")
        wrt = call.wrt(tuple(tangents))
        unit = asked.derivative(Units.tangent, wrt)
        values = {n: v for n, v in asked.values.items() if n in unit.params}
        dtypes = {n: k.dtype for n, k in call.kinds.items()}
        written = {}
        for dot, of in unit.cotangents:
            assert isinstance(of, str)
            like = asked.values[of]
            move: Any = _bare(tangents.get(of, 0.0))
            if np.shape(move) != np.shape(like) and np.ndim(move):
                raise ArgumentError(
                    f"the tangent of `{of}` has shape {np.shape(move)}, not"
                    f" {np.shape(like)}"
                )
            if isinstance(like, Shaped):
                if not isinstance(move, da.Array):
                    full = np.broadcast_to(np.asarray(move, like.dtype), like.shape)
                    move = da.from_array(full, chunks=like.chunks)
                move = move.rechunk(like.chunks).astype(like.dtype)
                values[dot] = _shaped(dot, move, arrays)
            elif np.ndim(like):
                values[dot] = np.array(
                    np.broadcast_to(move, np.shape(like)), like.dtype
                )
            else:
                values[dot] = float(move)
            dtypes[dot] = dtypes[of]
            if of in call.function.written:
                written[dot] = of
        program = unit.program
        own = tuple(dict.fromkeys((*call.function.written, *written)))
        try:
            made = planned(
                program,
                values,
                dtypes,
                own,
                self.steps,
                self.target,
                inside=asked.inside,
                memory=self.f.keeping.memory,
            )
        except ChunkingError as error:
            raise error.of_tangents() from None
        name = f"{self.f.python.__name__}_tangent"
        run = _Run(made, arrays, name, self.memory, given.labels, checkpoints)
        return run, len(call.result_dtypes()), written

    def _gathered(
        self,
        of: Given,
        wrt: tuple[str, ...],
        seeds: State,
        run: _Run,
    ) -> Gradients | None:
        """The gradients by the adjoint of the whole function on chunks; None where that
        is not asked for, or reads more than blocks have.
        """
        if self.gradient != "gather" or run.planned.plan.over_time:
            return None
        asked, arrays, _ = of
        unit = asked.derivative(Units.adjoint, wrt)
        values = {n: v for n, v in asked.values.items() if n in unit.params}
        own = dict(arrays)
        dtypes = {n: k.dtype for n, k in asked.call.kinds.items()}
        left = {*seeds}
        for param, result in unit.cotangents:
            name = result if isinstance(result, str) else run.planned.results[result]
            like = run.planned.plan.layout.shapes.get(name, ())
            dtypes[param] = run.planned.plan.dtypes.get(name, "float64")
            # What is written and returned, or returned twice, is one array here.
            given = run.given.get(name) if name in left else None
            left.discard(name)
            if given is None:
                given = np.zeros(like, dtypes[param]) if like else 0.0
                if name in run.planned.plan.layout.axes:
                    chunks = run.planned.plan.layout.chunks[name]
                    given = da.zeros(like, chunks=chunks, dtype=dtypes[param])
            values[param] = _shaped(param, given, own)
        try:
            made = planned(
                unit.program,
                values,
                dtypes,
                (),
                1,
                self.target,
                wrt,
                asked.inside,
            )
        except ChunkingError:
            return None
        back = _Run(made, own, f"{self.f.python.__name__}_adjoint", None, {})
        like_of = {n: arrays.get(n) for n in wrt}
        return Gradients(
            {
                n: run.labelled(n, back.array(name, like_of[n]))
                for n, name in zip(wrt, made.results, strict=True)
            }
        )


def _bare(value: Any) -> Any:
    return value.data if is_labelled(value) else value


def _shaped(name: str, value: Any, arrays: dict[str, da.Array]) -> Any:
    """An argument as a plan takes it; an array in chunks is noted."""
    value = _bare(value)
    if not isinstance(value, da.Array):
        return value
    if any(np.isnan(n) for n in value.shape):
        raise ArgumentError(
            f"`{name}` has chunks of unknown sizes: call compute_chunk_sizes()"
        )
    if not value.ndim:
        raise ArgumentError(f"`{name}` is not known yet: pass it as a number")
    arrays[name] = value
    # A chunk of no elements is nothing to do, and owns nothing.
    chunks = tuple(tuple(n for n in c if n) or (0,) for c in value.chunks)
    return Shaped(value.shape, value.dtype, chunks)


class _Run:
    """A planned call: the graph of its tasks, and results as Dask arrays."""

    def __init__(
        self,
        of: Planned,
        arrays: Mapping[str, da.Array],
        name: str,
        memory: int | None,
        labels: Mapping[str, Any],
        checkpoints: str | None = None,
    ) -> None:
        self.planned, self.arrays, self.name = of, arrays, name
        self.labels = labels
        self.plan, self.layout = of.plan, of.plan.layout
        self.dependencies: list[Any] = []
        self.more: dict[Any, Any] = {}
        #: The tasks that read chunks from a store: whoever needs one reads it itself.
        self.stored: dict[Any, DaskTask] = {}
        #: The cotangents that were given, by the name of the result.
        self.given: dict[str, Any] = {}
        state = {n: self._input(n, v) for n, v in of.values.items()}
        places = sorted((n, f"{at}") for n, at in state.items())
        chunks = sorted((n, str(c)) for n, c in self.layout.chunks.items())
        # All that tasks depend on: equal keys are equal tasks, whoever asked for them.
        plan = self.plan.texts, self.plan.target, self.plan.steps
        self.token = tokenize(plan, places, chunks, of.written)
        self.graph: Graph = {}
        #: What is in the layers of the graph so far, and what these wait for.
        self._known: set[Any] = set()
        self._layers: dict[str, Any] = {}
        self._needs: dict[str, Any] = {}
        self._depended = -1
        most = self.plan.states_in(memory)
        prefix = f"{name}-{self.token}"
        store = None
        if checkpoints is not None:
            device = any(is_device(a._meta) for a in arrays.values())
            store = Store(checkpoints, device)
            prefix = f"{prefix}-{tokenize(checkpoints)}"
        self.builder = Builder(self.plan, self.graph, prefix, most, memory, store)
        self.end = self.builder.forward(state)

    def _input(self, name: str, value: Any) -> Chunked | Single:
        """Where an argument is before anything has run."""
        chunks = self.layout.chunks.get(name)
        if isinstance(value, Shaped) or name in self.layout.axes:
            array = self.arrays.get(name)
            if array is None:
                array = da.from_array(value, chunks=chunks)
            elif chunks is not None and chunks != array.chunks:
                array = array.rechunk(chunks)
            self.dependencies.append(array)
            if name in self.layout.axes:
                self.stored.update(_stored(array))
                return Chunked(array.name)
            return Single((array.name, *(0 for _ in array.shape)))
        return self._constant(name, value)

    def _constant(self, name: str, value: Any) -> Single:
        key = (f"{name}-{tokenize(value)}",)
        self.more[key] = DataNode(key, value)
        return Single(key)

    # ---------------------------------------------------------------- results

    def result(self) -> Any:
        """What the function returns, or the arrays that it writes."""
        p = self.planned
        row = [self.array(n, self.arrays.get(n)) for n in p.results or p.written]
        if p.results:
            return row[0] if p.single else tuple(row)
        row = [self.labelled(n, a) for n, a in zip(p.written, row, strict=True)]
        return row[0] if len(row) == 1 else tuple(row)

    def labelled(self, name: str, array: Any) -> Any:
        """What belongs to an argument, with its coordinates if it had such."""
        label = self.labels.get(name)
        return array if label is None else label.copy(data=array)

    def array(self, name: str, like: da.Array | None = None) -> Any:
        """A result as a Dask array, with the chunks of another one."""
        return self._array(name, self.end[name], like)

    def _array(
        self, name: str, at: Chunked | Single, like: da.Array | None = None
    ) -> Any:
        label = name.replace(" ", "-")
        layer = f"{self.name}-{label}-{tokenize(self.token, f'{at}')}"
        nodes: dict[Any, Any] = {}
        dtype = np.dtype(self.plan.dtypes.get(name, "float64"))
        shape = self.layout.shapes.get(name, ())
        chunks: Any = tuple((n,) for n in shape)
        if isinstance(at, Chunked):
            chunks = self.layout.chunks[name]
        for place in itertools.product(*(range(len(c)) for c in chunks)):
            of = at.key if isinstance(at, Single) else at.at(place)
            key = (layer, *place)
            item = () if at.item is None else (at.item,)
            nodes[key] = DaskTask(key, tasks.as_array, TaskRef(of), *item)
        # Of chunks on a GPU results are there, too.
        meta = next((a._meta for a in self.arrays.values() if is_device(a._meta)), None)
        more = {} if meta is None or not shape else {"meta": meta}
        graph = self._whole(layer, nodes)
        array = da.Array(graph, layer, chunks, dtype=dtype, **more)
        if like is not None and array.chunks != like.chunks:
            array = array.rechunk(like.chunks)
        return array

    @uncollected()
    def _whole(self, layer: str, nodes: Mapping[Any, Any]) -> HighLevelGraph:
        """The graph of the tasks that are known, and of a result's own."""
        new = [k for k in self.graph if k not in self._known]
        more = [k for k in self.more if k not in self._known]
        count = len(self.dependencies)
        if new or more or count > self._depended:
            self._depended = count
            own = {k: self._node(k, self.graph[k]) for k in new}
            own |= {k: self.more[k] for k in more}
            self._known.update(own)
            name = f"{self.builder.prefix}-{len(self._known)}"
            before = {n for n in self._layers if n != name}
            inputs = HighLevelGraph.from_collections(name, own, self.dependencies)
            self._layers.update(inputs.layers)
            self._needs.update(inputs.dependencies)
            self._needs[name] = {*self._needs[name], *before}
        layers = {**self._layers, layer: dict(nodes)}
        return HighLevelGraph(layers, {**self._needs, layer: {*self._layers}})

    def _node(self, key: Any, task: Any) -> DaskTask:
        """A task of a plan as one of Dask's."""
        args, waits = packed(task)
        own = [self.stored.get(k) or TaskRef(k) for k in waits]
        return DaskTask(key, tasks.filled, task.function, args, *own)

    def against_cpython(
        self, count: int, seed: int
    ) -> tuple[list[tuple[str, tuple[int, ...]]], list[Any]]:
        """Blocks of each text, and how far they are from CPython, as Dask numbers."""
        rows, found = list[tuple[str, tuple[int, ...]]](), list[Any]()
        seen = set[str]()
        for key, task in [*self.graph.items()]:
            if task.function is not tasks.run or task.args[0].name in seen:
                continue
            layer, of = task.args[0], key[0]
            seen.add(layer.name)
            own = [k for k in self.graph if k[0] == of]
            plain = replace(layer, code=replace(layer.code, target="python"))
            for (place,) in sampled((len(own),), count, seed):
                at = own[place]
                name = (f"{of}-cpython", *at[1:])
                args = (layer, plain, *self.graph[at].args[1:])
                self.graph[name] = PlanTask(against_cpython, args)
                rows.append((layer.name, tuple(at[1:])))
                found.append(self._array("", Single(name)))
        return rows, found

    # ---------------------------------------------------------------- derivatives

    def seeds(self, cotangent: Any, by_name: Mapping[str, Any]) -> State:
        """Where the cotangents of results are."""
        p, given = self.planned, dict[str, Any]()

        def add(name: str, value: Any) -> None:
            """What comes back twice, or is written and returned, has both."""
            if value is not None:
                value = _bare(value)
                self._fits(name, value)
                given[name] = value if name not in given else given[name] + value

        if cotangent is not None:
            names = p.results or (p.written if len(p.written) == 1 else ())
            row = (cotangent,) if p.single or not p.results else tuple(cotangent)
            if len(row) != len(names):
                raise ArgumentError(
                    f"{self.name}() returns {len(p.results)} values; pass as many"
                    " cotangents, and those of written arrays by name"
                )
            for name, value in zip(names, row, strict=True):
                add(name, value)
        for name, value in by_name.items():
            if name not in (*p.written, *p.results):
                raise ArgumentError(
                    f"`{name}` is not an array that {self.name}() writes; there are:"
                    f" {', '.join(p.written) or 'none'}"
                )
            add(name, value)
        if not given:
            raise ArgumentError("no cotangent was given")
        return {n: self._seed(n, v) for n, v in given.items()}

    def _fits(self, name: str, value: Any) -> None:
        shape = self.layout.shapes.get(name, ())
        if np.shape(value) != shape and np.ndim(value):
            raise ArgumentError(
                f"the cotangent of `{name}` has shape {np.shape(value)}, not {shape}"
            )

    def _seed(self, name: str, value: Any) -> Chunked | Single:
        shape = self.layout.shapes.get(name, ())
        dtype = self.plan.dtypes.get(name, "float64")
        chunks = self.layout.chunks.get(name) if name in self.layout.axes else None
        if not isinstance(value, da.Array):
            value = np.broadcast_to(np.asarray(value, dtype), shape)
            if chunks is None:
                self.given[name] = value if shape else float(value)
                return self._constant(f"cotangent-{name}", self.given[name])
            value = da.from_array(value, chunks=chunks)
        value = value.rechunk(chunks or -1) if shape else value
        value = self.given[name] = value.astype(dtype)
        self.dependencies.append(value)
        self.stored.update(_stored(value))
        if chunks is not None:
            return Chunked(value.name)
        return Single((value.name, *(0 for _ in shape)))

    def gradients(self, wrt: tuple[str, ...], seeds: State) -> Gradients:
        """The gradients for these cotangents, with the chunks of their arrays."""
        places = sorted((n, f"{at}") for n, at in seeds.items())
        limits = self.builder.most, self.builder.memory
        self.builder.prefix = f"{self.name}-{tokenize(self.token, places, wrt, limits)}"
        found = self.builder.reverse(seeds, wrt)
        return Gradients(
            {n: self.labelled(n, self._gradient(n, found.get(n))) for n in wrt}
        )

    def _gradient(self, name: str, at: Chunked | Single | None) -> Any:
        like = self.arrays.get(name)
        if at is not None:
            return self._array(name, at, like)
        # Nothing that was asked for depends on it.
        shape = self.layout.shapes.get(name, ())
        chunks = like.chunks if like is not None else shape
        return da.zeros(shape, chunks=chunks, dtype=self.plan.dtypes[name])


def _stored(array: da.Array) -> dict[Any, DaskTask]:
    """The tasks that read an array's chunks from a store, if nothing else does.

    What several tasks need of such a chunk is not kept for all of them: memory then
    has the windows that are at work, however large the array is.
    """
    layer = convert_legacy_graph(dict(array.dask.layers.get(array.name, {})))
    found = {}
    for key, node in layer.items():
        if isinstance(key, tuple) and key[0] == array.name:
            if not isinstance(node, DaskTask) or node.func not in _READERS:
                return {}
            if any(isinstance(layer.get(k), DaskTask) for k in node.dependencies):
                return {}
            found[key] = node
    return found


_READERS = (getter, getter_inline, getter_nofancy)
