"""Inner loops in the form that vector instructions want: fused, and without edges.

The last step of the CPU's form, inside loops whose order is already settled:

fuse    neighbouring loops over one range that touch each element in the same iteration
        become one, and the increments of one element in it one sum;
jam     a short loop around a long one that adds to a row becomes one long loop that
        adds all its terms: `for i in range(3): for x in range(n): a[x + i] += ...`;
first   what is zero until a loop adds to each element once is set by that loop;
owned   what a loop adds to each element in branches is added up in a number;
cleared zeros that every iteration leaves in an array are written where it begins;
zeros   a row is filled with zeros by the loop that adds to it first, while it is in the
        cache, not all at once before;
peel    an innermost loop whose clamps (`max(x - 1, 0)`) and tests (`x < n - 1`) only
        matter near its ends is split there: between the ends they are gone.

An edge clamp or a test in the innermost loop keeps LLVM from vectorising it, which was
measured to cost a factor of 4 to 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyrev.ir.nodes import Block, For, Program, Stmt, all_names, blocks, with_blocks
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.rows.cleared import cleared
from pyrev.schedule.rows.combine_increments import jammed, summed
from pyrev.schedule.rows.edges import counted, opened, peeled
from pyrev.schedule.rows.first_writes import set_first
from pyrev.schedule.rows.fuse import fused
from pyrev.schedule.rows.owned import owned
from pyrev.schedule.rows.zeros import zeroed


def rows(program: Program, types: Mapping[str, str], cpu: CpuCosts) -> Program:
    """`program` with its inner loops fused and peeled.

    Law: every element gets the same values, added in the same order. `types` are the
    dtypes of the names.
    """
    taken = set(all_names(program.body)) | {p.name for p in program.params}
    types = dict(types)
    counts = counted(program)
    most, streams = cpu.unrolled_iterations, cpu.written_arrays

    def inner(block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            stmt = with_blocks(stmt, tuple(inner(b) for b in blocks(stmt)))
            if not isinstance(stmt, For):
                out.append(stmt)
                continue
            for made in jammed(opened(stmt, most), types, taken, cpu.jammed_terms):
                if not isinstance(made, For):
                    out.append(made)
                    continue
                out += peeled(made, types, counts, cpu)
        return summed(out, types)

    # The loops that fill with zeros meet those that add.
    body = owned(fused(set_first(cleared(program.body)), streams), types, taken)
    body = fused(zeroed(body, taken), streams)
    return replace(program, body=inner(body))
