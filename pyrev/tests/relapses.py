"""Old bugs put back on purpose: do the tests of today notice?

    python -m pyrev.tests.relapses [--only CLASS] [--list]

Each relapse is one edit of the sources that brings back a bug of a class that was
silent once. The tests named beside it, as CI runs them, must fail with it. The edits
are kept in step with the sources by `test_relapses.py`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Relapse:
    """`old`, which occurs once in `file`, becomes `new`; `tests` have to fail then."""

    kind: str
    file: str
    old: str
    new: str
    tests: str

    def applied(self, text: str) -> str:
        """The text of the file with the bug."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file}: not once: {self.old!r}")
        return text.replace(self.old, self.new)


REBINDING = "pyrev/parse/rebinding.py"
NAMES = "pyrev/tests/parse/test_rebinding.py"
DISCARDED = "pyrev/tests/adjoint/test_discarded.py"
INTEGERS = "pyrev/tests/test_integers.py pyrev/tests/test_rewrites.py"
AGREEMENT = "pyrev/tests/test_agreement.py pyrev/tests/test_sequences.py"
HELD = "pyrev/tests/test_held.py"
RANGES = "pyrev/tests/adjoint/test_ranges.py"
ERRORS = "pyrev/tests/test_errors.py pyrev/tests/emit/test_load.py"
MEMORY = "pyrev/tests/test_lifetimes.py"

RELAPSES: list[Relapse] = [
    # ------------------------------------------------ names that change places
    Relapse(
        "names",
        "pyrev/parse/lower.py",
        "        self._put(then, target, scope, around)\n",
        "        scope.bound |= target\n",
        NAMES,
    ),
    Relapse(
        "names",
        "pyrev/parse/lower.py",
        "        self._put(other, target, scope, around)\n",
        "        scope.bound |= target\n",
        NAMES,
    ),
    Relapse(
        "names",
        "pyrev/parse/tree.py",
        'return not self._binds([target]) and self.first(body) == "read"',
        "return False",
        NAMES,
    ),
    Relapse(
        "names",
        REBINDING,
        "            state.back()\n",
        "            pass\n",
        NAMES,
    ),
    Relapse(
        "names",
        REBINDING,
        'Assign(turned, Call("-", (ONE, turned), loc=at), loc=at)',
        "Assign(turned, ONE, loc=at)",
        NAMES,
    ),
    Relapse(
        "names",
        REBINDING,
        "        self.out += body\n",
        "        self.out += body if len(self._exchanges) % 2 else ()\n",
        NAMES,
    ),
    Relapse(
        "names",
        "pyrev/parse/tree.py",
        "        if self._again(node):\n            return True\n",
        "",
        NAMES,
    ),
    # ------------------------------------------------ arrays of helpers
    Relapse(
        "helpers",
        "pyrev/parse/names.py",
        "            (name(a), renamed_dtype(d, new), at) for a, d, at in"
        " self.alike_kinds\n",
        "            (a, d, at) for a, d, at in self.alike_kinds\n",
        NAMES,
    ),
    Relapse(
        "helpers",
        "pyrev/rename.py",
        "            Var(new.get(p.name, p.name)) if isinstance(p, Var) else p\n",
        "            Var(new.get(p.name, p.name))\n"
        "            if isinstance(p, Var) and len(dtype.parts) == 1\n"
        "            else p\n",
        NAMES,
    ),
    Relapse(
        "helpers",
        "pyrev/parse/names.py",
        "        self.same = list(map(pair, self.same))\n",
        "",
        NAMES,
    ),
    Relapse(
        "helpers",
        REBINDING,
        "        rank = self._rank(first)\n        message",
        "        rank = self.ranks.get(first, 1)\n        message",
        NAMES,
    ),
    Relapse(
        "helpers",
        REBINDING,
        "        scope.paths |= {n: paths[n] for n in changed if n in paths}\n",
        "",
        NAMES,
    ),
    Relapse(
        "helpers",
        REBINDING,
        "            values = [self._kept_result(v, moved) for v in results[0]]\n",
        "            values = list(results[0])\n",
        NAMES,
    ),
    Relapse(
        "helpers",
        "pyrev/parse/arrays.py",
        "            if any(map(self._reachable, others)):\n",
        "            if False:\n",
        "pyrev/tests/test_rejections.py",
    ),
    # ------------------------------------------------ what is discarded
    Relapse(
        "discarded",
        "pyrev/adjoint/reverse.py",
        "if stmt.id in self.discarded and not self.steady(stmt.value):",
        "if False:",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "pyrev/adjoint/discarded.py",
        "                if name not in known:\n                    return False\n",
        "                pass\n",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "pyrev/adjoint/discarded.py",
        '            yield from _both(a, b)\n        case Call("and"',
        '            yield from (*sure(a), *sure(b))\n        case Call("and"',
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "pyrev/adjoint/sink.py",
        "if read & written((other,)):",
        "if False:",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "pyrev/adjoint/sink.py",
        "            return None if both or name in later else at\n",
        "            return None if both else at\n",
        DISCARDED,
    ),
    Relapse(
        "discarded",
        "pyrev/adjoint/reverse.py",
        "                if not self.steady(args[k]):\n",
        "                if False:\n",
        DISCARDED,
    ),
    # ------------------------------------------------ integers that go around
    Relapse(
        "integers",
        "pyrev/algebra.py",
        '        case _, Call("neg", (x,)) if not wraps(x, types):\n',
        '        case _, Call("neg", (x,)):\n',
        INTEGERS,
    ),
    Relapse(
        "integers",
        "pyrev/algebra.py",
        "            if not wraps(x, types) and not wraps(a, types):\n",
        "            if True:\n",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "pyrev/adjoint/rules.py",
        "        values[name] = as_float(env[name], types)\n",
        "        values[name] = env[name]\n",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "pyrev/widen.py",
        "    made = _Signs(program, types).block(program.body)\n",
        "    made = program.body\n",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "pyrev/widen.py",
        "        _Widths(replace(program, body=made), types)\n",
        "",
        INTEGERS,
    ),
    Relapse(
        "integers",
        "pyrev/widen.py",
        "        made = _Wide(types).block(made)\n",
        "",
        INTEGERS,
    ),
    # ------------------------------------------------ text and function
    Relapse(
        "agreement",
        "pyrev/parse/grounds.py",
        "                f.__code__ is not code\n                or f",
        "                f",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "pyrev/parse/grounds.py",
        "                or f.__defaults__ is not defaults\n",
        "",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "pyrev/parse/grounds.py",
        "if ask(name, MISSING) is not found:",
        "if False:",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "pyrev/parse/grounds.py",
        "            if _content(cell) is not found:\n                return False\n",
        "            pass\n",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "pyrev/parse/source.py",
        "        and all(map(_equal_constants, code.co_consts, other.co_consts))\n",
        "",
        AGREEMENT,
    ),
    Relapse(
        "agreement",
        "pyrev/readings.py",
        "            for reading in self._known:\n"
        "                captured = reading.units.captured()\n",
        "            for reading in self._known:\n"
        "                captured = {c.name: c.read() for c in"
        " reading.units.parsed.captured}\n",
        AGREEMENT,
    ),
    # ------------------------------------------------ inputs that change
    Relapse(
        "inputs",
        "pyrev/held.py",
        "    return plain % 2**64, mixed % 2**64\n",
        "    return (plain % 2**64, mixed % 2**64) if array.size < 512 else (0, 0)\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "pyrev/held.py",
        "            if (done or name in self._steering) and not _equal(seal(array),"
        " before):\n",
        "            if name in self._steering and not _equal(seal(array), before):\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "pyrev/held.py",
        "            elif hold is Hold.ANYBODY:\n"
        "                self.arrays[name] = copied(value)\n",
        "",
        HELD,
    ),
    Relapse(
        "inputs",
        "pyrev/held.py",
        '            elif unit.target == "python" or not lean and'
        " self._take(value.nbytes):\n"
        "                self.arrays[name] = copied(value)\n",
        '            elif unit.target == "python" or not lean and'
        " self._take(value.nbytes):\n"
        "                self.arrays[name] = value\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "pyrev/held.py",
        "                watched[name] = self.arrays[name] = value.view()\n",
        "                self.arrays[name] = value.view()\n",
        HELD,
    ),
    Relapse(
        "inputs",
        "pyrev/held.py",
        "            place += words.size\n",
        "            pass\n",
        HELD,
    ),
    # ------------------------------------------------ ranges of floats
    Relapse(
        "ranges",
        "pyrev/adjoint/rules.py",
        '"asin": rule(x="1 / sqrt((1 - x) * (1 + x))"',
        '"asin": rule(x="1 / sqrt(1 - x * x)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "pyrev/adjoint/rules.py",
        '"atan2": rule(\n'
        '        a="0 if a == 0 and b == 0 else b / a / (a + b * (b / a))"\n'
        '        " if abs(a) > abs(b) else 1 / (b + a * (a / b))",\n',
        '"atan2": rule(\n'
        '        a="0 if a == 0 and b == 0 else b / (a * a + b * b)",\n',
        RANGES,
    ),
    Relapse(
        "ranges",
        "pyrev/adjoint/rules.py",
        '" if abs(b) > abs(a) else -1 / (a + b * (b / a))"',
        '" if abs(b) > abs(a) else -a / (a * a + b * b)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "pyrev/adjoint/rules.py",
        '" if abs(a) > abs(b) else a / abs(b) / sqrt(1 + a / b * (a / b))"',
        '" if abs(a) > abs(b) else a / sqrt(a * a + b * b)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "pyrev/adjoint/rules.py",
        '"asinh": rule(x="1 / hypot(1.0, x)")',
        '"asinh": rule(x="1 / sqrt(1 + x * x)")',
        RANGES,
    ),
    Relapse(
        "ranges",
        "pyrev/adjoint/rules.py",
        '"acosh": rule(x="1 / (sqrt(x - 1) * sqrt(x + 1))"',
        '"acosh": rule(x="1 / sqrt(x * x - 1)"',
        RANGES,
    ),
    Relapse(
        "ranges",
        "pyrev/adjoint/rules.py",
        '"atanh": rule(x="1 / ((1 - x) * (1 + x))"',
        '"atanh": rule(x="1 / (1 - x * x)"',
        RANGES,
    ),
    # ------------------------------------------------ errors of our making
    Relapse(
        "errors",
        "pyrev/net.py",
        '        "pyrev": not isinstance(error, _MEANT),\n',
        '        "pyrev": False,\n',
        ERRORS,
    ),
    Relapse(
        "errors",
        "pyrev/net.py",
        '        "compiler": not isinstance(error, MemoryError),\n',
        '        "compiler": False,\n',
        ERRORS,
    ),
    Relapse(
        "errors",
        "pyrev/net.py",
        '        "run": made,\n',
        '        "run": True,\n',
        ERRORS,
    ),
    Relapse(
        "errors",
        "pyrev/emit/load.py",
        "        except Exception as error:  # what is read",
        "        except OSError as error:  # what is read",
        ERRORS,
    ),
    Relapse(
        "errors",
        "pyrev/emit/load.py",
        "        if not path.parent.is_dir():  # removed while we run\n"
        "            _private(path.parent)\n",
        "",
        ERRORS,
    ),
    Relapse(
        "errors",
        "pyrev/api.py",
        '    if found != "a number":\n',
        '    if found == "nothing":\n',
        ERRORS,
    ),
    Relapse(
        "errors",
        "pyrev/options.py",
        "    if isinstance(value, (bool, np.bool_)) or type(value) is int:\n",
        "    if value is not None:\n",
        ERRORS,
    ),
    # ------------------------------------------------ memory of a long process
    Relapse(
        "memory",
        "pyrev/emit/load.py",
        "        weakref.finalize(self, _unload, module, key).atexit = False\n",
        "        pass\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "pyrev/emit/load.py",
        "weakref.WeakValueDictionary[str, Loaded] = weakref.WeakValueDictionary()",
        "dict[str, Loaded] = {}",
        MEMORY,
    ),
    Relapse(
        "memory",
        "pyrev/emit/load.py",
        "        while len(_RECENT) > _MOST:\n"
        "            _RECENT.popitem(last=False)\n",
        "",
        MEMORY,
    ),
    Relapse(
        "memory",
        "pyrev/emit/load.py",
        "        del sys.modules[module.__name__]\n",
        "        pass\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "pyrev/emit/load.py",
        "        vars(module).clear()\n",
        "        pass\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "pyrev/api.py",
        "    found: T | None = kept.made.get(key)\n",
        "    vars(kept_with).setdefault(id(kept), kept)\n"
        "    found: T | None = kept.made.get(key)\n",
        MEMORY,
    ),
    Relapse(
        "memory",
        "pyrev/api.py",
        "    if not isinstance(kept, _Kept) or kept.function is not function:\n"
        "        kept = function.__dict__[_KEPT] = _Kept(function)\n",
        "    every = vars(kept_with)\n"
        "    kept = every.setdefault(function.__qualname__, _Kept(function))\n",
        MEMORY,
    ),
]


def copied(to: Path) -> None:
    """The tracked and new files of the checkout, without its caches."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)


def noticed(relapse: Relapse, checkout: Path) -> bool:
    """Do its tests fail in a checkout with this bug?"""
    path = checkout / relapse.file
    text = path.read_text()
    path.write_text(relapse.applied(text))
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
            + relapse.tests.split(),
            cwd=checkout,
            env=os.environ
            | {"PYTHONPATH": str(checkout), "PYREV_CACHE_DIR": str(checkout / "cache")},
            capture_output=True,
            check=False,
        )
    finally:
        path.write_text(text)
    return done.returncode == 1


def judged(relapses: Sequence[Relapse]) -> Iterator[tuple[Relapse, bool]]:
    """Each relapse, and whether its tests noticed."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder)
        copied(checkout)
        for relapse in relapses:
            yield relapse, noticed(relapse, checkout)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="CLASS", help="the relapses of one class")
    parser.add_argument("--list", action="store_true", help="run nothing")
    given = parser.parse_args(arguments)
    chosen = [r for r in RELAPSES if given.only in (None, r.kind)]
    if given.list:
        for r in chosen:
            print(f"{r.kind:10} {r.file}: {r.new.strip() or '(nothing)'}")
        return 0
    missed = 0
    for r, found in judged(chosen):
        missed += not found
        verdict = "noticed" if found else "MISSED"
        print(f"{verdict:8} {r.kind:10} {r.file}: {r.new.strip()!r}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
