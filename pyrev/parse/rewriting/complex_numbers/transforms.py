"""Calls of Fourier transforms, with the parts of what they are given."""

from __future__ import annotations

import gast

from pyrev.parse.library.transforms import Form
from pyrev.parse.rewriting.complex_numbers.parts import Pair, constant, made
from pyrev.parse.rewriting.complex_numbers.values import Values
from pyrev.parse.rewriting.made_texts import name_of, number_of, placed
from pyrev.parse.scopes import TRANSFORMS

_NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}


def transformed(s: Values, e: gast.Call, form: Form) -> Pair | gast.AST:
    """The call of the transform of the library that does the same."""
    array, size, axes, norm = _arguments(s, e, form)
    value = s.value(array)
    first, divided = _first(s, e, form, axes), _norm(s, e, norm)
    integers: list[gast.AST]
    if form.transform == "fourier_half":
        if isinstance(value, Pair):
            raise s.refuse(
                e, "the transform of real numbers of complex ones", "take fft"
            )
        _no_size(s, e, size)
        integers = [number_of(form.count), number_of(divided)]
        return s.two(_call(form.transform, [value, *integers], e))
    if isinstance(value, Pair):
        pair = s.simple(s.whole(value))
    else:
        real = s.once(value)
        pair = Pair(real, made("np.zeros_like(a)", {"a": real}, e))
    if form.transform == "fourier":
        _no_size(s, e, size)
        numbers = int(form.inverse), first, form.count, divided
        integers = [*map(number_of, numbers)]
        return s.two(_call(form.transform, [pair.re, pair.im, *integers], e))
    length, rows = _sizes(s, e, form, size, pair)
    integers = [length, rows, number_of(form.count), number_of(divided)]
    return _call(form.transform, [pair.re, pair.im, *integers], e)


def _arguments(
    s: Values, e: gast.Call, form: Form
) -> tuple[gast.AST, gast.AST | None, gast.AST | None, gast.AST | None]:
    """The array, its size, the axes and the norm, as NumPy and SciPy name them."""
    names = (
        ["a", "n", "axis", "norm"] if form.count == 1 else ["a", "s", "axes", "norm"]
    )
    given = dict(zip(names, e.args, strict=False))
    for k in e.keywords:
        name = "a" if k.arg == "x" else k.arg
        if name not in names or name in given:
            what = f"`{k.arg}=` of a transform"
            raise s.refuse(e, what, f"it may have {', '.join(names[1:])}")
        given[name] = k.value
    if len(e.args) > len(names) or "a" not in given:
        raise s.refuse(e, "these arguments of a transform", "give it an array")
    array, size, axes, norm = (_said(given.get(n)) for n in names)
    return array, size, axes, norm


def _said(v: gast.AST | None) -> gast.AST | None:
    """An argument; None where the call says None."""
    return None if isinstance(v, gast.Constant) and v.value is None else v


def _first(s: Values, e: gast.Call, form: Form, axes: gast.AST | None) -> int:
    """The first of the axes."""
    if axes is None:
        return -form.count
    if form.count == 1:
        axis = constant(axes)
        if axis is not None and (axis == -1 or form.transform == "fourier"):
            return int(axis)
        raise s.refuse(
            e,
            "a transform along this axis",
            "write a number, of `rfft` and `irfft` the last axis: transpose before",
        )
    if isinstance(axes, gast.Tuple) and form.count == 2:
        if [constant(v) for v in axes.elts] == [-2, -1]:
            return -2
    raise s.refuse(e, "a transform along these axes", "leave `axes=` out")


def _norm(s: Values, e: gast.Call, norm: gast.AST | None) -> int:
    value = None if norm is None else getattr(norm, "value", norm)
    if value is not None and not (isinstance(value, str) and value in _NORMS):
        helps = "write 'backward', 'ortho' or 'forward'"
        raise s.refuse(e, "this norm of a transform", helps)
    return _NORMS[value]


def _no_size(s: Values, e: gast.Call, size: gast.AST | None) -> None:
    if size is not None:
        raise s.refuse(
            e,
            "a transform of another size than its array's",
            "transform a part, `x[:n]`, or an array of zeros with it in front",
        )


def _sizes(
    s: Values, e: gast.Call, form: Form, size: gast.AST | None, pair: Pair
) -> tuple[gast.AST, gast.AST]:
    """How long the rows of an inverse are, and how many there are, 0 if nobody says."""
    if size is None:
        last = gast.Subscript(
            gast.Attribute(pair.re, "shape", gast.Load()), number_of(-1), gast.Load()
        )
        length = made("2 * (a - 1)", {"a": placed(last, e)}, e)
        return length, number_of(0)
    if form.count == 1:
        return s.real(size), number_of(0)
    if isinstance(size, gast.Tuple):
        if len(size.elts) != 2:
            raise s.refuse(e, "this size of a transform", "give it two numbers")
        rows, length = (s.real(v) for v in size.elts)
        return length, rows
    if not _is_shape(size):
        raise s.refuse(e, "this size of a transform", "write `s=x.shape` or `s=(n, m)`")
    ends = [placed(gast.Subscript(size, number_of(k), gast.Load()), e) for k in (1, 0)]
    return ends[0], ends[1]


def _is_shape(size: gast.AST) -> bool:
    return (
        isinstance(size, gast.Attribute)
        and size.attr == "shape"
        and isinstance(size.value, gast.Name)
    )


def _call(name: str, args: list[gast.AST], e: gast.Call) -> gast.AST:
    func = gast.Attribute(name_of(TRANSFORMS), name, gast.Load())
    return placed(gast.Call(func, args, []), e)
