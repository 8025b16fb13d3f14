from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import Any

import demosaick
import numpy as np
import pytest

import pyrev

COUNT, HEIGHT, WIDTH = 2, 18, 19
RNG = np.random.default_rng(5)
MOSAIC = RNG.random((HEIGHT, WIDTH))
SITES = demosaick.sites_of(HEIGHT, WIDTH).astype(np.float64)
FILTERS = RNG.normal(0, 0.2, (COUNT, 7, 7))
TENTS, PROBES = RNG.normal(0, 0.2, (2, COUNT, 2, 7, 7))
TAPPED = (FILTERS, TENTS, PROBES)
PLANES = RNG.random((COUNT, 2, 2, HEIGHT, WIDTH))
SMALL = tuple(demosaick.small(COUNT, 17).values())


def zeros(*axes: int) -> Any:
    return np.zeros((*axes, HEIGHT, WIDTH))


def arguments(name: str) -> tuple[Any, ...]:
    """Of a loop; each call has fresh arrays to write to."""
    known, green = PLANES[0].copy(), PLANES[0, 0].copy()
    by_name: dict[str, tuple[Any, ...]] = {
        "interpolate": (MOSAIC, FILTERS, COUNT, zeros(COUNT)),
        "subtract": (MOSAIC, SITES, green, COUNT, zeros(COUNT, 2)),
        "spread": (known, TENTS, COUNT, zeros(COUNT, 2)),
        "respond": (known, PROBES, COUNT, zeros(COUNT, 2, 2)),
        "judge": (PLANES.copy(), COUNT, zeros(COUNT)),
        "weigh": (green, COUNT, zeros(COUNT)),
        "merge": (MOSAIC, SITES, known, green, COUNT, zeros(3)),
        "demosaick": (MOSAIC, SITES, FILTERS, TENTS, PROBES, COUNT, zeros(3)),
        "loss": tuple(
            each.copy() if isinstance(each, np.ndarray) else each for each in SMALL
        ),
    }
    return by_name[name]


LOOPS = (
    "interpolate",
    "subtract",
    "spread",
    "respond",
    "judge",
    "weigh",
    "merge",
    "demosaick",
    "loss",
)


@pytest.mark.slow
def test_the_loops_agree_in_cpython_numba_and_pyrev() -> None:
    numba = pytest.importorskip("numba")
    compiled: dict[str, Any] = {"np": np}
    for name in LOOPS:
        plain = getattr(demosaick, name)
        compiled[name] = numba.njit(FunctionType(plain.__code__, compiled, name))
    for name in LOOPS:
        plain = getattr(demosaick, name)
        expected, by_numba, by_pyrev = (arguments(name) for _ in range(3))
        results = (
            plain(*expected),
            compiled[name](*by_numba),
            pyrev.differentiable(plain, target="python")(*by_pyrev),
        )
        if name == "loss":
            np.testing.assert_allclose(results[1:], results[0], rtol=1e-12)
        np.testing.assert_allclose(by_numba[-1], expected[-1], rtol=1e-12)
        np.testing.assert_allclose(by_pyrev[-1], expected[-1], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS[:-2])
def test_the_loops_have_right_gradients(name: str) -> None:
    # What contains the others is checked along a few directions below, and entry by
    # entry by the command.
    # Three taps by two are fewer than the loops of the command have, and faster.
    few = [
        each[..., :3, :2].copy() if any(each is f for f in TAPPED) else each
        for each in arguments(name)
    ]
    loop = pyrev.differentiable(getattr(demosaick, name), target="python")
    report = pyrev.check_grad(loop, *few)
    assert report.ok, str(report)


@pytest.mark.slow
def test_the_loss_has_right_derivatives_along_directions_of_each_filter() -> None:
    given = demosaick.small(COUNT, 17)
    of_filters = pyrev.differentiable(
        demosaick.loss, wrt=demosaick.NAMES, target="python"
    )
    slopes = pyrev.value_and_grad(of_filters)(*given.values())[1]
    for name in demosaick.NAMES:
        direction = RNG.normal(0, 1, given[name].shape)
        step = 1e-6 * direction
        after = demosaick.loss(**(given | {name: given[name] + step}))
        before = demosaick.loss(**(given | {name: given[name] - step}))
        expected = (after - before) / 2e-6
        found = (getattr(slopes, name) * direction).sum()
        assert found == pytest.approx(expected, rel=1e-6)


def by_ahd(image: Any) -> Any:
    """What AHD's filters make of the mosaic of an image [3, y, x]."""
    ahd = demosaick.ahd()
    sites = demosaick.sites_of(*image.shape[1:])
    made = np.zeros_like(image)
    mosaic = (image * sites).sum(0)
    demosaick.demosaick(mosaic, sites, *ahd.learned, ahd.count, made)
    return made[:, 8:-8, 8:-8]


def test_the_filters_of_ahd_reproduce_ramps_of_any_constant_colour() -> None:
    y, x = np.indices((22, 21), np.float64)
    for slope_y, slope_x in ((0.0, 0.0), (0.03, -0.02)):
        ramp = 0.4 + slope_y * y + slope_x * x
        image = np.stack((ramp + 0.2, ramp, ramp - 0.1))
        np.testing.assert_allclose(by_ahd(image), image[:, 8:-8, 8:-8], atol=1e-7)


def test_of_two_candidates_the_one_along_an_edge_counts() -> None:
    image = np.full((3, 22, 22), 0.2)
    image[:, :, 11:] = 0.8
    for edge in (image, image.transpose(0, 2, 1).copy()):
        np.testing.assert_allclose(by_ahd(edge), edge[:, 8:-8, 8:-8], atol=5e-3)


def test_what_the_mosaic_has_is_kept_whatever_the_filters() -> None:
    made = zeros(3)
    demosaick.demosaick(MOSAIC, SITES, FILTERS, TENTS, PROBES, COUNT, made)
    inside = np.s_[8:-8, 8:-8]
    np.testing.assert_allclose((made * SITES).sum(0)[inside], MOSAIC[inside])


def test_the_probes_of_ahd_are_differences_of_what_was_spread() -> None:
    ahd = demosaick.ahd()
    known, colour = PLANES[0, :, 0].copy(), zeros(2, 2)
    known = np.stack((known, known), 1) * SITES[0]
    response = zeros(2, 2, 2)
    demosaick.spread(known, ahd.tents, 2, colour)
    demosaick.respond(known, ahd.probes, 2, response)
    inside = np.s_[:, 7:-7, 7:-7]
    right = (np.roll(colour, -1, -1) - np.roll(colour, 1, -1))[0]
    down = (np.roll(colour, -1, -2) - np.roll(colour, 1, -2))[0]
    np.testing.assert_allclose(response[0, :, 0][inside], right[inside], atol=1e-12)
    np.testing.assert_allclose(response[0, :, 1][inside], down[inside] / 4, atol=1e-12)


def test_tiles_count_each_pixel_once() -> None:
    photo = np.zeros((2 * 8 + 70, 2 * 8 + 48, 3), np.float32)
    counted = np.zeros(photo.shape[:2])
    for top, left, crop, counts in demosaick.tiles(photo):
        assert crop.shape == (64, 64, 3)
        assert top % 2 == left % 2 == 0, "or the mosaic of the crop is another one"
        counted[top : top + 64, left : left + 64] += counts
    assert (counted[8:-8, 8:-8] == 1).all()
    assert counted.sum() == 70 * 48


def test_further_filters_keep_the_first_and_reproduce_ramps() -> None:
    start = demosaick.ahd()
    fifteen = demosaick.more(start, 15)
    for few, many in zip(start.learned, fifteen.learned, strict=True):
        np.testing.assert_array_equal(many[:2], few[:2])
    assert not fifteen.filters[..., 0].any(), "5 x 5 filters have a rim of zeros"
    by_two = fifteen.filters[2:4].mean(0), fifteen.filters[4:6].mean(0)
    np.testing.assert_allclose(by_two, start.filters[:2], atol=1e-7)
    different = {each.tobytes() for each in fifteen.filters.round(5) + 0.0}
    assert len(different) == 15
    # Each finds green where the colours are apart by a constant; a flat one everywhere.
    colours = np.where(np.indices((7, 7)).sum(0) % 2, 0.3, 0.7)
    np.testing.assert_allclose((fifteen.filters * colours).sum((1, 2)), 0.3, atol=1e-6)


def test_copies_make_the_image_that_their_originals_make() -> None:
    ahd = demosaick.ahd()
    few, many = zeros(3), zeros(3)
    demosaick.demosaick(MOSAIC, SITES, *ahd.learned, ahd.count, few)
    three = demosaick.copies(ahd, 3)
    demosaick.demosaick(MOSAIC, SITES, *three.learned, three.count, many)
    np.testing.assert_allclose(many, few, rtol=1e-4)


def test_what_is_held_out_is_no_part_of_what_is_learned_from() -> None:
    photo = RNG.random((272, 272, 3)).astype(np.float32)
    learned_from, held_out = demosaick.parts(photo)
    assert len(learned_from) % 2 == len(held_out) % 2 == 0
    assert len(held_out) >= demosaick.TILE
    np.testing.assert_array_equal(np.concatenate((learned_from, held_out)), photo)


def test_photographs_are_disjoint_and_even() -> None:
    assert not set(demosaick.TRAINED_ON) & set(demosaick.TESTED_ON)
    photo = demosaick.photograph("chelsea")
    assert photo.shape == (150 + 16, 224 + 16, 3)
    assert 0 <= photo.min() < photo.max() <= 1


def test_a_few_steps_lower_the_error() -> None:
    # In CPython: what is compiled is compared with it above.
    arguments = demosaick.small(2, 17)
    start = demosaick.ahd()
    arrays = {
        name: each[:2].astype(np.float64)
        for name, each in zip(demosaick.NAMES, start.learned, strict=True)
    }
    learner = pyrev.value_and_grad(
        pyrev.differentiable(demosaick.loss, wrt=demosaick.NAMES, target="python")
    )
    solvers = {
        name: demosaick.Adam(each, 0.01, decays=(0.9, 0.99))
        for name, each in arrays.items()
    }
    errors = []
    for _ in range(4):
        steps = {name: each.x for name, each in solvers.items()}
        error, slopes = learner(*(arguments | steps).values())
        errors.append(error)
        for name, solver in solvers.items():
            solver.step(getattr(slopes, name))
    assert errors[-1] < 0.9 * errors[0]


def test_the_bars_that_were_missed_are_named(tmp_path: Path) -> None:
    truth = RNG.random((60, 60, 3)).astype(np.float32)
    found = {(2, 5): {"a": 30.4}, (9, 5): {"a": 30.3}}
    learned = {each: demosaick.ahd() for each in found}
    images = {name: truth for name in ("a", "AHD a", "2x5 a", "9x5 a")}
    result = demosaick.Result({"a": 30.0}, found, learned, images, 1.0)
    assert result.gain((2, 5)) == pytest.approx(0.4)
    missed = ["0.6 dB with 2 filters, 5 x 5", "more filters, 5 x 5, do no worse"]
    assert result.missed() == missed
    assert "+0.40" in result.summary()
    figure = tmp_path / "demosaick.png"
    demosaick.draw(result, figure)
    assert figure.read_bytes().startswith(b"\x89PNG")
