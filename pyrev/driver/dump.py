"""Programs between passes, printed where `PYREV_DUMP` asks for them."""

from __future__ import annotations

import os
import sys

from pyrev.ir.nodes import Program
from pyrev.ir.text import program_text


def dump(name: str, program: Program) -> None:
    """Print the program after pass `name`, if `PYREV_DUMP` asks for it."""
    wanted = os.environ.get("PYREV_DUMP", "")
    if wanted and (wanted == "all" or name in wanted.split(",")):
        print(f"# after {name}\n{program_text(program)}\n", file=sys.stderr)
