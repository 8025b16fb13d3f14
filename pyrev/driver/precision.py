"""Have complex numbers that are given or returned one precision?"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyrev.adjoint.activity import returned
from pyrev.driver.arguments import Kind
from pyrev.driver.function import Function
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.dtypes import expr_dtype, infer, is_float
from pyrev.parse.rewriting.complex_numbers.arguments import pairs_in


def check_precision(
    function: Function, kinds: Mapping[str, Kind], weak: Collection[str]
) -> bool:
    """True; `ArgumentError` where floats of 32 and of 64 bits meet beside complex
    numbers that are given or returned. The numbers in `weak` adapt.

    NumPy computes both parts of a number in the precision of the wider one, and each
    part of a pair has its own.
    """
    parsed = function.parsed
    shapes = [*(shape for _, shape in parsed.forms.shapes), parsed.result]
    if not any(True for shape in shapes for _ in pairs_in(shape)):
        return True
    given = {n: kind.dtype for n, kind in kinds.items()}
    given |= {n: "weak float" for n in weak if is_float(given[n])}
    program = function.typed(kinds)
    env = infer(program, given)
    result = returned(program)
    found = {expr_dtype(v, env) for v in (result.values if result else ())}
    if {*env.values()} | found >= {"float32", "float64"}:
        raise ArgumentError(
            f"{program.name}(): float32 or complex64 stands beside float64 or"
            " complex128 where complex numbers are given or returned; pass all in one"
            " precision, as by .astype(np.complex128), and give new arrays the dtype of"
            " an argument, np.zeros(n, dtype=z.dtype)"
        )
    return True
