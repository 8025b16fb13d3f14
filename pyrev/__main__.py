"""The command line: ``python -m pyrev show|explain|check|save
module_or_file:function``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyrev.api import as_differentiable
from pyrev.diagnostics import ArgumentError, PyrevError
from pyrev.sampling import sample_arguments
from pyrev.testing import check_grad

#: What there is a text for.
TEXTS = ("python", "numba", "cuda")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status (0: fine, 1: wrong gradient, 2:
    refused).
    """
    parser = argparse.ArgumentParser(prog="python -m pyrev", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, help_text in (
        ("show", "print the adjoint as readable Python, or for another target"),
        ("explain", "print what was decided about every loop and every value"),
        ("check", "compare gradients with finite differences on random arguments"),
        ("save", "write the adjoint as a module that needs no pyrev"),
    ):
        one = commands.add_parser(name, help=help_text)
        one.add_argument("function", help="module:function or path/to/file.py:function")
        targets = ("python", "numba") if name == "check" else TEXTS
        one.add_argument("--target", choices=targets, default="python")
        if name == "check":
            one.add_argument("--seed", type=int, default=0)
            one.add_argument("--size", type=int, default=6, help="largest extent")
        if name == "save":
            one.add_argument("--output", "-o", help="file to write (default: name.py)")
    options = parser.parse_args(argv)
    try:
        return run(options)
    except PyrevError as error:
        print(error, file=sys.stderr)
        return 2


def run(options: argparse.Namespace) -> int:
    """Carry out a parsed command."""
    f = as_differentiable(find(options.function))
    match options.command:
        case "show":
            print(f.adjoint.source_for(options.target), end="")
        case "explain":
            print(f.explain(options.target))
        case "save":
            default = f"{f.python.__name__}_adjoint.py"
            print(f.adjoint.save(options.output or default, target=options.target))
        case "check":
            arguments = sample_arguments(f, options.seed, options.size)
            for name, value in arguments.items():
                shape = getattr(value, "shape", None)
                print(f"{name} = {value if shape is None else f'random {shape}'}")
            report = check_grad(f, **arguments)
            print(report)
            return 0 if report else 1
    return 0


def find(name: str) -> Callable[..., Any]:
    """The function called ``module:function`` or ``file.py:function``."""
    where, colon, attribute = name.rpartition(":")
    if not colon or not where:
        raise ArgumentError(f"{name!r}: write module:function or file.py:function")
    if where.endswith(".py") or Path(where).is_file():
        path = Path(where)
        if not path.is_file():
            raise ArgumentError(f"there is no file {where}")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        sys.path.insert(0, str(path.parent.resolve()))
        spec.loader.exec_module(module)
    else:
        try:
            module = importlib.import_module(where)
        except ModuleNotFoundError as error:
            raise ArgumentError(f"there is no module {where!r} ({error})") from None
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ArgumentError(f"{where} has no function {attribute!r}")
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function


if __name__ == "__main__":
    sys.exit(main())
