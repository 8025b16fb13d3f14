"""Numba's compiler, which here does not do twice what it needs once.

Numba looks for the implementation of `a * b` by trying one template after another, at
every `*` of a function: up to three times while it infers types, once more when it
lowers. In long generated functions that was half of the time to compile them. What it
finds depends on the operation and the types of its arguments only, so one compilation
asks once.

Its analyses of variables take quadratic time in the length of a function, and longer
still where that branches: the same is found in less here, by bits, and by a look at
the blocks alone that mention a variable.

It optimises a function, and makes machine code of it, that only others call, and does
both again with each that calls it. Here that is done once.

And of the body of a parallel loop it makes a function, from its own representation,
with two more around it; all that our bodies do is to call one that is there. See
`runtime.parallel_loops`, and `parallel_for` below.

All that is changed of Numba's own is here, and only in the version with which the tests
ran (`code_cache.TESTED_NUMBA`).
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from llvmlite import ir as llvm
from llvmlite.binding import Linkage, ffi, newpassmanagers
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import (
    analysis,
    cgutils,
    compiler,
    ir,
    ir_utils,
    ssa,
    types,
    untyped_passes,
)
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.typed_passes import _reload_parfors
from numba.core.types.functions import BaseFunction
from numba.extending import intrinsic
from numba.np import arrayobj, linalg
from numba.np.ufunc import parallel
from numba.parfors import parfor, parfor_lowering

from pyrev.runtime.error_boundary import GENERATED


def _is_installed() -> None:
    """`numba.np.linalg.ensure_blas`, without an import of SciPy's linear algebra, which
    takes longer than Numba's own: it is imported where a function needs it.
    """
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("scipy is not installed")


# The module that asks, while it is imported, whether there is a BLAS.
_ENSURE_BLAS, linalg.ensure_blas = linalg.ensure_blas, _is_installed
try:
    importlib.import_module("numba.np.arraymath")
finally:
    linalg.ensure_blas = _ENSURE_BLAS

# Values of these types say nothing that a later use could refine, as a list's may.
_SETTLED = (types.Number, types.Boolean, types.Literal, types.Array, types.UniTuple)


class Remembering(Compiler):
    """Numba's default passes, each operation of given types resolved once."""

    def compile_extra(self, func: Any) -> Any:
        with global_compiler_lock, _remembered():
            flags = self.state.flags
            inner = flags.no_cpython_wrapper and flags.no_cfunc_wrapper
            kind = _Linked if inner else _Entry
            library = _library(kind, self.state.targetctx, func.__qualname__)
            self.state.library = library
            return super().compile_extra(func)


def _library(kind: type[_Library], context: Any, name: str) -> _Library:
    """A library such as the lowering pass makes where it is given none."""
    library = kind(context.codegen(), name)
    library.enable_object_caching()
    return library


class _Library(JITCodeLibrary):
    """The code of a function.

    Numba optimises what a function calls once more with it, and again with what calls
    that. Here a function is optimised once; those that it calls are there to be put in
    its place, if they are short, and gone before its loops are looked at.
    """

    def _optimize(self) -> None:
        for library in _with_theirs(self._linking_libraries, _may_be_inlined):
            module = library._get_module_for_linking()
            if isinstance(library, _Linked):
                module = module.clone()
                for function in _defined(module):
                    if function.linkage == Linkage.linkonce_odr:
                        function.linkage = "available_externally"
            self._link(library, module)
        self._optimize_final_module()

    def _link(self, library: Any, module: Any) -> None:
        self._reload_init.update(library._reload_init)
        self._final_module.link_in(module, preserve=True)


class _Linked(_Library):
    """That of a function that only other functions call: it never runs as it is."""

    def finalize(self) -> None:
        self._optimize()
        self._finalize_dynamic_globals()
        self._finalized = True

    @functools.cached_property
    def length(self) -> int:
        """Lines of its functions, without those of Numba's runtime."""
        found = _defined(self._final_module)
        return sum(str(f).count("\n") for f in found if not f.name.startswith("NRT_"))

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class _Entry(_Library):
    """That of a function that Python calls, with all that it calls."""

    def finalize(self) -> None:
        self._codegen._check_llvm_bugs()
        self._optimize()
        for library in _with_theirs(self._linking_libraries):
            self._link(library, library._get_module_for_linking())
        passes = newpassmanagers.create_new_module_pass_manager()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(self._final_module, self._codegen._pass_builder())
        self._final_module.verify()
        self._finalize_final_module()


def _defined(module: Any) -> Iterator[Any]:
    return (f for f in module.functions if not f.is_declaration)


#: Lines of a function that LLVM puts in the place of a call at most, and some more.
_SHORT = 400


def _may_be_inlined(library: Any) -> bool:
    return not isinstance(library, _Linked) or library.length <= _SHORT


def _with_theirs(
    libraries: Iterable[Any], wanted: Callable[[Any], bool] = lambda library: True
) -> list[Any]:
    """Libraries and all that these are to be linked with, each once, if `wanted`.

    Callers come before what they call: the linker leaves out functions that nothing
    mentions yet.
    """
    found: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if library not in found and wanted(library):
            if isinstance(library, _Linked):
                for callee in reversed(library._linking_libraries):
                    visit(callee)
            found[library] = None

    for library in reversed([*libraries]):
        visit(library)
    return [*found][::-1]


def _compile_ir(*args: Any, **kw: Any) -> Any:
    """`numba.core.compiler.compile_ir`; the body of a loop of Numba's own is linked."""
    pipeline = kw.get("pipeline_class")
    if getattr(pipeline, "__name__", "") == "ParforGufuncCompiler":
        kw["library"] = _library(_Linked, args[1], "a parallel loop")
    return _COMPILE_IR(*args, **kw)


_COMPILE_IR = compiler.compile_ir


def _build_gufunc_wrapper(*args: Any, **kw: Any) -> Any:
    """`numba.np.ufunc.parallel.build_gufunc_wrapper`, which makes libraries too."""
    codegen = args[1].target_context.codegen()
    codegen._library_class = _Linked
    try:
        return _BUILD_GUFUNC_WRAPPER(*args, **kw)
    finally:
        del codegen._library_class


_BUILD_GUFUNC_WRAPPER = parallel.build_gufunc_wrapper


def _executable(self: CPUContext, library: Any, fndesc: Any, env: Any) -> Any:
    """What stands for a function: of a linked one there is nothing to call."""
    if not isinstance(library, _Linked):
        return _EXECUTABLE(self, library, fndesc, env)
    name = fndesc.qualname.split(".")[-1]
    pointer = library.get_pointer_to_function(fndesc.llvm_func_name)
    module = fndesc.lookup_module()
    return _dynfunc.make_function(module, name, "linked", pointer, env, (library,))


_EXECUTABLE = CPUContext.get_executable


def remember(function: Any) -> None:
    """Let Numba compile `function`, one of its dispatchers, by `Remembering`."""
    inner = getattr(function, "_compiler", None)
    if inner is not None and getattr(inner, "pipeline_class", None) is Compiler:
        inner.pipeline_class = Remembering


def _live_map(
    cfg: Any, blocks: Any, used: Mapping[int, set[str]], made: Mapping[int, set[str]]
) -> dict[int, set[str]]:
    """`numba.core.analysis.compute_live_map`, with bits of integers for variables.

    Long functions have thousands of blocks and of variables: it was a third of the
    time to compile them.
    """
    bits: dict[str, int] = {}

    def number(names: set[str]) -> int:
        total = 0
        for name in names:
            total |= 1 << bits.setdefault(name, len(bits))
        return total

    order = cfg.topo_order()
    after = {b: [s for s, _ in cfg.successors(b)] for b in order}
    before = {b: [p for p, _ in cfg.predecessors(b)] for b in order}
    own = {b: number(made[b]) for b in blocks}
    live = {b: number(used[b]) for b in blocks}
    reach = dict.fromkeys(blocks, 0)
    for b in order:
        reach[b] = own[b] | live[b]
    old: list[int] = []
    while old != (old := [*reach.values()]):
        for b in order:
            for follower in after[b]:
                reach[follower] |= reach[b]
    while old != (old := [*live.values()]):
        for b in reversed(order):
            for leader in before[b]:
                live[leader] |= live[b] & reach[leader] & ~own[leader]
    names = [*bits]
    return {b: {names[k] for k in _ones(value)} for b, value in live.items()}


def _ones(value: int) -> Iterator[int]:
    """The places of the bits that are set."""
    while value:
        low = value & -value
        yield low.bit_length() - 1
        value ^= low


def _run_ssa(blocks: Mapping[int, Any]) -> Any:
    """`numba.core.ssa._run_ssa`, for which blocks say anew what they mention."""
    for block in blocks.values():
        vars(block).pop("mentioned", None)
    return _RUN_SSA(blocks)


_RUN_SSA = ssa._run_ssa


def _run_block_rewrite(
    blocks: Mapping[int, Any], states: dict[str, Any], handler: Any
) -> dict[int, Any]:
    """`numba.core.ssa._run_block_rewrite` of the blocks that mention the variable which
    is rewritten; all others stay what they are.
    """
    out = {}
    for label, block in blocks.items():
        mentioned = getattr(block, "mentioned", None)
        if mentioned is None:
            mentioned = {v.name for stmt in block.body for v in stmt.list_vars()}
        new: Any = ir.Block(scope=block.scope, loc=block.loc)
        new.body = block.body
        # Its own name is the only one that a rewritten variable has elsewhere.
        new.mentioned = mentioned
        if states["varname"] in mentioned:
            states["label"], states["block"] = label, block
            new.body = [*ssa._run_ssa_block_pass(states, block, handler)]
        out[label] = new
    return out


def _fixup_var_define_in_scope(blocks: Mapping[int, Any]) -> None:
    """`numba.core.ir_utils.fixup_var_define_in_scope`, once for each scope, of which
    most functions have one, and each name.
    """
    used = {
        v.name: v
        for block in blocks.values()
        for s in block.body
        for v in s.list_vars()
    }
    for scope in {id(b.scope): b.scope for b in blocks.values()}.values():
        for name, var in used.items():
            if name not in scope.localvars:
                scope.localvars.define(name, var)


def _rec_list_vars(self: Any, value: Any) -> list[Any]:
    """`numba.core.ir.Inst._rec_list_vars`, asked for all that a function consists of
    some hundred times: what a value is follows from its type.
    """
    found: list[Any] = []
    _add_vars(found, value)
    return found


def _add_vars(found: list[Any], value: Any) -> None:
    kind = _KINDS.get(type(value))
    if kind is None:
        kind = _KINDS[type(value)] = next(
            (k for k in (ir.Var, ir.Inst, list, tuple, dict) if isinstance(value, k)),
            object,
        )
    if kind is object:
        return
    if kind is ir.Var:
        found.append(value)
    elif kind is ir.Inst:
        found += value.list_vars()
    else:
        for part in value.values() if kind is dict else value:
            _add_vars(found, part)


_KINDS: dict[type, type] = {}


def _call(self: Any, *args: Any) -> Any:
    """`llvmlite.binding.ffi._lib_fn_wrapper.__call__`, which tells nobody who waits for
    its lock: there are thousands of calls for each function.
    """
    with self._lock._lock:
        return self._cfn(*args)


def _optimize_functions(self: Any, module: Any) -> None:
    """`CPUCodeLibrary._optimize_functions` of the functions that are defined."""
    module.data_layout = self._codegen._data_layout
    passes, builder = self._codegen._function_pass_manager()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)


def _fix_integer_index(
    context: Any, builder: Any, kind: Any, index: Any, size: Any
) -> Any:
    """`numba.np.arrayobj.fix_integer_index`, for which no subscript in a generated
    module is negative: see `runtime.subscripts`.
    """
    if _GENERATED(builder.function.name):
        return context.cast(builder, index, kind, types.intp)
    return _FIX_INTEGER_INDEX(context, builder, kind, index, size)


_FIX_INTEGER_INDEX = arrayobj.fix_integer_index
_GENERATED = re.compile(rf"_ZN\d+{GENERATED}").match


@intrinsic
def from_end(typing: Any, index: Any, size: Any) -> Any:
    """A subscript, which counts from the end of an axis of `size` if it is negative."""

    def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
        place, whole = args
        negative = builder.icmp_signed("<", place, context.get_constant(types.intp, 0))
        return builder.select(negative, builder.add(place, whole), place)

    return types.intp(types.intp, types.intp), generate


@intrinsic
def parallel_for(
    typing: Any,
    row: Any,
    count: Any,
    scale: Any,
    before: Any,
    after: Any,
    alone: Any,
) -> Any:
    """``row(*before, i * scale, *after)`` for each `i` below `count`, on all cores.

    Threads, and which of them takes which iterations, are those of a loop over
    `prange`: what Numba calls there is called here. Where there is one thread, or
    `alone`, the thread that is there runs the loop. Of what calls raise, one is raised.
    """
    found = typing.resolve_function_type(row, (*before, types.int64, *after), {})
    if found is None:
        return None
    compiled = row.dispatcher.get_compile_result(found)
    signature = types.void(row, count, scale, before, after, alone)

    def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
        number = context.cast(builder, args[1], count, types.int64)
        step = context.cast(builder, args[2], scale, types.int64)
        given: list[tuple[Any, Any]] = []
        for kinds, group in zip((before, after), args[3:5], strict=True):
            values = cgutils.unpack_tuple(builder, group, len(kinds))
            given += zip(kinds, values, strict=True)
        wanted = [*found.args[: len(before)], *found.args[len(before) + 1 :]]
        lent = [
            _lent(context, builder, kind, context.cast(builder, value, have, kind))
            for (have, value), kind in zip(given, wanted, strict=True)
        ]
        one = context.cast(builder, args[5], alone, types.boolean)
        loop = _Loop(context, builder, compiled, len(before))
        loop.launch(number, one, [step, *lent])
        return context.get_dummy_value()

    return signature, generate


def _lent(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A value without the count of its references, which threads would wait for."""
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    for owner in ("meminfo", "parent"):
        setattr(array, owner, cgutils.get_null_value(getattr(array, owner).type))
    return array._getvalue()


_INT, _COUNT = llvm.IntType(32), llvm.IntType(64)
_POINTER = llvm.PointerType(llvm.IntType(8))


class _Loop:
    """A function that makes a share of the calls of a loop, and how it is started."""

    def __init__(self, context: Any, builder: Any, row: Any, place: int) -> None:
        self.context, self.builder, self.row, self.place = context, builder, row, place
        library = context.active_code_library
        library.add_linking_library(row.library)
        parallel._launch_threads()  # it says where the functions are that are called
        library._reload_init.add(_reload_parfors)  # in another process, too

    def launch(self, count: Any, alone: Any, given: list[Any]) -> None:
        """Run as many iterations; `given` are scale and arguments."""
        kept = [_INT(0), _POINTER(None), *given]
        form = llvm.LiteralStructType([v.type for v in kept])
        body, b = self._share(form), self.builder
        pack = cgutils.alloca_once(b, form)
        pointers = cgutils.alloca_once(b, _POINTER, 2)
        sizes = cgutils.alloca_once(b, _COUNT)
        steps = cgutils.alloca_once(b, _COUNT, 2)
        for k, value in enumerate(kept):
            b.store(value, cgutils.gep_inbounds(b, pack, 0, k))
        b.store(b.bitcast(pack, _POINTER), self._at(pointers, 1))
        b.store(_COUNT(16), steps)  # a first and a last iteration of each share
        b.store(_COUNT(0), self._at(steps, 1))
        last = b.sub(count, _COUNT(1))
        passed = [b.bitcast(p, _POINTER) for p in (pointers, sizes, steps)]
        with b.if_then(b.icmp_signed(">", count, _COUNT(0))):
            threads = self._call("get_num_threads", _COUNT)
            alone = b.or_(alone, b.icmp_signed("<=", threads, _COUNT(1)))
            with b.if_else(alone) as (one, more):
                with one:
                    all_of_it = cgutils.alloca_once(b, _COUNT, 2)
                    b.store(_COUNT(0), all_of_it)
                    b.store(last, self._at(all_of_it, 1))
                    b.store(b.bitcast(all_of_it, _POINTER), pointers)
                    b.store(_COUNT(1), sizes)
                    b.call(body, [*passed, _POINTER(None)])
                with more:
                    self._share_out(b.bitcast(body, _POINTER), passed, last, threads)
        code, raised = (b.load(cgutils.gep_inbounds(b, pack, 0, k)) for k in (0, 1))
        convention = self.context.call_conv
        kind = convention._get_excinfo_argument(b.function).type.pointee
        status = convention._get_return_status(b, code, b.bitcast(raised, kind))
        with cgutils.if_unlikely(b, status.is_error):
            convention.return_status_propagate(b, status)

    def _share_out(self, body: Any, passed: list[Any], last: Any, threads: Any) -> None:
        """Start threads, as `numba.parfors.parfor_lowering.call_parallel_gufunc`."""
        b = self.builder
        ends = [cgutils.alloca_once(b, _COUNT) for _ in range(2)]
        b.store(_COUNT(0), ends[0])
        b.store(last, ends[1])
        bounds = (_COUNT(1), *(b.bitcast(p, _POINTER) for p in ends))
        shares = self._call("get_sched_size", _COUNT, threads, *bounds)
        plan = self._call("allocate_sched", _POINTER, b.mul(shares, _COUNT(2)))
        plans = (shares, plan, _COUNT(0))
        self._call("do_scheduling_signed", _POINTER, *bounds, *plans)
        pointers, sizes, _ = passed
        b.store(plan, b.bitcast(pointers, _POINTER.as_pointer()))
        b.store(shares, b.bitcast(sizes, _COUNT.as_pointer()))
        # No dimensions but the number of shares, and two pointers.
        numbers = (_POINTER(None), _COUNT(0), _COUNT(2), threads)
        self._call("numba_parallel_for", llvm.VoidType(), body, *passed, *numbers)
        self._call("deallocate_sched", llvm.VoidType(), plan)

    def _at(self, pointer: Any, k: int) -> Any:
        return self.builder.gep(pointer, [_COUNT(k)])

    def _call(self, name: str, result: Any, *args: Any) -> Any:
        kind = llvm.FunctionType(result, [a.type for a in args])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, args)

    def _share(self, form: Any) -> Any:
        """What a thread runs. It is given pointers to the first and last iterations of
        its shares and to all that calls are given, and the number of shares.
        """
        module = self.builder.module
        kind = llvm.FunctionType(llvm.VoidType(), [_POINTER] * 4)
        function = llvm.Function(module, kind, module.get_unique_name("parallel_for"))
        function.linkage = "internal"
        b = llvm.IRBuilder(function.append_basic_block("entry"))
        pointers = b.bitcast(function.args[0], _POINTER.as_pointer())
        plan = b.bitcast(b.load(pointers), _COUNT.as_pointer())
        pack = b.bitcast(b.load(b.gep(pointers, [_COUNT(1)])), form.as_pointer())
        fields = [
            cgutils.gep_inbounds(b, pack, 0, k) for k in range(len(form.elements))
        ]
        scale, *given = (b.load(field) for field in fields[2:])
        row = self.context.declare_function(module, self.row.fndesc)
        result, kinds = self.row.signature.return_type, self.row.signature.args
        shares = b.load(b.bitcast(function.args[1], _COUNT.as_pointer()))
        with cgutils.for_range(b, shares) as share:
            first = b.gep(plan, [b.mul(share.index, _COUNT(2))])
            end = b.add(b.load(b.gep(first, [_COUNT(1)])), _COUNT(1))
            each = cgutils.for_range_slice(b, b.load(first), end, _COUNT(1), _COUNT)
            with each as (i, _):
                args = [*given]
                args.insert(self.place, b.mul(i, scale))
                call = self.context.call_conv.call_function
                status, _value = call(b, row, result, kinds, args)
                with cgutils.if_unlikely(b, status.is_error):
                    b.store(status.code, fields[0])
                    b.store(b.bitcast(status.excinfoptr, _POINTER), fields[1])
                    b.ret_void()
        b.ret_void()
        return function


#: What stands for functions of Numba's while it compiles: with the same results.
_INSTEAD = (
    (CPUContext, "get_executable", _executable),
    (CPUCodeLibrary, "_optimize_functions", _optimize_functions),
    (ffi._lib_fn_wrapper, "__call__", _call),
    (ir.Inst, "_rec_list_vars", _rec_list_vars),
    (arrayobj, "fix_integer_index", _fix_integer_index),
    (compiler, "compile_ir", _compile_ir),
    (parallel, "build_gufunc_wrapper", _build_gufunc_wrapper),
    (ssa, "_run_ssa", _run_ssa),
    (ssa, "_run_block_rewrite", _run_block_rewrite),
    *((m, "compute_live_map", _live_map) for m in (analysis, ir_utils, parfor)),
    *(
        (m, "fixup_var_define_in_scope", _fixup_var_define_in_scope)
        for m in (untyped_passes, parfor_lowering)
    ),
)


@contextmanager
def _remembered() -> Iterator[None]:
    """Within it, and the compiler's lock, an operation is resolved once."""
    resolve = BaseFunction.get_call_type
    if hasattr(resolve, "found"):  # already, for a function that calls this one
        yield
        return
    # Operations and contexts compare by what they are called, while what was resolved
    # is noted in the object itself: so by identity, with the objects, which live on.
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def remembered(self: BaseFunction, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(a, _SETTLED) for a in args):
            return resolve(self, context, args, kws)
        key = (id(self), id(context), tuple(args))
        if key not in found:
            found[key] = (resolve(self, context, args, kws), self, context)
        return found[key][0]

    remembered.found = found  # type: ignore[attr-defined]
    BaseFunction.get_call_type = remembered  # type: ignore[method-assign]
    with ExitStack() as instead:
        instead.callback(setattr, BaseFunction, "get_call_type", resolve)
        for where, name, ours in _INSTEAD:
            instead.callback(setattr, where, name, getattr(where, name))
            setattr(where, name, ours)
        yield
