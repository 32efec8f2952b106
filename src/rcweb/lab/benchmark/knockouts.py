"""Deleted regulators: does the component that fits a regulator change most when it is deleted?"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

from rcweb.engine.types import Array, Mask
from rcweb.knowledge.genesets import GeneSets
from rcweb.knowledge.hypergeometric import log_tail
from rcweb.lab.benchmark.curves import known_members

CONTRAST = ["regulator", "deletion", "wild_type"]


def knockout_areas(
    edges: Mask,
    activities: Array,
    sets: GeneSets,
    contrasts: pd.DataFrame,
    conditions: pd.Series,
    variables: list[str],
) -> pd.Series:
    """For each usable contrast, the share of the other components that change less.

    edges : (P, N) the method's own;  activities : (M, P)
    contrasts : columns regulator, deletion, wild_type (two conditions)
    conditions : (M,) condition of each sample

    The component of a regulator is the one whose targets overlap its known targets most
    significantly. Its change is |mean over the deletion's samples - mean over the wild type's| in
    units of its standard deviation over all samples; 1 = it changes most, 0.5 = as by chance, ties
    count half. A contrast is usable if both conditions were measured and the regulator has at
    least 5 measured targets.
    """
    known, members, sizes = known_members(sets, variables)
    mask = sparse.csr_array(edges.astype(np.float64))
    overlap = np.rint((mask @ members.T).toarray()).astype(np.int64)
    log_p = log_tail(overlap, edges.sum(axis=1)[:, None], sizes[None, :], len(variables))
    best = dict(zip(known, log_p.argmin(axis=0)))
    # The scale of a component is arbitrary.
    sd = activities.std(axis=0)
    units = np.divide(activities, sd, out=np.zeros_like(activities), where=sd > 0)
    areas = {}
    for name, deletion, wild_type in contrasts[CONTRAST].astype(str).to_numpy():
        deleted, wild = ((conditions == c).to_numpy() for c in (deletion, wild_type))
        if name in best and deleted.any() and wild.any():
            change = np.abs(units[deleted].mean(axis=0) - units[wild].mean(axis=0))
            areas[f"{name} {deletion}"] = _area(change, best[name])
    return pd.Series(areas, dtype=np.float64)


def _area(change: Array, chosen: int) -> float:
    others = np.delete(change, chosen)
    if not len(others):
        return 1.0
    return float((others < change[chosen]).mean() + 0.5 * (others == change[chosen]).mean())
