"""Tables of docs/benchmark.md: rcweb beside the best rival of each cell, and where it loses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rcweb.lab.benchmark.methods import METHODS, PUBLISHED
from rcweb.lab.benchmark.plans import SLOW
from rcweb.lab.benchmark.scenarios import ASKED, published_figure3
from rcweb.lab.benchmark.summary import DRAW, short_labels, time_ratio

OURS = "rcweb"

# Of each method, its line of the summary.
MethodRows = dict[str, dict[Any, Any]]


def accuracy_lines(summary: pd.DataFrame) -> pd.DataFrame:
    """One line per cell: accuracy of rcweb, the best rival and the references; FDR; F1.

    The winner is bold, both at a draw.
    """
    names = dict(zip(summary["label"].drop_duplicates(), short_labels(summary)))
    lines = []
    for label, cell in _compared(summary):
        rival, f1_rival = best_rival(cell, "rho"), best_rival(cell, "f1")
        ours, theirs = cell[OURS]["rho"], cell[rival]["rho"]
        lines.append(
            {
                "cell": names[label],
                "rcweb": _bold(f"{ours:.3f}", ours >= theirs - DRAW) + _sd(cell[OURS]),
                "best rival": _bold(f"{theirs:.3f}", theirs >= ours - DRAW) + f" {rival}",
                "FastICA": _value(cell, "fastica"),
                "paper's method": _value(cell, "rcweb-paper"),
                "ceiling": _value(cell, "ceiling"),
                "oracle": _value(cell, "oracle"),
                "FDR": _value(cell, OURS, "fdr"),
                "F1": _value(cell, OURS, "f1"),
                "best rival's F1": f"{cell[f1_rival]['f1']:.3f} {f1_rival}",
                "seeds": int(cell[OURS]["n_ok"]),
            }
        )
    return pd.DataFrame(lines)


def best_rival(cell: MethodRows, score: str) -> str:
    """The rival with the highest `score`."""
    return max(_rivals(cell), key=lambda name: cell[name][score])


def loss_lines(summary: pd.DataFrame, score: str) -> pd.DataFrame:
    """The cells in which a rival has the higher `score`, largest difference first."""
    lines = []
    for label, cell in _compared(summary):
        rival = best_rival(cell, score)
        ours, theirs = cell[OURS][score], cell[rival][score]
        # A draw is no loss.
        if theirs > ours + DRAW:
            lines.append(
                {"cell": label, "rcweb": ours, "rival": theirs, "which": rival, "by": theirs - ours}
            )
    table = pd.DataFrame(lines)
    return table if table.empty else table.sort_values("by", ascending=False, kind="stable")


def slow_lines(summary: pd.DataFrame) -> pd.DataFrame:
    """The rivals that run on fewer cells, beside rcweb and FastICA, with their seconds."""
    lines = []
    for label, cell in _by_cell(summary):
        measured = [name for name in SLOW if name in cell]
        if measured:
            line: dict[str, object] = {"cell": label}
            for name in (OURS, "fastica", *SLOW):
                line[name] = _value(cell, name)
            seconds = [f"{cell[name]['seconds']:.0f}" for name in measured]
            line["seconds of the slow ones"] = ", ".join(seconds)
            lines.append(line)
    return pd.DataFrame(lines)


def published_lines(summary: pd.DataFrame) -> pd.DataFrame:
    """Published figure 3 beside the same methods here: means over the sizes both have."""
    ours = summary.rename(columns={"n_features": "N", "n_samples": "M", "rho": "here"})
    table = published_figure3().rename(columns={"method": "name", "rho": "published"})
    table["method"] = table["name"].map(PUBLISHED)
    # Only sizes that were both published and measured.
    both = table.merge(ours, on=["panel", "N", "M", "method"])
    both["difference"] = both["here"] - both["published"]
    groups = both.groupby(["panel", "name", "method"], sort=False)
    means = groups[["published", "here", "rho_best_match"]].mean()
    means["differences"] = [
        f"{low:+.2f} to {high:+.2f}"
        for low, high in groups["difference"].agg(["min", "max"]).to_numpy()
    ]
    means.insert(0, "points", groups.size())
    return means.reset_index().rename(
        columns={
            "name": "published method",
            "method": "here as",
            "rho_best_match": "not one to one",
        }
    )


def claims_lines(summary: pd.DataFrame) -> pd.DataFrame:
    """Accuracy and number of exact networks, per cell and method."""
    blind = summary[[METHODS[m].role != "reference" for m in summary["method"]]]
    return pd.DataFrame(
        {
            "cell": blind["label"].str.removeprefix("claims "),
            "method": blind["method"],
            "rho": blind["rho"].map("{:.3f}".format),
            "exact support": [f"{a} of {b}" for a, b in zip(blind["n_exact"], blind["n_ok"])],
        }
    )


def unknown_p_lines(summary: pd.DataFrame) -> pd.DataFrame:
    """Number found and accuracy when the number is known, unknown, or doubled."""
    cells = summary.assign(
        cell=summary["label"].str.replace(r"^unknown_p | \(\w+\)$", "", regex=True)
    )
    lines = []
    for name, part in cells.groupby("cell", sort=False):
        by_asked = {line["asked"]: line for line in part.to_dict("records")}
        line: dict[str, object] = {"cell": name}
        for asked in ASKED:
            if asked in by_asked:
                line[f"{asked}: number"] = f"{by_asked[asked]['n_components_found']:.1f}"
                line[f"{asked}: rho"] = f"{by_asked[asked]['rho']:.4f}"
        lines.append(line)
    return pd.DataFrame(lines)


def ksvd_lines(summary: pd.DataFrame) -> pd.DataFrame:
    """Our K-SVD beside the package."""
    names = dict(zip(summary["label"].drop_duplicates(), short_labels(summary)))
    lines = []
    for label, cell in _by_cell(summary):
        ours, theirs = cell["ksvd"], cell["ksvd-package"]
        lines.append(
            {
                "cell": names[label],
                "rho": _value(cell, "ksvd"),
                "rho of the package": _value(cell, "ksvd-package"),
                "seconds": f"{ours['seconds']:.2f}",
                "seconds of the package": f"{theirs['seconds']:.2f}",
                "times faster": f"{theirs['seconds'] / ours['seconds']:.1f}",
            }
        )
    return pd.DataFrame(lines)


def speed_lines(summary: pd.DataFrame) -> pd.DataFrame:
    """Seconds of rcweb over those of FastICA: median, least and greatest per panel and threads."""
    ratios = time_ratio(summary).rename(columns={"cell": "label"})
    cells = summary.drop_duplicates("label")[["label", "figure", "panel", "n_regulators"]]
    table = ratios.merge(cells, on="label")
    table["cells"] = np.where(
        table["figure"] == table["panel"], table["figure"], table["figure"] + " " + table["panel"]
    )
    lines = []
    everything = [("all", table)]
    for name, part in [*table.groupby("cells", sort=False), *everything]:
        for threads, group in part.groupby("threads"):
            lines.append(
                {
                    "cells": name,
                    "threads": threads,
                    "n": len(group),
                    "median ratio": f"{group['ratio'].median():.1f}",
                    "least": f"{group['ratio'].min():.1f}",
                    "greatest": f"{group['ratio'].max():.1f}",
                    "seconds of rcweb, median": f"{group['seconds_rcweb'].median():.2f}",
                }
            )
    return pd.DataFrame(lines)


def exponent_lines(exponents: pd.DataFrame) -> pd.DataFrame:
    """Exponents with their limits: methods and threads down, the size varied across."""
    text = [f"{e.exponent:.2f} [{e.low:.2f}, {e.high:.2f}]" for e in exponents.itertuples()]
    wide = exponents.assign(text=text).pivot(
        index=["method", "threads"], columns="size_varied", values="text"
    )
    rank = {name: k for k, name in enumerate(METHODS)}
    wide = wide[["P", "M", "N"]].reset_index()
    return wide.sort_values("method", key=lambda names: names.map(rank), kind="stable")


def _by_cell(summary: pd.DataFrame) -> list[tuple[str, MethodRows]]:
    """The lines of every cell by method, without methods that never succeeded."""
    ok = summary[summary["rho"].notna()]
    # Backwards, so that one thread, which comes first, is what stays.
    return [
        (str(label), {line["method"]: line for line in reversed(cell.to_dict("records"))})
        for label, cell in ok.groupby("label", sort=False)
    ]


def _compared(summary: pd.DataFrame) -> list[tuple[str, MethodRows]]:
    """The cells in which rcweb and some rival were run."""
    return [(label, cell) for label, cell in _by_cell(summary) if OURS in cell and _rivals(cell)]


def _rivals(cell: MethodRows) -> list[str]:
    return [name for name in cell if METHODS[name].role == "rival"]


def _value(cell: MethodRows, method: str, score: str = "rho") -> str:
    return f"{cell[method][score]:.3f}" if method in cell else ""


def _bold(text: str, wins: bool) -> str:
    return f"**{text}**" if wins else text


def _sd(line: dict[Any, Any]) -> str:
    return "" if np.isnan(line["rho_sd"]) else f" ± {line['rho_sd']:.3f}"
