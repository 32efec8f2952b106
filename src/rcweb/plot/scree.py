"""The singular values of the table and the chosen number of regulators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rcweb.plot.axes import MUTED, axes_or_new, unboxed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def spectrum(
    source: Any,
    n_components: int | None = None,
    *,
    noise: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Singular values on a log scale; those of the chosen dimensions filled, the rest open.

    source : fitted ``RCweb``, or singular values
    n_components : the chosen number; default: that of the model, or all
    noise : singular value that noise alone would reach, drawn as a line
    ax : axes to draw on; None: a new figure

    Examples
    --------
    .. plot::

        >>> import numpy as np
        >>> from rcweb import plot
        >>> from rcweb.simulate import simulate
        >>> X = simulate(100, 80, 6, noise=0.5, random_state=0).data
        >>> s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
        >>> ax = plot.spectrum(s[:40], 6, noise=s[6])
    """
    if hasattr(source, "fit"):
        check_is_fitted(source)
    values = np.asarray(getattr(source, "singular_values_", source), dtype=np.float64)
    chosen = getattr(source, "n_components_", None) if n_components is None else n_components
    if values.ndim != 1 or not len(values):
        raise ValueError("spectrum needs a list of singular values or a fitted model.")
    chosen = len(values) if chosen is None else int(chosen)
    ax = unboxed(axes_or_new(ax, 5, 3.2))
    rank = np.arange(1, len(values) + 1)
    # What rounding leaves of dimensions that are not there would stretch the axis over nothing.
    inside, positive = rank <= chosen, values > 1e-10 * values.max()
    style: dict[str, Any] = {
        "markersize": 4,
        "linestyle": "none",
        "marker": "o",
        "color": "#1f4e79",
    }
    ax.plot(rank[inside & positive], values[inside & positive], **style)
    ax.plot(rank[~inside & positive], values[~inside & positive], markerfacecolor="none", **style)
    ax.axvline(chosen + 0.5, color=MUTED, linewidth=1, linestyle="--")
    ax.annotate(
        f"P = {chosen}", (chosen + 0.5, 1), xycoords=("data", "axes fraction"),
        xytext=(-4, -4), textcoords="offset points", va="top", ha="right", color="#44546a",
    )  # fmt: skip
    if noise is not None:
        ax.axhline(noise, color="#b2182b", linewidth=1)
        ax.annotate(
            "noise", (1, noise), xycoords=("axes fraction", "data"),
            xytext=(-2, 3), textcoords="offset points", ha="right", color="#b2182b",
        )  # fmt: skip
    ax.set(xlabel="dimension", ylabel="singular value")
    # A log axis without a positive value raises a warning.
    if positive.any():
        ax.set_yscale("log")
    return ax
