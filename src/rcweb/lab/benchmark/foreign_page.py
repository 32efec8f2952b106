"""Tables of the plan on foreign worlds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rcweb.lab.benchmark.foreign import BINS, UNTELLABLE
from rcweb.lab.benchmark.summary import to_markdown

NULL = "null: "


def is_null(rows: pd.DataFrame) -> pd.Series:
    """Which rows were measured in a table without regulators."""
    return rows["panel"].str.startswith(NULL)


def tellable(rows: pd.DataFrame) -> pd.Series:
    """Which rows were measured in a world whose regulators can be told apart."""
    return ~is_null(rows) & ~rows["panel"].str.startswith(UNTELLABLE)


def beside_fastica(rows: pd.DataFrame) -> pd.Series:
    """rho less FastICA's, told P, on the same table (world and seed); NaN where it was not run."""
    fastica = rows[(rows["method"] == "fastica") & (rows["asked"] == "known")]
    known = fastica.set_index(["panel", "seed"])["rho"]
    other = known.reindex(pd.MultiIndex.from_frame(rows[["panel", "seed"]]))
    return rows["rho"] - other.to_numpy()


def headline_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per method and number asked for: what the worlds say together."""
    ok = _ok(rows).assign(ahead=lambda r: beside_fastica(r))
    lines = []
    for (method, asked), group in ok.groupby(["method", "asked"], sort=False):
        worlds, told = group[~is_null(group)], group[tellable(group)]
        nulls = group[is_null(group)]
        by_world = worlds.groupby("panel")
        line: dict[str, Any] = {
            "method": method,
            "asked": asked,
            "worlds": worlds["panel"].nunique(),
            "rho": worlds["rho"].mean(),
            "rho less FastICA's, worst world": by_world["ahead"].mean().min(),
            "FDR": worlds["fdr"].mean(),
            "FDR, worst world": by_world["fdr"].mean().max(),
            "worlds with FDR > .07": int((by_world["fdr"].mean() > 0.07).sum()),
            "recall": worlds["recall"].mean(),
        }
        if "n_certified" in group and group["n_certified"].notna().any():
            # Sums over worlds: a world with one certified row must not count as much as one with
            # twenty.
            certified, right = told["n_certified"].sum(), told["n_certified_right"].sum()
            line["certified right"] = right / certified if certified else np.nan
            line["right certified"] = right / max(told["n_found"].sum(), 1)
            line["certified in nulls"] = nulls["n_certified"].sum()
        line["edges in nulls"] = nulls["n_edges"].sum()
        line["seconds / FastICA's, median"] = group["seconds_ratio"].median()
        line["greatest"] = group["seconds_ratio"].max()
        mine = rows[(rows["method"] == method) & (rows["asked"] == asked)]
        line["not finished"] = int((mine["status"] != "ok").sum())
        lines.append(line)
    return pd.DataFrame(lines)


def world_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Worlds with a truth: mean over seeds of every score, methods below each other."""
    ok = _ok(rows)
    part = ok[~is_null(ok)]
    columns = {
        "rho": "rho",
        "n_found": "found",
        "n_true": "of",
        "n_components_found": "rows",
        "fdr": "FDR",
        "recall": "recall",
        "calibration_error": "calibration error",
        "n_certified": "certified",
        "n_certified_right": "right",
        "n_edges": "edges",
        "seconds": "seconds",
        "seconds_ratio": "/ FastICA's",
    }
    return _means(part, columns)


def null_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Nulls: what was drawn and certified."""
    ok = _ok(rows)
    columns = {
        "n_components_found": "rows",
        "n_edges": "edges",
        "n_certified": "certified",
        "n_edges_certified": "edges of certified",
        "seconds_ratio": "/ FastICA's",
    }
    return _means(ok[is_null(ok)], columns)


def calibration_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """Bins of the edges' probability over all worlds: entries, mean probability, share true."""
    lines = []
    ok = _ok(rows)
    if "calibration" not in ok:
        return pd.DataFrame()
    ok = ok[ok["calibration"].map(lambda value: isinstance(value, dict))]
    for (method, asked), group in ok.groupby(["method", "asked"], sort=False):
        parts = {
            name: np.array([value[name] for value in group["calibration"]])
            for name in ("n", "probability", "true")
        }
        # Bins are weighted by their entries; empty ones stay 0.
        total = np.maximum(parts["n"].sum(axis=0), 1)
        for k, n in enumerate(parts["n"].sum(axis=0)):
            mean, share = (
                float((parts["n"][:, k] * parts[name][:, k]).sum() / total[k])
                for name in ("probability", "true")
            )
            bounds = f"{BINS[k]:g}-{BINS[k + 1]:g}"
            lines.append((method, asked, bounds, int(n), mean, share))
    columns = ["method", "asked", "probability", "entries", "mean probability", "share true"]
    return pd.DataFrame(lines, columns=columns)


def foreign_parts(rows: pd.DataFrame) -> list[str]:
    """The page of the plan, in parts."""
    return [
        "## All worlds\n",
        to_markdown(headline_lines(rows)),
        "## Each world (mean over seeds)\n",
        to_markdown(world_lines(rows)),
        "## Nulls\n",
        to_markdown(null_lines(rows)),
        "## Calibration of the edges' probabilities\n",
        to_markdown(calibration_lines(rows)),
    ]


def random_parts(rows: pd.DataFrame) -> list[str]:
    """The page of the plan of random worlds."""
    return [
        "## All worlds\n",
        to_markdown(random_lines(rows)),
        "## Calibration of the edges' probabilities\n",
        to_markdown(calibration_lines(rows)),
        "## Each world\n",
        to_markdown(_about_lines(rows)),
    ]


def random_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per method and number asked for: what random worlds say together."""
    if rows.empty:
        return rows
    lines = headline_lines(rows)
    ok = _ok(rows).assign(behind=lambda r: beside_fastica(r) < -0.01)
    behind = ok.groupby(["method", "asked"], sort=False)["behind"].sum()
    lines["rho below FastICA's by > .01"] = behind.to_numpy()
    null = ["certified in nulls", "edges in nulls", "rho less FastICA's, worst world"]
    return lines.drop(columns=null, errors="ignore")


def _about_lines(rows: pd.DataFrame) -> pd.DataFrame:
    """What each world is like, and what rcweb found there."""
    ok = _ok(rows)
    about = ok.drop_duplicates("panel").set_index("panel")["about"]
    wide = ok.assign(name=ok["method"] + " " + ok["asked"])
    wide = wide[wide["name"].isin(["fastica known", "rcweb known", "rcweb auto"])]
    parts = [
        wide.pivot_table(value, "panel", "name", sort=False).add_prefix(f"{value}, ")
        for value in ("rho", "fdr")
    ]
    return pd.concat([about, *parts], axis=1).reset_index()


def _ok(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["status"] == "ok"]


def _means(rows: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    names = [name for name in columns if name in rows]
    means = rows.groupby(["panel", "asked", "method"], sort=False)[names].mean()
    return means.rename(columns=columns).reset_index()
