"""Pictures of docs/paper.md: the published method on tables small enough to see."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLUE, GREEN, GREY, LIGHT, ORANGE, RED, WIDTH, new_figure, without_ticks

from rcweb.engine.basis import median_noise, noise_edge, thin_svd, truncated_svd
from rcweb.engine.paper.column import Problem, SwitchBack
from rcweb.engine.paper.columns import find_columns
from rcweb.lab.benchmark.store import read_rows
from rcweb.lab.simulate import Simulation, simulate

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


# The colours of signs: negative, none, positive.
SIGNED = LinearSegmentedColormap.from_list("signed", [ORANGE, "white", BLUE])


def paper_model() -> Figure:
    """A network of three hidden regulators, and the product of matrices that it stands for."""
    rng = np.random.default_rng(3)
    C = np.zeros((3, 9))
    C[0, [0, 1, 2, 3]] = [1, 0.8, -0.7, 0.9]
    C[1, [3, 4, 5]] = [-0.8, 1, 0.7]
    C[2, [5, 6, 7, 8]] = [0.9, -1, 0.8, 1]
    R = rng.standard_normal((6, 3))
    figure = Figure(figsize=(WIDTH, 2.7), layout="constrained")
    network, matrices = figure.subplots(1, 2, width_ratios=[1, 1.5])
    _draw_network(network, C)
    network.set_title("a sparse network ...")
    _draw_product(matrices, R, C)
    matrices.set_title("... is a product of two matrices")
    return figure


def _draw_network(axes: Axes, C: np.ndarray) -> None:
    P, N = C.shape
    x = np.linspace(0, 1, N)
    top = np.linspace(0.15, 0.85, P)
    for p, n in np.argwhere(C):
        colour = BLUE if C[p, n] > 0 else ORANGE
        axes.plot([top[p], x[n]], [1, 0], color=colour, lw=2.4 * abs(C[p, n]), zorder=1)
    axes.scatter(top, np.ones(P), s=190, color="white", edgecolor="black", linestyle="--", zorder=2)
    axes.scatter(x, np.zeros(N), s=110, color=LIGHT, edgecolor="black", zorder=2)
    axes.text(0.5, 1.22, "hidden regulators", ha="center")
    axes.text(0.5, -0.34, "measured variables", ha="center")
    axes.set(xlim=(-0.08, 1.08), ylim=(-0.45, 1.4))
    without_ticks(axes)


def _draw_product(axes: Axes, R: np.ndarray, C: np.ndarray) -> None:
    M = len(R)
    left = 0.0
    for matrix, sign, label in (
        (R @ C, "=", "G\nsamples x variables"),
        (R, "·", "R\nactivities"),
        (C, "+ noise", "C\nnetwork, mostly zeros"),
    ):
        rows, columns = matrix.shape
        bottom = (M - rows) / 2
        limit = np.abs(matrix).max()
        axes.imshow(
            matrix, cmap=SIGNED, vmin=-limit, vmax=limit,
            extent=(left, left + columns, bottom, bottom + rows), interpolation="nearest",
        )  # fmt: skip
        axes.add_patch(Rectangle((left, bottom), columns, rows, fill=False, lw=0.8))
        axes.text(left + columns / 2, -0.4, label, ha="center", va="top", fontsize=8)
        axes.text(left + columns + 0.6, M / 2, sign, va="center", fontsize=12)
        left += columns + (1.9 if sign != "+ noise" else 0)
    axes.set(xlim=(-0.3, left + 4.2), ylim=(-2.0, M + 0.6), aspect="equal")
    without_ticks(axes)


def paper_rotation() -> Figure:
    """Two regulators: variables with one regulator lie on two lines through the origin."""
    truth = simulate(400, 90, 2, density=0.42, noise=0.05, random_state=8, weights="bounded",
                     regulators="correlated")  # fmt: skip
    basis = truncated_svd(truth.data - truth.data.mean(axis=0), 2)
    V = basis.V
    edges = truth.edges
    one, two = edges[0] & ~edges[1], edges[1] & ~edges[0]
    kinds = (
        (one, BLUE, "regulator 1 only"),
        (two, ORANGE, "regulator 2 only"),
        (edges.all(axis=0), GREEN, "both"),
        (~edges.any(axis=0), GREY, "none"),
    )
    # Where a variable of one regulator lies, the row of the other is zero.
    B = np.column_stack([_across(V[two]), _across(V[one])])
    figure, (left, right) = new_figure(3.3, 2)
    span = 1.12 * np.abs(V).max()
    for rows, shade in ((V[one], BLUE), (V[two], ORANGE)):
        along = np.linalg.svd(rows)[2][0] * span * 1.3
        left.plot([-along[0], along[0]], [-along[1], along[1]], color=shade, lw=0.9, ls=":")
    for which, shade, _ in kinds:
        left.scatter(*V[which].T, s=16, color=shade)
    left.axhline(0, color="black", lw=0.6)
    left.axvline(0, color="black", lw=0.6)
    for b, shade, name in ((B[:, 0], BLUE, "$b_1$"), (B[:, 1], ORANGE, "$b_2$")):
        b = b if b[0] > 0 else -b
        tip = 0.75 * span * b
        left.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "-|>", "color": shade, "lw": 1.8})
        left.text(*(1.12 * tip), name, color=shade, ha="center", va="center", fontsize=11)
    left.set(xlim=(-span, span), ylim=(-span, span), aspect="equal", xticks=[], yticks=[])
    left.set(xlabel="first singular vector", ylabel="second")
    left.set_title("rows of V: one point per variable")
    C = V @ B
    span = 1.12 * np.abs(C).max()
    right.axhline(0, color=ORANGE, lw=0.9, ls=":")
    right.axvline(0, color=BLUE, lw=0.9, ls=":")
    for which, shade, text in kinds:
        right.scatter(*C[which].T, s=16, color=shade, label=text)
    right.set(xlim=(-span, span), ylim=(-span, span), aspect="equal", xticks=[], yticks=[])
    right.set(xlabel="weight of regulator 1:  $V b_1$", ylabel="weight of regulator 2:  $V b_2$")
    right.set_title("the same, turned by B: most weights are zero")
    figure.legend(loc="outside lower center", ncols=4, handletextpad=0.1)
    return figure


def _across(rows: np.ndarray) -> np.ndarray:
    """The direction in which these rows have least power: the paper's smallest singular vector."""
    return np.linalg.svd(rows)[2][-1]


@cache
def _small() -> tuple[Simulation, Problem]:
    truth = simulate(120, 60, 5, density=0.25, noise=0.0, random_state=2)
    basis = truncated_svd(truth.data, 5)
    return truth, Problem(V=basis.V, s=basis.s, noise=basis.noise, degree=None)


def paper_search() -> Figure:
    """One column: the smallest singular value while rows leave, and the row of C as it clears."""
    truth, problem = _small()
    found = find_columns(problem, SwitchBack())
    trace, V = found.traces[0], problem.V
    removed = trace.omega_minus
    b = found.B[:, 0]
    corr = np.abs(np.corrcoef(np.vstack([(V @ b)[None], truth.network]))[0, 1:])
    edges = truth.edges[corr.argmax()]
    figure, axes = new_figure(2.7, 4, width_ratios=[1.5, 1, 1, 1])
    line = axes[0]
    line.plot(np.arange(1, len(removed) + 1), 1 / np.maximum(trace.lam, 1), color=BLUE, marker=".")
    line.set(xlabel="rows removed", ylabel=r"$\lambda_{max}^{-1}$", ylim=(-0.04, 1.02))
    line.set_title("how far from singular")
    for k, panel in zip((1, len(removed) // 2, len(removed)), axes[1:]):
        v = _across(np.delete(V, removed[:k], axis=0))
        c = np.abs(V @ v)
        order = np.argsort(~edges, kind="stable")
        gone = np.isin(order, removed[:k])
        where = np.arange(len(V))
        shade = np.where(edges[order], BLUE, GREY)
        panel.bar(where, c[order], color=shade, width=1.0)
        panel.scatter(where[gone], np.full(gone.sum(), -0.05 * c.max()), s=5, color=RED,
                      marker="s")  # fmt: skip
        panel.set(xticks=[], yticks=[], ylim=(-0.09 * c.max(), 1.05 * c.max()))
        panel.set_title(f"{k} removed")
        panel.set_xlabel("variables")
    axes[1].set_ylabel(r"$|V v|$")
    figure.legend(
        handles=[
            Rectangle((0, 0), 1, 1, color=BLUE, label="targets"),
            Rectangle((0, 0), 1, 1, color=GREY, label="other variables"),
            Rectangle((0, 0), 1, 1, color=RED, label=r"removed, in $\omega_-$"),
        ],
        loc="outside lower right",
        ncols=3,
    )
    return figure


def paper_inflation() -> Figure:
    """The second column, without and with inflation: how near v is to the first one."""
    _, problem = _small()
    V = problem.V
    first = find_columns(problem, SwitchBack()).B[:, 0]
    P = V.shape[1]
    figure, (axes,) = new_figure(2.4)
    for k, colour, text in ((0, RED, "on V alone: the first column again"),
                            (10, BLUE, "10 steps on the inflated matrix, then on V")):  # fmt: skip
        nearness = [abs(v @ first) for v in _greedy(V, np.eye(P) + np.outer(first, first), k)]
        axes.plot(np.arange(1, len(nearness) + 1), nearness, color=colour, marker=".", label=text)
    axes.axvline(10, color=GREY, lw=0.8, ls="--")
    axes.text(9.8, 0.55, "switch back", color=GREY, ha="right", fontsize=8)
    axes.set(xlabel="rows removed", ylabel="|cosine| of v\nwith column 1", ylim=(-0.03, 1.05))
    axes.set_xticks(range(1, 19))
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.55))
    return figure


def _greedy(V: np.ndarray, A: np.ndarray, k: int) -> list[np.ndarray]:
    """The list of section 3 in plain NumPy: v after each removal, the first k on V A."""
    left = np.ones(len(V), bool)
    W = V @ A if k else V
    left[np.abs(W).sum(axis=1).argmax()] = False
    seen = []
    while True:
        W = V @ A if (~left).sum() < k else V
        v = _across(W[left])
        seen.append(v)
        if np.linalg.norm(V[left] @ v) < 1e-9:
            return seen
        left[np.where(left, np.abs(W @ v), 0).argmax()] = False


def paper_number() -> Figure:
    """Singular values above the edge of noise are counted."""
    truth = simulate(120, 200, 8, density=0.2, noise=0.6, random_state=0, regulators="gaussian")
    full = thin_svd(truth.data)
    edge = noise_edge(median_noise(full.s, 120, 200), 120, 200)
    figure, (axes,) = new_figure(2.4)
    number = np.arange(1, 31)
    above = full.s[:30] > edge
    axes.scatter(number[above], full.s[:30][above], color=BLUE, s=22, label="signal")
    axes.scatter(number[~above], full.s[:30][~above], color=GREY, s=22, label="noise")
    axes.axhline(edge, color=RED, lw=1, ls="--")
    axes.text(30.4, 1.03 * edge, "edge of noise", color=RED, ha="right", va="bottom")
    axes.set(xlabel="number", ylabel="singular value", ylim=(0, None), xlim=(0, 31))
    axes.set_title(f"{above.sum()} of the planted 8 regulators stand above noise")
    axes.legend(loc="upper right")
    return figure


# Method, name, colour and line.
METHODS = (
    ("rcweb-paper", 'method="paper"', BLUE, "-"),
    ("ksvd", "K-SVD", GREEN, "-"),
    ("empca", "emPCA", ORANGE, "-"),
    ("fastica", "FastICA", GREY, "-"),
    ("rcweb", "the default engine", RED, "--"),
)


def paper_figures() -> Figure:
    """Figures 1 to 4 of the paper, measured again."""
    figure = Figure(figsize=(WIDTH, 4.9), layout="constrained")
    grid = figure.subplots(2, 2)
    panels = (
        ("fig1", "author", "n_regulators", "Figure 1: an easy problem"),
        ("fig2a", "A", "n_regulators", "Figure 2A: more regulators, dense rows, noise"),
        ("fig3", "A", "n_samples", "Figure 3A: more samples"),
    )
    for axes, (plan, panel, over, title) in zip(grid.flat, panels):
        rows = measured(plan, panel)
        _lines(axes, rows[rows["n_features"] == 500], over, "rho")
        axes.set(ylim=(0, 1.03), ylabel="accuracy", title=title)
        axes.set_xlabel("samples M" if over == "n_samples" else "regulators P")
    rows = measured("fig4", "P")
    rows = rows[rows["threads"] == 1].replace({"method": {"ksvd-published": "ksvd"}})
    _lines(grid[1, 1], rows, "n_regulators", "cpu_seconds")
    grid[1, 1].set(xscale="log", yscale="log", xlabel="regulators P", ylabel="seconds of CPU")
    numbers = sorted(rows["n_regulators"].unique())
    grid[1, 1].set_xticks(numbers, [f"{n:.0f}" for n in numbers], minor=False)
    grid[1, 1].set_xticks([], minor=True)
    grid[1, 1].set_title("Figure 4: computing time")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    return figure


def _lines(axes: Axes, rows: pd.DataFrame, over: str, value: str) -> None:
    for method, name, colour, style in METHODS:
        mean = rows[rows["method"] == method].groupby(over)[value].mean()
        axes.plot(mean.index, mean, style, color=colour, marker=".", label=name)


def measured(plan: str, panel: str) -> pd.DataFrame:
    """Finished fits of one panel of a benchmark plan."""
    rows = read_rows(RESULTS / plan / "rows.jsonl")
    return rows[(rows["status"] == "ok") & (rows["panel"] == panel)]
