"""One regulator: its targets with weights and probabilities."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rcweb.knowledge.labels import as_network
from rcweb.plot.axes import axes_or_new, unboxed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def targets(
    network: Any,
    regulator: str,
    *,
    n: int = 30,
    known: Collection[str] = (),
    labels: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Weights of the `n` surest targets of `regulator`; the darker the bar, the surer the edge.

    network : fitted ``RCweb``, `rcweb.network.Network` or DataFrame of weights
    regulator : its name or its id; ValueError if there is none
    n : at most so many targets
    known : targets known from elsewhere, marked with a dot
    labels : ``{id: name}`` of targets to show instead of those in the network
    ax : axes to draw on; None: a new figure

    Examples
    --------
    .. plot::

        >>> from rcweb import RCweb, plot
        >>> from rcweb.simulate import simulate
        >>> truth = simulate(60, 150, 4, noise=0.6, random_state=0)
        >>> model = RCweb(4).fit(truth.data).set_names({"rcweb0": "fur"})
        >>> ax = plot.targets(model, "fur", n=12, known=["x76", "x97", "x45", "x23"])
    """
    net = as_network(network)
    p = net.position(regulator)
    order = np.argsort(-np.abs(net.score[p]), kind="stable")
    shown = np.array([i for i in order if net.weights[p, i] != 0][:n], dtype=np.intp)
    # Chosen by certainty, then sorted by weight, so that activation and repression separate.
    shown = shown[np.argsort(-net.weights[p, shown], kind="stable")]
    ax = unboxed(axes_or_new(ax, 4.5, 1.2 + 0.2 * max(len(shown), 3)))
    weights, sure = net.weights[p, shown], net.probability[p, shown]
    cmap = _probability_map()
    ax.barh(range(len(shown)), weights, color=cmap(sure), edgecolor="#44546a", linewidth=0.5)
    names = [net.targets[i] for i in shown]
    label_of = dict(zip(net.targets, net.target_names)) | dict(labels or {})
    ax.set_yticks(range(len(shown)), [label_of[t] for t in names], fontsize=8)
    dots = [y for y, t in enumerate(names) if t in known]
    if dots:
        tips = weights[dots] + np.sign(weights[dots]) * 0.02 * np.abs(weights).max()
        ax.plot(tips, dots, "o", color="#d95f02", markersize=4, label="known target")
        ax.legend(loc="lower right", frameon=False, fontsize=8)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set(ylim=(len(shown) - 0.4, -0.6), xlabel="weight")
    total = int((net.weights[p] != 0).sum())
    number = f"{total}" if total <= n else f"{n} of {total}"
    ax.set_title(f"{net.regulator_labels[p]}: {number} targets", loc="left", fontsize=10)
    _probability_bar(ax, cmap)
    return ax


def _probability_map() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("probability", ["#ffffff", "#c6d9ec", "#1f4e79"])


def _probability_bar(ax: Axes, cmap: Any) -> None:
    from matplotlib.cm import ScalarMappable

    ax.figure.colorbar(
        ScalarMappable(cmap=cmap),
        ax=ax,
        label="probability",
        shrink=0.5,
        pad=0.02,
        ticks=[0, 0.5, 1],
    )
