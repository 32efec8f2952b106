"""Tables of the plan on known lists: hidden targets found again, support, calibration, networks."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rcweb.lab.benchmark.prior_lists import NO_GROUPS
from rcweb.lab.benchmark.prior_methods import LIST_METHODS, OURS_GUIDED
from rcweb.lab.benchmark.prior_planted import NETWORK_SCORES
from rcweb.lab.benchmark.summary import to_markdown

CELL_COLUMNS = ["panel", "split", "condition", "method"]
VALUES = (
    "average_precision",
    "auroc",
    "average_precision_measured",
    "auroc_measured",
    "n_lists",
    "n_single",
    "n_answered",
    "n_true",
    "n_supported",
    "n_random",
    "n_random_supported",
    "random_share",
    "reliability",
    "blind_ratio",
    *NETWORK_SCORES,
    *(f"{name}_blind" for name in NETWORK_SCORES),
)
WHITENED = "mean-whitened"
# The forest answers for measured regulators alone: it is no part of ratios.
PARTIAL = ("forest",)
# The false discovery rate at which lists are supported.
SUPPORT_FDR = 0.05


def prior_means(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per table, way to hide, condition and method: mean over splits, sd of precision."""
    ok = _ok(rows)
    groups = ok.groupby(CELL_COLUMNS, sort=False)
    names = [name for name in VALUES if name in ok]
    table = groups[names].mean()
    table.insert(0, "n_splits", groups.size())
    if "average_precision" in ok:
        table["average_precision_sd"] = groups["average_precision"].std(ddof=1)
    # Summed over splits: with few lists a mean of shares hides how few they are.
    for name in ("n_random", "n_random_supported"):
        if name in ok:
            table[f"{name}_total"] = groups[name].sum()
    return table.reset_index()


def _ok(rows: pd.DataFrame) -> pd.DataFrame:
    ok = rows[rows["status"] == "ok"]
    split = ok["split"] if "split" in ok else pd.Series("gene", ok.index)
    # Planted cells hide single targets.
    return ok.assign(split=split.fillna("gene"))


def found_again_lines(means: pd.DataFrame, split: str, condition: str = "clean") -> pd.DataFrame:
    """Tables down, methods across, "average precision / AUROC"."""
    part = means[means["split"].eq(split) & means["condition"].eq(condition)]
    part = part[part["average_precision"].notna()]
    if part.empty:
        return pd.DataFrame()
    pairs = zip(part["average_precision"], part["auroc"])
    text = part.assign(text=[f"{precision:.3f} / {area:.3f}" for precision, area in pairs])
    wide = text.pivot(index="panel", columns="method", values="text")
    order = [name for name in LIST_METHODS if name in wide]
    return wide.loc[list(part["panel"].unique()), order].fillna("").reset_index()


def false_lines(means: pd.DataFrame, split: str = "gene") -> pd.DataFrame:
    """Average precision of ours with false members, and how reliable it takes the lists to be."""
    part = means[means["method"].eq(OURS_GUIDED) & means["split"].eq(split)]
    part = part[part["condition"].str.contains("clean|false")]
    lines = []
    for panel, group in part.groupby("panel", sort=False):
        line: dict[str, Any] = {"panel": panel}
        for row in group.to_dict("records"):
            line[row["condition"]] = row["average_precision"]
            line[f"reliability, {row['condition']}"] = row.get("reliability")
        lines.append(line)
    return pd.DataFrame(lines)


def support_lines(means: pd.DataFrame) -> pd.DataFrame:
    """Lists supported, of true and of random ones; time over that of the fit without lists."""
    ours = means[means["method"].eq(OURS_GUIDED)]
    if ours.empty or "n_supported" not in ours:
        return pd.DataFrame()
    names = {
        "n_splits": "splits",
        "n_true": "lists",
        "n_supported": "supported",
        "n_random_total": "random lists, all splits",
        "n_random_supported_total": "of them supported",
        "random_share": "random among supported",
        "reliability": "reliability",
        "blind_ratio": "time / fit without lists",
    }
    kept = [name for name in names if name in ours]
    return ours[["panel", "split", "condition", *kept]].rename(columns=names)


def planted_lines(means: pd.DataFrame) -> pd.DataFrame:
    """rho of the edges drawn, recall and FDR on planted tables, with lists and without; recall and
    FDR of what was not shown too."""
    scores = ("rho_edges", "recall", "recall_hidden", "fdr", "fdr_hidden")
    names = [f"{name}{suffix}" for name in scores for suffix in ("", "_blind")]
    if not set(names) <= set(means):
        return pd.DataFrame()
    part = means[means["method"].eq(OURS_GUIDED) & means["rho_edges"].notna()]
    words = {"_blind": " without lists", "_hidden": " of what was not shown", "rho_edges": "rho"}
    columns = {}
    for name in names:
        columns[name] = name
        for word, text in words.items():
            columns[name] = columns[name].replace(word, text)
    return part[["panel", "condition", *names]].rename(columns=columns)


def calibration_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Bins of the probability, pooled over tables and splits.

    which : "not shown": the share of hidden members; on real tables a lower bound of the share of
        targets, since nobody knows about the others. "shown": the share of true members among them
    """
    parts = []
    for name, which in (("calibration", "not shown"), ("calibration_shown", "shown")):
        for row in _ok(rows).to_dict("records"):
            if isinstance(row.get(name), dict):
                bins = pd.DataFrame(row[name]).rename_axis("bin").reset_index()
                told = {"which": which, "tables": "planted" if pd.isna(row.get("sets")) else "real"}
                told |= {name: row[name] for name in ("split", "condition")}
                parts.append(bins.assign(**told))
    if not parts:
        return pd.DataFrame()
    table = pd.concat(parts, ignore_index=True)
    # Means of bins weigh by their entries.
    for column in ("probability", "true"):
        table[column] *= table["n"]
    keys = ["tables", "which", "split", "condition", "bin"]
    sums = table.groupby(keys, sort=False)[["n", "probability", "true"]].sum().reset_index()
    sums = sums[sums["n"] > 0]
    for column in ("probability", "true"):
        sums[column] /= sums["n"]
    return sums.drop(columns="bin")


def calibration_lines(bins: pd.DataFrame) -> pd.DataFrame:
    """The bins of single genes hidden, clean or with false members shown; with titles that say what
    is a lower bound."""
    if bins.empty:
        return bins
    clean = bins["which"].eq("not shown") & bins["condition"].eq("clean")
    table = bins[bins["split"].eq("gene") & (clean | bins["which"].eq("shown"))]
    bound = table["which"].eq("not shown") & table["tables"].eq("real")
    table = table.assign(which=table["which"].mask(bound, "not shown (a lower bound)"))
    names = {"which": "variables", "n": "number", "probability": "mean probability"}
    return table.drop(columns="split").rename(columns={**names, "true": "known members"})


def ratio_to_rival(rows: pd.DataFrame, split: str, whitened: bool = True) -> pd.DataFrame:
    """(unit, seed) x "guided": average precision over the mean over splits of the best rival.

    whitened : whether the mean in whitened directions counts as a rival
    """
    wide = _clean(rows, split, "average_precision")
    skipped = (OURS_GUIDED, *PARTIAL, *(() if whitened else (WHITENED,)))
    rivals = [name for name in wide if name not in skipped]
    if OURS_GUIDED not in wide or not rivals:
        return wide.iloc[:0]
    best = wide[rivals].groupby(level="unit").mean().max(axis=1)
    unit = wide.index.get_level_values("unit")
    return wide[[OURS_GUIDED]].div(best.reindex(unit).to_numpy(), axis=0)


def random_supported(rows: pd.DataFrame, condition: str, value: str) -> pd.DataFrame:
    """(unit, seed) x "guided"; a unit is a table with a way to hide."""
    if rows.empty or value not in rows:
        return _nothing()
    ok = _ok(rows)
    ok = ok.assign(unit=ok["panel"] + ", " + ok["split"])
    part = ok[ok["condition"].eq(condition) & ok["method"].eq(OURS_GUIDED) & ok[value].notna()]
    return part.pivot_table(value, ["unit", "seed"], "method", sort=False)


def _clean(rows: pd.DataFrame, split: str, value: str) -> pd.DataFrame:
    """Real tables alone: planted ones have answers of another kind."""
    if rows.empty or value not in rows or "sets" not in rows:
        return _nothing()
    ok = _ok(rows)
    part = ok[ok["condition"].eq("clean") & ok["split"].eq(split) & ok["sets"].notna()]
    part = part[part[value].notna()].rename(columns={"panel": "unit"})
    return part.pivot_table(value, ["unit", "seed"], "method", sort=False)


def _nothing() -> pd.DataFrame:
    return pd.DataFrame(index=pd.MultiIndex.from_arrays([[], []], names=["unit", "seed"]))


def prior_parts(rows: pd.DataFrame) -> list[str]:
    """The page of the plan, in parts."""
    means = prior_means(rows)
    parts = []
    if "average_precision" in means:
        for split in means["split"].unique():
            for condition in means["condition"].unique():
                lines = found_again_lines(means, split, condition)
                if not lines.empty:
                    parts.append(f"## Hidden by {split}, {condition}: average precision / AUROC\n")
                    parts.append(to_markdown(lines))
    for reason in NO_GROUPS.values():
        parts.append(f"Not hidden by group: {reason}.\n")
    for title, lines in (
        ("Lists supported", support_lines(means)),
        ("Calibration", calibration_lines(calibration_table(rows))),
        ("Networks of planted tables", planted_lines(means)),
    ):
        if not lines.empty:
            parts += [f"## {title}\n", to_markdown(lines)]
    return parts
