"""What the annotation of a parameter says of its rank and dtype."""

from __future__ import annotations

import re

import gast

from pyrev.ir.dtypes import DTYPES

_PYTHON = {"int": "int64", "float": "float64", "bool": "bool"}


def annotated(node: gast.AST | None) -> tuple[int | None, str | None]:
    """The rank and dtype that an annotation gives; None for what it leaves open."""
    if node is None:
        return None, None
    text = node.value if isinstance(node, gast.Constant) else gast.unparse(node)
    match = re.fullmatch(r"\s*(?:\w+\.)*(\w+)\s*(?:\[([:,\s]*)\])?\s*", str(text))
    if match is None:
        return None, None
    name, axes = match.groups()
    dtype = name if name in DTYPES else None
    if axes is not None:
        return (axes.count(":") or None, dtype) if dtype else (None, None)
    if name in _PYTHON:
        return 0, _PYTHON[name]
    return (0, dtype) if dtype else (None, None)
