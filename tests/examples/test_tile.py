from __future__ import annotations

import itertools
import math
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
import tile

import pyrev

SPACE = {1: (7,), 2: (5, 4), 3: (3, 4, 3), 5: (2, 3, 2, 2, 2)}
TAPS = {1: (3,), 2: (3, 2), 3: (2, 1, 2), 5: (2, 2, 1, 2, 1)}
PADDINGS: tuple[tile.Padding, ...] = ("valid", "same", (2, 1))
STEPS = ((1, 1, 1), (2, 1, 2), (1, 2, 1), (3, 2, 2))  # stride, dilation, groups

Options = tuple[int, tile.Padding, int, int, int]
SLOWEST: Options = (5, "same", 1, 2, 2)
GRID: list[Options] = [
    *((1, p, *s) for p in PADDINGS for s in STEPS),
    *((2, p, *s) for p in PADDINGS for s in (STEPS[0], STEPS[3])),
    (2, "same", 2, 1, 2),
    (3, "valid", 1, 1, 1),
    (3, "same", 2, 2, 2),
    (3, (2, 1), 2, 1, 1),
    SLOWEST,
    (5, (1, 1), 2, 1, 1),
]
MADE: dict[Any, Any] = {}


def readable(function: Any) -> Any:
    return MADE.setdefault(function, pyrev.differentiable(function, target="python"))


def fits(dims: int, padding: tile.Padding, dilation: int) -> bool:
    extra = sum(padding) if isinstance(padding, tuple) else 0
    return padding == "same" or all(
        dilation * (k - 1) < s + extra
        for s, k in zip(SPACE[dims], TAPS[dims], strict=True)
    )


ALL: list[Options] = [
    (dims, padding, *steps)
    for dims, padding, steps in itertools.product(SPACE, PADDINGS, STEPS)
    if fits(dims, padding, steps[1])
]


def conv_case(dims: int, padding: Any, stride: int, dilation: int, groups: int) -> Any:
    rng = np.random.default_rng(1)
    image = rng.normal(size=(2, *SPACE[dims], 2))
    kernel = rng.normal(size=(*TAPS[dims], 2 // groups, 2))
    steps: dict[str, Any] = {"stride": stride, "dilation": dilation}
    return tile.convolution(image, kernel, groups=groups, padding=padding, **steps)


def transposed_case(
    dims: int, padding: Any, stride: int, dilation: int, groups: int
) -> Any:
    rng = np.random.default_rng(2)
    space = tuple(min(s, 3) for s in SPACE[dims])
    image = rng.normal(size=(1, *space, 2))
    kernel = rng.normal(size=(*TAPS[dims], 2, 2 // groups))
    steps: dict[str, Any] = {"stride": stride, "dilation": dilation}
    if isinstance(padding, tuple) and dims > 1:
        padding = (1, 0)  # something must be left
    return tile.transposed(image, kernel, groups=groups, padding=padding, **steps)


def pool_case(dims: int, padding: Any, stride: int, dilation: int, _: int = 1) -> Any:
    image = tile.distinct(np.random.default_rng(3), (1, *SPACE[dims], 2))
    steps: dict[str, Any] = {"stride": stride, "dilation": dilation}
    if isinstance(padding, tuple):
        padding = (1, 1)  # no window is all padding
    return tile.max_pool(image, 2, padding=padding, **steps)


def wide(kernel: np.ndarray, dilation: int) -> np.ndarray:
    """The kernel with zeros between its taps."""
    taps = [dilation * (k - 1) + 1 for k in kernel.shape[:-2]]
    result = np.zeros((*taps, *kernel.shape[-2:]))
    result[(slice(None, None, dilation),) * len(taps)] = kernel
    return result


def padded(image: np.ndarray, before: Any, least: Any, value: float) -> np.ndarray:
    """One channel of one image with padding, and at least that large."""
    after = [
        max(0, n - s - b) for n, s, b in zip(least, image.shape, before, strict=True)
    ]
    return np.pad(image, list(zip(before, after, strict=True)), constant_values=value)


@pytest.mark.parametrize("options", ALL, ids=str)
def test_convolutions_are_those_of_scipy(options: Options) -> None:
    signal = pytest.importorskip("scipy.signal")
    case = conv_case(*options)
    image, kernel, out, stride, dilation, groups, *before = case.arguments
    taps = wide(kernel, dilation)
    space = out.shape[1:-1]
    least = [(n - 1) * stride + t for n, t in zip(space, taps.shape, strict=False)]
    expected = np.zeros_like(out)
    inputs, outputs = kernel.shape[-2], kernel.shape[-1] // groups
    crop = tuple(slice(None, (n - 1) * stride + 1, stride) for n in space)
    for n, co, ci in np.ndindex(len(image), out.shape[-1], inputs):
        channel = image[n, ..., co // outputs * inputs + ci]
        found = signal.correlate(
            padded(channel, before, least, 0.0), taps[..., ci, co], "valid", "direct"
        )
        expected[n, ..., co] += found[crop]
    case.function(*case.arguments)
    assert np.abs(out).max() > 0
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("options", ALL, ids=str)
def test_transposed_convolutions_are_those_of_scipy(options: Options) -> None:
    signal = pytest.importorskip("scipy.signal")
    case = transposed_case(*options)
    image, kernel, out, stride, dilation, groups, *before = case.arguments
    taps = wide(kernel, dilation)
    inputs, outputs = kernel.shape[-2] // groups, kernel.shape[-1]
    expected = np.zeros_like(out)
    for n, ci, co in np.ndindex(len(image), kernel.shape[-2], outputs):
        spread = np.zeros([(s - 1) * stride + 1 for s in image.shape[1:-1]])
        spread[(slice(None, None, stride),) * spread.ndim] = image[n, ..., ci]
        full = signal.convolve(spread, taps[..., ci, co], "full", "direct")
        least = [b + s for b, s in zip(before, out.shape[1:-1], strict=True)]
        full = padded(full, [0] * full.ndim, least, 0.0)
        crop = tuple(slice(b, e) for b, e in zip(before, least, strict=True))
        expected[n, ..., ci // inputs * outputs + co] += full[crop]
    case.function(*case.arguments)
    assert np.abs(out).max() > 0
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("options", ALL, ids=str)
def test_maxima_are_those_of_the_windows(options: Options) -> None:
    case = pool_case(*options)
    image, out, width, stride, dilation, *before = case.arguments
    space = out.shape[1:-1]
    extent = dilation * (width - 1) + 1
    least = [(n - 1) * stride + extent for n in space]
    dims = len(space)
    expected = np.zeros_like(out)
    for n, c in np.ndindex(len(image), out.shape[-1]):
        channel = padded(image[n, ..., c], before, least, -np.inf)
        windows = np.lib.stride_tricks.sliding_window_view(channel, (extent,) * dims)
        crop = [slice(None, (m - 1) * stride + 1, stride) for m in space]
        taps = [slice(None, None, dilation)] * dims
        expected[n, ..., c] = windows[(*crop, *taps)].max(tuple(range(-dims, 0)))
    case.function(*case.arguments)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("make", [conv_case, transposed_case, pool_case])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(o, id=str(o), marks=[pytest.mark.slow] if o == SLOWEST else [])
        for o in GRID
    ],
)
def test_gradients_of_all_operands_are_right(make: Any, options: Options) -> None:
    case = make(*options)
    report = pyrev.check_grad(readable(case.function), *case.arguments)
    assert report.ok, str(report)


OTHERS = [case for case in tile.small_cases() if case.function.__name__[-1] != "d"]


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.function.__name__)
def test_gradients_of_the_other_operations_are_right(case: tile.Case) -> None:
    report = pyrev.check_grad(readable(case.function), *case.arguments)
    assert report.ok, str(report)


def test_the_other_operations_are_those_of_numpy() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
    product, shares = np.zeros((3, 2)), np.zeros((3, 4))
    tile.matmul(a, b, product)
    np.testing.assert_allclose(product, a @ b, rtol=1e-12)
    tile.softmax(a, shares)
    np.testing.assert_allclose(shares, np.exp(a) / np.exp(a).sum(1, keepdims=True))
    image, gain, shift = rng.normal(size=(2, 3, 4, 5)), rng.random(5), rng.random(5)
    out = np.zeros_like(image)
    tile.batch_norm(image, gain, shift, out, 1e-12)
    np.testing.assert_allclose(out.mean((0, 1, 2)), shift)
    np.testing.assert_allclose(out.std((0, 1, 2)), gain)


@pytest.mark.parametrize("options", [GRID[3], GRID[16], (2, "same", 3, 2, 2)], ids=str)
def test_the_transpose_is_the_image_gradient_of_the_convolution(
    options: Options,
) -> None:
    case = conv_case(*options)
    image, kernel, out, stride, dilation, groups, *before = case.arguments
    cotangent = np.random.default_rng(5).normal(size=out.shape)
    _, pullback = pyrev.vjp(readable(case.function), *case.arguments, wrt="image")
    found = np.zeros_like(image)
    turned = np.ascontiguousarray(np.swapaxes(kernel, -1, -2))
    transposed = tile.TRANSPOSED[image.ndim - 2]
    transposed(cotangent, turned, found, stride, dilation, groups, *before)
    np.testing.assert_allclose(found, pullback(out=cotangent).image, rtol=1e-12)


def test_the_gradient_of_the_articles_listing() -> None:
    # Its listing has these sizes, and 1/126 for the cotangent of every output.
    rng = np.random.default_rng(6)
    image, kernel = rng.normal(size=(2, 9, 9, 5)), rng.normal(size=(2, 2, 5, 7))
    each = 0.007936507936507936
    d_image, d_kernel = np.zeros_like(image), np.zeros_like(kernel)
    for j, i in np.ndindex(2, 2):
        read = np.s_[:, 2 * j : 2 * j + 7 : 3, 2 * i : 2 * i + 7 : 3]
        d_image[read] += each * kernel[j, i].sum(1)
        d_kernel[j, i] = each * image[read].sum((0, 1, 2))[:, None]
    g = pyrev.grad(readable(tile.average_output))(image, kernel)
    np.testing.assert_allclose(g.image, d_image, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(g.kernel, d_kernel, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "target", ["python", pytest.param("numba", marks=pytest.mark.slow)]
)
def test_among_equal_values_the_first_has_the_whole_gradient(target: str) -> None:
    case = tile.max_pool(np.ones((1, 4, 4, 1)), 2, stride=2)
    f = pyrev.differentiable(case.function, target=target)
    _, pullback = pyrev.vjp(f, *case.arguments)
    expected = np.zeros((4, 4))
    expected[::2, ::2] = 1
    g = pullback(out=np.ones((1, 2, 2, 1)))
    np.testing.assert_array_equal(g.image[0, :, :, 0], expected)
    np.testing.assert_array_equal(g.out, np.zeros((1, 2, 2, 1)))


def decisions(function: Any, array: str) -> set[tuple[str, bool]]:
    report = readable(function).adjoint.report()
    return {(d.kind, bool(d.proof)) for d in report.loops if d.array == array}


def test_the_image_gradient_is_a_gather_at_stride_one_and_in_the_article() -> None:
    for function, sheared in (
        (tile.correlate2d, "y + j - top"),
        (tile.article, "3 * y + 2 * j"),
    ):
        f = readable(function)
        assert decisions(function, "d_image") == {("gather", True)}
        assert decisions(function, "d_kernel") == {("gather", True)}
        (found,) = (d for d in f.adjoint.report().loops if d.array == "d_image")
        assert sheared in found.reason
        assert sheared in f.explain("python")
    # What the article's lattices say: one input in three is due to a tap.
    assert "(u - 2 * j) % 3 == 0" in readable(tile.article).adjoint.source


@pytest.mark.parametrize("dims", tile.CONVOLUTIONS)
def test_with_a_stride_known_at_the_call_images_and_kernels_share_a_nest(
    dims: int,
) -> None:
    for function in (tile.CONVOLUTIONS[dims], tile.TRANSPOSED[dims]):
        if dims == 1:
            # In parts the place of each tap would be kept in an array: in one piece the
            # text is shorter.
            assert "u_at" in readable(function).explain("python")
            assert decisions(function, "d_image") == {("serial", False)}
            continue
        # Both have the same loops: a reader gets them once. Compiled, they are apart.
        assert decisions(function, "d_image") == {("reduction", False)}
        assert decisions(function, "d_kernel") == {("reduction", False)}
    assert decisions(tile.POOLS[dims], "d_image") == {("kept", True)}


def test_sizes_of_windows() -> None:
    assert tile.window(10, 3) == (8, 0)
    assert tile.window(10, 3, stride=3, dilation=2) == (2, 0)
    assert tile.window(10, 3, padding=(2, 1)) == (11, 2)
    assert tile.window(10, 4, padding="same") == (10, 1)  # one before, two after
    assert tile.window(10, 3, stride=4, padding="same") == (3, 0)
    assert tile.transposed_window(4, 3, stride=2) == (9, 0)
    assert tile.transposed_window(4, 3, stride=2, padding=(1, 0)) == (8, 1)
    assert tile.transposed_window(4, 4, stride=2, padding="same") == (8, 1)
    for size, width, stride, dilation in itertools.product(*[range(1, 5)] * 4):
        small, before = tile.window(size, width, stride, dilation, "same")
        assert small == math.ceil(size / stride)
        large, cut = tile.transposed_window(size, width, stride, dilation, "same")
        assert tile.window(large, width, stride, dilation, "same") == (size, cut)


@pytest.mark.parametrize(
    ("size", "width", "padding", "message"),
    [
        (2, 3, "valid", "does not fit"),
        (2, 3, "full", "padding is"),
        (2, 3, (1, -1), "padding is"),
    ],
)
def test_windows_that_make_no_sense_are_refused(
    size: int, width: int, padding: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tile.window(size, width, padding=padding)


def compiled() -> dict[str, Any]:
    """Every loop function by Numba, helpers included."""
    numba = pytest.importorskip("numba")
    names: dict[str, Any] = {"math": math}
    helpers = ("gather_channels", "scatter_channels")
    for name in (*helpers, *(c.function.__name__ for c in tile.small_cases())):
        plain = getattr(tile, name)
        names[name] = numba.njit(FunctionType(plain.__code__, names, name))
    return names


def agree(case: tile.Case, target: str, by_numba: Any) -> None:
    def run(function: Any) -> list[Any]:
        arguments = [
            a.copy() if isinstance(a, np.ndarray) else a for a in case.arguments
        ]
        result = function(*arguments)
        return [a for a in arguments if isinstance(a, np.ndarray)] + (
            [] if result is None else [result]
        )

    expected = run(case.function)
    by_pyrev = pyrev.differentiable(case.function, target=target)
    for function in (by_numba, by_pyrev):
        for found, right in zip(run(function), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-15)


def slow_to_compile(case: tile.Case) -> list[Any]:
    quick = {"conv1d", "transposed2d", "max_pool1d", "matmul", "softmax", "article"}
    return [] if case.function.__name__ in quick else [pytest.mark.slow]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=c.function.__name__, marks=slow_to_compile(c))
        for c in tile.small_cases()
    ],
)
def test_the_loops_agree_in_cpython_numba_and_pyrev(case: tile.Case) -> None:
    agree(case, "python", compiled()[case.function.__name__])


@pytest.mark.slow
@pytest.mark.parametrize("options", [(2, "same", 2, 1, 2)])
def test_compiled_functions_and_gradients_agree_with_the_plain_ones(
    options: Options,
) -> None:
    for make in (conv_case, transposed_case, pool_case):
        case = make(*options)
        agree(case, "numba", compiled()[case.function.__name__])
        f = pyrev.differentiable(case.function, target="numba")
        report = pyrev.check_grad(f, *case.arguments)
        assert report.ok, str(report)


def test_what_a_result_reaches_in_the_article() -> None:
    found = tile.reach(11, 3, 3, 2, "valid")
    expected = np.zeros((3, 11), bool)
    for x, i in np.ndindex(3, 3):
        expected[x, 3 * x + 2 * i] = True
    np.testing.assert_array_equal(found, expected)


def test_the_gradient_of_the_cascade_is_that_of_its_loss() -> None:
    shown = tile.cascade(16)
    assert shown.features.shape == (6, 6, 4)
    assert shown.pooled.shape == (2, 2, 4)
    # All is homogeneous: by Euler, <gradient, photo> is twice half the sum of squares.
    assert np.sum(shown.gradient * shown.photo) == pytest.approx(
        np.sum(shown.pooled**2)
    )


@pytest.mark.slow
@pytest.mark.parametrize("right", [True, False])
def test_the_command_line_says_which_gradients_are_wrong(
    right: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = tile.small_cases()[:1]
    monkeypatch.setattr(tile, "small_cases", lambda: few)
    monkeypatch.setattr(tile, "timings", lambda: [])
    small = tile.cascade(16)
    monkeypatch.setattr(tile, "cascade", lambda: small)
    if not right:
        monkeypatch.setattr(pyrev, "check_grad", lambda *_: False)
    figure = tmp_path / "tile.png"
    status = tile.main(["--output", str(figure)])
    printed = capsys.readouterr().out
    assert status == (0 if right else 1)
    assert ("WRONG" in printed) != right
    assert "conv1d" in printed
    assert f"{int(right)} of 1 functions right" in printed
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_timings_count_the_products_of_all_taps() -> None:
    case = conv_case(1, "valid", 2, 1, 2)
    # 2 images, 3 places, 2 channels, each of 3 taps of 1 channel.
    assert tile.timed("", case, rounds=1).products == 36
