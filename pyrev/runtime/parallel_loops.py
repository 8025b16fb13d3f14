"""Parallel loops of generated modules as calls that start other cores.

Numba makes of a loop over `prange` a function from its own representation, with two
more around it, and runs five passes over what is around the loop: half a second, while
all that a loop of ours does is to call a function. So, of a module in memory,

    @njit(**PARALLEL)
    def total(u, sums):
        if u.shape[0] < 9:
            for i in range(u.shape[0]):
                total_i(u, np.int64(i), sums)
        else:
            for i in prange(u.shape[0]):
                total_i(u, np.int64(i), sums)

    @njit(**ENTRY)
    def f(u, sums):
        total(u, sums)

is executed as

    @njit(**ENTRY)
    def f(u, sums):
        parallel_for(total_i, u.shape[0], 1, (u,), (sums,), u.shape[0] < 9)

where `parallel_for`, of `runtime.compiler`, has the scheduling and the threads of
Numba, and starts none if its last argument says so. The text of the module, which
people read and other versions of Numba compile, stays what it is.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Iterator

#: The name of the call in a module.
NAME = "parallel_for"


def are_in(text: str) -> bool:
    """Has the module with this text loops that start other cores? `code_cache.serial`
    leaves it loops over `prange` that do not.
    """
    return '"parallel": True' in text and "prange(" in text


def with_calls(text: str) -> ast.Module:
    """The module with this text, its parallel loops as calls.

    A loop that sums in a name, or leaves its function, stays what it is.
    """
    tree = ast.parse(text)
    known = {*dir(builtins), *_top_level(tree)}
    body: list[ast.stmt] = []
    drivers: dict[str, ast.FunctionDef] = {}
    for s in tree.body:
        if isinstance(s, ast.FunctionDef) and _options(s) == "PARALLEL":
            calls = _Calls(s.name, known)
            s.body = [calls.visit(one) for one in s.body]
            body += calls.tasks
            if calls.done and not any(map(_is_parallel, ast.walk(s))):
                _run_serially(s)
                drivers[s.name] = s
        body.append(s)
    tree.body = _inlined(body, drivers)
    return ast.fix_missing_locations(tree)


def _inlined(
    body: list[ast.stmt], drivers: dict[str, ast.FunctionDef]
) -> list[ast.stmt]:
    """The module without functions of which one call stands in one other function, with
    its parameters as arguments: what they do stands there.
    """
    uses = Counter(n for s in body for n in _mentioned(s) if n in drivers)
    gone: set[str] = set()
    for s in body:
        if isinstance(s, ast.FunctionDef) and s.name not in drivers:
            inline = _Inline({n: d for n, d in drivers.items() if uses[n] == 1}, s)
            inline.visit(s)
            gone |= inline.gone
    return [s for s in body if getattr(s, "name", "") not in gone]


class _Inline(ast.NodeTransformer):
    """Puts bodies in the place of calls in one function."""

    def __init__(
        self, drivers: dict[str, ast.FunctionDef], function: ast.FunctionDef
    ) -> None:
        self.drivers = drivers
        self.own = {*_mentioned(function), *(a.arg for a in function.args.args)}
        self.gone: set[str] = set()

    def visit_Expr(self, s: ast.Expr) -> ast.Expr | list[ast.stmt]:
        match s.value:
            case ast.Call(ast.Name(name), args, []) if name in self.drivers:
                driver = self.drivers[name]
            case _:
                return s
        params = [a.arg for a in driver.args.args]
        if [a.id for a in args if isinstance(a, ast.Name)] != params:
            return s
        # Its own names are numbers that it makes before it reads them.
        if self.own & {n for one in driver.body for n in _stored(one)}:
            return s
        self.gone.add(name)
        return copy.deepcopy(driver.body)


class _Calls(ast.NodeTransformer):
    """Replaces the loops of one function; `tasks` are functions for their bodies."""

    def __init__(self, function: str, known: set[str]) -> None:
        self.function, self.known = function, known
        self.tasks: list[ast.stmt] = []
        self.done = False

    def visit_If(self, s: ast.If) -> ast.AST:
        """A loop that stays on one core where that takes less."""
        match s.orelse:
            case [ast.For() as loop] if _is_parallel(loop) and _is_a_task(loop):
                return self._call(loop, s.test)
        return self.generic_visit(s)

    def visit_For(self, loop: ast.For) -> ast.AST:
        if not (_is_parallel(loop) and _is_a_task(loop)):
            return self.generic_visit(loop)
        return self._call(loop, ast.Constant(False))

    def _call(self, loop: ast.For, alone: ast.expr) -> ast.AST:
        assert isinstance(loop.iter, ast.Call)
        called = self._of_a_call(loop) or self._outlined(loop)
        row, scale, before, after = called
        groups = (ast.Tuple(group, ast.Load()) for group in (before, after))
        args = [row, loop.iter.args[0], scale, *groups, alone]
        self.done = True
        call = ast.Call(ast.Name(NAME, ast.Load()), args, [])
        return ast.copy_location(ast.Expr(call), loop)

    def _of_a_call(
        self, loop: ast.For
    ) -> tuple[ast.expr, ast.expr, list[ast.expr], list[ast.expr]] | None:
        """What is called, if that is all, with one argument that tells iterations
        apart, their number times a scale.
        """
        match loop:
            case ast.For(
                target=ast.Name(task),
                body=[ast.Expr(ast.Call(ast.Name() as row, args, []))],
            ):
                pass
            case _:
                return None
        places = [k for k, a in enumerate(args) if task in _mentioned(a)]
        if len(places) != 1:
            return None
        (k,) = places
        others = [*args[:k], *args[k + 1 :]]
        if not all(isinstance(a, ast.Name | ast.Constant) for a in others):
            return None
        scale: ast.expr = ast.Constant(1)
        match args[k]:
            case ast.BinOp(
                ast.Call(args=[ast.Name()]) as place, ast.Mult(), ast.Name() as scale
            ) if ast.unparse(place.func) == "np.int64":
                pass
            case ast.Call(func, [ast.Name()], []) if ast.unparse(func) == "np.int64":
                pass
            case _:
                return None
        return row, scale, args[:k], args[k + 1 :]

    def _outlined(
        self, loop: ast.For
    ) -> tuple[ast.expr, ast.expr, list[ast.expr], list[ast.expr]]:
        """A function for the body of a loop, and its arguments."""
        assert isinstance(loop.target, ast.Name)
        stored = {loop.target.id}
        for s in loop.body:
            stored |= {*_stored(s)}
        free = sorted(
            {n for s in loop.body for n in _mentioned(s)} - stored - self.known
        )
        name = f"{self.function}_task_{len(self.tasks)}"
        params = [ast.arg(n) for n in (loop.target.id, *free)]
        task = ast.FunctionDef(
            name,
            ast.arguments([], params, None, [], [], None, []),
            loop.body,
            [_decorator("SERIAL")],
        )
        self.tasks.append(ast.copy_location(task, loop))
        after: list[ast.expr] = [ast.Name(n, ast.Load()) for n in free]
        return ast.Name(name, ast.Load()), ast.Constant(1), [], after


def _options(function: ast.FunctionDef) -> str:
    """The name of the options with which a function is compiled, if that is all."""
    match function.decorator_list:
        case [ast.Call(ast.Name("njit"), [], [ast.keyword(None, ast.Name(options))])]:
            return options
    return ""


def _decorator(options: str) -> ast.expr:
    keyword = ast.keyword(None, ast.Name(options, ast.Load()))
    return ast.Call(ast.Name("njit", ast.Load()), [], [keyword])


def _run_serially(function: ast.FunctionDef) -> None:
    (decorator,) = function.decorator_list
    function.decorator_list = [ast.copy_location(_decorator("SERIAL"), decorator)]


def _is_parallel(node: ast.AST) -> bool:
    match node:
        case ast.For(target=ast.Name(), iter=ast.Call(ast.Name("prange"))):
            return True
    return False


def _is_a_task(loop: ast.For) -> bool:
    """Does it count from zero, and has its body no effect but on elements of arrays?"""
    if not (isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 1):
        return False
    leaving = (ast.Return, ast.Break, ast.Continue)
    for node in (n for s in loop.body for n in ast.walk(s)):
        match node:
            case ast.AugAssign(target=ast.Name()) | ast.Delete():
                return False
            case _ if isinstance(node, leaving):
                return False
    return not loop.orelse


def _mentioned(node: ast.AST) -> Iterator[str]:
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def _stored(node: ast.AST) -> Iterator[str]:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            yield n.id


def _top_level(tree: ast.Module) -> Iterator[str]:
    """The names that a module has."""
    for s in tree.body:
        match s:
            case ast.FunctionDef(name=name):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from ((a.asname or a.name).split(".")[0] for a in names)
            case _:
                yield from _stored(s)
