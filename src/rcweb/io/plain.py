"""Small Python values as strict JSON and back: what a model or a record of a run consists of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def plain(value: Any) -> Any:
    """The value with NumPy scalars, tuples and small arrays turned into what JSON knows.

    Raises TypeError for anything else, so that nothing is dropped silently.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    raise TypeError(f"{type(value).__name__} has no plain form.")


def frame_to_plain(frame: pd.DataFrame) -> dict[str, Any]:
    """A DataFrame by columns, each with its kind of value."""
    return {
        "index": plain(list(map(str, frame.index))),
        "columns": [
            {"name": str(name), "kind": frame[name].dtype.kind, "values": plain(list(frame[name]))}
            for name in frame.columns
        ],
    }


def frame_from_plain(record: dict[str, Any]) -> pd.DataFrame:
    """The inverse of `frame_to_plain`; whole numbers, floats, truth values and text."""
    types = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}
    columns: dict[str, np.ndarray] = {}
    for column in record["columns"]:
        values = column["values"]
        if column["kind"] == "f":
            values = [_NOT_FINITE[v] if isinstance(v, str) else v for v in values]
        columns[str(column["name"])] = np.array(values, dtype=types.get(column["kind"], object))
    return pd.DataFrame(columns, index=[str(name) for name in record["index"]])
