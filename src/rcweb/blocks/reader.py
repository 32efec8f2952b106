"""Passes over a table: counted, with progress and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rcweb.blocks.base import Blocks, Parts, RowBlock, Step

Report = Callable[[str], None]

QUIET_SECONDS = 5.0  # seconds between two lines of progress


class Reader:
    """Reads `blocks`, seen through `change` if there is one, and counts the `passes`."""

    def __init__(self, blocks: Blocks, report: Report) -> None:
        self.blocks, self.report = blocks, report
        self._change: Callable[[RowBlock], RowBlock] | None = None
        self._passes = [0]

    @property
    def n_samples(self) -> int:
        return self.blocks.shape[0]

    @property
    def passes(self) -> int:
        return self._passes[0]

    def through(self, change: Callable[[RowBlock], RowBlock]) -> Reader:
        """The same table with one more change applied to every block; the pass count is shared."""
        changed = Reader(self.blocks, self.report)
        changed._change = change if self._change is None else _Both(self._change, change)
        changed._passes = self._passes
        return changed

    def fold(self, step: Step) -> Parts:
        """The result of one step: one pass."""
        self._passes[0] += 1
        if self._change is not None:
            step = _Through(self._change, step)
        return self.blocks.fold(step, _Progress(self.passes, self.report))


@dataclass(frozen=True)
class _Both:
    """Two changes, one after the other; can be sent to a cluster."""

    first: Callable[[RowBlock], RowBlock]
    then: Callable[[RowBlock], RowBlock]

    def __call__(self, block: RowBlock) -> RowBlock:
        return self.then(self.first(block))


@dataclass(frozen=True)
class _Through(Step):
    """A step on changed blocks."""

    change: Callable[[RowBlock], RowBlock]
    step: Step

    @property
    def rules(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.step.rules

    def __call__(self, block: RowBlock, start: int) -> Parts:
        return self.step(self.change(block), start)

    def close(self, parts: Parts) -> Parts:
        return self.step.close(parts)


class _Progress:
    """Reports the progress of a pass every few seconds."""

    def __init__(self, number: int, report: Report) -> None:
        self.number, self.report = number, report
        self.start = self.told = time.monotonic()

    def __call__(self, done: int, total: int) -> Any:
        now = time.monotonic()
        if now - self.told < QUIET_SECONDS and done < total:
            return
        self.told = now
        spent = now - self.start
        left = f"{spent * (total - done) / done:.0f} s left" if done < total else f"{spent:.0f} s"
        self.report(f"pass {self.number}: {done:,} of {total:,} samples, {left}")
