"""The methods that ``method=`` names: one record each, read by estimator, forecast and CLI.

Imports nothing heavy: solvers load their compiled kernels when they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rcweb.engine.solution import Solution
    from rcweb.engine.types import Array


@dataclass(frozen=True)
class FitMethod:
    """How the estimator runs a method, and what it costs.

    centers : whether ``center="auto"`` subtracts the mean of each variable
    copies : copies of the table in memory at once (measured)
    seconds_per_entry : time of the search per entry of the (N, K) basis and direction (measured)
    solve : from the whole prepared table G0 (M, N) and the parameters of `RCweb` to a `Solution`,
        with activities by least squares. None for "refined", which works on condensed tables of
        any size and limits single extreme entries
    """

    centers: bool
    copies: float
    seconds_per_entry: float
    solve: Callable[[Array, Mapping[str, Any]], Solution] | None = None


def _solve_paper(G0: Array, parameters: Mapping[str, Any]) -> Solution:
    from rcweb.engine.paper.solve import solve_paper

    return solve_paper(
        G0,
        parameters["n_components"],
        degree=parameters["degree"],
        verbose=parameters["verbose"],
        **(parameters["paper_options"] or {}),
    )


FIT_METHODS: dict[str, FitMethod] = {
    "refined": FitMethod(centers=True, copies=4.2, seconds_per_entry=2e-8),
    # Its author does not centre. It keeps a complete decomposition of the table.
    "paper": FitMethod(centers=False, copies=3.3, seconds_per_entry=3e-7, solve=_solve_paper),
}
