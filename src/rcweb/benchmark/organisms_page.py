"""Tables and picture of the plan on real tables of four organisms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from rcweb.benchmark.summary import to_markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FACTS = {
    "seconds": "seconds",
    "peak_mb": "peak MB",
    "n_components_found": "regulators",
    "n_edges": "own edges",
    "n_certified": "certified",
    "knockout_area": "knock-out area",
    "replicates": "replicates (ICC)",
    "agree_95": "agree > .95",
    "agree_99": "agree > .99",
    "agree_99_certified": "certified agree > .99",
    "known_again": "known in both halves",
    "rows_again": "rows in both halves",
}


def curve_table(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per fit, number of edges and treatment of signs; permuted genes beside it."""
    parts = []
    for row in rows[rows["status"] == "ok"].to_dict("records"):
        if isinstance(row.get("curve"), dict):
            part = pd.DataFrame(row["curve"])
            part["regulators_permuted"] = row["permuted"]["regulators"]
            for name in ("seed", "method", "asked", "panel"):
                part.insert(0, name, row[name])
            parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def curve_lines(curves: pd.DataFrame, value: str, signs: str) -> pd.DataFrame:
    """Mean over seeds of `value`: tables and methods down, numbers of edges across."""
    part = curves[curves["signs"] == signs]
    keys = ["panel", "asked", "method"]
    wide = part.pivot_table(value, keys, "n_edges", aggfunc="mean", sort=False)
    return wide.sort_index(axis=1).reset_index()


def ratio_lines(curves: pd.DataFrame, value: str = "regulators") -> pd.DataFrame:
    """`value` over that of FastICA at the same P: mean over tables and, in brackets, the least."""
    part = curves[curves["signs"] == "together"]
    mean = part.groupby(["panel", "asked", "method", "n_edges"])[value].mean().unstack("n_edges")
    lines = []
    for (asked, method), group in mean.groupby(level=["asked", "method"]):
        panels = group.index.get_level_values("panel")
        beside = [(panel, "known", "fastica") for panel in panels]
        if method == "fastica" or any(key not in mean.index for key in beside):
            continue
        ratio = group.to_numpy() / mean.loc[beside].to_numpy()
        line: dict[str, Any] = {"asked": asked, "method": method, "tables": len(panels)}
        for n, column in zip(mean.columns, ratio.T):
            line[str(n)] = f"{column.mean():.2f} ({column.min():.2f})"
        lines.append(line)
    return pd.DataFrame(lines)


def fact_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Everything that is one number per fit: mean over seeds."""
    ok = rows[rows["status"] == "ok"]
    names = [name for name in FACTS if name in ok]
    means = ok.groupby(["label", "method"], sort=False)[names].mean()
    return means.rename(columns=FACTS).reset_index()


def organisms_parts(rows: pd.DataFrame) -> list[str]:
    """The page of the plan, in parts."""
    curves = curve_table(rows)
    parts = []
    if not curves.empty:
        for value in ("regulators", "pairs"):
            parts += [f"## Known {value}, ratio to FastICA: mean over tables (least)\n"]
            parts += [to_markdown(ratio_lines(curves, value), 2)]
        for value in ("regulators", "pairs", "recovery", "relevance"):
            for signs in ("together", "apart"):
                parts.append(f"## {value.capitalize()}, signs {signs}\n")
                parts.append(to_markdown(curve_lines(curves, value, signs)))
    return [*parts, "## One number per fit\n", to_markdown(fact_lines(rows))]


def curves_figure(curves: pd.DataFrame) -> Figure:
    """Known regulators against the number of edges, a panel per table."""
    import matplotlib.pyplot as plt

    part = curves[curves["signs"] == "together"]
    panels = list(part["panel"].unique())
    figure, axes = plt.subplots(
        1, len(panels), figsize=(3.2 * len(panels), 3.2), layout="constrained", squeeze=False
    )
    colours = {name: f"C{k}" for k, name in enumerate(part["method"].unique())}
    for axis, panel in zip(axes[0], panels):
        groups = part[part["panel"] == panel].groupby(["method", "asked"], sort=False)
        for (method, asked), group in groups:
            mean = group.groupby("n_edges")["regulators"].mean()
            style = "-" if asked == "known" else "--"
            label = method if asked == "known" else f"{method} ({asked})"
            axis.plot(mean.index, mean, style, color=colours[method], label=label, marker=".")
        axis.set(xscale="log", title=panel, xlabel="edges")
    axes[0][0].set_ylabel("known regulators")
    axes[0][-1].legend(fontsize="small")
    return figure
