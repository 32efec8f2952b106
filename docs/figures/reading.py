"""Pictures of docs/reading.md: what a regulator can be, how to rank edges, one from E. coli."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLUE, GREEN, GREY, LIGHT, ORANGE, RED, WIDTH, new_figure, without_ticks

from rcweb import RCweb
from rcweb.engine.matching import match_rows
from rcweb.lab.simulate import simulate


def reading_regulator() -> Figure:
    """Four causes that all show as one regulator: targets that go up and down together."""
    figure, axes = new_figure(2.7, 4)
    kinds = (
        ("direct", "transcription factor", ()),
        ("through others", "signal, stress, growth", ("factor 1", "factor 2")),
        ("part of one", "one of several modes\nof the same factor", ()),
        ("no biology", "batch, contamination,\ncell mixture", ()),
    )
    for panel, (title, cause, between) in zip(axes, kinds):
        _draw_cause(panel, cause, between)
        panel.set_title(title, loc="center")
    return figure


def _draw_cause(axes: Axes, cause: str, between: tuple[str, ...]) -> None:
    x = np.linspace(0.1, 0.9, 5)
    middle = np.linspace(0.28, 0.72, len(between)) if between else np.array([0.5])
    height = 0.5 if between else 1.0
    for n, place in enumerate(x):
        source = middle[int(n >= 3)] if between else 0.5
        _arrow(axes, (source, height - 0.06), (place, 0.06))
    for place, name in zip(middle, between):
        _arrow(axes, (0.5, 0.94), (place, 0.57))
        axes.text(place, 0.5, name, ha="center", va="center", fontsize=7.5,
                  bbox={"boxstyle": "round", "fc": "white", "lw": 0.7})  # fmt: skip
    axes.text(0.5, 1.0, cause, ha="center", va="center", fontsize=8,
              bbox={"boxstyle": "round", "fc": LIGHT, "lw": 0.8, "ls": "--"})  # fmt: skip
    axes.scatter(x, np.zeros(5), s=60, color=BLUE, zorder=3)
    axes.text(0.5, -0.14, "targets", ha="center", va="top")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.3, 1.2))
    without_ticks(axes)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    style = {"arrowstyle": "-|>", "color": GREY, "lw": 1.0, "shrinkA": 0, "shrinkB": 4}
    axes.annotate("", end, start, arrowprops=style)


def reading_ranking() -> Figure:
    """One regulator's variables by weight and probability; and three ways to rank all edges."""
    truth = simulate(
        100, 300, 8, noise=1.0, noise_kind="homoscedastic", random_state=0, regulators="gaussian",
        density=0.15,
    )  # fmt: skip
    # Genes differ in spread, as measured ones do.
    units = np.exp(0.7 * np.random.default_rng(1).standard_normal(300))
    model = RCweb(8, random_state=0).fit(truth.data * units)
    pairs = match_rows(model.weights_ / units, truth.network)
    true = truth.edges[pairs.other]
    weight = np.abs(model.weights_[pairs.found])
    probability = model.edge_probability_[pairs.found]
    score = np.abs(model.edge_score_[pairs.found])
    figure, (left, right) = new_figure(3.0, 2)
    for which, colour, text in ((true[0], BLUE, "target"), (~true[0], RED, "not a target")):
        left.scatter(weight[0][which], probability[0][which], s=13, color=colour, label=text)
    left.set(
        xlabel="size of the weight", ylabel="probability", title="one regulator, 300 variables"
    )
    left.legend(loc="center right", handletextpad=0.1)
    n = np.arange(1, true.sum() + 1)
    for values, colour, text in (
        (score, BLUE, "score"),
        (probability, GREEN, "probability"),
        (weight, ORANGE, "size of the weight"),
    ):
        order = np.argsort(-values, axis=None, kind="stable")[: len(n)]
        right.plot(n, np.cumsum(~true.ravel()[order]) / n, color=colour, label=text)
    right.set(xlabel="edges taken, best first", ylabel="share of false ones", ylim=(-0.01, None))
    right.set_title("all regulators, ranked by ...")
    right.legend(loc="upper left")
    return figure


def reading_ecoli() -> Figure:
    """SoxS of E. coli: its activity with intervals, and its targets."""
    from rcweb.knowledge import name_regulators
    from rcweb.lab.datasets import load_ecoli

    data = load_ecoli()
    X = data.expression
    model = RCweb(92, random_state=0).fit(X)
    names = name_regulators(model, data.known)
    row = names.index[names["name"] == "soxS"][0]
    k = list(model.get_feature_names_out()).index(row)
    sign = float(names.loc[row, "orientation"]) or 1.0
    R, sd = model.transform(X, return_std=True)
    condition = X.index.str.rsplit("__", n=1).str[0]
    groups = {
        "paraquat, wild type": ("oxidative__wt_pq", GREEN),
        r"paraquat, $\Delta$oxyR": ("oxidative__deloxyr_pq", BLUE),
        r"paraquat, $\Delta$soxR": ("oxidative__delsoxr_pq", ORANGE),
        r"paraquat, $\Delta$soxS": ("oxidative__delsoxs_pq", RED),
    }
    figure = Figure(figsize=(WIDTH, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.7, 1])
    number = np.arange(len(X))
    chosen = {text: (condition == group, colour) for text, (group, colour) in groups.items()}
    rest = ~np.any([which for which, _ in chosen.values()], axis=0)
    for text, (which, colour) in {"other samples": (rest, LIGHT), **chosen}.items():
        left.errorbar(number[which], sign * R[which, k], yerr=1.96 * sd[which, k], fmt=".",
                      color=colour, lw=0.9, ms=4 if which is rest else 8, label=text)  # fmt: skip
    left.set(xlabel="sample", ylabel="activity", title="activity, with 95 % intervals")
    left.legend(loc="upper right")
    edges = model.network_.edges()
    edges = edges[edges["regulator"] == row].head(14)[::-1]
    symbol = data.genes["symbol"].reindex(edges["target"]).fillna("")
    known = edges["target"].isin(data.known.members[data.known.names.index("soxS")])
    colours = np.where(known, BLUE, LIGHT)
    right.barh(
        np.arange(len(edges)), sign * edges["weight"], color=colours, edgecolor="black", lw=0.5
    )
    right.set_yticks(np.arange(len(edges)), [s or t for s, t in zip(symbol, edges["target"])])
    right.tick_params(axis="y", labelsize=8)
    right.set(xlabel="weight", title="its surest targets")
    right.bar([0], [0], color=BLUE, label="in RegulonDB")
    right.bar([0], [0], color=LIGHT, label="not listed")
    right.legend(loc="lower right", fontsize=8)
    return figure
