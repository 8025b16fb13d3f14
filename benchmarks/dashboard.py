"""Pictures of Dask's dashboard during a gradient, as docs/chunks.md has them.

    python benchmarks/dashboard.py [--folder docs] [--size 4096]

The same value and gradient twice, on two workers of one thread: with chunks that take
a worker a while, several steps in a task, and with chunks so small that what happens
between tasks takes longer than they do. Needs `bokeh`, which draws the dashboard, and
Chromium, which is asked for a picture after the given share of each run.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from chunks import misfit
from distributed import Client, LocalCluster, wait
from tornado.websocket import websocket_connect

import pyrev.dask

#: A picture's name, the side of its chunks, the steps in a task, those in all.
RUNS = (("dashboard", 1024, 4, 24), ("dashboard-small", 128, 1, 4))
#: After such a pause the stream of tasks of the page begins anew.
PAUSE = 7.0


@contextlib.contextmanager
def browser(address: str, port: int = 9333) -> Iterator[str]:
    """Chromium at an address: where to ask it for a picture."""
    found = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
    with tempfile.TemporaryDirectory() as profile:
        options = (
            *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--window-size=1400,860", f"--user-data-dir={profile}"),
            *(f"--remote-debugging-port={port}", "--remote-allow-origins=*"),
        )
        running = subprocess.Popen(
            [found, *options, address], stderr=subprocess.DEVNULL
        )
        try:
            yield f"http://127.0.0.1:{port}/json"
        finally:
            running.terminate()
            running.wait()


def picture(asked: str, to: Path) -> None:
    """Save what the browser shows, by the DevTools protocol."""
    with urllib.request.urlopen(asked) as answer:
        tabs = json.load(answer)
    page = next(t for t in tabs if t["type"] == "page")

    async def taken() -> bytes:
        at = await websocket_connect(
            page["webSocketDebuggerUrl"], max_message_size=2**28
        )
        await at.write_message(
            json.dumps({"id": 1, "method": "Page.captureScreenshot"})
        )
        while True:
            told = json.loads(await at.read_message())
            if told.get("id") == 1:
                return base64.b64decode(told["result"]["data"])

    to.write_bytes(asyncio.run(taken()))


def run(folder: Path, name: str, chunk: int, k: int, steps: int, size: int) -> None:
    """One run, and its picture."""
    rng = np.random.default_rng(0)
    shape = (size, size)
    u, c, d = rng.random(shape), 0.1 * rng.random(shape), rng.random(shape)
    f = pyrev.dask.distribute(misfit, steps=k, gradient="sum")
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as workers,
        Client(workers) as client,
        browser(workers.dashboard_link) as asked,
    ):
        held = [client.persist(da.from_array(a, chunks=chunk)) for a in (u, c, d)]
        wait(held)
        took = 0.0
        for again in (False, True):  # the first run compiles
            start = time.perf_counter()
            value, g = f.value_and_grad(*held, steps, wrt=("u", "c"))
            found: Any = client.persist([value, g.u, g.c])
            if again:
                time.sleep(max(0.7 * took - (time.perf_counter() - start), 0.0))
                picture(asked, folder / f"{name}.png")
            wait(found)
            took = time.perf_counter() - start
            print(f"{name}: {took:.2f} s")
            del found, value, g
            time.sleep(PAUSE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("docs"))
    parser.add_argument("--size", type=int, default=4096)
    asked = parser.parse_args()
    for name, chunk, k, steps in RUNS:
        size = asked.size if chunk > 500 else asked.size // 2
        run(asked.folder, name, chunk, k, steps, size)


if __name__ == "__main__":
    main()
