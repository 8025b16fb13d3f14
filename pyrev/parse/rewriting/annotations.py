"""Assignments with annotations, which say nothing of a local name when it is read.

Python text in, Python text out, before anything is lowered: ``n: int = 3`` is
``n = 3``. In classes, where annotations are fields, they stay.
"""

from __future__ import annotations

import gast

from pyrev.parse.bindings import mapped


def without_annotations(node: gast.AST) -> gast.AST:
    """The definition `node` with plain assignments; itself if it has no others.

    >>> import gast
    >>> definition = gast.parse("def f(x):\\n    n: int = 3\\n    return x * n").body[0]
    >>> print(gast.unparse(without_annotations(definition)).strip())
    def f(x):
        n = 3
        return x * n
    """
    if isinstance(node, gast.ClassDef):
        return node
    node = mapped(node, without_annotations)
    if not isinstance(node, gast.AnnAssign) or node.value is None:
        return node
    return gast.copy_location(gast.Assign([node.target], node.value, None), node)
