"""The text for Numba without Numba: any order of iterations, no access outside.

Compiling takes seconds; reading the text in CPython takes milliseconds and sees more:
which iteration of a parallel loop touched which element.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

import pyrev
from pyrev.api.differentiable import Call
from pyrev.driver.targets import PYTHON
from pyrev.driver.units import Units
from pyrev.testing.outcome import (
    Cotangents,
    Outcome,
    Values,
    distance,
    draw_cotangents,
    floats,
    outcome,
    run,
)
from tests.tools.costs import differentiable, of_seed
from tests.tools.generator.judge import (
    ILLEGAL,
    PRIMAL,
    RIGHT,
    Expected,
    Verdict,
    copied,
    limit,
    slopes,
)
from tests.tools.generator.program import Argument, Generated
from tests.tools.interpreted import (
    Recorder,
    Recording,
    RecordingNumpy,
    interpreted,
    shuffled,
)

SECONDS = 60.0


def compare_text(f: Any, expected: Expected) -> Verdict:
    """The interpreted texts beside the plain function, in two orders, and watched."""
    arrays = tuple(expected.values.written)
    first = checked(f, expected.arguments)
    units, own = first.units, first.values
    primal = first.made(Units.primal)
    raw = interpreted(primal.text.text, "f", shuffled(0))(
        *(own[p] for p in primal.params)
    )
    result = first.restore(raw)
    off = distance(expected.values, outcome(result, own, arrays))
    if not off <= PRIMAL[expected.precision]:
        return Verdict("wrong values", f"the text is off by {off:.1e}")
    call = checked(f, expected.arguments)
    names = floats(expected.arguments)
    adjoint = call.made(Units.adjoint, names)
    given = arguments_of(adjoint, call, expected.weights)
    seen = []
    for seed in (0, 1):
        run_again = interpreted(adjoint.text.text, "f_adjoint", shuffled(seed))
        seen.append(run_again(*copy.deepcopy(given)))
    bits = [[np.asarray(g).tobytes() for g in found] for found in seen]
    if bits[0] != bits[1]:
        return Verdict("wrong: order", "the order of iterations matters")
    found = dict(zip(names, seen[0], strict=True))
    written = units.function.written
    gradients = {
        name: np.asarray(g, np.float64)
        + (0.0 if name in written else expected.weights.written.get(name, 0.0))
        for name, g in found.items()
    }
    verdict = slopes(gradients, expected)
    if verdict.kind != RIGHT:
        return verdict
    recorder = Recorder()
    watched(adjoint, "f_adjoint", given, recorder)
    if races := recorder.races():
        return Verdict("wrong: a race", f"two iterations touch one element: {races[0]}")
    return verdict


def checked(f: Any, arguments: Values) -> Call:
    """A call whose arguments were checked, by a check that need not be compiled."""
    call = Call(f, (), copied(arguments))
    call.variant = call.units.inspection.check(PYTHON, call.kinds, call.values)
    return call


def arguments_of(unit: Any, call: Call, weights: Cotangents) -> list[Any]:
    """What an adjoint takes: initial values, and a cotangent of each output."""
    seeds: dict[str, Any] = {}
    for param, of in unit.cotangents:
        if isinstance(of, int):
            weight = weights.returned[of]
            seeds[param] = 0.0 if weight is None else weight
        elif of in weights.written:
            seeds[param] = weights.written[of]
        else:
            seeds[param] = np.zeros_like(call.values[of])
    values = {**call.values, **seeds}
    return [values[p] for p in unit.params]


def watched(unit: Any, name: str, given: list[Any], recorder: Recorder) -> None:
    """Run a text with every access recorded; one outside its array raises."""
    wrapped = [
        Recording(recorder, v) if isinstance(v, np.ndarray) else v
        for v in copy.deepcopy(given)
    ]
    interpreted(unit.text.text, name, recorder.turns, RecordingNumpy(recorder))(
        *wrapped
    )


def too_small(program: Generated) -> Generated:
    """The same function with some arrays one or two elements short."""
    rng = np.random.default_rng(program.seed)

    def shorter(argument: Argument) -> Argument:
        if argument.shape is None or rng.integers(3) == 0:
            return argument
        shape = list(argument.shape)
        axis = int(rng.integers(len(shape)))
        shape[axis] = f"{shape[axis]} - {rng.integers(1, 3)}"
        return replace(argument, shape=tuple(shape))

    made = tuple((name, shorter(a)) for name, a in program.arguments)
    return replace(program, arguments=made)


def stays_inside(program: Generated) -> str:
    """What happens at arguments that may be too small: a word, or an assertion.

    Where the plain function raises, so does the call. Where it runs, the call gives the
    same values or is refused. The text for Numba never leaves an array.
    """
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        limit(SECONDS),
    ):
        warnings.simplefilter("ignore")
        function = program.function()
        plain_function = getattr(function, "py_func", function)
        arguments = program.made()
        arrays = [k for k, v in arguments.items() if isinstance(v, np.ndarray)]
        plain: Outcome | Exception
        try:
            plain = run(plain_function, arguments, arrays)
        except ILLEGAL as error:
            plain = error
        f = differentiable(function, of_seed(program.seed), target="numba")
        try:
            call = checked(f, arguments)
        except (IndexError, pyrev.ArgumentError):
            return "refused" if isinstance(plain, Outcome) else "raised"
        primal = call.made(Units.primal)
        inside = _inside(primal, "f", call.values, plain)
        if not inside or not isinstance(plain, Outcome):
            return "raised"
        names = floats(arguments)
        if names:
            values = Outcome(
                plain.returned,
                {k: v for k, v in plain.written.items() if k in names},
                plain.structure,
            )
            weights = draw_cotangents(values, np.random.default_rng(program.seed))
            adjoint = call.made(Units.adjoint, names)
            given = dict(
                zip(adjoint.params, arguments_of(adjoint, call, weights), strict=True)
            )
            assert _inside(adjoint, "f_adjoint", given, plain)
        return "ran"


def _inside(unit: Any, name: str, values: Values, plain: Outcome | Exception) -> bool:
    """Did the text run? If it raised, the plain function must have raised, too.

    Not always the same: where two things are wrong with one expression (a row that is
    not there, of the wrong length), which of them is found first is not promised.
    """
    recorder = Recorder()
    try:
        watched(unit, name, [values[p] for p in unit.params], recorder)
    except ILLEGAL as error:
        assert isinstance(plain, ILLEGAL), f"{name} raises {error!r}"
        return False
    assert not isinstance(plain, IndexError), f"{plain!r} was not raised by {name}"
    assert recorder.races() == []
    return True
