"""One function as it was read: its parameters, its program for each kind of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pyrev.adjoint.activity import only_set, returned, written_arrays
from pyrev.analysis.array_shapes import ArrayShapes
from pyrev.analysis.narrow_integers import widened
from pyrev.analysis.smooth import edges
from pyrev.driver.arguments import (
    Kind,
    expectations,
    is_python_number,
    key_of,
    kinds,
    wrt_names,
)
from pyrev.driver.forms import by_fields
from pyrev.driver.memo import Memo
from pyrev.driver.storage_options import Keeping
from pyrev.ir import places
from pyrev.ir.diagnostics import ArgumentError, InternalError, UnsupportedError
from pyrev.ir.dtypes import concrete, expr_dtype, infer, is_float, with_own_dtypes
from pyrev.ir.nodes import (
    Add,
    Assign,
    Check,
    Expr,
    Param,
    Program,
    Var,
    mentioned,
    walk,
)
from pyrev.parse import Capture, Parsed, adapting, parse, retype
from pyrev.parse.counters import FEW
from pyrev.parse.grounds import is_value
from pyrev.parse.probes import without_probes
from pyrev.parse.source import Inlined
from pyrev.runtime.opaque import Handle
from pyrev.runtime.options import references

#: What a captured value is to a reading, by its type or the kind of its dtype.
KINDS: dict[object, str] = {
    **{float: "float", "f": "float", bool: "bool", "b": "bool"},
    Handle: "integer",
    **{int: "integer", "i": "integer", "u": "integer"},
}


class Function:
    """What a function is for arguments of any kinds, as it was read for their ranks."""

    def __init__(
        self, parsed: Parsed, keeping: Keeping, quiet: bool, memo: Memo
    ) -> None:
        self.parsed = parsed
        self.keeping = keeping
        #: Do its adjoints leave out what `pyrev.probe` asks for?
        self.quiet = quiet
        self._memo = memo
        self.program = parsed.program
        self.written = written_arrays(parsed.program)
        self.only_set = only_set(parsed.program)
        self._expected = expectations(parsed.program)
        params = {p.name: p for p in parsed.program.params}
        #: The captured values: name, where it is read, number of axes, kind of dtype.
        self._captured = [
            (c.name, c.read, p.rank, KINDS[np.dtype(p.dtype).kind])
            for c in parsed.captured
            for p in (params[c.name],)
        ]

    # ---------------------------------------------------------------- what was read

    @property
    def visible(self) -> tuple[str, ...]:
        """The user's parameters, without the hidden ones that hold captured values."""
        hidden = self.program.captured
        return tuple(p.name for p in self.program.params if p.name not in hidden)

    @property
    def callbacks(self) -> tuple[Capture, ...]:
        """The functions that the adjoints call."""
        return () if self.quiet else self.parsed.callbacks

    def callables(self) -> dict[str, Any]:
        """The functions that the adjoints call, by their names in the text.

        Raises `ArgumentError` for what cannot be called any more.
        """
        found = {c.name: c.read() for c in self.callbacks}
        for name, function in found.items():
            if not callable(function):
                raise ArgumentError(
                    f"{self.program.name}() probes with `{name}`, which is now of type"
                    f" {type(function).__name__}; give it a function"
                )
        return found

    @property
    def avoid(self) -> frozenset[str]:
        """Names that generated text must leave alone: what the user's function refers
        to.
        """
        code = self.parsed.function.__code__
        return frozenset(code.co_names) | frozenset(code.co_freevars)

    def captured(self) -> dict[str, Any] | None:
        """The present captured values by name; None if the function is to be read
        again, for what it rests on has changed, or what kind of value one of them is.
        """
        if not self.parsed.grounds.hold():
            return None
        found = {}
        for name, read, rank, kind in self._captured:
            try:
                value: Any = read()
            except (NameError, AttributeError):  # it is gone
                return None
            own = KINDS.get(type(value))
            if own is None and is_value(value):
                own = KINDS.get(getattr(value, "dtype", np.dtype(type(value))).kind)
                fits = own == kind and value.ndim == rank
            else:
                fits = own == kind and not rank
            if not fits:
                return None
            found[name] = value
        return found

    def provenance(self, what: str, compiled: bool = False) -> str:
        """The comment at the top of a generated module, which is `what`.

        Of one that is compiled it is the same whenever the function is.
        """
        function = self.parsed.function
        file = function.__code__.co_filename
        # The number of a cell is another each time that it runs.
        known = compiled and places.is_cell(file)
        where = "a cell" if known else places.name_of(file)
        return f"{what} of `{function.__name__}` in {where}."

    def helpers(self) -> tuple[Inlined, ...]:
        """The functions that were inlined, and the lines that they take."""
        found: dict[tuple[str, int], Inlined] = {}
        for name, code in self.parsed.texts.functions()[1:]:
            lines = [line for *_, line in code.co_lines() if line is not None]
            first, last = min(lines), max(lines)
            helper = Inlined(name, code.co_filename, first, last)
            found.setdefault((code.co_filename, first), helper)
        return tuple(found.values())

    # ---------------------------------------------------------------- kinds

    def default_kinds(self) -> dict[str, Kind]:
        """What the parameters are before any call."""
        return {p.name: Kind(p.rank, p.dtype) for p in self.program.params}

    def kinds(self, values: Mapping[str, Any]) -> dict[str, Kind]:
        """The kinds of these arguments; `ArgumentError` if they do not fit."""
        found = kinds(self.program.name, self._expected, values)
        if not self._adapting:
            return found
        return {
            n: replace(k, strong=not (k.rank or is_python_number(values[n])))
            for n, k in found.items()
        }

    @functools.cached_property
    def _adapting(self) -> bool:
        """Does the dtype of an array depend on whether a number is one of Python's?"""
        return bool(self.program.alike) or adapting(self.program)

    def unlike(self, values: Mapping[str, Any]) -> dict[str, Kind] | None:
        """The kinds of arguments for whose ranks the function is to be read again.

        The text may leave open how many axes an array has, or whether it holds floats
        (`w = u * v`, `np.sum(u)`): what it means depends on that, what is written and
        what is returned included. None where it was read for such arguments.
        """
        free = [
            replace(e, ranks=frozenset(), least=0, integer=False)
            for e in self._expected
        ]
        found = kinds(self.program.name, free, values)
        same = all(_same_kind(found[p.name], p) for p in self.program.params)
        return None if same and not self.parsed.lenient else found

    def parsed_for(
        self, found: Mapping[str, Kind], values: Mapping[str, Any]
    ) -> Parsed | ArgumentError:
        """The function read for arguments of these kinds, or why they do not fit."""
        given = {n: (kind.rank, concrete(kind.dtype)) for n, kind in found.items()}
        try:
            return self._read_again(given, final=False)
        except UnsupportedError as why:
            if any(f.code == "P211" for f in why.findings):
                raise  # the text says more than what one argument should be
            if all(f.code in ("P110", "P206") for f in why.findings):
                raise  # no other arguments would do
            try:
                self.kinds(values)
            except ArgumentError as error:
                error.__cause__ = why
                return error
            raise

    def maybe_arrays(self) -> tuple[str, ...]:
        """The parameters taken for numbers that a call might give as arrays."""

        def fits(names: Sequence[str]) -> bool:
            types = {p.name: (p.rank, p.dtype) for p in self.program.params}
            types |= {n: (1, types[n][1]) for n in names}
            try:
                parse(self.parsed.function, types, forms=self.parsed.forms)
            except UnsupportedError:
                return False
            return True

        def find() -> tuple[str, ...]:
            floats = {p.name for p in self.program.params if not p.rank and p.is_float}
            numbers = [n for n in self.visible if n in floats]
            if len(numbers) > 1 and fits(numbers):
                return tuple(numbers)
            return tuple(n for n in numbers if fits([n]))

        return self._memo.once("maybe arrays", find)

    def wrt(
        self, kinds: Mapping[str, Kind], wrt: object, local: bool = False
    ) -> tuple[str, ...]:
        """What is asked for, for these kinds: parameters, and if `local` local values.

        Raises `ArgumentError` for names that are neither, and for integers.
        """
        parsed = self.parsed
        own = parsed.own if local else ()
        every = tuple(parsed.signature.parameters)
        if wrt is not None and parsed.forms.shapes:
            asked = references("wrt", wrt)
            floats = {n for n, kind in kinds.items() if kind.is_float}
            wrt = tuple(by_fields(asked, parsed.leaves, every, floats))
        return wrt_names(self.program, kinds, wrt, self.visible, own, every)

    def edges(self, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
        """The operations in it that have jumps or kinks, for these kinds."""

        def find() -> tuple[str, ...]:
            program = self.typed(kinds)
            types = {name: kind.dtype for name, kind in kinds.items()}
            return tuple(edges(program, infer(program, types)))

        return self._memo.once(("edges", key_of(kinds)), find)

    # ---------------------------------------------------------------- programs

    def typed(self, kinds: Mapping[str, Kind]) -> Program:
        """The program for these kinds of arguments, with nothing in it that is asked to
        be computed again where it is read.
        """
        if not self.keeping.recompute:
            return self._read(kinds)
        return self._memo.once(
            ("without", key_of(kinds)),
            lambda: self.keeping.without(self._read(kinds), self.avoid),
        )

    def _read(self, kinds: Mapping[str, Kind]) -> Program:
        """The program for these kinds of arguments, as it is written."""
        if self.quiet and self.parsed.callbacks:
            return self._memo.once(
                ("quiet", key_of(kinds)),
                lambda: without_probes(self._retyped(kinds)),
            )
        return self._retyped(kinds)

    def _retyped(self, kinds: Mapping[str, Kind]) -> Program:
        def make() -> Program:
            given = {name: (kind.rank, kind.dtype) for name, kind in kinds.items()}
            strong = frozenset(name for name, kind in kinds.items() if kind.strong)
            own = [p for p in self.program.params if p.name in kinds]
            program = self.program
            # The text leaves a rank open (`b = a.copy()`): the loops behind it depend
            # on it.
            few = self.parsed.counted and any(k.dtype in FEW for k in kinds.values())
            if few or not all(_same_kind(kinds[p.name], p) for p in own):
                program = self._read_again(given).program
            return _counted(retype(program, given, strong), kinds)

        return self._memo.once(("typed", key_of(kinds)), make)

    def _read_again(
        self, given: Mapping[str, tuple[int, str]], final: bool = True
    ) -> Parsed:
        """The function, read for arguments of these kinds."""
        own = self.parsed
        parsed = parse(own.function, given, [own.texts], final, own.rolled, own.forms)
        own.grounds.add(parsed.grounds)
        return parsed.drawer or parsed if own.draws else parsed

    def truncated(self, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
        """The integer parameters of these kinds to which the function writes floats."""

        def find() -> tuple[str, ...]:
            program = self.typed(kinds)
            types = infer(program, {n: kind.dtype for n, kind in kinds.items()})
            whole = {p.name for p in program.params if p.rank}
            whole = {n for n in whole if types[n] != "bool" and not is_float(types[n])}
            found = {
                s.target_name: None
                for s in (walk(program.body) if whole else ())
                if isinstance(s, (Assign, Add)) and s.target_name in whole
                if is_float(expr_dtype(s.value, types))
            }
            return tuple(found)

        return self._memo.once(("truncated", key_of(kinds)), find)

    def checks(self, kinds: Mapping[str, Kind]) -> tuple[Check, ...]:
        """What the function asserts, and where it raises.

        An adjoint asserts nothing: the primal runs before it. A `ValueError` that is
        not the user's is pyrev's own, where NumPy stretches an axis whose length is one
        only in this call.
        """

        def make() -> tuple[Check, ...]:
            body = self.typed(kinds).body
            return tuple(s for s in walk(body) if isinstance(s, Check))

        return self._memo.once(("checks", key_of(kinds)), make)

    # ---------------------------------------------------------------- results

    def result_dtypes(self, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
        """The dtype (weak kinds included) of each returned value."""

        def make() -> tuple[str, ...]:
            program = self.typed(kinds)
            result = returned(program)
            env = infer(program, {n: k.dtype for n, k in kinds.items()})
            values = result.values if result is not None else ()
            return tuple(
                env[v.name] if isinstance(v, Var) else expr_dtype(v, env)
                for v in values
            )

        return self._memo.once(("results", key_of(kinds)), make)

    def result_shapes(self, kinds: Mapping[str, Kind]) -> tuple[tuple[Expr, ...], ...]:
        """The shape of each returned value, in terms of the arguments.

        Nothing for a number, and where more than the arguments decides.
        """

        def make() -> tuple[tuple[Expr, ...], ...]:
            program = self.typed(kinds)
            shapes, result = ArrayShapes(program), returned(program)
            params = {p.name for p in program.params}
            found: list[tuple[Expr, ...]] = []
            for v in result.values if result is not None else ():
                own = shapes.of(v.name) if isinstance(v, Var) else ()
                known = tuple(
                    e for e in own if e is not None and {*mentioned(e)} <= params
                )
                found.append(known if len(known) == len(own) else ())
            return tuple(found)

        return self._memo.once(("result shapes", key_of(kinds)), make)

    def output_dtype(self, kinds: Mapping[str, Kind], of: str | int) -> str:
        """The dtype that the cotangent of an output is cast to before a call."""
        if isinstance(of, str):
            return kinds[of].dtype
        found = self.result_dtypes(kinds)[of]
        return "float32" if found == "float32" else "float64"


def rolled(function: Function) -> Parsed | None:
    """The function read so that each body of a loop stands there once, if it can be.

    That is for all arguments for which it can be read otherwise.
    """
    own = function.parsed
    if own.foreign:
        return None
    try:
        parsed = parse(own.function, own.types, [own.texts], own.final, True, own.forms)
    except (UnsupportedError, InternalError):
        return None
    if parsed.foreign:
        return None
    if _asserted(parsed.program) - _asserted(own.program):
        return None  # arrays of several shapes change places
    if written_arrays(parsed.program) != written_arrays(own.program):
        return None  # an array of the caller's is among them
    own.grounds.add(parsed.grounds)
    return parsed


def _asserted(program: Program) -> set[tuple[Expr, str]]:
    """What a program asserts, and what it says where that does not hold."""
    return {(s.test, s.message) for s in walk(program.body) if isinstance(s, Check)}


def _same_kind(kind: Kind, param: Param) -> bool:
    """Does the program read for `param` hold for an argument of this kind?"""
    return kind.rank == param.rank and is_float(concrete(kind.dtype)) == param.is_float


def _counted(program: Program, kinds: Mapping[str, Kind]) -> Program:
    """The program as it is differentiated and scheduled for these kinds."""
    types = infer(program, {name: kind.dtype for name, kind in kinds.items()})
    return widened(with_own_dtypes(program), types)
