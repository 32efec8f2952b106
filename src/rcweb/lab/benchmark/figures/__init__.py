"""Pictures of the results, one per figure of the paper, and who wins where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rcweb.lab.benchmark.figures.accuracy import accuracy_figure
from rcweb.lab.benchmark.figures.curves import curves_figure
from rcweb.lab.benchmark.figures.heat import heat_map
from rcweb.lab.benchmark.figures.style import FONTS
from rcweb.lab.benchmark.figures.times import scaling_figure, speed_figure
from rcweb.lab.benchmark.organisms_page import curve_table, published_points
from rcweb.lab.benchmark.scale_page import scale_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "accuracy_figure",
    "curves_figure",
    "draw",
    "heat_map",
    "scaling_figure",
    "speed_figure",
]


def draw(plan: str, rows: pd.DataFrame, summary: pd.DataFrame, folder: Path) -> list[Path]:
    """Draw what `plan` calls for into `folder`; returns the files."""
    import matplotlib
    import matplotlib.pyplot as plt

    matplotlib.use("Agg", force=False)
    paths = []
    with plt.rc_context(FONTS):
        for name, figure in _figures(plan, rows, summary).items():
            paths.append(folder / f"{name}.png")
            figure.savefig(paths[-1], dpi=160)
            plt.close(figure)
    return paths


def _figures(plan: str, rows: pd.DataFrame, summary: pd.DataFrame) -> dict[str, Figure]:
    if plan in ("prior", "random"):
        return {}
    if plan == "fig4":
        return {"scaling": scaling_figure(rows)}
    if plan == "scale":
        return {"scale": scale_figure(rows)}
    if plan == "organisms":
        curves = curve_table(rows)
        return {} if curves.empty else {"curves": curves_figure(curves, published_points(rows))}
    if plan == "speed":
        return {"speed": speed_figure(summary)}
    figures: dict[str, Figure] = {}
    # Nothing can be accurate in a table without regulators, and no rival is asked for P.
    summary = summary[summary["rho"].notna()]
    if plan == "foreign":
        summary = summary[summary["asked"] == "known"]
    honest = summary["panel"].str.contains("honest")
    for suffix, part in (("", summary[~honest]), ("_honest", summary[honest])):
        if part.empty:
            continue
        if plan.startswith(("fig1", "fig2", "fig3")):
            published = plan.startswith("fig3") and not suffix
            figures[f"accuracy{suffix}"] = accuracy_figure(part, published=published)
        if part["method"].nunique() > 1:
            figures[f"who_wins{suffix}"] = heat_map(part)
    return figures
