"""Which lines of the front end and of the adjoint does no test reach?

    python -m pyrev.tests.coverage [--jobs N] [--keep FOLDER] [--only FILE ...]

Runs the corpora and their tests on the Python target, which reaches what the other
targets reach of these two packages, in some processes, and prints the share of the
lines that were reached in each file. The exit status is 1 if one was missed that is not
in `UNREACHED`, if an entry of `UNREACHED` names no line any more, or if the whole share
is below `LEAST`. A quarter of an hour on two cores; `--keep` adds to what earlier runs
have reached, and `--only` names the tests that run.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import coverage

import pyrev

HOME = Path(pyrev.__file__).parent
PACKAGES = ("parse", "adjoint")
LEAST = 98.0

#: What runs, the longest first: each process takes the next.
TESTS = """
    test_programs.py test_generator_programs.py test_generator.py conformance parse
    adjoint test_matrices.py test_errors.py test_api.py test_public_record.py
    test_forward.py test_held.py test_agreement.py test_custom.py test_rejections.py
    test_golden.py test_integers.py test_control.py test_intermediates.py
    test_rewrites.py test_probe.py test_lifetimes.py test_deep.py test_keeping.py
    test_random_subscripts.py emit
""".split()
CHOSEN = ("-m", "not slow and not gpu", "-k", "not numba and not compiled and not cuda")

#: What is no line to reach wherever it stands, with the reason.
EXCLUDED = {
    r"raise NotImplementedError": "a mixin says what another class of the walk has",
    r"raise AssertionError\(": "an invariant, in words",
    r"raise InternalError\(": "an invariant, in words",
    r"assert_never\(": "the types know no other case",
    r"if TYPE_CHECKING:": "read by mypy only",
}

#: The lines that nothing reaches, under the reason: the file, the function, the text.
UNREACHED = {
    "The program that the parser makes has no such part.": r"""
        parse/views.py kinds: return ()
        adjoint/activity.py flows: return flows(inner)
        adjoint/elimination.py visit: case Saved():
        adjoint/reverse.py statement: case Grow() | While() | Tell() | Return() | Restart():
        adjoint/reverse.py contribute: case Saved():
        adjoint/reverse.py saved: case Saved():
        adjoint/tangent.py statement: case Grow() | Tell() | Restart():
        adjoint/tangent.py of: case Const() | Extent():
        adjoint/tangent.py of: return ZERO_F
        adjoint/tangent.py of: case Saved():
    """,
    "Operands of `and` and `or` that are numbers are a `where` by then.": r"""
        adjoint/discarded.py steady: return all(steady(a, active, known, positive) for a in args)
        adjoint/reverse.py contribute: self.contribute(Call("where", (a, b, a)), cotangent, at, loc, out)
        adjoint/reverse.py contribute: self.contribute(Call("where", (a, a, b)), cotangent, at, loc, out)
        adjoint/tangent.py of: return self.of(Call("where", (a, b, a)))
        adjoint/tangent.py of: return self.of(Call("where", (a, a, b)))
    """,
    "A guard: no program is known that comes here.": r"""
        parse/__init__.py _read: walk.findings.check()
        parse/arrays.py _reachable: return True
        parse/arrays.py _masked: return None
        parse/arrays.py _unless_none: return count
        parse/calls.py _call: return REFUSED
        parse/calls.py _by_rule: return (ZERO,)
        parse/functions.py dtype_name: except TypeError:
        parse/functions.py dtype_name: return None
        parse/iteration.py _literal: return None
        parse/iteration.py _backwards: return None
        parse/iteration.py _together: return None
        parse/lower.py _paths: return None
        parse/lower.py _spread_rank: return
        parse/lower.py _unrolled: scope.bound |= start
        parse/lower.py _refuse_target: return
        parse/shapes.py block: self.report(s.source, s.loc)
        parse/sizes.py range: return _Range(Var(loop.index), Var(loop.index))
        parse/sizes.py nonnegative: return False
        parse/tree.py loose: return True
        parse/truths.py strong: return False
        parse/values.py _captured: return ZERO
        parse/values.py _extent: return None
        parse/views.py size: return count
        parse/views.py add: return a
        parse/views.py _capped: return e
        adjoint/discarded.py passes: return False
        adjoint/discarded.py _measured: continue
        adjoint/reverse.py home: return FUNCTION
        adjoint/reverse.py home: return best
        adjoint/reverse.py home: case _:
        adjoint/reverse.py base_dtype: dtype = self.allocs[name].dtype
        adjoint/slopes.py _kept: return ()
        adjoint/spared.py _vanishes: return all(_vanishes(a, d, stored, asked) for a in args)
        adjoint/spared.py _there: if k != at:
        adjoint/spared.py _there: return None
        adjoint/tidy.py _sweep: continue
    """,
    "The end of a search that finds, for the types.": r"""
        parse/lent.py _view: return None
        parse/names.py home: return None
        parse/rebinding.py _around: return None
        parse/tree.py what: return "not a number"
    """,
    "For text that is not a user's: the rule table, statements in doctests.": r"""
        parse/creation.py _dtype: return str(node.attr)
        parse/expression.py _expr: return _expr(operand)
        parse/expression.py _expr: raise ValueError(f"not an expression of the rule table: {gast.dump(node)}")
    """,
    "Open: a program may come here, and none of the corpora does.": r"""
        parse/arrays.py _measured: if isinstance(node, gast.Name):
        parse/arrays.py _measured: found = self._find(node.id, scope)
        parse/arrays.py _measured: lent = found.bound.get(node.id) if isinstance(found, Scope) else None
        parse/arrays.py _measured: return self._arrayed(lent, at) if isinstance(lent, Load) else None
        parse/arrays.py _fill: kept = self._made(Whole(target.shape, mask, False), "mask", at)
        parse/arrays.py _fill: mask = kept.element
        parse/lower.py _make_room: self._refuse_paths(differing.at, "the paths return arrays of unlike shapes")
        parse/lower.py _make_room: return
        parse/lower.py _for: step = self._temp(step, "step")
        parse/lower.py tested: inner = If(
        parse/lower.py tested: return [inner]
        parse/names.py _array: path = tuple(gast.unparse(node).strip().split("."))
        parse/names.py _array: return self._capture(self._holder(scope), path, found)
        parse/rebinding.py _compound: continue
        parse/rebinding.py _turning: return frozenset()
        parse/rebinding.py _copied_back: self._refuse_rebinding(name, at, "`{}` may be another array's name in")
        parse/rebinding.py _copied_back: first = next(iter(todo))
        parse/rebinding.py _copied_back: target, value = todo[first]
        parse/rebinding.py _copied_back: todo[first] = target, self._made(replace(value, view=False), first, at)
        parse/rebinding.py _copied_back: continue
        parse/rebinding.py _rotations: break
        parse/rebinding.py _refuse_witnesses: found += [n for n, e in place.bound.items() if n in seen and sees(e)]
        parse/rebinding.py _refuse_witnesses: place = place.outer
        parse/rebinding.py _refuse_witnesses: found.append("the array that a loop runs over")
        parse/ruled.py not_linear: moved.add(s.array)
        parse/ruled.py not_linear: return s.loc
        parse/ruled.py not_linear: if any(names(e) & moved for e in exprs(s)):
        parse/ruled.py reaches: marked |= written((s,))
        parse/ruled.py visit: return NOTHING
        parse/ruled.py visit: return b if a is NOTHING else a
        parse/ruled.py visit: return a
        parse/shallow.py _decided: out.append(Assign(result, first, loc=at))
        parse/shallow.py _decided: go_on = result if expr.op == "and" else Call("not", (result,), loc=at)
        parse/shallow.py _decided: out.append(If(go_on, branches[0], loc=at))
        parse/shallow.py _held: return self._piece(value, out)
        parse/source.py _equal_constants: return sorted(map(repr, one)) == sorted(map(repr, other))
        parse/tree.py first: return "bound"
        parse/tree.py first: if self.inside(head) or self.first(body) == "read":
        parse/tree.py first: return "read"
        parse/values.py _before: made = self._made(whole, "value", earlier.loc)
        parse/values.py _before: values[k] = self._encoded(made, earlier.loc)
        adjoint/intermediates.py why_not: lines = ", ".join(str(s.loc.line) for s in made)
        adjoint/intermediates.py why_not: return f"lines {lines} make it anew" if made else "no line makes it"
        adjoint/preaccumulate.py sloped: slope = Call("where", (slope, Const(1.0), Const(0.0)))
        adjoint/preaccumulate.py sloped: held = Var(fresh(f"{name}_slope", self.taken))
        adjoint/preaccumulate.py sloped: made.append(Assign(held, slope, loc=graph.vertices[end].loc))
        adjoint/preaccumulate.py sloped: slope = held
        adjoint/preaccumulate.py _ordered: return None
        adjoint/tangent.py statement: return ()
    """,
}


def measured(folder: Path) -> coverage.Coverage:
    """The settings of a run whose data are in `folder`."""
    settings = folder / "coveragerc"
    source = "".join(f"\n    {HOME / package}" for package in PACKAGES)
    excluded = "".join(f"\n    {pattern}" for pattern in EXCLUDED)
    settings.write_text(
        f"[run]\nparallel = True\ndata_file = {folder / 'data'}\nsource ={source}\n"
        f"[report]\nexclude_lines ={excluded}\n"
    )
    return coverage.Coverage(config_file=str(settings))


def run(folder: Path, tests: Sequence[str], jobs: int) -> bool:
    """Run the tests; did all pass?"""
    measured(folder)
    waiting, running, passed = list(tests), {}, True
    command = [sys.executable, "-m", "coverage", "run"]
    command += [f"--rcfile={folder / 'coveragerc'}", "-m", "pytest", "-q", *CHOSEN]
    while waiting or running:
        while waiting and len(running) < jobs:
            test = waiting.pop(0)
            log = (folder / f"{Path(test).stem}.log").open("w")
            where = str(HOME / "tests" / test)
            process = subprocess.Popen([*command, where], stdout=log, stderr=log)
            running[test] = process, log
        test, (process, log) = next(iter(running.items()))
        for name, (other, _) in running.items():
            if other.poll() is not None:
                test, (process, log) = name, running[name]
        try:
            status = process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            continue
        log.close()
        del running[test]
        if status:
            print(f"{test} failed: {log.name}")
            passed = False
    return passed


def listed() -> set[str]:
    """The entries of `UNREACHED`."""
    lines = [line.strip() for text in UNREACHED.values() for line in text.splitlines()]
    return {line for line in lines if line}


def entries(path: Path) -> list[str]:
    """What `UNREACHED` calls each line of a file."""
    text = path.read_text()
    inside = [""] * (text.count("\n") + 1)
    for node in ast.walk(ast.parse(text)):  # an inner function after the outer one
        if isinstance(node, ast.FunctionDef):
            for k in range(node.lineno - 1, node.end_lineno or node.lineno):
                inside[k] = node.name
    name = f"{path.parent.name}/{path.name}"
    lines = zip(inside, text.splitlines(), strict=False)
    return [f"{name} {where}: {line.strip()}" for where, line in lines]


def missed(found: coverage.Coverage) -> tuple[list[str], float]:
    """What is missed without a reason, or has a reason in vain; and the share."""
    problems: list[str] = []
    statements = reached = 0
    known, every = listed(), set()
    for package in PACKAGES:
        for path in sorted((HOME / package).glob("*.py")):
            _, lines, _, missing, _ = found.analysis2(str(path))
            statements += len(lines)
            reached += len(lines) - len(missing)
            share = 100 * (1 - len(missing) / max(1, len(lines)))
            name = f"{package}/{path.name}"
            print(f"{name:<30}{len(lines):>6}{len(missing):>5}{share:>8.1f} %")
            own = entries(path)
            every |= set(own)
            for k in missing:
                if own[k - 1] not in known:
                    problems.append(f"line {k}: {own[k - 1]}")
    problems += [f"no such line: {entry}" for entry in sorted(known - every)]
    return problems, 100 * reached / max(1, statements)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m pyrev.tests.coverage")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a folder for the data and the logs")
    parser.add_argument("--only", nargs="*", help="tests to run, of pyrev/tests")
    options = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        tests = TESTS if options.only is None else options.only
        passed = run(folder, tests, options.jobs)
        found = measured(folder)
        found.combine([str(folder)], strict=True, keep=True)
        problems, share = missed(found)
    print(f"{share:.2f} % of the lines are reached, {LEAST:.0f} % are asked for")
    for problem in problems:
        print(f"missed: {problem}")
    return int(bool(problems) or share < LEAST or not passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
