"""Samples and variables that are constant, or exact copies of others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rcweb.tables.finding import Finding, count, some
from rcweb.tables.look import Look, extremes

# Share of the variables above which copies change what is found, and samples below which whole
# numbers are equal by chance. Conventional.
MANY_COPIES = 0.1
FEW_SAMPLES = 12


def constants(look: Look) -> list[Finding]:
    """Variables with one value in all samples, samples with one value in all variables."""
    return [
        *_constant(look, look.values, "variable", look.variable, "nothing can regulate a constant"),
        *_constant(look, look.values.T, "sample", look.sample, "look whether it was measured"),
    ]


def copies(look: Look) -> list[Finding]:
    """Samples and variables that repeat another one exactly."""
    return [
        *_copies(look.values, "sample", look.sample),
        *_copies(np.ascontiguousarray(look.values.T), "variable", look.variable),
    ]


def _constant(
    look: Look, values: NDArray[np.float64], what: str, name: Callable[[int], str], meaning: str
) -> list[Finding]:
    low, high = extremes(values)
    found = np.flatnonzero(low == high)
    if not len(found) or len(values) < 2:
        return []
    where = "" if look.complete or what == "sample" else " in the samples looked at"
    names = some([name(int(j)) for j in found])
    return [Finding("note", f"{count(len(found), what)} constant{where}: {names}; {meaning}.")]


def _copies(rows: NDArray[np.float64], what: str, name: Callable[[int], str]) -> list[Finding]:
    """Constant rows are reported already."""
    first: dict[bytes, int] = {}
    pairs = []
    for i, row in enumerate(rows):
        # Bytes as key: exact copies in one pass, NaN included.
        earlier = first.setdefault(row.tobytes(), i)
        if earlier != i and np.nanmin(row, initial=np.inf) < np.nanmax(row, initial=-np.inf):
            pairs.append(f"{name(i)} = {name(earlier)}")
    if not pairs:
        return []
    verb = "is an exact copy" if len(pairs) == 1 else "are exact copies"
    text = f"{count(len(pairs), what)} {verb} of another: {some(pairs, 3)}."
    few = len(pairs) <= MANY_COPIES * len(rows) or rows.shape[1] < FEW_SAMPLES
    if what == "sample" or few:
        return [Finding("note", text)]
    advice = "Copies share their noise, which looks like a regulator of theirs; keep one of each"
    return [Finding("warning", f"{text} {advice} (--drop TITLE, X.T.drop_duplicates().T).")]
