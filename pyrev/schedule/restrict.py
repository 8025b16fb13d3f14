"""A nest with only some of its statements."""

from __future__ import annotations

from dataclasses import replace

from pyrev.ir.nodes import Block, Call, For, If, Restart, Stmt, While


def restrict(block: Block, numbers: set[int]) -> Block:
    """`block` with only the leaves in `numbers`; loops and tests left empty go too."""
    return _Filter(numbers).run(block)


class _Filter:
    def __init__(self, numbers: set[int]) -> None:
        self.numbers, self.count = numbers, 0

    def run(self, block: Block) -> Block:
        kept: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Restart):
                continue
            self.count += 1
            match stmt:
                case For() | While():
                    if body := self.run(stmt.body):
                        kept.append(replace(stmt, body=body))
                case If():
                    then, orelse = self.run(stmt.then), self.run(stmt.orelse)
                    if then:
                        kept.append(replace(stmt, then=then, orelse=orelse))
                    elif orelse:
                        kept.append(
                            replace(
                                stmt,
                                test=Call("not", (stmt.test,)),
                                then=orelse,
                                orelse=(),
                            )
                        )
                case _:
                    if self.count in self.numbers:
                        kept.append(stmt)
        return tuple(kept)
