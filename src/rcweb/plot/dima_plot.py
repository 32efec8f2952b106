"""Mean activities in two conditions against each other (DIMA: differential activity)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rcweb.activity.arguments import activity_table, sample_labels
from rcweb.activity.contrast import contrast
from rcweb.plot.axes import MUTED, axes_or_new, unboxed
from rcweb.plot.labels import name_points
from rcweb.plot.volcano_plot import DOWN, UP

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def dima(
    activities: Any,
    groups: Any,
    a: Any,
    b: Any,
    *,
    q: float = 0.05,
    n: int = 15,
    names: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Mean activity of every regulator in group `a` (across) and in group `b` (up).

    activities, groups : as for `rcweb.activity.contrast`, which decides what has changed; all
        groups with replicates tell how far samples scatter
    a, b : labels of the two groups
    q : false discovery rate below which a change is coloured
    n : names of at most so many of them
    names : ``{id: name}`` to show instead of the columns
    ax : axes to draw on; None: a new figure

    Outside of the grey band, the half width of a typical 95 % interval, a change is unlikely to be
    scatter.

    Examples
    --------
    .. plot::

        >>> import numpy as np
        >>> from rcweb import plot
        >>> rng = np.random.default_rng(0)
        >>> activities = 0.3 * rng.normal(size=(12, 30)) + rng.normal(size=30)
        >>> activities[6:, :4] += [2, -1.5, 1, -2]
        >>> ax = plot.dima(activities, ["wt"] * 6 + ["ko"] * 6, "wt", "ko", names={"rcweb0": "fur"})
    """
    table = activity_table(activities)
    labels = sample_labels(groups, table.index, "groups")
    result = contrast(table[labels.notna()], labels.dropna(), a)
    result = result[result["group"] == b].set_index("regulator")
    if result.empty:
        known = ", ".join(map(repr, list(dict.fromkeys(labels.dropna()))[:10]))
        raise ValueError(f"There is no group {b!r} beside {a!r}; groups are {known}, ...")
    result = result.loc[list(table.columns)]
    x, y = (table[(labels == one).to_numpy()].mean().to_numpy() for one in (a, b))
    sure = (result["q"] < q).to_numpy()
    ax = unboxed(axes_or_new(ax, 5.5, 5.2))
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    ends = np.array([low, high]) + np.array([-0.08, 0.08]) * max(high - low, 1e-12)
    band = float(np.median(result["upper"] - result["change"]))
    ax.fill_between(ends, ends - band, ends + band, color=MUTED, alpha=0.15, linewidth=0)
    ax.plot(ends, ends, color=MUTED, linewidth=0.8)
    ax.scatter(x[~sure], y[~sure], s=14, color=MUTED, linewidths=0, alpha=0.7)
    ax.scatter(x[sure], y[sure], s=24, c=np.where(y > x, UP, DOWN)[sure], linewidths=0)
    ax.set(xlim=ends, ylim=ends, xlabel=f"activity in {a}", ylabel=f"activity in {b}")
    ax.set_aspect("equal")
    ax.set_title(f"{int(sure.sum())} of {len(result)} regulators at q < {q:g}", loc="left")
    order = np.argsort(-np.abs(result["t"].to_numpy()), kind="stable")
    shown = order[sure[order]][:n]
    text = [_name(table.columns[k], names) for k in shown]
    name_points(ax, x, y, shown, text)
    return ax


def _name(identity: Any, names: Mapping[str, str] | None) -> str:
    return str((names or {}).get(str(identity)) or identity)
