"""Which text a function was compiled from, and where in it each node stands.

The whole file is parsed, never a dedented snippet: every position is the user's own. A
definition is found by its code object: the first line for a `def`, the columns of its
instructions for a lambda. The text is compiled again, and is the function's if that
gives the function's code, that of the functions defined inside it included.
"""

from __future__ import annotations
import __future__

import ast
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType

import gast

from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.nodes import NOWHERE, Loc
from pyrev.parse.array_rules import array_rule_of
from pyrev.parse.grounds import Grounds
from pyrev.parse.rewriting.annotations import without_annotations
from pyrev.parse.rewriting.joined_shapes import with_shapes_joined
from pyrev.parse.rewriting.named_values import without_named_values

_LIBRARIES = frozenset(("numpy", "scipy", "numba"))


@dataclass(frozen=True, slots=True)
class Inlined:
    """A function that was inlined: its statements are those of these lines."""

    name: str
    file: str
    first: int
    last: int

    def holds(self, loc: Loc) -> bool:
        """Does a place lie in it?"""
        return loc.file == self.file and self.first <= loc.line <= self.last


@dataclass(frozen=True, slots=True)
class Source:
    """A definition's tree, and the file whose positions it carries."""

    file: str
    lines: tuple[str, ...]
    node: gast.FunctionDef | gast.Lambda

    def loc(self, node: gast.AST) -> Loc:
        """The span of a node, in characters (Python counts bytes)."""
        return Loc(
            self.file,
            node.lineno,
            self._column(node.lineno, node.col_offset),
            node.end_lineno,
            self._column(node.end_lineno, node.end_col_offset),
        )

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        if text.isascii():
            return offset
        return len(text.encode()[:offset].decode())

    def statements(self) -> tuple[tuple[int, int], ...]:
        """The first and the last line of what is done, statement by statement.

        Of one with a body these are the lines of its header. What only stands there (a
        docstring, `pass`) and what is inside a definition in it is left out.
        """
        if isinstance(self.node, gast.Lambda):
            return (self._header(self.node),)
        return (self._header(self.node), *self._inside(self.node))

    def _inside(self, node: gast.AST) -> Iterator[tuple[int, int]]:
        for s in (*node.body, *getattr(node, "orelse", ())):
            match s:
                case gast.Pass() | gast.Expr(value=gast.Constant()):
                    continue
                case gast.For() | gast.While() | gast.If():
                    yield self._header(s)
                    yield from self._inside(s)
                case _:
                    yield self._header(s)

    def _header(self, node: gast.AST) -> tuple[int, int]:
        """The lines of a statement up to its body, without remarks between the two."""
        first, last = node.lineno, node.end_lineno
        if isinstance(node, (gast.FunctionDef, gast.For, gast.While, gast.If)):
            inner = node.body[0]
            starts = [d.lineno for d in getattr(inner, "decorator_list", ())]
            last = min([inner.lineno, *starts]) - 1
            while last > first and self._says_nothing(last):
                last -= 1
        return first, max(first, last)

    def _says_nothing(self, line: int) -> bool:
        text = self.lines[line - 1].strip()
        return not text or text.startswith("#")


@dataclass(frozen=True, slots=True)
class Standing(Source):
    """A text that stands for a call: all of it is where the call is."""

    at: Loc

    def loc(self, node: gast.AST) -> Loc:
        return self.at


class Texts:
    """The texts that code objects were found to be compiled from.

    Code never changes, so what was found stays right when the file changes.
    """

    def __init__(self, *earlier: Texts) -> None:
        self._read: dict[int, tuple[CodeType, str, Source]] = {}
        self._earlier = {k: one for texts in earlier for k, one in texts._read.items()}

    def of(self, code: CodeType) -> Source | None:
        """The text of `code`, if it is known, here or from earlier."""
        key = id(code)
        if key not in self._read and key in self._earlier:
            self._read[key] = self._earlier[key]
        return self._read[key][2] if key in self._read else None

    def add(self, code: CodeType, name: str, source: Source) -> None:
        """Note the text of the code of a function of this name."""
        self._read[id(code)] = code, name, source

    def functions(self) -> tuple[tuple[str, CodeType], ...]:
        """The functions that were read here, in order."""
        return tuple((name, code) for code, name, _ in self._read.values())

    def sources(self) -> list[Source]:
        """The texts that were read here, in order."""
        return [source for _, _, source in self._read.values()]

    def variables(self) -> frozenset[str]:
        """What the texts of the functions call their variables."""
        codes = [code for _, code in self.functions()]
        return frozenset(n for c in codes for n in (*c.co_varnames, *c.co_cellvars))

    def files(self) -> dict[str, Sequence[str]]:
        """The lines of the files that the texts stand in, as they were then."""
        return {s.file: s.lines for _, _, s in self._read.values()}


def plain(f: object, grounds: Grounds | None = None) -> FunctionType | None:
    """The plain Python function behind `f`: ours, Numba's, or itself.

    A `functools.wraps` wrapper stays itself: what it does around the function it wraps
    is part of the program. What was looked at is noted in `grounds`. A function of a
    numerical library is none: its text is no loop over arrays but checks, dispatch and
    calls of compiled code, through hundreds of functions.
    """
    noted = Grounds() if grounds is None else grounds
    if getattr(f, "fixed", None) is not None:
        return None  # what is behind it lacks the arguments that it has
    if not isinstance(f, FunctionType):
        numba = type(f).__name__.endswith("Dispatcher")
        f = noted.attribute(f, "py_func" if numba else "python")
    if not isinstance(f, FunctionType) or library_of(f) or array_rule_of(f):
        return None
    noted.function(f)
    return f


def library_of(f: object) -> str:
    """The numerical library that a function comes from; empty if from none."""
    module = str(getattr(f, "__module__", "")).partition(".")[0]
    return module if module in _LIBRARIES else ""


def parameters_of(function: FunctionType) -> tuple[str, ...]:
    """The names of the parameters of a plain function, those by position first."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def default_values(function: FunctionType) -> dict[str, object]:
    """The defaults of the parameters of a plain function, as they are now."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = function.__defaults__ or ()
    found: dict[str, object] = dict(
        zip(names[len(names) - len(given) :], given, strict=True)
    )
    return found | (function.__kwdefaults__ or {})


def read(f: FunctionType, texts: Texts | None = None) -> Source:
    """The source of a plain function, or `UnsupportedError`.

    It is taken from `texts` if it is known there, else noted there.
    """
    code = f.__code__
    known = None if texts is None else texts.of(code)
    if known is not None:
        return known
    source = _read(f, code)
    if texts is not None:
        texts.add(code, f.__name__, source)
    return source


def _read(f: FunctionType, code: CodeType) -> Source:
    linecache.checkcache(code.co_filename)
    lines = tuple(linecache.getlines(code.co_filename, f.__globals__))
    at = Loc(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    if not lines:
        raise _unreadable(
            NOWHERE,
            f"`{f.__name__}` was defined where no file keeps its text"
            f" ({code.co_filename})",
            "define it in a file, a notebook cell or with a `linecache` entry",
        )
    try:
        tree = _tree(code.co_filename, lines)
    except (SyntaxError, ValueError):  # ValueError for a NUL, before CPython 3.12
        raise _changed(f, at) from None
    kind = (
        ast.Lambda
        if code.co_name == "<lambda>"
        else (ast.FunctionDef, ast.AsyncFunctionDef)
    )
    candidates = [
        node
        for node in _starting(tree, code.co_firstlineno)
        if isinstance(node, kind) and getattr(node, "name", "<lambda>") == code.co_name
    ]
    if len(candidates) > 1:
        candidates = [node for node in candidates if _covers(code, node)]
    if len(candidates) != 1 or _which(code, lines) is None:
        raise _changed(f, at)
    node = without_annotations(gast.ast_to_gast(candidates[0]))
    node = with_shapes_joined(without_named_values(node))
    return Source(code.co_filename, lines, node)


def features_of(code: CodeType) -> int:
    """What ``from __future__ import`` turned on where code was compiled."""
    return code.co_flags & _FEATURES


def place_of(code: CodeType, lines: tuple[str, ...]) -> tuple[str, int, int]:
    """Where the code of a function that was `read` stands in the text of its file: its
    name, its first line, and which of those that have both it is.
    """
    which = _which(code, lines)
    assert which is not None, "the text is not that of the function"
    return code.co_name, code.co_firstlineno, which


def code_at(
    place: tuple[str, int, int], file: str, lines: tuple[str, ...], features: int
) -> CodeType | None:
    """The code at a place of a text, which is compiled for it and not run; None if
    there is none.
    """
    name, line, which = place
    try:
        found = _compiled(file, lines, features & _FEATURES, name, line)
        return next((c for k, c in enumerate(found) if k == which), None)
    except (SyntaxError, ValueError):
        return None


def _which(code: CodeType, lines: tuple[str, ...]) -> int | None:
    """Which code of a text `code` is, of those with its name and first line."""
    found = _compiled(
        code.co_filename,
        lines,
        features_of(code),
        code.co_name,
        code.co_firstlineno,
    )
    return next((k for k, other in enumerate(found) if _equal(code, other)), None)


def _compiled(
    file: str, lines: tuple[str, ...], features: int, name: str, line: int
) -> Iterator[CodeType]:
    """What a text may compile to under a name and from a line on.

    As a whole, as files are; then each of its statements alone, as those of a
    notebook's cell are: before CPython 3.12 `np.sqrt(x)` is other code where the import
    of `np` is compiled with it.
    """
    for compiled in (_whole, _statement_by_statement):
        yield from compiled(file, lines, features).get((name, line), ())


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

#: What ``from __future__ import`` turns on, in a notebook perhaps by another cell.
_FEATURES = 0
for _feature in __future__.all_feature_names:
    _FEATURES |= getattr(__future__, _feature).compiler_flag


#: The code that a text compiles to, by name and first line.
_Codes = dict[tuple[str, int], list[CodeType]]


@lru_cache(maxsize=16)
def _tree(file: str, lines: tuple[str, ...]) -> ast.Module:
    return ast.parse("".join(lines), file)


@lru_cache(maxsize=16)
def _whole(file: str, lines: tuple[str, ...], features: int) -> _Codes:
    return _codes([_tree(file, lines)], file, features)


@lru_cache(maxsize=16)
def _statement_by_statement(file: str, lines: tuple[str, ...], features: int) -> _Codes:
    parts = [ast.Module([s], []) for s in _tree(file, lines).body]
    return _codes(parts, file, features)


def _codes(parts: Sequence[ast.Module], file: str, features: int) -> _Codes:
    found: _Codes = {}
    for part in parts:
        stack = [compile(part, file, "exec", flags=features, dont_inherit=True)]
        while stack:
            code = stack.pop()
            found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
            stack.extend(c for c in code.co_consts if isinstance(c, CodeType))
    return found


def _starting(tree: ast.AST, line: int) -> Iterator[_Definition]:
    """The definitions whose code begins on `line`, decorators included."""
    for node in ast.iter_child_nodes(tree):
        first = getattr(node, "lineno", line)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([first, *(d.lineno for d in node.decorator_list)])
        if not first <= line <= (getattr(node, "end_lineno", None) or line):
            continue
        if first == line and isinstance(node, _Definition):
            yield node
        yield from _starting(node, line)


def _covers(code: CodeType, node: _Definition) -> bool:
    """Whether the instructions of `code` stand inside the body of `node`."""
    body = node.body if isinstance(node.body, list) else [node.body]
    first, last = body[0], body[-1]
    lo = (first.lineno, first.col_offset)
    hi = (last.end_lineno or 0, last.end_col_offset or 0)
    spans = [
        ((line, col), (end_line, end_col))
        for line, end_line, col, end_col in code.co_positions()
        if None not in (line, end_line, col, end_col) and (col, end_col) != (0, 0)
    ]
    return any(span == (lo, hi) for span in spans) or (
        not isinstance(node, ast.Lambda)
        and any(lo <= start and end <= hi for start, end in spans)
    )


#: What a code object consists of, beside its constants and the name of its file.
_PARTS = (
    ["co_name", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags"]
    + ["co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars"]
    + ["co_firstlineno", "co_linetable", "co_exceptiontable"]
)


def _equal(code: CodeType, other: CodeType) -> bool:
    """Whether the text still compiles to the code that runs, with the same positions.

    The code of functions and lambdas inside is among the constants.
    """
    return (
        all(getattr(code, part) == getattr(other, part) for part in _PARTS)
        and len(code.co_consts) == len(other.co_consts)
        and all(map(_equal_constants, code.co_consts, other.co_consts))
    )


def _equal_constants(one: object, other: object) -> bool:
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return _equal(one, other)
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return sorted(map(repr, one)) == sorted(map(repr, other))
    return type(one) is type(other) and repr(one) == repr(other)


def _unreadable(at: Loc, because: str, help: str) -> UnsupportedError:
    return UnsupportedError([Finding("P114", at, because, help)])


def _changed(f: FunctionType, at: Loc) -> UnsupportedError:
    return _unreadable(
        at,
        f"the text here is not what `{f.__name__}` was compiled from",
        "reload the module (or run the cell again) so that text and function agree",
    )
