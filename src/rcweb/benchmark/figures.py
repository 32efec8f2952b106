"""Pictures of the results, one per figure of the paper, and who wins where."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rcweb.benchmark.methods import METHODS
from rcweb.benchmark.slopes import SIZES, scaling_exponents
from rcweb.benchmark.summary import wide_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart by colour-blind readers and in grey.
STYLE: dict[str, tuple[str, str]] = {
    "rcweb": ("#D55E00", "o"),
    "rcweb-paper": ("#E69F00", "s"),
    "fastica": ("#0072B2", "^"),
    "fastica-samples": ("#56B4E9", "v"),
    "ksvd": ("#009E73", "D"),
    "empca": ("#CC79A7", "P"),
    "ksvd-published": ("#66C2A5", "d"),
    "ksvd-package": ("#004D38", "d"),
    "varimax": ("#999999", "X"),
    "psmf": ("#7A5195", "<"),
    "bfrm": ("#8C6D31", ">"),
    "sparse-pca": ("#4D4D4D", "p"),
    "dictionary": ("#66A61E", "h"),
    "l1-sphere": ("#A6761D", "*"),
}
# Told something about the truth: lines to compare with, never winners.
REFERENCES = {name for name, method in METHODS.items() if method.role == "reference"}
PUBLISHED = {"RCweb": "rcweb-paper", "emPCA": "empca", "K-SVD": "ksvd-published"}


def draw(plan: str, rows: pd.DataFrame, summary: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw what `plan` calls for into `folder`; returns the files."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    figures: dict[str, Figure] = {}
    if plan.startswith(("fig1", "fig2", "fig3")):
        figures["accuracy"] = accuracy_figure(summary, published=plan.startswith("fig3"))
    if plan == "fig4":
        figures["scaling"] = scaling_figure(rows)
    if "rho" in summary and plan not in ("fig4", "speed"):
        figures["who_wins"] = heat_map(summary)
    if plan == "speed":
        figures["speed"] = speed_figure(summary)
    if "pairs" in summary:
        figures["regulators"] = real_figure(summary)
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=160)
    return paths


def accuracy_figure(summary: pd.DataFrame, published: bool = False) -> Figure:
    """Accuracy against the size a panel varies, sd as bars, the oracle as a black line."""
    import matplotlib.pyplot as plt

    panels = list(summary["panel"].unique())
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    fig, axes = plt.subplots(
        lines,
        columns,
        figsize=(4.2 * columns + 1.6, 3.4 * lines),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    for ax, panel in zip(axes.flat, panels):
        part = summary[summary["panel"] == panel]
        _accuracy_panel(ax, part)
        if published and panel in ("A", "B"):
            _published_points(ax, str(panel), set(part["n_features"]))
        ax.set_title(_panel_title(str(panel)))
        ax.set_ylim(0, 1.03)
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy, mean |ρ| one to one")
    if 1000 in set(summary["n_features"]):
        fig.supxlabel("solid, filled, large: N = 500;  dashed, hollow, small: N = 1000", fontsize=9)
    _legend(fig, axes.flat[: len(panels)])
    return fig


def _panel_title(panel: str) -> str:
    convention = "honest noise" if "honest" in panel else "author's noise"
    letter = panel.split()[0]
    return f"{letter}: {convention}" if letter in "ABC" else convention


def _varied(part: pd.DataFrame) -> str:
    """The size on the x axis: as in the captions, and the one with most values elsewhere."""
    figure, panel = str(part["figure"].iloc[0]), str(part["panel"].iloc[0])
    if figure == "fig2":
        return SIZES["N" if panel.startswith("C") else "P"]
    known = {"fig1": "P", "fig3": "M"}
    if figure in known:
        return SIZES[known[figure]]
    return max(SIZES.values(), key=lambda name: part[name].nunique())


def _accuracy_panel(ax: Axes, part: pd.DataFrame) -> None:
    x = _varied(part)
    others = [name for name in SIZES.values() if name != x]
    for (method, *_), line in part.groupby(["method", *others], sort=False):
        line = line.sort_values(x)
        dashed = x != "n_features" and line["n_features"].iloc[0] >= 1000
        look: dict[str, Any] = {"linestyle": "--" if dashed else "-"}
        if method in REFERENCES:
            shade = "black" if method == "oracle" else "0.55"
            ax.plot(line[x], line["rho"], color=shade, lw=1, label=str(method), **look)
            continue
        colour, marker = STYLE[str(method)]
        ax.errorbar(
            line[x],
            line["rho"],
            yerr=line["rho_sd"].fillna(0),
            color=colour,
            marker=marker,
            ms=5,
            mfc="white" if dashed else colour,
            lw=2 if method == "rcweb" else 1.2,
            capsize=2,
            label=method,
            **look,
        )
    letter = next(k for k, v in SIZES.items() if v == x)
    noun = {"P": "regulators", "M": "samples", "N": "variables"}[letter]
    ax.set_xlabel(f"{letter}, number of {noun}")
    if part[x].max() > 8 * part[x].min():
        ax.set_xscale("log")
        ax.set_xticks(sorted(part[x].unique()), [str(v) for v in sorted(part[x].unique())])
        ax.minorticks_off()
    ax.grid(alpha=0.25)


def published_figure3() -> pd.DataFrame:
    """The published points of figure 3: panel, network, method, N, M, rho."""
    with files("rcweb.benchmark").joinpath("published_figure3.csv").open("r") as file:
        return pd.read_csv(file, comment="#")


def _published_points(ax: Axes, panel: str, sizes: set[int]) -> None:
    table = published_figure3()
    table = table[(table["panel"] == panel) & table["N"].isin(sizes)]
    for (name, N), points in table.groupby(["method", "N"]):
        colour, marker = STYLE[PUBLISHED[str(name)]]
        ax.plot(
            points["M"],
            points["rho"],
            linestyle="none",
            marker=marker,
            ms=9 if N == 500 else 6,
            mfc="none",
            mec=colour,
            alpha=0.6,
            label=f"{name}, published" if N == 500 else None,
        )


def _legend(fig: Any, axes: Any) -> None:
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels()):
            entries.setdefault(label, handle)
    fig.legend(list(entries.values()), list(entries), loc="outside right upper", frameon=False)


def heat_map(summary: pd.DataFrame) -> Figure:
    """Who wins where: accuracy of every method in every cell, the best blind one framed."""
    import matplotlib.pyplot as plt

    table = wide_table(summary, "rho")
    fig, ax = plt.subplots(
        figsize=(3.8 + 0.85 * table.shape[1], 1.6 + 0.3 * len(table)), layout="constrained"
    )
    image = ax.imshow(table, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    blind = table.drop(columns=list(REFERENCES & set(table.columns))).max(axis=1).to_numpy()
    for j, name in enumerate(table.columns):
        for i, value in enumerate(table[name].to_numpy(dtype=float)):
            if np.isnan(value):
                continue
            wins = name not in REFERENCES and value >= blind[i] - 5e-4
            ax.text(
                j,
                i,
                f"{value:.3f}",
                ha="center",
                va="center",
                fontsize=7.5,
                color="black" if value > 0.55 else "white",
                fontweight="bold" if wins else "normal",
            )
            if wins:
                ax.add_patch(
                    plt.Rectangle((j - 0.47, i - 0.45), 0.94, 0.9, fill=False, ec="#D55E00", lw=2)
                )
    ax.set_xticks(range(table.shape[1]), list(table.columns), rotation=35, ha="right")
    ax.set_yticks(range(len(table)), list(table.index), fontsize=7.5)
    fig.colorbar(image, ax=ax, shrink=0.8)
    ax.set_title("accuracy, mean |ρ| one to one; framed: the best of its cell", fontsize=9)
    return fig


def scaling_figure(rows: pd.DataFrame) -> Figure:
    """Seconds against P, M and N, exponents with 95 % limits in the legends (figure 4)."""
    import matplotlib.pyplot as plt

    exponents: dict[Any, Any] = {
        (line.method, line.threads, line.size_varied): line
        for line in scaling_exponents(rows).itertuples()
    }
    ok = rows[rows["status"] == "ok"]
    fig, axes = plt.subplots(1, 3, figsize=(13, 6.4), sharey=True, layout="constrained")
    for ax, (letter, x) in zip(axes, SIZES.items()):
        panel = ok[ok["panel"] == letter]
        for (method, threads), group in panel.groupby(["method", "threads"], sort=False):
            median = group.groupby(x)["seconds"].median()
            fit = exponents[method, threads, letter]
            spread = "" if np.isnan(fit.low) else f" [{fit.low:.1f}, {fit.high:.1f}]"
            colour, marker = STYLE[str(method)]
            ax.loglog(
                median.index,
                median,
                color=colour,
                marker=marker,
                linestyle="-" if threads == 1 else ":",
                label=f"{method}, {threads} thr.: {fit.exponent:.1f}{spread}",
            )
        ax.set_xlabel(letter)
        ax.set_xticks(sorted(panel[x].unique()), [str(v) for v in sorted(panel[x].unique())])
        ax.minorticks_off()
        ax.grid(alpha=0.25)
        ax.legend(
            fontsize=8,
            frameon=False,
            title="exponent [95 %]",
            title_fontsize=8,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.12),
        )
    axes[0].set_ylabel("seconds")
    return fig


def speed_figure(summary: pd.DataFrame) -> Figure:
    """Seconds of rcweb against those of FastICA, one point a cell."""
    import matplotlib.pyplot as plt

    wide = summary.pivot(index=["label", "threads"], columns="method", values="seconds")
    fig, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
    for threads, part in wide.groupby(level="threads"):
        ax.loglog(part["fastica"], part["rcweb"], "o", alpha=0.7, label=f"{threads} thread(s)")
    ends = np.array([np.nanmin(wide.to_numpy()), np.nanmax(wide.to_numpy())])
    ax.plot(ends, ends, color="black", lw=1, label="equal")
    ax.plot(ends, 1.5 * ends, color="black", lw=1, ls=":", label="1.5 times")
    ax.set_xlabel("FastICA, seconds")
    ax.set_ylabel("rcweb, seconds")
    ax.legend(frameon=False)
    return fig


def real_figure(summary: pd.DataFrame) -> Figure:
    """Known regulators met and significant pairs on the real tables, sd over seeds."""
    import matplotlib.pyplot as plt

    cells, methods = list(summary["label"].unique()), list(summary["method"].unique())
    fig, axes = plt.subplots(
        1, 2, figsize=(11, 1.2 + 0.6 * len(cells)), sharey=True, layout="constrained"
    )
    height = 0.8 / len(methods)
    for ax, value in zip(axes, ("regulators_met", "pairs")):
        for k, method in enumerate(methods):
            part = summary[summary["method"] == method].set_index("label").reindex(cells)
            ax.barh(
                np.arange(len(cells)) + k * height,
                part[value],
                height,
                xerr=part[f"{value}_sd"].fillna(0),
                color=STYLE[method][0],
                label=method,
            )
        ax.set_xlabel({"pairs": "significant pairs"}.get(value, "distinct known regulators"))
    ticks = np.arange(len(cells)) + 0.4 - height / 2
    axes[0].set_yticks(ticks, [cell.removeprefix("real ") for cell in cells])
    axes[0].invert_yaxis()
    axes[1].legend(frameon=False)
    return fig
