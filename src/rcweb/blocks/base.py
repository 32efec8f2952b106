"""Tables read in blocks of rows: the interface of a source, and how partial results are joined.

A `Step` computes one thing about the whole table: it turns one block into a tuple of arrays. The
source applies it to its blocks, in threads or on a cluster, and joins the parts in the order of
the blocks, so the result has the same bits for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rcweb.engine.types import Array

RowBlock = Any  # (rows, N) float64: ndarray or scipy.sparse.csr_array
Parts = tuple[NDArray[Any], ...]
Tell = Callable[[int, int], None]

BLOCK_ENTRIES = 1 << 22  # 32 MB: large enough for products to run at full speed
FEWEST_ROWS = 512
GROUP = 64  # parts joined before `Step.close` reduces them
# Up to this many variables the N x N matrix of products is kept (512 MB): exact, in one pass.
MOST_GRAM = 8000


class Step:
    """A computation on one block; subclasses are frozen and picklable.

    rules : for each array of the result how it is joined: "sum", "low", "high" or "rows"
    """

    rules: tuple[str, ...] = ()

    def __call__(self, block: RowBlock, start: int) -> Parts:
        """The parts of a block whose first row has number `start`."""
        raise NotImplementedError

    def close(self, parts: Parts) -> Parts:
        """Reduce the joined parts of several blocks to the size of one block's."""
        return parts


class Blocks(Protocol):
    """A table, samples x variables, read in blocks of rows.

    shape : (M, N); names : of the variables, None if the source has none
    """

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def names(self) -> tuple[str, ...] | None: ...

    def fold(self, step: Step, tell: Tell | None = None) -> Parts:
        """Apply `step` to every block and join: one pass. `tell` hears (rows done, rows)."""


def block_rows(N: int) -> int:
    """Number of rows of a block.

    It depends only on the number of variables, so that every storage gives the same bits. At least
    N / 4 where each block adds an N x N matrix, or adding would dominate the products.
    """
    quarter = N // 4 if N <= MOST_GRAM else 0
    return max(BLOCK_ENTRIES // N, FEWEST_ROWS, quarter)


def join(step: Step, parts: Iterable[Parts]) -> Parts:
    """Join the parts of consecutive blocks; an iterator is consumed one part at a time."""
    stream = iter(parts)
    total = None
    # In groups, so that parts joined by "rows", such as block means, do not pile up with M.
    while (first := next(stream, None)) is not None:
        group = step.close(_add_up(step.rules, chain([first], islice(stream, GROUP - 1))))
        total = group if total is None else step.close(_add_up(step.rules, [total, group]))
    if total is None:
        raise ValueError("The table has no rows.")
    return total


def _add_up(rules: tuple[str, ...], parts: Iterable[Parts]) -> Parts:
    stream = iter(parts)
    totals: list[Any] = [
        [part] if rule == "rows" else np.array(part) for rule, part in zip(rules, next(stream))
    ]
    update = {"sum": np.add, "low": np.minimum, "high": np.maximum}
    for following in stream:
        for rule, total, part in zip(rules, totals, following):
            if rule == "rows":
                total.append(part)
            else:
                update[rule](total, part, out=total)
    return tuple(
        np.concatenate(total) if rule == "rows" else total for rule, total in zip(rules, totals)
    )


def as_block(values: Any) -> RowBlock:
    """Rows as float64: a C-ordered array, or compressed sparse rows with sorted indices."""
    if sparse.issparse(values):
        rows = sparse.csr_array(values, dtype=np.float64)
        rows.sum_duplicates()  # sorts too; kernels rely on it
        return rows
    return np.ascontiguousarray(values, dtype=np.float64)


def dense(block: RowBlock) -> Array:
    """The block as an array."""
    return np.asarray(block.toarray() if sparse.issparse(block) else block)
