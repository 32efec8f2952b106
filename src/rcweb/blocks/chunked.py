"""Dask arrays: chunks in threads of this machine, or on the cluster whose client is current."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcweb.blocks.base import Parts, RowBlock, Step, Tell, as_block, block_rows, join

FAN_IN = 8  # parts joined in one task
LOOK = 1.0  # seconds between two checks of the workers
PATIENCE = 30.0  # seconds to wait without any worker, since a new one may be starting
# W (N x L) is part of the task graph, so that the scheduler can send it to any worker, also after
# one has died. Dask warns about large graphs above 10 MB.
LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "10GB"}


@dataclass(frozen=True)
class Chunked:
    """A dask array (M, N) with its own chunks of rows. Each pass computes it again: call `persist`
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
        # A tree of a fixed shape: no task holds more than FAN_IN parts, and the order of sums does
        # not depend on which worker is fast.
        while len(parts) > 1:
            parts = [
                join_parts(question, parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)
            ]
        # The setting belongs to distributed; without it dask must not see the name.
        with dask.config.set(LARGE_GRAPHS if "distributed" in sys.modules else {}):
            result: Parts = _compute(parts[0])
        if tell is not None:
            tell(self.shape[0], self.shape[0])
        return tuple(np.array(part) for part in result)


def _compute(part: Any) -> Parts:
    """The result, from the current cluster if there is one. Raises if the cluster has no worker
    for `PATIENCE` seconds; dask itself would wait for ever."""
    client = _current_client(part)
    if client is None:
        return tuple(part.compute())
    future = client.compute(part)
    seen = time.monotonic()
    while True:
        try:
            return tuple(future.result(timeout=LOOK))
        except TimeoutError:
            if future.done():  # it ended just now, or the work itself raised this
                return tuple(future.result())
        if client.scheduler_info()["workers"]:
            seen = time.monotonic()
        elif time.monotonic() - seen > PATIENCE:
            future.cancel()
            raise RuntimeError(
                f"The cluster at {client.scheduler.address} has had no worker for "
                f"{PATIENCE:.0f} s, and the table cannot be read. Start workers and fit again; if "
                "they died of memory, take smaller chunks."
            )


def _current_client(part: Any) -> Any:
    """The client of the cluster on which dask would compute `part`; None without one."""
    if "distributed" not in sys.modules:
        return None
    from dask.base import get_scheduler
    from distributed import Client

    client = getattr(get_scheduler(collections=[part]), "__self__", None)
    return client if isinstance(client, Client) else None


def _work(step: Step, chunk: RowBlock, start: int) -> Parts:
    """The parts of a chunk, itself taken in blocks: they fit the cache, and copies are small."""
    n, N = chunk.shape
    size = block_rows(N)
    return join(step, (step(as_block(chunk[i : i + size]), start + i) for i in range(0, n, size)))
