"""A generated module that makes digests of arrays in the loops that read them.

An array that a loop has just read is in the caches, where its digest costs a fraction
of what it costs to fetch the array once more. So a parallel loop, cut into parts,

    for z in prange(n):
        row(u, z)

becomes

    for part in prange(parts):
        for z in range(<of the part>):
            row(u, z)
        seal += digest_blocks(words_u, <of the part>)

Each part makes the digest of as large a share of the array as it has of the loop. Every
block is in one share, whatever the loop reads and in which order, so the sum is that of
the whole array. What it costs depends on whether the loop goes through the array as the
array lies in memory, which is looked for: the indices of the loops have to be in its
first subscripts, in their order. Anywhere else a share is fetched for its digest alone,
from many places, which takes several times as long as a pass over the whole array.

Where a loop has few iterations, whatever the sizes are, as one over chunks has, the row
makes the digest of its own share while it goes through that:

    for chunk in prange(32):
        row(u, chunk, words_u, <the chunk's share>, seals, done, chunk)
        seals[chunk] += digest_blocks(words_u, <what is not done of the share>)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyrev.emit.digest import BLOCK, BLOCKS
from pyrev.ir.nodes import fresh
from pyrev.ir.printer import write

#: Blocks that are worth a digest of their own: fewer are done before its keys are in
#: the registers, and many more do not stay in the caches that a core has for itself.
LEAST = 64

#: Parts that a loop is cut into even if they have fewer blocks.
PARTS = 64

_NAMES = ("KEYS", "digest_blocks", "share_begin")

_SHARE = """\
@njit(**SERIAL)
def share_begin(each, more, part):
    return each * part + min(more, part)
"""

_LOOP = """\
{tasks} = {total}
{parts} = min(np.int64({tasks}), max(1, min({cut}, {largest}), {largest} // {least}))
{each}, {more} = divmod({tasks}, max(1, {parts}))
for {part} in prange({parts}):
    {here} = np.int64({part})
    for {task} in range(
        share_begin({each}, {more}, {here}), share_begin({each}, {more}, {here} + 1)
    ):
        pass
"""


_ALONG = """\
{here} = {first} + ({last} - {first}) * ({passed} + 1) // ({total})
if {here} - {done}[{task}] >= {least} and {here} <= {last}:
    {shares}[{task}] += digest_blocks({words}, 0, {done}[{task}], {here})
    {done}[{task}] = {here}
"""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A module whose function makes the digests of `arrays`.

    Behind its own parameters the function takes the words of each of them, in whole
    blocks, and an array of as many sums.
    """

    text: str
    arrays: tuple[str, ...]


def sealed(text: str, function: str, arrays: Sequence[str], chunks: int) -> Sealed:
    """The module `text` of `pyrev.emit.numba` for what it can of `arrays`.

    These are parameters of `function` that nothing writes, in the order of C. Left out
    are those that no parallel loop goes through of which every call has one run. A loop
    of at most `chunks` iterations has each make the digest of a share.
    """
    tree = ast.parse(text)
    module = _Module(tree, function, chunks)
    drivers: dict[str, list[tuple[int, str]]] = {}
    done: list[str] = []
    for array in arrays:
        found = module.driver(array)
        if found is not None:
            driver, param = found
            drivers.setdefault(driver, []).append((len(done), param))
            done.append(array)
    if not done:
        return Sealed(text, ())
    for driver, params in drivers.items():
        module.seal(driver, params)
    module.hand_on(done, drivers)
    header = "".join(f"{line}\n" for line in text.splitlines() if line.startswith("# "))
    return Sealed(f"{header}{write(tree).text}\n", tuple(done))


class _Module:
    """The functions of a module, which are changed in place."""

    def __init__(self, tree: ast.Module, function: str, chunks: int) -> None:
        self.tree, self.chunks = tree, chunks
        functions = [f for f in tree.body if isinstance(f, ast.FunctionDef)]
        self.functions = {f.name: f for f in functions}
        self.outer = self.functions[function]
        self.entry = self.functions[f"_{function}"]
        self.taken = set(re.findall(r"\w+", ast.unparse(tree)))
        self.own = {name: fresh(name, self.taken) for name in _NAMES}
        self.sums = fresh("seals", self.taken)
        calls = [n for f in self.functions.values() for n in _calls(f)]
        names = [c.func.id for c in calls if isinstance(c.func, ast.Name)]
        #: The parallel loops of which each call runs one, in order.
        self.drivers = [
            s.value
            for s in self.entry.body
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)
            if isinstance(s.value.func, ast.Name) and names.count(s.value.func.id) == 1
            if (f := self.functions.get(s.value.func.id)) is not None
            if _how(f) == "PARALLEL" and len(_loops(f)) == 1
        ]

    def driver(self, array: str) -> tuple[str, str] | None:
        """The first parallel loop that goes through `array`, and its name there."""
        for call in self.drivers:
            assert isinstance(call.func, ast.Name)
            function = self.functions[call.func.id]
            for param in self.received(call, {array}):
                (loop,) = _loops(function)
                for row in _calls(loop):
                    if isinstance(row.func, ast.Name) and self.goes(row, loop, param):
                        return function.name, param
        return None

    def received(self, call: ast.Call, names: set[str]) -> dict[str, str]:
        """The parameters as which the function that is called gets variables."""
        assert isinstance(call.func, ast.Name)
        params = self.functions[call.func.id].args.args
        return {
            param.arg: value.id
            for param, value in zip(params, call.args, strict=True)
            if isinstance(value, ast.Name) and value.id in names
        }

    def goes(self, row: ast.Call, loop: ast.For, array: str) -> bool:
        """Do the iterations of a parallel loop, whose body is the call `row`, follow
        each other in `array` as its elements do?
        """
        assert isinstance(row.func, ast.Name)
        if row.func.id not in self.functions:
            return False
        function = self.functions[row.func.id]
        task = {n.id for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Name)}
        task &= {_id(loop.target), *(_id(t) for t in _targets(loop.body))}
        places = [
            (-sum(isinstance(n, ast.FloorDiv) for n in ast.walk(value)), k, param.arg)
            for k, (param, value) in enumerate(
                zip(function.args.args, row.args, strict=True)
            )
            if not task.isdisjoint(_names(value))
        ]
        # The outer loops' indices are found with more divisions.
        indices = [param for _, _, param in sorted(places)]
        uses = _Uses([], {}, {})
        for param in self.received(row, {array}):
            self.collect(function, param, uses)
        return any(uses.follow(subscripts, indices) for subscripts in uses.subscripts)

    def collect(self, function: ast.FunctionDef, array: str, uses: _Uses) -> None:
        """Note how a function, with those that it calls, reads an array."""
        uses.note(function, array)
        for call in _calls(function):
            if not isinstance(call.func, ast.Name):
                continue
            callee = self.functions.get(call.func.id)
            for param in self.received(call, {array}) if callee is not None else ():
                assert callee is not None
                for other, value in zip(callee.args.args, call.args, strict=True):
                    # Where both have one name, they mean the same.
                    uses.scalars.setdefault(other.arg, set()).update(_names(value))
                self.collect(callee, param, uses)

    def seal(self, driver: str, params: Sequence[tuple[int, str]]) -> None:
        """Change a parallel loop; `params` are arrays with the places of their sums."""
        function = self.functions[driver]
        (loop,) = _loops(function)
        assert isinstance(loop.iter, ast.Call) and isinstance(loop.target, ast.Name)
        words = {p: fresh(f"words_{p}", self.taken) for _, p in params}
        if not self.seal_row(function, loop, params, words):
            self.seal_parts(function, loop, params, words)
        function.args.args += [ast.arg(w) for w in (*words.values(), self.sums)]

    def seal_parts(
        self,
        function: ast.FunctionDef,
        loop: ast.For,
        params: Sequence[tuple[int, str]],
        words: Mapping[str, str],
    ) -> None:
        """Cut a parallel loop into parts, each of which makes the digests of shares."""
        assert isinstance(loop.iter, ast.Call) and isinstance(loop.target, ast.Name)
        own = ("tasks", "parts", "part", "here", "each", "more")
        names = {n: fresh(n, self.taken) for n in own} | self.own
        counts = [f"{w}.size // {BLOCK}" for w in words.values()]
        largest = counts[0] if len(counts) == 1 else f"max({', '.join(counts)})"
        total = ast.unparse(loop.iter.args[0])
        new = self.parsed(
            _LOOP.format(
                **names,
                total=total,
                largest=largest,
                cut=PARTS,
                least=LEAST,
                task=loop.target.id,
            )
        )
        outer: Any = new[-1]
        outer.body[-1].body = loop.body
        start, end = [], []
        here, parts = names["here"], names["parts"]
        for place, p in params:
            seal = fresh(f"seal_{p}", self.taken)
            split, first, last = self.share(p, words[p], f"max(1, {parts})", here)
            start += [f"{seal} = np.uint64(0)", split]
            line = f"{seal} += digest_blocks({words[p]}, 0, {first}, {last})"
            outer.body += self.parsed(line)
            whole = f"{words[p]}, 0, 0, {words[p]}.size // {BLOCK}"
            end.append(f"if {parts} <= 0:")
            end.append(f"    {seal} = digest_blocks({whole})")
            end.append(f"{self.sums}[{place}] = {seal}")
        at = function.body.index(loop)
        rest = function.body[at + 1 :]
        new[-1:] = [*self.parsed("\n".join(start)), outer, *self.parsed("\n".join(end))]
        function.body[at:] = [*new, *rest]

    def seal_row(
        self,
        function: ast.FunctionDef,
        loop: ast.For,
        params: Sequence[tuple[int, str]],
        words: Mapping[str, str],
    ) -> bool:
        """Have the iterations of `loop` make the digests of their shares, if they are
        few and long.
        """
        match loop:
            case ast.For(
                target=ast.Name(id=index),
                iter=ast.Call(args=[ast.Constant(int(tasks))]),
                body=[ast.Expr(ast.Call(func=ast.Name(id=name)) as call)],
            ) if 0 < tasks <= self.chunks and name in self.functions:
                row = self.functions[name]
            case _:
                return False
        callers = [n for f in self.functions.values() for n in _calls(f)]
        if [_id(c.func) for c in callers].count(name) != 1:
            return False
        there = {value: param for param, value in self.received(call, {*words}).items()}
        task = [
            param.arg
            for param, value in zip(row.args.args, call.args, strict=True)
            if index in _names(value)
        ]
        walks = {p: self.walk(row, task, there[p]) if p in there else [] for p in words}
        if not any(walks.values()):
            return False
        start, end = [], []
        at = f"np.int64({index})"
        for place, p in params:
            shares, done = (fresh(f"{n}_{p}", self.taken) for n in ("shares", "done"))
            split, first, last = self.share(p, words[p], str(tasks), at)
            start.append(f"{shares} = np.zeros({tasks}, dtype=np.uint64)")
            start += [f"{done} = np.zeros({tasks}, dtype=np.int64)", split]
            loop.body[:0] = self.parsed(f"{done}[{at}] = {first}")
            if walks[p]:
                values = f"{words[p]}, {first}, {last}, {shares}, {done}, {at}"
                call.args += self.values(values)
                self.go_along(row, walks[p], there[p])
            rest = f"digest_blocks({words[p]}, 0, {done}[{at}], {last})"
            loop.body += self.parsed(f"{shares}[{at}] += {rest}")
            end.append(f"{self.sums}[{place}] = {shares}.sum()")
        k = function.body.index(loop)
        before, after = (self.parsed("\n".join(lines)) for lines in (start, end))
        function.body[k : k + 1] = [*before, loop, *after]
        return True

    def share(
        self, array: str, words: str, parts: str, part: str
    ) -> tuple[str, str, str]:
        """The line that splits the blocks of an array, and the ends of a part's."""
        each, more = (fresh(f"{n}_{array}", self.taken) for n in ("each", "more"))
        first, last = (f"share_begin({each}, {more}, {part}{k})" for k in ("", " + 1"))
        return f"{each}, {more} = divmod({words}.size // {BLOCK}, {parts})", first, last

    def walk(
        self, row: ast.FunctionDef, task: Sequence[str], array: str
    ) -> list[ast.For]:
        """The outer loops, one or two, in which the iteration `task` of a parallel loop
        goes through an array as this lies in memory.
        """
        found: list[ast.For] = []
        block: Sequence[ast.stmt] = [s for s in _loops(row) if self.reads(s, array)][:1]
        while len(found) < 2 and len(block) == 1:
            match block[0]:
                case ast.For(iter=ast.Call(args=[_] | [_, _])) as loop:
                    if not self.works(loop, array):
                        break
                    found.append(loop)
                    block = loop.body
                case _:
                    break
        uses = _Uses([], {}, {})
        self.collect(row, array, uses)
        while found:
            indices = [_id(loop.target) for loop in found]
            if any(
                uses.follow(s, indices) or uses.follow(s, [*task, *indices])
                for s in uses.subscripts
            ):
                break
            found.pop()
        return found

    def reads(self, loop: ast.For, array: str) -> bool:
        """Does a loop read elements of an array, and not its shape alone?"""
        return any(
            self.hands_on(n, array) or _subscripts(n, array) for n in ast.walk(loop)
        )

    def works(self, loop: ast.For, array: str) -> bool:
        """Does each iteration of a loop go along the last axis of an array?"""
        inner = [n for s in loop.body for n in ast.walk(s)]
        indices = {_id(n.target) for n in inner if isinstance(n, ast.For)}
        return any(
            self.hands_on(n, array)
            or any(
                not indices.isdisjoint(_names(k)) for k in _subscripts(n, array)[-1:]
            )
            for n in inner
        )

    def hands_on(self, node: ast.AST, array: str) -> bool:
        """Is this the call of a loop over an array?"""
        match node:
            case ast.Call(func=ast.Name(id=name), args=args) if name in self.functions:
                return array in map(_id, args) and bool(_loops(self.functions[name]))
        return False

    def go_along(
        self, row: ast.FunctionDef, walk: Sequence[ast.For], array: str
    ) -> None:
        """Have `row` make the digest of its share of an array while it is in the loops
        of `walk`, as far as they come: it notes how many blocks it has `done`.

        Each block is taken once, whatever the loops do: they only say when.
        """
        params = ("words", "first", "last", "shares", "done", "task")
        own = (*params, "here")
        names = {n: fresh(f"{n}_{array}", self.taken) for n in own} | self.own
        passed, total = "", ""
        for loop in walk:
            assert isinstance(loop.iter, ast.Call)
            *lo, hi = map(ast.unparse, loop.iter.args)
            length = f"({hi} - ({lo[0]}))" if lo else f"({hi})"
            here = f"({_id(loop.target)} - ({lo[0]}))" if lo else _id(loop.target)
            passed = f"({passed}) * {length} + {here}" if passed else here
            total = f"{total} * {length}" if total else length
        lines = _ALONG.format(passed=passed, total=total, least=LEAST, **names)
        walk[-1].body += self.parsed(lines)
        row.args.args += [ast.arg(names[n]) for n in params]

    def hand_on(
        self, arrays: Sequence[str], drivers: dict[str, list[tuple[int, str]]]
    ) -> None:
        """New parameters of the functions above the loops, and what makes digests."""
        words = [fresh(f"words_{a}", self.taken) for a in arrays]
        for function in (self.entry, self.outer):
            function.args.args += [ast.arg(w) for w in (*words, self.sums)]
        for call in _calls(self.outer):
            if isinstance(call.func, ast.Name) and call.func.id == self.entry.name:
                call.args += [ast.Name(w) for w in (*words, self.sums)]
        for call in self.drivers:
            assert isinstance(call.func, ast.Name)
            places = [place for place, _ in drivers.get(call.func.id, ())]
            if places:
                call.args += [ast.Name(words[k]) for k in places]
                call.args.append(ast.Name(self.sums))
        first = self.tree.body.index(next(iter(self.functions.values())))
        self.tree.body[first:first] = self.parsed(f"{BLOCKS}\n\n{_SHARE}")

    def values(self, text: str) -> list[ast.expr]:
        """The expressions of a line with commas between them."""
        (line,) = self.parsed(text)
        assert isinstance(line, ast.Expr) and isinstance(line.value, ast.Tuple)
        return line.value.elts

    def parsed(self, text: str) -> list[ast.stmt]:
        """Statements that call the functions of this file by their names here."""
        for name, own in self.own.items():
            text = re.sub(rf"\b{name}\b", own, text)
        return ast.parse(text).body


def _calls(tree: ast.stmt) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node


def _id(tree: ast.AST) -> str:
    return tree.id if isinstance(tree, ast.Name) else ""


def _subscripts(node: ast.AST, array: str) -> list[ast.expr]:
    """Those of an element of an array, or none if `node` is not one."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=k) if name == array:
            return k.elts if isinstance(k, ast.Tuple) else [k]
    return []


def _names(tree: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def _targets(block: Sequence[ast.stmt]) -> list[ast.expr]:
    return [t for s in block if isinstance(s, ast.Assign) for t in s.targets]


@dataclass
class _Uses:
    """The subscripts with which an array is read, and what the ranges of loop indices
    and the values of scalars mention, by their names.
    """

    subscripts: list[list[ast.expr]]
    ranges: dict[str, set[str]]
    scalars: dict[str, set[str]]

    def note(self, function: ast.FunctionDef, array: str) -> None:
        for node in ast.walk(function):
            match node:
                case ast.Subscript():
                    found = _subscripts(node, array)
                    self.subscripts += [found] if found else []
                case ast.For(target=ast.Name(id=name), iter=value):
                    self.ranges.setdefault(name, set()).update(_names(value))
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.scalars.setdefault(name, set()).update(_names(value))

    def follow(self, subscripts: Sequence[ast.expr], indices: Sequence[str]) -> bool:
        """Does each subscript, from the first on, depend on one index after another?

        Through the range of a loop inside only at the last: that loop would come before
        the index of the next axis.
        """
        pairs = [*zip(subscripts, indices, strict=False)]
        for k, (subscript, index) in enumerate(pairs):
            todo, seen = _names(subscript), set[str]()
            while todo and index not in seen:
                name = todo.pop()
                seen.add(name)
                todo |= self.scalars.get(name, set()) - seen
                if k == len(pairs) - 1:
                    todo |= self.ranges.get(name, set()) - seen
            if index not in seen:
                return False
        return True


def _loops(function: ast.FunctionDef) -> list[ast.For]:
    return [s for s in function.body if isinstance(s, ast.For)]


def _how(function: ast.FunctionDef) -> str:
    """The options by which a function is compiled, by their name."""
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(keywords=[ast.keyword(value=ast.Name(id=how))]):
                return how
    return ""
