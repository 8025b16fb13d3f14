"""What people call a place in their source: ``file.py:12``, ``Cell In[3], line 12``."""

from __future__ import annotations

import sys
from pathlib import PurePath
from typing import Any

#: What other processes call files whose functions came from there.
_elsewhere: dict[str, str] = {}


def name_of(file: str) -> str:
    """A file without its folders; a cell of a notebook as that calls it."""
    return cell(file) or _elsewhere.get(file) or PurePath(file).name


def place(file: str, line: int, column: int = 0) -> str:
    """A place in a file or a cell, for people; the column only if it is given."""
    name = name_of(file)
    if is_cell(file):
        return f"{name}, line {line}" + (f", column {column}" if column else "")
    return f"{name}:{line}" + (f":{column}" if column else "")


def is_cell(file: str) -> bool:
    """Is it a cell of a notebook, here or where it came from?"""
    return bool(cell(file)) or _elsewhere.get(file, "").startswith("Cell ")


def cell(file: str) -> str:
    """What IPython calls a text that was typed: ``Cell In[3]``; empty for others."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    compiler = getattr(shell, "compile", None)
    named = getattr(compiler, "format_code_name", lambda file: None)(file)
    return "" if named is None else " ".join(named)


def call(file: str, name: str) -> None:
    """Note what a text that came from another process is called there."""
    _elsewhere[file] = name
