"""The readable target: plain loops that run in CPython with NumPy alone.

The text is what a colleague reviews. It decides only on what is said around the code:
where it comes from, the imports it needs, and above each group of statements the line
of the user's function that the group belongs to.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from itertools import takewhile
from typing import Any, Protocol

from pyrev.emit.carried import definitions
from pyrev.emit.items import Exchange, Header, Item, Line, Whole
from pyrev.emit.whole_arrays import tree
from pyrev.ir import places
from pyrev.ir.nodes import NOWHERE, Add, Assign, Block, Extent, Program, fresh, walk
from pyrev.ir.printer import WIDTH, Blank, Comment, Text, comment, loc_of, tag, write
from pyrev.ir.text import (
    array_ranks,
    block_text,
    error_modules,
    expr_tree,
    one_call,
    several_trees,
    stmt_tree,
)
from pyrev.parse.directives import MARKS
from pyrev.schedule.forward import WIDEST

Sources = Mapping[str, Sequence[str]]


class Items(Protocol):
    """What says how the statements of a block look."""

    #: The names of the user's variables.
    users: Set[str]

    def items(self, block: Block) -> Sequence[Item]:
        """The statements of a block, or what stands in their places."""


def emit_python(
    program: Program,
    *,
    doc: str = "",
    sources: Sources | None = None,
    whole: Items | None = None,
    sizes: Sequence[tuple[str, int, str]] = (),
) -> Text:
    """The module that defines `program`, with `doc` as the comment at its top.

    `sources` holds the lines of the user's files, by the names in `Loc.file`; `whole`
    finds the loops in the program that are statements about whole arrays. Extents of
    parameters may have names: array, axis, name.
    """
    ranks = {p.name: p.rank for p in program.params if p.rank}
    ranks |= array_ranks(program.body)
    known = sources or {}
    body: list[ast.stmt] = []
    last: set[tuple[str, int]] = set()
    items = program.body if whole is None else whole.items(program.body)
    done = 0
    for k in range(len(items)):
        if k < done:
            continue
        done = k + max(len(one_call(items, k)), 1)
        nest = _Nest(ranks, known, last, whole)
        for made in nest.trees(items[k:done], items[done:]):
            if not (body and nest.same_number(body[-1], made)):
                body.append(made)
        last = nest.last
    _return_new(body, ranks)
    params = {p.name for p in program.params}
    body = _with_size_names(body, sizes, ranks, params)
    _name_counters(body, params)
    parameters = [ast.arg(p.name) for p in program.params]
    args = ast.arguments([], parameters, None, [], [], None, [])
    function = ast.FunctionDef(program.name, args, body, [], None, None)
    tag(function, program.loc)
    head: list[ast.stmt] = [comment(line) for line in doc.splitlines()]
    used = _used(function)
    helpers = [_first_of(n) for n in MARKS if n in used]
    carried = definitions(used)
    used |= {n for f in carried for n in _used(f)}
    modules = error_modules(program.body)
    start = [*head, *imports(used, modules), *helpers]
    module = ast.Module([*start, *carried, function], [])
    text = write(module)
    return Text(text.text + "\n", text.locs)


def _return_new(body: list[ast.stmt], arrays: Container[str]) -> None:
    """Arrays that are made to be returned are made where they are returned."""
    times = Counter(n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name))
    while len(body) > 1:
        match body[-2:]:
            case [
                ast.Assign([ast.Name(name)], (ast.Call() | ast.BinOp()) as made),
                ast.Return(ast.Tuple(given)) as returned,
            ] if (
                times[name] == 2
                and (isinstance(made, ast.Call) or name in arrays)
                and any(_is_name(e, name) for e in given)
            ):
                new = ast.Return(
                    ast.Tuple([made if _is_name(e, name) else e for e in given])
                )
                text = write(new).text
                if len(text) > WIDTH - 4 or "\n" in text:
                    return
                returned.value = new.value
                del body[-2]
            case _:
                break
    match body[-1]:
        case ast.Return(ast.Tuple(given)) as returned:
            own = _made_here(body, returned)
            returned.value = ast.Tuple([_copied(e, own) or e for e in given])


def _made_here(body: list[ast.stmt], returned: ast.Return) -> frozenset[str]:
    """The arrays that have one name, which is returned once, in whatever form."""
    made: set[str] = set()
    other: set[str] = set()
    for s in body:
        for n in ast.walk(s):
            match n:
                case ast.Assign(
                    [ast.Name(name)], ast.Call(ast.Attribute(_, maker))
                ) if maker in _MAKERS:
                    made.add(name)
                case ast.Assign(targets, value):
                    ends = (*targets, value)
                    parts = [p for e in ends for p in getattr(e, "elts", (e,))]
                    other |= {p.id for p in parts if isinstance(p, ast.Name)}
    times = Counter(n.id for n in ast.walk(returned) if isinstance(n, ast.Name))
    return frozenset(n for n in made - other if times[n] == 1)


_MAKERS = frozenset(("copy", "empty", "empty_like", "full", "zeros", "zeros_like"))


def _copied(e: ast.expr, own: Container[str]) -> ast.expr | None:
    """The array that `e` is a copy of, if that is the function's own."""
    match e:
        case ast.Call(ast.Attribute(ast.Name(name) as array, "copy"), []) if (
            name in own
        ):
            return array
    return None


def _with_size_names(
    body: list[ast.stmt],
    sizes: Sequence[tuple[str, int, str]],
    ranks: Mapping[str, int],
    params: Container[str],
) -> list[ast.stmt]:
    """The body with the user's names of sizes that it mentions more than once."""
    used = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    taken = {n.id for n in used}
    stored = {n.id for n in used if isinstance(n.ctx, ast.Store)}
    times = Counter(_extent(n) for s in body for n in ast.walk(s))
    chosen: dict[tuple[str, int], str] = {}
    for array, axis, name in sizes:
        free = name not in taken and name not in params and array not in stored
        if free and array in params and times[array, axis] > 1:
            if name not in chosen.values():
                chosen.setdefault((array, axis), name)
    if not chosen:
        return body
    renamed = [_SizeNames(chosen).visit(s) for s in body]
    made: list[ast.Assign] = []
    for array in dict.fromkeys(array for array, _ in chosen):
        names = [chosen.get((array, k)) for k in range(ranks[array])]
        if len(names) > 1 and None not in names:
            shape = ast.Attribute(ast.Name(array, ast.Load()), "shape", ast.Load())
            every: list[ast.expr] = [
                ast.Name(n, ast.Store()) for n in names if n is not None
            ]
            made.append(ast.Assign([ast.Tuple(every, ast.Store())], shape, None))
            continue
        for k, own in enumerate(names):
            if own is not None:
                made.append(
                    ast.Assign(
                        [ast.Name(own, ast.Store())], expr_tree(Extent(array, k)), None
                    )
                )
    return [*(tag(s, NOWHERE) for s in made), *renamed]


def _name_counters(body: list[ast.stmt], params: Iterable[str]) -> None:
    """``for _ in range(n)`` counts by a name where the text asks which iteration it is.

    The adjoint does where it records something.
    """
    found = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    names = [n for n in found if not hasattr(n, "_pyrev_discarded")]
    read = [n.id for n in names if isinstance(n.ctx, ast.Load) and _is_blank(n.id)]
    taken = {*params, *(n.id for n in names)}
    for blank in dict.fromkeys(read):
        own = fresh("t", taken)
        for n in names:
            if n.id == blank:
                n.id = own


def _is_blank(name: str) -> bool:
    return re.fullmatch(r"_+\d*", name) is not None


def _extent(node: ast.AST) -> tuple[str, int] | None:
    """The array and the axis in ``a.shape[0]``."""
    match node:
        case ast.Subscript(
            ast.Attribute(ast.Name(array), "shape"), ast.Constant(int(axis))
        ):
            return array, axis
    return None


class _SizeNames(ast.NodeTransformer):
    """Puts the names of sizes in their places."""

    def __init__(self, names: Mapping[tuple[str, int], str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        note = getattr(node, "_pyrev_note", "")
        for (array, axis), name in self.names.items():
            note = re.sub(rf"\b{array}\.shape\[{axis}\]", name, note)
        if note:
            node._pyrev_note = note  # type: ignore[attr-defined]
        return super().visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        found = _extent(node)
        if found is not None and found in self.names:
            return ast.Name(self.names[found], ast.Load())
        self.generic_visit(node)
        return node


def _is_name(tree: ast.expr, name: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == name


def _first_of(name: str) -> ast.stmt:
    """The function that returns its first argument."""
    first, *rest = MARKS[name]
    given = ", ".join([first, *rest])
    return ast.parse(f"def {name}({given}):\n    return {first}").body[0]


def _used(function: ast.AST) -> set[str]:
    """The names that the tree mentions."""
    return {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}


def imports(used: Container[str], modules: Sequence[str] = ()) -> Iterator[ast.stmt]:
    """The import statements for these names, the standard library first, and of some
    modules of the user's.
    """
    groups = [
        [ast.Import([ast.alias("math")])] if "math" in used else [],
        [ast.Import([ast.alias("numpy", "np")])] if "np" in used else [],
        [ast.Import([ast.alias(m)]) for m in modules],
    ]
    first = True
    for group in filter(None, groups):
        if not first:
            yield Blank()
        yield from group
        first = False


class _Nest:
    """The statements of one nest, each of the user's lines quoted at most once.

    `said` is the line quoted last before the nest: it need not be said again.
    """

    def __init__(
        self,
        ranks: Mapping[str, int],
        sources: Sources,
        said: set[tuple[str, int]],
        whole: Items | None,
    ) -> None:
        self.ranks = ranks
        self.whole = whole
        self.sources = sources
        self.said = set(said)
        self.last = said

    def block(self, block: Block) -> list[ast.stmt]:
        return self.trees(block if self.whole is None else self.whole.items(block))

    def trees(
        self, items: Sequence[Item], behind: Sequence[Item] = ()
    ) -> list[ast.stmt]:
        """The statements of some items, in front of others."""
        out: list[ast.stmt] = []
        done = 0
        for k, s in enumerate(items):
            if k < done:
                continue
            several = one_call(items, k)
            if several:
                done = k + len(several)
                made_ = several_trees(several)
                out += [tag(t, several[0].loc, several[0].note) for t in made_]
                continue
            out.extend(self.remark(s, [*items[k + 1 :], *behind]))
            if isinstance(s, (Whole, Exchange)):
                made = tree(s)
            elif isinstance(s, Line):
                made = s.tree
            elif isinstance(s, Header):
                made = self.header(s)
            else:
                made = stmt_tree(s, self.ranks, self.block)
            if isinstance(made, ast.If):
                _with_elif(made)
            tag(made, s.loc, s.note)
            if not (out and self.same_number(out[-1], made)):
                out.append(made)
        return out

    def header(self, s: Header) -> ast.stmt:
        bodies = iter(s.bodies)
        return stmt_tree(s.stmt, self.ranks, lambda _: self.trees(next(bodies)))

    def same_number(self, before: ast.stmt, behind: ast.stmt) -> bool:
        """Do both give scalars of pyrev's one number?

        Then the first does for all: ``d_a = d_b = 0.0``, and for the scalar of the
        user's to which they belong: ``a = dot_a = 0.0``. So it does for scalars that
        the user has given it in one line.
        """
        users = self.whole.users if self.whole is not None else None
        match before, behind:
            case (
                ast.Assign(targets, ast.Constant(float(a))),
                ast.Assign([ast.Name(name) as target], ast.Constant(float(b))),
            ) if users is not None and repr(a) == repr(b):
                named = [t.id for t in targets if isinstance(t, ast.Name)]
                ours, one = users.isdisjoint(named), loc_of(before) == loc_of(behind)
                if len(named) < len(targets) or name in users and not one:
                    return False
                # What the user has set in one line stays in one.
                if not ours and not (name in users and users >= set(named)):
                    return False
                first = ours and name in users
                every = [target, *targets] if first else [*targets, target]
                if len(write(ast.Assign(every, ast.Constant(a), None)).text) <= WIDEST:
                    targets[:] = every
                    return True
        return False

    def remark(self, s: Item, behind: Sequence[Item]) -> list[Comment]:
        """The comment above a statement, or above a loop that is all about one line."""
        lines = _lines(s)
        if len(lines) != 1 or lines & self.said:
            return []
        (line,) = lines
        group = (s, *takewhile(lambda x: _lines(x) == lines, behind))
        if any(self.speaks(x, *line) for x in group):
            return []
        self.said.add(line)
        self.last = {line}
        return [comment(_quote(*line, self.sources))]

    def speaks(self, s: Item, file: str, line: int) -> bool:
        """Does the code itself say what the comment would?"""
        source = _source(file, line, self.sources)
        if isinstance(s, (Whole, Exchange)):
            return write(ast.Module([tree(s)], [])).text == source
        if isinstance(s, Line):
            return write(ast.Module([s.tree], [])).text == source
        if isinstance(s, Header):
            return False
        leaves = [x for x in walk((s,)) if isinstance(x, (Assign, Add))]
        said = source.replace(" ", "")  # formatters write ``x**2``
        return any(block_text((x,)).replace(" ", "") == said for x in leaves)


def _with_elif(made: ast.If) -> None:
    """``else: # a comment`` and then ``if``: an ``elif`` with the comment in it."""
    match made.orelse:
        case [Comment() as said, ast.If() as inner]:
            made.orelse[:] = [inner]
            inner.body.insert(0, said)


def _lines(s: Item) -> set[tuple[str, int]]:
    """The user's lines that the statements inside `s` compute for."""
    if isinstance(s, Header):
        return {line for body in s.bodies for part in body for line in _lines(part)}
    if isinstance(s, (Whole, Exchange, Line)):
        locs = [s.loc]
    else:
        locs = [x.loc for x in walk((s,)) if isinstance(x, (Assign, Add))]
    return {(loc.file, loc.line) for loc in locs if loc != NOWHERE}


def _source(file: str, line: int, sources: Sources) -> str:
    text = sources.get(file, ())
    return text[line - 1].strip() if 0 < line <= len(text) else ""


def _quote(file: str, line: int, sources: Sources) -> str:
    source = _source(file, line, sources)
    quoted = f"{places.place(file, line)}: {source}".rstrip(": ")
    # Deep nests leave little room; a comment that is cut still names its line.
    room = WIDTH - 24
    return quoted if len(quoted) <= room else f"{quoted[: room - 3].rstrip()}..."
