"""From a Python function to a program of the loop-nest IR, or a refusal.

`parse` reads a function object; `parse_text`, `parse_block` and `parse_expr` read text,
for tests and for the rule table.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import linecache
import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import FunctionType

import gast
import numpy as np

from pyrev.ir import nodes
from pyrev.ir.diagnostics import Finding, Findings, InternalError, UnsupportedError
from pyrev.parse import shapes
from pyrev.parse.annotated import annotated
from pyrev.parse.bindings import bindings, identifiers, nodes_of, parameters
from pyrev.parse.counted_once import counted_once
from pyrev.parse.counters import with_one_value, without_counters
from pyrev.parse.custom import Rule, rule_of
from pyrev.parse.draws import without_requests
from pyrev.parse.expression import parse_expr
from pyrev.parse.forms import Forms, Path
from pyrev.parse.functions import is_dtype
from pyrev.parse.grounds import Grounds, lookup
from pyrev.parse.guesses import decrements, increments
from pyrev.parse.joins import refuse_paths
from pyrev.parse.laid_out import written_flat
from pyrev.parse.lower import READERS, lower_statements
from pyrev.parse.no_function import no_function
from pyrev.parse.real_definitions import (
    check_parts,
    leaves,
    name_of_value,
    real_definition,
)
from pyrev.parse.results_or_none import values_or_none
from pyrev.parse.returned_views import lent
from pyrev.parse.rewriting.by_field.definitions import with_fields
from pyrev.parse.rewriting.complex_numbers.arguments import (
    maybe_complex,
    no_integers,
    pairs_in,
    surely_complex,
    without_pairs,
)
from pyrev.parse.rewriting.evaluated_once import evaluated_once
from pyrev.parse.rewriting.field_reads import guessed, stored_fields, used_fields
from pyrev.parse.rewriting.helper_texts import remembering
from pyrev.parse.rewriting.known_kinds import with_kinds
from pyrev.parse.rewriting.known_values import known_defaults, with_values
from pyrev.parse.rewriting.lists.literals import without_lists
from pyrev.parse.rewriting.made_texts import Lookup
from pyrev.parse.rewriting.maybe_returned import finding, with_found
from pyrev.parse.rewriting.returned_objects import Tracked, tracked, with_objects
from pyrev.parse.rewriting.structures.counted_tuples import with_lists_beside
from pyrev.parse.rewriting.structures.fields import with_functions, without_structures
from pyrev.parse.rewriting.structures.shapes import Shape, Structured, maybe
from pyrev.parse.rewriting.structures.tuple_turns import HELP, loops_left
from pyrev.parse.scopes import Capture, Runs
from pyrev.parse.settling import WALKS, Effort, Given, Settled, Text, settle
from pyrev.parse.shallow import shallow
from pyrev.parse.shapes import adapting, retype, with_meanings
from pyrev.parse.sizes import settle_sizes
from pyrev.parse.source import Source, Texts, default_values, plain, read
from pyrev.parse.streams import (
    STREAM,
    Drawing,
    Stream,
    may_be_stream,
    streams_in,
    with_streams,
)
from pyrev.parse.values import stored_in
from pyrev.parse.walk import Known, Walk
from pyrev.parse.without_axes import refuse_shared
from pyrev.runtime.error_boundary import GENERATED
from pyrev.runtime.stack_depth import deep

__all__ = [
    "Capture",
    "Grounds",
    "Parsed",
    "adapting",
    "parse",
    "parse_block",
    "parse_expr",
    "parse_text",
    "retype",
]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A function, read: its program, and what the program takes besides arguments."""

    program: nodes.Program
    captured: tuple[Capture | Runs, ...]
    callbacks: tuple[Capture, ...]
    #: What the program rests on, and the texts that it was read from.
    grounds: Grounds
    texts: Texts
    rules: tuple[Rule, ...]
    function: FunctionType
    signature: inspect.Signature
    #: The local values that have their own names in the program, each for one thing.
    own: tuple[str, ...] = ()
    #: Does this hold only before a call, whose arguments say what they are?
    lenient: bool = False
    #: The user's names of extents of parameters: array, axis, name.
    sizes: tuple[tuple[str, int, str], ...] = ()
    #: What was asked for: see `parse`.
    types: Mapping[str, tuple[int, str]] | None = None
    final: bool = True
    rolled: bool = False
    #: Does the body of a loop stand there several times, since names of arrays change
    #: places in it? Does somebody else know one of these?
    unrolled: bool = False
    foreign: bool = False
    #: What is said of the arguments, beside what they hold.
    forms: Forms = Forms()
    #: The parameters of the program by name, and where in the arguments they are.
    leaves: tuple[tuple[str, Path], ...] = ()
    #: What is returned, if that is a structure: the program returns what is in it.
    result: Shape | None = None
    #: The fields of each parameter that the text reads; None where it needs all.
    used: Mapping[str, Sequence[tuple[str, ...]] | None] = field(default_factory=dict)
    #: The fields of each parameter that the text may assign to.
    stored: Mapping[str, Set[str]] = field(default_factory=dict)
    #: What the function draws, and its reading with the requests for it; is it this?
    drawing: Drawing | None = None
    drawer: Parsed | None = None
    draws: bool = False
    #: The results that are parameters on some paths.
    objects: Tracked | None = None
    #: Is a counter told from the ends of a range, which may be integers of few bits?
    counted: bool = False


#: The ranks and dtypes of arguments by name, and of what is in them by its path.
Types = Mapping[str, tuple[int, str]] | Mapping[Path, tuple[int, str]]


@deep
def parse(
    f: object,
    types: Types | None = None,
    known: Sequence[Texts] = (),
    final: bool = True,
    rolled: bool = False,
    forms: Forms | None = None,
    guesses: int = 0,
    objects: Tracked | None = None,
) -> Parsed:
    """Read a function; `types` gives parameters, or what is in them by its path, the
    rank and dtype of actual arguments.

    The arguments of the calls it is read for have these `forms`. Where that is None,
    parameters whose defaults are None or texts are these, unless it has a meaning only
    for other values of them; and those of which fields are read are structures.

    Unless they are `final`, other dtypes of the same kinds may follow (`retype`): what
    holds for some of them only is not asked for.

    Without them a parameter has as many axes as the text shows. Where that is too few
    for the rest of the text, the least that will do is taken; where it is too many, as
    NumPy's functions take numbers too, some are numbers: a call says what is so.
    Arrays that change places in a loop do so by their names, in a body that stands
    there several times, or by their contents if it is to be `rolled`.
    Guesses end behind so many statements as `guesses` says, if it says that. With
    `objects` what is read is which of the parameters these results are.
    The texts that are `known` from earlier readings are not looked for again.
    Raises `UnsupportedError` with every finding.
    """
    effort = Effort(guesses or _MOST_STATEMENTS)
    asked = _Asked(f, types, known, final, rolled, effort, objects=objects)
    if forms is not None:
        asked = replace(asked, forms=forms)
    read_ = _by_default if forms is None else _ranked
    with remembering():
        try:
            return read_(asked)
        except UnsupportedError as error:
            codes = {e.code for e in error.findings}
            if not codes & _OF_OTHERS and _may_have_tuples(asked.effort):
                with contextlib.suppress(UnsupportedError, InternalError):
                    again = Effort(effort.most // 4)
                    return read_(replace(asked, by_field=True, effort=again))
            if codes <= _OF_NONE and (count := values_or_none(f)):
                with contextlib.suppress(UnsupportedError, InternalError):
                    again = Effort(effort.most // 4)
                    return read_(replace(asked, maybe=count, effort=again))
            if types is None and codes <= _OF_FLOATS:
                error.waits = _may_hold_others(read_, asked)
            raise


def _may_hold_others(read_: Callable[[_Asked], Parsed], asked: _Asked) -> bool:
    """Would it be read if a call gives integers, or floats of 32 bits?"""
    for kinds in ({"integers": True}, {"floats": "float32"}):
        again = Effort(asked.effort.most // 4)
        with contextlib.suppress(UnsupportedError, InternalError):
            read_(replace(asked, effort=again, **kinds))
            return True
    return False


# What may be found because parameters are taken for floats of 64 bits.
_OF_FLOATS = frozenset(["P206", "P210"])
# What may be found because None is returned on some paths.
_OF_NONE = frozenset(["P106", "P110"])
# What is found whatever is made of tuples and lists.
_OF_OTHERS = frozenset(["P101", "P104", "P105", "P114", "P116", "P117"])


def _may_have_tuples(effort: Effort) -> bool:
    """Are there tuples in what was read, or lists that may be of arrays?"""
    every = [s.node for texts in effort.texts for s in texts.sources()]
    return any(
        isinstance(n, (gast.Tuple, gast.ListComp))
        or getattr(n, "attr", "") in ("append", "pop", "reverse")
        for node in every
        for n in nodes_of(node)
    )


def _by_default(asked: _Asked) -> Parsed:
    """The reading for a call that gives nothing for parameters that may be None; or for
    one that gives all.
    """
    function = plain(asked.f, Grounds())
    if function is None:
        return _ranked(asked)
    node = read(function).node
    defaults = tuple(((n,), v) for n, v in known_defaults(node).items())
    look = functools.partial(lookup, function)
    asked = replace(asked, functions=_default_dtypes(node, function))
    found = guessed(node, look)
    empty = Shape("tuple", ())
    defaults_ = default_values(function)
    found |= {n: empty for n, v in defaults_.items() if type(v) is tuple and not v}
    if node.args.vararg is not None:
        found[node.args.vararg.id] = empty
    sure = surely_complex(node, defaults_)
    try:
        return _by_guesses(asked, node, defaults, found | sure)
    except UnsupportedError as why:
        if {e.code for e in why.findings} == {"P106"}:
            known = found.keys() | {p[0] for p, _ in defaults}
            for guess in (maybe_complex(node), no_integers(node)):
                more = {n: shape for n, shape in guess.items() if n not in known}
                if more.keys() <= sure.keys():
                    continue
                with contextlib.suppress(UnsupportedError):
                    return _by_guesses(asked, node, defaults, found | sure | more)
        raise


def _default_dtypes(
    node: gast.AST, function: FunctionType
) -> tuple[tuple[Path, object], ...]:
    """The parameters whose defaults are dtypes, with these."""
    given = default_values(function)
    named = [p.id for p in parameters(node)]
    return tuple(((n,), given[n]) for n in named if is_dtype(given.get(n, "")))


def _by_guesses(
    asked: _Asked,
    node: gast.AST,
    defaults: tuple[tuple[Path, str | None], ...],
    found: Mapping[str, Shape],
) -> Parsed:
    """The reading in which parameters are structures of these shapes, or draw."""
    streams = {n: STREAM for n, s in found.items() if may_be_stream(s)}
    streams |= streams_in(node)
    if streams:
        try:
            forms = with_streams(defaults, found, streams)
            order = [p.id for p in parameters(node)]
            every = (*asked.functions, *forms.functions)
            every = tuple(sorted(every, key=lambda entry: order.index(entry[0][0])))
            return _ranked(replace(asked, forms=replace(forms, functions=every)))
        except UnsupportedError as why:
            with contextlib.suppress(UnsupportedError):
                return _by_shapes(asked, defaults, found)
            raise why
    return _by_shapes(asked, defaults, found)


def _by_shapes(
    asked: _Asked,
    defaults: tuple[tuple[Path, str | None], ...],
    found: Mapping[str, Shape],
) -> Parsed:
    """The reading in which parameters are structures of these shapes, and those with
    defaults are these, if that means anything.
    """
    known = {path[0] for path, _ in defaults}
    shapes = tuple((n, shape) for n, shape in found.items() if n not in known)
    try:
        forms = Forms(defaults, asked.functions, shapes)
        return _ranked(replace(asked, forms=forms))
    except UnsupportedError:
        if defaults:
            with contextlib.suppress(UnsupportedError):
                forms = Forms((), asked.functions, shapes)
                return _ranked(replace(asked, forms=forms))
        raise


def _ranked(asked: _Asked) -> Parsed:
    """The reading with the ranks that it is read for, or with guesses."""
    seen: dict[str, int] = {}
    types, rolled = asked.types, asked.rolled
    try:
        return _in_versions(asked, seen)
    except (UnsupportedError, InternalError) as error:
        codes = {e.code for e in getattr(error, "findings", ())}
        if types is not None or rolled or codes - _OF_RANKS:
            raise
        guesses = [replace(asked, least=ranks) for ranks in increments(seen)]
        if codes & _SAYS_RANKS:
            guesses += [replace(asked, exact=ranks) for ranks in decrements(seen)]
        for number, guess in enumerate(guesses):
            if asked.effort.statements > asked.effort.most:
                break
            versions = number < _FIRST_GUESSES and not guess.exact
            read_ = _in_versions if versions else _read
            with contextlib.suppress(UnsupportedError, InternalError):
                return read_(guess, {})
        if isinstance(error, UnsupportedError):
            error.waits = len(seen) > _FEW
        raise


@dataclass(frozen=True, slots=True)
class _Asked:
    """A function to be read, and what is taken for granted."""

    f: object
    types: Types | None
    known: Sequence[Texts]
    final: bool
    rolled: bool
    #: That of all readings.
    effort: Effort
    forms: Forms = Forms()
    #: The parameters whose defaults are dtypes.
    functions: tuple[tuple[Path, object], ...] = ()
    #: Ranks to begin with, and those of parameters that have no others.
    least: Mapping[str, int] = field(default_factory=dict)
    exact: Mapping[str, int] = field(default_factory=dict)
    #: Are parameters of which nothing is said integers?
    integers: bool = False
    #: What they are otherwise, if nobody counts with them.
    floats: str = "float64"
    #: How many values does a result have that may be None? A truth value is given
    #: besides then.
    maybe: int = 0
    #: The names of which each version is a variable; None for all.
    split: frozenset[str] | None = frozenset()
    #: Are tuples read field by field?
    by_field: bool = False
    #: The results of which is read which parameters they are.
    objects: Tracked | None = None

    def objects_of(self, node: gast.AST, look: Lookup) -> gast.AST:
        """The definition, or that of which parameters it returns if that is asked."""
        return node if self.objects is None else with_objects(node, self.objects, look)


def _in_versions(asked: _Asked, seen: dict[str, int]) -> Parsed:
    """The reading in which names are one variable each, for the text of a derivative
    has the user's names. Where that is refused, one in which those that stand there, or
    else all, are split in versions.
    """
    try:
        return _read(asked, seen)
    except UnsupportedError as error:
        lines = {linecache.getline(e.at.file, e.at.line) for e in error.findings}
        there = frozenset(re.findall(r"\w+", " ".join(lines)))
        codes = {e.code for e in error.findings}
        for split in (there, None) if codes <= _OF_VERSIONS else ():
            if asked.effort.statements > 2 * asked.effort.most:
                break
            with contextlib.suppress(UnsupportedError, InternalError):
                return _read(replace(asked, split=split), {})
        raise


# What may be found only because one variable is to hold several kinds of values.
_OF_VERSIONS = frozenset(["P201", "P202", "P203", "P206", "P210", "P211"])
# What may be found only because a parameter has more axes than the text shows.
_OF_RANKS = frozenset(
    ["P108", "P110", "P111", "P112", "P201", "P202", "P203", "P204", "P206", "P209"]
    + ["P210", "P211"]
)
# What says that ranks do not fit: another refusal is not to be put off to the call.
_SAYS_RANKS = frozenset(["P201", "P202", "P203"])
# So many of them with versions, too.
_FIRST_GUESSES = 12
# Of so many parameters the first guesses are all that a call may be expected to give.
_FEW = 3
# Behind so many statements there are no more guesses: that takes some two seconds.
_MOST_STATEMENTS = 8_000
# Behind so many, where a call may say what is to be guessed.
FEW_STATEMENTS = 4_000


def _read(asked: _Asked, seen: dict[str, int]) -> Parsed:
    """One reading; `seen` receives the ranks that may grow."""
    effort = asked.effort
    grounds, texts = Grounds(), Texts(*asked.known, *effort.texts)
    effort.texts.append(texts)
    function, source = _definition(asked, grounds, texts)
    whole, outside = source.node, functools.partial(lookup, function)
    types, structured, source, functions = _spelt(asked, source, function, grounds)
    real, twins = real_definition(
        source, asked.forms, structured, function, grounds, effort.rewritten
    )
    source = replace(source, node=asked.objects_of(real.node, outside))
    text = Text(
        function,
        source,
        functions,
        _given(source, asked, types),
        types is not None,
        asked.split,
        grounds,
        texts,
        asked.rolled,
        effort,
        twins,
        asked.by_field,
        asked.floats,
    )
    settled = settle(text, asked.least, seen)
    walk, body = settled.walk, _checked(text, settled)
    params, at = tuple(settled.params), source.loc(source.node)
    body, pairs = shapes.settle_dtypes(body, params, _alike(walk, at))
    body, sizes = _with_sizes(walk, body, params)
    body = shapes.number(shallow(body, walk.emit.taken))
    parts = lent(body, walk.found.parts, params, walk.findings)
    flat = written_flat(walk, body, params)
    objects = _objects(walk, source.node, body, parts, real.result, outside)
    refuse_shared(walk)
    walk.findings.check()
    check_parts(real.result, body, params)
    program = nodes.Program(
        _name(function),
        params,
        body,
        tuple(settled.values),
        pairs,
        parts,
        tuple(c.name for c in walk.found.callbacks.values()),
        str(function.__globals__.get("__name__")).startswith(GENERATED),
        flat,
        loc=at,
    )
    parsed = Parsed(
        with_meanings(program, asked.final),
        tuple(walk.found.captures.values()),
        tuple(walk.found.callbacks.values()),
        grounds,
        texts,
        tuple(walk.found.rules),
        function,
        inspect.signature(function, follow_wrapped=False),
        _own(walk, source, body),
        walk.found.lenient,
        _size_names(function, sizes, params),
        types,
        asked.final,
        asked.rolled,
        walk.found.unrolled,
        walk.found.foreign,
        asked.forms,
        leaves(source.node, real),
        real.result,
        {p.id: used_fields(whole, p.id, outside) for p in parameters(whole)},
        stored_fields(whole, outside),
        objects=objects,
    )
    return _drawn(parsed, walk, functions)


def _with_sizes(
    walk: Walk, body: nodes.Block, params: tuple[nodes.Param, ...]
) -> tuple[nodes.Block, dict[str, nodes.Expr]]:
    """The block with the values of sizes and counters where they are read, and what
    each of the scalars stood for.
    """
    body, sizes = shapes.fold_sizes(body, params)
    drawing = walk.env.drawing
    counts = drawing.counts.values() if drawing is not None else ()
    body, walk.found.counted = without_counters(body, params, counts)
    body = settle_sizes(body, params)
    made = with_one_value(body, params, counts)
    return (body if made is body else settle_sizes(made, params)), sizes


def _name(function: FunctionType) -> str:
    """What the program is called: a lambda has no name."""
    return function.__name__ if function.__name__.isidentifier() else "function"


def _objects(
    walk: Walk,
    node: gast.AST,
    body: nodes.Block,
    views: Sequence[nodes.View],
    result: Shape | None,
    look: Lookup,
) -> Tracked | None:
    """The arrays that are returned, and are parameters on some paths only.

    A complex array is put together anew.
    """
    last = body[-1] if body else None
    if not isinstance(last, nodes.Return):
        return None
    made = {s.array for s in nodes.walk(body) if isinstance(s, nodes.Alloc)}
    made -= {v.result for v in views}
    names = [v.name if isinstance(v, nodes.Var) else "" for v in last.values]
    arrays = [k for k, name in enumerate(names) if name in made]
    if any(True for _ in pairs_in(result)):
        arrays = []
    found = tracked(node, arrays, look)
    for _ in found.untold:
        because = "a helper returns what it is given, on some path"
        refuse_paths(walk, last.loc, because)
    for place, at in walk.found.lent_back:
        if place not in found.places:
            refuse_paths(walk, at, "another path returns another array")
    return found if found.places else None


def _alike(walk: Walk, at: nodes.Loc) -> list[tuple[str, nodes.Dtype, nodes.Loc]]:
    """The dtypes that arrays and numbers must have, and where that shows."""
    kinds = [*walk.found.alike_kinds]
    return [*kinds, *((a, nodes.like(b), at) for a, b in walk.found.alike_dtypes)]


def _drawn(parsed: Parsed, walk: Walk, functions: Mapping[str, object]) -> Parsed:
    """The reading of what takes the random numbers that are drawn for it, if any."""
    parsed, drawing = replace(parsed, counted=walk.found.counted), walk.env.drawing
    if drawing is None or not drawing.sites:
        return parsed
    every = zip(functions.items(), parsed.forms.functions, strict=True)
    drawing.paths = {n: p for (n, s), (p, _) in every if isinstance(s, Stream)}
    return replace(
        parsed,
        program=without_requests(parsed.program, drawing),
        captured=tuple(c for c in parsed.captured if c.name != drawing.requests),
        drawing=drawing,
        drawer=replace(parsed, draws=True),
    )


def _definition(
    asked: _Asked, grounds: Grounds, texts: Texts
) -> tuple[FunctionType, Source]:
    """The plain function, and its text: with a truth value besides what it returns if
    that may be None.
    """
    function = plain(asked.f, grounds)
    if function is None:
        raise UnsupportedError([Finding(*no_function(asked.f))])
    source = read(function, texts)
    _refuse_rule(function, source)
    if asked.maybe:
        look = functools.partial(grounds.lookup, function)
        made = functools.partial(finding, source.node)
        node = asked.effort.rewritten.once(source.node, "finding", look, made)
        source = replace(source, node=node)
    return function, source


def _spelt(
    asked: _Asked, source: Source, function: FunctionType, grounds: Grounds
) -> tuple[
    Mapping[str, tuple[int, str]] | None, Structured, Source, Mapping[str, object]
]:
    """The types that are given, by the names in the text, and the text to be read: see
    `_formed`. What other readings have made of it is taken
    again.
    """
    whole, rewritten = source.node, asked.effort.rewritten
    structured, node, functions = rewritten.once(
        whole,
        asked.forms,
        functools.partial(grounds.lookup, function),
        lambda look: _formed(whole, asked.forms, look, asked.by_field),
    )
    left = [
        Finding("P111", source.loc(at), what, HELP) for at, what in loops_left(node)
    ]
    Findings(left).check()
    if asked.maybe:
        structured = replace(structured, result=maybe(asked.maybe))
    types = None
    if asked.types is not None:
        named = ((n,) if isinstance(n, str) else n for n in asked.types)
        own = [name_of_value(structured, path) for path in named]
        types = dict(zip(own, asked.types.values(), strict=True))
    return types, structured, replace(source, node=node), functions


def _formed(
    node: gast.AST, forms: Forms, look: Lookup, by_field: bool
) -> tuple[Structured, gast.AST, dict[str, object]]:
    """A definition for arguments of these forms: without structures, without None and
    texts, without what says which axis is meant, and without tests of what they are;
    and the functions among the arguments by
    name.
    """
    node = with_kinds(node, dict(forms.kinds), look)
    node = with_functions(node, look, dict(forms.shapes), _functions(forms))
    node = with_found(evaluated_once(node, look), look)
    # What says which axis is meant is said by the text then, and no parameter.
    names = [n for n in nodes_of(node) if isinstance(n, gast.Name)]
    met = {n.id for n in names if isinstance(n.ctx, gast.Load)}
    gone = {n for n, kind in forms.kinds if kind.number is not None and n not in met}
    whole = with_fields(node, look) if by_field else node
    whole = with_lists_beside(whole, look, dict(forms.shapes))
    node = without_lists(whole, look, ragged=by_field)
    shapes = {n: without_pairs(shape) for n, shape in forms.shapes}
    given = {n: shape for n, shape in shapes.items() if shape is not None}
    structured = without_structures(node, look, given, _functions(forms))
    named = functools.partial(name_of_value, structured)
    values = {named(path): value for path, value in forms.values}
    functions = {named(path): value for path, value in forms.functions}
    own = with_values(structured.node, values, {*functions, *gone})
    return structured, own, functions


def _functions(forms: Forms) -> tuple[tuple[str, FunctionType], ...]:
    """The parameters that are plain functions."""
    passed = {p[0]: plain(value) for p, value in forms.functions if len(p) == 1}
    return tuple((str(n), f) for n, f in passed.items() if f is not None)


def _given(
    source: Source, asked: _Asked, types: Mapping[str, tuple[int, str]] | None
) -> Given:
    """What annotations, a call and a guess say of the parameters."""
    given = {p.id: annotated(p.annotation) for p in parameters(source.node)}
    if asked.integers:
        given = {n: (rank, dtype or "int64") for n, (rank, dtype) in given.items()}
    for name, (rank, dtype) in (types or {}).items():
        if name in given:
            given[name] = (rank, dtype)
    for name, rank in asked.exact.items():
        given[name] = (rank, given[name][1])
    return given


def _checked(text: Text, settled: Settled) -> nodes.Block:
    """The body, with checks of what may not be bound; findings are raised."""
    walk, body, findings = settled.walk, settled.body, settled.walk.findings
    shapes.check_ranks(walk.found.facts, settled.ranks, findings)
    shapes.check_kinds(body, settled.ranks, findings)
    typed = [*settled.values, *(n for n, (_, dtype) in text.given.items() if dtype)]
    shapes.check_integers(body, settled.params, typed, settled.integers, findings)
    if not findings.found:
        names = [p.id for p in parameters(text.source.node)]
        bound = [*names, *settled.values]
        body = shapes.check_bound(body, bound, walk.emit.taken, findings)
    findings.check()
    if walk.found.unsettled:
        raise InternalError(f"the ranks of `{text.function.__name__}` are not known")
    return counted_once(body)


def _refuse_rule(function: FunctionType, source: Source) -> None:
    """`UnsupportedError` for a function that has a derivative of its own."""
    if rule_of(function) is not None:
        at = source.loc(source.node)
        because = f"`{function.__name__}` has a derivative of its own"
        helps = "differentiate a function that calls it"
        raise UnsupportedError([Finding("P117", at, because, helps)])


def _own(walk: Walk, source: Source, body: nodes.Block) -> tuple[str, ...]:
    """The names of the function that stand for one value of the program each."""
    bound = walk.env.outermost.bound if walk.env.outermost is not None else {}
    made = {s.array for s in nodes.walk(body) if isinstance(s, nodes.Alloc)}
    made |= set(nodes.assigned_scalars(body))
    times = Counter(bindings(source.node))
    times.subtract(
        n.target.id
        for n in nodes_of(source.node)
        if isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name)
    )
    params = {p.id for p in parameters(source.node)}
    return tuple(
        n
        for n, e in bound.items()
        if (own := stored_in(e)) is not None
        and walk.found.spelling.get(own, own) == n
        and times[n] == 1
        and n in made
        and n not in params
    )


def _size_names(
    function: FunctionType,
    sizes: Mapping[str, nodes.Expr],
    params: Sequence[nodes.Param],
) -> tuple[tuple[str, int, str], ...]:
    """What the function itself calls the extents of its parameters."""
    names, ranked = function.__code__.co_varnames, {p.name for p in params if p.rank}
    return tuple(
        (e.array, e.axis, name)
        for name, e in sizes.items()
        if isinstance(e, nodes.Extent) and name in names and e.array in ranked
    )


def parse_text(source: str, name: str | None = None) -> nodes.Program:
    """Read the function `name` (the last one) of a module's text; np and math known."""
    text = textwrap.dedent(source).lstrip("\n")
    namespace: dict[str, object] = {"np": np, "numpy": np, "math": math}
    file = _file(text)
    exec(compile(text, file, "exec", dont_inherit=True), namespace)  # noqa: S102
    defined = [
        value
        for value in namespace.values()
        if isinstance(value, FunctionType) and value.__code__.co_filename == file
    ]
    chosen = namespace[name] if name is not None else defined[-1]
    return parse(chosen).program


def parse_block(text: str) -> nodes.Block:
    """Read statements: a name that is subscripted is an array, others are scalars.

    >>> parse_block("b[i] += 2 * a[i]")[0].target
    Load(array='b', index=(Var(name='i'),))
    """
    text = textwrap.dedent(text).strip("\n") + "\n"
    file = _file(text)
    # A definition of the same lines: positions are those of the text.
    (definition,) = gast.parse("def block(): pass\n").body
    definition.body = gast.parse(text, file).body
    source = Source(file, tuple(text.splitlines(True)), definition)
    found: dict[str, int] = {}
    for _ in range(WALKS):
        walk = Walk(Known(dict(found), loose=True), READERS)
        body = lower_statements(walk, source)
        lasting = {n: r for n, r in found.items() if n in identifiers(definition)}
        ranks = shapes.ranks(
            walk.found.facts,
            walk.found.same,
            walk.found.alike,
            {},
            walk.found.rows,
            lasting,
        )
        if ranks == found:
            break
        found = ranks
    else:
        raise InternalError(f"the ranks do not settle: {found}")
    shapes.check_ranks(walk.found.facts, ranks, walk.findings)
    walk.findings.check()
    return shapes.number(body)


def _file(text: str) -> str:
    """A name under which `linecache` keeps a text, equal for equal texts."""
    file = f"<text {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return file
