"""What a plan leaves beside its rows: tables, and figures if matplotlib is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from rcweb.lab.benchmark.foreign_page import foreign_parts, random_parts
from rcweb.lab.benchmark.organisms_page import curve_table, organisms_parts
from rcweb.lab.benchmark.plans import TIMED
from rcweb.lab.benchmark.prior_page import calibration_table, prior_means, prior_parts
from rcweb.lab.benchmark.scale_page import scale_parts
from rcweb.lab.benchmark.sensitivity_page import constant_table, sensitivity_parts
from rcweb.lab.benchmark.slopes import scaling_exponents
from rcweb.lab.benchmark.store import read_rows
from rcweb.lab.benchmark.summary import (
    accuracy_table,
    gap_closed,
    summarise,
    time_ratio,
    to_markdown,
)


def write_outputs(plan: str, folder: Path) -> None:
    """Write tables and figures from ``rows.jsonl`` in `folder`."""
    rows = read_rows(folder / "rows.jsonl")
    if rows.empty:
        return
    if plan == "sensitivity":
        _write_constants(rows, folder)
        return
    summary = summarise(rows)
    summary.round(5).to_csv(folder / "summary.csv", index=False)
    if plan == "organisms":
        curve_table(rows).to_csv(folder / "curves.csv", index=False)
    if plan == "prior":
        prior_means(rows).round(5).to_csv(folder / "lists.csv", index=False)
        bins = calibration_table(rows)
        # Rivals know no probability; a file without columns could not be read.
        if not bins.empty:
            bins.round(5).to_csv(folder / "calibration.csv", index=False)
    if plan == "fig4":
        scaling_exponents(rows).round(4).to_csv(folder / "exponents.csv", index=False)
    (folder / "summary.md").write_text(_page(plan, rows, summary), encoding="utf-8")
    # Tables first: they do not need the extra.
    if find_spec("matplotlib") is None:
        print("no figures: pip install 'rcweb[plot]'", file=sys.stderr)
        return
    from rcweb.lab.benchmark.figures import draw

    draw(plan, rows, summary, folder)


def _write_constants(rows: pd.DataFrame, folder: Path) -> None:
    """One line per constant and factor instead of one per cell; nothing to draw."""
    table = constant_table(rows).round(5)
    table.to_csv(folder / "summary.csv", index=False)
    text = "\n".join(["# sensitivity\n", *sensitivity_parts(rows, table), *_failed(rows)])
    (folder / "summary.md").write_text(text, encoding="utf-8")


def _page(plan: str, rows: pd.DataFrame, summary: pd.DataFrame) -> str:
    parts = [f"# {plan}\n"]
    if plan == "scale":
        return "\n".join([*parts, *scale_parts(rows), *_failed(rows)])
    if plan == "random":
        return "\n".join([*parts, *random_parts(rows), *_failed(rows)])
    if plan == "foreign":
        return "\n".join([*parts, *foreign_parts(rows), *_failed(rows)])
    if plan == "prior":
        return "\n".join([*parts, *prior_parts(rows), *_failed(rows)])
    if plan == "organisms":
        return "\n".join([*parts, *organisms_parts(rows), *_failed(rows)])
    if summary.get("rho") is not None and summary["rho"].notna().any():
        parts += ["## Accuracy (mean ± sd over seeds)\n", to_markdown(accuracy_table(summary))]
        parts += ["## F1 of edges\n", to_markdown(accuracy_table(summary, "f1"))]
        gaps = gap_closed(summary)
        if not gaps.empty:
            parts += ["## Gap closed\n", to_markdown(gaps)]
            parts.append(f"Mean over cells: {gaps['gap_closed'].mean():.3f}\n")
    parts += _calibration(summary)
    if plan == "fig4":
        parts += ["## Scaling exponents\n", to_markdown(scaling_exponents(rows))]
    # Elsewhere the rows of one cell may have been measured hours apart, on a busy machine.
    ratios = time_ratio(summary) if plan in TIMED else pd.DataFrame()
    if not ratios.empty:
        parts += ["## Seconds beside FastICA\n", to_markdown(ratios)]
        medians = ratios.groupby("threads")["ratio"].median()
        parts += [f"Median ratio, {t} thread(s): {r:.2f}\n" for t, r in medians.items()]
    return "\n".join([*parts, *_failed(rows)])


def _failed(rows: pd.DataFrame) -> list[str]:
    failed = rows[rows["status"] != "ok"]
    if failed.empty:
        return []
    columns = ["label", "method", "seed", "status", "error"]
    return ["## Failed or out of time\n", to_markdown(failed[columns])]


def _calibration(summary: pd.DataFrame) -> list[str]:
    if "fdr" not in summary or summary["fdr"].isna().all():
        return []
    columns = ["label", "method", "fdr", "precision_confident", "n_components_found", "n_exact"]
    table = summary.loc[summary["fdr"].notna(), columns].drop_duplicates(["label", "method"])
    return ["## Edges: realised false discovery rate and calibration\n", to_markdown(table)]
