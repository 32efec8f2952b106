"""The input check of a Python object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rcweb.tables.check import InputCheck, check_look
from rcweb.tables.finding import Finding, some
from rcweb.tables.look import Look, look_at


@dataclass(frozen=True)
class Origin:
    """Where a table comes from: words for it, the names of its samples if there are any, and
    titles of its columns that cannot be names."""

    source: str
    samples: tuple[str, ...] | None = None
    lost: tuple[str, ...] = ()

    @classmethod
    def of(cls, X: Any, samples: Sequence[str] | None = None) -> Origin:
        """The origin of what was passed to `fit`; `samples`: their names, if known."""
        source = Path(X).name if isinstance(X, str | Path) else type(X).__name__
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        # An index of numbers is usually just a count, not names.
        if samples is None and index is not None and index.dtype.kind == "O":
            samples = index
        names = None if samples is None else tuple(map(str, samples))
        return cls(source, names, _lost_titles(X))

    def look(
        self, values: Any, variables: Sequence[str] | None, n_samples: int | None = None
    ) -> Look:
        """The look at a table in memory, or at evenly spaced rows of a table of `n_samples`."""
        if n_samples is None or n_samples == len(values):
            return replace(look_at(values, self.samples, variables), lost=self.lost)
        rows = np.unique(np.linspace(0, n_samples - 1, len(values)).astype(np.intp))
        return Look(values, rows, n_samples, self.samples, variables, lost=self.lost)


def check_object(look: Look, source: str) -> InputCheck:
    """The check of a Python object, whose rows are samples by convention."""
    facts = [("table", shape_text(look, source)), ("names", names_text(look))]
    return check_look(look, facts, [*_unnamed(look), *_upright(look)])


def _lost_titles(X: Any) -> tuple[str, ...]:
    """Titles of columns that are not text, such as numbers of genes; a plain count says nothing."""
    columns = getattr(X, "columns", None) if hasattr(X, "iloc") else None
    if columns is None or any(isinstance(title, str) for title in columns):
        return ()
    counts = (range(len(columns)), range(1, len(columns) + 1))
    return () if list(columns) in map(list, counts) else tuple(map(str, columns))


def _unnamed(look: Look) -> list[Finding]:
    """A warning if variables had names that are not taken."""
    if look.variables is not None or not look.lost:
        return []
    return [
        Finding(
            "warning",
            f"The titles of the columns, {some(look.lost, 2)}, are not text, so variables are "
            "called x0, x1 ... in the result. To keep the titles: X.columns = [str(c) for c in "
            "X.columns].",
        )
    ]


def shape_text(look: Look, source: str) -> str:
    """Where the table comes from and how large it is."""
    M, N = look.n_samples, look.values.shape[1]
    return f"{source}: {M:,} samples x {N:,} variables"


def names_text(look: Look) -> str:
    """The first names of both sides."""
    sides = (("samples", look.samples), ("variables", look.variables))
    return "; ".join(
        f"{side} {some([repr(str(name)) for name in names[:2]])}{' ...' if len(names) > 2 else ''}"
        if names is not None
        else f"{side} have none"
        for side, names in sides
    )


def _upright(look: Look) -> list[Finding]:
    """A warning if the names say that rows are variables."""
    if look.samples is None or look.variables is None:
        return []
    from rcweb.tables.orientation import orient

    way = orient(list(look.samples), list(map(str, look.variables)), "")
    if way.rows_are_samples:
        return []
    return [
        Finding(
            "warning",
            f"Rows are taken as samples, but {way.reason}. If the rows are variables, fit X.T.",
        )
    ]
