"""Dask arrays: chunks in threads of this machine, or on the cluster whose client is current."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcweb.blocks.base import Parts, RowBlock, Step, Tell, as_block, block_rows, join

FAN_IN = 8  # parts joined in one task
# W (N x L) travels in the graph: there the scheduler can give it to any worker, also after one has
# died. Dask warns of that above 10 MB.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "10GB"}


@dataclass(frozen=True)
class Chunked:
    """A dask array (M, N), chunked by rows as it comes. Each pass computes it anew: `persist` it
    first if it fits into the memory of the cluster."""

    array: Any
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, array: Any) -> Chunked:
        """With all variables of a row in one chunk."""
        if array.ndim != 2:
            raise ValueError(f"A table has two dimensions; this array has {array.ndim}.")
        if np.isnan(array.shape[0]):
            raise ValueError(
                "The sizes of the chunks are not known; call X.compute_chunk_sizes() first."
            )
        return cls(array.rechunk({1: -1}) if len(array.chunks[1]) > 1 else array)

    @property
    def shape(self) -> tuple[int, int]:
        M, N = self.array.shape
        return int(M), int(N)

    def fold(self, step: Step, tell: Tell | None = None) -> Parts:
        """One pass: a tree over the chunks in their order, whichever worker does what."""
        import dask
        from dask import delayed

        sizes = self.array.chunks[0]
        starts = np.cumsum([0, *sizes])
        question = delayed(step, traverse=False)
        work, join_parts = delayed(_work), delayed(join)
        parts = [
            work(question, block, int(start))
            for block, start, size in zip(self.array.to_delayed().ravel(), starts, sizes)
            if size
        ]
        while len(parts) > 1:
            parts = [
                join_parts(question, parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)
            ]
        # Without a cluster there is nothing to quiet, and the name must not be taken.
        with dask.config.set(LARGE_GRAPHS if "distributed" in sys.modules else {}):
            result: Parts = parts[0].compute()
        if tell is not None:
            tell(self.shape[0], self.shape[0])
        return tuple(np.array(part) for part in result)


def _work(step: Step, chunk: RowBlock, start: int) -> Parts:
    """The parts of a chunk, itself taken in blocks: they fit the cache, and copies are small."""
    n, N = chunk.shape
    size = block_rows(N)
    return join(step, (step(as_block(chunk[i : i + size]), start + i) for i in range(0, n, size)))
