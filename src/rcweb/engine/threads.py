"""One BLAS thread, and whole searches side by side instead.

BLAS with several threads sums in an order that depends on their number, which changes the last bits
and through them the edges.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Given = TypeVar("Given")
Result = TypeVar("Result")


@cache
def _controller() -> ThreadpoolController:
    # Finding the libraries takes milliseconds, as long as a small fit; NumPy's and SciPy's are
    # loaded by now and stay.
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which matrix products have the same bits on every machine's thread count."""
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


def parallel(function: Callable[[Given], Result], items: Iterable[Given]) -> list[Result]:
    """The results for all items, in order; as many at a time as this process may use cores.

    Compiled loops and matrix products release the interpreter, so threads are enough.
    """
    items = list(items)
    workers = min(len(items), _cores())
    if workers < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
