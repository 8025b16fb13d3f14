"""How a syntax tree becomes text: the only printer of the project.

`astunparse` knows every construct; what it prints is over-parenthesised and has no
comments. `Writer` decides on parentheses (by precedence, as few as the grammar
allows), comments, blank lines and line breaks, and remembers which line of the user's
file each printed line comes from. Everything is printed from Python's own `ast`, with
two statements added, `Comment` and `Blank`.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import astunparse

from pyrev.ir.nodes import NOWHERE, Loc

WIDTH = 100

_Node = TypeVar("_Node", bound=ast.stmt)

TEST, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT = range(1, 10)
ARITH, TERM, FACTOR, POWER, ATOM = range(10, 15)

_BINARY: dict[type[ast.operator], int] = {
    ast.BitOr: BIT_OR,
    ast.BitXor: BIT_XOR,
    ast.BitAnd: BIT_AND,
    ast.LShift: SHIFT,
    ast.RShift: SHIFT,
    ast.Add: ARITH,
    ast.Sub: ARITH,
    ast.Mult: TERM,
    ast.MatMult: TERM,
    ast.Div: TERM,
    ast.FloorDiv: TERM,
    ast.Mod: TERM,
    ast.Pow: POWER,
}


class Comment(ast.stmt):
    """A line of its own: ``# text``."""

    _fields = ("text",)
    text: str


class Blank(ast.stmt):
    """An empty line."""

    _fields = ()


def comment(text: str) -> Comment:
    """A comment line."""
    node = Comment()
    node.text = text
    return node


def tag(node: _Node, loc: Loc, note: str = "") -> _Node:
    """Remember where a statement comes from, and what to say at the end of its line."""
    node._pyrev_loc = loc  # type: ignore[attr-defined]
    node._pyrev_note = note  # type: ignore[attr-defined]
    return node


def loc_of(node: ast.AST) -> Loc:
    """Where a statement comes from, if that was remembered."""
    loc: Loc = getattr(node, "_pyrev_loc", NOWHERE)
    return loc


@dataclass(frozen=True, slots=True)
class Text:
    """Printed text, and for each of its lines the place in the user's file."""

    text: str
    locs: tuple[Loc, ...]


@dataclass(frozen=True, slots=True)
class Emitted:
    """A generated module, and a sentence for each sum that it reorders."""

    text: Text
    reassociated: tuple[str, ...]


@dataclass(slots=True)
class _Line:
    indent: int
    text: str
    loc: Loc = NOWHERE
    note: str = ""
    verbatim: bool = False


def _level(node: ast.expr) -> int:
    match node:
        case ast.IfExp() | ast.Lambda():
            return TEST
        case ast.NamedExpr() | ast.Starred() | ast.Yield() | ast.YieldFrom():
            return 0
        case ast.BoolOp(ast.Or()):
            return OR
        case ast.BoolOp():
            return AND
        case ast.UnaryOp(ast.Not()):
            return NOT
        case ast.UnaryOp():
            return FACTOR
        case ast.Compare():
            return COMPARE
        case ast.BinOp(_, op):
            return _BINARY[type(op)]
        case ast.Constant(int() | float() as value) if value < 0:
            return FACTOR
        case _:
            return ATOM


class _Expressions(astunparse.Unparser):  # type: ignore[misc]
    """Print expressions at the end of `lines`, with as few parentheses as the grammar
    allows; the methods are named after the nodes they print.
    """

    def __init__(self) -> None:
        self.lines: list[_Line] = []
        self.future_imports: list[str] = []
        self._indent = 0

    def fill(self, text: str = "") -> None:
        self.lines.append(_Line(self._indent, text))

    def write(self, text: str) -> None:
        self.lines[-1].text += text

    def dispatch(self, tree: Any) -> None:
        start = len(self.lines)
        super().dispatch(tree)
        loc = getattr(tree, "_pyrev_loc", None)
        if loc is not None:
            for line in self.lines[start:]:
                if line.loc == NOWHERE:
                    line.loc = loc
            if start < len(self.lines):
                self.lines[start].note = getattr(tree, "_pyrev_note", "")

    def _expr(self, t: ast.expr, level: int) -> None:
        """Print `t` where the grammar wants what binds at least as well as `level`."""
        if _level(t) < level:
            self.write("(")
            self.dispatch(t)
            self.write(")")
        else:
            self.dispatch(t)

    def _bare(self, t: ast.expr) -> None:
        """A tuple of two or more elements without its parentheses."""
        if isinstance(t, ast.Tuple) and len(t.elts) > 1:
            for k, e in enumerate(t.elts):
                self.write(", " if k else "")
                self._expr(e, TEST)
        else:
            self._expr(t, 0)

    def _IfExp(self, t: ast.IfExp) -> None:
        self._expr(t.body, OR)
        self.write(" if ")
        self._expr(t.test, OR)
        self.write(" else ")
        self._expr(t.orelse, TEST)

    def _BoolOp(self, t: ast.BoolOp) -> None:
        word = " or " if isinstance(t.op, ast.Or) else " and "
        for k, value in enumerate(t.values):
            self.write(word if k else "")
            self._expr(value, _level(t) + 1)

    def _UnaryOp(self, t: ast.UnaryOp) -> None:
        if isinstance(t.op, ast.Not):
            self.write("not ")
            self._expr(t.operand, NOT)
        else:
            self.write(self.unop[type(t.op).__name__])
            self._expr(t.operand, FACTOR)

    def _Compare(self, t: ast.Compare) -> None:
        self._expr(t.left, BIT_OR)
        for op, right in zip(t.ops, t.comparators, strict=True):
            self.write(f" {self.cmpops[type(op).__name__]} ")
            self._expr(right, BIT_OR)

    def _BinOp(self, t: ast.BinOp) -> None:
        level = _level(t)
        power = isinstance(t.op, ast.Pow)
        self._expr(t.left, ATOM if power else level)
        self.write(f" {self.binop[type(t.op).__name__]} ")
        self._expr(t.right, FACTOR if power else level + 1)

    def _Attribute(self, t: ast.Attribute) -> None:
        number = isinstance(t.value, ast.Constant) and isinstance(t.value.value, int)
        if number:
            self.write("(")
        self._expr(t.value, ATOM)
        if number:
            self.write(")")
        self.write(f".{t.attr}")

    def _Call(self, t: ast.Call) -> None:
        self._expr(t.func, ATOM)
        self.write("(")
        for k, e in enumerate([*t.args, *t.keywords]):
            self.write(", " if k else "")
            self.dispatch(e)
        self.write(")")

    def _Subscript(self, t: ast.Subscript) -> None:
        self._expr(t.value, ATOM)
        self.write("[")
        self._bare(t.slice)
        self.write("]")

    def _Slice(self, t: ast.Slice) -> None:
        if t.lower is not None:
            self._expr(t.lower, TEST)
        self.write(":")
        if t.upper is not None:
            self._expr(t.upper, TEST)
        if t.step is not None:
            self.write(":")
            self._expr(t.step, TEST)

    def _Lambda(self, t: ast.Lambda) -> None:
        self.write("lambda ")
        self.dispatch(t.args)
        self.write(": ")
        self._expr(t.body, TEST)

    def _fstring_FormattedValue(
        self, t: ast.FormattedValue, write: Callable[[str], None]
    ) -> None:
        # Replacement fields are printed here like every other expression: astunparse
        # would hand them to a plain printer of its own.
        field = _Expressions()
        field.fill()
        field._expr(t.value, OR)
        text = field.lines[0].text
        write("{ " if text.startswith("{") else "{")
        write(text)
        if t.conversion != -1:
            write(f"!{chr(t.conversion)}")
        if t.format_spec is not None:
            write(":")
            self._fstring_JoinedStr(t.format_spec, write)
        write("}")

    def _Constant(self, t: ast.Constant) -> None:
        if isinstance(t.value, str) and '"' not in t.value and "'" not in t.value:
            body = repr(t.value)[1:-1]
            self.write(f'"{body}"')
        else:
            super()._Constant(t)


class Writer(_Expressions):
    """Print a tree into `lines`: statements, their comments and blank lines."""

    def __init__(self, tree: ast.AST) -> None:
        super().__init__()
        if isinstance(tree, ast.expr):
            self.fill()
        self.dispatch(tree)

    def _body(self, body: Sequence[ast.stmt]) -> None:
        self.enter()
        if not any(not isinstance(s, (Comment, Blank)) for s in body):
            body = [*body, ast.Pass()]
        for stmt in body:
            self.dispatch(stmt)
        self.leave()

    def _blank(self, count: int) -> None:
        # A definition and a `Blank` may both ask for empty lines in one place.
        have = 0
        while have < len(self.lines) and not self.lines[-1 - have].text:
            have += 1
        if have < len(self.lines):
            for _ in range(count - have):
                self.lines.append(_Line(0, "", verbatim=True))

    def _Comment(self, t: Comment) -> None:
        room = max(WIDTH - 4 * self._indent - 2, 40)
        for line in textwrap.wrap(t.text, room, break_long_words=False) or [""]:
            self.lines.append(_Line(self._indent, f"# {line}".rstrip(), verbatim=True))

    def _Blank(self, t: Blank) -> None:
        self._blank(1)

    def _Expr(self, t: ast.Expr) -> None:
        self.fill()
        match t.value:
            case ast.Constant(str(text)):
                self._docstring(text)
            case value:
                self.dispatch(value)

    def _docstring(self, text: str) -> None:
        quoted = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        first, *rest = f'"""{quoted}"""'.split("\n")
        self.write(first)
        self.lines[-1].verbatim = True
        for line in rest:
            self.lines.append(_Line(0, line, verbatim=True))

    def _Assign(self, t: ast.Assign) -> None:
        self.fill()
        for target in t.targets:
            self._bare(target)
            self.write(" = ")
        self._bare(t.value)

    def _Return(self, t: ast.Return) -> None:
        self.fill("return")
        if t.value is not None:
            self.write(" ")
            self._bare(t.value)

    def _For(self, t: ast.For) -> None:
        self.fill("for ")
        self._bare(t.target)
        self.write(" in ")
        self._bare(t.iter)
        self._body(t.body)
        if t.orelse:
            self.fill("else")
            self._body(t.orelse)

    def _While(self, t: ast.While) -> None:
        self.fill("while ")
        self.dispatch(t.test)
        self._body(t.body)
        if t.orelse:
            self.fill("else")
            self._body(t.orelse)

    def _If(self, t: ast.If) -> None:
        self.fill("if ")
        self.dispatch(t.test)
        self._body(t.body)
        while len(t.orelse) == 1 and isinstance(inner := t.orelse[0], ast.If):
            t = inner
            self.fill("elif ")
            self.dispatch(t.test)
            self._body(t.body)
        if t.orelse:
            self.fill("else")
            self._body(t.orelse)

    def _FunctionDef(self, t: ast.FunctionDef) -> None:
        self._blank(1 if self._indent else 2)
        for decorator in t.decorator_list:
            self.fill("@")
            self.dispatch(decorator)
        self.fill(f"def {t.name}(")
        self.dispatch(t.args)
        self.write(")")
        if t.returns is not None:
            self.write(" -> ")
            self.dispatch(t.returns)
        self._body(t.body)
        if not self._indent:
            self._blank(2)


# -------------------------------------------------------------------- lines of text

_ASSIGNMENTS = (" = ", " += ", " -= ", " *= ", " /= ")

# Where a long expression is broken, the loosest binding first.
_OPERATORS = (
    (" or ",),
    (" and ",),
    (" if ", " else "),
    (" < ", " <= ", " > ", " >= ", " == ", " != "),
    (" | ", " ^ ", " & "),
    (" + ", " - "),
    (" * ", " / ", " // ", " % "),
)


def _levels(text: str) -> list[int]:
    """How many brackets are open at each character; -1 inside a string."""
    out, depth, quote = [], 0, ""
    for k, ch in enumerate(text):
        if quote:
            out.append(-1)
            if ch == quote and text[k - 1] != "\\":
                quote = ""
            continue
        if ch in ")]}":
            depth -= 1
        out.append(depth)
        if ch in "\"'":
            quote = ch
        elif ch in "([{":
            depth += 1
    return out


def _wrap(indent: int, text: str) -> list[str]:
    """A statement in as many lines as it needs, broken inside brackets only."""
    if 4 * indent + len(text) <= WIDTH:
        return ["    " * indent + text]
    levels = _levels(text)
    for k, level in enumerate(levels):
        word = next((w for w in _ASSIGNMENTS if text.startswith(w, k)), "")
        if word and not level:
            head, tail = text[:k], text[k + len(word) :]
            return _open(indent, f"{head}{word}{_bracketed(tail)}")
    for word in ("return ", "if ", "elif "):
        if text.startswith(word):
            colon = ":" if text.endswith(":") else ""
            tail = text[len(word) :].removesuffix(":")
            text = f"{word}{_bracketed(tail)}{colon}"
    return _open(indent, text)


def _bracketed(text: str) -> str:
    """In brackets, unless it is one bracketed expression already: ``f(...)``."""
    levels = _levels(text)
    plain = any(
        ch == " " and level == 0 for ch, level in zip(text, levels, strict=True)
    )
    return f"({text})" if plain or not text.endswith((")", "]")) else text


def _open(indent: int, text: str) -> list[str]:
    """What stands in the last brackets goes on lines of its own."""
    if 4 * indent + len(text) <= WIDTH:
        return ["    " * indent + text]
    levels = _levels(text)
    ends = [k for k, ch in enumerate(text) if levels[k] == 0 and ch in ")]}"]
    if not ends:
        return ["    " * indent + text]
    end = ends[-1]
    start = max(k for k in range(end) if levels[k] == 0 and text[k] in "([{")
    lines = ["    " * indent + text[: start + 1]]
    lines += _spread(indent + 1, text[start + 1 : end])
    return [*lines, "    " * indent + text[end:]]


def _spread(indent: int, text: str) -> list[str]:
    """The inside of brackets: on one line, else cut at its loosest operators."""
    if 4 * indent + len(text) <= WIDTH:
        return ["    " * indent + text]
    levels = _levels(text)
    commas = [k for k, ch in enumerate(text) if ch == "," and levels[k] == 0]
    if commas:
        cuts = [0, *(k + 1 for k in commas), len(text)]
        pieces = [text[a:b].strip() for a, b in pairwise(cuts)]
        whole = [p if p.endswith(",") else f"{p}," for p in pieces if p]
        return [line for piece in whole for line in _open(indent, piece)]
    for words in _OPERATORS:
        cuts = [
            k
            for k in range(1, len(text))
            if levels[k] == 0 and any(text.startswith(word, k) for word in words)
        ]
        if cuts:
            ends = [0, *cuts, len(text)]
            pieces = [text[a:b].strip() for a, b in pairwise(ends)]
            return [line for piece in pieces for line in _open(indent, piece)]
    return _open(indent, text)


def write(tree: ast.AST, indent: int = 0) -> Text:
    """Print a tree: a module, a statement or an expression. No newline at the end."""
    lines = Writer(tree).lines
    while lines and not lines[-1].text:
        lines.pop()
    text: list[str] = []
    locs: list[Loc] = []
    for line in lines:
        depth = indent + line.indent
        if line.verbatim:
            new = [("    " * depth + line.text).rstrip()]
        else:
            new = _wrap(depth, line.text)
        if line.note:
            noted = f"{new[-1]}  # {line.note}"
            if len(new) == 1 and len(noted) <= WIDTH:
                new = [noted]
            else:
                room = WIDTH - 4 * depth - 2
                above = textwrap.wrap(line.note, max(room, 40), break_long_words=False)
                new = ["    " * depth + f"# {part}" for part in above] + new
        text.extend(new)
        locs.extend([line.loc] * len(new))
    return Text("\n".join(text), tuple(locs))
