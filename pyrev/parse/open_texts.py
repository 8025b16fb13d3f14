"""What a function's text leaves open, so that only a call can say what it means.

A text may ask what an argument is, read fields of one, or fit no kinds that are tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from types import FunctionType

import gast

from pyrev.ir.diagnostics import UnsupportedError
from pyrev.parse.bindings import parameters
from pyrev.parse.grounds import lookup
from pyrev.parse.rewriting.complex_numbers.arguments import (
    complex_would_do,
    maybe_complex,
)
from pyrev.parse.rewriting.field_reads import (
    depends_on_call,
    stored_fields,
    used_fields,
)
from pyrev.parse.rewriting.known_kinds import tested_parameters
from pyrev.parse.source import read
from pyrev.runtime.stack_depth import deep


class OpenText:
    """What the text of a plain function says of its parameters, before it is read.

    Raises `UnsupportedError` if there is no text that is the function's.
    """

    def __init__(self, function: FunctionType) -> None:
        self._lookup = partial(lookup, function)
        self._node = deep(read)(function).node
        #: What tests ask of each parameter.
        self.asked: Mapping[str, frozenset[str]]
        self.asked = deep(tested_parameters)(self._node, self._lookup)

    @cached_property
    def stored(self) -> dict[str, set[str]]:
        """The fields of each parameter that may be assigned to."""
        return deep(stored_fields)(self._node, self._lookup)

    @cached_property
    def used(self) -> dict[str, list[tuple[str, ...]] | None]:
        """The fields of each parameter that are read, None for all of them."""
        look = deep(used_fields)
        return {p.id: look(self._node, p.id, self._lookup) for p in self._parameters}

    @property
    def _parameters(self) -> list[gast.AST]:
        return list(parameters(self._node)) if hasattr(self._node, "args") else []

    @cached_property
    def asks(self) -> bool:
        """Does it ask of its parameters what a call may say, and nothing else does?"""
        return bool(self.asked) or deep(depends_on_call)(self._node, self._lookup)

    def waits(self, why: UnsupportedError) -> bool:
        """May a call say what is missing where the text was refused for `why`?"""
        rank = {finding.code for finding in why.findings} == {"P106"}
        return bool(
            self.asks
            or complex_would_do(why.findings)
            or (rank and maybe_complex(self._node))
            or why.waits
        )
