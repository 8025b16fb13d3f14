"""Runs kernels of PTX on the CPU, a warp at a time: `warps.cpp` by way of `ctypes`.

    module = Module(ptx)
    counts = module.run("kernel", grid, block, arguments)

All blocks run unless `groups` says which: a group is what one SM gets, some of it at
a time. Arrays are NumPy's, and keep what the kernel wrote.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from platformdirs import user_cache_path

from benchmarks.gpu_meter.encode import RECORD, Encoded, encoded
from benchmarks.gpu_meter.machine import H200, Gpu
from benchmarks.gpu_meter.ptx import BYTES, PtxError, Variable, read

HERE = Path(__file__).resolve().parent
FLAGS = ("-std=c++20", "-O2", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC")
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")

#: What is counted at one site, as `struct Site` in `memory.h`.
SITE = np.dtype(
    [
        (n, "u8")
        for n in ("requests", "lanes", "bytes", "sectors", "lines", "missed")
        + ("from_dram", "wavefronts", "addresses", "meeting", "spilt")
    ]
    + [("range", "i8")]
)


class EmulationError(RuntimeError):
    """What a kernel did that it must not do, or that is not emulated."""


class _Range(ctypes.Structure):
    _fields_ = [
        ("start", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("read", ctypes.c_void_p),
        ("written", ctypes.c_void_p),
    ]


class _Job(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_void_p),
        ("image", ctypes.c_void_p),
        *((n, ctypes.c_uint64) for n in ("file_bytes", "shared_bytes", "local_bytes")),
        ("tid", ctypes.c_uint32 * 3),
        ("ctaid", ctypes.c_uint32 * 3),
        ("lane", ctypes.c_uint32),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("ids", ctypes.c_void_p),
        ("groups", ctypes.c_void_p),
        ("group_count", ctypes.c_int64),
        ("resident", ctypes.c_int64),
        *((n, ctypes.c_uint64) for n in ("l1_bytes", "l2_bytes", "first_caches")),
        ("most", ctypes.c_int64),
        ("latencies", ctypes.c_int32 * 5),
        ("range_count", ctypes.c_int32),
        ("ranges", ctypes.POINTER(_Range)),
        ("sites", ctypes.c_void_p),
        ("runs", ctypes.c_void_p),
        ("lanes", ctypes.c_void_p),
        ("clocks", ctypes.c_void_p),
        ("hottest", ctypes.c_uint64),
        ("hottest_blocks", ctypes.c_uint64),
        ("message", ctypes.c_char * 400),
    ]


@functools.cache
def library() -> ctypes.CDLL:
    """The emulator, compiled once for each version of its text and compiler."""
    if COMPILER is None:
        raise EmulationError("no C++ compiler: set CXX, or install g++")
    texts = [(HERE / n).read_bytes() for n in _FILES]
    version = subprocess.run([COMPILER, "--version"], capture_output=True).stdout
    name = hashlib.sha256(b"".join([*texts, version, *map(str.encode, FLAGS)]))
    folder = user_cache_path("pyrev") / "gpu_meter"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{name.hexdigest()[:20]}.so"
    with FileLock(f"{made}.lock"):
        if not made.exists():
            new = made.with_suffix(".new")
            command = [COMPILER, *FLAGS, str(HERE / _FILES[0]), "-o", str(new)]
            native = [*command[:-3], "-march=native", *command[-3:]]
            if subprocess.run(native, capture_output=True).returncode:
                subprocess.run(command, check=True)
            new.rename(made)
    found = ctypes.CDLL(str(made))
    sizes = (ctypes.c_uint64 * 4)()
    found.sizes(sizes)
    mine = (RECORD.itemsize, SITE.itemsize, ctypes.sizeof(_Range), ctypes.sizeof(_Job))
    assert tuple(sizes) == mine, (tuple(sizes), mine)
    return found


_FILES = ("warps.cpp", "memory.h", "caches.h", "table.h", "lanes.h")


@functools.cache
def known(name: str) -> int:
    """The number of a plain instruction; -1 if the emulator has none of this name."""
    return int(library().known(name.encode()))


@dataclass
class Counts:
    """What was counted in the blocks that ran."""

    encoded: Encoded
    #: Blocks that ran, and blocks of the launch.
    ran: int
    blocks: int
    #: By basic block: how often a warp ran it, and for how many lanes.
    runs: np.ndarray[Any, Any]
    lanes: np.ndarray[Any, Any]
    #: A record of `SITE` for each site.
    sites: np.ndarray[Any, Any]
    #: Names of the parameters by the range of a site.
    ranges: list[str]
    sizes: list[int]
    #: Bytes in sectors that were read and written, by range.
    read: list[int]
    written: list[int]
    #: Clocks from the start to the end of each group, if nothing but its own waiting
    #: held its warps up.
    clocks: list[int]
    #: The most atomic operations on one address, and how many blocks did them.
    hottest: int
    hottest_blocks: int

    @property
    def instructions(self) -> int:
        """Instructions of PTX that warps ran."""
        lengths = np.array([n for _, n in self.encoded.blocks])
        return int((self.runs * lengths).sum())


class Module:
    """A text of PTX."""

    def __init__(self, ptx: str, gpu: Gpu = H200) -> None:
        self.text, self.gpu = read(ptx), gpu
        self.memory: dict[str, np.ndarray[Any, Any]] = {
            v.name: _first(v)
            for v in self.text.variables
            if v.space in ("global", "const")
        }
        self.made: dict[tuple[str, int], Encoded] = {}

    def encoded(self, name: str, dynamic: int = 0) -> Encoded:
        """A kernel's records."""
        if (name, dynamic) not in self.made:
            at = {n: a.ctypes.data for n, a in self.memory.items()}
            outer = [v for v in self.text.variables if v.space == "shared"]
            kernel = self.text.kernels[name]
            self.made[name, dynamic] = encoded(kernel, known, at, dynamic, outer)
        return self.made[name, dynamic]

    def run(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Any],
        *,
        groups: Sequence[Sequence[int]] | None = None,
        resident: int = 1,
        l1_bytes: int | None = None,
        first_caches: int = 1,
        dynamic: int = 0,
        most: int = 1 << 62,
        dram: bool = True,
    ) -> Counts:
        """Run blocks of a kernel, by default all as one group.

        Each group runs `resident` blocks at a time with a first cache of its own, or,
        if there are several `first_caches`, each block with the next of them. `dram`:
        what the second cache has not is as far away as main memory.
        """
        e = self.encoded(name, dynamic)
        whole = (*grid, *(1,) * (3 - len(grid)))
        threads = (*block, *(1,) * (3 - len(block)))
        blocks = int(np.prod(whole, dtype=np.int64))
        if groups is None:
            groups = [range(blocks)]
        ids = np.array([k for g in groups for k in g], np.int64)
        starts = np.cumsum([0, *map(len, groups)], dtype=np.int64)
        arrays = [
            (p, a) for (p, _), a in zip(e.kernel.parameters, arguments, strict=True)
        ]
        memory, spans = self.spans(arrays)
        image = _image(e, whole, threads, arguments)
        sites = np.zeros(len(e.sites) + 1, SITE)
        sites["range"] = -1
        runs, lanes = np.zeros((2, len(e.blocks)), np.uint64)
        clocks = np.zeros(len(groups), np.uint64)
        g = self.gpu
        far = g.dram_clocks if dram else g.l2_clocks
        job = _Job(
            e.code.ctypes.data,
            image.ctypes.data,
            e.file_bytes,
            e.shared_bytes,
            e.local_bytes,
            tuple(e.places[f"%tid.{x}"] for x in "xyz"),
            tuple(e.places[f"%ctaid.{x}"] for x in "xyz"),
            e.places["%laneid"],
            whole,
            threads,
            ids.ctypes.data,
            starts.ctypes.data,
            len(groups),
            resident,
            g.l1_bytes if l1_bytes is None else l1_bytes,
            g.l2_bytes,
            first_caches,
            most,
            (g.shared_clocks, g.l1_clocks, g.l2_clocks, far, g.atomic_clocks),
            len(memory),
            spans,
            sites.ctypes.data,
            runs.ctypes.data,
            lanes.ctypes.data,
            clocks.ctypes.data,
        )
        ended = library().run(ctypes.byref(job))
        if ended == 1:
            raise TimeoutError(f"{name}: more than {most} instructions")
        if ended:
            raise EmulationError(f"{name}: {_explained(job.message.decode(), e)}")
        return Counts(
            e,
            len(ids),
            blocks,
            runs,
            lanes,
            sites[:-1],
            [n for n, *_ in memory],
            [size for _, _, size, *_ in memory],
            [int(r.sum()) * 32 for *_, r, _ in memory],
            [int(w.sum()) * 32 for *_, w in memory],
            [int(c) for c in clocks],
            job.hottest,
            job.hottest_blocks,
        )

    def spans(self, arrays: Sequence[tuple[str, Any]]) -> tuple[list[Any], Any]:
        """The memory that a kernel may touch, in order; an array given twice is one."""
        given = {n: a for n, a in self.memory.items()}
        given |= {n: a for n, a in arrays if isinstance(a, np.ndarray) and a.nbytes}
        found: dict[int, Any] = {}
        for n, a in given.items():
            count = -(-a.nbytes // 32) + 1
            marks = (np.zeros(count, np.uint8), np.zeros(count, np.uint8))
            found.setdefault(a.ctypes.data, (n, a.ctypes.data, a.nbytes, *marks))
        memory = [found[k] for k in sorted(found)]
        spans = (_Range * max(1, len(memory)))()
        for span, (_, at, size, r, w) in zip(spans, memory, strict=False):
            span.start, span.size = at, size
            span.read, span.written = r.ctypes.data, w.ctypes.data
        return memory, spans


def _first(v: Variable) -> np.ndarray[Any, Any]:
    """The memory of a variable with what is in it at first."""
    made = aligned(v.size)
    for k, text in enumerate(v.first):
        size = BYTES[v.kind]
        digits = text[2:] if text[:2].lower() in ("0f", "0d") else ""
        number = int(digits, 16) if digits else int(text, 0)
        bytes_ = (number % (1 << (8 * size))).to_bytes(size, "little")
        made[k * size : (k + 1) * size] = np.frombuffer(bytes_, np.uint8)
    return made


def aligned(size: int) -> np.ndarray[Any, Any]:
    """Bytes that start at a multiple of 256, as CuPy's do."""
    raw = np.zeros(size + 256, np.uint8)
    start = -raw.ctypes.data % 256
    return raw[start : start + size]


def _image(
    e: Encoded, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]
) -> np.ndarray[Any, Any]:
    """The file of registers at the start of a warp."""
    image = np.zeros(e.file_bytes, np.uint8)

    def fill(place: int, value: bytes) -> None:
        image[place : place + 32 * len(value)] = np.frombuffer(value * 32, np.uint8)

    for place, value in e.constants.items():
        fill(place, value)
    for n, sizes in (("ntid", block), ("nctaid", grid)):
        for axis, size in zip("xyz", sizes, strict=True):
            fill(e.places[f"%{n}.{axis}"], size.to_bytes(4, "little"))
    for (n, kind), value in zip(e.kernel.parameters, arguments, strict=True):
        fill(e.places[n], _packed(value, kind))
    return image


def _packed(value: Any, kind: str) -> bytes:
    """An argument in the slot of its parameter."""
    if isinstance(value, np.ndarray):
        return int(value.ctypes.data).to_bytes(8, "little")
    made = np.asarray(value)
    if BYTES[kind] < made.itemsize:
        raise PtxError(f"{value!r} for a parameter of type {kind}")
    return made.tobytes().ljust(8 if BYTES[kind] == 8 else 4, b"\0")


def _explained(message: str, e: Encoded) -> str:
    at, _, what = message.partition(": ")
    number = at.removeprefix("at ")
    if not number.isdigit() or int(number) >= len(e.kernel.code):
        return message
    return f"{what} in `{e.kernel.code[int(number)]}`"
