# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
from __future__ import annotations

import copy
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.bridges import pure
from tests.bridges.functions import (
    arguments,
    blur,
    example,
    gathered,
    heat,
    huber,
    smoothed,
)

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
function = pytest.importorskip("pyrev.torch").function

NAMES = list(arguments())


def tensors(name: str, dtype: Any = None, grad: bool = True) -> tuple[Any, ...]:
    """The arguments of a function: every float is a tensor that may require grad."""
    made = []
    for value in arguments()[name][1]:
        if isinstance(value, int):
            made.append(value)
            continue
        tensor = torch.from_numpy(np.array(value))
        if tensor.is_floating_point():
            tensor = tensor.to(dtype or torch.float64).requires_grad_(grad)
        made.append(tensor)
    return tuple(made)


def interpreted(f: Any) -> Any:
    """A function that is not compiled, which takes seconds."""
    return pyrev.differentiable(f, target="python")


def plain(value: Any) -> Any:
    """A copy of an argument as the plain function takes it."""
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().numpy().copy()[()]


@pytest.mark.parametrize("name", NAMES)
def test_it_gives_what_the_plain_function_gives_and_changes_nothing(name: str) -> None:
    f, _ = arguments()[name]
    given = tensors(name)
    before = [plain(a) for a in given]
    found = function(f)(*given)
    for a, b in zip(given, before, strict=True):
        assert np.array_equal(plain(a), b)
    expected = f(*before)
    if expected is None:
        expected = before[-1]  # written by now
    several = isinstance(expected, tuple)
    pairs = zip(found, expected, strict=True) if several else [(found, expected)]
    for a, b in pairs:
        assert a.shape == np.shape(b)
        assert a.dtype == torch.float64
        np.testing.assert_allclose(a.detach().numpy(), b, rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_gradcheck_passes(name: str) -> None:
    f, _ = arguments()[name]
    assert torch.autograd.gradcheck(function(f), tensors(name))


@pytest.mark.parametrize("name", NAMES)
def test_gradgradcheck_passes(name: str) -> None:
    f, _ = arguments()[name]
    assert torch.autograd.gradgradcheck(function(interpreted(f)), tensors(name))


def test_the_second_derivative_is_compiled_too() -> None:
    assert torch.autograd.gradgradcheck(function(huber), tensors("huber"))


def test_the_third_derivative_is_that_of_the_formula() -> None:
    def quartic(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i] ** 4
        return total

    x = torch.tensor([0.5, -2.0], dtype=torch.float64, requires_grad=True)
    total = function(interpreted(quartic))(x)
    for factor in (4 * x**3, 12 * x**2, 24 * x):
        (found,) = torch.autograd.grad(total, x, create_graph=True)
        torch.testing.assert_close(found, factor)
        total = found.sum()


@pytest.mark.parametrize("name", NAMES)
def test_float32_in_float32_out(name: str) -> None:
    f = interpreted(arguments()[name][0])
    given = tensors(name, torch.float32)
    found = function(f)(*given)
    for tensor in found if isinstance(found, tuple) else (found,):
        assert tensor.dtype == torch.float32
    first = found[0] if isinstance(found, tuple) else found
    first.sum().backward()
    exact = tensors(name)
    expected = function(f)(*exact)
    (expected[0] if isinstance(expected, tuple) else expected).sum().backward()
    for a, b in zip(given, exact, strict=True):
        if isinstance(a, torch.Tensor) and a.requires_grad:
            assert a.grad.dtype == torch.float32 and a.grad.shape == a.shape
            torch.testing.assert_close(a.grad.double(), b.grad, rtol=1e-4, atol=1e-5)


# ------------------------------------------------------------------- outputs


def test_outputs_are_chosen_by_name() -> None:
    given = tensors("smoothed")
    total, out = function(interpreted(smoothed))(*given)
    assert torch.equal(function(interpreted(smoothed), outputs="out")(*given), out)
    (alone,) = function(interpreted(smoothed), outputs=("out",))(*given)
    assert torch.equal(alone, out)
    last, (first, second) = function(interpreted(smoothed), outputs=("out", "return"))(
        *given
    )
    assert torch.equal(last, out) and torch.equal(second, out)
    assert torch.equal(first, total)


def test_an_output_handed_over_twice_has_the_gradient_of_both() -> None:
    given = tensors("smoothed")
    out, (total, again) = function(interpreted(smoothed), outputs=("out", "return"))(
        *given
    )
    both = torch.autograd.grad(out.sum() + 2 * again.sum(), given[0])
    one = torch.autograd.grad(
        function(interpreted(smoothed))(*given)[1].sum() * 3, given[0]
    )
    torch.testing.assert_close(both, one)
    out.detach().zero_()
    assert again.abs().sum() > 0  # memory of its own


def test_a_returned_argument_is_a_copy() -> None:
    def same(x):
        return x

    x = torch.ones(3, requires_grad=True)
    found = function(same)(x)
    found.detach().zero_()
    assert torch.equal(x.detach(), torch.ones(3))


def test_a_reversed_view_that_is_returned_is_a_tensor() -> None:
    def reversed_part(x):
        return x[::-1]

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    found = function(reversed_part)(x)
    assert found.tolist() == [3.0, 2.0, 1.0]
    (g,) = torch.autograd.grad(found, x, torch.tensor([1.0, 10.0, 100.0]))
    assert g.tolist() == [100.0, 10.0, 1.0]


def test_several_written_arrays_come_in_the_order_of_the_parameters() -> None:
    def split(x, low, high, count):
        for i in range(x.shape[0]):
            low[i] = min(x[i], 0.0)
            high[i] = max(x[i], 0.0)
            count[0] += 1

    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    zeros, count = torch.zeros(2), torch.zeros(1, dtype=torch.int64)
    low, high, count = function(split)(x, zeros, zeros, count)  # one tensor, twice
    assert (low.tolist(), high.tolist()) == ([-1.0, 0.0], [0.0, 2.0])
    assert count.tolist() == [2] and not count.requires_grad
    assert torch.equal(zeros, torch.zeros(2))
    assert torch.autograd.grad(high.sum(), x)[0].tolist() == [0.0, 1.0]


# ------------------------------------------------------------------- autograd


def test_only_what_is_asked_for_is_differentiated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    original = pure.pulled

    def noted(call, wrt, hold):
        asked.append(wrt)
        return original(call, wrt, hold)

    monkeypatch.setattr(pure, "pulled", noted)
    image, kernel, out = tensors("blur", grad=False)
    f = function(interpreted(blur))
    f(image, kernel, out)
    assert asked == []
    f(image, kernel.requires_grad_(), out).sum().backward()
    assert asked == [("kernel",)]
    image.requires_grad_()
    with torch.no_grad():
        f(image, kernel, out)
    with torch.inference_mode():
        f(image, kernel, out)
    assert asked == [("kernel",)]
    found = function(interpreted(blur), wrt="image")(image, kernel, out)
    assert asked == [("kernel",), ("image",)]
    assert torch.autograd.grad(found.sum(), kernel, allow_unused=True) == (None,)


def test_a_module_learns() -> None:
    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kernel = torch.nn.Parameter(torch.zeros(2, 3))
            self.blur = function(interpreted(blur))

        def forward(self, image):
            return self.blur(image, self.kernel, torch.zeros(4, 4))

    torch.manual_seed(0)
    image, kernel = torch.rand(5, 6), torch.rand(2, 3)
    seen = function(interpreted(blur))(image, kernel, torch.zeros(4, 4))
    layer = copy.deepcopy(Layer())
    optimizer = torch.optim.LBFGS(layer.parameters(), max_iter=100)

    def closure():
        optimizer.zero_grad()
        loss = (layer(image) - seen).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    torch.testing.assert_close(layer.kernel.detach(), kernel, atol=1e-2, rtol=0)


def test_several_calls_in_one_graph() -> None:
    f = function(interpreted(heat))
    start, c, _ = tensors("heat")
    first = f(start, c, 2)
    (f(start * first, c, 3) + first).backward()
    values = start.grad.clone(), c.grad.clone()

    def by_hand(start, c):
        u, first = start, None
        for steps in (2, 3):
            u = (start if first is None else start * first).clone()
            for _ in range(steps):
                for i in range(1, len(u) - 1):
                    part = u[i] + c * (u[i - 1] - 2 * u[i] + u[i + 1]) * u[i]
                    u = torch.cat((u[:i], part[None], u[i + 1 :]))
            first = (u**2).sum() if first is None else first + (u**2).sum()
        return first

    torch.testing.assert_close(
        values, torch.autograd.grad(by_hand(start, c), (start, c))
    )


def test_a_graph_that_is_retained_gives_the_same_bits_again() -> None:
    start, c, steps = tensors("heat")
    total = function(heat)(start, c, steps)
    first = torch.autograd.grad(total, (start, c), retain_graph=True)
    second = torch.autograd.grad(total, (start, c))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    with pytest.raises(RuntimeError, match="second time"):
        total.backward()


def test_what_was_recorded_is_freed_by_backward(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []
    original = pure.pulled

    def noted(*args, **kw):
        result, pullback = original(*args, **kw)
        made.append(weakref.ref(pullback))
        return result, pullback

    monkeypatch.setattr(pure, "pulled", noted)
    start, c, steps = tensors("heat")
    total = function(heat)(start, c, steps)
    total.backward(retain_graph=True)
    assert len(made) == 1 and made[0]() is not None
    total.backward()
    assert len(made) == 1 and made[0]() is None


def test_saved_tensors_may_be_kept_elsewhere() -> None:
    start, c, steps = tensors("heat")
    f = function(interpreted(heat))
    expected = torch.autograd.grad(f(start, c, steps), (start, c))
    with torch.autograd.graph.save_on_cpu():
        total = f(start, c, steps)
    torch.testing.assert_close(torch.autograd.grad(total, (start, c)), expected)

    def part(start, c):
        return f(start, c, steps)

    total = torch.utils.checkpoint.checkpoint(part, start, c, use_reentrant=False)
    torch.testing.assert_close(torch.autograd.grad(total, (start, c)), expected)


def test_changing_in_place_what_the_derivative_needs_is_an_error() -> None:
    image, kernel, out = tensors("blur", grad=False)
    kernel.requires_grad_()
    found = function(interpreted(blur))(image, kernel, out)
    out.add_(1.0)  # its values are of no interest
    found.add_(1.0)
    found.sum().backward(retain_graph=True)
    image.add_(1.0)
    with pytest.raises(RuntimeError, match="inplace"):
        found.sum().backward()


def cubes(x, k):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += k[i] * x[i] ** 3
    return total


def _by_data(t: Any) -> None:
    t.data[1] = 9.0


def _by_numpy(t: Any) -> None:
    t.detach().numpy()[1] = 9.0


@pytest.mark.parametrize("size", [5, 2000])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("change", [_by_data, _by_numpy])
def test_a_change_that_pytorch_does_not_count_is_an_error(
    change: Any, which: int, size: int
) -> None:
    f = function(interpreted(cubes))

    def inputs() -> Any:
        return torch.ones(size).double().requires_grad_(), torch.ones(size).double()

    given = inputs()
    total = f(*given)
    change(given[which])
    with pytest.raises(pyrev.ArgumentError, match="changed since cubes"):
        total.backward()

    given = inputs()
    total = f(*given)
    (slope,) = torch.autograd.grad(total, given[0], create_graph=True)
    change(given[which])
    with pytest.raises(pyrev.ArgumentError, match="changed since cubes"):
        torch.autograd.grad(slope.sum(), given[0])


SCALE = np.ones(3)


def scaled(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[0]):
        total += SCALE[i % 3] * x[i] ** 2
    return total


def test_a_captured_array_that_changes_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = np.ones(3)
    monkeypatch.setattr(f"{__name__}.SCALE", own)
    x = torch.ones(6).double().requires_grad_()
    total = function(interpreted(scaled))(x)
    own[1] = 5.0
    with pytest.raises(pyrev.ArgumentError, match="`SCALE` changed"):
        total.backward()


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t[:1].expand(8),
        lambda t: t[1::2],
        lambda t: t.reshape(4, 4).T[1:3].reshape(8),
        lambda t: torch.stack([t, t]).T[:8, 0],
        lambda t: torch.complex(t, t).conj().imag[:8],
    ],
)
def test_any_strides_will_do(view: Any) -> None:
    base = torch.arange(16.0, dtype=torch.float64).requires_grad_()
    f = function(interpreted(huber))
    found = f(view(base), 3.0)
    expected = f(view(base).detach().clone(), 3.0)
    assert found == expected
    (g,) = torch.autograd.grad(found, base)
    clone = base.detach().clone().requires_grad_()
    reference = torch.nn.functional.huber_loss(
        view(clone), torch.zeros(8, dtype=clone.dtype), delta=3.0, reduction="sum"
    )
    torch.testing.assert_close(g, torch.autograd.grad(reference, clone)[0])


def test_a_written_array_may_be_expanded() -> None:
    image, kernel, out = tensors("blur", grad=False)
    zero = torch.zeros(1, 1, dtype=torch.float64)
    found = function(interpreted(blur))(image, kernel, zero.expand(4, 4))
    assert torch.equal(
        found, function(interpreted(blur))(image, kernel, torch.zeros_like(out))
    )
    assert zero == 0


def test_numbers_are_taken_as_they_are() -> None:
    start, c, steps = tensors("heat", grad=False)
    f = function(heat)
    expected = f(start, c, steps)
    for other in (c.item(), np.float64(c.item())):
        assert f(start, other, np.int32(steps)) == expected
    assert f(start, c, torch.tensor(steps)) == expected
    assert f(start, steps=steps, c=c) == expected


def test_captured_arrays_take_part_in_second_derivatives() -> None:
    weights = np.array([1.0, 2.0, 4.0])

    def weighted(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += weights[i] * x[i] ** 3
        return total

    f = function(interpreted(weighted))
    x = torch.tensor([1.0, -1.0, 0.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(f, x)


def test_a_result_that_was_not_handed_over_has_no_part_in_second_derivatives() -> None:
    def both(x, out):
        made = np.zeros(x.shape[0])
        for i in range(x.shape[0]):
            out[i] = x[i] ** 3
            made[i] = x[i] ** 2
        return made

    x = torch.tensor([1.0, -0.5], dtype=torch.float64, requires_grad=True)
    out = torch.zeros(2, dtype=torch.float64)
    for outputs in (None, "out"):
        f = function(interpreted(both), outputs=outputs)
        assert torch.autograd.gradgradcheck(lambda x, f=f: f(x, out), x)


def test_a_memory_budget_holds_for_the_first_derivative() -> None:
    start = torch.rand(
        50, dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )
    start.requires_grad_()
    bounded = pyrev.differentiable(heat, target="python", memory="20kB")
    found = torch.autograd.grad(function(bounded)(start, 0.1, 60), start)
    expected = torch.autograd.grad(function(interpreted(heat))(start, 0.1, 60), start)
    assert torch.equal(found[0], expected[0])
    few = start.detach()[:5].clone().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda u: function(bounded)(u, 0.1, 3), few)


def test_the_transforms_of_torch_func() -> None:
    image, kernel, out = tensors("blur", grad=False)
    f = function(interpreted(blur))

    def loss(kernel):
        return f(image, kernel, out).square().sum()

    leaf = kernel.clone().requires_grad_()
    expected = torch.autograd.grad(loss(leaf), leaf)[0]
    torch.testing.assert_close(torch.func.grad(loss)(kernel), expected)
    several = torch.stack([kernel, 2 * kernel])
    batch = torch.func.vmap(torch.func.grad(loss))(several)
    torch.testing.assert_close(batch[0], expected)
    assert torch.func.vmap(loss)(several)[1] == loss(2 * kernel)
    jacobian = torch.func.jacrev(lambda k: f(image, k, out))(kernel)
    assert jacobian.shape == (4, 4, 2, 3)
    torch.testing.assert_close(jacobian[1, 2], image[1:3, 2:5])
    hessian = torch.func.jacrev(torch.func.grad(loss))(kernel)
    torch.testing.assert_close(
        hessian.reshape(6, 6),
        2 * torch.einsum("yxk,yxl->kl", *2 * [jacobian.flatten(2)]),
    )
    with pytest.raises(pyrev.ArgumentError, match="no element"):
        torch.func.vmap(loss)(several[:0])


@pytest.mark.filterwarnings("default")  # of what the compiler imports
def test_a_call_breaks_the_graph_of_torch_compile() -> None:
    image, kernel, out = tensors("blur")
    f = function(interpreted(blur))

    def loss(kernel):
        return f(image * 2, kernel, out).square().sum()

    compiled = torch.compile(loss, backend="eager")
    expected = torch.autograd.grad(loss(kernel), kernel)
    torch.testing.assert_close(torch.autograd.grad(compiled(kernel), kernel), expected)


# ------------------------------------------------------------------- refusals


def test_arguments_that_do_not_fit_are_refused() -> None:
    image, kernel, out = tensors("blur", grad=False)
    f = function(blur)
    for args, match in (
        ((image.numpy(), kernel, out), "torch.from_numpy"),
        ((image.half(), kernel, out), "float16"),
        ((image.bfloat16(), kernel, out), "bfloat16"),
        ((image.cfloat(), kernel, out), "complex64"),
        ((image.to_sparse(), kernel, out), "to_dense"),
        ((image, kernel.to("meta"), out), "`image` is on cpu and `kernel` on meta"),
        (
            (image.to("meta"), kernel.to("meta"), out.to("meta")),
            "runs on cpu and cuda",
        ),
        ((image[0], kernel, out), "subscripts"),
        ((image, kernel, out.long()), "writes floats"),
        ((image, kernel), "missing"),
        ((image, kernel, [1.0]), "list"),
    ):
        with pytest.raises(pyrev.ArgumentError, match=match):
            f(*args)


def test_options_that_do_not_fit_are_refused() -> None:
    def nothing(x):
        y = x[0] + 1.0  # noqa: F841

    given = tensors("blur")
    with pytest.raises(pyrev.ArgumentError, match="no parameter 'result'"):
        function(blur, outputs="result")
    with pytest.raises(pyrev.ArgumentError, match="at least one"):
        function(blur, outputs=())
    with pytest.raises(pyrev.ArgumentError, match="does not write `kernel`"):
        function(blur, outputs="kernel")(*given)
    with pytest.raises(pyrev.ArgumentError, match="returns nothing"):
        function(blur, outputs="return")(*given)
    with pytest.raises(pyrev.ArgumentError, match="no result"):
        function(nothing)(torch.ones(2))
    with pytest.raises(pyrev.ArgumentError, match="only float parameters"):
        function(gathered, wrt="index")(*tensors("gathered"))
    with pytest.raises(pyrev.UnsupportedError):
        function(lambda x: {x})


def test_an_index_outside_raises_index_error() -> None:
    values, index = tensors("gathered")
    with pytest.raises(IndexError):
        function(gathered)(values, index + 1)


@pytest.mark.filterwarnings("default")  # of what PyTorch imports
def test_forward_mode_is_refused() -> None:
    values, index = tensors("gathered", grad=False)
    with pytest.raises(NotImplementedError, match="jvp"):
        torch.func.jvp(lambda v: function(gathered)(v, index), (values,), (values,))


def test_pyrev_itself_does_not_import_torch() -> None:
    program = "import sys, pyrev; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    names = example("PyTorch", tmp_path)
    assert names["layer"].kernel.grad.abs().sum() > 0


# ---------------------------------------------------------------------- GPU


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", NAMES)
def test_on_a_gpu_it_gives_what_the_cpu_gives(name: str) -> None:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    f = function(arguments()[name][0])
    here = tensors(name)
    there = [
        a.detach().cuda().requires_grad_(a.requires_grad)
        if isinstance(a, torch.Tensor)
        else a
        for a in here
    ]
    with torch.cuda.stream(torch.cuda.Stream()):
        found = f(*there)
        first = found[0] if isinstance(found, tuple) else found
        first.square().sum().backward()
        torch.cuda.current_stream().synchronize()
    expected = f(*here)
    wanted = expected[0] if isinstance(expected, tuple) else expected
    wanted.square().sum().backward()
    torch.testing.assert_close(first.cpu(), wanted)
    for a, b in zip(there, here, strict=True):
        if isinstance(a, torch.Tensor) and a.requires_grad:
            assert a.grad.device == a.device
            torch.testing.assert_close(a.grad.cpu(), b.grad)
