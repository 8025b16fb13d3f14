from __future__ import annotations

import math
from pathlib import Path
from types import FunctionType

import lens
import numba
import numpy as np
import pytest

import pyrev
from tests.turns import full_size

COARSE = lens.Settings(stages=((2.0, 0.2),), iterations=8, fields=(0.0, 0.5, 0.7, 1.0))


def shape(design: lens.Design) -> tuple[lens.Array, ...]:
    return design.curvature, design.distance, design.index, design.diameter


@pytest.fixture(scope="module")
def published() -> lens.Design:
    return lens.patent()


@pytest.mark.parametrize("radius", [10.0, -7.0, 1e3, math.inf])
def test_a_ray_meets_a_sphere_where_the_closed_form_says(radius: float) -> None:
    start, direction = np.array([1.5, -2.0, 0.0]), np.array([0.1, 0.3, 1.0])
    direction /= np.linalg.norm(direction)
    along, cosine = lens.meet(1 / radius, *start[:2], *direction)
    if math.isinf(radius):
        assert along == 0
        assert cosine == pytest.approx(direction[2], rel=1e-14)
        return
    # |start + t direction - centre| = |radius|, the root on the side of the vertex.
    offset = start - (0, 0, radius)
    half = direction @ offset
    root = math.sqrt(half**2 - offset @ offset + radius**2)
    assert along == pytest.approx(-half - math.copysign(root, radius), rel=1e-9)
    normal = -(offset + along * direction) / radius
    assert cosine == pytest.approx(normal @ direction, rel=1e-12)


def test_a_ray_beside_a_sphere_never_meets_it() -> None:
    assert lens.meet(1 / 5.0, 0.0, 5.01, 0.0, 0.0, 1.0) == (0.0, -1.0)


@pytest.mark.parametrize("ratio", [1 / 1.67, 1.67, 1.658 / 1.603, 1.0])
@pytest.mark.parametrize("curvature", [0.06, -0.06, 0.0])
def test_refraction_keeps_directions_unit_and_obeys_snell(
    ratio: float, curvature: float
) -> None:
    ray = np.array([0.12, -0.2, 1.0])
    ray /= np.linalg.norm(ray)
    x, y = 3.0, -2.0
    along, cosine = lens.meet(curvature, x, y, *ray)
    point = np.array([x, y, 0.0]) + along * ray
    *out, onward = lens.refract(curvature, ratio, *point, *ray, cosine)
    normal = np.array([0.0, 0.0, 1.0]) - curvature * point
    assert np.linalg.norm(normal) == pytest.approx(1, rel=1e-13)
    assert np.linalg.norm(out) == pytest.approx(1, rel=1e-13)
    assert np.dot(out, normal) == pytest.approx(onward, rel=1e-13)
    expected = ratio * np.cross(ray, normal)  # sines, and one plane of incidence
    np.testing.assert_allclose(np.cross(out, normal), expected, atol=1e-14)


def test_what_is_totally_reflected_does_not_pass() -> None:
    *_, onward = lens.refract(0.0, 1.7, 0, 0, 0, 0.0, 0.8, 0.6, 0.6)
    assert onward == -1


@pytest.mark.slow
def test_the_focal_length_is_that_of_the_matrices_and_of_rays_near_the_axis(
    published: lens.Design,
) -> None:
    system, before = np.eye(2), 1.0
    for k, (curvature, distance, index, _) in enumerate(
        zip(*shape(published), strict=True)
    ):
        power = curvature * (index - before)
        system = np.array([[1, 0], [-power, 1]]) @ system  # height, index * slope
        if k < published.index.size - 1:
            system = np.array([[1, distance / index], [0, 1]]) @ system
        before = index
    assert published.focal_length == pytest.approx(50, rel=1e-12)
    assert -1 / system[1, 0] == pytest.approx(published.focal_length, rel=1e-12)

    at = [np.zeros(1) for _ in range(3)]
    angle, axis = 1e-4, np.zeros(1)
    lens.trace(*shape(published), math.tan(angle), axis, axis, 0.1, *at)
    # A ray that is not near the axis has aberrations, of the order of angle ** 3.
    ideal = published.focused_at(-system[0, 0] / system[1, 0])
    lens.trace(*shape(ideal), math.tan(angle), axis, axis, 0.1, *at)
    assert at[1][0] == pytest.approx(50 * angle, rel=1e-6)


def test_the_published_lens_is_the_one_of_the_patent(published: lens.Design) -> None:
    measured = lens.measure(published, 0.1)
    assert published.stop == 5
    assert published.track == pytest.approx(67.8, abs=0.1)
    assert measured.f_number == pytest.approx(2, abs=0.03)
    for back_focus in (-0.05, 0.05):
        elsewhere = published.focused_at(published.back_focus + back_focus)
        assert lens.measure(elsewhere, 0.1).overall > measured.overall


def test_blocked_and_missing_rays_carry_nothing(published: lens.Design) -> None:
    x, y = np.zeros(4), np.array([0.0, 12.4, 13.9, 200.0])
    at = [np.full(4, np.nan) for _ in range(3)]
    lens.trace(*shape(published), 0.0, x, y, lens.SHARP, *at)
    np.testing.assert_array_equal(at[2], [1.0, 0.0, 0.0, 0.0])
    assert np.all(np.isfinite(at))


def compiled() -> dict[str, FunctionType]:
    """The loop functions, all of them through `numba.njit`."""
    namespace = {"math": math, "np": np}
    for function in (lens.meet, lens.refract, lens.inside, lens.trace, lens.spot):
        fresh = FunctionType(function.__code__, namespace)
        namespace[function.__name__] = numba.njit(fresh)
    return namespace


@pytest.mark.slow
def test_cpython_numba_and_pyrev_agree(published: lens.Design) -> None:
    arguments = (*shape(published), 0.3, *lens.grid(2.0), 0.1)
    plain = lens.spot(*arguments)
    np.testing.assert_allclose(compiled()["spot"](*arguments), plain, rtol=1e-9)
    np.testing.assert_allclose(lens.spot_of(*arguments), plain, rtol=1e-9)


@pytest.mark.slow
def test_the_gradients_are_right(published: lens.Design) -> None:
    curvature, distance, index, diameter = shape(published)
    rays = lens.grid(3.5)
    report = pyrev.check_grad(lens.spot_of, *shape(published), 0.4, *rays, 0.3)
    assert report.ok, str(report)
    length = pyrev.differentiable(lens.focal_length, target="python")
    report = pyrev.check_grad(length, curvature, distance, index)
    assert report.ok, str(report)
    edges = np.zeros(distance.size - 1), np.zeros(distance.size)
    report = pyrev.check_grad(lens.rims_of, curvature, distance, diameter, *edges)
    assert report.ok, str(report)


def test_the_constraints_have_right_derivatives(published: lens.Design) -> None:
    problem = lens.Problem(published, 1.0, COARSE, 2.0, 0.2)
    x = problem.pack(published)
    rng = np.random.default_rng(0)
    direction = rng.normal(size=x.size)
    direction[published.stop] = 0.0
    step = 1e-6
    for value, slope in ((0, 1), (2, 3)):
        derivative = problem.constraints(x)[slope] @ direction
        above = problem.constraints(x + step * direction)[value]
        below = problem.constraints(x - step * direction)[value]
        differences = (above - below) / (2 * step)
        np.testing.assert_allclose(derivative, differences, rtol=1e-4, atol=1e-5)


def test_some_steps_shorten_the_lens_at_its_focal_length(
    published: lens.Design,
) -> None:
    tracks: list[float] = []
    new = lens.shorten(published, 1.0, COARSE, tracks.append)
    assert 1 <= len(tracks) <= COARSE.iterations
    assert new.track == pytest.approx(tracks[-1])
    assert new.track < 0.98 * published.track
    assert new.focal_length == pytest.approx(50, rel=2e-2)
    assert new.back_focus >= published.back_focus - 1e-9


def test_a_lens_that_is_not_shorter_misses_its_bar(published: lens.Design) -> None:
    measured = lens.measure(published, 0.4)
    same = lens.Shortened(
        published, published, measured, measured, 1.0, lens.Limits(), 0.0
    )
    missed = [name for name, met in same.bars().items() if not met]
    assert missed == ["5 % shorter"]
    assert "MISSED             5 % shorter" in same.summary()


@pytest.mark.slow
def test_the_command_line_says_what_was_missed_and_saves_the_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "lens.png"
    options = ["--quick", "--iterations", "1", "--back-focus", "1"]
    status = lens.main([*options, "--output", str(figure)])
    printed = capsys.readouterr().out
    assert status == 1
    assert "gradient of spot: right" in printed
    assert "MISSED" in printed
    assert figure.read_bytes().startswith(b"\x89PNG")


@full_size
def test_the_lens_gets_shorter_at_equal_sharpness() -> None:
    result = lens.solve(1.0, lens.Settings(), progress=False)
    assert all(result.bars().values()), result.summary()
