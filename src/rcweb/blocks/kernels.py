"""Compiled loops over compressed sparse rows, which are never made dense.

Alone in their file: numba's cache does not see edits elsewhere. They release the interpreter's
lock, so that blocks are worked on in several threads.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def column_moments(indices, data, low, high, total, power, count):  # type: ignore[no-untyped-def]
    """Of the stored entries of each column: extremes, sum, sum of squares and number."""
    for k in range(len(data)):
        j, x = indices[k], data[k]
        # Not `x < low`: NaN must come through.
        if not x >= low[j]:
            low[j] = x
        if not x <= high[j]:
            high[j] = x
        total[j] += x
        power[j] += x * x
        count[j] += 1


@njit(cache=True, nogil=True)
def add_gram(indptr, indices, data, gram):  # type: ignore[no-untyped-def]
    """Add ``X^T X`` to the upper triangle of `gram` (N, N); indices sorted in each row."""
    for i in range(len(indptr) - 1):
        for a in range(indptr[i], indptr[i + 1]):
            row, x = gram[indices[a]], data[a]
            for b in range(a, indptr[i + 1]):
                row[indices[b]] += x * data[b]


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_product(indptr, indices, data, W, shift, activity, total, out):  # type: ignore[no-untyped-def]
    """With ``b = x W - shift`` of each row x: add ``x^T b`` to `out` (N, L), b to `total` (L,).

    `activity` (L,) is room for b.
    """
    L = len(shift)
    for i in range(len(indptr) - 1):
        for k in range(L):
            activity[k] = -shift[k]
        for a in range(indptr[i], indptr[i + 1]):
            x, weights = data[a], W[indices[a]]
            for k in range(L):
                activity[k] += x * weights[k]
        for k in range(L):
            total[k] += activity[k]
        for a in range(indptr[i], indptr[i + 1]):
            x, row = data[a], out[indices[a]]
            for k in range(L):
                row[k] += x * activity[k]
