"""The figure of a scatter and its gather, after Fig. 4 of Li et al. 2018.

One row for each axis of the array, two panels each: on the left the iterations as the
reversed function runs them, on the right as the readable adjoint does. The elements
stand below as squares; an arrow leads from each iteration to the element it adds to.
An iteration has the colour of its element, so that a shear turns slopes into columns.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pyrev.ir.diagnostics import ArgumentError, BackendError
from pyrev.report.draw.shear import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONTESTED, OWNED = "#c62828", "#2e7d32"
WIDE, TALL = 6.2, 1.6  # inches of a panel, beside what its rows and its text need
COLUMNS, LINES = 84, 16  # of the text below a panel


def figure(
    array: str, rows: Sequence[tuple[Panel, Panel]], how: str, ax: Any
) -> Figure:
    """Draw the panels of each axis of `array`, into `ax` if that is given.

    `how` says how the loops of the right panels run where they do not say it.
    """
    axes, found = _axes(rows, ax)
    for k, (left, right) in enumerate(rows):
        prefix = f"axis {k}: " if len(rows) > 1 else ""
        said = f"no two {left.along or 'iterations'} add to one element"
        if left.contested:
            said = f"scatter: several {left.along} add to each red element"
        below = k == len(rows) - 1
        _draw(axes[k][0], array, left, prefix + said, below)
        _draw(axes[k][1], array, right, prefix + (right.note or how), below)
    return found


def _axes(
    rows: Sequence[tuple[Panel, Panel]], ax: Any
) -> tuple[list[list[Axes]], Figure]:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise BackendError(
            "plot() needs matplotlib: pip install matplotlib (or pyrev[examples])"
        ) from error
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != 2 * len(rows):
            raise ArgumentError(
                f"plot: ax= takes {2 * len(rows)} axes here, two for each axis of the"
                f" array; got {len(given)}"
            )
        pairs = [given[k : k + 2] for k in range(0, len(given), 2)]
        return pairs, given[0].figure
    heights = [TALL + 0.3 * max(len(p.rows) for p in row) for row in rows]
    text = 0.14 * max(_text(p).count("\n") + 1 for p in rows[-1])
    made, grid = pyplot.subplots(
        len(rows),
        2,
        figsize=(2 * WIDE, sum(heights) + text),
        squeeze=False,
        layout="constrained",
        height_ratios=heights,
    )
    return [list(row) for row in grid], made


def _text(p: Panel) -> str:
    """The loops below a panel, as wide and as long as there is room for."""
    lines: list[str] = []
    for line in p.text.splitlines():
        indent = len(line) - len(line.lstrip()) + 8
        lines += textwrap.wrap(
            line,
            COLUMNS,
            subsequent_indent=" " * indent,
            drop_whitespace=True,
            replace_whitespace=False,
        )
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], "..."]
    width = max(map(len, lines), default=0)
    return "\n".join(line.ljust(width) for line in lines)


def _draw(ax: Axes, array: str, p: Panel, title: str, below: bool) -> None:
    """One panel, with its loops `below` it."""
    from matplotlib import colormaps

    colours = colormaps["turbo"](np.linspace(0.08, 0.92, max(p.elements, 2)))
    heights = {row: k + 1.2 for k, row in enumerate(reversed(p.rows))}
    scale = 1.0 if p.sheared else p.scale
    for q in p.points:
        x, y = q.x * scale, heights[q.row]
        colour = colours[q.element]
        ax.annotate(
            "",
            (q.element, 0),
            (x, y),
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "alpha": 0.45,
                "linewidth": 0.9,
                "shrinkA": 0,
                "shrinkB": 10,
            },
        )
        ax.plot(x, y, "o", color=colour, markersize=8, markeredgecolor="white")
    for e in range(p.elements):
        edge = CONTESTED if e in p.contested else OWNED
        touched = any(q.element == e for q in p.points)
        ax.plot(
            e,
            0,
            "s",
            markersize=17,
            markerfacecolor="#fbe9e7" if e in p.contested else "white",
            markeredgecolor=edge if touched else "lightgray",
            markeredgewidth=1.6,
        )
        ax.text(e, 0, str(e), ha="center", va="center", fontsize=8)
    ax.set_yticks(
        [0, *heights.values()],
        [array, *(_row_text(p, row) for row in heights)],
    )
    _index_axis(ax, p, scale)
    beside = ", ".join(p.beside)
    ax.set_ylabel(beside, rotation=0, ha="right")
    ax.set_ylim(-0.6, len(p.rows) + 0.9)
    ax.set_xlim(-0.8, max(p.elements - 1, max(q.x * scale for q in p.points)) + 0.8)
    ax.set_title(title, fontsize=10, loc="left")
    ax.set_xticks([])
    if below:
        ax.set_xlabel(_text(p), family="monospace", fontsize=8, loc="left")
    for side in ("right", "bottom"):
        ax.spines[side].set_visible(False)


def _row_text(p: Panel, row: tuple[str, tuple[int, ...]]) -> str:
    label, at = row
    numbers = ", ".join(map(str, at))
    return f"{label}; {numbers}" if label and numbers else label or numbers


def _index_axis(ax: Axes, p: Panel, scale: float) -> None:
    """The loop along the axis, above the iterations."""
    if not p.along:
        return
    above = ax.secondary_xaxis("top")
    steps = sorted({q.x for q in p.points})
    labels: Mapping[int, str] = {k: str(k) for k in steps}
    above.set_xticks([k * scale for k in steps], [labels[k] for k in steps], fontsize=8)
    above.set_xlabel(p.along, fontsize=9)
