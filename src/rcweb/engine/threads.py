"""One BLAS thread: sums in another order would change the last bits, then the edges."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


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
