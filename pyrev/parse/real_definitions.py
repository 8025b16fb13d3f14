"""A definition of real numbers alone, and where in the arguments these are."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType

import gast

from pyrev.ir import nodes
from pyrev.ir.diagnostics import InternalError
from pyrev.parse.bindings import parameters
from pyrev.parse.forms import Forms, Path
from pyrev.parse.grounds import Grounds, lookup
from pyrev.parse.rewriting.complex_numbers.arguments import (
    pairs_in,
    ranks_differ,
    with_pairs,
)
from pyrev.parse.rewriting.complex_numbers.kinds import may_be_complex
from pyrev.parse.rewriting.complex_numbers.pairs import Separated, without_complex
from pyrev.parse.rewriting.made_texts import Lookup
from pyrev.parse.rewriting.starred import as_definition
from pyrev.parse.rewriting.structures.shapes import Shape, Structured
from pyrev.parse.rewritten import Rewritten
from pyrev.parse.source import Source


def name_of_value(structured: Structured, path: Path) -> str:
    """The name of a number or an array among the arguments."""
    names = structured.given.get(str(path[0]))
    return str(path[0]) if names is None else names[path[1:]]


def real_definition(
    source: Source,
    forms: Forms,
    structured: Structured,
    function: FunctionType,
    grounds: Grounds,
    rewritten: Rewritten,
) -> tuple[Structured, tuple[tuple[str, str], ...]]:
    """The definition with pairs for complex numbers, what is given and what is returned
    too; and the pairs of parameters.
    """
    paths = [(n, *path) for n, shape in forms.shapes for path in pairs_in(shape)]
    given = {name_of_value(structured, path): path for path in paths}
    node = source.node
    # What it does not depend on may change behind a reading.
    outside = functools.partial(lookup, function)
    if not given and not rewritten.once(
        node, "may be complex", outside, lambda look: may_be_complex(node, look)
    ):
        return replace(structured, node=node), ()

    def real(look: Lookup) -> Separated:
        own = node
        if isinstance(node, gast.Lambda):  # a name for each part needs statements
            own = as_definition(node)
        return without_complex(own, look, source.loc, given)

    noted = functools.partial(grounds.lookup, function)
    found = rewritten.once(node, ("without complex", *given), noted, real)
    names = {n: dict(own) for n, own in structured.given.items()}
    for one, (name, *path) in given.items():
        own = names.setdefault(str(name), {})
        own.pop(tuple(path), None)
        parts = zip(("real", "imag"), found.parts[one], strict=True)
        own |= {(*path, part): n for part, n in parts}
    result = with_pairs(structured.result, found.result)
    return Structured(found.node, names, result), (*found.parts.values(),)


def check_parts(
    result: Shape | None, body: nodes.Block, params: Sequence[nodes.Param]
) -> None:
    """`InternalError` where a complex result is a number in one part and an array in
    the other: see `complex_numbers.extents`.
    """
    if not any(True for _ in pairs_in(result)):
        return
    arrays = {p.name: p.rank for p in params if p.rank}
    for s in nodes.walk(body):
        if isinstance(s, nodes.Alloc):
            arrays[s.array] = len(s.shape)
        elif isinstance(s, nodes.Return):
            names = [v.name if isinstance(v, nodes.Var) else "" for v in s.values]
            if ranks_differ(result, [arrays.get(n, 0) for n in names]):
                raise InternalError("the parts of a result differ in their axes")


def leaves(node: gast.AST, structured: Structured) -> tuple[tuple[str, Path], ...]:
    """The parameters of a definition, and where they are in the arguments."""
    inside: dict[str, Path] = {
        own: (name, *path)
        for name, names in structured.given.items()
        for path, own in names.items()
    }
    return tuple((p.id, inside.get(p.id, (p.id,))) for p in parameters(node))
