"""How a table is condensed: by its shape alone, so that every storage gives the same answer."""

from __future__ import annotations

from rcweb.blocks.base import MOST_GRAM

MOST_GATHERED = 1 << 27  # of a table that is brought together: 1 GB
AXES_PER_COMPONENT, MORE_AXES = 3, 30
FIRST_AXES = 200  # for an unknown number of components; doubled while signal fills them


def route_of(M: int, N: int) -> str:
    """ "rows": few samples, all in memory; "gram": few variables, their products in one pass;
    "axes": large on both sides, leading axes by a range finder in a few passes."""
    if M > N:
        return "gram" if N <= MOST_GRAM else "axes"
    return "rows" if M <= MOST_GRAM and M * N <= MOST_GATHERED else "axes"


def number_of_axes(M: int, N: int, n_components: int | str) -> int:
    """Number of axes at the start of the route "axes": more than the regulators wanted."""
    wanted = FIRST_AXES
    if not isinstance(n_components, str):
        wanted = AXES_PER_COMPONENT * int(n_components) + MORE_AXES
    return min(wanted, M - 1, N)
