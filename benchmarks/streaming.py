"""The memory of a gradient that streams from disk to disk, over the size of the arrays.

    python benchmarks/streaming.py [--gigabytes 0.3 1 3] [--chunk 1024] [--threads 2]
        [--gradient gather] [--memory 2GB] [--plain]

A convolution with a 5 x 5 kernel: image and cotangent come from Zarr, the gradient of
the image goes there, that of the kernel is returned. Each size is a process of its own;
its peak is that of the whole process. It has the environment that Dask gives to its
workers: there the C library returns the memory of large arrays when these are gone;
`--plain` is without, where it may keep some for later ones.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def convolution(image, kernel, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for r in range(kernel.shape[0]):
                for s in range(kernel.shape[1]):
                    out[y, x] += image[y + r, x + s] * kernel[r, s]


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure(
    gigabytes: float,
    chunk: int,
    threads: int,
    gradient: str,
    memory: str,
    folder: Path,
) -> None:
    """Run one size in this process, and print its row."""
    import dask
    import dask.array as da
    import numpy as np

    import pyrev.dask

    count = max(1, round((gigabytes * 1e9 / 8) ** 0.5 / chunk))
    n = count * chunk
    image, out = folder / "image", folder / "out"
    with dask.config.set(scheduler="threads", num_workers=threads):
        da.random.random((n, n), chunks=chunk).to_zarr(str(image))
        da.random.random((n - 4, n - 4), chunks=chunk).to_zarr(str(out))
        start, begin = peak(), time.perf_counter()
        x, cotangent = da.from_zarr(str(image)), da.from_zarr(str(out))
        kernel = np.random.default_rng(1).random((5, 5))
        f = pyrev.dask.distribute(convolution, gradient=gradient, memory=memory)
        blank = da.zeros(cotangent.shape, chunks=cotangent.chunks)
        _, pull = f.vjp(x, kernel, blank, wrt=("image", "kernel"))
        gradients = pull(out=cotangent)
        stored = gradients.image.to_zarr(str(folder / "gradient"), compute=False)
        dask.compute(stored, gradients.kernel)
    took = time.perf_counter() - begin
    size, piece = n * n * 8 / 1e6, chunk * chunk * 8 / 1e6
    allowed = 300 + 12 * piece * threads
    print(
        f"{size:7.0f} MB   peak {peak():6.0f} MB (before {start:.0f}, allowed"
        f" {allowed:.0f})   {took:6.1f} s",
        flush=True,
    )


def of_a_worker() -> dict[str, str]:
    """The environment in which Dask starts its workers."""
    import dask
    import distributed  # its defaults are part of its configuration  # noqa: F401

    own = dask.config.get("distributed.nanny.pre-spawn-environ")
    return {k: str(v) for k, v in own.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, nargs="*", default=[0.3, 1, 3])
    parser.add_argument("--chunk", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--gradient", choices=("gather", "sum"), default="gather")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--only", type=float)
    asked = parser.parse_args()
    if asked.only is not None:
        with tempfile.TemporaryDirectory() as folder:
            measure(
                asked.only,
                asked.chunk,
                asked.threads,
                asked.gradient,
                asked.memory,
                Path(folder),
            )
        return
    for size in asked.gigabytes:
        options = ["--chunk", str(asked.chunk), "--threads", str(asked.threads)]
        options += ["--gradient", asked.gradient, "--memory", asked.memory]
        command = [sys.executable, __file__, "--only", str(size), *options]
        own = {} if asked.plain else of_a_worker()
        subprocess.run(command, check=True, env=os.environ | own)


if __name__ == "__main__":
    main()
