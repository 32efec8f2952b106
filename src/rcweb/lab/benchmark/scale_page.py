"""Tables and figure of the plan "scale"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rcweb.lab.benchmark.slopes import SIZES, slope
from rcweb.lab.benchmark.summary import to_markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTITIES = {"seconds": "seconds", "cpu_seconds": "CPU seconds", "peak_mb": "peak memory, MB"}
LOOKS = {"rcweb": ("#D55E00", "o"), "ipca-fastica": ("#0072B2", "^")}


def scale_parts(rows: pd.DataFrame) -> list[str]:
    """Every measurement, and how seconds and memory grow with M, N and P."""
    ok = rows[rows["status"] == "ok"]
    columns = ["label", "method", "seconds", "cpu_seconds", "passes", "peak_mb", "held_mb", "rho"]
    return [
        "## Seconds, passes, peak memory\n",
        "Megabytes of the whole process; of these `held_mb` (libraries, a sparse table) were there "
        "before the fit.\n",
        to_markdown(ok.sort_values(["panel", *SIZES.values(), "method"])[columns]),
        "## Exponents\n",
        to_markdown(exponents(ok)),
    ]


def size_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """The largest tables of every panel, largest first; rivals below rcweb."""
    ok = rows[rows["status"] == "ok"]
    entries = ok["n_samples"] * ok["n_features"] * ok["filled"].fillna(1.0)
    ok = ok.assign(entries=entries).sort_values(
        ["entries", "n_regulators", "cell", "method"], ascending=False
    )
    # Of tables that grow in one size, the largest that a rival finished too.
    rivals = ok[ok["method"] != "rcweb"].groupby("panel")["cell"].first()
    shown = ok["cell"].isin([*rivals, *ok.groupby("panel")["cell"].first()])
    return pd.DataFrame(
        {
            "table": ok["label"].str.split(": ").str[1],
            "method": ok["method"],
            "seconds (CPU)": [
                f"{a:.0f} ({b:.0f})" for a, b in ok[["seconds", "cpu_seconds"]].values
            ],
            "passes": ok["passes"],
            "peak, GB": (ok["peak_mb"] / 1000).map("{:.2f}".format),
            "of it before the fit": (ok["held_mb"] / 1000).map("{:.2f}".format),
            "accuracy": ok["rho"].map("{:.3f}".format),
        }
    )[shown]


def exponent_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Exponents of CPU time and of memory, sizes across."""
    table = exponents(rows[rows["status"] == "ok"])
    table = table[table["of"] != "seconds"]
    names = table["method"] + ", " + table["of"].map(QUANTITIES)
    wide = table.assign(name=names).pivot(index="name", columns="size", values="exponent")
    text = wide.map(lambda value: "" if pd.isna(value) else f"{value:.1f}")
    return text.rename_axis(columns=None).rename_axis(index="exponents").reset_index()


def exponents(rows: pd.DataFrame) -> pd.DataFrame:
    """Slopes of the logarithms against M, N and P, with 95 per cent limits."""
    lines = []
    growing = rows[rows["panel"].isin(list(SIZES))]
    for (panel, method), group in growing.groupby(["panel", "method"], sort=False):
        for name in QUANTITIES:
            value, low, high = slope(group[SIZES[str(panel)]], group[name])
            line = {"size": panel, "method": method, "of": name}
            lines.append({**line, "exponent": value, "low": low, "high": high})
    return pd.DataFrame(lines)


def scale_figure(rows: pd.DataFrame) -> Figure:
    """CPU time and peak memory against M, N and P."""
    import matplotlib.pyplot as plt

    ok = rows[rows["status"] == "ok"]
    fig, axes = plt.subplots(2, 3, figsize=(9, 5.4), layout="constrained", sharey="row")
    for row, name in zip(axes, ("cpu_seconds", "peak_mb")):
        for ax, panel in zip(row, "MNP"):
            size = SIZES[panel]
            part = ok[ok["panel"] == panel]
            for method, group in part.groupby("method", sort=False):
                colour, marker = LOOKS[str(method)]
                line = group.groupby(size)[name].median()
                ax.plot(line.index, line, color=colour, marker=marker, label=method)
            ax.set_xscale("log")
            ticks = sorted(part[size].unique())
            ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            ax.minorticks_off()
            ax.grid(alpha=0.25)
            ax.set_xlabel(panel)
        row[0].set_ylabel(QUANTITIES[name])
    axes[0, 0].set_yscale("log")
    # Memory on a linear scale from 0: it hardly grows, and that is the point.
    axes[1, 0].set_ylim(bottom=0)
    axes[0, 0].legend(frameon=False)
    return fig
