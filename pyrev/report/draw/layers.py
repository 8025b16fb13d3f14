"""Graphs as SVG, where Graphviz is not: boxes in layers, one inside the other.

What is in a box is laid out before the box is: nodes and boxes inside it are items,
each below those that it depends on, in the order in which their neighbours above stand
(Sugiyama, Tagawa and Toda 1981). Where items depend on each other in a circle, as loops
write what they read, the arrow back is drawn and not followed.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyrev.report.draw.graphs import FONT, Cluster, Edge, Node
from pyrev.report.shown.styled import columns

#: In pixels: a character, a line, what is around a label, between items, in a box.
CHARACTER, LINE, MARGIN, GAP, ROOM, INSET = 6.2, 14.0, 8.0, 18.0, 34.0, 12.0
_STYLE = (
    f"font-family:{FONT},Arial,sans-serif;font-size:11px;background:#fff;color:#000"
)


#: Where something is on the page, and how wide and high.
Room = tuple[float, float, float, float]


@dataclass(slots=True)
class _Item:
    """A node, or a box with what is in it, of a size; places are those in its box."""

    names: frozenset[str]
    width: float
    height: float
    drawn: Node | Cluster
    inner: list[_Item] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0


def svg(title: str, whole: Cluster, edges: Sequence[Edge]) -> str:
    """The picture as an SVG element, which needs nothing beside it."""
    top = _cluster(whole, edges)
    heads = title.split("\n")
    top.x, top.y = INSET, INSET + LINE * len(heads)
    width = max(top.width, *(CHARACTER * columns(h) for h in heads)) + 2 * INSET
    height = top.y + top.height + INSET
    places: dict[str, Room] = {}
    shapes = [*_shapes(top, 0.0, 0.0, places)]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}"'
        f' height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img"'
        f' aria-label="{html.escape(heads[0])}" style="{_STYLE}">',
        '<defs><marker id="pyrev-arrow" viewBox="0 0 8 8" refX="8" refY="4"'
        ' markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#333"/></marker></defs>',
        *_text(heads, width / 2, INSET + LINE * 0.3, "middle"),
        *shapes,
    ]
    for e in edges:
        if e.source in places and e.target in places:
            lines += _arrow(e, places[e.source], places[e.target])
    return "\n".join([*lines, "</svg>"])


# ------------------------------------------------------------------ where things are


def _node(n: Node) -> _Item:
    lines = _label(n)
    width = CHARACTER * max(map(columns, lines)) + 2 * MARGIN
    height = LINE * len(lines) + MARGIN
    if n.attributes.get("shape") == "diamond":
        width, height = width * 1.5, height * 1.6
    return _Item(frozenset([n.name]), width, height, n)


def _cluster(c: Cluster, edges: Sequence[Edge]) -> _Item:
    """A box, its items laid out in it."""
    items = [*map(_node, c.nodes), *(_cluster(inner, edges) for inner in c.inner)]
    layers = _layers(items, _between(items, edges))
    y = INSET + LINE + GAP / 2
    widest = max((_wide(layer) for layer in layers), default=0.0)
    inside = max(widest, CHARACTER * columns(c.label))
    for layer in layers:
        x = INSET + (inside - _wide(layer)) / 2
        tallest = max(i.height for i in layer)
        for item in layer:
            item.x, item.y = x, y + (tallest - item.height) / 2
            x += item.width + GAP
        y += tallest + ROOM
    height = y - (ROOM if layers else 0.0) + INSET
    names = frozenset().union(*(i.names for i in items)) if items else frozenset()
    return _Item(names, inside + 2 * INSET, height, c, items)


def _wide(layer: Sequence[_Item]) -> float:
    return sum(i.width for i in layer) + GAP * (len(layer) - 1)


def _between(items: Sequence[_Item], edges: Sequence[Edge]) -> list[tuple[int, int]]:
    """Which items arrows go between, each pair once, in order."""
    of = {name: k for k, item in enumerate(items) for name in item.names}
    pairs = ((of.get(e.source), of.get(e.target)) for e in edges)
    found = dict.fromkeys(
        (a, b) for a, b in pairs if a is not None and b is not None and a != b
    )
    return [*found]


def _layers(
    items: Sequence[_Item], pairs: Sequence[tuple[int, int]]
) -> list[list[_Item]]:
    """The items, each in a layer below all that it depends on."""
    import networkx  # takes a while to import, and most functions are never drawn

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(items)))
    for a, b in pairs:
        if not (graph.has_node(b) and networkx.has_path(graph, b, a)):
            graph.add_edge(a, b)
    found: list[list[_Item]] = []
    at: dict[int, float] = {}
    for layer in networkx.topological_generations(graph):
        above = {k: [at[p] for p in graph.predecessors(k)] for k in layer}
        means = {k: sum(a) / len(a) if a else float(k) for k, a in above.items()}
        row = sorted(layer, key=lambda k: (means[k], k))
        at |= {k: (n + 0.5) * 100.0 / len(row) for n, k in enumerate(row)}
        found.append([items[k] for k in row])
    return found


# ------------------------------------------------------------------ what is drawn


def _label(n: Node) -> list[str]:
    return n.attributes.get("label", n.name).split("\n")


def _shapes(
    item: _Item,
    x: float,
    y: float,
    places: dict[str, Room],
) -> Iterator[str]:
    """Boxes, nodes and labels; the places of nodes on the page are noted."""
    x, y = x + item.x, y + item.y
    if isinstance(item.drawn, Cluster):
        c = item.drawn
        tip = f"<title>{html.escape(c.tooltip)}</title>" if c.tooltip else ""
        yield (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{item.width:.1f}"'
            f' height="{item.height:.1f}" rx="8" fill="none" stroke="#999">{tip}</rect>'
        )
        yield from _text([c.label], x + INSET / 2, y + LINE, "start")
        for inner in item.inner:
            yield from _shapes(inner, x, y, places)
        return
    n = item.drawn
    places[n.name] = x, y, item.width, item.height
    tip = html.escape(n.attributes.get("tooltip", ""))
    outline = _outline(n.attributes, x, y, item.width, item.height)
    lines = _label(n)
    top = y + item.height / 2 - LINE * (len(lines) - 1) / 2
    yield f"<g><title>{tip}</title>{outline}"
    yield from _text(lines, x + item.width / 2, top + 4.0, "middle")
    yield "</g>"


def _outline(
    how: Mapping[str, str], x: float, y: float, width: float, height: float
) -> str:
    style = how.get("style", "")
    fill = how.get("fillcolor", "#fff") if "filled" in style else "#fff"
    dashes = ' stroke-dasharray="4 3"' if "dashed" in style else ""
    look = f'fill="{fill}" stroke="#333"{dashes}'
    middle, across = x + width / 2, y + height / 2
    match how.get("shape", "ellipse"):
        case "plaintext":
            return ""
        case "ellipse":
            found = ""
            for less in (0.0, 3.0)[: int(how.get("peripheries", "1"))]:
                rx, ry = width / 2 - less, height / 2 - less
                found += f'<ellipse cx="{middle:.1f}" cy="{across:.1f}"'
                found += f' rx="{rx:.1f}" ry="{ry:.1f}" {look}/>'
            return found
        case "diamond":
            points = f"{middle:.1f},{y:.1f} {x + width:.1f},{across:.1f}"
            points += f" {middle:.1f},{y + height:.1f} {x:.1f},{across:.1f}"
            return f'<polygon points="{points}" {look}/>'
    round_ = ' rx="6"' if "rounded" in style else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        f"{round_} {look}/>"
    )


def _text(lines: Sequence[str], x: float, y: float, anchor: str) -> Iterator[str]:
    for k, line in enumerate(lines):
        yield (
            f'<text x="{x:.1f}" y="{y + LINE * k:.1f}" text-anchor="{anchor}">'
            f"{html.escape(line, quote=False)}</text>"
        )


def _arrow(
    e: Edge,
    source: Room,
    target: Room,
) -> Iterator[str]:
    """A curve from the lower end of one to the upper end of the other, or beside both
    if it goes back up.
    """
    x0, y0 = source[0] + source[2] / 2, source[1] + source[3]
    x1, y1 = target[0] + target[2] / 2, target[1]
    if y1 > y0:
        bend = (y1 - y0) / 2
        path = f"M{x0:.1f},{y0:.1f} C{x0:.1f},{y0 + bend:.1f} {x1:.1f},{y1 - bend:.1f}"
    else:
        x0, y0 = source[0] + source[2], source[1] + source[3] / 2
        x1, y1 = target[0] + target[2], target[1] + target[3] / 2
        side = max(x0, x1) + GAP
        path = f"M{x0:.1f},{y0:.1f} C{side:.1f},{y0:.1f} {side:.1f},{y1:.1f}"
    dashes = ' stroke-dasharray="4 3"' if e.attributes.get("style") == "dashed" else ""
    colour = "#808080" if e.attributes.get("color", "").startswith("gray") else "#333"
    yield (
        f'<path d="{path} {x1:.1f},{y1:.1f}" fill="none" stroke="{colour}"{dashes}'
        ' marker-end="url(#pyrev-arrow)"/>'
    )
    label = e.attributes.get("label", "")
    if label:
        x, y = x0 + 0.2 * (x1 - x0) + 3.0, y0 + 0.4 * (y1 - y0)
        yield from _text([label], x, y, "start")
