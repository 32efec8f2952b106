"""Seconds: against the sizes (figure 4 of the paper), and beside FastICA."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rcweb.lab.benchmark.figures.style import STYLE, WIDTH
from rcweb.lab.benchmark.slopes import NOUNS, SIZES, scaling_exponents

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUP_COLOURS = ("#D55E00", "#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#E69F00")


def scaling_figure(rows: pd.DataFrame) -> Figure:
    """CPU time against P, M and N, exponents with 95 % limits in the legends (figure 4)."""
    import matplotlib.pyplot as plt

    exponents: dict[Any, Any] = {
        (line.method, line.threads, line.size_varied): line
        for line in scaling_exponents(rows).itertuples()
    }
    ok = rows[rows["status"] == "ok"]
    n_lines = len(ok[["method", "threads"]].drop_duplicates())
    fig, axes = plt.subplots(
        1, 3, figsize=(1.2 * WIDTH, 3.8 + 0.17 * n_lines), sharey=True, layout="constrained"
    )
    for ax, (letter, x) in zip(axes, SIZES.items()):
        panel = ok[ok["panel"] == letter]
        for (method, threads), group in panel.groupby(["method", "threads"], sort=False):
            # Points are medians; the exponents in the legend use every fit.
            median = group.groupby(x)["cpu_seconds"].median()
            fit = exponents[method, threads, letter]
            spread = "" if np.isnan(fit.low) else f" [{fit.low:.2f}, {fit.high:.2f}]"
            colour, marker = STYLE[str(method)]
            ax.loglog(
                median.index,
                median,
                color=colour,
                marker=marker,
                ms=5,
                mfc=colour if threads == 1 else "white",
                linestyle="-" if threads == 1 else ":",
                label=f"{method}, {threads} thr.: {fit.exponent:.2f}{spread}",
            )
        ax.set_xlabel(f"{letter}, number of {NOUNS[letter]}")
        values = sorted(panel[x].unique())
        ax.set_xticks(values, [str(v) for v in values])
        ax.minorticks_off()
        ax.grid(alpha=0.25)
        ax.legend(
            fontsize=8,
            frameon=False,
            title="exponent [95 % limits]",
            title_fontsize=8,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.14),
        )
    axes[0].set_ylabel("seconds of CPU time")
    return fig


def speed_figure(summary: pd.DataFrame) -> Figure:
    """Seconds of rcweb against those of FastICA: a point a cell, colours the panels."""
    import matplotlib.pyplot as plt

    index = ["figure", "panel", "label", "threads"]
    wide = summary.pivot(index=index, columns="method", values="seconds").dropna()
    fig, ax = plt.subplots(figsize=(0.8 * WIDTH, 0.6 * WIDTH), layout="constrained")
    colours: dict[str, str] = {}
    for key, part in wide.groupby(level=["figure", "panel", "threads"], sort=False):
        figure, panel, threads = map(str, key)
        name = figure if figure == panel else f"{figure} {panel}"
        colour = colours.setdefault(name, GROUP_COLOURS[len(colours) % len(GROUP_COLOURS)])
        ax.loglog(
            part["fastica"],
            part["rcweb"],
            "o" if threads == "1" else "s",
            color=colour,
            mfc=colour if threads == "1" else "none",
            alpha=0.8,
            label=f"{name}, {threads} thread{'s' if threads != '1' else ''}",
        )
    left, right = ax.get_xlim()
    ends = np.array([left, right])
    ax.plot(ends, ends, color="black", lw=1, label="equal")
    # The limit that rcweb should keep; see `targets`.
    ax.plot(ends, 10 * ends, color="black", lw=1, ls=":", label="ten times")
    ax.set_xlim(left, right)
    ax.set_xlabel("FastICA, seconds")
    ax.set_ylabel("rcweb, seconds")
    ax.grid(alpha=0.25)
    fig.legend(loc="outside right upper", frameon=False)
    return fig
