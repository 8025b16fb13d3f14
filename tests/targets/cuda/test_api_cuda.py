"""Calls with arrays of a GPU, on its stand-in: the same meaning as with NumPy's."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.driver import held_inputs
from pyrev.emit import digest
from pyrev.emit.cuda import _FORMS, _KERNEL
from pyrev.emit.helpers import HELPERS
from pyrev.runtime import device
from tests import ROOT
from tests.corpora.kernels import KERNELS, conv2d
from tests.emit.test_golden import GOLDEN
from tests.targets.cuda import needs, ondevice, standin
from tests.targets.cuda.standin import DeviceArray, to_device
from tests.targets.cuda.suite import compiled

pytestmark = needs.compiler


@pytest.fixture(autouse=True)
def cupy() -> Iterator[Any]:
    with ondevice.standing_in():
        yield sys.modules["cupy"]


def scale(x, out, k):
    for i in range(x.shape[0]):
        out[i] = k * x[i] * x[i]


def energy(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i]
    return total


def gathered(x, index, out):
    for i in range(index.shape[0]):
        out[i] = x[index[i]] * 2.0


def divided(x, n):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * (i // n)
    return total


def stopped(x, counts, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * (7 // counts[i])


def associated(a, b, c, out):
    for i in range(a.shape[0]):
        out[0, i] = a[i] * (b[i] / c[i])
        out[1, i] = a[i] + (b[i] - a[i])
        out[2, i] = a[i] + (b[i] + c[i])
        out[3, i] = a[i] * (b[i] * c[i])
        out[4, i] = a[i] - (b[i] + c[i]) - (a[i] - c[i])
        out[5, i] = a[i] / (b[i] * c[i]) * (a[i] / c[i])


X = np.arange(1.0, 6.0)


def test_auto_goes_where_the_arrays_are() -> None:
    f = pyrev.differentiable(energy)
    assert isinstance(f(X), float)
    total = f(to_device(X))
    assert isinstance(total, DeviceArray) and total.shape == () and total == energy(X)
    assert f(X) == energy(X)


@pytest.mark.parametrize("scale", [1.0, 1e200])
def test_parentheses_are_where_the_user_has_them(
    scale: float, rng: np.random.Generator
) -> None:
    a, b, c = rng.uniform(0.5, 2.0, (3, 50)) * scale
    found, expected = to_device(np.zeros((6, 50))), np.zeros((6, 50))
    f = pyrev.differentiable(associated)
    f(*map(to_device, (a, b, c)), found)
    with np.errstate(over="ignore"):
        associated(a, b, c, expected)
    np.testing.assert_array_equal(found, expected)


def test_gradients_stay_on_the_device() -> None:
    value, gradients = pyrev.value_and_grad(scale_energy)(to_device(X), 3.0)
    assert value == 3.0 * (X * X).sum()
    assert isinstance(gradients.x, DeviceArray) and isinstance(gradients.k, DeviceArray)
    np.testing.assert_array_equal(gradients.x, 6.0 * X)
    assert gradients.k.shape == () and gradients.k == (X * X).sum()


def corner(a, n, m):
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += a[i, j]
    return total


def framed(a, n, m, out):
    for i in range(n):
        for j in range(m):
            for k in range(out.shape[2]):
                for c in range(out.shape[3]):
                    out[i, j, k, c] = 2.0 * a[i, j]


def summed_rows(a, n, out):
    for i in range(n):
        for j in range(a.shape[1]):
            out[i] += a[i, j]


def counted_down(x, counts, out):
    for i in range(x.shape[0]):
        n = counts[i]
        for k in range(n):
            n -= 1
            out[i] += x[i] * (k + n)


def test_a_range_is_what_it_was_when_its_loop_was_entered() -> None:
    counts = np.array([3, 0, 5, 1, 4])
    found, expected = to_device(np.zeros(5)), np.zeros(5)
    pyrev.differentiable(counted_down)(to_device(X), to_device(counts), found)
    counted_down(X, counts, expected)
    np.testing.assert_array_equal(found, expected)


def test_loops_that_never_run_are_no_iterations_together() -> None:
    a, out = to_device(np.ones((3, 3))), to_device(np.zeros((3, 3, 2, 2)))
    sums = to_device(np.zeros(3))
    for n, m in ((-2, -3), (-1, 2), (0, -1)):
        pyrev.differentiable(summed_rows)(a, n, sums)
        assert not sums.any()
        assert pyrev.differentiable(corner)(a, n, m) == 0.0
        pyrev.differentiable(framed)(a, n, m, out)
        assert not out.any()
        assert not pyrev.grad(corner)(a, n, m).a.any()


def enlarged(coarse, fine):
    for y in range(fine.shape[0]):
        for x in range(fine.shape[1]):
            fine[y, x] = coarse[y // 4, x // 4]


def test_loops_whose_ends_are_divided_by_a_number_are_iterations_together() -> None:
    """A thread for each element of `coarse`, not for each row."""
    f = pyrev.differentiable(enlarged, target="cuda")
    rng = np.random.default_rng(4)
    for shape in ((0, 0), (0, 5), (7, 0), (9, 13), (32, 40)):
        coarse, d_fine = rng.random([-(-n // 4) for n in shape]), rng.random(shape)
        text = f.adjoint.source_for("cuda", coarse, np.zeros(shape))
        assert "thread_y()" in text
        _, back = pyrev.vjp(f, to_device(coarse), to_device(np.zeros(shape)))
        found = back(fine=to_device(d_fine)).coarse.get()
        wanted = np.zeros(coarse.shape)
        for y, x in np.ndindex(shape):
            wanted[y // 4, x // 4] += d_fine[y, x]
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def scale_energy(x, k):
    total = 0.0
    for i in range(x.shape[0]):
        total += k * x[i] * x[i]
    return total


def test_an_array_of_numpy_is_not_copied_silently() -> None:
    with pytest.raises(pyrev.ArgumentError, match=r"pass cupy.asarray\(x\)"):
        pyrev.differentiable(energy, target="cuda")(X)
    with pytest.raises(pyrev.ArgumentError, match=r"pass cupy.asarray\(out\)"):
        pyrev.differentiable(scale)(to_device(X), np.zeros(5), 2.0)
    _, pullback = pyrev.vjp(scale, to_device(X), to_device(np.zeros(5)), 2.0)
    with pytest.raises(pyrev.ArgumentError, match=r"pass cupy.asarray\(out\)"):
        pullback(out=np.ones(5))


def test_without_cupy_the_error_names_the_extra(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(device, "_types", set())  # none of them has come before
    with pytest.raises(pyrev.BackendError, match=r"pip install pyrev\[cuda\]"):
        pyrev.differentiable(energy)(to_device(X))


class Foreign:
    """An array of another library, in the memory of a GPU."""

    def __init__(self, data: Any) -> None:
        self.__cuda_array_interface__ = data.__cuda_array_interface__
        self.data = data

    def __array__(self, *args: Any, **kw: Any) -> Any:
        return np.asarray(self.data)


class Dlpack:
    def __init__(self, data: Any) -> None:
        self.data = data

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


def test_arrays_of_other_libraries_are_taken_without_a_copy(cupy: Any) -> None:
    cupy.from_dlpack = lambda one: one.data
    out = to_device(np.zeros(5))
    pyrev.differentiable(scale)(Foreign(to_device(X)), Dlpack(out), 2.0)
    np.testing.assert_array_equal(out, 2.0 * X * X)
    value, g = pyrev.value_and_grad(energy)(Foreign(to_device(X)))
    assert value == energy(X)
    np.testing.assert_array_equal(g.x, 2.0 * X)


def test_calls_of_other_sizes_and_dtypes_are_calls_of_their_own() -> None:
    def doubled(x, out):
        for i in range(out.shape[0]):
            out[i] = 2 * x[i]

    f = pyrev.differentiable(doubled)
    for n, dtype in ((5, np.float64), (50, np.float64), (5, np.float32)):
        out = to_device(np.zeros(n, dtype))
        f(to_device(np.ones(n, dtype)), out)
        np.testing.assert_array_equal(out, 2.0)
    out = to_device(np.zeros(9))
    with pytest.raises(IndexError):
        f(to_device(np.ones(5)), out)
    assert not out.any()


def test_arrays_that_are_not_contiguous() -> None:
    x = to_device(np.arange(20.0))[::2]
    out = to_device(np.zeros((10, 3)))[:, 1]
    _, pullback = pyrev.vjp(scale, x, out, 2.0)
    np.testing.assert_array_equal(out, 2.0 * np.asarray(x) ** 2)
    seed = to_device(np.ones((10, 2)))[:, 0]
    np.testing.assert_array_equal(pullback(out=seed).x, 4.0 * np.asarray(x))


def test_arguments_that_overlap_are_refused() -> None:
    a = to_device(np.arange(10.0))
    with pytest.raises(pyrev.ArgumentError, match="overlaps"):
        pyrev.differentiable(scale)(a[:5], a[3:8], 2.0)
    pyrev.differentiable(scale)(a[:5], a[5:], 2.0)


def test_cotangents_and_buffers() -> None:
    x = to_device(X)
    _, pullback = pyrev.vjp(scale, x, to_device(np.zeros(5)), 2.0)
    np.testing.assert_array_equal(pullback(out=1.0).x, 4.0 * X)
    into = {"x": to_device(np.ones(5))}
    found = pullback(out=to_device(np.ones(5)), into=into)
    assert found.x is into["x"]
    np.testing.assert_array_equal(found.x, 1.0 + 4.0 * X)
    with pytest.raises(pyrev.ArgumentError, match="overlaps"):
        pullback(out=into["x"], into=into)
    with pytest.raises(pyrev.ArgumentError, match="must be a writable array"):
        pullback(out=1.0, into={"x": np.ones(5)})
    with pytest.raises(pyrev.ArgumentError, match="shape"):
        pullback(out=to_device(np.ones(4)))


@pytest.mark.parametrize("bad", [[0, 5], [-6, 0], [1, 2**40]])
def test_an_index_outside_is_an_index_error(bad: list[int]) -> None:
    index, out = to_device(np.array(bad)), to_device(np.zeros(2))
    with pytest.raises(IndexError, match="index"):
        pyrev.differentiable(gathered)(to_device(X), index, out)
    assert not out.any()
    good = to_device(np.array([-1, 4]))
    _, pullback = pyrev.vjp(gathered, to_device(X), good, out)
    np.testing.assert_array_equal(out, [10.0, 10.0])
    np.testing.assert_array_equal(pullback(out=1.0).x, [0, 0, 0, 0, 4.0])


def around(x, index, by, out):
    for i in range(out.shape[0]):
        out[i] = x[index[i] + by[i]]


def test_a_sum_of_subscripts_goes_around_as_numpys_does() -> None:
    """A compiler may take it that signed sums never do, and drop the test behind."""
    f = pyrev.differentiable(around)
    index = to_device(np.array([2**63 - 1, 0]))
    by, out = to_device(np.array([2**63 - 1, 0])), to_device(np.zeros(2))
    standin.RawModule.texts.clear()
    f(to_device(X), index, by, out)
    np.testing.assert_array_equal(out, X[[-2, 0]])
    assert any("(unsigned long long)" in text for text in standin.RawModule.texts)
    by[0] = 1  # the sum is the least of all integers
    with pytest.raises(IndexError):
        f(to_device(X), index, by, out)


def test_what_fails_in_a_kernel_is_raised() -> None:
    counts = to_device(np.array([1, 2, 0, 1, 1]))
    with pytest.raises(ZeroDivisionError, match="test_api_cuda.py"):
        pyrev.differentiable(stopped)(to_device(X), counts, to_device(np.zeros(5)))
    with pytest.raises(ZeroDivisionError):
        pyrev.differentiable(divided)(to_device(X), 0)
    assert pyrev.differentiable(divided)(to_device(X), 2) == divided(X, 2)


def test_a_saved_module_needs_cupy_alone(tmp_path: Path, cupy: Any) -> None:
    f = pyrev.differentiable(conv2d)
    text = f.adjoint.save(tmp_path / "saved.py", target="cuda").read_text()
    assert "import pyrev" not in text
    spec = importlib.util.spec_from_file_location("saved", tmp_path / "saved.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rng = np.random.default_rng(3)
    image, kernel = rng.random((7, 8)), rng.random((3, 2))
    out, seed = np.zeros((5, 7)), rng.random((5, 7))
    given = [to_device(a) for a in (image, kernel, out, seed)]
    expected = f.adjoint(image, kernel, out, seed)
    for mine, theirs in zip(module.conv2d_adjoint(*given), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    with pytest.raises(ValueError, match="contiguous"):
        module.conv2d_adjoint(to_device(image)[:, ::-1], *given[1:])
    with pytest.raises(IndexError):
        module.conv2d_adjoint(to_device(image[:4]), *given[1:])


def curved(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] ** 3
    return total


def test_second_order_on_the_device() -> None:
    found = pyrev.hvp(curved, to_device(X), tangents={"x": to_device(np.ones(5))})
    assert isinstance(found.x, DeviceArray)
    np.testing.assert_allclose(found.x, 6 * X)
    out = to_device(np.zeros(5))
    moves = {"x": 1.0, "out": 0.0}
    index = to_device(np.arange(5))
    _, moved = pyrev.jvp(gathered, to_device(X), index, out, tangents=moves)
    np.testing.assert_array_equal(moved.out, np.full(5, 2.0))
    with pytest.raises(pyrev.ArgumentError, match="arrays of NumPy"):
        pyrev.hessian(curved, wrt="x")(to_device(X))


def test_explain_tells_how_each_nest_runs() -> None:
    report = pyrev.differentiable(gathered).explain("cuda")
    assert "target cuda" in report
    assert "atomic (two iterations may add to the same element of d_x)" in report
    assert "reduction" in pyrev.differentiable(scale_energy).explain("cuda")


def test_deterministic_means_no_atomics() -> None:
    f = pyrev.differentiable(gathered, deterministic=True)
    assert "atomic" not in f.explain("cuda")
    assert "atomic" not in f.adjoint.source_for("cuda")
    assert "atomicAdd" in pyrev.differentiable(gathered).adjoint.source_for("cuda")


def binned(values, position, image, total):
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            total[0] += values[i, j]
            k = int(position[i, j])
            if values[i, j] > 0:
                for c in range(2):
                    image[k - 5, c] += (c + 1) * values[i, j]
                    image[-k - 1, 1 - c] -= values[i, j]


def test_deterministic_scatters_sort_their_terms() -> None:
    """Guarded ones, in loops inside, subscripts from the end: as one thread adds."""
    f = pyrev.differentiable(binned, target="cuda", deterministic=True)
    rng = np.random.default_rng(5)
    values, position = rng.normal(size=(9, 4)), rng.uniform(0, 5, (9, 4))
    given = [values, position, rng.normal(size=(5, 2)), np.zeros(1)]
    mine = [to_device(a) for a in given]
    source = f.primal.source_for("cuda", *mine)
    assert "by_element" in source and "atomic" not in source
    f(*mine)
    binned(*given)
    for ours, plain in zip(mine, given, strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-13, atol=1e-13)
    again = [to_device(a) for a in (values, position, np.zeros((5, 2)), np.zeros(1))]
    _, pullback = pyrev.vjp(f, *again)
    first, second = pullback(image=1.0, total=2.0), pullback(image=1.0, total=2.0)
    np.testing.assert_array_equal(first["values"], second["values"])


def größe(Δ, λ):
    summe = 0.0
    for ι in range(Δ.shape[0]):
        summe += λ * Δ[ι]
    return summe


def test_names_may_be_of_any_alphabet() -> None:
    value, gradients = pyrev.value_and_grad(größe)(to_device(X), 3.0)
    assert value == 3.0 * X.sum()
    np.testing.assert_array_equal(gradients["Δ"], np.full(5, 3.0))
    text = pyrev.differentiable(größe).adjoint.source_for("cuda", to_device(X), 3.0)
    assert text.partition('"""')[2].partition('"""')[0].isascii()


@pytest.mark.slow
def test_the_gpu_benchmark_runs_dry(tmp_path: Path) -> None:
    script = ROOT / "benchmarks" / "gpu.py"
    out = tmp_path / "gpu.json"
    options = ["--dry-run", "--only", "upsample", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, str(script), *options], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(out.read_text())
    assert found["upsample"]["ms"] == "not measured"
    assert found["upsample"]["differences"]["pyrev"] < 1e-6
    assert found["upsample"]["differences"]["whole arrays"] < 1e-6
    assert all(bar.startswith("not measured") for bar in found["bars"].values())


def is_golden(path: Path, text: str, request: pytest.FixtureRequest) -> bool:
    """Is this the text that was reviewed? With `--update-golden` it is from now on."""
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), "make it with: pytest --update-golden"
    return text == path.read_text(encoding="utf-8")


def blocks_of_helpers() -> dict[str, tuple[str, str]]:
    """What modules have in common: by name the text, and what stands for it."""
    found = {
        f"device {n}": (text.strip("\n"), f"// helpers.cuda.txt: device {n}")
        for n, text in HELPERS.items()
    }
    host = {"kernel": _KERNEL, **_FORMS}
    return found | {
        f"host {n}": (text, f"# helpers.cuda.txt: host {n}") for n, text in host.items()
    }


@pytest.mark.parametrize("f", KERNELS, ids=lambda f: f.__name__)
def test_the_text_is_the_golden_one(f: Any, request: pytest.FixtureRequest) -> None:
    text = pyrev.differentiable(f).adjoint.source_for("cuda")
    named = 0
    for block, name in blocks_of_helpers().values():
        assert text.count(block) <= 1
        named += block in text
        text = text.replace(block, name)
    assert named >= 3
    assert is_golden(GOLDEN / f"{f.__name__}.cuda.py", text, request)


def test_the_helpers_of_all_texts_are_the_golden_ones(
    request: pytest.FixtureRequest,
) -> None:
    parts = [f"{'-' * 20} {n}\n{t}\n" for n, (t, _) in blocks_of_helpers().items()]
    assert is_golden(GOLDEN / "helpers.cuda.txt", "\n".join(parts), request)


def test_inputs_that_change_do_nothing_or_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, out = to_device(X), to_device(np.zeros(5))
    _, pullback = pyrev.vjp(scale, x, out, 2.0)
    x[1] = 7.0
    np.testing.assert_array_equal(pullback(out=1.0).x, 4.0 * X)

    monkeypatch.setattr(held_inputs, "SMALL", -1)
    for change in ("x[1]", "x[-1]"):
        x = to_device(X)
        _, pullback = pyrev.vjp(scale, x, out, 2.0)
        _, own = pyrev.vjp(scale, x, out, 2.0, copy=True)
        np.testing.assert_array_equal(pullback(out=1.0).x, 4.0 * X)
        exec(f"{change} = -{change}")
        with pytest.raises(pyrev.ArgumentError, match="`x` changed"):
            pullback(out=1.0)
        np.testing.assert_array_equal(own(out=1.0).x, 4.0 * X)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "f4", "f8"])
def test_a_digest_on_the_device_sees_every_element(dtype: str) -> None:
    base = to_device(np.zeros((3, 100), dtype))
    assert held_inputs.seal(base[:0]).tobytes() == held_inputs.seal(base[1:1]).tobytes()
    for a in (base, base[:, ::2], base.T, base[1:2, 1:]):
        before = held_inputs.seal(a).tobytes()
        for place in ((0, 0), (1, 2), (1, 99), (2, 98)):
            base[place] = 1
            changed = held_inputs.seal(a).tobytes() != before
            assert changed == bool(np.asarray(a).any()), place
            base[place] = 0
        assert held_inputs.seal(a).tobytes() == before
    a = to_device(np.arange(100).astype(dtype))
    a[[3, 50]] = 0, 1
    before = held_inputs.seal(a).tobytes()
    a[[3, 50]] = 1, 0
    assert held_inputs.seal(a).tobytes() != before


@needs.nvidia
def test_nvrtc_takes_the_digest() -> None:
    (code,) = re.findall(r'CODE = r"""(.*?)"""', digest.CUDA, re.DOTALL)
    compiled(code)
