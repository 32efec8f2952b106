"""One column of B: the paper's list (section 3), on V or first on the inflated V(i) = V A."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.paper import kernels
from rcweb.engine.paper.workspace import LAMBDA, SIZE, Workspace, allocate
from rcweb.engine.types import Array

STOPS = {
    kernels.SINGULAR: "singular: lambda_max^-1 is zero",
    kernels.NOISE: "noise: lambda_max^-1 has come down to the noise level",
    kernels.CONVERGED: "converged: neither v nor lambda_max moves",
    kernels.TARGET: "degree: the given number of rows is removed",
}
ALL_REMOVED = "limit: N - P + 1 rows removed without a sparse solution"


@dataclass(frozen=True)
class SwitchBack:
    """When to leave the inflated matrix (section 3, after the list).

    rule : ``"steps"``: after `k` removals; ``"correlation"``: once the largest |cosine| of v with
        the columns found so far is below ``1 - epsilon`` and has fallen `MONOTONE` times in a row,
        but not before `k` removals
    """

    rule: str = "steps"
    k: int = 10
    epsilon: float = 0.05


MONOTONE = 2


@dataclass(frozen=True)
class ColumnTrace:
    """How one column was found.

    omega_minus : removed rows in their order
    lam : lambda_max after each removal (of V(i) while inflated, then of V)
    inflated_steps : removals made on the inflated matrix
    stop : why the search ended
    refreshes : how often K^-1 was computed afresh (at the start, at the switch, by the guard)
    """

    omega_minus: NDArray[np.int64]
    lam: Array
    inflated_steps: int
    stop: str
    refreshes: int


@dataclass(frozen=True)
class Problem:
    """What stays the same for all columns.

    V : (N, P) orthonormal columns; s : (P,) singular values; noise : of an entry of the table
    degree : number of rows to remove, or None to stop at the noise level
    """

    V: Array
    s: Array
    noise: float
    degree: int | None

    @cached_property
    def norms(self) -> Array:
        """||V_i|| of every row, (N,)."""
        return np.sqrt((self.V * self.V).sum(axis=1))

    @property
    def target(self) -> int:
        """At most N - P + 1 removals: one row fewer than P cannot have full rank."""
        N, P = self.V.shape
        return N - P + 1 if self.degree is None else min(self.degree, N - P + 1)


@dataclass(frozen=True)
class Start:
    """The inflated part of a search; a later search with a larger k goes on where it stands.

    work : state of the search on V(i) = V A
    nearest : largest |cosine| of v with the columns found so far, after each removal
    """

    A: Array
    work: Workspace
    nearest: list[float]


def continue_column(
    problem: Problem, found: Array, switch: SwitchBack, start: Start
) -> tuple[Array, ColumnTrace]:
    """Search one column ``b`` of B; returns ``(b, trace)``.

    found : (P, n) columns found so far, for the correlation rule
    start : of `start_column`; it may have come as far as `switch` allows, and moves on
    """
    V, A = problem.V, start.A
    inflated_steps = 0
    if found.shape[1]:
        _inflated_phase(problem, found, switch, start)
        inflated_steps = int(start.work.n_removed[0])
    work = deepcopy(start.work)
    if inflated_steps:
        _switch_back(V, work)
    code = kernels.SINGULAR
    if np.isfinite(work.scalars[LAMBDA]):
        stop_early = problem.degree is None
        code = kernels.advance(
            V, A, False, work, problem.target, 1 / problem.s, problem.noise, stop_early
        )
    n = int(work.n_removed[0])
    at_limit = n == V.shape[0] - V.shape[1] + 1 and problem.degree is None
    trace = ColumnTrace(
        omega_minus=work.omega_minus[:n].copy(),
        lam=work.lam[:n].copy(),
        inflated_steps=inflated_steps,
        stop=ALL_REMOVED if at_limit else STOPS[code],
        refreshes=int(work.refreshes[0]),
    )
    return _settled(problem, work), trace


def start_column(problem: Problem, A: Array) -> Start:
    """Initialization: K of the whole matrix without the row of the largest l1 norm.

    A : (P, P) ``I + sum b b^T``, so that the inflated matrix is ``V(i) = V A``; the identity for
        the first column
    ``K = A^T A`` because V has orthonormal columns; the paper's identity for the first column.
    """
    K = A.T @ A
    size = max(1.0, float(np.trace(K)) / len(K))
    first = _first_pick(problem.V, A)
    x = A @ problem.V[first]
    work = allocate(K - np.outer(x, x), problem.norms)
    work.scalars[SIZE] = size
    work.n_removed[0] = 1
    work.omega0[first] = False
    work.omega_minus[0] = first
    kernels.refresh(work)
    work.lam[0] = work.scalars[LAMBDA]
    return Start(A, work, [])


def _first_pick(V: Array, A: Array, block: int = 4096) -> int:
    """``arg max_i sum_j |V(i)_ij|``, in blocks of rows: the inflated matrix is never stored."""
    sizes = [np.abs(V[i : i + block] @ A).sum(axis=1) for i in range(0, len(V), block)]
    return int(np.argmax(np.concatenate(sizes)))


def _inflated_phase(problem: Problem, found: Array, switch: SwitchBack, start: Start) -> None:
    """Remove rows of V(i) until the switch-back rule holds; no stop rule applies here."""
    A, work, nearest = start.A, start.work, start.nearest
    unused = np.zeros(len(A))
    if not np.isfinite(work.scalars[LAMBDA]):
        return  # the rows left are dependent already: nothing to remove by
    if switch.rule == "steps":
        target = min(switch.k, problem.target)
        kernels.advance(problem.V, A, True, work, target, unused, 0.0, False)
        return
    if not nearest:
        nearest.append(_nearest(found, work.v))
    # Ends: every step removes one row. An infinite lambda means that the rows left are dependent.
    while work.n_removed[0] < problem.target and np.isfinite(work.scalars[LAMBDA]):
        recent = np.array(nearest[-MONOTONE - 1 :])
        falling = len(recent) > MONOTONE and bool((np.diff(recent) < 0).all())
        if falling and recent[-1] < 1 - switch.epsilon and work.n_removed[0] >= switch.k:
            return
        target = int(work.n_removed[0]) + 1
        kernels.advance(problem.V, A, True, work, target, unused, 0.0, False)
        nearest.append(_nearest(found, work.v))


def _nearest(found: Array, v: Array) -> float:
    return float(np.abs(found.T @ v).max())


def _switch_back(V: Array, work: Workspace) -> None:
    """Take the inflation out: K of V without the rows removed so far, and its eigenvector."""
    removed = V[work.omega_minus[: work.n_removed[0]]]
    work.K[...] = np.eye(V.shape[1]) - removed.T @ removed
    work.scalars[SIZE] = 1.0
    kernels.refresh(work)


def _settled(problem: Problem, work: Workspace) -> Array:
    """``b``: v to the last digit; its sign makes the largest entry of V b positive."""
    kernels.refresh(work)
    c = problem.V @ work.v
    return work.v if c[np.argmax(np.abs(c))] >= 0 else -work.v
