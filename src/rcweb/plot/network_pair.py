"""A found network beside the true one, aligned so that the eye can compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.matching import match_rows
from rcweb.engine.types import Array
from rcweb.plot.axes import SIGNED, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def networks(
    true: Any, found: Any, *, n_features: int | None = 150, ax: Sequence[Axes] | None = None
) -> Sequence[Axes]:
    """Two heat maps side by side: the true network, and the found one in its order, sign and scale.

    true, found : (regulators, variables); the found rows are assigned one to one to the true ones,
        and a true row without a partner stays empty
    n_features : at most this many variables are drawn, evenly picked; None draws all. They are
        sorted by their strongest true regulator
    ax : two axes, or None for a new figure

    Returns the two axes. The mean |correlation| of matched rows stands in the title.

    Examples
    --------
    .. plot::

        >>> from rcweb import RCweb, plot
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(100, 150, 12, noise=0.3, random_state=0)
        >>> axes = plot.networks(truth.network, RCweb(12).fit(truth.data).components_)
    """
    C, aligned, rho = _aligned(np.asarray(true, float), np.asarray(found, float))
    shown = _column_order(C, n_features)
    if ax is None:
        size = (9, max(2.2, 0.9 + 0.09 * len(C)))
        ax = pyplot().subplots(1, 2, figsize=size, layout="constrained", sharey=True)[1]
    if len(ax) != 2:
        raise ValueError(f"networks draws on two axes, not {len(ax)}.")
    # Not the maximum: one large weight would fade the rest.
    limit = float(np.quantile(np.abs(C[C != 0]), 0.98)) if C.any() else 1.0
    titles = ("true network", f"found, mean correlation {rho:.3f}")
    for one, values, title in zip(ax, (C, aligned), titles):
        image = one.imshow(
            values[:, shown], aspect="auto", cmap=SIGNED, vmin=-limit, vmax=limit,
            interpolation="nearest",
        )  # fmt: skip
        one.set_title(title, loc="left", fontsize=10)
        one.set(xlabel="measured variables", xticks=[], yticks=[])
    ax[0].set_ylabel("regulators")
    ax[1].figure.colorbar(image, ax=list(ax), label="weight", shrink=0.8, pad=0.01)
    return ax


def _aligned(true: Array, found: Array) -> tuple[Array, Array, float]:
    pairs = match_rows(found, true)
    aligned, rho = np.zeros_like(true), np.zeros(len(true))
    aligned[pairs.other] = found[pairs.found] * pairs.scale[:, None]
    rho[pairs.other] = np.abs(pairs.correlation)
    return true, aligned, float(rho.mean())


def _column_order(C: Array, n_features: int | None) -> NDArray[np.intp]:
    """Targets of the first regulator first, of the second next: a staircase shows the structure."""
    columns = np.arange(C.shape[1])
    if n_features is not None and n_features < len(columns):
        columns = np.linspace(0, len(columns) - 1, n_features).round().astype(np.intp)
    strongest = np.abs(C[:, columns]).argmax(axis=0)
    size = np.abs(C[:, columns]).max(axis=0)
    return columns[np.lexsort((-size, strongest))]
