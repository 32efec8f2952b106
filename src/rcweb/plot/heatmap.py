"""Activities of regulators over samples, with the groups of samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rcweb.plot.axes import SIGNED, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def activities(values: Any, *, groups: Sequence[Any] | None = None, ax: Axes | None = None) -> Axes:
    """Heat map of activities, regulators down, samples across.

    values : (samples, regulators), a DataFrame for names; each regulator in units of its own
        standard deviation, since its scale is arbitrary
    groups : one per sample; samples are put together by group, in order of first appearance
    ax : axes to draw on; None: a new figure

    Examples
    --------
    .. plot::

        >>> from rcweb import RCweb, plot
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(60, 80, 6, regulators="autocorrelated", random_state=0)
        >>> model = RCweb(6).fit(truth.data)
        >>> groups = [f"series {m // 20 + 1}" for m in range(60)]
        >>> model = model.set_output(transform="pandas")  # for the names of regulators
        >>> ax = plot.activities(model.transform(truth.data), groups=groups)
    """
    table = pd.DataFrame(values)
    if groups is not None and len(groups) != len(table):
        raise ValueError(f"{len(groups)} groups for {len(table)} samples.")
    M, P = table.shape
    ax = axes_or_new(ax, 9, 1.2 + 0.18 * P)
    labels = [""] * M if groups is None else [str(g) for g in groups]
    # Reversed, so that the first appearance of a label wins.
    first = {label: m for m, label in reversed(list(enumerate(labels)))}
    order = sorted(range(M), key=lambda m: first[labels[m]])
    Z = table.to_numpy(dtype=np.float64)[order].T
    spread = Z.std(axis=1, keepdims=True)
    Z = np.divide(Z - Z.mean(axis=1, keepdims=True), spread, out=np.zeros_like(Z), where=spread > 0)
    # Fixed limits: one extreme sample must not fade all others.
    image = ax.imshow(Z, aspect="auto", cmap=SIGNED, vmin=-3, vmax=3, interpolation="nearest")
    ax.set_yticks(range(P), [str(c) for c in table.columns], fontsize=8)
    ax.set_xticks([])
    ax.tick_params(length=0)
    if groups is not None:
        _mark_groups(ax, [labels[m] for m in order])
    else:
        ax.set_xlabel(f"{M} samples")
    ax.figure.colorbar(image, ax=ax, label="activity (own s.d.)", shrink=0.6, pad=0.01)
    return ax


def _mark_groups(ax: Axes, labels: list[str]) -> None:
    """A line between groups, and a name under each group that has room for one."""
    room = 0.02 * len(labels)
    start, ticks, names = 0, [-room], [""]
    for label, members in groupby(labels):
        width = len(list(members))
        if start:
            ax.axvline(start - 0.5, color="black", linewidth=0.6)
        middle = start + (width - 1) / 2
        # Names of narrow groups would overlap.
        if middle - ticks[-1] >= room:
            ticks.append(middle)
            names.append(label)
        start += width
    ax.set_xticks(ticks[1:], names[1:], rotation=60, ha="right", rotation_mode="anchor", fontsize=8)
