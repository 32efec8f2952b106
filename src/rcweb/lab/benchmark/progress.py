"""How far a run is and how long it will take, on standard error."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import TextIO

PLAIN_EVERY = 10.0


class Progress:
    """A line that rewrites itself on a terminal, a plain line every ten seconds elsewhere.

    The time left is what each method has taken so far, summed over the fits to come.
    """

    def __init__(
        self, methods: Iterable[str], n_jobs: int = 1, stream: TextIO | None = None
    ) -> None:
        self._left = list(methods)
        self._total = len(self._left)
        self._n_jobs = n_jobs
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._last = time.monotonic()

    def done(self, method: str, seconds: float, text: str) -> None:
        """One fit is done; `text` says which."""
        self._left.remove(method)
        self._seconds[method].append(seconds)
        now = time.monotonic()
        count = f"{self._total - len(self._left)}/{self._total}"
        line = f"{count}  {clock(self.time_left())} left  {text}"
        if self._live:
            # Cut: a line that wraps could not be overwritten.
            print(f"\r\x1b[K{line[:100]}", end="" if self._left else "\n", file=self._stream)
        elif not self._left or now - self._last >= PLAIN_EVERY:
            print(line, file=self._stream)
            self._last = now
        self._stream.flush()

    def time_left(self) -> float:
        """Seconds, from the mean of each method so far, or of all for a method not yet seen."""
        everything = [x for times in self._seconds.values() for x in times]
        if not everything:
            return 0.0
        mean = sum(everything) / len(everything)
        # By method: a slow method at the end would make a common mean far too optimistic.
        means = {name: sum(x) / len(x) for name, x in self._seconds.items()}
        return sum(means.get(name, mean) for name in self._left) / self._n_jobs


def clock(seconds: float) -> str:
    """``1:02:03`` or ``2:03``."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"
