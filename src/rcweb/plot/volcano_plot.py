"""Changes of regulators between two groups against their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rcweb.plot.axes import MUTED, axes_or_new, unboxed
from rcweb.plot.labels import name_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UP, DOWN = "#b2182b", "#2166ac"


def volcano(
    contrasts: pd.DataFrame,
    group: Any = None,
    reference: Any = None,
    *,
    q: float = 0.05,
    n: int = 15,
    names: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Change of every regulator (with its 95 % interval where q is small) against -log10 p.

    contrasts : table of `rcweb.activity.contrast` or `rcweb.activity.changed`
    group, reference : the comparison to show; may be left out where the table has one only
    q : false discovery rate below which a change is coloured
    n : names of at most so many of them
    names : ``{id: name}`` to show; default: the column regulator_name, if there is one
    ax : axes to draw on; None: a new figure

    Examples
    --------
    .. plot::

        >>> import numpy as np
        >>> from rcweb import plot
        >>> from rcweb.activity import contrast
        >>> rng = np.random.default_rng(0)
        >>> activities = rng.normal(size=(12, 40))
        >>> activities[6:, :5] += [4, -3, 2.5, -4, 1.5]
        >>> table = contrast(activities, ["wt"] * 6 + ["ko"] * 6, "wt")
        >>> ax = plot.volcano(table, names={"rcweb0": "fur", "rcweb3": "lexA"})
    """
    rows = one_comparison(contrasts, group, reference)
    ax = unboxed(axes_or_new(ax, 6, 4.5))
    change = rows["change"].to_numpy(dtype=np.float64)
    # The smallest number above 0 stands for those that are too small for one.
    evidence = -np.log10(np.maximum(rows["p"].to_numpy(dtype=np.float64), 1e-300))
    sure = (rows["q"] < q).to_numpy()
    colours = np.where(change > 0, UP, DOWN)
    ax.scatter(change[~sure], evidence[~sure], s=14, color=MUTED, linewidths=0, alpha=0.6)
    low, high = rows[["lower", "upper"]].to_numpy(dtype=np.float64)[sure].T
    if sure.any():
        ax.hlines(evidence[sure], low, high, list(colours[sure]), linewidth=0.7, alpha=0.4)
        ax.scatter(change[sure], evidence[sure], s=22, color=colours[sure], linewidths=0)
    ax.axvline(0, color=MUTED, linewidth=0.8)
    first = rows.iloc[0]
    ax.set(xlabel=f"change of activity, {first['group']} - {first['reference']}", ylabel="-log10 p")
    ax.set_ylim(0, max(1.0, evidence.max() * 1.08))
    ax.margins(x=0.12)
    ax.set_title(f"{int(sure.sum())} of {len(rows)} regulators at q < {q:g}", loc="left")
    shown = np.flatnonzero(sure)[np.argsort(-evidence[sure], kind="stable")][:n]
    labels = names_of(rows, names)
    bars = np.column_stack([low, high, evidence[sure]])
    name_points(ax, change, evidence, shown, [labels[k] for k in shown], bars=bars)
    return ax


def one_comparison(contrasts: pd.DataFrame, group: Any, reference: Any) -> pd.DataFrame:
    """The rows of one pair of groups; ValueError if there are none, or more than one pair."""
    rows = contrasts
    for title, wanted in (("group", group), ("reference", reference)):
        if wanted is not None:
            rows = rows[rows[title] == wanted]
    pairs = list(dict.fromkeys(zip(rows["group"], rows["reference"])))
    if len(pairs) == 1:
        return rows
    if not pairs:
        known = list(dict.fromkeys(zip(contrasts["group"], contrasts["reference"])))[:5]
        raise ValueError(
            f"The table does not compare {group!r} with {reference!r}; it compares "
            + ", ".join(f"{a!r} with {b!r}" for a, b in known)
            + ", ..."
        )
    raise ValueError(
        f"The table holds {len(pairs)} comparisons, such as {pairs[0][0]!r} with {pairs[0][1]!r}; "
        "say which with group= and reference=."
    )


def names_of(rows: pd.DataFrame, names: Mapping[str, str] | None) -> list[str]:
    """The names to show of the regulators in a table."""
    ids = rows["regulator"].astype(str)
    if names is None:
        shown = rows.get("regulator_name", ids)
        return [str(name) for name in shown]
    return [str(names.get(identity) or identity) for identity in ids]
