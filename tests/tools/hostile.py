"""Which calls does nobody make in earnest, and does each end in a result or an error?

Functions of different kinds are called, transposed and pulled back with arguments that
were made to hurt: wrong dtypes and types, odd strides, overlaps, read-only memory,
indices that leave their array, NaN, huge sizes. Each call must end in what CPython
computes from copies of the arguments, or in a Python exception; an exception leaves the
arguments as they were, unless CPython itself stops in the middle of the same call.

Calls run in a child process, by seed: a child that dies tells which seed killed it.

    python -m tests.tools.hostile [--count N] [--first SEED] [--target python|numba]
"""

from __future__ import annotations

import argparse
import json
import math
import queue
import resource
import signal
import subprocess
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

import pyrev
from pyrev.ir.diagnostics import ArgumentError, InternalError, PyrevError
from tests import ROOT
from tests.tools.costs import EAGER, Costs, differentiable, of_seed

Rng = np.random.Generator
Arguments = dict[str, Any]

PATIENCE = 120.0  # seconds for one call, compilation included
BATCH = 250  # calls in one child
MOST = 10**6  # elements that are copied and compared
ENOUGH = 1.0  # seconds for CPython: a call that takes longer is not made
MEMORY = 12 << 30  # bytes of address space

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False


# ------------------------------------------------------------------ functions


def affine(signal, kernel, out):
    for x in range(out.shape[0]):
        for k in range(kernel.shape[0]):
            out[x] += signal[x + k] * kernel[k]


def scatter(out, index, a):
    for i in range(a.shape[0]):
        out[index[i]] += a[i] * a[i]


def chained(table, index, out):
    for i in range(out.shape[0]):
        if i < index.shape[0]:
            out[i] = table[index[index[i]]] * out[i]


def recurrence(x, r):
    for i in range(1, x.shape[0]):
        x[i] = r * x[i - 1] * (1.0 - x[i])
    return r


def stencil(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def sparse(start, column, value, x, y):
    for i in range(y.shape[0]):
        for k in range(start[i], start[i + 1]):
            y[i] += value[k] * x[column[k]]


def scratch(a, n):
    t = np.zeros(n)
    for i in range(n):
        t[i] = a[i] * 2.0
    s = 0.0
    for i in range(n):
        s += t[i] * t[i]
    return s


def modulus(a, n, out):
    for i in range(a.shape[0]):
        out[i % n] += a[i] / (i // n + 1)


def scalars(x, y):
    z = x * y
    if z > 0.0:
        z = z / y
    return z, math.sin(x)


def masked(f, g):
    for i in range(f.shape[0]):
        if f[i] > 0.0:
            g[i] = math.sqrt(f[i])
        else:
            g[i] += f[i]


def negative(a, k, out):
    for i in range(out.shape[0]):
        out[i] = a[k - i] * a[-1]


def maximum(a, w):
    best = a[0]
    for i in range(a.shape[0]):
        best = max(best, a[i] * w[i])
    return best


@dataclass(frozen=True)
class Victim:
    """A function, its arguments when all is well, and the arrays it writes."""

    function: Callable[..., Any]
    make: Callable[[int, Rng], Arguments]
    written: tuple[str, ...] = ()


def draws(rng: Rng, *shape: int) -> Any:
    return rng.uniform(-1.0, 1.0, shape)


VICTIMS = (
    Victim(
        affine,
        lambda n, r: dict(
            signal=draws(r, n + 3), kernel=draws(r, 3), out=draws(r, n + 1)
        ),
        ("out",),
    ),
    Victim(
        scatter,
        lambda n, r: dict(out=draws(r, n), index=r.integers(0, n, n), a=draws(r, n)),
        ("out",),
    ),
    Victim(
        chained,
        lambda n, r: dict(
            table=draws(r, n), index=r.integers(0, n, n), out=draws(r, n)
        ),
        ("out",),
    ),
    Victim(recurrence, lambda n, r: dict(x=draws(r, n), r=1.5), ("x",)),
    Victim(
        stencil,
        lambda n, r: dict(u=draws(r, n, n + 1), v=draws(r, n, n + 1)),
        ("v",),
    ),
    Victim(
        sparse,
        lambda n, r: dict(
            start=np.arange(n + 1) * 2,
            column=r.integers(0, n, 2 * n),
            value=draws(r, 2 * n),
            x=draws(r, n),
            y=draws(r, n),
        ),
        ("y",),
    ),
    Victim(scratch, lambda n, r: dict(a=draws(r, n), n=n)),
    Victim(modulus, lambda n, r: dict(a=draws(r, n), n=3, out=draws(r, 4)), ("out",)),
    Victim(scalars, lambda n, r: dict(x=0.5 + n, y=2.0)),
    Victim(masked, lambda n, r: dict(f=draws(r, n), g=draws(r, n)), ("g",)),
    Victim(
        negative, lambda n, r: dict(a=draws(r, n), k=n - 1, out=draws(r, n)), ("out",)
    ),
    Victim(maximum, lambda n, r: dict(a=draws(r, n), w=draws(r, n))),
)

# ------------------------------------------------------------------ what hurts


class Subclass(np.ndarray[Any, Any]):
    """An array that is not quite one."""


WORDS: tuple[Callable[[], Any], ...] = (
    *(lambda: None, lambda: "seven", lambda: [1.0, 2.0], lambda: (1, 2)),
    *(dict, lambda: 2j, lambda: Decimal(1), lambda: math.sin, lambda: b"\0" * 64),
    *(lambda: memoryview(b"abcdefgh"), lambda: range(5), object, lambda: Ellipsis),
    lambda: np.array(3.0),
    lambda: np.array(3),
    lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    lambda: np.rec.array([(1.0, 2)], dtype=[("a", "f8"), ("b", "i4")]),
    lambda: np.zeros((2, 2, 2, 2)),
    lambda: np.zeros(5).view(Subclass),
)
NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, -7, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63), 2**63, 2**70),
    *(-(2**70), True, False, 0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 1e308),
    *(np.int8(-3), np.uint64(2**64 - 1), np.float32(0.5), np.float16(2.0)),
    *(np.bool_(True), np.complex64(1j), np.longdouble(2.0), np.datetime64("2020")),
)
DTYPES = (
    *("f4", "i4", "?", "f2", "g", "c8", "c16", "O", ">f8", ">f4", ">i8", "U3", "S2"),
    *("M8[D]", "m8[s]", "V4", "i1", "u8"),
)
HUGE = (2**16 + 1, 2**31, 2**33, 2**40, 2**45)


def strided(value: Any, rng: Rng) -> Any:
    """The same elements, laid out otherwise."""
    kind = rng.integers(0, 6)
    if kind == 0:
        return np.ascontiguousarray(value[::-1])[::-1]
    if kind == 1:
        wide = np.repeat(value, 2, axis=-1)
        return wide[..., ::2]
    if kind == 2:
        return np.asfortranarray(value)
    if kind == 3:
        return value.T
    if kind == 4:
        raw = np.zeros(value.nbytes + 1, np.uint8)
        odd = np.frombuffer(raw.data, value.dtype, value.size, 1).reshape(value.shape)
        odd[...] = value
        return odd
    moved = np.zeros((*value.shape, 2), value.dtype)
    moved[..., 1] = value
    return moved[..., 1]


def overlapping(value: Any, rng: Rng) -> Any:
    """Elements that share memory with each other."""
    if rng.integers(0, 2):
        return np.broadcast_to(value[:1], value.shape)
    step = value.itemsize if value.ndim > 1 else value.itemsize // 2
    own = np.array(value, order="C")
    return np.lib.stride_tricks.as_strided(own, value.shape, (step,) * value.ndim)


def reshaped(value: Any, rng: Rng) -> Any:
    """Fewer or more elements, or axes."""
    kind = rng.integers(0, 7)
    if kind == 0:
        return value[:-1]
    if kind == 1:
        return np.concatenate((value, value[:2]))
    if kind == 2:
        return value[:0]
    if kind == 3:
        return value[None]
    if kind == 4:
        return value.ravel()
    if kind == 5:
        return value[..., None]
    return value[:1]


def poisoned(value: Any, rng: Rng) -> Any:
    """NaN, infinities, denormals and huge numbers; for indices, what leaves arrays."""
    value = value.copy()
    flat = value.reshape(-1)
    if not flat.size:
        return value
    at = rng.integers(0, flat.size, 1 + flat.size // 4)
    if value.dtype.kind == "f":
        flat[at] = rng.choice([math.nan, math.inf, -math.inf, 5e-324, 1e308, -0.0])
    elif value.dtype.kind in "iu":
        info = np.iinfo(value.dtype)
        n = flat.size
        flat[at] = rng.choice([-1, -n, -n - 1, n, n + 1, info.max, info.min, 2**40])
    return value


def spoil(arguments: Arguments, rng: Rng) -> list[str]:
    """One to three things done to the arguments, in words."""
    done = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 2, 3]))):
        names = list(arguments)
        name = names[rng.integers(0, len(names))]
        done.append(f"{name}: {spoil_one(arguments, name, rng)}")
    return done


def spoil_one(arguments: Arguments, name: str, rng: Rng) -> str:
    value = arguments[name]
    if not isinstance(value, np.ndarray) or not 0 < value.size * value.ndim <= MOST:
        if rng.random() < 0.7:
            arguments[name] = NUMBERS[rng.integers(0, len(NUMBERS))]
        else:
            arguments[name] = WORDS[rng.integers(0, len(WORDS))]()
        return f"another value, {str(arguments[name])[:40]}"
    kind = rng.choice(
        ["strides", "overlap", "shape", "poison", "dtype", "word", "number"]
        + ["frozen", "alias", "huge", "poison", "shape"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        match kind:
            case "strides":
                arguments[name] = strided(value, rng)
            case "overlap":
                arguments[name] = overlapping(value, rng)
            case "shape":
                arguments[name] = reshaped(value, rng)
            case "poison" if value.dtype.kind in "fiu" and value.flags.writeable:
                arguments[name] = poisoned(value, rng)
            case "dtype":
                dtype = str(rng.choice(DTYPES))
                try:
                    arguments[name] = value.astype(dtype)
                except (TypeError, ValueError, RuntimeError):
                    arguments[name] = np.zeros(value.shape, dtype)
                return f"dtype {dtype}"
            case "word":
                arguments[name] = WORDS[rng.integers(0, len(WORDS))]()
                return f"a {type(arguments[name]).__name__}"
            case "number":
                arguments[name] = NUMBERS[rng.integers(0, len(NUMBERS))]
                return f"the number {arguments[name]!r}"
            case "frozen":
                arguments[name] = value.copy()
                arguments[name].flags.writeable = False
            case "alias":
                others = [v for v in arguments.values() if isinstance(v, np.ndarray)]
                other = others[rng.integers(0, len(others))]
                arguments[name] = other[::-1] if rng.integers(0, 2) else other
            case "huge":
                size = int(rng.choice(HUGE))
                shape = (size, *value.shape[1:])
                arguments[name] = np.broadcast_to(value.dtype.type(0), shape)
                return f"{size} elements at one address"
            case _:
                return "nothing"
    return str(kind)


# ------------------------------------------------------------------ one call


#: What Python itself says of such arguments.
PYTHON = (
    *(IndexError, ValueError, ZeroDivisionError, MemoryError, OverflowError),
    *(TypeError, UnboundLocalError),
)


@dataclass(frozen=True)
class Report:
    """How one call ended; `wrong` says what it should not have done."""

    seed: int
    what: str
    ended: str
    wrong: str = ""


@cache
def victim(k: int, target: str, costs: Costs = EAGER) -> Any:
    return differentiable(VICTIMS[k].function, costs, target=target)


def huge(arguments: Mapping[str, Any]) -> bool:
    """Is there an array that must not be copied?"""
    sizes = [v.size for v in arguments.values() if isinstance(v, np.ndarray)]
    return max([0, *sizes]) > MOST


def snapshot(value: Any) -> Any:
    """What an argument is, to be compared with what it is later."""
    if isinstance(value, np.ndarray) and value.size <= MOST:
        if value.dtype.hasobject:
            return (value.shape, value.dtype, value.strides, repr(value))
        return (value.shape, value.dtype, value.strides, value.tobytes())
    return repr(value) if isinstance(value, (int, float, str)) else id(value)


def copied(arguments: Arguments) -> Arguments:
    """Writable copies with the same elements and no shared memory."""
    return {
        n: v.copy() if isinstance(v, np.ndarray) and v.size <= MOST else v
        for n, v in arguments.items()
    }


def equal(mine: Any, theirs: Any, tolerance: float) -> bool:
    if isinstance(mine, tuple) or isinstance(theirs, tuple):
        return len(mine) == len(theirs) and all(
            equal(a, b, tolerance) for a, b in zip(mine, theirs, strict=True)
        )
    if mine is None or theirs is None:
        return mine is theirs
    a, b = np.asarray(mine), np.asarray(theirs)
    # Where data decides between a truth value, an integer and a float, CPython returns
    # the one that it took; compiled code returns it in the widest of these kinds.
    width = "biuf".find
    widened = a.ndim == 0 and 0 <= width(b.dtype.kind) <= width(a.dtype.kind)
    if a.shape != b.shape or not (a.dtype.kind == b.dtype.kind or widened):
        return False
    if a.dtype.kind not in "fiub":
        return repr(a) == repr(b)
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))


def tolerance_for(arguments: Mapping[str, Any]) -> float:
    single = any(getattr(v, "dtype", None) == np.float32 for v in arguments.values())
    return 2e-4 if single else 1e-9


def attempt(seed: int, target: str) -> Report:
    """Call, or transpose and pull back, one function with spoilt arguments."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(0, len(VICTIMS)))
    one = VICTIMS[k]
    arguments = one.make(int(rng.choice([1, 2, 5, 9])), rng)
    done = spoil(arguments, rng)
    pulled = bool(rng.integers(0, 3))
    what = f"{one.function.__name__}{' and its pullback' if pulled else ''}: "
    what += "; ".join(done)
    f = victim(k, target, of_seed(seed))
    before = {n: snapshot(v) for n, v in arguments.items()}
    plain = copied(arguments)
    try:
        expected, stopped = run_plain(one, plain)
    except Endless:
        return Report(seed, what, "endless in CPython")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if pulled:
                result, pullback = pyrev.vjp(f, **arguments)
            else:
                result, pullback = f(**arguments), None
    except (InternalError, SystemError, AssertionError) as error:
        return Report(seed, what, "died", f"{type(error).__name__}: {error}")
    except Exception as error:
        return Report(
            seed,
            what,
            ended(error),
            after_error(one, arguments, before, error, stopped),
        )
    untouched = [
        n
        for n, v in arguments.items()
        if n not in one.written and snapshot(v) != before[n]
    ]
    if untouched:
        return Report(seed, what, "result", f"it changed {untouched}")
    tolerance = tolerance_for(arguments)
    if stopped is not None and not of_floats(stopped):
        return Report(seed, what, "result", f"CPython stops: {stopped!r}")
    if stopped is None and not equal(result, expected, tolerance):
        return Report(seed, what, "result", f"{result} for {expected}")
    for n in one.written if stopped is None else ():
        if not equal(arguments[n], plain[n], tolerance):
            wrong = f"`{n}` is {arguments[n]} for {plain[n]}"
            return Report(seed, what, "result", wrong)
    if pullback is None:
        return Report(seed, what, "result")
    return pull(seed, what, k, arguments, before, pullback, result, rng)


class Endless(BaseException):
    """CPython itself would not finish this."""


def run_plain(one: Victim, plain: Arguments) -> tuple[Any, Exception | None]:
    """What CPython returns, or the exception that stops it."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Endless

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, ENOUGH)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return one.function(**plain), None
    except Exception as error:
        return None, error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def of_floats(error: Exception) -> bool:
    """Where Python's floats and `math` raise, pyrev gives what NumPy's scalars give."""
    told = str(error)
    return isinstance(error, (ValueError, OverflowError, ZeroDivisionError)) and (
        "math" in told or "float" in told or "Result too large" in told
    )


def ended(error: Exception) -> str:
    home = type(error).__module__
    ours = home.startswith(("builtins", "pyrev", "numpy"))
    return f"{'' if ours else home + '.'}{type(error).__name__}"


def after_error(
    one: Victim,
    arguments: Arguments,
    before: Mapping[str, Any],
    error: Exception,
    stopped: Exception | None,
) -> str:
    """What is wrong with this error, if anything is."""
    changed = [n for n, v in arguments.items() if snapshot(v) != before[n]]
    ours = isinstance(error, PyrevError)
    if stopped is not None and not isinstance(error, ArgumentError):
        changed = [n for n in changed if n not in one.written]
    if changed:
        return f"{error!r} after it changed {changed}"
    if not ours and not isinstance(error, PYTHON):
        return f"an error of the machinery: {error!r}"[:300]
    return ""


def pull(
    seed: int,
    what: str,
    k: int,
    arguments: Arguments,
    before: Mapping[str, Any],
    pullback: Any,
    result: Any,
    rng: Rng,
) -> Report:
    """A pullback with cotangents that are good, or not."""
    one = VICTIMS[k]
    cotangents: dict[str, Any] = {
        n: rng.uniform(-1.0, 1.0, np.shape(arguments[n])) for n in one.written
    }
    positional: Any = None
    if result is not None:
        several = result if isinstance(result, tuple) else (result,)
        positional = tuple(float(rng.uniform(-1.0, 1.0)) for _ in several)
        if not isinstance(result, tuple):
            positional = positional[0]
    if rng.integers(0, 2):
        names = [*cotangents, "positional"]
        name = names[rng.integers(0, len(names))]
        slot: Arguments = {**cotangents, "positional": positional}
        if slot[name] is None:
            slot[name] = 0.0
        what += f"; cotangent {name}: {spoil_one(slot, name, rng)}"
        positional = slot.pop("positional")
        cotangents = slot
        if result is None and name != "positional":
            positional = None
    given = {n: snapshot(v) for n, v in cotangents.items()}
    middle = {n: snapshot(v) for n, v in arguments.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gradients = dict(pullback(positional, cotangents=cotangents).items())
    except (InternalError, SystemError, AssertionError) as error:
        return Report(seed, what, "died", f"{type(error).__name__}: {error}")
    except Exception as error:
        changed = [n for n, v in arguments.items() if snapshot(v) != middle[n]]
        changed += [n for n, v in cotangents.items() if snapshot(v) != given[n]]
        wrong = f"{error!r} after it changed {changed}" if changed else ""
        return Report(seed, what, f"pullback: {ended(error)}", wrong)
    changed = [n for n, v in arguments.items() if snapshot(v) != middle[n]]
    changed += [n for n, v in cotangents.items() if snapshot(v) != given[n]]
    if changed:
        return Report(seed, what, "gradients", f"the pullback changed {changed}")
    if huge(arguments):
        return Report(seed, what, "gradients")
    return compare(seed, what, k, before, arguments, positional, cotangents, gradients)


def compare(
    seed: int,
    what: str,
    k: int,
    before: Mapping[str, Any],
    arguments: Arguments,
    positional: Any,
    cotangents: Arguments,
    gradients: Mapping[str, Any],
) -> Report:
    """The same gradients from the readable adjoint in CPython, on copies."""
    own = copied(arguments)
    for n, was in before.items():
        if isinstance(own[n], np.ndarray):
            own[n] = np.frombuffer(was[3], was[1]).reshape(was[0]).copy()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _, again = pyrev.vjp(victim(k, "python"), **own)
        expected = dict(again(positional, cotangents=cotangents).items())
    tolerance = max(tolerance_for(arguments), tolerance_for(cotangents))
    for n, gradient in gradients.items():
        if not equal(gradient, expected[n], tolerance):
            wrong = f"the gradient of `{n}` is {gradient} for {expected[n]}"
            return Report(seed, what, "gradients", wrong)
    return Report(seed, what, "gradients")


# ------------------------------------------------------------------ many calls


def child(first: int, count: int, target: str) -> None:
    """Calls by seed; a line before each, so that a death has a name, and after."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for seed in range(first, first + count):
        print(json.dumps({"begun": seed}), flush=True)
        report = attempt(seed, target)
        line = [report.seed, report.what, report.ended, report.wrong]
        print(json.dumps({"done": line}), flush=True)


def forward(stream: Any, lines: queue.Queue[str]) -> None:
    """The lines of a stream, and an empty one at its end."""
    for line in stream:
        lines.put(line)
    lines.put("")


def hunt(first: int, count: int, target: str) -> list[Report]:
    """All calls, in child processes; a dead or endless child is a report."""
    reports: list[Report] = []
    seed, end = first, first + count
    while seed < end:
        batch = min(BATCH, end - seed)
        command = [sys.executable, "-m", "tests.tools.hostile", "--child"]
        command += ["--first", str(seed), "--count", str(batch), "--target", target]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert process.stdout is not None
        lines: queue.Queue[str] = queue.Queue()
        reader = threading.Thread(target=forward, args=(process.stdout, lines))
        reader.start()
        last, died = seed, ""
        while not died:
            try:
                line = lines.get(timeout=PATIENCE)
            except queue.Empty:
                process.kill()
                died = f"no end after {PATIENCE:.0f} s"
                break
            if not line:
                break
            told = json.loads(line)
            if "begun" in told:
                last = told["begun"]
            else:
                reports.append(Report(*told["done"]))
        reader.join()
        process.stdout.close()
        code = process.wait()
        if code and not died:
            died = f"the process died with {code}"
        if died:
            reports.append(Report(last, "", "died", died))
            seed = last + 1
        else:
            seed += batch
    return reports


def summary(reports: Sequence[Report]) -> str:
    ends = Counter(r.ended for r in reports)
    told = "\n".join(f"{n:6} {how}" for how, n in ends.most_common())
    return f"{len(reports)} calls\n{told}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", default="numba", choices=("python", "numba"))
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.first, options.count, options.target)
        return 0
    reports = hunt(options.first, options.count, options.target)
    wrong = [r for r in reports if r.wrong]
    for r in wrong:
        print(f"seed {r.seed}: {r.what}\n    {r.wrong}")
    print(summary(reports))
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
