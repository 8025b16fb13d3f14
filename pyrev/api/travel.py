"""How functions are sent to other processes: by their name, or by their text.

A function that its module has under its name is sent as that name, as pickle does. Any
other (of a notebook, a REPL or a script, nested in another, replaced since) is sent as
the text of its file, the place of its definition in it, and what it uses: globals,
closure, defaults. There the text is compiled, not run, and the code at that place is
made a function again. Compiled code never travels: it is made again from the text.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import importlib
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import PurePath
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from pyrev.api.call import Callee, Options
from pyrev.ir import places
from pyrev.ir.diagnostics import ArgumentError
from pyrev.parse.custom import custom_vjp, rule_of
from pyrev.parse.source import Texts, code_at, features_of, place_of, plain, read
from pyrev.runtime.device import is_array
from pyrev.runtime.error_boundary import GENERATED, guarded

#: So many functions that arrived are known again when they arrive once more, if what
#: they captured is no larger than this: each task of a pool brings its function.
KNOWN, LARGEST = 64, 1 << 20

Make = Callable[[Any, Any], Callee]


# ------------------------------------------------------------------ by name


def by_name(thing: object, module: str | None, qualname: str) -> bool:
    """Does another process find `thing` if it imports `module`?

    What a script or a session defines is in `__main__`, which is another module there.
    """
    if module is None or module == "__main__" or module.startswith(GENERATED):
        return False
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found is thing and not _sent_whole(module)


def _sent_whole(module: str) -> bool:
    """Was cloudpickle told to send what this module, or its package, defines?"""
    cloudpickle: Any = sys.modules.get("cloudpickle")
    listed: Callable[[], set[str]] = set
    asked = getattr(cloudpickle, "list_registry_pickle_by_value", listed)()
    parts = module.split(".")
    return any(".".join(parts[: k + 1]) in asked for k in range(len(parts)))


# ------------------------------------------------------------------ by text


@dataclass(frozen=True, slots=True)
class _Ref:
    """Stands for what is made again on arrival: one of what was `Sent`, by its number,
    or the module of this name.
    """

    what: str
    key: int | str


_EMPTY = _Ref("empty", 0)  # a variable of an enclosing function, without a value yet


@dataclass(frozen=True, slots=True)
class _Spec:
    """What one function is made of; numbers are those of `Sent`."""

    text: int
    around: int
    #: The name of the code, its first line, and which of those that have both it is.
    place: tuple[str, int, int]
    features: int
    qualname: str
    cells: tuple[int, ...]
    defaults: Any
    kwdefaults: Any
    attributes: Any
    #: What `custom_vjp` was given: the rule, and whether it is checked.
    rule: tuple[Any, bool] | None


@dataclass(slots=True)
class Sent:
    """Functions in a pickle, with what they use: what several share, they share there.

    Of texts there are the files, what people call these, and the lines; of modules the
    names and the variables that are used; of Numba's functions the texts. `made` are
    the differentiable functions, each behind those that it uses: the function, and its
    options.
    """

    texts: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    around: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    cells: list[Any] = field(default_factory=list)
    functions: list[_Spec] = field(default_factory=list)
    compiled: list[tuple[Any, int]] = field(default_factory=list)
    made: list[tuple[Any, Any]] = field(default_factory=list)


def packed(f: Callee, make: Make) -> tuple[Any, ...]:
    """What `__reduce__` returns for a differentiable function that has no name
    elsewhere; there, `make` makes it of a plain function and its options.

    Raises `UnsupportedError` if its text is not known (any more), `ArgumentError` if it
    uses a module that can't be imported. What else pickle can't send, pickle refuses.
    """
    sender = _Sender()
    sender.differentiable(f)
    sent = sender.sent
    return arrived, (make, *(getattr(sent, f.name) for f in fields(sent)))


class _Sender:
    """Collects what a function needs, each thing once."""

    def __init__(self) -> None:
        self.sent = Sent()
        self._texts = Texts()
        self._numbers: dict[tuple[str, object], int] = {}

    def differentiable(self, f: Callee) -> _Ref:
        """What stands for a differentiable function."""
        key = "made", id(f)
        if key not in self._numbers:
            before, self._texts = self._texts, f._readings.texts
            function = self._function(f._readings.function)
            self._texts = before
            self._numbers[key] = len(self.sent.made)
            self.sent.made.append((function, f._options))
        return _Ref("made", self._numbers[key])

    def _function(self, f: FunctionType) -> Any:
        if by_name(f, f.__module__, f.__qualname__):
            return f
        key, functions = ("function", id(f)), self.sent.functions
        if key not in self._numbers:
            number = self._numbers[key] = len(functions)
            functions.append(None)  # type: ignore[arg-type]  # until it is known
            functions[number] = self._spec(f)
        return _Ref("function", self._numbers[key])

    def _spec(self, f: FunctionType) -> _Spec:
        code, source, rule = f.__code__, read(f, self._texts), rule_of(f)
        around = self._number(
            ("around", id(f.__globals__)), self.sent.around, (str(f.__module__), {})
        )
        variables = self.sent.around[around][1]
        for name in _globals_of(code):
            if name in f.__globals__ and name not in variables:
                variables[name] = None  # functions may use each other
                variables[name] = self._value(f.__globals__[name])
        return _Spec(
            self._text(source.file, source.lines),
            around,
            place_of(code, source.lines),
            features_of(code),
            f.__qualname__,
            tuple(map(self._cell, f.__closure__ or ())),
            self._value(f.__defaults__),
            self._value(f.__kwdefaults__),
            self._value({n: v for n, v in vars(f).items() if n[:2] != "__"}),
            None if rule is None else (self._value(rule.vjp), rule.check),
        )

    def _number(self, key: tuple[str, object], where: list[Any], item: Any) -> int:
        """The number of what may be there already."""
        if key not in self._numbers:
            self._numbers[key] = len(where)
            where.append(item)
        return self._numbers[key]

    def _text(self, file: str, lines: tuple[str, ...]) -> int:
        item = file, places.name_of(file), lines
        return self._number(("text", item), self.sent.texts, item)

    def _cell(self, cell: CellType) -> int:
        key, cells = ("cell", id(cell)), self.sent.cells
        if key not in self._numbers:
            number = self._number(key, cells, _EMPTY)
            try:
                cells[number] = self._value(cell.cell_contents)
            except ValueError:
                pass  # it is empty
        return self._numbers[key]

    def _value(self, value: Any) -> Any:
        """What stands for a value that a function uses."""
        if isinstance(value, Callee):
            function = value._readings.function
            if not by_name(value, function.__module__, function.__qualname__):
                return self.differentiable(value)
        elif isinstance(value, FunctionType):
            return self._function(value)
        elif isinstance(value, ModuleType):
            return self._module(value)
        elif type(value) in (tuple, list):
            return type(value)(map(self._value, value))
        elif type(value) is dict:
            return {key: self._value(v) for key, v in value.items()}
        elif type(value).__name__.endswith("Dispatcher"):
            return self._dispatcher(value)
        return value

    def _module(self, module: ModuleType) -> _Ref:
        name = module.__name__
        if sys.modules.get(name) is not module or name == "__main__":
            raise ArgumentError(
                f"a function that uses the module {name!r} can't be sent: another"
                " process can't import it; use what is in it by its own name"
            )
        return _Ref("module", name)

    def _dispatcher(self, dispatcher: Any) -> Any:
        f = plain(dispatcher)
        if f is None or by_name(dispatcher, f.__module__, f.__qualname__):
            return dispatcher
        source = read(f, self._texts)
        item = dispatcher, self._text(source.file, source.lines)
        key = "compiled", id(dispatcher)
        return _Ref("compiled", self._number(key, self.sent.compiled, item))


def _globals_of(code: CodeType) -> Iterator[str]:
    """The names that code looks up in its module, that of functions inside included."""
    found: dict[str, None] = {}
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found[str(step.argval)] = None
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= dict.fromkeys(_globals_of(constant))
    yield from found


# ------------------------------------------------------------------ on arrival


@dataclass(frozen=True, slots=True)
class _Arrived:
    """What came once: the last of the differentiable functions is what was sent."""

    sent: Sent
    functions: tuple[FunctionType, ...]
    variables: tuple[tuple[dict[str, Any], dict[str, Any]], ...]
    made: Callee

    def unchanged(self) -> bool:
        """Are the variables those that came?"""
        return all(
            now.get(name, _EMPTY) is value
            for now, came in self.variables
            for name, value in came.items()
        )


#: By texts and places, the latest last.
_known: dict[Any, _Arrived] = {}


@guarded
def arrived(make: Make, *parts: Any) -> Callee:
    """The function that was sent: the one that came before if they are the same.

    Raises `ArgumentError` if a text has no such function.
    """
    sent = Sent(*parts)
    key = (*map(tuple, (sent.texts, (s.place for s in sent.functions))), len(sent.made))
    known = _known.get(key)
    if known is not None and known.unchanged() and _same(known.sent, sent):
        return known.made
    found = _Receiver(sent, make).received()
    if _size(sent) <= LARGEST:
        _known.pop(key, None)
        _known[key] = found
        for old in [*_known][: max(0, len(_known) - KNOWN)]:
            _known.pop(old, None)
    return found.made


class _Receiver:
    """Makes again what was sent."""

    def __init__(self, sent: Sent, make: Make) -> None:
        self._sent, self._make = sent, make
        self._files = [_kept(*text) for text in sent.texts]
        self._around: list[dict[str, Any]] = [
            {"__builtins__": builtins, "__name__": name} for name, _ in sent.around
        ]
        self._cells = [CellType() for _ in sent.cells]
        self._functions: list[FunctionType] = []
        self._differentiable: list[Callee] = []

    def received(self) -> _Arrived:
        """All of it."""
        sent = self._sent
        self._functions = [self._function(spec) for spec in sent.functions]
        for k, spec in enumerate(sent.functions):
            if spec.rule is not None:
                rule, check = self._value(spec.rule)
                self._functions[k] = custom_vjp(rule, check=check)(self._functions[k])
        for function, options in sent.made:
            # What it uses of those before it is there, and else it is not ready.
            self._fill()
            self._differentiable.append(self._make(self._value(function), options))
        self._fill()
        pairs = zip(self._around, sent.around, strict=True)
        now = tuple((a, {n: a[n] for n in came}) for a, (_, came) in pairs)
        return _Arrived(sent, tuple(self._functions), now, self._differentiable[-1])

    def _function(self, spec: _Spec) -> FunctionType:
        file, lines = self._files[spec.text], self._sent.texts[spec.text][-1]
        code = code_at(spec.place, file, lines, spec.features)
        if code is None or len(code.co_freevars) != len(spec.cells):
            name, line, _ = spec.place
            raise ArgumentError(
                f"the function {spec.qualname} that was sent is not in the text that"
                f" came with it ({file}, line {line}: {name})"
            )
        cells = tuple(self._cells[k] for k in spec.cells)
        around = self._around[spec.around]
        made = FunctionType(code, around, spec.place[0], None, cells)
        made.__qualname__ = spec.qualname
        return made

    def _fill(self) -> None:
        """Give functions and modules their values, as far as these are made."""
        for around, (_, came) in zip(self._around, self._sent.around, strict=True):
            around |= {n: self._value(v) for n, v in came.items() if self._is_ready(v)}
        for cell, came in zip(self._cells, self._sent.cells, strict=True):
            if came != _EMPTY and self._is_ready(came):
                cell.cell_contents = self._value(came)
        for f, spec in zip(self._functions, self._sent.functions, strict=True):
            ready = self._is_ready((spec.defaults, spec.kwdefaults, spec.attributes))
            if ready:
                f.__defaults__ = self._value(spec.defaults)
                f.__kwdefaults__ = self._value(spec.kwdefaults)
                f.__dict__.update(self._value(spec.attributes))

    def _is_ready(self, value: Any) -> bool:
        if isinstance(value, _Ref):
            made = len(self._differentiable)
            return value.what != "made" or int(value.key) < made
        if type(value) is dict:
            return all(map(self._is_ready, value.values()))
        return type(value) not in (tuple, list) or all(map(self._is_ready, value))

    def _value(self, value: Any) -> Any:
        match value:
            case _Ref("function", int(k)):
                return self._functions[k]
            case _Ref("made", int(k)):
                return self._differentiable[k]
            case _Ref("compiled", int(k)):
                return self._sent.compiled[k][0]
            case _Ref("module", str(name)):
                return importlib.import_module(name)
        if type(value) in (tuple, list):
            return type(value)(map(self._value, value))
        if type(value) is dict:
            return {key: self._value(v) for key, v in value.items()}
        return value


def _kept(file: str, name: str, lines: tuple[str, ...]) -> str:
    """The name under which this process has the text: its own, if that is free here."""
    linecache.checkcache(file)
    here = linecache.getlines(file)
    if here and here != [*lines]:
        digest = hashlib.sha256("".join(lines).encode()).hexdigest()[:12]
        file = f"<{digest}>/{PurePath(file).name}"
    if file not in linecache.cache:
        size = sum(map(len, lines))
        linecache.cache[file] = (size, None, [*lines], file)
        places.call(file, name)
    return file


def _same(one: Any, other: Any) -> bool:
    """Are two values the same for all that a function can do with them?"""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return [*one] == [*other] and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, (Sent, _Spec)):
        return all(_same(getattr(one, n), getattr(other, n)) for n in one.__slots__)
    if is_array(one):
        ours, its = (one.dtype, one.shape, one.strides), (other.dtype, other.shape)
        alike = ours == (*its, other.strides) and hasattr(one, "tobytes")
        return alike and bool(one.tobytes() == other.tobytes())
    if isinstance(one, (bool, int, float, complex, str, bytes)):
        return repr(one) == repr(other)  # -0.0 and 0.0 are two, nan is itself
    return isinstance(one, (_Ref, Options)) and bool(one == other)


def _size(value: Any) -> int:
    if isinstance(value, (Sent, _Spec)):
        return sum(_size(getattr(value, n)) for n in value.__slots__)
    if isinstance(value, (tuple, list)):
        return sum(map(_size, value))
    if isinstance(value, Mapping):
        return _size([*value.values()])
    return int(getattr(value, "nbytes", 0))


# ------------------------------------------------------------------ what is made


class Transformed:
    """A function that was made of another, as `pyrev.grad` does.

    It is called as one, and is pickled as how it was made: of what, with what options.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        f: Any,
        options: Mapping[str, Any],
        run: Callable[..., Any],
    ) -> None:
        self._made = make, f, dict(options)
        self._run = run
        functools.update_wrapper(self, f.python)

    def __call__(self, *args: Any, **kw: Any) -> Any:
        return self._run(*args, **kw)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, self._made

    def __repr__(self) -> str:
        make, f, options = self._made
        said = "".join(f", {n}={v!r}" for n, v in options.items() if v)
        return f"<{make.__name__}({f.python.__qualname__}{said})>"


def _again(make: Callable[..., Any], f: Any, options: Mapping[str, Any]) -> Any:
    return make(f, **options)
