"""Tables in, results out, saved models."""

from __future__ import annotations

from rcweb.io.errors import ModelError, TableError
from rcweb.io.model import load_model, save_model
from rcweb.io.read import FORMATS, ReadOptions, read_table
from rcweb.io.table import Table

__all__ = [
    "FORMATS",
    "ModelError",
    "ReadOptions",
    "Table",
    "TableError",
    "load_model",
    "read_table",
    "save_model",
]
