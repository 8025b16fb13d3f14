"""A program as C99, and the Python that calls it.

The host makes the arrays that the function returns; all others that it makes are freed
when it is done. What fails is told in `status`, and raised after the call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyrev.driver.targets.target import Job, no_form
from pyrev.emit.c import C_TYPES, Tight
from pyrev.emit.cuda.kernel import KernelText
from pyrev.emit.faults import Faults
from pyrev.emit.subscripts import Subscripts
from pyrev.ir.dtypes import concrete, expr_dtype, infer
from pyrev.ir.nodes import (
    Alloc,
    Call,
    Const,
    Expr,
    Extent,
    Given,
    Load,
    Program,
    Return,
    Var,
    all_names,
    assigned_scalars,
    fresh,
    walk,
)
from pyrev.ir.printer import Emitted, Text
from pyrev.ir.text import error_modules, expr_text, numpy_name
from pyrev.schedule.launches import Kernel

#: What ctypes calls the types of C.
CTYPES = {
    "bool": "c_bool",
    "float32": "c_float",
    "float64": "c_double",
    **{f"{u}int{n}": f"c_{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)},
}

#: C has no templates: each function is there for each type that it is called with.
HELPERS = {
    "py_min": "T py_min(T a, T b) { return b < a ? b : a; }",
    "py_max": "T py_max(T a, T b) { return b > a ? b : a; }",
    "np_minimum": "T np_minimum(T a, T b) { return a <= b || a != a ? a : b; }",
    "np_maximum": "T np_maximum(T a, T b) { return a >= b || a != a ? a : b; }",
    "np_fmin": "T np_fmin(T a, T b) { return a <= b || b != b ? a : b; }",
    "np_fmax": "T np_fmax(T a, T b) { return a >= b || b != b ? a : b; }",
    "magnitude": "T magnitude(T x) { return x < 0 ? -x : x; }",
    "sign": "T sign(T x) { return x > 0 ? 1 : x < 0 ? -1 : x; }",
    "floor_div": """T floor_div(T a, T b)
{
    T q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}""",
    "py_mod": """T py_mod(T a, T b)
{
    T m = a % b;
    return (m != 0 && (m < 0) != (b < 0)) ? m + b : m;
}""",
    "power": """T power(T x, long long n)
{
    T y = 1;
    for (; n > 0; n >>= 1) {
        if (n & 1) y *= x;
        x *= x;
    }
    return y;
}""",
    "from_end": "T from_end(T k, T n) { return k < 0 ? k + n : k; }",
}
HEAD = """\
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>"""

NO_MEMORY = "MemoryError", ("no memory is left for an array",)

#: Names of the text that calls C.
HOST = frozenset(("np", "builtins", "ctypes", "LIBRARY", "ERRORS", "error", "message"))

HELP = "use target='numba' for it"


def emit_c(program: Program, job: Job, wraps: bool) -> Emitted:
    """The module that runs a program.

    Raises `UnsupportedError` for what the sketch has no form for.
    """
    return _Module(program, job, wraps).emitted()


class _Module:
    """What `KernelText` asks of the module that a function of C is part of."""

    def __init__(self, program: Program, job: Job, wraps: bool) -> None:
        self.program, self.doc = program, job.doc
        self.name, self.sources, self.wraps = program.name, job.sources, wraps
        self.types = infer(program, dict(job.dtypes))
        self.resident: frozenset[str] = frozenset()
        self.taken = {*all_names(program.body), *(p.name for p in program.params)}
        self.kernels: list[list[str]] = []
        self.helpers: dict[str, None] = {}
        self.reassociated: dict[str, None] = {}
        self.faults = Faults(self.types, program.body)
        self.subscripts = Subscripts(program, job.never_negative)
        self.forms: set[str] = set()
        self.called: dict[str, str] = {}
        self.errors: dict[int, tuple[str, tuple[Given, ...]]] = {-1: NO_MEMORY}
        if error_modules(program.body):
            no_form(program.loc, "it raises an exception of its own", HELP)
        if self.taken & HOST:
            no_form(program.loc, "it has names that the host's text needs", HELP)

    def number(self, e: Expr) -> str:
        """An expression of sizes and numbers, in Python."""
        return expr_text(e)

    def failure(self, error: str, given: tuple[Given, ...]) -> int:
        """The number that stands for an error in `status`."""
        for number, known in self.errors.items():
            if repr(known) == repr((error, given)):
                return number
        self.errors[number := len(self.errors)] = error, given
        return number

    def emitted(self) -> Emitted:
        """The whole module."""
        function = _Function(self)
        code = function.code()
        host = function.host()
        lines = [
            *(f"# {line}" for line in self.doc.splitlines()),
            "import builtins",
            "import ctypes",
            "",
            "import numpy as np",
            "",
            f'CODE = r"""{code}"""',
            f"ERRORS = {self.errors!r}",
            "",
            "",
            *host,
            "",
        ]
        return Emitted(Text("\n".join(lines), ()), ())


class _Function(KernelText):
    """The function of C, and the function of Python that calls it."""

    def __init__(self, module: _Module) -> None:
        self.program = program = module.program
        *rest, last = program.body or (None,)
        ends = isinstance(last, Return)
        self.whole = tuple(rest) if ends else program.body
        self.result = last if ends else None
        self.values = last.values if ends else ()
        if any(isinstance(s, Return) for s in walk(self.whole)):
            no_form(program.loc, "it returns early", HELP)
        super().__init__(module, Kernel(self.whole))
        self.leave = "goto done;"
        self.inline = frozenset()
        self.returned = self._made_by_host()
        arrays = {p.name for p in program.params if p.rank} | self.returned.keys()
        #: The numbers that are returned: what they are called, and their dtypes.
        self.numbers = [
            (fresh(f"result_{k}", self.names), concrete(expr_dtype(v, self.types)))
            for k, v in enumerate(self.values)
            if not isinstance(v, Var) or v.name not in arrays
        ]

    def _made_by_host(self) -> dict[str, Alloc]:
        """The arrays that are returned and that the function makes."""
        found: dict[str, Alloc] = {}
        for v in self.values:
            if not isinstance(v, Var) or v.name not in self.local:
                continue
            made = self.local.pop(v.name)
            same = [s for s in walk(self.whole) if getattr(s, "array", "") == v.name]
            if same != [made] or made not in self.whole:
                no_form(made.loc, "what it returns is made in several places", HELP)
            if not all(map(self.before, made.shape)):
                no_form(made.loc, "the size of what it returns is not known", HELP)
            found[v.name] = made
        return found

    # ---------------------------------------------------------------- C

    def code(self) -> str:
        """The text of C."""
        out = self.out
        self.rename_all(self.whole)
        out.depth = 1
        self._declarations()
        self.block(self.whole)
        numbers = iter(self.numbers)
        for v in self.values:
            if not isinstance(v, Var) or v.name not in self._arrays():
                name, kind = next(numbers)
                out(f"*{name} = {self.as_(v, kind)[0]};")
        out("goto done;")
        out.depth = 0
        out("done:")
        out.depth = 1
        for a in self.local:
            out(f"free({self.c(a)});")
        out("return;")
        helpers = [_helper(*h.split()) for h in self.helpers]
        head = f"void run({', '.join(self._parameters())})"
        text = "\n\n".join([HEAD, *helpers, "\n".join([head, "{", *out.lines, "}"])])
        return f"\n{text}\n"

    def _parameters(self) -> list[str]:
        kinds = {n: C_TYPES[concrete(self.types[n])] for n in self.arrays}
        kinds |= {n: C_TYPES[concrete(self.types[n])] for n in self.scalars}
        return [
            *(f"{kinds[a]}* {self.c(a)}" for a in self.arrays),
            *(f"long long {n}" for n in self.extents.values()),
            *(f"{kinds[n]} {self.c(n)}" for n in self.scalars),
            *(f"{C_TYPES[kind]}* {name}" for name, kind in self.numbers),
            "long long* status",
        ]

    def _arrays(self) -> set[str]:
        """The arrays that the function is given."""
        own = {p.name for p in self.program.params if p.rank}
        return own | self.returned.keys()

    def _declarations(self) -> None:
        """All that is local, before anything may leave."""
        params = {p.name for p in self.program.params}
        for a, s in self.local.items():
            self.out(f"{C_TYPES[concrete(self.types[a])]}* {self.c(a)} = NULL;")
            for k in range(len(s.shape)):
                self.out(f"long long {self.c(a)}_n{k} = 0;")
                self.names.add(f"{self.c(a)}_n{k}")
        for n in assigned_scalars(self.whole):
            self.declared.add(n)
            if n in params:
                self.scalars[n] = None  # its own already
            else:
                self.out(f"{C_TYPES[concrete(self.types[n])]} {self.c(n)} = 0;")

    def small(self, s: Alloc) -> bool:
        return False

    def measured(self, s: Alloc, k: int) -> bool:
        return True

    def add(self, target: Var | Load, value: Expr) -> None:
        """In two roundings, as the text says."""
        kind = concrete(expr_dtype(target, self.types))
        total = Call("+", (target, value))
        if isinstance(value, Call) and value.op == "neg":
            total = Call("-", (target, *value.args))
        self.out(f"{self.place(target)} = {self.as_(total, kind)[0]};")

    def alloc(self, s: Alloc) -> None:
        out, a = self.out, self.array(s.array)
        kind = concrete(self.types[s.array])
        if s.array in self.local:
            for k, n in enumerate(s.shape):
                out(f"{a}_n{k} = {self.as_(n, 'int64')[0]};")
                if not isinstance(n, (Extent, Const)):
                    what = f"{s.loc.place}: negative dimensions are not allowed"
                    self.fail(f"{a}_n{k} < 0", "ValueError", (what,))
        count = " * ".join(self.extent(s.array, k) for k in range(len(s.shape)))
        if s.array in self.local:
            out(f"free({a});")
            out(f"{a} = malloc(({count} > 0 ? {count} : 1) * sizeof *{a});")
            self._no_memory(f"!{a}")
        index = fresh("k", self.names)
        each = f"for (long long {index} = 0; {index} < {count}; ++{index})"
        if s.source is not None:
            out(f"{each} {a}[{index}] = {self.array(s.source)}[{index}];")
        elif s.fill is not None:
            out(f"{each} {a}[{index}] = {self.as_(s.fill, kind)[0]};")

    def grow(self, array: str) -> None:
        a, rank = self.c(array), len(self.local[array].shape)
        count = " * ".join(self.extent(array, k) for k in range(rank))
        more = fresh("more", self.names)
        self.out(f"void* {more} = realloc({a}, 2 * {count} * sizeof *{a});")
        self._no_memory(f"!{more}")
        self.out(f"{a} = {more};")
        self.out(f"{a}_n0 *= 2;")

    def _no_memory(self, test: str) -> None:
        code = self.module.failure(*NO_MEMORY)
        self.out(f"if ({test}) {{ *status = {code}; {self.leave} }}")

    def call(self, op: str, args: tuple[Expr, ...], dtype: str) -> Tight:
        if op in ("<<", ">>"):
            no_form(self.program.loc, f"`{op}`", HELP)
        return super().call(op, args, dtype)

    def helper(self, name: str, kind: str, args: Sequence[Expr]) -> Tight:
        texts = ", ".join(self.as_(a, kind)[0] for a in args)
        return f"{self._typed(name, kind)}({texts})", 16

    def _typed(self, name: str, kind: str) -> str:
        """What a helper is called for arguments of a type."""
        if name in ("floor_div", "py_mod") and "float" in kind:
            no_form(self.program.loc, "a float that is rounded down", HELP)
        self.helpers[f"{name} {kind}"] = None
        return f"{name}_{kind}"

    def power(self, base: Expr, exponent: Expr, dtype: str) -> Tight:
        text, tight = super().power(base, exponent, dtype)
        if self.helpers.pop("power", self) is None:
            kind = concrete(dtype)
            name = f"power<{C_TYPES[kind]}>("
            text = text.replace(name, f"{self._typed('power', kind)}(", 1)
        return text, tight

    def subscript(self, a: str, k: int, e: Expr) -> Tight:
        text, tight = super().subscript(a, k, e)
        if self.helpers.pop("from_end", self) is None:
            name = self._typed("from_end", "int64")
            text = text.replace("from_end(", f"{name}(", 1)
        return text, tight

    # ---------------------------------------------------------------- the host

    def host(self) -> list[str]:
        """The lines of the function that Python calls."""
        lines = []
        for name, s in self.returned.items():
            shape = ", ".join(map(expr_text, s.shape))
            kind = numpy_name(concrete(self.types[name]))
            lines.append(f"{name} = np.empty(({shape},), dtype={kind})")
        taken = set(self.module.taken)
        status = fresh("status", taken)
        own = {n: fresh(n, taken) for n, _ in self.numbers}
        lines += [f"{own[n]} = ctypes.{CTYPES[kind]}()" for n, kind in self.numbers]
        args = [f"ctypes.c_void_p({a}.ctypes.data)" for a in self.arrays]
        args += [f"ctypes.c_longlong({a}.shape[{k}])" for a, k in self.extents]
        args += [f"ctypes.{CTYPES[concrete(self.types[n])]}({n})" for n in self.scalars]
        args += [f"ctypes.byref({n})" for n in (*own.values(), status)]
        lines += [
            f"{status} = ctypes.c_longlong()",
            "LIBRARY.run(",
            *(f"    {arg}," for arg in args),
            ")",
            f"if {status}.value:",
            f"    error, message = ERRORS[{status}.value]",
            "    raise getattr(builtins, error)(*message)",
        ]
        numbers = (f"{n}.value" for n in own.values())
        found = [
            v.name if isinstance(v, Var) and v.name in self._arrays() else next(numbers)
            for v in self.values
        ]
        if self.result is not None:
            several = f"({', '.join(found)}{',' if found else ''})"
            lines.append(f"return {found[0] if self.result.single else several}")
        params = ", ".join(p.name for p in self.program.params)
        head = f"def {self.program.name}({params}):"
        return [head, *(f"    {line}" for line in lines)]


def _helper(name: str, kind: str) -> str:
    """The function of C for one type."""
    text = re.sub(rf"\bT {name}\b", f"static T {name}_{kind}", HELPERS[name])
    return re.sub(r"\bT\b", C_TYPES[kind], text)
