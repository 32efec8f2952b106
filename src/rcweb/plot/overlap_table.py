"""The paper's figure 5: which known regulator each one is, how many targets they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rcweb.knowledge.hypergeometric import format_p
from rcweb.plot.axes import MUTED, axes_or_new, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Left edges of the columns in the width of the axes.
COLUMNS = {"regulator": 0.0, "known": 0.11, "bar": 0.22, "p": 0.52, "about": 0.60}


def overlaps(table: pd.DataFrame, *, n: int = 15, ax: Axes | None = None) -> Axes:
    """The `n` most significant rows of `table` as a figure.

    table : of `rcweb.knowledge.name_regulators` (one row per regulator) or of
        `rcweb.knowledge.Overlaps.table`. The bar shows the known targets that were found (dark),
        those that were not (light) and found targets that are not known (outline); beside it p, and
        the top term or else the description
    n : at most so many rows
    ax : axes to draw on; None: a new figure

    Examples
    --------
    .. plot::

        >>> from rcweb import RCweb, plot
        >>> from rcweb.knowledge import GeneSets, name_regulators
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(120, 200, 6, random_state=0)
        >>> targets = [[f"x{i}" for i in row.nonzero()[0]] for row in truth.edges]
        >>> wrong = ["x0", "x1", "x2"]  # in every list, beside all but four of its targets
        >>> known = {f"TF{p}": row[4:] + wrong for p, row in enumerate(targets)}
        >>> about = {"TF0": "iron uptake", "TF1": "answer to DNA damage", "TF2": "motility"}
        >>> sets = GeneSets.from_dict(known, about)
        >>> ax = plot.overlaps(name_regulators(RCweb(6).fit(truth.data), sets))
    """
    rows = _normalised(table).head(n)
    if rows.empty:
        raise ValueError("the table has no row with an overlap: nothing to show.")
    ax = axes_or_new(ax, 10, 0.7 + 0.3 * len(rows))
    widest = (rows["known_size"] + rows["n_targets"] - rows["overlap"]).max()
    unit = (COLUMNS["p"] - COLUMNS["bar"] - 0.06) / widest
    for y, row in enumerate(rows.to_dict("records")):
        ax.text(COLUMNS["regulator"], y, row["regulator"], va="center", fontsize=9, color=MUTED)
        ax.text(COLUMNS["known"], y, row["known"], va="center", fontsize=9, weight="bold")
        _bar(ax, y, row, unit)
        ax.text(COLUMNS["p"], y, format_p(row["log10_p"]), va="center", fontsize=9)
        ax.text(COLUMNS["about"], y, shortened(row["about"], 52), va="center", fontsize=9)
    heads = ("regulator", "known as", "targets shared / known only / new", "p", "function")
    for x, head in zip(COLUMNS.values(), heads):
        ax.text(x, -1, head, va="center", fontsize=9, color=MUTED, style="italic")
    # Downwards, as a table is read; room for the heads above.
    ax.set(xlim=(0, 1), ylim=(len(rows) - 0.4, -1.5))
    ax.set_axis_off()
    return ax


def _bar(ax: Axes, y: int, row: dict[Any, Any], unit: float) -> None:
    parts: tuple[tuple[int, dict[str, Any]], ...] = (
        (row["overlap"], {"color": "#2c5f8a"}),
        (row["known_size"] - row["overlap"], {"color": "#bcd2e6"}),
        (row["n_targets"] - row["overlap"], {"facecolor": "none", "edgecolor": "#2c5f8a"}),
    )
    left = COLUMNS["bar"]
    for width, style in parts:
        ax.barh(y, width * unit, left=left, height=0.62, linewidth=0.6, **style)
        left += width * unit
    text = f"{row['overlap']}/{row['known_size']}"
    ax.text(left + 0.005, y, text, va="center", fontsize=8, color=MUTED)


def _normalised(table: pd.DataFrame) -> pd.DataFrame:
    """The two kinds of table under one set of names."""
    if "best_known" in table:
        table = table.rename_axis(index="regulator").reset_index()
        # The overlap was counted among edges of one sign; the bar must show those.
        table = table.drop(columns="n_targets")
        table = table.rename(columns={"best_known": "known", "n_same_sign": "n_targets"})
    else:
        table = table.rename(columns={"set": "known", "set_size": "known_size"})
    terms = table["top_terms"] if "top_terms" in table else pd.Series("", index=table.index)
    about = terms.fillna("").str.split("; ").str[0]
    table = table.assign(about=about.where(about != "", table["description"].fillna("")))
    table = table[table["overlap"] > 0].sort_values("log10_p", kind="stable")
    counts = ["overlap", "known_size", "n_targets"]
    return table.astype(dict.fromkeys(counts, np.int64))
