"""Names beside points, placed so that they do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rcweb.engine.types import Array, Ints
from rcweb.plot.axes import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_NAME = 24  # characters of a name
GAP = 5.0  # points between a point and its name
DOT = 2.5  # half the size of a point, in pixels
SIDES = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (0.7, 0.7, "left", "bottom"),
    (-0.7, 0.7, "right", "bottom"),
    (0.7, -0.7, "left", "top"),
    (-0.7, -0.7, "right", "top"),
)


def name_points(
    ax: Axes,
    x: Array,
    y: Array,
    shown: Ints,
    names: Sequence[str],
    size: float = 8,
    bars: Array | None = None,
) -> None:
    """Write names beside the points (x, y) that are `shown`, the most important first; a name
    without room is left out.

    Each is tried on eight sides of its point, against all points, names that are there already,
    `bars` (x from, x to, y: horizontal lines) and the edges of the axes. Call it when limits and
    size of the axes are final.
    """
    ax.figure.canvas.draw()  # layouts move the axes when drawn for the first time
    frame = ax.get_window_extent()
    points = ax.transData.transform(np.column_stack([x, y]))
    taken = [np.array([px - DOT, py - DOT, px + DOT, py + DOT]) for px, py in points]
    for low, high, level in np.empty((0, 3)) if bars is None else bars:
        ends = ax.transData.transform([(low, level), (high, level)])
        taken.append(np.array([*ends[0], *ends[1]]))
    for k, name in zip(shown, names):
        for dx, dy, ha, va in SIDES:
            text = ax.annotate(
                shortened(str(name), LONGEST_NAME), (x[k], y[k]), xytext=(GAP * dx, GAP * dy),
                textcoords="offset points", ha=ha, va=va, fontsize=size,
            )  # fmt: skip
            box = np.array(text.get_window_extent().extents)
            inside = (box[:2] >= frame.min).all() and (box[2:] <= frame.max).all()
            if inside and not _covers(box, taken):
                taken.append(box)
                break
            text.remove()


def _covers(box: Array, taken: list[Array]) -> bool:
    x0, y0, x1, y1 = np.array(taken).T
    return bool(((box[0] < x1) & (box[2] > x0) & (box[1] < y1) & (box[3] > y0)).any())
