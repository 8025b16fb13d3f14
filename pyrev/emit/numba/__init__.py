"""The CPU target: Numba functions that run a scheduled program on all cores.

    def f(...)            called from Python: raises what the compiled code found wrong
    def _f(...)           the statements between the nests, and a call for each nest
    def _f_1(...)         one nest; a parallel loop calls, for each iteration,
    def _f_1_y(y, ...)    its body

Subscripts are not tested here: `analysis.bounds` has shown, before the call, that every
access stays inside its array and that affine subscripts are not negative. Nothing is
raised inside a parallel loop, where Numba would lose it: a body that divides an
integer by zero says so in `status` and returns. Sums over an innermost loop stand in
functions of their own, which alone may reassociate; where the loop writes arrays
besides, only the addition does (``_add``). They are listed in the result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyrev.emit.carried import IN_VECTORS, definitions
from pyrev.emit.numba.module import Module
from pyrev.emit.numba.nests import entry
from pyrev.emit.numba.statements import allocated
from pyrev.emit.numba.trees import assign, decorators
from pyrev.emit.share import share
from pyrev.ir.nodes import Expr, Given, Program
from pyrev.ir.primitives import PRIMITIVES
from pyrev.ir.printer import Blank, Emitted, Text, comment, tag, write
from pyrev.ir.text import call, error_modules, name, subscript
from pyrev.schedule.costs import SHIPPED, CpuCosts
from pyrev.schedule.hoist import made_first
from pyrev.schedule.named_parts import name_parts
from pyrev.schedule.work import Choose

#: The functions that are other ones for Numba: of `math` where Python's are NumPy's.
FOR_NUMBA = {
    p.python: p.numba for p in PRIMITIVES.values() if p.numba not in ("", p.python)
}
_INLINED = {f.__name__ for f in IN_VECTORS}
_FAST = ("contract", "nsz", "reassoc")


def emit_numba(
    program: Program,
    dtypes: Mapping[str, str],
    *,
    doc: str = "",
    wraps: bool = False,
    natural: frozenset[Expr] = frozenset(),
    cpu: CpuCosts = SHIPPED.cpu,
    unmeasured: frozenset[str] = frozenset(),
    choose: Choose = lambda count, least: None,
    fast: bool = False,
) -> Emitted:
    """The module that runs `program`, for parameters of the given dtypes.

    `natural` are subscripts that are never negative, beside those of indices and sizes.
    With `wraps`, sums and products of integers that are data go around at 64 bits, as
    NumPy's do. Numba leaves it undefined, and LLVM removes tests that rely on it.
    Of `unmeasured` parameters no size was known when the loops were put in order.
    `choose(count, least)` says whether there are so many of something; None if nothing
    is known. With `fast` numbers may meet in any order.
    """
    program, parts, types = name_parts(program, dtypes, remainders=True)
    module = Module(program, types, cpu, wraps, natural, parts, unmeasured, choose)
    functions = _functions(module)
    if module.places and not module.status:
        # What was known of a statement is not known of what it became: with the tests.
        module = Module(program, types, cpu, wraps, natural, parts, unmeasured, choose)
        module.status = [module.state]
        functions = _functions(module)
    head: list[ast.stmt] = [comment(line) for line in doc.splitlines()]
    imports: list[Any] = [
        ast.ImportFrom("numba", [ast.alias("njit"), ast.alias("prange")], 0)
    ]
    if not module.drivers:
        imports = [ast.ImportFrom("numba", [ast.alias("njit")], 0)]
    if module.objects:
        found = [*imports[0].names, ast.alias("objmode")]
        imports = [
            ast.ImportFrom("numba", found, 0),
            Blank(),
            ast.ImportFrom(
                "pyrev.runtime.opaque",
                [ast.alias("run", "as_it_is"), ast.alias("with_sizes")],
                0,
            ),
        ]
    held = definitions(module.held)
    for function in held:
        inlined = function.name in _INLINED
        how = "INLINED" if inlined else "EXACT" if fast else "SERIAL"
        function.decorator_list = decorators(how)
    tree = [*held, *(_Scalar().visit(f) for f in share(functions, cpu.shared_nests))]
    if any(
        isinstance(n, ast.Name) and n.id == "math" for f in tree for n in ast.walk(f)
    ):
        imports = [ast.Import([ast.alias("math")]), Blank(), *imports]
    at = 2 if isinstance(imports[0], ast.Import) else 0
    imports.insert(at, ast.Import([ast.alias("numpy", "np")]))
    modules = error_modules(program.body)
    if modules:
        imports += [Blank(), *(ast.Import([ast.alias(m)]) for m in modules)]
    body = [*head, *imports, Blank(), *_options(module, fast), *tree]
    text = write(ast.Module(body, []))
    return Emitted(Text(text.text + "\n", text.locs), tuple(module.reassociated))


class _Scalar(ast.NodeTransformer):
    """``math.sin`` for ``np.sin``: every argument here is a number."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name):
            known = FOR_NUMBA.get(f"{node.value.id}.{node.attr}")
            if known is not None:
                return name(known)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = FOR_NUMBA.get(node.id)
        return node if known is None else name(known)


def _functions(m: Module) -> list[ast.stmt]:
    """Every function of the module, the one that Python calls last."""
    program = m.program
    params = [p.name for p in program.params]
    m.first = made_first(program, m.faults.fails)
    m.given |= {s.array for s in m.first}
    run = entry(m, f"_{program.name}")
    outer = [tag(_from_memory(allocated(m, s), m.memory), s.loc) for s in m.first]
    if m.status:
        made = call("np.zeros", ast.Constant(1 + m.told), dtype=name("np.int64"))
        outer.append(assign(m.state, made))
    if m.places:
        failed = subscript(name(m.state), [ast.Constant(0)])
        error = subscript(name("ERRORS"), [failed])
        kind = subscript(error, [ast.Constant(0)])
        parts: ast.expr = subscript(error, [ast.Constant(1)])
        if m.told:
            parts = call("told", name(m.state))
        given = ast.Starred(parts, ast.Load())
        raised = ast.Raise(ast.Call(kind, [given], []), ast.Constant(None))
        run = ast.Try([run], [], [], [ast.If(failed, [raised], [])])
    outer.append(run)
    m.define(program.name, params, outer, "", program.loc)
    if m.status and not m.places and not _is_asked(m.made, m.state):
        # All that might have failed was shown not to.
        return [_Without(m.state).visit(f) for f in m.made]
    return m.made


def _is_asked(functions: Sequence[ast.stmt], array: str) -> bool:
    """Is an element of the array read somewhere?"""
    return any(
        isinstance(n, ast.Subscript) and ast.unparse(n.value) == array
        for f in functions
        for n in ast.walk(f)
    )


class _Without(ast.NodeTransformer):
    """Functions without a parameter that nobody reads."""

    def __init__(self, param: str) -> None:
        self.param = param

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.args = [a for a in node.args if a.arg != self.param]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [a for a in node.args if not self._is_it(a)]
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if self._is_it(node.targets[0]) else self.generic_visit(node)

    def _is_it(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.param


def _options(m: Module, freely: bool) -> list[ast.stmt]:
    """The decorators' options, and the errors that `status` counts."""
    memory = "zeros, empty, copy = np.zeros, np.empty, np.copy  # or from a pool"
    fast = ", ".join(f'"{flag}"' for flag in _FAST)
    text = [memory] if m.first else []
    # What CPython runs on the way needs its lock.
    free = "" if m.objects else '"nogil": True, '
    text.append(f'ENTRY = {{"error_model": "numpy", {free}"cache": True}}')
    if len(m.made) > 2 or m.held:
        # Python calls none of these: wrappers for it would only take time.
        text += [
            'SERIAL = {"error_model": "numpy"' + f", {free}".rstrip(", ") + "}",
            'SERIAL |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}',
        ]
    if freely:
        text.append(f'ENTRY |= {{"fastmath": {{{fast}}}}}')
        if len(m.made) > 2 or m.held:
            text.append(f'SERIAL |= {{"fastmath": {{{fast}}}}}')
    if m.drivers:
        text.append('PARALLEL = {**SERIAL, "parallel": True}')
    if m.held and freely:
        # Their digits come from the order of operations.
        text.append('EXACT = {**SERIAL, "fastmath": False}')
    if m.held & _INLINED:
        exact = "EXACT" if freely else "SERIAL"
        text.append(f'INLINED = {{**{exact}, "forceinline": True}}')
    if m.reassociated:
        text.append(f'SUM = {{**SERIAL, "fastmath": {{{fast}}}}}')
    out = [*ast.parse("\n".join(text)).body]
    if m.places:
        errors: list[ast.expr] = [ast.Constant(None)]
        for _, kind, given, kinds in m.places.values():
            parts = [name(kind), _constants(given)]
            parts += [_constants(kinds)] if m.told else []
            errors.append(ast.Tuple(parts, ast.Load()))
        out.append(assign("ERRORS", ast.Tuple(errors, ast.Load())))
        if m.told:
            out += ast.parse(_TOLD).body
    return out


def _constants(values: Iterable[Given]) -> ast.expr:
    return ast.Tuple([ast.Constant(v) for v in values], ast.Load())


#: The arguments of an error whose message has values, which are behind its number.
_TOLD = """
def told(status):
    _, given, kinds = ERRORS[status[0]]
    if not kinds:
        return given
    values = []
    for bits, kind in zip(status[1:], kinds):
        values.append((bits.view("float64") if "float" in kind else bits).astype(kind))
    return (given[0].format(*values),)
"""


def _from_memory(made: ast.stmt, names: frozenset[str]) -> ast.stmt:
    """``a = np.zeros(...)`` by the module's own name, which a pool may replace."""
    assert isinstance(made, ast.Assign) and isinstance(made.value, ast.Call)
    function = ast.unparse(made.value.func)
    plain = function.rpartition(".")[2]
    if plain not in names:
        return made
    if function in ("np.zeros", "np.empty"):
        made.value.func = name(function.removeprefix("np."))
    elif function.endswith(".copy"):
        made.value = call("copy", name(function.removesuffix(".copy")))
    return made
