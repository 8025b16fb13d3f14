from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pyrev
from pyrev.driver.targets import PYTHON
from pyrev.ir.nodes import Add, Assign, Load, walk
from pyrev.parse import parse_text
from pyrev.report.draw import shear
from pyrev.report.draw.dot import Graph, quoted
from pyrev.report.draw.graphs import Cluster, Edge, Node
from pyrev.report.draw.shear import Panel
from tests import ROOT
from tests.corpora.everything import EVERY, accepted
from tests.corpora.kernels import (
    conv2d,
    laplacian,
    logistic_map,
    masked,
    smooth_clamped,
    strided,
    upsample,
)
from tests.turns import share_of

GOLDEN = ROOT / "tests" / "golden"
KINDS = ("primal", "adjoint")


# ------------------------------------------------------------------ graphs as text


STRING = r'"((?:[^"\\]|\\.)*)"'
LINES = {
    "open": re.compile(rf"(digraph {STRING}|subgraph cluster_\d+) \{{"),
    "close": re.compile(r"\}"),
    "edge": re.compile(rf"{STRING} -> {STRING}( \[.*\])?;"),
    "node": re.compile(rf"{STRING} \[.*\];"),
    "default": re.compile(r"(graph|node|edge) \[.*\];"),
    "setting": re.compile(rf"(label|tooltip)={STRING};"),
}
ATTRIBUTES = re.compile(
    rf"\[\w+=(?:{STRING}|\w+|[\d.]+)(, \w+=(?:{STRING}|[\w.]+))*\];"
)


class Drawn:
    """A DOT text taken to pieces; it does not exist if the text is not well-formed."""

    def __init__(self, text: str) -> None:
        self.nodes: list[str] = []
        self.edges: list[tuple[str, str]] = []
        self.boxes: list[str] = []
        self.inside: dict[str, tuple[int, ...]] = {}
        opened: list[int] = []
        clusters: list[str] = []
        for number, line in enumerate(text.splitlines()):
            line = line.strip()
            kind = next(k for k, p in LINES.items() if p.fullmatch(line))
            if "[" in line and kind in ("edge", "node") and line.endswith("];"):
                bare = re.sub(rf"^{STRING}( -> {STRING})? ", "", line)
                assert ATTRIBUTES.fullmatch(bare), bare
            if kind == "open":
                opened.append(number)
                clusters.append(line)
            elif kind == "close":
                opened.pop()
            elif kind == "node":
                name = LINES["node"].fullmatch(line)
                assert name is not None
                self.nodes.append(name[1])
                self.inside[name[1]] = tuple(opened)
            elif kind == "edge":
                ends = LINES["edge"].fullmatch(line)
                assert ends is not None
                self.edges.append((ends[1], ends[2]))
            elif line.startswith("label="):
                self.boxes.append(line[7:-2])
            assert opened or number == len(text.splitlines()) - 1
        assert not opened
        assert len(set(clusters)) == len(clusters)
        assert len(set(self.nodes)) == len(self.nodes)
        assert {end for e in self.edges for end in e} <= set(self.nodes)


def written_arrays(f: pyrev.Differentiable) -> set[str]:
    return {
        s.target.array
        for s in walk(f._units.function.program.body)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Load)
    }


def counts(graph: Graph) -> tuple[int, int, int]:
    found = re.search(
        r"(\d+) partial derivatives?, (\d+) after elimination \((\d+) products?\)",
        graph.source,
    )
    assert found is not None
    before, after, products = map(int, found.groups())
    return before, after, products


def check_graphs(f: pyrev.Differentiable, of: str) -> None:
    whole, simple = f.graph(of), f.graph(of, simplified=True)
    assert counts(whole) == counts(simple)
    for graph in (whole, simple):
        drawn = Drawn(graph.source)
        assert drawn.boxes[0].startswith("def ")
        if of == "primal":
            assert written_arrays(f) <= {target for _, target in drawn.edges}


@pytest.mark.parametrize("name", share_of(EVERY, 16))
def test_every_function_draws(name: str) -> None:
    check_graphs(accepted(EVERY[name], "python"), "primal")


@pytest.mark.parametrize("name", share_of(EVERY, 128))
def test_every_adjoint_draws(name: str) -> None:
    check_graphs(accepted(EVERY[name], "python"), "adjoint")


GOLDENS: list[tuple[Callable[..., Any], str, bool]] = [
    (conv2d, "adjoint", False),
    (logistic_map, "primal", False),
    (logistic_map, "primal", True),
]


@pytest.mark.parametrize("f, of, simplified", GOLDENS)
def test_the_graph_is_the_golden_one(
    f: Callable[..., Any], of: str, simplified: bool, request: pytest.FixtureRequest
) -> None:
    text = str(pyrev.differentiable(f).graph(of, simplified=simplified))
    path = GOLDEN / f"{f.__name__}.{of}{'.simplified' if simplified else ''}.dot"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), "make it with: pytest --update-golden"
    assert text == path.read_text(encoding="utf-8")
    Drawn(text)
    assert len(text.splitlines()) <= 80


def error_function(x):
    a = abs(x)
    t = 1.0 / (1.0 + 0.3275911 * a)
    p = 1.061405429 * t - 1.453152027
    p = p * t + 1.421413741
    p = p * t - 0.284496736
    p = (p * t + 0.254829592) * t
    y = 1.0 - p * np.exp(-(a * a))
    return y if x >= 0.0 else -y


def test_the_error_function_becomes_one_edge() -> None:
    f = pyrev.differentiable(error_function)
    whole, simple = f.graph(), f.graph(simplified=True)
    assert counts(whole) == counts(simple)
    before, after, products = counts(whole)
    assert before > 20 and after == 1 and products < before
    drawn = Drawn(simple.source)
    assert drawn.edges == [("x", "return")]
    # Both values of `p` have the user's name, and each operation its node.
    assert Drawn(whole.source).nodes.count("x") == 1
    assert len(re.findall(r'label="p = ', whole.source)) == 4


def scale(v, by):
    return v * by * by


def scopes(a, idx, out):
    total = 0.0
    for i in range(a.shape[0]):
        t = scale(a[i], 3.0)
        if a[i] > 0:
            total += t
        out[idx[i]] += t * t
    return total, out


def test_names_scopes_and_lines_are_the_users() -> None:
    f = pyrev.differentiable(scopes)
    text = str(f.graph())
    drawn = Drawn(text)
    line = scopes.__code__.co_firstlineno
    assert drawn.boxes == [
        "def scopes(a, idx, out)",
        "for i in range(a.shape[0])",
        "if a[i] > 0",
        "scale(...)",
    ]
    assert f'"a" [label="a\\nline {line}"' in text
    assert f'tooltip="test_graph.py:{line - 3}: return v * by * by"' in text
    assert f'"total" [label="total\\nline {line + 1}"' in text
    # The box of a node is the scope of its statement.
    depth = {name: len(drawn.inside[name]) for name in ("a", "idx", "out", "total")}
    assert set(depth.values()) == {2}
    (decision,) = re.findall(r'"(\d+)" \[label="if a\[i\] > 0"', text)
    assert len(drawn.inside[decision]) == 4
    assert ("a", decision) in drawn.edges


def twice(a, n, out):
    returned = 0.0
    for i in range(out.shape[0]):
        for k in range(n[i]):
            returned += a[i, k]
        for k in range(n[i]):
            out[i] += a[i, k] * returned
    return returned


def test_what_data_decides_is_drawn_in_its_own_box() -> None:
    text = str(pyrev.differentiable(twice).graph())
    drawn = Drawn(text)
    decisions = re.findall(r'"(\d+)" \[label="range\(n\[i\]\)"', text)
    assert len(decisions) == 2
    one, two = (drawn.inside[d] for d in decisions)
    assert one[:-1] == two[:-1] and one != two
    assert [e for e in drawn.edges if e[0] == "n"] == [("n", d) for d in decisions]
    # A name that begins like the node of the result is a name like any other.
    assert "returned" in drawn.nodes and "return" in drawn.nodes
    assert re.search(r'"returned" \[label="returned\\nline \d+", .*"ellipse"\];', text)


def either(a, out):
    for i in range(out.shape[0]):
        if a[i] > 0:
            t = a[i]
        else:
            t = 2.0 * a[i]
        out[i] = t


def test_a_scalar_stands_in_the_innermost_box_around_all_its_uses() -> None:
    drawn = Drawn(str(pyrev.differentiable(either).graph()))
    assert [len(drawn.inside[name]) for name in ("a", "t")] == [2, 3]
    assert len([e for e in drawn.edges if e[1] == "t"]) == 2


def test_no_derivative_passes_along_dashed_edges() -> None:
    text = str(pyrev.differentiable(scopes).graph())
    (access,) = re.findall(r'"(\d+)" \[label="idx\[i\]"', text)
    (write,) = re.findall(r'"(\d+)" \[label="out\[idx\[i\]\] \+=', text)
    assert f'"{access}" -> "{write}" [style="dashed"' in text
    simple = str(pyrev.differentiable(scopes).graph(simplified=True))
    assert '"idx[i]"' not in simple and "dashed" not in simple


def test_the_adjoint_shows_what_was_renamed_and_why_a_loop_is_parallel() -> None:
    text = str(pyrev.differentiable(conv2d).graph("adjoint"))
    assert "\\ngather: u = y + j; v = x + i" in text
    assert 'tooltip="no two iterations of u write the same element' in text
    assert '"d_image" -> "return [0]"' in text


def test_partials_are_at_the_edges() -> None:
    text = str(pyrev.differentiable(logistic_map).graph(simplified=True))
    (label,) = re.findall(r'-> "\d+" \[label="([^"]*)"', text)
    partial = eval(label.replace("x[i]", "x"), {"x": 0.3})
    assert partial == pytest.approx(3.7 * (1 - 2 * 0.3))


PRINT = """
import pyrev
from tests.corpora.kernels import KERNELS
for f in KERNELS:
    g = pyrev.differentiable(f)
    print(g.graph(), g.graph(simplified=True))
print(pyrev.differentiable(KERNELS[2]).graph("adjoint"))
"""


@pytest.mark.slow
def test_two_hash_seeds_give_the_same_graphs() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_strings_are_quoted_as_dot_reads_them() -> None:
    whole = Cluster('def "f"', nodes=[Node("a\\b", {"label": 'x\n"y"'})])
    text = str(Graph('say "f"', "t", whole, [Edge("a\\b", "a\\b")]))
    Drawn(text)
    assert quoted('x\n"y"\\') == '"x\\n\\"y\\"\\\\"'


def test_pdf_and_png_need_dot_and_texts_and_svg_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = pyrev.differentiable(masked).graph()
    monkeypatch.setenv("PATH", str(tmp_path))
    for end in ("dot", "gv"):
        assert graph.save(tmp_path / f"g.{end}").read_text() == str(graph)
    with pytest.raises(pyrev.BackendError, match="install Graphviz"):
        graph.save(tmp_path / "g.pdf")
    assert not (tmp_path / "g.pdf").exists()
    assert graph.save(tmp_path / "g.svg").read_text() == graph._repr_svg_()
    with pytest.raises(pyrev.ArgumentError, match=r"g\.txt"):
        graph.save(tmp_path / "g.txt")
    # One that draws by copying.
    fake = tmp_path / "dot"
    fake.write_text(f'#!/bin/sh\necho "$1"\nexec {shutil.which("cat", path="/bin")}\n')
    fake.chmod(0o755)
    assert graph._repr_svg_() == f"-Tsvg\n{graph}"
    assert graph.save(tmp_path / "g.png").read_text() == f"-Tpng\n{graph}"
    fake.write_text("#!/bin/sh\necho syntax error >&2\nexit 1\n")
    with pytest.raises(pyrev.BackendError, match="syntax error"):
        graph.svg()


@pytest.mark.parametrize("simplified", (False, True))
@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("f", (conv2d, logistic_map, masked, scopes, strided))
def test_without_graphviz_everything_is_drawn_and_nothing_overlaps(
    f: Callable[..., Any], of: str, simplified: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    graph = pyrev.differentiable(f).graph(of, simplified=simplified)
    drawn, text = ElementTree.fromstring(graph.svg()), Drawn(str(graph))
    space = "{http://www.w3.org/2000/svg}"
    labels = [t.text for t in drawn.iter(f"{space}text")]
    width, height = float(drawn.get("width", "")), float(drawn.get("height", ""))
    for label in re.findall(rf"^ +{STRING} \[label={STRING}", str(graph), re.M):
        assert all(part in labels for part in label[1].split("\\n"))
    assert len(text.nodes) == len(drawn.findall(f"{space}g"))
    # Boxes lie in each other, or apart, and in the picture.
    rooms = [
        tuple(float(r.get(n, "")) for n in ("x", "y", "width", "height"))
        for r in drawn.iter(f"{space}rect")
    ]
    assert rooms and len(text.edges) == len(drawn.findall(f"{space}path"))
    for x, y, w, h in rooms:
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
        for x2, y2, w2, h2 in rooms:
            across = min(x + w, x2 + w2) - max(x, x2)
            down = min(y + h, y2 + h2) - max(y, y2)
            if across > 0 and down > 0:
                inside = {(across, down)} & {(w, h), (w2, h2)}
                assert inside or (
                    round(across) in (round(w), round(w2))
                    and round(down) in (round(h), round(h2))
                )


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("f", (conv2d, logistic_map, scopes), ids=lambda f: f.__name__)
def test_graphviz_draws_it(f: Callable[..., Any]) -> None:
    for of in KINDS:
        svg = pyrev.differentiable(f).graph(of).svg()
        assert svg.rstrip().endswith("</svg>")


def test_only_a_function_and_its_derivatives_are_drawn() -> None:
    f = pyrev.differentiable(masked)
    assert str(f.graph("adjoint", simplified=True)) == str(f.adjoint.graph(True))
    assert str(f.graph()) == str(f.primal.graph())
    with pytest.raises(pyrev.ArgumentError, match="'hessian'"):
        f.graph("hessian")


# ------------------------------------------------------------------ plots


def panels_of(
    f: Callable[..., Any], array: str, sizes: Any = None
) -> list[tuple[Panel, Panel]]:
    adjoint = pyrev.differentiable(f).adjoint
    units = adjoint._units
    before = units.unscheduled(adjoint._before(PYTHON))
    after = adjoint._default(PYTHON).program
    return shear.panels(units.function.program, before, after, array, sizes)


def conv1d(signal, kernel, out):
    for x in range(out.shape[0]):
        for k in range(kernel.shape[0]):
            out[x] += signal[x + k] * kernel[k]


def test_a_convolution_is_sheared() -> None:
    ((left, right),) = panels_of(conv1d, "signal", {"kernel": 3, "out": 6})
    assert (left.along, left.beside) == ("x", ("k",))
    points = {(p.x, *p.row[1], p.element) for p in left.points}
    assert points == {(x, k, x + k) for x in range(6) for k in range(3)}
    assert left.elements == 8
    assert left.contested == set(range(1, 7))
    assert (right.along, right.beside, right.note) == ("u", ("k",), "gather: u = x + k")
    points = {(p.x, *p.row[1], p.element) for p in right.points}
    assert points == {(x + k, k, x + k) for x in range(6) for k in range(3)}
    assert right.sheared and not left.sheared and not right.contested
    assert right.text.splitlines()[0] == (
        "for u in range(out.shape[0] + kernel.shape[0] - 1):"
    )
    assert left.text.splitlines()[-1].strip() == (
        "d_signal[x + k] += d_out[x] * kernel[k]"
    )


def test_each_axis_of_an_image_has_its_own_loops() -> None:
    (one, two) = panels_of(conv2d, "image")
    assert [(p.along, p.beside) for p in one] == [("y", ("j",)), ("u", ("j",))]
    assert [(p.along, p.beside) for p in two] == [("x", ("i",)), ("v", ("i",))]


def test_the_points_of_a_stencil_are_rows() -> None:
    (one, _) = panels_of(laplacian, "u", {"u": (8, 8), "out": (8, 8)})
    left, right = one
    assert {row for row, _ in left.rows} == {"i - 1", "i", "i + 1"}
    for p in left.points:
        shift = {"i - 1": -1, "i": 0, "i + 1": 1}[p.row[0]]
        assert p.element == p.x + shift
    # What read `i + 1` comes from the iteration before.
    for p in right.points:
        assert p.x == p.element
        assert 0 <= p.element < 8
    assert {row for row, _ in right.rows} == {"i - 1", "i", "i + 1"}


def band(a, out):
    for i in range(out.shape[0]):
        for k in range(3):
            out[i] += a[i, i + k]


def test_iterations_that_meet_along_one_axis_only_do_not_contest() -> None:
    (one, two) = panels_of(band, "a")
    assert {(p.x, p.element) for p in one[0].points} == {(i, i) for i in range(6)}
    points = {(p.x, *p.row[1], p.element) for p in two[0].points}
    assert points == {(i, k, i + k) for i in range(6) for k in range(3)}
    assert not one[0].contested and not two[0].contested


def folded(a, out):
    for i in range(out.shape[0]):
        if i < 3:
            k = i
        else:
            k = i - 3
        if k > 0:
            out[i] = a[k]
        else:
            out[i] = a[k + 1] * 2.0


def test_tests_of_indices_decide_and_scalars_are_followed() -> None:
    ((left, right),) = panels_of(folded, "a", {"out": 6})
    expected = {(0, 1), (1, 1), (2, 2), (3, 1), (4, 1), (5, 2)}
    assert {(p.x, p.element) for p in left.points} == expected
    assert left.contested == {1, 2}
    assert {p.element for p in right.points} == {1, 2}


def test_what_is_set_to_a_number_is_no_sum() -> None:
    program = parse_text(
        """
        def f(a, d_a):
            for i in range(a.shape[0]):
                d_a[i + 1] += a[i]
                d_a[i] = 0.0
        """
    )
    (write,) = shear.writes(program, "d_a")
    assert isinstance(write.stmt, Add)
    assert shear.nests_text(program, "d_a").splitlines()[1:] == [
        "    d_a[i + 1] += a[i]"
    ]


def test_a_scalar_that_a_loop_carries_is_data() -> None:
    program = parse_text(
        """
        def f(a, d_a, n):
            k = 0
            for i in range(n):
                d_a[k] += a[i]
                k = k + (2 if a[i] > 0.5 else 1)
            for i in range(k):
                d_a[0] += a[i]
        """
    )
    for write in shear.writes(program, "d_a"):
        with pytest.raises(pyrev.ArgumentError, match="is data"):
            shear.refuse_data([write], shear.sizes_of(program), frozenset("i"))


def doubled(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i] * 2.0
    return a


def test_a_cotangent_has_the_size_of_what_it_belongs_to() -> None:
    ((left, right),) = panels_of(doubled, "a", {"a": 7})
    assert left.elements == right.elements == 7
    assert {p.element for p in left.points} == set(range(7))


def test_a_read_by_quotient_or_stride_or_clamp_is_drawn_too() -> None:
    ((left, right),) = panels_of(upsample, "coarse", {"fine": 10})
    assert {(p.x, p.element) for p in left.points} == {(x, x // 4) for x in range(10)}
    assert right.sheared and right.elements == 3
    ((left, right),) = panels_of(strided, "signal", {"weights": 4, "out": 3})
    assert {p.element for p in left.points} == {
        3 * x + 2 * k for x in range(3) for k in range(4)
    }
    assert left.contested == {6} and left.scale == 3
    ((left, right),) = panels_of(smooth_clamped, "a", {"a": 6})
    assert left.contested == set(range(6)) and not right.contested


def instances_of(
    f: pyrev.Differentiable, array: str
) -> tuple[Counter[tuple[int, ...]], Counter[tuple[int, ...]]]:
    """How often each element is added to, before and after scheduling."""
    adjoint = f.adjoint
    units = adjoint._units
    before = units.unscheduled(adjoint._before(PYTHON))
    after = adjoint._default(PYTHON).program
    own = dict(before.adjoint.names)[array]
    like = {d: of for d, of in before.adjoint.cotangents if isinstance(of, str)}
    found = shear.writes(before.program, own, like), shear.writes(after, own, like)
    known = {shear.Extent(d, k) for d in like for k in range(4)}
    sizes = shear.sizes_of(after) - known
    rank = next(p.rank for p in units.function.program.params if p.name == array)
    extents = [shear.Extent(array, k) for k in range(rank)]
    env = shear.choose(*found, {}, sizes, extents)
    one, two = (
        Counter(
            element
            for w in side
            for _, element in shear.instances(w, env, sizes)
            if element is not None
        )
        for side in found
    )
    return one, two


@pytest.mark.parametrize(
    "f, array",
    [(conv1d, "signal"), (conv2d, "image"), (laplacian, "u"), (strided, "signal")]
    + [(upsample, "coarse"), (smooth_clamped, "a"), (conv2d, "kernel")],
    ids=lambda v: v if isinstance(v, str) else v.__name__,
)
def test_a_gather_adds_as_often_as_the_scatter(
    f: Callable[..., Any], array: str
) -> None:
    scatter, gather = instances_of(pyrev.differentiable(f), array)
    assert scatter == gather
    assert sum(scatter.values()) >= 6


@pytest.mark.parametrize("name", share_of(EVERY, 128))
def test_every_array_is_drawn_or_refused_with_its_line(name: str) -> None:
    f = accepted(EVERY[name], "python")
    for p in f._units.function.program.params:
        if not p.rank:
            continue
        try:
            found = panels_of(f.python, p.name)
        except pyrev.ArgumentError as refused:
            assert re.match(rf"\S+\.py:\d+: |plot\('{p.name}'\): ", str(refused))
            continue
        assert len(found) == p.rank
        for left, right in found:
            assert {q.element for q in left.points} == {q.element for q in right.points}
            assert not right.contested or not right.sheared


def by_table(a, idx, out):
    for i in range(out.shape[0]):
        out[i] = a[idx[i]] * a[idx[i]]


def ragged(a, start, out):
    for i in range(out.shape[0]):
        for k in range(start[i], start[i + 1]):
            out[i] += a[k]


def until(a):
    k = 0
    while a[k] > 0.1:
        a[k] *= 0.5
        k += 1


def deep(a, out):
    for n in range(out.shape[0]):
        out[n] = a[n, 0, 0]


def three(a, out):
    for x in range(4):
        for y in range(4):
            for z in range(4):
                out[x, y, z] = a[x + y + z]


@pytest.mark.parametrize(
    "f, array, message",
    [
        (by_table, "a", r"the subscript `idx\[i\]` is data"),
        (ragged, "a", r"the range of `k` is data"),
        (until, "a", r"is data"),
        (deep, "a", r"`a` has 3 axes"),
        (three, "a", r"moves with 3 loops \(x, y, z\)"),
        (conv1d, "out", r"nothing is added to"),
        (conv1d, "image", r"there are: signal, kernel, out"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    f: Callable[..., Any], array: str, message: str
) -> None:
    with pytest.raises(pyrev.ArgumentError, match=message) as refused:
        panels_of(f, array)
    at = f.__code__.co_firstlineno
    named = re.match(r"test_graph\.py:(\d+): ", str(refused.value))
    assert "plot(" in str(refused.value) or named and at < int(named[1]) <= at + 5


@pytest.mark.parametrize(
    "sizes, message",
    [
        ({"kernel": (3, 3)}, "`kernel` has 1 axes"),
        ({"filter": 3}, "there are: signal, kernel, out"),
        ({"kernel": 0}, "must be positive"),
        ({"kernel": 9, "out": 9, "signal": 4}, "give others by sizes="),
    ],
)
def test_sizes_must_fit(sizes: Any, message: str) -> None:
    with pytest.raises(pyrev.ArgumentError, match=message):
        panels_of(shifted, "signal", sizes)


def shifted(signal, kernel, out):
    for x in range(out.shape[0]):
        for k in range(kernel.shape[0]):
            if x + k < 2 * signal.shape[0]:
                out[x] += signal[x + k] * kernel[k]


def test_the_figure_has_two_panels_for_each_axis() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    figure = pyrev.differentiable(conv2d).adjoint.plot("image")
    axes = figure.axes
    assert len(axes) == 4
    assert axes[0].get_title("left") == (
        "axis 0: scatter: several y add to each red element"
    )
    assert "u = y + j" in axes[1].get_title("left")
    assert "for v in range(" in axes[3].get_xlabel()
    assert [t.get_text() for t in axes[0].get_yticklabels()] == [
        "d_image",
        "0",
        "1",
        "2",
    ][:1] + ["2", "1", "0"]
    plt.close(figure)


def test_the_figure_is_drawn_into_given_axes() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    own, axes = plt.subplots(1, 2)
    assert pyrev.differentiable(conv1d).adjoint.plot("signal", ax=axes) is own
    assert axes[0].get_title("left").startswith("scatter")
    with pytest.raises(pyrev.ArgumentError, match="takes 2 axes here"):
        pyrev.differentiable(conv1d).adjoint.plot("signal", ax=axes[0])
    plt.close(own)


def test_matplotlib_is_imported_when_something_is_plotted() -> None:
    program = "import sys, pyrev; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_plot_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(pyrev.BackendError, match="pip install matplotlib"):
        pyrev.differentiable(conv1d).adjoint.plot("signal")
