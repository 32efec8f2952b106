"""Regulators of two fits and which of them belong together."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import pandas as pd

from rcweb.activity import Comparison
from rcweb.plot.axes import MUTED, axes_or_new, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1c2430"
LINKS = {"same": "#0072b2", "split": "#d55e00", "merged": "#009e73", "regrouped": "#cc79a7"}
_MOST_ROWS = 50  # links in a column of the figure; more make a further column
_WIDTH = 3.6  # inches of a column
_ROW = 0.17  # inches of a line of text
_LABEL = 22  # characters of a name
_CHARACTERS = 52  # of a line of notes, for each column


def comparison(result: Comparison, *, ax: Axes | None = None) -> Axes:
    """Regulators of A on the left, of B on the right, a line between those that belong together.

    result : of `rcweb.activity.compare`
    ax : axes to draw on; None: a new figure

    The wider the line, the larger |correlation| of their weights, which stands beside it; colours
    are relations. Regulators without a partner are listed below. Many links go into several
    columns.

    Examples
    --------
    .. plot::

        >>> import pandas as pd
        >>> from rcweb import plot
        >>> from rcweb.activity import compare
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(2, 400, 8, random_state=0)
        >>> first = pd.DataFrame(truth.network, index=[f"rcweb{p}" for p in range(8)])
        >>> second = first.iloc[::-1].set_axis([f"rcweb{p}" for p in range(8)])
        >>> second.iloc[0] += second.iloc[1]  # two of the first are one of the second
        >>> second = second.drop(index=["rcweb1", "rcweb5"])
        >>> ax = plot.comparison(compare(first, second, names=("first study", "second study")))
    """
    layout = _LinkLayout.of(result)
    ax = axes_or_new(ax, *layout.size)
    columns, n_columns, tallest = layout.places, layout.n_columns, layout.tallest
    for group, (column, bottom) in zip(layout.groups, columns):
        _draw_group(ax, group, column, bottom)
    for column in range(n_columns if layout.groups else 0):
        for x, name, align in ((0.36, result.names[0], "right"), (0.64, result.names[1], "left")):
            _write(ax, column + x, 0, shortened(_plain(name), _LABEL), ha=align, weight="bold")
    for k, (text, colour) in enumerate(layout.notes):
        _write(ax, 0.02, tallest + 2 + k, text, color=colour)
    ax.set(xlim=(0, n_columns), ylim=(tallest + 1.5 + len(layout.notes), -1))
    ax.set_axis_off()
    return ax


def figure_size(result: Comparison) -> tuple[float, float]:
    """Width and height, in inches, in which the text is readable."""
    return _LinkLayout.of(result).size


@dataclass(frozen=True)
class _LinkLayout:
    """Groups of regulators, their column and last line, and the notes below."""

    groups: list[pd.DataFrame]
    places: list[tuple[int, float]]
    notes: list[tuple[str, str]]
    n_columns: int

    @classmethod
    def of(cls, result: Comparison) -> _LinkLayout:
        groups = _groups(result.table)
        places = _in_columns([max(len(set(g["a"])), len(set(g["b"]))) for g in groups])
        n_columns = 1 + max((column for column, _ in places), default=0)
        return cls(groups, places, _notes(result, n_columns), n_columns)

    @property
    def tallest(self) -> float:
        return max((bottom for _, bottom in self.places), default=0.0)

    @property
    def size(self) -> tuple[float, float]:
        return _WIDTH * self.n_columns, 0.5 + _ROW * (self.tallest + 2 + len(self.notes))


def _groups(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Rows of regulators that belong together, in the order of the table."""
    linked = table[table["relation"].isin(list(LINKS))]
    groups: list[list[int]] = []
    for n, (a, b) in enumerate(zip(linked["a"], linked["b"])):
        # Rows of a group follow each other and share a regulator.
        before = linked.iloc[groups[-1]] if groups else linked.iloc[:0]
        if a in set(before["a"]) or b in set(before["b"]):
            groups[-1].append(n)
        else:
            groups.append([n])
    return [linked.iloc[rows] for rows in groups]


def _in_columns(heights: list[int]) -> list[tuple[int, float]]:
    """Column and last line of every group; columns are about equally tall."""
    total = sum(heights)
    n_columns = max(1, -(-total // _MOST_ROWS))
    limit = -(-total // n_columns)
    places, column, line = [], 0, 0
    for height in heights:
        if line and line + height > limit and column < n_columns - 1:
            column, line = column + 1, 0
        line += height
        places.append((column, float(line)))
    return places


def _draw_group(ax: Axes, group: pd.DataFrame, column: int, bottom: float) -> None:
    left, right = (list(dict.fromkeys(group[side])) for side in "ab")
    height = max(len(left), len(right))
    middle = bottom - (height - 1) / 2
    # The shorter side stands in the middle of the longer one.
    where = {
        side: {key: middle + k - (len(keys) - 1) / 2 for k, key in enumerate(keys)}
        for side, keys in (("a", left), ("b", right))
    }
    for row in group.to_dict("records"):
        ends = (where["a"][row["a"]], where["b"][row["b"]])
        strength = abs(row["correlation"])
        colour = LINKS[row["relation"]]
        ax.plot(
            [column + 0.38, column + 0.62], ends, color=colour, alpha=0.75,
            linewidth=0.6 + 3.4 * strength, solid_capstyle="round",
        )  # fmt: skip
    names = {side: dict(zip(group[side], group[f"{side}_name"])) for side in "ab"}
    for side, x, align in (("a", 0.36, "right"), ("b", 0.64, "left")):
        for key, y in where[side].items():
            _write(ax, column + x, y, shortened(_label(key, names[side][key]), _LABEL), ha=align)
    if len(group) == 1:
        number = f"{group['correlation'].abs().iloc[0]:.2f}"
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
        _write(ax, column + 0.5, bottom, number, ha="center", fontsize=6.5, bbox=box)


def _write(ax: Axes, x: float, y: float, text: str, **style: Any) -> None:
    # A name with two "$" is no formula.
    ax.text(x, y, text, parse_math=False, **{"va": "center", "fontsize": 8, "color": INK, **style})


def _label(key: str, name: str) -> str:
    return _plain(key if key == name else f"{name} ({key})")


def _plain(text: str) -> str:
    """Without characters that cannot be drawn, such as line breaks."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _notes(result: Comparison, n_columns: int) -> list[tuple[str, str]]:
    """Lines of text and their colours: relations, then regulators without a partner."""
    table, (A, B) = result.table, tuple(map(_plain, result.names))
    words = {
        "same": "one to one",
        "split": f"one of {A}, several of {B}",
        "merged": f"several of {A}, one of {B}",
        "regrouped": "several of both",
    }
    lines = [
        (f"{relation}: {words[relation]} ({n} links)", colour)
        for relation, colour in LINKS.items()
        if (n := int((table["relation"] == relation).sum()))
    ]
    for relation, side, name in (("lost", "a", A), ("new", "b", B)):
        rows = table[table["relation"] == relation]
        labels = [_label(*pair) for pair in zip(rows[side], rows[f"{side}_name"])]
        if labels:
            # A name is not broken at its own spaces.
            text = ", ".join(label.replace(" ", "\u00a0") for label in labels)
            lines.append((f"in {name} alone: {text}", INK))
    untested = table[table["relation"] == "untested"]
    if len(untested):
        numbers = [int(untested[side].notna().sum()) for side in "ab"]
        text = f"too few common edges to compare: {numbers[0]} of {A}, {numbers[1]} of {B}"
        lines.append((text, MUTED))
    width = _CHARACTERS * n_columns
    return [
        (part, colour)
        for text, colour in lines
        for part in wrap(text, width, subsequent_indent="    ", break_long_words=False)
    ]
