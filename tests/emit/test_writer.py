from __future__ import annotations

import ast

import pytest

from pyrev.ir.nodes import Loc
from pyrev.ir.printer import WIDTH, Blank, comment, tag, write

EXPRESSIONS = """
a - (b - c)
a - b - c
a + (b + c)
(a + b) * c
a * (b / c)
a / b * c
-x ** y
(-x) ** -y
(x ** y) ** z
x ** y ** z
-(a + b)
- -a
~(a | b & c ^ d << e >> f)
not a == b
not (a and b)
(not a) == b
a and (b and c) and d
(a or b) and not (c or d)
a < b < c
(a < b) < c
a if t else b if u else c
(a if t else b) if u else c
(a if t else b) + c
a[i]
a[i, j + 1]
a[i,]
a[i:j, ::k, :]
a[-1, i if t else j]
(a + b)[i].shape[0]
f(x, y=2, *z, **w)
f(a if t else b, (c, d))
[x, (y,), ()]
(1).real
1.5.real
1e300
1e-05
'text'
"it's"
lambda x, y=1: x + y
a // b % c
a @ b
(x := 3) + x
{1: 2, 'a': b}
"""

STATEMENTS = r'''
import math
import numpy as np
from numba import njit, prange
a = b = c
a, b = b, a
(a,) = b
a[i, j] = x if t else y
a += b, c
a[i] -= (x, y)[k]
a **= 2
x: int = 3
return_value = -1
del a[0], b
assert x > 0, "positive"
raise ValueError("no") from error
pass
@njit(parallel=True, fastmath={"nsz"})
def f(a, b: float = 2.0, *args, c, d=3, **kw) -> int:
    """A docstring with \\ and "quotes"."""
    for i in range(n):
        for i, (j, k) in pairs:
            if a:
                return
            elif b:
                return a, b
            else:
                return (a,)
        else:
            break
    while not done:
        continue
    def inner():
        return a if b else c
    return inner
class Empty(Base):
    pass
with open(x) as y:
    pass
try:
    pass
except (ValueError, TypeError) as error:
    raise
finally:
    pass
'''


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_an_expression_means_the_same_after_printing(text: str) -> None:
    tree = ast.parse(text, mode="eval")
    assert ast.dump(ast.parse(write(tree.body).text, mode="eval")) == ast.dump(tree)


@pytest.mark.parametrize(
    "text",
    [
        "a - (b - c)",
        "(-x) ** -y",
        "-x ** y",
        "a[i, j + 1]",
        "a if t else b if u else c",
        "not a == b",
        "f(a if t else b, (c, d))",
    ],
)
def test_an_expression_has_no_needless_brackets(text: str) -> None:
    assert write(ast.parse(text, mode="eval").body).text == text


def test_every_statement_means_the_same_after_printing() -> None:
    tree = ast.parse(STATEMENTS)
    assert ast.dump(ast.parse(write(tree).text)) == ast.dump(tree)


def test_printing_twice_gives_the_same_text() -> None:
    once = write(ast.parse(STATEMENTS)).text
    assert write(ast.parse(once)).text == once


def test_a_definition_stands_between_two_empty_lines() -> None:
    tree = ast.parse("import math\ndef f():\n    pass\ndef g():\n    pass\nx = 1")
    assert write(tree).text == (
        "import math\n\n\ndef f():\n    pass\n\n\ndef g():\n    pass\n\n\nx = 1"
    )


def test_an_empty_body_is_a_pass() -> None:
    assert write(ast.If(ast.Name("t"), [comment("nothing")], [])).text == (
        "if t:\n    # nothing\n    pass"
    )


def test_comments_and_blank_lines_stand_where_they_are_put() -> None:
    (first, second) = ast.parse("a = 1\nb = 2").body
    module = ast.Module([comment("one"), first, Blank(), Blank(), second], [])
    assert write(module).text == "# one\na = 1\n\nb = 2"


def test_a_note_stands_at_the_end_of_its_line_or_above_it() -> None:
    loop = ast.parse("for i in range(n):\n    a[i] = 0").body[0]
    assert write(tag(loop, Loc("f", 1, 0, 1, 1), "gather: u = y + j")).text == (
        "for i in range(n):  # gather: u = y + j\n    a[i] = 0"
    )
    long = "serial: " + "a reason that goes on and on " * 4
    text = write(tag(loop, Loc("f", 1, 0, 1, 1), long.strip())).text
    assert text.splitlines()[0].startswith("# serial: a reason")
    assert max(map(len, text.splitlines())) <= WIDTH


def test_each_line_knows_where_it_comes_from() -> None:
    first, second = ast.parse("a = 1\nfor i in n:\n    b = 2").body
    one, two = Loc("f", 10, 0, 10, 1), Loc("f", 20, 0, 21, 1)
    module = ast.Module([tag(first, one), comment("here"), tag(second, two)], [])
    text = write(module)
    places = [loc.line for loc in text.locs]
    assert text.text.splitlines() == ["a = 1", "# here", "for i in n:", "    b = 2"]
    assert places == [10, 0, 20, 20]


@pytest.mark.parametrize(
    "text",
    [
        "f'{a.shape[0]} of {n}'",
        "f'{x:.3e} {x!r:>{width}} {{}}'",
        "f'{-a + b * (c - d)}'",
        "f'{(a if b else c)}'",
        "f'{ {1: 2}[k]}'",
        """f'{names["a"]}'""",
    ],
)
def test_fields_of_texts_are_printed_like_other_expressions(text: str) -> None:
    tree = ast.parse(text)
    assert ast.dump(ast.parse(write(tree).text)) == ast.dump(tree)


@pytest.mark.parametrize(
    "text",
    [
        "total[first_index, second_index] += "
        + " + ".join(["weight[i] * value[j]"] * 9),
        "result = function(" + ", ".join(f"argument_{k}" for k in range(20)) + ")",
        "if "
        + " and ".join(f"limit_{k} <= size_{k}" for k in range(12))
        + ":\n    pass",
        "return " + " + ".join(f"long_name_{k} ** 2" for k in range(12)),
        "return " + ", ".join(f"a_rather_long_name_{k}" for k in range(12)),
        "def f(" + ", ".join(f"parameter_{k}" for k in range(20)) + "):\n    pass",
        "for i in range(" + "max(0, a_long_name - 1), " * 4 + "1):\n    pass",
        "x = 'a string with, commas (and brackets' + " + " + ".join(["name"] * 20),
        "errors = " + ", ".join(["(IndexError, 'out of bounds')"] * 5),
    ],
)
def test_a_long_line_is_broken_and_means_the_same(text: str) -> None:
    source = f"def outer():\n    {text}" if text.startswith("return") else text
    tree = ast.parse(source)
    printed = write(tree).text
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert len(printed.splitlines()) > len(source.splitlines())
    assert ast.dump(ast.parse(printed)) == ast.dump(tree)
