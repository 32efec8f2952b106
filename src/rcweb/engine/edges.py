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
MEDIAN_SQUARE = 0.4549  # median of the square of a standard Gaussian
ROWS_AT_ONCE = 8  # what their densities need stays in the processor's cache: half of the time


def keep_at_fdr(probability: Array, fdr: float) -> NDArray[np.bool_]:
    """Most probable edges whose expected share of false ones, mean of 1 - p, is at most `fdr`, and
    of which none is false with a probability above ``EACH * fdr``."""
    keep = probability > max(1 - EACH * fdr, 0.0)
    candidates = np.flatnonzero(keep)
    order = candidates[np.argsort(-probability.flat[candidates], kind="stable")]
    false = np.cumsum(1 - probability.flat[order]) / np.arange(1, len(order) + 1)
    keep.flat[order[int((false <= fdr).sum()) :]] = False
    return keep


def strong_part(Y: Array, rounds: int = 60) -> Array:
    """Probability that an entry belongs to the strong part of its row, (P, N).

    For rows of real tables, whose background is not Gaussian. Each row of `Y` is taken as a mixture
    of three centred Gaussians: a background, weak effects, and strong ones, fitted by expectation
    maximisation of the row's log density. The weak part is real, but too weak to be called an edge:
    with a Gaussian background alone there are half as many edges again, or twice as many, and a
    quarter to a third fewer of them are known (relevance 0.18 instead of 0.26 on E. coli). The
    background starts at the variance that the median square has for a Gaussian: a start below it
    would split the background in two (false discovery rate 0.15-0.61 instead of 0.03 with a
    background of 0.2-0.3 of the strong weights). Runs a fixed number of rounds without a stop test;
    a row that has not converged gets the probabilities of the last round.
    """
    blocks = range(0, len(Y), ROWS_AT_ONCE)
    return np.vstack([_strong_part(Y[first : first + ROWS_AT_ONCE], rounds) for first in blocks])


def _strong_part(Y: Array, rounds: int) -> Array:
    y2 = Y * Y
    size = np.maximum(np.median(y2, axis=1) / MEDIAN_SQUARE, 1e-12 * y2.mean(axis=1) + 1e-300)
    weight = np.repeat([[0.8], [0.15], [0.05]], len(Y), axis=1)
    variance = np.array([size, 4 * size, 25 * size])
    q = np.empty((3, *Y.shape))
    for _ in range(rounds):
        for part in range(3):
            w, v = weight[part][:, None], variance[part][:, None]
            q[part] = np.log(w) - 0.5 * np.log(v) - 0.5 * y2 / v
        q -= q.max(axis=0)  # before the exponential: no overflow, and never 0 / 0
        np.exp(q, out=q)
        q /= q.sum(axis=0)
        mass = q.sum(axis=2)
        weight = np.maximum(mass / Y.shape[1], 1e-4)
        variance = np.einsum("ijk,jk->ij", q, y2) / np.maximum(mass, 1e-9)
        # Parts keep their order and a gap, or "strong" would lose its meaning.
        variance[0] = np.maximum(variance[0], 1e-12 * size)
        variance[1] = np.maximum(variance[1], 1.5 * variance[0])
        variance[2] = np.maximum(variance[2], 2.0 * variance[1])
    return q[2]


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
