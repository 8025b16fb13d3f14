"""Other costs than the shipped ones, for tests of forms that small arrays never get.

CPython has to run every function that is judged, so the sizes are small. What asks for
a form says so: `differentiable(f, EAGER)`. All else runs with what is shipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyrev
from pyrev.api.differentiable import differentiable_with
from pyrev.schedule.costs import SHIPPED, Costs
from pyrev.schedule.ownership import LITTLE


def of_cpu(costs: Costs, **changed: Any) -> Costs:
    """The costs with others of a CPU."""
    return replace(costs, cpu=replace(costs.cpu, **changed))


#: Every loop is shared out, whatever little it does; every row is contracted and every
#: record turned that may be; all cores look at data. Each size that asks for code of
#: its own gets it.
EAGER = of_cpu(
    replace(SHIPPED, inspected_iterations=0, any_operations=0, near_sizes=0),
    parallel_operations=0,
    contracted_elements=0,
    turned_elements=0,
    turned_accesses=0,
)

#: What was made for the first sizes runs for all that it is right for.
SHARING = replace(EAGER, any_operations=1 << 62, own_operations=1 << 63)


def of_seed(seed: int) -> Costs:
    """Those of a random program: for every fourth, little work stays on one core."""
    return EAGER if seed % 4 else SHIPPED


def differentiable(
    f: Callable[..., Any], costs: Costs = EAGER, **options: Any
) -> pyrev.Differentiable:
    """`pyrev.differentiable` with other costs."""
    asked = pyrev.differentiable(f, **options)
    return differentiable_with(asked.python, replace(asked._options, costs=costs))


@dataclass(frozen=True)
class Form:
    """A form, and costs at which it is taken wherever it may be.

    Where it is taken the text for Numba, or its explanation, says what `shows` it, or
    is another than at the costs there. The `witnesses` have to take it.
    """

    costs: Costs
    shows: str | Costs
    witnesses: tuple[str, ...]


#: What is judged beside the shipped costs. Each is on top of loops that are shared out.
FORMS = {
    "row owners": Form(
        EAGER,
        "row owner of ",
        ("ctc_forward", "box_2d_clamped", "conv2d_loops", "heat3d_loops"),
    ),
    "block owners": Form(
        EAGER, "block owner: ", ("repeat_edge", "lu_partial_pivoting", "window_means")
    ),
    "private copies": Form(
        of_cpu(EAGER, copy_operations=0),
        "private copies: ",
        ("three_mm", "sum_into_slot", "radial_distortion", "dilconv_loops"),
    ),
    "little work on one core": Form(
        SHIPPED, LITTLE, ("nonlinear_diffusion", "durbin_slices", "ckpt_loops")
    ),
    "contracted rows": Form(
        EAGER,
        of_cpu(EAGER, contracted_elements=1 << 62),
        ("sum_over_transpose", "distances_to_centres", "ckpt_loops"),
    ),
    "records turned": Form(
        EAGER, "_turned", ("two_planes_of_votes", "bslice_loops", "colours")
    ),
    "lanes wherever legal": Form(
        of_cpu(
            EAGER,
            laned_iterations=0,
            lanes=3,
            cached_elements=1 << 40,
            vector_rows=False,
        ),
        "side by side",
        ("covariance", "soft_dtw", "triangular_update", "bslice_loops"),
    ),
    "lanes in some loops": Form(
        of_cpu(EAGER, laned_iterations=0),
        "side by side",
        ("two_planes_of_votes", "bslice_loops", "gmm_loops"),
    ),
    "lanes around short sums": Form(
        of_cpu(
            replace(EAGER, compiled_elements=0, numbered_extent=4),
            laned_iterations=0,
            unrolled_iterations=2,
            lanes=4,
        ),
        "side by side",
        ("bells_around", "harmonics", "close_to_others"),
    ),
    "rows for several": Form(
        of_cpu(EAGER, row_operations=1, sharing_iterations=2),
        "share the rows below",
        ("flownet_loops", "stn_loops", "waves"),
    ),
    "register tiles": Form(
        of_cpu(
            EAGER, tile_tasks=0, tiled_iterations=1, tile_factors=(2,), tile_gain=0.0
        ),
        " at a time",
        ("three_mm", "ctc_forward", "conv2d_loops", "bslice_loops"),
    ),
    "rows side by side": Form(
        of_cpu(
            replace(EAGER, compiled_elements=0, numbered_extent=4),
            tiled_iterations=1,
            tile_factors=(2,),
            tile_gain=1e9,
        ),
        "_rows: sums of elements that are ",
        ("conv_strided", "every_third", "in_columns"),
    ),
    "overlapping blocks": Form(
        of_cpu(
            replace(EAGER, compiled_elements=0),
            overlapped_elements=0,
            least_blocks=0,
            block_rows=2,
        ),
        "_rows: the last ",
        ("steep_flow", "bslice_loops", "bells_apart"),
    ),
    "sums beside writes": Form(
        of_cpu(EAGER, any_order_iterations=0),
        " = _add(",
        ("ctc_forward", "distances_to_centres", "conjugate_gradient"),
    ),
    "sizes known": Form(
        replace(EAGER, compiled_elements=0, numbered_extent=4),
        EAGER,
        ("three_mm", "continue_and_break", "logic_of_three", "gmm_loops"),
    ),
}
