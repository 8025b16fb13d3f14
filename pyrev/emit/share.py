"""Which functions of a generated module are one: equal up to names and float literals.

Numba takes half a second for each parallel nest and tens of milliseconds for any other.
A program of many like nests (a helper called fifty times, an unrolled recurrence) needs
few of them. Modules of few functions keep one for each nest, which is what a reader
looks for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyrev.ir.nodes import fresh
from pyrev.ir.printer import Comment, comment

_ROOTS = ("ENTRY", "")


@dataclass(frozen=True, slots=True)
class _Shared:
    """What a call of a function becomes: another's name, and numbers as arguments."""

    name: str
    numbers: tuple[float, ...]


def share(functions: Sequence[ast.stmt], least: int) -> list[ast.stmt]:
    """`functions`, callees first, without those that another of them can stand for.

    Fewer than `least` stay as they are. It changes the trees that it is given.

    Law: every call computes what it did. Literals in which two functions differ become
    parameters, but for exponents, whose values the compiler has to know.
    """
    defined = [f for f in functions if isinstance(f, ast.FunctionDef)]
    if sum(_how(f) not in _ROOTS for f in defined) < least:
        return list(functions)
    of_level: dict[int, list[ast.FunctionDef]] = {}
    level: dict[str, int] = {}
    for f in defined:
        level[f.name] = 1 + max((level[n] for n in _called(f) if n in level), default=0)
        of_level.setdefault(level[f.name], []).append(f)
    stand: dict[str, _Shared] = {}
    dropped: set[str] = set()
    for k in sorted(of_level):
        groups: dict[str, list[_Form]] = {}
        for f in of_level[k]:
            _redirect(f, stand)
            if _how(f) not in _ROOTS:
                form = _Form(f)
                groups.setdefault("".join(form.text), []).append(form)
        for forms in groups.values():
            if len(forms) > 1:
                stand |= _join(forms)
                dropped |= {form.function.name for form in forms[1:]}
    return [
        f
        for f in functions
        if not (isinstance(f, ast.FunctionDef) and f.name in dropped)
    ]


def _how(f: ast.FunctionDef) -> str:
    """The name of the options in ``@njit(**OPTIONS)``, "" for a plain function."""
    match f.decorator_list:
        case [ast.Call(keywords=[ast.keyword(value=ast.Name(how))])]:
            return how
        case _:
            return ""


def _called(f: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(f):
        match node:
            case ast.Call(func=ast.Name(function)):
                yield function


def _redirect(f: ast.FunctionDef, stand: Mapping[str, _Shared]) -> None:
    """Let `f` call the functions that stand for those it calls."""
    for node in ast.walk(f):
        match node:
            case ast.Call(func=ast.Name(function)) if function in stand:
                other = stand[function]
                node.func = ast.Name(other.name, ast.Load())
                node.args = [*node.args, *map(ast.Constant, other.numbers)]


class _Form:
    """A function as text that does not depend on its names, and its float literals."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.function = function
        self.text: list[str] = [_how(function)]
        self.numbers: list[ast.Constant] = []
        self.own = {a.arg: f"p{k}" for k, a in enumerate(function.args.args)}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.own.setdefault(node.id, "")
        self.locals = 0
        for stmt in function.body:
            self.add(stmt)

    def add(self, node: object, fixed: bool = False) -> None:
        """Append `node`; a literal in it that is not `fixed` may become a parameter."""
        match node:
            case Comment():
                pass
            case ast.Name(known):
                self.text.append(f" {self.known(known)}")
            case ast.Constant(float()) if not fixed:
                self.numbers.append(node)
                self.text.append(" float")
            case ast.Constant(value):
                self.text.append(f" {value!r}")
            case ast.BinOp(left, ast.Pow(), right):
                self.text.append("(pow")
                self.add(left)
                self.add(right, fixed=True)
                self.text.append(")")
            case ast.AST():
                self.text.append(f"({type(node).__name__}")
                for _, part in ast.iter_fields(node):
                    self.add(part, fixed)
                self.text.append(")")
            case list() | tuple():
                self.text.append("[")
                for part in node:
                    self.add(part, fixed)
                self.text.append("]")
            case _:
                self.text.append(f" {node!r}")

    def known(self, name: str) -> str:
        """A number for a parameter or a local, anything else by its name."""
        found = self.own.get(name)
        if found is None:
            return name
        if not found:
            self.locals += 1
            found = self.own[name] = f"l{self.locals}"
        return found


def _join(forms: Sequence[_Form]) -> dict[str, _Shared]:
    """Make the first function stand for all; what to call in place of each."""
    first = forms[0]
    lifted = [
        k
        for k in range(len(first.numbers))
        if len({repr(form.numbers[k].value) for form in forms}) > 1
    ]
    found = {
        form.function.name: _Shared(
            first.function.name,
            tuple(form.numbers[k].value for k in lifted),  # type: ignore[misc]
        )
        for form in forms
    }
    f = first.function
    taken = {n.id for n in ast.walk(f) if isinstance(n, ast.Name)}
    taken |= {a.arg for a in f.args.args}
    place: dict[int, str] = {}
    for k in lifted:
        parameter = fresh("k", taken)
        place[k] = parameter
        f.args.args.append(ast.arg(parameter))
    swap = _Swap({first.numbers[k]: name for k, name in place.items()})
    told = comment(f"stands for {len(forms)} nests that differ in names and numbers")
    f.body = [told, *(swap.visit(stmt) for stmt in f.body)]
    return found


class _Swap(ast.NodeTransformer):
    """Puts names in the place of some literals."""

    def __init__(self, names: Mapping[ast.Constant, str]) -> None:
        self.names = names

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        name = self.names.get(node)
        return node if name is None else ast.Name(name, ast.Load())
