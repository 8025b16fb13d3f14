"""Which syntax is outside the language, as one table: each node with its remedy.

The fence sees every node of a function, whatever stands around it; what depends on
meaning (is this name an array?) is `lower`'s to refuse.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from pyrev.ir.diagnostics import Findings
from pyrev.parse.bindings import functions_inside, nodes_of
from pyrev.parse.rewriting.made_texts import read_in
from pyrev.parse.rewriting.structures.shapes import SHAPE
from pyrev.parse.source import Source

REJECTED: dict[type[gast.AST], tuple[str, str, str]] = {
    gast.ClassDef: (
        "P101",
        "a class is defined here",
        "keep the numbers in arrays and the code in functions",
    ),
    gast.Try: (
        "P102",
        "exceptions are handled here",
        "test for the condition with `if` instead",
    ),
    gast.TryStar: (
        "P102",
        "exceptions are handled here",
        "test for the condition with `if` instead",
    ),
    gast.With: (
        "P102",
        "a context manager is entered here",
        "enter it around the call of the function",
    ),
    gast.Global: (
        "P102",
        "a module variable would be assigned",
        "return the value, or write it to an array parameter",
    ),
    gast.Nonlocal: (
        "P102",
        "a variable of the enclosing function would be assigned",
        "return the value from the helper and assign it outside",
    ),
    gast.Delete: ("P102", "a name is deleted here", "leave the name alone"),
    gast.Import: ("P102", "a module is imported here", "import it at the top"),
    gast.ImportFrom: ("P102", "a module is imported here", "import it at the top"),
    gast.Match: ("P102", "`match` compares structures", "write `if` and `elif`"),
    gast.AsyncFunctionDef: (
        "P105",
        "a coroutine is defined here",
        "write a plain `def`",
    ),
    gast.AsyncFor: ("P105", "an asynchronous loop", "write a plain `for`"),
    gast.AsyncWith: ("P105", "an asynchronous `with`", "enter it around the call"),
    gast.Await: ("P105", "a value is awaited here", "pass the value as an argument"),
    gast.Yield: ("P105", "a value is yielded here", "write the values to an array"),
    gast.YieldFrom: ("P105", "values are yielded here", "write them to an array"),
    gast.Dict: ("P106", "a dict is made here", "use arrays and scalars"),
    gast.Set: ("P106", "a set is made here", "use arrays and scalars"),
    gast.ListComp: ("P106", "a list is built here", "fill an array in a loop"),
    gast.SetComp: ("P106", "a set is built here", "fill an array in a loop"),
    gast.DictComp: ("P106", "a dict is built here", "fill an array in a loop"),
    gast.GeneratorExp: ("P106", "a generator is built here", "write the loop out"),
    gast.JoinedStr: ("P106", "a string is built here", "keep text out of the function"),
    gast.NamedExpr: (
        "P106",
        "a value is named inside an expression",
        "assign it in a statement of its own",
    ),
    gast.Starred: ("P106", "a starred expression", "write the values out"),
}

#: Of a star that spreads what is no tuple of known length.
_SPREAD = (
    "P106",
    "a star spreads what is no tuple here",
    "give it a tuple, or write the values out",
)


def check(source: Source, findings: Findings) -> None:
    """Report every node of a definition that `REJECTED` names, and its signature's."""
    arguments = source.node.args
    for star, arg in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if arg is not None:
            findings.add(
                "P104",
                source.loc(arg),
                f"`{star}{arg.id}` collects arguments",
                "name each parameter",
            )
    if isinstance(source.node, gast.AsyncFunctionDef):
        findings.add(
            "P105",
            source.loc(source.node),
            "this is a coroutine",
            "write a plain `def`",
        )
    later = _spread_inside(source.node)
    for node in _nodes(source.node):
        entry = REJECTED[type(node)] if has_told(node) else None
        if isinstance(node, gast.Starred) and isinstance(node.ctx, gast.Load):
            entry = None if node in later else _SPREAD
        if entry is not None:
            code, because, help = entry
            findings.add(code, source.loc(node), because, help)


def _spread_inside(node: gast.AST) -> set[gast.AST]:
    """The stars that spread what ``*args`` of a function inside collect: that is known
    where it is called, and checked there.
    """
    return {
        n
        for inner in functions_inside(node)
        if inner.args.vararg is not None
        for n in nodes_of(inner)
        if isinstance(n, gast.Starred) and inner.args.vararg.id in read_in(n)
    }


def has_told(node: gast.AST) -> bool:
    """Has `check` reported an expression or a target, which then needs no more words?

    A structure that was made of its fields is none of those: where it is read as a
    number or an array, who reads it has to refuse it.
    """
    return type(node) in REJECTED and not hasattr(node, SHAPE)


def only_tells(call: gast.Call) -> bool:
    """Is a call written like one of `print`, of `warnings.warn` or of Numba's for its
    threads, with arguments that change nothing?
    """
    match call.func:
        case gast.Name(id=name) if name == "print" or name in _TELLING:
            pass
        case gast.Attribute(attr=name) if name in _TELLING:
            pass
        case _:
            return False
    for n in nodes_of(call):
        match n:
            case gast.Call() if n is not call and not _is_harmless(n.func):
                return False
            case gast.NamedExpr() | gast.Await() | gast.Yield() | gast.YieldFrom():
                return False
    return True


#: What Numba has for the number of its threads.
THREADS = ("get_num_threads", "set_num_threads", "get_thread_id")
_TELLING = ("warn", *THREADS)


def _is_harmless(func: gast.AST) -> bool:
    match func:
        case gast.Name(id=name):
            return name in ("str", "len", "float", "int", "round", "abs", "repr")
        case gast.Attribute(attr="format", value=gast.Constant(value=str())):
            return True
        case gast.Attribute(attr=attr):
            return attr in _LOOKS
    return False


#: NumPy's functions and methods that only look at arrays, as it is told what is there.
_LOOKS = frozenset(
    ["sum", "mean", "std", "var", "min", "max", "any", "all", "abs", "sqrt", "exp"]
    + ["log", "reshape", "ravel", "flatten", "copy", "round", "tolist", "astype"]
    + ["array", "asarray", "isnan", "isfinite", "array2string", "norm", "item"]
)


def _nodes(node: gast.AST) -> Iterator[gast.AST]:
    """Body nodes, without annotations, decorators, and what a rejected node holds.

    What is raised has rules of its own (`statements.read_raise`).
    """
    for name, value in gast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "vararg", "kwarg"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, gast.AST):
                if isinstance(child, gast.Expr) and (
                    isinstance(child.value, gast.Call) and only_tells(child.value)
                ):
                    continue
                yield child
                if type(child) not in REJECTED and not isinstance(child, gast.Raise):
                    yield from _nodes(child)


def bound_by_refused(node: gast.AST) -> frozenset[str]:
    """The names that refused statements would bind: nothing more is said of them."""
    found: set[str] = set()
    for child in nodes_of(node):
        if isinstance(child, (gast.Import, gast.ImportFrom)):
            found |= {(a.asname or a.name).split(".")[0] for a in child.names}
        elif isinstance(child, (gast.ClassDef, gast.AsyncFunctionDef)):
            found.add(child.name)
    return frozenset(found)
