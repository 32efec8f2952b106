"""A file or an object becomes a labelled table, samples x variables; the input check.

May import: storage. Tables know nothing of models.
Exports: `read_table` and what it takes and gives; `InputCheck` and the ways to one.
"""

from __future__ import annotations

from rcweb.storage.errors import TableError
from rcweb.tables.accept import as_numbers
from rcweb.tables.check import InputCheck, InputWarning, check_look
from rcweb.tables.files import check_file
from rcweb.tables.finding import Finding
from rcweb.tables.look import Look, look_at, rows_to_look_at
from rcweb.tables.match import Match, match
from rcweb.tables.objects import Origin, check_object
from rcweb.tables.read import READERS, ReadOptions, read_table
from rcweb.tables.table import Table

__all__ = [
    "READERS",
    "Finding",
    "InputCheck",
    "InputWarning",
    "Look",
    "Match",
    "Origin",
    "ReadOptions",
    "Table",
    "TableError",
    "as_numbers",
    "check_file",
    "check_look",
    "check_object",
    "look_at",
    "match",
    "read_table",
    "rows_to_look_at",
]
