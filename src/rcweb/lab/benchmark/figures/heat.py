"""Who wins where: every method in every cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rcweb.lab.benchmark.figures.style import REFERENCES, in_order
from rcweb.lab.benchmark.summary import DRAW, short_labels, wide_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def heat_map(summary: pd.DataFrame) -> Figure:
    """Accuracy of every method in every cell, the best blind one framed; references last."""
    import matplotlib.pyplot as plt

    table = wide_table(summary, "rho")
    table = table[in_order(set(table.columns))]
    blind = table.drop(columns=list(REFERENCES & set(table.columns))).max(axis=1).to_numpy()
    labels = short_labels(summary)
    beside = 0.3 + 0.075 * max(map(len, labels))
    size = (max(beside + 0.52 * table.shape[1], 3.2), 1.5 + 0.23 * len(table))
    fig, ax = plt.subplots(figsize=size, layout="constrained")
    ax.imshow(table, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    for j, name in enumerate(table.columns):
        for i, value in enumerate(table[name].to_numpy(dtype=float)):
            if np.isnan(value):
                continue
            wins = name not in REFERENCES and value >= blind[i] - DRAW
            ax.text(
                j,
                i,
                f"{value:.3f}",
                ha="center",
                va="center",
                fontsize=8,
                color="black" if value > 0.55 else "white",
                fontweight="bold" if wins else "normal",
            )
            if wins:
                box = (j - 0.47, i - 0.45)
                ax.add_patch(plt.Rectangle(box, 0.94, 0.9, fill=False, ec="#D55E00", lw=1.8))
    n_blind = len(set(table.columns) - REFERENCES)
    ax.axvline(n_blind - 0.5, color="white", lw=4)
    ax.set_xticks(range(table.shape[1]), list(table.columns), rotation=40, ha="right")
    ax.set_yticks(range(len(table)), labels, fontsize=8.5)
    fig.suptitle("accuracy, mean |ρ| one to one\nframed: the best of its cell", fontsize=9)
    return fig
