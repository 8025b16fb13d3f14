"""The mutation check: a sample of damaged adjoints, none of them unnoticed.

`python -m tests.tools.mutants` runs more of them and prints the table.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyrev.ir.nodes import Return, walk
from tests.tools.mutants import (
    FUNCTIONS,
    Mutant,
    Verdict,
    judge,
    mutants_of,
    sample,
    subject,
)

#: What no result can tell from the original, with the argument, one by one. The reasons
#: that a program can test are tested, and are not listed here: see `mutants.Edit`.
MAXIMUM = "max(a, b) > b exactly if a > b: the maximum may stand for a"
LAST = "without the record nobody needs the last overwrite, and it is not run again"
ITSELF = "a point is at no distance from itself, and exerts no force there"
EARLIER = "j < i: it reads x[j] and sums into x[i], in whatever order"
ZERO = "one product too many, with low[i, j], which is zero until then"
ROWS = "the rows of a sparse matrix share no entry; only the data can say so"
SCRATCH = "only t[2] is another, and the reverse sweep reads t[0], t[1] and the records"
FACTORS = "either loop multiplies each element by a record, in whatever order"
AGAIN = "t is made again for the records, and is left as it was"
BELOW = "i is more: it is another element"
NOTHING = "what stands under the test adds zeros where the cotangent is zero"
RECORDS = "both sweeps only sum over the same records, whichever comes first"
EQUIVALENT: dict[str, str] = {
    "cumulative_max_array (saved): record not made, line 4, 1": MAXIMUM,
    "cumulative_max_array (saved): record not made, line 4, 2": MAXIMUM,
    "cumulative_max_array (derived): dependent statements swapped, line 4, 1": MAXIMUM,
    "square_twice (saved): record not made, line 4, 1": LAST,
    "square_twice (scheduled): dependent statements swapped, line 1, 2": FACTORS,
    "recurrence_in_a_loop (saved): record not made, line 5, 1": AGAIN,
    "lu_in_place (scheduled): dependent statements swapped, line 4, 3": BELOW,
    "cholesky (scheduled): dependent statements swapped, line 10, 2": BELOW,
    "rotate_left (saved): record not made, line 1, 1": LAST,
    "every_other_overwritten (derived): other direction, line 4, 1": (
        "b[i] and record i // 2 are the iteration's own, for even i"
    ),
    "condition_overwritten (derived): other direction, line 3, 2": RECORDS,
    "condition_overwritten (scheduled): other direction, line 3, 1": RECORDS,
    "condition_overwritten (scheduled): other direction, line 3, 2": RECORDS,
    "sparse_matvec (scheduled): unproved loop parallel, line 1, 1": ROWS,
    "scratch_per_turn (derived): other direction, line 5, 1": SCRATCH,
    "scratch_per_turn (scheduled): other direction, line 5, 1": SCRATCH,
    "max_pool (scheduled): unproved loop parallel, line 2, 1": (
        "the windows of two iterations share no element"
    ),
    "forward_substitution (derived): other direction, line 3, 1": EARLIER,
    "forward_substitution (scheduled): other direction, line 3, 1": EARLIER,
    "lu_in_place (derived): other bounds, line 2, 3": (
        "below the last pivot there is no row: the iteration more is empty"
    ),
    "lu_in_place (scheduled): other direction, line 5, 2": (
        "j > k: a column of its own, and terms of one sum, in whatever order"
    ),
    "lu_in_place (derived): other direction, line 3, 2": (
        "i > k: the rows below the pivot share only increments"
    ),
    "lu_in_place (scheduled): dependent statements swapped, line 6, 1": (
        "j > k: never the same column"
    ),
    "cholesky (derived): other bounds, line 5, 3": ZERO,
    "cholesky (scheduled): other bounds, line 5, 3": ZERO,
    "power_iteration (saved): record not made, line 10, 1": (
        "how long v was matters to no later step, so d_s is zero but in the last one,"
        " which finds its own w"
    ),
    "every_parameter_kind (derived): record of a neighbour, line 3, 2": (
        "the test is about a parameter: every iteration records the same"
    ),
    "pairwise_forces (derived): mask gone, line 4, 1": ITSELF,
    "pairwise_forces (derived): mask gone, line 4, 2": ITSELF,
    "pairwise_forces (scheduled): mask gone, line 4, 1": ITSELF,
    "minimum_of_squares (scheduled): mask gone, line 3, 1": NOTHING,
    "power_iteration (scheduled): mask gone, line 12, 1": NOTHING,
    "polynomial_by_powers (scheduled): mask gone, line 5, 1": NOTHING,
    "carried_under_a_test (derived): record of a neighbour, line 8, 2": (
        "on this branch the iteration ends with the s that it began with"
    ),
    "carried_under_a_test (saved): record not made, line 4, 1": (
        "on this branch nothing overwrites b[i]; dependences do not look at branches"
    ),
}

#: Functions that record, mask, zero, carry, gather and own: every kind of damage.
FAST = (
    *("conv1d", "masked_update", "two_outputs", "running_product", "logistic_map"),
    *("two_states", "carried_through_two_loops", "reset_on_branch", "square_twice"),
    *("minimum_of_squares", "chain_against_order", "in_place_time_steps"),
    *("condition_overwritten", "sparse_matvec", "forward_substitution", "max_pool"),
    *("every_parameter_kind", "carried_under_a_test"),
)


def explained(verdict: Verdict) -> bool:
    """Is it caught, or equal to the original for a reason that was tested or argued?"""
    argued = verdict.same and verdict.mutant.key in EQUIVALENT
    return bool(verdict.caught or verdict.reason or argued)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAST)
def test_a_damaged_adjoint_is_caught_or_harmless_for_a_reason(name: str) -> None:
    verdicts = [judge(m) for m in sample(name, 1)]
    assert sum(bool(v.caught) for v in verdicts) >= 4
    left = [str(v.mutant) for v in verdicts if not explained(v)]
    assert not left, "\n".join(["nobody noticed:", *left])


def test_the_sample_has_every_kind_of_damage_in_every_stage() -> None:
    chosen = [m for name in FAST for m in sample(name, 1)]
    assert len(FAST) >= 15
    assert len(chosen) >= 120
    assert {(m.stage, m.kind) for m in chosen} >= {
        ("saved", "record not made"),
        ("scheduled", "unproved loop parallel"),
        *(
            (stage, kind)
            for stage in ("derived", "scheduled")
            for kind in (
                *("record lost", "record of a neighbour", "mask gone", "zeroing gone"),
                *("increment gone", "increment overwrites", "other direction"),
                *("dependent statements swapped", "assignment increments"),
                "other bounds",
            )
        ),
    }
    assert set(FAST) <= set(FUNCTIONS)


def test_an_adjoint_that_nobody_damaged_is_not_caught() -> None:
    for name in ("conv1d", "two_outputs", "reset_on_branch"):
        one = subject(name)
        for stage, program in (
            ("derived", one.derived.program),
            ("scheduled", one.scheduled),
        ):
            verdict = judge(Mutant(name, stage, "nothing", "nowhere", program))
            assert not verdict.caught
            assert verdict.same


def test_a_reason_that_does_not_hold_is_not_believed() -> None:
    (zeroing, *_) = [
        m
        for m in mutants_of("two_outputs")
        if m.kind == "increment overwrites" and judge(m).reason
    ]
    ((why, _), *_) = zeroing.reasons
    believed = replace(zeroing, reasons=((why, zeroing.program),))
    assert judge(believed).reason == why
    # The witness is a program that computes something else.
    body = tuple(s for s in zeroing.program.body if not isinstance(s, Return))
    (result,) = [s for s in walk(zeroing.program.body) if isinstance(s, Return)]
    turned = replace(result, values=tuple(reversed(result.values)))
    witness = replace(zeroing.program, body=(*body, turned))
    assert judge(replace(zeroing, reasons=((why, witness),))).reason == ""


@pytest.mark.slow
def test_every_argued_mutant_is_one_that_can_be_made() -> None:
    names = {key.split(" ")[0] for key in EQUIVALENT}
    known = {m.key for name in sorted(names) for m in mutants_of(name)}
    assert set(EQUIVALENT) <= known
