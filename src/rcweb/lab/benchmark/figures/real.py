"""Known regulators on the real tables (section 4.4 of the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rcweb.lab.benchmark.figures.style import STYLE, WIDTH, in_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"regulators_met": "distinct known regulators", "pairs": "significant pairs"}


def real_figure(summary: pd.DataFrame) -> Figure:
    """Known regulators met and significant pairs, sd over seeds."""
    import matplotlib.pyplot as plt

    cells, methods = list(summary["label"].unique()), in_order(set(summary["method"]))
    fig, axes = plt.subplots(
        1, 2, figsize=(WIDTH, 1.1 + 0.5 * len(cells)), sharey=True, layout="constrained"
    )
    height = 0.8 / len(methods)
    for ax, (value, title) in zip(axes, TITLES.items()):
        for k, method in enumerate(methods):
            part = summary[summary["method"] == method].set_index("label").reindex(cells)
            bars = ax.barh(
                np.arange(len(cells)) + k * height,
                part[value],
                height,
                xerr=part[f"{value}_sd"].fillna(0),
                color=STYLE[method][0],
                label=method,
            )
            ax.bar_label(bars, fmt="%.0f", padding=3, fontsize=8)
        ax.set_xlabel(title)
        ax.margins(x=0.1)
    ticks = np.arange(len(cells)) + 0.4 - height / 2
    axes[0].set_yticks(ticks, [cell.removeprefix("real ") for cell in cells])
    axes[0].invert_yaxis()
    axes[1].legend(frameon=False, loc="lower right")
    return fig
