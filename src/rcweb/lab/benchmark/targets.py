"""What rcweb should reach on real and foreign tables, and what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from rcweb.lab.benchmark.foreign_page import beside_fastica
from rcweb.lab.benchmark.measured import (
    ReadRows,
    by_method,
    certified_right,
    curve_ratio,
    foreign,
    foreign_time,
    organisms,
    ratio_to_fastica,
    real_time,
)
from rcweb.lab.benchmark.organisms_page import published_lines
from rcweb.lab.benchmark.prior_methods import OURS_GUIDED
from rcweb.lab.benchmark.prior_page import SUPPORT_FDR, random_supported, ratio_to_rival

KNOWN, AUTO = "rcweb", "rcweb, P unknown"
NUMBERS_JUDGED = (500, 1000, 2000, 4000, 8000)


@dataclass(frozen=True)
class Target:
    """One line: a bound on the mean over units, or on every unit.

    values : (unit, seed) x method; a unit is a world or a real table
    method : whose values, told P or not
    higher : the bound is the least, otherwise the most
    """

    name: str
    values: Callable[[ReadRows], pd.DataFrame]
    bound: float
    method: str = KNOWN
    higher: bool = True
    every: bool = False
    digits: int = 3


def targets() -> tuple[Target, ...]:
    """All of them, real tables first."""
    heads = tuple(
        Target(
            f"known regulators, {n:,} edges, ratio to FastICA's",
            partial(curve_ratio, value="regulators", numbers=(n,)),
            1.0 if n <= 1000 else 1.05,
        )
        for n in NUMBERS_JUDGED
    )
    heads += (Target("the same at 500 to 8,000 edges", _least_ratio, 0.9, every=True),)
    return (
        *heads,
        *(replace(head, name=f"{head.name}, P unknown", method=AUTO) for head in heads),
        Target("pairs, ratio to FastICA's", lambda read: curve_ratio(read, "pairs"), 1.0),
        Target(
            "known regulators at the published number of edges, ratio to the published",
            _published,
            1.0,
            AUTO,
            every=True,
        ),
        Target(
            "other random numbers: certified or found regulators that agree (> .95)",
            lambda read: organisms(read, "agree_95_kept", "whole"),
            0.95,
            every=True,
        ),
        Target(
            "another order and other signs: certified or found regulators that agree (> .95)",
            lambda read: organisms(read, "agree_95_kept", "shuffled"),
            0.95,
            every=True,
        ),
        Target(
            "another order and other signs: certified regulators that agree (> .99)",
            lambda read: organisms(read, "agree_99_certified", "shuffled"),
            1.0,
            every=True,
        ),
        Target(
            "halves of the samples: matched regulators, ratio to FastICA's",
            lambda read: ratio_to_fastica(organisms(read, "rows_again", "halves")),
            1.0,
            every=True,
        ),
        Target(
            "halves of the samples: known regulators in both, ratio to FastICA's",
            lambda read: ratio_to_fastica(organisms(read, "known_again", "halves")),
            1.0,
            every=True,
        ),
        Target(
            "knock-outs: area",
            lambda read: organisms(read, "knockout_area", "whole"),
            0.775,
        ),
        *_both("time on real tables, ratio to FastICA's", real_time, 10.0, digits=1),
        *_both("foreign worlds: rho less FastICA's", _rho_beside_fastica, -0.01, higher=True),
        *_both("foreign worlds: FDR", lambda read: foreign(read, "fdr"), 0.07),
        *_both("foreign worlds: certified rows that are right", certified_right, 0.95, mean=True),
        *_both("nulls: certified", lambda read: foreign(read, "n_certified", nulls=True), 0.0),
        *_both("nulls: edges", lambda read: foreign(read, "n_edges", nulls=True), 0.0, digits=1),
        *_both("foreign worlds: time, ratio to FastICA's", foreign_time, 10.0, digits=1),
        *_known_lists(),
    )


def _known_lists() -> tuple[Target, ...]:
    """Of a fit that is told half of every known list; nothing is measured without the plan."""

    def target(name: str, values: Callable[[pd.DataFrame], pd.DataFrame], bound: float) -> Target:
        return Target(
            f"known lists: {name}", lambda read: values(read("prior")), bound, OURS_GUIDED
        )

    ratio = "average precision, ratio to the best rival's"
    above = []
    for hidden, split, bound in (("half hidden", "gene", 1.8), ("operons hidden", "group", 1.3)):
        any_rival = partial(ratio_to_rival, split=split)
        not_whitened = partial(ratio_to_rival, split=split, whitened=False)
        above += [
            target(f"{hidden}, {ratio}", any_rival, 1.0),
            target(f"{hidden}, {ratio}, wanted lead", any_rival, bound),
            target(f"{hidden}, {ratio}, without the whitened mean", not_whitened, bound),
        ]
    alone = partial(random_supported, condition="random", value="n_random_supported")
    mixed = partial(random_supported, condition="mixed", value="random_share")
    none = target("random lists alone, supported", alone, 0.0)
    few = target("mixed with as many random lists, share of those supported", mixed, SUPPORT_FDR)
    return (
        *(replace(one, every=True) for one in above),
        *(replace(one, every=True, higher=False) for one in (none, few)),
    )


def _both(
    name: str,
    values: Callable[[ReadRows], pd.DataFrame],
    bound: float,
    *,
    higher: bool = False,
    mean: bool = False,
    digits: int = 3,
) -> tuple[Target, Target]:
    """Told P, and not; `mean` asks for the mean over units instead of every unit."""
    told, not_told = (
        Target(text, values, bound, method, higher or mean, not mean, digits)
        for method, text in ((KNOWN, f"{name}, P told"), (AUTO, f"{name}, P unknown"))
    )
    return told, not_told


def _least_ratio(read: ReadRows) -> pd.DataFrame:
    parts = [curve_ratio(read, "regulators", (n,)) for n in NUMBERS_JUDGED]
    return pd.concat(parts).groupby(level=["unit", "seed"], sort=False).min()


def _published(read: ReadRows) -> pd.DataFrame:
    """Known regulators with as many edges as the published decomposition, over those it meets."""
    rows = read("organisms")
    lines = published_lines(rows) if "published" in rows else pd.DataFrame()
    if lines.empty:
        return by_method(lines, "panel", "ratio")
    published = lines[lines["method"] == "published"].set_index("panel")["regulators"]
    ratio = lines["regulators"] / lines["panel"].map(published)
    return by_method(lines.assign(ratio=ratio, status="ok", seed=0), "panel", "ratio")


def _rho_beside_fastica(read: ReadRows) -> pd.DataFrame:
    rows = read("foreign")
    if rows.empty:
        return by_method(rows, "panel", "ahead")
    return by_method(rows.assign(ahead=beside_fastica(rows)), "panel", "ahead")


def target_lines(read: ReadRows) -> pd.DataFrame:
    """Required, measured, range over units, the worst unit, and whether the target is reached."""
    return pd.DataFrame([_line(target, target.values(read)) for target in targets()])


def _line(target: Target, values: pd.DataFrame) -> dict[str, Any]:
    required = f"{'>=' if target.higher else '<='} {target.bound:g}"
    line = {"target": target.name, "required": f"{'every' if target.every else 'mean'} {required}"}
    measured = values[target.method].dropna() if target.method in values else pd.Series()
    if measured.empty:
        return {**line, "reached": "not measured"}
    by_unit = measured.groupby(level="unit", sort=False).mean()
    # Worst first, whichever side is the bad one.
    by_unit = by_unit.sort_values(ascending=target.higher, kind="stable")
    # "every": the worst unit decides.
    judged = float(by_unit.iloc[0] if target.every else by_unit.mean())
    reached = judged >= target.bound if target.higher else judged <= target.bound
    kept = int(((by_unit >= target.bound) if target.higher else (by_unit <= target.bound)).sum())
    d = target.digits
    return {
        **line,
        "reached": "yes" if reached else "**no**",
        "mean": f"{by_unit.mean():.{d}f}",
        "least to greatest": f"{by_unit.min():.{d}f} to {by_unit.max():.{d}f}",
        "within": f"{kept} of {len(by_unit)}",
        "worst": str(by_unit.index[0]),
    }
