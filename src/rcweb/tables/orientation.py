"""The orientation of a table: are its rows samples or variables? Every guess gives its reason."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

_VARIABLE_TITLE = re.compile(
    r"gene|probe|symbol|locus|\borf\b|entrez|ensembl|protein|peptide|transcript|feature|variable",
    re.IGNORECASE,
)
_SAMPLE_TITLE = re.compile(
    r"sample|cell|barcode|condition|experiment|array|patient|subject|observation", re.IGNORECASE
)
_VARIABLE_NAME = re.compile(
    r"b\d{4}|ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|Y[A-P][LR]\d{3}[WC](-[A-Z])?|AT[1-5MC]G\d{5}"
    r"|ILMN_\d+|.+_at|[NX][MRP]_\d+(\.\d+)?|[OPQ]\d[A-Z0-9]{3}\d|gene[\W_]?\d+",
    re.IGNORECASE,
)
_SAMPLE_NAME = re.compile(
    r"GSM\d+.*|[SED]RR\d+|TCGA-.*|[ACGT]{10,}(-\d+)?|(sample|cond(ition)?|patient|cell|array)[\W_]?\d+",
    re.IGNORECASE,
)
# More than half: tables mix identifiers with controls. Conventional.
_ENOUGH = 0.6
_LOOK_AT = 500


@dataclass(frozen=True)
class Orientation:
    """Whether rows are samples, the reason, and whether it is more than the default."""

    rows_are_samples: bool
    reason: str
    sure: bool = True

    def __str__(self) -> str:
        return f"rows are {'samples' if self.rows_are_samples else 'variables'}: {self.reason}"


def orient(
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    corner: str,
    *,
    samples: Collection[str] = (),
    variables: Collection[str] = (),
) -> Orientation:
    """Decide by the strongest hint available.

    `samples`, `variables`: names known from elsewhere (a sample sheet, a model, gene sets).
    Then the title of the column of names, then what the names look like; else rows are samples.
    """
    rows, columns = rows or (), columns or ()
    # Names that other files know are the best evidence; titles and patterns are guesses.
    for known, kind, swap in ((samples, "samples", False), (variables, "variables", True)):
        in_rows, in_columns = _shared(rows, known), _shared(columns, known)
        if in_rows != in_columns:
            side = "rows" if in_rows > in_columns else "columns"
            count = max(in_rows, in_columns)
            return Orientation(
                (in_rows > in_columns) != swap,
                f"{count} names of {side} are those of known {kind}",
            )
    if _VARIABLE_TITLE.search(corner):
        return Orientation(False, f"the column of names is titled {corner!r}")
    if _SAMPLE_TITLE.search(corner):
        return Orientation(True, f"the column of names is titled {corner!r}")
    for pattern, kind, swap in (
        (_VARIABLE_NAME, "genes", True),
        (_SAMPLE_NAME, "samples", False),
    ):
        in_rows, in_columns = _alike(rows, pattern), _alike(columns, pattern)
        if in_rows != in_columns:
            side = "rows" if in_rows else "columns"
            return Orientation(bool(in_rows) != swap, f"names of {side} look like {kind}")
    return Orientation(True, "nothing says otherwise", sure=False)


def _shared(names: Sequence[str], known: Collection[str]) -> int:
    return len(set(names).intersection(known)) if known else 0


def _alike(names: Sequence[str], pattern: re.Pattern[str]) -> bool:
    # Evenly spread: controls and spike-ins often come first.
    some = names[:: max(1, len(names) // _LOOK_AT)]
    hits = sum(bool(pattern.fullmatch(name)) for name in some)
    return bool(some) and hits >= _ENOUGH * len(some)
