"""Which regulators of two networks are the same, split, merged, lost or new: the rule.

A pair is *related* if it passes two steps.

1. Chance. Its targets overlap more than those of random sets of these sizes (hypergeometric tail),
   and its weights are more correlated than those of two unrelated rows over as many variables
   (Student's t); both at a false discovery rate of `RELATED_LEVEL` over all pairs.
2. Neighbours. Regulators of one network share targets with each other, so a regulator overlaps also
   with the partner of its neighbour. Where either of the two has a stronger partner, the targets of
   that partner are left out, and the rest must still overlap, at `RELATED_LEVEL` over their number.

Related pairs are assigned one to one, maximising the sum of ``-log(1 - correlation^2)``, the gain
in log-likelihood per variable; of the activities too, where they are known. A regulator without a
partner joins the one it is most related to: as a further part of it (split, merged).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import betainc

from rcweb.engine.matching import row_correlation
from rcweb.engine.types import Array, Ints, Mask
from rcweb.knowledge.hypergeometric import log_benjamini_hochberg, log_tail

RELATED_LEVEL = 0.05  # conventional
RELATIONS = ("same", "split", "merged", "regrouped", "lost", "new", "untested")
_ALIKE = 1 - 1e-12  # squared correlation from which on rows are equal but for rounding
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class PairTests:
    """Every pair of regulators, (P_a, P_b).

    correlation, activity_correlation : signed; of activities NaN where unknown
    overlap, log_p, log_q : common targets, hypergeometric tail, Benjamini-Hochberg
    related : by the rule of this module
    gain : what the assignment maximises
    scale : size of the row of b divided by that of a; NaN where a row is empty
    edges_a, edges_b : (P_a,), (P_b,) targets among the common variables
    tested_a, tested_b : whether any partner could have been significant
    """

    correlation: Array
    activity_correlation: Array
    overlap: Ints
    log_p: Array
    log_q: Array
    related: Mask
    gain: Array
    scale: Array
    edges_a: Ints
    edges_b: Ints
    tested_a: Mask
    tested_b: Mask


def compare_pairs(A: Array, B: Array, activity_correlation: Array) -> PairTests:
    """Compare all rows of `A` (P_a, n) with all rows of `B` (P_b, n)."""
    n, edges = A.shape[1], (A != 0, B != 0)
    sizes = [mask.sum(axis=1) for mask in edges]
    # Whole numbers up to 2^24 are exact in single precision, and twice as fast.
    overlap = (edges[0].astype(np.float32) @ edges[1].astype(np.float32).T).astype(np.int64)
    log_p = log_tail(overlap, sizes[0][:, None], sizes[1], n)
    rho = np.clip(row_correlation(A, B), -1, 1)  # rounding may go beyond
    some = np.outer(sizes[0] > 0, sizes[1] > 0)
    log_q, by_weights = _adjusted(log_p, some), _adjusted(_log_p_correlation(rho, n), some)
    unlike_chance = (log_q < np.log(RELATED_LEVEL)) & (by_weights < np.log(RELATED_LEVEL))
    gain = _gain(rho, activity_correlation)
    norms = [np.linalg.norm(X / _peak(X), axis=1) * _peak(X)[:, 0] for X in (A, B)]
    scale = np.full(rho.shape, np.nan)
    np.divide(norms[1], norms[0][:, None], out=scale, where=some)
    # The smallest p that each pair could have; the largest that was significant, or would be.
    best = log_tail(np.minimum(sizes[0][:, None], sizes[1]), sizes[0][:, None], sizes[1], n)
    limit = log_p[log_q < np.log(RELATED_LEVEL)].max(
        initial=np.log(RELATED_LEVEL / max(some.sum(), 1))
    )
    possible = some & (best <= limit)
    return PairTests(
        correlation=rho,
        activity_correlation=activity_correlation * np.where(rho < 0, -1.0, 1.0),
        overlap=overlap,
        log_p=log_p,
        log_q=log_q,
        related=_beyond_neighbours(*edges, unlike_chance, gain),
        gain=gain,
        scale=scale,
        edges_a=sizes[0].astype(np.int64),
        edges_b=sizes[1].astype(np.int64),
        tested_a=possible.any(axis=1),
        tested_b=possible.any(axis=0),
    )


def _peak(X: Array) -> Array:
    """(P, 1) largest size in each row, 1 if it is empty: squares of huge weights overflow."""
    peak = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
    return np.where(peak > 0, peak, 1.0)


def _log_p_correlation(rho: Array, n: int) -> Array:
    """Two-sided p of a correlation of n normal values, ``I_{1 - rho^2}((n - 2) / 2, 1 / 2)``."""
    p = betainc((n - 2) / 2, 0.5, np.clip(1 - rho**2, 0.0, 1.0))
    return np.asarray(np.log(np.maximum(p, _TINY)))


def _adjusted(log_p: Array, some: Mask) -> Array:
    """Benjamini-Hochberg over pairs that have edges on both sides; 0 (q = 1) elsewhere."""
    log_q = np.zeros_like(log_p)
    log_q[some] = log_benjamini_hochberg(log_p[some])
    return log_q


def _gain(rho: Array, activity: Array) -> Array:
    # Activities count where they agree with the sign of the weights.
    agreeing = np.where(np.nan_to_num(activity * np.sign(rho)) > 0, np.nan_to_num(activity), 0.0)
    gains = [-np.log1p(-np.minimum(np.square(r), _ALIKE)) for r in (rho, agreeing)]
    return np.asarray(gains[0] + gains[1])


def _beyond_neighbours(A: Mask, B: Mask, candidates: Mask, gain: Array) -> Mask:
    """Step 2 of the rule: candidates that overlap beside the stronger partners of either."""
    related = candidates.copy()
    strength = np.where(candidates, gain, -1.0)
    best_b, best_a = strength.argmax(axis=1), strength.argmax(axis=0)
    rows, columns = np.nonzero(candidates)
    weaker = (best_b[rows] != columns) | (best_a[columns] != rows)
    rows, columns = rows[weaker], columns[weaker]
    if not len(rows):
        return related
    log_p = np.zeros(len(rows))
    for k, (i, j) in enumerate(zip(rows, columns)):
        free = np.ones(A.shape[1], dtype=np.bool_)
        if best_b[i] != j:
            free &= ~B[best_b[i]]
        if best_a[j] != i:
            free &= ~A[best_a[j]]
        a, b = A[i] & free, B[j] & free
        log_p[k] = log_tail((a & b).sum(), a.sum(), b.sum(), int(free.sum()))
    related[rows, columns] = log_p < np.log(RELATED_LEVEL / len(rows))
    return related


@dataclass(frozen=True)
class Link:
    """One row of the comparison: numbers of the regulators (-1 = no partner), their relation, and
    the group of regulators that belong together."""

    a: int
    b: int
    relation: str
    group: int


def link(pairs: PairTests) -> list[Link]:
    """Related pairs as they are used, then the regulators without a partner."""
    strength = np.where(pairs.related, pairs.gain, 0.0)
    i, j = linear_sum_assignment(-strength)
    kept = pairs.related[i, j]
    links = set(zip(i[kept].tolist(), j[kept].tolist()))
    a_used, b_used = {a for a, _ in links}, {b for _, b in links}
    # Whoever is left has only partners that are taken: the assignment is maximal.
    for a in set(np.flatnonzero(pairs.related.any(axis=1)).tolist()) - a_used:
        links.add((a, int(strength[a].argmax())))
    for b in set(np.flatnonzero(pairs.related.any(axis=0)).tolist()) - b_used:
        links.add((int(strength[:, b].argmax()), b))
    a_used, b_used = {a for a, _ in links}, {b for _, b in links}
    lost = [(a, ok) for a, ok in enumerate(pairs.tested_a) if a not in a_used]
    new = [(b, ok) for b, ok in enumerate(pairs.tested_b) if b not in b_used]
    return [
        *_labelled(links),
        *(Link(a, -1, "lost" if ok else "untested", -1) for a, ok in lost),
        *(Link(-1, b, "new" if ok else "untested", -1) for b, ok in new),
    ]


def _labelled(links: set[tuple[int, int]]) -> list[Link]:
    """The relation of each link, by how many regulators of either side its group has."""
    of_a: dict[int, set[int]] = {}
    of_b: dict[int, set[int]] = {}
    for a, b in links:
        of_a.setdefault(a, set()).add(b)
        of_b.setdefault(b, set()).add(a)
    kinds = {(False, False): "same", (False, True): "split", (True, False): "merged"}
    labelled = []
    for a, b in sorted(links):
        # A group is one assigned pair and what joined either end: at most two steps away.
        left = of_b[b].union(*(of_b[other] for other in of_a[a]))
        right = of_a[a].union(*(of_a[other] for other in of_b[b]))
        relation = kinds.get((len(left) > 1, len(right) > 1), "regrouped")
        labelled.append(Link(a, b, relation, min(left)))
    return labelled
