"""Interleaved benchmark of forward + backward.

    python benchmarks/run.py [-w conv2d,heat3d] [-p pyrev_cpu,numba_scatter]

Every peer is a process of its own (own thread pool); the driver asks them in turn for
one forward + backward, so that noise hits all alike. A peer is a Python file with one
function per workload, `def conv2d(inputs): ... return step`, where `step()` runs
forward + backward once and returns the arrays that the workload names in OUT. They are
compared with a reference: PyTorch's in float64 where it is installed, else the scatter
loops of `peers/numba_scatter.py` in float64, else the hand-written Numba. A peer that
does not import is left out, and said so; `pip install -r benchmarks/requirements.txt`
brings them all.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import workloads  # noqa: E402

CACHE = Path(tempfile.gettempdir()) / "loop-adjoint-bench"
PEERS = (
    "pyrev_cpu",
    "numba_scatter",
    "numba_hand",
    "numba_simd",
    "halide_li2018",
    "halide_hand",
    "halide_mullapudi2016",
    "torch_eager",
    "torch_compile",
    "warp_cpu",
    "taichi_cpu",
    "jax_cpu",
)
"""In table order; halide_adams2019 found no schedule in 200 s: by name only."""
BASELINE = "numba_scatter"
THREADS = "2"


class Peer:
    """A worker process, and what it answered."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.times: list[float] = []
        self.first = 0.0
        self.ok = True
        threads = dict.fromkeys(
            ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "HL_NUM_THREADS"), THREADS
        )
        with open(CACHE / f"{Path(name).name}.log", "a") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(HERE / "worker.py"), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **threads, "PYTHONUNBUFFERED": "1"},
            )
        self.imported = self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"ok": False, "error": "process died"}

    def ask(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"ok": False, "error": "process died"}
        return self.read()

    def quit(self) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait(30)

    def wants_another(self, rounds: int) -> bool:
        """Slow peers are timed three times."""
        slow = bool(self.times) and self.times[-1] > 2
        return self.ok and len(self.times) < (min(3, rounds) if slow else rounds)


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """L2 error relative to the reference."""
    found = np.asarray(found, np.float64).ravel()
    expected = np.asarray(expected, np.float64).ravel()
    if found.shape != expected.shape:
        return float("inf")
    scale = float(np.linalg.norm(expected)) + 1e-30
    return float(np.linalg.norm(found - expected)) / scale


def compute_reference(workload: str, small: bool, path: Path) -> bool:
    """Write the float64 reference of a workload; False where nobody can compute it."""
    module = workloads.load(workload)
    if importlib.util.find_spec("torch") is not None:
        results = module.reference(module.inputs(small))
    else:
        from peers import numba_hand, numba_scatter

        inputs = module.inputs(small)
        if make := getattr(numba_scatter, workload, None):
            results = make({k: np.asarray(v, np.float64) for k, v in inputs.items()})()
        elif make := getattr(numba_hand, workload, None):
            results = make(inputs)()
        else:
            return False
    np.savez(path, **{k: np.asarray(v, np.float64) for k, v in results.items()})
    return True


def reference(workload: str, small: bool) -> dict[str, np.ndarray] | None:
    """The reference, computed once (in a process of its own: it needs much memory)."""
    path = CACHE / f"reference_{workload}_{'small' if small else 'full'}.npz"
    if not path.exists():
        arguments = [workload, "small" if small else "full", str(path)]
        subprocess.run(
            [sys.executable, __file__, "--reference", *arguments], check=True
        )
    if not path.exists():
        return None
    with np.load(path) as saved:
        return {name: saved[name] for name in saved.files}


def prepared(
    name: str, workload: str, options: argparse.Namespace, expected: Any, row: Any
) -> Peer | None:
    """A peer that ran the workload once and was checked; None if it cannot."""
    peer = Peer(name)
    if not peer.imported["ok"]:
        print(
            f"{workload:9s} {name:20s} left out: {peer.imported['error']}", flush=True
        )
        peer.process.wait(30)
        return None
    dump = CACHE / f"results_{Path(name).name}.npz"
    answer = peer.ask(
        do="prepare", workload=workload, small=options.small, dump=str(dump)
    )
    if not answer["ok"]:
        if answer["error"] != "not implemented":
            row[name] = {"error": answer["error"]}
            print(f"{workload:9s} {name:20s} {answer['error']}", flush=True)
        peer.quit()
        return None
    module = workloads.load(workload)
    errors: dict[str, float] = {}
    if expected is not None:
        with np.load(dump) as found:
            errors = {k: relative_error(found[k], expected[k]) for k in module.OUT}
    dump.unlink()
    right = all(error < module.TOL for error in errors.values())
    verdict = "unchecked" if expected is None else "right" if right else "WRONG"
    row[name] = {"first_s": answer["first_s"], "mb": answer["mb"], "errors": errors}
    row[name]["verdict"] = verdict
    print(
        f"{workload:9s} {name:20s} first {answer['first_s']:7.2f} s"
        f"  memory +{answer['mb']:6.0f} MB  {verdict} "
        + " ".join(f"{k}:{v:.1e}" for k, v in errors.items())
        + f" {answer['note']}",
        flush=True,
    )
    peer.first = answer["first_s"]
    return peer


def time_workload(
    workload: str, names: list[str], options: argparse.Namespace
) -> dict[str, Any]:
    """One row of the table."""
    row: dict[str, Any] = {}
    expected = reference(workload, options.small)
    candidates = [prepared(n, workload, options, expected, row) for n in names]
    peers = [peer for peer in candidates if peer is not None]
    del expected
    start = time.monotonic()
    for round_ in range(options.rounds + 1):
        # Whoever comes after a peer whose threads still spin is slowed down: not always
        # the same one.
        for peer in random.Random(round_).sample(peers, len(peers)):
            if not peer.wants_another(options.rounds) or (
                round_ == 0 and peer.first > 10
            ):
                continue
            time.sleep(0.02)
            answer = peer.ask(do="run")
            peer.ok = answer["ok"]
            if not peer.ok:
                print(f"{workload:9s} {peer.name:20s} stopped: {answer['error']}")
            if peer.ok and round_ > 0:  # the first round warms up
                peer.times.append(answer["s"])
        if time.monotonic() - start > options.budget and round_ >= min(
            7, options.rounds
        ):
            break
    for peer in peers:
        peer.quit()
        if peer.times:
            times = [1e3 * t for t in sorted(peer.times)]
            median = statistics.median(times)
            row[peer.name] |= {"median_ms": median, "min_ms": times[0]}
            print(
                f"   {workload:9s} {peer.name:20s} median {median:9.2f} ms"
                f"  min {times[0]:9.2f}  max {times[-1]:9.2f}",
                flush=True,
            )
    print(f"   {workload} load average {os.getloadavg()[0]:.2f}", flush=True)
    return row


def table(results: dict[str, Any], names: list[str]) -> str:
    """Medians in ms as Markdown; `!` marks a wrong gradient, `x` times the baseline."""
    shown = [
        n for n in names if any("median_ms" in r.get(n, {}) for r in results.values())
    ]
    lines = [
        f"| workload (ms) | {' | '.join(shown)} |",
        "|---" * (len(shown) + 1) + "|",
    ]
    for workload, row in results.items():
        base = row.get(BASELINE, {}).get("median_ms")
        cells = []
        for name in shown:
            median = row.get(name, {}).get("median_ms")
            if median is None:
                cells.append("-")
                continue
            wrong = "!" if row[name]["verdict"] == "WRONG" else ""
            ratio = f" ({base / median:.1f}x)" if base and name != BASELINE else ""
            cells.append(f"{median:.1f}{wrong}{ratio}")
        lines.append(f"| {workload} | {' | '.join(cells)} |")
    return "\n".join(lines)


def memory(results: dict[str, Any], names: list[str]) -> str:
    """Peak memory of a first forward + backward above what the arguments take, MB.

    With cold caches that is the compiler's: the second run shows the code's own.
    """
    shown = [n for n in names if any("mb" in r.get(n, {}) for r in results.values())]
    lines = [
        f"| workload (MB) | {' | '.join(shown)} |",
        "|---" * (len(shown) + 1) + "|",
    ]
    for workload, row in results.items():
        cells = (row.get(n, {}).get("mb") for n in shown)
        texts = ("-" if mb is None else f"{mb:.0f}" for mb in cells)
        lines.append(f"| {workload} | {' | '.join(texts)} |")
    return "\n".join(lines)


def chart(results: dict[str, Any], names: list[str], file: Path) -> None:
    """A bar for each peer and workload: its time over that of the first peer named."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    first, *others = names
    rows = {w: r for w, r in results.items() if "median_ms" in r.get(first, {})}
    figure, axes = plt.subplots(figsize=(11, 4.5))
    width = 0.8 / max(1, len(others))
    for k, name in enumerate(others):
        places, ratios = [], []
        for at, row in enumerate(rows.values()):
            if "median_ms" in row.get(name, {}):
                places.append(at - 0.4 + (k + 0.5) * width)
                ratios.append(row[name]["median_ms"] / row[first]["median_ms"])
        axes.bar(places, ratios, width, label=name)
    axes.axhline(1.0, color="black", linewidth=1.0)
    axes.set_yscale("log")
    axes.set_ylabel(f"time over that of {first}")
    axes.set_xticks(range(len(rows)), list(rows), rotation=30)
    axes.legend(fontsize="small", ncols=3)
    figure.tight_layout()
    figure.savefig(file, dpi=120)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0],
        epilog=f"peers: {', '.join(PEERS)}; workloads: {', '.join(workloads.ALL)}",
    )
    parser.add_argument("-w", "--workloads", help="comma separated (default: all)")
    parser.add_argument("-p", "--peers", help="comma separated (default: all)")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="FILE", help="one from outside"
    )
    parser.add_argument("-n", "--rounds", type=int, default=7, help="timed rounds")
    parser.add_argument("--small", action="store_true", help="tiny sizes, as a check")
    parser.add_argument(
        "--budget",
        type=float,
        default=120.0,
        help="seconds for one workload, after at least 7 rounds (default 120)",
    )
    parser.add_argument("-o", "--output", type=Path, help="results as JSON")
    parser.add_argument("--chart", type=Path, help="a bar chart (matplotlib), as PNG")
    parser.add_argument("--reference", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    CACHE.mkdir(exist_ok=True)
    if options.reference:
        workload, size, path = options.reference
        compute_reference(workload, size == "small", Path(path))
        return 0
    names = options.peers.split(",") if options.peers else list(PEERS)
    names += [str(Path(file).resolve()) for file in options.peer]
    chosen = options.workloads.split(",") if options.workloads else workloads.ALL
    results: dict[str, Any] = {}
    for workload in chosen:
        results[workload] = time_workload(workload, names, options)
        if options.output:
            options.output.write_text(json.dumps(results, indent=1) + "\n")
    print(table(results, names), memory(results, names), sep="\n\n")
    if options.chart:
        chart(results, names, options.chart)
    wrong = any(
        p.get("verdict") == "WRONG" for r in results.values() for p in r.values()
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
