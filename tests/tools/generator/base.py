"""Choices: weighted, by name, filtered by what the caller excludes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from tests.tools.generator.productions import GROUPS, PRODUCTIONS
from tests.tools.generator.program import Argument
from tests.tools.generator.scope import Scope

T = TypeVar("T")
BOOST = 40


class Base:
    """The lines of a module under construction, and the dice."""

    def __init__(
        self, rng: random.Random, without: frozenset[str] = frozenset()
    ) -> None:
        self.rng = rng
        self.without = without
        self.themes = frozenset(rng.sample(PRODUCTIONS, 3))
        self.used: dict[str, None] = {}
        self.lines: list[str] = []
        self.indent = 1
        self.fresh = 0
        self.nested = 0
        self.budget = rng.randint(12, 24) if rng.random() < 0.1 else rng.randint(3, 11)
        self.header: dict[str, str] = {}
        self.prologue: list[str] = []
        self.arguments: dict[str, Argument] = {}
        self.captured: list[str] = []
        self.module_ints = 0
        # What every `return` of the function being written gives.
        self.plan = "nothing"
        self.plan_array = ""
        self.in_helper = False
        # Float arrays of both precisions?
        self.mixed = False

    # ---------------------------------------------------------------- dice

    def pick(self, *options: T) -> T:
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def want(self, production: str, percent: int) -> bool:
        """Should this production stand here?"""
        if production in self.without:
            return False
        if production in self.themes:
            percent = max(percent, min(85, 5 * percent + 40))
        return self.chance(percent)

    def choose(self, options: Sequence[tuple[int, str]]) -> str:
        """One of the names, by weight; a theme weighs much more. Nothing if all are
        excluded.
        """
        allowed = [
            (w * self.pull(name), name)
            for w, name in options
            if name not in self.without and w
        ]
        if not allowed:
            return ""
        at = self.rng.randrange(sum(w for w, _ in allowed))
        for weight, name in allowed:
            at -= weight
            if at < 0:
                return name
        raise AssertionError("weights are positive")

    def pull(self, name: str) -> int:
        if name in self.themes:
            return BOOST
        return 8 if self.themes.intersection(GROUPS.get(name, ())) else 1

    def use(self, *productions: str) -> None:
        for production in productions:
            assert production in PRODUCTIONS, production
            self.used[production] = None

    # ---------------------------------------------------------------- text

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def uses(self, text: str, module: str) -> str:
        """`text`, with a line of the header that it needs."""
        self.header.setdefault(module, module)
        return text

    # ---------------------------------------------------------------- written later

    def block(self, scope: Scope, most: int) -> None:
        raise NotImplementedError

    def value(self, scope: Scope, depth: int = 2) -> str:
        raise NotImplementedError

    def load(self, scope: Scope) -> str:
        raise NotImplementedError

    def condition(self, scope: Scope) -> str:
        raise NotImplementedError
