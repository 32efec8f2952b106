"""Known regulators met by the n strongest edges, as a curve over n.

Usable on any score matrix::

    curve(model.edge_score_, read_gmt("regulons.gmt"), variables=table.columns)

A known set is met when its overlap with the targets of some found regulator is significant: exact
hypergeometric tail over the measured variables, Bonferroni 0.05 over all pairs (found regulators,
empty ones too, times known sets with at least 5 measured members). Recovery and relevance are
those of Saelens et al. 2018 (doi 10.1038/s41467-018-03424-4) with J the Jaccard index::

    recovery  = mean over known sets K     of max over found sets F of J(F, K)
    relevance = mean over found sets F     of max over known sets K of J(F, K)

where found sets with fewer than 5 members are left out, as there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rcweb.engine.types import Array, Ints
from rcweb.knowledge.genesets import GeneSets
from rcweb.knowledge.hypergeometric import log_tail

# 1,231 and 1,791 are the edges of the published decompositions of M. tuberculosis and E. coli.
NUMBERS = (250, 500, 1000, 1231, 1791, 2000, 4000, 8000, 16000)
ALPHA = 0.05
MIN_SIZE = 5


def curve(
    scores: Any,
    sets: GeneSets,
    numbers: Sequence[int] = NUMBERS,
    *,
    variables: Sequence[str] | None = None,
) -> pd.DataFrame:
    """One line per number of edges and treatment of signs.

    scores : (P, N) signed, comparable across rows; array with `variables`, or DataFrame whose
        columns are the variables. The n entries of largest size are the edges; zeros never are
    sets : known targets; members that were not measured are left out

    Columns: n_edges (asked), edges (as many as there are non-zero scores at most), signs
    ("together", or "apart": positive and negative targets of a regulator are two sets), regulators
    (known sets met), pairs, rows (found regulators in a significant pair), recovery, relevance.
    """
    values, names = _labelled(scores, variables)
    _, members, sizes = known_members(sets, names)
    P = len(values)
    lines = []
    for n, edges, overlap, targets in _overlaps(values, members, numbers):
        together = (overlap[:P] + overlap[P:], targets[:P] + targets[P:])
        for signs, (common, found) in (("together", together), ("apart", (overlap, targets))):
            # All pairs count as tests, empty rows too: a method gains nothing by adding rows.
            met = significant(common, found, sizes, len(names))
            rows = np.asarray(met.any(axis=1))
            line = {
                "n_edges": n,
                "edges": edges,
                "signs": signs,
                "regulators": int(met.any(axis=0).sum()),
                "pairs": int(met.sum()),
                "rows": int((rows if len(rows) == P else rows[:P] | rows[P:]).sum()),
            }
            lines.append({**line, **recovery_relevance(common, found, sizes)})
    return pd.DataFrame(lines)


def met_sets(
    scores: Any, sets: GeneSets, n: int, *, variables: Sequence[str] | None = None
) -> set[str]:
    """Names of the known sets met by the n strongest edges, signs together."""
    values, names = _labelled(scores, variables)
    known, members, sizes = known_members(sets, names)
    P = len(values)
    _, _, overlap, targets = next(_overlaps(values, members, (n,)))
    met = significant(overlap[:P] + overlap[P:], targets[:P] + targets[P:], sizes, len(names))
    return {known[k] for k in np.flatnonzero(met.any(axis=0))}


def known_members(
    sets: GeneSets, variables: Sequence[str]
) -> tuple[tuple[str, ...], sparse.csr_array, Ints]:
    """Names, membership (S, N) and sizes (S,) of the sets with at least 5 measured members."""
    known = sets.within(variables, MIN_SIZE)
    members = sparse.csr_array(known.matrix(variables))
    return known.names, members, np.diff(members.indptr).astype(np.int64)


def strongest_entries(scores: Array, n: int) -> NDArray[np.intp]:
    """Positions in ``scores.ravel()`` of the n non-zero entries of largest size, largest first."""
    size = np.abs(scores).ravel()
    n = min(n, int(np.count_nonzero(size)))
    chosen = np.argpartition(-size, n - 1)[:n] if n else np.zeros(0, np.intp)
    # Ties by position, so that the order is the same on every machine.
    return chosen[np.lexsort((chosen, -size[chosen]))]


def strongest(scores: Array, n: int) -> Array:
    """The n entries of largest size, the others zero."""
    kept = np.zeros_like(scores)
    chosen = strongest_entries(scores, n)
    kept.ravel()[chosen] = scores.ravel()[chosen]
    return kept


def significant(overlap: Ints, targets: Ints, sizes: Ints, n_variables: int) -> NDArray[np.bool_]:
    """(Q, S) pairs with Bonferroni-corrected p <= 0.05; `targets` (Q,) and `sizes` (S,) counts."""
    log_p = log_tail(overlap, targets[:, None], sizes[None, :], n_variables)
    return np.asarray(log_p <= np.log(ALPHA / max(overlap.size, 1)))


def recovery_relevance(overlap: Ints, targets: Ints, sizes: Ints) -> dict[str, float]:
    """Both scores of Saelens et al. 2018 from (Q, S) overlaps; 0 where nothing was found."""
    kept = targets >= MIN_SIZE
    if not kept.any() or not len(sizes):
        return {"recovery": 0.0, "relevance": 0.0}
    common = overlap[kept]
    jaccard = common / (targets[kept, None] + sizes[None, :] - common)
    return {
        "recovery": float(jaccard.max(axis=0).mean()),
        "relevance": float(jaccard.max(axis=1).mean()),
    }


def _labelled(scores: Any, variables: Sequence[str] | None) -> tuple[Array, list[str]]:
    if variables is None:
        if not isinstance(scores, pd.DataFrame):
            raise ValueError("a plain array has no names: pass variables=, one name per column.")
        variables = list(scores.columns)
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(variables):
        raise ValueError(
            f"scores of shape {values.shape} do not fit {len(variables)} variables: "
            "they are regulators x variables."
        )
    return values, [str(name) for name in variables]


def _overlaps(
    scores: Array, members: sparse.csr_array, numbers: Sequence[int]
) -> Iterator[tuple[int, int, Ints, Ints]]:
    """(n, edges, overlap (2P, S), targets (2P,)) for each n; positive targets, then negative."""
    P, N = scores.shape
    # Sorted once; every smaller number is a prefix.
    order = strongest_entries(scores, max(numbers))
    row, column = np.divmod(order, N)
    # Negative targets as rows P to 2 P - 1, so that signs apart is one product too.
    row = row + P * (scores.ravel()[order] < 0)
    for n in numbers:
        edges = min(n, len(order))
        entries = (np.ones(edges), (row[:n], column[:n]))
        mask = sparse.csr_array(entries, shape=(2 * P, N))
        overlap = np.rint((mask @ members.T).toarray()).astype(np.int64)
        yield n, edges, overlap, np.bincount(row[:n], minlength=2 * P)
