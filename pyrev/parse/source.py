"""Which text a function was compiled from, and where in it each node stands.

The whole file is parsed, never a dedented snippet: every position is the user's own. A
definition is found by its code object: the first line for a `def`, the columns of its
instructions for a lambda.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType

import gast

from pyrev.diagnostics import Finding, UnsupportedError
from pyrev.ir import NOWHERE, Loc

#: What the names of modules begin with that hold texts of pyrev's own.
GENERATED = "_pyrev_"


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


def plain(f: object) -> FunctionType | None:
    """The plain Python function behind `f`: ours, Numba's, or itself.

    A `functools.wraps` wrapper stays itself: what it does around the function it wraps
    is part of the program.
    """
    if not isinstance(f, FunctionType):
        numba = type(f).__name__.endswith("Dispatcher")
        f = getattr(f, "py_func" if numba else "python", None)
    return f if isinstance(f, FunctionType) else None


def read(f: FunctionType) -> Source:
    """The source of a plain function, or `UnsupportedError`."""
    code = f.__code__
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
        tree, codes = _parse(code.co_filename, lines)
    except SyntaxError:
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
    same = codes.get((code.co_name, code.co_firstlineno), ())
    if len(candidates) != 1 or not any(_equal(code, other) for other in same):
        raise _changed(f, at)
    node = gast.ast_to_gast(candidates[0])
    return Source(code.co_filename, lines, node)


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@lru_cache(maxsize=64)
def _parse(
    file: str, lines: tuple[str, ...]
) -> tuple[ast.Module, dict[tuple[str, int], list[CodeType]]]:
    """A file's tree, and the code it compiles to by name and first line."""
    tree = ast.parse("".join(lines), file)
    found: dict[tuple[str, int], list[CodeType]] = {}
    stack = [compile(tree, file, "exec", dont_inherit=True)]
    while stack:
        code = stack.pop()
        found.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        stack.extend(c for c in code.co_consts if isinstance(c, CodeType))
    return tree, found


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


def _equal(code: CodeType, other: CodeType) -> bool:
    """Whether the text still compiles to the code that runs."""
    return (
        other.co_code == code.co_code
        and other.co_names == code.co_names
        and other.co_varnames == code.co_varnames
        and _constants(other) == _constants(code)
    )


def _constants(code: CodeType) -> list[str]:
    return [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]


def _unreadable(at: Loc, because: str, help: str) -> UnsupportedError:
    return UnsupportedError([Finding("P114", at, because, help)])


def _changed(f: FunctionType, at: Loc) -> UnsupportedError:
    return _unreadable(
        at,
        f"the text here is not what `{f.__name__}` was compiled from",
        "reload the module (or run the cell again) so that text and function agree",
    )
