"""Peak memory and time of a checkpointed gradient, measured from outside the process.

    python benchmarks/memory.py [--size 1024] [--steps 1000] [--memory 256MB]

A 2-D wave step in float32, run for many steps; the gradient is with respect to the
initial state and the material. Each variant runs in a process of its own, twice, so
that the second finds its machine code in the cache; what is reported is the second. The
peak is the high-water mark of the resident set during the gradient, above what the
process had after it ran the primal.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import pyrev


def wave(u: Any, v: Any, material: Any, steps: int) -> None:
    """`steps` leapfrog steps of the wave equation; `v` is the state before `u`."""
    for _ in range(steps):
        for y in range(1, u.shape[0] - 1):
            for x in range(1, u.shape[1] - 1):
                v[y, x] = (
                    2 * u[y, x]
                    - v[y, x]
                    + material[y, x]
                    * (
                        u[y - 1, x]
                        + u[y + 1, x]
                        + u[y, x - 1]
                        + u[y, x + 1]
                        - 4 * u[y, x]
                    )
                )
        u, v = v, u


def child(size: int, steps: int, memory: str) -> None:
    """One gradient, with a pause on both sides in which the parent reads."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:size, 0:size] / size
    u = np.exp(-200 * ((y - 0.5) ** 2 + (x - 0.4) ** 2)).astype(np.float32)
    v = u.copy()
    material = (0.1 + 0.1 * rng.random((size, size))).astype(np.float32)
    f = pyrev.differentiable(wave, memory=None if memory == "none" else memory)
    d_u = rng.standard_normal((size, size)).astype(np.float32)
    # The code is loaded, and the primal has run, before anything is measured.
    small = (u[:9, :8].copy(), v[:9, :8].copy(), material[:9, :8].copy(), 3)
    pyrev.vjp(f, *small)[1](u=d_u[:9, :8].copy())
    _, pullback = pyrev.vjp(f, u, v, material, steps)
    pyrev.release()
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.perf_counter()
    g = pullback(u=d_u)
    seconds = time.perf_counter() - begin
    digest = hashlib.sha256()
    for name in ("u", "v", "material"):
        digest.update(np.asarray(g[name]).tobytes())
    finite = bool(np.isfinite(g.material).all())
    print(json.dumps([seconds, digest.hexdigest()[:16], finite]), flush=True)
    sys.stdin.readline()


def status(pid: int, key: str) -> float:
    """A line of the kernel's account of a process, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024 / 1e6
    raise KeyError(key)


def measured(size: int, steps: int, memory: str) -> dict[str, Any]:
    """One run in a process of its own."""
    command = [sys.executable, __file__, "--child"]
    command += ["--size", str(size), "--steps", str(steps), "--memory", memory]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline().strip() == "ready", "the child failed"
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")
    before = status(process.pid, "VmRSS")
    process.stdin.write("go\n")
    process.stdin.flush()
    seconds, digest, finite = json.loads(process.stdout.readline())
    peak = status(process.pid, "VmHWM")
    process.stdin.write("end\n")
    process.stdin.flush()
    process.wait()
    return {
        "memory": memory,
        "seconds": seconds,
        "peak above the primal, MB": round(peak - before, 1),
        "bits": digest,
        "finite": finite,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--memory", default="256MB")
    parser.add_argument("--without-store-everything", action="store_true")
    args = parser.parse_args()
    if args.child:
        child(args.size, args.steps, args.memory)
        return
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("PYREV_CACHE_DIR", cache)
        rows = []
        variants = [args.memory]
        if not args.without_store_everything:
            variants.append("none")
        for memory in variants:
            measured(args.size, 4, memory)  # fills the cache
            rows.append(measured(args.size, args.steps, memory))
            print(json.dumps(rows[-1]), flush=True)
    if len(rows) == 2:
        ratio = rows[0]["seconds"] / rows[1]["seconds"]
        same = rows[0]["bits"] == rows[1]["bits"]
        print(f"time {ratio:.2f} x storing everything; bits equal: {same}")


if __name__ == "__main__":
    main()
