"""The command line: ``python -m pyrev show|explain|check|save
module_or_file:function``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from pyrev.api.differentiable import as_differentiable
from pyrev.api.sampling import sample_arguments
from pyrev.driver.targets import PYTHON, TARGETS
from pyrev.ir.diagnostics import ArgumentError, InternalError, PyrevError
from pyrev.runtime.error_boundary import PACKAGE
from pyrev.testing import check_grad


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
        here = name == "check"  # runs on arrays of NumPy
        targets = [t.name for t in TARGETS.values() if not (here and t.on_device)]
        one.add_argument("--target", choices=targets, default=PYTHON.name)
        if name == "check":
            one.add_argument("--seed", type=_at_least(0), default=0)
            size = _at_least(1)
            one.add_argument("--size", type=size, default=6, help="largest extent")
        if name == "save":
            one.add_argument("--output", "-o", help="file to write (default: name.py)")
    options = parser.parse_args(argv)
    try:
        return run(options)
    except InternalError:
        traceback.print_exc()
    except PyrevError as error:
        print(error, file=sys.stderr)
    except BrokenPipeError:  # whoever reads has read enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    except Exception as error:
        print(_told(options.function, error), file=sys.stderr)
    return 2


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return value

    return number


def _told(what: str, error: BaseException) -> str:
    """What the user's own code raised, and where, without the frames around it."""
    where = ""
    if isinstance(error, SyntaxError):
        where = f" ({error.filename}:{error.lineno})"
        return f"{what}: {type(error).__name__}: {error.msg}{where}"
    for step in traceback.extract_tb(error.__traceback__):
        if not step.filename.startswith((PACKAGE, "<frozen ")):
            where = f" ({step.filename}:{step.lineno})"
    said = f": {error}" if str(error) else ""
    return f"{what}: {type(error).__name__}{said}{where}"


def run(options: argparse.Namespace) -> int:
    """Carry out a parsed command."""
    f = as_differentiable(find(options.function))
    match options.command:
        case "show":
            f.adjoint.source_for(options.target).show()
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
    found: Any = _module(where)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ArgumentError(f"{where} has no function {attribute!r}")
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function


def _module(where: str) -> ModuleType:
    """The module of this name, or in this file.

    Raises `ArgumentError` where it cannot be imported, with what its code raised.
    """
    try:
        if not where.endswith(".py") and not Path(where).is_file():
            return importlib.import_module(where)
        path = Path(where)
        if not path.is_file():
            raise ArgumentError(f"there is no file {where}")
        loader = SourceFileLoader(path.stem, str(path))
        spec = importlib.util.spec_from_file_location(path.stem, path, loader=loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        sys.path.insert(0, str(path.parent.resolve()))
        loader.exec_module(module)
        return module
    except PyrevError:  # a function in it is refused
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (where + ".").startswith(error.name + "."):
            raise ArgumentError(f"there is no module {where!r} ({error})") from None
        raise ArgumentError(_told(f"{where} imports", error)) from error
    except (Exception, SystemExit) as error:  # whatever a module may do
        raise ArgumentError(_told(f"{where} cannot be imported", error)) from error


if __name__ == "__main__":
    sys.exit(main())
