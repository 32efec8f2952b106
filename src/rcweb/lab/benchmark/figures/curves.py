"""Known regulators against the number of edges on real tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rcweb.lab.benchmark.figures.style import STYLE, WIDTH, in_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS_ACROSS = 3


def curves_figure(curves: pd.DataFrame, published: pd.DataFrame) -> Figure:
    """A panel per table; full lines with P given, broken lines with P chosen by the method.

    published : columns panel, edges, regulators of the published decompositions, drawn as stars
    """
    import matplotlib.pyplot as plt

    part = curves[curves["signs"] == "together"]
    panels = list(part["panel"].unique())
    n_rows = -(-len(panels) // PANELS_ACROSS)
    figure, axes = plt.subplots(
        n_rows, PANELS_ACROSS, figsize=(WIDTH, 2.6 * n_rows), layout="constrained", squeeze=False
    )
    means = part.groupby(["panel", "asked", "method", "n_edges"])["regulators"].mean()
    for axis, panel in zip(axes.flat, panels):
        for asked, line in (("known", "-"), ("auto", "--")):
            for method in in_order(set(part["method"])):
                if (panel, asked, method) in means.index:
                    mean = means.loc[(panel, asked, method)]
                    colour, marker = STYLE[method]
                    label = method if asked == "known" else f"{method}, P unknown"
                    axis.plot(
                        mean.index, mean, line, color=colour, marker=marker, ms=3, label=label
                    )
        star = published[published["panel"] == panel]
        if len(star):
            axis.plot(star["edges"], star["regulators"], "k*", ms=9, label="published optICA")
        axis.set(xscale="log", title=panel, xlabel="edges", ylabel="known regulators")
    for axis in axes.flat[len(panels) :]:
        axis.axis("off")
    lines = {
        label: line for axis in axes.flat for line, label in zip(*axis.get_legend_handles_labels())
    }
    figure.legend(lines.values(), lines.keys(), frameon=False, loc="outside lower center", ncols=4)
    return figure
