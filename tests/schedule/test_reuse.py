"""What a straight line evaluates twice is evaluated once, and nothing else changes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pyrev
from pyrev.ir.nodes import Program
from pyrev.ir.text import block_text
from pyrev.parse import parse_block
from pyrev.schedule.reuse import reuse


def reused(text: str) -> str:
    program = Program("f", (), parse_block(text.strip("\n")))
    return block_text(reuse(program, frozenset({"np"})).body).strip("\n")


ONCE = {
    "in two statements": (
        "a = np.sin(x) * y\nb = np.sin(x) * z",
        "sin_x = np.sin(x)\na = sin_x * y\nb = sin_x * z",
    ),
    "twice in one": (
        "a = np.exp(x) * y + np.exp(x)",
        "exp_x = np.exp(x)\na = exp_x * y + exp_x",
    ),
    "under a name that it has": (
        "a = np.sin(x)\nb = np.sin(x) * z",
        "a = np.sin(x)\nb = a * z",
    ),
    "under two names": (
        "a = np.sin(x)\nb = np.sin(x)\nc = a * b",
        "a = np.sin(x)\nc = a * a",
    ),
    "the larger, and what it is made of": (
        "a = np.sin(np.exp(x))\nb = np.sin(np.exp(x)) * np.exp(x)",
        "exp_x = np.exp(x)\na = np.sin(exp_x)\nb = a * exp_x",
    ),
    "in a branch": (
        "a = np.sin(x) * y\nif y > 0.0:\n    b = np.sin(x)",
        "sin_x = np.sin(x)\na = sin_x * y\nif y > 0.0:\n    b = sin_x",
    ),
    "in a test and a branch": (
        "if np.sin(x) > 0.0:\n    b = np.sin(x)",
        "sin_x = np.sin(x)\nif sin_x > 0.0:\n    b = sin_x",
    ),
    "in one iteration": (
        "for i in range(n):\n    a[i] = np.sin(x[i]) * y\n    b[i] = np.sin(x[i]) * z",
        "for i in range(n):\n    sin_x = np.sin(x[i])\n"
        "    a[i] = sin_x * y\n    b[i] = sin_x * z",
    ),
}

AGAIN = {
    "the argument changes": "a = np.sin(x) * y\nx = 2.0\nb = np.sin(x) * z",
    "the argument changes with it": "x = np.sin(x)\nb = np.sin(x) * z",
    "the argument is added to": "a = np.sin(x) * y\nx += 1.0\nb = np.sin(x) * z",
    "an array that is written": "a = np.sin(x[0]) * y\nx[k] = 2.0\nb = np.sin(x[0])",
    "a loop changes it": """
a = np.sin(x) * y
for i in range(n):
    x *= 0.5
b = np.sin(x) * z
""",
    "the branch changes it": """
a = np.sin(x) * y
if y > 0.0:
    x = 2.0
    b = np.sin(x)
""",
    "in two branches": """
if y > 0.0:
    a = np.sin(x)
else:
    b = np.sin(x)
""",
    "only perhaps": "a = np.sin(x) if x > 0.0 else y\nb = np.sin(x) if x < 1.0 else z",
    "cheap": "a = x * y + z\nb = x * y - z\nc = x ** 2\nd = x ** 2",
    "the name is used again": """
for i in range(n):
    c = c + b
    a = np.sin(x[i]) * y
    b = np.sin(y) * a
    b *= b
""",
    "its name is read in the next iteration": """
for i in range(n):
    c[i] = b
    b = np.sin(x[i])
""",
}


@pytest.mark.parametrize("name", ONCE)
def test_it_is_evaluated_once(name: str) -> None:
    text, expected = ONCE[name]
    assert reused(text) == expected


@pytest.mark.parametrize("name", AGAIN)
def test_it_stays_as_it_is(name: str) -> None:
    assert reused(AGAIN[name]) == AGAIN[name].strip("\n")


def test_a_name_read_before_it_is_set_again_keeps_its_own() -> None:
    text = reused(
        "for i in range(n):\n    v = np.sin(x[i])\n    c[i] = w\n    w = np.sin(x[i])"
    )
    assert text.endswith("w = v")


def test_a_name_that_gets_another_value_is_no_name_for_it() -> None:
    text = """
for i in range(n):
    a = np.exp(x[i])
    b = np.exp(x[i])
    a = y[i] * y[i]
    c[i] = a * b"""
    assert "b = a\n" in reused(text)
    assert reused(text).endswith("c[i] = a * b")


def named_twice(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        a = np.sin(x[i])
        b = np.sin(x[i])
        for k in range(2):
            a = a * y[i] + k
            s += a * b
    return s


@pytest.mark.parametrize("target", ["python", "numba"])
def test_a_gradient_through_both_names_is_right(target: str) -> None:
    f = pyrev.differentiable(named_twice, target=target)
    assert pyrev.check_grad(f, np.array([0.3, 0.7, -0.4]), np.array([0.5, -0.8, 1.2]))


def drawn(rng: random.Random, lines: int, depth: int = 0) -> list[str]:
    """Statements of few names and two functions, so that values occur again."""
    out: list[str] = []

    def value() -> str:
        leaf = rng.choice(
            ["p", "q", "r", "v", "w", "s[0]", "t[i]" if depth else "s[1]"]
        )
        inner = rng.choice([leaf, leaf, f"np.tanh({leaf})"])
        return f"np.sin({inner})" if rng.random() < 0.7 else inner

    for _ in range(lines):
        form = rng.random()
        if depth < 2 and form < 0.2:
            head = f"if {value()} > 0.1:" if form < 0.1 else "for i in range(3):"
            block = drawn(rng, rng.randint(1, 4), depth + 1)
            out += [head, *("    " + line for line in block)]
            if form < 0.05:
                block = drawn(rng, rng.randint(1, 3), depth + 1)
                out += ["else:", *("    " + line for line in block)]
        elif form < 0.45:  # a name for a value that others may have, too
            out.append(f"{rng.choice('vw')} = np.sin({rng.choice(['p', 's[0]'])})")
        else:
            target = rng.choice(["p", "q", "r", "v", "w", "s[1]", "u[0]"])
            kind = rng.choice(["=", "=", "+="])
            out.append(f"{target} {kind} {value()} * {value()} + 0.1")
    return out


@pytest.mark.parametrize("seed", range(300))
def test_random_lines_keep_every_bit(seed: int) -> None:
    rng = random.Random(seed)
    text = "\n".join(drawn(rng, rng.randint(2, 9)))

    def run(lines: str) -> dict[str, Any]:
        space: dict[str, Any] = {"np": np, "i": 0}
        space |= {n: 0.3 + 0.1 * k for k, n in enumerate("pqrvw")}
        space |= {n: np.linspace(0.2, 0.8, 3) for n in "stu"}
        exec(lines, space)
        return {n: np.asarray(space[n]).tolist() for n in "pqrvwstu"}

    made = reused(text)
    expected = run(text)
    # A second name that nothing reads any more is gone.
    found = run(made)
    for name in "pqrstu":
        assert found[name] == expected[name], f"{name}\n{text}\n\n{made}"
