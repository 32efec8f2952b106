"""A file or an object becomes a labelled table, samples x variables; sheets of samples.

May import: storage. Tables know nothing of models.
Exports: `read_table`, `ReadOptions`, `Table`, `TableError`, `FORMATS`.
"""

from __future__ import annotations

from rcweb.storage.errors import TableError
from rcweb.tables.read import FORMATS, ReadOptions, read_table
from rcweb.tables.table import Table

__all__ = ["FORMATS", "ReadOptions", "Table", "TableError", "read_table"]
