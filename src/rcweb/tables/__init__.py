"""The input check: what was understood of a table, what is suspicious, and what settles it."""

from rcweb.tables.accept import as_numbers
from rcweb.tables.check import InputCheck, InputWarning, check_look
from rcweb.tables.files import check_file
from rcweb.tables.finding import Finding
from rcweb.tables.look import Look, look_at, rows_to_look_at
from rcweb.tables.match import Match, match
from rcweb.tables.objects import Origin, check_object

__all__ = [
    "Finding",
    "InputCheck",
    "InputWarning",
    "Look",
    "Match",
    "Origin",
    "as_numbers",
    "check_file",
    "check_look",
    "check_object",
    "look_at",
    "match",
    "rows_to_look_at",
]
