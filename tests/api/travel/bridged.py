"""Functions of Dask and SciPy are made in a script, and used elsewhere: both print."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from typing import Any

import dask.array as da
import numpy as np

import pyrev
import pyrev.dask
import pyrev.scipy


@pyrev.differentiable
def energy(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] ** 3
    return total


def used(f: Any, objective: Any) -> list[Any]:
    """What the two compute."""
    value, gradient = f.value_and_grad(da.from_array(np.arange(6.0), chunks=3))
    own = objective(np.arange(6.0) / 2.0)
    return [float(value), gradient.x.compute().tolist(), [own[0], own[1].tolist()]]


if __name__ == "__main__":
    made = (
        pyrev.dask.distribute(energy, steps=2),
        pyrev.scipy.objective(energy, np.ones(6), wrt="x"),
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import json, pickle, sys; from tests.api.travel.bridged import used\n"
            "print(json.dumps(used(*pickle.load(sys.stdin.buffer))))",
        ],
        input=pickle.dumps(made),
        capture_output=True,
    )
    sys.stderr.buffer.write(done.stderr)
    print(json.dumps([used(*made), json.loads(done.stdout)]))
