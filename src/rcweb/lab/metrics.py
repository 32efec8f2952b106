"""Scores of a found network against the true one (paper, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from rcweb.engine.matching import match_rows, row_correlation
from rcweb.engine.types import Array


@dataclass(frozen=True)
class Recovery:
    """How well a network was recovered; every score lies in [0, 1].

    rho_per_regulator : |correlation| of each true row with the found row assigned to it one to one;
        0 for a true row that nothing was assigned to
    rho : its mean, the accuracy of the paper's text
    rho_best_match : the score of the author's program: mean over found rows of the best correlation
        with any true row. A regulator found ten times counts ten times; for comparison only
    precision, recall, f1 : of edges (non-zero entries) after the assignment
    average_precision : area under precision-recall when edges are ranked by |weight| (or by the
        ranking passed in) over all matched rows
    """

    rho_per_regulator: Array
    rho: float
    rho_best_match: float
    precision: float
    recall: float
    f1: float
    average_precision: float


def score_network(found: Array, true: Array, ranking: Array | None = None) -> Recovery:
    """Compare a found network with the true one.

    found : (any number of regulators, variables) weights, zero = no edge
    true : (regulators, variables)
    ranking : of the shape of `found`, orders edges for ``average_precision``; by default the
        weights in units of the root mean square of their row, since a row's scale is arbitrary

    Returns a `Recovery`. Order, sign and scale of rows do not matter.

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.lab.metrics import score_network
    >>> from rcweb.simulate import simulate
    >>> truth = simulate(100, 80, 4, random_state=0)
    >>> model = RCweb(4).fit(truth.data)
    >>> score = score_network(model.components_, truth.network)
    >>> round(score.rho, 2), score.precision
    (1.0, 1.0)
    """
    true = np.asarray(true, dtype=np.float64)
    found = np.asarray(found, dtype=np.float64).reshape(-1, true.shape[1])
    ranking = _row_scaled(found) if ranking is None else np.asarray(ranking, dtype=np.float64)
    # Before any count: order, sign and scale of found rows are arbitrary.
    pairs = match_rows(found, true)
    rho = np.zeros(len(true))
    rho[pairs.other] = np.abs(pairs.correlation)
    # Unmatched found rows hold false edges; unmatched true rows hold missed ones.
    hits = int(((found[pairs.found] != 0) & (true[pairs.other] != 0)).sum())
    n_found, n_true = int((found != 0).sum()), int((true != 0).sum())
    precision = hits / n_found if n_found else 0.0
    recall = hits / n_true if n_true else 0.0
    best = np.abs(row_correlation(found, true)).max(axis=1) if len(found) else np.zeros(1)
    return Recovery(
        rho_per_regulator=rho,
        rho=float(rho.mean()),
        rho_best_match=float(best.mean()),
        precision=precision,
        recall=recall,
        f1=2 * hits / (n_found + n_true) if n_found + n_true else 0.0,
        average_precision=_average_precision(ranking, true, pairs.found, pairs.other),
    )


def _row_scaled(C: Array) -> Array:
    size = np.sqrt((C * C).mean(axis=1, keepdims=True))
    return np.divide(C, size, out=np.zeros_like(C), where=size > 0)


def _average_precision(
    ranking: Array, true: Array, found_rows: NDArray[np.intp], true_rows: NDArray[np.intp]
) -> float:
    """Missed true rows keep their edges with rank zero; spare found rows are all false."""
    spare = np.setdiff1d(np.arange(len(ranking)), found_rows)
    missed = np.setdiff1d(np.arange(len(true)), true_rows)
    score = np.vstack([ranking[found_rows], ranking[spare], np.zeros((len(missed), true.shape[1]))])
    label = np.vstack([true[true_rows], np.zeros((len(spare), true.shape[1])), true[missed]]) != 0
    # average_precision_score is undefined without a true edge.
    if not label.any():
        return 0.0
    return float(average_precision_score(label.ravel(), np.abs(score).ravel()))
