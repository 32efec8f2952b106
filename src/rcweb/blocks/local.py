"""Blocks of a table with random access on this machine, read in a few threads."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rcweb.blocks.base import (
    MOST_GRAM,
    Parts,
    RowBlock,
    Step,
    Tell,
    as_block,
    block_rows,
    dense,
    join,
)
from rcweb.engine.types import Array

# Numbers in the results that wait to be joined: two N x N matrices at the largest N.
WAITING = 2 * MOST_GRAM**2
MOST_THREADS = 8
RUNS = 16  # places at which a few rows are looked at


class Rows(Protocol):
    """A table with random access to ranges of rows."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def read(self, start: int, stop: int) -> Any:
        """Rows `start` to `stop`; called from several threads."""


@dataclass(frozen=True)
class Local:
    """`rows` in blocks; names of variables and samples, if known; `threads` matter to time only."""

    rows: Rows
    names: tuple[str, ...] | None = None
    samples: tuple[str, ...] | None = None
    threads: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        M, N = self.rows.shape
        return int(M), int(N)

    def fold(self, step: Step, tell: Tell | None = None) -> Parts:
        """One pass over all rows, in blocks of `block_rows`."""
        M, N = self.shape
        size = block_rows(N)
        threads = self.threads or threads_for(N)

        def work(start: int) -> Parts:
            return step(self._block(start, min(start + size, M)), start)

        def parts() -> Iterator[Parts]:
            waiting: deque[tuple[int, Future[Parts]]] = deque()
            with ThreadPoolExecutor(threads) as pool:
                for start in range(0, M, size):
                    waiting.append((start, pool.submit(work, start)))
                    if len(waiting) > threads:
                        yield finish(*waiting.popleft())
                while waiting:
                    yield finish(*waiting.popleft())

        def finish(start: int, part: Future[Parts]) -> Parts:
            result = part.result()
            if tell is not None:
                tell(min(start + size, M), M)
            return result

        return join(step, parts())

    def some(self, most: int) -> tuple[NDArray[np.intp], Array]:
        """Numbers and values of about `most` rows: a few evenly spaced runs, since storages read
        neighbouring rows together."""
        M = self.shape[0]
        size = M if most >= M else -(-most // RUNS)
        starts = [i * M // RUNS for i in range(RUNS)] if size * RUNS <= M else [0]
        runs = [dense(self._block(start, start + size)) for start in starts]
        return np.concatenate([np.arange(i, i + size) for i in starts]), np.vstack(runs)

    def _block(self, start: int, stop: int) -> RowBlock:
        return as_block(self.rows.read(start, stop))


def threads_for(N: int) -> int:
    """Number of blocks read at the same time: one per processor of this process, fewer if their
    results would fill the memory."""
    affinity = getattr(os, "sched_getaffinity", None)  # not everywhere
    cpus = os.cpu_count() or 1 if affinity is None else len(affinity(0))
    return max(1, min(cpus, MOST_THREADS, WAITING // min(N, MOST_GRAM) ** 2))
