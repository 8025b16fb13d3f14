from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.adjoint.rules import RULES, Rule
from pyrev.api import differentiable
from pyrev.driver import derive
from pyrev.driver.targets import python
from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Const,
    Load,
    Program,
    Stmt,
    blocks,
    with_blocks,
)
from pyrev.ir.primitives import REALS
from pyrev.parse import parse_expr
from pyrev.testing.differences import complex_step
from pyrev.testing.judge import judge
from pyrev.testing.outcome import draw_cotangents, run

HERE = Path(__file__).read_text().splitlines()


def check(f: Callable[..., Any], *args: Any, **kw: Any) -> pyrev.GradientReport:
    """A report on a function that is derived anew, so that planted faults count."""
    return pyrev.check_grad(pyrev.differentiable(f, target="python"), *args, **kw)


def rule(**partials: str) -> Rule:
    """A rule with these partials, in the order of the arguments: right ones or not."""
    parsed = tuple(map(parse_expr, partials.values()))
    return Rule(tuple(partials), parsed, REALS, singular=False)


def verdicts(report: pyrev.GradientReport) -> dict[str, str]:
    return {c.where: c.verdict for c in report.entries if c.index is not None}


def line_of(text: str) -> str:
    """How a report names the line of this file that holds `text`."""
    (number,) = [k for k, line in enumerate(HERE, 1) if line.strip() == text]
    return f"test_check_grad.py:{number}: {text}"


# ------------------------------------------------------- one number, both its sides

CASES: dict[str, tuple[Callable[[float], float], float, str]] = {
    "smooth": (lambda t: math.sin(t), 1.0, "right"),
    "smooth, wrong": (lambda t: math.sin(t), 1.001, "wrong"),
    "smooth, not a number": (lambda t: math.sin(t), math.nan, "wrong"),
    "smooth, infinite": (lambda t: math.sin(t), math.inf, "wrong"),
    "a kink, the left slope": (lambda t: max(t, 3 * t), 1.0, "kink"),
    "a kink, the right slope": (lambda t: max(t, 3 * t), 3.0, "kink"),
    "a kink, between": (lambda t: max(t, 3 * t), 1.5, "kink"),
    "a kink, outside": (lambda t: max(t, 3 * t), 3.1, "wrong"),
    "a kink, the mean": (lambda t: abs(t), 0.0, "right"),
    "a kink close by": (lambda t: max(t - 1e-5, 3 * t - 3e-5), 1.0, "right"),
    "a kink close by, its other slope": (
        lambda t: max(t - 1e-5, 3 * t - 3e-5),
        3.0,
        "wrong",
    ),
    "a jump to the right": (lambda t: 2 * t + (t > 0), 2.0, "jump"),
    "a jump to the right, its slope": (
        lambda t: 5 * t + 1 if t > 0 else t,
        5.0,
        "wrong",
    ),
    "a jump to the left": (lambda t: 2 * t + (t >= 0), 2.0, "jump"),
    "a jump, wrong": (lambda t: 2 * t + (t > 0), 3.0, "wrong"),
    "a point of its own": (lambda t: 7.0 if t == 0 else 2 * t, 2.0, "right"),
    "a jump close by": (lambda t: math.exp(t) + (t > 2e-4), 1.0, "right"),
    "a jump close by, wrong": (lambda t: math.exp(t) + (t > 2e-4), 1.1, "wrong"),
    "a root": (lambda t: math.copysign(math.sqrt(abs(t)), t), math.inf, "pole"),
    "a root, a number": (lambda t: math.copysign(math.sqrt(abs(t)), t), 3.0, "rough"),
    "the end of the domain": (
        lambda t: t**1.5 + t if t >= 0 else math.nan,
        1.0,
        "right",
    ),
    "not finite": (lambda t: math.nan, 1.0, "rough"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_derivative_is_judged_by_both_its_sides(name: str) -> None:
    at, got, expected = CASES[name]
    found = judge(at, got, size=1.0, scale=1.0, tolerance=1e-6)
    assert found.verdict == expected, found


# ------------------------------------------------------- kinks and jumps of functions


def ramps(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += (i + 1) * max(x[i], 0.0)
    return total


def difference_of_ramps(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += max(x[i], 0.0) - max(0.0, x[i])
    return total


def distances(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += abs(x[i])
    return total


def stairs(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * math.floor(x[i])
    return total


def halvings(x: Any) -> Any:
    while x > 1.0:
        x = x * 0.5
    return x


def roots(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += math.sqrt(x[i])
    return total


def test_a_kink_is_no_error_and_is_named_with_its_line() -> None:
    report = check(ramps, np.array([0.5, 0.0, -0.5]))
    assert report and report.verdict == "right"
    assert verdicts(report) == {"x[0]": "right", "x[1]": "kink", "x[2]": "right"}
    assert "`max(x[i], 0.0)` changes" in str(report)
    number = line_of("total += (i + 1) * max(x[i], 0.0)").split(":")[1]
    assert f"test_check_grad.py:{number}: `max" in str(report)


def test_sides_chosen_at_several_ties_need_not_make_a_slope() -> None:
    report = check(difference_of_ramps, np.array([0.5, 0.0, -0.5]))
    assert report and verdicts(report)["x[1]"] == "kink"
    assert "gradients close by are right" in str(report)


def test_a_value_that_is_no_slope_of_its_kink_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(RULES, "abs", rule(x="5.0 if x == 0 else sign(x)"))
    report = check(distances, np.array([0.5, 0.0, -0.5]))
    assert not report and report.worst is not None and report.worst.where == "x[1]"
    assert verdicts(report) == {"x[0]": "right", "x[1]": "wrong", "x[2]": "right"}


def test_a_wrong_gradient_does_not_hide_behind_kinks_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(RULES, "max", rule(a="2.0 if a > b else 0.0", b="b > a"))
    report = check(ramps, np.zeros(100))
    assert not report
    assert "gradients close by are wrong" in str(report.worst)


def test_a_jump_is_no_error_and_is_named_with_its_line() -> None:
    report = check(stairs, np.array([0.5, 2.0]))
    assert report and verdicts(report) == {"x[0]": "right", "x[1]": "jump"}
    assert "`np.floor(x[i])` changes" in str(report)


def test_a_trip_count_that_changes_is_a_jump() -> None:
    report = check(halvings, 4.0)
    assert report and {c.verdict for c in report.entries} == {"jump"}
    assert "`x > 1.0` changes" in str(report)
    assert {c.verdict for c in check(halvings, 4.1).entries} == {"right"}


def test_an_infinite_gradient_is_right_where_the_slope_is_infinite() -> None:
    with np.errstate(divide="ignore"):
        report = check(roots, np.array([0.5, 0.0]))
    assert report and verdicts(report) == {"x[0]": "right", "x[1]": "pole"}


def test_what_is_not_finite_is_undecided_and_not_right() -> None:
    report = check(distances, np.array([0.5, math.nan]))
    assert not report and report.verdict != "right"


# ------------------------------------------------------- what differences can tell


def cubes(x: Any, k: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += k * x[i] * x[i] * x[i]
    return total


def pairs(x: Any, k: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += k * x[i] * x[i + 1]
    return total


def decay(x: Any, k: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += math.exp(-x[i] / (k * 300.0))
    return total


def clamped(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] if x[i] < 3.0 else 0.0
    return total


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e9])
def test_the_scale_of_outputs_does_not_matter(
    unit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(pairs, np.array([0.5, 1.5, 0.9]), unit)
    monkeypatch.setitem(RULES, "*", rule(a="b * 1.00001", b="a"))
    assert not check(pairs, np.array([0.5, 1.5, 0.9]), unit)


def test_the_scale_of_inputs_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    x, k = np.array([1e-21, 3e-21]), 1.38e-23
    assert check(decay, x, k)
    monkeypatch.setitem(RULES, "exp", rule(x="y * 1.00001"))
    assert not check(decay, x, k)


def test_complex_steps_sharpen_the_differences_of_an_analytic_function() -> None:
    assert check(cubes, np.array([0.5, 1.5]), 2.0).uncertainty < 2e-12


def test_complex_steps_are_left_out_where_the_function_does_not_take_them() -> None:
    arguments = {"x": np.array([0.5, 1.5]), "k": 2.0}
    weights = draw_cotangents(run(decay, arguments, ()), np.random.default_rng(0))
    assert complex_step(decay, arguments, (), weights, {"k": 1.0}) is None
    with np.errstate(all="ignore"):
        assert check(decay, **arguments)


def test_a_complex_step_is_not_believed_where_differences_disagree() -> None:
    # Complex numbers pass through `abs`, which forgets their imaginary part.
    arguments = {"x": np.array([0.5, -1.5])}
    weights = draw_cotangents(run(distances, arguments, ()), np.random.default_rng(0))
    direction = {"x": np.ones(2)}
    assert complex_step(distances, arguments, (), weights, direction) == 0.0
    assert check(distances, **arguments)


def test_the_report_tells_the_true_difference_and_the_estimate() -> None:
    report = check(decay, np.array([0.5, 1.5]), 0.01)
    assert 0.0 < report.max_difference < 1e-9 and 0.0 < report.uncertainty < 1e-6
    assert f"largest difference {report.max_difference:.1e}" in report.summary
    assert f"good to {report.uncertainty:.1e}" in str(report)


# ------------------------------------------------------- what is checked, what is said


def masked(x: Any, mask: Any, n: Any, scale: Any, out: Any, count: Any) -> Any:
    used = 0
    for i in range(n):
        if mask[i]:
            out[i] = x[i] * scale
            count[i] += 1
            used += 1
    return used


def test_integers_and_truth_values_are_skipped_with_a_word() -> None:
    report = check(
        masked,
        np.array([0.5, 1.5, 2.5]),
        np.array([True, False, True]),
        2,
        3.0,
        np.zeros(3),
        np.zeros(3, np.int64),
    )
    assert report
    assert report.skipped == ("`mask` (truth values)", "`n` (an integer)") + (
        "`count` (integers)",
    )
    assert "no derivative is asked for: `mask` (truth values), `n`" in str(report)


def test_equal_calls_give_equal_reports() -> None:
    x = np.linspace(-1.0, 1.0, 9)
    one, two = check(ramps, x), check(ramps, x)
    assert one.to_dict() == two.to_dict() and str(one) == str(two)
    assert json.loads(json.dumps(one.to_dict()))["verdict"] == "right"


def test_entries_of_a_large_array_are_sampled_and_directions_always_tried() -> None:
    report = check(distances, np.linspace(0.1, 1.0, 500))
    assert [c.index for c in report.entries[:2]] == [None, None]
    assert len(report.entries) == 2 + 64
    assert all(c.index is not None for c in report.entries[2:])


def with_tolerance(x: Any, tolerance: Any) -> Any:
    return x * x * tolerance


def test_the_tolerance_can_be_chosen_unless_the_function_has_one_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert check(with_tolerance, 2.0, tolerance=3.0).tolerance == 1e-6
    monkeypatch.setitem(RULES, "exp", rule(x="y * 1.001"))
    assert not check(decay, np.array([0.5]), 0.1)
    assert check(decay, np.array([0.5]), 0.1, tolerance=0.1).tolerance == 0.1


def test_nothing_is_printed_where_nobody_looks(capsys: Any) -> None:
    check(ramps, np.linspace(0.1, 1.0, 9))
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err == ""


def test_a_long_check_counts_on_a_terminal(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyrev.testing.checker.LONG", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    check(ramps, np.linspace(0.1, 1.0, 9))
    assert "checking derivatives: 11/11" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_line_prints_the_report(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def f(x):\n    return x * abs(x)\n")
    done = subprocess.run(
        [sys.executable, "-m", "pyrev", "check", f"{tmp_path / 'mine.py'}:f"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "gradient of f: right" in done.stdout and done.stderr == ""


# ------------------------------------------------------- the line at fault


def chain(x: Any, w: Any, out: Any) -> Any:
    s = 0.0
    for _ in range(3):
        for i in range(1, x.shape[0]):
            a = x[i] * w[i - 1]
            b = math.tanh(a)
            c = b * b + math.sin(a)
            out[i] = out[i] + c * out[i - 1]
            s += c
    return s * math.exp(-s)


def settle(x: Any, k: Any) -> Any:
    n = 0
    while n < 50 and x > 0.1:
        x = x - 0.25 * math.atan(k * x)
        n += 1
    return math.log(1.0 + x)


def overwrite(x: Any, out: Any) -> None:
    for i in range(x.shape[0]):
        held = x[i] * 2.0
        out[i] = held * held
        out[i] = out[i] + math.cosh(held)


def with_itself(x: Any) -> Any:
    return x * x


def X() -> np.ndarray[Any, Any]:
    return np.linspace(0.3, 0.9, 5)


WRONG_RULES: dict[str, tuple[Any, tuple[Any, ...], str, Any, str]] = {
    "tanh": (chain, (X(), X() + 0.1, X()), "tanh", rule(x="1 - y"), "b = math.tanh(a)"),
    "sin": (
        chain,
        (X(), X() + 0.1, X()),
        "sin",
        rule(x="-cos(x)"),
        "c = b * b + math.sin(a)",
    ),
    "exp": (
        chain,
        (X(), X() + 0.1, X()),
        "exp",
        rule(x="y + 1"),
        "return s * math.exp(-s)",
    ),
    "in a while": (
        settle,
        (2.0, 0.7),
        "atan",
        rule(x="1 / (1 + x)"),
        "x = x - 0.25 * math.atan(k * x)",
    ),
    "after a while": (
        settle,
        (2.0, 0.7),
        "log",
        rule(x="2 / x"),
        "return math.log(1.0 + x)",
    ),
    "in an overwrite": (
        overwrite,
        (X(), X()),
        "cosh",
        rule(x="-sinh(x)"),
        "out[i] = out[i] + math.cosh(held)",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG_RULES)
def test_the_line_with_a_wrong_rule_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, arguments, op, planted, line = WRONG_RULES[name]
    assert check(f, *arguments).line == ""
    monkeypatch.setitem(RULES, op, planted)
    report = check(f, *arguments)
    assert not report
    assert report.line.endswith(line_of(line)), report
    assert report.line in str(report) and "the tangent is wrong alike" in str(report)


def test_a_wrong_tangent_is_told_from_a_wrong_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The adjoint of a product with itself is that of a power.
    monkeypatch.setattr("pyrev.adjoint.tangent.repeated", lambda value, types: {})
    monkeypatch.setitem(RULES, "*", rule(a="2 * b", b="a"))
    report = check(with_itself, 1.5)
    assert not report and report.max_error <= report.tolerance and report.line == ""
    assert "the gradient keeps to the differences, the tangent not" in str(report)


def test_a_wrong_gradient_is_told_from_a_right_tangent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def valid(x, y):
        s = 0.0
        for i in range(x.shape[0]):
            d = (x[i] - y[i]) ** 2
            if y[i] > 0.0:
                s += d
            if y[i] < 0.0:
                s += 2.0 * d
        return s

    arguments = np.array([1.0, 2.0]), np.array([0.5, np.nan])
    assert check(valid, *arguments)
    monkeypatch.setattr("pyrev.adjoint.reverse.discarded", lambda *_: frozenset())
    report = check(valid, *arguments)
    assert not report and report.line.endswith("d = (x[i] - y[i]) ** 2")
    assert "the tangent keeps to the differences, the gradient not" in str(report)


def edited(block: Block, edit: Callable[[Stmt], Stmt | None]) -> Block:
    """A block with some statements changed or, for None, left out."""
    out: list[Stmt] = []
    for stmt in block:
        if (new := edit(stmt)) is not None:
            inner = tuple(edited(b, edit) for b in blocks(new))
            out.append(with_blocks(new, inner) if inner else new)
    return tuple(out)


def plant(
    monkeypatch: pytest.MonkeyPatch, where: str, edit: Callable[[Stmt], Stmt | None]
) -> None:
    """Change the adjoint that a step of the pipeline makes."""
    true = getattr(derive, where)

    def planted(*args: Any, **kw: Any) -> Any:
        made = true(*args, **kw)
        if where == "store":
            program, stored = made
            return replace(program, body=edited(program.body, edit)), stored
        program = made.program
        return replace(made, program=replace(program, body=edited(program.body, edit)))

    monkeypatch.setattr(derive, where, planted)


def at(stmt: Stmt, text: str) -> bool:
    """Does a statement come from the line of this file that holds `text`?"""
    return f"test_check_grad.py:{stmt.loc.line}: {text}" == line_of(text)


def test_a_dropped_increment_is_found_at_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = "out[i] = out[i] + c * out[i - 1]"

    def drop(stmt: Stmt) -> Stmt | None:
        wanted = isinstance(stmt, Add) and at(stmt, line)
        return None if wanted and stmt.target_name == "d_c" else stmt  # type: ignore[union-attr]

    plant(monkeypatch, "reverse", drop)
    report = check(chain, X(), X() + 0.1, X())
    assert not report and report.line.endswith(line_of(line)), report


def test_a_dropped_zeroing_is_found_at_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = "out[i] = held * held"

    def drop(stmt: Stmt) -> Stmt | None:
        zeroing = isinstance(stmt, Assign) and stmt.value == Const(0.0)
        return None if zeroing and at(stmt, line) else stmt

    plant(monkeypatch, "reverse", drop)
    report = check(overwrite, X(), X())
    assert not report and report.line.endswith(line_of(line)), report
    assert report.dot_product_error is not None
    assert report.dot_product_error > report.tolerance


def test_a_wrong_record_is_found_at_the_line_that_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spoil(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Assign) and stmt.target_name.endswith("_tape"):
            return replace(stmt, value=Const(0.5))
        return stmt

    plant(monkeypatch, "store", spoil)
    report = check(settle, 2.0, 0.7)
    assert not report
    assert report.line.endswith(line_of("x = x - 0.25 * math.atan(k * x)")), report


def test_a_wrong_schedule_is_told_from_a_wrong_adjoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true = python.schedule

    def planted(program: Program, *rest: Any) -> Any:
        made = true(program, *rest)

        def double(stmt: Stmt) -> Stmt:
            if isinstance(stmt, Add) and stmt.target_name == "d_w":
                return replace(stmt, target=Load("d_w", (Const(0),)))
            return stmt

        body = edited(made.program.body, double)
        return replace(made, program=replace(made.program, body=body))

    monkeypatch.setattr(python, "schedule", planted)
    report = check(chain, X(), X() + 0.1, X())
    assert not report
    assert "the schedule of its loops" in report.line
    assert line_of("a = x[i] * w[i - 1]").rsplit(": ", 1)[0] in report.line


def test_wrong_machine_code_is_told_from_a_wrong_adjoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    true = differentiable.vjp

    def planted(f: Any, *args: Any, **kw: Any) -> Any:
        result, pullback = true(f, *args, **kw)

        def wrong(*a: Any, **k: Any) -> Any:
            found = pullback(*a, **k)
            found.w[1] += 0.5
            return found

        return result, wrong

    monkeypatch.setattr(differentiable, "vjp", planted)
    report = check(chain, X(), X() + 0.1, X())
    assert not report and report.worst is not None and report.worst.where == "w[1]"
    assert "the compiled code" in report.line


def test_an_adjoint_that_fails_does_not_take_the_report_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*args: Any) -> Any:
        raise IndexError("beyond the end")

    monkeypatch.setattr("pyrev.testing.locate.Search.reverse", fail)
    monkeypatch.setitem(RULES, "tanh", rule(x="1 - y"))
    report = check(chain, X(), X() + 0.1, X())
    assert not report and "failed: IndexError('beyond the end')" in report.line


def test_a_long_run_is_not_searched_and_the_report_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pyrev.testing.locate.MOST", 20)
    monkeypatch.setitem(RULES, "tanh", rule(x="1 - y"))
    report = check(chain, X(), X() + 0.1, X())
    assert not report and "smaller arrays" in report.line


def counted(x: Any) -> Any:
    positive = 0
    total = 0.0
    kinds = np.zeros(x.shape[0], np.int64)
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            positive += 1
            kinds[i] = 1
        total += x[i] * positive
    return total, positive, kinds


def test_returned_integers_have_no_derivative() -> None:
    report = check(counted, np.array([0.5, -0.5, 1.5]))
    assert report and {c.verdict for c in report.entries} == {"right"}


def of_three(x, w, k):
    return np.sum(x * x * w) * k


def with_wrt(x, wrt):
    return np.sum(x) * wrt


def test_some_parameters_are_looked_at() -> None:
    x = np.array([0.3, 0.8])
    f = pyrev.differentiable(of_three)
    report = pyrev.check_grad(f, x, x + 1.0, 2.0, wrt=("x", "k"))
    assert report.ok and "`w` (" in " ".join(report.skipped)
    every = "a random direction"
    assert {e.parameter for e in report.entries} - {every} == {"x", "k"}
    by_place = pyrev.check_grad(f, x, x, 2.0, wrt=1).entries
    assert {e.parameter for e in by_place} - {every} == {"w"}
    with pytest.raises(pyrev.ArgumentError, match="wrt"):
        pyrev.check_grad(f, x, x, 2.0, wrt="y")
    named = pyrev.differentiable(with_wrt)
    assert pyrev.check_grad(named, x, wrt=2.0).ok


def of_a_length(length, rate):
    a = np.arange(-length, length + 1)
    return np.exp(-rate * a * a)


def by_windows(x, kernel, func):
    out = np.zeros_like(x)
    v = np.zeros_like(kernel)
    for i in range(1, x.shape[0] - 1):
        for k in range(3):
            if kernel[k] > 0.5:
                v[k] = x[i + k - 1]
        out[i] = func(v)
    return out


def mean_of(a):
    return np.mean(a)


def test_an_argument_may_decide_how_many_results_there_are() -> None:
    assert check(of_a_length, 2.25, 1.0).ok
    report = check(of_a_length, 2.0 - 1e-9, 1.0)  # a step away there is one more
    assert "wrong" not in {c.verdict for c in report.entries if c.parameter == "rate"}


def test_functions_among_the_arguments_stay_what_they_are() -> None:
    x = np.array([0.1, 0.5, 0.3, 0.7, 0.2])
    report = check(by_windows, x, np.array([1.0, 0.0, 1.0]), mean_of)
    assert report.ok and "`func` (a function)" in report.skipped
