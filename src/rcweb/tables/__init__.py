"""Tables in: a file or an object becomes a labelled table."""

from __future__ import annotations

from rcweb.storage.errors import TableError
from rcweb.tables.read import FORMATS, ReadOptions, read_table
from rcweb.tables.table import Table

__all__ = ["FORMATS", "ReadOptions", "Table", "TableError", "read_table"]
