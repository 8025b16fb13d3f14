"""What the picture of a program shows: its names, their values' way, and the scopes.

Every array and every scalar that outlives straight-line code is a node under the user's
name; loops, branches and inlined functions are boxes. Inside straight-line code the
nodes are those of `adjoint.elimination.LocalGraph`, before or after elimination; an
edge there is a partial derivative, and dashed where none passes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyrev.adjoint.elimination import (
    Eliminated,
    LocalGraph,
    Pair,
    Run,
    Vertex,
    eliminate,
    local_graph,
    runs,
)
from pyrev.ir.dtypes import infer, is_float
from pyrev.ir.nodes import (
    NOWHERE,
    Add,
    Alloc,
    Assign,
    Block,
    Const,
    Expr,
    For,
    If,
    Load,
    Loc,
    Program,
    Return,
    Stmt,
    Var,
    While,
    blocks,
    exprs,
    loop_indices,
    map_expr,
    names,
    walk,
    walk_expr,
)
from pyrev.ir.printer import write
from pyrev.ir.simplify import number
from pyrev.ir.text import array_ranks, expr_text, proof_text, range_tree, stmt_tree
from pyrev.parse.source import Inlined
from pyrev.report.draw.dot import Graph
from pyrev.report.draw.graphs import Cluster, Edge, Node

RESULT = "return"  # the node of what is returned; no variable can have its name
LONG = 44  # characters of a label
LONGEST = 60  # parts of a partial that is written out
NAMELESS = Var("·")  # stands for a value that has no name

INPUT = {"shape": "box", "style": "filled", "fillcolor": "#d7e6f5"}
WRITTEN = {"shape": "box", "style": "filled", "fillcolor": "#fbd9c0"}
ARRAY = {"shape": "box"}
SCALAR = {"shape": "ellipse"}
ACCESS = {"shape": "box", "style": "rounded"}
OPERATION = {"shape": "plaintext"}
DECISION = {"shape": "diamond", "style": "dashed"}
THIN = {"color": "gray50", "arrowhead": "empty"}
NO_DERIVATIVE = {"style": "dashed", "color": "gray50"}


def dataflow(
    program: Program,
    what: str,
    simplified: bool,
    sources: Mapping[str, Sequence[str]],
    helpers: Sequence[Inlined] = (),
) -> Graph:
    """The picture of `program`, titled `what`; `simplified` is after elimination.

    Law: the text depends on nothing but the arguments, and every array that the
    program writes has an edge that comes in.
    """
    return _Picture(program, simplified, sources, helpers).drawn(what)


class _Picture:
    def __init__(
        self,
        program: Program,
        simplified: bool,
        sources: Mapping[str, Sequence[str]],
        helpers: Sequence[Inlined],
    ) -> None:
        self.program = program
        self.params = {p.name: p for p in program.params}
        self.ranks = {p.name: p.rank for p in program.params if p.rank}
        self.ranks |= array_ranks(program.body)
        #: The program with its results as scalars, and where returned arrays go.
        self.body, self.returned = _with_results(program.body, self.ranks)
        self.simplified, self.sources, self.helpers = simplified, sources, helpers
        self.changed = {
            s.target_name for s in walk(self.body) if isinstance(s, (Assign, Add))
        }
        self.silent = loop_indices(self.body) - self.changed
        kinds = infer(replace(program, body=self.body))
        self.active = frozenset(n for n, kind in kinds.items() if is_float(kind))
        parameters = ", ".join(p.name for p in program.params)
        self.whole = Cluster(f"def {program.name}({parameters})")
        self.edges: list[Edge] = []
        self.drawn_edges: set[tuple[str, ...]] = set()
        #: The boxes of loops and branches, by the statement's identity.
        self.boxes: dict[int, Cluster] = {}
        self.count = self.before = self.after = self.multiplications = 0
        #: Where each variable occurs: the boxes around all of its uses.
        self.homes: dict[str, tuple[Cluster, ...]] = {}
        self.first: dict[str, Loc] = {p.name: p.loc for p in program.params}
        self.uses: dict[str, set[int]] = {}
        self.allocs: dict[str, Alloc] = {}

    # ---------------------------------------------------------------- the frame

    def drawn(self, what: str) -> Graph:
        plan = self.plan(self.body, (self.whole,))
        shown = [n for n in self.homes if self.outlives(n)]
        nodes: list[tuple[Cluster, Node]] = []
        for name in shown:
            nodes.append((self.homes[name][-1], self.variable(name)))
        self.count = 0
        for step in plan:
            self.step(step)
        met = {end for e in self.edges for end in (e.source, e.target)}
        for cluster, node in reversed(nodes):
            if node.name in met or node.name in self.params:
                cluster.nodes.insert(0, node)
        title = f"{what}\n{self.counted()}"
        return Graph(self.program.name, title, _kept(self.whole), self.edges)

    def counted(self) -> str:
        many = "partial derivatives" if self.before != 1 else "partial derivative"
        products = "products" if self.multiplications != 1 else "product"
        return (
            f"{self.before} {many}, {self.after} after elimination"
            f" ({self.multiplications} {products})"
        )

    def plan(
        self, block: Block, inside: tuple[Cluster, ...]
    ) -> list[tuple[tuple[Cluster, ...], Run | Stmt]]:
        """The runs and other statements in order, each with the boxes around it."""
        found: list[tuple[tuple[Cluster, ...], Run | Stmt]] = []
        ready = iter(runs(block))
        k = 0
        while k < len(block):
            stmt = block[k]
            if isinstance(stmt, (Assign, Add)):
                run = next(ready)
                k += len(run)
                found.append((inside, run))
                self.met(run, inside)
                continue
            k += 1
            found.append((inside, stmt))
            self.met((stmt,), inside)
            for part, label in zip(blocks(stmt), _titles(stmt), strict=True):
                if part:
                    box = Cluster(label, proof_text(getattr(stmt, "parallel", None)))
                    inside[-1].inner.append(box)
                    self.boxes.setdefault(id(stmt), box)
                    found += self.plan(part, (*inside, box))
        return found

    def met(self, run: Block, inside: tuple[Cluster, ...]) -> None:
        """Note where the variables of a run, or of one other statement, occur."""
        self.count += 1
        for s in run:
            self.occurs(exprs(s), s.loc, inside)
            match s:
                case Alloc(array):
                    self.allocs.setdefault(array, s)
                    self.occur(array, s.loc, inside)
                    for source in s.sources:
                        self.occur(source, s.loc, inside)
                case For(index) | While(index=index):
                    self.occur(index, s.loc, inside)  # it may be assigned to, too
                case Return():
                    for name in self.returned.values():
                        self.occur(name, s.loc, inside)

    def occurs(
        self, found: Sequence[Expr], loc: Loc, inside: tuple[Cluster, ...]
    ) -> None:
        for top in found:
            for e in walk_expr(top):
                if isinstance(e, Var):
                    self.occur(e.name, loc, inside)
                elif isinstance(e, Load):
                    self.occur(e.array, loc, inside)

    def occur(self, name: str, loc: Loc, inside: tuple[Cluster, ...]) -> None:
        if name in self.silent:
            return
        self.first.setdefault(name, loc)
        self.uses.setdefault(name, set()).add(self.count)
        if name in self.params or is_result(name):
            inside = inside[:1]
        known = self.homes.get(name, inside)
        shared = [a for a, b in zip(known, inside, strict=False) if a is b]
        self.homes[name] = tuple(shared)

    def outlives(self, name: str) -> bool:
        """Has a name a node of its own, or is it a value of one run?"""
        if name in self.ranks or name in self.params or is_result(name):
            return True
        return len(self.uses[name]) > 1

    # ---------------------------------------------------------------- nodes

    def variable(self, name: str) -> Node:
        loc = self.first[name]
        label, style = name, SCALAR
        if is_result(name):
            style = {"shape": "ellipse", "peripheries": "2"}
        elif name in self.params:
            style = WRITTEN if name in self.changed and name in self.ranks else INPUT
        elif name in self.allocs:
            style = ARRAY
            label = write(stmt_tree(self.allocs[name], self.ranks, _nothing)).text
        elif name in self.ranks:
            style = ARRAY
        where = f"\nline {loc.line}" if loc != NOWHERE else ""
        attributes = {"label": f"{_short(label)}{where}", "tooltip": self.quote(loc)}
        return Node(name, {**attributes, **style})

    def quote(self, loc: Loc) -> str:
        """The user's line."""
        if loc == NOWHERE:
            return ""
        text = self.sources.get(loc.file, ())
        line = text[loc.line - 1].strip() if 0 < loc.line <= len(text) else ""
        return f"{loc.place}: {line}".rstrip(": ")

    def place(
        self, inside: tuple[Cluster, ...], loc: Loc, attributes: Mapping[str, str]
    ) -> str:
        """A new node without a name, in its scope."""
        self.count += 1
        name = str(self.count)
        box = inside[-1]
        helper = next((h for h in self.helpers if h.holds(loc)), None)
        if helper is not None:
            title = f"{helper.name}(...)"
            if not box.inner or box.inner[-1].label != title:
                box.inner.append(Cluster(title))
            box = box.inner[-1]
        box.nodes.append(Node(name, {**attributes, "tooltip": self.quote(loc)}))
        return name

    def arrow(self, source: str, target: str, attributes: Mapping[str, str]) -> None:
        key = (source, target, *attributes, *attributes.values())
        if key not in self.drawn_edges:
            self.drawn_edges.add(key)
            self.edges.append(Edge(source, target, attributes))

    # ---------------------------------------------------------------- statements

    def step(self, step: tuple[tuple[Cluster, ...], Run | Stmt]) -> None:
        inside, what = step
        match what:
            case tuple():
                self.run(inside, what)
            case Alloc(array, shape, fill):
                label = {"label": "copy"}
                if what.opaque is not None:
                    label = {"label": what.opaque.function}
                    self.reads(what.opaque.numbers, array, label)
                for source in what.sources:
                    self.arrow(source, array, label)
                self.reads([] if fill is None else [fill], array, {"label": "fill"})
                if not self.simplified:
                    self.reads(shape, array, NO_DERIVATIVE)
            case If(test):
                self.decision(inside, what, [test], f"if {expr_text(test)}")
            case While(test):
                bounds = [what.lo, what.hi, what.step] if what.index else []
                text = f"while {expr_text(test)}"
                self.decision(inside, what, [test, *bounds], text)
            case For():
                text = write(range_tree(what)).text
                self.decision(inside, what, [what.lo, what.hi, what.step], text)
            case Return(values):
                for v in values:
                    assert isinstance(v, Var)
                    self.arrow(v.name, self.returned[v.name], THIN)

    def decision(
        self,
        inside: tuple[Cluster, ...],
        stmt: If | For | While,
        tests: Sequence[Expr],
        text: str,
    ) -> None:
        """A node for what data decides, in the box of what it decides about."""
        read = {n for t in tests for n in names(t)} & set(self.homes)
        # Sizes and integers that were given are no data: the title says it all.
        if self.simplified or not any(
            n in self.ranks or n not in self.params for n in read
        ):
            return
        scope = (*inside, self.boxes[id(stmt)]) if id(stmt) in self.boxes else inside
        attributes = {"label": _short(text), **DECISION}
        self.reads(tests, self.place(scope, stmt.loc, attributes), NO_DERIVATIVE)

    def reads(
        self, found: Sequence[Expr], target: str, attributes: Mapping[str, str]
    ) -> None:
        """Arrows from all that some expressions read."""
        for top in found:
            for e in walk_expr(top):
                match e:
                    case Load(array):
                        own = {"label": _subscripts(e), **attributes}
                        self.arrow(array, target, {**attributes, **own})
                    case Var(name) if name in self.homes:
                        self.arrow(name, target, attributes)

    # ---------------------------------------------------------------- runs

    def run(self, inside: tuple[Cluster, ...], run: Run) -> None:
        live = frozenset(
            s.target_name
            for s in run
            if isinstance(s.target, Var) and self.outlives(s.target_name)
        )
        graph = local_graph(run, self.active, live, self.silent)
        done = eliminate(graph)
        self.before += len(graph.edges)
        self.after += len(done.edges)
        self.multiplications += done.multiplications
        weights = {pair: _weight(e) for pair, e in graph.edges.items()}
        uses = graph.uses
        if self.simplified:
            weights = {pair: _whole(done, pair) for pair in done.edges}
            uses = frozenset()
        met = {k for pair in (*weights, *uses) for k in pair}
        nodes: dict[int, str] = {}
        for k, v in enumerate(graph.vertices):
            stays = k in met or v.kind == "output"
            if stays and not (self.simplified and v.kind == "operation"):
                nodes[k] = self.vertex(inside, graph, v, run[v.at])
        for (i, j), weight in sorted(weights.items(), key=lambda e: e[0][::-1]):
            self.arrow(nodes[i], nodes[j], weight)
        for i, j in sorted(uses, key=lambda e: e[::-1]):
            if (i, j) not in weights:
                self.arrow(nodes[i], nodes[j], NO_DERIVATIVE)

    def vertex(
        self,
        inside: tuple[Cluster, ...],
        graph: LocalGraph,
        v: Vertex,
        stmt: Assign | Add,
    ) -> str:
        """The node of a vertex: a variable, an access or an operation."""
        match v.kind, v.place:
            case (("input" | "output"), Var(name)):
                return name
            case "input", Load(array):
                node = self.place(inside, v.loc, {"label": _access(v), **ACCESS})
                self.arrow(array, node, THIN)
                return node
            case "output", Load(array):
                sign = " +=" if isinstance(stmt, Add) else " ="
                label = f"{_access(v)}{sign}"
                if isinstance(v.value, Const):
                    label = f"{label} {expr_text(v.value)}"
                label = f"{label}\nline {stmt.loc.line}"
                node = self.place(inside, v.loc, {"label": label, **ACCESS})
                self.arrow(node, array, THIN)
                return node
            case _, place:
                text = _sketch(v, graph)
                style = OPERATION
                if isinstance(place, Var) and not is_result(place.name):
                    style = SCALAR
                    head = f"{place.name} = {text}" if text else place.name
                    text = f"{_short(head)}\nline {stmt.loc.line}"
                else:
                    text = _short(text)
                return self.place(inside, v.loc, {"label": text, **style})


# ------------------------------------------------------------------ texts


def is_result(name: str) -> bool:
    """Does a name stand for what is returned?"""
    return name == RESULT or name.startswith(f"{RESULT} [")


def _short(text: str) -> str:
    flat = _flat(text)
    return flat if len(flat) <= LONG else f"{flat[: LONG - 3].rstrip()}..."


def _nothing(block: Block) -> list[ast.stmt]:
    """What stands for the blocks of a statement of which only the head is shown."""
    return []


def _flat(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def _subscripts(e: Load) -> str:
    return expr_text(e).removeprefix(e.array)


def _access(v: Vertex) -> str:
    assert v.place is not None
    return _short(expr_text(v.place))


def _sketch(v: Vertex, graph: LocalGraph) -> str:
    """An operation by the names of its operands: ``a * ·`` for ``a[i] * (b + c)``."""
    if v.operation is None:
        return ""

    def operand(arg: Expr, k: int | None) -> Expr:
        nameless = k is not None and graph.vertices[k].place is None
        return NAMELESS if nameless else map_expr(arg, _name_of)

    operands = v.operands or (None,) * len(v.operation.args)
    args = tuple(map(operand, v.operation.args, operands))
    return expr_text(replace(v.operation, args=args))


def _name_of(e: Expr) -> Expr:
    """An element by the name of its array."""
    return Var(e.array) if isinstance(e, Load) else e


def _weight(partial: Expr) -> dict[str, str]:
    """What stands at an edge: nothing where the derivative is one."""
    if number(partial) == 1:
        return {}
    text = _flat(expr_text(partial))
    short = _short(text)
    return {"label": short, "tooltip": text if text != short else ""}


def _whole(done: Eliminated, pair: Pair) -> dict[str, str]:
    """What stands at an edge that is left: the partial, or how to get it."""
    whole = done.expanded(pair, LONGEST)
    if whole is not None:
        return _weight(whole)
    needed = set(names(done.edges[pair]))
    steps: list[str] = []
    for name, e in reversed(done.steps):
        if name in needed:
            needed |= names(e)
            steps.insert(0, f"{name} = {_flat(expr_text(e))}")
    last = steps[-1].partition(" = ")[2]
    return {"label": _short(last), "tooltip": "\n".join(steps)}


def _titles(stmt: Stmt) -> tuple[str, ...]:
    """What is written over the boxes of a statement's blocks."""
    match stmt:
        case If(test):
            return f"if {expr_text(test)}", f"else (of if {expr_text(test)})"
        case For() | While():
            bare = replace(stmt, body=())
            first = write(stmt_tree(bare, {}, _nothing)).text.split("\n")[0]
            note = f"\n{stmt.note}" if stmt.note else ""
            return (f"{first.rstrip(':')}{note}",)
        case _:
            return ()


# ------------------------------------------------------------------ programs


def _with_results(
    body: Block, ranks: Mapping[str, int]
) -> tuple[Block, dict[str, str]]:
    """The block with an assignment to its result for each number that is returned, and
    what the result is called that a returned array becomes.
    """
    if not body or not isinstance(body[-1], Return):
        return body, {}
    last = body[-1]
    made: list[Stmt] = []
    arrays: dict[str, str] = {}
    for k, value in enumerate(last.values):
        name = RESULT if last.single else f"{RESULT} [{k}]"
        if isinstance(value, Var) and value.name in ranks:
            arrays[value.name] = name
        else:
            made.append(Assign(Var(name), value, loc=last.loc))
    kept = tuple(Var(n) for n in arrays)
    rest = (replace(last, values=kept),) if kept else ()
    return (*body[:-1], *made, *rest), arrays


def _kept(c: Cluster) -> Cluster:
    """The box without boxes in which there is nothing."""
    inner = [k for k in map(_kept, c.inner) if k.nodes or k.inner]
    return Cluster(c.label, c.tooltip, c.nodes, inner)
