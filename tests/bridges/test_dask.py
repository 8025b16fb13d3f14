"""`pyrev.dask.distribute`: lazy calls and derivatives of Dask arrays."""

from __future__ import annotations

import hashlib
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.bridges.chunked import cold, plan
from tests.bridges.chunked_borders import BORDERS, waves_on_a_cylinder
from tests.bridges.chunked_engine import chunked
from tests.bridges.chunked_extremes import EXTREMES, greatest
from tests.bridges.chunked_functions import (
    CASES,
    Case,
    convolution,
    heat,
    simulated_misfit,
)
from tests.bridges.chunked_programs import PROGRAMS
from tests.bridges.chunked_series import SERIES
from tests.targets.cuda import needs, ondevice, standin
from tests.turns import its_turn

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
from dask.callbacks import Callback  # noqa: E402

import pyrev.dask  # noqa: E402
from pyrev.bridges.chunked.model import chosen_steps  # noqa: E402
from pyrev.bridges.chunked.phases import ChunkingError  # noqa: E402

ALL = (*CASES, *PROGRAMS, *SERIES, *EXTREMES, *BORDERS)
RUN = [c for c in ALL if not c.refused]
#: A commit runs one case in three; the nightly run has all.
TURN = [c for c in RUN if its_turn(f"dask {c.name}", 12)]
#: Those with a loop that goes on from task to task.
OVER_TIME = [c for c in RUN if len(c.steps) > 1]
#: Of these, those whose gradients need no state of an array in chunks.
WITHOUT_STATES = {
    "a_number_of_steps_that_changes",
    "descended",
    "terms_that_move_from_step_to_step",
}
SYNC = {"scheduler": "synchronous"}


class Alive(Callback):
    """The most bytes of arrays that the results of tasks hold at one time."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0

    def _posttask(self, key: Any, _: Any, __: Any, state: Any, ___: Any) -> None:
        held = 0
        todo = [*state["cache"].values()]
        while todo:
            one = todo.pop()
            if isinstance(one, (tuple, list)):
                todo += one
            held += getattr(one, "nbytes", 0)
        self.most = max(self.most, held)


def given(case: Case, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of a case, and the same in chunks."""
    values = case.make(np.random.default_rng(seed))
    rng = random.Random(f"{case.name} {seed}")
    cut = {
        n: da.from_array(values[n], chunks=chunked(values[n], axes, rng))
        for n, axes in case.cut.items()
    }
    return values, {**values, **cut}


def copies(values: dict[str, Any]) -> dict[str, Any]:
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}


def whole(
    case: Case, values: dict[str, Any], target: str
) -> tuple[dict[str, Any], Any]:
    """What the call on whole arrays gives, by name, and its pullback."""
    own = copies(values)
    result, pullback = pyrev.vjp(pyrev.differentiable(case.plain, target=target), **own)
    if result is None:
        written = pyrev.differentiable(case.plain)._units.function.written
        return {n: own[n] for n in written}, pullback
    row = result if isinstance(result, tuple) else (result,)
    return {f"result {k}": v for k, v in enumerate(row)}, pullback


@pytest.mark.parametrize("gradient", ["gather", "sum"])
@pytest.mark.parametrize("case", TURN, ids=lambda c: c.name)
def test_values_and_gradients_are_those_of_the_call(case: Case, gradient: str) -> None:
    values, cut = given(case, 1)
    memory = 1 if gradient == "sum" else "2GB"  # blocks are as close as they can
    f = pyrev.dask.distribute(
        case.plain,
        steps=case.steps[-1],
        gradient=gradient,
        memory=memory,
        target="python",
    )
    wanted, pullback = whole(case, values, "python")
    result, pull = f.vjp(**cut)
    row = result if isinstance(result, tuple) else (result,)
    rng = np.random.default_rng(2)
    seeds = [
        rng.standard_normal(np.shape(v)) if np.ndim(v) else 1.0 for v in wanted.values()
    ]
    if all(n.startswith("result") for n in wanted):
        one = seeds[0] if not isinstance(result, tuple) else tuple(seeds)
        slow, lazy = pullback(one), pull(one)
    else:
        named = dict(zip(wanted, seeds, strict=True))
        slow, lazy = pullback(**named), pull(**named)
    found, gradients = dask.compute(row, dict(lazy), **SYNC)
    for value, own in zip(wanted.values(), found, strict=True):
        np.testing.assert_allclose(own, value, rtol=1e-12, atol=1e-14)
    assert set(gradients) == set(slow)
    for name, wanted_gradient in slow.items():
        scale = np.abs(wanted_gradient).max()
        np.testing.assert_allclose(
            gradients[name], wanted_gradient, rtol=1e-12, atol=1e-14 + 1e-13 * scale
        )
        if name in case.cut:
            assert lazy[name].chunks == cut[name].chunks


@pytest.mark.parametrize(
    "case",
    [c for c in (*CASES, *PROGRAMS) if not c.refused],
    ids=lambda c: c.name,
)
def test_gathered_bits_do_not_depend_on_chunks(case: Case) -> None:
    """But for what is summed over chunks."""
    f = pyrev.dask.distribute(case.plain, target="python")
    if case.sums or max(case.steps) > 1 or not case.gathers:
        pytest.skip("it has sums over chunks, a loop over time, or reads too far")
    bits: dict[str, set[bytes]] = {}
    for seed in range(3):
        values = case.make(np.random.default_rng(0))
        rng = random.Random(seed)
        cut = {
            n: da.from_array(values[n], chunks=chunked(values[n], axes, rng))
            for n, axes in case.cut.items()
        }
        result, pull = f.vjp(**{**values, **cut})
        draw = np.random.default_rng(1)
        plain = case.plain(**copies(values))
        if plain is None:
            names = pyrev.differentiable(case.plain)._units.function.written
            lazy = pull(**{n: draw.standard_normal(values[n].shape) for n in names})
        else:
            row = plain if isinstance(plain, tuple) else (plain,)
            seeds = tuple(draw.standard_normal(np.shape(v)) for v in row)
            lazy = pull(seeds if isinstance(plain, tuple) else seeds[0])
        for name, g in dask.compute(dict(lazy), **SYNC)[0].items():
            if name in case.cut:
                bits.setdefault(name, set()).add(np.asarray(g).tobytes())
    assert {len(b) for b in bits.values()} == {1}


def field(n: int = 24) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return dict(
        u=rng.random((n, n)), c=0.1 * rng.random((n, n)), d=rng.random((n, n)), n=5
    )


def in_chunks(values: dict[str, Any], size: Any = (10, 7)) -> dict[str, Any]:
    return {
        n: da.from_array(v, chunks=size) if isinstance(v, np.ndarray) else v
        for n, v in values.items()
    }


def test_nothing_runs_before_it_is_asked_for_and_nothing_is_changed() -> None:
    values = field()
    before = copies(values)
    ran = []

    def noted(block: Any) -> Any:
        ran.append(block.shape)
        return block

    cut = in_chunks(values)
    cut["u"] = cut["u"].map_blocks(noted, meta=np.empty((0, 0)))
    f = pyrev.dask.distribute(simulated_misfit, steps=2, target="python")
    value, gradients = f.value_and_grad(**cut, wrt=("u", "c"))
    assert not ran
    assert isinstance(value, da.Array) and value.shape == ()
    dask.compute(value, gradients.u, **SYNC)
    assert ran
    for name, v in before.items():
        np.testing.assert_array_equal(values[name], v)


def test_tangents_are_those_of_the_call() -> None:
    values = field()
    rng = np.random.default_rng(1)
    move = rng.standard_normal(values["u"].shape)
    f = pyrev.dask.distribute(simulated_misfit, steps=2, target="python")
    cut = in_chunks(values)
    value, moved = f.jvp(**cut, tangents={"u": da.from_array(move, chunks=(5, 24))})
    wanted, slope = pyrev.jvp(simulated_misfit, **copies(values), tangents={"u": move})
    found = dask.compute(value, moved["return"], **SYNC)
    np.testing.assert_allclose(found, (wanted, slope["return"]), rtol=1e-12)
    heated = pyrev.dask.distribute(heat, steps=3, target="python")
    own = {n: values[n] for n in ("u", "c", "n")}
    parts = {n: cut[n] for n in ("u", "c", "n")}
    u, moved = heated.jvp(**parts, tangents={"c": move})
    plain = copies(own)
    _, slope = pyrev.jvp(heat, **plain, tangents={"c": move})
    found = dask.compute(u, moved["u"], **SYNC)
    np.testing.assert_array_equal(found[0], plain["u"])
    np.testing.assert_allclose(found[1], slope["u"], rtol=1e-10, atol=1e-14)


def test_hessians_times_vectors_are_those_of_the_call() -> None:
    values = field(12)
    rng = np.random.default_rng(1)
    move = {"u": rng.standard_normal((12, 12)), "c": rng.standard_normal((12, 12))}
    f = pyrev.dask.distribute(simulated_misfit, steps=2, target="python")
    found = f.hvp(**in_chunks(values, (5, 4)), tangents=move)
    wanted = pyrev.hvp(simulated_misfit, **copies(values), tangents=move)
    for name in move:
        own = found[name].compute(**SYNC)
        np.testing.assert_allclose(own, wanted[name], rtol=1e-10, atol=1e-12)


def test_compiled_blocks_are_right() -> None:
    values = field(40)
    cut = in_chunks(values, (16, 13))
    value, gradients = pyrev.dask.distribute(simulated_misfit, steps=2).value_and_grad(
        **cut, wrt=("u", "c", "d")
    )
    wanted, slow = pyrev.value_and_grad(simulated_misfit, wrt=("u", "c", "d"))(
        **copies(values)
    )
    found, own = dask.compute(
        value, dict(gradients), scheduler="threads", num_workers=2
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    for name, g in slow.items():
        np.testing.assert_allclose(own[name], g, rtol=1e-9, atol=1e-15)


def test_what_is_asked_together_is_what_is_asked_apart() -> None:
    """Tasks of other arguments, steps or derivatives have other keys."""
    values = {**field(12), "n": 4}
    cut = in_chunks(values, (5, 4))
    wanted = pyrev.value_and_grad(simulated_misfit, wrt=("u", "c"))(**copies(values))[1]
    lazy, slow = [], []
    for steps in (2, 3):  # two groups of two, or of three and one
        for memory in (None, 1):
            f = pyrev.dask.distribute(
                simulated_misfit, steps=steps, memory=memory, target="python"
            )
            for wrt in ("u", "c", ("u", "c"), ("c", "u")):
                gradients = f.value_and_grad(**cut, wrt=wrt)[1]
                lazy += [*gradients.values()]
                slow += [wanted[name] for name in gradients]
    for own, other in zip(dask.compute(*lazy, **SYNC), slow, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-10, atol=1e-14)


def digest(*arrays: Any) -> str:
    found = hashlib.sha256()
    for a in arrays:
        found.update(np.ascontiguousarray(a).tobytes())
    return found.hexdigest()


def slow_down(block: Any) -> Any:
    time.sleep(0.02)
    return block


@pytest.mark.slow
@pytest.mark.parametrize("stored", [False, True])
def test_one_digest_whoever_runs_the_tasks(stored: bool, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    values = field(20)
    cut = in_chunks(values, (5, 7))
    cut["u"] = cut["u"].map_blocks(slow_down, meta=np.empty((0, 0)))
    f = pyrev.dask.distribute(
        simulated_misfit,
        steps=2,
        target="python",
        checkpoints=str(tmp_path) if stored else None,
    )
    value, gradients = f.value_and_grad(**cut, wrt=("u", "c"))
    wanted = [value, gradients.u, gradients.c]
    first = digest(*dask.compute(*wanted, **SYNC))
    assert digest(*dask.compute(*wanted, scheduler="threads", num_workers=3)) == first
    for count in (1, 3):
        with (
            distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            assert digest(*client.gather(client.compute(wanted))) == first
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert digest(*client.gather(client.compute(wanted))) == first
        for wait in (0.05, 0.15, 0.3, 0.5, 0.8):
            futures = client.compute(wanted)
            time.sleep(wait)
            worker = next(iter(cluster.workers.values()))
            client.sync(worker.kill)
            assert digest(*client.gather(futures)) == first
            del futures


def test_what_does_not_fit_is_said() -> None:
    values = field()
    cut = in_chunks(values)
    with pytest.raises(pyrev.ArgumentError, match="steps=0"):
        pyrev.dask.distribute(heat, steps=0)
    with pytest.raises(pyrev.ArgumentError, match="gradient='best'"):
        pyrev.dask.distribute(heat, gradient="best")
    f = pyrev.dask.distribute(heat, target="python")
    with pytest.raises(pyrev.ArgumentError, match="does not return one number"):
        f.value_and_grad(cut["u"], cut["c"], 2)
    _, pull = f.vjp(cut["u"], cut["c"], 2)
    with pytest.raises(pyrev.ArgumentError, match="no cotangent"):
        pull()
    with pytest.raises(pyrev.ArgumentError, match="is not an array that heat"):
        pull(c=1.0)
    with pytest.raises(pyrev.ArgumentError, match=r"has shape \(3,\), not \(24, 24\)"):
        pull(u=np.zeros(3))
    unknown = cut["u"][cut["u"][:, 0] > 0.5]
    with pytest.raises(pyrev.ArgumentError, match="unknown sizes"):
        f(unknown, cut["c"], 2)
    with pytest.raises(pyrev.ArgumentError, match="c"):
        f(cut["u"])
    with pytest.raises(IndexError):
        pyrev.dask.distribute(convolution, target="python")(
            cut["u"], np.ones((3, 3)), da.zeros((24, 24), chunks=8)
        )


def test_explain_says_what_runs() -> None:
    cut = in_chunks(field())
    f = pyrev.dask.distribute(heat, steps=2, target="python")
    told = f.explain(cut["u"], cut["c"], 5)
    assert "12 blocks, 2 steps each: u" in told
    assert "a window has" in told and "in a chunk" in told
    assert (
        "for y in range(max(y_first, y_from - left), min(y_end, y_to + left)):" in told
    )


def test_states_that_do_not_fit_are_made_again() -> None:
    values = {**field(20), "n": 13}
    cut = in_chunks(values, (10, 7))
    asked: dict[str, Any] = {}
    for memory in (None, 20 * 20 * 8 * 3, 1):
        f = pyrev.dask.distribute(
            simulated_misfit, steps=1, memory=memory, target="python"
        )
        value, gradients = f.value_and_grad(**cut, wrt=("u", "c"))
        found = dask.compute(value, gradients.u, gradients.c, **SYNC)
        asked[str(memory)] = digest(*found), len(dict(gradients.u.dask))
    digests, counts = zip(*asked.values(), strict=True)
    assert len(set(digests)) == 1
    # As many as let no step run more than twice are kept, whatever the memory.
    assert counts[0] < counts[1] == counts[2]
    made = {k for k in dict(gradients.u.dask) if "-again-" in str(k[0])}
    # The last number of a key says which time it is.
    steps = {(str(k[0]).rpartition("-")[0], k[1:]) for k in made}
    assert len(steps) <= len(made) <= 2 * len(steps)


def test_states_that_wait_in_a_store_are_nowhere_else(tmp_path: Path) -> None:
    most: dict[tuple[str, int], float] = {}
    for n in (13, 39):
        values = {**field(20), "n": n}
        cut = in_chunks(values, (10, 7))
        found = []
        for where, options in (
            ("memory", {"memory": None}),
            ("store", {"checkpoints": tmp_path / str(n)}),
        ):
            f = pyrev.dask.distribute(
                simulated_misfit, steps=1, target="python", **options
            )
            value, gradients = f.value_and_grad(**cut, wrt=("u", "c"))
            with Alive() as held:
                found.append(dask.compute(value, gradients.u, gradients.c, **SYNC))
            most[where, n] = held.most / values["u"].nbytes
        assert digest(*found[0]) == digest(*found[1])
        assert not any("-again-" in str(k) for k in dict(gradients.u.dask))
    # In memory every step adds a state; with a store 26 steps more add less than one
    # for every ten. What one step needs at a time is Dask's order of its tasks, which
    # differs between versions.
    assert most["memory", 39] > most["memory", 13] + 26
    assert most["store", 39] < most["store", 13] + 2.6
    assert most["store", 13] < most["memory", 13] / 2
    # A function that only runs keeps nothing.
    before = {*tmp_path.rglob("*")}
    dask.compute(f(**cut), **SYNC)
    assert {*tmp_path.rglob("*")} == before


@pytest.mark.slow
@pytest.mark.parametrize("case", OVER_TIME, ids=lambda c: c.name)
def test_gradients_through_a_store_have_the_same_bits(
    case: Case, tmp_path: Path
) -> None:
    values, cut = given(case, 2)
    rng = np.random.default_rng(3)
    found = []
    for store in (None, str(tmp_path)):
        f = pyrev.dask.distribute(
            case.plain,
            steps=case.steps[0],
            gradient="sum",
            memory=None,
            target="python",
            checkpoints=store,
        )
        result, pull = f.vjp(**cut)
        if store is None:
            names = f._asked((), cut).asked.call.function.written
            row = result if isinstance(result, tuple) else (result,)
            seeds = [rng.standard_normal(r.shape) for r in row]
        if len(names) and pyrev.differentiable(case.plain)(**copies(values)) is None:
            lazy = pull(**dict(zip(names, seeds, strict=True)))
        else:
            lazy = pull(tuple(seeds) if isinstance(result, tuple) else seeds[0])
        (own,) = dask.compute(dict(lazy), **SYNC)
        found.append(own)
    assert any(tmp_path.iterdir()) == (case.name not in WITHOUT_STATES)
    assert found[0].keys() == found[1].keys()
    for name, wanted in found[0].items():
        np.testing.assert_array_equal(found[1][name], wanted)


def test_what_a_task_keeps_of_its_own_steps_is_bounded_by_the_function() -> None:
    values = {**field(20), "n": 12}
    cut = in_chunks(values, (10, 7))
    found = []
    for memory in (None, 80_000):
        own = pyrev.differentiable(memory=memory)(simulated_misfit)
        f = pyrev.dask.distribute(own, steps=12, gradient="sum")
        value, gradients = f.value_and_grad(**cut, wrt=("u", "c"))
        row = f._asked((), cut).asked.planned(12, "numba").plan.operations
        codes = {
            family.layer.code for own in row if isinstance(own, tuple) for family in own
        }
        assert codes
        assert {c.memory for c in codes} == {memory}
        found.append(dask.compute(value, gradients.u, gradients.c, **SYNC))
    for mine, wanted in zip(*found, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("device", [False, True])
def test_what_is_kept_comes_back_bit_by_bit(device: bool, tmp_path: Path) -> None:
    address = str(tmp_path / "state" / "0.1")
    arrays: list[Any] = [
        np.zeros((3, 2)),
        np.array([[-0.0, np.nan], [np.inf, 5e-324]]),
        np.arange(6, dtype=np.int8),
        np.array([True, False]),
        np.zeros((2, 1, 1), np.float32),
    ]
    for number, array in enumerate(arrays):
        own = f"{address}-{number}"
        with ondevice.standing_in():
            for _ in range(2):  # a task may run again
                cold.kept(own, standin.to_device(array) if device else array)
            back = cold.loaded(own, device)
            assert isinstance(back, standin.DeviceArray) == device
            there = np.asarray(back)
        assert there.dtype == array.dtype
        assert there.tobytes() == array.tobytes()


@pytest.mark.parametrize("far", [True, False])
def test_states_of_loops_that_go_step_by_step_are_made_again(
    far: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that hand on numbers, or copies of what is far, in each step."""
    monkeypatch.setattr(plan, "WIDE", (0, 0))
    draw = np.random.default_rng(0)
    p, q = 0.1 * draw.random((2, 12, 5))
    values: dict[str, Any] = {"p": p, "q": q, "c": draw.random(12), "n": 13}
    function = waves_on_a_cylinder if far else scaled
    cut = {n: da.from_array(v, chunks=2) for n, v in values.items() if n != "n"}
    cut = {n: v.rechunk((2, -1)) if v.ndim == 2 else v for n, v in cut.items()}
    found, counts = [], []
    for memory in (None, 1):
        f = pyrev.dask.distribute(function, steps=1, memory=memory, target="python")
        value, gradients = f.value_and_grad(**cut, n=13, wrt=("p", "c"))
        found.append(dask.compute(value, gradients.p, gradients.c, **SYNC))
        counts.append(len(dict(gradients.p.dask)))
    assert digest(*found[0]) == digest(*found[1])
    assert counts[0] < counts[1] < 2.2 * counts[0]
    alone, whole = pyrev.value_and_grad(function, wrt=("p", "c"))(**copies(values))
    for mine, wanted in zip(found[0], (alone, whole.p, whole.c), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-10, atol=1e-12)


def scaled(p: Any, q: Any, c: Any, n: int) -> Any:
    for _ in range(n):
        most = 1e-3
        for y in range(p.shape[0]):
            for x in range(p.shape[1]):
                most = max(most, abs(p[y, x]))
        for y in range(p.shape[0]):
            for x in range(p.shape[1]):
                p[y, x] = p[y, x] / (1.0 + 0.1 * most * c[y] * p[y, x])
    s = 0.0
    for y in range(p.shape[0]):
        for x in range(p.shape[1]):
            s += p[y, x] * q[y, x]
    return s


@pytest.mark.parametrize(
    "sides, steps", [((100,), 16), ((512, 512), 7), ((8000, 8000), 1), ((10**7,), 1)]
)
def test_larger_chunks_take_fewer_steps_at_once(sides: Any, steps: int) -> None:
    chunks = {"u": tuple((n, n) for n in sides)}
    assert abs(chosen_steps(chunks) - steps) <= 2


@needs.compiler
@pytest.mark.parametrize("case", [heat, convolution], ids=lambda f: f.__name__)
def test_chunks_in_the_memory_of_a_gpu(case: Any) -> None:
    """On its stand-in: the kernels are the real text, run by the CPU."""
    of = next(c for c in CASES if c.plain is case)
    values, cut = given(of, 4)
    with ondevice.standing_in():
        meta = standin.empty((0, 0))

        def moved(array: Any) -> Any:
            return array.map_blocks(standin.to_device, dtype=array.dtype, meta=meta)

        there = {n: moved(v) if isinstance(v, da.Array) else v for n, v in cut.items()}
        there |= {
            n: standin.to_device(v)
            for n, v in values.items()
            if isinstance(v, np.ndarray) and n not in of.cut
        }
        f = pyrev.dask.distribute(case, steps=of.steps[-1], target="cuda")
        wanted, pullback = whole(of, values, "python")
        result, pull = f.vjp(**there)
        (name,) = wanted
        seed = np.random.default_rng(1).standard_normal(wanted[name].shape)
        lazy = pull(**{name: moved(da.from_array(seed, chunks=cut[name].chunks))})
        found, gradients = dask.compute(result, dict(lazy), **SYNC)
        first = result.blocks[(0,) * result.ndim].compute(**SYNC)
        assert isinstance(first, standin.DeviceArray)
        np.testing.assert_allclose(np.asarray(found), wanted[name], rtol=1e-12)
        for n, slow in pullback(**{name: seed}).items():
            own = np.asarray(gradients[n])
            np.testing.assert_allclose(own, slow, rtol=1e-10, atol=1e-12)


def above_zero(u):
    s = 0.0
    for i in range(u.shape[0]):
        if u[i] > 0:
            s += 1.0 + u[i]
    return s


class Labelled:
    """What matters of an `xarray.DataArray`: an array with coordinates."""

    def __init__(self, data: Any, coords: dict[str, Any]) -> None:
        self.data, self.coords, self.dims = data, coords, tuple(coords)
        self.shape, self.ndim, self.dtype = data.shape, data.ndim, data.dtype

    def copy(self, data: Any) -> Labelled:
        return Labelled(data, self.coords)


def test_labelled_arrays_keep_their_coordinates() -> None:
    values = field(12)
    cut = in_chunks(values, (5, 4))
    coords = {"y": np.arange(12) * 2.0, "x": np.arange(12)}
    u = Labelled(cut["u"], coords)
    f = pyrev.dask.distribute(heat, steps=2, target="python")
    result, pull = f.vjp(u, cut["c"], 3)
    assert isinstance(result, Labelled) and result.coords is coords
    gradients = pull(u=Labelled(da.ones((12, 12), chunks=4), coords))
    assert gradients.u.coords is coords and isinstance(gradients.c, da.Array)
    own = copies(values)
    _, pullback = pyrev.vjp(heat, own["u"], own["c"], 3)
    slow = pullback(u=np.ones((12, 12)))
    np.testing.assert_allclose(gradients.u.data.compute(**SYNC), slow.u, rtol=1e-12)
    moved, tangents = f.jvp(u, cut["c"], 3, tangents={"u": u})
    assert moved.coords is coords and tangents["u"].coords is coords


def test_a_gradient_is_checked_on_chunks() -> None:
    cut = in_chunks(field(14), (5, 6))
    with dask.config.set(**SYNC):
        f = pyrev.dask.distribute(simulated_misfit, steps=2, target="python")
        report = f.check_grad(**cut, wrt=("u", "c"))
        assert report and len(report.slopes) == 4 and len(report.blocks) == 4
        assert "6 slopes" not in str(report) and "all agree" in str(report)

        zero = da.zeros(6, chunks=3)
        g = pyrev.dask.distribute(above_zero, target="python")
        wrong = g.check_grad(zero)
        assert not wrong and "wrong  u, chunk (0,)" in str(wrong)


def pair(a: Any, b: Any) -> Any:
    o = np.zeros_like(b)
    p = np.zeros_like(a)
    for i in range(a.shape[0]):
        o[i] = b[i] ** 2
        p[i] = a[i] ** 2
    return p, o


def test_the_tangent_of_what_stays_is_zeros_of_its_shape() -> None:
    a, b = np.arange(1.0, 7.0), np.arange(2.0, 8.0)
    f = pyrev.dask.distribute(pair, target="python")
    parts = [da.from_array(x, chunks=2) for x in (a, b)]
    _, moved = f.jvp(*parts, tangents={"a": parts[0]})
    first, second = dask.compute(moved["return"])[0]
    np.testing.assert_allclose(first, 2.0 * a * a)
    np.testing.assert_array_equal(second, np.zeros(6))


@pytest.mark.parametrize("gradient", ["gather", "sum"])
def test_chunks_without_elements_are_none(gradient: Any) -> None:
    a = np.arange(1.0, 7.0)
    parts = [da.from_array(a, chunks=((0, 2, 0, 3, 1, 0),)) for _ in range(2)]
    f = pyrev.dask.distribute(pair, target="python", gradient=gradient)
    (p, o), pull = f.vjp(*parts)
    found = pull((2.0 * a, None))
    row = dask.compute(p, o, found.a)
    for mine, wanted in zip(row, (a**2, a**2, 4.0 * a * a), strict=True):
        np.testing.assert_allclose(mine, wanted)
    assert found.a.chunks == parts[0].chunks


def test_the_number_of_steps_may_be_of_a_narrower_dtype() -> None:
    values = {"u": np.arange(12.0), "c": np.full(12, 0.1)}
    f = pyrev.dask.distribute(decaying, target="python", steps=2)
    parts = {n: da.from_array(v, chunks=5) for n, v in values.items()}
    wanted = dask.compute(f(**parts, n=3))[0]
    np.testing.assert_array_equal(dask.compute(f(**parts, n=np.int32(3)))[0], wanted)


def decaying(u: Any, c: Any, n: Any) -> None:
    for _ in range(n):
        for i in range(u.shape[0]):
            u[i] = u[i] - c[i] * u[i]


def test_a_refused_tangent_is_told_of_in_the_names_of_the_function() -> None:
    values = {"u": np.arange(12.0).reshape(4, 3), "c": np.ones((4, 3)), "n": 1}
    parts = {n: da.from_array(v, chunks=2) for n, v in values.items() if n != "n"}
    f = pyrev.dask.distribute(greatest, target="python")
    with pytest.raises(ChunkingError, match="the tangent of `m` is in one piece"):
        f.jvp(**parts, n=1, tangents={"u": parts["u"]})


def two_further(u: Any, w: Any) -> Any:
    o = np.zeros(u.shape[0])
    for i in range(u.shape[0]):
        if w[i] > 0.1:
            o[i] = u[i + 2]
    return o


@pytest.mark.parametrize("target", ["python", "numba"])
def test_what_data_let_leave_an_array_is_an_error(target: str) -> None:
    """As it is for whole arrays; compiled code would read what lies there."""
    u = np.random.default_rng(0).random(8)
    f = pyrev.dask.distribute(two_further, target=target)
    parts = [da.from_array(a, chunks=3) for a in (u, np.ones(8))]
    with pytest.raises(IndexError, match="leaves axis 0 of `u`"):
        f(*parts).compute(**SYNC)
    w = np.where(np.arange(8) < 6, 1.0, 0.0)
    found = f(parts[0], da.from_array(w, chunks=2)).compute(**SYNC)
    np.testing.assert_array_equal(found, two_further(u, w))
