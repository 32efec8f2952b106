"""How a table is condensed: decided by its shape, so that every storage gives the same answer."""

from __future__ import annotations

from rcweb.blocks.base import MOST_GRAM

MOST_ENTRIES = 1 << 27  # of a table that is brought together: 1 GB


def route_of(M: int, N: int) -> str:
    """ "rows": few samples, brought together; "gram": few variables, their products from one pass;
    "axes": large on both sides, leading axes by a range finder in a few passes."""
    if M > N:
        return "gram" if N <= MOST_GRAM else "axes"
    return "rows" if M <= MOST_GRAM and M * N <= MOST_ENTRIES else "axes"
