"""Which integer expressions are polyhedral, and what ISL says about them, by name.

The only file that imports islpy. An integer expression of the IR becomes *cases*:
formulas over named integers and a term for each, or None where it is opaque (it reads
an array, or multiplies two unknowns). Whoever asks must treat None as "any value". ISL
answers under one lock and within a budget of operations; beyond the budget the answer
is "unknown", which every caller takes for the unfavourable one.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple, TypeVar

from pyrev.analysis.conjuncts import Part, disjuncts, independent
from pyrev.analysis.loop_trees import Instance, Reader, Unknown
from pyrev.ir.affine import integer
from pyrev.ir.liveness import found_places
from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import (
    FALSE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Load,
    Stmt,
    Var,
    While,
    blocks,
    exprs,
    walk_expr,
)

# Nothing works without it, so that `import pyrev` says it; it is loaded when asked.
if importlib.util.find_spec("islpy") is None:
    raise ImportError(
        "pyrev needs islpy, the integer set library, which is not installed here: "
        "`python -m pip install islpy` on Linux and macOS. For Windows there is no "
        "wheel of it: `conda install -c conda-forge islpy`, or Python in WSL.",
        name="islpy",
    )

_T = TypeVar("_T")
_LOCK = threading.RLock()
_BUDGET = 3_000_000
_context: Any = None
#: What ISL has answered, in this process or before, by the digest of the question.
_empty_answers: dict[str, bool] = {}
#: What it answered in this process about parts of them, None where it gave up.
_part_answers: dict[tuple[str, int], bool | None] = {}
_MOST = 1 << 18  # answers
_noted: list[set[str]] = []
_seconds = 0.0

TRUE_TEXT = "true"


class Case(NamedTuple):
    """Where `when` holds, the expression equals `term`; both are ISL text."""

    when: str
    term: str


# ------------------------------------------------------------------ asking ISL


def _isl() -> Any:
    """islpy's module, with our context in place."""
    global _context
    import islpy

    if _context is None:
        _context = islpy.Context()
        # Parts of one element are added one after the other: `elif` would hide that.
        _context.set_ast_build_allow_else(0)
    return islpy


def _ask(question: Callable[[Any, Any], _T], budget: int = _BUDGET) -> _T:
    """Run `question(islpy, context)` under the lock and within the budget."""
    global _seconds
    with _LOCK:
        isl = _isl()
        _context.set_max_operations(budget)
        _context.reset_operations()
        start = time.perf_counter()
        try:
            return question(isl, _context)
        except isl.Error as error:
            _context.resume()
            raise Unknown(str(error)) from None
        finally:
            _seconds += time.perf_counter() - start


def seconds_asked() -> float:
    """How long ISL has worked in this process."""
    return _seconds


def conj(parts: Iterable[str]) -> str:
    """The conjunction of formulas."""
    kept = [p for p in parts if p != TRUE_TEXT]
    if len(kept) < 2:
        return kept[0] if kept else TRUE_TEXT
    return " and ".join([f"({p})" for p in kept])


def disj(parts: Iterable[str]) -> str:
    """The disjunction of formulas."""
    kept = list(parts)
    if len(kept) < 2:
        return kept[0] if kept else "false"
    return " or ".join([f"({p})" for p in kept])


def negated(formula: str) -> str:
    """The negation of a formula."""
    return f"not ({formula})"


def some(variables: Sequence[str], formula: str) -> str:
    """That there are integers of these names which satisfy `formula`."""
    return f"exists ({', '.join(variables)} : {formula})" if variables else formula


def is_empty(
    space: Space, variables: Sequence[str], formula: str, budget: int = _BUDGET
) -> bool:
    """Is it proven that no integers satisfy `formula`? (False also when unknown.)"""
    context = space.context()
    whole = f"({formula}) and {context}" if context else formula
    text = f"{space.header()}{{ [{', '.join(variables)}] : {whole} }}"
    asked = text if budget == _BUDGET else f"{budget}: {text}"
    key = hashlib.blake2b(asked.encode(), digest_size=12).hexdigest()
    for keys in _noted:
        keys.add(key)
    if (known := _empty_answers.get(key)) is not None:
        return known
    answer, parameters = False, [*space.params()]
    for part in independent([formula, context] if context else [formula]):
        with contextlib.suppress(Unknown):
            answer = answer or _part_is_empty(part, parameters, variables, budget)
    if len(_empty_answers) > _MOST:
        _empty_answers.clear()
    _empty_answers[key] = answer
    return answer


def _part_is_empty(
    part: Part,
    parameters: Sequence[str],
    variables: Sequence[str],
    budget: int = _BUDGET,
) -> bool:
    """Do no integers satisfy this part? Raises `Unknown` if ISL gives up."""
    used = [p for p in parameters if p in part.names]
    before = f"[{', '.join(used)}] -> " if used else ""
    inside = ", ".join(v for v in variables if v in part.names)
    text = f"{before}{{ [{inside}] : {conj(part.conjuncts)} }}"
    key = text, budget
    if key not in _part_answers:
        if len(_part_answers) > _MOST:
            _part_answers.clear()
        try:
            _part_answers[key] = _ask(
                lambda isl, ctx: bool(isl.Set.read_from_str(ctx, text).is_empty()),
                budget,
            )
        except Unknown:
            _part_answers[key] = None
    answer = _part_answers[key]
    if answer is None:
        raise Unknown("too many operations")
    return answer


@contextlib.contextmanager
def noted() -> Iterator[set[str]]:
    """The digests of the questions that `is_empty` is asked in the meantime."""
    keys: set[str] = set()
    _noted.append(keys)
    try:
        yield keys
    finally:
        _noted.pop()


def answers(keys: Iterable[str]) -> dict[str, bool]:
    """What is known of these questions."""
    return {k: _empty_answers[k] for k in sorted(keys) if k in _empty_answers}


def recall(known: Mapping[str, bool]) -> None:
    """Take the `answers` of another process: to equal questions they are the same."""
    _empty_answers.update(known)


# ------------------------------------------------------------------ expressions to text


def integer_names(block: Block) -> frozenset[str]:
    """The scalars that `block` uses as subscripts, bounds or sizes: they are integers.

    >>> from pyrev.parse import parse_block
    >>> sorted(integer_names(parse_block("for i in range(n):\\n    a[i + k] = t")))
    ['i', 'k', 'n']
    """
    found: set[str] = set()
    indices: set[str] = set()
    assigned: set[str] = set()
    for s in block:
        used, index, own = _integers(s)
        found |= used
        indices |= index
        assigned |= own
    # An index that is also assigned elsewhere may hold a float there.
    return frozenset(found | (indices - assigned))


def known_numbers(block: Block) -> frozenset[str]:
    """`integer_names` of a whole program, and with brackets behind them the arrays of
    integers that are never alike: the places of elements (`Alloc`).

    >>> from pyrev.parse import parse_block
    >>> sorted(known_numbers(parse_block("for i in range(n):\\n    p[i] = 1.0")))
    ['i', 'n']
    """
    return integer_names(block) | {*map(unlike_name, found_places(block))}


def unlike_name(array: str) -> str:
    """What stands for an array of unlike integers among `known_numbers`."""
    return f"{array}[]"


@by_identity
def _integers(s: Stmt) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """What `s` uses as an integer, its loop indices, and the scalars it assigns."""
    found: set[str] = set()
    indices: set[str] = set()
    assigned: set[str] = set()

    def integral(e: Expr) -> None:
        match e:
            case Var(name):
                found.add(name)
            case Call("+" | "-" | "*" | "//" | "%" | "neg" | "min" | "max", args):
                for a in args:
                    integral(a)
            case Call("where", (_, a, b)):
                integral(a)
                integral(b)

    own: tuple[Expr, ...] = ()
    if isinstance(s, (For, While)) and s.index:
        indices.add(s.index)
        own = s.lo, s.hi, s.step
    elif isinstance(s, Alloc):
        own = s.shape
    elif isinstance(s, (Assign, Add)) and isinstance(s.target, Var):
        assigned.add(s.target.name)
    for e in own:
        integral(e)
    for top in exprs(s):
        for e in walk_expr(top):
            if isinstance(e, Load):
                for k in e.index:
                    integral(k)
    for inner in blocks(s):
        for t in inner:
            used, index, made = _integers(t)
            found |= used
            indices |= index
            assigned |= made
    return frozenset(found), frozenset(indices), frozenset(assigned)


_COMPARE = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "!="}
_MAX_CASES = 16


@dataclass
class Space:
    """The integers of one question: parameters on demand, names kept apart from ISL's.

    `integers` are the scalars known to hold integers; `changing` are the names that the
    region writes, which are no parameters; `remade` are the arrays that have more
    than one shape in it.
    """

    integers: frozenset[str]
    changing: frozenset[str]
    remade: frozenset[str] = frozenset()
    assumed: tuple[str, ...] = ()
    _params: dict[Expr, str] = field(default_factory=dict)

    def header(self) -> str:
        """The ISL text that declares the parameters met so far."""
        return f"[{', '.join(self._params.values())}] -> " if self._params else ""

    def context(self) -> str:
        """What is known about the parameters: extents are not negative."""
        known = [f"{p} >= 0" for e, p in self._params.items() if isinstance(e, Extent)]
        return " and ".join([*known, *(f"({a})" for a in self.assumed)])

    def params(self) -> dict[str, Expr]:
        """The expression behind each ISL parameter."""
        return {name: e for e, name in self._params.items()}

    def _param(self, e: Var | Extent) -> str:
        return self._params.setdefault(e, f"p{len(self._params)}")

    def cases(
        self, e: Expr, env: Mapping[str, str], within: str = TRUE_TEXT
    ) -> tuple[Case, ...] | None:
        """`e` as cases over the ISL names in `env`, or None where it is opaque.

        `within` is a formula known to hold, which decides ``a % n`` for an unknown n.
        """
        found = self._cases(e, env, within)
        return None if found is None or len(found) > _MAX_CASES else found

    def _cases(
        self, e: Expr, env: Mapping[str, str], within: str
    ) -> tuple[Case, ...] | None:
        match e:
            case Const(bool()):
                return None
            case Const(int(value)):
                return (Case(TRUE_TEXT, str(value) if value >= 0 else f"({value})"),)
            case Var(name) if name in env:
                return (Case(TRUE_TEXT, env[name]),)
            case Var(name) if name in self.integers and name not in self.changing:
                return (Case(TRUE_TEXT, self._param(e)),)
            case Extent(array) if array not in self.remade:
                return (Case(TRUE_TEXT, self._param(e)),)
            case Call("neg", (a,)):
                return self._each(lambda t: f"(-{t})", (a,), env, within)
            case Call("+" | "-" as op, (a, b)):
                return self._each(lambda s, t: f"({s} {op} {t})", (a, b), env, within)
            case Call("*", (a, b)):
                if (k := integer(a)) is not None:
                    return self._each(lambda t: f"({k} * {t})", (b,), env, within)
                if (k := integer(b)) is not None:
                    return self._each(lambda t: f"({k} * {t})", (a,), env, within)
                return None
            case Call("//" | "%" as op, (a, b)):
                return self._divide(op, a, b, env, within)
            case Call("min" | "max" as op, args):
                return self._extreme(op, args, env, within)
            case Call("abs", (a,)):
                return self._branch(
                    Call(">=", (a, ZERO)), a, Call("neg", (a,)), env, within
                )
            case Call("where", (test, a, b)):
                return self._branch(test, a, b, env, within)
            case _:
                return None

    def _each(
        self,
        join: Callable[..., str],
        args: tuple[Expr, ...],
        env: Mapping[str, str],
        within: str,
    ) -> tuple[Case, ...] | None:
        parts = []
        for a in args:
            found = self._cases(a, env, within)
            if found is None:
                return None
            parts.append(found)
        return tuple(
            Case(conj(c.when for c in combo), join(*(c.term for c in combo)))
            for combo in product(*parts)
        )

    def _divide(
        self, op: str, a: Expr, b: Expr, env: Mapping[str, str], within: str
    ) -> tuple[Case, ...] | None:
        if (k := integer(b)) is not None:
            if k == 0:
                return None
            sign = "" if k > 0 else "-"
            if op == "//":
                return self._each(
                    lambda t: f"floor(({sign}{t}) / {abs(k)})", (a,), env, within
                )
            return self._each(
                lambda t: f"({sign}(({sign}{t}) mod {abs(k)}))", (a,), env, within
            )
        dividends = self._cases(a, env, within)
        divisors = self._cases(b, env, within)
        if dividends is None or divisors is None or len(divisors) != 1:
            return None
        ((_, n),) = divisors
        result: list[Case] = []
        for when, t in dividends:
            outside = negated(f"0 < {n} and -{n} <= {t} and {t} < 2 * {n}")
            if not self.excluded(env, conj((within, when, outside))):
                return None
            for q, cond in (
                (0, f"0 <= {t} and {t} < {n}"),
                (-1, f"{t} < 0"),
                (1, f"{t} >= {n}"),
            ):
                here = conj((when, cond))
                if self.excluded(env, conj((within, here))):
                    continue
                wrapped = t if q == 0 else f"({t} - {n})" if q == 1 else f"({t} + {n})"
                quotient = str(q) if q >= 0 else f"({q})"
                result.append(Case(here, wrapped if op == "%" else quotient))
        if len(result) == 1:
            result = [Case(TRUE_TEXT, result[0].term)]
        return tuple(result)

    def excluded(self, env: Mapping[str, str], formula: str) -> bool:
        """Is it proven that nothing over the names of `env` satisfies `formula`?"""
        return is_empty(self, sorted(set(env.values())), formula)

    def _extreme(
        self, op: str, args: tuple[Expr, ...], env: Mapping[str, str], within: str
    ) -> tuple[Case, ...] | None:
        first, *rest = args
        if not rest:
            return self._cases(first, env, within)
        *most, last = args
        a: Expr = most[0] if len(most) == 1 else Call(op, tuple(most))
        one, two = self._cases(a, env, within), self._cases(last, env, within)
        if one is None or two is None:
            return None
        better = "<=" if op == "min" else ">="
        result = []
        for (p, s), (q, t) in product(one, two):
            for cond, term in (
                (f"{s} {better} {t}", s),
                (negated(f"{s} {better} {t}"), t),
            ):
                here = conj((p, q, cond))
                if not self.excluded(env, conj((within, here))):
                    result.append(Case(here, term))
        return tuple(result)

    def _branch(
        self, test: Expr, a: Expr, b: Expr, env: Mapping[str, str], within: str
    ) -> tuple[Case, ...] | None:
        cond = self.formula(test, env, within)
        one, two = self._cases(a, env, within), self._cases(b, env, within)
        if cond is None or one is None or two is None:
            return None
        chosen = [Case(conj((cond, w)), t) for w, t in one]
        chosen += [Case(conj((negated(cond), w)), t) for w, t in two]
        return tuple(
            c for c in chosen if not self.excluded(env, conj((within, c.when)))
        )

    def formula(
        self, test: Expr, env: Mapping[str, str], within: str = TRUE_TEXT
    ) -> str | None:
        """`test` as an ISL formula, or None where it is opaque."""
        match test:
            case Const(True):
                return TRUE_TEXT
            case Const(False):
                return "false"
            case Call("and" | "or" as op, args):
                parts = [self.formula(a, env, within) for a in args]
                if any(p is None for p in parts):
                    return None
                known = [p for p in parts if p is not None]
                return conj(known) if op == "and" else disj(known)
            case Call("not", (a,)):
                inner = self.formula(a, env, within)
                return None if inner is None else negated(inner)
            case Call(op, (a, b)) if op in _COMPARE:
                one, two = self.cases(a, env, within), self.cases(b, env, within)
                if one is None or two is None:
                    return None
                return disj(
                    conj((p, q, f"{s} {_COMPARE[op]} {t}"))
                    for (p, s), (q, t) in product(one, two)
                )
            case _:
                return None

    def compare(
        self,
        name: str,
        op: str,
        e: Expr,
        env: Mapping[str, str],
        within: str = TRUE_TEXT,
    ) -> str | None:
        """The formula ``name op e``, or None where `e` is opaque."""
        found = self.cases(e, env, within)
        if found is None:
            return None
        return disj(conj((c.when, f"{name} {op} {c.term}")) for c in found)


# ------------------------------------------------------------------ pieces of a target


class Piece(NamedTuple):
    """A part of a statement's domain on which its target is one (quasi-)affine map.

    `target` gives, per subscript, the linear coefficients of the statement's variables
    whether it divides, and its constant if that is a number; `domain` and `mapping` are
    ISL text.
    """

    coefficients: tuple[tuple[int, ...], ...]
    divides: tuple[bool, ...]
    shifts: tuple[int | None, ...]
    domain: str
    mapping: str


def pieces(
    space: Space,
    name: str,
    variables: Sequence[str],
    formula: str,
    index: Sequence[str],
) -> tuple[Piece, ...]:
    """The pieces of the map ``name[variables] -> [index]`` where `formula` holds.

    `index` holds one formula per subscript that ties the ISL name ``t<k>`` to it.
    """
    outs = [f"t{k}" for k in range(len(index))]
    body = conj((formula, *index, *([space.context()] if space.context() else [])))
    text = (
        f"{space.header()}{{ {name}[{', '.join(variables)}] -> "
        f"[{', '.join(outs)}] : {body} }}"
    )

    def question(isl: Any, ctx: Any) -> tuple[Piece, ...]:
        found: list[Piece] = []
        function = isl.PwMultiAff.from_map(isl.Map.read_from_str(ctx, text)).coalesce()

        def visit(where: Any, what: Any) -> None:
            found.append(_piece(isl, where, what, len(variables)))

        function.foreach_piece(visit)
        return tuple(sorted(found, key=lambda p: (p.mapping, p.domain)))

    return _ask(question)


def _piece(isl: Any, where: Any, what: Any, arity: int) -> Piece:
    kinds = isl.dim_type
    rows: list[tuple[int, ...]] = []
    divides: list[bool] = []
    shifts: list[int | None] = []
    for k in range(what.dim(kinds.out)):
        aff = what.get_at(k)

        def column(kind: Any, width: int, aff: Any = aff) -> list[Any]:
            return [aff.get_coefficient_val(kind, v) for v in range(width)]

        row = column(kinds.in_, arity)
        other = column(kinds.div, aff.dim(kinds.div))
        whole = all(c.is_int() for c in row)
        divided = not whole or any(not c.is_zero() for c in other)
        symbolic = any(
            not c.is_zero() for c in column(kinds.param, what.dim(kinds.param))
        )
        constant = aff.get_constant_val()
        fixed = not divided and not symbolic and constant.is_int()
        rows.append(tuple(int(c.to_python()) if whole else 0 for c in row))
        divides.append(divided)
        shifts.append(int(constant.to_python()) if fixed else None)
    return Piece(
        tuple(rows), tuple(divides), tuple(shifts), str(where.coalesce()), str(what)
    )


# ------------------------------------------------------------------ code generation


class Timed(NamedTuple):
    """A statement for `generate`: where it runs and when.

    `domain` and `target` are ISL text: a set of ``name[variables]`` and a map from it
    to the first times. The other times are `rest`, ISL terms over the variables.
    """

    name: str
    variables: tuple[str, ...]
    domain: str
    target: str
    rest: tuple[str, ...]


def bounding_box(
    space: Space, name: str, targets: Sequence[tuple[str, str]], rank: int
) -> str | None:
    """The smallest box around the targets, as the domain of a statement `name`.

    `targets` are (domain, mapping) pairs. What bounds the parameters alone is left out:
    a larger box is as good, for its statement does nothing. None if no box is bounded.
    """

    def question(isl: Any, ctx: Any) -> str | None:
        kinds = isl.dim_type
        whole: Any = None
        for domain, mapping in targets:
            reached = isl.Set.read_from_str(ctx, domain).apply(
                isl.Map.read_from_str(ctx, mapping)
            )
            whole = reached if whole is None else whole.union(reached)
        box: Any = None
        for k in range(rank):
            side = whole.project_out(kinds.set, k + 1, rank - k - 1)
            side = side.project_out(kinds.set, 0, k).compute_divs().simple_hull()
            side = side.drop_constraints_not_involving_dims(kinds.set, 0, 1)
            one = isl.Set.from_basic_set(side)
            if not one.dim_has_lower_bound(kinds.set, 0):
                return None
            if not one.dim_has_upper_bound(kinds.set, 0):
                return None
            box = one if box is None else box.flat_product(one)
        return str(box.set_tuple_name(name))

    return _ask(question)


def relaxed(space: Space, name: str, s: Timed, depth: int) -> str:
    """The first `depth` times of `s` without divisibility, as the domain of `name`."""

    def question(isl: Any, ctx: Any) -> str:
        kinds = isl.dim_type
        domain = isl.Set.read_from_str(ctx, s.domain)
        target = isl.Map.read_from_str(ctx, s.target).intersect_domain(domain)
        text = f"{{ {s.name}[{', '.join(s.variables)}] -> [{', '.join(s.rest)}] }}"
        rest = isl.Map.read_from_str(ctx, text)
        times = target.flat_range_product(rest).range()
        times = times.project_out(kinds.set, depth, times.dim(kinds.set) - depth)
        return str(times.remove_divs().set_tuple_name(name))

    return _ask(question)


def generate(
    space: Space,
    statements: Sequence[Timed],
    names: Mapping[str, Sequence[str]],
    leaf: Callable[[Instance], Block],
    order: Sequence[str] = (),
) -> Block:
    """Loops that run every instance of `statements` once, in the order of their times.

    `names` gives, per statement, the loop index for each time dimension; `order` ranks
    names that already exist (outer indices first). Raises `Unknown` if ISL gives up.
    """

    def question(isl: Any, ctx: Any) -> Block:
        schedule = None
        for s in statements:
            domain = isl.Set.read_from_str(ctx, s.domain)
            target = isl.Map.read_from_str(ctx, s.target).intersect_domain(domain)
            rank = target.dim(isl.dim_type.out)
            # The target's subscripts become variables too, so that ISL says what each
            # of them is where it finds no need for a loop.
            pair = target.wrap().flatten().set_tuple_name(s.name).coalesce()
            outs = [f"t{k}" for k in range(rank)]
            text = (
                f"{{ {s.name}[{', '.join((*s.variables, *outs))}] -> "
                f"[{', '.join((*outs, *s.rest))}] }}"
            )
            time = isl.Map.read_from_str(ctx, text).intersect_domain(pair)
            one = isl.UnionMap.from_map(time)
            schedule = one if schedule is None else schedule.union(one)
        known = space.context() or TRUE_TEXT
        context = isl.Set.read_from_str(ctx, f"{space.header()}{{ : {known} }}")
        build = isl.AstBuild.from_context(context)
        depth = max(len(n) for n in names.values())
        ids = isl.IdList.alloc(ctx, depth)
        for k in range(depth):
            ids = ids.add(isl.Id.read_from_str(ctx, f"c{k}"))
        node = build.set_iterators(ids).node_from_schedule_map(schedule)
        arity = {s.name: len(s.variables) for s in statements}
        reader = Reader(isl, space.params(), names, arity, leaf, tuple(order))
        return reader.block(node, {})

    return _ask(question)


# ------------------------------------------------------------------ ranges


class Span(NamedTuple):
    """Between which numbers an integer lies, both included, where there is `some`."""

    some: Expr
    low: Expr
    high: Expr


def span(
    space: Space,
    variables: Sequence[str],
    formula: str,
    cases: Sequence[Case],
    fixed: Mapping[str, int],
    kept: Set[str],
) -> Span | None:
    """The range of a term of `cases` where `formula` holds, by the parameters `kept`.

    Others are `fixed` numbers, or any. None where there is no least or no greatest one.
    Raises `Unknown` if ISL gives up.
    """
    known = [space.context()] if space.context() else []
    value = disj(conj((c.when, f"v = {c.term}")) for c in cases)
    numbers = [f"{p} = {n}" for p, n in fixed.items()]
    inside = conj((formula, value, *known, *numbers))
    free = [p for p in space.params() if p not in kept]
    head = f"[{', '.join(p for p in space.params() if p in kept)}] -> "
    body = some([*free, *variables], inside)

    def question(isl: Any, ctx: Any) -> Span | None:
        values = isl.Set.read_from_str(ctx, f"{head}{{ [v] : {body} }}").coalesce()
        kind = isl.dim_type.set
        if not (values.dim_has_lower_bound(kind, 0) or values.is_empty()):
            return None
        if not (values.dim_has_upper_bound(kind, 0) or values.is_empty()):
            return None
        if values.is_empty():
            return Span(FALSE, ZERO, ZERO)
        build = isl.AstBuild.from_context(isl.Set.read_from_str(ctx, f"{head}{{ : }}"))
        reader = Reader(isl, space.params(), {}, {}, lambda _: (), ())
        low, high = values.dim_min(0).coalesce(), values.dim_max(0).coalesce()
        where = values.params().compute_divs().coalesce()
        return Span(
            reader.expr(build.expr_from_set(where), {}),
            reader.expr(build.expr_from_pw_aff(low), {}),
            reader.expr(build.expr_from_pw_aff(high), {}),
        )

    return _ask(question)


# ------------------------------------------------------------------ conditions


def exists(space: Space, variables: Sequence[str], formula: str) -> Expr:
    """A test of the parameters: are there integers that satisfy `formula`?

    Raises `Unknown` if ISL gives up.
    """
    known = space.context() or TRUE_TEXT
    parameters = [*space.params()]
    met: list[str] = []
    used: set[str] = set()
    for one in disjuncts(formula):
        parts = independent([one])
        apart = [p for p in parts if p.names.isdisjoint(parameters)]
        if any(_part_is_empty(p, (), variables) for p in apart):
            continue
        near = [p for p in parts if p not in apart]
        met.append(conj(c for p in near for c in p.conjuncts))
        used.update(*(p.names for p in near))
    variables = [v for v in variables if v in used]
    text = f"{space.header()}{{ [{', '.join(variables)}] : {disj(met)} }}"
    context = f"{space.header()}{{ : {known} }}"

    def question(isl: Any, ctx: Any) -> Expr:
        context_set = isl.Set.read_from_str(ctx, context)
        where = isl.Set.read_from_str(ctx, text).params().compute_divs()
        where = where.gist(context_set.params()).coalesce()
        if where.is_empty():
            return FALSE
        build = isl.AstBuild.from_context(context_set)
        reader = Reader(isl, space.params(), {}, {}, lambda _: (), ())
        return reader.expr(build.expr_from_set(where), {})

    return _ask(question)
