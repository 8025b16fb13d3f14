"""Complex arguments and results, as structures of a real and an imaginary part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import gast

from pyrev.ir.diagnostics import Finding
from pyrev.parse.bindings import children, nodes_of, parameters
from pyrev.parse.rewriting.complex_numbers.kinds import Kind, holds_complex, is_complex
from pyrev.parse.rewriting.made_texts import read_in, root_of, written_in
from pyrev.parse.rewriting.structures.shapes import Key, Shape

#: The shape of a complex number, and of an array of them.
COMPLEX = Shape("complex", (("real", None), ("imag", None)))
#: What real numbers have no use for.
_OF_COMPLEX = frozenset(["imag", "conj", "conjugate"])
#: How it ends what is said of them.
OF_REAL_NUMBERS = (
    "the imaginary part of a real number",
    "the conjugate of a real number is itself",
)
_ANNOTATIONS = ("complex", "np.complex128", "np.complex64", "numpy.complex128")


def without_pairs(shape: Shape | None) -> Shape | None:
    """A shape in which complex numbers are values; None where it is one itself.

    >>> without_pairs(Shape("dict", (("z", COMPLEX), ("x", None)))).fields
    (('z', None), ('x', None))
    """
    if shape is None or shape.kind == COMPLEX.kind:
        return None
    return replace(shape, fields=tuple((k, without_pairs(f)) for k, f in shape.fields))


def pairs_in(shape: Shape | None) -> Iterator[tuple[Key, ...]]:
    """The paths to the complex numbers in a shape.

    >>> [*pairs_in(Shape("dict", (("z", COMPLEX), ("x", None))))]
    [('z',)]
    """
    if shape is None:
        return
    if shape.kind == COMPLEX.kind:
        yield ()
        return
    for key, field in shape.fields:
        for path in pairs_in(field):
            yield (key, *path)


def with_pairs(shape: Shape | None, kind: Kind) -> Shape | None:
    """The shape of a result some of whose values are complex.

    >>> with_pairs(None, (True, False)).fields[1]
    (1, None)
    """
    if not holds_complex(kind):
        return shape
    if not isinstance(kind, tuple):
        if shape is None:
            return COMPLEX
        kind = tuple(kind for _ in shape.leaves())
    if shape is None:
        shape = Shape("tuple", tuple((k, None) for k in range(len(kind))))
    left = iter(kind)

    def made(shape: Shape) -> Shape:
        fields = tuple(
            (k, (COMPLEX if next(left, False) else None) if f is None else made(f))
            for k, f in shape.fields
        )
        return replace(shape, fields=fields)

    return made(shape)


def surely_complex(node: gast.AST, defaults: Mapping[str, object]) -> dict[str, Shape]:
    """The parameters that are complex by their annotations or defaults."""
    found = {}
    for p in parameters(node):
        text = "" if p.annotation is None else gast.unparse(p.annotation).strip()
        if is_complex(defaults.get(p.id)) or text.strip("'\"") in _ANNOTATIONS:
            found[p.id] = COMPLEX
    return found


def maybe_complex(node: gast.AST) -> dict[str, Shape]:
    """The parameters that a text uses as only complex numbers are, or writes to."""
    own = {p.id for p in parameters(node)}
    found: set[str] = set()
    for n in nodes_of(node):
        if isinstance(n, gast.Attribute) and n.attr in _OF_COMPLEX:
            found.add(root_of(n.value))
    found |= written_in(node)
    return {n: COMPLEX for n in own if n in found}


def complex_would_do(findings: Sequence[Finding]) -> bool:
    """Is something refused that complex arguments may have a meaning for?"""
    return any(f.because.endswith(OF_REAL_NUMBERS) for f in findings)


def no_integers(node: gast.AST) -> dict[str, Shape]:
    """The parameters that stand in no subscript, and in no bound of a loop."""
    whole: set[str] = set()
    for n in nodes_of(node):
        match n:
            case gast.Subscript(slice=index):
                whole |= read_in(index)
            case gast.For(iter=gast.Call() as over):
                if isinstance(over.func, gast.Name) and over.func.id == "range":
                    whole = whole.union(*map(_numbers_in, over.args))
    return {p.id: COMPLEX for p in parameters(node) if p.id not in whole}


def _numbers_in(e: gast.AST) -> set[str]:
    """The names in an expression of which no shape is asked for."""
    match e:
        case gast.Attribute() | gast.Call():
            return set()
        case gast.Name(id=name):
            return {name}
        case gast.Subscript(value=base):
            return _numbers_in(base)
    return set().union(*map(_numbers_in, children(e)))


def ranks_differ(shape: Shape | None, ranks: Sequence[int]) -> bool:
    """Has one part of a complex result more axes than the other?"""
    paths = {path: k for k, path in enumerate(shape.leaves())} if shape else {}
    return any(
        ranks[paths[*path, "real"]] != ranks[paths[*path, "imag"]]
        for path in pairs_in(shape)
    )
