"""Everything that is claimed of the CUDA target, in one run on one GPU.

    python benchmarks/gpu.py [--rounds 20] [--only NAME] [--out gpu.json] [--dry-run]

First every workload's gradients at a small size are compared with those of the CPU, and
so are those of the peers; then all are timed at full size with device events, pyrev and
its peers in turn, in another order each round: PyTorch (native operators and composed
ones, eager and compiled), JAX, whole arrays of CuPy, and the adjoint as reverse mode
makes it, a scatter with atomics. What is claimed is then told beside what was reached:
ratios, the share of the bandwidth of a copy, memory, and the host's time. A peer that
is not installed is left out.

`--dry-run` needs no GPU: kernels run on the CPU at the small sizes, the comparison is
made, and every time is "not measured" but that of the host with kernels that do
nothing. `--registers` tells what each kernel uses (with `ptxas`).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import linecache
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import loops
from peers import on_gpu

import pyrev
from pyrev.schedule.gpu_form import Device
from pyrev.schedule.legality import forward

HERE = Path(__file__).resolve().parent
Inputs = dict[str, Any]
Step = Callable[[], Any]


# ------------------------------------------------------------------ the workloads


def upsample(coarse, fine):
    for y in range(fine.shape[0]):
        for x in range(fine.shape[1]):
            fine[y, x] = coarse[y // 4, x // 4]


def scaled(x, k, out):
    for i in range(x.shape[0]):
        out[i] = k * x[i] * x[i] + x[i]


def chain(arity: int) -> Callable[..., Any]:
    """A cell of `arity` arguments with a branch that data takes."""
    names = [f"x{k}" for k in range(arity)]
    terms = " + ".join(f"{n}[i] * {n}[i]" for n in names)
    text = (
        f"def cell{arity}(z, {', '.join(names)}, out):\n"
        "    for i in range(z.shape[0]):\n"
        "        if z[i] > 0.5:\n"
        f"            out[i] = {terms}\n"
        "        else:\n"
        f"            out[i] = {' + '.join(f'{n}[i]' for n in names)}\n"
    )
    file = HERE / f"<cell{arity}>"
    linecache.cache[str(file)] = (len(text), None, text.splitlines(True), str(file))
    space: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), space)
    made: Callable[..., Any] = space[f"cell{arity}"]
    return made


def arrays(rng: np.random.Generator, **shapes: tuple[int, ...]) -> Inputs:
    return {n: rng.random(s, dtype=np.float32) for n, s in shapes.items()}


def conv_inputs(small: bool) -> Inputs:
    n, c, h, w = (2, 3, 12, 14) if small else (16, 16, 256, 256)
    rng = np.random.default_rng(1)
    given = arrays(rng, x=(n, c, h + 2, w + 2), w=(c, c, 3, 3), go=(n, c, h, w))
    given["go"] -= np.float32(0.4)
    return given


def large_bslice_inputs(small: bool) -> Inputs:
    """The layer at 2048 x 2048."""
    given = importlib.import_module("workloads.bslice").inputs(small)
    if small:
        return given
    large = {k: np.repeat(np.repeat(given[k], 2, -2), 2, -1) for k in ("x", "go")}
    guide = np.repeat(np.repeat(given["guide"], 2, -2), 2, -1)
    return given | large | {"guide": guide}


def flow_inputs(small: bool) -> Inputs:
    given = importlib.import_module("workloads.flownet").inputs(small)
    return given if small else {k: v[:4] for k, v in given.items()}


def cell_inputs(arity: int, uniform: bool) -> Callable[[bool], Inputs]:
    def make(small: bool) -> Inputs:
        n = 1000 if small else 1 << 22
        rng = np.random.default_rng(arity)
        z = rng.random(n, dtype=np.float32)
        if uniform:
            z = np.repeat(z[: -(-n // 32)], 32)[:n]
        names = {f"x{k}": (n,) for k in range(arity)}
        return {"z": z, **arrays(rng, **names, go=(n,))}

    return make


@dataclass(frozen=True)
class Workload:
    """A loop that fills `out`, the arguments that have gradients, and its peers."""

    name: str
    loop: Callable[..., Any]
    inputs: Callable[[bool], Inputs]
    wrt: tuple[str, ...]
    #: The name of what does the same in `peers/torch_eager.py` and `jax_cpu.py`.
    torch: str = ""
    #: And of what PyTorch's elementary operators do in `peers/on_gpu.py`.
    composed: str = ""
    #: Bytes of main memory that forward and backward have to move at least.
    bytes: Callable[[Inputs], int] | None = None
    backward_only: bool = False


def moved(*names: str) -> Callable[[Inputs], int]:
    """The bytes of these arrays, once for each time that they are named."""
    return lambda i: sum(i[n].nbytes for n in names)


def module_inputs(name: str) -> Callable[[bool], Inputs]:
    return lambda small: importlib.import_module(f"workloads.{name}").inputs(small)


WORKLOADS = (
    Workload(
        "conv2d", loops.conv2d, conv_inputs, ("x", "w"), "conv2d", backward_only=True
    ),
    Workload("stn", loops.stn, module_inputs("stn"), ("x", "theta"), "stn"),
    Workload(
        "flownet",
        loops.flownet,
        flow_inputs,
        ("x", "flow"),
        "flownet",
        "flownet",
    ),
    Workload(
        "bslice",
        loops.bslice,
        module_inputs("bslice"),
        ("x", "guide", "grid"),
        "bslice",
        "bslice",
    ),
    Workload("bslice2048", loops.bslice, large_bslice_inputs, ("x", "guide", "grid")),
    Workload(
        "hmlstm",
        loops.hmlstm,
        module_inputs("hmlstm"),
        ("c", "f", "i", "g"),
        "hmlstm",
        bytes=moved("c", "f", "i", "g", "go", "c", "f", "i", "g", "go"),
    ),
    Workload(
        "heat3d",
        loops.heat3d,
        module_inputs("heat3d"),
        ("u", "a"),
        "heat3d",
        bytes=moved("u", "a", "go", "u", "a", "go", "u", "a"),
    ),
    Workload(
        "scaled",
        scaled,
        lambda small: (
            arrays(
                np.random.default_rng(2),
                x=((1000 if small else 1 << 26),),
                go=((1000 if small else 1 << 26),),
            )
            | {"k": np.float32(1.5)}
        ),
        ("x",),
        bytes=moved("x", "go", "x", "go", "x"),
    ),
    Workload(
        "upsample",
        upsample,
        lambda small: arrays(
            np.random.default_rng(3),
            coarse=((16, 16) if small else (2048, 2048)),
            go=((64, 64) if small else (8192, 8192)),
        ),
        ("coarse",),
        bytes=moved("coarse", "go", "go", "coarse"),
    ),
    *(
        Workload(
            f"cell{a}{'_uniform' if uniform else ''}",
            chain(a),
            cell_inputs(a, uniform),
            tuple(f"x{k}" for k in range(a)),
        )
        for a in range(1, 21)
        for uniform in (False, True)
    ),
)


# ------------------------------------------------------------------ steps


@contextlib.contextmanager
def scattered() -> Iterator[None]:
    """Nests as reverse mode makes them: what meets is added to atomically."""
    plain = Device.nest

    def whole(self: Any, loop: Any, outer: Any, live: Any) -> Any:
        found = self.nests.shared(loop, outer, live)
        if found is not None and found.atomic:
            return (forward(loop, outer, live, self.integers),)
        return plain(self, loop, outer, live)

    Device.nest = whole  # type: ignore[method-assign]
    try:
        yield
    finally:
        Device.nest = plain  # type: ignore[method-assign]


def pulled(w: Workload, given: Inputs) -> Step:
    """Forward and backward of pyrev on these arrays; only backward if so asked."""
    function = pyrev.differentiable(w.loop)
    args = {k: v for k, v in given.items() if k != "go"}
    go = given["go"]
    last = _written(w.loop)
    args[last] = out = xp().zeros_like(go)

    def step() -> Inputs:
        out.fill(0.0)
        _, pullback = pyrev.vjp(function, **args, wrt=w.wrt)
        return dict(pullback(cotangents={last: go}).items())

    step()
    if not w.backward_only:
        return step
    out.fill(0.0)
    _, pullback = pyrev.vjp(function, **args, wrt=w.wrt)
    return lambda: dict(pullback(cotangents={last: go}).items())


def _written(loop: Callable[..., Any]) -> str:
    return loop.__code__.co_varnames[loop.__code__.co_argcount - 1]


def xp() -> Any:
    import cupy

    return cupy


def on_device(given: Inputs) -> Inputs:
    return {
        k: xp().asarray(v) if isinstance(v, np.ndarray) else v for k, v in given.items()
    }


def peers_of(w: Workload, given: Inputs, device: str = "cuda") -> dict[str, Step]:
    """Every other step that is timed for one workload, on a GPU unless said."""
    found: dict[str, Step | None] = {}
    if w.torch:
        for compiled in (False, True):
            label = "torch.compile" if compiled else "torch"
            found[label] = on_gpu.torch_native(w.torch, given, compiled, device)
        found["jax"] = on_gpu.jax_jitted(w.torch, given, device)
    if w.composed:
        for compiled in (False, True):
            label = "torch composed" + (", compiled" if compiled else "")
            found[label] = on_gpu.torch_composed(w.composed, given, compiled, device)
    arrays_ = np if device == "cpu" else xp()
    found["whole arrays"] = on_gpu.whole_arrays(w.name, given, arrays_)
    return {k: v for k, v in found.items() if v is not None}


def _again(loop: Callable[..., Any]) -> Callable[..., Any]:
    """The same function as another object, which is derived anew."""
    return types.FunctionType(loop.__code__, loop.__globals__, loop.__name__)


# ------------------------------------------------------------------ the run


def off(mine: Any, theirs: Any) -> float:
    """The largest difference of two arrays, relative to their size."""
    apart = np.abs(np.asarray(mine, np.float64) - np.asarray(theirs, np.float64))
    return float(apart.max() / np.abs(np.asarray(theirs, np.float64)).max())


def differences(w: Workload, dry: bool) -> dict[str, float]:
    """How far the gradients are from the CPU's: those of pyrev and of its peers."""
    given = w.inputs(True)
    args = {k: v for k, v in given.items() if k != "go"}
    last = _written(w.loop)
    args[last] = np.zeros_like(given["go"])
    _, pullback = pyrev.vjp(w.loop, **args, wrt=w.wrt)
    expected = pullback(cotangents={last: given["go"]})
    mine = pulled(w, on_device(given))()
    found = {"pyrev": max(off(xp().asnumpy(mine[n]), expected[n]) for n in w.wrt)}
    for label, step in peers_of(w, given, "cpu" if dry else "cuda").items():
        theirs = {k: v for k, v in step().items() if k in w.wrt}
        if theirs:  # the others name theirs otherwise; `run.py` checks them
            found[label] = max(
                off(v.get() if hasattr(v, "get") else v.tolist(), expected[k])
                for k, v in theirs.items()
            )
    return found


def measured(w: Workload, rounds: int) -> dict[str, Any]:
    """Times of all steps in ms, and what memory pyrev's own takes in GB."""
    given = w.inputs(False)
    pool = xp().get_default_memory_pool()
    pool.free_all_blocks()
    device = on_device(given)
    steps = {"pyrev": pulled(w, device)}
    memory = pool.total_bytes() / 1e9
    with scattered():
        steps["scatter with atomics"] = pulled(replace(w, loop=_again(w.loop)), device)
    steps |= peers_of(w, given)
    times = timed(steps, rounds)
    moves = w.bytes(given) if w.bytes is not None else None
    return {"ms": times, "GB": memory, "bytes": moves}


def registers(w: Workload) -> list[str]:
    """What `ptxas` says of each kernel for the newest of the architectures."""
    from pyrev.emit.cuda import OPTIONS
    from tests.targets.cuda import nvrtc

    assembler = shutil.which("ptxas")
    if assembler is None or nvrtc.library() is None:
        return ["not measured: needs ptxas and nvidia-cuda-nvrtc-cu12"]
    args = {k: v for k, v in on_device(w.inputs(True)).items() if k != "go"}
    args[_written(w.loop)] = xp().zeros_like(w.inputs(True)["go"])
    function = pyrev.differentiable(w.loop, wrt=w.wrt)
    arch = nvrtc.ARCHITECTURES[-1]
    found: list[str] = []
    for part in (function.primal, function.adjoint):
        code = part.source_for("cuda", **args).split('"""')[1]
        text = nvrtc.ptx(code, (*OPTIONS, f"--gpu-architecture={arch}"))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "kernels.ptx")
            file.write_text(text)
            command = [assembler, f"-arch={arch.replace('compute', 'sm')}", "-v"]
            done = subprocess.run(
                [*command, str(file), "-o", str(file.with_suffix(".cubin"))],
                capture_output=True,
                text=True,
                check=True,
            )
        names = re.findall(r"Compiling entry function '(\w+)'", done.stderr)
        used = re.findall(r"Used (\d+) registers", done.stderr)
        spills = re.findall(r"(\d+) bytes spill stores, (\d+)", done.stderr)
        for name, count, (stores, loads) in zip(names, used, spills, strict=True):
            spilt = f"spills {stores} and {loads} bytes"
            found.append(f"{name}: {count} registers, {spilt}")
    return found


def timed(steps: dict[str, Step], rounds: int) -> dict[str, list[float]]:
    """Milliseconds by device events, in another order each round."""
    cp = xp()
    order = random.Random(0)
    found: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        names = list(steps)
        order.shuffle(names)
        for name in names:
            start, end = cp.cuda.Event(), cp.cuda.Event()
            cp.cuda.runtime.deviceSynchronize()
            start.record()
            steps[name]()
            end.record()
            cp.cuda.runtime.deviceSynchronize()
            found[name].append(cp.cuda.get_elapsed_time(start, end))
    return found


def copied() -> float:
    """Bytes per second that a copy of 1 GiB moves, read and written."""
    cp = xp()
    a = cp.zeros(1 << 28, np.float32)
    b = cp.empty_like(a)
    times = timed({"copy": lambda: cp.copyto(b, a)}, 10)["copy"]
    return 2 * a.nbytes / (statistics.median(times) * 1e-3)


def host_time() -> dict[str, float]:
    """Microseconds of the host for `vjp` and pullback on 8 x 8 arrays, and its bar."""
    w = WORKLOADS[0]
    device = on_device({k: v[:1, :1, :8, :8] for k, v in w.inputs(True).items()})
    device["x"] = xp().zeros((1, 1, 10, 10), np.float32)
    device["w"] = xp().zeros((1, 1, 3, 3), np.float32)
    function = pyrev.differentiable(w.loop)
    args = {k: v for k, v in device.items() if k != "go"} | {"out": device["go"] * 0}

    def call() -> None:
        _, pullback = pyrev.vjp(function, **args)
        pullback(out=device["go"])

    call()
    took = []
    for _ in range(200):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    texts = [
        part.source_for("cuda", **args).split('"""')[-1]
        for part in (function.primal, function.adjoint)
    ]
    count = len(re.findall(r"^    (?:launch|reduce|alone)\(", "\n".join(texts), re.M))
    made = len(re.findall(r"= cp\.(?:empty|zeros|full)\(", "\n".join(texts)))
    return {
        "microseconds": 1e6 * statistics.median(took),
        "launches": count,
        "allocations": made,
        "bar": 25 + 8 * count + 5 * made,
    }


Found = dict[str, Any]


def ratio(name: str, peer: str) -> Callable[[Found], float]:
    """How many times slower the peer is."""

    def of(found: Found) -> float:
        ms = found[name]["ms"]
        return statistics.median(ms[peer]) / statistics.median(ms["pyrev"])

    return of


def bandwidth(name: str) -> Callable[[Found], float]:
    """The share of the bandwidth of a copy that is reached."""

    def of(found: Found) -> float:
        took = statistics.median(found[name]["ms"]["pyrev"]) * 1e-3
        return float(found[name]["bytes"] / took / found["copy"])

    return of


#: What is claimed, how it is computed, and the least that it has to be.
BARS: tuple[tuple[str, Callable[[Found], float], float], ...] = (
    ("conv2d: atomics / gather", ratio("conv2d", "scatter with atomics"), 11),
    ("stn: torch / pyrev", ratio("stn", "torch"), 1),
    ("flownet: torch composed / pyrev", ratio("flownet", "torch composed"), 2.7),
    ("flownet: grid_sample / pyrev", ratio("flownet", "torch"), 1),
    ("bslice: torch composed / pyrev", ratio("bslice", "torch composed"), 20),
    ("bslice2048: 12 GB / memory", lambda found: 12 / found["bslice2048"]["GB"], 1),
    ("hmlstm: torch / pyrev", ratio("hmlstm", "torch"), 4),
    ("hmlstm: torch.compile / pyrev", ratio("hmlstm", "torch.compile"), 1),
    ("heat3d: share of a copy's bandwidth", bandwidth("heat3d"), 0.8),
    ("scaled: share of a copy's bandwidth", bandwidth("scaled"), 0.8),
    ("upsample: share of a copy's bandwidth", bandwidth("upsample"), 0.8),
    (
        "host: bar / microseconds",
        lambda found: found["host"]["bar"] / found["host"]["microseconds"],
        1,
    ),
)


def judged(found: Found) -> dict[str, str]:
    """Each bar with what was reached."""
    out: dict[str, str] = {}
    for what, of, least in BARS:
        try:
            reached = of(found)
        except (KeyError, TypeError):  # no such peer, or no device
            out[what] = f"not measured (at least {least})"
            continue
        word = "met" if reached >= least else "NOT MET"
        out[what] = f"{reached:.2f} (at least {least}): {word}"
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--registers", action="store_true")
    options = parser.parse_args()
    if options.dry_run:
        from tests.targets.cuda import standin

        sys.modules["cupy"] = standin.module()
    found: Found = {"device": "none: kernels ran on the CPU"}
    if not options.dry_run:
        cp = xp()
        found["device"] = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
        found["copy"] = copied()
        print(f"{found['device']}: a copy moves {found['copy'] / 1e9:.0f} GB/s")
    wrong = 0
    for w in WORKLOADS:
        if options.only not in (None, w.name):
            continue
        apart = differences(w, options.dry_run)
        wrong += sum(d > 1e-4 for d in apart.values())
        said = ", ".join(f"{peer} by {d:.1e}" for peer, d in apart.items())
        print(f"{w.name}: differs from the CPU: {said}")
        found[w.name] = {"differences": apart, "ms": "not measured"}
        if options.registers:
            found[w.name]["registers"] = registers(w)
            print(*(f"    {line}" for line in found[w.name]["registers"]), sep="\n")
        if options.dry_run:
            continue
        found[w.name] |= measured(w, options.rounds)
        for peer, t in found[w.name]["ms"].items():
            middle, spread = statistics.median(t), f"{min(t):.3f} to {max(t):.3f}"
            print(f"    {peer}: {middle:.3f} ms ({spread})")
        xp().get_default_memory_pool().free_all_blocks()
    with standin.nothing_runs() if options.dry_run else contextlib.nullcontext():
        found["host" if not options.dry_run else "host, kernels free"] = host_time()
    for what, figure in found.items():
        if what.startswith("host"):
            print(f"{what}: {figure}")
    found["bars"] = judged(found)
    for what, said in found["bars"].items():
        print(f"{what}: {said}")
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
