"""Compiled loops over sparse blocks, which are never made dense.

In a file of their own: numba's cache does not see edits elsewhere. They release the interpreter's
lock, so that several threads can work on blocks.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def column_moments(indices, data, low, high, total, count):  # type: ignore[no-untyped-def]
    """Of the stored entries of each column: extremes, sum and number."""
    for k in range(len(data)):
        j, x = indices[k], data[k]
        # NaN takes the place of a number, and no number takes the place of NaN.
        if x < low[j] or x != x:
            low[j] = x
        if x > high[j] or x != x:
            high[j] = x
        total[j] += x
        count[j] += 1


@njit(cache=True, nogil=True)
def add_gram(indptr, indices, data, gram):  # type: ignore[no-untyped-def]
    """Add ``X^T X`` to the upper triangle of `gram` (N, N); indices sorted in each row."""
    # The cost is the number of pairs of stored entries in a row, not N^2. Sorted indices make the
    # second loop stay in the upper triangle, and halve the work.
    for i in range(len(indptr) - 1):
        for a in range(indptr[i], indptr[i + 1]):
            row, x = gram[indices[a]], data[a]
            for b in range(a, indptr[i + 1]):
                row[indices[b]] += x * data[b]


@njit(cache=True, nogil=True)
def add_activities(indptr, indices, data, W, B):  # type: ignore[no-untyped-def]
    """Add ``X W`` to B (n, L), X (n, N) by its compressed columns.

    By columns, W (N, L) is read once, and B, which is small, stays in the cache.
    """
    for j in range(len(indptr) - 1):
        weights = W[j]
        for a in range(indptr[j], indptr[j + 1]):
            x, row = data[a], B[indices[a]]
            for k in range(len(weights)):
                row[k] += x * weights[k]


@njit(cache=True, nogil=True)
def add_products(indptr, indices, data, B, out):  # type: ignore[no-untyped-def]
    """Add ``X^T B`` to out (N, L), X (n, N) by its compressed columns."""
    for j in range(len(indptr) - 1):
        total = out[j]
        for a in range(indptr[j], indptr[j + 1]):
            x, row = data[a], B[indices[a]]
            for k in range(len(total)):
                total[k] += x * row[k]
