"""Graphs as text in the language DOT, and what the program `dot` makes of it.

    graph ::= cluster        cluster ::= node... cluster...        edge ::= node -> node

A `Graph` is that text. It is the same in every run, needs nothing beside it, and
becomes a picture where Graphviz is installed (Gansner and North 2000).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pyrev.ir.diagnostics import ArgumentError, BackendError
from pyrev.report.draw import layers
from pyrev.report.draw.graphs import FONT, Cluster, Edge
from pyrev.runtime.options import file

#: What `save` writes, by the end of the file's name.
TEXTS = (".dot", ".gv")
PICTURES = (".svg", ".pdf", ".png")


class Graph:
    """The data flow of a function, as a picture in the language of Graphviz.

    `source` (also `str`) is the DOT text. `save` writes it, or a picture of it; a
    notebook shows the picture. The program `dot` draws best; without it, pictures are
    SVG with a simple layout.
    """

    def __init__(
        self, name: str, title: str, whole: Cluster, edges: Sequence[Edge]
    ) -> None:
        #: What stands above the picture: the function, and its edges counted.
        self.title: str = title
        self._drawing = title, whole, tuple(edges)
        #: The DOT text.
        self.source: str = "\n".join(_text(name, title, whole, edges)) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the graph to a file and return its path: the text (.dot, .gv) or a
        picture (.svg, .pdf, .png).

        Raises `ArgumentError` for other names, and `BackendError` for a .pdf or a .png
        where Graphviz is not installed.
        """
        where = file("save", path)
        kind = where.suffix.lower()
        if kind not in (*TEXTS, *PICTURES):
            known = ", ".join((*TEXTS, *PICTURES))
            raise ArgumentError(f"save: {where.name!r} must end in one of {known}")
        if kind == ".svg":
            drawn = self.svg().encode()
        else:
            drawn = self.source.encode() if kind in TEXTS else self._drawn(kind[1:])
        try:
            where.write_bytes(drawn)
        except (OSError, ValueError) as error:
            raise ArgumentError(f"save: {where} can't be written ({error})") from error
        return where

    def svg(self) -> str:
        """The picture as SVG: Graphviz's, or one of a simple layout without it."""
        if shutil.which("dot"):
            return self._drawn("svg").decode("utf-8")
        return layers.svg(*self._drawing)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _drawn(self, kind: str) -> bytes:
        program = shutil.which("dot")
        if program is None:
            raise BackendError(
                f"a {kind} of the graph needs the program `dot`: install Graphviz"
                " (`apt install graphviz`, `brew install graphviz`), or save it as"
                " graph.svg, which needs none"
            )
        done = subprocess.run(
            [program, f"-T{kind}"], input=self.source.encode(), capture_output=True
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise BackendError(f"`dot -T{kind}` failed: {said}")
        return done.stdout

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<graph of {self.title}>".replace("\n", "; ")


def quoted(text: str) -> str:
    """A string of DOT: any characters, newlines as it writes them."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'


def _attributes(found: Mapping[str, str]) -> str:
    inside = ", ".join(f"{k}={quoted(v)}" for k, v in found.items() if v)
    return f" [{inside}]" if inside else ""


def _text(
    name: str, title: str, whole: Cluster, edges: Sequence[Edge]
) -> Iterator[str]:
    yield f"digraph {quoted(name)} {{"
    yield f"    graph [label={quoted(title)}, labelloc=t, fontname={FONT}];"
    yield f"    node [fontname={FONT}, fontsize=11, height=0.3];"
    yield f"    edge [fontname={FONT}, fontsize=10];"
    count = iter(range(1 << 30))
    yield from _cluster(whole, 1, count)
    for e in edges:
        ends = f"{quoted(e.source)} -> {quoted(e.target)}"
        yield f"    {ends}{_attributes(e.attributes)};"
    yield "}"


def _cluster(c: Cluster, depth: int, count: Iterator[int]) -> Iterator[str]:
    pad = "    " * depth
    yield f"{pad}subgraph cluster_{next(count)} {{"
    if depth == 1:  # boxes inherit it
        yield f"{pad}    graph [labeljust=l, style=rounded, color=gray60, fontsize=12];"
    yield f"{pad}    label={quoted(c.label)};"
    if c.tooltip:
        yield f"{pad}    tooltip={quoted(c.tooltip)};"
    for n in c.nodes:
        yield f"{pad}    {quoted(n.name)}{_attributes(n.attributes)};"
    for inner in c.inner:
        yield from _cluster(inner, depth + 1, count)
    yield f"{pad}}}"
