"""Parallel loops of generated modules as calls that start other cores.

Numba makes of a loop over `prange` a function from its own representation, with two
more around it, and runs five passes over what is around the loop: half a second, while
all that a loop of ours does is to call a function. So, of a module in memory,

    @njit(**PARALLEL)
    def total(u, sums):
        alone = u.shape[0] < 9
        for i in prange(u.shape[0]):
            total_i(u, np.int64(i), sums)

    @njit(**ENTRY)
    def f(u, sums):
        total(u, sums)

is executed as

    @njit(**ENTRY)
    def f(u, sums):
        alone = u.shape[0] < 9
        parallel_for(total_i, u.shape[0], 1, (u,), (sums,), alone)

where `parallel_for`, of `runtime.compiler`, has the scheduling and the threads of
Numba, and starts none if its last argument says so: the only test to which such a
function gives a name says that one core is enough. The text of the module, which
people read and other versions of Numba compile, stays what it is.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

#: The name of the call in a module.
NAME = "parallel_for"


def are_in(text: str) -> bool:
    """Has the module with this text loops that start other cores? `code_cache.serial`
    leaves it loops over `prange` that do not.
    """
    return '"parallel": True' in text and "prange(" in text


def with_calls(tree: ast.Module) -> ast.Module:
    """A module, the same object, its parallel loops as calls.

    A loop that sums in a name, or leaves its function, stays what it is.
    """
    body: list[ast.stmt] = []
    drivers: dict[str, ast.FunctionDef] = {}
    for s in tree.body:
        if isinstance(s, ast.FunctionDef) and _options(s) == "PARALLEL":
            calls = _Calls(s)
            s.body = [calls.visit(one) for one in s.body]
            body += calls.tasks
            if calls.done and not any(map(_is_parallel, ast.walk(s))):
                _run_serially(s)
                drivers[s.name] = s
        body.append(s)
    tree.body = _inlined(body, drivers)
    return tree


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
        if any(map(_leaves, driver.body)):
            return s  # it would leave the other function, without what that returns
        # Its own names are numbers that it makes before it reads them.
        if self.own & {n for one in driver.body for n in _stored(one)}:
            return s
        self.gone.add(name)
        return driver.body


class _Calls(ast.NodeTransformer):
    """Replaces the loops of one function; `tasks` are functions for their bodies."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.function, self.local = function.name, _local(function)
        self.tasks: list[ast.stmt] = []
        self.done = False
        self.alone: ast.expr = ast.Constant(False)

    def visit_Assign(self, s: ast.Assign) -> ast.AST:
        match s:
            case ast.Assign([ast.Name(name)], ast.Compare()):
                self.alone = ast.Name(name, ast.Load())
        return s

    def visit_For(self, loop: ast.For) -> ast.AST:
        if not _is_a_task(loop):
            return self.generic_visit(loop)
        assert isinstance(loop.iter, ast.Call)
        row, *how = _of_a_call(loop) or self._outlined(loop)
        args = [row, *loop.iter.args, *how, self.alone]
        self.done = True
        call = ast.Call(ast.Name(NAME, ast.Load()), args, [])
        return ast.copy_location(ast.Expr(call), loop)

    def _outlined(self, loop: ast.For) -> _Called:
        """A function for the body of a loop, called with what that needs."""
        assert isinstance(loop.target, ast.Name)
        body = ast.Module(loop.body, [])
        free = sorted(
            {*_mentioned(body)} & self.local - {loop.target.id, *_stored(body)}
        )
        name = f"{self.function}_task_{len(self.tasks)}"
        params = [ast.arg(n) for n in (loop.target.id, *free)]
        given = ast.arguments([], params, None, [], [], None, [])
        task = ast.FunctionDef(name, given, loop.body, [_decorator("SERIAL")])
        self.tasks.append(ast.copy_location(task, loop))
        return _called(
            name, ast.Constant(1), [], [ast.Name(n, ast.Load()) for n in free]
        )


#: A function, the factor of an iteration's number among its arguments, and those before
#: and behind that.
_Called = tuple[ast.expr, ast.expr, ast.expr, ast.expr]


def _called(
    function: str, scale: ast.expr, before: list[ast.expr], after: list[ast.expr]
) -> _Called:
    first, last = (ast.Tuple(group, ast.Load()) for group in (before, after))
    return ast.Name(function, ast.Load()), scale, first, last


def _of_a_call(loop: ast.For) -> _Called | None:
    """What is called, if that is all, with one argument that tells iterations apart:
    their number times a scale.
    """
    match loop:
        case ast.For(ast.Name(task), _, [ast.Expr(ast.Call(ast.Name(row), args, []))]):
            places = [k for k, a in enumerate(args) if task in _mentioned(a)]
        case _:
            return None
    if len(places) != 1:
        return None
    (k,) = places
    place: ast.expr = args[k]
    scale: ast.expr = ast.Constant(1)
    match place:
        case ast.BinOp(number, ast.Mult(), factor):
            place, scale = number, factor
    others = [scale, *args[:k], *args[k + 1 :]]
    same_for_all = all(isinstance(a, ast.Name | ast.Constant) for a in others)
    if not same_for_all or ast.unparse(place) != f"np.int64({task})":
        return None
    return _called(row, scale, args[:k], args[k + 1 :])


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


def _is_a_task(s: ast.stmt) -> bool:
    """Is it a parallel loop from zero, without effect but on elements of arrays?"""
    match s:
        case ast.For(iter=ast.Call(args=[_]), orelse=[]) if _is_parallel(s):
            sums = (n for one in s.body for n in ast.walk(one))
            return not (any(map(_leaves, s.body)) or any(map(_sums_in_a_name, sums)))
    return False


def _sums_in_a_name(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)


def _leaves(s: ast.stmt) -> bool:
    """May it leave the loop or the function that it stands in?"""
    ways = (ast.Return, ast.Break, ast.Continue)
    return any(isinstance(n, ways) for n in ast.walk(s))


def _mentioned(node: ast.AST) -> Iterator[str]:
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def _stored(node: ast.AST) -> Iterator[str]:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            yield n.id


def _local(function: ast.FunctionDef) -> set[str]:
    """The names that a function has itself, whatever else has them."""
    return {*(a.arg for a in function.args.args), *_stored(function)}
