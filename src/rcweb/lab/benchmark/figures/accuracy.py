"""Accuracy against a size, as in figures 1 to 3 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rcweb.lab.benchmark.figures.style import REFERENCES, STYLE, WIDTH, in_order
from rcweb.lab.benchmark.methods import PUBLISHED
from rcweb.lab.benchmark.scenarios import published_figure3
from rcweb.lab.benchmark.slopes import NOUNS, SIZES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# 1 - rho is drawn down to this; below it, rounding of the stored scores shows.
FLOOR = 5e-5
TICKS = (0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999)
# Labels closer than this share of the axis would touch.
APART = 0.055


def accuracy_figure(summary: pd.DataFrame, published: bool = False) -> Figure:
    """One row per panel of the paper, one column per N (unless N is what varies).

    Bars reach from the worst to the best seed; the oracle is black, the sampler started at the
    truth grey. ``1 - rho`` is on a logarithmic scale, which separates methods near 1.
    """
    import matplotlib.pyplot as plt

    grid = _grid(summary)
    n_columns = max(len(row) for row in grid)
    fig, axes = plt.subplots(
        len(grid),
        n_columns,
        figsize=(WIDTH if n_columns > 1 else 0.75 * WIDTH, 3.5 * len(grid)),
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for line, row in zip(axes, grid):
        for ax, part in zip(line, row):
            _panel(ax, part)
            if published:
                _published_points(ax, part)
        for ax in line[len(row) :]:
            ax.set_axis_off()
        line[0].set_ylabel("accuracy |ρ|, 1 − |ρ| on a log scale")
        _error_scale(line[0], pd.concat(row))
    _legend(fig, axes.flat)
    return fig


def _grid(summary: pd.DataFrame) -> list[list[pd.DataFrame]]:
    rows = []
    for _, panel in summary.groupby("panel", sort=False):
        if _varied(panel) == SIZES["N"]:
            rows.append([panel])
        else:
            rows.append([part for _, part in panel.groupby("n_features")])
    return rows


def _varied(part: pd.DataFrame) -> str:
    """The size on the x axis: as in the captions, and the one with most values elsewhere."""
    figure, panel = str(part["figure"].iloc[0]), str(part["panel"].iloc[0])
    if figure == "fig2":
        return SIZES["N" if panel.startswith("C") else "P"]
    known = {"fig1": "P", "fig3": "M"}
    if figure in known:
        return SIZES[known[figure]]
    return max(SIZES.values(), key=lambda name: part[name].nunique())


def _panel(ax: Axes, part: pd.DataFrame) -> None:
    x = _varied(part)
    for method in in_order(set(part["method"])):
        line = part[part["method"] == method].sort_values(x)
        if method in REFERENCES:
            shade = "black" if method == "oracle" else "0.6"
            ax.plot(line[x], line["rho"], color=shade, lw=1.2, label=method, zorder=1)
            continue
        colour, marker = STYLE[method]
        ours = method == "rcweb"
        ax.errorbar(
            line[x],
            line["rho"],
            # A mean of equal seeds may lie beyond them by rounding.
            yerr=np.maximum([line["rho"] - line["rho_min"], line["rho_max"] - line["rho"]], 0),
            color=colour,
            marker=marker,
            ms=5.5 if ours else 4.5,
            lw=2.2 if ours else 1,
            elinewidth=0.8,
            capsize=1.5,
            zorder=3 if ours else 2,
            label=method,
        )
    letter = next(k for k, v in SIZES.items() if v == x)
    ax.set_xlabel(f"{letter}, number of {NOUNS[letter]}")
    ax.set_title(_title(part, letter), loc="left")
    values = sorted(part[x].unique())
    # On a linear axis small sizes would crowd together.
    if values[-1] > 8 * values[0]:
        ax.set_xscale("log")
    ax.set_xticks(values, [str(v) for v in values])
    ax.minorticks_off()
    ax.grid(alpha=0.25)


def _title(part: pd.DataFrame, varied: str) -> str:
    """``A, honest noise: N = 500, M = 2000``: everything that is fixed in the panel."""
    panel = str(part["panel"].iloc[0])
    convention = "honest noise" if "honest" in panel else "author's noise"
    name = panel.split()[0]
    fixed = [
        f"{letter} = {part[column].iloc[0]}" for letter, column in SIZES.items() if letter != varied
    ]
    lead = f"{name}, {convention}" if name in ("A", "B", "C") else convention
    return f"{lead}: {', '.join(fixed)}"


def _error_scale(ax: Axes, parts: pd.DataFrame) -> None:
    """``-log(1 - rho)`` upwards, for all axes that share this one."""

    def up(rho: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(-np.log10(np.maximum(1 - np.asarray(rho, float), FLOOR)))

    def down(y: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(1 - 10 ** -np.asarray(y, float))

    ax.set_yscale("function", functions=(up, down))
    height = float(up(parts["rho"].max())) + 0.12
    ax.set_ylim(0, float(down(height)))
    ticks = [0.0]
    for tick in TICKS:
        # Keep a tick only if its label does not touch the last one.
        if up(ticks[-1]) + APART * height <= up(tick) <= height:
            ticks.append(tick)
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def _published_points(ax: Axes, part: pd.DataFrame) -> None:
    """Large hollow markers in the colours of the methods that repeat them."""
    table = published_figure3()
    table = table[table["panel"].eq(part["panel"].iloc[0]) & table["N"].isin(part["n_features"])]
    for name, points in table.groupby("method"):
        colour, marker = STYLE[PUBLISHED[str(name)]]
        look: dict[str, Any] = {"marker": marker, "ms": 9, "mfc": "none", "mec": colour, "mew": 1.2}
        ax.plot(points["M"], points["rho"], "none", label=f"{name}, published", zorder=4, **look)


def _legend(fig: Any, axes: Any) -> None:
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            # One legend for all panels, each method once.
            entries.setdefault(label, handle)
    fig.legend(list(entries.values()), list(entries), loc="outside right upper", frameon=False)
