"""Small Python values as strict JSON and back: what a model or a record of a run consists of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def plain(value: Any) -> Any:
    """The value with NumPy scalars, tuples and small arrays turned into what JSON knows.

    NaN and infinities, which strict JSON lacks, become ``{"float": "nan"}``. Raises TypeError for
    anything else, so that nothing is dropped silently.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    # Before float: np.float64 is a float, and JSON must get Python's own.
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    raise TypeError(f"{type(value).__name__} has no plain form.")


def from_plain(value: Any) -> Any:
    """The inverse of `plain`, up to tuples and NumPy's types."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"float"}:
            return _NOT_FINITE[value["float"]]
        return {key: from_plain(item) for key, item in value.items()}
    return value
