"""Everything that is claimed of the CUDA target, in one run on one GPU.

    python benchmarks/gpu.py [--rounds 20] [--only NAME] [--out gpu.json] [--dry-run]

First every workload's gradients at a small size are compared with those of the CPU;
then all are timed at full size with device events, pyrev and its peers in turn, in
another order each round: PyTorch (native operators and composed ones, eager and
compiled) and the adjoint as reverse mode makes it, a scatter with atomics. Achieved
bandwidth is told beside that of a copy, and the host's time beside its launches. What
is not installed is left out.

`--dry-run` needs no GPU: kernels run on the CPU at the small sizes, the comparison is
made, and every figure is "not measured".
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import linecache
import random
import re
import statistics
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import loops

import pyrev
from pyrev.schedule import launches

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


def heat_inputs(small: bool) -> Inputs:
    return importlib.import_module("workloads.heat3d").inputs(small)


@dataclass(frozen=True)
class Workload:
    """A loop that fills `out`, the arguments that have gradients, and its peers."""

    name: str
    loop: Callable[..., Any]
    inputs: Callable[[bool], Inputs]
    wrt: tuple[str, ...]
    #: The names of `peers/torch_eager.py` that do the same, by what they are.
    torch: dict[str, str] = field(default_factory=dict)
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
        "conv2d", loops.conv2d, conv_inputs, ("x", "w"), {"torch": "conv2d"}, None, True
    ),
    Workload("stn", loops.stn, module_inputs("stn"), ("x", "theta"), {"torch": "stn"}),
    Workload(
        "flownet",
        loops.flownet,
        flow_inputs,
        ("x", "flow"),
        {"torch": "flownet"},
    ),
    Workload(
        "bslice",
        loops.bslice,
        module_inputs("bslice"),
        ("x", "guide", "grid"),
        {"torch": "bslice"},
    ),
    Workload(
        "hmlstm",
        loops.hmlstm,
        module_inputs("hmlstm"),
        ("c", "f", "i", "g"),
        {"torch": "hmlstm"},
        moved("c", "f", "i", "g", "go", "c", "f", "i", "g", "go"),
    ),
    Workload("heat3d", loops.heat3d, heat_inputs, ("u",), {"torch": "heat3d"}),
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
        {},
        moved("x", "go", "x", "go", "x"),
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
        {},
        moved("coarse", "go", "go", "coarse"),
    ),
    *(
        Workload(
            f"cell{a}{'_uniform' if uniform else ''}",
            chain(a),
            cell_inputs(a, uniform),
            tuple(f"x{k}" for k in range(a)),
        )
        for a, uniform in ((1, False), (4, False), (4, True), (12, False), (20, False))
    ),
)


# ------------------------------------------------------------------ steps


@contextlib.contextmanager
def scattered() -> Iterator[None]:
    """Nests as reverse mode makes them: what meets is added to atomically."""
    plain = launches.Device.nest

    def whole(self: Any, loop: Any, outer: Any, live: Any) -> Any:
        found = self.nests.shared(loop, outer, live)
        if found is not None and self.nests.atomic(found):
            return (launches.forward(loop, outer, live, self.integers),)
        return plain(self, loop, outer, live)

    launches.Device.nest = whole  # type: ignore[method-assign]
    try:
        yield
    finally:
        launches.Device.nest = plain  # type: ignore[method-assign]


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


def torch_step(name: str, given: Inputs, compiled: bool) -> Step | None:
    """A step of `peers/torch_eager.py` on the GPU; None without PyTorch."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.set_default_device("cuda")
    peer = importlib.import_module("peers.torch_eager")
    peer.T = lambda a, g=False: torch.tensor(a, device="cuda").requires_grad_(bool(g))
    peer.W = torch.compile if compiled else (lambda f: f)
    step: Step = getattr(peer, name)(given)
    step()
    return step


def grid_sampled(given: Inputs) -> Step | None:
    """FlowNet's warp by PyTorch's native `grid_sample`."""
    try:
        import torch
        import torch.nn.functional as F
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    x, flow, go = (torch.tensor(given[n], device="cuda") for n in ("x", "flow", "go"))
    x.requires_grad_()
    flow.requires_grad_()
    h, w = x.shape[2:]
    ys, xs = torch.meshgrid(
        torch.arange(h, device="cuda"), torch.arange(w, device="cuda"), indexing="ij"
    )

    def step() -> Any:
        x.grad = flow.grad = None
        at = torch.stack(
            ((xs + flow[:, 0]) * 2 / (w - 1) - 1, (ys + flow[:, 1]) * 2 / (h - 1) - 1),
            -1,
        )
        out = F.grid_sample(x, at, padding_mode="border", align_corners=True)
        out.backward(go)
        return x.grad

    step()
    return step


def peers_of(w: Workload, given: Inputs) -> dict[str, Step]:
    """Every step that is timed for one workload."""
    device = on_device(given)
    found: dict[str, Step | None] = {"pyrev": pulled(w, device)}
    with scattered():
        apart = pulled(replace(w, loop=_again(w.loop)), device)
        found["scatter with atomics"] = apart
    for label, name in w.torch.items():
        found[label] = torch_step(name, given, False)
        found[f"{label}.compile"] = torch_step(name, given, True)
    if w.name == "flownet":
        found["grid_sample"] = grid_sampled(given)
    return {k: v for k, v in found.items() if v is not None}


def _again(loop: Callable[..., Any]) -> Callable[..., Any]:
    """The same function as another object, which is derived anew."""
    return types.FunctionType(loop.__code__, loop.__globals__, loop.__name__)


# ------------------------------------------------------------------ the run


def agrees(w: Workload) -> float:
    """The largest difference from the CPU's gradients, relative to their size."""
    given = w.inputs(True)
    found = pulled(w, on_device(given))()
    args = {k: v for k, v in given.items() if k != "go"}
    last = _written(w.loop)
    args[last] = np.zeros_like(given["go"])
    _, pullback = pyrev.vjp(w.loop, **args, wrt=w.wrt)
    expected = pullback(cotangents={last: given["go"]})
    worst = 0.0
    for name in w.wrt:
        mine = np.asarray(xp().asnumpy(found[name]), np.float64)
        theirs = np.asarray(expected[name], np.float64)
        worst = max(worst, float(np.abs(mine - theirs).max() / np.abs(theirs).max()))
    return worst


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


def row(name: str, times: dict[str, list[float]] | None, used: str) -> str:
    if times is None:
        return f"{name:16} not measured"
    cells = [
        f"{peer} {statistics.median(t):.3f} ({min(t):.3f} to {max(t):.3f})"
        for peer, t in times.items()
    ]
    return f"{name:16} {'; '.join(cells)}{used}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    if options.dry_run:
        from pyrev.tests.cuda import standin

        sys.modules["cupy"] = standin.module()
    found: dict[str, Any] = {"device": "none: kernels ran on the CPU"}
    rate = None
    if not options.dry_run:
        cp = xp()
        found["device"] = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
        found["copy"] = rate = copied()
        print(f"{found['device']}: a copy moves {rate / 1e9:.0f} GB/s")
    wrong = 0
    for w in WORKLOADS:
        if options.only not in (None, w.name):
            continue
        off = agrees(w)
        wrong += off > 1e-4
        print(f"{w.name:16} differs from the CPU by {off:.1e}")
        times = None
        used = ""
        if not options.dry_run:
            given = w.inputs(False)
            times = timed(peers_of(w, given), options.rounds)
            if w.bytes is not None and rate is not None:
                took = statistics.median(times["pyrev"]) * 1e-3
                share = 100 * w.bytes(given) / took / rate
                used = f"; {share:.0f} % of the copy's bandwidth"
            xp().get_default_memory_pool().free_all_blocks()
        print(row(w.name, times, used))
        found[w.name] = {"difference": off, "ms": times or "not measured"}
    found["host"] = "not measured" if options.dry_run else host_time()
    print("host time:", found["host"])
    if options.out is not None:
        options.out.write_text(json.dumps(found, indent=1))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
