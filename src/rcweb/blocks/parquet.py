"""A parquet file by its row groups; needs pyarrow."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from rcweb.engine.types import Array


class Parquet:
    """Numeric columns of a parquet file; an index that pandas stored, or a first column of text,
    names the samples.

    Reading in order decodes each row group once, and holds one of them.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise ImportError(
                "Reading parquet files needs pyarrow: pip install 'rcweb[tables]'"
            ) from None
        self._file: Any = ParquetFile(path)
        index, self.names = _columns(self._file.schema_arrow, str(path))
        self.samples = self._texts(index[0]) if len(index) == 1 else None
        metadata = self._file.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        self._ends = np.cumsum([0, *sizes])
        self._lock = threading.Lock()
        self._held: tuple[int, Any] = (-1, None)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self._ends[-1]), len(self.names)

    def read(self, start: int, stop: int) -> Array:
        # One thread at a time: the row group held is shared, and decoding it twice would cost more
        # than waiting.
        out = np.empty((stop - start, len(self.names)))
        with self._lock:
            for group in range(len(self._ends) - 1):
                low, high = self._ends[group : group + 2]
                first, last = max(start, low), min(stop, high)
                if first < last:
                    rows = self._group(group)[first - low : last - low]
                    out[first - start : last - start] = rows
        return out

    def _texts(self, column: str) -> tuple[str, ...]:
        return tuple(map(str, self._file.read([column]).column(0).to_pylist()))

    def _group(self, group: int) -> Array:
        if self._held[0] != group:
            self._held = (-1, None)  # let go of the old one before the new one is made
            table = self._file.read_row_group(group, columns=list(self.names))
            columns = [np.asarray(column.to_numpy(), dtype=np.float64) for column in table.columns]
            self._held = (group, np.column_stack(columns))
        return self._held[1]


def _columns(schema: Any, path: str) -> tuple[list[str], tuple[str, ...]]:
    """Names of the columns that name samples, and of the variables."""
    import pyarrow.types as types

    # pandas stores a RangeIndex as a dict instead of a column name; it names no samples.
    stored = (schema.pandas_metadata or {}).get("index_columns", []) if schema.metadata else []
    index = [name for name in stored if isinstance(name, str) and name in schema.names]
    columns = [field for field in schema if field.name not in index]
    if not index and columns and types.is_string(columns[0].type):
        index = [columns.pop(0).name]
    for field in columns:
        if not (types.is_integer(field.type) or types.is_floating(field.type)):
            raise ValueError(
                f"Column {field.name!r} of {path} holds {field.type}, not numbers; leave it out."
            )
    return index, tuple(field.name for field in columns)
