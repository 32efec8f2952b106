"""All columns of B: inflation after each one, and a new search when a column repeats (section 3).

After a column b the matrix is inflated, ``V(i) = V(i-1) + V b b^T``, that is ``V A`` with
``A = I + sum b b^T``: what is already found gets a larger singular value and is avoided at first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rcweb.engine.paper.column import (
    ColumnTrace,
    Problem,
    SwitchBack,
    continue_column,
    start_column,
)
from rcweb.engine.types import Array

# A column whose part outside the span of the others is shorter than this makes B singular.
SHORTEST_OUTSIDE = 1e-3


@dataclass(frozen=True)
class PaperColumns:
    """The columns that were found.

    B : (P, n) unit columns, n <= P
    traces : one per column of B
    searches : number of searches that each column took, 1 without a repeat
    missing : for each column that could not be found, why
    """

    B: Array
    traces: tuple[ColumnTrace, ...]
    searches: tuple[int, ...]
    missing: tuple[str, ...]


def find_columns(
    problem: Problem,
    switch: SwitchBack,
    *,
    max_inflations: int = 10,
    report: Callable[[str], None] = lambda line: None,
) -> PaperColumns:
    """Search P columns; a repeat is searched again with more inflated steps.

    The number k of inflated steps is doubled while the result repeats a column (|cosine| above
    ``1 - epsilon``, or no part outside their span), up to the length of a whole search. When that
    does not help, the repeated direction is inflated again (1, 2, 4, ... times) and k starts anew,
    at most `max_inflations` times; then the column counts as missing. The search is
    deterministic, so that the columns after it are missing too.
    """
    P = problem.V.shape[1]
    B = np.empty((P, 0))
    A = np.eye(P)
    traces: list[ColumnTrace] = []
    searches: list[int] = []
    missing: tuple[str, ...] = ()
    for i in range(P):
        b, trace, A, tries = _find_new(problem, B, A, switch, max_inflations)
        if b is None:
            why = f"column {i + 1}: each of {tries} searches repeated a column found before"
            rest = [f"column {j + 1}: as column {i + 1}" for j in range(i + 1, P)]
            missing = (why, *rest)
            report(why)
            break
        B = np.column_stack([B, b])
        A = A + np.outer(b, b)
        traces.append(trace)
        searches.append(tries)
        report(f"column {i + 1} of {P}: {len(trace.omega_minus)} edges, {trace.stop}")
    return PaperColumns(B=B, traces=tuple(traces), searches=tuple(searches), missing=missing)


def _find_new(
    problem: Problem, B: Array, A: Array, switch: SwitchBack, max_inflations: int
) -> tuple[Array | None, ColumnTrace, Array, int]:
    """Return ``(b, trace, A, searches)``; `b` is None when every search repeated a column."""
    tries = 0
    for inflation in range(max_inflations + 1):
        k = switch.k
        start = start_column(problem, A)
        # Ends: k doubles until it is the length of a whole search.
        while True:
            b, trace = continue_column(problem, B, replace(switch, k=k), start)
            tries += 1
            if not is_repeat(b, B, switch.epsilon):
                return b, trace, A, tries
            if k >= problem.target:
                break
            k = 2 * max(k, 1)
        if inflation < max_inflations:
            A = A + 2.0**inflation * np.outer(b, b)
    return None, trace, A, tries


def is_repeat(b: Array, B: Array, epsilon: float) -> bool:
    """Whether the unit vector b is one of the columns of B or lies in their span."""
    if B.shape[1] == 0:
        return False
    if np.abs(B.T @ b).max() > 1 - epsilon:
        return True
    Q = np.linalg.qr(B)[0]
    return bool(np.linalg.norm(b - Q @ (Q.T @ b)) < SHORTEST_OUTSIDE)
