"""Regulators against columns of a sample sheet, as a heat map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rcweb.plot.axes import SIGNED, axes_or_new, shortened
from rcweb.plot.volcano_plot import names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_EVIDENCE = 10.0  # -log10 q beyond which colours no longer change


def associations(
    table: pd.DataFrame,
    *,
    q: float = 0.05,
    n: int = 30,
    names: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """-log10 q of associations, with the sign of the correlation (categories: positive).

    table : of `rcweb.activity.associate`
    q : associations below it are marked with their effect (rank correlation, or eta^2)
    n : at most so many regulators, those with the surest associations first, are shown
    names : ``{id: name}`` to show; default: the column regulator_name, if there is one
    ax : axes to draw on; None: a new figure

    Examples
    --------
    .. plot::

        >>> import numpy as np
        >>> import pandas as pd
        >>> from rcweb import plot
        >>> from rcweb.activity import associate
        >>> rng = np.random.default_rng(0)
        >>> activities = rng.normal(size=(60, 8))
        >>> sheet = pd.DataFrame(
        ...     {
        ...         "growth rate": activities[:, 0] - activities[:, 3] + rng.normal(size=60),
        ...         "temperature": activities[:, 1] + 0.5 * rng.normal(size=60),
        ...         "medium": np.where(activities[:, 5] > 0.3, "rich", "minimal"),
        ...     }
        ... )
        >>> ax = plot.associations(associate(activities, sheet))
    """
    if table.empty:
        raise ValueError("the table has no association: nothing to show.")
    shown = dict(zip(table["regulator"], names_of(table, names)))
    best = table.groupby("regulator", sort=False)["q"].min().sort_values(kind="stable")
    rows = list(best.index[:n])
    columns = list(dict.fromkeys(table["column"]))
    evidence = -np.log10(np.maximum(table["q"].to_numpy(dtype=np.float64), 1e-300))
    sign = np.where(table["kind"] == "category", 1.0, np.sign(table["effect"]))
    cells = table.assign(value=sign * np.minimum(evidence, MOST_EVIDENCE))
    value, effect, level = (
        cells.pivot(index="regulator", columns="column", values=what)
        .loc[rows, columns]
        .to_numpy(dtype=np.float64)
        for what in ("value", "effect", "q")
    )
    ax = axes_or_new(ax, 2.6 + 0.62 * len(columns), 1.8 + 0.24 * len(rows))
    image = ax.imshow(value, aspect="auto", cmap=SIGNED, vmin=-MOST_EVIDENCE, vmax=MOST_EVIDENCE)
    for i, j in np.argwhere(level < q):
        # On a dark cell white can be read.
        dark = abs(value[i, j]) > 0.6 * MOST_EVIDENCE
        ax.text(
            j, i, f"{effect[i, j]:.2f}".replace("0.", ".", 1), ha="center", va="center",
            fontsize=7, color="white" if dark else "black",
        )  # fmt: skip
    ax.set_yticks(range(len(rows)), [shortened(shown[r], 24) for r in rows], fontsize=8)
    ax.set_xticks(
        range(len(columns)), [shortened(c, 28) for c in columns], rotation=45, ha="right",
        rotation_mode="anchor", fontsize=8,
    )  # fmt: skip
    ax.tick_params(length=0)
    ax.figure.colorbar(image, ax=ax, label="-log10 q, signed", shrink=0.7, pad=0.02)
    if len(best) > n:
        ax.set_title(f"{n} of {len(best)} regulators", loc="left", fontsize=10)
    return ax
