"""Overlap of a network's target sets with known ones, all pairs at once (paper, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from rcweb.engine.types import Array, Ints
from rcweb.knowledge.genesets import GeneSets
from rcweb.knowledge.hypergeometric import (
    from_log,
    log_benjamini_hochberg,
    log_bonferroni,
    log_tail,
)
from rcweb.knowledge.labels import as_network

SIGNS = ("together", "apart", "positive", "negative")
LOG10 = float(np.log(10))


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Overlaps of Q target sets with S known sets, Q x S tests; made by `overlap_test`.

    regulators, signs : of each of the Q rows; with signs apart a regulator has a row "+" and a row
        "-" for its targets of positive and negative weight, otherwise one row "+-"
    sets : the known sets, reduced to the universe and to the sizes asked for
    overlap : (Q, S) common variables
    log_p : (Q, S) natural log of the probability of at least this overlap by chance
    correlation : (Q, S) over the universe, of the target set with the known set: of weights if the
        known sets have weights, of memberships (0 and 1) otherwise
    n_targets, set_sizes : (Q,) and (S,), counted within the universe
    n_universe : number of variables that could have been in any set
    """

    regulators: tuple[str, ...]
    signs: tuple[str, ...]
    sets: GeneSets
    overlap: Ints
    log_p: Array
    correlation: Array
    n_targets: Ints
    set_sizes: Ints
    n_universe: int

    @cached_property
    def log_q(self) -> Array:
        """Natural log of the Benjamini-Hochberg q over all Q x S pairs."""
        return log_benjamini_hochberg(self.log_p)

    @cached_property
    def log_bonferroni(self) -> Array:
        """Natural log of the p-value times Q x S, at most 0."""
        return log_bonferroni(self.log_p)

    def table(self, max_q: float = 1.0, min_overlap: int = 1) -> pd.DataFrame:
        """One row per pair, the most significant first; pairs without overlap are left out.

        max_q : pairs above this q are left out
        min_overlap : pairs with fewer common variables are left out

        Columns: regulator, sign, set, description, overlap, n_targets, set_size, expected, fold,
        correlation, p, q, bonferroni, log10_p. `p` is never 0: below 2.2e-308 read `log10_p`.

        Examples
        --------
        >>> import numpy as np
        >>> from rcweb.knowledge import GeneSets, overlap_test
        >>> genes = [f"g{n}" for n in range(50)]
        >>> known = GeneSets.from_dict({"fur": genes[:8], "lexA": genes[8:16]})
        >>> overlaps = overlap_test(np.arange(50)[None] < 10, known, targets=genes)
        >>> overlaps.table(max_q=0.05)["set"].tolist(), overlaps.table()["set"].tolist()
        (['fur'], ['fur', 'lexA'])
        """
        row, column = np.nonzero(
            (self.overlap >= min_overlap) & (self.log_q <= _log_level("max_q", max_q))
        )
        order = np.argsort(self.log_p[row, column], kind="stable")
        return self._rows(row[order], column[order])

    def best_sets(self) -> pd.DataFrame:
        """The most significant set of every row, in the order of the rows."""
        row = np.arange(len(self.regulators))
        if not len(self.sets):
            return self._rows(row[:0], row[:0])
        return self._rows(row, self.log_p.argmin(axis=1))

    def best_regulators(self) -> pd.DataFrame:
        """The most significant row for every set, in the order of the sets."""
        column = np.arange(len(self.sets))
        if not len(self.regulators):
            return self._rows(column[:0], column[:0])
        return self._rows(self.log_p.argmin(axis=0), column)

    def assign(
        self, alpha: float = 0.05, correction: str = "bonferroni", min_claim: float = 0.5
    ) -> pd.DataFrame:
        """Which regulator is which known one: each regulator and each set used at most once.

        alpha : level of significance
        correction : "bonferroni" or "bh" (Benjamini-Hochberg)
        min_claim : smallest |correlation| of a pair, in units of the regulator's largest one

        Returns rows as of `table`. Maximises the sum of |correlation| over pairs that are
        significant and whose |correlation| is large enough. A regulator whose best name is taken
        and whose next best is much weaker stays unnamed.

        Examples
        --------
        >>> import numpy as np
        >>> from rcweb.knowledge import GeneSets, overlap_test
        >>> genes = [f"g{n}" for n in range(50)]
        >>> known = GeneSets.from_dict({"fur": genes[:8], "lexA": genes[8:16]})
        >>> network = np.array([np.arange(50) < 8, np.arange(50) < 10])  # both look like fur
        >>> overlap_test(network, known, targets=genes).assign()[["regulator", "set"]]
          regulator  set
        0    rcweb0  fur
        """
        corrected = {"bonferroni": self.log_bonferroni, "bh": self.log_q}
        if correction not in corrected:
            raise ValueError(f"correction must be 'bonferroni' or 'bh', not {correction!r}.")
        allowed = corrected[correction] <= _log_level("alpha", alpha)
        names, owner = np.unique(self.regulators, return_inverse=True)
        strength = np.where(allowed, np.abs(self.correlation), -np.inf)
        # A regulator with two rows (signs apart) takes part with its stronger one.
        order = np.argsort(owner, kind="stable")
        starts = np.searchsorted(owner[order], np.arange(len(names)))
        if not strength.size:
            return self._rows(order[:0], order[:0])
        best = np.maximum.reduceat(strength[order], starts, axis=0)
        # Else a regulator could take a weak name only because its own is taken.
        best[best < min_claim * best.max(axis=1, keepdims=True)] = -np.inf
        # The solver needs finite costs: pairs that are not allowed cost 0 and are dropped below.
        i, column = linear_sum_assignment(-np.maximum(best, 0.0))
        named = best[i, column] > 0
        i, column = i[named], column[named]
        # Back from regulators to rows: the row (sign) that gave the strength.
        row = np.where(owner[:, None] == i[None, :], strength[:, column], -np.inf).argmax(axis=0)
        order = np.argsort(self.log_p[row, column], kind="stable")
        return self._rows(row[order], column[order])

    def _rows(self, row: NDArray[np.intp], column: NDArray[np.intp]) -> pd.DataFrame:
        n, K = self.n_targets[row], self.set_sizes[column]
        expected = n * K / max(self.n_universe, 1)
        overlap, log_p = self.overlap[row, column], self.log_p[row, column]
        return pd.DataFrame(
            {
                "regulator": np.array(self.regulators, dtype=object)[row],
                "sign": np.array(self.signs, dtype=object)[row],
                "set": np.array(self.sets.names, dtype=object)[column],
                "description": np.array(self.sets.descriptions, dtype=object)[column],
                "overlap": overlap,
                "n_targets": n,
                "set_size": K,
                "expected": expected,
                "fold": np.divide(overlap, expected, out=np.zeros(len(row)), where=expected > 0),
                "correlation": self.correlation[row, column],
                "p": from_log(log_p),
                "q": from_log(self.log_q[row, column]),
                "bonferroni": from_log(self.log_bonferroni[row, column]),
                "log10_p": log_p / LOG10,
            }
        )


def overlap_test(
    network: Any,
    sets: GeneSets,
    *,
    universe: Sequence[str] | None = None,
    signs: str = "together",
    min_size: int = 5,
    max_size: int | None = None,
    regulators: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
) -> Overlaps:
    """Test every target set of `network` against every known set.

    network : fitted ``RCweb``, `Network`, DataFrame, or (P, N) weights or mask with `targets`
    sets : the known sets
    universe : variables that count, a part of the network's targets; by default all that were
        measured. Members of `sets` outside it could not have been found and are left out
    signs : "together" (edges of either sign), "apart" (two rows per regulator), "positive" or
        "negative" (one row, only these edges)
    min_size, max_size : limits on a set's number of members within the universe
    regulators, targets : names of the rows and columns, where `network` is an array

    Returns `Overlaps`. Each p-value is the exact hypergeometric tail (section 4.3). Every pair
    counts as a test in the corrections, also those without overlap.

    Examples
    --------
    >>> import numpy as np
    >>> from rcweb.knowledge import GeneSets, overlap_test
    >>> genes = [f"g{n}" for n in range(100)]
    >>> network = np.zeros((2, 100))
    >>> network[0, :10] = network[1, 10:30] = 1
    >>> known = GeneSets.from_dict({"fur": genes[:8], "lexA": genes[50:60]})
    >>> overlaps = overlap_test(network, known, targets=genes)
    >>> overlaps.table()[["regulator", "set", "overlap", "expected"]]
      regulator  set  overlap  expected
    0    rcweb0  fur        8       0.8
    """
    if signs not in SIGNS:
        raise ValueError(f"signs must be one of {', '.join(SIGNS)}; not {signs!r}.")
    net = as_network(network, regulators, targets)
    columns = _universe_columns(net.targets, universe)
    names = [net.targets[n] for n in columns]
    # Before the test: sets outside the universe must not count as tests.
    sets = sets.within(names, min_size, max_size)
    weights, labels, row_signs = _signed_rows(net.weights[:, columns], net.regulators, signs)
    mask = sparse.csr_array((weights != 0).astype(np.float64))
    members = sets.matrix(names)
    # Sparse products count all pairs at once; they are whole numbers up to rounding.
    overlap = np.rint((mask @ members.T).toarray()).astype(np.int64)
    n_targets = np.rint(mask.sum(axis=1)).astype(np.int64)
    sizes = np.rint(members.sum(axis=1)).astype(np.int64)
    if sets.weights is None:
        correlation = _correlation(mask, members)
    else:
        correlation = _correlation(sparse.csr_array(weights), sets.matrix(names, weighted=True))
    return Overlaps(
        regulators=labels,
        signs=row_signs,
        sets=sets,
        overlap=overlap,
        log_p=log_tail(overlap, n_targets[:, None], sizes[None, :], len(names)),
        correlation=correlation,
        n_targets=n_targets,
        set_sizes=sizes,
        n_universe=len(names),
    )


def _log_level(name: str, value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError(f"{name} must lie in (0, 1], not {value}.")
    return float(np.log(value))


def _universe_columns(
    targets: Sequence[str], universe: Sequence[str] | None
) -> NDArray[np.intp] | list[int]:
    if universe is None:
        return np.arange(len(targets))
    position = {name: n for n, name in enumerate(targets)}
    unknown = [name for name in universe if name not in position]
    if unknown:
        raise ValueError(
            f"{len(unknown)} names of the universe were not measured, such as {unknown[0]!r}; "
            "a variable that is not in the table cannot be a target."
        )
    return [position[name] for name in dict.fromkeys(universe)]


def _signed_rows(
    weights: Array, regulators: tuple[str, ...], signs: str
) -> tuple[Array, tuple[str, ...], tuple[str, ...]]:
    P = len(weights)
    if signs == "together":
        return weights, regulators, ("+-",) * P
    positive, negative = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    if signs == "positive":
        return positive, regulators, ("+",) * P
    if signs == "negative":
        return negative, regulators, ("-",) * P
    rows = np.stack([positive, negative], axis=1).reshape(2 * P, -1)
    return rows, tuple(r for r in regulators for _ in range(2)), ("+", "-") * P


def _correlation(A: sparse.csr_array, B: sparse.csr_array) -> Array:
    """Pearson correlations of all rows of A with all rows of B, without making them dense."""
    N = A.shape[1]
    sums = [M.sum(axis=1) for M in (A, B)]
    # Rounding may make the variance of a constant row slightly negative.
    spreads = [np.sqrt(np.maximum(N * (M * M).sum(axis=1) - s**2, 0)) for M, s in zip((A, B), sums)]
    scale = np.outer(*spreads)
    covariance = N * (A @ B.T).toarray() - np.outer(*sums)
    return np.divide(covariance, scale, out=np.zeros_like(covariance), where=scale > 0)
