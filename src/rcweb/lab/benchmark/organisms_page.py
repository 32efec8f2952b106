"""Tables and picture of the plan on real tables of four organisms."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rcweb.lab.benchmark.summary import to_markdown

FACTS = {
    "seconds": "seconds",
    "peak_mb": "peak MB",
    "n_components_found": "regulators",
    "n_edges": "own edges",
    "n_certified": "certified",
    "n_kept": "certified or found",
    "knockout_area": "knock-out area",
    "replicates": "replicates (ICC)",
    "agree_95": "agree > .95",
    "agree_99": "agree > .99",
    "agree_99_certified": "certified agree > .99",
    "agree_95_kept": "certified or found agree > .95",
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
        # Every table needs its reference, or means would be over different tables.
        if method == "fastica" or any(key not in mean.index for key in beside):
            continue
        # Where FastICA meets nothing there is no ratio.
        ratio = group / mean.loc[beside].where(lambda count: count > 0).to_numpy()
        line: dict[str, Any] = {"asked": asked, "method": method, "tables": len(panels)}
        for n in ratio:
            line[str(n)] = f"{ratio[n].mean():.2f} ({ratio[n].min():.2f})"
        lines.append(line)
    return pd.DataFrame(lines)


def published_points(rows: pd.DataFrame) -> pd.DataFrame:
    """The published decompositions by the same rule: panel, edges, regulators, pairs."""
    lines = []
    scored = rows[[isinstance(value, dict) for value in rows["published"]]]
    for row in scored.drop_duplicates("panel").to_dict("records"):
        sets = pd.DataFrame(row["published"]).iloc[0]
        counts = {name: sets[name] for name in ("regulators", "pairs")}
        lines.append({"panel": row["panel"], "edges": sets["n_edges"], **counts})
    return pd.DataFrame(lines, columns=["panel", "edges", "regulators", "pairs"])


def published_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """The published decompositions, and every method with as many edges (signs together)."""
    curves = curve_table(rows)
    lines = []
    for point in published_points(rows).to_dict("records"):
        same = curves["panel"].eq(point["panel"]) & curves["n_edges"].eq(point["edges"])
        means = curves[same & curves["signs"].eq("together")].groupby(
            ["method", "asked"], sort=False
        )
        found = means[["regulators", "pairs"]].mean().reset_index()
        lines.append({**point, "method": "published", "asked": "auto"})
        lines += [{**point, **line} for line in found.to_dict("records")]
    names = ["panel", "edges", "method", "asked", "regulators", "pairs"]
    return pd.DataFrame(lines, columns=names)


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
        parts += ["## At the published number of edges\n", to_markdown(published_lines(rows))]
        for value in ("regulators", "pairs", "recovery", "relevance"):
            for signs in ("together", "apart"):
                parts.append(f"## {value.capitalize()}, signs {signs}\n")
                parts.append(to_markdown(curve_lines(curves, value, signs)))
    return [*parts, "## One number per fit\n", to_markdown(fact_lines(rows))]
