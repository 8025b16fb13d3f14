"""The smallest program that fails in the same way: what is deleted, what is replaced.

Works on the syntax tree: statements go away or give way to their bodies, expressions to
their parts or to a constant. Any change that keeps the symptom is kept; the plain
function still has to be legal, so a reduced program is evidence like a generated one.
"""

from __future__ import annotations

import ast
import copy
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.tools.generator.judge import Verdict, judge
from tests.tools.generator.program import Generated

Judge = Callable[[Generated, str], Verdict]


def shrunk(
    program: Generated, target: str, seconds: float = 60.0, by: Judge | None = None
) -> Generated:
    """A program as small as the time allows with the symptom of the given one."""
    by = by or judge
    symptom = by(program, target).symptom

    def fails(candidate: Generated) -> bool:
        try:
            return by(candidate, target).symptom == symptom
        except Exception:  # the text is no longer a program
            return False

    end = time.monotonic() + seconds
    for sizes in _smaller_sizes(program):
        candidate = program.at(sizes)
        if fails(candidate):
            program = candidate
            break
    for coarse in (_without_runs, _without_parameters):
        program = coarse(program, fails, end)
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for kinds in (ast.stmt, (ast.stmt, ast.expr, ast.arg)):
            at = 0
            # From the last place to the first; what is cut moves only later places.
            while time.monotonic() < end:
                found = _cut(program, at, kinds, fails)
                if found is None:
                    break
                smaller, at = found
                progress = progress or smaller is not program
                program = smaller
    return program


Fails = Callable[[Generated], bool]


def _without_runs(program: Generated, fails: Fails, end: float) -> Generated:
    """Without half of a block, a quarter of it, and so on."""

    def blocks(tree: ast.Module) -> list[list[ast.stmt]]:
        bodies = [getattr(n, "body", None) for n in ast.walk(tree)]
        return [b for b in bodies if isinstance(b, list) and len(b) > 1]

    at = 0
    while at < len(blocks(ast.parse(program.source))) and time.monotonic() < end:
        count = len(blocks(ast.parse(program.source))[at])
        run = count // 2
        while run > 1 and time.monotonic() < end:
            first = count - run
            while first >= 0 and time.monotonic() < end:
                tree = ast.parse(program.source)
                all_blocks = blocks(tree)
                if at >= len(all_blocks):
                    return program
                del all_blocks[at][first : first + run]
                candidate = _unparsed(program, tree)
                if candidate is not None and fails(candidate):
                    program = candidate
                first -= run
            found = blocks(ast.parse(program.source))
            count = len(found[at]) if at < len(found) else 0
            run = min(run // 2, count)
        at += 1
    return program


def _without_parameters(program: Generated, fails: Fails, end: float) -> Generated:
    """Without what a helper is given and does not need."""
    at = 0
    while time.monotonic() < end:
        tree = ast.parse(program.source)
        every = [
            (f, k)
            for f in ast.walk(tree)
            if isinstance(f, ast.FunctionDef)
            for k in range(len(f.args.args))
        ]
        if at >= len(every):
            break
        function, k = every[at]
        at += 1
        arguments = function.args
        default = k - len(arguments.args) + len(arguments.defaults)
        if default >= 0:
            del arguments.defaults[default]
        gone = arguments.args.pop(k)
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                if call.func.id == function.name:
                    del call.args[k : k + 1]
                    call.keywords = [w for w in call.keywords if w.arg != gone.arg]
        candidate = _unparsed(program, tree)
        if candidate is not None and fails(candidate):
            program, at = candidate, at - 1
    return program


def _unparsed(program: Generated, tree: ast.Module) -> Generated | None:
    """The program of a changed tree, if it is one."""
    try:
        text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(text, "<shrunk>", "exec")
    except (SyntaxError, ValueError):
        return None
    return replace(program, source=text)


Kinds = type[ast.AST] | tuple[type[ast.AST], ...]


def _cut(
    program: Generated,
    skipped: int,
    kinds: Kinds,
    fails: Fails,
) -> tuple[Generated, int] | None:
    """Cut at the place before the last `skipped` ones; None if there are no more."""
    tree = ast.parse(program.source)
    places = [
        k
        for k, (owner, name, index) in enumerate(_places(tree))
        if isinstance(_held(owner, name, index), kinds)
    ]
    if skipped >= len(places):
        return None
    k = places[len(places) - 1 - skipped]
    for variant in range(_variants(_node_at(tree, k))):
        candidate = _changed(program, tree, k, variant)
        if candidate is not None and fails(candidate):
            after = ast.parse(candidate.source)
            left = sum(
                1
                for owner, name, index in _places(after)
                if isinstance(_held(owner, name, index), kinds)
            )
            # A place that became smaller is tried once more.
            return candidate, max(0, min(skipped, left - 1))
    return program, skipped + 1


def _smaller_sizes(program: Generated) -> Iterator[dict[str, int]]:
    for n in (1, 2, 3):
        for m in (1, 2):
            if n <= program.sizes["n"] and m <= program.sizes["m"]:
                yield {"n": n, "m": m, "z": min(program.sizes["z"], 3)}


def _changed(
    program: Generated, tree: ast.Module, k: int, variant: int
) -> Generated | None:
    """The program with one change, if it is a smaller program."""
    smaller = copy.deepcopy(tree)
    _apply(smaller, k, variant)
    made = _unparsed(program, smaller)
    if made is None:
        return None
    if _size(smaller) >= _size(tree) and len(made.source) >= len(program.source):
        return None
    return made


Place = tuple[ast.AST, str, int | None]


def _places(tree: ast.AST) -> Iterator[Place]:
    """Every statement, expression and parameter that could go or be replaced."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                for k, item in enumerate(value):
                    if isinstance(item, (ast.stmt, ast.expr, ast.arg)):
                        yield node, name, k
            elif isinstance(value, ast.expr) and name not in ("func", "target"):
                yield node, name, None


def _held(owner: ast.AST, name: str, index: int | None) -> ast.AST:
    value = getattr(owner, name)
    found: ast.AST = value if index is None else value[index]
    return found


def _node_at(tree: ast.AST, k: int) -> ast.AST:
    for at, (owner, name, index) in enumerate(_places(tree)):
        if at == k:
            return _held(owner, name, index)
    raise IndexError(k)


def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def _parts(node: ast.AST) -> list[ast.expr]:
    """What an expression may be replaced by."""
    parts = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
    constants: list[ast.expr] = [ast.Constant(0.5), ast.Constant(1), ast.Constant(0)]
    if isinstance(node, ast.Constant):
        return []
    return [*parts, *constants]


def _variants(node: ast.AST) -> int:
    if isinstance(node, ast.expr):
        return len(_parts(node))
    return 1 + (1 if getattr(node, "body", None) else 0)


def _apply(tree: ast.Module, k: int, variant: int) -> None:
    for at, (owner, name, index) in enumerate(_places(tree)):
        if at != k:
            continue
        value = getattr(owner, name)
        if index is None:
            setattr(owner, name, _parts(value)[variant])
            return
        node = value[index]
        if isinstance(node, ast.expr):
            value[index] = _parts(node)[variant]
        elif variant:
            value[index : index + 1] = node.body
        else:
            del value[index]
            if not value and name == "body":
                value.append(ast.Pass())
        return
