"""A script that makes things, sends them one way, and prints what came of each.

    python -m tests.api.travel.sender WAY

It prints what was computed here, and what elsewhere, as JSON.
"""

from __future__ import annotations

import concurrent.futures
import copy
import json
import linecache
import multiprocessing
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

import pyrev
from tests.api.travel import known
from tests.api.travel.known import answer

ROOT = Path(__file__).parents[3]
WEIGHTS = np.linspace(1.0, 3.0, 5)
POWER = 3


def helper(a):  # type: ignore[no-untyped-def]
    return np.sin(a) * WEIGHTS[0]


@pyrev.differentiable(target="python")
def of_the_script(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += helper(x[i]) * WEIGHTS[i] ** POWER
    return total


@pyrev.differentiable(memory="1MB", wrt="x", target="numba")
def smooth(x, out):  # type: ignore[no-untyped-def]
    for i in range(1, x.shape[0] - 1):
        out[i] = x[i - 1] * x[i + 1]


def plain_name(x):  # type: ignore[no-untyped-def]
    return np.sum(x * x * WEIGHTS)


of_plain = pyrev.differentiable(plain_name, target="python", wrt=("x",))


@pyrev.custom_vjp(known.cube_vjp)
def cube(a):  # type: ignore[no-untyped-def]
    return a * a * a


@pyrev.differentiable(target="python")
def with_rule(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += cube(x[i])
    return total


@numba.njit
def compiled(a):  # type: ignore[no-untyped-def]
    return a * a + 1.0


@pyrev.differentiable(target="python")
def of_compiled(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += compiled(x[i])
    return total


CELL = """
import math
import numpy as np
import pyrev

offset = 0.25
table = np.array([1.0, -2.0, 4.0])

def bend(a):
    return math.exp(-a) + offset

@pyrev.differentiable(target="python")
def inner(a):
    return bend(a) * table[1]

@pyrev.differentiable(target="python")
def typed(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += inner(x[i]) + known.squares(x[i:i + 1])
    return total

two = (lambda x: np.sum(x * 2.0)), (lambda x: np.sum(x * x * table[2]))
two = tuple(pyrev.differentiable(f, target="python") for f in two)

@pyrev.differentiable(target="python")
def redefined(x):
    return np.sum(x)

earlier = redefined

@pyrev.differentiable(target="python")
def redefined(x):
    return 2.0 * np.sum(x)
"""


def cell() -> dict[str, Any]:
    """What a cell of a notebook defines: its text is in no file."""
    file = "/tmp/ipykernel_1/1.py"
    linecache.cache[file] = (len(CELL), None, CELL.splitlines(True), file)
    names: dict[str, Any] = {"__name__": "__main__", "known": known}
    exec(compile(CELL, file, "exec"), names)
    return names


def refused() -> pyrev.UnsupportedError:
    """What is said of a function outside the language, in a text that is in no file."""
    text = "def bad(x):\n    with open(x) as file:\n        return file\n"
    linecache.cache["<bad>"] = (len(text), None, text.splitlines(True), "<bad>")
    names: dict[str, Any] = {}
    exec(compile(text, "<bad>", "exec"), names)
    try:
        pyrev.differentiable(names["bad"])
    except pyrev.UnsupportedError as error:
        return error
    raise AssertionError


def things() -> dict[str, tuple[str, Any]]:
    """What travels: each with what is done with it."""
    typed = cell()
    x = known.X.copy()
    report = pyrev.check_grad(known.energy, x)
    _, moved = pyrev.jvp(of_the_script, x, tangents={"x": np.ones(5)})
    adjoint = pyrev.differentiable(known.energy.adjoint)
    derivatives = {
        "differentiated adjoint": ("second", adjoint),
        "adjoint": ("derivative", of_the_script.adjoint),
        "adjoint of a cell": ("derivative", typed["typed"].adjoint),
        "tangent": ("tangent", of_the_script.tangent),
        "primal": ("call", of_the_script.primal),
        "grad": ("call", pyrev.grad(of_the_script)),
        "grad of one": ("call", pyrev.grad(known.energy, "x")),
        "grad of a plain function": ("call", pyrev.grad(plain_name)),
        "value_and_grad": ("call", pyrev.value_and_grad(typed["typed"])),
        "jacobian": ("call", pyrev.jacobian(known.energy, wrt="x", of="return")),
        "hessian": ("call", pyrev.hessian(of_plain, wrt="x")),
        "pullback": ("pullback", pyrev.vjp(known.energy, x)[1]),
        "pullback of a cell": ("pullback", pyrev.vjp(typed["typed"], x)[1]),
    }
    values = {
        "gradients": ("numbers", pyrev.grad(known.energy)(x)),
        "tangents": ("numbers", moved),
        "gradient report": ("text", report),
        "report": ("text", of_the_script.adjoint.report()),
        "explanation": ("text", str(of_the_script.explain())),
        "refusal": ("text", refused()),
        "argument error": ("text", pyrev.ArgumentError("that does not fit")),
        "backend error": ("text", pyrev.BackendError("install it")),
        "internal error": ("text", pyrev.InternalError("our bug")),
    }
    functions = {
        "of a module": ("function", known.energy),
        "keeps its name": ("function", known.of_squares),
        "nested": ("function", known.scaled(3.0)),
        "of the script": ("function", of_the_script),
        "with options": ("written", smooth),
        "of a plain one": ("function", of_plain),
        "with a rule": ("function", with_rule),
        "of Numba's": ("function", of_compiled),
        "typed": ("function", typed["typed"]),
        "lambdas": ("many", typed["two"]),
        "earlier": ("function", typed["earlier"]),
    }
    return {**functions, **derivatives, **values}


def elsewhere(data: bytes) -> Any:
    """What a process that imports nothing of this script makes of pickled things."""
    script = (
        "import json, pickle, sys; from tests.api.travel.known import answer\n"
        "found = pickle.load(sys.stdin.buffer)\n"
        "def one(kind, data):\n"
        "    try:\n"
        "        return answer(kind, pickle.loads(data))\n"
        "    except Exception as error:\n"
        "        return f'{type(error).__name__}: {error}'\n"
        "print(json.dumps({n: one(*v) for n, v in found.items()}))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        input=data,
        capture_output=True,
        cwd=ROOT,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return json.loads(done.stdout)


Dumps = Callable[[Any], bytes]
Found = dict[str, Any]


def by_file(sent: Found, dumps: Dumps) -> Found:
    """Through bytes, as a file has them."""
    packed = {}
    failed: Found = {}
    for name, (kind, thing) in sent.items():
        try:
            packed[name] = kind, dumps(thing)
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"
    return failed | elsewhere(pickle.dumps(packed))


def by_python(thing: Any) -> bytes:
    """The pickler that is written in Python, which others derive theirs from."""
    import io

    stream = io.BytesIO()
    pickle._Pickler(stream).dump(thing)  # type: ignore[attr-defined]
    return stream.getvalue()


def one_by_one(sent: Found, ask: Callable[[str, Any], Any]) -> Found:
    """Each by a call in another process."""
    found = {}
    for name, (kind, thing) in sent.items():
        try:
            found[name] = ask(kind, thing)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def by_pool(sent: Found, method: str) -> Found:
    """`multiprocessing.Pool`."""
    with multiprocessing.get_context(method).Pool(1) as pool:
        return one_by_one(sent, lambda *one: pool.apply(answer, one))


def by_executor(sent: Found) -> Found:
    """`concurrent.futures`."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, context) as pool:
        return one_by_one(sent, lambda *one: pool.submit(answer, *one).result())


def by_joblib(sent: Found) -> Found:
    """Joblib's own workers."""
    import joblib

    with joblib.parallel_config("loky", n_jobs=2):
        return one_by_one(
            sent, lambda *one: joblib.Parallel()([joblib.delayed(answer)(*one)] * 2)[1]
        )


def joblib_file(thing: Any) -> bytes:
    """Joblib's files, without arrays apart."""
    import joblib

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "thing"
        joblib.dump(thing, path)
        return pickle.dumps(joblib.load(path))


def by_dask(sent: Found) -> Found:
    """Dask's processes."""
    import dask

    jobs = {n: dask.delayed(answer, pure=False)(*one) for n, one in sent.items()}
    (found,) = dask.compute(jobs, scheduler="processes", num_workers=1)
    return dict(found)


def by_distributed(sent: Found) -> Found:
    """Dask's workers."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        return one_by_one(
            sent, lambda *one: client.submit(answer, *one, pure=False).result()
        )


def cloudpickled(thing: Any) -> bytes:
    """As Dask, Ray and Joblib do it."""
    import cloudpickle

    return bytes(cloudpickle.dumps(thing))


WAYS: dict[str, Callable[[Found], Found]] = {
    **{
        f"pickle {p}": (lambda sent, p=p: by_file(sent, lambda t: pickle.dumps(t, p)))
        for p in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
    "pickle in Python": lambda sent: by_file(sent, by_python),
    "cloudpickle": lambda sent: by_file(sent, cloudpickled),
    "copy": lambda sent: one_by_one(sent, lambda k, t: answer(k, copy.copy(t))),
    "deepcopy": lambda sent: one_by_one(sent, lambda k, t: answer(k, copy.deepcopy(t))),
    "again and again": lambda sent: by_file(
        sent, lambda t: pickle.dumps(pickle.loads(pickle.dumps(t)))
    ),
    "spawn": lambda sent: by_pool(sent, "spawn"),
    "fork": lambda sent: by_pool(sent, "fork"),
    "forkserver": lambda sent: by_pool(sent, "forkserver"),
    "executor": by_executor,
    "joblib": by_joblib,
    "joblib.dump": lambda sent: by_file(sent, joblib_file),
    "dask": by_dask,
    "distributed": by_distributed,
}


if __name__ == "__main__":
    made = things()
    came = WAYS[sys.argv[1]](made)
    here = {name: answer(kind, thing) for name, (kind, thing) in made.items()}
    print(json.dumps([here, came]))
