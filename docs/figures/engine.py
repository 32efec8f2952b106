"""Pictures of docs/engine.md: each step of the default engine on a small planted table."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from style import BLUE, GREY, LIGHT, ORANGE, RED, new_figure

from rcweb import RCweb
from rcweb.engine.basis import noise_edge
from rcweb.engine.condensed import CondensedTable
from rcweb.engine.conventions import GOOD_PART, LITTLE
from rcweb.engine.curved import curvature, curve_of
from rcweb.engine.edges import keep_at_fdr
from rcweb.engine.lone import FAR, find_lone, scatter_of
from rcweb.engine.matching import match_rows, row_correlation
from rcweb.engine.missing import fill
from rcweb.engine.number import Directions
from rcweb.engine.outliers import limit_outliers
from rcweb.engine.prepare import prepare
from rcweb.engine.sample_noise import equalise
from rcweb.engine.samples import InMemory
from rcweb.engine.search.consensus import OFTEN, agree, most_error
from rcweb.engine.search.found import CERTAIN, Found
from rcweb.engine.search.halves import STREAM, beyond_chance
from rcweb.engine.search.joint import Columns
from rcweb.engine.search.newton import Ascent
from rcweb.engine.search.peel import chance_level, sparse_above
from rcweb.engine.search.search import own_share, search_columns
from rcweb.engine.search.space import Space
from rcweb.engine.search.start import search_cheaply
from rcweb.engine.search.unmix import ANGLES, TURNS, unmix
from rcweb.engine.spectrum import first_directions, last_step, leading_directions
from rcweb.lab.benchmark.fits import table_fit
from rcweb.lab.benchmark.foreign import score_world
from rcweb.lab.benchmark.foreign_worlds import World, hill_curves, sparse_rows, with_noise
from rcweb.lab.simulate import Simulation, simulate

RIGHT = 0.9  # correlation above which a row counts as a planted one


def engine_outliers() -> Figure:
    """One extreme entry is replaced; frequent ones are moved to a limit around a low-rank fit."""
    rng = np.random.default_rng(0)
    truth = simulate(100, 80, 4, noise=0.3, random_state=1, regulators="gaussian", density=0.3)
    X = truth.data.copy()
    X[17, 5] = 30.0
    clean, _ = find_lone(X)
    scatter = scatter_of(X)
    assert scatter is not None
    low, high = (limit[5] for limit in scatter.limits(FAR))
    figure, (left, right) = new_figure(2.9, 2)
    left.axhspan(low, high, color=LIGHT, alpha=0.5, lw=0)
    left.scatter(np.arange(100), clean[:, 5], s=9, color=GREY)
    left.scatter([17], [X[17, 5]], s=26, color=RED)
    left.scatter([17], [clean[17, 5]], s=26, color=BLUE)
    left.annotate("", (17, 2.0), (17, 28.5), arrowprops={"arrowstyle": "->", "color": RED})
    left.text(20, 27, "one entry of 30", color=RED)
    left.text(98, high - 1, "20 robust sd", ha="right", va="top", fontsize=8)
    left.set(xlabel="sample", ylabel="value of one variable", title="a lone entry")
    wild = rng.random(X.shape) < 0.01
    X = truth.data + np.where(wild, rng.choice([-6.0, 6.0], X.shape), 0.0)
    G0 = prepare(X, center=True).G0
    equal = equalise(CondensedTable.of(G0), InMemory(G0), 4)
    limited = limit_outliers(equal, 4).samples.some(100)
    ideal = truth.activities @ truth.network
    ideal = ideal - ideal.mean(axis=0)
    right.scatter(ideal[~wild], G0[~wild], s=2, color=LIGHT)
    right.scatter(ideal[wild], G0[wild], s=12, color=RED, label="as measured")
    right.scatter(ideal[wild], limited[wild], s=12, color=BLUE, label="limited")
    right.set(xlabel="planted value", ylabel="value in the fit", title="1 % wild entries")
    right.legend(loc="upper left", handletextpad=0.1)
    return figure


def engine_missing() -> Figure:
    """Holes filled by a low-rank model, and by the mean of the variable."""
    truth = simulate(100, 80, 4, noise=0.3, random_state=1, regulators="gaussian", density=0.3)
    hole = np.random.default_rng(0).random(truth.data.shape) < 0.2
    X = np.where(hole, np.nan, truth.data)
    filled = fill(X).data
    means = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
    figure, axes = new_figure(2.9, 2, sharey=True)
    for panel, guess, title in zip(
        axes, (means, filled), ("the variable's mean", "low-rank model")
    ):
        panel.scatter(truth.data[hole], guess[hole], s=5, color=BLUE)
        error = np.sqrt(np.mean((guess - truth.data)[hole] ** 2)) / truth.data.std()
        panel.axline((0, 0), slope=1, color=GREY, lw=0.8)
        panel.set(xlabel="hidden value", title=f"{title}: error {error:.2f} of the spread")
    axes[0].set_ylabel("filled in")
    return figure


def engine_limits() -> Figure:
    """A third of the values at a limit of detection: as they are, and filled below it; and the
    singular values that this leaves."""
    truth = simulate(100, 80, 4, noise=0.3, random_state=1, regulators="gaussian", density=0.3)
    limit = np.quantile(truth.data, 0.33)
    X, cut = np.maximum(truth.data, limit), truth.data < limit
    filled = fill(X, limits=(np.full(80, limit), np.full(80, np.inf))).data
    figure, (left, middle, right) = new_figure(2.7, 3)
    left.scatter(truth.data[~cut], X[~cut], s=2, color=LIGHT)
    left.scatter(truth.data[cut], X[cut], s=4, color=RED, label="at the limit")
    left.scatter(truth.data[cut], filled[cut], s=4, color=BLUE, label="filled")
    left.set(
        xlabel="value without a limit", ylabel="value in the fit", title="a limit of detection"
    )
    left.legend(loc="upper left", handletextpad=0.1)
    for panel, one, title in ((middle, X, "as measured"), (right, filled, "filled")):
        table = CondensedTable.of(prepare(one, center=True).G0)
        draw_singular_values(panel, table, 4, 10, title)
    middle.set_ylabel("singular value")
    return figure


def engine_sample_noise() -> Figure:
    """A tenth of the samples ten times as noisy: the weight of each, and what it changes."""
    truth = simulate(150, 300, 8, noise=0.0, random_state=0, regulators="gaussian", density=0.15)
    rng = np.random.default_rng(0)
    noise = 0.3 * np.exp(0.3 * rng.standard_normal(150))
    loud = np.arange(150) < 15
    noise[loud] *= 10
    X = truth.data + truth.data.std() * noise[:, None] * rng.standard_normal(truth.data.shape)
    G0 = prepare(X, center=True).G0
    table = CondensedTable.of(G0)
    equal = equalise(table, InMemory(G0), 8)
    assert equal.weigh is not None
    weight = equal.weigh.weight(G0)
    figure, (left, middle, right) = new_figure(2.7, 3)
    for which, colour, text in ((~loud, BLUE, "most samples"), (loud, RED, "ten times as noisy")):
        left.scatter(noise[which], weight[which], s=10, color=colour, label=text)
    grid = np.array([noise.min(), np.median(noise), noise.max()])
    left.plot(
        grid, weight.max() * grid[1] / np.maximum(grid, grid[1]), color=GREY, lw=0.8, zorder=0
    )
    left.set(xscale="log", yscale="log", xlabel="planted noise", ylabel="weight found")
    left.set(xticks=[0.2, 0.5, 1, 2, 5], xticklabels=["0.2", "0.5", "1", "2", "5"])
    left.set(yticks=[0.1, 0.3, 1], yticklabels=["0.1", "0.3", "1"])
    left.minorticks_off()
    left.set_title("noisier samples count less")
    left.legend(loc="lower left", handletextpad=0.1)
    for panel, one, title in ((middle, table, "as measured"), (right, equal.table, "weighted")):
        draw_singular_values(panel, one, 8, 12, title)
    middle.set_ylabel("singular value")
    return figure


def engine_spectrum() -> Figure:
    """Unequal noise makes directions of its own; divided by it, only signal stands out."""
    truth = simulate(150, 300, 6, noise=0.0, random_state=0, regulators="gaussian")
    rng = np.random.default_rng(0)
    noise = np.exp(0.8 * rng.standard_normal(300))
    noise *= truth.data.std() / np.sqrt((noise**2).mean())
    X = truth.data + noise * rng.standard_normal((150, 300))
    table = CondensedTable.of(prepare(X, center=True).G0)
    spectrum = leading_directions(table, "auto")
    # `factor` is the noise to the power -1/2: its square divides each variable by its noise.
    whitened = table.scaled(spectrum.factor**2)
    figure, axes = new_figure(2.7, 2)
    for panel, one, title in zip(
        axes, (table, whitened), ("as measured", "variables divided by noise")
    ):
        draw_singular_values(panel, one, 6, 16, title)
    axes[0].set_ylabel("singular value")
    axes[0].text(30, edge_text_height(axes[0]), "edge of noise", color=RED, ha="right", fontsize=8)
    return figure


def draw_singular_values(
    axes: Axes, table: CondensedTable, n: int, size: float, title: str
) -> None:
    """The first 30 of a table with n regulators, those above the edge of noise in blue."""
    leading = table.leading(30)
    edge = noise_edge(leading.noise(n), table.M, table.N)
    above = leading.values > edge
    number = np.arange(1, 31)
    axes.scatter(number[above], leading.values[above], s=size, color=BLUE)
    axes.scatter(number[~above], leading.values[~above], s=size, color=GREY)
    axes.axhline(edge, color=RED, lw=1, ls="--")
    axes.set(xlabel="number", ylim=(0, None), title=f"{title}: {above.sum()} above noise")


def edge_text_height(axes: Axes) -> float:
    """A little above the line of the edge."""
    return float(1.04 * np.asarray(axes.lines[0].get_ydata())[0])


@cache
def _no_edge() -> RCweb:
    """Twelve regulators in noise whose singular values fall without a step, as in real tables."""
    truth = simulate(120, 400, 12, noise=0.0, random_state=0, regulators="gaussian", density=0.06)
    rng = np.random.default_rng(1)
    U = np.linalg.qr(rng.standard_normal((120, 120)))[0]
    V = np.linalg.qr(rng.standard_normal((400, 120)))[0]
    noise = (U * np.exp(-np.arange(120) / 25)) @ V.T
    return RCweb(random_state=0).fit(truth.data + 0.8 * truth.data.std() * noise / noise.std())


def engine_number() -> Figure:
    """No edge of noise: numbers of directions compared by the columns that recur in halves."""
    model = _no_edge()
    table = model.evidence_
    tried = table[table["evidence"].str.contains("recur")]
    K = tried["evidence"].str.extract(r"(\d+) directions")[0].astype(int).to_numpy()
    n = tried["count"].to_numpy()
    searched = int(table.loc[table["evidence"] == "directions searched", "count"].iloc[0])
    figure, (left, right) = new_figure(2.7, 2)
    values = np.sort(model.singular_values_)[::-1]
    left.plot(np.arange(1, len(values) + 1), values, ".", color=GREY)
    left.set(xlabel="number", ylabel="singular value", ylim=(0, None))
    left.set_title(f"the first {len(values)}: no step")
    right.errorbar(K, n, yerr=LITTLE * np.abs(n), fmt="o", color=GREY, capsize=3)
    right.plot(searched, n[list(K).index(searched)], "o", color=BLUE, ms=8, zorder=5)
    right.set(xlabel="directions tried", ylabel="columns that recur", ylim=(0, None))
    right.set_title(f"{searched} directions are searched")
    return figure


def engine_step() -> Figure:
    """Noise that samples remember: a step ends the signal, not the edge of independent noise."""
    rng = np.random.default_rng(0)
    M, N, P = 200, 300, 12
    noise = rng.standard_normal((M, N))
    for m in range(1, M):
        noise[m] = 0.8 * noise[m - 1] + 0.6 * noise[m]
    C = np.where(rng.random((P, N)) < 0.1, rng.standard_normal((P, N)), 0.0)
    X = rng.standard_normal((M, P)) @ C + 0.3 * noise
    table = CondensedTable.of(prepare(X, center=True).G0)
    above = leading_directions(table, "auto").n_signal
    step, _ = last_step(table)
    values = np.sqrt(table.squares()[::-1])[: above + 15]
    figure, (left, right) = new_figure(2.7, 2)
    left.plot(np.arange(1, len(values) + 1), values, ".", color=GREY)
    left.plot(np.arange(1, step + 1), values[:step], ".", color=BLUE)
    left.axvline(above + 0.5, color=GREY, lw=1, ls=":")
    left.set(xlabel="number", ylabel="singular value", ylim=(0, None))
    left.set_title(f"{above} above independent noise, a step after {step}")
    whole = first_directions(table, step + 24, step, step)
    beyond = replace(whole, s=whole.s[step:], V=whole.V[:, step:])
    parts = {"before": first_directions(table, step, step, step), "24 beyond": beyond}
    counts = [
        Directions.of(part).searched().recurrent_share * len(part.s) for part in parts.values()
    ]
    right.bar(list(parts), counts, color=[BLUE, GREY], width=0.5)
    right.axhline(0, color="black", lw=0.8)
    right.set(ylabel="columns that recur")
    right.set_title(f"{RCweb(random_state=0).fit(X).n_components_} regulators are returned")
    return figure


@cache
def _example() -> tuple[Simulation, Space]:
    """Ten regulators, 300 variables, 150 samples, and the space of the leading directions."""
    truth = simulate(150, 300, 10, noise=0.3, random_state=0, regulators="gaussian", density=0.15)
    return truth, _space(truth.data, 10)


def _space(X: np.ndarray, P: int) -> Space:
    spectrum = leading_directions(CondensedTable.of(prepare(X, center=True).G0), P)
    return Space.of(spectrum.V, spectrum.s, spectrum.sigma)


def engine_row() -> Figure:
    """The row of a right column and that of a random one, with their two-part densities."""
    truth, space = _example()
    columns = search_columns(space, 10).columns
    k = int(np.abs(row_correlation(space.rows(columns.B), truth.network)).max(axis=1).argmax())
    random = np.random.default_rng(1).standard_normal((1, space.K))
    figure, axes = new_figure(2.7, 2, sharey=True)
    for panel, b, title in zip(axes, (columns.B[[k]], random), ("a right column", "any other")):
        point = Ascent.at(space, b, rounds=80)
        y, d = point.Y[0], point.density
        grid = np.linspace(-5, 5, 600)
        panel.hist(y, np.linspace(-5, 5, 101), density=True, color=LIGHT)
        parts = [(1 - d.pi[0], d.v0[0], BLUE), (d.pi[0], d.v1[0], ORANGE)]
        for weight, variance, colour in parts:
            curve = weight * np.exp(-(grid**2) / 2 / variance) / np.sqrt(2 * np.pi * variance)
            panel.plot(grid, curve, color=colour)
        panel.set(xlabel="entries of the row X b", title=f"{title}: J = {point.J[0]:.2f}")
        panel.set(xlim=(-5, 5), yscale="log", ylim=(3e-3, 12))
    axes[0].set_ylabel("density")
    axes[1].plot([], [], color=BLUE, label="narrow: zeros and noise")
    axes[1].plot([], [], color=ORANGE, label="wide: targets")
    axes[1].legend(loc="upper right")
    return figure


def engine_unmix() -> Figure:
    """Two columns turned in their plane, the likelihood of every direction, and the repair."""
    _, space = _example()
    right = search_columns(space, 10).columns
    B = right.B.copy()
    pair = B[:2] * np.sign((B[0] @ B[1]) or 1.0) ** np.array([[0], [1]])
    B[:2] = [pair[0] + pair[1], pair[0] - pair[1]]
    B /= np.linalg.norm(B, axis=1, keepdims=True)
    turned = Columns(B, right.density, right.J, -np.inf)
    repaired = unmix(space, turned)
    figure, (before, along, after) = new_figure(2.6, 3)
    Y = space.rows(turned.B[:2])
    before.scatter(*Y, s=4, color=RED)
    before.set_title("turned: zeros coincide")
    directions = TURNS @ turned.B[:2]
    length = np.linalg.norm(directions, axis=1)
    rows = space.rows(directions / length[:, None])
    width = 4 * space.floor(turned.B[:2]).max()
    row = -0.5 * np.log(width + rows.astype(float) ** 2).mean(axis=1) - np.log(length)
    along.plot(np.degrees(ANGLES), row, color=GREY)
    best = np.degrees(ANGLES)[_peaks(row)]
    for angle in best:
        along.axvline(angle, color=BLUE, lw=1, ls="--")
    along.set(xlabel="angle, degrees", yticks=[], xticks=[0, 45, 90, 135, 180])
    along.set_title("log-likelihood of a row")
    after.scatter(*space.rows(repaired.B[:2]), s=4, color=BLUE)
    after.set_title("turned back")
    for panel in (before, after):
        panel.set(xlabel="row 1", xticks=[], yticks=[])
        panel.set_ylabel("row 2")
    return figure


def _peaks(values: np.ndarray) -> np.ndarray:
    """The two highest local maxima of a periodic curve."""
    higher = (values > np.roll(values, 1)) & (values > np.roll(values, -1))
    where = np.flatnonzero(higher)
    return where[np.argsort(-values[where])[:2]]


def engine_peel() -> Figure:
    """Dense rows of very different degree: the joint start, then peeling."""
    truth = simulate(
        600, 250, 24, network="author_powerlaw", weights="author", noise=0.05, random_state=1
    )
    space = _space(truth.data, 24)
    rng = np.random.default_rng([STREAM, 0])
    chance = chance_level(space, space.K, rng)
    start = search_cheaply(space, rng)
    found = search_columns(space, 24)
    figure, axes = new_figure(2.7, 2, sharey=True)
    for panel, columns, title in zip(
        axes, (start, found.columns), ("the joint start", "after peeling")
    ):
        score = columns.J + np.log(own_share(columns.B))
        rho = np.abs(row_correlation(space.rows(columns.B), truth.network)).max(axis=1)
        order = np.argsort(-score)
        colour = np.where(rho[order] > RIGHT, BLUE, RED)
        panel.bar(np.arange(1, len(order) + 1), score[order], color=colour)
        panel.axhline(sparse_above(chance, space.N), color="black", lw=1, ls="--")
        panel.set(xlabel="column", title=f"{title}: {(rho > RIGHT).sum()} of 24 right")
    axes[0].set_ylabel("score")
    axes[0].text(24.5, 1.1 * sparse_above(chance, space.N), "sparser than chance", ha="right",
                 fontsize=8)  # fmt: skip
    axes[1].bar([0], [0], color=BLUE, label="right")
    axes[1].bar([0], [0], color=RED, label="wrong")
    axes[1].legend(loc="upper right", ncols=2)
    return figure


@cache
def _diffuse(
    background: float, P: int = 10, shape: tuple[int, int] = (150, 300)
) -> tuple[Simulation, np.ndarray, Space]:
    """As the example, but every regulator has a small effect on every variable; the weights."""
    truth = simulate(*shape, P, noise=0.0, random_state=0, regulators="gaussian", density=0.15)
    rng = np.random.default_rng(5)
    C = truth.network + background * rng.standard_normal(truth.network.shape)
    X = truth.activities @ C
    X += 0.3 * X.std() * rng.standard_normal(X.shape)
    return truth, C, _space(X, P)


def engine_exact() -> Figure:
    """Zeros that scatter as far as noise does, and zeros that scatter further."""
    truth, space = _example()
    same, _, other = _diffuse(0.25)
    figure, axes = new_figure(2.7, 2)
    for panel, s, truths, title in (
        (axes[0], space, truth, "zeros are exact"),
        (axes[1], other, same, "small effects everywhere"),
    ):
        found = search_columns(s, 10)
        B = found.columns.B
        rho = np.abs(row_correlation(s.rows(B), truths.network))
        k, p = np.unravel_index(rho.argmax(), rho.shape)
        y = s.rows(B[[k]])[0]
        free = ~truths.edges[p]
        noise = np.sqrt(s.floor(B[[k]])[0])
        width = np.sqrt(Ascent.at(s, B[[k]], rounds=80).density.v0[0])
        bins = np.linspace(-1.6, 1.6, 65)
        panel.hist(y[free], bins, density=True, color=LIGHT)
        grid = np.linspace(-1.6, 1.6, 500)
        for sd, colour, text in ((noise, BLUE, "noise alone"), (width, ORANGE, "narrow part")):
            curve = np.exp(-0.5 * (grid / sd) ** 2) / sd / np.sqrt(2 * np.pi)
            panel.plot(grid, curve, color=colour, label=text)
        panel.set(xlabel="entries of non-targets", yticks=[], xlim=(-1.6, 1.6))
        panel.set_title(f"{title}: variance {width**2 / noise**2:.1f} times noise")
        panel.legend(loc="upper right")
    return figure


def engine_consensus() -> Figure:
    """How often a column is found by the searches, and how far its mean is settled."""
    _, C, space = _diffuse(0.5, 16, (120, 250))
    shared = agree(space)
    rho = np.abs(row_correlation(space.rows(shared.B), C)).max(axis=1)
    several = shared.error < 1  # a single search says nothing about the error
    figure, (axes,) = new_figure(3.0)
    often = OFTEN + np.sqrt(OFTEN * (1 - OFTEN) / shared.searches)
    axes.add_patch(Rectangle((often, 0), 0.6, most_error(), color=LIGHT, alpha=0.5, lw=0))
    image = axes.scatter(
        shared.frequency[several], shared.error[several], c=rho[several], s=36, cmap="viridis",
        vmin=0.5, vmax=1, edgecolor="black", lw=0.4,
    )  # fmt: skip
    axes.set(xlim=(0.1, 1.03), ylim=(0, 0.06), ylabel="error of the mean")
    axes.set(xlabel=f"share of the {shared.searches} searches that have the column")
    axes.text(1.02, 0.95 * most_error(), "found", ha="right", va="top", fontsize=10)
    figure.colorbar(image, label="correlation with\na planted row")
    return figure


def engine_background() -> Figure:
    """Accuracy, recall and false edges as zeros turn into a wider and wider background."""
    widths = np.array([0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])
    figure, panels = new_figure(2.8, 3)
    lines = [("normal", 0.3, BLUE, "-"), ("normal", 1.0, BLUE, "--")]
    lines += [("uniform", 0.3, ORANGE, "-"), ("uniform", 1.0, ORANGE, "--")]
    for weights, noise, colour, style in lines:
        scores = [_with_background(width, weights, noise) for width in widths]
        for axes, name in zip(panels, ("rho", "recall", "fdr")):
            values = [score[name] for score in scores]
            axes.plot(widths, values, color=colour, ls=style, label=f"{weights}, noise {noise:g}")
    titles = ("accuracy", "recall of edges", "false among edges")
    for axes, title, top in zip(panels, titles, (1.0, 1.0, 0.2)):
        axes.set(xlabel="background", title=title, ylim=(0, 1.03 * top))
    panels[2].axhline(0.05, color=RED, lw=0.9, ls=":")
    panels[0].legend(loc="lower left", fontsize=7)
    return figure


def _with_background(width: float, weights: str, noise: float) -> dict[str, float]:
    """Scores of a fit to a planted table; `width` in units of the strong weights."""
    rng = np.random.default_rng(1)
    _, mask = sparse_rows(rng, 20, 500)
    strong = rng.standard_normal(mask.shape)
    if weights == "uniform":
        strong = rng.uniform(-np.sqrt(3), np.sqrt(3), mask.shape)
    C = np.where(mask, strong, width * rng.standard_normal(mask.shape))
    X = with_noise(rng, rng.standard_normal((200, 20)) @ C, ratio=noise)
    return score_world(table_fit(RCweb(20, random_state=0).fit(X), X), World(X, C, mask))


def engine_posterior() -> Figure:
    """What the posterior does to a weight, and whether its probabilities keep their word."""
    probability, true, plain, mean = _posteriors()
    figure, (left, right) = new_figure(3.0, 2)
    for which, colour, text in ((true, BLUE, "edge planted"), (~true, ORANGE, "no edge planted")):
        left.scatter(plain[which], mean[which], s=3, color=colour, label=text)
    left.axline((0, 0), slope=1, color="black", lw=0.6)
    left.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    left.set(
        xlabel="weight by least squares", ylabel="posterior mean", title="small weights shrink"
    )
    left.legend(loc="upper left", markerscale=3, handletextpad=0.1)
    edges = np.array([0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0])
    which = np.clip(np.digitize(probability, edges) - 1, 0, len(edges) - 2)
    share = np.array([true[which == k].mean() for k in range(len(edges) - 1)])
    said = np.array([probability[which == k].mean() for k in range(len(edges) - 1)])
    right.plot([0, 1], [0, 1], color=GREY, lw=0.8)
    right.plot(said, share, "o", color=BLUE)
    right.set(xlabel="probability that the fit gives", ylabel="share of true edges")
    right.set(title="probabilities keep their word", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    return figure


@cache
def _posteriors() -> tuple[np.ndarray, ...]:
    """Over four planted tables: probability, truth, least-squares weight and posterior mean."""
    parts = []
    for seed in range(4):
        truth = simulate(120, 300, 8, noise=1.0, random_state=seed, regulators="gaussian",
                         density=0.15)  # fmt: skip
        model = RCweb(8, random_state=0).fit(truth.data)
        pairs = match_rows(model.weights_, truth.network)
        X = truth.data - truth.data.mean(axis=0)
        plain = np.linalg.lstsq(model.transform(truth.data), X, rcond=None)[0]
        parts.append(
            [
                model.edge_probability_[pairs.found].ravel(),
                truth.edges[pairs.other].ravel(),
                plain[pairs.found].ravel(),
                model.weights_[pairs.found].ravel(),
            ]
        )
    return tuple(np.concatenate(values) for values in zip(*parts))


def engine_edges() -> Figure:
    """Entries from the surest on, until the mean probability of being false reaches the rate."""
    probability, true, _, _ = _posteriors()
    keep = keep_at_fdr(probability, 0.05)
    order = np.argsort(-probability, kind="stable")
    n = np.arange(1, len(order) + 1)
    expected = np.cumsum(1 - probability[order]) / n
    real = np.cumsum(~true[order]) / n
    shown = slice(0, int(1.6 * keep.sum()))
    figure, (axes,) = new_figure(2.7)
    axes.plot(n[shown], 1 - probability[order][shown], color=GREY, label="this entry")
    axes.plot(n[shown], expected[shown], color=BLUE, label="mean of all so far, expected")
    axes.plot(n[shown], real[shown], color=ORANGE, ls="--", label="false so far, counted")
    axes.axhline(0.05, color=RED, lw=0.9, ls=":")
    axes.text(5, 0.06, "fdr = 0.05", color=RED, fontsize=8)
    axes.axvline(keep.sum(), color="black", lw=0.9, ls="--")
    axes.text(keep.sum() - 8, 0.92, "kept", ha="right", fontsize=8)
    axes.set(xlabel="entries, the surest first", ylabel="probability of being false", ylim=(0, 1))
    axes.legend(loc="center left", bbox_to_anchor=(0.05, 0.62))
    return figure


def engine_grades() -> Figure:
    """Agreement of halves of the variables, and the grades that follow from it."""
    _, C, space = _diffuse(0.34)
    found: Found = search_columns(space, 10)
    beyond = beyond_chance(found.recurrence, space.K)
    rho = np.abs(row_correlation(space.rows(found.columns.B), C)).max(axis=1)
    grade = np.where(found.certified, 2, np.where(found.confirmed, 1, 0))
    order = np.lexsort((-beyond, -grade))
    figure, (axes,) = new_figure(2.8)
    colours = np.array([LIGHT, ORANGE, BLUE])
    names = ("unconfirmed", "found", "certified")
    for g in (2, 1, 0):
        which = grade[order] == g
        axes.bar(np.flatnonzero(which) + 1, beyond[order][which], color=colours[g],
                 edgecolor="black", lw=0.6, label=names[g])  # fmt: skip
    for level in (CERTAIN, GOOD_PART * CERTAIN):
        axes.axhline(level, color="black", lw=0.9, ls="--")
    for x, k in enumerate(order, 1):
        axes.text(x, max(beyond[k], 0) + 0.03, f"{rho[k]:.2f}", ha="center", fontsize=8,
                  bbox={"color": "white", "pad": 0.6})  # fmt: skip
    axes.set(xlabel="regulator", ylabel="recurrence\nbeyond chance", ylim=(0, 1.12))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="upper right", ncols=3)
    return figure


def engine_curves() -> Figure:
    """A regulator that acts by Hill curves: a row with its targets, and another regulator."""
    world = hill_curves(np.random.default_rng(0), 200, 300, 5, 0.7)
    model = RCweb(10, random_state=0).fit(world.data)  # "auto" leaves curves out
    R, W = model.transform(world.data), model.weights_
    targets, none = model.edge_probability_ > 0.5, np.empty((len(R), 0))
    main = curve_of(W, targets, R)
    explained = [curvature(r, R[:, p], none) * (p >= 0) for r, p in zip(R.T, main)]
    curve = int(np.argmax(explained))
    other = int(np.flatnonzero((main < 0) & (np.arange(len(W)) != main[curve]))[0])
    figure, axes = new_figure(2.9, 2)
    for panel, row, colour in zip(axes, (curve, other), (ORANGE, BLUE)):
        common = (targets[row] & targets[main[curve]]).sum() / targets[row].sum()
        share = curvature(R[:, row], R[:, main[curve]], none)
        panel.scatter(R[:, main[curve]], R[:, row], s=9, color=colour)
        panel.set(xlabel="activity of a regulator", ylabel="activity of the other")
        panel.set_title(f"{common:.0%} of the targets shared,\n{share:.0%} of the variance curved")
    return figure


def engine_constant_sum() -> Figure:
    """Activities that sum to one: rows found with and without the means of the variables."""
    rng = np.random.default_rng(0)
    truth = simulate(200, 300, 6, noise=0.0, random_state=4, density=0.15, weights="positive")
    R = rng.dirichlet(np.full(6, 0.5), 200)
    X = R @ truth.network
    X += 0.1 * X.std() * rng.standard_normal(X.shape)
    figure, axes = new_figure(3.0, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the input check sees the constant sums as well
        centred = RCweb(6, center=True, random_state=0).fit(X - X.mean(axis=0))
        kept = RCweb(6, random_state=0).fit(X)
    for panel, model, title in zip(axes, (centred, kept), ("centred", "means kept")):
        rho = np.abs(row_correlation(model.weights_, truth.network))
        pairs = match_rows(model.weights_, truth.network)
        rest = np.setdiff1d(np.arange(len(rho)), pairs.found)
        rows = np.append(pairs.found[np.argsort(pairs.other)], rest)
        image = panel.imshow(rho[rows], cmap="Blues", vmin=0, vmax=1)
        grade = int(model.diagnosis_["certified"].sum())
        panel.set(xlabel="planted regulator", xticks=range(6), yticks=range(len(rho)))
        panel.set(xticklabels=range(1, 7), yticklabels=range(1, len(rho) + 1))
        panel.set_title(f"{title}: {grade} of {len(rho)} certified")
        for spine in panel.spines.values():
            spine.set_visible(False)
    axes[0].set_ylabel("regulator found")
    figure.colorbar(image, ax=axes, label="|correlation| of rows", shrink=0.85)
    return figure


def engine_uncertainty() -> Figure:
    """Activities with their intervals; wider where variables are missing."""
    truth = simulate(80, 60, 5, noise=0.5, random_state=0, regulators="gaussian", density=0.2)
    model = RCweb(5, random_state=0).fit(truth.data)
    pairs = match_rows(model.weights_, truth.network)
    X = truth.data.copy()
    X[40:, np.random.default_rng(0).random(60) < 0.7] = np.nan
    R, sd = model.transform(X, return_std=True)
    q, p = pairs.found[0], pairs.other[0]
    true = (truth.activities[:, p] - truth.activities[:, p].mean()) * pairs.scale[0]
    figure, (axes,) = new_figure(2.8)
    for part, colour, text in (
        (slice(0, 40), BLUE, "all variables measured"),
        (slice(40, 80), ORANGE, "70 % of the variables missing"),
    ):
        n = np.arange(80)[part]
        axes.errorbar(
            n, R[part, q], yerr=1.96 * sd[part, q], fmt=".", color=colour, lw=1, label=text
        )
    axes.scatter(np.arange(80), true, s=9, color="black", zorder=3, label="planted")
    axes.set(xlabel="sample", ylabel="activity", xlim=(-1, 80))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=3)
    return figure
