"""One-to-one assignment of found regulators to others, with sign and scale (paper, section 4.1).

Regulators come back in any order, sign and scale; nothing may be compared or averaged before that
is resolved. Used by the scores, by interpretation and by resampling alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from rcweb.engine.types import Array


@dataclass(frozen=True)
class Matching:
    """Pairs (found[k], other[k]) of row numbers with the best total |correlation|, by row found.

    correlation : signed, of each pair
    scale : factor that brings the found row onto the other one by least squares
    """

    found: NDArray[np.intp]
    other: NDArray[np.intp]
    correlation: Array
    scale: Array


def row_correlation(A: Array, B: Array) -> Array:
    """Pearson correlations of all rows of `A` with all rows of `B`; 0 where a row is constant."""
    return _standardise(A) @ _standardise(B).T


def _standardise(A: Array) -> Array:
    A = np.asarray(A, dtype=np.float64)
    A = A - A.mean(axis=1, keepdims=True)
    # Two steps keep huge and tiny rows from overflowing in the norm.
    peak = np.abs(A).max(axis=1, keepdims=True, initial=0.0)
    A = np.divide(A, peak, out=np.zeros_like(A), where=peak > 0)
    norm = np.linalg.norm(A, axis=1, keepdims=True)
    return np.divide(A, norm, out=np.zeros_like(A), where=norm > 0)


def match_rows(found: Array, other: Array) -> Matching:
    """Assign rows of `found` to rows of `other`, each used once, maximising the sum of |rho|.

    The shorter side is matched completely. Section 4.1 asks for this assignment (the paper names
    belief propagation; the Hungarian method solves the same problem exactly).
    """
    if found.shape[1] != other.shape[1]:
        raise ValueError(
            f"rows have different lengths: {found.shape[1]} and {other.shape[1]} variables."
        )
    # |rho|: the sign of a regulator is arbitrary.
    rho = row_correlation(found, other)
    i, j = linear_sum_assignment(-np.abs(rho))
    a, b = found[i], other[j]
    power = (a * a).sum(axis=1)
    scale = np.divide((a * b).sum(axis=1), power, out=np.zeros(len(i)), where=power > 0)
    return Matching(found=i, other=j, correlation=rho[i, j], scale=scale)
