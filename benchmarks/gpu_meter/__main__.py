"""The command line: `python -m benchmarks.gpu_meter -h`, from the root."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.gpu_meter import report, sass
from benchmarks.gpu_meter.cases import ADJOINT, CASES, PRIMAL, Case, predicted, users
from benchmarks.gpu_meter.predict import Prediction


def main() -> int:
    options = _options()
    if sass.tool("ptxas") is None or sass.tool("nvdisasm") is None:
        print("no ptxas or nvdisasm: instructions are guessed from PTX")
    if options.all:
        return everything(options.json)
    if ":" in options.name:
        case = users(options.name, options.arguments, options.wrt)
        case = Case(case.name, case.function, case.inputs, case.wrt, (PRIMAL,))
    elif options.name in CASES:
        case = CASES[options.name]
    else:
        print(f"no {options.name}; there are {', '.join(CASES)}")
        return 2
    parts = case.parts
    if options.adjoint or options.primal:
        parts = (PRIMAL,) * options.primal + (ADJOINT,) * options.adjoint
    made: dict[str, Any] = {}
    for part in parts:
        found, _, _ = predicted(case, part, small=options.small)
        made[part] = report.as_json(found)
        print(f"{case.name}, {part}: {report.shown(found, options.sites)}\n")
    if options.json:
        options.json.write_text(json.dumps(made, indent=1))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_meter")
    parser.add_argument("name", nargs="?", default="", help="a case or module:function")
    parser.add_argument("--all", action="store_true", help="the table of all limits")
    parser.add_argument("--primal", action="store_true")
    parser.add_argument("--adjoint", action="store_true")
    parser.add_argument("--small", action="store_true", help="small arguments")
    parser.add_argument("--sites", type=int, default=8, help="accesses to show")
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument(
        "--arguments", default="arguments", help="the maker of arguments in the module"
    )
    parser.add_argument("--wrt", default="", help="names that are derived, by commas")
    options = parser.parse_args()
    if not options.name and not options.all:
        parser.error("name a case, or say --all")
    return options


def everything(out: Path | None) -> int:
    """One line for each case that has a limit."""
    head = ("workload", "sweeps", "ms", "limit", "ratio", "launches", "bound", "worst")
    rows: list[tuple[str, ...]] = []
    ratios: list[float] = []
    made: dict[str, Any] = {}
    for case in CASES.values():
        if not case.limit:
            continue
        start = time.perf_counter()
        try:
            found = {p: predicted(case, p)[0] for p in case.parts}
        except (TimeoutError, RuntimeError, ValueError) as error:
            rows.append((case.name, *[""] * 6, f"not finished: {error}"[:90]))
            continue
        made[case.name] = {p: report.as_json(f) for p, f in found.items()}
        ms = 1e3 * sum(f.seconds for f in found.values())
        ratios.append(ms / case.limit)
        rows.append(_line(case, found, ms))
        took = time.perf_counter() - start
        print(f"{case.name}: {ms:.3f} ms ({took:.0f} s)", file=sys.stderr, flush=True)
    print(report.table(head, rows))
    if ratios:
        mean = report.geometric_mean(ratios)
        print(
            f"geometric mean of predicted over limit: {mean:.2f} ({len(ratios)} rows)"
        )
    if out is not None:
        out.write_text(json.dumps(made, indent=1))
    return 0


def _line(case: Case, found: dict[str, Prediction], ms: float) -> tuple[str, ...]:
    row = max((f.slowest for f in found.values()), key=lambda r: r.seconds)
    worst = row.worst()
    said = f"{row.name}: {worst.access} {worst.array}" if worst else row.name
    if worst is not None and worst.requests:
        said += f", {worst.per_request(worst.sectors):.1f} sectors a request"
    sweeps = "both" if len(case.parts) == 2 else case.parts[0]
    launches = sum(f.launches for f in found.values())
    figures = f"{ms:.3f}", f"{case.limit:g}", f"{ms / case.limit:.1f}"
    return (case.name, sweeps, *figures, str(launches), row.bound, said)


if __name__ == "__main__":
    sys.exit(main())
