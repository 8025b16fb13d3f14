"""Calls of NumPy's functions, of Python's and of methods, with complex numbers."""

from __future__ import annotations

import builtins
import copy
from types import FunctionType, ModuleType
from typing import TypeGuard

import gast
import numpy as np

from pyrev.parse.functions import CREATORS
from pyrev.parse.library.transforms import form_of
from pyrev.parse.rewriting.complex_numbers.kinds import (
    CMATH,
    ELEMENTWISE,
    LINEAR,
    METHODS,
    PRODUCTS,
    REAL_PARTS,
    dtype_of,
    holds_complex,
)
from pyrev.parse.rewriting.complex_numbers.parts import REAL, Pair, constant, made
from pyrev.parse.rewriting.complex_numbers.transforms import transformed
from pyrev.parse.rewriting.complex_numbers.values import Values
from pyrev.parse.rewriting.made_texts import numpy_call, placed, root_of
from pyrev.parse.scopes import NUMPY
from pyrev.parse.source import plain

_LISTS = (gast.List, gast.Tuple)
_SIZED = (np.zeros, np.ones, np.empty, np.full, np.eye, np.identity)
_LIKE = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)


_CONJUGATE = ("the conjugate of a real number is itself", "leave it out")


def read_call(s: Values, e: gast.Call) -> Pair | gast.AST:
    """A call, in parts if it gives a complex value."""
    kinds, place = s.kinds, s.place
    kind = kinds.of(e, place)
    if kinds.inside(e.func, place) is not None:
        return _from_helper(s, e)
    function = kinds.outside(e.func, place)
    if isinstance(e.func, gast.Attribute) and not isinstance(
        kinds.outside(e.func.value, place), ModuleType
    ):
        return _method(s, e)
    if any(isinstance(a, gast.Starred) for a in e.args):
        raise s.refuse(e, "a star spreads complex numbers", "write them out")
    if function is complex or function is np.complex128:
        return _complex(s, e)
    form = form_of(function)
    if form is not None:
        return transformed(s, e, form)
    if _is_in(function, REAL_PARTS):
        return _real_part(s, e, REAL_PARTS[function])
    if function is np.vdot and kind:
        a, b = s.operands(e.args)
        conjugate = s.formula("neg", Pair(a.im, a.im), None, e) if _is(a) else None
        if _is(a) and conjugate is not None:
            a = Pair(a.re, conjugate.re)
        return s.operation("@", a, b, e)
    if _is_in(function, CREATORS) and (kind or dtype_of(e, function) is not None):
        return _created(s, e, function)
    if _is_in(function, CMATH):
        return _of_cmath(s, e, CMATH[function])
    if function in (np.conj, np.conjugate) and not kind:
        raise s.refuse(e, *_CONJUGATE)
    if kind and _is_in(function, ELEMENTWISE):
        return _elementwise(s, e, ELEMENTWISE[function])
    if kind and _is_in(function, PRODUCTS):
        return _product(s, e, function)
    if kind and (_is_in(function, LINEAR) or function is builtins.sum):
        return linear(s, e)
    own = plain(function) if callable(function) else None
    if isinstance(own, FunctionType) and not _of_numpy(own):
        return _from_helper(s, e)
    values = s.operands([*e.args, *(k.value for k in e.keywords)])
    if any(map(_is, values)):
        if function is builtins.len and len(values) == 1 and _is(values[0]):
            values = [s.whole(values[0]).re]
        elif (
            function is np.linalg.norm and _is(values[0]) and sum(map(_is, values)) < 2
        ):
            if len(values) == 1:
                return _norm(s, values[0], e)
            # All that are known here are those of the absolute values.
            values[0] = made(REAL["abs"], _letters(s.simple(s.whole(values[0]))), e)
        elif root_of(e.func) == NUMPY:  # the text of the user has no such call
            what, helps = "a list of complex numbers", "fill an array"
            raise s.refuse(e, what, f"{helps}, `np.zeros(n, dtype=complex)`")
        else:
            raise s.refuse(
                e,
                f"`{gast.unparse(e.func).strip()}` of a complex number",
                "write it with `abs`, `.real`, `.imag`, arithmetic, `exp`, `log`,"
                " `sqrt` and the trigonometric and hyperbolic functions",
            )
    return _with(e, values)


def _norm(s: Values, value: Pair, e: gast.Call) -> gast.AST:
    """``np.linalg.norm(z)``, smooth where some of the elements are zero."""
    pair = s.simple(s.whole(value))
    return made("np.sqrt(np.sum(a * a + b * b))", _letters(pair), e)


def _letters(pair: Pair) -> dict[str, gast.AST]:
    """The parts of a complex value as the letters of formulas."""
    return {"a": pair.re, "b": pair.im}


def _is(value: object) -> TypeGuard[Pair]:
    return isinstance(value, Pair)


def _is_in(function: object, table: object) -> bool:
    try:
        return function in table  # type: ignore[operator]
    except TypeError:  # what can't be hashed
        return False


def _of_numpy(function: FunctionType) -> bool:
    return str(function.__module__).split(".")[0] == "numpy"


def _with(e: gast.Call, values: list[gast.AST]) -> gast.AST:
    """The call with other arguments."""
    new = copy.copy(e)
    new.args = values[: len(e.args)]
    new.keywords = []
    for k, v in zip(e.keywords, values[len(e.args) :], strict=True):
        keyword = copy.copy(k)
        keyword.value = v
        new.keywords.append(keyword)
    return new


def _from_helper(s: Values, e: gast.Call) -> Pair | gast.AST:
    kind = s.kinds.of(e, s.place)
    call = s.call_of_helper(e, kind)
    if not holds_complex(kind):
        return call
    if isinstance(kind, tuple):
        raise s.refuse(e, "a tuple of complex numbers", "unpack it in a statement")
    if s.closed is not None:
        s.named(call)  # refused
    return s.two(call)


def _complex(s: Values, e: gast.Call) -> Pair | gast.AST:
    """``complex(a, b)``"""
    if e.keywords or not 1 <= len(e.args) <= 2:
        raise s.refuse(e, "a complex number", "write `complex(re, im)`")
    values = s.operands(e.args)
    if len(values) == 1:
        (value,) = values
        if isinstance(value, Pair):
            return value
        return s.lifted(_float(value, e), False)
    if any(map(_is, values)):
        raise s.refuse(e, "a complex part of a complex number", "add them")
    re, im = (_float(v, e) for v in values)
    return Pair(re, im)


def _float(e: gast.AST, at: gast.AST) -> gast.AST:
    """A number as Python's float, which is weak beside one of NumPy's."""
    known = constant(e)
    if known is not None:
        return (
            e if isinstance(known, float) else placed(made("a * 1.0", {"a": e}, at), at)
        )
    func = gast.Name("float", gast.Load(), None, None)
    return placed(gast.Call(func, [e], []), at)


def _real_part(s: Values, e: gast.Call, word: str) -> gast.AST:
    """``abs(z)``, ``np.real(z)`` and their like."""
    if len(e.args) != 1 or e.keywords:
        if any(s.kinds.has(a, s.place) for a in e.args) or word in ("real", "imag"):
            raise s.refuse(e, "these arguments beside a complex number", "leave it")
        return _with(e, s.operands([*e.args, *(k.value for k in e.keywords)]))
    value = s.value(e.args[0])
    if word in ("real", "imag"):
        if isinstance(value, Pair):
            return value.re if word == "real" else value.im
        return s.part_of_real(e, value, word)
    if not isinstance(value, Pair):
        if word == "abs":
            return _with(e, [value])
        value = s.lifted(value, True)
    return made(REAL[word], {"a": value.re, "b": value.im}, e)


def _created(s: Values, e: gast.Call, function: object) -> Pair | gast.AST:
    """A new array: two of them if it is complex."""
    kind = s.kinds.of(e, s.place)
    dtype = dtype_of(e, function)
    values = [a for a in e.args if a is not dtype]
    keywords = [k for k in e.keywords if k.arg != "dtype"]
    if not kind:
        given = [*values, *(k.value for k in keywords)]
        if function in _SIZED or function in _LIKE:  # the first says the shape alone
            given = given[1:]
        if any(s.kinds.has(v, s.place) for v in given):
            raise s.refuse(
                e, "a complex number is stored in a real array", "store its parts"
            )
        return _real_created(s, e)
    new = copy.copy(e)
    new.args, new.keywords = values, keywords
    read: list[Pair | gast.AST] = []
    for k, v in enumerate((*values, *(k.value for k in keywords))):
        if k == 0 and function in _SIZED:
            read.append(s.index(v))
        elif function in (np.array, np.asarray) and isinstance(v, _LISTS):
            read.append(s.zeros_beside(s.listed(v)))
        else:
            value = s.value(v)
            read.append(s.whole(value) if isinstance(value, Pair) else value)
    if function in (np.eye, np.identity):
        first = s.named(_with(new, read))  # of floats of 64 bits
        return Pair(first, made("np.zeros_like(a)", {"a": first}, e))
    if function is np.ones:
        zero = numpy_call("zeros", [copy.deepcopy(v) for v in read], (), e)
        return Pair(_typed(s, _with(new, read), dtype), _typed(s, zero, dtype))
    if function is np.ones_like:
        first = _with(new, [v.re if isinstance(v, Pair) else v for v in read])
        zero = numpy_call("zeros_like", first.args, (), e)
        if dtype is None:
            return Pair(first, zero)
        return Pair(_typed(s, first, dtype), _typed(s, zero, dtype))
    if not any(map(_is, read)) and function in (np.array, np.asarray, np.copy):
        return _from_real(s, read[0], dtype, e)
    if not any(map(_is, read)) and function in (np.full, np.full_like):
        fill = s.lifted(read[1], False)
        read[1] = fill
    if function not in (*_SIZED, *_LIKE, np.array, np.asarray, np.copy):
        raise s.refuse(e, "an array of complex numbers", "make it by `np.zeros`")
    parts = []
    for k in (0, 1):
        given = [
            (v.re, v.im)[k] if isinstance(v, Pair) else copy.deepcopy(v) for v in read
        ]
        part = _with(new, given)
        fixed = function not in _SIZED and dtype is None
        parts.append(part if fixed else _typed(s, part, dtype))
    return Pair(*parts)


def _from_real(s: Values, x: gast.AST, dtype: gast.AST | None, e: gast.AST) -> Pair:
    """A complex copy of a real array."""
    parts = {"a": x, "b": _part_dtype(s, dtype, e)}
    copied = s.named(made("a.astype(b)", parts, e))
    return Pair(copied, made("np.zeros_like(a)", {"a": copied}, e))


def _real_created(s: Values, e: gast.Call) -> gast.AST:
    values = []
    for v in (*e.args, *(k.value for k in e.keywords)):
        own = v
        if isinstance(v, gast.Attribute) and v.attr == "dtype":
            values.append(v)
            continue
        inner = s.value(own)
        values.append(s.once(inner.re) if isinstance(inner, Pair) else inner)
    return _with(e, values)


def _typed(s: Values, e: gast.AST, dtype: gast.AST | None) -> gast.AST:
    """The call that makes an array, of floats as wide as the parts of what `dtype`
    names.
    """
    new = copy.copy(e)
    own = placed(gast.keyword("dtype", _part_dtype(s, dtype, e)), e)
    new.keywords = [*e.keywords, own]
    return new


def _part_dtype(s: Values, dtype: gast.AST | None, e: gast.AST) -> gast.AST:
    """The dtype of the parts of numbers of a complex dtype: of ``z.dtype`` that of its
    part, else floats of 64 bits.
    """
    match dtype:
        case gast.Attribute(value=base, attr="dtype"):
            value = s.value(base)
            if isinstance(value, Pair):
                return made("a.dtype", {"a": s.once(value.re)}, e)
    return made("np.float64", {}, e)


def _of_cmath(s: Values, e: gast.Call, word: str) -> Pair:
    values = s.operands(e.args)
    if word == "rect":
        if any(map(_is, values)) or len(values) != 2:
            raise s.refuse(e, "these arguments of `rect`", "give it two real numbers")
        return s.formula("rect", Pair(*values), None, e)
    if len(values) != 1:
        raise s.refuse(e, "these arguments", "give it one complex number")
    return s.formula(word, s.lifted(values[0], False), None, e)


def _elementwise(s: Values, e: gast.Call, word: str) -> Pair:
    if e.keywords:
        raise s.refuse(e, "a keyword beside a complex number", "leave it out")
    values = s.operands(e.args)
    if word in ("+", "-", "*", "/", "**"):
        if len(values) != 2:
            raise s.refuse(e, "these arguments", "give it two")
        return s.operation(word, values[0], values[1], e)
    if len(values) != 1:
        raise s.refuse(e, "these arguments", "give it one complex number")
    value = s.lifted(values[0], False)
    if word == "square":
        return s.formula("*", value, value, e)
    return s.formula(word, value, None, e)


def _product(s: Values, e: gast.Call, function: object) -> Pair:
    values = s.operands(e.args)
    if len(values) != 2 or e.keywords:
        raise s.refuse(e, "these arguments", "give it two")
    if function is np.dot or function is np.matmul:
        name = "dot" if function is np.dot else "matmul"
    else:
        name = "outer" if function is np.outer else "inner"
    return product(s, name, values[0], values[1], e)


def product(
    s: Values,
    name: str,
    a: Pair | gast.AST,
    b: Pair | gast.AST,
    e: gast.AST,
) -> Pair:
    """A product of arrays, of which one is complex at least."""

    def of(x: gast.AST, y: gast.AST) -> gast.AST:
        return made(f"np.{name}(a, b)", {"a": x, "b": y}, e)

    a = s.whole(a) if isinstance(a, Pair) else a
    b = s.whole(b) if isinstance(b, Pair) else b
    if isinstance(a, Pair) and isinstance(b, Pair):
        a, b = s.simple(a), s.simple(b)
        parts = {
            "a": of(a.re, b.re),
            "b": of(a.im, b.im),
            "c": of(a.re, b.im),
            "d": of(a.im, b.re),
        }
        return Pair(made("a - b", parts, e), made("c + d", parts, e))
    if isinstance(a, Pair):
        right = s.once(b)
        return Pair(of(a.re, right), of(a.im, right))
    assert isinstance(b, Pair)
    left = s.once(a)
    return Pair(of(left, b.re), of(left, b.im))


def linear(s: Values, e: gast.Call) -> Pair:
    """The same call for each part; what is real stays as it is."""
    function = s.kinds.outside(e.func, s.place)
    values = []
    if function is np.where and len(e.args) == 3:
        test, *both = s.operands(e.args)
        test = s.once(test) if not isinstance(test, Pair) else s.real(e.args[0])
        values = [test, *(s.lifted(v, False) for v in both)]
    elif function is np.append and len(e.args) == 2:
        values = [s.lifted(v, False) for v in s.operands(e.args)]
    else:
        for v in e.args:
            values.append(s.listed(v) if isinstance(v, _LISTS) else s.value(v))
    for k in e.keywords:
        if k.arg not in ("axis", "keepdims"):
            raise s.refuse(
                k.value, f"`{k.arg}=` beside a complex number", "leave it out"
            )
        values.append(s.real(k.value))
    if function is not np.where:
        values = [_whole(s, v) if isinstance(v, Pair) else v for v in values]
    given = [s.simple(v) if isinstance(v, Pair) else v for v in values]
    parts = [
        [(v.re, v.im)[k] if isinstance(v, Pair) else copy.deepcopy(v) for v in given]
        for k in (0, 1)
    ]
    return Pair(_with(e, parts[0]), _with(e, parts[1]))


def _whole(s: Values, pair: Pair) -> Pair:
    """A pair, or one of lists, whose parts have the same axes."""
    if not isinstance(pair.re, _LISTS):
        return s.whole(pair)
    re, im = copy.copy(pair.re), copy.copy(pair.im)
    both = zip(pair.re.elts, pair.im.elts, strict=True)
    pairs = [_whole(s, Pair(a, b)) for a, b in both]
    re.elts, im.elts = [p.re for p in pairs], [p.im for p in pairs]
    return Pair(re, im)


def _asked(e: gast.Call) -> gast.AST | None:
    """The dtype that ``x.astype(...)`` asks for."""
    return next((v for v in (*e.args, *(k.value for k in e.keywords))), None)


def _method(s: Values, e: gast.Call) -> Pair | gast.AST:
    """``z.sum()`` and its like."""
    base, attr = e.func.value, e.func.attr
    if attr in ("conj", "conjugate") and not e.args and not e.keywords:
        value = s.value(base)
        if isinstance(value, Pair):
            return s.formula("conj", s.simple(value), None, e)
        raise s.refuse(e, *_CONJUGATE)
    if not s.kinds.has(base, s.place):
        if attr == "astype" and s.kinds.has(e, s.place):
            return _from_real(s, s.real(base), _asked(e), e)
        values = s.operands([*e.args, *(k.value for k in e.keywords)])
        if attr == "dot" and len(values) == 1 and _is(values[0]):
            return product(s, "dot", s.real(base), values[0], e)
        if any(map(_is, values)):
            raise s.refuse(e, f"`.{attr}` with a complex number", "write a loop")
        return _with_base(_with(e, values), s.real(base))
    pair = s.simple(s.whole(s.pair(base)))
    if attr == "dot" and len(e.args) == 1:
        return product(s, "dot", pair, s.value(e.args[0]), e)
    if attr == "astype":
        if not s.kinds.has(e, s.place):
            raise s.refuse(
                e, "the imaginary part would be dropped", "write `z.real` if it may be"
            )
        dtype = _part_dtype(s, _asked(e), e)
        parts = ({"a": x, "b": copy.deepcopy(dtype)} for x in (pair.re, pair.im))
        return Pair(*(made("a.astype(b)", p, e) for p in parts))
    if attr not in METHODS:
        raise s.refuse(e, f"`.{attr}` of complex numbers", "write a loop")
    values = s.operands([*e.args, *(k.value for k in e.keywords)])
    if any(map(_is, values)):
        raise s.refuse(e, f"`.{attr}` with a complex number", "write a loop")
    return Pair(
        _with_base(_with(e, values), pair.re),
        _with_base(_with(e, [copy.deepcopy(v) for v in values]), pair.im),
    )


def _with_base(e: gast.Call, base: gast.AST) -> gast.Call:
    new, func = copy.copy(e), copy.copy(e.func)
    func.value = base
    new.func = func
    return new
