"""Which edges to keep, and in what order to show them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import HALF_WAY
from rcweb.engine.types import Array

# A single edge may be false with this many times the rate allowed for all: at 5 %, every edge is
# more likely true than not. Where most edges are certain, the mean alone would leave room for many
# edges that are almost surely false.
EACH = 10.0


def keep_at_fdr(probability: Array, fdr: float) -> NDArray[np.bool_]:
    """Most probable edges whose expected share of false ones, mean of 1 - p, is at most `fdr`, and
    of which none is false with a probability above ``EACH * fdr``."""
    keep = probability > max(1 - EACH * fdr, 0.0)
    candidates = np.flatnonzero(keep)
    order = candidates[np.argsort(-probability.flat[candidates], kind="stable")]
    false = np.cumsum(1 - probability.flat[order]) / np.arange(1, len(order) + 1)
    keep.flat[order[int((false <= fdr).sum()) :]] = False
    return keep


def keep_strongest(score: Array, n: int) -> NDArray[np.bool_]:
    """The `n` entries of largest magnitude."""
    keep = np.zeros(score.size, bool)
    keep[np.argsort(-np.abs(score), axis=None, kind="stable")[:n]] = True
    return keep.reshape(score.shape) & (score != 0)


def standardised(Y: Array) -> Array:
    """Rows in units of their own standard deviation: strong entries of different regulators
    compare, and a narrow background does not push its regulator to the head of the list."""
    return np.asarray(Y / np.maximum(np.sqrt((Y * Y).mean(axis=1, keepdims=True)), 1e-300))


def comparable(Y: Array, C: Array) -> Array:
    """Scores (P, N) of the entries `Y` by which edges are ranked across rows and variables.

    An entry counts by how far it stands out of its row, and by the share that its regulator has in
    what all regulators do to the variable, `C` being weights for activities of unit variance. Some
    variables have large weights in every row, and would fill the head of the list.
    """
    share = np.abs(C) / np.maximum(np.sqrt((C * C).sum(axis=0)), 1e-300)
    return standardised(Y) * share**HALF_WAY
