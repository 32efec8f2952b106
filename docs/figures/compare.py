"""The picture of docs/compare.md: two halves of the samples of E. coli, side by side."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure


def compare_halves() -> Figure:
    """Which regulators of one half are in the other, too; as in benchmarks/two_fits.py."""
    from rcweb import RCweb, plot
    from rcweb.activity import compare
    from rcweb.knowledge import name_regulators
    from rcweb.lab.datasets import load_ecoli

    data = load_ecoli()
    X = data.expression
    order = np.random.default_rng(0).permutation(len(X))
    networks = []
    for half in (order[: len(X) // 2], order[len(X) // 2 :]):
        model = RCweb(40, random_state=0).fit(X.iloc[np.sort(half)])
        names = name_regulators(model, data.known)["name"]
        networks.append(model.network_.rename({r: n for r, n in names.items() if n}))
    result = compare(*networks, names=("first half", "second half"))
    figure = Figure(figsize=(4.3, 10.4), layout="constrained")
    plot.comparison(result, ax=figure.subplots())
    return figure
