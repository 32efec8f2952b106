"""``method="paper"``: the published algorithm, from a table to a network (sections 2 and 3).

``R = U S (B^T)^-1`` and ``C = (V B)^T`` with exact zeros on omega_0. Where the paper is loose or
contradicts itself the decision is explained in ``docs/errata.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.basis import (
    Basis,
    leading,
    median_noise,
    noise_edge,
    rounding_level,
    thin_svd,
    truncate,
    truncated_svd,
)
from rcweb.engine.paper.column import ColumnTrace, Problem, SwitchBack
from rcweb.engine.paper.columns import PaperColumns, find_columns
from rcweb.engine.solution import Solution
from rcweb.engine.types import Array

# An entry of V b this small beside the largest one is a zero that rounding has spoiled.
_ROUNDING = 1e-10
# Singular values must fall by this factor at the edge of noise for directions beyond it to count
# as superfluous; in a spectrum without a step the user's number of regulators is respected.
_CLEAR_STEP = 1.5
# A noise-free table would give infinite scores.
_TINY_NOISE = 1e-12


@dataclass(frozen=True)
class _Found:
    """Columns of the search beside the basis they live in; `kept` of them carry signal."""

    basis: Basis
    columns: PaperColumns
    n_signal: int
    kept: NDArray[np.intp]

    @property
    def dropped(self) -> int:
        """Number of columns that live in directions of noise."""
        return self.columns.B.shape[1] - len(self.kept)


def solve_paper(
    G0: Array,
    n_components: int | str = "auto",
    *,
    degree: int | None = None,
    switch_back: str = "steps",
    k: int = 10,
    epsilon: float = 0.05,
    verbose: int = 0,
) -> Solution:
    """Find a sparse network behind the table `G0` (M x N).

    Parameters
    ----------
    n_components : the paper's P*, or "auto": the singular values above the edge of noise.
    degree : rows to remove per column (the mean out-degree), or None: until lambda_max^-1 is down
        at the noise level.
    switch_back, k, epsilon : see `rcweb.engine.paper.column.SwitchBack`; ``1 - epsilon`` is also
        the cosine above which a column repeats another.
    """
    M, N = G0.shape
    basis, P_star, reason = _choose_basis(G0, n_components)
    problem = Problem(V=basis.V, s=basis.s, noise=basis.noise, degree=degree)
    report: Callable[[str], None] = print if verbose else lambda line: None
    columns = find_columns(problem, SwitchBack(switch_back, k, epsilon), report=report)
    n_signal = _signal_directions(basis, M, N)
    kept = _carry_signal(columns.B, n_signal)
    found = _Found(basis=basis, columns=columns, n_signal=n_signal, kept=kept)
    return _solution(G0, found, P_star, reason)


def _choose_basis(G0: Array, n_components: int | str) -> tuple[Basis, int, str]:
    """The basis without directions of singular value zero, P*, and why that many."""
    M, N = G0.shape
    if not isinstance(n_components, str):
        basis = truncated_svd(G0, n_components)
        return leading(basis, basis.rank), n_components, f"{n_components} regulators were asked for"
    # The median gives the noise before the number of directions is known.
    full = thin_svd(G0)
    edge = max(noise_edge(median_noise(full.s, M, N), M, N), rounding_level(full.s, M, N))
    above = int((full.s > edge).sum())
    # At most N - 1: N directions span all of space, and V b can then be any unit vector.
    P_star = int(np.clip(above, 1, min(M, N - 1)))
    reason = f"{above} singular values lie above the edge of noise ({edge:.3g})"
    return truncate(full, P_star), P_star, reason


def _signal_directions(basis: Basis, M: int, N: int) -> int:
    """How many directions of the basis carry signal; all of them unless there is a clear step."""
    above = int((basis.s > noise_edge(basis.noise, M, N)).sum())
    if 0 < above < len(basis.s) and basis.s[above - 1] > _CLEAR_STEP * basis.s[above]:
        return above
    return len(basis.s)


def _carry_signal(B: Array, n_signal: int) -> NDArray[np.intp]:
    """Columns of B that lie in the first `n_signal` directions; superfluous ones do not.

    Section 4.3 observes ``B_ij = 0`` for i > P (or j > P). With noise these entries are not zero;
    the limit is half of b^T b. At least as many columns as directions of signal are kept.
    """
    share = (B[n_signal:] ** 2).sum(axis=0)
    # argsort of argsort: the rank of each column by its share in directions of noise.
    rank = np.argsort(np.argsort(share, kind="stable"), kind="stable")
    return np.flatnonzero((share <= 0.5) | (rank < n_signal))


def _solution(G0: Array, found: _Found, P_star: int, reason: str) -> Solution:
    basis, kept = found.basis, found.kept
    B = found.columns.B
    # With every column found this is V (B^T)^-1; with some missing, least squares.
    projection = (basis.V @ np.linalg.pinv(B.T))[:, kept]
    C = network_of(basis.V, found.columns)[kept]
    residual = G0 - (G0 @ projection) @ C
    noise = np.sqrt((residual * residual).mean(axis=0))
    floor = max(basis.noise, _TINY_NOISE * float(np.abs(G0).max()))
    # Noise in an entry of V b is noise times |b / s|, so C over it is comparable across columns.
    spread = np.linalg.norm(B[:, kept] / basis.s[:, None], axis=0)
    return Solution(
        C=C,
        weights=C,
        weights_sd=np.outer(spread, noise),
        projection=projection,
        rotation=_pad_rows(B[:, kept], P_star),
        singular_values=_pad_rows(basis.s[:, None], P_star)[:, 0],
        probability=(C != 0).astype(np.float64),
        score=C / (floor * spread[:, None]),
        noise=noise,
        diagnosis=partial(_diagnosis, found, C),
        evidence=_evidence(found, P_star),
        reason=f"{reason}; {_account(found, P_star)}.",
        warnings=_warnings(found),
        trace=tuple(found.columns.traces[j] for j in kept),
    )


def network_of(V: Array, columns: PaperColumns) -> Array:
    """``C = (V B)^T`` with exact zeros on omega_0 and where rounding alone is left."""
    full = (V @ columns.B).T
    C = np.zeros_like(full)
    for c, row, trace in zip(C, full, columns.traces):
        edges = trace.omega_minus[np.abs(row[trace.omega_minus]) > _ROUNDING * np.abs(row).max()]
        c[edges] = row[edges]
    return C


def _pad_rows(values: Array, rows: int) -> Array:
    """Directions beyond the rank of the table take no part: their entries of B are zero."""
    return np.vstack([values, np.zeros((rows - len(values), values.shape[1]))])


def _diagnosis(found: _Found, C: Array) -> list[dict[str, object]]:
    traces: tuple[ColumnTrace, ...] = found.columns.traces
    return [
        {
            "edges": int((c != 0).sum()),
            "removed": len(traces[j].omega_minus),
            "lambda_max": float(traces[j].lam[-1]),
            "inflated_steps": traces[j].inflated_steps,
            "searches": found.columns.searches[j],
            "stop": traces[j].stop,
        }
        for j, c in zip(found.kept, C)
    ]


def _evidence(found: _Found, P_star: int) -> list[dict[str, object]]:
    beyond = P_star - len(found.basis.s)
    return [
        {"reason": "regulators found", "count": len(found.kept)},
        {"reason": "superfluous: singular value zero", "count": beyond},
        {"reason": "superfluous: direction of noise", "count": found.dropped},
        {"reason": "missing: only repeats were found", "count": len(found.columns.missing)},
    ]


def _account(found: _Found, P_star: int) -> str:
    parts = [f"{row['count']} {row['reason']}" for row in _evidence(found, P_star) if row["count"]]
    return ", ".join(parts)


def _warnings(found: _Found) -> tuple[str, ...]:
    columns = found.columns
    limit = sum(columns.traces[j].stop.startswith("limit") for j in found.kept)
    notes = list(columns.missing[:1])
    if notes:
        notes[0] = f"{len(columns.missing)} regulators were not found; {notes[0]}."
    if limit:
        notes.append(f"{limit} columns are not sparse: their search ran into its limit.")
    return tuple(notes)
