"""Which lines of the front end and of the adjoint does no test reach?

    python -m tests.tools.coverage [--jobs N] [--keep FOLDER] [--only FILE ...]

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
from tests import ROOT

HOME = Path(pyrev.__file__).parent
PACKAGES = ("parse", "adjoint")
LEAST = 98.0

#: What runs, the longest first: each process takes the next.
TESTS = """
    corpora/test_programs.py tools/test_generator_programs.py tools/test_generator.py
    corpora/test_conformance.py parse adjoint api driver corpora/test_public_record.py
    corpora/test_rejections.py ir analysis runtime/test_lifetimes.py emit
""".split()
CHOSEN = ("-m", "not gpu", "-k", "not numba and not compiled and not cuda")

#: What is no line to reach wherever it stands, with the reason.
EXCLUDED = {
    r"raise NotImplementedError": "a mixin says what another class of the walk has",
    r"raise AssertionError\(": "an invariant, in words",
    r"raise InternalError\(": "an invariant, in words",
    r"assert_never\(": "the types know no other case",
    r"if TYPE_CHECKING:": "read by mypy only",
}

#: The lines that nothing reaches, each under the reason.
UNREACHED = Path(__file__).with_name("unreached.md")


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
            where = str(ROOT / "tests" / test)
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
    lines = UNREACHED.read_text().splitlines()
    return {line.strip() for line in lines if line.startswith("    ")}


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
    parser = argparse.ArgumentParser(prog="python -m tests.tools.coverage")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a folder for the data and the logs")
    parser.add_argument("--only", nargs="*", help="tests to run, of tests")
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
