"""The paper's list in plain NumPy: slow, explicit, and written from section 3 alone.

V_omega0 is cut out as a matrix and decomposed completely at each step; the inflated matrices
V(i) are stored. No line is shared with the package, so that agreement of the two means something.
"""

import numpy as np


class Column:
    """b, the removed rows in their order, and the smallest singular value after each removal."""

    def __init__(self, b, removed, smallest):
        self.b = b
        self.removed = removed
        self.smallest = smallest


def smallest_triplet(matrix):
    rows, columns = matrix.shape
    if rows < columns:
        return None, 0.0, np.linalg.svd(matrix)[2][-1]
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return left[:, -1], values[-1], right[-1]


def find_column(V, inflated, k, steps=None, s=None, noise=0.0):
    """One column: the first `k` rows are taken from `inflated`, the others from `V`.

    Stops after `steps` rows; without `steps`, when the squared smallest singular value of V_omega0
    is zero (1e-12) or at the noise level, ``|omega0| noise^2 ||S^-1 v||^2``.
    """
    N, P = V.shape
    limit = N - P + 1 if steps is None else min(steps, N - P + 1)
    remaining = list(range(N))
    start = int(np.argmax(np.abs(inflated).sum(axis=1)))
    remaining.remove(start)
    removed, smallest = [start], []
    while True:
        on_inflated = len(removed) < min(k, limit)
        u, sigma, v = smallest_triplet((inflated if on_inflated else V)[remaining])
        smallest.append(sigma)
        if not on_inflated:
            if sigma**2 <= 1e-12 or len(removed) >= limit:
                break
            level = len(remaining) * noise**2 * ((v / s) ** 2).sum() if steps is None else 0.0
            if sigma**2 <= level:
                break
        chosen = remaining[int(np.argmax(np.abs(u)))]
        remaining.remove(chosen)
        removed.append(chosen)
    return Column(v, removed, smallest)


def find_columns(V, k=10, steps=None, s=None, noise=0.0, count=None):
    """The first `count` columns; after each, V(i) = V(i-1) + V b b^T. Repeats are left in."""
    inflated = V.copy()
    columns = []
    for i in range(V.shape[1] if count is None else count):
        column = find_column(V, inflated, k if i else 0, steps, s, noise)
        columns.append(column)
        inflated = inflated + np.outer(V @ column.b, column.b)
    return columns
