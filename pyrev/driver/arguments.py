"""Do these arguments fit this function? Everything that a call may be refused for.

Checked before anything is written: kinds (rank and dtype), read-only and overlapping
arrays. What cannot be told from the arguments alone (an index read from an array) is
checked where it happens.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.dtypes import DTYPES, concrete, is_float
from pyrev.ir.nodes import Extent, Load, Program, Return, Var, exprs, walk, walk_expr
from pyrev.parse.forms import Path
from pyrev.parse.rewriting.structures.objects import at_path
from pyrev.parse.rewriting.structures.shapes import Shape
from pyrev.runtime.device import is_array, is_device, share_memory
from pyrev.runtime.options import references


@dataclass(frozen=True, slots=True)
class Kind:
    """What code is specialised on: the number of axes (0 is a scalar) and the dtype.

    A `strong` scalar is one of NumPy's, whose dtype an array made of it and another one
    may have; one of Python's adapts. Told only where a function makes such arrays.
    """

    rank: int
    dtype: str
    strong: bool = False

    @property
    def is_float(self) -> bool:
        return is_float(self.dtype)


def key_of(kinds: Mapping[str, Kind]) -> tuple[tuple[str, Kind], ...]:
    """The kinds of arguments as a part of the key of a memo."""
    return tuple(kinds.items())


def is_python_number(value: object) -> bool:
    """Is this a number of Python's own, which adapts to the array beside it?"""
    return isinstance(value, (int, float)) and not isinstance(value, np.generic)


def types_of(
    values: Mapping[str, object], shapes: Sequence[tuple[str, Shape]]
) -> dict[Path, tuple[int, str]]:
    """The ranks and dtypes of the numbers and arrays among arguments, and of those in
    arguments that are structures of these shapes, by their paths; `ArgumentError` for
    one that no function takes.
    """
    inside = dict(shapes)
    found: dict[Path, tuple[int, str]] = {}
    for name, value in values.items():
        for path in inside[name].leaves() if name in inside else [()]:
            leaf = at_path(value, path)
            if is_array(leaf) or isinstance(leaf, (bool, int, float, np.generic)):
                kind = kind_of(name, leaf)
                found[name, *path] = kind.rank, concrete(kind.dtype)
    return found


def kind_of(name: str, value: object) -> Kind:
    """The kind of one argument; `ArgumentError` if no function takes such a value."""
    if isinstance(value, (bool, np.bool_)):
        return Kind(0, "bool")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ArgumentError(
            f"`{name}` is {value}, which does not fit 64 bits with a sign; pass"
            f" float({name}) if it is no index and no size"
        )
    if isinstance(value, int):
        return Kind(0, "int64")
    if isinstance(value, np.generic):
        return Kind(0, _dtype(name, value.dtype))
    if isinstance(value, float):
        return Kind(0, "float64")
    if type(value) is not np.ndarray and is_device(value):
        if not value.ndim:  # type: ignore[attr-defined]
            raise ArgumentError(
                f"`{name}` is a 0-d array of a GPU; pass float({name}), which waits for"
                " it"
            )
        return Kind(value.ndim, _dtype(name, value.dtype))  # type: ignore[attr-defined]
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray:
            raise ArgumentError(
                f"`{name}` is a {type(value).__name__}, a subclass of np.ndarray; pass"
                f" np.asarray({name})"
            )
        if value.ndim == 0:
            raise ArgumentError(f"`{name}` is a 0-d array; pass {name}.item()")
        return Kind(value.ndim, _dtype(name, value.dtype))
    raise ArgumentError(f"`{name}` is {_instead(name, value)}")


#: What to do with the arrays of other libraries, by their package.
_ELSEWHERE = {
    "torch": "use pyrev.torch.function(f), through which PyTorch differentiates, or"
    " pass {0}.detach().numpy()",
    "jax": "use pyrev.jax.function(f), through which JAX differentiates, or pass"
    " np.asarray({0})",
    "dask": "use pyrev.dask.distribute(f), which takes arrays in chunks, or pass"
    " {0}.compute()",
    "xarray": "pass {0}.values",
    "pandas": "pass {0}.to_numpy()",
    "polars": "pass {0}.to_numpy()",
    "scipy": "pass {0}.toarray(), or its parts {0}.data, {0}.indices and {0}.indptr",
    "tensorflow": "pass {0}.numpy()",
}


def _instead(name: str, value: object) -> str:
    """What a value is that no function takes, and what to pass instead."""
    kind = type(value)
    package = kind.__module__.partition(".")[0].removesuffix("lib")
    if package in _ELSEWHERE:
        return f"a {package} {kind.__name__}; {_ELSEWHERE[package].format(name)}"
    if value is None:
        return (
            "None, and this function makes a number or an array of it; pass one, or"
            f" give `{name}` the default None and ask for it: `if {name} is None:`"
        )
    if isinstance(value, (str, bytes)):
        return (
            f"a {kind.__name__}, {value!r}; pass a number or a NumPy array (a text may"
            " choose what a function does, `if mode == 'mean':`)"
        )
    if isinstance(value, (list, tuple)):
        return f"a {kind.__name__}; pass a number or a NumPy array, np.array({name})"
    if isinstance(value, (FunctionType, BuiltinFunctionType, np.ufunc)):
        return (
            f"a function, {kind.__name__}; pass what it returns, a number or an array"
        )
    return (
        f"a {kind.__name__}; pass a number or a NumPy array, for example"
        f" np.array({name})"
    )


#: The names of dtypes seen so far: NumPy takes microseconds to spell one.
_SPELLED: dict[np.dtype[Any], str] = {}


def _dtype(name: str, dtype: np.dtype[Any]) -> str:
    known = _SPELLED.get(dtype)
    if known is not None:
        return known
    if dtype.name not in DTYPES or not dtype.isnative:
        order = "" if dtype.isnative else " of foreign byte order"
        other = "int64" if dtype.name == "uint64" else "float64"
        instead = f"{name}.astype(np.{other})"
        if dtype.kind == "c":
            instead = f"{name}.astype(np.complex128), or {name}.real and {name}.imag"
        raise ArgumentError(
            f"`{name}` has dtype {dtype.name}{order}; supported are bool, integers of"
            " 64 bits with a sign or fewer, float32, float64, complex64 and complex128:"
            f" pass {instead}"
        )
    found = _SPELLED[dtype] = dtype.name
    return found


def bind(
    name: str,
    signature: inspect.Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> dict[str, Any]:
    """The arguments by parameter name, defaults filled in."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentError(f"{name}(): {error}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def completed(
    name: str,
    signature: inspect.Signature,
    fixed: Mapping[str, Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of which some are fixed: the rest by position, in the
    order of the function, or by name. What is named is taken in place of what is fixed.
    """
    free = [n for n in signature.parameters if n not in fixed]
    kinds = {n: p.kind for n, p in signature.parameters.items()}
    several = [n for n in free if kinds[n] is inspect.Parameter.VAR_POSITIONAL]
    if several:  # which takes what is left
        count = free.index(several[0])
        args = (*args[:count], tuple(args[count:])) if len(args) > count else args
    if len(args) > len(free):
        raise ArgumentError(
            f"{name}() was bound with {', '.join(fixed) or 'nothing'}; it takes"
            f" {', '.join(free) or 'nothing'} by position, and {len(args)} arguments"
            " were given; name those that are to be others than the bound ones"
        )
    given = dict(zip(free, args, strict=False))
    for n in kwargs:
        if n not in signature.parameters:
            raise ArgumentError(f"{name}() has no parameter `{n}`")
        if n in given:
            raise ArgumentError(f"{name}(): `{n}` was given by position and by name")
    values = {**fixed, **given, **kwargs}
    whole = inspect.BoundArguments(
        signature,
        OrderedDict((n, values[n]) for n in signature.parameters if n in values),
    )
    return whole.args, whole.kwargs


def spread(
    signature: inspect.Signature, values: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by name as a call takes them: by position, and by keyword."""
    parameters = signature.parameters
    named = {n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    several = {n for n, p in parameters.items() if p.kind is p.VAR_POSITIONAL}
    by_position: list[Any] = []
    for n, v in values.items():
        if n not in named:
            by_position += v if n in several else [v]
    return by_position, {n: v for n, v in values.items() if n in named}


def positional(signature: inspect.Signature) -> tuple[str, ...]:
    """The parameters, if all of them may be given by position, else none."""
    parameters = signature.parameters.values()
    named = any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters)
    return () if named else tuple(p.name for p in parameters)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a function does with a parameter, before any call.

    `ranks` are the numbers of subscripts it is used with (0 as a number; measuring,
    copying or returning it whole is no use), `least` the axes that are measured,
    `integer` whether it is an index, a bound
    or a size.
    """

    name: str
    ranks: frozenset[int]
    least: int
    integer: bool


def expectations(program: Program) -> tuple[Expected, ...]:
    """What `program` does with each of its parameters."""
    ranks: dict[str, set[int]] = {p.name: set() for p in program.params}
    least = {p.name: 0 for p in program.params}
    own = {p.name: p.rank for p in program.params}
    for stmt in walk(program.body):
        for top in exprs(stmt):
            if isinstance(stmt, Return) and isinstance(top, Var):
                continue
            for e in walk_expr(top):
                match e:
                    case Var(name) if name in own and not own[name]:
                        ranks[name].add(0)
                    case Load(name, index) if name in own:
                        ranks[name].add(len(index))
                    case Extent(name, axis) if name in own:
                        least[name] = max(least[name], axis + 1)
    # What a captured value is used as was seen when the function was read with it.
    given = [p.name for p in program.params if p.name not in program.captured]
    return tuple(
        Expected(
            p.name,
            frozenset(ranks[p.name]),
            least[p.name],
            "int" in p.dtype and p.name in given,
        )
        for p in program.params
    )


def kinds(
    function: str, expected: Sequence[Expected], values: Mapping[str, Any]
) -> dict[str, Kind]:
    """The kind of every argument, each checked against what the function does with
    it.
    """
    found = {}
    for e in expected:
        kind = found[e.name] = kind_of(e.name, values[e.name])
        if e.ranks and kind.rank not in e.ranks:
            have = "it is a number" if not kind.rank else f"it has {_axes(kind.rank)}"
            rank = min(e.ranks)
            want = f"with {_count(rank, 'subscript')}" if rank else "as a number"
            raise ArgumentError(f"{function}(): `{e.name}` is used {want}, but {have}")
        if kind.rank < e.least:
            raise ArgumentError(
                f"{function}(): `{e.name}.shape[{e.least - 1}]` is used, but `{e.name}`"
                f" has {_axes(kind.rank)}"
            )
        if e.integer and kind.is_float:
            raise ArgumentError(
                f"{function}(): `{e.name}` is used as an index, a bound or a size, but"
                f" has dtype {kind.dtype}; pass integers"
            )
        if e.integer and not kind.rank and kind.dtype == "bool":
            # `x[True]` is not `x[1]`: NumPy takes a bool for a mask.
            raise ArgumentError(
                f"{function}(): `{e.name}` is used as an index, a bound or a size, but"
                f" is a bool; pass int({e.name})"
            )
        if e.integer and kind.rank and kind.dtype == "bool":
            raise ArgumentError(
                f"{function}(): the elements of `{e.name}` are used as an index, a"
                f" bound or a size, but are bools; pass {e.name}.astype(np.int64)"
            )
    return found


def _count(n: int, word: str) -> str:
    return f"{n} {word}{'s' * (n != 1)}"


def _axes(rank: int) -> str:
    return "1 axis" if rank == 1 else f"{rank} axes"


def check_writes(
    program: Program, values: Mapping[str, Any], written: Sequence[str]
) -> None:
    """Refuse arrays that can't be written, or that overlap one that is."""
    for name in written:
        if not getattr(values[name].flags, "writeable", True):
            raise ArgumentError(
                f"{program.name}() writes `{name}`, which is read-only; pass"
                f" {name}.copy()"
            )
    check_apart(program, values, written)


def check_apart(
    program: Program, values: Mapping[str, Any], written: Sequence[str]
) -> None:
    """Refuse arrays that overlap one that is written, or whose own elements do."""
    for name in written:
        array = values[name]
        if _overlaps_itself(array):
            raise ArgumentError(
                f"{program.name}() writes `{name}`, whose elements overlap in memory"
                f" (strides {array.strides}); pass {name}.copy()"
            )
        for p in program.params:
            if p.name != name and p.rank and share_memory(array, values[p.name]):
                raise ArgumentError(
                    f"{program.name}() writes `{name}`, which overlaps `{p.name}` in"
                    f" memory; pass {p.name}.copy()"
                )


def check_contiguous(
    program: Program, values: Mapping[str, Any], flat: Sequence[str]
) -> None:
    """Refuse arrays of which NumPy would make a copy to give it another shape."""
    for name in flat:
        if not values[name].flags.c_contiguous:
            raise ArgumentError(
                f"{program.name}() writes to `{name}` in another shape, and its"
                " elements do not lie row by row in memory; pass"
                " one that is contiguous, such as np.ascontiguousarray makes"
            )


def _overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    """May two elements share memory? Exact for strides that nest, else yes."""
    if array.flags.c_contiguous or array.flags.f_contiguous or array.size == 0:
        return False
    reach = array.itemsize
    pairs = zip(array.strides, array.shape, strict=True)
    for stride, extent in sorted((abs(s), n) for s, n in pairs if n > 1):
        if stride < reach:
            return True
        reach = stride * (extent - 1) + reach
    return False


def wrt_names(
    program: Program,
    found: Mapping[str, Kind],
    wrt: object,
    visible: Sequence[str],
    local: Sequence[str] = (),
    every: Sequence[str] = (),
) -> tuple[str, ...]:
    """The parameters asked for: all float ones by default, else as named or numbered
    (of `every` one, those that are None included); behind them what is asked for of the
    names in `local`.
    """
    every = every or visible
    floats = tuple(name for name in visible if found[name].is_float)
    if wrt is None:
        if not floats:
            raise ArgumentError(
                f"{program.name}() has no float argument in this call, so there is"
                " nothing to differentiate with respect to"
            )
        return floats
    names = []
    for one in references("wrt", wrt):
        inside = isinstance(one, int) and -len(every) <= one < len(every)
        name = every[int(one)] if inside else one
        if name in local:
            names.append(str(name))
            continue
        if name not in visible:
            also = f" and the local values {', '.join(local)}" if local else ""
            raise ArgumentError(
                f"wrt={one!r}: {program.name}() has no such parameter; it has"
                f" {', '.join(visible)}{also}"
            )
        if name not in floats:
            raise ArgumentError(
                f"wrt={one!r}: `{name}` has dtype {found[str(name)].dtype} in this"
                " call; only float parameters have a gradient"
            )
        names.append(str(name))
    chosen = set(names)
    return tuple(name for name in (*visible, *local) if name in chosen)
