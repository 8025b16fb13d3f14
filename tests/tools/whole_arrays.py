"""Which functions of both corpora have a text about whole arrays, and is it right?

Each text runs alone, as a module of its own, beside the function itself (the primal)
or the readable text (the adjoint, the tangent), for no elements, one and a few, of both
precisions.
The readable text is judged elsewhere, against differences of the function. The command
prints what is refused, by reason, and what is wrong.
"""

from __future__ import annotations

import argparse
import copy
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

import pyrev
from pyrev.driver.targets import NUMPY, PYTHON
from pyrev.driver.unit import Unit
from pyrev.testing import draw_cotangents, run
from tests.corpora.entry import Arguments, Entry
from tests.corpora.everything import EVERY

SIZES = (0, 1, 2, 3, 5)
PARTS = ("primal", "adjoint", "tangent")
TOLERANCE = {np.float64: 1e-7, np.float32: 3e-4}


class Verdict(NamedTuple):
    """What became of one text: right, refused or wrong, how often it ran, and why."""

    name: str
    what: str
    is_: str
    calls: int
    why: str


def judged(name: str) -> list[Verdict]:
    """The verdicts on the texts of one function."""
    entry = EVERY[name]
    try:
        f = pyrev.differentiable(entry.plain)
    except pyrev.UnsupportedError as refused:
        why = refused.findings[0].code
        return [Verdict(name, what, "no text", 0, why) for what in PARTS]
    return [_judged(entry, f, what) for what in PARTS]


def _judged(entry: Entry, f: pyrev.Differentiable, what: str) -> Verdict:
    calls = 0
    for size, dtype in _cases(entry):
        rng = entry.generator(size)
        arguments = entry.make(size, dtype, rng)
        try:
            found = compared(entry, f, what, arguments, rng)
        except pyrev.UnsupportedError as refused:
            finding = refused.findings[0]
            is_ = "refused" if finding.code == "P304" else "no text"
            why = finding.because if is_ == "refused" else finding.code
            return Verdict(entry.name, what, is_, calls, why)
        except pyrev.InternalError as error:
            why = f"crash: {error.__cause__!r}"
            return Verdict(entry.name, what, "wrong", calls, why)
        if found is None:
            continue
        calls += 1
        if found:
            why = f"size {size}, {dtype.__name__}: {found}"
            return Verdict(entry.name, what, "wrong", calls, why)
    return Verdict(entry.name, what, "right", calls, "")


def _cases(entry: Entry) -> Iterator[tuple[int, Any]]:
    for size in SIZES:
        if size >= entry.least:
            yield size, np.float64
            if not entry.only64:
                yield size, np.float32


def compared(
    entry: Entry,
    f: pyrev.Differentiable,
    what: str,
    arguments: Arguments,
    rng: np.random.Generator,
) -> str | None:
    """What differs in one call; None where the function itself takes no such call."""
    part: Any = getattr(f, what)
    try:
        expected = _expected(entry, part, what, arguments, rng)
    except (pyrev.UnsupportedError, pyrev.InternalError):
        raise
    except Exception:
        _unit(part, arguments)
        return None
    values, wanted = expected
    unit, text = _unit(part, arguments)
    given = copy.deepcopy(values)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = unit.target.call(
                alone(text, unit.program.name), [given[p] for p in unit.params], unit
            )
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    found = _flat(result)
    if what == "primal":
        found += [given[n] for n in arguments]
    elif what == "tangent":
        found += [given[p] for p in unit.params]
    elif any(_differs(given[n], values[n], 0.0) for n in given):
        return "an argument changed"
    if len(found) != len(wanted):
        return f"{len(found)} results for {len(wanted)}"
    kind = np.float32 if _single(arguments) else np.float64
    for mine, theirs in zip(found, wanted, strict=True):
        if differs := _differs(mine, theirs, TOLERANCE[kind]):
            return differs
    finite = all(np.all(np.isfinite(np.asarray(v, dtype=float))) for v in wanted)
    return f"warns: {told[0].message}" if told and finite else ""


def _expected(
    entry: Entry, part: Any, what: str, arguments: Arguments, rng: np.random.Generator
) -> tuple[dict[str, Any], list[Any]]:
    """All values by name, and the results that are right."""
    _, values = part._given((), dict(arguments))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if what == "primal":
            own = copy.deepcopy(arguments)
            result = entry.plain(**own)
            return values, [*_flat(result), *(own[n] for n in arguments)]
        if what == "tangent":
            return _moved(part, values, arguments, rng)
        weights = draw_cotangents(run(entry.plain, arguments, entry.outputs), rng)
        unit = part._made(*part._asked(PYTHON, (), dict(arguments)))
        for param, of in unit.cotangents:
            known = weights.written if isinstance(of, str) else weights.returned
            values[param] = known[of]  # type: ignore[index]
        return values, _flat(unit.call([copy.deepcopy(values[p]) for p in unit.params]))


def _moved(
    part: Any, values: dict[str, Any], arguments: Arguments, rng: np.random.Generator
) -> tuple[dict[str, Any], list[Any]]:
    """The same for the tangent, along a direction that is drawn."""
    unit = part._made(*part._asked(PYTHON, (), dict(arguments)))
    for dot, of in unit.cotangents:
        like = np.asarray(values[of])
        drawn = rng.uniform(-1.0, 1.0, like.shape).astype(like.dtype)
        values[dot] = drawn if like.ndim else float(drawn)
    own = copy.deepcopy(values)
    result = unit.call([own[p] for p in unit.params])
    return values, [*_flat(result), *(own[p] for p in unit.params)]


def alone(text: str, name: str) -> Callable[..., Any]:
    """The function of a text, without pyrev."""
    names: dict[str, Any] = {}
    exec(compile(text, "<text>", "exec"), names)
    return names[name]  # type: ignore[no-any-return]


def _unit(part: Any, arguments: Arguments) -> tuple[Unit, str]:
    try:
        text = part.source_for("numpy", **arguments)
        made: Unit = part._made(*part._asked(NUMPY, (), dict(arguments)))
    except (pyrev.UnsupportedError, pyrev.InternalError):
        raise
    except Exception as error:
        raise pyrev.InternalError(str(error)) from error
    return made, text


def _single(arguments: Arguments) -> bool:
    return any(getattr(v, "dtype", None) == np.float32 for v in arguments.values())


def _flat(result: Any) -> list[Any]:
    if isinstance(result, tuple):
        return [v for part in result for v in _flat(part)]
    return [] if result is None else [result]


def _differs(mine: Any, theirs: Any, tolerance: float) -> str:
    a, b = np.asarray(mine), np.asarray(theirs)
    if a.shape != b.shape:
        return f"the shape {a.shape} for {b.shape}"
    if a.dtype != b.dtype and b.ndim:
        return f"{a.dtype} for {b.dtype}"
    if "f" not in a.dtype.kind + b.dtype.kind:
        return "" if np.array_equal(a, b) else f"{mine} for {theirs}"
    a, b = a.astype(float), b.astype(float)
    finite = np.isfinite(b)
    if not np.array_equal(np.where(finite, 0.0, a), np.where(finite, 0.0, b), True):
        return f"{mine} for {theirs}"
    a, b = np.where(finite, a, 0.0), np.where(finite, b, 0.0)
    off = np.abs(a - b).max(initial=0.0) / (1.0 + np.abs(b).max(initial=0.0))
    return "" if off <= tolerance else f"off by {off:.1e}"


def main() -> int:
    """Judge all, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--refused", action="store_true", help="name what is refused")
    arguments = parser.parse_args()
    chosen = [n for n in EVERY if arguments.only in n]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        parts = pool.map(judged, chosen, chunksize=4)
        verdicts = [v for part in parts for v in part]
    for v in verdicts:
        untried = v.is_ == "right" and not v.calls
        if v.is_ == "wrong" or untried or arguments.refused and v.is_ == "refused":
            print(f"{v.name} ({v.what}): {'untried' if untried else v.is_}: {v.why}")
    for (what, is_), count in sorted(
        Counter((v.what, v.is_) for v in verdicts).items()
    ):
        print(f"{count:5} {what} {is_}")
    reasons = Counter(
        re.sub(r"`[^`]*`", "`...`", v.why) for v in verdicts if v.is_ == "refused"
    )
    for why, count in reasons.most_common():
        print(f"{count:5} refused: {why}")
    return any(v.is_ == "wrong" for v in verdicts)


if __name__ == "__main__":
    sys.exit(main())
