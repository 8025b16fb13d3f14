"""CuPy as far as generated text needs it, on a CPU: kernels compiled by a C++ compiler.

`module()` takes the place of `cupy`. Arrays are NumPy's; memory that is not set holds
NaN. A kernel runs with its threads one after another, and `Finding` is raised where two
threads touch one element and one of them writes it, where a subscript leaves its array,
or where the arguments are not what the kernel declares.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

HEADER = Path(__file__).with_name("shim.h")
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
FLAGS = ("-std=c++17", "-O0", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC", "-w")

_KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(([^)]*)\)')
_GRID, _BLOCK = (2**31 - 1, 65535, 65535), (1024, 1024, 64)
_C = {
    "bool": np.bool_,
    "signed char": np.int8,
    "short": np.int16,
    "int": np.int32,
    "long long": np.int64,
    "unsigned char": np.uint8,
    "unsigned short": np.uint16,
    "unsigned int": np.uint32,
    "float": np.float32,
    "double": np.float64,
}


class Finding(AssertionError):
    """What a kernel did that it must not do."""


class DeviceArray(np.ndarray):
    """An array of the stand-in: NumPy's, so that tests can look into it."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return dict(self.__array_interface__)

    def get(self) -> Any:
        """A copy in the memory of the host."""
        return np.array(self)


def _array(a: Any) -> DeviceArray:
    return np.asarray(a).view(DeviceArray)


def to_device(a: Any) -> DeviceArray:
    """A copy of `a` as an array of the stand-in."""
    return _array(np.array(a))


def empty(shape: Any, dtype: Any = np.float64) -> DeviceArray:
    made = np.empty(shape, dtype)
    made.fill(np.nan if made.dtype.kind == "f" else 77 if made.dtype.kind != "b" else 1)
    return _array(made)


class _Parameter:
    """One parameter of a kernel, as it is declared."""

    def __init__(self, text: str) -> None:
        words = text.replace("__restrict__", "").split()
        self.name = words[-1]
        self.pointer = "*" in text
        self.const = words[0] == "const"
        kind = " ".join(words[1 if self.const else 0 : -1]).replace("*", "").strip()
        self.kind = kind
        self.dtype = np.dtype(_C[kind])


def _parameters(text: str) -> list[_Parameter]:
    return [_Parameter(p) for p in text.split(",") if p.strip()]


def translated(code: str) -> str:
    """The kernels in C++ for a CPU, with a function that runs each."""
    shared = r"__shared__ (\w+) (\w+)\[(\d+)\];"
    code = re.sub(shared, r"static Shared<\1, \3> \2;", code)
    # The hardware's own, under a name that the header has.
    code = re.sub(
        r"__device__ void add_atomically\(.*?\n}\n", "", code, flags=re.DOTALL
    )
    out: list[str] = ['#include "shim.h"', ""]
    runners: list[str] = []

    def signature(found: re.Match[str]) -> str:
        name, params = found[1], _parameters(found[2])
        texts: list[str] = []
        calls: list[str] = []
        for k, p in enumerate(params):
            if p.pointer and p.name != "status":
                const = "const " if p.const else ""
                kind = f"Array<{const}{p.kind}>"
                texts.append(f"{kind} {p.name}")
                calls.append(f"{kind}{{*(Memory*)args_now[{k}]}}")
            elif p.pointer:
                texts.append(f"{p.kind}* {p.name}")
                calls.append(f"({p.kind}*)((Memory*)args_now[{k}])->data")
            else:
                texts.append(f"{p.kind} {p.name}")
                calls.append(f"*({p.kind}*)args_now[{k}]")
        at = code.index("{", found.end())
        end = code.find('extern "C"', at)
        text = code[at : end if end > 0 else None]
        barrier = any(
            w in text for w in ("block_sum", "block_extreme", "__syncthreads")
        )
        runners.append(
            f"static void body_{name}() {{ {name}({', '.join(calls)}); }}\n"
            f'extern "C" const char* run_{name}(const unsigned* grid, const unsigned*'
            f" block, void** args)\n{{ args_now = args; finding[0] = 0;"
            f" run_grid(grid, block, {str(barrier).lower()}, body_{name});"
            f" return finding; }}"
        )
        return f"static void {name}({', '.join(texts)})"

    body = _KERNEL.sub(signature, code)
    out += [body, "", *runners]
    return "\n".join(out) + "\n"


@functools.cache
def _folder() -> Path:
    """Where sources and libraries lie, with the header compiled once."""
    folder = Path(tempfile.mkdtemp(prefix="pyrev-shim-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    header = folder / HEADER.name
    shutil.copy(HEADER, header)
    compiled = f"{header}.gch"
    subprocess.run(
        [str(COMPILER), *FLAGS, "-x", "c++-header", str(header), "-o", compiled],
        check=True,
    )
    return folder


@functools.cache
def _library(code: str) -> ctypes.CDLL:
    if COMPILER is None:
        raise RuntimeError("no C++ compiler: set CXX, or install g++")
    text = translated(code)
    name = hashlib.sha256(text.encode()).hexdigest()[:20]
    source, library = _folder() / f"{name}.cpp", _folder() / f"{name}.so"
    source.write_text(text)
    command = [COMPILER, *FLAGS, f"-I{_folder()}", str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Finding(f"the C++ compiler refuses it:\n{done.stderr[:3000]}\n{code}")
    return ctypes.CDLL(str(library))


class _Memory(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("count", ctypes.c_longlong),
        ("marks", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
    ]


class _Function:
    def __init__(self, library: ctypes.CDLL, name: str, params: str) -> None:
        self.name = name
        self.params = _parameters(params)
        self.run = getattr(library, f"run_{name}")
        self.run.restype = ctypes.c_char_p

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]
    ) -> None:
        if len(args) != len(self.params):
            raise Finding(f"{self.name}: {len(args)} for {len(self.params)} parameters")
        for sizes, most in ((grid, _GRID), (block, _BLOCK)):
            pairs = zip(sizes, most, strict=False)
            if not all(type(n) is int and 0 < n <= m for n, m in pairs):
                raise Finding(f"{self.name}: a launch of {tuple(sizes)}")
        holds: list[Any] = []
        pointers: list[int] = []
        for p, value in zip(self.params, args, strict=True):
            if p.pointer:
                if not isinstance(value, np.ndarray) or value.dtype != p.dtype:
                    raise Finding(f"{self.name}: {value!r} for `{p.kind}* {p.name}`")
                if not value.flags.c_contiguous:
                    raise Finding(f"{self.name}: `{p.name}` is not contiguous")
                marks = np.full((max(1, value.size), 9), -1, np.int32)
                one: Any = _Memory(
                    value.ctypes.data, value.size, marks.ctypes.data, p.name.encode()
                )
                holds += [marks, one]
                pointers.append(ctypes.addressof(one))
            else:
                kind = np.asarray(value).dtype
                if kind != p.dtype or isinstance(value, np.ndarray):
                    raise Finding(f"{self.name}: {value!r} for `{p.kind} {p.name}`")
                held = np.array([value], p.dtype)
                holds.append(held)
                pointers.append(held.ctypes.data)
        whole = tuple(grid) + (1,) * (3 - len(grid))
        threads = tuple(block) + (1,) * (3 - len(block))
        three = ctypes.c_uint * 3
        array = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        what = self.run(three(*whole), three(*threads), array)
        if what:
            raise Finding(f"{self.name}: {what.decode()}")


@contextlib.contextmanager
def nothing_runs() -> Iterator[None]:
    """Launches do nothing: what takes time is the host."""
    run = _Function.__call__
    _Function.__call__ = lambda *_: None  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        _Function.__call__ = run  # type: ignore[method-assign]


class RawModule:
    """Kernels as text, compiled when the first one is asked for."""

    #: The texts that were compiled since `texts` was emptied.
    texts: list[str] = []

    def __init__(self, *, code: str, options: Sequence[str] = ()) -> None:
        self.code, self.options = code, tuple(options)
        self.params = {name: params for name, params in _KERNEL.findall(code)}
        RawModule.texts.append(code)

    def get_function(self, name: str) -> _Function:
        return _Function(_library(self.code), name, self.params[name])


def _as_strided(a: Any, shape: Any, strides: Any) -> DeviceArray:
    return _array(np.lib.stride_tricks.as_strided(a, shape, strides))


def module() -> ModuleType:
    """What `import cupy` gives where this stands in for it."""
    made: Any = ModuleType("cupy")
    made.ndarray = DeviceArray
    made.RawModule = RawModule
    made.empty = empty
    made.zeros = lambda *args, **kw: _array(np.zeros(*args, **kw))
    made.full = lambda *args, **kw: _array(np.full(*args, **kw))
    made.arange = lambda n: _array(np.arange(n))
    made.argsort = lambda a: _array(np.argsort(a, kind="stable"))
    made.searchsorted = lambda a, v: _array(np.searchsorted(a, v))
    made.asarray = lambda a, dtype=None: _array(np.asarray(a, dtype))
    made.ascontiguousarray = lambda a, t=None: _array(np.ascontiguousarray(a, t))
    made.cuda = SimpleNamespace(runtime=SimpleNamespace(getDevice=lambda: 0))
    tricks = SimpleNamespace(as_strided=_as_strided)
    made.lib = SimpleNamespace(stride_tricks=tricks)
    made.asnumpy = lambda a: np.array(a, subok=False)
    made.empty_like = lambda a: empty(a.shape, a.dtype)
    made.zeros_like = lambda a: _array(np.zeros(a.shape, a.dtype))
    made.ones = lambda *args, **kw: _array(np.ones(*args, **kw))
    made.array = lambda *args, **kw: _array(np.array(*args, **kw))
    return made
