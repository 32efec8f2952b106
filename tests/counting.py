"""Work counted instead of timed: the same number on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def count_calls(function: Callable[[], Any]) -> int:
    """How many functions, Python's own included, are called when `function` runs a second time
    (the first time it imports and compiles)."""
    function()
    n_calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return n_calls
